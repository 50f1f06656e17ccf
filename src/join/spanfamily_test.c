// SPDX-License-Identifier: Apache-2.0
#include "join/spanfamily.h"

#include "join/trace_sample_test.h"

/* The work of shop for 01 is 02 and 03, and 0a that it does for itself through pay is not; 0b is of a second request, 0c and 0d
 * name each other. */
static void begin(struct trace_sample *sample)
{
    struct span_sample spans;

    trace_sample_begin(sample);
    SPAN_SAMPLE(&spans, "01<00 shop GET 0+100/server", "02<01 shop parse 1+50", "03<02 shop read 2+10/client",
                "04<03 pay POST 3+5/server", "0a<04 shop GET 4+1/server", "05<04 pay check 4+1",
                "0b<00 shop GET 5+5/server", "06<0b shop parse 6+1", "0c<0d shop GET 7+1", "0d<0c shop parse 8+1");
    trace_sample_write(sample, spans.spans, spans.n);
}

static struct spanfamily_query query_of(const struct trace_sample *sample)
{
    return (struct spanfamily_query){ .traces = sample->traces,
                                      .tenant = SLICE("anonymous"),
                                      .from_ns = SPAN_SAMPLE_NS,
                                      .until_ns = SPAN_SAMPLE_NS + CLOCK_NS_PER_SECOND };
}

static void add(struct spanids *ids, uint8_t id)
{
    struct error err;

    CHECK_OK(spanids_add(ids, (const uint8_t[8]){ id }, &err), &err);
}

/* The set as "1 2 3". */
static void check_set(const struct spanids *ids, const char *wanted)
{
    char text[64] = "";

    for (unsigned i = 0; i < 256; i++)
        if (spanids_has(ids, (const uint8_t[8]){ (uint8_t)i }))
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%x", text[0] ? " " : "", i);
    CHECK_TEXT(text, wanted);
}

static void check_family(const struct trace_sample *sample, uint8_t id, const char *wanted)
{
    struct spanfamily_query query = query_of(sample);
    struct spanids ids;
    struct error err;

    spanids_init(&ids, 100);
    add(&ids, id);
    CHECK_OK(spanfamily_of_spans(&query, &ids, &err), &err);
    check_set(&ids, wanted);
    spanids_done(&ids);
}

TEST(spanfamily_is_what_one_process_did_for_a_span)
{
    struct trace_sample sample;

    begin(&sample);
    check_family(&sample, 1, "1 2 3");
    check_family(&sample, 2, "2 3");
    check_family(&sample, 3, "3");
    check_family(&sample, 4, "4 5");
    check_family(&sample, 0xa, "a");
    check_family(&sample, 0x77, "77"); /* that nobody knows */
    trace_sample_end(&sample);
}

TEST(spanfamily_of_a_service_is_that_of_each_set)
{
    struct trace_sample sample;
    struct spanfamily_query query;
    struct spanids slow, fast;
    struct spanids *sets[] = { &slow, &fast };
    struct error err;

    begin(&sample);
    query = query_of(&sample);
    spanids_init(&slow, 100);
    spanids_init(&fast, 100);
    add(&slow, 1);
    add(&fast, 0xa);
    add(&fast, 0xb);
    add(&fast, 0xc);
    CHECK_OK(spanfamily_of_service(&query, SLICE("shop"), sets, 2, &err), &err);
    check_set(&slow, "1 2 3");
    check_set(&fast, "6 a b c d");
    spanids_done(&slow);
    spanids_done(&fast);
    /* The nearest one above decides, and a circle that nobody asked for is nobody's. */
    spanids_init(&slow, 100);
    spanids_init(&fast, 100);
    add(&slow, 1);
    add(&fast, 2);
    CHECK_OK(spanfamily_of_service(&query, SLICE("shop"), sets, 2, &err), &err);
    check_set(&slow, "1");
    check_set(&fast, "2 3");
    spanids_done(&slow);
    spanids_done(&fast);
    trace_sample_end(&sample);
}

static int refuse(void *context UNUSED, struct error *err)
{
    return error_set(err, ERR_CANCELLED, "enough");
}

