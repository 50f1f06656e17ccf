// SPDX-License-Identifier: Apache-2.0
/* The last step of reading pprof: samples become stacks, label sets, links and columns.
 *
 * Before each sample there is made room for as many frames as its bytes could hold, so that decoding it checks nothing.
 * Labels are counted when the first one is met, since most profiles have none. A sample is written where the next one
 * goes; one that turns out bad is simply overwritten. */
#include "wire/pprof.h"
#include "wire/pprof_internal.h"

/* Where the sample at hand goes. */
struct target {
    uint32_t row;
    uint32_t *frame;   /* its next frame */
    uint32_t n_values; /* seen, also those that no type expects */
    uint32_t n_labels; /* kept */
    bool lacks_frame;
    bool lacks_labels; /* there is no room for labels yet */
    struct link link;
};

static int make_columns(struct pprof_decoder *d, struct error *err)
{
    struct arena *arena = &d->batch->arena;
    struct tables *t = d->tables;
    struct profile *p = d->profile;
    size_t n = d->samples.n;

    p->stride = (uint32_t)n;
    p->stacks = ARENA_ARRAY(arena, uint32_t, n, err);
    p->values = p->stacks ? ARENA_ARRAY(arena, int64_t, n * p->n_types, err) : NULL;
    t->stack_starts = p->values ? ARENA_ARRAY(arena, uint32_t, n + 2, err) : NULL;
    if (!t->stack_starts)
        return -1;
    t->stack_starts[0] = t->stack_starts[1] = 0;
    return 0;
}

/* --- frames --- */

/* The frames of all stacks, in one array that grows. */
struct frames {
    uint32_t *items;
    uint64_t n;
    uint64_t capacity;
};

/* Most ids have two bytes. */
static int make_frames(struct pprof_decoder *d, struct frames *frames, struct error *err)
{
    uint64_t n_bytes = 0;

    for (uint64_t i = 0; i < d->samples.n; i++)
        n_bytes += d->samples.items[i].len;
    frames->capacity = n_bytes / 2 + 64;
    frames->items = ARENA_ARRAY(&d->batch->arena, uint32_t, frames->capacity, err);
    return frames->items ? 0 : -1;
}

static PPROF_COLD int grow_frames(struct pprof_decoder *d, struct frames *frames, size_t extra, struct error *err)
{
    uint64_t capacity = frames->n + extra + frames->n / 2;
    uint32_t *items;

    if (frames->n + extra >= UINT32_MAX)
        return error_set(err, ERR_LIMIT, "pprof: more than %u frames in all samples", UINT32_MAX - 1);
    items = arena_resize(&d->batch->arena, frames->items, frames->capacity * sizeof(*items), capacity * sizeof(*items),
                         err);
    if (!items)
        return -1;
    frames->items = items;
    frames->capacity = capacity;
    return 0;
}

/* Gives back what was not needed. */
static int finish_frames(struct pprof_decoder *d, const struct frames *frames, struct error *err)
{
    struct tables *t = d->tables;

    t->stack_frames = arena_resize(&d->batch->arena, frames->items, frames->capacity * sizeof(*frames->items),
                                   frames->n * sizeof(*frames->items), err);
    t->n_stack_frames = (uint32_t)frames->n;
    return t->stack_frames ? 0 : -1;
}

/* --- labels and links --- */

static bool is_hex_id(struct slice text, size_t n_bytes)
{
    uint8_t any = 0;

    if (text.len != 2 * n_bytes)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
        any |= c != '0';
    }
    return any; /* zeros mean "unknown" in a link */
}

static void hex_to_bytes(struct slice text, uint8_t *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        uint8_t digit = (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);

        bytes[i / 2] = (uint8_t)(i % 2 ? bytes[i / 2] | digit : digit << 4);
    }
}

bool pprof_lift_link(const struct tables *tables, const struct label *label, struct link *link)
{
    struct slice key = tables_string(tables, label->key), text = tables_string(tables, label->text);
    uint8_t *part;
    size_t n;

    if (label->kind != LABEL_STRING)
        return false;
    if (slice_equal(key, PPROF_SPAN_KEY) || slice_equal(key, PPROF_OLD_SPAN_KEY)) {
        part = link->span_id;
        n = sizeof(link->span_id);
    } else if (slice_equal(key, PPROF_TRACE_KEY)) {
        part = link->trace_id;
        n = sizeof(link->trace_id);
    } else {
        return false;
    }
    if (!is_hex_id(text, n) || pprof_has_id(part, n))
        return false;
    hex_to_bytes(text, part);
    return true;
}

