// SPDX-License-Identifier: Apache-2.0
#include "wire/folded.h"

#include "base/vec.h"
#include "pack/packer.h"
#include "profile/builder.h"

#include <math.h>
#include <stdlib.h>

#define RECOGNISE_LINES 64
#define RECOGNISE_BYTES (64 << 10)

static const char without_count[] = "line of folded text without a count at its end; dropped";
static const char too_large[] = "count of folded text does not fit in 64 bits; dropped";
static const char rounded[] = "count of folded text was not whole; rounded";
static const char empty_frame[] = "empty frame name in folded text; left out";

/* --- lines and counts --- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice trim_end(struct slice text)
{
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* A count: an optional sign, digits, and perhaps a fraction. */
static bool parse_count(struct slice text, int64_t *ret_value, bool *ret_is_rounded)
{
    double real;

    *ret_is_rounded = false;
    if (slice_to_i64(text, ret_value))
        return true;
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] < '0' || text.ptr[i] > '9') && text.ptr[i] != '.' && !(i == 0 && text.ptr[i] == '-'))
            return false;
    if (!slice_to_double(text, &real) || fabs(real) >= 0x1p63)
        return false;
    *ret_value = (int64_t)llround(real);
    *ret_is_rounded = true;
    return true;
}

/* Cuts the last word off `text` if it is a count. */
static bool cut_count(struct slice *text, int64_t *ret_value, bool *ret_is_rounded)
{
    struct slice rest = trim_end(*text);
    size_t start = rest.len;

    while (start > 0 && !is_space(rest.ptr[start - 1]))
        start--;
    if (start == 0 || !parse_count(slice_of(rest.ptr + start, rest.len - start), ret_value, ret_is_rounded))
        return false;
    *text = slice_of(rest.ptr, start - 1);
    return true;
}

/* "# text" is a comment; "#name;..." is a stack, since private methods are called so in some languages. */
static bool is_comment(struct slice line)
{
    return line.len > 0 && line.ptr[0] == '#' && (line.len == 1 || is_space(line.ptr[1]) || line.ptr[1] == '#');
}

/* The next line that is not blank and no comment. */
static bool next_line(struct slice *rest, struct slice *ret_line, uint32_t *number)
{
    while (slice_next_line(rest, ret_line)) {
        (*number)++;
        if (trim_end(*ret_line).len > 0 && !is_comment(*ret_line))
            return true;
    }
    return false;
}

static bool is_printable(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if (((unsigned char)line.ptr[i] < 0x20 && line.ptr[i] != '\t') || line.ptr[i] == 0x7f)
            return false;
    return true;
}

int folded_recognise(struct slice bytes)
{
    struct slice rest = slice_sub(bytes, 0, RECOGNISE_BYTES), line;
    uint32_t number = 0, n_lines = 0, n_good = 0;
    bool has_semicolon = false;

    while (n_lines < RECOGNISE_LINES && next_line(&rest, &line, &number)) {
        int64_t count;
        bool is_rounded;

        if (bytes.len > RECOGNISE_BYTES && rest.len == 0)
            break; /* the line is cut */
        n_lines++;
        if (!is_printable(line) || !cut_count(&line, &count, &is_rounded))
            continue;
        n_good++;
        has_semicolon |= slice_find_byte(line, ';') >= 0;
    }
    if (n_good * 10 >= n_lines * 9 && n_good > 0)
        return has_semicolon ? 70 : 30;
    return n_good * 2 >= n_lines && has_semicolon ? 20 : 0; /* damaged, but what else could it be */
}

/* Whether every line that has a count has two. */
static bool is_differential(struct slice bytes)
{
    struct slice line;
    uint32_t number = 0, n = 0;
    int64_t count;
    bool is_rounded;

    while (next_line(&bytes, &line, &number)) {
        if (!cut_count(&line, &count, &is_rounded))
            continue;
        if (!cut_count(&line, &count, &is_rounded))
            return false;
        n++;
    }
    return n > 0;
}

/* --- reading --- */

struct folded_reader {
    struct builder *builder;
    struct report *report;
    uint32_t max_lines;   /* of one frame */
    uint32_t line_number; /* of the text */
    uint32_t n_samples;
    const struct profile_limits *limits;
    VEC(uint32_t) frames;   /* of the stack being read, root first */
    VEC(struct line) lines; /* of the frame being read, outermost first */
    struct frame frame;     /* pending: more inlined lines may follow */
};

static void folded_reader_done(struct folded_reader *reader)
{
    builder_free(reader->builder);
    VEC_DONE(&reader->frames);
    VEC_DONE(&reader->lines);
}

