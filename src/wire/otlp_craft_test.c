// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_craft_internal.h"

#include "base/test.h"

/* Strings of the request; the index is the position. */
static const char *const strings[] = {
    "",
    "off_cpu",
    "nanoseconds",
    "main",
    "work",
    "inner",
    "app.c",
    "/bin/app",
    "thread.name",
    "profile.frame.type",
    "process.executable.build_id.gnu",
    "env",
    "service.name",
    "checkout",
    "bytes",
    "heap.size",
    "mangled",
    "a comment",
};
enum {
    S_TYPE = 1,
    S_UNIT,
    S_MAIN,
    S_WORK,
    S_INNER,
    S_FILE,
    S_BINARY,
    S_THREAD,
    S_FRAME_TYPE,
    S_BUILD_ID,
    S_ENV,
    S_SERVICE,
    S_CHECKOUT,
    S_BYTES,
    S_HEAP,
    S_MANGLED,
    S_COMMENT
};

/* --- fields of one message by falling number, each number's own order kept --- */

static void copy_fields(struct slice message, uint32_t number, struct buffer *out)
{
    struct protobuf_reader r = protobuf_reader_of(message);
    const uint8_t *start = r.at;
    uint32_t tag;

    for (; protobuf_next(&r, &tag); start = r.at) {
        protobuf_skip(&r, tag);
        if (PROTOBUF_FIELD(tag) == number)
            buffer_append(out, start, (size_t)(r.at - start));
    }
}

static void end_message(const struct otlp_craft *c, struct buffer *out, size_t begin)
{
    struct buffer sorted;

    buffer_init(&sorted, 0);
    if (c->is_descending) {
        for (uint32_t number = 32; number-- > 1;)
            copy_fields(slice_of(out->data + begin, out->len - begin), number, &sorted);
        CHECK_EQ(sorted.len, out->len - begin);
        memcpy(out->data + begin, sorted.data, sorted.len);
    }
    buffer_done(&sorted);
    protobuf_end(out, begin);
}

void otlp_craft_put_packed(struct buffer *out, uint32_t field, const uint64_t *values, size_t n)
{
    size_t begin = protobuf_begin(out, field);

    for (size_t i = 0; i < n; i++)
        protobuf_put_varint(out, values[i]);
    protobuf_end(out, begin);
}

