// SPDX-License-Identifier: Apache-2.0
/* How the values of single profiles, or of spans in them, are spread over time: columns are points of time, cells count.
 *
 * H1  The value of a profile is its total per second of its duration. For levels it is the plain total, and so it is where
 *     no profile of the answer has a duration, or where `is_plain` asks for it; flows without one beside others that have it
 *     are left out and counted.
 * H2  Points are those of timeseries.h (S1).
 * H3  Bucket i holds values from borders[i] up to but without borders[i + 1]; the first and the last also take what comes
 *     while the answer is made and lies outside. Linear borders are multiples of 1, 2 or 5 times a power of ten. Those of
 *     log2 are powers of two, or 2, 4 or 8 equal ratios between them; what is smaller than the least of them, zero
 *     included, has a bucket in front. Equal ones are as many as asked for, of one width, from the least value to the
 *     largest, or to 1 more than that where all are equal.
 * H4  The exemplar of a cell is the profile with the largest value in it, of equal ones the earliest, then as X4 of
 *     exemplars.h.
 * H5  Of spans, what a profile has of one span is what is counted, per second of the profile's duration; n_rows of
 *     query_facts counts these.
 *
 * Windows (of spans, rows) are read twice: for the borders, then to count. So counts are exact, and memory is that of the cells. Keeping the
 * values would take memory for every row; a sketch of them has borders of its own, which are not those that people read. */
#pragma once

#include "query/timeseries.h"

#define HEATMAP_MAX_BUCKETS 60u

enum heatmap_scale {
    HEATMAP_AUTO, /* log2 where the average is below an eighth of the largest and nothing below zero, else linear */
    HEATMAP_LINEAR,
    HEATMAP_LOG2,  /* linear if nothing is above zero */
    HEATMAP_EQUAL, /* as Pyroscope has it */
};

enum heatmap_kind { HEATMAP_PROFILES, HEATMAP_SPANS };

struct heatmap_options {
    enum heatmap_kind kind;
    int64_t step_ns;    /* more than 0; at most TIMESERIES_MAX_POINTS points, else ERR_LIMIT */
    uint32_t n_buckets; /* at most so many; 0 = 30, at most HEATMAP_MAX_BUCKETS */
    enum heatmap_scale scale;
    bool is_plain; /* H1 */
    /* [n_buckets + 1], rising, of plain values: those of another map, to lay this one beside it. NULL = by the scale. */
    const double *borders;
};

/* A profile to look at, or a span. */
struct heatmap_exemplar {
    int64_t start_ns;
    double value;
    uint32_t series;        /* place in heatmap.series */
    uint8_t profile_id[16]; /* of rowid.h */
    struct link link;       /* zeros = none; so of profiles */
};

struct heatmap {
    int64_t from_ns, step_ns;
    uint32_t n_points, n_buckets; /* no buckets where there are no profiles */
    double *borders;              /* [n_buckets + 1], rising */
    bool is_log2;
    bool is_per_second;
    struct slice unit; /* of the borders: "nanoseconds/second", "bytes" ... */
    uint32_t *counts;  /* [point * n_buckets + bucket] */
    /* Likewise; of cells that count nothing all zeros. */
    struct heatmap_exemplar *exemplars;
    struct slice *series; /* labels as a selector: {service_name="api", zone="eu"} */
    uint32_t n_series;
    uint64_t n_left_out; /* profiles, see H1 */
    struct arena arena;
};

/* Errors: those of engine.h E3, ERR_INVALID, ERR_LIMIT. Thread: any. */
MUST_CHECK int heatmap_new(struct engine *engine, const struct query *query, const struct heatmap_options *options,
                           struct heatmap **ret_map, struct query_facts *ret_facts, struct error *err);
void heatmap_free(struct heatmap *map);
void heatmap_freep(struct heatmap **map);
