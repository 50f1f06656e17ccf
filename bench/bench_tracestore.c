// SPDX-License-Identifier: Apache-2.0
/* Filling a store of spans and asking it: traces of ten spans of five services, eight attributes a span, spread over an hour.
 *
 *     tracestore [-spans N] [-open] DIR
 *
 * Makes the store in DIR (which should be empty) unless -open is given, then asks each question a few times and prints the
 * median, CPU time of the thread and how many spans were looked at. */
#include "base/bytes.h"
#include "base/hash.h"
#include "measure.h"
#include "trace/tracestore.h"

#define N_PER_TRACE  10
#define N_PER_WRITE  500
#define N_SERVICES   5
#define N_OPERATIONS 40
#define N_ATTRIBUTES 8
#define N_ROUNDS     7
#define HOUR_NS      (3600 * CLOCK_NS_PER_SECOND)

static struct tracestore *store;
static uint64_t n_spans = 3000000;
static char operations[N_OPERATIONS][32];
static char services[N_SERVICES][16];
static struct span_attribute resource_attributes[N_SERVICES][2];
static struct span_resource resources[N_SERVICES];
static const struct span_scope scope = { SLICE("net/http"), SLICE("0.49.0") };

static void die(const char *what)
{
    measure_die("tracestore", what);
}

static void make_names(void)
{
    for (unsigned i = 0; i < N_OPERATIONS; i++)
        snprintf(operations[i], sizeof(operations[i]), "%s /api/v1/thing/%u", i % 3 ? "GET" : "POST", i);
    for (unsigned i = 0; i < N_SERVICES; i++) {
        snprintf(services[i], sizeof(services[i]), "service-%u", i);
        resource_attributes[i][0] =
            (struct span_attribute){ SLICE("service.name"), { SPAN_VALUE_TEXT, .text = slice_from(services[i]) } };
        resource_attributes[i][1] =
            (struct span_attribute){ SLICE("host.name"), { SPAN_VALUE_TEXT, .text = SLICE("node-17") } };
        resources[i] = (struct span_resource){ slice_from(services[i]), { resource_attributes[i], 2, 0 } };
    }
}

/* What is made for one write. */
struct written {
    struct span spans[N_PER_WRITE];
    struct span_attribute attributes[N_PER_WRITE][N_ATTRIBUTES];
    char urls[N_PER_WRITE][64], users[N_PER_WRITE][24];
};

static void make_attributes(struct written *written, size_t i, uint64_t random)
{
    struct span_attribute *at = written->attributes[i];

    snprintf(written->urls[i], sizeof(written->urls[i]), "/api/v1/thing/%u?id=%u", (unsigned)(random % N_OPERATIONS),
             (unsigned)(random >> 40 & 0xffff));
    snprintf(written->users[i], sizeof(written->users[i]), "user-%06u", (unsigned)(random >> 20 & 0xfffff));
    at[0] = (struct span_attribute){ SLICE("http.method"), { SPAN_VALUE_TEXT, .text = SLICE("GET") } };
    at[1] = (struct span_attribute){ SLICE("http.status_code"),
                                     { SPAN_VALUE_INT, .integer = random % 50 == 0 ? 500 : 200 } };
    at[2] = (struct span_attribute){ SLICE("http.target"), { SPAN_VALUE_TEXT, .text = slice_from(written->urls[i]) } };
    at[3] = (struct span_attribute){ SLICE("user.id"), { SPAN_VALUE_TEXT, .text = slice_from(written->users[i]) } };
    at[4] = (struct span_attribute){ SLICE("net.peer.port"),
                                     { SPAN_VALUE_INT, .integer = 32768 + (int64_t)(random % 28000) } };
    at[5] = (struct span_attribute){ SLICE("http.scheme"), { SPAN_VALUE_TEXT, .text = SLICE("https") } };
    at[6] = (struct span_attribute){ SLICE("thread.id"), { SPAN_VALUE_INT, .integer = (int64_t)(random % 32) } };
    at[7] = (struct span_attribute){ SLICE("cache.hit"), { SPAN_VALUE_BOOL, .integer = random % 4 != 0 } };
}

