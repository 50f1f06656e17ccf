// SPDX-License-Identifier: Apache-2.0
#include "cli/showtrace.h"

#include "base/test.h"
#include "join/span_sample_test.h"

struct shown {
    struct span_sample spans;
    struct showtrace show;
    struct arena arena;
    struct buffer out;
};

/* With 3 samples of 4 ms CPU time for the second span. */
static void begin(struct shown *shown)
{
    static struct spansamples_type type;
    struct error err;

    arena_init(&shown->arena, 0);
    buffer_init(&shown->out, 0);
    shown->show = (struct showtrace){ .trace = { shown->spans.spans, shown->spans.n, false } };
    CHECK_OK(spantree_build(shown->spans.spans, shown->spans.n, &shown->arena, &shown->show.tree, &err), &err);
    type = (struct spansamples_type){ .type = SLICE("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
                                      .unit = SLICE("nanoseconds"),
                                      .kind = SPANSAMPLES_CPU };
    type.n_samples = arena_alloc_zero(&shown->arena, shown->spans.n * 8, &err);
    type.values = arena_alloc_zero(&shown->arena, shown->spans.n * 8, &err);
    type.times_ns = arena_alloc_zero(&shown->arena, shown->spans.n * 8, &err);
    if (shown->spans.n > 1) {
        type.n_samples[1] = 3;
        type.values[1] = type.times_ns[1] = 4000000;
    }
    shown->show.samples = (struct spansamples){ .types = &type, .n_types = 1, .n_spans = (uint32_t)shown->spans.n };
}

static void end(struct shown *shown)
{
    arena_done(&shown->arena);
    buffer_done(&shown->out);
}

static struct slice json_of(struct shown *shown)
{
    struct error err;

    buffer_clear(&shown->out);
    CHECK_OK(showtrace_json(&shown->show, &shown->arena, &shown->out, &err), &err);
    CHECK_OK(buffer_check(&shown->out, &err), &err);
    return buffer_slice(&shown->out);
}

TEST(showtrace_writes_all_of_a_span_as_json)
{
    const struct span_attribute attributes[] = {
        { SLICE("text"), { .kind = SPAN_VALUE_TEXT, .text = SLICE("a\"b") } },
        { SLICE("none"), { .kind = SPAN_VALUE_EMPTY } },
        { SLICE("yes"), { .kind = SPAN_VALUE_BOOL, .integer = 1 } },
        { SLICE("number"), { .kind = SPAN_VALUE_INT, .integer = -7 } },
        { SLICE("real"), { .kind = SPAN_VALUE_DOUBLE, .real = 1.5 } },
        { SLICE("bytes"), { .kind = SPAN_VALUE_BYTES, .text = SLICE("\x01\x02") } },
        { SLICE("list"), { .kind = SPAN_VALUE_JSON, .text = SLICE("[1,{\"a\":2}]") } },
        { SLICE("cut"), { .kind = SPAN_VALUE_JSON, .text = SLICE("[1,{\"a\"") } },
    };
    const struct span_scope scope = { SLICE("lib"), SLICE("2") };
    struct span_event event = { .time_ns = SPAN_SAMPLE_NS + 5, .name = SLICE("went") };
    struct span_link link = { .trace_id = { 0xbb }, .span_id = { 0x0b } };
    struct shown shown;

    SPAN_SAMPLE(&shown.spans, "01<00 shop GET 0+10/server!");
    shown.spans.spans[0].attributes = (struct span_attributes){ attributes, ARRAY_LEN(attributes), 2 };
    shown.spans.spans[0].status_message = SLICE("no");
    shown.spans.spans[0].scope = &scope;
    shown.spans.spans[0].events = &event;
    shown.spans.spans[0].n_events = 1;
    shown.spans.spans[0].links = &link;
    shown.spans.spans[0].n_links = 1;
    begin(&shown);
    shown.show.link = "https://x/{trace_id}/{span_id}?{service}";
    CHECK_TEXT(
        json_of(&shown),
        "{\"trace_id\":\"aa000000000000000000000000000000\",\"start_ns\":1794736800000000000,\"duration_ns\":10000000,"
        "\"n_spans\":1,\"n_errors\":1,\"is_cut\":false,\"attribution\":\"own\","
        "\"link\":\"https://x/aa000000000000000000000000000000/0100000000000000?shop\","
        "\"services\":[{\"name\":\"shop\",\"n_spans\":1,\"n_errors\":1}],"
        "\"resources\":[{\"service\":\"shop\",\"attributes\":[]}],"
        "\"spans\":[{\"span_id\":\"0100000000000000\",\"parent_id\":null,\"resource\":0,\"service\":\"shop\","
        "\"operation\":\"GET\",\"kind\":\"server\",\"offset_ns\":0,\"duration_ns\":10000000,\"status\":\"error\","
        "\"message\":\"no\",\"depth\":0,\"is_local_root\":true,\"is_orphan\":false,\"scope\":\"lib 2\","
        "\"attributes\":[{\"key\":\"text\",\"value\":\"a\\\"b\"},{\"key\":\"none\",\"value\":null},"
        "{\"key\":\"yes\",\"value\":true},{\"key\":\"number\",\"value\":-7},{\"key\":\"real\",\"value\":1.5},"
        "{\"key\":\"bytes\",\"value\":\"AQI=\"},{\"key\":\"list\",\"value\":[1,{\"a\":2}]},"
        "{\"key\":\"cut\",\"value\":\"[1,{\\\"a\\\"\"}],\"n_dropped_attributes\":2,"
        "\"events\":[{\"offset_ns\":5,\"name\":\"went\",\"attributes\":[]}],"
        "\"links\":[{\"trace_id\":\"bb000000000000000000000000000000\",\"span_id\":\"0b00000000000000\","
        "\"attributes\":[]}],\"samples\":[],"
        "\"latency\":{\"cpu_ns\":0,\"off_cpu_ns\":null,\"children_ns\":0,\"unknown_ns\":10000000}}]}");
    end(&shown);
}

TEST(showtrace_counts_services_and_tells_samples)
{
    struct shown shown;
    struct slice json;

    SPAN_SAMPLE(&shown.spans, "01<00 shop GET 0+10", "02<01 pay POST 1+5", "03<02 pay check 2+1/internal!",
                "04<99 pay lost 3+1");
    begin(&shown);
    json = json_of(&shown);
    CHECK_HAS(json, "\"n_spans\":4,\"n_errors\":1");
    CHECK_HAS(json, "\"link\":null");
    CHECK_HAS(json, "\"services\":[{\"name\":\"pay\",\"n_spans\":3,\"n_errors\":1},{\"name\":\"shop\",\"n_spans\":1,");
    CHECK_HAS(json, "\"resources\":[{\"service\":\"shop\",\"attributes\":[]},{\"service\":\"pay\",\"attributes\":[]}]");
    CHECK_HAS(json, "\"samples\":[{\"type\":\"process_cpu:cpu:nanoseconds:cpu:nanoseconds\",\"unit\":\"nanoseconds\","
                    "\"n_samples\":3,\"value\":4000000}],"
                    "\"latency\":{\"cpu_ns\":4000000,\"off_cpu_ns\":null,\"children_ns\":1000000,\"unknown_ns\":0}");
    CHECK_HAS(json, "\"parent_id\":\"9900000000000000\"");
    CHECK_HAS(json, "\"is_orphan\":true");
    end(&shown);
}

TEST(showtrace_draws_a_waterfall)
{
    static const char *const environment[] = { NULL };
    struct command_world world = { .environment = environment, .width = 80 };
    struct shown shown;
    struct command_context context = { .world = &world, .arena = &shown.arena };
    struct error err;

    SPAN_SAMPLE(&shown.spans, "01<00 shop GET 0+10", "02<01 pay POST 5+5", "03<02 pay check 6+0/internal!",
                "04<99 pay lost 9+1");
    begin(&shown);
    CHECK_OK(showtrace_print(&shown.show, &context, &shown.out, &err), &err);
    CHECK_TEXT(buffer_slice(&shown.out),
               "trace aa000000000000000000000000000000: 4 spans of 2 services, 1 failed, 10ms from "
               "2026-11-15T10:00:00.000Z\n"
               "WHEN                  TOOK  CPU  ITSELF  SPAN              OPERATION\n"
               "--------------------  10ms    -     5ms  0100000000000000  shop: GET\n"
               "          ########--   5ms  4ms     5ms  0200000000000000    pay: POST\n"
               "            -           0s    -      0s  0300000000000000      check (failed)\n"
               "                  --   1ms    -     1ms  0400000000000000  pay: lost (its parent is missing)\n");
    end(&shown);
}

static int write_both(void *context, struct error *err)
{
    static const char *const environment[] = { NULL };
    struct shown *shown = context;
    AUTO(arena_done) struct arena arena;
    struct command_world world = { .environment = environment, .width = 80 };
    struct command_context command = { .world = &world, .arena = &arena };
    AUTO(buffer_done) struct buffer out;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    if (showtrace_json(&shown->show, &arena, &out, err) < 0 || showtrace_print(&shown->show, &command, &out, err) < 0)
        return -1;
    return buffer_check(&out, err);
}

TEST(showtrace_survives_any_allocation_failing)
{
    struct shown shown;

    SPAN_SAMPLE(&shown.spans, "01<00 shop GET 0+10", "02<01 pay POST 5+5");
    begin(&shown);
    test_each_allocation_failing(write_both, &shown);
    end(&shown);
}
