// SPDX-License-Identifier: Apache-2.0
/* What sumscan.c, which gives sums hour by hour, and sumscan_some.c, which gives those of some series of a group, share; and
 * by what sumplan.c knows what they read. */
#pragma once

#include "block/rollup.h"
#include "block/stacksum.h"
#include "store/dayread.h"

/* What a group still wants of the closing at hand. */
enum want {
    WANT_NOTHING,
    WANT_EDGES, /* rows before the first whole slot and behind the last */
    WANT_ROWS,  /* rows of the whole range */
    WANT_SOME,  /* rows of the series that are not whole: the others have given their sums */
};

/* Sums of series of one group, which are added up before they are given. */
struct adding {
    struct stacksum sums;
    uint64_t n_rows;
    int64_t duration_ns;
    int64_t begin_ns, end_ns; /* the hours that they are of; the end is before the beginning if there are none */
    bool is_cut;              /* some of the group were given already */
};

struct sumscan {
    struct dayread read;
    int64_t from_ns, until_ns, step_ns;
    const struct store_sum_sink *sink;
    struct store_reads *reads;
    struct unpacker *unpacker;
    struct arena arena;         /* of one roll-up */
    struct arena given;         /* of what was added up */
    struct arena flags;         /* of `wants` */
    struct kv_iterator *blocks; /* of the hour at hand, or of all */
    const struct rowfilter_group *groups;
    size_t n_groups;
    uint8_t *wants;    /* [group], enum want */
    enum want wanting; /* those of a kind are read now ... */
    uint32_t only;     /* ... or those of one group */

    /* the closing at hand, and the part of its hour that lies in the range */
    uint8_t hour;
    uint32_t number;
    bool is_clean; /* all deletions are applied in it */
    int64_t begin_ns, end_ns;
    uint32_t group; /* place */

    struct adding adding;
    uint64_t generation; /* of sumcache.h, before the view was opened */
};

/* --- what a closing is read from --- */

enum sumscan_kind {
    SUMSCAN_ROWS,   /* single rows */
    SUMSCAN_HOUR,   /* the roll-up of the hour */
    SUMSCAN_SERIES, /* the sums of the series that match whole, and rows of the others */
    SUMSCAN_SLOTS,  /* roll-ups of the whole slots, and rows before the first and behind the last */
};
struct sumscan_choice {
    enum sumscan_kind kind;
    int64_t first_ns, last_ns; /* of SUMSCAN_SLOTS: from the first whole slot to the end of the last */
};
/* The table of sumscan.h, for a group over the part of an hour that is asked for. `is_clean`: day_view_is_clean. */
struct sumscan_choice sumscan_choose(const struct rowfilter_group *group, bool is_clean, int64_t begin_ns,
                                     int64_t end_ns, int64_t step_ns);

/* --- where the scan is --- */

/* Goes to an hour of the day; whether a part of it lies in the range. */
bool sumscan_go_to_hour(struct sumscan *scan, uint8_t hour);
void sumscan_go_to_closing(struct sumscan *scan, const struct marker *marker);
/* Whether the hour at hand can be answered by sums of the whole hour. */
bool sumscan_is_whole_hour(const struct sumscan *scan);
/* Whether roll-ups and sums of the closing at hand hold what is asked of the group, and nothing that was deleted. */
bool sumscan_has_sums(const struct sumscan *scan, const struct rowfilter_group *group);
static inline bool sumscan_takes_whole(const struct rowfilter_group *group)
{
    return group->n_whole == group->n_series;
}

/* --- the group at hand --- */

/* A series of it that is wanted; 0 = there is none. */
MUST_CHECK int sumscan_representative(struct sumscan *scan, uint32_t *ret_series, struct error *err);
/* Calls `take` for the sums of a series over each part of the closing at hand. A damaged one is left out: its rows cannot
 * be read without it, either. */
MUST_CHECK int sumscan_each_sums(struct sumscan *scan, uint32_t series,
                                 int (*take)(struct sumscan *scan, uint32_t series, const struct rollup *rollup,
                                             struct error *err),
                                 struct error *err);
/* Gives sums to the sink: of the series, or, with any of its series, of a group. */
MUST_CHECK int sumscan_give(struct sumscan *scan, uint32_t series, int64_t start_ns, int64_t length_ns,
                            const struct rollup *rollup, struct error *err);

/* --- sumscan_some.c --- */

/* Gives the sums of series for whole hours where the selector takes some series of a group, and no roll-up helps. */
MUST_CHECK int sumscan_give_some(struct sumscan *scan, struct error *err);