/* Cuts the annotation off `name`. */
static char cut_annotation(struct slice *name)
{
    const char *end = name->ptr + name->len;

    if (name->len < 5 || end[-4] != '_' || end[-3] != '[' || end[-1] != ']' || !memchr("kji01", end[-2], 5))
        return '\0';
    name->len -= 4;
    return end[-2];
}

static enum frame_kind kind_of_annotation(char annotation)
{
    switch (annotation) {
    case 'k': return FRAME_KERNEL;
    case 'j':
    case '1': return FRAME_JIT;
    case '0': return FRAME_JVM;
    default: return FRAME_UNKNOWN;
    }
}

/* Takes the pending frame, if there is one, into the stack. */
static int finish_frame(struct folded_reader *r, struct error *err)
{
    uint32_t n = (uint32_t)r->lines.n;
    uint32_t *id;

    if (n == 0 && r->frame.address == 0 && r->frame.mapping == 0)
        return 0;
    for (uint32_t i = 0; i < n / 2; i++) {
        struct line swap = r->lines.items[i];

        r->lines.items[i] = r->lines.items[n - 1 - i];
        r->lines.items[n - 1 - i] = swap;
    }
    id = VEC_PUSH(&r->frames, UINT32_MAX, err);
    if (!id)
        return -1;
    r->frame.n_lines = (uint16_t)n;
    *id = builder_frame(r->builder, &r->frame, r->lines.items);
    r->lines.n = 0;
    r->frame = (struct frame){ 0 };
    return 0;
}

/* `[FILE]+0xOFFSET` or `0xADDRESS`. */
static bool parse_address(struct folded_reader *r, struct slice name, struct frame *frame)
{
    ptrdiff_t close = name.len > 0 && name.ptr[0] == '[' ? slice_find(name, SLICE("]+0x")) : -1;

    if (close > 1 && slice_to_u64_hex(slice_sub(name, (size_t)close + 4, SIZE_MAX), &frame->address)) {
        struct mapping mapping = { .file = builder_string(r->builder, slice_sub(name, 1, (size_t)close - 1)) };

        frame->mapping = builder_mapping(r->builder, &mapping);
        return true;
    }
    return slice_starts_with(name, SLICE("0x")) && slice_to_u64_hex(slice_sub(name, 2, SIZE_MAX), &frame->address) &&
           frame->address != 0;
}

static int add_line(struct folded_reader *r, struct slice name, struct error *err)
{
    struct function function = { .name = builder_string(r->builder, name) };
    struct line *line = VEC_PUSH(&r->lines, UINT16_MAX, err);

    if (!line)
        return -1;
    line->function = builder_function(r->builder, &function);
    return 0;
}

static int add_part(struct folded_reader *r, struct slice name, struct error *err)
{
    struct frame frame = { 0 };
    char annotation;

    if (name.len == 0) {
        report_add(r->report, empty_frame, 1, "line %u", r->line_number);
        return 0;
    }
    annotation = cut_annotation(&name);
    if (annotation == 'i' && r->lines.n > 0 && r->lines.n < r->max_lines)
        return add_line(r, name, err);
    if (finish_frame(r, err) < 0)
        return -1;
    frame.kind = (uint8_t)kind_of_annotation(annotation);
    if (parse_address(r, name, &frame)) {
        r->frame = frame;
        return 0;
    }
    r->frame.kind = frame.kind;
    return add_line(r, name, err);
}

static int read_stack(struct folded_reader *r, struct slice text, uint32_t *ret_stack, struct error *err)
{
    struct slice part;

    r->frames.n = r->lines.n = 0;
    r->frame = (struct frame){ 0 };
    while (slice_next_part(&text, ';', &part))
        if (add_part(r, part, err) < 0)
            return -1;
    if (finish_frame(r, err) < 0)
        return -1;
    for (size_t i = 0, n = r->frames.n; i < n / 2; i++) {
        uint32_t swap = r->frames.items[i];

        r->frames.items[i] = r->frames.items[n - 1 - i];
        r->frames.items[n - 1 - i] = swap;
    }
    *ret_stack = builder_stack(r->builder, r->frames.items, (uint32_t)r->frames.n);
    return 0;
}

static int check_limits(struct folded_reader *r, struct error *err)
{
    if (++r->n_samples > r->limits->max_samples)
        return error_set(err, ERR_LIMIT, "folded text: line %u is one sample more than the limit of %u", r->line_number,
                         r->limits->max_samples);
    if (builder_tables(r->builder)->n_strings - 1 > r->limits->max_strings)
        return error_set(err, ERR_LIMIT, "folded text: line %u brings more names than the limit of %u strings",
                         r->line_number, r->limits->max_strings);
    return 0;
}

