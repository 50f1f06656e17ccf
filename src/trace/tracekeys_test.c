// SPDX-License-Identifier: Apache-2.0
#include "trace/tracekeys.h"

#include "trace/tracesample_test.h"

static struct slice row_of(struct buffer *into, const char *tenant, const struct span *span)
{
    buffer_clear(into);
    tracekeys_put_row(into, slice_from(tenant), span);
    return buffer_slice(into);
}

TEST(tracekeys_rows_sort_by_tenant_slot_trace_and_span)
{
    struct span first = tracesample_span(3, 9, 0, TRACESAMPLE_DAY, 1);
    struct span later_slot = tracesample_span(0, 1, 0, TRACESAMPLE_DAY + SPANROW_SLOT_NS, 1);
    struct span other_trace = tracesample_span(6, 1, 0, TRACESAMPLE_DAY + 5, 1);
    struct buffer a, b;

    buffer_init(&a, TRACEKEYS_MAX_BYTES);
    buffer_init(&b, TRACEKEYS_MAX_BYTES);
    CHECK(slice_compare(row_of(&a, "t", &first), row_of(&b, "t", &later_slot)) < 0);
    CHECK(slice_compare(row_of(&a, "t", &first), row_of(&b, "t", &other_trace)) < 0);
    CHECK(slice_compare(row_of(&a, "t", &later_slot), row_of(&b, "tt", &first)) < 0);
    CHECK(slice_compare(row_of(&a, "", &later_slot), row_of(&b, "t", &first)) < 0);
    buffer_done(&a);
    buffer_done(&b);
}

TEST(tracekeys_of_copies_are_the_same_and_of_others_not)
{
    struct span span = tracesample_span(3, 9, 0, TRACESAMPLE_DAY, 1), other = span;
    struct buffer a, b;

    buffer_init(&a, TRACEKEYS_MAX_BYTES);
    buffer_init(&b, TRACEKEYS_MAX_BYTES);
    row_of(&a, "t", &span);
    CHECK(slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    other.duration_ns++;
    CHECK(!slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    other = span;
    other.start_ns++;
    CHECK(!slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    other = span;
    other.status = SPAN_ERROR;
    CHECK(!slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    other = span;
    other.name = SLICE("x");
    CHECK(!slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    other = span;
    other.parent_id[0] = 1;
    CHECK(!slice_equal(buffer_slice(&a), row_of(&b, "t", &other)));
    buffer_done(&a);
    buffer_done(&b);
}

TEST(tracekeys_read_what_they_wrote_and_refuse_the_rest)
{
    struct span span = tracesample_span(3, 9, 0, TRACESAMPLE_DAY, 1);
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    struct spanrow_key key;
    struct slice tenant;
    struct buffer bytes;
    uint32_t slot, block;
    uint64_t first;

    buffer_init(&bytes, TRACEKEYS_MAX_BYTES);
    row_of(&bytes, "ten", &span);
    CHECK(tracekeys_parse_row(buffer_slice(&bytes), &tenant, &key));
    CHECK_TEXT(tenant, "ten");
    CHECK_EQ(key.slot, spanrow_slot(TRACESAMPLE_DAY));
    CHECK_EQ(memcmp(key.trace_id, span.trace_id, sizeof(key.trace_id)), 0);
    CHECK_EQ(memcmp(key.span_id, span.span_id, sizeof(key.span_id)), 0);
    CHECK_EQ(key.kind, SPAN_SERVER);
    for (size_t len = 0; len < bytes.len; len++)
        CHECK(!tracekeys_parse_row(slice_of(bytes.data, len), &tenant, &key));
    buffer_clear(&bytes);
    tracekeys_put_trace_slot(&bytes, SLICE("ten"), span.trace_id, 77);
    CHECK(tracekeys_parse_trace_slot(buffer_slice(&bytes), SLICE("ten"), trace_id, &slot));
    CHECK_EQ(slot, 77);
    CHECK_EQ(memcmp(trace_id, span.trace_id, sizeof(trace_id)), 0);
    CHECK(!tracekeys_parse_row(buffer_slice(&bytes), &tenant, &key));
    for (size_t len = 0; len < bytes.len; len++)
        CHECK(!tracekeys_parse_trace_slot(slice_of(bytes.data, len), SLICE("ten"), trace_id, &slot));
    buffer_clear(&bytes);
    tracekeys_put_block(&bytes, TRACEKEYS_BODY, 5, 6, SLICE("ten"), 1234);
    CHECK(tracekeys_parse_block(buffer_slice(&bytes), &block));
    CHECK_EQ(block, 1234);
    CHECK(!tracekeys_parse_block(slice_of(bytes.data, 9), &block));
    buffer_clear(&bytes);
    tracekeys_put_page(&bytes, 5, 6, SLICE("ten"), 0x123456789a);
    CHECK(tracekeys_parse_page(buffer_slice(&bytes), &first));
    CHECK_EQ(first, 0x123456789a);
    CHECK(!tracekeys_parse_page(slice_of(bytes.data, 12), &first));
    buffer_done(&bytes);
}

TEST(tracekeys_refuse_names_of_tenants_that_break_keys)
{
    char name[TRACEKEYS_MAX_TENANT + 1];
    struct error err;

    memset(name, 'x', sizeof(name));
    CHECK_OK(tracekeys_check_tenant(slice_of(name, sizeof(name) - 1), &err), &err);
    CHECK_ERROR(tracekeys_check_tenant(slice_of(name, sizeof(name)), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "has 257 bytes");
    CHECK_ERROR(tracekeys_check_tenant(SLICE("a\0b"), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "NUL at byte 2");
}
