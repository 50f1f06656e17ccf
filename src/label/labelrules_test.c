// SPDX-License-Identifier: Apache-2.0
#include "label/labelrules.h"

#include "base/test.h"
#include "label/labelplan_test.h"

#include <stdio.h>

#define SAMPLES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The plan of a profile as text, valid until the next call. `labels` has the form of a label set and
 * becomes `extra`. */
struct planned {
    struct label_limits limits; /* zeros = the defaults */
    struct label_counts counts;
    enum { PLAN_USUAL, PLAN_COLLAPSED, PLAN_LAST_RESORT } way;
};

static int make_plan(const struct profile *profile, const struct series_label *extra, uint32_t n_extra,
                     struct planned *planned, struct arena *arena, struct series_plan *plan, struct error *err)
{
    if (planned->way == PLAN_USUAL)
        return labelrules_plan(profile, extra, n_extra, &planned->limits, &planned->counts, arena, plan, err);
    return labelrules_plan_collapsed(profile, extra, n_extra, &planned->limits, planned->way == PLAN_LAST_RESORT,
                                     &planned->counts, arena, plan, err);
}

static uint32_t split_extra(const char *labels, struct series_label *extra, uint32_t max)
{
    struct slice rest = slice_from(labels), part;
    uint32_t n = 0;

    while (labels && slice_next_part(&rest, ';', &part)) {
        size_t equal = (size_t)slice_find_byte(part, '=');

        CHECK(n < max);
        extra[n++] = (struct series_label){ slice_sub(part, 0, equal), slice_sub(part, equal + 1, part.len) };
    }
    return n;
}

static const char *plan_with(const struct labelplan_input *input, const char *labels, struct planned *planned)
{
    static char text[16384];
    struct label_limits limits;
    struct series_label extra[256];
    uint32_t n_extra = split_extra(labels, extra, ARRAY_LEN(extra));
    struct batch batch;
    struct arena arena;
    struct series_plan plan;
    struct buffer out;
    struct error err;

    labelplan_batch(input, &batch);
    arena_init(&arena, 0);
    buffer_init(&out, sizeof(text) - 1);
    CHECK_OK(make_plan(&batch.profiles[0], extra, n_extra, planned, &arena, &plan, &err), &err);
    limits = label_default_limits;
    if (planned->limits.max_labels)
        limits.max_labels = planned->limits.max_labels;
    labelplan_check(&batch.profiles[0], &plan, &limits);
    labelplan_print(&batch.profiles[0], &plan, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    memcpy(text, out.data, out.len);
    text[out.len] = '\0';
    buffer_done(&out);
    arena_done(&arena);
    batch_done(&batch);
    return text;
}

static const char *plan_of(const struct labelplan_input *input)
{
    return plan_with(input, NULL, &(struct planned){ 0 });
}

/* --- N4: what every series has --- */

TEST(labelrules_name_a_profile_without_labels_by_its_types)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .samples = SAMPLES("", "") }),
               "__name__=process_cpu service_name=unknown_service <all>\n");
    CHECK_TEXT(plan_of(&(struct labelplan_input){ 0 }), "__name__=process_cpu service_name=unknown_service <all>\n");
}

TEST(labelrules_keep_the_name_and_the_service_that_were_given)
{
    struct planned planned = { 0 };

    CHECK_TEXT(plan_with(&(struct labelplan_input){ .resource = "service.name=shop" },
                         "__name__=wall;service_name=api;pyroscope_spy=gospy", &planned),
               "__name__=wall pyroscope_spy=gospy service_name=api <all>\n");
    CHECK_TEXT(plan_with(&(struct labelplan_input){ .resource = "service_name=shop" }, "service.name=api", &planned),
               "__name__=process_cpu service_name=api <all>\n");
    CHECK_EQ(planned.counts.names_repaired, 0);
}

TEST(labelrules_keep_names_of_protocols_out_of_series)
{
    CHECK_TEXT(plan_with(&(struct labelplan_input){ .samples = SAMPLES("__inner__=1;__name__=odd") },
                         "__session_id__=77e425ea48b3919f;__delta__=false;zone=eu", &(struct planned){ 0 }),
               "__name__=process_cpu service_name=unknown_service zone=eu <all>\n"
               "row __delta__=false __session_id__=77e425ea48b3919f\n"
               "sample 0 __inner__=1 __name__=odd\n");
}

