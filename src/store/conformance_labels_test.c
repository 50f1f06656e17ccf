// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 3: labels, their limits, selectors and lists, and tenants. */
#include "store/store_sample_test.h"

/* --- selecting --- */

/* Two services in two zones; routes split; threads, pids and sizes stay columns; one profile has a version of
 * its own. */
static void write_shop(struct store_sample *sample)
{
    STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T10:00",
          .service = "api",
          .labels = "zone=eu-1;process.pid=#12",
          .samples = "a 1 10 {route=/pay;thread=t1}|b 2 20 {route=/list;thread=t2}|c 3 30 {thread=t1}" },
        { .at = "15T10:00", .service = "api", .labels = "zone=us-1", .samples = "d 4 40 {bytes=#64:bytes}" },
        { .at = "15T10:30", .service = "web", .labels = "zone=eu-1;version=2", .samples = "e 5 50" },
        { .at = "14T10:30", .service = "web", .types = "alloc_space/bytes inuse_space/bytes", .samples = "f 6 60" });
}

static void check_selectors(struct store_sample *sample, const void *context)
{
    /* Labels of series. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{service_name=\"web\", zone=\"eu-1\"}"), "e 5 50\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "service.name=api"), "a 1 10\nb 2 20\nc 3 30\nd 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{zone=~\"eu-.*\", service_name!=\"web\"}"),
               "a 1 10\nb 2 20\nc 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{zone=~\"eu\"}"), "");
    /* Labels of samples that made series, and of those that have none. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "route=/pay"), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{route=~\"/.*\"}"), "a 1 10\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{service_name=\"api\", route=\"\"}"), "c 3 30\nd 4 40\n");
    /* Columns of samples. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "thread=t1"), "a 1 10\nc 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{service_name=\"api\", thread!=\"t1\"}"), "b 2 20\nd 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{route=\"/list\", thread=\"t2\"}"), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{route=\"/list\", thread=\"t1\"}"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "bytes=64"), "d 4 40\n");
    /* Columns of rows. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "process_pid=12"), "a 1 10\nb 2 20\nc 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{\"process.pid\"=\"12\", thread=\"t2\"}"), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{process_pid!=\"12\", service_name=\"api\"}"), "d 4 40\n");
    /* Profile types, and nothing. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{__name__=\"memory\"}"),
               "[alloc_space/bytes inuse_space/bytes] f 6 60\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "process_cpu:cpu:nanoseconds:cpu:nanoseconds{zone=\"us-1\"}"),
               "d 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "memory:inuse_space:bytes:inuse_space:bytes{}"),
               "[alloc_space/bytes inuse_space/bytes] f 6 60\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{service_name=\"nobody\"}"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{nothing=\"here\"}"), "");
}

CONFORMANCE(selects_by_labels_of_series_rows_and_samples_alike)
{
    write_shop(sample);
    store_sample_each_stage(sample, "15T15:00", check_selectors, NULL);
}

static void check_lists(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample),
               "{__name__=\"memory\", service_name=\"web\"}\n"
               "{__name__=\"process_cpu\", route=\"/list\", service_name=\"api\", zone=\"eu-1\"}\n"
               "{__name__=\"process_cpu\", route=\"/pay\", service_name=\"api\", zone=\"eu-1\"}\n"
               "{__name__=\"process_cpu\", service_name=\"api\", zone=\"eu-1\"}\n"
               "{__name__=\"process_cpu\", service_name=\"api\", zone=\"us-1\"}\n"
               "{__name__=\"process_cpu\", service_name=\"web\", version=\"2\", zone=\"eu-1\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .selector = "zone=us-1"),
               "{__name__=\"process_cpu\", service_name=\"api\", zone=\"us-1\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .until = "15T00:00"), "{__name__=\"memory\", service_name=\"web\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .from = "16T00:00"), "");
    CHECK_TEXT(STORE_SAMPLE_NAMES(sample), "__name__ bytes process_pid route service_name thread version zone");
    CHECK_TEXT(STORE_SAMPLE_NAMES(sample, .selector = "service_name=web,__name__=process_cpu"),
               "__name__ service_name version zone");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "zone"), "eu-1 us-1");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "service.name"), "api web");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "service_name", .until = "15T00:00"), "web");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "thread"), "t1 t2");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "process.pid"), "12");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "bytes"), "64");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "nothing"), "");
    CHECK_TEXT(STORE_SAMPLE_PROFILE_TYPES(sample),
               "memory:alloc_space:bytes:inuse_space:bytes memory:inuse_space:bytes:inuse_space:bytes "
               "process_cpu:cpu:nanoseconds:cpu:nanoseconds process_cpu:samples:count:cpu:nanoseconds");
    CHECK_TEXT(STORE_SAMPLE_PROFILE_TYPES(sample, .selector = "service_name=api"),
               "process_cpu:cpu:nanoseconds:cpu:nanoseconds process_cpu:samples:count:cpu:nanoseconds");
}

CONFORMANCE(lists_series_labels_values_and_types)
{
    write_shop(sample);
    store_sample_each_stage(sample, "15T15:00", check_lists, NULL);
}

CONFORMANCE(gives_every_profile_the_labels_of_the_request)
{
    struct series_label labels[] = { { SLICE("cluster"), SLICE("c1") }, { SLICE("service.name"), SLICE("given") } };
    struct store_sample_profile profile = { .at = "15T10:00", .service = "own", .samples = "a 1 10" };
    struct batch batch;
    struct store_write write = { .batch = &batch, .labels = labels, .n_labels = 2 };
    struct store_receipt receipt;
    struct error err;

    store_sample_batch(&profile, 1, &batch);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample), "{__name__=\"process_cpu\", cluster=\"c1\", service_name=\"given\"}\n");
}

/* --- limits --- */

CONFORMANCE(repairs_names_cuts_values_and_counts_it)
{
    struct store_receipt receipt;

    sample->options.labels = (struct label_limits){ .max_name_bytes = 16, .max_value_bytes = 16 };
    store_sample_reopen(sample);
    receipt =
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00",
                                     .service = "api",
                                     .labels = "a b=1;9lives=yes;a_very_long_name_indeed=x;tall=0123456789abcdefgh",
                                     .samples = "a 1 10" });
    CHECK_EQ(receipt.n_written, 1);
    CHECK_EQ(receipt.labels.names_repaired, 2);
    CHECK_EQ(receipt.labels.names_cut, 1);
    CHECK_EQ(receipt.labels.values_cut, 1);
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample),
               "{_9lives=\"yes\", __name__=\"process_cpu\", a_b=\"1\", "
               "a_very_long_name=\"x\", service_name=\"api\", tall=\"0123456789abcdef\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "tall=0123456789abcdef"), "a 1 10\n");
}

