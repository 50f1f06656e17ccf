// SPDX-License-Identifier: Apache-2.0
/* Settings that Pyroscope's pages keep on the server: names with values that mean something to the pages alone.
 *
 * S1  Each tenant has its own, in a file DATA/settings/TENANT.json: an array of {"name", "value", "modifiedAt"}, by name. What
 *     settings_set and settings_delete said is done survives the loss of power.
 * S2  Of two writers the one with the later time wins, whoever comes first.
 * S3  There are bounds for how many there are and how large they are, below. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/slice.h"

#define SETTINGS_MAX             256u  /* of a tenant */
#define SETTINGS_MAX_TENANTS     4096u /* that have any */
#define SETTINGS_MAX_NAME_BYTES  256u
#define SETTINGS_MAX_VALUE_BYTES (64u << 10)
#define SETTINGS_MAX_BYTES       (1u << 20) /* of the names and values of a tenant, together */

struct setting {
    struct slice name, value; /* UTF-8 */
    int64_t modified_at;      /* whatever the pages count in; milliseconds since 1970 so far */
};

struct settings_list {
    struct setting *items; /* by name, each once */
    uint32_t n;
};

struct settings;

/* The settings under a data directory, in which nothing is touched before the first one is set. Errors: ERR_MEMORY,
 * ERR_LIMIT (the path is too long). */
MUST_CHECK int settings_open(const char *data_dir, struct settings **ret_settings, struct error *err);
void settings_close(struct settings *settings);

/* All settings of a tenant, from `arena`. The tenant's name is one that store_check_tenant allows, here and below. Errors:
 * ERR_IO, ERR_CORRUPT naming the file, ERR_MEMORY, ERR_LIMIT. Thread: any, as for all of these. */
MUST_CHECK int settings_load(struct settings *settings, struct slice tenant, struct arena *arena,
                             struct settings_list *ret_list, struct error *err);
/* Keeps a setting in place of the one of its name. Errors: ERR_EXISTS (there is a later one), ERR_INVALID (no name),
 * ERR_LIMIT naming the bound, and those of settings_load. */
MUST_CHECK int settings_set(struct settings *settings, struct slice tenant, const struct setting *setting,
                            struct arena *arena, struct error *err);
/* Forgets a setting; one that is not there is fine. Errors: those of settings_load. */
MUST_CHECK int settings_delete(struct settings *settings, struct slice tenant, struct slice name, struct arena *arena,
                               struct error *err);
