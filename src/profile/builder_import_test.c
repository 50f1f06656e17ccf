// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "profile/builder.h"

#include <stdio.h>

TEST(builder_import_translates_by_content_and_moves_addresses_with_their_mapping)
{
    struct builder *first, *second;
    struct builder_import *import;
    struct batch batch;
    struct error err;
    struct mapping mapping = { .start = 0x400000, .limit = 0x500000 };
    struct frame frame = { .address = 0x400123 };
    uint32_t there, here;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &first, &err), &err);
    CHECK_OK(builder_new(NULL, &second, &err), &err);
    builder_string(first, SLICE("shifts the ids"));
    mapping.file = builder_string(first, SLICE("/bin/app"));
    frame.mapping = builder_mapping(first, &mapping);
    there = builder_frame(first, &frame, NULL);
    builder_profile(first);
    CHECK_OK(builder_finish(first, &batch, &err), &err);

    mapping.start = 0x7f0000000000;
    mapping.limit = 0x7f0000100000;
    mapping.file = builder_string(second, SLICE("/bin/app"));
    frame.mapping = builder_mapping(second, &mapping);
    frame.address = 0x7f0000000123;
    here = builder_frame(second, &frame, NULL);
    import = builder_import_new(second, &batch.tables);
    CHECK_EQ(builder_import_frame(import, there), here);
    CHECK_EQ(builder_tables(second)->frames[here].address, 0x7f0000000123);
    CHECK_EQ(builder_tables(second)->n_frames, 2);
    builder_import_free(import);
    builder_free(first);
    builder_free(second);
    batch_done(&batch);
}

/* A batch with one profile that has everything a header can have, and one sample with labels and a link. */
static void build_source(struct batch *batch)
{
    struct builder *b;
    struct profile *profile;
    struct error err;
    struct label label;
    struct line lines[20];
    uint32_t frame, set;
    int64_t value = 3;

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    for (uint32_t i = 0; i < ARRAY_LEN(lines); i++) {
        char name[16];
        struct function function;

        snprintf(name, sizeof(name), "f%u", i);
        function = (struct function){ .name = builder_string(b, slice_from(name)) };
        lines[i] = (struct line){ .function = builder_function(b, &function), .line = i };
    }
    frame = builder_frame(b, &(struct frame){ .n_lines = ARRAY_LEN(lines) }, lines);
    label = (struct label){ .key = builder_string(b, SLICE("k")), .text = builder_string(b, SLICE("v")) };
    set = builder_label_set(b, &label, 1);
    profile = builder_profile(b);
    profile->resource = set;
    profile->start_ns = 5;
    profile->duration_ns = 6;
    profile->period = 7;
    profile->doc_url = builder_string(b, SLICE("http://x"));
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("cpu")) });
    builder_sample(b, builder_stack(b, &frame, 1), set, builder_link(b, &(struct link){ .span_id = { 9 } }), &value, 1);
    CHECK_OK(builder_finish(b, batch, &err), &err);
    builder_free(b);
}

TEST(builder_import_carries_headers_labels_links_and_frames_of_many_lines)
{
    struct batch source, result;
    struct builder *b;
    struct builder_import *import;
    struct error err;
    int64_t value = 3;

    build_source(&source);
    batch_init(&result, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    import = builder_import_new(b, &source.tables);
    builder_import_header(import, &source.profiles[0]);
    builder_sample(b, builder_import_stack(import, source.profiles[0].stacks[0]),
                   builder_import_label_set(import, source.profiles[0].label_sets[0]),
                   builder_import_link(import, source.profiles[0].links[0]), &value, 1);
    builder_import_free(import);
    CHECK_OK(builder_finish(b, &result, &err), &err);
    CHECK_OK(batch_check(&result, &err), &err);
    CHECK_EQ(result.profiles[0].duration_ns, 6);
    CHECK_EQ(result.profiles[0].period, 7);
    CHECK_TEXT(tables_string(&result.tables, result.profiles[0].doc_url), "http://x");
    CHECK(tables_find_label(&result.tables, result.profiles[0].resource, SLICE("k")) != NULL);
    CHECK_EQ(result.tables.links[result.profiles[0].links[0]].span_id[0], 9);
    CHECK_EQ(result.tables.frames[1].n_lines, 20);
    CHECK_EQ(result.tables.lines[result.tables.frames[1].first_line + 19].line, 19);
    builder_free(b);
    batch_done(&source);
    batch_done(&result);
}

static int import_all(void *context, struct error *err)
{
    const struct batch *source = context;
    struct builder *b;
    struct builder_import *import;
    struct batch result;
    int64_t value = 1;
    int status;

    if (builder_new(NULL, &b, err) < 0)
        return -1;
    batch_init(&result, NULL);
    import = builder_import_new(b, &source->tables);
    builder_import_header(import, &source->profiles[0]);
    builder_sample(b, builder_import_stack(import, source->profiles[0].stacks[0]),
                   builder_import_label_set(import, source->profiles[0].label_sets[0]),
                   builder_import_link(import, source->profiles[0].links[0]), &value, 1);
    builder_import_free(import);
    status = builder_finish(b, &result, err);
    builder_free(b);
    batch_done(&result);
    return status;
}

TEST(builder_import_survives_any_failing_allocation)
{
    struct batch source;

    build_source(&source);
    test_each_allocation_failing(import_all, &source);
    batch_done(&source);
}