TEST(labelrules_replace_a_name_or_service_that_is_no_text)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .resource = "__name__=[1];service.name=[2]" }),
               "__name__=process_cpu service_name=other_services <all>\nrow __name__=[1] service.name=[2]\n");
}

static const char *name_of(const char *const *types, const char *period)
{
    static char text[128];
    AUTO(builder_freep) struct builder *b = NULL;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b)->period_type.type = builder_string(b, slice_from(period));
    for (; *types; types++)
        builder_type(b, (struct value_type){ .type = builder_string(b, slice_from(*types)) });
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    snprintf(text, sizeof(text), "%.*s", SLICE_ARG(labelrules_name(&batch.profiles[0])));
    batch_done(&batch);
    return text;
}

TEST(labelrules_name_says_what_kind_of_profile_it_is)
{
    static const struct {
        const char *types[5];
        const char *period;
        const char *name;
    } cases[] = {
        { { "samples", "cpu" }, "cpu", "process_cpu" },                    /* Go */
        { { "samples" }, "cpu", "process_cpu" },                           /* OTLP, Parca */
        { { "itimer" }, "itimer", "process_cpu" },                         /* Java over OTLP */
        { { "cpu-time", "wall-time", "alloc-space" }, "", "process_cpu" }, /* Datadog */
        { { "samples", "wall", "cpu" }, "wall", "wall" },                  /* Node */
        { { "samples" }, "wall", "wall" },
        { { "alloc_objects", "alloc_space", "inuse_objects", "inuse_space" }, "space", "memory" }, /* Go */
        { { "objects", "space" }, "space", "memory" },                                             /* V8, gperftools */
        { { "alloc_in_new_tlab_objects" }, "space", "memory" },                                    /* Java */
        { { "malloc_bytes" }, "", "memory" },
        { { "contentions", "delay" }, "contentions", "mutex" }, /* Go */
        { { "contentions", "delay" }, "block", "block" },       /* Java */
        { { "contentions", "delay" }, "mutex", "mutex" },
        { { "block_count" }, "", "block" },
        { { "goroutine" }, "goroutine", "goroutine" },
        { { "goroutines" }, "", "goroutine" },
        { { "off_cpu" }, "", "off_cpu" },
        { { "off-CPU" }, "cpu", "off_cpu" },
        { { "offcpu" }, "", "off_cpu" },
        { { "page_faults" }, "page", "page" },
        { { "page_faults" }, "", "page_faults" },
        { { "samples" }, "", "samples" },
        { { NULL }, "", "unknown" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_TEXT(name_of(cases[i].types, cases[i].period), cases[i].name);
}

TEST(labelrules_cut_and_repair_what_describes_values)
{
    char type[100001];
    struct labelplan_input input = { .type = type, .unit = "by\xfftes" };
    struct label_counts counts = { 0 };
    struct series_plan plan;
    struct batch batch;
    struct arena arena;
    struct error err;

    memset(type, 'x', sizeof(type) - 1);
    type[sizeof(type) - 1] = '\0';
    labelplan_batch(&input, &batch);
    arena_init(&arena, 0);
    CHECK_OK(labelrules_plan(&batch.profiles[0], NULL, 0, &label_default_limits, &counts, &arena, &plan, &err), &err);
    CHECK_EQ(plan.pieces[0].info.n_types, 1);
    CHECK_EQ(plan.pieces[0].info.types[0].type.len, 1024);
    CHECK_TEXT(plan.pieces[0].info.types[0].unit, "by\xEF\xBF\xBDtes");
    CHECK_EQ(plan.pieces[0].info.labels[0].value.len, 1024); /* __name__ is the type */
    arena_done(&arena);
    batch_done(&batch);
}

/* --- N1: names --- */

static const char *canonical(const char *name, bool is_repaired)
{
    static char text[128];
    struct slice result;
    struct arena arena;
    struct error err;
    bool was_repaired;

    arena_init(&arena, 0);
    CHECK_OK(labelrules_canonical(slice_from(name), &arena, &result, &was_repaired, &err), &err);
    CHECK_EQ(was_repaired, is_repaired);
    snprintf(text, sizeof(text), "%.*s", SLICE_ARG(result));
    arena_done(&arena);
    return text;
}

TEST(labelrules_canonical_names_are_letters_digits_and_underscores)
{
    CHECK_TEXT(canonical("service_name", false), "service_name");
    CHECK_TEXT(canonical("service.name", false), "service_name");
    CHECK_TEXT(canonical("__name__", false), "__name__");
    CHECK_TEXT(canonical("k8s.pod-name", true), "k8s_pod_name");
    CHECK_TEXT(canonical("trace endpoint", true), "trace_endpoint");
    CHECK_TEXT(canonical("stra\xc3\x9f"
                         "e",
                         true),
               "stra__e");
    CHECK_TEXT(canonical("2xx", true), "_2xx");
    CHECK_TEXT(canonical("_2xx", false), "_2xx");
    CHECK_TEXT(canonical(".", false), "_");
    CHECK_TEXT(canonical("", false), "");
}

TEST(labelrules_canonical_borrows_a_name_that_is_right)
{
    struct slice name = SLICE("zone"), result;
    struct arena arena;
    struct error err;
    bool is_repaired;

    arena_init(&arena, 0);
    CHECK_OK(labelrules_canonical(name, &arena, &result, &is_repaired, &err), &err);
    CHECK(result.ptr == name.ptr);
    CHECK_EQ(arena.used_bytes, 0);
    arena_done(&arena);
}

TEST(labelrules_let_the_later_of_two_equal_names_win)
{
    struct planned planned = { 0 };

    CHECK_TEXT(plan_with(&(struct labelplan_input){ .scope = "a=0;f=0",
                                                    .resource = "a=1;b=1;c=1;d.e=1;d-e=2",
                                                    .attributes = "b=2;c=2",
                                                    .samples = SAMPLES("c=4", "") },
                         "c=3", &planned),
               "__name__=process_cpu a=1 b=2 c=4 d_e=2 service_name=unknown_service <0>\n"
               "__name__=process_cpu a=1 b=2 c=3 d_e=2 service_name=unknown_service <1>\n"
               "row f=0\n");
    CHECK_EQ(planned.counts.names_repaired, 1);
}

TEST(labelrules_take_empty_names_and_values_for_no_labels)
{
    CHECK_TEXT(plan_with(&(struct labelplan_input){ .resource = "a=;=x;b=1", .samples = SAMPLES("c=;=y;=#3", "d=") },
                         "b=;service_name=", &(struct planned){ 0 }),
               "__name__=process_cpu b=1 service_name=unknown_service <all>\n");
}

/* --- N2 and N5: what never makes a series, and where it stays --- */

TEST(labelrules_plan_a_process_seen_by_an_otlp_profiler)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){
                   .resource = "container.id=4f2a;process.pid=#4711;process.executable.name=api;service.name=shop;"
                               "host.cpus=#8;host.is_spot=?1;load=~0.5;process.command_args=[\"a\"];uptime=#3:s",
                   .scope = "build=[1]",
                   .scope_name = "ebpf-profiler",
                   .scope_version = "1.2",
                   .samples = SAMPLES("thread.name=main;thread.id=#4711;cpu.logical_number=#3",
                                      "thread.name=gc;thread.id=#4712", "") }),
               "__name__=process_cpu container_id=4f2a host_cpus=8 host_is_spot=true load=0.5 "
               "process_executable_name=api service_name=shop <all>\n"
               "row build=[1] otel.scope.name=ebpf-profiler otel.scope.version=1.2 process.command_args=[\"a\"] "
               "process.pid=#4711 uptime=#3:s\n"
               "sample 0 cpu.logical_number=#3 thread.id=#4711 thread.name=main\n"
               "sample 1 thread.id=#4712 thread.name=gc\n");
}