static void check_moved(struct store_sample *sample, const void *context)
{
    /* What is no label of a series any more still selects. */
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "l1=1"), "a 1 10\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "l5=5"), "a 1 10\nb 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "route=/b"), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "route"), "/a /b");
    CHECK_TEXT(STORE_SAMPLE_NAMES(sample), "__name__ l1 l2 l3 l4 l5 route service_name");
}

CONFORMANCE(moves_labels_beyond_the_limit_to_samples_and_counts_them)
{
    struct store_receipt receipt;

    sample->options.labels = (struct label_limits){ .max_labels = 4 };
    store_sample_reopen(sample);
    receipt = STORE_SAMPLE_WRITE(sample, { .at = "15T10:00",
                                           .service = "api",
                                           .labels = "l1=1;l2=2;l3=3;l4=4;l5=5",
                                           .samples = "a 1 10 {route=/a}|b 2 20 {route=/b}" });
    CHECK_EQ(receipt.n_written, 1);
    CHECK_EQ(receipt.n_series, 1);
    CHECK_EQ(receipt.labels.moved_to_samples, 4);
    store_sample_each_stage(sample, "15T15:00", check_moved, NULL);
}

static void check_unsplit(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample), "{__name__=\"process_cpu\", service_name=\"api\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "route=/b"), "b 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "{route!=\"/b\"}"), "a 1 10\nc 3 30\n");
}

