// SPDX-License-Identifier: Apache-2.0
/* Symbols by number: the distinct names of frames at one granularity, from one or several tables, each with a dense
 * 32-bit id. Equal names get equal ids whatever tables they come from: they are found by content hash. So trees and
 * tables of different profiles can be laid side by side by id.
 *
 * The set owns its texts; the tables may go once they are imported. */
#pragma once

#include "base/hash.h"
#include "base/patience.h"
#include "base/vec.h"
#include "profile/symbolname.h"

struct symbol {
    struct slice text;     /* as symbolname_print has it */
    struct slice function; /* "" if it has no name */
    /* Where it was first met; of these only what the granularity names is part of what it is. */
    struct slice file;
    struct slice module;
    uint32_t line; /* of the code at line granularity, else where the function begins; 0 = unknown */
    uint8_t kind;  /* enum frame_kind */
    bool is_kernel;
};

struct symbolset {
    enum symbol_granularity granularity;
    uint64_t seed;
    struct hash_set hashes;
    VEC(struct symbol) symbols;
    struct arena text;
};

/* An empty set. Thread: one writer, or any number of readers. */
void symbolset_init(struct symbolset *set, enum symbol_granularity granularity);
void symbolset_done(struct symbolset *set);

/* The symbols of all frames of one `struct tables`: those of frame f are ids[starts[f] .. starts[f + 1]), innermost
 * first. */
struct symbolset_frames {
    uint32_t *starts;
    uint32_t *ids;
};

/* Adds the names of all frames of `tables`. The result is freed with symbolset_frames_done.
 * Errors: ERR_MEMORY, ERR_LIMIT; some of the names may then be in the set. */
MUST_CHECK int symbolset_import(struct symbolset *set, const struct tables *tables, struct symbolset_frames *ret_frames,
                                struct error *err);
/* The same for long work, which `patience` may end. */
MUST_CHECK int symbolset_import_while(struct symbolset *set, const struct tables *tables,
                                      const struct patience *patience, struct symbolset_frames *ret_frames,
                                      struct error *err);
void symbolset_frames_done(struct symbolset_frames *frames);

/* Adds the symbol of a function that has a name and nothing else: "[overflow]". Errors: as symbolset_import. */
MUST_CHECK int symbolset_add_text(struct symbolset *set, struct slice text, uint32_t *ret_id, struct error *err);

/* Adds a symbol of another set of the same granularity, which is number `from` there. Errors: as symbolset_import. */
MUST_CHECK int symbolset_add_copy(struct symbolset *set, const struct symbolset *other, uint32_t from, uint32_t *ret_id,
                                  struct error *err);

static inline const struct symbol *symbolset_get(const struct symbolset *set, uint32_t id)
{
    return &set->symbols.items[id];
}
