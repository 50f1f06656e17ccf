// SPDX-License-Identifier: Apache-2.0
#include "store/keeps.h"

#include "base/log.h"
#include "kv/kv_fixture_test.h"

static struct store_keep keep_of(const char *tenant, const char *name, const char *selector)
{
    return (struct store_keep){ .tenant = slice_from(tenant),
                                .name = slice_from(name),
                                .selector = slice_from(selector),
                                .from_ns = -5,
                                .until_ns = INT64_MAX,
                                .made_ns = 1763200000000000000 };
}

static void put(struct kv *meta, const char *tenant, const char *name, const char *selector)
{
    struct store_keep keep = keep_of(tenant, name, selector);
    struct error err;

    CHECK_OK(keeps_put(meta, &keep, &err), &err);
}

/* "tenant/name selector " of all, and "?" if there may be more. */
static const char *list(struct kv *meta)
{
    static char text[1024];
    struct keeps keeps;
    struct error err;

    text[0] = '\0';
    CHECK_OK(keeps_load(meta, &keeps, &err), &err);
    for (size_t i = 0; i < keeps.items.n; i++) {
        const struct keep *keep = &keeps.items.items[i];

        CHECK(keep->selector);
        CHECK_EQ(keep->from_ns, -5);
        CHECK_EQ(keep->until_ns, INT64_MAX);
        CHECK_EQ(keep->made_ns, 1763200000000000000);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s/%s %s ", keep->tenant, keep->name, keep->text);
    }
    if (keeps.is_unsure)
        strcat(text, "?");
    keeps_done(&keeps);
    return text;
}

