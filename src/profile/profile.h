// SPDX-License-Identifier: Apache-2.0
/* One profile: what was measured, when, of whom, and the samples as columns. And a batch: the profiles of one file or
 * request with the tables they share.
 *
 * P1  A batch owns everything its profiles point to, through its arena, except the decoded bytes that strings may borrow
 *     (tables.h, T5): those must live as long as the batch.
 * P2  Columns have n_samples entries; a column that no sample needs is NULL.
 * P3  Decoded profiles are not changed in place: operations read one batch and fill another. */
#pragma once

#include "profile/report.h"
#include "profile/tables.h"

/* A flow adds up over time (CPU, allocations); a level is a state (memory in use, goroutines). */
enum value_nature { VALUE_FLOW, VALUE_LEVEL };
enum value_temporality { TEMPORALITY_UNKNOWN, TEMPORALITY_DELTA, TEMPORALITY_CUMULATIVE };

struct value_type {
    uint32_t type; /* string: "cpu" */
    uint32_t unit; /* string: "nanoseconds" */
    enum value_nature nature;
    enum value_temporality temporality;
};

/* Most senders have one to four; one known has 19. */
#define PROFILE_MAX_TYPES 64
#define PROFILE_NO_TYPE   UINT32_MAX

struct profile {
    const struct tables *tables;

    struct value_type *types;
    uint32_t n_types;
    uint32_t default_type; /* index into types, or PROFILE_NO_TYPE: then it is the last, as in pprof */
    struct value_type period_type;
    int64_t period;

    int64_t start_ns;    /* 0 = unknown */
    int64_t duration_ns; /* 0 = a moment, or unknown */

    uint32_t resource;                  /* label set: of whom (OTLP resource attributes) */
    uint32_t scope;                     /* label set: by what (OTLP scope attributes) */
    uint32_t attributes;                /* label set: of this profile */
    uint32_t scope_name, scope_version; /* strings */
    uint8_t profile_id[16];             /* zeros = none */

    uint32_t *comments; /* strings */
    uint32_t n_comments;
    uint32_t drop_frames, keep_frames, doc_url; /* strings */

    /* the columns */
    uint32_t n_samples;
    uint32_t stride;       /* distance between two value columns, >= n_samples */
    uint32_t *stacks;      /* [n_samples] */
    uint32_t *label_sets;  /* [n_samples] or NULL */
    uint32_t *links;       /* [n_samples] or NULL */
    uint64_t *counts;      /* [n_samples] raw samples behind each row, or NULL: unknown (see noise.h for estimates) */
    int64_t *values;       /* values[type * stride + sample] */
    uint32_t *time_starts; /* [n_samples + 1] or NULL: sample i has times[time_starts[i] .. time_starts[i + 1]) */
    uint64_t *times;       /* wall ns of single events */
    int64_t *time_values;  /* value of each event (only with one type), or NULL: each counts one */
};

static inline const int64_t *profile_values(const struct profile *profile, uint32_t type)
{
    return profile->values + (size_t)type * profile->stride;
}

static inline uint32_t profile_label_set(const struct profile *profile, uint32_t sample)
{
    return profile->label_sets ? profile->label_sets[sample] : 0;
}

static inline uint32_t profile_link(const struct profile *profile, uint32_t sample)
{
    return profile->links ? profile->links[sample] : 0;
}

/* What a decoder may take and make of one input. Reaching one is ERR_LIMIT, or a warning where part can be kept. */
struct profile_limits {
    uint64_t max_inflated_bytes; /* of one input, after decompression */
    uint64_t max_memory_bytes;   /* of the batch made from it */
    uint32_t max_strings;
    uint32_t max_samples;
    uint32_t max_depth; /* functions of a stack, inlined ones counted; deeper ones are cut at the root end */
    uint32_t max_labels_per_sample; /* more are dropped and counted */
    uint32_t max_profiles;          /* in one batch */
};
extern const struct profile_limits profile_default_limits;

struct batch {
    struct arena arena;
    struct tables tables;
    struct profile *profiles;
    uint32_t n_profiles;
    struct report report; /* what was dropped or repaired on the way */
    struct profile_limits limits;
};

/* An empty batch under `limits` (NULL = the defaults). batch_reset empties it again and keeps memory for the next use.
 * Thread: one at a time. */
void batch_init(struct batch *batch, const struct profile_limits *limits);
void batch_reset(struct batch *batch);
void batch_done(struct batch *batch);

/* The type that is shown when nobody asks: default_type, else the last. PROFILE_NO_TYPE if there are none. */
uint32_t profile_default_type(const struct profile *profile);
/* The type called `name`, or "name/unit"; PROFILE_NO_TYPE if there is none. */
uint32_t profile_find_type(const struct profile *profile, struct slice name);
/* Sum of a value column; one that does not fit stays at the edge. */
int64_t profile_total(const struct profile *profile, uint32_t type);

/* Sums that never wrap: at the edge they stay there and `*saturated` is counted up. */
static inline int64_t value_add(int64_t a, int64_t b, uint64_t *saturated)
{
    int64_t sum;

    if (UNLIKELY(__builtin_add_overflow(a, b, &sum))) {
        (*saturated)++;
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

static inline int64_t value_subtract(int64_t a, int64_t b, uint64_t *saturated)
{
    int64_t difference;

    if (UNLIKELY(__builtin_sub_overflow(a, b, &difference))) {
        (*saturated)++;
        return a > b ? INT64_MAX : INT64_MIN;
    }
    return difference;
}

static inline int64_t value_multiply(int64_t a, int64_t b, uint64_t *saturated)
{
    int64_t product;

    if (UNLIKELY(__builtin_mul_overflow(a, b, &product))) {
        (*saturated)++;
        return (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
    }
    return product;
}

/* Checks every id and column of every profile (and tables_check): ERR_CORRUPT naming the first that is wrong. For tests
 * and fuzzers. */
MUST_CHECK int batch_check(const struct batch *batch, struct error *err);
