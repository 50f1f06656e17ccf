// SPDX-License-Identifier: Apache-2.0
#include "store/rowstream.h"

#include "base/log.h"
#include "store/day_sample_test.h"

/* What a walk over rows saw. */
struct seen {
    uint64_t n_rows, n_samples;
    int64_t total;            /* of all values of the first type */
    uint32_t tenants, series; /* bits */
    int64_t first_ns, last_ns;
};

static bool comes_behind(const struct rowstream_item *a, int64_t start_ns, uint32_t sequence,
                         const struct rowstream_item *b)
{
    if (b->tenant != a->tenant)
        return b->tenant > a->tenant;
    if (b->group != a->group)
        return b->group > a->group;
    if (b->series != a->series)
        return b->series > a->series;
    return b->row.start_ns > start_ns || (b->row.start_ns == start_ns && b->row.sequence > sequence);
}

static void see(struct seen *seen, const struct rowstream_item *item)
{
    seen->n_rows++;
    seen->n_samples += item->row.n_samples;
    for (uint32_t i = 0; i < item->row.n_samples; i++)
        seen->total += item->row.values[i];
    seen->tenants |= 1u << item->tenant;
    seen->series |= 1u << item->series;
    seen->first_ns = seen->first_ns ? MIN(seen->first_ns, item->row.start_ns) : item->row.start_ns;
    seen->last_ns = MAX(seen->last_ns, item->row.start_ns);
}

/* Walks the stream to its end; rows must come in the order of their keys. */
static int walk(struct rowmerge *merge, struct seen *seen, struct error *err)
{
    struct rowstream_item before = { 0 }, *item;
    int64_t start_ns = 0;
    uint32_t sequence = 0;

    *seen = (struct seen){ 0 };
    for (;;) {
        if (rowmerge_next(merge, &item, err) < 0)
            return -1;
        if (!item)
            return 0;
        CHECK(comes_behind(&before, start_ns, sequence, item));
        before = *item;
        start_ns = item->row.start_ns;
        sequence = item->row.sequence;
        see(seen, item);
    }
}

/* All open heads, or all closings of hour 7. */
static int read_rows(struct day_sample *sample, bool is_head, const struct rowstream_filter *filter, struct seen *seen,
                     struct error *err)
{
    struct rowstream *stream;
    struct rowmerge merge;
    struct day_view view;
    int result = day_view_open(sample->day, 0, &view, err);

    if (result < 0)
        return -1;
    rowmerge_init(&merge);
    for (size_t i = 0; is_head && !result && i < view.head_copies.n; i++) {
        result = rowstream_new_head(&view, &view.head_copies.items[i], filter, &stream, err);
        if (!result)
            result = rowmerge_add(&merge, stream, err);
    }
    for (size_t i = 0; !is_head && !result && i < view.markers.n; i++) {
        result = rowstream_new_block(&view, 7, view.markers.items[i].number, filter, &stream, err);
        if (!result)
            result = rowmerge_add(&merge, stream, err);
    }
    if (!result)
        result = walk(&merge, seen, err);
    rowmerge_done(&merge);
    day_view_close(&view);
    return result;
}

static struct seen rows_of(struct day_sample *sample, bool is_head, const struct rowstream_filter *filter)
{
    struct seen seen;
    struct error err;

    CHECK_OK(read_rows(sample, is_head, filter, &seen, &err), &err);
    return seen;
}

static void write_some(struct day_sample *sample)
{
    static const char *const instances[] = { "one", "two", "three" };

    for (unsigned i = 0; i < 30; i++)
        day_sample_write(sample, &(struct day_sample_profile){ .instance = instances[i % 3],
                                                               .tenant = i % 5 == 4 ? "other" : NULL,
                                                               .hour = 7 + (29 - i) / 30.0,
                                                               .first_stack = i,
                                                               .n_stacks = 1 + i,
                                                               .thread = "t",
                                                               .has_link = true });
}