static void make_span(struct written *written, size_t i, uint64_t number)
{
    uint64_t trace = number / N_PER_TRACE, place = number % N_PER_TRACE;
    uint64_t random = hash_mix64(number + 1), of_trace = hash_mix64(trace * 7 + 3);
    int64_t trace_start_ns = MEASURE_EPOCH_NS + (int64_t)((double)trace * N_PER_TRACE / (double)n_spans * HOUR_NS);
    int64_t root_ns = (int64_t)(2e6 + 5e7 * (double)(of_trace % 1000) / 1000 * (of_trace % 997 == 0 ? 40 : 1));
    struct span *span = &written->spans[i];

    *span = (struct span){ .kind = place == 0 ? SPAN_SERVER : SPAN_INTERNAL,
                           .status = random % 50 == 0 ? SPAN_ERROR : SPAN_UNSET,
                           .start_ns = trace_start_ns + (int64_t)place * root_ns / (N_PER_TRACE + 2),
                           .duration_ns = place == 0 ? root_ns : root_ns / 3 + (int64_t)(random % 100000),
                           .name = slice_from(operations[(of_trace + place) % N_OPERATIONS]),
                           .resource = &resources[place / 2 % N_SERVICES],
                           .scope = &scope,
                           .attributes = { written->attributes[i], N_ATTRIBUTES, 0 } };
    bytes_put_be64(span->trace_id, hash_mix64(trace + 1000));
    bytes_put_be64(span->trace_id + 8, hash_mix64(trace + 2000000000));
    bytes_put_be64(span->span_id, hash_mix64(number + 3000000000));
    if (place > 0)
        bytes_put_be64(span->parent_id, hash_mix64(number - (place > 5 ? 3 : 1) + 3000000000));
    make_attributes(written, i, random);
}

static void fill(void)
{
    static struct written written;
    int64_t begun = measure_real_ns(), cpu = clock_cpu_ns();
    struct tracestore_receipt receipt;
    struct error err;

    for (uint64_t first = 0; first < n_spans; first += N_PER_WRITE) {
        for (size_t i = 0; i < N_PER_WRITE; i++)
            make_span(&written, i, first + i);
        if (tracestore_write(store, SLICE("anonymous"), &(struct span_list){ written.spans, N_PER_WRITE }, &receipt,
                             &err) < 0 ||
            (first % 100000 == 0 && tracestore_maintain(store, clock_now_ns(), &err) < 0))
            die(err.text);
        if (receipt.n_refused > 0)
            die(receipt.refusal.text);
    }
    printf("written_per_s %.0f\nwritten_cpu_us_per_span %.2f\n",
           (double)n_spans / ((double)(measure_real_ns() - begun) / 1e9),
           (double)(clock_cpu_ns() - cpu) / 1e3 / (double)n_spans);
    begun = measure_real_ns();
    if (tracestore_close_hours(store, &err) < 0)
        die(err.text);
    printf("closed_last_s %.2f\n", (double)(measure_real_ns() - begun) / 1e9);
}

static void print_times(const char *what, double *times, double *cpus, const char *more)
{
    qsort(times, N_ROUNDS, sizeof(*times), measure_by_value);
    qsort(cpus, N_ROUNDS, sizeof(*cpus), measure_by_value);
    printf("%-28s %8.2f ms, cpu %8.2f ms; %s\n", what, times[N_ROUNDS / 2], cpus[N_ROUNDS / 2], more);
}

static void ask_search(const char *what, const struct tracestore_search *search)
{
    double times[N_ROUNDS], cpus[N_ROUNDS];
    struct tracestore_results results;
    char more[128];
    struct error err;

    for (unsigned i = 0; i < N_ROUNDS; i++) {
        struct arena arena;
        int64_t begun = measure_real_ns(), cpu = measure_thread_cpu_ns();

        arena_init(&arena, 0);
        if (tracestore_search(store, SLICE("anonymous"), search, NULL, &arena, &results, &err) < 0)
            die(err.text);
        times[i] = (double)(measure_real_ns() - begun) / 1e6;
        cpus[i] = (double)(measure_thread_cpu_ns() - cpu) / 1e6;
        snprintf(more, sizeof(more), "%zu traces, %llu spans searched%s", results.n,
                 (unsigned long long)results.n_searched, results.next_page[0] ? ", more" : "");
        arena_done(&arena);
    }
    print_times(what, times, cpus, more);
}

static void ask_trace(void)
{
    double times[N_ROUNDS], cpus[N_ROUNDS];
    char more[64];
    struct error err;

    for (unsigned i = 0; i < N_ROUNDS; i++) {
        struct tracestore_trace trace;
        uint8_t id[SPAN_TRACE_ID_BYTES];
        uint64_t number = n_spans / N_PER_TRACE * (i + 1) / (N_ROUNDS + 2);
        struct arena arena;
        int64_t begun = measure_real_ns(), cpu = measure_thread_cpu_ns();

        bytes_put_be64(id, hash_mix64(number + 1000));
        bytes_put_be64(id + 8, hash_mix64(number + 2000000000));
        arena_init(&arena, 0);
        if (tracestore_get(store, SLICE("anonymous"), id, 0, 0, NULL, &arena, &trace, &err) < 0)
            die(err.text);
        times[i] = (double)(measure_real_ns() - begun) / 1e6;
        cpus[i] = (double)(measure_thread_cpu_ns() - cpu) / 1e6;
        snprintf(more, sizeof(more), "%zu spans", trace.n);
        arena_done(&arena);
    }
    print_times("trace by id", times, cpus, more);
}

static int count_span(void *context, const struct span *span, struct error *err)
{
    (void)span, (void)err;
    ++*(uint64_t *)context;
    return 0;
}

