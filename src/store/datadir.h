// SPDX-License-Identifier: Apache-2.0
/* The data directory: who may use it, which format it has, and where things are in it. */
#pragma once

#include "base/error.h"

#define DATADIR_FORMAT_MAJOR 1
#define DATADIR_FORMAT_MINOR 1

struct datadir {
    char *path;
    char *profiles;   /* DATA/profiles */
    char *meta;       /* DATA/meta */
    char *quarantine; /* DATA/quarantine */
    char *scratch;    /* DATA/tmp, or a directory in $TMPDIR for readers */
    uint64_t seed;    /* of content hashes */
    int lock_fd;      /* of LOCK; for readers of their scratch directory */
    bool is_read_only;
};

/* Opens the directory for the one process that writes, making it if it is missing, or for reading. Nothing in it is
 * touched before its format is known. For writing, an older minor version in FORMAT becomes the present one. Errors: ERR_BUSY naming the pid of the process that has it, ERR_VERSION for a
 * newer format, ERR_NOT_FOUND (readers), ERR_INVALID (it holds something else), ERR_CORRUPT, ERR_IO, ERR_DENIED. */
MUST_CHECK int datadir_open(struct datadir *datadir, const char *path, bool is_read_only, struct error *err);
void datadir_close(struct datadir *datadir);

/* Reads the content of a FORMAT file and checks it against its checksum. Errors: ERR_VERSION, ERR_CORRUPT. */
MUST_CHECK int datadir_parse_format(const char *text, size_t len, uint64_t *ret_seed, struct error *err);