static uint64_t count_labels(struct slice sample)
{
    struct protobuf_reader r = protobuf_reader_of(sample);
    uint64_t n = 0;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        n += tag == PPROF_BYTES(PPROF_SAMPLE_LABEL);
        protobuf_skip(&r, tag);
    }
    return n;
}

/* Tables and a column with room for the labels of all samples. */
static PPROF_COLD int make_labels(struct pprof_decoder *d, struct error *err)
{
    struct arena *arena = &d->batch->arena;
    struct tables *t = d->tables;
    uint64_t n_labels = 0;

    for (uint64_t i = 0; i < d->samples.n; i++) {
        uint64_t n = count_labels(d->samples.items[i]);

        n_labels += n;
        d->n_labelled_samples += n != 0;
    }
    if (n_labels >= UINT32_MAX)
        return error_set(err, ERR_LIMIT, "pprof: %llu labels, the limit is %u", (unsigned long long)n_labels,
                         UINT32_MAX - 1);
    t->labels = ARENA_ARRAY(arena, struct label, n_labels, err);
    t->label_set_starts = t->labels ? ARENA_ARRAY(arena, uint32_t, d->n_labelled_samples + 2, err) : NULL;
    if (!t->label_set_starts)
        return -1;
    t->label_set_starts[0] = t->label_set_starts[1] = 0;
    d->profile->label_sets = arena_alloc_zero(arena, d->samples.n * sizeof(*d->profile->label_sets), err);
    return d->profile->label_sets ? 0 : -1;
}

static uint32_t sample_number(const struct pprof_decoder *d, const struct slice *sample)
{
    return (uint32_t)(sample - d->samples.items);
}

/* False when one of its strings does not exist; that is reported. */
static bool read_label(struct pprof_decoder *d, const struct slice *sample, struct slice bytes,
                       struct protobuf_reader *failed, struct label *ret_label)
{
    struct protobuf_reader r = protobuf_reader_of(bytes);
    uint64_t key = 0, text = 0, number = 0, unit = 0, highest;
    bool has_text = false, has_number = false;
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_VARINT(PPROF_LABEL_KEY): key = protobuf_varint(&r); break;
        case PPROF_VARINT(PPROF_LABEL_STR):
            text = protobuf_varint(&r);
            has_text = true;
            break;
        case PPROF_VARINT(PPROF_LABEL_NUM):
            number = protobuf_varint(&r);
            has_number = true;
            break;
        case PPROF_VARINT(PPROF_LABEL_NUM_UNIT):
            unit = protobuf_varint(&r);
            has_number = true;
            break;
        default: protobuf_skip_unknown(&r, tag, PPROF_LABEL_NUM_UNIT);
        }
    }
    protobuf_leave(failed, &r);
    highest = MAX(MAX(key, text), unit);
    if (UNLIKELY(highest >= d->tables->n_strings)) {
        report_add(&d->batch->report, "label refers to a missing string; label dropped", 1,
                   "sample %u, string %llu of %u", sample_number(d, sample), (unsigned long long)highest,
                   d->tables->n_strings);
        return false;
    }
    /* Text wins over a number, as in pprof; a label with neither is one whose text is empty. */
    if (text != 0 || (has_text && number == 0 && unit == 0) || !has_number)
        *ret_label = (struct label){ .key = (uint32_t)key, .text = (uint32_t)text, .kind = LABEL_STRING };
    else
        *ret_label = (struct label){
            .key = (uint32_t)key, .number = (int64_t)number, .unit = (uint32_t)unit, .kind = LABEL_NUMBER
        };
    return true;
}

static void decode_label(struct pprof_decoder *d, const struct slice *sample, struct slice bytes,
                         struct protobuf_reader *failed, struct target *target)
{
    struct label label;

    if (UNLIKELY(!d->profile->label_sets)) {
        target->lacks_labels = true;
        return;
    }
    if (!read_label(d, sample, bytes, failed, &label) || pprof_lift_link(d->tables, &label, &target->link))
        return;
    if (target->n_labels >= d->batch->limits.max_labels_per_sample) {
        report_add(&d->batch->report, "sample has more labels than allowed; the rest dropped", 1, "sample %u, over %u",
                   sample_number(d, sample), d->batch->limits.max_labels_per_sample);
        return;
    }
    d->tables->labels[d->tables->n_labels + target->n_labels++] = label;
}

