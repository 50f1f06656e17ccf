// SPDX-License-Identifier: Apache-2.0
/* Names that arrive later than the profiles: a frame that has an address in a binary with a build id, and no function, is
 * named when an answer is made, by whoever knows the symbols of binaries. This is what he fills in; the frames of the store
 * stay as they are. */
#pragma once

#include "profile/tables.h"

/* One function at an address. */
struct latenames_line {
    struct slice function; /* not empty */
    struct slice file;     /* "" = unknown */
    uint32_t line;         /* 1-based, 0 = unknown */
};

struct latenames {
    void *context;
    /* A number that grows whenever names may have arrived; what was not known is asked for again then. Thread: any. */
    uint64_t (*generation)(void *context);
    /* What is at `offset` of the file with this build id: the function, and before it those inlined into it, innermost
     * first, with texts from `arena`; `*ret_n` is 0 where it is not known. The offset is that of the address in its mapping
     * (address - start + offset), or the address itself if it is not within its mapping. Errors end the query. Thread:
     * any, without a lock of the engine held. */
    int (*find)(void *context, struct slice build_id, uint64_t offset, struct arena *arena,
                struct latenames_line **ret_lines, uint32_t *ret_n, struct error *err);
};

/* Names what can be named in `tables`, whose arrays are those of `arena` and may be replaced; ids stay. `source` may be NULL,
 * which knows nothing. `*ret_is_open` (from the arena, one for each frame) says which frames are left that could get a name
 * some day. A build id is that of the linker, else Go's, else the hash. Errors: those of `find`, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int latenames_resolve(const struct latenames *source, struct tables *tables, struct arena *arena,
                                 bool **ret_is_open, struct error *err);
/* Whether a stack has such a frame. */
bool latenames_is_open(const struct tables *tables, uint32_t stack, const bool *is_open);
