// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kv/kv_fixture_test.h"
#include "kv/kv_internal.h"
#include "pack/varint.h"

enum { HEADER_BYTES = 7, LENGTH_AT = 4 };

/* The families as "id name", those that were dropped with a "-", those that are new with a "+". */
static const char *tell(const struct kv_roster *roster)
{
    static char text[512];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < roster->families.n; i++) {
        const struct kv_roster_family *family = &roster->families.items[i];

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%u %s", i ? ", " : "", family->is_new ? "+" : "",
                                family->is_dropped ? "-" : "", family->id, family->name);
    }
    return text;
}

/* A database with two heads, after one was dropped, that has some of everything in its manifest; its path. */
static const char *make_manifest(void)
{
    static char path[KV_PATH_BYTES];
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    uint32_t first, second;
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-07-0", &first, &err), &err);
    kv_fixture_put(kv, first, "row", "value");
    CHECK_OK(kv_flush(kv, first, &err), &err);
    CHECK_OK(kv_family_drop(kv, first, &err), &err);
    CHECK_OK(kv_family_create(kv, "head-07-1", &second, &err), &err);
    CHECK_OK(kv_family_create(kv, "head-08-0", &second, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        kv_fixture_put(kv, KV_DEFAULT, "a", "value");
        kv_fixture_put(kv, second, "row", "value");
        CHECK_OK(kv_flush(kv, KV_NO_FAMILY, &err), &err);
        CHECK_OK(kv_compact(kv, KV_DEFAULT, &err), &err);
    }
    kv_close(kv);
    kv_shared_free(shared);
    CHECK_OK(kv_records_find_manifest(kv_fixture_path("day"), path, &err), &err);
    return path;
}

static const char *read_manifest(const char *path)
{
    struct kv_roster roster;
    const char *text;
    struct error err;

    kv_roster_init(&roster);
    CHECK_OK(kv_roster_read_manifest(&roster, path, &err), &err);
    text = tell(&roster);
    kv_roster_done(&roster);
    return text;
}

TEST(kv_roster_has_the_families_that_a_manifest_adds_and_drops)
{
    CHECK_TEXT(read_manifest(make_manifest()), "1 block, -2 head-07-0, 3 head-07-1, 4 head-08-0");
}

TEST(kv_roster_lacks_one_thing_at_most_where_one_record_is_damaged)
{
    static const char *const whole = "1 block, -2 head-07-0, 3 head-07-1, 4 head-08-0";
    static const char *const others[] = {
        "-2 head-07-0, 3 head-07-1, 4 head-08-0",
        "1 block, -2 , 3 head-07-1, 4 head-08-0",
        "1 block, 2 head-07-0, 3 head-07-1, 4 head-08-0",
        "1 block, -2 head-07-0, 4 head-08-0",
        "1 block, -2 head-07-0, 3 head-07-1",
    };
    const char *path = make_manifest();
    AUTO(buffer_done) struct buffer content;
    unsigned n_met[ARRAY_LEN(others)] = { 0 }, n_whole = 0;
    struct error err;

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    for (size_t at = 0; at < content.len; at += HEADER_BYTES + bytes_get_le16(content.data + at + LENGTH_AT)) {
        const char *text;
        bool is_known = false;

        content.data[at] ^= 1;
        CHECK_OK(fs_write_file(path, buffer_slice(&content), &err), &err);
        content.data[at] ^= 1;
        text = read_manifest(path);
        n_whole += strcmp(text, whole) == 0;
        is_known = strcmp(text, whole) == 0;
        for (unsigned i = 0; i < ARRAY_LEN(others); i++) {
            n_met[i] += strcmp(text, others[i]) == 0;
            is_known |= strcmp(text, others[i]) == 0;
        }
        if (!is_known)
            test_fail(__FILE__, __LINE__, "the record at byte %zu: %s", at, text);
    }
    CHECK(n_whole > 5);
    for (unsigned i = 0; i < ARRAY_LEN(others); i++)
        CHECK_EQ(n_met[i], 1);
}

/* --- records made by hand --- */

static void append_text(struct buffer *out, const char *text)
{
    varint_append(out, strlen(text));
    buffer_append_text(out, text);
}

static void append_number(struct buffer *out, uint64_t tag, uint64_t number)
{
    varint_append(out, tag);
    varint_append(out, number);
}

/* A record that adds a family, or drops it (name NULL). */
static void append_family(struct buffer *manifest, uint32_t id, const char *name)
{
    AUTO(buffer_done) struct buffer edit;

    buffer_init(&edit, 0);
    append_number(&edit, 200, id);
    varint_append(&edit, name ? 201 : 202);
    if (name)
        append_text(&edit, name);
    kv_records_append(manifest, buffer_slice(&edit));
}

static void read_records(struct kv_roster *roster, const struct buffer *records)
{
    const char *path = kv_fixture_path("records");
    struct error err;

    CHECK_OK(fs_write_file(path, buffer_slice(records), &err), &err);
    kv_roster_init(roster);
    CHECK_OK(kv_roster_read_manifest(roster, path, &err), &err);
}

TEST(kv_roster_knows_that_the_first_of_two_with_one_name_was_dropped)
{
    AUTO(buffer_done) struct buffer manifest;
    struct kv_roster roster;

    buffer_init(&manifest, 0);
    append_family(&manifest, 1, "head-07-0");
    append_family(&manifest, 5, "head-07-0");
    read_records(&roster, &manifest);
    CHECK_TEXT(tell(&roster), "-1 head-07-0, 5 head-07-0");
    kv_roster_done(&roster);
}

TEST(kv_roster_takes_nothing_from_a_record_that_it_cannot_follow)
{
    AUTO(buffer_done) struct buffer manifest;
    AUTO(buffer_done) struct buffer edit;
    struct kv_roster roster;

    buffer_init(&manifest, 0);
    buffer_init(&edit, 0);
    /* What may be ignored is; what must be understood is not. */
    append_number(&edit, 8195, 0);
    append_number(&edit, 200, 7);
    varint_append(&edit, 201);
    append_text(&edit, "known");
    kv_records_append(&manifest, buffer_slice(&edit));
    append_number(&edit, 404, 0);
    kv_records_append(&manifest, buffer_slice(&edit));
    for (size_t len = 0; len < edit.len - 3; len++) {
        AUTO(buffer_done) struct buffer cut;

        buffer_init(&cut, 0);
        kv_records_append(&cut, slice_of(edit.data, len));
        read_records(&roster, &cut);
        CHECK_TEXT(tell(&roster), "");
        kv_roster_done(&roster);
    }
    /* An id that no family has. */
    buffer_clear(&edit);
    append_number(&edit, 200, (uint64_t)1 << 32);
    varint_append(&edit, 202);
    kv_records_append(&manifest, buffer_slice(&edit));
    read_records(&roster, &manifest);
    CHECK_TEXT(tell(&roster), "7 known");
    kv_roster_done(&roster);
}

TEST(kv_roster_merges_what_another_knows)
{
    AUTO(buffer_done) struct buffer manifest;
    struct kv_roster now, before;
    struct error err;

    buffer_init(&manifest, 0);
    append_family(&manifest, 1, "block");
    append_family(&manifest, 2, "head-07-0");
    append_family(&manifest, 3, "head-08-0");
    read_records(&now, &manifest);
    append_family(&manifest, 2, NULL);
    append_family(&manifest, 4, "head-09-0");
    append_family(&manifest, 5, "head-10-0");
    append_family(&manifest, 5, NULL);
    append_family(&manifest, 3, NULL);
    append_family(&manifest, 6, "head-08-0");
    read_records(&before, &manifest);
    CHECK_OK(kv_roster_merge(&now, &before, &err), &err);
    CHECK_TEXT(tell(&now), "1 block, -2 head-07-0, -3 head-08-0, +4 head-09-0, +-5 head-10-0, +6 head-08-0");
    kv_roster_done(&now);
    /* A name that is taken: whoever has that number must be called something else. */
    buffer_clear(&manifest);
    append_family(&manifest, 9, "head-09-0");
    read_records(&now, &manifest);
    CHECK_OK(kv_roster_merge(&now, &before, &err), &err);
    CHECK_TEXT(tell(&now), "9 head-09-0, +1 block, +-2 head-07-0, +-3 head-08-0, +-5 head-10-0, +6 head-08-0");
    kv_roster_done(&now);
    kv_roster_done(&before);
}

/* --- logs --- */

/* Names families by keys that say so. */
static bool name_by_key(void *context, uint32_t id, struct slice key, char ret_name[static KV_NAME_BYTES])
{
    if (!slice_starts_with(key, SLICE("of-")))
        return false;
    snprintf(ret_name, KV_NAME_BYTES, "%.*s-%u", (int)key.len - 3, key.ptr + 3, id);
    return true;
}

static const struct kv_namer by_key = { NULL, name_by_key };

/* A log with writes of all sorts to the default family and three others. */
static void make_log(void)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *kv = kv_fixture_open(shared, "day", KV_WRITE);
    struct kv_batch *batch;
    uint32_t heads[2];
    struct error err;

    CHECK_OK(kv_family_create(kv, "head-07-0", &heads[0], &err), &err);
    CHECK_OK(kv_family_create(kv, "head-08-0", &heads[1], &err), &err);
    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, kv, KV_DEFAULT, SLICE("of-default"), SLICE("value"));
    kv_batch_delete(batch, kv, KV_DEFAULT, SLICE("x"));
    kv_batch_delete_range(batch, kv, KV_DEFAULT, SLICE("y"), SLICE("z"));
    kv_batch_delete(batch, kv, heads[0], SLICE("of-deletions"));
    kv_batch_delete_range(batch, kv, heads[0], SLICE("of-ranges"), SLICE("z"));
    kv_batch_put(batch, kv, heads[0], SLICE("says nothing"), SLICE("value"));
    kv_batch_put(batch, kv, heads[0], SLICE("of-seven"), SLICE("value"));
    kv_batch_put(batch, kv, heads[0], SLICE("of-other"), SLICE("value"));
    kv_batch_put(batch, kv, 1, SLICE("says nothing"), SLICE("value"));
    CHECK_OK(kv_write(kv, batch, false, &err), &err);
    kv_batch_free(batch);
    kv_fixture_put(kv, heads[1], "of-eight", "value");
    kv_close(kv);
    kv_shared_free(shared);
}