/* Adds the link of the sample at hand, or finds that its neighbour has the same. */
static int keep_link(struct pprof_decoder *d, const struct target *target, struct error *err)
{
    struct tables *t = d->tables;
    struct profile *p = d->profile;

    if (!p->links) {
        p->links = ARENA_ARRAY(&d->batch->arena, uint32_t, d->samples.n, err);
        t->links = p->links ? ARENA_ARRAY(&d->batch->arena, struct link, d->n_labelled_samples + 1, err) : NULL;
        if (!t->links)
            return -1;
        memset(p->links, 0, d->samples.n * sizeof(*p->links));
        t->links[0] = (struct link){ 0 };
    }
    if (memcmp(&t->links[t->n_links - 1], &target->link, sizeof(target->link)) != 0)
        t->links[t->n_links++] = target->link;
    p->links[target->row] = t->n_links - 1;
    return 0;
}

static int keep_labels(struct pprof_decoder *d, const struct target *target, struct error *err)
{
    static const struct link no_link;
    struct tables *t = d->tables;

    if (target->n_labels) {
        t->n_labels += target->n_labels;
        t->label_set_starts[++t->n_label_sets] = t->n_labels;
        d->profile->label_sets[target->row] = t->n_label_sets - 1;
    } else {
        d->profile->label_sets[target->row] = 0;
    }
    if (memcmp(&target->link, &no_link, sizeof(no_link)) != 0)
        return keep_link(d, target, err);
    return 0;
}

/* --- samples --- */

static inline void decode_frame_id(const struct pprof_decoder *d, uint64_t id, struct target *target)
{
    uint32_t frame = pprof_find(&d->frames_by_id, id);

    target->lacks_frame |= frame == 0;
    *target->frame++ = frame;
}

/* The hottest loop of all, for ids that are entries themselves. False and nothing done where it cannot be read so
 * (protobuf.h, "reading at full speed"). */
static inline bool decode_frame_ids_fast(const struct pprof_decoder *d, struct slice packed, struct target *target)
{
    const uint8_t *at = (const uint8_t *)packed.ptr, *end = at + packed.len;
    uint32_t *next = target->frame;
    uint64_t highest = d->frames_by_id.n - 1;

    if (UNLIKELY(d->frames_by_id.dense || d->frames_by_id.n == 0 || !protobuf_has_margin(end, d->bytes)))
        return false;
    while (at < end) {
        uint64_t id;

        at = protobuf_varint_unchecked(at, end, &id);
        if (UNLIKELY(id - 1 >= highest))
            return false;
        *next++ = (uint32_t)id;
    }
    if (UNLIKELY(at != end))
        return false;
    target->frame = next;
    return true;
}

static PPROF_STEP struct protobuf_reader decode_frame_ids(const struct pprof_decoder *d, struct slice packed,
                                                          struct target *target)
{
    struct protobuf_reader r = protobuf_reader_of(packed);

    while (protobuf_more(&r))
        decode_frame_id(d, protobuf_varint(&r), target);
    return r;
}

static inline void decode_value(const struct pprof_decoder *d, uint64_t value, struct target *target)
{
    const struct profile *p = d->profile;

    if (LIKELY(target->n_values < p->n_types))
        p->values[(size_t)target->n_values * p->stride + target->row] = (int64_t)value;
    target->n_values++;
}

static ALWAYS_INLINE void decode_sample(struct pprof_decoder *d, const struct slice *sample,
                                        struct protobuf_reader *failed, struct target *target)
{
    struct protobuf_reader r = protobuf_reader_of(*sample);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        switch (tag) {
        case PPROF_BYTES(PPROF_SAMPLE_LOCATION_ID): {
            struct slice packed = protobuf_bytes(&r);

            if (UNLIKELY(!decode_frame_ids_fast(d, packed, target))) {
                struct protobuf_reader slow = decode_frame_ids(d, packed, target);

                protobuf_leave(&r, &slow);
            }
            break;
        }
        case PPROF_VARINT(PPROF_SAMPLE_LOCATION_ID): decode_frame_id(d, protobuf_varint(&r), target); break;
        case PPROF_BYTES(PPROF_SAMPLE_VALUE): {
            struct protobuf_reader values = protobuf_message(&r);

            while (protobuf_more(&values))
                decode_value(d, protobuf_varint(&values), target);
            protobuf_leave(&r, &values);
            break;
        }
        case PPROF_VARINT(PPROF_SAMPLE_VALUE): decode_value(d, protobuf_varint(&r), target); break;
        case PPROF_BYTES(PPROF_SAMPLE_LABEL): decode_label(d, sample, protobuf_bytes(&r), failed, target); break;
        default: protobuf_skip_unknown(&r, tag, PPROF_SAMPLE_LABEL);
        }
    }
    protobuf_leave(failed, &r);
}