TEST(labelrules_split_by_tag_scopes_and_not_by_spans)
{
    CHECK_TEXT(plan_with(&(struct labelplan_input){ .samples = SAMPLES(
                                                        "route=/cart;span_id=00f067aa0ba902b7;trace_id=4bf9", "",
                                                        "span_id=00f067aa0ba902b8;route=/cart",
                                                        "route=/pay;span_name=POST", "profile_id=00f067aa0ba902b9") },
                         "service_name=shop;__name__=process_cpu", &(struct planned){ 0 }),
               "__name__=process_cpu route=/cart service_name=shop <0 2>\n"
               "__name__=process_cpu service_name=shop <1 4>\n"
               "__name__=process_cpu route=/pay service_name=shop span_name=POST <3>\n"
               "sample 0 span_id=00f067aa0ba902b7 trace_id=4bf9\n"
               "sample 2 span_id=00f067aa0ba902b8\n"
               "sample 4 profile_id=00f067aa0ba902b9\n");
}

TEST(labelrules_keep_the_sizes_of_a_go_heap_profile_as_columns)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .type = "inuse_space",
                                                  .unit = "bytes",
                                                  .samples = SAMPLES("bytes=#64:bytes", "bytes=#1024:bytes") }),
               "__name__=memory service_name=unknown_service <all>\n"
               "sample 0 bytes=#64:bytes\nsample 1 bytes=#1024:bytes\n");
}