static void ask_operations(const char *what, const struct tracestore_filter *filter)
{
    double times[N_ROUNDS], cpus[N_ROUNDS];
    char more[64];
    struct error err;

    for (unsigned i = 0; i < N_ROUNDS; i++) {
        struct tracestore_operations found;
        struct arena arena;
        int64_t begun = measure_real_ns(), cpu = measure_thread_cpu_ns();

        arena_init(&arena, 0);
        if (tracestore_list_operations(store, SLICE("anonymous"), filter, NULL, &arena, &found, &err) < 0)
            die(err.text);
        times[i] = (double)(measure_real_ns() - begun) / 1e6;
        cpus[i] = (double)(measure_thread_cpu_ns() - cpu) / 1e6;
        snprintf(more, sizeof(more), "%zu operations", found.n);
        arena_done(&arena);
    }
    print_times(what, times, cpus, more);
}

static void ask_each(const char *what, const struct tracestore_filter *filter)
{
    double times[N_ROUNDS], cpus[N_ROUNDS];
    char more[64];
    struct error err;

    for (unsigned i = 0; i < N_ROUNDS; i++) {
        int64_t begun = measure_real_ns(), cpu = measure_thread_cpu_ns();
        uint64_t n = 0;

        if (tracestore_each(store, SLICE("anonymous"), filter, 0, NULL, count_span, &n, &err) < 0)
            die(err.text);
        times[i] = (double)(measure_real_ns() - begun) / 1e6;
        cpus[i] = (double)(measure_thread_cpu_ns() - cpu) / 1e6;
        snprintf(more, sizeof(more), "%llu spans", (unsigned long long)n);
    }
    print_times(what, times, cpus, more);
}

static void ask_all(void)
{
    static const struct span_attribute common = { SLICE("http.status_code"),
                                                  { SPAN_VALUE_TEXT, .text = SLICE("500") } };
    static struct written written;
    struct span_attribute rare = { SLICE("user.id"), { SPAN_VALUE_TEXT, .text = { 0 } } };
    struct tracestore_search search = { .limit = 20 };

    make_span(&written, 0, n_spans / 3);
    rare.value.text = slice_from(written.users[0]);
    ask_search("newest", &search);
    search.filter.service = SLICE("service-3");
    ask_search("newest of a service", &search);
    search.filter.is_error = true;
    ask_search("newest errors of it", &search);
    search.filter = (struct tracestore_filter){ .attributes = &common, .n_attributes = 1 };
    ask_search("newest with status 500", &search);
    search.filter.attributes = &rare;
    ask_search("newest of one user of 1 M", &search);
    search.filter = (struct tracestore_filter){ .min_duration_ns = 1500000000 };
    ask_search("newest of 1.5 s and more", &search);
    search.filter = (struct tracestore_filter){ 0 };
    search.order = TRACESTORE_SLOWEST;
    ask_search("slowest", &search);
    search.filter.operation = slice_from(operations[7]);
    ask_search("slowest of an operation", &search);
    search.filter = (struct tracestore_filter){ .attributes = &common, .n_attributes = 1 };
    ask_search("slowest with status 500", &search);
    ask_trace();
    search.filter = (struct tracestore_filter){ 0 };
    ask_operations("operations", &search.filter);
    search.filter.is_error = true;
    ask_operations("operations of errors", &search.filter);
    search.filter = (struct tracestore_filter){ .operation = slice_from(operations[7]) };
    ask_each("each span of an operation", &search.filter);
}

int main(int argc, char **argv)
{
    struct tracestore_options options = { .retention_ns = 36600 * (int64_t)86400 * CLOCK_NS_PER_SECOND };
    struct tracestore_stats stats;
    bool is_made = true;
    struct error err;

    for (; argc > 2 && argv[1][0] == '-'; argc--, argv++) {
        if (strcmp(argv[1], "-open") == 0) {
            is_made = false;
        } else if (strcmp(argv[1], "-spans") == 0) {
            n_spans = strtoull(argv[2], NULL, 10) / N_PER_WRITE * N_PER_WRITE;
            argc--, argv++;
        }
    }
    if (argc != 2 || n_spans == 0)
        die("usage: tracestore [-spans N] [-open] DIR");
    options.data_dir = argv[1];
    options.is_read_only = !is_made;
    make_names();
    clock_fake_set(MEASURE_EPOCH_NS + HOUR_NS);
    if (tracestore_open(&options, &store, &err) < 0)
        die(err.text);
    if (is_made)
        fill();
    if (tracestore_stats(store, &stats, &err) < 0)
        die(err.text);
    printf("bytes_per_span %.1f\nhwm_mb %.1f\n", (double)stats.block_bytes / (double)stats.n_spans,
           measure_status_mb("VmHWM"));
    ask_all();
    printf("hwm_mb %.1f\n", measure_status_mb("VmHWM"));
    tracestore_close(store);
    return 0;
}