static void put_repeated(const struct otlp_craft *c, struct buffer *out, uint32_t field, const uint64_t *values,
                         size_t n)
{
    if (!c->is_unpacked) {
        otlp_craft_put_packed(out, field, values, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        protobuf_put_uint_always(out, field, values[i]);
}

void otlp_craft_put_strings(struct buffer *dictionary, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        protobuf_put_bytes_always(dictionary, 5, slice_from(texts[i]));
}

/* --- the dictionary --- */

static bool is_l7(const struct otlp_craft *c)
{
    return c->layout == OTLP_L7;
}

/* Index of the n-th entry (from 1) of a table: L7 has no empty entry 0. */
static uint64_t entry(const struct otlp_craft *c, uint64_t n)
{
    return is_l7(c) ? n - 1 : n;
}

static void put_empty_entry(const struct otlp_craft *c, struct buffer *out, uint32_t field)
{
    size_t begin;

    if (is_l7(c))
        return;
    begin = protobuf_begin(out, field);
    if (field == 6 && c->has_empties)
        protobuf_put_bytes_always(out, 2, SLICE(""));
    if (field == 4 && c->has_empties) {
        protobuf_put_bytes_always(out, 1, SLICE(""));
        protobuf_put_bytes_always(out, 2, SLICE(""));
    }
    protobuf_end(out, begin);
}

static void put_attribute(const struct otlp_craft *c, struct buffer *out, uint32_t key, struct slice text,
                          uint64_t number, uint32_t unit)
{
    size_t begin = protobuf_begin(out, 6), value;

    if (is_l7(c))
        protobuf_put_bytes(out, 1, slice_from(strings[key]));
    else
        protobuf_put_uint(out, 1, key);
    value = protobuf_begin(out, 2);
    if (text.ptr)
        protobuf_put_bytes_always(out, 1, text);
    else
        protobuf_put_uint_always(out, 3, number);
    protobuf_end(out, value);
    if (!is_l7(c))
        protobuf_put_uint(out, 3, unit);
    protobuf_end(out, begin);
}

static void put_location(const struct otlp_craft *c, struct buffer *out, uint64_t address, const uint64_t *functions,
                         size_t n)
{
    size_t begin = protobuf_begin(out, 2);

    protobuf_put_uint_always(out, 1, entry(c, 1));
    protobuf_put_uint(out, 2, address);
    for (size_t i = 0; i < n; i++) {
        size_t line = protobuf_begin(out, 3);

        protobuf_put_uint(out, 1, functions[i]);
        protobuf_put_uint(out, 2, 10 + i);
        protobuf_put_uint(out, 3, i);
        protobuf_end(out, line);
    }
    put_repeated(c, out, is_l7(c) ? 5 : 4, &(uint64_t){ entry(c, 3) }, 1);
    protobuf_end(out, begin);
}

static void put_function(struct buffer *out, uint32_t name, uint32_t system_name, uint32_t start_line)
{
    size_t begin = protobuf_begin(out, 3);

    protobuf_put_uint(out, 1, name);
    protobuf_put_uint(out, 2, system_name);
    protobuf_put_uint(out, 3, S_FILE);
    protobuf_put_uint(out, 4, start_line);
    protobuf_end(out, begin);
}

static void put_mapping(const struct otlp_craft *c, struct buffer *out)
{
    size_t begin = protobuf_begin(out, 1);

    protobuf_put_uint(out, 1, 0x1000);
    protobuf_put_uint(out, 2, 0x2000);
    protobuf_put_uint(out, 3, 0x10);
    protobuf_put_uint(out, 4, S_BINARY);
    put_repeated(c, out, 5, &(uint64_t){ entry(c, 2) }, 1);
    protobuf_end(out, begin);
}

static const uint64_t leaf_first[] = { 1, 2 };

static void put_stacks(const struct otlp_craft *c, struct buffer *out)
{
    size_t begin;

    put_empty_entry(c, out, 7);
    begin = protobuf_begin(out, 7);
    put_repeated(c, out, 1, leaf_first, 2);
    protobuf_end(out, begin);
    begin = protobuf_begin(out, 7);
    put_repeated(c, out, 1, leaf_first + 1, 1);
    protobuf_end(out, begin);
}

static void put_units(struct buffer *out)
{
    size_t begin = protobuf_begin(out, 7);

    protobuf_put_uint(out, 1, S_HEAP);
    protobuf_put_uint(out, 2, S_BYTES);
    protobuf_end(out, begin);
}

static void put_link(const struct otlp_craft *c, struct buffer *out)
{
    size_t begin;

    put_empty_entry(c, out, 4);
    begin = protobuf_begin(out, 4);
    protobuf_put_bytes(out, 1, SLICE("0123456789abcdef"));
    protobuf_put_bytes(out, 2, SLICE("spanspan"));
    protobuf_end(out, begin);
}

static void put_dictionary(const struct otlp_craft *c, struct buffer *out)
{
    size_t begin = protobuf_begin(out, 2);

    put_empty_entry(c, out, 1);
    put_mapping(c, out);
    put_empty_entry(c, out, 2);
    put_location(c, out, 0x1100, (uint64_t[]){ entry(c, 3), entry(c, 2) }, 2);
    put_location(c, out, 0x1200, (uint64_t[]){ entry(c, 1) }, 1);
    put_empty_entry(c, out, 3);
    put_function(out, S_MAIN, S_MANGLED, 9);
    put_function(out, S_WORK, 0, 0);
    put_function(out, S_INNER, 0, 0);
    put_link(c, out);
    otlp_craft_put_strings(out, strings, ARRAY_LEN(strings));
    put_empty_entry(c, out, 6);
    put_attribute(c, out, S_THREAD, SLICE("w1"), 0, 0);
    put_attribute(c, out, S_BUILD_ID, SLICE("abcd"), 0, 0);
    put_attribute(c, out, S_FRAME_TYPE, SLICE("native"), 0, 0);
    put_attribute(c, out, S_ENV, SLICE("prod"), 0, 0);
    put_attribute(c, out, S_HEAP, (struct slice){ NULL, 0 }, 4096, S_BYTES);
    if (is_l7(c))
        put_units(out);
    else
        put_stacks(c, out);
    end_message(c, out, begin);
}

/* --- the profile --- */

static void put_value_type(struct buffer *out, uint32_t field)
{
    size_t begin = protobuf_begin(out, field);

    protobuf_put_uint(out, 1, S_TYPE);
    protobuf_put_uint(out, 2, S_UNIT);
    protobuf_end(out, begin);
}

static void put_times(const struct otlp_craft *c, struct buffer *out, uint32_t field, const uint64_t *times, size_t n)
{
    if (is_l7(c))
        put_repeated(c, out, field, times, n);
    else if (c->is_unpacked)
        for (size_t i = 0; i < n; i++)
            protobuf_put_fixed64_always(out, field, times[i]);
    else
        protobuf_put_bytes(out, field, slice_of(times, n * sizeof(*times)));
}

/* Sample `i` of two: its stack is the i-th, the first has attributes and a link. */
static void put_sample(const struct otlp_craft *c, struct buffer *out, uint32_t i)
{
    /* field numbers by layout: values, attributes, link, times */
    static const uint8_t fields[][4] = {
        [OTLP_L7] = { 3, 4, 5, 6 }, [OTLP_L8] = { 2, 3, 4, 5 }, [OTLP_L9] = { 2, 3, 4, 5 }, [OTLP_L10] = { 4, 2, 3, 5 }
    };
    static const uint64_t times[] = { 2000, 2001, 2002 };
    const uint8_t *field = fields[c->layout];
    size_t begin = protobuf_begin(out, 2), n_times = c->shape == OTLP_CRAFT_VALUE ? 0 : i == 0 ? 3 : 1;

    if (is_l7(c)) {
        protobuf_put_uint(out, 1, i == 0 ? 0 : 2);
        protobuf_put_uint(out, 2, i == 0 ? 2 : 1);
    } else {
        protobuf_put_uint(out, 1, i + 1);
    }
    if (c->shape == OTLP_CRAFT_VALUE)
        put_repeated(c, out, field[0], (uint64_t[]){ i == 0 ? 70 : 30 }, 1);
    else if (c->shape == OTLP_CRAFT_BOTH)
        put_repeated(c, out, field[0], (uint64_t[]){ 20000, 20000, 30000 }, n_times);
    else if (is_l7(c))
        put_repeated(c, out, field[0], (uint64_t[]){ 1 }, 1); /* as the eBPF profiler did */
    if (i == 0)
        put_repeated(c, out, field[1], (uint64_t[]){ entry(c, 1), entry(c, 5) }, 2);
    if (i == 0 && c->shape != OTLP_CRAFT_STACK_AND_TWO)
        protobuf_put_uint_always(out, field[2], entry(c, 1));
    if (n_times > 0)
        put_times(c, out, field[3], times, n_times);
    end_message(c, out, begin);
}

static void put_profile(const struct otlp_craft *c, struct buffer *out)
{
    /* field numbers by layout: time, duration, period type, period, id, attributes, comments */
    static const uint8_t fields[][7] = { [OTLP_L7] = { 4, 5, 6, 7, 10, 14, 8 },
                                         [OTLP_L8] = { 3, 4, 5, 6, 8, 12, 7 },
                                         [OTLP_L9] = { 3, 4, 5, 6, 7, 11, 0 },
                                         [OTLP_L10] = { 3, 4, 5, 6, 7, 11, 0 } };
    const uint8_t *field = fields[c->layout];
    size_t begin = protobuf_begin(out, 2);

    put_value_type(out, 1);
    put_sample(c, out, 0);
    put_sample(c, out, 1);
    if (is_l7(c)) {
        put_repeated(c, out, 3, (uint64_t[]){ 0, 1, 1 }, 3);
        protobuf_put_uint(out, field[0], 1000);
    } else {
        protobuf_put_fixed64(out, field[0], 1000);
    }
    protobuf_put_uint(out, field[1], 5000);
    put_value_type(out, field[2]);
    protobuf_put_uint(out, field[3], 50);
    if (field[6])
        put_repeated(c, out, field[6], &(uint64_t){ S_COMMENT }, 1);
    if (c->has_empties)
        protobuf_put_bytes_always(out, field[4], SLICE(""));
    else
        protobuf_put_bytes(out, field[4], SLICE("profile-id-12345"));
    put_repeated(c, out, field[5], &(uint64_t){ entry(c, 4) }, 1);
    end_message(c, out, begin);
}

/* --- around it --- */

static void put_resource(const struct otlp_craft *c, struct buffer *out)
{
    size_t begin = protobuf_begin(out, 1), attribute = protobuf_begin(out, 1), value;

    if (c->has_indexes)
        protobuf_put_uint(out, 3, S_SERVICE);
    else
        protobuf_put_bytes(out, 1, slice_from(strings[S_SERVICE]));
    value = protobuf_begin(out, 2);
    if (c->has_indexes)
        protobuf_put_uint_always(out, 8, S_CHECKOUT);
    else
        protobuf_put_bytes(out, 1, slice_from(strings[S_CHECKOUT]));
    protobuf_end(out, value);
    protobuf_end(out, attribute);
    protobuf_put_uint(out, 2, 7); /* dropped attributes */
    protobuf_end(out, begin);
}

static void put_scope(struct buffer *out)
{
    size_t begin = protobuf_begin(out, 1);

    protobuf_put_bytes(out, 1, SLICE("profiler"));
    protobuf_put_bytes(out, 2, SLICE("1.2"));
    protobuf_end(out, begin);
}

/* The dictionary first. */
static void swap_halves(struct buffer *out, size_t start)
{
    struct buffer swapped;

    buffer_init(&swapped, 0);
    copy_fields(slice_of(out->data + start, out->len - start), 2, &swapped);
    copy_fields(slice_of(out->data + start, out->len - start), 1, &swapped);
    memcpy(out->data + start, swapped.data, swapped.len);
    buffer_done(&swapped);
}

void otlp_craft_request(const struct otlp_craft *c, struct buffer *out)
{
    size_t start = out->len, resources = protobuf_begin(out, 1), scopes;

    put_resource(c, out);
    scopes = protobuf_begin(out, 2);
    put_scope(out);
    put_profile(c, out);
    protobuf_put_bytes(out, 3, SLICE("https://example.com/schema"));
    end_message(c, out, scopes);
    end_message(c, out, resources);
    put_dictionary(c, out);
    if (c->is_descending)
        swap_halves(out, start);
    if (c->has_margin)
        protobuf_put_bytes(out, 15, SLICE("................................................................"));
}

/* Which sample of the shapes has what; the layout must make no difference. */
const char *otlp_craft_expected(enum otlp_craft_shape shape)
{
    switch (shape) {
    case OTLP_CRAFT_VALUE:
        return "  70 inner@work app.c:10:0/app.c:11:1<main(mangled) app.c:10:0 {thread.name=w1 heap.size=4096bytes} "
               "link 30313233343536373839616263646566/7370616e7370616e\n"
               "  30 main(mangled) app.c:10:0\n";
    case OTLP_CRAFT_TIMES:
        return "  3 inner@work app.c:10:0/app.c:11:1<main(mangled) app.c:10:0 {thread.name=w1 heap.size=4096bytes} "
               "link 30313233343536373839616263646566/7370616e7370616e count 3 at 2000 2001 2002\n"
               "  1 main(mangled) app.c:10:0 count 1 at 2000\n";
    case OTLP_CRAFT_BOTH:
        return "  70000 inner@work app.c:10:0/app.c:11:1<main(mangled) app.c:10:0 {thread.name=w1 "
               "heap.size=4096bytes} link 30313233343536373839616263646566/7370616e7370616e count 3 at 2000:20000 "
               "2001:20000 2002:30000\n"
               "  20000 main(mangled) app.c:10:0 count 1 at 2000:20000\n";
    case OTLP_CRAFT_STACK_AND_TWO: break;
    }
    return "  3 inner@work app.c:10:0/app.c:11:1<main(mangled) app.c:10:0 {thread.name=w1 heap.size=4096bytes} count "
           "3 at 2000 2001 2002\n"
           "  1 main(mangled) app.c:10:0 count 1 at 2000\n";
}

/* --- batches as text --- */

static void dump_string(const struct batch *batch, struct buffer *out, const char *before, uint32_t id)
{
    if (id) {
        buffer_append_text(out, before);
        buffer_append_slice(out, tables_string(&batch->tables, id));
    }
}

static void dump_labels(const struct batch *batch, struct buffer *out, const char *before, uint32_t set)
{
    static const char *const kinds[] = { "", "", "bool:", "double:", "bytes:", "json:" };
    uint32_t n;
    const struct label *labels = tables_label_set(&batch->tables, set, &n);

    for (uint32_t i = 0; i < n; i++) {
        double real;

        buffer_append_text(out, i == 0 ? before : " ");
        buffer_append_slice(out, tables_string(&batch->tables, labels[i].key));
        buffer_printf(out, "=%s", kinds[labels[i].kind]);
        memcpy(&real, &labels[i].number, sizeof(real));
        if (labels[i].kind == LABEL_DOUBLE)
            buffer_printf(out, "%g", real);
        else if (labels[i].kind == LABEL_NUMBER || labels[i].kind == LABEL_BOOL)
            buffer_printf(out, "%lld", (long long)labels[i].number);
        buffer_append_slice(out, tables_string(&batch->tables, labels[i].text));
        dump_string(batch, out, "", labels[i].unit);
    }
    if (n > 0 && before[strlen(before) - 1] == '{')
        buffer_append_byte(out, '}');
}

static void dump_frame(const struct batch *batch, struct buffer *out, const struct frame *frame)
{
    const struct tables *t = &batch->tables;

    if (frame->n_lines == 0)
        buffer_printf(out, "0x%llx", (unsigned long long)frame->address);
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        const struct function *f = &t->functions[t->lines[frame->first_line + i].function];

        dump_string(batch, out, i ? "@" : "", f->name);
        if (f->system_name) {
            dump_string(batch, out, "(", f->system_name);
            buffer_append_byte(out, ')');
        }
    }
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        const struct line *line = &t->lines[frame->first_line + i];

        dump_string(batch, out, i ? "/" : " ", t->functions[line->function].file);
        buffer_printf(out, ":%u:%u", line->line, line->column);
    }
    if (frame->flags & FRAME_IS_FOLDED)
        buffer_append_text(out, " folded");
}

