// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_walk_internal.h"

static const char no_stack[] = "sample whose stack does not exist or refers to a missing location; dropped";
static const char no_values[] = "sample with neither values nor timestamps; dropped";
static const char wrong_values[] = "sample with another number of values than the profile has types; dropped";
static const char several_values[] = "sample with several values and no timestamps; added up";
static const char unequal[] = "sample with another number of values than of timestamps; timestamps dropped";
static const char saturated_sum[] = "a sum went past 64 bits and stays at the edge";

/* Reading the samples of one profile. */
struct sample_reader {
    struct otlp_decoder *decoder;
    struct profile *profile;
    uint32_t number; /* of the profile in the batch, for reports */
    const struct otlp_range *range;
    const struct otlp_locations *locations;
    struct protobuf_reader at; /* behind the sample being read */
    uint64_t n_saturated;
    struct protobuf_reader failed; /* of the values, which are not looked at before they are read */
};

/* --- one sample, as it came --- */

struct raw_sample {
    uint64_t stack;
    uint64_t locations_start, locations_length; /* L7 */
    uint64_t link;
    bool has_link;
    bool has_time_varints; /* L7 */
    struct otlp_packed attributes, values, times;
};

static inline int read_sample(struct otlp_decoder *d, struct protobuf_reader r, struct raw_sample *sample,
                              struct error *err)
{
    const uint8_t *numbers = d->document->numbering->sample;
    uint32_t tag;

    *sample = (struct raw_sample){ 0 };
    while (protobuf_next(&r, &tag)) {
        uint32_t canonical = otlp_schema_tag(numbers, tag);
        int result = 0;

        switch (canonical) {
        case PROTOBUF_TAG(OTLP_SAMPLE_STACK, PROTOBUF_VARINT): sample->stack = protobuf_varint(&r); break;
        case PROTOBUF_TAG(OTLP_SAMPLE_LOCATIONS_START, PROTOBUF_VARINT):
            sample->locations_start = protobuf_varint(&r);
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_LOCATIONS_LENGTH, PROTOBUF_VARINT):
            sample->locations_length = protobuf_varint(&r);
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_LINK, PROTOBUF_VARINT):
            sample->link = protobuf_varint(&r);
            sample->has_link = true;
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_ATTRIBUTES, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_ATTRIBUTES, PROTOBUF_VARINT):
            result = otlp_packed_take(d->arena, &sample->attributes, &r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_VALUES, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_VALUES, PROTOBUF_VARINT):
            result = otlp_packed_take(d->arena, &sample->values, &r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_TIMES, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_TIMES, PROTOBUF_FIXED64):
            result = otlp_packed_take(d->arena, &sample->times, &r, PROTOBUF_FIXED64, PROTOBUF_WIRE(tag), err);
            break;
        case PROTOBUF_TAG(OTLP_SAMPLE_TIME_VARINTS, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_TIME_VARINTS, PROTOBUF_VARINT):
            result = otlp_packed_take(d->arena, &sample->times, &r, PROTOBUF_VARINT, PROTOBUF_WIRE(tag), err);
            sample->has_time_varints = true;
            break;
        default: otlp_schema_skip(&r, tag, canonical);
        }
        if (UNLIKELY(result < 0))
            return -1;
    }
    return UNLIKELY(r.bad) ? otlp_read_failed(d, r, err) : 0;
}

static size_t count_times(const struct raw_sample *sample)
{
    return sample->has_time_varints ? otlp_packed_count(&sample->times) : sample->times.len / 8;
}

/* --- columns that only some profiles need: made when the first sample needs them, zeros so far --- */

static uint32_t *new_column(struct sample_reader *s, struct error *err)
{
    return arena_alloc_zero(s->decoder->arena, s->profile->stride * sizeof(uint32_t), err);
}

/* Times of samples to come, and whether any has values as well. */
struct time_count {
    uint64_t n_times;
    bool has_values;
};

/* Times that are varints must be known to be good before there is room for them. */
static size_t count_time_varints(struct protobuf_reader *r, uint32_t wire)
{
    struct protobuf_reader times;
    size_t n = 0;

    if (wire == PROTOBUF_VARINT) {
        (void)protobuf_varint(r);
        return 1;
    }
    times = protobuf_message(r);
    for (; protobuf_more(&times); n++)
        (void)protobuf_varint(&times);
    protobuf_leave(r, &times);
    return n;
}

