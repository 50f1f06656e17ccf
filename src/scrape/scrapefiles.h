// SPDX-License-Identifier: Apache-2.0
/* Targets that files name (`file_sd_configs`): which files there are, what they hold, and whether that changed.
 *
 * F1  A change is seen at the first look behind it: a file is read again when its size, its times or its inode changed,
 *     and every refresh_interval in any case.
 * F2  A file that cannot be read keeps the targets it had, and says so once; one that is gone loses them. */
#pragma once

#include "scrape/scrapeconfig.h"

#define SCRAPEFILES_MAX 4096 /* files of one configuration */

struct scrapefiles;

/* For the jobs of `config`, which outlives it. Nothing is read yet. Errors: ERR_MEMORY. */
MUST_CHECK int scrapefiles_new(const struct scrapeconfig *config, struct scrapefiles **ret_files, struct error *err);
/* Accepts NULL. */
void scrapefiles_free(struct scrapefiles *files);

struct scrapefiles_look {
    bool is_changed;   /* groups are others than before */
    size_t n_files;    /* that there are */
    size_t n_failures; /* files that could not be read now; each was logged when it began */
};

/* Looks at all files. Errors: ERR_MEMORY; then what was not looked at is as it was. */
MUST_CHECK int scrapefiles_refresh(struct scrapefiles *files, int64_t now_mono_ns, struct scrapefiles_look *ret_look,
                                   struct error *err);

/* Calls `visit` for each group of each file, with its job; -1 ends it. Groups live until the next refresh. They have the
 * label __meta_filepath. */
MUST_CHECK int scrapefiles_each(struct scrapefiles *files,
                                int (*visit)(void *context, const struct scrapeconfig_job *job,
                                             const struct scrapeconfig_group *group, struct error *err),
                                void *context, struct error *err);
