// SPDX-License-Identifier: Apache-2.0
#include "block/part.h"

#include "base/memory.h"
#include "base/test.h"
#include "block/pieces.h"
#include "block/random_row_test.h"

/* A part on its way out and back in. */
struct trip {
    struct part_builder *builder;
    struct packer *packer;
    struct unpacker *unpacker;
    struct arena arena;
    struct buffer windows, sums, samples;
};

static void trip_done(struct trip *trip)
{
    part_builder_free(trip->builder);
    packer_free(trip->packer);
    unpacker_free(trip->unpacker);
    arena_done(&trip->arena);
    buffer_done(&trip->windows);
    buffer_done(&trip->sums);
    buffer_done(&trip->samples);
}

static int trip_init(struct trip *trip, uint32_t n_types, struct error *err)
{
    arena_init(&trip->arena, 0);
    buffer_init(&trip->windows, 0);
    buffer_init(&trip->sums, 0);
    buffer_init(&trip->samples, 0);
    if (part_builder_new(&trip->builder, err) < 0 || packer_new(&trip->packer, err) < 0 ||
        unpacker_new(&trip->unpacker, err) < 0)
        return -1;
    part_builder_clear(trip->builder, n_types);
    return 0;
}

static int trip_finish(struct trip *trip, struct error *err)
{
    buffer_clear(&trip->windows);
    buffer_clear(&trip->sums);
    buffer_clear(&trip->samples);
    return part_builder_finish(trip->builder, trip->packer, &trip->windows, &trip->sums, &trip->samples, err);
}

/* What reading a part gives. */
struct part {
    struct windows windows;
    struct rollup sums;
    struct part_rows *rows;
};

static int trip_read(struct trip *trip, struct part *ret_part, struct error *err)
{
    if (windows_decode(buffer_slice(&trip->windows), trip->unpacker, &trip->arena, &ret_part->windows, err) < 0 ||
        rollup_decode(buffer_slice(&trip->sums), HEADROW_MAX_SAMPLES, trip->unpacker, &trip->arena, &ret_part->sums,
                      err) < 0)
        return -1;
    return part_rows_open(buffer_slice(&trip->samples), &ret_part->windows, &ret_part->sums, trip->unpacker,
                          &trip->arena, &ret_part->rows, err);
}

/* Rows as a series has them; some without label sets, links, counts or samples, and some with the start of another. */
static struct headrow make_row(uint64_t seed, uint32_t i, uint32_t n_types, struct arena *arena)
{
    uint64_t state = seed * 100 + i;
    struct headrow row = row_make_sorted(
        (struct row_options){
            .seed = i,
            .n_types = n_types,
            .n_samples = (uint32_t)(row_random(&state) % 4 * 40),
            .n_stacks = seed % 2 ? 20 : 3000,
            .values = (enum row_values)(seed % ROW_VALUES_COUNT),
            .has_label_sets = seed % 3 == 0 && row_random(&state) % 2,
            .has_links = seed % 4 == 0 && row_random(&state) % 2,
            .has_counts = seed % 5 == 0 && row_random(&state) % 2,
        },
        arena);

    row.start_ns -= row.start_ns % 20000000000;
    return row;
}

static void check_windows(const struct windows *windows, const struct headrow *rows, uint32_t n_rows)
{
    CHECK_EQ(windows->n_rows, n_rows);
    for (uint32_t i = 0; i < n_rows; i++) {
        CHECK_EQ(windows->starts_ns[i], rows[i].start_ns);
        CHECK_EQ(windows->durations_ns[i], rows[i].duration_ns);
        CHECK_EQ(windows->sequences[i], rows[i].sequence);
        CHECK_EQ(windows->label_sets[i], rows[i].label_set);
        CHECK_EQ(windows->periods[i], rows[i].period);
        CHECK_EQ(windows->sample_counts[i], rows[i].n_samples);
        for (uint32_t type = 0; type < windows->n_types; type++) {
            uint64_t saturated = 0;
            int64_t total = 0;

            for (uint32_t k = 0; k < rows[i].n_samples; k++)
                total = value_add(total, rows[i].values[(size_t)type * rows[i].stride + k], &saturated);
            CHECK_EQ(windows->totals[(size_t)type * n_rows + i], total);
        }
    }
}

