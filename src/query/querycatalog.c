// SPDX-License-Identifier: Apache-2.0
#include "query/querycatalog.h"

#include "base/suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* In an error: so many names of services or types, and so many bytes of each. */
#define SHOWN_NAMES      3
#define SHOWN_NAME_BYTES 40
#define SHOWN_TYPES      5
#define SHOWN_TYPE_BYTES 24

/* --- words --- */

static char folded(char c)
{
    if (c == '-')
        return '_';
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_word(struct slice text, struct slice word)
{
    if (text.len != word.len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (folded(text.ptr[i]) != folded(word.ptr[i]))
            return false;
    return true;
}

static bool has_word(struct slice text, struct slice word)
{
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (is_word(slice_sub(text, i, word.len), word))
            return true;
    return false;
}

/* --- how well a type fits: 0 not at all, else the less the better --- */

struct parts {
    struct slice name;
    struct slice sample_type;
    struct slice unit;
};

static struct parts parts_of(struct slice profile_type)
{
    struct parts parts = { 0 };

    slice_next_part(&profile_type, ':', &parts.name);
    slice_next_part(&profile_type, ':', &parts.sample_type);
    slice_next_part(&profile_type, ':', &parts.unit);
    return parts;
}

/* C1 */
static unsigned fit_cpu(const struct parts *parts)
{
    if (is_word(parts->sample_type, SLICE("cpu")))
        return is_word(parts->unit, SLICE("nanoseconds")) ? 1 : 2;
    if (is_word(parts->sample_type, SLICE("itimer")))
        return 3;
    if (is_word(parts->sample_type, SLICE("samples")) && has_word(parts->name, SLICE("cpu")) &&
        !has_word(parts->name, SLICE("off")))
        return 4;
    return 0;
}

/* C2 */
static const struct short_type {
    const char *word;
    bool is_cpu;
    /* What else than a sample type of that name it means. */
    const char *sample_type;
    const char *name;
} short_types[] = {
    { "cpu", .is_cpu = true },
    { "itimer", .is_cpu = true },
    { "alloc_space" },
    { "inuse_space" },
    { "alloc_objects" },
    { "inuse_objects" },
    { "goroutines", .sample_type = "goroutine", .name = "" },
    { "mutex_count", .sample_type = "contentions", .name = "mutex" },
    { "mutex_duration", .sample_type = "delay", .name = "mutex" },
    { "block_count", .sample_type = "contentions", .name = "block" },
    { "block_duration", .sample_type = "delay", .name = "block" },
    { "wall", .sample_type = "samples", .name = "wall" },
};

static const struct short_type *find_short(struct slice word)
{
    for (size_t i = 0; i < ARRAY_LEN(short_types); i++)
        if (is_word(slice_from(short_types[i].word), word))
            return &short_types[i];
    return NULL;
}

static unsigned fit_short(const struct parts *parts, struct slice word, const struct short_type *known)
{
    unsigned fit;

    if (known && known->is_cpu) {
        fit = fit_cpu(parts);
        if (is_word(word, SLICE("cpu")) || fit == 0)
            return fit;
        return is_word(parts->sample_type, word) ? 1 : fit + 1;
    }
    if (is_word(parts->sample_type, word))
        return 1;
    if (known && known->sample_type && is_word(parts->sample_type, slice_from(known->sample_type)) &&
        has_word(parts->name, slice_from(known->name)))
        return 2;
    return 0;
}

/* --- choosing --- */

/* C3 */
static bool is_preferred(const struct querycatalog_type *a, const struct querycatalog_type *b)
{
    if (a->n_series != b->n_series)
        return a->n_series > b->n_series;
    return slice_compare(a->profile_type, b->profile_type) < 0;
}

/* Takes a type that fits into account. */
static void consider(struct querycatalog_choice *choice, unsigned *best_fit, const struct querycatalog_type *type,
                     unsigned fit)
{
    if (fit == 0 || (choice->type && fit > *best_fit))
        return;
    if (!choice->type || fit < *best_fit) {
        *choice = (struct querycatalog_choice){ type, 1 };
        *best_fit = fit;
        return;
    }
    choice->n_equal++;
    if (is_preferred(type, choice->type))
        choice->type = type;
}

struct querycatalog_choice querycatalog_choose_cpu(const struct querycatalog_type *types, uint32_t n_types)
{
    return querycatalog_choose_short(types, n_types, SLICE("cpu"));
}

struct querycatalog_choice querycatalog_choose_common(const struct querycatalog_type *types, uint32_t n_types)
{
    struct querycatalog_choice choice = { 0 };
    unsigned fit = 0;

    for (uint32_t i = 0; i < n_types; i++)
        consider(&choice, &fit, &types[i], 1);
    return choice;
}

struct querycatalog_choice querycatalog_choose_short(const struct querycatalog_type *types, uint32_t n_types,
                                                     struct slice word)
{
    const struct short_type *known = find_short(word);
    struct querycatalog_choice choice = { 0 };
    unsigned fit = 0;

    for (uint32_t i = 0; i < n_types; i++) {
        struct parts parts = parts_of(types[i].profile_type);

        consider(&choice, &fit, &types[i], fit_short(&parts, word, known));
    }
    return choice;
}

bool querycatalog_is_short(struct slice word)
{
    return find_short(word) != NULL;
}

bool querycatalog_is_cpu(struct slice profile_type)
{
    struct parts parts = parts_of(profile_type);

    return fit_cpu(&parts) > 0;
}

const struct querycatalog_service *querycatalog_find(const struct querycatalog *catalog, struct slice name)
{
    for (uint32_t i = 0; i < catalog->n_services; i++)
        if (slice_equal(catalog->services[i].name, name))
            return &catalog->services[i];
    return NULL;
}

/* --- joining --- */

static int compare_types(const void *a, const void *b)
{
    return slice_compare(((const struct querycatalog_type *)a)->profile_type,
                         ((const struct querycatalog_type *)b)->profile_type);
}

int querycatalog_join(const struct querycatalog *catalog, const bool *is_chosen, struct arena *arena,
                      struct querycatalog_service *ret_joined, struct error *err)
{
    struct querycatalog_type *types;
    size_t n = 0;
    uint32_t n_joined = 0;

    for (uint32_t i = 0; i < catalog->n_services; i++)
        n += !is_chosen || is_chosen[i] ? catalog->services[i].n_types : 0;
    types = ARENA_ARRAY(arena, struct querycatalog_type, n, err);
    if (!types)
        return -1;
    n = 0;
    for (uint32_t i = 0; i < catalog->n_services; i++)
        for (uint32_t j = 0; (!is_chosen || is_chosen[i]) && j < catalog->services[i].n_types; j++)
            types[n++] = catalog->services[i].types[j];
    qsort(types, n, sizeof(*types), compare_types);
    for (size_t i = 0; i < n; i++) {
        if (n_joined > 0 && slice_equal(types[n_joined - 1].profile_type, types[i].profile_type))
            types[n_joined - 1].n_series += types[i].n_series;
        else
            types[n_joined++] = types[i];
    }
    *ret_joined = (struct querycatalog_service){ .types = types, .n_types = n_joined };
    return 0;
}

/* --- texts for errors --- */

static void add(struct querycatalog_text *text, const char *fmt, ...) PRINTF(2, 3);
static void add(struct querycatalog_text *text, const char *fmt, ...)
{
    size_t len = strlen(text->text);
    va_list args;

    va_start(args, fmt);
    vsnprintf(text->text + len, sizeof(text->text) - len, fmt, args);
    va_end(args);
}

static void add_rest(struct querycatalog_text *text, uint32_t n, uint32_t n_shown)
{
    if (n > n_shown)
        add(text, " and %u more", n - n_shown);
}

/* A name that is near enough to be meant is at most this long (base/suggest.h). */
#define NEAR_BYTES 48

struct near_name {
    char text[NEAR_BYTES + 1];
};

/* The nearest name that is not among those found already; false if there is none. */
static bool find_nearest(const struct querycatalog *catalog, struct slice typed, const struct near_name *found,
                         uint32_t n_found, struct near_name *ret_name)
{
    struct suggest nearest = suggest_start(typed);

    for (uint32_t i = 0; i < catalog->n_services; i++) {
        struct slice name = catalog->services[i].name;
        struct near_name candidate;
        bool is_found = name.len > NEAR_BYTES;

        for (uint32_t j = 0; j < n_found && !is_found; j++)
            is_found = slice_is(name, found[j].text);
        if (is_found)
            continue;
        snprintf(candidate.text, sizeof(candidate.text), "%.*s", SLICE_ARG(name));
        suggest_offer(&nearest, candidate.text);
        if (nearest.name == candidate.text) {
            *ret_name = candidate;
            nearest.name = ret_name->text;
        }
    }
    return nearest.name != NULL;
}

struct querycatalog_text querycatalog_nearest(const struct querycatalog *catalog, struct slice typed)
{
    struct querycatalog_text text = { "" };
    struct near_name found[SHOWN_NAMES];
    uint32_t n = 0;

    while (n < SHOWN_NAMES && find_nearest(catalog, typed, found, n, &found[n])) {
        add(&text, "%s'%.*s'", n == 0 ? "nearest: " : ", ", SHOWN_NAME_BYTES, found[n].text);
        n++;
    }
    if (n > 0)
        return text;
    for (uint32_t i = 0; i < MIN(catalog->n_services, SHOWN_NAMES); i++)
        add(&text, "%s'%.*s'", i == 0 ? "there are " : ", ",
            SLICE_ARG(slice_sub(catalog->services[i].name, 0, SHOWN_NAME_BYTES)));
    add_rest(&text, catalog->n_services, SHOWN_NAMES);
    return text;
}

struct querycatalog_text querycatalog_sample_types(const struct querycatalog_type *types, uint32_t n_types)
{
    struct querycatalog_text text = { "" };

    for (uint32_t i = 0; i < MIN(n_types, SHOWN_TYPES); i++)
        add(&text, "%s%.*s", i == 0 ? "" : ", ",
            SLICE_ARG(slice_sub(parts_of(types[i].profile_type).sample_type, 0, SHOWN_TYPE_BYTES)));
    add_rest(&text, n_types, SHOWN_TYPES);
    return text;
}