static void count_times_of_sample(const struct otlp_decoder *d, struct protobuf_reader *r, struct time_count *count)
{
    uint64_t n_times = 0;
    bool has_values = false;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (otlp_schema_tag(d->document->numbering->sample, tag)) {
        case PROTOBUF_TAG(OTLP_SAMPLE_TIMES, PROTOBUF_BYTES): n_times += protobuf_bytes(r).len / 8; continue;
        case PROTOBUF_TAG(OTLP_SAMPLE_TIMES, PROTOBUF_FIXED64): n_times++; break;
        case PROTOBUF_TAG(OTLP_SAMPLE_TIME_VARINTS, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_TIME_VARINTS, PROTOBUF_VARINT):
            n_times += count_time_varints(r, PROTOBUF_WIRE(tag));
            continue;
        case PROTOBUF_TAG(OTLP_SAMPLE_VALUES, PROTOBUF_BYTES):
        case PROTOBUF_TAG(OTLP_SAMPLE_VALUES, PROTOBUF_VARINT): has_values = true; break;
        }
        protobuf_skip(r, tag);
    }
    count->n_times += n_times;
    count->has_values |= n_times > 0 && has_values;
}

/* Room for the times of `first`, which is the sample being read, and of all behind it. */
static int add_time_columns(struct sample_reader *s, struct protobuf_reader first, struct error *err)
{
    struct otlp_decoder *d = s->decoder;
    struct profile *profile = s->profile;
    struct protobuf_reader rest = s->at, entry = first;
    struct time_count count = { 0 };

    do {
        count_times_of_sample(d, &entry, &count);
        protobuf_leave(&rest, &entry);
    } while (otlp_range_next(s->range, &rest, &entry));
    if (rest.bad)
        return otlp_read_failed(d, rest, err);
    if (count.n_times > INT32_MAX)
        return error_set(err, ERR_LIMIT, "OTLP: profile %u has more than %d timestamps", s->number, INT32_MAX);
    profile->counts = arena_alloc_zero(d->arena, profile->stride * sizeof(uint64_t), err);
    profile->time_starts =
        profile->counts ? arena_alloc_zero(d->arena, (profile->stride + (size_t)1) * sizeof(uint32_t), err) : NULL;
    profile->times = profile->time_starts ? ARENA_ARRAY(d->arena, uint64_t, count.n_times, err) : NULL;
    if (!profile->times)
        return -1;
    if (count.has_values && profile->n_types == 1) {
        profile->time_values = ARENA_ARRAY(d->arena, int64_t, count.n_times, err);
        return profile->time_values ? 0 : -1;
    }
    return 0;
}

/* --- stacks --- */

/* The stack of an L7 sample: a range of the profile's locations. */
static int range_to_stack(struct sample_reader *s, const struct raw_sample *sample, uint32_t *ret_stack,
                          bool *ret_is_good, struct error *err)
{
    uint64_t start = sample->locations_start, n = sample->locations_length;
    uint32_t max_depth = s->decoder->batch->limits.max_depth;
    const uint32_t *frames;

    *ret_is_good = n <= s->locations->n && start <= s->locations->n - n;
    if (!*ret_is_good)
        return 0;
    if (n > max_depth) {
        report_add(s->decoder->report, "stack deeper than the limit; cut at the root", 1, "profile %u, sample %u",
                   s->number, s->profile->n_samples);
        n = max_depth;
    }
    frames = s->locations->frames + start;
    for (uint64_t i = 0; i < n; i++)
        *ret_is_good &= frames[i] != OTLP_NO_FRAME;
    return *ret_is_good ? otlp_stacks_add(s->decoder, frames, (uint32_t)n, ret_stack, err) : 0;
}

static inline int find_stack(struct sample_reader *s, const struct raw_sample *sample, uint32_t *ret_stack,
                             bool *ret_is_good, struct error *err)
{
    struct otlp_decoder *d = s->decoder;

    if (UNLIKELY(d->document->numbering->is_old))
        return range_to_stack(s, sample, ret_stack, ret_is_good, err);
    *ret_is_good = otlp_index_find(&d->stacks, sample->stack, ret_stack) && !otlp_stacks_is_bad(d, *ret_stack);
    return 0;
}

/* --- values --- */

/* What a sample is worth: its value, how many raw samples that is (0 = unknown), whether its times are kept, and
 * whether each of them has a value of its own. */
