// SPDX-License-Identifier: Apache-2.0
/* The index: verify_names.c. */
#include "store/verify_sample_test.h"

/* --- names --- */

static struct slice chunk_prefix(enum chunk_kind kind)
{
    static struct storekey key;

    key = storekey_chunk(DEFAULT, (uint8_t)kind, 0);
    return slice_of(key.bytes, 6);
}

TEST(verify_mends_a_cut_chunk_and_keeps_what_can_be_read)
{
    for (enum chunk_kind kind = CHUNK_STRING; kind < CHUNK_KINDS; kind++) {
        struct chunk_reader before, after;
        struct day_sample sample;
        struct verify_sample_found found, mended;
        struct slice text;
        char words[80];
        struct error err;

        /* There are no mappings in the sample. */
        if (kind == CHUNK_MAPPING)
            continue;
        verify_sample_begin(&sample);
        verify_sample_find_value(&sample, KV_DEFAULT, chunk_prefix(kind), &found);
        CHECK_OK(chunk_reader_init(&before, kind, buffer_slice(&found.value), &err), &err);
        found.value.len--;
        verify_sample_put_found(&sample, &found);
        snprintf(words, sizeof(words), "tenant 'anonymous': the chunk of %s entries at 1", chunk_kind_name(kind));
        verify_sample_check_mends(&sample, words, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);

        verify_sample_find_value(&sample, KV_DEFAULT, chunk_prefix(kind), &mended);
        CHECK_OK(chunk_reader_init(&after, kind, buffer_slice(&mended.value), &err), &err);
        CHECK_EQ(after.n, before.n);
        if (kind == CHUNK_STRING) {
            CHECK_OK(chunk_next_string(&after, &text, &err), &err);
            CHECK(!slice_is(text, "[missing]"));
            while (after.at < after.n)
                CHECK_OK(chunk_next_string(&after, &text, &err), &err);
            CHECK_TEXT(text, "[missing]");
        }
        verify_sample_put_found(&sample, &mended);
        day_sample_done(&sample);
        CHECK_OK(fs_remove_tree(test_directory(), &err), &err);
    }
}

TEST(verify_replaces_a_chunk_without_a_header_so_that_no_id_is_given_twice)
{
    struct day_sample sample;
    struct verify_sample_found found;
    uint32_t next;

    verify_sample_begin(&sample);
    next = sample.day->tenants.items[0].loaded->dictionary.next_ids[CHUNK_STACK];
    day_sample_reopen(&sample);
    /* All chunks of stacks, the last of them first. */
    for (uint32_t first = next; first > 0; first--) {
        struct storekey key = storekey_chunk(DEFAULT, CHUNK_STACK, first);

        buffer_init(&found.key, 0);
        buffer_init(&found.value, 0);
        if (day_sample_find(&sample, KV_DEFAULT, storekey_slice(&key), &found.key, &found.value)) {
            found.family = KV_DEFAULT;
            found.value.data[0] = 99;
            verify_sample_put_found(&sample, &found);
            verify_sample_check_mends(&sample, "the chunk of stack entries at ", DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
        } else {
            buffer_done(&found.key);
            buffer_done(&found.value);
        }
    }
    day_sample_write(&sample, &(struct day_sample_profile){ .hour = 9.75, .first_stack = 900, .n_stacks = 1 });
    CHECK(sample.day->tenants.items[0].loaded->dictionary.next_ids[CHUNK_STACK] > next);
    day_sample_done(&sample);
}

TEST(verify_gives_entries_to_what_is_named_and_missing)
{
    struct day_sample sample;
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
    verify_sample_remove_value(&sample, KV_DEFAULT, chunk_prefix(CHUNK_LABEL_SET));
    verify_sample_run(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "hour 07 of tenant 'anonymous': the part of series 1, closing 0, part 0 names ");
    CHECK_HAS(findings.lines.data, "entries that are not in the dictionary; the first is label set 1");
    buffer_done(&findings.lines);
    verify_sample_run(&sample, true, &findings);
    CHECK(findings.verify.n_bad_values > 0);
    CHECK_EQ(findings.verify.n_repaired, findings.verify.n_bad_values);
    buffer_done(&findings.lines);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}

TEST(verify_finds_chunks_that_overlap)
{
    struct storekey key = storekey_chunk(DEFAULT, CHUNK_STRING, 2);
    struct day_sample sample;
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
    day_sample_put(&sample, KV_DEFAULT, storekey_slice(&key), SLICE("\x01\x01\x01x"));
    verify_sample_run(&sample, false, &findings);
    CHECK_HAS(findings.lines.data, "the chunk of string entries at 2 has ids that are not its own");
    CHECK_EQ(findings.verify.n_bad_values, 1);
    buffer_done(&findings.lines);
    day_sample_done(&sample);
}

TEST(verify_sets_a_damaged_series_aside_with_its_rows)
{
    struct storekey key = storekey_series(DEFAULT, WEB);
    struct day_sample sample;
    struct verify_sample_findings findings;
    struct verify_sample_found found;

    verify_sample_begin(&sample);
    day_sample_delete(&sample, sample.day->block_family, SLICE("\xffs\0\0\0\1\0\0\0\3")); /* its copy */
    verify_sample_find_value(&sample, KV_DEFAULT, storekey_slice(&key), &found);
    found.value.len /= 2;
    verify_sample_put_found(&sample, &found);
    verify_sample_run(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "tenant 'anonymous': series 3: ");
    CHECK_HAS(findings.lines.data, "the rows of series 3, closing 0, part 0: there is no such series");
    CHECK_EQ(findings.verify.n_bad_values, 2);
    CHECK_EQ(findings.verify.n_repaired, 2);
    buffer_done(&findings.lines);
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS - 5, DAY_SAMPLE_SAMPLES - 15);
    day_sample_done(&sample);
}