/* That the sums are those of a roll-up of the same rows. */
static void check_sums(const struct rollup *sums, const struct headrow *rows, uint32_t n_rows, struct arena *arena)
{
    AUTO(rollup_builder_done) struct rollup_builder builder;
    struct rollup wanted;
    struct error err;

    rollup_builder_init(&builder, sums->n_types);
    for (uint32_t i = 0; i < n_rows; i++)
        CHECK_OK(rollup_builder_add(&builder, 1, &rows[i], &err), &err);
    CHECK_OK(rollup_builder_finish(&builder, arena, &wanted, &err), &err);
    CHECK_EQ(sums->n_stacks, wanted.n_stacks);
    CHECK_EQ(sums->n_rows, wanted.n_rows);
    CHECK_EQ(sums->n_series, wanted.n_series);
    CHECK_EQ(sums->duration_ns, wanted.duration_ns);
    for (uint32_t i = 0; i < wanted.n_stacks; i++)
        CHECK_EQ(sums->stacks[i], wanted.stacks[i]);
    for (size_t i = 0; i < (size_t)wanted.n_stacks * wanted.n_types; i++)
        CHECK_EQ(sums->sums[i], wanted.sums[i]);
}

/* That the links of the part, read alone, are those of its rows. */
static void check_links(struct trip *trip, const struct headrow *rows, uint32_t n_rows)
{
    struct link *links;
    uint32_t n, n_wanted = 0;
    struct error err;

    CHECK_OK(part_links_decode(buffer_slice(&trip->samples), trip->unpacker, &trip->arena, &links, &n, &err), &err);
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t k = 0; rows[i].links && k < rows[i].n_samples; k++) {
            uint32_t link = rows[i].links[k], at = 0;

            while (link && at < n && memcmp(&links[at], &rows[i].link_table[link - 1], sizeof(*links)) != 0)
                at++;
            CHECK(!link || at < n);
            n_wanted += link != 0;
        }
    CHECK(n <= n_wanted);
    CHECK_EQ(n > 0, n_wanted > 0);
}

static void check_round_trip(struct trip *trip, uint64_t seed, uint32_t n_rows)
{
    uint32_t n_types = (uint32_t)(seed % 4);
    struct headrow rows[100];
    struct part part;
    struct error err;

    part_builder_clear(trip->builder, n_types);
    for (uint32_t i = 0; i < n_rows; i++) {
        rows[i] = make_row(seed, i, n_types, &trip->arena);
        CHECK_OK(part_builder_add(trip->builder, &rows[i], &err), &err);
    }
    CHECK_OK(trip_finish(trip, &err), &err);
    CHECK_OK(trip_read(trip, &part, &err), &err);
    check_windows(&part.windows, rows, n_rows);
    check_sums(&part.sums, rows, n_rows, &trip->arena);
    for (uint32_t i = n_rows; i-- > 0;) { /* in any order */
        struct headrow row;

        part_rows_get(part.rows, i, &row);
        row_check_equal(&row, &rows[i]);
    }
    CHECK_OK(part_rows_check(part.rows, &err), &err);
    check_links(trip, rows, n_rows);
    arena_reset(&trip->arena);
}

TEST(part_of_every_kind_comes_back_the_same)
{
    static const uint32_t lengths[] = { 0, 1, 2, 25, 100 };
    AUTO(trip_done) struct trip trip = { 0 };
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    for (uint64_t seed = 0; seed < 120; seed++)
        for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
            check_round_trip(&trip, seed, lengths[i]);
}

TEST(part_can_be_made_of_the_rows_of_another)
{
    AUTO(trip_done) struct trip trip = { 0 }, again = { 0 };
    struct part part;
    struct error err;

    CHECK_OK(trip_init(&trip, 2, &err), &err);
    CHECK_OK(trip_init(&again, 2, &err), &err);
    for (uint32_t i = 0; i < 50; i++) {
        struct headrow row = make_row(60, i, 2, &trip.arena); /* with all there is */

        CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    }
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    for (uint32_t i = 0; i < 50; i++) {
        struct headrow row;

        part_rows_get(part.rows, i, &row);
        CHECK_OK(part_builder_add(again.builder, &row, &err), &err);
    }
    CHECK_OK(trip_finish(&again, &err), &err);
    CHECK(slice_equal(buffer_slice(&again.windows), buffer_slice(&trip.windows)));
    CHECK(slice_equal(buffer_slice(&again.sums), buffer_slice(&trip.sums)));
    CHECK(slice_equal(buffer_slice(&again.samples), buffer_slice(&trip.samples)));
}