TEST(labelrules_know_ids_and_threads_in_every_spelling)
{
    CHECK_TEXT(plan_with(
                   &(struct labelplan_input){
                       .samples = SAMPLES(
                           "thread name=MainThread;thread id=1;span id=7;local root span id=6;trace endpoint=GET /") },
                   "pid=1;process_id=1;Thread-Name=x", &(struct planned){ 0 }),
               "__name__=process_cpu service_name=unknown_service trace_endpoint=GET / <all>\n"
               "row Thread-Name=x pid=1 process_id=1\n"
               "sample 0 local root span id=6 span id=7 thread id=1 thread name=MainThread\n");
}

TEST(labelrules_keep_several_values_of_one_name_as_columns)
{
    /* What the whole profile says of zone is then a row label, so that no name is on both sides (N6). */
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .resource = "zone=eu",
                                                  .samples = SAMPLES("zone=b;a=1;zone=a", "zone=c", "a=1;a=1") }),
               "__name__=process_cpu a=1 service_name=unknown_service <0 2>\n"
               "__name__=process_cpu service_name=unknown_service <1>\n"
               "row zone=eu\n"
               "sample 0 zone=b zone=a\nsample 1 zone=c\n");
}

TEST(labelrules_keep_a_name_as_a_column_where_any_value_of_it_is_no_text)
{
    struct planned planned = { 0 };

    CHECK_TEXT(plan_with(&(struct labelplan_input){ .samples = SAMPLES("size=large", "size=#5", "size=[1]") },
                         "size=unknown", &planned),
               "__name__=process_cpu service_name=unknown_service <all>\n"
               "row size=unknown\n"
               "sample 0 size=large\nsample 1 size=#5\nsample 2 size=[1]\n");
    CHECK_EQ(planned.counts.moved_to_samples, 1);
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .attributes = "size=[1,2]", .samples = SAMPLES("size=large") }),
               "__name__=process_cpu service_name=unknown_service <all>\n"
               "row size=[1,2]\n"
               "sample 0 size=large\n");
}

TEST(labelrules_do_not_split_by_what_the_whole_profile_says)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .resource = "zone=eu",
                                                  .samples = SAMPLES("zone=eu", "", "zone=eu;route=/") }),
               "__name__=process_cpu service_name=unknown_service zone=eu <0 1>\n"
               "__name__=process_cpu route=/ service_name=unknown_service zone=eu <2>\n");
}

TEST(labelrules_split_by_the_service_of_samples)
{
    CHECK_TEXT(plan_of(&(struct labelplan_input){ .resource = "service.name=host",
                                                  .samples = SAMPLES("service.name=a", "", "service_name=a") }),
               "__name__=process_cpu service_name=a <0 2>\n"
               "__name__=process_cpu service_name=host <1>\n");
}

/* --- N3: limits --- */

TEST(labelrules_cut_long_names_and_values_and_repair_them)
{
    struct planned planned = { .limits = { .max_name_bytes = 16, .max_value_bytes = 16 } };

    CHECK_TEXT(plan_with(&(struct labelplan_input){ .resource = "a-name-of-eighteen=\xff"
                                                                "1;b=12345678901234\xe2\x82\xac;"
                                                                "c=1234567890123456",
                                                    .samples = SAMPLES("d=\x80;e=12345678901234567",
                                                                       "d=\xEF\xBF\xBD;e=1234567890123456") },
                         NULL, &planned),
               "__name__=process_cpu a_name_of_eighte=\xEF\xBF\xBD"
               "1 b=12345678901234 c=1234567890123456 "
               "d=\xEF\xBF\xBD e=1234567890123456 service_name=unknown_service <all>\n");
    CHECK_EQ(planned.counts.names_repaired, 1);
    CHECK_EQ(planned.counts.names_cut, 1);
    CHECK_EQ(planned.counts.values_cut, 2);
    CHECK_EQ(planned.counts.values_repaired, 2);
}

