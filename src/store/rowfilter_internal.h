// SPDX-License-Identifier: Apache-2.0
/* What the files of rowfilter share:
 *
 *     rowfilter.c        which series may match
 *     rowfilter_rows.c   which of their rows and samples do */
#pragma once

#include "base/map.h"
#include "store/rowfilter.h"

/* A rule is the selector, which must match, a tombstone, which must not, or one of the ranges of which one must. */
struct rule {
    const struct selector *selector; /* NULL = matches everything */
    const struct tombstone *tombstone;
    const struct rowfilter_range *range;
};

/* A series that may match. There are as many as a tenant has, so nothing of its labels is here. */
struct series_entry {
    uint32_t id;
    uint32_t group;        /* place in groups */
    uint8_t verdict;       /* enum selector_verdict of the selector */
    uint8_t has_others;    /* another rule may concern it, too */
    uint8_t is_wanted : 1; /* its rows are */
    uint8_t is_found : 1;
};
static_assert(sizeof(struct series_entry) == 12, "many series fit into little memory");

/* The series that rows come of now. */
struct current_series {
    uint32_t id; /* 0 = none */
    bool is_there;
    bool is_decided; /* the labels of rows and samples need no look */
    struct seriesinfo info;
    uint8_t *verdicts; /* enum selector_verdict of each rule */
};

struct label_set {
    struct selector_label *labels;
    uint32_t n;
};

struct rowfilter {
    const struct day_view *view;
    const struct store_query *query; /* NULL for closing; only while the series are judged */
    uint32_t tenant;
    struct names *names;
    struct idfilter *ids; /* NULL = any */
    struct pattern_scratch *scratch;
    struct arena arena;        /* of the rules */
    struct arena series_arena; /* of the current series */
    struct arena labels;       /* of resolved label sets */
    size_t max_label_bytes;    /* of which no more are kept */
    struct arena row;          /* of the row that was cut last */
    struct rule *rules;        /* the selector first */
    uint32_t n_rules;
    bool has_ranges;
    bool has_lost;    /* series that cannot be read: there may be others */
    bool has_columns; /* rows or samples of the tenant have labels of their own */
    bool is_telling;  /* `series` is there; else every series is judged when its rows come */
    struct kv_iterator *series_at;
    /* Series that were read, as far as there is room: readers ask for each again in every hour. */
    VEC(struct slice) kept;
    struct map kept_places; /* series -> place in kept */
    struct arena kept_bytes;
    size_t max_kept_bytes;
    VEC(struct series_entry) series; /* rising ids */
    VEC(struct rowfilter_group) groups;
    struct map group_places;
    uint32_t *by_group;     /* places in series, those of one group together */
    uint32_t *group_starts; /* [groups.n + 1], in by_group */
    struct current_series current;
    struct map sets; /* label set id -> place in resolved */
    VEC(struct label_set) resolved;
};

/* Makes the series the current one, unless it is. Errors: those of kv.h, ERR_MEMORY. */
MUST_CHECK int rowfilter_read_current(struct rowfilter *filter, uint32_t series, struct error *err);