TEST(part_gives_each_row_its_own_links)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct link table[] = { { .span_id = { 1 } }, { .span_id = { 2 } }, { .span_id = { 3 } } };
    uint32_t stacks[] = { 1, 2 }, first_links[] = { 3, 0 }, second_links[] = { 0, 2 };
    int64_t values[] = { 1, 1 };
    struct headrow row = { .n_types = 1,
                           .n_samples = 2,
                           .stride = 2,
                           .stacks = stacks,
                           .values = values,
                           .links = first_links,
                           .link_table = table,
                           .n_links = 3 };
    struct headrow plain = { .n_types = 1, .n_samples = 2, .stride = 2, .stacks = stacks, .values = values };
    struct part part;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    CHECK_OK(part_builder_add(trip.builder, &plain, &err), &err);
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    row.links = second_links;
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    part_rows_get(part.rows, 0, &row);
    CHECK(!row.links && row.n_links == 0);
    part_rows_get(part.rows, 1, &row);
    CHECK_EQ(row.n_links, 1);
    CHECK(row.links[0] == 1 && row.links[1] == 0);
    CHECK_EQ(row.link_table[0].span_id[0], 3);
    part_rows_get(part.rows, 2, &row);
    CHECK_EQ(row.n_links, 1);
    CHECK(row.links[0] == 0 && row.links[1] == 1);
    CHECK_EQ(row.link_table[0].span_id[0], 2);
}

/* The same stacks in all rows, as memory in use has them: almost nothing changes from row to row. */
TEST(part_of_levels_that_hardly_change_is_small)
{
    AUTO(trip_done) struct trip trip = { 0 };
    uint32_t stacks[200];
    int64_t values[200];
    struct headrow row = { .n_types = 1, .n_samples = 200, .stride = 200, .stacks = stacks, .values = values };
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    for (uint32_t i = 0; i < 200; i++) {
        stacks[i] = i * 3 + 1;
        values[i] = (int64_t)(hash_mix64(i) % 100000) * 512;
    }
    for (uint32_t i = 0; i < 200; i++) {
        values[i] += 512;
        row.start_ns = i * 10000000000;
        CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    }
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK(trip.samples.len < 200 * 200 / 10);
}

/* --- the builder --- */

TEST(part_builder_takes_rows_until_the_part_is_full)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct headrow row;
    struct error err;
    size_t bytes;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    row = row_make_sorted((struct row_options){ .n_types = 1, .n_samples = 200000, .n_stacks = 1u << 29 }, &trip.arena);
    CHECK(part_builder_is_empty(trip.builder));
    CHECK(part_builder_has_room(trip.builder, PART_MAX_SAMPLES));
    CHECK(part_builder_has_room(trip.builder, HEADROW_MAX_SAMPLES));
    CHECK(!part_builder_has_room(trip.builder, HEADROW_MAX_SAMPLES + 1));
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    CHECK(!part_builder_is_empty(trip.builder));
    CHECK(part_builder_has_room(trip.builder, PART_MAX_SAMPLES - row.n_samples));
    CHECK(!part_builder_has_room(trip.builder, PART_MAX_SAMPLES - row.n_samples + 1));
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    CHECK_ERROR(part_builder_add(trip.builder, &row, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "samples do not fit behind the");
    bytes = part_builder_bytes(trip.builder);
    CHECK(bytes >= 2 * row.n_samples * (4 + 4 + 8));
    part_builder_clear(trip.builder, 1);
    CHECK(part_builder_is_empty(trip.builder));
    CHECK_EQ(part_builder_bytes(trip.builder), bytes);
}

TEST(part_of_one_row_may_be_larger_than_others)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct headrow row, back;
    struct part part;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    row = row_make_sorted(
        (struct row_options){ .n_types = 1, .n_samples = PART_MAX_SAMPLES + 1000, .n_stacks = 1u << 29 }, &trip.arena);
    CHECK(row.n_samples > PART_MAX_SAMPLES);
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    CHECK(!part_builder_has_room(trip.builder, 1));
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    part_rows_get(part.rows, 0, &back);
    row_check_equal(&back, &row);
    part_builder_clear(trip.builder, 1);
    CHECK(part_builder_bytes(trip.builder) < 10000); /* the memory of such a part is not kept */
}

