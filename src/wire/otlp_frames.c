// SPDX-License-Identifier: Apache-2.0
/* Locations become frames, and their lines go to the table of lines. This is the largest part of most requests, so a
 * location that looks as most do is read without the checks that a broken one needs; any other is read with care. */
#include "wire/otlp_walk_internal.h"

/* --- attributes --- */

/* What the attributes of a location say. */
struct traits {
    uint8_t kind;
    uint8_t flags;
};

static struct traits add_trait(struct otlp_decoder *d, struct traits traits, uint32_t i, uint64_t index)
{
    const struct otlp_attribute *attribute = otlp_attributes_get(d, index, "location");
    const struct label *label;
    struct slice text;

    if (!attribute || attribute->n == 0)
        return traits;
    label = otlp_attributes_label(d, attribute);
    switch (attribute->meaning) {
    case OTLP_FRAME_TYPE:
        text = tables_string(d->tables, label->text);
        traits.kind = (uint8_t)attribute->frame_kind;
        if (traits.kind == FRAME_UNKNOWN && text.len > 0 && !slice_is(text, "unknown"))
            report_add(d->report, "frame type that is not known; left out", 1, "location %u: %.*s", i, SLICE_ARG(text));
        break;
    case OTLP_IS_FOLDED: traits.flags |= label->number ? FRAME_IS_FOLDED : 0; break;
    default: otlp_walk_report_no_place(d, "location", i, label);
    }
    return traits;
}

static struct traits add_traits(struct otlp_decoder *d, struct traits traits, uint32_t i, struct protobuf_reader *r)
{
    while (protobuf_more(r))
        traits = add_trait(d, traits, i, protobuf_varint(r));
    return traits;
}

/* --- with care --- */

static void add_line(struct otlp_decoder *d, struct line line)
{
    struct tables *t = d->tables;

    if (OTLP_RESERVE(d, t->lines, lines, (uint64_t)t->n_lines + 1, &d->failure) == 0)
        t->lines[t->n_lines++] = line;
}

static uint32_t max_lines(const struct otlp_decoder *d)
{
    return MIN(d->batch->limits.max_depth, UINT16_MAX);
}

/* Appends a line to the table, if it is good. `n` is how many the location has already; returns how many it has now. */
static uint32_t read_line(struct otlp_decoder *d, uint32_t i, uint32_t n, struct protobuf_reader *r)
{
    struct line line = { 0 };
    uint64_t function = 0;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_LINE_FUNCTION, PROTOBUF_VARINT): function = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_LINE_LINE, PROTOBUF_VARINT):
            line.line = otlp_walk_line_number(d, "location", i, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_LINE_COLUMN, PROTOBUF_VARINT):
            line.column = otlp_walk_line_number(d, "location", i, protobuf_varint(r));
            break;
        default: protobuf_skip_unknown(r, tag, OTLP_LINE_COLUMN);
        }
    }
    if (!otlp_index_find(&d->functions, function, &line.function)) {
        otlp_walk_report_missing(d, "location", i, "function", function);
        return n;
    }
    if (n >= max_lines(d)) {
        report_add(d->report, "location with more lines than the depth limit; the outermost were cut", 1, "location %u",
                   i);
        return n;
    }
    add_line(d, line);
    return n + 1;
}

static struct frame read_frame(struct otlp_decoder *d, uint32_t i, struct protobuf_reader *r)
{
    struct frame frame = { .first_line = d->tables->n_lines };
    struct traits traits = { 0 };
    uint32_t n_lines = 0, tag;