static void dump_sample(const struct batch *batch, struct buffer *out, const struct profile *p, uint32_t i)
{
    const struct tables *t = &batch->tables;
    const struct link *link = &t->links[profile_link(p, i)];
    uint32_t depth;
    const uint32_t *frames = tables_stack(t, p->stacks[i], &depth);

    buffer_append_text(out, " ");
    for (uint32_t type = 0; type < p->n_types; type++)
        buffer_printf(out, " %lld", (long long)profile_values(p, type)[i]);
    for (uint32_t j = 0; j < depth; j++) {
        buffer_append_text(out, j ? "<" : " ");
        dump_frame(batch, out, &t->frames[frames[j]]);
    }
    dump_labels(batch, out, " {", profile_label_set(p, i));
    if (profile_link(p, i)) {
        buffer_append_text(out, " link ");
        for (size_t j = 0; j < 16; j++)
            buffer_printf(out, "%02x", link->trace_id[j]);
        buffer_append_byte(out, '/');
        for (size_t j = 0; j < 8; j++)
            buffer_printf(out, "%02x", link->span_id[j]);
    }
    if (p->counts)
        buffer_printf(out, " count %llu", (unsigned long long)p->counts[i]);
    for (uint32_t j = p->time_starts ? p->time_starts[i] : 0; p->time_starts && j < p->time_starts[i + 1]; j++) {
        buffer_printf(out, "%s%llu", j == p->time_starts[i] ? " at " : " ", (unsigned long long)p->times[j]);
        if (p->time_values)
            buffer_printf(out, ":%lld", (long long)p->time_values[j]);
    }
    buffer_append_byte(out, '\n');
}