TEST(part_builder_takes_so_many_rows)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct headrow row = { .n_types = 1 };
    struct part part;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    for (uint32_t i = 0; i < PART_MAX_ROWS; i++) {
        row.sequence = i;
        CHECK(part_builder_has_room(trip.builder, 0));
        CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    }
    CHECK(!part_builder_has_room(trip.builder, 0));
    CHECK_ERROR(part_builder_add(trip.builder, &row, &err), &err, ERR_LIMIT);
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    CHECK_EQ(part.windows.n_rows, PART_MAX_ROWS);
}

TEST(part_builder_refuses_rows_that_do_not_belong_there)
{
    AUTO(trip_done) struct trip trip = { 0 };
    uint32_t stacks[] = { 2, 1 };
    int64_t values[] = { 1, 1 };
    struct headrow row = { .start_ns = 50, .sequence = 5, .n_types = 1 };
    struct headrow other;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err); /* the same again is no disorder */
    other = row;
    other.start_ns--;
    CHECK_ERROR(part_builder_add(trip.builder, &other, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "start 49, sequence 5 is before that of the row before it, 50 and 5");
    other = row;
    other.sequence--;
    CHECK_ERROR(part_builder_add(trip.builder, &other, &err), &err, ERR_INVALID);
    other = row;
    other.n_types = 2;
    CHECK_ERROR(part_builder_add(trip.builder, &other, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "adding a row to a part: has 2 types, the part is of 1");
    other = row;
    other.n_samples = other.stride = 2;
    other.stacks = stacks;
    other.values = values;
    CHECK_ERROR(part_builder_add(trip.builder, &other, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "its samples are not sorted");
}

TEST(part_that_does_not_fit_its_buffers_leaves_them_as_they_were)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct headrow row;
    struct error err;

    CHECK_OK(trip_init(&trip, 2, &err), &err);
    row = make_row(1, 1, 2, &trip.arena);
    CHECK_OK(part_builder_add(trip.builder, &row, &err), &err);
    trip.samples.max_bytes = 20;
    buffer_append_text(&trip.windows, "windows");
    buffer_append_text(&trip.sums, "sums");
    buffer_append_text(&trip.samples, "samples");
    CHECK_ERROR(part_builder_finish(trip.builder, trip.packer, &trip.windows, &trip.sums, &trip.samples, &err), &err,
                ERR_LIMIT);
    CHECK_HAS(err.text, "writing a part of 1 rows");
    CHECK_TEXT(buffer_slice(&trip.windows), "windows");
    CHECK_TEXT(buffer_slice(&trip.sums), "sums");
    CHECK_TEXT(buffer_slice(&trip.samples), "samples");
}

/* --- damage --- */

/* A small part with all there is. */
static void make_part(struct trip *trip)
{
    struct error err;

    CHECK_OK(trip_init(trip, 2, &err), &err);
    for (uint32_t i = 0; i < 5; i++) {
        struct headrow row = make_row(60, i, 2, &trip->arena);

        CHECK_OK(part_builder_add(trip->builder, &row, &err), &err);
    }
    CHECK_OK(trip_finish(trip, &err), &err);
}

TEST(windows_can_be_read_in_brief)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct windows whole, brief;
    struct error err;

    make_part(&trip);
    CHECK_OK(windows_decode(buffer_slice(&trip.windows), trip.unpacker, &trip.arena, &whole, &err), &err);
    CHECK_OK(windows_decode_brief(buffer_slice(&trip.windows), trip.unpacker, &trip.arena, &brief, &err), &err);
    CHECK_EQ(brief.n_rows, whole.n_rows);
    CHECK_EQ(memcmp(brief.starts_ns, whole.starts_ns, whole.n_rows * sizeof(*whole.starts_ns)), 0);
    CHECK_EQ(memcmp(brief.durations_ns, whole.durations_ns, whole.n_rows * sizeof(*whole.durations_ns)), 0);
    CHECK_EQ(memcmp(brief.totals, whole.totals, whole.n_types * whole.n_rows * sizeof(*whole.totals)), 0);
    CHECK(!brief.sequences && !brief.label_sets && !brief.periods && !brief.sample_counts);
    for (size_t len = 0; len < trip.windows.len; len++)
        CHECK(windows_decode_brief(slice_of(trip.windows.data, len), trip.unpacker, &trip.arena, &brief, &err) < 0);
}

static void check_windows_refused(struct trip *trip, struct slice bytes, enum error_code code, const char *words)
{
    struct windows windows;
    struct error err;

    CHECK_ERROR(windows_decode(bytes, trip->unpacker, &trip->arena, &windows, &err), &err, code);
    CHECK_HAS(err.text, "windows of a part: ");
    CHECK_HAS(err.text, words);
}

