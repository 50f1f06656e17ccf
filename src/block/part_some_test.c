// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "base/test.h"
#include "block/part.h"
#include "block/random_row_test.h"

enum { MAX_ROWS = 60 };

/* A part, read whole, and what it was made of. */
struct sample {
    struct part_builder *builder;
    struct packer *packer;
    struct unpacker *unpacker;
    struct arena arena;
    struct buffer bytes[3]; /* windows, sums, samples */
    struct windows windows;
    struct rollup sums;
    struct part_rows *rows;
};

static void sample_done(struct sample *sample)
{
    part_builder_free(sample->builder);
    packer_free(sample->packer);
    unpacker_free(sample->unpacker);
    arena_done(&sample->arena);
    for (unsigned i = 0; i < 3; i++)
        buffer_done(&sample->bytes[i]);
}

static int add_rows(struct sample *sample, uint64_t seed, uint32_t n_rows, uint32_t n_types, struct error *err)
{
    for (uint32_t i = 0; i < n_rows; i++) {
        uint64_t state = seed * 100 + i;
        struct headrow row = row_make_sorted((struct row_options){ .seed = state,
                                                                   .n_types = n_types,
                                                                   .n_samples = (uint32_t)(row_random(&state) % 4 * 30),
                                                                   .n_stacks = seed % 2 ? 20 : 3000,
                                                                   .values = (enum row_values)(seed % ROW_VALUES_COUNT),
                                                                   .has_label_sets = seed % 3 == 0,
                                                                   .has_links = seed % 4 && row_random(&state) % 4,
                                                                   .has_counts = seed % 5 == 0 },
                                             &sample->arena);

        row.start_ns = i / 2;
        row.sequence = i;
        if (part_builder_add(sample->builder, &row, err) < 0)
            return -1;
    }
    return 0;
}

static int sample_init(struct sample *sample, uint64_t seed, uint32_t n_rows, struct error *err)
{
    uint32_t n_types = (uint32_t)(seed % 4);

    *sample = (struct sample){ 0 };
    arena_init(&sample->arena, 0);
    for (unsigned i = 0; i < 3; i++)
        buffer_init(&sample->bytes[i], 0);
    if (part_builder_new(&sample->builder, err) < 0 || packer_new(&sample->packer, err) < 0 ||
        unpacker_new(&sample->unpacker, err) < 0)
        return -1;
    part_builder_clear(sample->builder, n_types);
    if (add_rows(sample, seed, n_rows, n_types, err) < 0 ||
        part_builder_finish(sample->builder, sample->packer, &sample->bytes[0], &sample->bytes[1], &sample->bytes[2],
                            err) < 0 ||
        windows_decode(buffer_slice(&sample->bytes[0]), sample->unpacker, &sample->arena, &sample->windows, err) < 0 ||
        rollup_decode(buffer_slice(&sample->bytes[1]), HEADROW_MAX_SAMPLES, sample->unpacker, &sample->arena,
                      &sample->sums, err) < 0)
        return -1;
    return part_rows_open(buffer_slice(&sample->bytes[2]), &sample->windows, &sample->sums, sample->unpacker,
                          &sample->arena, &sample->rows, err);
}

static int open_some(struct sample *sample, struct slice bytes, const struct part_choice *choice,
                     struct part_rows **ret_rows, struct error *err)
{
    return part_rows_open_some(bytes, &sample->windows, &sample->sums, choice, sample->unpacker, &sample->arena,
                               ret_rows, err);
}

/* Links to spans that begin with this or more are taken. */
static bool takes_span(void *context, const struct link *link)
{
    return link->span_id[0] >= *(const uint8_t *)context;
}

/* Cuts a row as a choice says. */
static void cut_row(struct headrow *row, bool is_chosen, const struct part_choice *choice, struct arena *arena)
{
    struct error err;
    uint32_t *kept = ARENA_ARRAY(arena, uint32_t, row->n_samples, &err), n = 0;

    for (uint32_t i = 0; is_chosen && i < row->n_samples; i++) {
        uint32_t link = row->links ? row->links[i] : 0;

        if (!choice->takes_link || (link && choice->takes_link(choice->context, &row->link_table[link - 1])))
            kept[n++] = i;
    }
    CHECK_OK(headrow_cut(row, kept, n, arena, &err), &err);
}

