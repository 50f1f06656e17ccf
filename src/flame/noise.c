// SPDX-License-Identifier: Apache-2.0
#include "flame/noise.h"

#include "profile/unit.h"

#include <math.h>

/* --- where the count comes from --- */

static struct slice type_name(const struct profile *profile, uint32_t type)
{
    return tables_string(profile->tables, profile->types[type].type);
}

static struct slice unit_name(const struct profile *profile, uint32_t type)
{
    return tables_string(profile->tables, profile->types[type].unit);
}

static bool is_of_family(const struct profile *profile, uint32_t type, enum unit_family family)
{
    const struct unit *unit = unit_find(unit_name(profile, type));

    return unit && unit->family == family;
}

/* The period in the unit of `type`, or 0 if there is none or it is in another unit. */
static double period_in_unit_of(const struct profile *profile, uint32_t type)
{
    int64_t up, down;

    if (profile->period <= 0 ||
        !unit_ratio(tables_string(profile->tables, profile->period_type.unit), unit_name(profile, type), &up, &down))
        return 0;
    return (double)profile->period * (double)up / (double)down;
}

/* Whether the values of type `sibling`, a count, are raw samples of `type`. */
static bool counts_samples_of(const struct profile *profile, uint32_t sibling, uint32_t type)
{
    static const struct {
        const char *sibling;
        const char *type; /* NULL: any in a unit of time */
    } pairs[] = {
        { "samples", NULL },
        { "sample", NULL },
        { "cpu-samples", "cpu-time" },
        { "wall-samples", "wall-time" },
        { "contentions", "delay" },
        { "alloc-samples-unscaled", "alloc-space" },
        { "alloc-samples-unscaled", "alloc-size" },
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (!slice_is(type_name(profile, sibling), pairs[i].sibling))
            continue;
        if (sibling == type || (pairs[i].type ? slice_is(type_name(profile, type), pairs[i].type)
                                              : is_of_family(profile, type, UNIT_TIME)))
            return true;
    }
    return false;
}

/* Go keeps one contention in `period` for its mutex profile. For its block profile the period is nanoseconds, and how
 * many events were kept depends on their length. The two look the same but for the size of the number. */
#define LARGEST_MUTEX_FRACTION 1000

static double events_per_sample(const struct profile *profile, uint32_t sibling)
{
    bool is_contention = slice_is(type_name(profile, sibling), "contentions");

    if (!is_contention || profile->period <= 1)
        return 1;
    return profile->period <= LARGEST_MUTEX_FRACTION ? (double)profile->period : 0;
}

static bool find_sample_column(struct noise_source *source)
{
    const struct profile *p = source->profile;

    for (uint32_t i = 0; i < p->n_types; i++) {
        if (!is_of_family(p, i, UNIT_COUNT) || !counts_samples_of(p, i, source->type))
            continue;
        source->divisor = events_per_sample(p, i);
        source->samples = i;
        source->kind = source->divisor > 0 ? NOISE_SOURCE_SAMPLES : NOISE_SOURCE_NONE;
        return true;
    }
    return false;
}

/* Heap samplers write pairs of columns: alloc_objects and alloc_space, inuse_objects and inuse_space, objects and
 * space. Finds the pair that `type` belongs to. */
static bool find_heap_pair(struct noise_source *source)
{
    static const char *const pairs[][2] = {
        { "alloc_objects", "alloc_space" },
        { "inuse_objects", "inuse_space" },
        { "objects", "space" },
    };
    const struct profile *p = source->profile;
    struct slice name = type_name(p, source->type);

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        uint32_t objects = profile_find_type(p, slice_from(pairs[i][0]));
        uint32_t space = profile_find_type(p, slice_from(pairs[i][1]));

        if ((!slice_is(name, pairs[i][0]) && !slice_is(name, pairs[i][1])) || objects == PROFILE_NO_TYPE ||
            space == PROFILE_NO_TYPE || !is_of_family(p, objects, UNIT_COUNT))
            continue;
        source->divisor = period_in_unit_of(p, space);
        if (source->divisor <= 0)
            return false;
        source->samples = objects;
        source->space = space;
        source->kind = NOISE_SOURCE_HEAP;
        return true;
    }
    return false;
}