struct worth {
    int64_t value;
    uint64_t count;
    bool has_times;
    bool has_time_values;
};

/* The sum of the values, and how many there are. */
static int64_t sum_values(struct sample_reader *s, const struct raw_sample *sample, size_t *ret_n)
{
    struct protobuf_reader r = otlp_packed_reader(&sample->values);
    int64_t sum = 0;
    size_t n = 0;

    for (; protobuf_more(&r); n++)
        sum = value_add(sum, (int64_t)protobuf_varint(&r), &s->n_saturated);
    protobuf_leave(&s->failed, &r);
    *ret_n = n;
    return sum;
}

/* A sample of a profile with one value type. NULL, or why it is dropped. */
static const char *weigh(struct sample_reader *s, const struct raw_sample *sample, struct worth *worth)
{
    size_t n_values, n_times = count_times(sample);
    int64_t sum = sum_values(s, sample, &n_values);

    /* Some senders of L7 wrote one 1 for all timestamps, where L8 has timestamps alone. */
    if (s->decoder->document->numbering->is_old && n_values == 1 && sum == 1 && n_times > 0)
        n_values = 0;
    if (n_values == 0 && n_times == 0)
        return no_values;
    *worth = (struct worth){ .value = n_values > 0 ? sum : (int64_t)n_times,
                             .count = n_times,
                             .has_times = n_times > 0 && (n_values == 0 || n_values == n_times),
                             .has_time_values = n_times > 0 && n_values == n_times };
    if (n_times == 0 && n_values > 1)
        report_add(s->decoder->report, several_values, 1, "profile %u, sample %u: %zu values", s->number,
                   s->profile->n_samples, n_values);
    if (n_times > 0 && !worth->has_times)
        report_add(s->decoder->report, unequal, 1, "profile %u, sample %u: %zu values, %zu timestamps", s->number,
                   s->profile->n_samples, n_values, n_times);
    return NULL;
}

/* Fills the values of the next row of a profile with several types. NULL, or why the sample is dropped. */
static const char *fill_types(struct sample_reader *s, const struct raw_sample *sample, struct worth *worth)
{
    struct profile *profile = s->profile;
    struct protobuf_reader r = otlp_packed_reader(&sample->values);
    size_t n_values;

    (void)sum_values(s, sample, &n_values);
    if (n_values != profile->n_types)
        return wrong_values;
    for (uint32_t i = 0; i < profile->n_types; i++)
        profile->values[(size_t)i * profile->stride + profile->n_samples] = (int64_t)protobuf_varint(&r);
    *worth = (struct worth){ .count = count_times(sample), .has_times = sample->times.len > 0 };
    return NULL;
}

/* Fills the values of the next row. NULL, or why the sample is dropped. */
static inline const char *fill_values(struct sample_reader *s, const struct raw_sample *sample, struct worth *worth)
{
    struct profile *profile = s->profile;
    struct protobuf_reader r = otlp_packed_reader(&sample->values);
    const char *why;
    int64_t value;

    if (UNLIKELY(profile->n_types != 1))
        return fill_types(s, sample, worth);
    if (LIKELY(sample->times.len == 0)) { /* most samples: one value, nothing else */
        value = (int64_t)protobuf_varint(&r);
        if (LIKELY(!r.bad && !protobuf_more(&r))) {
            profile->values[profile->n_samples] = value;
            return NULL;
        }
    }
    why = weigh(s, sample, worth);
    profile->values[profile->n_samples] = worth->value;
    return why;
}

/* --- rows --- */

/* Appends the times of the next row to their column, with their values: one each, or 1. */
static void fill_times(struct profile *profile, const struct raw_sample *sample, bool has_values)
{
    struct protobuf_reader times = otlp_packed_reader(&sample->times), values = otlp_packed_reader(&sample->values);
    uint32_t n = profile->time_starts[profile->n_samples];

    for (; protobuf_more(&times); n++) {
        profile->times[n] = sample->has_time_varints ? protobuf_varint(&times) : protobuf_fixed64(&times);
        if (profile->time_values)
            profile->time_values[n] = has_values ? (int64_t)protobuf_varint(&values) : 1;
    }
    profile->time_starts[profile->n_samples + 1] = n;
}

static OTLP_COLD void drop(struct sample_reader *s, const char *why, uint32_t i)
{
    report_add(s->decoder->report, why, 1, "profile %u, sample %u", s->number, i);
}

