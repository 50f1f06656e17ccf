// SPDX-License-Identifier: Apache-2.0
/* For tests of verify: a day, ways to damage its values, and what is told of it. */
#pragma once

#include "block/chunk.h"
#include "store/day_sample_test.h"
#include "store/verify.h"

/* What verify tells, line by line. */
struct verify_sample_findings {
    struct store_verify verify;
    struct buffer lines;
};

static inline void verify_sample_take_line(void *context, const char *line)
{
    struct verify_sample_findings *findings = context;

    buffer_printf(&findings->lines, "%s\n", line);
}

static inline void verify_sample_run(struct day_sample *sample, bool is_repairing,
                                     struct verify_sample_findings *findings)
{
    struct error err;

    *findings =
        (struct verify_sample_findings){ .verify = { .is_repairing = is_repairing, .tell = verify_sample_take_line } };
    findings->verify.context = findings;
    buffer_init(&findings->lines, 0);
    CHECK_OK(verify_day(sample->day, sample->quarantine, &findings->verify, &err), &err);
    buffer_append_byte(&findings->lines, '\0');
}

/* Checks that nothing is wrong. */
static inline void verify_sample_check_clean(struct day_sample *sample, uint64_t n_rows, uint64_t n_samples)
{
    struct verify_sample_findings findings;

    verify_sample_run(sample, false, &findings);
    CHECK_TEXT(findings.lines.data, "");
    CHECK_EQ(findings.verify.n_bad_values, 0);
    CHECK_EQ(findings.verify.n_bad_days, 0);
    CHECK_EQ(findings.verify.n_rows, n_rows);
    CHECK_EQ(findings.verify.n_samples, n_samples);
    CHECK(findings.verify.n_values > n_rows / 60);
    buffer_done(&findings.lines);
}

/* Checks that `words` and nothing else is wrong, that repairing mends it, and that all is well then, with what
 * is left. */
static inline void verify_sample_check_mends(struct day_sample *sample, const char *words, uint64_t n_rows,
                                             uint64_t n_samples)
{
    struct verify_sample_findings findings;

    verify_sample_run(sample, false, &findings);
    CHECK_HAS(findings.lines.data, DAY_SAMPLE_NAME ": ");
    CHECK_HAS(findings.lines.data, words);
    CHECK_EQ(findings.verify.n_bad_values, 1);
    CHECK_EQ(findings.verify.n_repaired, 0);
    buffer_done(&findings.lines);

    verify_sample_run(sample, true, &findings);
    CHECK_HAS(findings.lines.data, words);
    CHECK_EQ(findings.verify.n_bad_values, 1);
    CHECK_EQ(findings.verify.n_repaired, 1);
    CHECK_EQ(findings.verify.n_bad_days, 0);
    buffer_done(&findings.lines);

    verify_sample_check_clean(sample, n_rows, n_samples);
    day_sample_reopen(sample);
    verify_sample_check_clean(sample, n_rows, n_samples);
}

static inline struct slice verify_sample_block_prefix(char kind, uint32_t tenant, uint32_t group)
{
    static struct storekey key;

    key = storekey_block(
        (struct storekey_block){ .hour = 7, .kind = (enum storekey_kind)kind, .tenant = tenant, .group = group });
    return slice_of(key.bytes, group ? 10 : 6);
}

/* A value found by its prefix, to be changed. */
struct verify_sample_found {
    uint32_t family;
    struct buffer key, value;
};

static inline void verify_sample_find_value(struct day_sample *sample, uint32_t family, struct slice prefix,
                                            struct verify_sample_found *found)
{
    found->family = family;
    buffer_init(&found->key, 0);
    buffer_init(&found->value, 0);
    CHECK(day_sample_find(sample, family, prefix, &found->key, &found->value));
}

static inline void verify_sample_put_found(struct day_sample *sample, struct verify_sample_found *found)
{
    day_sample_put(sample, found->family, buffer_slice(&found->key), buffer_slice(&found->value));
    buffer_done(&found->key);
    buffer_done(&found->value);
}

static inline void verify_sample_flip_value(struct day_sample *sample, uint32_t family, struct slice prefix)
{
    struct verify_sample_found found;

    verify_sample_find_value(sample, family, prefix, &found);
    found.value.data[found.value.len * 2 / 3] ^= 0x10;
    verify_sample_put_found(sample, &found);
}

static inline void verify_sample_remove_value(struct day_sample *sample, uint32_t family, struct slice prefix)
{
    struct verify_sample_found found;

    verify_sample_find_value(sample, family, prefix, &found);
    day_sample_delete(sample, family, buffer_slice(&found.key));
    buffer_done(&found.key);
    buffer_done(&found.value);
}

static inline void verify_sample_begin(struct day_sample *sample)
{
    day_sample_init(sample);
    day_sample_fill(sample);
}

/* Groups and series of the sample, in the order in which they were made. */
enum { DEFAULT = 1, OTHER = 2, API = 1, WEB = 3 };

static inline uint32_t verify_sample_head_family(const struct day_sample *sample)
{
    for (size_t i = 0; i < sample->day->heads.n; i++)
        if (!sample->day->heads.items[i].is_covered)
            return sample->day->heads.items[i].family;
    return KV_NO_FAMILY;
}
