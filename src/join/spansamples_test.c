// SPDX-License-Identifier: Apache-2.0
#include "join/spansamples.h"

#include "join/span_sample_test.h"
#include "store/store_sample_test.h"

#define CPU   "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
#define COUNT "process_cpu:samples:count:cpu:nanoseconds"

struct asked {
    struct span_sample spans;
    struct spantree tree;
    struct spansamples samples;
    struct store_reads reads;
    struct arena arena;
};

static void begin(struct asked *asked, struct store_sample *sample)
{
    struct spansamples_query query = { .store = sample->store, .spans = asked->spans.spans, .n = asked->spans.n };
    struct error err;

    arena_init(&asked->arena, 0);
    asked->reads = (struct store_reads){ 0 };
    CHECK_OK(spantree_build(asked->spans.spans, asked->spans.n, &asked->arena, &asked->tree, &err), &err);
    CHECK_OK(spansamples_read(&query, &asked->arena, &asked->samples, &asked->reads, &err), &err);
}

static void end(struct asked *asked)
{
    arena_done(&asked->arena);
}

/* "process_cpu:...: 3 of 30, 0 of 0; " for each type, with each span. */
static struct slice text_of(struct asked *asked)
{
    struct buffer text;
    struct slice copy;
    struct error err;

    buffer_init(&text, 0);
    for (uint32_t i = 0; i < asked->samples.n_types; i++) {
        const struct spansamples_type *type = &asked->samples.types[i];

        buffer_printf(&text, "%.*s:", SLICE_ARG(type->type));
        for (uint32_t k = 0; k < asked->samples.n_spans; k++)
            buffer_printf(&text, " %llu/%lld", (unsigned long long)type->n_samples[k], (long long)type->values[k]);
        buffer_append_text(&text, "\n");
    }
    copy = arena_copy(&asked->arena, buffer_slice(&text), &err);
    buffer_done(&text);
    return copy;
}

static void check_own(struct store_sample *sample, const void *context UNUSED)
{
    struct asked asked;

    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+900", "02<01 shop parse 10+300", "03<02 pay POST 20+100/server");
    begin(&asked, sample);
    CHECK_TEXT(text_of(&asked), "memory:alloc_objects:count:alloc_space:bytes: 0/0 1/2 0/0\n"
                                "memory:alloc_space:bytes:alloc_space:bytes: 0/0 1/64 0/0\n" CPU
                                ": 3/30 5/50 4/40\n" COUNT ": 3/3 5/5 4/4\n");
    CHECK(!asked.samples.is_cut);
    end(&asked);
}

CONFORMANCE(spansamples_are_those_of_each_span_whatever_the_service)
{
    STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T09:50", .service = "shop", .samples = "a 1 10 @aa-01 | b 2 20 @bb-01 | c 9 90 | c 8 80 @aa-09" },
        { .at = "15T10:00", .service = "shop", .samples = "a 5 50 @00-02 | b 7 70 @aa-00" },
        { .at = "15T10:00", .service = "pay", .samples = "a 4 40 @aa-03" },
        { .at = "15T10:00",
          .service = "shop",
          .types = "alloc_objects/count alloc_space/bytes",
          .samples = "a 2 64 @aa-02" },
        /* Too early, and behind the end. */
        { .at = "15T09:44", .service = "shop", .samples = "a 100 1000 @aa-01" },
        { .at = "15T10:01", .service = "shop", .samples = "a 100 1000 @aa-01" });
    STORE_SAMPLE_WRITE_AS(sample, "other", { .at = "15T10:00", .service = "shop", .samples = "a 100 1000 @aa-01" });
    store_sample_each_stage(sample, "15T16:00", check_own, NULL);
}

CONFORMANCE(spansamples_of_roots_are_those_of_their_process)
{
    struct asked asked;

    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00",
                         .service = "shop",
                         .samples = "a 1 1 @aa-01 | a 2 2 @aa-02 | a 4 4 @aa-03 | a 8 8 @aa-04 | a 16 16 @aa-05" });
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+900/server", "02<01 shop parse 10+300", "03<02 shop read 20+100",
                "04<02 pay POST 30+10/server", "05<04 shop GET 30+5/server");
    begin(&asked, sample);
    CHECK_TEXT(text_of(&asked), CPU ": 1/1 2/2 4/4 8/8 16/16\n" COUNT ": 1/1 2/2 4/4 8/8 16/16\n");
    spansamples_to_roots(&asked.tree, &asked.samples);
    CHECK_TEXT(text_of(&asked), CPU ": 7/7 6/6 4/4 8/8 16/16\n" COUNT ": 7/7 6/6 4/4 8/8 16/16\n");
    CHECK_EQ(asked.samples.types[0].times_ns[0], 1); /* of its own, still */
    end(&asked);
}

CONFORMANCE(spansamples_of_two_sides_go_to_the_service_that_sent_them)
{
    struct asked asked;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "pay", .samples = "a 4 40 @aa-01" },
                       { .at = "15T10:00", .service = "third", .samples = "a 1 10 @aa-01" });
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+900/client", "01<00 pay GET 10+300/server");
    begin(&asked, sample);
    CHECK_TEXT(text_of(&asked), CPU ": 1/10 4/40\n" COUNT ": 1/1 4/4\n");
    end(&asked);
}