static void check_samples_refused(struct trip *trip, const struct part *part, struct slice bytes, enum error_code code,
                                  const char *words)
{
    struct part_rows *rows;
    struct error err;

    CHECK_ERROR(part_rows_open(bytes, &part->windows, &part->sums, trip->unpacker, &trip->arena, &rows, &err), &err,
                code);
    CHECK_HAS(err.text, "samples of a part: ");
    CHECK_HAS(err.text, words);
}

TEST(part_cut_off_anywhere_is_damaged)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct part part;
    struct error err;

    make_part(&trip);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    for (size_t len = 0; len < trip.windows.len; len++)
        check_windows_refused(&trip, slice_of(trip.windows.data, len), ERR_CORRUPT, "");
    for (size_t len = 0; len < trip.samples.len; len++)
        check_samples_refused(&trip, &part, slice_of(trip.samples.data, len), ERR_CORRUPT, "");
}

TEST(part_links_of_samples_that_are_cut_off_are_refused)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct link *links;
    struct error err;
    uint32_t n;

    make_part(&trip);
    CHECK_OK(part_links_decode(buffer_slice(&trip.samples), trip.unpacker, &trip.arena, &links, &n, &err), &err);
    CHECK(n > 0);
    for (size_t len = 0; len < trip.samples.len; len++) {
        CHECK_ERROR(part_links_decode(slice_of(trip.samples.data, len), trip.unpacker, &trip.arena, &links, &n, &err),
                    &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "samples of a part: ");
    }
}

/* zstd has bits without a meaning, but then nothing else has changed. */
TEST(part_with_any_bit_changed_is_refused_or_the_same)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct part part;
    struct error err;

    make_part(&trip);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    for (size_t bit = 0; bit < trip.windows.len * 8; bit++) {
        struct windows windows;

        trip.windows.data[bit / 8] ^= (char)(1 << bit % 8);
        if (windows_decode(buffer_slice(&trip.windows), trip.unpacker, &trip.arena, &windows, &err) == 0)
            for (uint32_t i = 0; i < 5; i++)
                CHECK_EQ(windows.totals[i], part.windows.totals[i]);
        trip.windows.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < trip.samples.len * 8; bit++) {
        struct part_rows *rows;

        trip.samples.data[bit / 8] ^= (char)(1 << bit % 8);
        if (part_rows_open(buffer_slice(&trip.samples), &part.windows, &part.sums, trip.unpacker, &trip.arena, &rows,
                           &err) == 0)
            for (uint32_t i = 0; i < 5; i++) {
                struct headrow row, wanted;

                part_rows_get(rows, i, &row);
                part_rows_get(part.rows, i, &wanted);
                row_check_equal(&row, &wanted);
            }
        trip.samples.data[bit / 8] ^= (char)(1 << bit % 8);
    }
}

/* Bytes with the columns given as they are before compression. */
static struct slice put_together(struct trip *trip, struct buffer *out, struct slice head, struct slice columns)
{
    struct error err;

    buffer_clear(out);
    buffer_append_slice(out, head);
    CHECK_OK(pieces_pack(columns, trip->packer, out, &err), &err);
    return buffer_slice(out);
}