CONFORMANCE(does_not_split_a_profile_into_more_series_than_allowed)
{
    struct store_receipt receipt;

    sample->options.labels = (struct label_limits){ .max_splits = 2 };
    store_sample_reopen(sample);
    receipt = STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T10:00", .service = "api", .samples = "a 1 10 {route=/a}|b 2 20 {route=/b}|c 3 30 {route=/c}" });
    CHECK_EQ(receipt.n_series, 1);
    CHECK_EQ(receipt.labels.splits_moved, 1);
    store_sample_each_stage(sample, "15T15:00", check_unsplit, NULL);
}

static void check_collapsed(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample), "{__name__=\"process_cpu\", pod=\"p1\", service_name=\"api\"}\n"
                                            "{__name__=\"process_cpu\", pod=\"p2\", service_name=\"api\"}\n"
                                            "{__name__=\"process_cpu\", service_name=\"api\"}\n"
                                            "{__name__=\"process_cpu\", service_name=\"other_services\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nb 2 20\nc 3 30\nd 4 40\nx 5 50\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "pod=p1"), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "pod=p3"), "c 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "service_name=web"), "d 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "service_name=web,pod=p9"), "d 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "service_name=api"), "a 1 10\nb 2 20\nc 3 30\nx 5 50\n");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "pod"), "p1 p2 p3 p9");
}

CONFORMANCE(collapses_series_beyond_the_limit_and_loses_nothing)
{
    struct store_receipt receipt;

    sample->options.max_series = 3;
    store_sample_reopen(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .labels = "pod=p1", .samples = "a 1 10" },
                       { .at = "15T10:00", .service = "api", .labels = "pod=p2", .samples = "b 2 20" });
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "x 5 50" });
    receipt =
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .labels = "pod=p3", .samples = "c 3 30" });
    CHECK_EQ(receipt.n_written, 1);
    CHECK(receipt.labels.moved_to_samples > 0);
    receipt =
        STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "web", .labels = "pod=p9", .samples = "d 4 40" });
    CHECK_EQ(receipt.n_written, 1);
    CHECK(receipt.labels.moved_to_samples > 0);
    store_sample_each_stage(sample, "15T15:00", check_collapsed, NULL);
}

CONFORMANCE(counts_series_of_each_tenant_for_itself)
{
    struct store_tenant_limits limits = { .tenant = "small", .max_series = 1 };

    sample->options.tenants = &limits;
    sample->options.n_tenants = 1;
    store_sample_reopen(sample);
    for (unsigned i = 0; i < 5; i++) {
        char pod[16];

        snprintf(pod, sizeof(pod), "pod=p%u", i);
        STORE_SAMPLE_WRITE_AS(sample, "small",
                              { .at = "15T10:00", .service = "api", .labels = pod, .samples = "a 1 10" });
        STORE_SAMPLE_WRITE_AS(sample, "large",
                              { .at = "15T10:00", .service = "api", .labels = pod, .samples = "a 1 10" });
    }
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .tenant = "small"),
               "{__name__=\"process_cpu\", pod=\"p0\", service_name=\"api\"}\n"
               "{__name__=\"process_cpu\", service_name=\"other_services\"}\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "small", .selector = "pod=p4,service_name=api"), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "pod", .tenant = "large"), "p0 p1 p2 p3 p4");
}

/* --- tenants --- */

static void check_tenants(struct store_sample *sample, const void *context)
{
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "alice"), "mine 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "bob"), "his 2 20\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "everybody 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = STORE_TENANT_DEFAULT), "everybody 3 30\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "alice", .selector = "secret=b"), "");
    CHECK_TEXT(STORE_SAMPLE_NAMES(sample, .tenant = "alice"), "__name__ service_name thread");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "thread", .tenant = "bob"), "");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "secret", .tenant = "alice"), "");
    CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "secret", .tenant = "bob"), "b");
    CHECK_TEXT(STORE_SAMPLE_SERIES(sample, .tenant = "carol"), "");
    CHECK_TEXT(STORE_SAMPLE_PROFILE_TYPES(sample, .tenant = "carol"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "alic"), "");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "no/such name"), "");
}

