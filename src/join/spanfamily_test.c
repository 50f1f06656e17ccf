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