TEST(rowstream_gives_the_rows_of_a_head_in_order)
{
    struct day_sample sample;
    struct seen seen;

    day_sample_init(&sample);
    write_some(&sample);
    seen = rows_of(&sample, true, NULL);
    CHECK_EQ(seen.n_rows, 30);
    CHECK_EQ(seen.n_samples, 30 * 31 / 2);
    CHECK_EQ(seen.tenants, 0x6);
    CHECK_EQ(seen.first_ns, day_sample_time(7));
    CHECK_EQ(seen.last_ns, day_sample_time(7 + 29 / 30.0));
    day_sample_done(&sample);
}

TEST(rowstream_gives_the_same_rows_when_the_hour_is_closed)
{
    struct seen open, closed;
    struct day_sample sample;

    day_sample_init(&sample);
    write_some(&sample);
    open = rows_of(&sample, true, NULL);
    day_sample_close_hours(&sample);
    CHECK_EQ(rows_of(&sample, true, NULL).n_rows, 0);
    closed = rows_of(&sample, false, NULL);
    CHECK_EQ(closed.n_rows, open.n_rows);
    CHECK_EQ(closed.n_samples, open.n_samples);
    CHECK_EQ(closed.total, open.total);
    CHECK_EQ(closed.tenants, open.tenants);
    CHECK_EQ(closed.series, open.series);
    CHECK_EQ(closed.first_ns, open.first_ns);
    CHECK_EQ(closed.last_ns, open.last_ns);
    day_sample_done(&sample);
}

TEST(rowstream_merges_late_rows_into_their_places)
{
    struct day_sample sample;

    day_sample_init(&sample);
    write_some(&sample);
    day_sample_close_hours(&sample);
    write_some(&sample);
    day_sample_close_hours(&sample);
    write_some(&sample);
    day_sample_close_hours(&sample);
    CHECK_EQ(rows_of(&sample, false, NULL).n_rows, 90);
    day_sample_done(&sample);
}

static bool wants_second(void *context, uint32_t tenant, uint32_t series)
{
    return tenant == *(uint32_t *)context && series == 2;
}

