// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_walk_internal.h"

static OTLP_COLD int mark_bad(struct otlp_decoder *d, uint32_t stack, struct error *err)
{
    if (stack >= d->n_bad_stacks) {
        uint8_t *bits = arena_alloc_zero(d->arena, d->capacity.stacks / 8 + 1, err);

        if (!bits)
            return -1;
        if (d->n_bad_stacks > 0)
            memcpy(bits, d->bad_stacks, d->n_bad_stacks / 8);
        d->bad_stacks = bits;
        d->n_bad_stacks = (d->capacity.stacks / 8 + 1) * 8;
    }
    d->bad_stacks[stack / 8] |= (uint8_t)(1u << stack % 8);
    return 0;
}

/* What was wrong with a stack. */
struct flaws {
    bool is_bad; /* it has a location that does not exist */
    bool is_cut;
    bool has_none; /* it has location 0 */
};

/* Appends packed locations, if all are good and there is no doubt about the depth. False if not; then nothing was
 * appended. A good index is one from 1 below the size of the location table. */
static inline bool add_frames_quickly(struct otlp_decoder *d, uint32_t start, const struct protobuf_reader *packed)
{
    struct tables *t = d->tables;
    const uint8_t *at = packed->at, *end = packed->end;
    uint32_t offset = d->locations.offset, n_good = MAX(d->locations.n, 1) - 1;
    uint32_t *out = t->stack_frames + t->n_stack_frames;
    size_t max = MIN(d->batch->limits.max_depth, d->capacity.stack_frames - start) - (t->n_stack_frames - start);

    if (UNLIKELY((size_t)(end - at) > max || !protobuf_has_margin(end, d->document->bytes)))
        return false;
    while (at < end) {
        uint64_t location;

        at = protobuf_varint_unchecked(at, end, &location);
        if (UNLIKELY(location - 1 >= n_good))
            return false;
        *out++ = offset + (uint32_t)location;
    }
    if (UNLIKELY(at != end))
        return false;
    t->n_stack_frames = (uint32_t)(out - t->stack_frames);
    return true;
}

/* Appends packed locations to the stack that begins at `start`. */
static void add_frames(struct otlp_decoder *d, uint32_t start, struct protobuf_reader *r, struct flaws *flaws)
{
    struct tables *t = d->tables;

    if (LIKELY(add_frames_quickly(d, start, r)))
        return;
    while (protobuf_more(r)) {
        uint64_t location = protobuf_varint(r);

        if (r->bad)
            return;
        if (location == 0 && d->locations.has_none)
            flaws->has_none = true;
        else if (location >= d->locations.n)
            flaws->is_bad = true;
        else if (t->n_stack_frames - start >= d->batch->limits.max_depth)
            flaws->is_cut = true;
        else
            t->stack_frames[t->n_stack_frames++] = d->locations.offset + (uint32_t)location;
    }
}

/* Reads the locations of one stack behind those that are there. */
static struct flaws read_stack(struct otlp_decoder *d, struct protobuf_reader *r)
{
    uint32_t start = d->tables->n_stack_frames, tag;
    struct flaws flaws = { 0 };

    while (protobuf_next(r, &tag)) {
        struct protobuf_reader locations;

        if (LIKELY(tag == PROTOBUF_TAG(OTLP_STACK_LOCATIONS, PROTOBUF_BYTES))) {
            locations = protobuf_message(r);
        } else if (tag == PROTOBUF_TAG(OTLP_STACK_LOCATIONS, PROTOBUF_VARINT)) {
            locations.at = r->at;
            (void)protobuf_varint(r);
            locations = (struct protobuf_reader){ .at = locations.at, .end = r->bad ? locations.at : r->at };
        } else {
            protobuf_skip_unknown(r, tag, OTLP_STACK_LOCATIONS);
            continue;
        }
        add_frames(d, start, &locations, &flaws);
        protobuf_leave(r, &locations);
    }
    return flaws;
}

static OTLP_COLD int report_flaws(struct otlp_decoder *d, uint32_t i, struct flaws flaws, struct error *err)
{
    if (flaws.is_cut)
        report_add(d->report, "stack deeper than the limit; cut at the root", 1, "stack %u, limit %u", i,
                   d->batch->limits.max_depth);
    if (flaws.has_none)
        report_add(d->report, "stack with location 0, which means none; left out", 1, "stack %u", i);
    return flaws.is_bad ? mark_bad(d, d->tables->n_stacks, err) : 0;
}

int otlp_stacks_read(struct otlp_decoder *d, bool has_none, struct error *err)
{
    struct otlp_walk walk = otlp_walk_start(d, OTLP_DICTIONARY_STACKS, has_none);
    struct tables *t = d->tables;
    struct protobuf_reader entry;

    d->stacks = otlp_walk_index(d, OTLP_DICTIONARY_STACKS, t->n_stacks, has_none);
    /* Stacks of an earlier request in layout L7 may have taken the room of these. */
    if (OTLP_RESERVE(d, t->stack_starts, stacks, (uint64_t)t->n_stacks + d->stacks.n + 1, err) < 0 ||
        OTLP_RESERVE(d, t->stack_frames, stack_frames, t->n_stack_frames + d->document->n_stack_frames, err) < 0)
        return -1;
    while (otlp_walk_next(&walk, &entry)) {
        uint32_t start = t->n_stack_frames;
        struct flaws flaws = read_stack(d, &entry);

        protobuf_leave(&walk.reader, &entry);
        if (UNLIKELY(otlp_walk_is_none(&walk))) {
            if (t->n_stack_frames > start || flaws.is_bad)
                otlp_walk_report_not_empty(d, "stack_table");
            t->n_stack_frames = start;
            continue;
        }
        if (UNLIKELY(flaws.is_bad || flaws.is_cut || flaws.has_none) && report_flaws(d, walk.i, flaws, err) < 0)
            return -1;
        t->stack_starts[++t->n_stacks] = t->n_stack_frames;
    }
    return otlp_walk_end(d, &walk, err);
}

int otlp_stacks_add(struct otlp_decoder *d, const uint32_t *frames, uint32_t depth, uint32_t *ret_stack,
                    struct error *err)
{
    struct tables *t = d->tables;
    struct slice bytes = slice_of(frames, depth * sizeof(*frames));
    uint32_t known;
    bool is_new;

    if (depth == 0) {
        *ret_stack = 0;
        return 0;
    }
    if (hash_set_add(&d->stack_hashes, hash_bytes(bytes, 0), &known, &is_new, err) < 0)
        return -1;
    if (!is_new) {
        *ret_stack = d->known_stacks[known];
        return 0;
    }
    if (OTLP_RESERVE(d, d->known_stacks, known_stacks, (uint64_t)known + 1, err) < 0 ||
        OTLP_RESERVE(d, t->stack_starts, stacks, (uint64_t)t->n_stacks + 2, err) < 0 ||
        OTLP_RESERVE(d, t->stack_frames, stack_frames, (uint64_t)t->n_stack_frames + depth, err) < 0)
        return -1;
    memcpy(t->stack_frames + t->n_stack_frames, bytes.ptr, bytes.len);
    t->n_stack_frames += depth;
    d->known_stacks[known] = *ret_stack = t->n_stacks++;
    t->stack_starts[t->n_stacks] = t->n_stack_frames;
    return 0;
}
