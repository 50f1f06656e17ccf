// SPDX-License-Identifier: Apache-2.0
/* What was dropped, cut or repaired while reading or transforming: one line per kind with a count and the first
 * example, bounded, so that nothing is lost silently and a million damaged samples make one line. */
#pragma once

#include "base/base.h"

#define REPORT_MAX_KINDS 24

struct report_entry {
    const char *kind; /* static text that names the kind: "sample refers to a missing location; dropped" */
    uint64_t count;
    char example[120]; /* the first one met: "sample 12, location 99" */
};

struct report {
    struct report_entry entries[REPORT_MAX_KINDS];
    uint32_t n;
    uint64_t unlisted; /* of kinds beyond the maximum */
};

void report_clear(struct report *report);
/* Counts one (or `count`) of `kind`, which must be a string literal; the details are kept for the first only. */
void report_add(struct report *report, const char *kind, uint64_t count, const char *fmt, ...) PRINTF(4, 5);
/* Adds all entries of `other`. */
void report_merge(struct report *report, const struct report *other);
/* How many of `kind` were counted; 0 if none. For tests and callers that must branch. */
uint64_t report_count(const struct report *report, const char *kind);
uint64_t report_total(const struct report *report);
