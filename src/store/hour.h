// SPDX-License-Identifier: Apache-2.0
/* Closing hours: rows become column blocks and roll-ups.
 *
 * H1  A closing is all or nothing: blocks and marker enter the database in one ingestion. Interrupted anywhere, the
 *     hour is as it was.
 * H2  Memory stays within day_context.close_bytes, whatever the hour holds: parts are cut, roll-ups come in pieces.
 * H3  Rows that tombstones cover are left out, for good.
 *
 * Thread: one at a time per day, which takes day->work. */
#pragma once

#include "store/day.h"

/* Closes the head at `place` of day->heads: no more rows go in, what it holds becomes blocks. Errors: ERR_CLOSED (the
 * store is stopping), ERR_CORRUPT (part of the head cannot be read: it stays as it is), those of kv.h. */
MUST_CHECK int hour_close(struct day *day, uint32_t place, struct error *err);

/* Closes every head whose hour ended before `due_ns`, of those that are there now. Goes on after a failure; the first
 * one is returned. */
MUST_CHECK int hour_close_due(struct day *day, int64_t due_ns, struct error *err);
/* The same for whoever comes by often: a head that was made for late rows, after `due_ns`, is left open for now, so
 * that a trickle of them does not become a block each. */
MUST_CHECK int hour_close_settled(struct day *day, int64_t due_ns, struct error *err);

/* Writes the closed blocks of an hour anew, as one: late data joins the rest, deleted rows go. Does nothing where there
 * is nothing to gain. Errors: as hour_close. */
MUST_CHECK int hour_rewrite(struct day *day, uint8_t hour, struct error *err);
/* The same for hours that ended before `due_ns` and have many closings, or have deletions that have waited for a minute:
 * for the background. Then removes tombstones that have done their work. */
MUST_CHECK int hour_rewrite_due(struct day *day, int64_t now_ns, int64_t due_ns, struct error *err);
/* The same for all hours, then removes tombstones that have done their work. */
MUST_CHECK int hour_rewrite_all(struct day *day, struct error *err);

/* Keeps of a day only what lies in the ranges, of the tenants they name; everything else goes. For days past their
 * retention that hold kept (pinned) ranges. Heads must be closed. */
struct hour_range {
    uint32_t tenant;
    struct selector *selector; /* NULL = everything */
    int64_t from_ns, until_ns;
};
MUST_CHECK int hour_reduce(struct day *day, const struct hour_range *ranges, size_t n, struct error *err);