TEST(keeps_are_put_listed_replaced_and_removed)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *meta = kv_fixture_open(shared, "meta", KV_WRITE);
    struct error err;

    CHECK_TEXT(list(meta), "");
    put(meta, "b", "v1", "{}");
    put(meta, "a", "v2", "{x=\"1\"}");
    put(meta, "a", "v1", "{}");
    put(meta, "a", "v2", "{x=\"2\"}");
    /* Neither tenant nor name runs into the other. */
    put(meta, "a", "bv1", "{}");
    put(meta, "ab", "v1", "{}");
    CHECK_TEXT(list(meta), "a/bv1 {} a/v1 {} a/v2 {x=\"2\"} ab/v1 {} b/v1 {} ");
    CHECK_OK(keeps_remove(meta, SLICE("a"), SLICE("v1"), &err), &err);
    CHECK_ERROR(keeps_remove(meta, SLICE("a"), SLICE("v1"), &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no range is kept under the name 'v1'");
    kv_close(meta);
    meta = kv_fixture_open(shared, "meta", KV_WRITE);
    CHECK_TEXT(list(meta), "a/bv1 {} a/v2 {x=\"2\"} ab/v1 {} b/v1 {} ");
    kv_close(meta);
    kv_shared_free(shared);
}

TEST(keeps_refuse_bad_names_ranges_and_selectors)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *meta = kv_fixture_open(shared, "meta", KV_WRITE);
    struct store_keep keep = keep_of("a", "", "{}");
    char name[300];
    struct error err;

    CHECK_ERROR(keeps_put(meta, &keep, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "a name of 1 to 256 bytes, such as v1.2.3");
    memset(name, 'x', sizeof(name));
    keep.name = slice_of(name, 257);
    CHECK_ERROR(keeps_put(meta, &keep, &err), &err, ERR_INVALID);
    keep.name = slice_of("a\0b", 3);
    CHECK_ERROR(keeps_put(meta, &keep, &err), &err, ERR_INVALID);
    keep.name = SLICE("ok");
    keep.until_ns = keep.from_ns;
    CHECK_ERROR(keeps_put(meta, &keep, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "ends before it begins");
    keep = keep_of("a", "ok", "{x=~\"(\"}");
    CHECK_ERROR(keeps_put(meta, &keep, &err), &err, ERR_INVALID);
    CHECK_TEXT(list(meta), "");
    kv_close(meta);
    kv_shared_free(shared);
}

TEST(keeps_that_are_damaged_are_left_out_and_told)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *meta = kv_fixture_open(shared, "meta", KV_WRITE);
    struct buffer log;

    put(meta, "a", "v1", "{}");
    put(meta, "c", "v1", "{}");
    kv_fixture_put(meta, KV_DEFAULT, "kb-without-an-end", "\1\1\2\3");
    kv_fixture_put(meta, KV_DEFAULT, "ka", "");
    kv_fixture_put(meta, KV_DEFAULT, "kb", "\2 of another version");
    kv_fixture_put(meta, KV_DEFAULT, "lost", "of no concern");
    buffer_init(&log, 0);
    log_capture(&log);
    CHECK_TEXT(list(meta), "a/v1 {} c/v1 {} ?");
    log_capture(NULL);
    CHECK_HAS(buffer_slice(&log), "a kept range cannot be read; nothing is forgotten until it is named again: ");
    buffer_done(&log);
    kv_close(meta);
    kv_shared_free(shared);
}

TEST(keeps_that_were_lost_are_missed_until_somebody_names_one)
{
    static const char words[] = "had been lost, and other ranges may be missing from it";
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *meta = kv_fixture_open(shared, "meta", KV_WRITE);
    struct buffer log;
    struct error err;

    buffer_init(&log, 0);
    log_capture(&log);
    CHECK_OK(keeps_note_lost(meta, &err), &err);
    CHECK_TEXT(list(meta), "?");
    kv_close(meta);
    meta = kv_fixture_open(shared, "meta", KV_WRITE);
    CHECK_TEXT(list(meta), "?");
    CHECK_TEXT(buffer_slice(&log), "");
    put(meta, "a", "v1", "{}");
    CHECK_TEXT(list(meta), "a/v1 {} ");
    CHECK_HAS(buffer_slice(&log), words);
    /* Once is enough. */
    buffer_clear(&log);
    put(meta, "a", "v2", "{}");
    CHECK_TEXT(buffer_slice(&log), "");
    CHECK_OK(keeps_remove(meta, SLICE("a"), SLICE("v2"), &err), &err);
    /* Or says that there are none. */
    CHECK_OK(keeps_note_lost(meta, &err), &err);
    CHECK_ERROR(keeps_remove(meta, SLICE("a"), SLICE("nothing"), &err), &err, ERR_NOT_FOUND);
    CHECK_TEXT(list(meta), "a/v1 {} ");
    CHECK_HAS(buffer_slice(&log), words);
    log_capture(NULL);
    buffer_done(&log);
    kv_close(meta);
    kv_shared_free(shared);
}

TEST(keeps_are_read_as_they_were_written_and_refused_when_cut)
{
    struct store_keep keep = keep_of("", "", "{x=\"1\"}"), read = { .made_ns = 9 };
    struct buffer bytes;
    struct error err;
    size_t fixed;

    buffer_init(&bytes, 0);
    keeps_encode(&keep, &bytes);
    fixed = bytes.len - keep.selector.len;
    CHECK_OK(keeps_decode(buffer_slice(&bytes), &read, &err), &err);
    CHECK_EQ(read.from_ns, keep.from_ns);
    CHECK_EQ(read.until_ns, keep.until_ns);
    CHECK_EQ(read.made_ns, keep.made_ns);
    CHECK_TEXT(read.selector, keep.selector);
    for (size_t len = 0; len < fixed; len++)
        CHECK_ERROR(keeps_decode(slice_of(bytes.data, len), &read, &err), &err, ERR_CORRUPT);
    CHECK_OK(keeps_decode(slice_of(bytes.data, fixed), &read, &err), &err);
    bytes.data[0] = 9;
    CHECK_ERROR(keeps_decode(buffer_slice(&bytes), &read, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "version 9, this program knows 1");
    buffer_done(&bytes);
}

static int put_and_load(void *context, struct error *err)
{
    struct store_keep keep = keep_of("a", "v1", "{x=~\"a.*\"}");
    struct keeps keeps;

    if (keeps_put(context, &keep, err) < 0 || keeps_load(context, &keeps, err) < 0)
        return -1;
    keeps_done(&keeps);
    return 0;
}

TEST(keeps_survive_failing_allocations)
{
    struct kv_shared *shared = kv_fixture_shared();
    struct kv *meta = kv_fixture_open(shared, "meta", KV_WRITE);

    test_each_allocation_failing(put_and_load, meta);
    CHECK_TEXT(list(meta), "a/v1 {x=~\"a.*\"} ");
    kv_close(meta);
    kv_shared_free(shared);
}