static void dump_type(const struct batch *batch, struct buffer *out, const char *before, const struct value_type *type)
{
    static const char *const temporalities[] = { "", "", "+cumulative" };

    if (!type->type && !type->unit)
        return;
    dump_string(batch, out, before, type->type);
    dump_string(batch, out, "/", type->unit);
    if (type->nature == VALUE_LEVEL)
        buffer_append_text(out, "+level");
    buffer_append_text(out, temporalities[type->temporality]);
}

static void dump_profile(const struct batch *batch, struct buffer *out, const struct profile *p)
{
    buffer_append_text(out, "profile");
    for (uint32_t i = 0; i < p->n_types; i++)
        dump_type(batch, out, " ", &p->types[i]);
    if (p->default_type != PROFILE_NO_TYPE)
        buffer_printf(out, " default %u", p->default_type);
    dump_type(batch, out, " period ", &p->period_type);
    if (p->period)
        buffer_printf(out, " %lld", (long long)p->period);
    if (p->start_ns || p->duration_ns)
        buffer_printf(out, " from %lld for %lld", (long long)p->start_ns, (long long)p->duration_ns);
    if (p->profile_id[0])
        buffer_printf(out, " id %.16s", (const char *)p->profile_id);
    dump_labels(batch, out, " attributes {", p->attributes);
    dump_labels(batch, out, " resource {", p->resource);
    dump_string(batch, out, " by ", p->scope_name);
    dump_string(batch, out, " ", p->scope_version);
    dump_labels(batch, out, " scope {", p->scope);
    dump_string(batch, out, " drop ", p->drop_frames);
    dump_string(batch, out, " keep ", p->keep_frames);
    dump_string(batch, out, " doc ", p->doc_url);
    for (uint32_t i = 0; i < p->n_comments; i++)
        dump_string(batch, out, " # ", p->comments[i]);
    buffer_append_byte(out, '\n');
    for (uint32_t i = 0; i < p->n_samples; i++)
        dump_sample(batch, out, p, i);
}