TEST(verify_finds_strangers_in_the_index)
{
    static const struct {
        struct slice key, value;
        const char *words;
    } strangers[] = {
        { SLICE("zebra"), SLICE(""), "a key of the index is of no known kind" },
        { SLICE("g\0\0\0\1"), SLICE("12345"), "the generation of a dictionary is damaged" },
        { SLICE("i\0\0\0\1short"), SLICE(""), "a profile id is damaged" },
        { SLICE("t\0\0\0\1\0\0\0\1"), SLICE("\1\0\0\0\0\7"), "a tombstone is cut off or damaged" },
        { SLICE("s\0\0\0\7\0\0\0\1"), SLICE("x"), "a key of the index belongs to no tenant" },
        { SLICE("d\0\0\0\1\6"), SLICE("x"), "a key of the dictionary is damaged" },
        { SLICE("n\0\0\0\0"), SLICE("nobody"), "the name of a tenant is damaged" },
    };
    struct day_sample sample;
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
        day_sample_put(&sample, KV_DEFAULT, strangers[i].key, strangers[i].value);
        verify_sample_run(&sample, true, &findings);
        CHECK_HAS(findings.lines.data, strangers[i].words);
        CHECK_EQ(findings.verify.n_bad_values, 1);
        CHECK_EQ(findings.verify.n_repaired, 1);
        buffer_done(&findings.lines);
        verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    }
    day_sample_done(&sample);
}

TEST(verify_tells_what_is_too_large_to_read_and_leaves_it)
{
    struct day_sample sample;
    struct verify_sample_findings findings;

    verify_sample_begin(&sample);
    sample.context.read_bytes = 8 << 10;
    verify_sample_run(&sample, true, &findings);
    CHECK_HAS(findings.lines.data, "the rows of series 1, closing 0, part 0: ");
    CHECK(findings.verify.n_bad_values > 0);
    CHECK_EQ(findings.verify.n_repaired, 0);
    buffer_done(&findings.lines);
    sample.context.read_bytes = 32 << 20;
    verify_sample_check_clean(&sample, DAY_SAMPLE_ROWS, DAY_SAMPLE_SAMPLES);
    day_sample_done(&sample);
}