TEST(labelrules_count_no_repairs_of_what_stays_a_column)
{
    struct planned planned = { 0 };

    CHECK_TEXT(
        plan_with(&(struct labelplan_input){ .resource = "thread-name=\xff", .samples = SAMPLES("a-b=\xff;a-b=2") },
                  NULL, &planned),
        "__name__=process_cpu service_name=unknown_service <all>\n"
        "row thread-name=\xff\nsample 0 a-b=\xff a-b=2\n");
    CHECK_EQ(planned.counts.names_repaired + planned.counts.values_repaired, 0);
}

TEST(labelrules_move_labels_beyond_the_limit_and_those_of_samples_first)
{
    struct labelplan_input input = { .resource = "r1=1;r2=2",
                                     .attributes = "a1=1;a2=2",
                                     .samples = SAMPLES("s1=1;r1=5", "s2=2") };
    struct planned room_for_one = { .limits.max_labels = 8 }, full = { .limits.max_labels = 7 },
                   less = { .limits.max_labels = 5 }, least = { .limits.max_labels = 1 };

    CHECK_TEXT(plan_with(&input, "x=1", &room_for_one),
               "__name__=process_cpu a1=1 a2=2 r1=5 r2=2 s1=1 service_name=unknown_service x=1 <0>\n"
               "__name__=process_cpu a1=1 a2=2 r1=1 r2=2 s2=2 service_name=unknown_service x=1 <1>\n");
    CHECK_EQ(room_for_one.counts.moved_to_samples, 0);
    CHECK_TEXT(plan_with(&input, "x=1", &full),
               "__name__=process_cpu a1=1 a2=2 r1=5 r2=2 service_name=unknown_service x=1 <0>\n"
               "__name__=process_cpu a1=1 a2=2 r1=1 r2=2 service_name=unknown_service x=1 <1>\n"
               "sample 0 s1=1\nsample 1 s2=2\n");
    CHECK_EQ(full.counts.moved_to_samples, 2);
    CHECK_TEXT(plan_with(&input, "x=1", &less), "__name__=process_cpu r1=5 r2=2 service_name=unknown_service x=1 <0>\n"
                                                "__name__=process_cpu r1=1 r2=2 service_name=unknown_service x=1 <1>\n"
                                                "row a1=1 a2=2\nsample 0 s1=1\nsample 1 s2=2\n");
    CHECK_EQ(less.counts.moved_to_samples, 4);
    least.limits.max_labels = 2;
    CHECK_TEXT(plan_with(&input, "x=1", &least), "__name__=process_cpu service_name=unknown_service <all>\n"
                                                 "row a1=1 a2=2 r1=1 r2=2 x=1\nsample 0 r1=5 s1=1\nsample 1 s2=2\n");
    CHECK_EQ(least.counts.moved_to_samples, 7);
}

TEST(labelrules_keep_extra_labels_longest)
{
    struct labelplan_input input = { .resource = "r1=1;r2=2", .attributes = "a1=1" };

    CHECK_TEXT(plan_with(&input, "x1=1;x2=2", &(struct planned){ .limits.max_labels = 5 }),
               "__name__=process_cpu r1=1 service_name=unknown_service x1=1 x2=2 <all>\nrow a1=1 r2=2\n");
    CHECK_TEXT(plan_with(&input, "x1=1;x2=2", &(struct planned){ .limits.max_labels = 3 }),
               "__name__=process_cpu service_name=unknown_service x1=1 <all>\nrow a1=1 r1=1 r2=2 x2=2\n");
}