CONFORMANCE(shows_no_tenant_what_belongs_to_another)
{
    STORE_SAMPLE_WRITE_AS(sample, "alice", { .at = "15T10:00", .service = "api", .samples = "mine 1 10 {thread=t}" });
    STORE_SAMPLE_WRITE_AS(sample, "bob",
                          { .at = "15T10:00", .service = "api", .labels = "secret=b", .samples = "his 2 20" });
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .service = "api", .samples = "everybody 3 30" });
    store_sample_each_stage(sample, "15T15:00", check_tenants, NULL);
}

CONFORMANCE(refuses_bad_names_of_tenants)
{
    static const char *const bad[] = { "a b", "a/b", "../up", "a\nb", "ü", "a:b", "a|b" };
    struct store_sample_profile profile = { .at = "15T10:00", .samples = "a 1 10" };
    struct store_receipt receipt;
    struct error err;
    char name[STORE_TENANT_MAX_BYTES + 2];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_ERROR(store_sample_try(sample, bad[i], &profile, 1, &receipt, &err), &err, ERR_INVALID);
        CHECK_HAS(err.text, "letters, digits and any of !_.*'()-");
    }
    memset(name, 'n', sizeof(name));
    name[STORE_TENANT_MAX_BYTES + 1] = '\0';
    CHECK_ERROR(store_sample_try(sample, name, &profile, 1, &receipt, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "1 to 150 bytes, this one 151");
    name[STORE_TENANT_MAX_BYTES] = '\0';
    CHECK_EQ(store_sample_write_as(sample, name, &profile, 1).n_written, 1);
    CHECK_EQ(STORE_SAMPLE_WRITE_AS(sample, "A.b-c_9!*'()", profile).n_written, 1);
    CHECK_ERROR(store_sample_try(sample, "..", &profile, 1, &receipt, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "cannot be called '..'");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = name), "a 1 10\n");
}

/* --- reading back --- */

/* Two samples of one stack, told apart by a label that makes series, one that does not, and a link. */
static void write_linked(struct store_sample *sample)
{
    static const struct store_sample_profile header = {
        .at = "15T10:20", .service = "api", .labels = "zone=eu;pid=#7", .types = "samples/count"
    };
    struct link link = { .trace_id = { 0xaa, 1 }, .span_id = { 0xbb, 2 } };
    AUTO(builder_freep) struct builder *b = NULL;
    struct batch batch;
    struct store_write write = { .batch = &batch };
    struct store_receipt receipt;
    struct error err;
    uint32_t stack;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    store_sample_add(b, &header);
    stack = store_sample_stack(b, SLICE("main;parse"));
    builder_sample(b, stack, labelplan_set(b, "route=/a;thread=t1"), builder_link(b, &link), (int64_t[]){ 3 }, 2);
    builder_sample(b, stack, labelplan_set(b, "route=/a;thread=t2"), 0, (int64_t[]){ 4 }, 1);
    builder_sample(b, stack, labelplan_set(b, "route=/b;pid=#8"), 0, (int64_t[]){ 5 }, 1);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    CHECK_EQ(receipt.n_series, 2);
    batch_done(&batch);
}

static void print_profile(const struct profile *profile, struct buffer *out)
{
    store_sample_print_labels(profile->tables, profile->resource, out);
    buffer_append_byte(out, '\n');
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        uint32_t link = profile_link(profile, i);

        store_sample_print_stack(profile->tables, profile->stacks[i], false, out);
        buffer_printf(out, " %lld", (long long)profile_values(profile, 0)[i]);
        store_sample_print_labels(profile->tables, profile_label_set(profile, i), out);
        if (link)
            buffer_printf(out, " span %02x%02x", profile->tables->links[link].span_id[0],
                          profile->tables->links[link].span_id[1]);
        if (profile->counts)
            buffer_printf(out, " x%llu", (unsigned long long)profile->counts[i]);
        buffer_append_byte(out, '\n');
    }
    store_sample_sort(out);
}

