// SPDX-License-Identifier: Apache-2.0
/* In which files and binaries the functions of a symbol set were met: what filters look at beside the name. A symbol is a
 * function by its name alone (SYMBOL_FUNCTION); two functions of one name have one symbol and several places. */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "profile/symbolset.h"

struct symbolplace {
    uint32_t file;   /* of `strings`, plus one; 0 = there is no function, hence no file */
    uint32_t module; /* likewise; 0 = there is no mapping */
    uint32_t next;   /* the next place of the symbol, plus one; 0 = none */
};

struct symbolplaces {
    struct hash_set strings_seen, places_seen;
    VEC(struct slice) strings;
    VEC(struct symbolplace) places;
    VEC(uint32_t) firsts; /* [symbol] its first place, plus one; 0 = none */
    struct arena text;
};

void symbolplaces_init(struct symbolplaces *places);
void symbolplaces_done(struct symbolplaces *places);
size_t symbolplaces_bytes(const struct symbolplaces *places);

/* Adds the places of all frames of `tables`, whose symbols in `set` are `frames`. `patience` may end it, or be NULL. Errors: its,
 * ERR_MEMORY, ERR_LIMIT; some may be added then. Thread: one writer, or any number of readers. */
MUST_CHECK int symbolplaces_import(struct symbolplaces *places, const struct symbolset *set,
                                   const struct tables *tables, const struct symbolset_frames *frames,
                                   const struct patience *patience, struct error *err);

/* The first place of a symbol, and the next one; NULL = no more. */
static inline const struct symbolplace *symbolplaces_first(const struct symbolplaces *places, uint32_t symbol)
{
    return symbol < places->firsts.n && places->firsts.items[symbol]
               ? &places->places.items[places->firsts.items[symbol] - 1]
               : NULL;
}

static inline const struct symbolplace *symbolplaces_next(const struct symbolplaces *places,
                                                          const struct symbolplace *place)
{
    return place->next ? &places->places.items[place->next - 1] : NULL;
}