CONFORMANCE(spansamples_name_so_many_types)
{
    struct asked asked;
    char types[64][48];

    for (unsigned i = 0; i <= SPANSAMPLES_MAX_TYPES; i++) {
        snprintf(types[i], sizeof(types[i]), "kind%02u/things", i);
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "shop", .types = types[i], .samples = "a 4 @aa-01" });
    }
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+900");
    begin(&asked, sample);
    CHECK_EQ(asked.samples.n_types, SPANSAMPLES_MAX_TYPES);
    CHECK(asked.samples.is_cut);
    end(&asked);
}

CONFORMANCE(spansamples_of_no_spans_are_none)
{
    struct asked asked = { .spans.n = 0 };

    begin(&asked, sample);
    CHECK_EQ(asked.samples.n_types, 0);
    end(&asked);
}

static int refuse(void *context UNUSED, struct error *err)
{
    return error_set(err, ERR_CANCELLED, "enough");
}

CONFORMANCE(spansamples_end_when_nobody_waits)
{
    struct asked asked;
    struct spansamples_query query = { .store = sample->store,
                                       .spans = asked.spans.spans,
                                       .patience = { refuse, NULL } };
    struct error err;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "pay", .samples = "a 4 40 @aa-01" });
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+900/client");
    query.n = 1;
    arena_init(&asked.arena, 0);
    CHECK_ERROR(spansamples_read(&query, &asked.arena, &asked.samples, &asked.reads, &err), &err, ERR_CANCELLED);
    end(&asked);
}

/* --- latency --- */

static void check_latency(const struct asked *asked, uint32_t node, int64_t cpu, int64_t off_cpu, int64_t children,
                          int64_t unknown)
{
    const struct span *span = &asked->spans.spans[asked->tree.nodes[node].span];
    struct spansamples_latency got = spansamples_latency(&asked->samples, span, &asked->tree.nodes[node]);

    CHECK_EQ(got.cpu_ns / 1000000, cpu);
    CHECK_EQ(got.has_off_cpu ? got.off_cpu_ns / 1000000 : -1, off_cpu);
    CHECK_EQ(got.children_ns / 1000000, children);
    CHECK_EQ(got.unknown_ns / 1000000, unknown);
    CHECK_EQ(got.cpu_ns + got.off_cpu_ns + got.children_ns + got.unknown_ns, span->duration_ns);
}

CONFORMANCE(spansamples_tell_where_the_time_of_a_span_went)
{
    struct asked asked;

    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "shop", .samples = "a 20 200000000 @aa-01 | a 100 1000000000 @aa-02" },
        { .at = "15T10:00",
          .service = "shop",
          .types = "off_cpu/milliseconds",
          .samples = "w 300 @aa-01 | w 5 @aa-02" },
        { .at = "15T10:00",
          .service = "shop",
          .types = "wall/nanoseconds",
          .samples = "w 900000000 @aa-01 | w 40000000 @aa-03" });
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+1000", "02<01 shop parse 100+100", "03<01 shop read 300+60",
                "04<01 shop write 400+40");
    begin(&asked, sample);
    check_latency(&asked, 0, 200, 300, 200, 300);
    check_latency(&asked, 1, 100, 0, 0, 0); /* more than there is */
    check_latency(&asked, 2, 0, 40, 0, 20); /* by the wall clock */
    check_latency(&asked, 3, 0, -1, 0, 40);
    end(&asked);
}

/* Counts of samples are time when the period is; two profilers that see the same are not added up. */
CONFORMANCE(spansamples_tell_time_by_periods)
{
    struct asked asked;

    STORE_SAMPLE_WRITE(
        sample, { .at = "15T10:00", .service = "shop", .samples = "a 20 200000000 @aa-01" },
        { .at = "15T10:00", .service = "shop", .types = "itimer/milliseconds", .samples = "a 250 @aa-01" });
    SPAN_SAMPLE(&asked.spans, "01<00 shop GET 0+1000");
    begin(&asked, sample);
    check_latency(&asked, 0, 250, -1, 0, 750);
    CHECK_EQ(asked.samples.n_types, 3);
    CHECK_TEXT(asked.samples.types[2].type, COUNT);
    CHECK_EQ(asked.samples.types[2].times_ns[0], 20 * 10000000); /* the period is 10 ms */
    end(&asked);
}

static int read_some(void *context, struct error *err)
{
    struct store_sample *sample = context;
    AUTO(arena_done) struct arena arena;
    struct span_sample spans;
    struct spansamples_query query = { .store = sample->store, .spans = spans.spans };
    struct spansamples samples;
    struct store_reads reads = { 0 };

    arena_init(&arena, 0);
    SPAN_SAMPLE(&spans, "01<00 shop GET 0+900", "02<01 shop parse 10+300");
    query.n = spans.n;
    return spansamples_read(&query, &arena, &samples, &reads, err);
}

CONFORMANCE(spansamples_survive_any_allocation_failing)
{
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "pay", .samples = "a 4 40 @aa-01 | b 5 50 @aa-02" });
    test_each_allocation_failing(read_some, sample);
}
