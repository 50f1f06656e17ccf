// SPDX-License-Identifier: Apache-2.0
#include "intake/plain.h"

#include "base/clock.h"
#include "base/urlquery.h"
#include "intake/batchedit.h"
#include "intake/idlabels.h"
#include "intake/intakework_internal.h"

#define MAX_SCRAPE_LABELS 256

/* --- names --- */

static struct slice metric_of(struct slice profile_type)
{
    static const struct {
        const char *type, *metric;
    } known[] = { { "cpu", "process_cpu" },     { "profile", "process_cpu" },
                  { "heap", "memory" },         { "allocs", "memory" },
                  { "memory", "memory" },       { "goroutines", "goroutine" },
                  { "goroutine", "goroutine" }, { "threadcreate", "threadcreate" } };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_equal_nocase(profile_type, slice_from(known[i].type)))
            return slice_from(known[i].metric);
    return profile_type; /* mutex, block, wall and others are called so */
}

/* The name of the program: of the first mapping that is neither a library nor the kernel's. */
static struct slice main_binary(const struct tables *tables)
{
    for (uint32_t i = 1; i < tables->n_mappings; i++) {
        struct slice file = tables_string(tables, tables->mappings[i].file);
        ptrdiff_t slash = slice_find_last_byte(file, '/');
        struct slice name = slice_sub(file, (size_t)(slash + 1), SIZE_MAX);

        if (name.len > 0 && name.ptr[0] != '[' && file.ptr[0] != '[' && slice_find(name, SLICE(".so")) < 0)
            return name;
    }
    return SLICE("");
}

static struct slice service_of(const struct urlquery *query, const struct tables *tables)
{
    struct slice service = urlquery_get(query, "service_name");

    if (service.len == 0)
        service = urlquery_get(query, "service.name");
    return service.len ? service : main_binary(tables);
}

/* --- the trace --- */

/* What the request belonged to; as a label of the row where it is no id that we know. */
static int link_trace(struct intake_worker *worker, struct intakework_labels *labels, struct error *err)
{
    struct slice text = slice_trim(worker->upload->trace_id);
    struct batch *batch = &worker->batch;
    struct link link = { 0 };

    if (text.len == 0)
        return 0;
    if (!idlabels_parse(text, link.trace_id, sizeof(link.trace_id))) {
        intakework_labels_add(labels, SLICE("trace_id"), text);
        return 0;
    }
    if (idlabels_lift(batch, err) < 0) /* samples that know their own keep it */
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (batchedit_link_all(batch, &batch->profiles[i], &link, err) < 0)
            return -1;
    return 0;
}

/* --- uploads --- */

/* The header's time is for profiles that know none. */
static void set_times(struct intake_worker *worker)
{
    struct error ignored;
    int64_t time_ns;

    if (clock_parse(slice_trim(worker->upload->profile_time), &time_ns, &ignored) < 0)
        return;
    for (uint32_t i = 0; i < worker->batch.n_profiles; i++)
        if (worker->batch.profiles[i].start_ns == 0)
            worker->batch.profiles[i].start_ns = time_ns;
}

static int decode_body(struct intake_worker *worker, bool *ret_is_empty, struct error *err)
{
    struct slice content;

    if (intakework_body(worker, &content, err) < 0)
        return -1;
    *ret_is_empty = content.len == 0;
    return *ret_is_empty ? 0 : intakework_decode(worker, content, NULL, err);
}

int plain_take(struct intake_worker *worker, struct error *err)
{
    struct intakework_delivery delivery = { 0 };
    struct intakework_labels labels;
    struct urlquery query;
    bool is_empty;

    if (urlquery_parse(worker->upload->query, &worker->arena, &query, err) < 0 ||
        intakework_labels_init(worker, 3, &labels, err) < 0 || decode_body(worker, &is_empty, err) < 0)
        return -1;
    if (is_empty) {
        intakework_accept(worker, SLICE(""), 1, INTAKE_EMPTY);
        return 0;
    }
    intakework_labels_add(&labels, SLICE(SERIES_NAME_LABEL), metric_of(slice_trim(worker->upload->profile_type)));
    intakework_labels_add(&labels, SLICE(SERIES_SERVICE_LABEL), service_of(&query, &worker->batch.tables));
    set_times(worker);
    if (link_trace(worker, &labels, err) < 0)
        return -1;
    delivery.labels = &labels;
    return intakework_store(worker, &worker->batch, &delivery, err);
}

static int read_scrape_labels(struct intake_worker *worker, struct intakework_labels *labels,
                              struct intakework_delivery *delivery, struct error *err)
{
    struct slice rest = worker->upload->query, line;

    if (intakework_labels_init(worker, MAX_SCRAPE_LABELS, labels, err) < 0)
        return -1;
    while (slice_next_line(&rest, &line)) {
        ptrdiff_t equals = slice_find_byte(line, '=');
        struct slice value = slice_sub(line, (size_t)(equals + 1), SIZE_MAX);

        if (equals <= 0)
            continue;
        line.len = (size_t)equals;
        if (labels->n == MAX_SCRAPE_LABELS)
            return error_set(err, ERR_LIMIT, "more than %d labels of a target", MAX_SCRAPE_LABELS);
        if (slice_is(line, "__delta__"))
            delivery->is_delta = slice_is(value, "false");
        else
            intakework_labels_add(labels, line, value);
    }
    delivery->labels = labels;
    return 0;
}

int plain_take_scraped(struct intake_worker *worker, struct error *err)
{
    struct intakework_delivery delivery = { 0 };
    struct intakework_labels labels;
    struct slice service;
    bool is_empty;

    if (read_scrape_labels(worker, &labels, &delivery, err) < 0)
        return -1;
    service = intakework_labels_find(&labels, SERIES_SERVICE_LABEL);
    if (decode_body(worker, &is_empty, err) < 0) {
        intakework_reject(worker, service, 1, err);
        return -1;
    }
    if (is_empty) {
        intakework_accept(worker, service, 1, INTAKE_EMPTY);
        return 0;
    }
    return intakework_store(worker, &worker->batch, &delivery, err);
}