/* Whether the last word is a number, if one that is too large. */
static bool ends_in_digits(struct slice line)
{
    size_t end, at;

    line = trim_end(line);
    for (at = end = line.len; at > 0 && line.ptr[at - 1] >= '0' && line.ptr[at - 1] <= '9'; at--)
        ;
    return at < end && at > 0 && is_space(line.ptr[at - 1]);
}

static int read_line(struct folded_reader *r, struct slice line, uint32_t n_counts, struct error *err)
{
    int64_t values[2] = { 0 };
    bool is_rounded;
    uint32_t stack;

    for (uint32_t i = n_counts; i-- > 0;) {
        if (!cut_count(&line, &values[i], &is_rounded)) {
            report_add(r->report, ends_in_digits(line) ? too_large : without_count, 1, "line %u: '%.*s'",
                       r->line_number, (int)MIN(line.len, 60u), line.ptr);
            return 0;
        }
        if (is_rounded)
            report_add(r->report, rounded, 1, "line %u: now %lld", r->line_number, (long long)values[i]);
    }
    if (read_stack(r, line, &stack, err) < 0)
        return -1;
    builder_sample(r->builder, stack, 0, 0, values, 0);
    return check_limits(r, err);
}

static uint32_t add_types(struct builder *builder, bool is_differential)
{
    uint32_t unit = builder_string(builder, SLICE("count"));

    if (!is_differential) {
        builder_type(builder, (struct value_type){ .type = builder_string(builder, SLICE("samples")), .unit = unit });
        return 1;
    }
    builder_type(builder, (struct value_type){ .type = builder_string(builder, SLICE("before")), .unit = unit });
    builder_type(builder, (struct value_type){ .type = builder_string(builder, SLICE("after")), .unit = unit });
    return 2;
}

int folded_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    struct builder_options options = { .limits = batch->limits };
    AUTO(folded_reader_done) struct folded_reader reader = { 0 };
    struct slice line;
    uint32_t n_counts;

    if (builder_new(&options, &reader.builder, err) < 0)
        return -1;
    reader.report = builder_report(reader.builder);
    reader.limits = &batch->limits;
    reader.max_lines = MIN(batch->limits.max_depth, UINT16_MAX);
    (void)builder_profile(reader.builder);
    n_counts = add_types(reader.builder, is_differential(bytes));
    while (next_line(&bytes, &line, &reader.line_number))
        if (read_line(&reader, line, n_counts, err) < 0)
            return -1;
    if (builder_finish(reader.builder, batch, err) < 0)
        return -1;
    if (report_count(&batch->report, without_count) > 0 && batch->profiles[0].n_samples == 0)
        return error_set(err, ERR_INVALID, "folded text: not one of %u lines ends in a space and a count",
                         reader.line_number);
    return 0;
}

/* --- writing --- */

struct folded_line {
    size_t offset; /* of the stack's text */
    size_t len;
    int64_t value;
    const struct buffer *texts;
};

static struct slice line_text(const struct folded_line *line)
{
    return slice_of(line->texts->data + line->offset, line->len);
}

static int compare_lines(const void *a, const void *b)
{
    return slice_compare(line_text(a), line_text(b));
}

static void put_name(struct buffer *out, struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        buffer_append_byte(out, c == ';' ? ':' : (unsigned char)c < 0x20 ? ' ' : c);
    }
}

/* A frame that has no name: where it is. */
static void put_address(struct buffer *out, const struct tables *tables, const struct frame *frame)
{
    const struct mapping *mapping = &tables->mappings[frame->mapping];
    struct slice file = tables_string(tables, mapping->file);
    ptrdiff_t slash = slice_find_last_byte(file, '/');

    file = slice_sub(file, (size_t)(slash + 1), SIZE_MAX);
    if (file.len > 0) {
        buffer_append_byte(out, '[');
        put_name(out, file);
        buffer_printf(out, "]+0x%llx", (unsigned long long)(frame->address - mapping->start + mapping->offset));
    } else if (frame->address) {
        buffer_printf(out, "0x%llx", (unsigned long long)frame->address);
    } else {
        buffer_append_text(out, "[unknown]");
    }
}

static bool put_function(struct buffer *out, const struct tables *tables, uint32_t id)
{
    const struct function *function = &tables->functions[id];
    struct slice name = tables_string(tables, function->name);

    if (name.len == 0)
        name = tables_string(tables, function->system_name);
    put_name(out, name);
    return name.len > 0;
}

static void put_kind(struct buffer *out, uint8_t kind)
{
    if (kind == FRAME_KERNEL)
        buffer_append_text(out, "_[k]");
    else if (kind == FRAME_JIT)
        buffer_append_text(out, "_[j]");
}

