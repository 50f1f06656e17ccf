// SPDX-License-Identifier: Apache-2.0
#include "store/knownid.h"

#include "base/log.h"
#include "store/day_sample_test.h"

static const struct day_sample_profile profile = { .hour = 9.5, .n_stacks = 9, .id = "x" };
static const uint8_t id[16] = { 'x' };

static struct knownid find(struct day_sample *sample)
{
    struct knownid known = { 0 };
    struct error err;

    CHECK_OK(knownid_find(sample->day, day_find_tenant(sample->day, SLICE(STORE_TENANT_DEFAULT)), id, &known, &err),
             &err);
    return known;
}

static void delete_all(struct day_sample *sample)
{
    struct error err;

    CHECK_OK(day_delete(sample->day, SLICE(STORE_TENANT_DEFAULT), NULL, INT64_MIN, INT64_MAX, &err), &err);
}

TEST(knownid_is_known_until_all_rows_are_gone)
{
    struct day_sample sample;
    struct knownid first;

    day_sample_init(&sample);
    CHECK(!find(&sample).is_known && !find(&sample).is_forgotten);
    CHECK(day_sample_write(&sample, &profile));
    CHECK(find(&sample).is_known);
    delete_all(&sample);
    first = find(&sample);
    CHECK(!first.is_known && first.is_forgotten);
    day_sample_close_hours(&sample);
    CHECK(find(&sample).is_forgotten);
    CHECK(day_sample_write(&sample, &profile));
    CHECK(find(&sample).is_known);
    CHECK(!hash_equal(find(&sample).value, first.value));
    CHECK(!day_sample_write(&sample, &profile));
    day_sample_close_hours(&sample);
    day_sample_reopen(&sample);
    CHECK(find(&sample).is_known);
    day_sample_done(&sample);
}

TEST(knownid_stays_known_where_its_record_says_nothing)
{
    struct storekey key = storekey_profile_id(1, id);
    struct day_sample sample;
    struct buffer log;
    struct slice values[] = {
        SLICE(""),                     /* format 1.0 */
        SLICE("\x02rest"),             /* a later version */
        SLICE("\x01\x02"),             /* cut off */
        SLICE("\x01\x02\x00\x01\x01"), /* of another day */
    };

    buffer_init(&log, 0);
    log_capture(&log);
    day_sample_init(&sample);
    day_sample_write(&sample, &profile);
    delete_all(&sample);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        day_sample_put(&sample, KV_DEFAULT, storekey_slice(&key), values[i]);
        CHECK(find(&sample).is_known);
        CHECK(!day_sample_write(&sample, &profile));
    }
    CHECK(sample.context.n_damaged >= 3); /* counted each time; lines of the log may be held back */
    day_sample_done(&sample);
    log_capture(NULL);
    buffer_done(&log);
}

static int find_once(void *context, struct error *err)
{
    struct day_sample *sample = context;
    struct knownid known = { 0 };

    if (knownid_find(sample->day, 1, id, &known, err) < 0)
        return -1;
    CHECK(known.is_forgotten);
    return 0;
}

TEST(knownid_survives_failing_allocations)
{
    struct day_sample sample;

    day_sample_init(&sample);
    day_sample_write(&sample, &profile);
    delete_all(&sample);
    test_each_allocation_failing(find_once, &sample);
    day_sample_done(&sample);
}
