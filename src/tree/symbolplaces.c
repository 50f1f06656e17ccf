// SPDX-License-Identifier: Apache-2.0
#include "tree/symbolplaces.h"

#include "base/memory.h"

#define MAX_ITEMS ((size_t)1 << 30)

void symbolplaces_init(struct symbolplaces *places)
{
    *places = (struct symbolplaces){ 0 };
    hash_set_init(&places->strings_seen, 0);
    hash_set_init(&places->places_seen, 0);
    arena_init(&places->text, 0);
}

void symbolplaces_done(struct symbolplaces *places)
{
    hash_set_done(&places->strings_seen);
    hash_set_done(&places->places_seen);
    VEC_DONE(&places->strings);
    VEC_DONE(&places->places);
    VEC_DONE(&places->firsts);
    arena_done(&places->text);
}

size_t symbolplaces_bytes(const struct symbolplaces *places)
{
    return hash_set_bytes(&places->strings_seen) + hash_set_bytes(&places->places_seen) + places->text.used_bytes +
           places->strings.capacity * sizeof(*places->strings.items) +
           places->places.capacity * sizeof(*places->places.items) +
           places->firsts.capacity * sizeof(*places->firsts.items);
}

/* The number of a string, plus one. */
static int number_string(struct symbolplaces *places, struct slice text, uint64_t seed, uint32_t *ret_number,
                         struct error *err)
{
    struct slice copy;
    uint32_t id;
    bool is_new;

    if (VEC_RESERVE(&places->strings, 1, MAX_ITEMS, err) < 0 ||
        hash_set_add(&places->strings_seen, hash_bytes(text, seed), &id, &is_new, err) < 0)
        return -1;
    if (is_new) {
        copy = arena_copy(&places->text, text, err);
        if (!copy.ptr) {
            hash_set_pop(&places->strings_seen);
            return -1;
        }
        places->strings.items[places->strings.n++] = copy;
    }
    *ret_number = id + 1;
    return 0;
}

static int add_place(struct symbolplaces *places, uint64_t seed, uint32_t symbol, uint32_t file, uint32_t module,
                     struct error *err)
{
    struct hash128 hash = hash_fold((struct hash128){ seed, symbol }, (uint64_t)file << 32 | module, symbol);
    uint32_t id;
    bool is_new;

    if (VEC_RESERVE(&places->places, 1, MAX_ITEMS, err) < 0)
        return -1;
    while (places->firsts.n <= symbol) {
        uint32_t *first = VEC_PUSH(&places->firsts, MAX_ITEMS, err);

        if (!first)
            return -1;
        *first = 0;
    }
    if (hash_set_add(&places->places_seen, hash, &id, &is_new, err) < 0)
        return -1;
    if (is_new) {
        places->places.items[places->places.n++] = (struct symbolplace){ file, module, places->firsts.items[symbol] };
        places->firsts.items[symbol] = id + 1;
    }
    return 0;
}

/* One import: each string of the tables is numbered once. */
struct import {
    struct symbolplaces *places;
    const struct tables *tables;
    uint64_t seed;
    uint32_t *numbers; /* [string]; 0 = not yet */
};

static int number_of(struct import *import, uint32_t string, uint32_t *ret_number, struct error *err)
{
    uint32_t *number = &import->numbers[string];

    if (!*number && number_string(import->places, tables_string(import->tables, string), import->seed, number, err) < 0)
        return -1;
    *ret_number = *number;
    return 0;
}

static int import_name(struct import *import, const struct frame *frame, uint32_t index, uint32_t symbol,
                       struct error *err)
{
    const struct tables *t = import->tables;
    uint32_t function = index < frame->n_lines ? t->lines[frame->first_line + index].function : 0;
    uint32_t file = 0, module = 0;

    if ((function && number_of(import, t->functions[function].file, &file, err) < 0) ||
        (frame->mapping && number_of(import, t->mappings[frame->mapping].file, &module, err) < 0))
        return -1;
    return add_place(import->places, import->seed, symbol, file, module, err);
}

int symbolplaces_import(struct symbolplaces *places, const struct symbolset *set, const struct tables *tables,
                        const struct symbolset_frames *frames, const struct patience *patience, struct error *err)
{
    struct import import = { .places = places, .tables = tables, .seed = set->seed };
    int result = 0;

    import.numbers = memory_alloc_zero(tables->n_strings * sizeof(*import.numbers), err);
    if (!import.numbers)
        return -1;
    for (uint32_t i = 1; !result && i < tables->n_frames; i++) { /* frame 0 is none */
        result = patience_check_at(patience, i, err);
        for (uint32_t at = frames->starts[i]; !result && at < frames->starts[i + 1]; at++)
            result = import_name(&import, &tables->frames[i], at - frames->starts[i], frames->ids[at], err);
    }
    memory_free(import.numbers);
    return result;
}
