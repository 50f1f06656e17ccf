// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include "base/json.h"
#include "base/lock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAX_LABEL_NAME 32
/* name="value", at worst: each byte of a value becomes U+FFFD (3 bytes) */
#define LABELS_BYTES   (METRICS_MAX_LABELS * (MAX_LABEL_NAME + 4 + 3 * METRICS_VALUE_BYTES))

struct metrics_series {
    const struct metric_spec *spec;
    const char *labels;     /* as shown: a="x",b="y"; "" without labels */
    _Atomic uint64_t value; /* counter: itself; gauge: bits of a double; histogram: bits of the sum */
    _Atomic uint64_t
        buckets[]; /* histogram: how many values up to each bound and above the one before; then the rest */
};

/* One row of a table and its series. */
struct metric {
    const struct metric_spec *spec;
    struct metrics_series **series; /* room for all, made at registration; guarded by lock */
    size_t n_series;                /* guarded by lock */
    size_t max_series;
    struct metrics_series *other; /* M2; NULL for metrics without labels */
    bool has_other;               /* guarded by lock: "other" was handed out, so it is shown */
};

struct metrics {
    struct metrics *next; /* guarded by lock */
    size_t n;
    struct metric metrics[];
};

static struct lock_mutex lock = LOCK_MUTEX_INIT(LOCK_METRICS);
static struct metrics *registered; /* guarded by lock; in order of registration */

static size_t label_count(const struct metric_spec *spec)
{
    size_t n = 0;

    while (n < METRICS_MAX_LABELS && spec->labels[n])
        n++;
    return n;
}

/* --- the rules for tables --- */

