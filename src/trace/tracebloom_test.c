// SPDX-License-Identifier: Apache-2.0
#include "trace/tracebloom.h"

#include "base/memory.h"
#include "trace/tracesample_test.h"

#include <stdio.h>

static bool may_have(const struct buffer *bytes, const char *key, const char *value)
{
    struct span_attribute wanted = { slice_from(key), { SPAN_VALUE_TEXT, .text = slice_from(value) } };
    struct tracestore_filter filter = { .attributes = &wanted, .n_attributes = 1 };

    return tracebloom_may_have(buffer_slice(bytes), &filter);
}

static void add_attributes(struct tracebloom *bloom, const struct span_attribute *attributes, uint32_t n)
{
    struct span span = tracesample_span(1, 1, 0, 5, 5);

    span.attributes = (struct span_attributes){ attributes, n, 0 };
    tracebloom_add_span(bloom, &span);
}

TEST(tracebloom_has_all_that_was_added_by_what_it_looks_like)
{
    struct span_attribute attributes[] = {
        { SLICE("text"), { SPAN_VALUE_TEXT, .text = SLICE("ann") } },
        { SLICE("int"), { SPAN_VALUE_INT, .integer = -5 } },
        { SLICE("real"), { SPAN_VALUE_DOUBLE, .real = 1.5 } },
        { SLICE("zero"), { SPAN_VALUE_DOUBLE, .real = -0.0 } },
        { SLICE("bool"), { SPAN_VALUE_BOOL, .integer = 1 } },
        { SLICE("bytes"), { SPAN_VALUE_BYTES, .text = SLICE("\1\2\377") } },
        { SLICE("json"), { SPAN_VALUE_JSON, .text = SLICE("[1]") } },
        { SLICE("empty"), { SPAN_VALUE_EMPTY, .integer = 0 } },
    };
    struct error err;
    struct tracebloom *bloom = MEMORY_NEW(struct tracebloom, &err);
    struct buffer bytes;

    CHECK(bloom != NULL);
    buffer_init(&bytes, 0);
    add_attributes(bloom, attributes, ARRAY_LEN(attributes));
    tracebloom_encode(bloom, &bytes);
    CHECK_EQ(bytes.len, 65);
    CHECK(may_have(&bytes, "text", "ann") && may_have(&bytes, "text", ""));
    CHECK(may_have(&bytes, "int", "-5") && may_have(&bytes, "real", "1.50") && may_have(&bytes, "zero", "0"));
    CHECK(may_have(&bytes, "bool", "true") && may_have(&bytes, "bytes", "AQL/") && may_have(&bytes, "json", "[1]"));
    CHECK(may_have(&bytes, "empty", ""));
    CHECK(may_have(&bytes, "host", "a") && may_have(&bytes, "cores", "8"));
    CHECK(!may_have(&bytes, "text", "bob") && !may_have(&bytes, "int", "5") && !may_have(&bytes, "nothing", ""));
    buffer_done(&bytes);
    memory_free(bloom);
}

TEST(tracebloom_is_wrong_seldom_and_never_about_what_is_there)
{
    struct error err;
    struct tracebloom *bloom = MEMORY_NEW(struct tracebloom, &err);
    struct buffer bytes;
    char text[32];
    unsigned n_wrong = 0;

    CHECK(bloom != NULL);
    buffer_init(&bytes, 0);
    for (unsigned i = 0; i < 20000; i++) {
        struct span_attribute attribute = { SLICE("user"), { SPAN_VALUE_TEXT } };

        snprintf(text, sizeof(text), "user-%u", i);
        attribute.value.text = slice_from(text);
        add_attributes(bloom, &attribute, 1);
    }
    tracebloom_encode(bloom, &bytes);
    CHECK(bytes.len <= TRACEBLOOM_MAX_BYTES / 2 + 1);
    for (unsigned i = 0; i < 40000; i++) {
        snprintf(text, sizeof(text), "user-%u", i);
        if (i < 20000)
            CHECK(may_have(&bytes, "user", text));
        else
            n_wrong += may_have(&bytes, "user", text);
    }
    CHECK(n_wrong < 1000);
    buffer_done(&bytes);
    memory_free(bloom);
}

TEST(tracebloom_knows_what_is_no_filter)
{
    struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    CHECK_ERROR(tracebloom_check(buffer_slice(&bytes), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no bytes");
    for (unsigned i = 0; i < 200; i++) {
        buffer_append_byte(&bytes, i == 0 ? 1 : 0);
        if (bytes.len == 65 || bytes.len == 129)
            CHECK_OK(tracebloom_check(buffer_slice(&bytes), &err), &err);
        else
            CHECK_ERROR(tracebloom_check(buffer_slice(&bytes), &err), &err, ERR_CORRUPT);
    }
    CHECK_HAS(err.text, "has 199 bytes, allowed are powers of two of 64 to 65536");
    bytes.data[0] = 2;
    CHECK_ERROR(tracebloom_check(buffer_slice(&bytes), &err), &err, ERR_VERSION);
    buffer_done(&bytes);
}