static void put_frame(struct buffer *out, const struct tables *tables, const struct frame *frame)
{
    uint32_t n = frame->n_lines;
    const struct line *lines = n ? tables->lines + frame->first_line : NULL;

    if (n == 0 || !put_function(out, tables, lines[n - 1].function))
        put_address(out, tables, frame);
    put_kind(out, frame->kind);
    for (uint32_t i = n > 0 ? n - 1 : 0; i-- > 0;) {
        buffer_append_byte(out, ';');
        if (!put_function(out, tables, lines[i].function))
            buffer_append_text(out, "[unknown]");
        buffer_append_text(out, "_[i]");
    }
}

static void put_stack(struct buffer *out, const struct tables *tables, uint32_t stack)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(tables, stack, &depth);

    if (depth == 0)
        buffer_append_text(out, "[no stack]");
    for (uint32_t i = depth; i-- > 0;) {
        put_frame(out, tables, &tables->frames[frames[i]]);
        if (i > 0)
            buffer_append_byte(out, ';');
    }
}

/* The sum of each stack, by stack id. */
static int64_t *sum_by_stack(const struct profile *profile, uint32_t type, struct arena *arena, struct error *err)
{
    uint32_t n_stacks = profile->tables->n_stacks;
    int64_t *sums = ARENA_ARRAY(arena, int64_t, n_stacks, err);
    const int64_t *values = profile_values(profile, type);
    uint64_t saturated = 0;

    if (!sums)
        return NULL;
    memset(sums, 0, n_stacks * sizeof(*sums));
    for (uint32_t i = 0; i < profile->n_samples; i++)
        sums[profile->stacks[i]] = value_add(sums[profile->stacks[i]], values[i], &saturated);
    return sums;
}

static void write_lines(const struct folded_line *lines, uint32_t n, struct buffer *out)
{
    uint64_t saturated = 0;

    for (uint32_t i = 0; i < n;) {
        struct slice text = line_text(&lines[i]);
        int64_t value = lines[i++].value;

        while (i < n && slice_equal(text, line_text(&lines[i])))
            value = value_add(value, lines[i++].value, &saturated);
        if (value == 0)
            continue;
        buffer_append_slice(out, text);
        buffer_printf(out, " %lld\n", (long long)value);
    }
}

static int write_profile(const struct profile *profile, uint32_t type, struct arena *arena, struct buffer *texts,
                         struct buffer *out, struct error *err)
{
    const int64_t *sums = sum_by_stack(profile, type, arena, err);
    struct folded_line *lines = sums ? ARENA_ARRAY(arena, struct folded_line, profile->tables->n_stacks, err) : NULL;
    uint32_t n = 0;

    if (!lines)
        return -1;
    for (uint32_t stack = 0; stack < profile->tables->n_stacks; stack++) {
        size_t offset = texts->len;

        if (sums[stack] == 0)
            continue;
        put_stack(texts, profile->tables, stack);
        lines[n++] = (struct folded_line){ offset, texts->len - offset, sums[stack], texts };
    }
    if (buffer_check(texts, err) < 0)
        return -1;
    qsort(lines, n, sizeof(*lines), compare_lines);
    write_lines(lines, n, out);
    return buffer_check(out, err);
}

static int choose_type(const struct batch *batch, uint32_t wanted, uint32_t *ret_type, struct error *err)
{
    uint32_t n_types;

    if (batch->n_profiles != 1)
        return error_set(err, ERR_INVALID, "folded text holds one profile, not %u; merge them first",
                         batch->n_profiles);
    n_types = batch->profiles[0].n_types;
    *ret_type = wanted == PROFILE_NO_TYPE ? profile_default_type(&batch->profiles[0]) : wanted;
    if (*ret_type != PROFILE_NO_TYPE && *ret_type >= n_types)
        return error_set(err, ERR_INVALID, "the profile has %u value types, there is no type %u", n_types, wanted);
    return 0;
}

int folded_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                  struct error *err)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer texts, plain;
    AUTO(packer_freep) struct packer *packer = NULL;
    bool is_packed = options->pack != PACK_NONE && !options->plain;
    uint32_t type = PROFILE_NO_TYPE;

    arena_init(&arena, batch->limits.max_memory_bytes);
    buffer_init(&texts, batch->limits.max_memory_bytes);
    buffer_init(&plain, batch->limits.max_memory_bytes);
    if (choose_type(batch, options->type, &type, err) < 0)
        return -1;
    if (type != PROFILE_NO_TYPE &&
        write_profile(&batch->profiles[0], type, &arena, &texts, is_packed ? &plain : out, err) < 0)
        return -1;
    if (!is_packed)
        return 0;
    if (packer_new(&packer, err) < 0)
        return -1;
    return packer_pack(packer, options->pack, options->level, buffer_slice(&plain), out, err);
}
