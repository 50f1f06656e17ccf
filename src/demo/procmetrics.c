// SPDX-License-Identifier: Apache-2.0
#include "demo/procmetrics.h"

#include "base/fs.h"
#include "metric/otlpmetrics.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIST_BYTES  (1u << 20) /* of the names of threads or open files */
#define STATM_BYTES 4096

void procmetrics_init(struct procmetrics *metrics, int64_t time_ns, int64_t start_ns)
{
    *metrics = (struct procmetrics){ .time_ns = time_ns, .start_ns = start_ns };
}

/* --- points --- */

/* NULL: there is no room. A label without a key is none. */
static struct metric_point *add(struct procmetrics *metrics, const char *name, const char *unit, enum point_kind kind,
                                struct metric_label label)
{
    uint32_t at = metrics->n;

    if (at == PROCMETRICS_MAX_POINTS)
        return NULL;
    metrics->n++;
    metrics->labels[at] = label;
    metrics->series[at] =
        (struct metric_series){ .name = slice_from(name),
                                .unit = slice_from(unit),
                                .kind = (uint8_t)kind,
                                .temporality = kind == POINT_GAUGE ? METRIC_NO_TEMPORALITY : METRIC_CUMULATIVE,
                                .is_monotonic = kind == POINT_SUM,
                                .labels = &metrics->labels[at],
                                .n_labels = label.key.len > 0 };
    metrics->points[at] = (struct metric_point){ .series = &metrics->series[at],
                                                 .start_ns = kind == POINT_GAUGE ? 0 : metrics->start_ns,
                                                 .time_ns = metrics->time_ns };
    return &metrics->points[at];
}

static void add_value(struct procmetrics *metrics, const char *name, const char *unit, enum point_kind kind,
                      struct metric_label label, double value)
{
    struct metric_point *point = add(metrics, name, unit, kind, label);

    if (point)
        point->value = value;
}

void procmetrics_gauge(struct procmetrics *metrics, const char *name, const char *unit, double value)
{
    add_value(metrics, name, unit, POINT_GAUGE, (struct metric_label){ 0 }, value);
}

void procmetrics_sum(struct procmetrics *metrics, const char *name, const char *unit, double value)
{
    add_value(metrics, name, unit, POINT_SUM, (struct metric_label){ 0 }, value);
}

void procmetrics_histogram(struct procmetrics *metrics, const char *name, const char *unit,
                           const struct metric_histogram *histogram)
{
    struct metric_point *point = add(metrics, name, unit, POINT_HISTOGRAM, (struct metric_label){ 0 });

    if (!point)
        return;
    metrics->histograms[point - metrics->points] = *histogram;
    point->histogram = &metrics->histograms[point - metrics->points];
}

/* --- the own process --- */

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void add_usage(struct procmetrics *metrics)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) < 0)
        return;
    add_value(metrics, "process.cpu.time", "s", POINT_SUM, (struct metric_label){ SLICE("cpu.mode"), SLICE("user") },
              seconds(usage.ru_utime));
    add_value(metrics, "process.cpu.time", "s", POINT_SUM, (struct metric_label){ SLICE("cpu.mode"), SLICE("system") },
              seconds(usage.ru_stime));
    add_value(metrics, "process.context_switches", "{context_switch}", POINT_SUM,
              (struct metric_label){ SLICE("process.context_switch_type"), SLICE("voluntary") },
              (double)usage.ru_nvcsw);
    add_value(metrics, "process.context_switches", "{context_switch}", POINT_SUM,
              (struct metric_label){ SLICE("process.context_switch_type"), SLICE("involuntary") },
              (double)usage.ru_nivcsw);
}

/* The first two numbers of /proc/self/statm: pages of all addresses, and of those in memory. */
static void add_memory(struct procmetrics *metrics)
{
    AUTO(buffer_done) struct buffer text = { 0 };
    struct slice rest, all_text, resident_text;
    double page_bytes = (double)sysconf(_SC_PAGESIZE);
    struct error ignored;
    uint64_t all, resident;

    buffer_init(&text, STATM_BYTES);
    if (fs_read_file("/proc/self/statm", STATM_BYTES, &text, &ignored) < 0)
        return;
    rest = buffer_slice(&text);
    if (!slice_next_part(&rest, ' ', &all_text) || !slice_next_part(&rest, ' ', &resident_text) ||
        !slice_to_u64(all_text, &all) || !slice_to_u64(resident_text, &resident))
        return;
    procmetrics_gauge(metrics, "process.memory.usage", "By", (double)resident * page_bytes);
    procmetrics_gauge(metrics, "process.memory.virtual", "By", (double)all * page_bytes);
}

static void add_count(struct procmetrics *metrics, const char *name, const char *unit, const char *directory)
{
    struct fs_listing listing;
    struct arena arena;
    struct error ignored;

    arena_init(&arena, LIST_BYTES);
    if (fs_list(directory, &arena, &listing, &ignored) == 0)
        procmetrics_gauge(metrics, name, unit, (double)listing.n);
    arena_done(&arena);
}

static void add_heap(struct procmetrics *metrics)
{
    struct mallinfo2 heap = mallinfo2();

    procmetrics_gauge(metrics, "runtime.memory.heap_alloc_bytes", "By", (double)(heap.uordblks + heap.hblkhd));
    procmetrics_gauge(metrics, "runtime.memory.heap_free_bytes", "By", (double)heap.fordblks);
}

void procmetrics_add_own(struct procmetrics *metrics)
{
    add_usage(metrics);
    add_memory(metrics);
    add_count(metrics, "process.thread.count", "{thread}", "/proc/self/task");
    add_count(metrics, "process.open_file_descriptor.count", "{count}", "/proc/self/fd");
    add_heap(metrics);
}

void procmetrics_encode(const struct procmetrics *metrics, const struct framesampler_label *resource,
                        uint32_t n_resource, struct buffer *out)
{
    struct metric_label labels[PROCMETRICS_MAX_RESOURCE];

    ASSERT(n_resource <= PROCMETRICS_MAX_RESOURCE);
    for (uint32_t i = 0; i < n_resource; i++)
        labels[i] = (struct metric_label){ slice_from(resource[i].key), slice_from(resource[i].value) };
    otlpmetrics_encode(labels, n_resource, &(struct metric_list){ metrics->points, metrics->n }, out);
}
