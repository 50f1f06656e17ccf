// SPDX-License-Identifier: Apache-2.0
/* What a series is: its labels, and the shape of its values.
 *
 * As bytes: byte 1 (the version), int group, int n_labels, n_labels * (text name, text value), text period_type, text
 * period_unit, int n_types, n_types * (text type, text unit, byte nature, byte temporality); a text is int length and
 * bytes. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "profile/profile.h"

#define SERIES_NAME_LABEL    "__name__" /* first part of the profile type: "process_cpu" */
#define SERIES_SERVICE_LABEL "service_name"
#define SERIES_MAX_LABELS    256
#define SERIES_MAX_TEXT      65536

struct series_label {
    struct slice name;
    struct slice value;
};

struct series_type {
    struct slice type;
    struct slice unit;
    enum value_nature nature;
    enum value_temporality temporality;
};

struct seriesinfo {
    uint32_t id; /* in its day; 0 where nobody said. Not in the bytes */
    /* The first series of the day with the same tenant, service, name and shape: roll-ups are per group. */
    uint32_t group;
    struct series_label *labels; /* sorted by name, each name once */
    uint32_t n_labels;
    struct slice period_type, period_unit;
    struct series_type *types;
    uint32_t n_types;
};

/* Appends the series as bytes. What went wrong, if anything, says buffer_check: ERR_LIMIT also for more than
 * SERIES_MAX_LABELS, PROFILE_MAX_TYPES or SERIES_MAX_TEXT, which nobody could read again. */
void seriesinfo_encode(const struct seriesinfo *info, struct buffer *out);
/* Texts borrow `bytes`, arrays come from `arena`. Checks that names are sorted and unique. Errors: ERR_CORRUPT,
 * ERR_VERSION, ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int seriesinfo_decode(struct slice bytes, struct arena *arena, struct seriesinfo *ret_info,
                                 struct error *err);

/* Equal series have equal hashes: labels and shape (period and types), not the group. */
struct hash128 seriesinfo_hash(const struct seriesinfo *info, uint64_t seed);
/* The same for what a group has in common: service, name and shape. Without the name, profiles that look alike (the
 * mutex and block profiles of Go) would be added up. */
struct hash128 seriesinfo_group_hash(const struct seriesinfo *info, uint64_t seed);

/* The value of a label, or an empty slice. '.' in the name asked for is '_'. */
struct slice seriesinfo_label(const struct seriesinfo *info, struct slice name);

/* Appends the profile type of value `type`: "process_cpu:cpu:nanoseconds:cpu:nanoseconds". */
void seriesinfo_profile_type(const struct seriesinfo *info, uint32_t type, struct buffer *out);
/* Which value has this profile type; SERIES_NO_TYPE if none does. Errors: ERR_MEMORY. */
#define SERIES_NO_TYPE UINT32_MAX
MUST_CHECK int seriesinfo_find_type(const struct seriesinfo *info, struct slice profile_type, uint32_t *ret_type,
                                    struct error *err);
/* Appends the labels for people and for selectors: {service_name="api", zone="eu"}; values escaped as in Go, names that
 * are no words quoted like values. */
void seriesinfo_text(const struct seriesinfo *info, struct buffer *out);
