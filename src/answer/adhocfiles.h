// SPDX-License-Identifier: Apache-2.0
/* Profiles that somebody uploaded to look at, apart from the store: a file for each, with an id that nobody can guess.
 *
 * H1  A file lies at DATA/adhoc/ID.TENANT: a line of JSON, {"name", "uploaded_ns", "expires_ns"}, and behind it the bytes as
 *     they came. It is written whole and synced.
 * H2  The id is 128 random bits as 32 digits of hex. Whoever has it, and the tenant, may see the file.
 * H3  All files together take at most max_bytes, and there are at most ADHOCFILES_MAX. What has expired is not found any
 *     more, and removed when somebody lists or uploads. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

#define ADHOCFILES_MAX            4096u
#define ADHOCFILES_MAX_NAME_BYTES 256u
#define ADHOCFILES_ID_BYTES       32u

struct adhocfile {
    struct slice id, name; /* from the arena of whoever asked */
    int64_t uploaded_ns, expires_ns;
    uint64_t size_bytes; /* of what was uploaded */
};

struct adhocfiles_list {
    struct adhocfile *items; /* newest first */
    uint32_t n;
};

struct adhocfiles_options {
    const char *data_dir;
    uint64_t max_bytes;   /* 0 = 1 GiB */
    int64_t retention_ns; /* 0 = 30 days */
};

struct adhocfiles;
/* Touches nothing before the first upload. Errors: ERR_MEMORY, ERR_LIMIT (the path is too long). */
MUST_CHECK int adhocfiles_open(const struct adhocfiles_options *options, struct adhocfiles **ret_files,
                               struct error *err);
void adhocfiles_close(struct adhocfiles *files);

/* Keeps `bytes` under a new id. The tenant's name is one that store_check_tenant allows, here and below. Errors: ERR_INVALID
 * (the name is empty), ERR_LIMIT naming the bound, ERR_IO, ERR_MEMORY. Thread: any, as for all of these. */
MUST_CHECK int adhocfiles_put(struct adhocfiles *files, struct slice tenant, struct slice name, struct slice bytes,
                              int64_t now_ns, struct arena *arena, struct adhocfile *ret_file, struct error *err);
/* All of a tenant. Errors: ERR_IO, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int adhocfiles_list(struct adhocfiles *files, struct slice tenant, int64_t now_ns, struct arena *arena,
                               struct adhocfiles_list *ret_list, struct error *err);
/* Appends the bytes of one to `into`. Errors: ERR_NOT_FOUND (also when it has expired, or the id is none), ERR_CORRUPT, ERR_IO,
 * ERR_MEMORY. */
MUST_CHECK int adhocfiles_read(struct adhocfiles *files, struct slice tenant, struct slice id, int64_t now_ns,
                               struct arena *arena, struct adhocfile *ret_file, struct buffer *into, struct error *err);
/* Errors: ERR_NOT_FOUND, ERR_IO, ERR_MEMORY. */
MUST_CHECK int adhocfiles_remove(struct adhocfiles *files, struct slice tenant, struct slice id, struct arena *arena,
                                 struct error *err);