TEST(part_windows_say_what_is_wrong)
{
    struct slice head = SLICE("\x01\x00\x02"); /* no types, two rows */
    AUTO(trip_done) struct trip trip = { 0 };
    struct buffer *out = &trip.windows;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    check_windows_refused(&trip, SLICE(""), ERR_CORRUPT, "is empty");
    check_windows_refused(&trip, SLICE("\x07"), ERR_VERSION, "is of version 7");
    check_windows_refused(&trip, SLICE("\x01\x41"), ERR_CORRUPT, "the number of types is 65");
    check_windows_refused(&trip, SLICE("\x01\x01\x81\x80\x04"), ERR_CORRUPT, "the number of rows is 65537");
    check_windows_refused(&trip, put_together(&trip, out, head, SLICE("\x00\x01\x01\x00")), ERR_CORRUPT,
                          "starts: the column has 1 values, the header says 2");
    check_windows_refused(&trip,
                          put_together(&trip, out, head,
                                       SLICE("\x04\x02\x01\x00\x04\x02" /* starts 2 and 1 */
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00")),
                          ERR_CORRUPT, "row 2 of 2 (start 1, sequence 0) is not in the order of time");
    check_windows_refused(&trip,
                          put_together(&trip, out, head,
                                       SLICE("\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x04\x02\x01\x00\x09\x08" /* sequences 9 and 8 */
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00")),
                          ERR_CORRUPT, "row 2 of 2 (start 0, sequence 8) is not in the order of time");
    check_windows_refused(&trip,
                          put_together(&trip, out, head,
                                       SLICE("\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x80\x80\x80\x08")), /* 16 M samples each */
                          ERR_CORRUPT, "the rows have 33554432 samples, at most 16777216 are allowed");
    check_windows_refused(&trip,
                          put_together(&trip, out, head,
                                       SLICE("\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00"
                                             "\x00\x02\x01\x00?")),
                          ERR_CORRUPT, "1 bytes too many behind their columns");
}

TEST(part_samples_say_what_is_wrong)
{
    uint32_t counts[] = { 2, 1 }, stacks[] = { 5, 9 }, zeros[] = { 0, 0 };
    int64_t times[] = { 0, 0 };
    struct part part = {
        .windows = { .n_rows = 2,
                     .starts_ns = times,
                     .durations_ns = times,
                     .sequences = zeros,
                     .label_sets = zeros,
                     .periods = times,
                     .sample_counts = counts },
        .sums = { .n_stacks = 2, .n_rows = 2, .stacks = stacks },
    };
    struct slice head = SLICE("\x01\x00\x00\x02\x03\x00"); /* no types, two rows, three samples */
    struct slice linked = SLICE("\x01\x02\x00\x02\x03\x01");
    AUTO(trip_done) struct trip trip = { 0 };
    struct buffer *out = &trip.samples;
    struct error err;

    CHECK_OK(trip_init(&trip, 1, &err), &err);
    check_samples_refused(&trip, &part, SLICE("\x01"), ERR_CORRUPT, "cut off behind the version");
    check_samples_refused(&trip, &part, SLICE("\x01\x09"), ERR_CORRUPT, "flags are 0x09");
    check_samples_refused(&trip, &part, SLICE("\x01\x00\x01\x02\x03\x00"), ERR_CORRUPT,
                          "they have 1 types, the windows of the part have 0");
    check_samples_refused(&trip, &part, SLICE("\x01\x00\x00\x03\x03\x00"), ERR_CORRUPT,
                          "they have 3 rows, the windows of the part have 2");
    check_samples_refused(&trip, &part, SLICE("\x01\x00\x00\x02\x04\x00"), ERR_CORRUPT,
                          "they have 4 samples, the windows of the part have 3");
    check_samples_refused(&trip, &part, SLICE("\x01\x00\x00\x02\x03\x01"), ERR_CORRUPT,
                          "without links, but there are 1 links");
    check_samples_refused(&trip, &part, SLICE("\x01\x02\x00\x02\x03\x04"), ERR_CORRUPT,
                          "the number of links is 4, it can be 3 at most");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x02\x01\x01")),
                          ERR_CORRUPT, "sample 1 of 3 lies 2 positions behind");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x04\x01")),
                          ERR_CORRUPT, "sample 2 of 3 lies 4 positions behind");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x02\x02")),
                          ERR_CORRUPT, "sample 3 of 3 lies 2 positions behind");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x00\x01")),
                          ERR_CORRUPT, "they are of 1 stacks, the sums have 2");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x01\x02")),
                          ERR_CORRUPT, "row 2 of 2 has more samples than the 1 its window says");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x00\x03")),
                          ERR_CORRUPT, "row 1 of 2: samples of one stack are out of order or the same");
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x02\x01?")),
                          ERR_CORRUPT, "1 bytes too many");
    check_samples_refused(&trip, &part, put_together(&trip, out, linked, SLICE("\x04\x03\x01\x00\x00\x02\x01")),
                          ERR_CORRUPT, "cut off: 1 links, but only 0 bytes left");
    check_samples_refused(&trip, &part,
                          put_together(&trip, out, linked,
                                       SLICE("\x04\x03\x01\x00\x00\x02\x01"
                                             "123456789012345678901234"
                                             "\x04\x03\x01\x00\x00\x02\x01")),
                          ERR_CORRUPT, "a sample has link 2, there are 1");
    part.sums.n_stacks = 0;
    check_samples_refused(&trip, &part, put_together(&trip, out, head, SLICE("\x04\x03\x01\x00\x00\x02\x01")),
                          ERR_CORRUPT, "there are 3, while the sums have 0 stacks");
}