TEST(rowstream_leaves_out_what_is_not_wanted)
{
    for (unsigned is_closed = 0; is_closed < 2; is_closed++) {
        uint32_t tenant = 2;
        const struct rowstream_filter other = { .tenant = 2 }, early = { .until_ns = day_sample_time(7.5) },
                                      late = { .from_ns = day_sample_time(7.5) },
                                      second = { .wants = wants_second, .context = &tenant };
        struct day_sample sample;
        struct error err;

        day_sample_init(&sample);
        write_some(&sample);
        if (is_closed)
            day_sample_close_hours(&sample);
        tenant = day_find_tenant(sample.day, SLICE("other"));
        CHECK_EQ(rows_of(&sample, !is_closed, &other).tenants, 1u << 2);
        CHECK(rows_of(&sample, !is_closed, &early).last_ns < day_sample_time(7.5));
        CHECK_EQ(rows_of(&sample, !is_closed, &late).first_ns, day_sample_time(7.5));
        CHECK_EQ(rows_of(&sample, !is_closed, &early).n_rows + rows_of(&sample, !is_closed, &late).n_rows, 30);
        CHECK_EQ(rows_of(&sample, !is_closed, &second).n_rows, 2);
        CHECK_EQ(rows_of(&sample, !is_closed, &second).series, 1u << 2);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

/* Wants the rows of the second quarter of the hour, of all but the first tenant; counts how often it is asked. */
static int seek_quarter(void *context, struct rowstream_place *place, bool *ret_has, struct error *err)
{
    ++*(uint32_t *)context;
    *ret_has = true;
    if (place->tenant == 1)
        *place = (struct rowstream_place){ .tenant = 2, .start_ns = INT64_MIN };
    else if (place->start_ns < day_sample_time(7.25))
        place->start_ns = day_sample_time(7.25);
    else if (place->start_ns >= day_sample_time(7.5))
        *ret_has = rowstream_pass_series(place);
    return 0;
}

static int fail_to_seek(void *context, struct rowstream_place *place, bool *ret_has, struct error *err)
{
    return error_set(err, ERR_LIMIT, "no further");
}

TEST(rowstream_goes_where_it_is_sent)
{
    struct day_sample sample;
    struct error err;

    day_sample_init(&sample);
    write_some(&sample);
    for (unsigned is_sparse = 0; is_sparse < 2; is_sparse++) {
        uint32_t n_asked = 0;
        const struct rowstream_filter quarter = { .seek = seek_quarter, .context = &n_asked, .is_sparse = is_sparse };
        const struct rowstream_filter range = { .tenant = 2,
                                                .from_ns = day_sample_time(7.25),
                                                .until_ns = day_sample_time(7.5) };
        struct seen seen = rows_of(&sample, true, &quarter), wanted = rows_of(&sample, true, &range);

        CHECK(wanted.n_rows > 0);
        CHECK_EQ(seen.n_rows, wanted.n_rows);
        CHECK_EQ(seen.n_samples, wanted.n_samples);
        CHECK_EQ(seen.series, wanted.series);
        CHECK_EQ(seen.tenants, 1u << 2);
        /* Once for the first tenant, not for its rows; at most thrice for each series of the other. */
        CHECK(n_asked <= 1 + 3 * 3 + seen.n_rows);
    }
    CHECK_EQ(read_rows(&sample, true, &(struct rowstream_filter){ .seek = fail_to_seek }, &(struct seen){ 0 }, &err),
             -1);
    CHECK_TEXT(slice_from(err.text), "no further");
    day_sample_done(&sample);
}

/* The rows of a head by the list of recent ones: those that the view has. */
TEST(rowstream_gives_the_rows_of_a_list_as_far_as_the_view_has_them)
{
    struct day_sample sample;
    struct rowstream *stream;
    struct recents_list list;
    struct buffer key, value;
    struct day_view view;
    struct arena arena;
    struct error err;
    uint32_t n = 0;
    bool has;

    day_sample_init(&sample);
    sample.context.recent_bytes = 1 << 16;
    day_sample_reopen(&sample);
    arena_init(&arena, 0);
    write_some(&sample);
    CHECK_OK(day_view_open(sample.day, 1, &view, &err), &err);
    write_some(&sample);
    CHECK_OK(recents_find(&sample.day->recents, 0, 1, day_sample_time(7.25), &arena, &list, &err), &err);
    recents_sort(&list);
    CHECK_OK(rowstream_new_list(&view, &view.head_copies.items[0], &list, &stream, &err), &err);
    for (;; n++) {
        CHECK_OK(rowstream_next(stream, &has, &err), &err);
        if (!has)
            break;
        CHECK_EQ(rowstream_item(stream)->tenant, 1);
        CHECK(rowstream_item(stream)->row.start_ns >= day_sample_time(7.25));
        CHECK(rowstream_item(stream)->row.n_samples > 0);
    }
    rowstream_free(stream);
    CHECK_EQ(n, list.n / 2);
    CHECK(n > 10);
    day_view_close(&view);
    /* Damage is skipped and counted. */
    buffer_init(&key, 0);
    buffer_init(&value, 0);
    CHECK(day_sample_find(&sample, sample.day->heads.items[0].family, SLICE(""), &key, &value));
    day_sample_put(&sample, sample.day->heads.items[0].family, buffer_slice(&key), SLICE("x"));
    CHECK_OK(recents_find(&sample.day->recents, 0, 1, INT64_MIN, &arena, &list, &err), &err);
    recents_sort(&list);
    CHECK_OK(day_view_open(sample.day, 1, &view, &err), &err);
    CHECK_OK(rowstream_new_list(&view, &view.head_copies.items[0], &list, &stream, &err), &err);
    for (n = 0, has = true; has; n += has)
        CHECK_OK(rowstream_next(stream, &has, &err), &err);
    CHECK_EQ(n, list.n - 1);
    CHECK_EQ(sample.context.n_damaged, 1);
    rowstream_free(stream);
    day_view_close(&view);
    buffer_done(&key);
    buffer_done(&value);
    arena_done(&arena);
    day_sample_done(&sample);
}

TEST(rowstream_places_end_behind_the_last_one)
{
    struct rowstream_place place = { 1, UINT32_MAX, UINT32_MAX, 5 };

    CHECK(rowstream_pass_series(&place));
    CHECK_EQ(place.tenant, 2);
    CHECK_EQ(place.group, 0);
    CHECK_EQ(place.series, 0);
    CHECK_EQ(place.start_ns, INT64_MIN);
    place = (struct rowstream_place){ UINT32_MAX, UINT32_MAX, 4, 5 };
    CHECK(rowstream_pass_series(&place));
    CHECK_EQ(place.series, 5);
    CHECK(!rowstream_pass_group(&place));
}

static bool wants_none(void *context, uint32_t tenant, uint32_t series)
{
    (void)context;
    (void)tenant;
    (void)series;
    return false;
}

TEST(rowstream_passes_the_last_key_that_a_series_can_have)
{
    const struct rowstream_filter none = { .wants = wants_none };
    struct storekey key = storekey_row(1, 1, 1, INT64_MAX, UINT32_MAX);
    struct day_sample sample;

    day_sample_init(&sample);
    write_some(&sample);
    day_sample_put(&sample, sample.day->heads.items[0].family, storekey_slice(&key), SLICE(""));
    CHECK_EQ(rows_of(&sample, true, &none).n_rows, 0);
    day_sample_done(&sample);
}

/* --- damage --- */

static void check_damage(struct day_sample *sample, bool is_head, uint64_t n_left)
{
    const struct rowstream_filter strict = { .is_strict = true };
    uint64_t before = atomic_load(&sample->context.n_damaged);
    AUTO(buffer_done) struct buffer log;
    struct seen seen;
    struct error err;

    buffer_init(&log, 0);
    log_capture(&log);
    CHECK_EQ(rows_of(sample, is_head, NULL).n_rows, n_left);
    log_capture(NULL);
    CHECK_EQ(atomic_load(&sample->context.n_damaged), before + 1);
    CHECK_ERROR(read_rows(sample, is_head, &strict, &seen, &err), &err, ERR_CORRUPT);
}

TEST(rowstream_skips_damaged_rows_unless_it_must_not)
{
    struct storekey key = storekey_row(1, 1, 1, day_sample_time(7.1), 7000);
    struct day_sample sample;
    uint32_t family;

    day_sample_init(&sample);
    write_some(&sample);
    family = sample.day->heads.items[0].family;
    day_sample_put(&sample, family, storekey_slice(&key), SLICE("\x01rubbish"));
    check_damage(&sample, true, 30);
    day_sample_delete(&sample, family, storekey_slice(&key));
    day_sample_put(&sample, family, SLICE("short"), SLICE(""));
    check_damage(&sample, true, 30);
    day_sample_done(&sample);
}

TEST(rowstream_skips_damaged_parts_unless_it_must_not)
{
    static const enum storekey_kind kinds[] = { STOREKEY_WINDOWS, STOREKEY_SUMS, STOREKEY_SAMPLES };
    struct day_sample sample;

    day_sample_init(&sample);
    write_some(&sample);
    day_sample_close_hours(&sample);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct storekey prefix = storekey_block((struct storekey_block){ .hour = 7, .kind = kinds[i], .tenant = 1 });
        struct buffer key, value;

        buffer_init(&key, 0);
        buffer_init(&value, 0);
        CHECK(day_sample_find(&sample, sample.day->block_family, slice_of(prefix.bytes, 6), &key, &value));
        day_sample_put(&sample, sample.day->block_family, buffer_slice(&key), SLICE("\x01rubbish"));
        check_damage(&sample, false, 22);
        if (kinds[i] != STOREKEY_WINDOWS) {
            day_sample_delete(&sample, sample.day->block_family, buffer_slice(&key));
            check_damage(&sample, false, 22);
        }
        day_sample_put(&sample, sample.day->block_family, buffer_slice(&key), buffer_slice(&value));
        CHECK_EQ(rows_of(&sample, false, NULL).n_rows, 30);
        buffer_done(&key);
        buffer_done(&value);
    }
    day_sample_done(&sample);
}

static int read_all(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct seen seen;

    return read_rows(sample, true, NULL, &seen, err) < 0 ? -1 : read_rows(sample, false, NULL, &seen, err);
}

TEST(rowstream_survives_every_failing_allocation)
{
    struct day_sample sample;

    day_sample_init(&sample);
    write_some(&sample);
    day_sample_close_hours(&sample);
    write_some(&sample);
    test_each_allocation_failing(read_all, &sample);
    CHECK_EQ(sample.day->n_views, 0);
    day_sample_done(&sample);
}
