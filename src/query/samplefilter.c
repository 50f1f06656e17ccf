// SPDX-License-Identifier: Apache-2.0
#include "query/samplefilter.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/vec.h"
#include "profile/labelmatch.h"

#include <stdlib.h>

enum {
    MAX_REMEMBERED = 1 << 20,
    SETS_AT_ONCE = 1 << 12, /* whose labels are in memory together */
    REMEMBERED_BYTES = 64,  /* what a label set, or a stack, takes that is remembered; half of the slots are free */
};
enum { FOCUS, IGNORED, N_TAGS };

struct samplefilter {
    struct filter *functions; /* NULL = none */
    struct labelmatch *tags[N_TAGS];
    struct labelmatch_run *runs[N_TAGS];
    struct pattern_scratch *scratch;
    const struct latenames *late;
    struct names *names;
    struct map stacks;         /* stack -> whether its values stay */
    struct hash_set sets_seen; /* series, label set of the row, label set of the sample */
    VEC(bool) sets;            /* whether samples with it stay */
    size_t max_bytes;          /* half of it for what is remembered, half for the row at hand */
    size_t max_remembered;     /* sets, and stacks */
    struct arena arena;        /* of the row at hand */
    struct arena batch;        /* of the label sets at hand */
};

static int read_tag(struct samplefilter *filter, unsigned which, const char *option, struct slice text,
                    struct error *err)
{
    if (!text.len)
        return 0;
    if (labelmatch_new_tag(text, &filter->tags[which], err) < 0)
        return error_wrap(err, "%s", option);
    return labelmatch_run_new(filter->tags[which], filter->scratch, &filter->runs[which], err);
}

int samplefilter_new(const struct filter_spec *spec, bool wants_functions, const struct latenames *late,
                     size_t max_bytes, struct samplefilter **ret_filter, struct error *err)
{
    AUTO(samplefilter_freep) struct samplefilter *filter = MEMORY_NEW(struct samplefilter, err);
    struct filter_spec by_functions = *spec;

    if (!filter)
        return -1;
    filter->late = late;
    filter->max_bytes = max_bytes;
    filter->max_remembered = MIN(max_bytes / 4 / REMEMBERED_BYTES, (size_t)MAX_REMEMBERED);
    arena_init(&filter->arena, max_bytes / 4);
    arena_init(&filter->batch, max_bytes / 4);
    map_init(&filter->stacks, 0);
    hash_set_init(&filter->sets_seen, 0);
    by_functions.tag_focus = by_functions.tag_ignore = (struct slice){ 0 };
    if (pattern_scratch_new(&filter->scratch, err) < 0 ||
        read_tag(filter, FOCUS, "tagfocus", spec->tag_focus, err) < 0 ||
        read_tag(filter, IGNORED, "tagignore", spec->tag_ignore, err) < 0 ||
        (wants_functions && samplefilter_has_functions(spec) && filter_new(&by_functions, &filter->functions, err) < 0))
        return -1;
    *ret_filter = TAKE(filter);
    return 0;
}

void samplefilter_free(struct samplefilter *filter)
{
    if (!filter)
        return;
    filter_free(filter->functions);
    for (unsigned i = 0; i < N_TAGS; i++) {
        labelmatch_run_free(filter->runs[i]);
        labelmatch_free(filter->tags[i]);
    }
    pattern_scratch_free(filter->scratch);
    map_done(&filter->stacks);
    hash_set_done(&filter->sets_seen);
    VEC_DONE(&filter->sets);
    arena_done(&filter->arena);
    arena_done(&filter->batch);
    memory_free(filter);
}

void samplefilter_freep(struct samplefilter **filter)
{
    samplefilter_free(*filter);
}

static void forget_sets(struct samplefilter *filter)
{
    hash_set_clear(&filter->sets_seen);
    filter->sets.n = 0;
}

void samplefilter_names(struct samplefilter *filter, struct names *names)
{
    filter->names = names;
    map_clear(&filter->stacks);
    forget_sets(filter);
}

static int refuse_more(const struct samplefilter *filter, struct error *err)
{
    return error_set(err, ERR_LIMIT,
                     "the labels and stacks of one profile take more than the %zu MiB that a query may have: leave out "
                     "filters on samples, or raise --query-memory",
                     filter->max_bytes >> 20);
}