TEST(part_check_finds_totals_and_sums_that_are_not_those_of_the_samples)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct part part;
    struct error err;

    make_part(&trip);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    CHECK_OK(part_rows_check(part.rows, &err), &err);
    part.windows.totals[part.windows.n_rows + 2]++;
    CHECK_ERROR(part_rows_check(part.rows, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "windows of a part: row 3 of 5, type 1: the total is");
    part.windows.totals[part.windows.n_rows + 2]--;
    part.sums.sums[part.sums.n_stacks + 1]++;
    CHECK_ERROR(part_rows_check(part.rows, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "sums of a part: stack");
    CHECK_HAS(err.text, "type 1: the sum is");
    part.sums.sums[part.sums.n_stacks + 1]--;
    part.sums.duration_ns++;
    CHECK_ERROR(part_rows_check(part.rows, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "sums of a part: the duration is");
}

TEST(part_reading_stays_within_its_arena)
{
    AUTO(trip_done) struct trip trip = { 0 };
    AUTO(arena_done) struct arena small;
    struct part_rows *rows;
    struct windows windows;
    struct part part;
    struct error err;

    make_part(&trip);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    arena_init(&small, 64);
    CHECK_ERROR(windows_decode(buffer_slice(&trip.windows), trip.unpacker, &small, &windows, &err), &err, ERR_LIMIT);
    arena_done(&small);
    arena_init(&small, 1024);
    CHECK_ERROR(
        part_rows_open(buffer_slice(&trip.samples), &part.windows, &part.sums, trip.unpacker, &small, &rows, &err),
        &err, ERR_LIMIT);
}

static int write_and_read(void *context, struct error *err)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct link link = { .span_id = { 1 } };
    uint32_t stacks[] = { 3, 3, 9 }, label_sets[] = { 1, 2, 1 }, links[] = { 1, 0, 1 };
    int64_t values[] = { 1, 2, 3 };
    uint64_t counts[] = { 4, 5, 6 };
    struct headrow row = { .n_types = 1,
                           .n_samples = 3,
                           .stride = 3,
                           .stacks = stacks,
                           .values = values,
                           .n_links = 1,
                           .label_sets = label_sets,
                           .links = links,
                           .link_table = &link,
                           .counts = counts };
    struct link *back_links;
    uint32_t n_back;
    struct part part;

    if (trip_init(&trip, 1, err) < 0 || part_builder_add(trip.builder, &row, err) < 0 ||
        part_builder_add(trip.builder, &row, err) < 0 || trip_finish(&trip, err) < 0 ||
        trip_read(&trip, &part, err) < 0 || part_rows_check(part.rows, err) < 0 ||
        part_links_decode(buffer_slice(&trip.samples), trip.unpacker, &trip.arena, &back_links, &n_back, err) < 0)
        return -1;
    for (uint32_t i = 0; i < 2; i++) {
        struct headrow back;

        part_rows_get(part.rows, i, &back);
        row_check_equal(&back, &row);
    }
    return 0;
}

TEST(part_survives_any_allocation_failing)
{
    test_each_allocation_failing(write_and_read, NULL);
}

/* A row that could not be added is not there, and the next one is. */
TEST(part_builder_is_as_before_when_memory_runs_out)
{
    AUTO(trip_done) struct trip trip = { 0 };
    struct headrow rows[2], row;
    struct part part;
    struct error err;
    int result = -1;

    CHECK_OK(trip_init(&trip, 2, &err), &err);
    rows[0] = make_row(60, 1, 2, &trip.arena);
    rows[1] = make_row(60, 4, 2, &trip.arena);
    CHECK_OK(part_builder_add(trip.builder, &rows[0], &err), &err);
    for (uint64_t nth = 1; result < 0; nth++) {
        memory_fail_at(nth);
        result = part_builder_add(trip.builder, &rows[1], &err);
        memory_fail_at(0);
    }
    CHECK_OK(trip_finish(&trip, &err), &err);
    CHECK_OK(trip_read(&trip, &part, &err), &err);
    CHECK_EQ(part.windows.n_rows, 2);
    for (uint32_t i = 0; i < 2; i++) {
        part_rows_get(part.rows, i, &row);
        row_check_equal(&row, &rows[i]);
    }
}