void otlp_craft_dump(const struct batch *batch, struct buffer *out)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        dump_profile(batch, out, &batch->profiles[i]);
}

/* --- decoding for the tests --- */

static char last_dump[16 << 10], last_reports[8 << 10];

static void keep_text(struct buffer *text, char *place, size_t size)
{
    CHECK(text->len < size);
    memcpy(place, text->len ? text->data : "", text->len);
    place[text->len] = '\0';
    buffer_done(text);
}

static const char *decode_with(int (*decode)(struct slice, struct batch *, struct error *), struct slice bytes)
{
    struct buffer text;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(decode(bytes, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    buffer_init(&text, 0);
    otlp_craft_dump(&batch, &text);
    keep_text(&text, last_dump, sizeof(last_dump));
    buffer_init(&text, 0);
    for (uint32_t i = 0; i < batch.report.n; i++)
        buffer_printf(&text, "%llu x %s (%s)\n", (unsigned long long)batch.report.entries[i].count,
                      batch.report.entries[i].kind, batch.report.entries[i].example);
    keep_text(&text, last_reports, sizeof(last_reports));
    batch_done(&batch);
    return last_dump;
}

const char *otlp_craft_decoded(struct slice bytes)
{
    return decode_with(otlp_decode, bytes);
}

const char *otlp_craft_json_decoded(const char *json)
{
    return decode_with(otlp_json_decode, slice_from(json));
}

const char *otlp_craft_reports(void)
{
    return last_reports;
}