/* Decodes a sample once more, now with room for labels. */
static PPROF_COLD int decode_first_labelled(struct pprof_decoder *d, const struct slice *sample,
                                            struct protobuf_reader *failed, struct target *target, struct error *err)
{
    if (make_labels(d, err) < 0)
        return -1;
    decode_sample(d, sample, failed, target);
    return 0;
}

/* The first id in the sample that no location has. */
static uint64_t find_missing_location(const struct pprof_decoder *d, struct slice sample)
{
    struct protobuf_reader r = protobuf_reader_of(sample);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        bool is_packed = tag == PPROF_BYTES(PPROF_SAMPLE_LOCATION_ID);
        struct protobuf_reader ids = r;

        if (is_packed)
            ids = protobuf_message(&r);
        else
            protobuf_skip(&r, tag);
        while ((is_packed || tag == PPROF_VARINT(PPROF_SAMPLE_LOCATION_ID)) && protobuf_more(&ids)) {
            uint64_t id = protobuf_varint(&ids);

            if (pprof_find(&d->frames_by_id, id) == 0)
                return id;
            if (!is_packed)
                break;
        }
    }
    return 0;
}

/* Whether the sample at hand can be kept; if not, says why. */
static inline bool check_sample(struct pprof_decoder *d, const struct slice *sample, const struct target *target)
{
    if (UNLIKELY(target->lacks_frame)) {
        report_add(&d->batch->report, "sample refers to a missing location; dropped", 1, "sample %u, location %llu",
                   sample_number(d, sample), (unsigned long long)find_missing_location(d, *sample));
        return false;
    }
    if (UNLIKELY(target->n_values != d->profile->n_types)) {
        report_add(&d->batch->report, "sample has another number of values than there are sample types; dropped", 1,
                   "sample %u, %u values for %u types", sample_number(d, sample), target->n_values,
                   d->profile->n_types);
        return false;
    }
    return true;
}

static PPROF_COLD void stack_cut(struct pprof_decoder *d, const struct slice *sample, size_t depth)
{
    report_add(&d->batch->report, "stack is deeper than allowed; frames nearest the root are cut", 1,
               "sample %u, %zu frames, the limit is %u", sample_number(d, sample), depth, d->batch->limits.max_depth);
}

int pprof_decode_samples(struct pprof_decoder *d, struct error *err)
{
    struct protobuf_reader failed = { 0 };
    struct tables *t = d->tables;
    struct profile *p = d->profile;
    uint32_t max_depth = d->batch->limits.max_depth;
    struct frames frames = { 0 };
    uint32_t row = 0;

    if (make_columns(d, err) < 0 || make_frames(d, &frames, err) < 0)
        return -1;
    for (uint64_t i = 0; i < d->samples.n; i++) {
        const struct slice *sample = &d->samples.items[i];
        struct target target = { .row = row };
        uint32_t *frame;

        if (UNLIKELY(frames.capacity - frames.n < sample->len) && grow_frames(d, &frames, sample->len, err) < 0)
            return -1;
        frame = target.frame = frames.items + frames.n;
        decode_sample(d, sample, &failed, &target);
        if (UNLIKELY(target.lacks_labels)) {
            target = (struct target){ .row = row, .frame = frame };
            if (decode_first_labelled(d, sample, &failed, &target, err) < 0)
                return -1;
        }
        if (UNLIKELY(failed.bad))
            return pprof_explain(d->bytes, &failed, err);
        if (!check_sample(d, sample, &target))
            continue;
        if (UNLIKELY((size_t)(target.frame - frame) > max_depth)) {
            stack_cut(d, sample, (size_t)(target.frame - frame));
            target.frame = frame + max_depth;
        }
        if (p->label_sets && keep_labels(d, &target, err) < 0)
            return -1;
        frames.n += (uint64_t)(target.frame - frame);
        p->stacks[row] = row + 1;
        t->stack_starts[row + 2] = (uint32_t)frames.n;
        row++;
    }
    p->n_samples = row;
    t->n_stacks = row + 1;
    if (t->n_label_sets == 1)
        p->label_sets = NULL;
    return finish_frames(d, &frames, err);
}