/* That a part read in some is the whole one, cut; returns how many samples there are. */
static uint32_t check_some(struct sample *sample, const struct part_choice *choice)
{
    struct part_rows *some;
    uint32_t n_samples = 0;
    struct error err;

    CHECK_OK(open_some(sample, buffer_slice(&sample->bytes[2]), choice, &some, &err), &err);
    for (uint32_t i = 0; i < sample->windows.n_rows; i++) {
        struct headrow row, wanted;

        part_rows_get(some, i, &row);
        part_rows_get(sample->rows, i, &wanted);
        cut_row(&wanted, !choice->rows || choice->rows[i], choice, &sample->arena);
        row_check_equal(&row, &wanted);
        n_samples += row.n_samples;
    }
    return n_samples;
}

TEST(part_rows_of_some_samples_are_those_of_all_cut)
{
    uint32_t n_by_rows = 0, n_by_links = 0, n_by_both = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        AUTO(sample_done) struct sample sample;
        uint8_t least = (uint8_t)(seed * 4);
        bool rows[MAX_ROWS];
        struct part_choice choice = { .rows = rows, .context = &least };
        struct error err;

        CHECK_OK(sample_init(&sample, seed, (uint32_t)(seed % MAX_ROWS), &err), &err);
        for (uint32_t i = 0; i < MAX_ROWS; i++)
            rows[i] = (i * 7 + seed) % 5 < 2;
        n_by_rows += check_some(&sample, &choice);
        choice.takes_link = takes_span;
        n_by_both += check_some(&sample, &choice);
        choice.rows = NULL;
        n_by_links += check_some(&sample, &choice);
        choice.takes_link = NULL;
        check_some(&sample, &choice);
    }
    CHECK(n_by_both > 0 && n_by_both < n_by_rows && n_by_both < n_by_links);
}

TEST(part_rows_of_some_samples_may_be_none)
{
    AUTO(sample_done) struct sample sample;
    bool rows[MAX_ROWS] = { 0 };
    struct part_choice choice = { .rows = rows };
    struct error err;

    CHECK_OK(sample_init(&sample, 1, 20, &err), &err);
    CHECK_EQ(check_some(&sample, &choice), 0);
}

TEST(part_rows_of_some_samples_are_refused_when_they_are_cut_off)
{
    AUTO(sample_done) struct sample sample;
    struct part_choice choice = { .takes_link = takes_span, .context = &(uint8_t){ 0 } };
    struct part_rows *rows;
    struct error err;

    CHECK_OK(sample_init(&sample, 15, 5, &err), &err); /* with all there is */
    CHECK(check_some(&sample, &choice) > 0);
    for (size_t len = 0; len < sample.bytes[2].len; len++) {
        CHECK_ERROR(open_some(&sample, slice_of(sample.bytes[2].data, len), &choice, &rows, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "samples of a part: ");
    }
}

/* What is changed may be a value that nobody can tell from another; but it is never more than that. */
TEST(part_rows_of_some_samples_survive_any_bit_changed)
{
    AUTO(sample_done) struct sample sample;
    struct part_choice choice = { .takes_link = takes_span, .context = &(uint8_t){ 0 } };
    struct error err;

    CHECK_OK(sample_init(&sample, 15, 3, &err), &err);
    for (size_t bit = 0; bit < sample.bytes[2].len * 8; bit++) {
        struct part_rows *rows;

        sample.bytes[2].data[bit / 8] ^= (char)(1 << bit % 8);
        if (open_some(&sample, buffer_slice(&sample.bytes[2]), &choice, &rows, &err) < 0)
            CHECK(err.code == ERR_CORRUPT || err.code == ERR_VERSION);
        sample.bytes[2].data[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static int read_some(void *context, struct error *err)
{
    struct sample *sample = context;
    struct part_choice choice = { .takes_link = takes_span, .context = &(uint8_t){ 0 } };
    AUTO(arena_done) struct arena arena;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    struct part_rows *rows;

    arena_init(&arena, 0);
    if (unpacker_new(&unpacker, err) < 0)
        return -1;
    return part_rows_open_some(buffer_slice(&sample->bytes[2]), &sample->windows, &sample->sums, &choice, unpacker,
                               &arena, &rows, err);
}

TEST(part_rows_of_some_samples_survive_any_allocation_failing)
{
    AUTO(sample_done) struct sample sample;
    struct error err;

    CHECK_OK(sample_init(&sample, 15, 2, &err), &err);
    test_each_allocation_failing(read_some, &sample);
}
