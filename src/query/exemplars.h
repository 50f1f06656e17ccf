// SPDX-License-Identifier: Apache-2.0
/* Single profiles or spans to look at, for each point of a time series: those with the largest values.
 *
 * X1  Points and groups are those of timeseries.h (S1, S3).
 * X2  What is chosen from are rows, which is what a profile has of one series; or, of spans, what a row has of one span.
 *     Samples of a row that are in several groups are several choices.
 * X3  The value is the sum of the samples, for levels, too: it is that of one profile, or of one span in one profile.
 * X4  The largest come first; of equal ones the earliest, then those whose series, row, span and trace come first. So the
 *     choice does not depend on where things are kept.
 * X5  With its ids an exemplar can be asked for again (struct store_ids). The profile id is that of rowid.h, which a row
 *     has whether the profile came with an id or not. */
#pragma once

#include "query/points.h"

enum exemplars_kind { EXEMPLARS_PROFILES, EXEMPLARS_SPANS };

struct exemplars_options {
    enum exemplars_kind kind;
    int64_t step_ns;        /* as in timeseries.h */
    const struct slice *by; /* likewise */
    uint32_t n_by;
    uint32_t n_per_point; /* of each group, 1 to EXEMPLARS_MAX_PER_POINT, else ERR_INVALID */
};
#define EXEMPLARS_MAX_PER_POINT 100u

struct exemplar {
    uint32_t point;
    int64_t start_ns, duration_ns; /* of the row */
    int64_t value;
    uint8_t profile_id[16];
    uint8_t span_id[8], trace_id[16]; /* zeros = none; so of profiles */
    struct slice series;              /* its labels as a selector: {service_name="api", zone="eu"} */
};

struct exemplars_group {
    struct slice *values;   /* of the labels, in the order asked for */
    struct exemplar *items; /* by point, then X4 */
    uint32_t n;
};

struct exemplars {
    struct exemplars_group *groups; /* by their values */
    uint32_t n_groups;
    struct arena arena;
};

/* Errors: those of engine.h E3, ERR_INVALID, ERR_LIMIT. Thread: any. */
MUST_CHECK int exemplars_new(struct engine *engine, const struct query *query, const struct exemplars_options *options,
                             struct exemplars **ret_exemplars, struct query_facts *ret_facts, struct error *err);
void exemplars_free(struct exemplars *exemplars);
void exemplars_freep(struct exemplars **exemplars);

/* The group with these values; NULL if it has no exemplars. */
const struct exemplars_group *exemplars_find(const struct exemplars *exemplars, const struct slice *values,
                                             uint32_t n_values);
/* The exemplars of a point: the first of them, and how many there are. */
const struct exemplar *exemplars_at(const struct exemplars_group *group, uint32_t point, uint32_t *ret_n);
/* Whether `a` comes before `b` by X4: for choosing among those of several points. */
bool exemplars_is_before(const struct exemplar *a, const struct exemplar *b);