struct noise_source noise_source_find(const struct profile *profile, uint32_t type)
{
    struct noise_source source = { .profile = profile, .type = type, .divisor = 1 };

    if (profile->counts) {
        source.kind = NOISE_SOURCE_COUNTS;
        return source;
    }
    if (find_sample_column(&source) || find_heap_pair(&source))
        return source;
    source.divisor = period_in_unit_of(profile, type);
    source.kind = source.divisor > 0 ? NOISE_SOURCE_PERIOD : NOISE_SOURCE_NONE;
    return source;
}

static double value_of(const struct noise_source *source, uint32_t type, uint32_t sample)
{
    return fabs((double)profile_values(source->profile, type)[sample]);
}

double noise_count(const struct noise_source *source, uint32_t sample)
{
    double objects;

    switch (source->kind) {
    case NOISE_SOURCE_NONE: return 0;
    case NOISE_SOURCE_COUNTS: return (double)source->profile->counts[sample];
    case NOISE_SOURCE_SAMPLES: return value_of(source, source->samples, sample) / source->divisor;
    case NOISE_SOURCE_PERIOD: return value_of(source, source->type, sample) / source->divisor;
    case NOISE_SOURCE_HEAP:
        objects = value_of(source, source->samples, sample);
        if (objects == 0)
            return 0;
        return objects * -expm1(-value_of(source, source->space, sample) / objects / source->divisor);
    }
    return 0;
}

/* --- what it means --- */

double noise_relative_error(double n)
{
    return n > 0 ? 1 / sqrt(n) : 0;
}

const char *noise_verdict_name(enum noise_verdict verdict)
{
    switch (verdict) {
    case NOISE_UNKNOWN: return "unknown";
    case NOISE_WITHIN: return "within noise";
    case NOISE_SIGNIFICANT: return "significant";
    }
    return "";
}

/* Value per sample of a side. One without samples here is given the other side's weight, times how the weights of the
 * two whole profiles compare: what a sample of this function would have weighed. */
static double weight_here(const struct noise_side *side, const struct noise_side *other)
{
    double ratio = side->weight > 0 && other->weight > 0 ? side->weight / other->weight : 1;

    if (side->samples > 0)
        return fabs(side->value) / side->samples;
    return fabs(other->value) / other->samples * ratio;
}

/* Expected samples on either side below which the normal approximation is not to be trusted. */
#define FEW_SAMPLES 10.0

static double deviance_part(double seen, double expected)
{
    return seen > 0 ? 2 * seen * log(seen / expected) : 0;
}

/* How many standard errors it is worth that b has so many of the samples of both sides, if each falls there with
 * probability `p`: the root of the deviance of a binomial, corrected for whole numbers. Not negative. */
static double few_samples_z(double n, double n_b, double p)
{
    double expected = n * p;
    double seen = n_b > expected ? MAX(n_b - 0.5, expected) : MIN(n_b + 0.5, expected);

    return sqrt(MAX(deviance_part(seen, expected) + deviance_part(n - seen, n - expected), 0.0));
}

double noise_difference_error(struct noise_side a, struct noise_side b, double share)
{
    double n = a.samples + b.samples, change = fabs(b.value - a.value);
    double weight_a, weight_b, p, error, rest;

    if (a.samples < 0 || b.samples < 0 || !(n > 0))
        return -1;
    weight_a = weight_here(&a, &b);
    weight_b = weight_here(&b, &a);
    rest = sqrt(1 - MIN(MAX(share, 0.0), 1.0));
    error = sqrt(n * weight_a * weight_b) * rest;
    if (!(weight_a > 0) || !(weight_b > 0) || change <= error)
        return error;
    p = weight_a / (weight_a + weight_b);
    if (n * MIN(p, 1 - p) >= FEW_SAMPLES)
        return error;
    return MAX(error, change / MAX(few_samples_z(n, b.samples, p), 1.0) * rest);
}

enum noise_verdict noise_compare(struct noise_side a, struct noise_side b, double share)
{
    double error = noise_difference_error(a, b, share);

    if (error < 0)
        return NOISE_UNKNOWN;
    return fabs(b.value - a.value) > NOISE_Z * error ? NOISE_SIGNIFICANT : NOISE_WITHIN;
}
