// SPDX-License-Identifier: Apache-2.0
/* Names for addresses of the own process: which file is mapped there, and which function of it that is. C++ names are
 * written as people write them where the program has the C++ library loaded, as RocksDB makes it.
 *
 * Addresses and mappings come out as the file has them, not as the loader placed it this time: so what two runs of a program
 * were doing is the same. Files are read when the first of their addresses is asked for, and stay open. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct addressnames;

/* What is known of an address. The texts are valid until the next question. */
struct addressname {
    uint64_t address; /* in the file; the one asked for where the file cannot be read */
    bool has_mapping;
    uint64_t start, limit, offset; /* of the mapping: addresses likewise, and where in the file it begins */
    struct slice file;             /* "/usr/bin/hearth", "[vdso]" or "" */
    struct slice build_id;         /* in hex, or "" */
    struct slice name;             /* of the function, or "" */
    struct slice system_name;      /* as the linker has it, or "" */
};

/* Nothing is read yet. Errors: ERR_MEMORY. Thread: one at a time. */
MUST_CHECK int addressnames_new(struct addressnames **ret_names, struct error *err);
void addressnames_free(struct addressnames *names);

/* Names an address: of an instruction itself, not the one to which a call returns. What cannot be found out is empty. */
struct addressname addressnames_find(struct addressnames *names, uint64_t address);