static void check_read_back(struct store_sample *sample, const void *context)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct buffer *text = store_sample_text(sample);
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(store_read(sample->store, &query, &batch, &err), &err);
    CHECK_OK(batch_check(&batch, &err), &err);
    CHECK_EQ(batch.n_profiles, 1);
    print_profile(&batch.profiles[0], text);
    CHECK_TEXT(buffer_slice(text), context);
    batch_done(&batch);
}

CONFORMANCE(reads_profiles_back_with_labels_and_links)
{
    write_linked(sample);
    write_linked(sample);
    store_sample_each_stage(sample, "15T15:00", check_read_back,
                            " {__name__=samples;service_name=api;zone=eu}\n"
                            "main;parse 10 {route=/b;pid=#8} x2\n"
                            "main;parse 6 {route=/a;pid=#7;thread=t1} span bb02 x4\n"
                            "main;parse 8 {route=/a;pid=#7;thread=t2} x2\n");
}

CONFORMANCE(lists_labels_that_stayed_with_samples_by_selector)
{
    STORE_SAMPLE_WRITE(sample,
                       { .at = "15T10:00", .service = "api", .samples = "a 1 10 {thread=t1}", .labels = "pid=#7" },
                       { .at = "15T10:00", .service = "web", .samples = "a 1 10 {span_id=77}" });
    for (unsigned round = 0; round < 2; round++) {
        CHECK_TEXT(STORE_SAMPLE_NAMES(sample, .selector = "service_name=api"), "__name__ pid service_name thread");
        CHECK_TEXT(STORE_SAMPLE_NAMES(sample, .selector = "service_name=web"), "__name__ service_name span_id");
        CHECK_TEXT(STORE_SAMPLE_NAMES(sample, .selector = "thread=t1"), "__name__ pid service_name thread");
        CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "pid", .selector = "service_name=api"), "7");
        CHECK_TEXT(STORE_SAMPLE_VALUES(sample, "pid", .selector = "service_name=web"), "");
        store_sample_pass(sample, 3);
    }
}

/* --- beyond every limit --- */

enum { N_INVENTED = 260, N_TAKEN = 2 + 256 }; /* the limit twice, and what is spare */

static void invent_types(struct store_sample_profile *profiles, char (*types)[32])
{
    for (unsigned i = 0; i < N_INVENTED; i++) {
        snprintf(types[i], sizeof(types[i]), "type%u/count", i);
        profiles[i] = (struct store_sample_profile){ .at = "15T10:00", .types = types[i], .samples = "a 1" };
    }
}

CONFORMANCE(refuses_profiles_with_types_of_their_own_beyond_the_limit_and_keeps_the_others)
{
    static struct store_sample_profile profiles[N_INVENTED];
    static char types[N_INVENTED][32];
    struct store_receipt receipt;
    struct store_stats stats;
    struct error err;

    sample->options.max_series = 1;
    store_sample_reopen(sample);
    invent_types(profiles, types);
    receipt = store_sample_write_as(sample, NULL, profiles, N_INVENTED);
    CHECK_EQ(receipt.n_written, N_TAKEN);
    CHECK_EQ(receipt.n_refused, N_INVENTED - N_TAKEN);
    CHECK_EQ(receipt.refusal.code, ERR_LIMIT);
    CHECK_TEXT(receipt.refusal.text,
               "tenant 'anonymous' has 258 series today, at most 1 are allowed, and it has a type of "
               "its own (--max-series)");
    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_rows, N_TAKEN);
    /* Sent again, the same ones are refused; alone, they are an error; others of their batch are taken. */
    CHECK_ERROR(store_sample_try(sample, NULL, &profiles[N_TAKEN], 2, &receipt, &err), &err, ERR_LIMIT);
    profiles[0] = profiles[N_TAKEN];
    CHECK_EQ(store_sample_write_as(sample, NULL, profiles, 3).n_written, 2);
    store_sample_verify(sample);
}