TEST(spanfamily_ends_when_nobody_waits_and_at_its_limits)
{
    struct trace_sample sample;
    struct spanfamily_query query;
    struct spanids ids;
    struct spanids *set = &ids;
    struct error err;

    begin(&sample);
    query = query_of(&sample);
    spanids_init(&ids, 2);
    add(&ids, 1);
    CHECK_ERROR(spanfamily_of_spans(&query, &ids, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "more than 2 spans");
    query.asker.check = refuse;
    CHECK_ERROR(spanfamily_of_spans(&query, &ids, &err), &err, ERR_CANCELLED);
    CHECK_ERROR(spanfamily_of_service(&query, SLICE("shop"), &set, 1, &err), &err, ERR_CANCELLED);
    spanids_done(&ids);
    trace_sample_end(&sample);
}

/* --- memory --- */

enum { N_BELOW = 300 };

static void number_id(uint32_t number, uint8_t id[static SPAN_ID_BYTES])
{
    memset(id, 0, SPAN_ID_BYTES);
    memcpy(id, &number, sizeof(number));
}

/* One span, and so many below it. */
static void begin_large(struct trace_sample *sample)
{
    struct span_resource resource = { .service = SLICE("shop") };
    struct span spans[1 + N_BELOW];

    trace_sample_begin(sample);
    for (uint32_t i = 0; i < ARRAY_LEN(spans); i++) {
        spans[i] = (struct span){ .trace_id = { 1 },
                                  .start_ns = SPAN_SAMPLE_NS + i,
                                  .duration_ns = 1000,
                                  .name = SLICE("GET"),
                                  .resource = &resource };
        number_id(i + 1, spans[i].span_id);
        if (i > 0)
            number_id(1, spans[i].parent_id);
    }
    trace_sample_write(sample, spans, ARRAY_LEN(spans));
}

TEST(spanfamily_of_a_service_holds_to_the_memory_of_the_asker)
{
    struct trace_sample sample;
    struct spanfamily_query query;
    struct spanids ids;
    struct spanids *set = &ids;
    struct error err;
    size_t bytes = 1024;

    begin_large(&sample);
    query = query_of(&sample);
    spanids_init(&ids, SPANFAMILY_MAX_SPANS);
    add(&ids, 1);
    query.asker.max_bytes = bytes;
    CHECK_ERROR(spanfamily_of_service(&query, SLICE("shop"), &set, 1, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "two thirds of 1KiB, the memory of a query");
    CHECK_HAS(err.text, "raise --query-memory");
    /* What fits is what it would be with any memory, and takes no more than there is. */
    while (spanfamily_of_service(&query, SLICE("shop"), &set, 1, &err) < 0) {
        CHECK_EQ(err.code, ERR_LIMIT);
        query.asker.max_bytes = bytes += 512;
    }
    CHECK_EQ(ids.n, 1 + N_BELOW);
    CHECK(bytes / 3 * 2 > N_BELOW * (24 + 16 + 16) && bytes < N_BELOW * 512);
    spanids_done(&ids);
    trace_sample_end(&sample);
}

TEST(spanfamily_of_spans_holds_to_the_memory_of_the_asker)
{
    enum { N_OTHERS = 8000 };
    struct trace_sample sample;
    struct spanfamily_query query;
    struct spanids ids;
    uint8_t id[SPAN_ID_BYTES];
    struct error err;

    begin_large(&sample);
    query = query_of(&sample);
    spanids_init(&ids, SPANFAMILY_MAX_SPANS);
    add(&ids, 1);
    for (uint32_t i = 0; i < N_OTHERS; i++) {
        number_id(1000000 + i, id);
        CHECK_OK(spanids_add(&ids, id, &err), &err);
    }
    query.asker.max_bytes = 512 << 10; /* the set takes 128 KiB, and three times that where it grows */
    CHECK_ERROR(spanfamily_of_spans(&query, &ids, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "two thirds of 512KiB, the memory of a query");
    query.asker.max_bytes = 640 << 10;
    CHECK_OK(spanfamily_of_spans(&query, &ids, &err), &err);
    CHECK_EQ(ids.n, 1 + N_BELOW + N_OTHERS);
    spanids_done(&ids);
    trace_sample_end(&sample);
}