    while (protobuf_next(r, &tag)) {
        uint32_t canonical = otlp_schema_tag(d->document->numbering->location, tag);
        struct protobuf_reader inner;
        uint64_t mapping;

        switch (canonical) {
        case PROTOBUF_TAG(OTLP_LOCATION_MAPPING, PROTOBUF_VARINT):
            mapping = protobuf_varint(r);
            if (!otlp_index_find(&d->mappings, mapping, &frame.mapping))
                otlp_walk_report_missing(d, "location", i, "mapping", mapping);
            break;
        case PROTOBUF_TAG(OTLP_LOCATION_ADDRESS, PROTOBUF_VARINT): frame.address = protobuf_varint(r); break;
        case PROTOBUF_TAG(OTLP_LOCATION_LINES, PROTOBUF_BYTES):
            inner = protobuf_message(r);
            n_lines = read_line(d, i, n_lines, &inner);
            protobuf_leave(r, &inner);
            break;
        case PROTOBUF_TAG(OTLP_LOCATION_ATTRIBUTES, PROTOBUF_VARINT):
            traits = add_trait(d, traits, i, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_LOCATION_ATTRIBUTES, PROTOBUF_BYTES):
            inner = protobuf_message(r);
            traits = add_traits(d, traits, i, &inner);
            protobuf_leave(r, &inner);
            break;
        case PROTOBUF_TAG(OTLP_LOCATION_IS_FOLDED, PROTOBUF_VARINT):
            traits.flags |= protobuf_varint(r) ? FRAME_IS_FOLDED : 0;
            break;
        default: otlp_schema_skip(r, tag, canonical);
        }
    }
    frame.n_lines = (uint16_t)n_lines;
    frame.kind = traits.kind;
    frame.flags = traits.flags;
    return frame;
}

/* --- quickly --- */

/* What reading quickly looks at, in one place that no store into a table can change. */
struct quick {
    const uint8_t *last_end; /* messages that end here or before have a margin behind them */
    struct otlp_index mappings;
    struct otlp_index functions;
    struct line *lines;
    uint32_t n_lines;
    uint32_t max_lines; /* there is room for so many */
    uint32_t max_depth;
};

static struct quick start_quick(const struct otlp_decoder *d)
{
    const uint8_t *start = (const uint8_t *)d->document->bytes.ptr;
    size_t len = d->document->bytes.len;

    return (struct quick){
        /* Locations of L7 have other numbers, and are all read with care. */
        .last_end = d->document->numbering->is_old || len < PROTOBUF_MARGIN ? start : start + len - PROTOBUF_MARGIN,
        .mappings = d->mappings,
        .functions = d->functions,
        .lines = d->tables->lines,
        .n_lines = d->tables->n_lines,
        .max_lines = d->capacity.lines,
        .max_depth = max_lines(d),
    };
}

/* A line whose fields are all as they should be. */
static inline bool read_line_quickly(struct quick *q, const uint8_t *at, const uint8_t *end)
{
    struct line *ret_line = &q->lines[q->n_lines];
    uint64_t function = 0, line = 0, column = 0;
    const uint8_t *before = NULL;

    while (at < end) {
        if (UNLIKELY(at == before))
            return false; /* a field that is none of these */
        before = at;
        OTLP_TAKE_VARINT(at, end, OTLP_LINE_FUNCTION, function);
        OTLP_TAKE_VARINT(at, end, OTLP_LINE_LINE, line);
        OTLP_TAKE_VARINT(at, end, OTLP_LINE_COLUMN, column);
    }
    if (UNLIKELY(at != end || q->n_lines == q->max_lines || (line | column) > UINT32_MAX ||
                 !otlp_index_find(&q->functions, function, &ret_line->function)))
        return false;
    ret_line->line = (uint32_t)line;
    ret_line->column = (uint32_t)column;
    q->n_lines++;
    return true;
}

/* A location whose fields and lines are all short, good and as they should be: false if it is not. What its attributes
 * say is left to the caller. */
static inline bool read_frame_quickly(struct quick *q, const uint8_t *at, const uint8_t *end, struct frame *ret_frame,
                                      struct slice *ret_attributes)
{
    const uint8_t *before = NULL;
    uint64_t mapping = 0, address = 0;
    uint32_t first_line = q->n_lines;