static uint32_t find_link(struct sample_reader *s, const struct raw_sample *sample)
{
    uint32_t link;

    if (otlp_index_find(&s->decoder->links, sample->link, &link))
        return link;
    report_add(s->decoder->report, "link index outside the link table; left out", 1, "profile %u, sample %u: link %lld",
               s->number, s->profile->n_samples, (long long)sample->link);
    return 0;
}

/* Fills what only some samples have. */
static int fill_extras(struct sample_reader *s, const struct raw_sample *sample, struct error *err)
{
    struct profile *profile = s->profile;
    uint32_t row = profile->n_samples;

    if (sample->attributes.len > 0) {
        if (!profile->label_sets && !(profile->label_sets = new_column(s, err)))
            return -1;
        if (otlp_attributes_set(s->decoder, &sample->attributes, &profile->label_sets[row], err) < 0)
            return -1;
    }
    if (sample->has_link) {
        if (!profile->links && !(profile->links = new_column(s, err)))
            return -1;
        profile->links[row] = find_link(s, sample);
    }
    return 0;
}

/* Adds sample `i`, whose bytes are `entry`, as a row, or drops it. */
static inline int add_sample(struct sample_reader *s, struct protobuf_reader entry, const struct raw_sample *sample,
                             uint32_t i, struct error *err)
{
    struct profile *profile = s->profile;
    struct worth worth = { 0 };
    const char *why;
    bool is_good = true;

    if (UNLIKELY(sample->times.len > 0 && !profile->time_starts) && add_time_columns(s, entry, err) < 0)
        return -1;
    if (find_stack(s, sample, &profile->stacks[profile->n_samples], &is_good, err) < 0)
        return -1;
    why = is_good ? fill_values(s, sample, &worth) : no_stack;
    if (UNLIKELY(why)) {
        drop(s, why, i);
        return 0;
    }
    if ((sample->attributes.len > 0 || sample->has_link) && fill_extras(s, sample, err) < 0)
        return -1;
    if (profile->time_starts) {
        profile->counts[profile->n_samples] = worth.count;
        profile->time_starts[profile->n_samples + 1] = profile->time_starts[profile->n_samples];
        if (worth.has_times)
            fill_times(profile, sample, worth.has_time_values);
    }
    profile->n_samples++;
    return 0;
}

static bool are_all_one(const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] != 1)
            return false;
    return true;
}

/* Lets go of columns that turned out not to be needed, or not to be known for all rows. */
static void finish_columns(struct profile *profile)
{
    uint32_t n_times = profile->time_starts ? profile->time_starts[profile->n_samples] : 0;

    for (uint32_t i = 0; profile->counts && i < profile->n_samples; i++)
        if (profile->counts[i] == 0)
            profile->counts = NULL;
    if (profile->time_values && are_all_one(profile->time_values, n_times))
        profile->time_values = NULL;
    if (n_times == 0) {
        profile->time_starts = NULL;
        profile->times = NULL;
    }
}

int otlp_samples_read(struct otlp_decoder *d, struct profile *profile, uint32_t number, const struct otlp_range *range,
                      const struct otlp_locations *locations, struct error *err)
{
    struct sample_reader s = { .decoder = d,
                               .profile = profile,
                               .number = number,
                               .range = range,
                               .locations = locations,
                               .at = otlp_range_reader(range) };
    struct protobuf_reader entry;

    d->n_samples += range->n;
    if (d->n_samples > d->batch->limits.max_samples)
        return error_set(err, ERR_LIMIT, "OTLP: more than the %u samples allowed", d->batch->limits.max_samples);
    profile->stride = range->n;
    profile->stacks = ARENA_ARRAY(d->arena, uint32_t, range->n, err);
    profile->values =
        profile->stacks ? arena_alloc_array(d->arena, range->n, profile->n_types * sizeof(int64_t), err) : NULL;
    if (!profile->values)
        return -1;
    for (uint32_t i = 0; otlp_range_next(range, &s.at, &entry); i++) {
        struct raw_sample sample;

        if (read_sample(d, entry, &sample, err) < 0 || add_sample(&s, entry, &sample, i, err) < 0)
            return -1;
    }
    if (s.failed.bad)
        return otlp_read_failed(d, s.failed, err);
    if (s.n_saturated > 0)
        report_add(d->report, saturated_sum, s.n_saturated, "profile %u", number);
    finish_columns(profile);
    return 0;
}
