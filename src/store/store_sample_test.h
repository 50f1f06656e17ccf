// SPDX-License-Identifier: Apache-2.0
/* For tests of whole stores: one in the test's directory at a faked time, profiles from short texts, and answers as
 * texts that a test can compare.
 *
 * A test that begins with CONFORMANCE instead of TEST runs for each kind of store there is. It begins at 12:00 on
 * 2026-11-15, with an empty store that has no background thread: hours close when the test says so.
 *
 * Times are written "15T10:20" (that day of November 2026). Samples are "main;parse 3 30 | main;render 1 10
 * {route=/a;thread=t1} @0a-0b": the stack, root first, a value for each type, labels as in labelplan_test.h, and a link by
 * the first bytes of trace and span. */
#pragma once

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/test.h"
#include "base/vec.h"
#include "label/labelplan_test.h"
#include "profile/builder.h"
#include "store/rocks.h"

#include <stdio.h>

struct store_sample_kind {
    const char *name;
    int (*open)(const struct store_options *options, struct store **ret_store, struct error *err);
};
static const struct store_sample_kind store_sample_kinds[] = { { "rocks", rocks_open } };

struct store_sample {
    const struct store_sample_kind *kind;
    struct store_options options;
    struct store *store;
    char path[200];
    struct buffer texts[6]; /* of answers; each call takes the next */
    unsigned next_text;
    struct buffer log; /* what was logged */
};

