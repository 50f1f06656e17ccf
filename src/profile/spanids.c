// SPDX-License-Identifier: Apache-2.0
#include "profile/spanids.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"

#define FIRST_CAPACITY 64

void spanids_init(struct spanids *ids, size_t max)
{
    *ids = (struct spanids){ .max = max };
}

void spanids_done(struct spanids *ids)
{
    memory_free(ids->slots);
    *ids = (struct spanids){ .max = ids->max };
}

static uint64_t word_of(const uint8_t id[static SPANIDS_ID_BYTES])
{
    uint64_t word;

    memcpy(&word, id, sizeof(word));
    return word;
}

static size_t place_of(const struct spanids *ids, uint64_t word)
{
    size_t i = (size_t)hash_mix64(word ^ ids->seed) & (ids->capacity - 1);

    while (ids->slots[i] != 0 && ids->slots[i] != word)
        i = (i + 1) & (ids->capacity - 1);
    return i;
}

static int grow(struct spanids *ids, struct error *err)
{
    struct spanids larger = { .capacity = ids->capacity ? ids->capacity * 2 : FIRST_CAPACITY, .max = ids->max };

    larger.slots = memory_alloc_zero(larger.capacity * sizeof(*larger.slots), err);
    if (!larger.slots)
        return -1;
    larger.seed = hash_mix64((uint64_t)clock_mono_ns() ^ (uintptr_t)larger.slots);
    for (size_t i = 0; i < ids->capacity; i++)
        if (ids->slots[i] != 0)
            larger.slots[place_of(&larger, ids->slots[i])] = ids->slots[i];
    larger.n = ids->n;
    memory_free(ids->slots);
    *ids = larger;
    return 0;
}

int spanids_add(struct spanids *ids, const uint8_t id[static SPANIDS_ID_BYTES], struct error *err)
{
    uint64_t word = word_of(id);
    size_t i;

    if (word == 0 || spanids_has(ids, id))
        return 0;
    if (ids->n == ids->max)
        return error_set(err, ERR_LIMIT, "there are more than %zu spans; ask for a shorter time", ids->max);
    if (ids->n >= ids->capacity / 2 && grow(ids, err) < 0)
        return -1;
    i = place_of(ids, word);
    ids->slots[i] = word;
    ids->n++;
    return 0;
}

bool spanids_has(const struct spanids *ids, const uint8_t id[static SPANIDS_ID_BYTES])
{
    uint64_t word = word_of(id);

    return ids->n > 0 && word != 0 && ids->slots[place_of(ids, word)] == word;
}