/* Where an allocation failed: the limit of the arena is that of the query. */
static int lack_memory(const struct samplefilter *filter, struct error *err)
{
    return err->code == ERR_LIMIT ? refuse_more(filter, err) : -1;
}

/* --- labels --- */

/* The row at hand. */
struct cutting {
    struct samplefilter *filter;
    const struct seriesinfo *series;
    const struct headrow *row;
    struct hash128 key; /* of series and row */
    uint32_t *asked;    /* label sets of samples that are not known yet, rising, each once; some at a time */
    uint32_t n_asked;
    struct tables tables; /* of these, and that of the row */
    uint32_t row_set;     /* there */
};

static uint32_t set_of(const struct headrow *row, uint32_t sample)
{
    return row->label_sets ? row->label_sets[sample] : 0;
}

static struct hash128 hash_of(const struct cutting *c, uint32_t set)
{
    return hash_fold(c->key, set, 1);
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

    return a < b ? -1 : a > b;
}

static uint32_t sort_numbers(uint32_t *numbers, uint32_t n)
{
    uint32_t kept = 0;

    if (n > 1)
        qsort(numbers, n, sizeof(*numbers), by_number);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

static int find_unknown_sets(struct cutting *c, struct error *err)
{
    const struct headrow *row = c->row;

    c->asked = ARENA_ARRAY(&c->filter->arena, uint32_t, row->n_samples, err);
    if (!c->asked)
        return lack_memory(c->filter, err);
    for (uint32_t i = 0; i < row->n_samples; i++)
        if ((i == 0 || set_of(row, i) != set_of(row, i - 1)) &&
            hash_set_find(&c->filter->sets_seen, hash_of(c, set_of(row, i))) == HASH_NONE)
            c->asked[c->n_asked++] = set_of(row, i);
    c->n_asked = sort_numbers(c->asked, c->n_asked);
    return 0;
}

/* Reads the labels of the unknown sets and of the row. Set k of `asked` is at place places[k] of the tables. */
static int load_sets(struct cutting *c, uint32_t *places, struct error *err)
{
    uint32_t *ids = ARENA_ARRAY(&c->filter->batch, uint32_t, (size_t)c->n_asked + 1, err), n = 0, n_missing;

    if (!ids)
        return -1;
    for (uint32_t i = 0; i < c->n_asked; i++)
        ids[n++] = c->asked[i];
    ids[n++] = c->row->label_set;
    n = sort_numbers(ids, n);
    if (ids[0] == 0) {
        ids++;
        n--;
    }
    if (names_load(c->filter->names, NULL, 0, ids, n, &c->filter->batch, &c->tables, &n_missing, err) < 0)
        return -1;
    for (uint32_t i = 0, at = 0; i < c->n_asked; i++) {
        while (at < n && ids[at] < c->asked[i])
            at++;
        places[i] = c->asked[i] ? at + 1 : 0;
    }
    for (uint32_t i = 0; i < n; i++)
        if (c->row->label_set == ids[i])
            c->row_set = i + 1;
    return 0;
}

/* Makes the labels of sample, row and series one set for each unknown one. */
static int join_labels(struct cutting *c, const uint32_t *places, struct tables *joined, struct error *err)
{
    struct arena *arena = &c->filter->batch;
    const struct seriesinfo *series = c->series;
    const struct tables *t = &c->tables;
    uint32_t n_row, n_strings = t->n_strings, n = 0;
    const struct label *row = tables_label_set(t, c->row_set, &n_row);
    size_t n_labels = (size_t)t->n_labels + (size_t)c->n_asked * (n_row + series->n_labels);

    *joined = *t;
    joined->strings = ARENA_ARRAY(arena, struct slice, (size_t)n_strings + 2 * (size_t)series->n_labels, err);
    joined->labels = ARENA_ARRAY(arena, struct label, n_labels, err);
    joined->label_set_starts = ARENA_ARRAY(arena, uint32_t, (size_t)c->n_asked + 2, err);
    if (!joined->strings || !joined->labels || !joined->label_set_starts)
        return -1;
    memcpy(joined->strings, t->strings, n_strings * sizeof(*t->strings));
    for (uint32_t i = 0; i < series->n_labels; i++) {
        joined->strings[n_strings + 2 * i] = series->labels[i].name;
        joined->strings[n_strings + 2 * i + 1] = series->labels[i].value;
    }
    joined->n_strings = n_strings + 2 * series->n_labels;
    joined->n_label_sets = c->n_asked + 1;
    joined->label_set_starts[0] = joined->label_set_starts[1] = 0;
    for (uint32_t k = 0; k < c->n_asked; k++) {
        uint32_t n_own;
        const struct label *own = tables_label_set(t, places[k], &n_own);

        for (uint32_t i = 0; i < n_own; i++)
            joined->labels[n++] = own[i];
        for (uint32_t i = 0; i < n_row; i++)
            joined->labels[n++] = row[i];
        for (uint32_t i = 0; i < series->n_labels; i++)
            joined->labels[n++] =
                (struct label){ .key = n_strings + 2 * i, .text = n_strings + 2 * i + 1, .kind = LABEL_STRING };
        joined->label_set_starts[k + 2] = n;
    }
    joined->n_labels = n;
    return 0;
}

static int test_set(struct samplefilter *filter, uint32_t sample, bool *ret_stays, struct error *err)
{
    bool stays = true;

    for (unsigned i = 0; i < N_TAGS && stays; i++) {
        bool matches;

        if (!filter->runs[i])
            continue;
        if (labelmatch_run_test(filter->runs[i], sample, &matches, err) < 0)
            return error_wrap(err, i == FOCUS ? "tagfocus" : "tagignore");
        stays = matches == (i == FOCUS);
    }
    *ret_stays = stays;
    return 0;
}

static int remember_set(struct samplefilter *filter, struct hash128 hash, bool stays, struct error *err)
{
    uint32_t id;
    bool is_new;

    if (VEC_RESERVE(&filter->sets, 1, UINT32_MAX, err) < 0 ||
        hash_set_add(&filter->sets_seen, hash, &id, &is_new, err) < 0)
        return -1;
    if (is_new)
        filter->sets.items[filter->sets.n++] = stays;
    return 0;
}

/* As if the unknown sets were the samples of a profile. */
static int judge_sets(struct cutting *c, struct error *err)
{
    struct samplefilter *filter = c->filter;
    uint32_t *places = ARENA_ARRAY(&filter->batch, uint32_t, c->n_asked, err);
    struct profile profile = { .n_samples = c->n_asked };
    struct tables joined;

    profile.label_sets = ARENA_ARRAY(&filter->batch, uint32_t, c->n_asked, err);
    if (!places || !profile.label_sets || load_sets(c, places, err) < 0 || join_labels(c, places, &joined, err) < 0)
        return lack_memory(filter, err);
    profile.tables = &joined;
    for (uint32_t i = 0; i < c->n_asked; i++)
        profile.label_sets[i] = i + 1;
    for (unsigned i = 0; i < N_TAGS; i++)
        if (filter->runs[i] && labelmatch_run_profile(filter->runs[i], &profile, err) < 0)
            return -1;
    for (uint32_t i = 0; i < c->n_asked; i++) {
        bool stays = false;

        if (test_set(filter, i, &stays, err) < 0 || remember_set(filter, hash_of(c, c->asked[i]), stays, err) < 0)
            return -1;
    }
    return 0;
}

/* The labels of few sets at a time: a set comes with all labels of its row and series. */
static int judge_in_batches(struct cutting *c, struct error *err)
{
    uint32_t *all = c->asked, n_all = c->n_asked;

    if (n_all > c->filter->max_remembered)
        return refuse_more(c->filter, err);
    for (uint32_t at = 0; at < n_all; at += c->n_asked) {
        arena_reset(&c->filter->batch);
        c->asked = all + at;
        c->n_asked = MIN(n_all - at, (uint32_t)SETS_AT_ONCE);
        if (judge_sets(c, err) < 0)
            return -1;
    }
    return 0;
}

static int choose_by_labels(struct cutting *c, struct headrow *row, struct error *err)
{
    struct samplefilter *filter = c->filter;
    uint32_t n = 0;

    if (find_unknown_sets(c, err) < 0)
        return -1;
    if (filter->sets_seen.n && filter->sets_seen.n + c->n_asked > filter->max_remembered) {
        forget_sets(filter);
        c->n_asked = 0;
        if (find_unknown_sets(c, err) < 0)
            return -1;
    }
    if (judge_in_batches(c, err) < 0)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (filter->sets.items[hash_set_find(&filter->sets_seen, hash_of(c, set_of(row, i)))])
            headrow_move_sample(row, i, n++);
    row->n_samples = n;
    return 0;
}

/* --- stacks --- */

static int judge_stacks(struct samplefilter *filter, const uint32_t *ids, uint32_t n, struct error *err)
{
    struct tables tables;
    uint32_t n_missing;
    bool *stays, *is_open;

    if (names_load(filter->names, ids, n, NULL, 0, &filter->arena, &tables, &n_missing, err) < 0 ||
        (filter->late && latenames_resolve(filter->late, &tables, &filter->arena, &is_open, err) < 0) ||
        !(stays = ARENA_ARRAY(&filter->arena, bool, tables.n_stacks, err)))
        return lack_memory(filter, err);
    if (filter_stacks(filter->functions, &tables, stays, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (map_set(&filter->stacks, ids[i], stays[i + 1], err) < 0)
            return -1;
    /* Without frames there is nothing that could match. */
    return map_set(&filter->stacks, 0, false, err);
}

static int find_stacks(struct samplefilter *filter, const struct headrow *row, struct error *err)
{
    uint32_t *ids = ARENA_ARRAY(&filter->arena, uint32_t, row->n_samples, err), n = 0;

    if (!ids)
        return lack_memory(filter, err);
    if (row->n_samples > filter->max_remembered)
        return refuse_more(filter, err);
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (row->stacks[i] && (!n || ids[n - 1] != row->stacks[i]) && !map_find(&filter->stacks, row->stacks[i]))
            ids[n++] = row->stacks[i];
    return judge_stacks(filter, ids, n, err);
}

static int clear_by_functions(struct samplefilter *filter, struct headrow *row, struct error *err)
{
    if (filter->stacks.n + row->n_samples > filter->max_remembered)
        map_clear(&filter->stacks);
    if (find_stacks(filter, row, err) < 0)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        if (*map_find(&filter->stacks, row->stacks[i]))
            continue;
        for (uint32_t k = 0; k < row->n_types; k++)
            row->values[(size_t)k * row->stride + i] = 0;
        if (row->counts)
            row->counts[i] = 0;
    }
    return 0;
}

/* --- rows --- */

static void *copy_array(struct arena *arena, const void *items, size_t n, size_t item_bytes, struct error *err)
{
    void *copy = arena_alloc_array(arena, n, item_bytes, err);

    if (copy && n)
        memcpy(copy, items, n * item_bytes);
    return copy;
}

/* A copy whose arrays can be written to. */
static int copy_row(const struct headrow *row, struct arena *arena, struct headrow *ret_row, struct error *err)
{
    uint32_t n = row->n_samples;

    *ret_row = *row;
    ret_row->stacks = copy_array(arena, row->stacks, n, sizeof(*row->stacks), err);
    ret_row->values = copy_array(arena, row->values, row->n_types ? (size_t)(row->n_types - 1) * row->stride + n : 0,
                                 sizeof(*row->values), err);
    if (!ret_row->stacks || !ret_row->values)
        return -1;
    if ((row->label_sets && !(ret_row->label_sets = copy_array(arena, row->label_sets, n, sizeof(uint32_t), err))) ||
        (row->links && !(ret_row->links = copy_array(arena, row->links, n, sizeof(uint32_t), err))) ||
        (row->counts && !(ret_row->counts = copy_array(arena, row->counts, n, sizeof(uint64_t), err))))
        return -1;
    return 0;
}

int samplefilter_cut(struct samplefilter *filter, const struct seriesinfo *series, const struct headrow *row,
                     struct headrow *ret_row, bool *ret_stays, struct error *err)
{
    struct hash128 hash = seriesinfo_hash(series, 0);
    struct cutting c = { .filter = filter, .series = series, .row = row, .key = hash_fold(hash, row->label_set, 0) };

    arena_reset(&filter->arena);
    if (copy_row(row, &filter->arena, ret_row, err) < 0)
        return lack_memory(filter, err);
    if (((filter->runs[FOCUS] || filter->runs[IGNORED]) && choose_by_labels(&c, ret_row, err) < 0) ||
        (filter->functions && clear_by_functions(filter, ret_row, err) < 0))
        return -1;
    *ret_stays = ret_row->n_samples > 0 || (row->n_samples == 0 && !filter->runs[FOCUS]);
    return 0;
}