#define CONFORMANCE(test_name)                                                                                         \
    static void conform_##test_name(struct store_sample *sample);                                                      \
    TEST(store_##test_name)                                                                                            \
    {                                                                                                                  \
        for (size_t i = 0; i < ARRAY_LEN(store_sample_kinds); i++) {                                                   \
            struct store_sample sample;                                                                                \
                                                                                                                       \
            store_sample_begin(&sample, &store_sample_kinds[i]);                                                       \
            conform_##test_name(&sample);                                                                              \
            store_sample_end(&sample);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void conform_##test_name(struct store_sample *sample)

/* --- the store --- */

static inline int64_t store_sample_time(const char *text)
{
    char whole[64];
    int64_t time_ns;
    struct error err;

    snprintf(whole, sizeof(whole), strlen(text) == 8 ? "2026-11-%s:00Z" : "%s", text);
    CHECK_OK(clock_parse(slice_from(whole), &time_ns, &err), &err);
    return time_ns;
}

static inline void store_sample_open(struct store_sample *sample)
{
    struct error err;

    CHECK_OK(sample->kind->open(&sample->options, &sample->store, &err), &err);
}

static inline void store_sample_close(struct store_sample *sample)
{
    store_close(TAKE(sample->store));
}

static inline void store_sample_reopen(struct store_sample *sample)
{
    store_sample_close(sample);
    store_sample_open(sample);
}

static inline void store_sample_begin(struct store_sample *sample, const struct store_sample_kind *kind)
{
    *sample = (struct store_sample){ .kind = kind };
    for (size_t i = 0; i < ARRAY_LEN(sample->texts); i++)
        buffer_init(&sample->texts[i], 0);
    buffer_init(&sample->log, 0);
    log_capture(&sample->log);
    snprintf(sample->path, sizeof(sample->path), "%s/%s", test_directory(), kind->name);
    sample->options = (struct store_options){
        .data_dir = sample->path, .wal_sync = STORE_SYNC_OFF, .memory_limit_bytes = 64 << 20, .min_free_bytes = 1
    };
    clock_fake_set(store_sample_time("15T12:00"));
    store_sample_open(sample);
}

static inline void store_sample_end(struct store_sample *sample)
{
    struct error err;

    store_sample_close(sample);
    log_capture(NULL);
    buffer_done(&sample->log);
    for (size_t i = 0; i < ARRAY_LEN(sample->texts); i++)
        buffer_done(&sample->texts[i]);
    CHECK_OK(fs_remove_tree(sample->path, &err), &err);
}

static inline struct buffer *store_sample_text(struct store_sample *sample)
{
    struct buffer *text = &sample->texts[sample->next_text++ % ARRAY_LEN(sample->texts)];

    buffer_clear(text);
    return text;
}

static inline void store_sample_maintain(struct store_sample *sample)
{
    struct error err;

    CHECK_OK(store_maintain(sample->store, &err), &err);
}

static inline void store_sample_compact(struct store_sample *sample)
{
    struct error err;

    CHECK_OK(store_compact(sample->store, &err), &err);
}

/* Lets so much time pass, then does what is due. */
static inline void store_sample_pass(struct store_sample *sample, int64_t hours)
{
    clock_fake_advance(hours * 3600 * CLOCK_NS_PER_SECOND);
    store_sample_maintain(sample);
}

static inline void store_sample_stats(struct store_sample *sample, struct store_stats *stats)
{
    struct error err;

    CHECK_OK(store_stats(sample->store, NULL, stats, &err), &err);
}

static inline void store_sample_tell(void *context, const char *line)
{
    buffer_printf(context, "%s\n", line);
}

/* Checks that verify finds nothing to complain about. */
static inline void store_sample_verify(struct store_sample *sample)
{
    struct buffer *lines = store_sample_text(sample);
    struct store_verify verify = { .tell = store_sample_tell, .context = lines };
    struct error err;

    CHECK_OK(store_verify(sample->store, &verify, &err), &err);
    CHECK_TEXT(buffer_slice(lines), "");
    CHECK_EQ(verify.n_bad_values + verify.n_bad_days, 0);
}

/* --- profiles --- */

struct store_sample_profile {
    const char *at;      /* NULL = start_ns, which may be 0: unknown */
    int64_t start_ns;    /* instead of `at` */
    int64_t duration_ns; /* 0 = ten seconds */
    const char *service; /* NULL = none given */
    const char *labels;  /* of the resource; "zone=eu;pid=#7" */
    const char *types;   /* "samples/count cpu/nanoseconds", which is what NULL means; "" = none */
    const char *samples; /* NULL = none */
    uint64_t id;         /* 0 = none */
};
#define STORE_SAMPLE_TYPES "samples/count cpu/nanoseconds"

static inline uint32_t store_sample_types(struct builder *b, const char *types)
{
    struct slice rest = slice_from(types), part;
    uint32_t n = 0;

    while (rest.len && slice_next_part(&rest, ' ', &part)) {
        size_t slash = (size_t)slice_find_byte(part, '/');

        builder_type(b, (struct value_type){ .type = builder_string(b, slice_sub(part, 0, slash)),
                                             .unit = builder_string(b, slice_sub(part, slash + 1, part.len)) });
        n++;
    }
    return n;
}

/* What stands behind the last `mark`, which is taken off; empty if there is none. */
static inline struct slice store_sample_cut(struct slice *text, char mark)
{
    ptrdiff_t at = slice_find_last_byte(*text, mark);
    struct slice behind = { 0 };

    if (at >= 0) {
        behind = slice_sub(*text, (size_t)at + 1, SIZE_MAX);
        *text = slice_sub(*text, 0, (size_t)at);
    }
    return behind;
}

/* A frame: "parse", "parse@a.c" with its file, "run+step" with step inlined into run, "parse#libx.so" with its binary, whose
 * build id is the same text, "~1f#libx.so" without a name at address 0x1f. */
static inline uint32_t store_sample_frame(struct builder *b, struct slice text)
{
    struct slice module = store_sample_cut(&text, '#'), address = store_sample_cut(&text, '~');
    struct frame frame = { 0 };
    struct line lines[8];
    char hex[32];

    if (module.len) {
        uint32_t name = builder_string(b, module);

        frame.mapping =
            builder_mapping(b, &(struct mapping){ .start = 0, .limit = 1 << 20, .file = name, .build_id = name });
    }
    snprintf(hex, sizeof(hex), "%.*s", SLICE_ARG(address));
    frame.address = address.len ? strtoull(hex, NULL, 16) : 0;
    while (text.len) {
        ptrdiff_t plus = slice_find_last_byte(text, '+');
        struct slice line = plus < 0 ? text : slice_sub(text, (size_t)plus + 1, SIZE_MAX);
        struct slice file = store_sample_cut(&line, '@');
        struct function function = { .name = builder_string(b, line), .file = builder_string(b, file) };

        CHECK(frame.n_lines < ARRAY_LEN(lines));
        lines[frame.n_lines++] = (struct line){ .function = builder_function(b, &function), .line = 1 };
        text = plus < 0 ? (struct slice){ 0 } : slice_sub(text, 0, (size_t)plus);
    }
    return builder_frame(b, &frame, lines);
}

static inline uint32_t store_sample_stack(struct builder *b, struct slice text)
{
    uint32_t frames[64], reversed[64], n = 0;
    struct slice name;

    while (text.len && slice_next_part(&text, ';', &name)) {
        CHECK(n < ARRAY_LEN(frames));
        frames[n++] = store_sample_frame(b, name);
    }
    for (uint32_t i = 0; i < n; i++)
        reversed[i] = frames[n - 1 - i];
    return builder_stack(b, reversed, n);
}

/* Cuts a link " @0a-0b" off the end of a sample. */
static inline uint32_t store_sample_cut_link(struct builder *b, struct slice *text)
{
    struct slice whole = slice_trim(*text);
    size_t at = whole.len > 7 ? whole.len - 7 : 0;
    unsigned trace, span;
    struct link link = { 0 };
    char copy[8];

    if (!at || whole.ptr[at] != ' ' || whole.ptr[at + 1] != '@')
        return 0;
    memcpy(copy, whole.ptr + at, 7);
    copy[7] = '\0';
    CHECK_EQ(sscanf(copy, " @%02x-%02x", &trace, &span), 2);
    link.trace_id[0] = (uint8_t)trace;
    link.span_id[0] = (uint8_t)span;
    *text = slice_sub(whole, 0, at);
    return builder_link(b, &link);
}

/* A sample: "main;parse 3 30 {route=/a} @0a-0b". */
static inline void store_sample_add_sample(struct builder *b, struct slice text, uint32_t n_types)
{
    uint32_t link = store_sample_cut_link(b, &text);
    int64_t values[PROFILE_MAX_TYPES] = { 0 };
    ptrdiff_t brace = slice_find_byte(text, '{');
    struct slice rest = slice_trim(brace < 0 ? text : slice_sub(text, 0, (size_t)brace)), stack = { 0 }, number;
    char labels[512] = "";

    if (brace >= 0) {
        size_t end = (size_t)slice_find_byte(text, '}');

        snprintf(labels, sizeof(labels), "%.*s", (int)(end - (size_t)brace - 1), text.ptr + brace + 1);
    }
    CHECK(slice_next_part(&rest, ' ', &stack));
    for (uint32_t i = 0; i < n_types; i++)
        CHECK(slice_next_part(&rest, ' ', &number) && slice_to_i64(number, &values[i]));
    builder_sample(b, store_sample_stack(b, slice_is(stack, "-") ? SLICE("") : stack), labelplan_set(b, labels), link,
                   values, 0);
}

static inline struct profile *store_sample_add(struct builder *b, const struct store_sample_profile *wanted)
{
    struct profile *profile = builder_profile(b);
    struct slice rest = slice_from(wanted->samples), part;
    uint32_t n_types = store_sample_types(b, wanted->types ? wanted->types : STORE_SAMPLE_TYPES);
    char resource[512];

    if (n_types > 1) {
        profile->period_type = profile->types[n_types - 1];
        profile->period = 10000000;
    }
    profile->start_ns = wanted->at ? store_sample_time(wanted->at) : wanted->start_ns;
    profile->duration_ns = wanted->duration_ns ? wanted->duration_ns : 10 * CLOCK_NS_PER_SECOND;
    snprintf(resource, sizeof(resource), "%s%s%s%s", wanted->service ? "service.name=" : "",
             wanted->service ? wanted->service : "", wanted->service && wanted->labels ? ";" : "",
             wanted->labels ? wanted->labels : "");
    profile->resource = labelplan_set(b, resource);
    memcpy(profile->profile_id, &wanted->id, sizeof(wanted->id));
    while (wanted->samples && slice_next_part(&rest, '|', &part))
        store_sample_add_sample(b, part, n_types);
    return profile;
}

/* Makes a batch, which is initialised here. */
static inline void store_sample_batch(const struct store_sample_profile *profiles, size_t n, struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    for (size_t i = 0; i < n; i++)
        store_sample_add(b, &profiles[i]);
    CHECK_OK(builder_finish(b, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
}

static inline int store_sample_try(struct store_sample *sample, const char *tenant,
                                   const struct store_sample_profile *profiles, size_t n,
                                   struct store_receipt *ret_receipt, struct error *err)
{
    struct batch batch;
    struct store_write write = { .tenant = slice_from(tenant), .batch = &batch };
    int result;

    store_sample_batch(profiles, n, &batch);
    result = store_write(sample->store, &write, ret_receipt, err);
    batch_done(&batch);
    return result;
}

static inline struct store_receipt store_sample_write_as(struct store_sample *sample, const char *tenant,
                                                         const struct store_sample_profile *profiles, size_t n)
{
    struct store_receipt receipt;
    struct error err;

    CHECK_OK(store_sample_try(sample, tenant, profiles, n, &receipt, &err), &err);
    CHECK_EQ(receipt.n_written + receipt.n_duplicate + receipt.n_refused, n);
    return receipt;
}

/* Writes profiles given as initialisers: STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", ... }, { ... }). */
#define STORE_SAMPLE_WRITE(sample, ...)                                                                                \
    store_sample_write_as((sample), NULL, (const struct store_sample_profile[]){ __VA_ARGS__ },                        \
                          sizeof((const struct store_sample_profile[]){ __VA_ARGS__ }) /                               \
                              sizeof(struct store_sample_profile))
#define STORE_SAMPLE_WRITE_AS(sample, tenant, ...)                                                                     \
    store_sample_write_as((sample), (tenant), (const struct store_sample_profile[]){ __VA_ARGS__ },                    \
                          sizeof((const struct store_sample_profile[]){ __VA_ARGS__ }) /                               \
                              sizeof(struct store_sample_profile))

/* --- asking --- */

struct store_sample_query {
    const char *tenant;
    const char *selector;
    const char *from, *until; /* NULL = all time */
    const struct store_ids *ids;
};

/* The query as the store takes it; the selector is freed by store_sample_asked. */
static inline struct store_query store_sample_ask(const struct store_sample_query *query)
{
    struct selector *selector = NULL;
    struct error err;

    if (query->selector)
        CHECK_OK(selector_new(slice_from(query->selector), &selector, &err), &err);
    return (struct store_query){ .tenant = slice_from(query->tenant),
                                 .selector = selector,
                                 .from_ns = query->from ? store_sample_time(query->from) : INT64_MIN,
                                 .until_ns = query->until ? store_sample_time(query->until) : INT64_MAX,
                                 .ids = query->ids };
}

static inline void store_sample_asked(struct store_query *query)
{
    selector_free((struct selector *)query->selector);
}

static inline int store_sample_compare_lines(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts the lines of a text. */
static inline void store_sample_sort(struct buffer *text)
{
    VEC(struct slice) lines = { 0 };
    struct buffer sorted;
    struct slice rest = buffer_slice(text), line;
    struct error err;

    buffer_init(&sorted, 0);
    while (rest.len && slice_next_line(&rest, &line)) {
        struct slice *slot = VEC_PUSH(&lines, 1 << 24, &err);

        CHECK(slot);
        *slot = line;
    }
    if (lines.n)
        qsort(lines.items, lines.n, sizeof(*lines.items), store_sample_compare_lines);
    for (size_t i = 0; i < lines.n; i++)
        buffer_printf(&sorted, "%.*s\n", SLICE_ARG(lines.items[i]));
    CHECK_OK(buffer_check(&sorted, &err), &err);
    buffer_done(text);
    *text = sorted;
    VEC_DONE(&lines);
}

/* A frame as what makes it equal to others: mapping, lines, and without lines the address in the file. */
static inline void store_sample_print_frame(const struct tables *t, uint32_t id, bool is_full, struct buffer *out)
{
    const struct frame *frame = &t->frames[id];
    const struct mapping *mapping = &t->mappings[frame->mapping];

    for (uint32_t i = frame->n_lines; i-- > 0;) {
        const struct line *line = &t->lines[frame->first_line + i];
        const struct function *function = &t->functions[line->function];

        buffer_append_slice(out, tables_string(t, function->name));
        if (function->file)
            buffer_printf(out, "@%.*s", SLICE_ARG(tables_string(t, function->file)));
        if (line->line != 1 || line->column)
            buffer_printf(out, ":%u:%u", line->line, line->column);
        if (is_full && function->start_line)
            buffer_printf(out, "/%u", function->start_line);
        if (is_full && function->system_name)
            buffer_printf(out, "(%.*s)", SLICE_ARG(tables_string(t, function->system_name)));
        if (i)
            buffer_append_byte(out, '+');
    }
    if (!frame->n_lines)
        buffer_printf(out, "0x%llx", (unsigned long long)(frame->address - mapping->start + mapping->offset));
    if (frame->mapping)
        buffer_printf(out, "<%.*s%s%.*s>", SLICE_ARG(tables_string(t, mapping->file)), mapping->build_id ? "#" : "",
                      SLICE_ARG(tables_string(t, mapping->build_id)));
    if (is_full && frame->kind)
        buffer_printf(out, "!%s", frame_kind_name((enum frame_kind)frame->kind));
}

static inline void store_sample_print_stack(const struct tables *t, uint32_t stack, bool is_full, struct buffer *out)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(t, stack, &depth);

    if (!depth)
        buffer_append_byte(out, '-');
    for (uint32_t i = depth; i-- > 0;) {
        store_sample_print_frame(t, frames[i], is_full, out);
        if (i)
            buffer_append_byte(out, ';');
    }
}

static inline void store_sample_print_types(const struct profile *profile, struct buffer *out)
{
    for (uint32_t i = 0; i < profile->n_types; i++)
        buffer_printf(out, "%s%.*s/%.*s", i ? " " : "",
                      SLICE_ARG(tables_string(profile->tables, profile->types[i].type)),
                      SLICE_ARG(tables_string(profile->tables, profile->types[i].unit)));
}

/* What all samples with the stack of sample `k` have of a type, which is the first of them. */
static inline int64_t store_sample_stack_sum(const struct profile *profile, uint32_t k, uint32_t type)
{
    uint64_t saturated = 0;
    int64_t sum = 0;

    for (uint32_t i = k; i < profile->n_samples; i++)
        if (profile->stacks[i] == profile->stacks[k])
            sum = value_add(sum, profile_values(profile, type)[i], &saturated);
    return sum;
}

static inline bool store_sample_is_first_of_stack(const struct profile *profile, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (profile->stacks[i] == profile->stacks[k])
            return false;
    return true;
}

/* One line for each stack of each profile, whatever its labels, in front of it the types unless they are the usual ones;
 * sorted. */
static inline void store_sample_print_sums(const struct batch *batch, struct buffer *out)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        const struct profile *profile = &batch->profiles[i];
        struct buffer types;

        buffer_init(&types, 0);
        store_sample_print_types(profile, &types);
        for (uint32_t k = 0; k < profile->n_samples; k++) {
            if (!store_sample_is_first_of_stack(profile, k))
                continue;
            if (!slice_is(buffer_slice(&types), STORE_SAMPLE_TYPES))
                buffer_printf(out, "[%.*s] ", SLICE_ARG(buffer_slice(&types)));
            store_sample_print_stack(profile->tables, profile->stacks[k], false, out);
            for (uint32_t type = 0; type < profile->n_types; type++)
                buffer_printf(out, " %lld", (long long)store_sample_stack_sum(profile, k, type));
            buffer_append_byte(out, '\n');
        }
        buffer_done(&types);
    }
    store_sample_sort(out);
}

/* What store_read answers. */
static inline struct slice store_sample_sums(struct store_sample *sample, const struct store_sample_query *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct store_query query = store_sample_ask(asked);
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(store_read(sample->store, &query, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    store_sample_print_sums(&batch, text);
    batch_done(&batch);
    store_sample_asked(&query);
    return buffer_slice(text);
}
#define STORE_SAMPLE_SUMS(sample, ...) store_sample_sums((sample), &(const struct store_sample_query){ __VA_ARGS__ })

struct store_sample_scan {
    struct buffer *out;
    struct names *names;
    struct error failure;
};

static inline int store_sample_take_names(void *context, struct names *names, struct error *err)
{
    (void)err;
    ((struct store_sample_scan *)context)->names = names;
    return 0;
}

static inline void store_sample_print_labels(const struct tables *t, uint32_t set, struct buffer *out)
{
    uint32_t n;
    const struct label *labels = tables_label_set(t, set, &n);

    for (uint32_t i = 0; i < n; i++) {
        buffer_printf(out, "%s%.*s=", i ? ";" : " {", SLICE_ARG(tables_string(t, labels[i].key)));
        if (labels[i].kind == LABEL_NUMBER || labels[i].kind == LABEL_BOOL)
            buffer_printf(out, "#%lld", (long long)labels[i].number);
        buffer_append_slice(out, tables_string(t, labels[i].text));
        if (labels[i].unit)
            buffer_printf(out, ":%.*s", SLICE_ARG(tables_string(t, labels[i].unit)));
    }
    if (n)
        buffer_append_byte(out, '}');
}

static inline uint32_t store_sample_place(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return i + 1;
    return 0;
}

static inline int store_sample_compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The distinct ids other than 0, rising. */
static inline uint32_t store_sample_distinct(uint32_t *ids, uint32_t n)
{
    uint32_t unique = 0;

    qsort(ids, n, sizeof(*ids), store_sample_compare_ids);
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] && (!unique || ids[unique - 1] != ids[i]))
            ids[unique++] = ids[i];
    return unique;
}

/* What is in front of every line of a row: "15T10:00:00+10s {service_name="api"}{pid=#7}". */
static inline void store_sample_print_header(const struct seriesinfo *series, const struct headrow *row,
                                             const struct tables *t, uint32_t row_set, struct buffer *out)
{
    char time[CLOCK_TEXT_BYTES];

    clock_format(row->start_ns, CLOCK_ZONE_UTC, 0, time);
    buffer_printf(out, "%.11s+%llds ", time + 8, (long long)(row->duration_ns / CLOCK_NS_PER_SECOND));
    if (row->period)
        buffer_printf(out, "every %lld ", (long long)row->period);
    seriesinfo_text(series, out);
    store_sample_print_labels(t, row_set, out);
    buffer_append_text(out, " ");
    for (uint32_t i = 0; i < series->n_types; i++) {
        buffer_append_text(out, i ? " " : "[");
        seriesinfo_profile_type(series, i, out);
    }
    buffer_append_text(out, series->n_types ? "]" : "[]");
}

static inline void store_sample_print_link(const struct headrow *row, uint32_t sample, struct buffer *out)
{
    const struct link *link;

    if (!row->links || !row->links[sample])
        return;
    link = &row->link_table[row->links[sample] - 1];
    buffer_printf(out, " link %02x-%02x", link->trace_id[0], link->span_id[0]);
}

static inline int store_sample_take_row(void *context, const struct seriesinfo *series, const struct headrow *row,
                                        struct error *err)
{
    struct store_sample_scan *scan = context;
    uint32_t *stacks, *sets, n_stacks, n_sets = 0, n_missing;
    struct tables t;
    struct arena arena;

    arena_init(&arena, 0);
    stacks = ARENA_ARRAY(&arena, uint32_t, row->n_samples + 1, err);
    sets = ARENA_ARRAY(&arena, uint32_t, row->n_samples + 1, err);
    if (row->n_samples)
        memcpy(stacks, row->stacks, row->n_samples * sizeof(*stacks));
    n_stacks = store_sample_distinct(stacks, row->n_samples);
    for (uint32_t i = 0; row->label_sets && i < row->n_samples; i++)
        sets[n_sets++] = row->label_sets[i];
    sets[n_sets++] = row->label_set;
    n_sets = store_sample_distinct(sets, n_sets);
    if (names_load(scan->names, stacks, n_stacks, sets, n_sets, &arena, &t, &n_missing, err) < 0) {
        arena_done(&arena);
        return -1;
    }
    CHECK_EQ(n_missing, 0);
    for (uint32_t i = 0; i < MAX(row->n_samples, 1u); i++) {
        store_sample_print_header(series, row, &t, store_sample_place(sets, n_sets, row->label_set), scan->out);
        if (row->n_samples) {
            buffer_append_byte(scan->out, ' ');
            store_sample_print_stack(&t, store_sample_place(stacks, n_stacks, row->stacks[i]), true, scan->out);
            for (uint32_t type = 0; type < row->n_types; type++)
                buffer_printf(scan->out, " %lld", (long long)row->values[(size_t)type * row->stride + i]);
            if (row->label_sets)
                store_sample_print_labels(&t, store_sample_place(sets, n_sets, row->label_sets[i]), scan->out);
            store_sample_print_link(row, i, scan->out);
            if (row->counts)
                buffer_printf(scan->out, " x%llu", (unsigned long long)row->counts[i]);
        }
        buffer_append_byte(scan->out, '\n');
    }
    arena_done(&arena);
    return 0;
}

/* What store_scan answers: a line for each sample of each row, and one for each row without samples; sorted. */
static inline struct slice store_sample_rows(struct store_sample *sample, const struct store_sample_query *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct store_query query = store_sample_ask(asked);
    struct store_sample_scan scan = { .out = text };
    struct store_sink sink = { &scan, store_sample_take_names, store_sample_take_row };
    struct error err;

    CHECK_OK(store_scan(sample->store, &query, &sink, &err), &err);
    store_sample_sort(text);
    store_sample_asked(&query);
    return buffer_slice(text);
}
#define STORE_SAMPLE_ROWS(sample, ...) store_sample_rows((sample), &(const struct store_sample_query){ __VA_ARGS__ })

static inline int store_sample_take_series(void *context, const struct seriesinfo *series, struct error *err)
{
    (void)err;
    seriesinfo_text(series, context);
    buffer_append_byte(context, '\n');
    return 0;
}

/* The series, a line for each. */
static inline struct slice store_sample_series(struct store_sample *sample, const struct store_sample_query *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct store_query query = store_sample_ask(asked);
    struct error err;

    CHECK_OK(store_each_series(sample->store, &query, store_sample_take_series, text, &err), &err);
    store_sample_sort(text);
    store_sample_asked(&query);
    return buffer_slice(text);
}
#define STORE_SAMPLE_SERIES(sample, ...)                                                                               \
    store_sample_series((sample), &(const struct store_sample_query){ __VA_ARGS__ })

static inline void store_sample_print_texts(const struct store_texts *texts, struct buffer *out)
{
    for (size_t i = 0; i < texts->n; i++)
        buffer_printf(out, "%s%.*s", i ? " " : "", SLICE_ARG(texts->texts[i]));
}

/* The names of labels, or the values of the label `name`, or with "types" in its place the profile types; with spaces
 * between. */
static inline struct slice store_sample_list(struct store_sample *sample, const char *name,
                                             const struct store_sample_query *asked)
{
    struct buffer *text = store_sample_text(sample);
    struct store_query query = store_sample_ask(asked);
    struct store_texts texts;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    if (!name)
        CHECK_OK(store_label_names(sample->store, &query, &arena, &texts, &err), &err);
    else if (strcmp(name, "types") == 0)
        CHECK_OK(store_profile_types(sample->store, &query, &arena, &texts, &err), &err);
    else
        CHECK_OK(store_label_values(sample->store, &query, slice_from(name), &arena, &texts, &err), &err);
    store_sample_print_texts(&texts, text);
    arena_done(&arena);
    store_sample_asked(&query);
    return buffer_slice(text);
}
#define STORE_SAMPLE_NAMES(sample, ...)                                                                                \
    store_sample_list((sample), NULL, &(const struct store_sample_query){ __VA_ARGS__ })
#define STORE_SAMPLE_VALUES(sample, name, ...)                                                                         \
    store_sample_list((sample), (name), &(const struct store_sample_query){ __VA_ARGS__ })
#define STORE_SAMPLE_PROFILE_TYPES(sample, ...)                                                                        \
    store_sample_list((sample), "types", &(const struct store_sample_query){ __VA_ARGS__ })

/* --- stages --- */

/* Runs `check` on what was written: as it is, after its hours are closed, after opening the store again, after
 * compacting, and opened once more; each time the store must also be sound. The clock stands at `now` when hours close,
 * and there afterwards. */
static inline void store_sample_each_stage(struct store_sample *sample, const char *now,
                                           void (*check)(struct store_sample *sample, const void *context),
                                           const void *context)
{
    check(sample, context);
    store_sample_verify(sample);
    clock_fake_set(store_sample_time(now));
    store_sample_maintain(sample);
    check(sample, context);
    store_sample_verify(sample);
    store_sample_reopen(sample);
    check(sample, context);
    store_sample_compact(sample);
    check(sample, context);
    store_sample_verify(sample);
    store_sample_reopen(sample);
    check(sample, context);
}