static bool is_identifier(const char *text)
{
    if (*text < 'a' || *text > 'z')
        return false;
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* NULL, or what is wrong. */
static const char *problem_with_labels(const struct metric_spec *spec)
{
    for (size_t i = 0; i < label_count(spec); i++) {
        if (!is_identifier(spec->labels[i]) || strlen(spec->labels[i]) > MAX_LABEL_NAME)
            return "a label name is not a lower-case word of up to 32 letters";
        if (spec->kind == METRIC_HISTOGRAM && strcmp(spec->labels[i], "le") == 0)
            return "the label 'le' belongs to the histogram itself";
        for (size_t j = 0; j < i; j++)
            if (strcmp(spec->labels[i], spec->labels[j]) == 0)
                return "a label name comes twice";
    }
    return NULL;
}

static const char *problem_with_buckets(const struct metric_spec *spec)
{
    if ((spec->kind == METRIC_HISTOGRAM) != (spec->n_buckets > 0) || spec->n_buckets > METRICS_MAX_BUCKETS)
        return "histograms, and only they, have 1 to 32 buckets";
    for (size_t i = 0; i < spec->n_buckets; i++)
        if (!isfinite(spec->buckets[i]) || (i > 0 && spec->buckets[i] <= spec->buckets[i - 1]))
            return "the bucket bounds are not finite and rising";
    return NULL;
}

static const char *problem_with_name(const struct metric_spec *spec)
{
    static const char *const reserved[] = { "_total", "_bucket", "_sum", "_count" };
    struct slice name = slice_from(spec->name);
    struct slice unit = slice_from(spec->unit);

    if (!is_identifier(spec->name) || !slice_starts_with(name, SLICE("hearth_")))
        return "the name is not lower-case words beginning with 'hearth_'";
    if (spec->unit && !is_identifier(spec->unit))
        return "the unit is not a lower-case word";
    if (name.len + unit.len + sizeof("__bucket") > METRICS_NAME_BYTES)
        return "the name is too long";
    if (spec->unit && slice_ends_with(name, unit))
        return "the unit is added to the name by itself";
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (slice_ends_with(name, slice_from(reserved[i])))
            return "endings like '_total' and '_count' are added to the name by themselves";
    return NULL;
}

static const char *problem_with(const struct metric_spec *spec)
{
    const char *problem = problem_with_name(spec);

    if (!problem && (!spec->help || !*spec->help))
        problem = "there is no help text";
    if (!problem)
        problem = problem_with_labels(spec);
    return problem ? problem : problem_with_buckets(spec);
}

const char *metrics_name(const struct metric_spec *spec, char ret_name[static METRICS_NAME_BYTES])
{
    snprintf(ret_name, METRICS_NAME_BYTES, "%s%s%s%s", spec->name, spec->unit ? "_" : "", spec->unit ? spec->unit : "",
             spec->kind == METRIC_COUNTER ? "_total" : "");
    return ret_name;
}

/* --- series --- */

/* Appends `value` to the text that ends at `at`, as it stands between quotes, and returns the new end. */
static char *put_value(char *at, struct slice value)
{
    size_t left = METRICS_VALUE_BYTES;

    while (value.len > 0) {
        size_t char_len = slice_utf8_len(value);
        size_t used = MAX(char_len, (size_t)1);
        char c = value.ptr[0];

        if (used > left)
            break;
        left -= used;
        if (char_len == 0) {
            at = mempcpy(at, "\xef\xbf\xbd", 3);
        } else if (c == '\\' || c == '"' || c == '\n') {
            *at++ = '\\';
            *at++ = c == '\n' ? 'n' : c;
        } else {
            at = mempcpy(at, value.ptr, used);
        }
        value = slice_of(value.ptr + used, value.len - used);
    }
    return at;
}

static void render_labels(const struct metric_spec *spec, const struct slice *values,
                          char ret_text[static LABELS_BYTES])
{
    char *at = ret_text;

    for (size_t i = 0; i < label_count(spec); i++) {
        if (i > 0)
            *at++ = ',';
        at = stpcpy(at, spec->labels[i]);
        at = stpcpy(at, "=\"");
        at = put_value(at, values[i]);
        *at++ = '"';
    }
    *at = '\0';
}

static struct metrics_series *new_series(const struct metric_spec *spec, const char *labels, struct error *err)
{
    size_t n_buckets = spec->kind == METRIC_HISTOGRAM ? spec->n_buckets + 1 : 0;
    size_t labels_at = sizeof(struct metrics_series) + n_buckets * sizeof(uint64_t);
    struct metrics_series *series = memory_alloc_zero(labels_at + strlen(labels) + 1, err);

    if (!series)
        return NULL;
    series->spec = spec;
    series->labels = strcpy((char *)series + labels_at, labels);
    return series;
}

/* Caller holds the lock, or is alone. There is room. */
static struct metrics_series *add_series(struct metric *metric, const char *labels, struct error *err)
{
    struct metrics_series *series = new_series(metric->spec, labels, err);

    if (series)
        metric->series[metric->n_series++] = series;
    return series;
}

struct metrics_series *metrics_get(struct metrics *metrics, size_t index)
{
    ASSERT(index < metrics->n && !metrics->metrics[index].other);
    return metrics->metrics[index].series[0];
}

/* Caller holds the lock. */
static struct metrics_series *find_series(const struct metric *metric, const char *labels)
{
    for (size_t i = 0; i < metric->n_series; i++)
        if (strcmp(metric->series[i]->labels, labels) == 0)
            return metric->series[i];
    return NULL;
}

struct metrics_series *metrics_get_labelled(struct metrics *metrics, size_t index, const struct slice *values)
{
    struct metric *metric = &metrics->metrics[index];
    struct metrics_series *series;
    char labels[LABELS_BYTES];
    struct error err;

    ASSERT(index < metrics->n && metric->other);
    render_labels(metric->spec, values, labels);
    LOCK_SCOPE(&lock);
    series = find_series(metric, labels);
    if (!series && metric->n_series < metric->max_series && strcmp(metric->other->labels, labels) != 0)
        series = add_series(metric, labels, &err);
    if (series)
        return series;
    metric->has_other = true;
    return metric->other;
}

/* --- tables --- */

static int init_metric(struct metric *metric, const struct metric_spec *spec, struct error *err)
{
    static const struct slice others[METRICS_MAX_LABELS] = {
        { "other", 5 }, { "other", 5 }, { "other", 5 }, { "other", 5 }
    };
    const char *problem = problem_with(spec);
    bool has_labels = spec->labels[0];
    char labels[LABELS_BYTES];

    if (problem)
        return error_set(err, ERR_INVALID, "metric '%s': %s", spec->name, problem);
    metric->spec = spec;
    metric->max_series = !has_labels ? 1 : spec->max_series ? spec->max_series : METRICS_DEFAULT_SERIES;
    metric->series = memory_alloc_zero(metric->max_series * sizeof(struct metrics_series *), err);
    if (!metric->series)
        return -1;
    if (!has_labels)
        return add_series(metric, "", err) ? 0 : -1;
    render_labels(spec, others, labels);
    metric->other = new_series(spec, labels, err);
    return metric->other ? 0 : -1;
}

static void free_table(struct metrics *table)
{
    for (size_t i = 0; i < table->n; i++) {
        struct metric *metric = &table->metrics[i];

        for (size_t j = 0; j < metric->n_series; j++)
            memory_free(metric->series[j]);
        memory_free(metric->series);
        memory_free(metric->other);
    }
    memory_free(table);
}

/* Whether one of the first `n` metrics of the table is shown as `name`. */
static bool has_name(const struct metrics *table, size_t n, const char *name)
{
    char other[METRICS_NAME_BYTES];

    for (size_t i = 0; i < n; i++)
        if (strcmp(metrics_name(table->metrics[i].spec, other), name) == 0)
            return true;
    return false;
}

/* Caller holds the lock. Puts the table at the end of the list. */
static int append_table(struct metrics *table, struct error *err)
{
    struct metrics **link = &registered;
    char name[METRICS_NAME_BYTES];

    for (size_t i = 0; i < table->n; i++) {
        bool is_taken = has_name(table, i, metrics_name(table->metrics[i].spec, name));

        for (const struct metrics *other = registered; other && !is_taken; other = other->next)
            is_taken = has_name(other, other->n, name);
        if (is_taken)
            return error_set(err, ERR_INVALID, "metric '%s' is registered already", name);
    }
    while (*link)
        link = &(*link)->next;
    *link = table;
    return 0;
}

static void free_tablep(struct metrics **table)
{
    if (*table)
        free_table(*table);
}

int metrics_register(const struct metric_spec *specs, size_t n_specs, struct metrics **ret_metrics, struct error *err)
{
    AUTO(free_tablep)
    struct metrics *table = memory_alloc_zero(sizeof(*table) + n_specs * sizeof(table->metrics[0]), err);

    if (!table)
        return -1;
    while (table->n < n_specs) {
        size_t i = table->n++; /* counted first, so that a half-built one is freed too */

        if (init_metric(&table->metrics[i], &specs[i], err) < 0)
            return -1;
    }
    LOCK_SCOPE(&lock);
    if (append_table(table, err) < 0)
        return -1;
    *ret_metrics = TAKE(table);
    return 0;
}

void metrics_unregister(struct metrics *metrics)
{
    if (!metrics)
        return;
    lock_mutex_acquire(&lock);
    for (struct metrics **link = &registered; *link; link = &(*link)->next) {
        if (*link == metrics) {
            *link = metrics->next;
            break;
        }
    }
    lock_mutex_release(&lock);
    free_table(metrics);
}

void metrics_each(void (*visit)(void *context, const struct metric_spec *spec), void *context)
{
    LOCK_SCOPE(&lock);
    for (const struct metrics *table = registered; table; table = table->next)
        for (size_t i = 0; i < table->n; i++)
            visit(context, table->metrics[i].spec);
}

/* --- values. Relaxed throughout: each number stands alone, and a page of metrics is no snapshot of one moment --- */

static uint64_t load(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void add_double(_Atomic uint64_t *sum, double value)
{
    uint64_t old = load(sum);

    while (!atomic_compare_exchange_weak_explicit(sum, &old, bits_of(double_of(old) + value), memory_order_relaxed,
                                                  memory_order_relaxed))
        ; /* another thread was faster, and `old` is what it left */
}

void metrics_add(struct metrics_series *series, uint64_t amount)
{
    DEBUG_ASSERT(series->spec->kind == METRIC_COUNTER);
    atomic_fetch_add_explicit(&series->value, amount, memory_order_relaxed);
}

void metrics_advance(struct metrics_series *series, uint64_t total)
{
    uint64_t before = atomic_load_explicit(&series->value, memory_order_relaxed);

    DEBUG_ASSERT(series->spec->kind == METRIC_COUNTER);
    while (before < total && !atomic_compare_exchange_weak_explicit(&series->value, &before, total,
                                                                    memory_order_relaxed, memory_order_relaxed))
        continue;
}

void metrics_set(struct metrics_series *series, double value)
{
    DEBUG_ASSERT(series->spec->kind == METRIC_GAUGE);
    atomic_store_explicit(&series->value, bits_of(value), memory_order_relaxed);
}

void metrics_adjust(struct metrics_series *series, double difference)
{
    DEBUG_ASSERT(series->spec->kind == METRIC_GAUGE);
    add_double(&series->value, difference);
}

void metrics_observe(struct metrics_series *series, double value)
{
    size_t bucket = 0;

    DEBUG_ASSERT(series->spec->kind == METRIC_HISTOGRAM);
    if (isnan(value))
        return;
    while (bucket < series->spec->n_buckets && value > series->spec->buckets[bucket])
        bucket++;
    atomic_fetch_add_explicit(&series->buckets[bucket], 1, memory_order_relaxed);
    add_double(&series->value, value);
}

/* --- the page --- */

static void write_double(struct buffer *buffer, double value)
{
    char text[JSON_NUMBER_BYTES];

    if (isnan(value))
        buffer_append_text(buffer, "NaN");
    else if (isinf(value))
        buffer_append_text(buffer, value > 0 ? "+Inf" : "-Inf");
    else
        buffer_append(buffer, text, json_number(value, text));
}

/* `name_suffix{labels} `, without the braces where there is nothing between them. */
static void write_name(struct buffer *buffer, const char *name, const char *suffix, const char *labels)
{
    buffer_printf(buffer, *labels ? "%s%s{%s} " : "%s%s%s ", name, suffix, labels);
}

static void write_bucket(struct buffer *buffer, const char *name, const char *labels, double bound, uint64_t n)
{
    buffer_printf(buffer, "%s_bucket{%s%sle=\"", name, labels, *labels ? "," : "");
    write_double(buffer, bound);
    buffer_printf(buffer, "\"} %" PRIu64 "\n", n);
}

static void write_histogram(struct buffer *buffer, const char *name, const struct metrics_series *series)
{
    const struct metric_spec *spec = series->spec;
    uint64_t n = 0;

    for (size_t i = 0; i <= spec->n_buckets; i++) {
        n += load(&series->buckets[i]);
        write_bucket(buffer, name, series->labels, i < spec->n_buckets ? spec->buckets[i] : INFINITY, n);
    }
    write_name(buffer, name, "_sum", series->labels);
    write_double(buffer, double_of(load(&series->value)));
    buffer_append_byte(buffer, '\n');
    write_name(buffer, name, "_count", series->labels);
    buffer_printf(buffer, "%" PRIu64 "\n", n);
}

static void write_series(struct buffer *buffer, const char *name, const struct metrics_series *series)
{
    switch (series->spec->kind) {
    case METRIC_COUNTER:
        write_name(buffer, name, "", series->labels);
        buffer_printf(buffer, "%" PRIu64 "\n", load(&series->value));
        break;
    case METRIC_GAUGE:
        write_name(buffer, name, "", series->labels);
        write_double(buffer, double_of(load(&series->value)));
        buffer_append_byte(buffer, '\n');
        break;
    case METRIC_HISTOGRAM: write_histogram(buffer, name, series); break;
    }
}

static void write_head(struct buffer *buffer, const char *name, const struct metric_spec *spec)
{
    static const char *const kinds[] = { "counter", "gauge", "histogram" };

    buffer_printf(buffer, "# HELP %s ", name);
    for (const char *c = spec->help; *c; c++) {
        if (*c == '\\' || *c == '\n')
            buffer_append_byte(buffer, '\\');
        buffer_append_byte(buffer, *c == '\n' ? 'n' : *c);
    }
    buffer_printf(buffer, "\n# TYPE %s %s\n", name, kinds[spec->kind]);
}

/* Caller holds the lock. */
static void write_metric(struct buffer *buffer, const struct metric *metric)
{
    char name[METRICS_NAME_BYTES];

    if (metric->n_series == 0 && !metric->has_other)
        return;
    write_head(buffer, metrics_name(metric->spec, name), metric->spec);
    for (size_t i = 0; i < metric->n_series; i++)
        write_series(buffer, name, metric->series[i]);
    if (metric->has_other)
        write_series(buffer, name, metric->other);
}

void metrics_write(struct buffer *buffer)
{
    LOCK_SCOPE(&lock);
    for (const struct metrics *table = registered; table; table = table->next)
        for (size_t i = 0; i < table->n; i++)
            write_metric(buffer, &table->metrics[i]);
}