    *ret_attributes = (struct slice){ NULL, 0 };
    if (UNLIKELY(end > q->last_end))
        return false;
    while (at < end) {
        if (UNLIKELY(at == before))
            return false; /* a field that is none of these */
        before = at;
        OTLP_TAKE_VARINT(at, end, OTLP_LOCATION_MAPPING, mapping);
        OTLP_TAKE_VARINT(at, end, OTLP_LOCATION_ADDRESS, address);
        while (at < end && *at == PROTOBUF_TAG(OTLP_LOCATION_LINES, PROTOBUF_BYTES)) {
            if (UNLIKELY(at[1] >= 0x80 || at[1] > end - at - 2 || !read_line_quickly(q, at + 2, at + 2 + at[1])))
                return false;
            at += 2 + at[1];
        }
        if (at < end && *at == PROTOBUF_TAG(OTLP_LOCATION_ATTRIBUTES, PROTOBUF_BYTES)) {
            if (UNLIKELY(at[1] >= 0x80 || at[1] > end - at - 2 || ret_attributes->ptr))
                return false;
            *ret_attributes = slice_of(at + 2, at[1]);
            at += 2 + at[1];
        }
    }
    if (UNLIKELY(at != end || q->n_lines - first_line > q->max_depth ||
                 !otlp_index_find(&q->mappings, mapping, &ret_frame->mapping)))
        return false;
    ret_frame->address = address;
    ret_frame->first_line = first_line;
    ret_frame->n_lines = (uint16_t)(q->n_lines - first_line);
    ret_frame->kind = FRAME_UNKNOWN;
    ret_frame->flags = 0;
    ret_frame->spare = 0;
    return true;
}

/* --- the table --- */

/* Takes what the attributes of a location say into its frame. Packed indexes that are broken are told to `r`. */
static void apply_attributes(struct otlp_decoder *d, uint32_t i, struct slice packed, struct frame *frame,
                             struct protobuf_reader *r)
{
    struct protobuf_reader indexes = protobuf_reader_of(packed);
    struct traits traits = add_traits(d, (struct traits){ 0 }, i, &indexes);

    frame->kind = traits.kind;
    frame->flags = traits.flags;
    protobuf_leave(r, &indexes);
}

int otlp_frames_read(struct otlp_decoder *d, bool has_none, struct error *err)
{
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_LOCATIONS, has_none);
    struct quick quick = start_quick(d);
    struct tables *t = d->tables;
    struct frame *frame = &t->frames[t->n_frames];
    struct protobuf_reader entry;

    d->locations = otlp_walk_index(d, OTLP_DICTIONARY_LOCATIONS, t->n_frames, has_none);
    for (; otlp_walk_next(&walk, &entry); frame++) {
        uint32_t first_line = quick.n_lines;
        struct slice attributes;

        if (LIKELY(read_frame_quickly(&quick, entry.at, entry.end, frame, &attributes))) {
            if (attributes.len > 0)
                apply_attributes(d, walk.i, attributes, frame, &walk.reader);
        } else {
            struct protobuf_reader again = entry;

            t->n_lines = first_line;
            *frame = read_frame(d, walk.i, &again);
            protobuf_leave(&walk.reader, &again);
            quick = start_quick(d);
        }
        if (LIKELY(!otlp_walk_is_none(&walk)))
            continue;
        if (frame->address || frame->mapping || frame->n_lines || frame->kind || frame->flags) {
            /* Whoever puts a location there means it: such a sender does not know that 0 should mean none. */
            d->locations.has_none = false;
            d->locations.offset++;
            continue;
        }
        quick.n_lines = first_line;
        frame--;
    }
    t->n_frames = (uint32_t)(frame - t->frames);
    t->n_lines = quick.n_lines;
    if (d->failure.code != ERR_OK) {
        *err = d->failure;
        return -1;
    }
    return otlp_walk_end(d, &walk, err);
}