TEST(kv_roster_has_families_of_the_log_by_the_keys_that_were_written)
{
    AUTO(buffer_done) struct buffer nothing;
    struct kv_roster roster;
    struct error err;

    make_log();
    buffer_init(&nothing, 0);
    read_records(&roster, &nothing);
    CHECK_OK(kv_roster_read_logs(&roster, kv_fixture_path("day"), &by_key, &err), &err);
    CHECK_TEXT(tell(&roster), "+2 seven-2, +3 eight-3");
    CHECK_ERROR(kv_roster_read_logs(&roster, kv_fixture_path("none"), &by_key, &err), &err, ERR_NOT_FOUND);
    kv_roster_done(&roster);

    append_family(&nothing, 2, "head-07-0");
    append_family(&nothing, 9, "eight-3");
    read_records(&roster, &nothing);
    CHECK_OK(kv_roster_read_logs(&roster, kv_fixture_path("day"), &by_key, &err), &err);
    CHECK_TEXT(tell(&roster), "2 head-07-0, 9 eight-3");
    kv_roster_done(&roster);
}

/* --- writing, memory --- */

TEST(kv_roster_adds_to_a_manifest_what_it_lacks)
{
    AUTO(buffer_done) struct buffer manifest;
    struct kv_roster roster, before;
    struct error err;

    buffer_init(&manifest, 0);
    append_family(&manifest, 1, "block");
    append_family(&manifest, 2, "head-07-0");
    append_family(&manifest, 2, NULL);
    append_family(&manifest, 3, "head-08-0");
    append_family(&manifest, 3, NULL);
    append_family(&manifest, 4, "head-09-0");
    read_records(&before, &manifest);
    buffer_clear(&manifest);
    append_family(&manifest, 1, "block");
    append_family(&manifest, 2, "head-07-0");
    read_records(&roster, &manifest);
    CHECK_OK(kv_roster_merge(&roster, &before, &err), &err);
    CHECK_OK(kv_roster_write(&roster, kv_fixture_path("records"), &err), &err);
    CHECK_TEXT(read_manifest(kv_fixture_path("records")), "1 block, -2 head-07-0, 4 head-09-0");
    CHECK_ERROR(kv_roster_write(&roster, kv_fixture_path("none"), &err), &err, ERR_NOT_FOUND);
    kv_roster_done(&roster);
    kv_roster_done(&before);
}

static int read_all(void *context, struct error *err)
{
    const struct kv_roster *before = context;
    struct kv_roster roster;
    int result;

    kv_roster_init(&roster);
    result = kv_roster_read_manifest(&roster, kv_fixture_path("records"), err);
    if (!result)
        result = kv_roster_merge(&roster, before, err);
    if (!result)
        result = kv_roster_read_logs(&roster, kv_fixture_path("day"), &by_key, err);
    if (!result)
        result = kv_roster_write(&roster, kv_fixture_path("records"), err);
    kv_roster_done(&roster);
    return result;
}

TEST(kv_roster_survives_running_out_of_memory)
{
    AUTO(buffer_done) struct buffer manifest;
    struct kv_roster before, written;

    make_log();
    buffer_init(&manifest, 0);
    append_family(&manifest, 9, "head-10-0");
    read_records(&before, &manifest);
    buffer_clear(&manifest);
    append_family(&manifest, 1, "block");
    read_records(&written, &manifest);
    kv_roster_done(&written);
    test_each_allocation_failing(read_all, &before);
    kv_roster_done(&before);
}