TEST(labelrules_keep_a_profile_with_two_hundred_labels)
{
    char resource[4096];
    size_t len = 0;
    struct planned planned = { 0 };
    const char *text;

    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(resource + len, sizeof(resource) - len, "%slabel.%03d=%d", i ? ";" : "", i, i);
    text = plan_with(&(struct labelplan_input){ .resource = resource }, NULL, &planned);
    CHECK_EQ(planned.counts.moved_to_samples, 162); /* 38 and the two that are always there */
    CHECK_HAS(text, " label_037=37 service_name=unknown_service <all>\nrow label.038=38 label.039=39 ");
    CHECK_HAS(text, " label.199=199\n");
}

/* --- collapsed plans --- */

TEST(labelrules_collapse_a_profile_into_one_series)
{
    struct labelplan_input input = { .resource = "service.name=shop;zone=eu",
                                     .samples = SAMPLES("route=/a;thread=1", "route=/b") };
    struct planned collapsed = { .way = PLAN_COLLAPSED }, last = { .way = PLAN_LAST_RESORT };

    CHECK_TEXT(plan_with(&input, "x=1", &collapsed), "__name__=process_cpu service_name=shop <all>\n"
                                                     "row x=1 zone=eu\n"
                                                     "sample 0 route=/a thread=1\nsample 1 route=/b\n");
    CHECK_EQ(collapsed.counts.moved_to_samples, 3);
    CHECK_TEXT(plan_with(&input, "x=1", &last), "__name__=process_cpu service_name=other_services <all>\n"
                                                "row service.name=shop x=1 zone=eu\n"
                                                "sample 0 route=/a thread=1\nsample 1 route=/b\n");
    CHECK_EQ(last.counts.moved_to_samples, 4);
}

TEST(labelrules_collapse_samples_of_several_services_into_others)
{
    struct labelplan_input input = { .resource = "service.name=host",
                                     .samples = SAMPLES("service.name=a", "", "service.name=b") };
    struct labelplan_input one = { .samples = SAMPLES("service.name=a", "service.name=a") };

    CHECK_TEXT(plan_with(&input, NULL, &(struct planned){ .way = PLAN_COLLAPSED }),
               "__name__=process_cpu service_name=other_services <all>\n"
               "row service.name=host\nsample 0 service.name=a\nsample 2 service.name=b\n");
    CHECK_TEXT(plan_with(&one, NULL, &(struct planned){ .way = PLAN_COLLAPSED }),
               "__name__=process_cpu service_name=a <all>\n");
    CHECK_TEXT(plan_with(&one, NULL, &(struct planned){ .way = PLAN_LAST_RESORT }),
               "__name__=process_cpu service_name=other_services <all>\n"
               "sample 0 service.name=a\nsample 1 service.name=a\n");
    CHECK_TEXT(plan_with(&(struct labelplan_input){ 0 }, NULL, &(struct planned){ .way = PLAN_LAST_RESORT }),
               "__name__=process_cpu service_name=other_services <all>\n");
}

/* --- memory --- */

static int plan_once(void *context, struct error *err)
{
    struct batch *batch = context;
    struct series_label extra = { SLICE("service.name"), SLICE("api") };
    struct label_limits limits = { .max_splits = 2, .max_labels = 5 };
    struct label_counts counts = { 0 };
    struct series_plan plan;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = labelrules_plan(&batch->profiles[0], &extra, 1, &limits, &counts, &arena, &plan, err);
    if (result == 0)
        result = labelrules_plan_collapsed(&batch->profiles[0], &extra, 1, &limits, true, &counts, &arena, &plan, err);
    arena_done(&arena);
    return result;
}

TEST(labelrules_report_that_memory_ran_out)
{
    struct labelplan_input input = { .resource = "a.b=\xff;c=#1;d=2;e=3;f=4",
                                     .samples = SAMPLES("r.x=1;u=\xff;pid=1", "r.x=2;u=2", "r.x=3;u=3") };
    struct label_counts counts = { 0 };
    struct series_plan plan = { 0 };
    struct batch batch;
    struct arena arena;
    struct error err;

    labelplan_batch(&input, &batch);
    test_each_allocation_failing(plan_once, &batch);
    arena_init(&arena, 256);
    CHECK_ERROR(labelrules_plan(&batch.profiles[0], NULL, 0, &label_default_limits, &counts, &arena, &plan, &err), &err,
                ERR_LIMIT);
    CHECK(plan.pieces == NULL);
    arena_done(&arena);
    batch_done(&batch);
}
