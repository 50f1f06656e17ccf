// SPDX-License-Identifier: Apache-2.0
#include "cli/showtrace.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/units.h"
#include "base/vec.h"
#include "cli/sparkline.h"
#include "cli/table.h"
#include "join/tracelink.h"
#include "query/idtext.h"
#include "wire/json_reader.h"

#include <stdlib.h>

/* --- what is common to all spans --- */

struct service {
    struct slice name;
    uint32_t n_spans, n_errors;
};

/* A trace as a whole. */
struct summary {
    int64_t start_ns, end_ns;
    uint32_t n_errors;
    const struct span *root; /* the first in the waterfall */
    struct service *services;
    uint32_t n_services;
    uint32_t *resources; /* of each span its number */
    const struct span_resource **all_resources;
    uint32_t n_resources;
};

static const struct span *span_of(const struct showtrace *show, uint32_t node)
{
    return &show->trace.spans[show->tree.nodes[node].span];
}

static struct hash128 hash_value(struct hash128 hash, const struct span_value *value)
{
    struct hash128 text = { 0 };

    switch (value->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_BOOL:
    case SPAN_VALUE_INT: text.a = (uint64_t)value->integer; break;
    case SPAN_VALUE_DOUBLE: memcpy(&text.a, &value->real, sizeof(text.a)); break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_BYTES:
    case SPAN_VALUE_JSON: text = hash_bytes(value->text, 0); break;
    }
    return hash_fold(hash_fold(hash, text.a, text.b), value->kind, 0);
}

/* Equal resources may have come apart, with other spans. */
static struct hash128 hash_resource(const struct span_resource *resource)
{
    struct hash128 hash = hash_bytes(resource->service, 0);

    for (uint32_t i = 0; i < resource->attributes.n; i++) {
        struct hash128 key = hash_bytes(resource->attributes.items[i].key, 0);

        hash = hash_value(hash_fold(hash, key.a, key.b), &resource->attributes.items[i].value);
    }
    return hash;
}

static int most_spans_first(const void *a, const void *b)
{
    const struct service *x = a, *y = b;

    if (x->n_spans != y->n_spans)
        return x->n_spans > y->n_spans ? -1 : 1;
    return slice_compare(x->name, y->name);
}

static int count_span(const struct showtrace *show, uint32_t node, struct hash_set *services,
                      struct hash_set *resources, struct summary *summary, struct error *err)
{
    const struct span *span = span_of(show, node);
    uint32_t service, *resource = &summary->resources[show->tree.nodes[node].span];
    bool is_new;

    summary->start_ns = MIN(summary->start_ns, span->start_ns);
    summary->end_ns = MAX(summary->end_ns, spantree_end_ns(span));
    summary->n_errors += span->status == SPAN_ERROR;
    if (hash_set_add(services, hash_bytes(span->resource->service, 0), &service, &is_new, err) < 0)
        return -1;
    if (is_new)
        summary->services[summary->n_services++] = (struct service){ .name = span->resource->service };
    summary->services[service].n_spans++;
    summary->services[service].n_errors += span->status == SPAN_ERROR;
    if (hash_set_add(resources, hash_resource(span->resource), resource, &is_new, err) < 0)
        return -1;
    if (is_new)
        summary->all_resources[summary->n_resources++] = span->resource;
    return 0;
}

static int summarise(const struct showtrace *show, struct arena *arena, struct summary *ret_summary, struct error *err)
{
    struct summary summary = { .start_ns = INT64_MAX, .end_ns = INT64_MIN, .root = span_of(show, 0) };
    struct hash_set services, resources;
    int result = 0;

    summary.services = ARENA_ARRAY(arena, struct service, show->tree.n, err);
    summary.resources = summary.services ? ARENA_ARRAY(arena, uint32_t, show->tree.n, err) : NULL;
    summary.all_resources =
        summary.resources ? ARENA_ARRAY(arena, const struct span_resource *, show->tree.n, err) : NULL;
    if (!summary.all_resources)
        return -1;
    hash_set_init(&services, 0);
    hash_set_init(&resources, 0);
    for (uint32_t i = 0; result == 0 && i < show->tree.n; i++)
        result = count_span(show, i, &services, &resources, &summary, err);
    hash_set_done(&services);
    hash_set_done(&resources);
    if (result < 0)
        return -1;
    qsort(summary.services, summary.n_services, sizeof(*summary.services), most_spans_first);
    *ret_summary = summary;
    return 0;
}

/* --- JSON --- */

struct writing {
    const struct showtrace *show;
    const struct summary *summary;
    struct arena *arena;
    struct json json;
    struct buffer scratch;
};

static void put_text(struct writing *w, const char *key, struct slice text)
{
    json_key(&w->json, key);
    json_string(&w->json, text);
}

static void put_number(struct writing *w, const char *key, int64_t value)
{
    json_key(&w->json, key);
    json_int(&w->json, value);
}

static void put_truth(struct writing *w, const char *key, bool value)
{
    json_key(&w->json, key);
    json_bool(&w->json, value);
}

/* A text that says it is JSON may have been cut: then it is a text. */
static void put_json(struct writing *w, struct slice text)
{
    struct json_reader reader;
    struct error ignored;

    json_reader_init(&reader, text, w->arena, JSON_READER_MAX_DEPTH);
    json_reader_skip(&reader);
    json_reader_end(&reader);
    if (json_reader_check(&reader, &ignored) == 0)
        json_raw(&w->json, text);
    else
        json_string(&w->json, text);
}

static void put_value(struct writing *w, const struct span_value *value)
{
    switch (value->kind) {
    case SPAN_VALUE_EMPTY: json_null(&w->json); break;
    case SPAN_VALUE_TEXT: json_string(&w->json, value->text); break;
    case SPAN_VALUE_BOOL: json_bool(&w->json, value->integer != 0); break;
    case SPAN_VALUE_INT: json_int(&w->json, value->integer); break;
    case SPAN_VALUE_DOUBLE: json_double(&w->json, value->real); break;
    case SPAN_VALUE_BYTES:
        buffer_clear(&w->scratch);
        base64_encode(value->text, true, &w->scratch);
        json_string(&w->json, buffer_slice(&w->scratch));
        break;
    case SPAN_VALUE_JSON: put_json(w, value->text); break;
    }
}

static void put_attributes(struct writing *w, const struct span_attributes *attributes)
{
    json_key(&w->json, "attributes");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < attributes->n; i++) {
        json_object_begin(&w->json);
        put_text(w, "key", attributes->items[i].key);
        json_key(&w->json, "value");
        put_value(w, &attributes->items[i].value);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_events(struct writing *w, const struct span *span)
{
    json_key(&w->json, "events");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < span->n_events; i++) {
        int64_t offset_ns;

        if (__builtin_sub_overflow(span->events[i].time_ns, w->summary->start_ns, &offset_ns))
            offset_ns = 0;
        json_object_begin(&w->json);
        put_number(w, "offset_ns", offset_ns);
        put_text(w, "name", span->events[i].name);
        put_attributes(w, &span->events[i].attributes);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_links(struct writing *w, const struct span *span)
{
    json_key(&w->json, "links");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < span->n_links; i++) {
        json_object_begin(&w->json);
        put_text(w, "trace_id", slice_from(idtext_of_trace(span->links[i].trace_id).text));
        put_text(w, "span_id", slice_from(idtext_of_span(span->links[i].span_id).text));
        put_attributes(w, &span->links[i].attributes);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_samples(struct writing *w, uint32_t span)
{
    json_key(&w->json, "samples");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < w->show->samples.n_types; i++) {
        const struct spansamples_type *type = &w->show->samples.types[i];

        if (type->n_samples[span] == 0)
            continue;
        json_object_begin(&w->json);
        put_text(w, "type", type->type);
        put_text(w, "unit", type->unit);
        json_key(&w->json, "n_samples");
        json_uint(&w->json, type->n_samples[span]);
        put_number(w, "value", type->values[span]);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_latency(struct writing *w, const struct span *span, const struct spantree_node *node)
{
    struct spansamples_latency latency = spansamples_latency(&w->show->samples, span, node);

    json_key(&w->json, "latency");
    json_object_begin(&w->json);
    put_number(w, "cpu_ns", latency.cpu_ns);
    if (latency.has_off_cpu)
        put_number(w, "off_cpu_ns", latency.off_cpu_ns);
    else {
        json_key(&w->json, "off_cpu_ns");
        json_null(&w->json);
    }
    put_number(w, "children_ns", latency.children_ns);
    put_number(w, "unknown_ns", latency.unknown_ns);
    json_object_end(&w->json);
}

static void put_parent(struct writing *w, const struct span *span)
{
    json_key(&w->json, "parent_id");
    if (idtext_is_there(span->parent_id, SPAN_ID_BYTES))
        json_text(&w->json, idtext_of_span(span->parent_id).text);
    else
        json_null(&w->json);
}

/* "name version", or null. */
static void put_scope(struct writing *w, const struct span_scope *scope)
{
    json_key(&w->json, "scope");
    if (!scope || (!scope->name.len && !scope->version.len)) {
        json_null(&w->json);
        return;
    }
    buffer_clear(&w->scratch);
    buffer_append_slice(&w->scratch, scope->name);
    buffer_append_text(&w->scratch, scope->name.len && scope->version.len ? " " : "");
    buffer_append_slice(&w->scratch, scope->version);
    json_string(&w->json, buffer_slice(&w->scratch));
}

static const char *const kind_words[SPAN_KIND_COUNT] = { "unspecified", "internal", "server",
                                                         "client",      "producer", "consumer" };
static const char *const status_words[SPAN_STATUS_COUNT] = { "unset", "ok", "error" };

static void put_span(struct writing *w, uint32_t place)
{
    const struct spantree_node *node = &w->show->tree.nodes[place];
    const struct span *span = &w->show->trace.spans[node->span];

    json_object_begin(&w->json);
    put_text(w, "span_id", slice_from(idtext_of_span(span->span_id).text));
    put_parent(w, span);
    put_number(w, "resource", w->summary->resources[node->span]);
    put_text(w, "service", span->resource->service);
    put_text(w, "operation", span->name);
    put_text(w, "kind", slice_from(kind_words[span->kind < SPAN_KIND_COUNT ? span->kind : SPAN_UNSPECIFIED]));
    put_number(w, "offset_ns", span->start_ns - w->summary->start_ns);
    put_number(w, "duration_ns", span->duration_ns);
    put_text(w, "status", slice_from(status_words[span->status < SPAN_STATUS_COUNT ? span->status : SPAN_UNSET]));
    put_text(w, "message", span->status_message);
    put_number(w, "depth", node->depth);
    put_truth(w, "is_local_root", node->is_local_root);
    put_truth(w, "is_orphan", node->is_orphan);
    put_scope(w, span->scope);
    put_attributes(w, &span->attributes);
    put_number(w, "n_dropped_attributes", span->attributes.n_dropped);
    put_events(w, span);
    put_links(w, span);
    put_samples(w, node->span);
    put_latency(w, span, node);
    json_object_end(&w->json);
}

static void put_link_out(struct writing *w)
{
    const struct summary *summary = w->summary;
    struct tracelink link = { .trace_id = summary->root->trace_id,
                              .span_id = summary->root->span_id,
                              .service = summary->root->resource->service,
                              .start_ns = summary->start_ns,
                              .end_ns = summary->end_ns };

    json_key(&w->json, "link");
    if (!w->show->link) {
        json_null(&w->json);
        return;
    }
    buffer_clear(&w->scratch);
    tracelink_expand(slice_from(w->show->link), &link, &w->scratch);
    json_string(&w->json, buffer_slice(&w->scratch));
}

static void put_services(struct writing *w)
{
    json_key(&w->json, "services");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < w->summary->n_services; i++) {
        json_object_begin(&w->json);
        put_text(w, "name", w->summary->services[i].name);
        put_number(w, "n_spans", w->summary->services[i].n_spans);
        put_number(w, "n_errors", w->summary->services[i].n_errors);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static void put_resources(struct writing *w)
{
    json_key(&w->json, "resources");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < w->summary->n_resources; i++) {
        json_object_begin(&w->json);
        put_text(w, "service", w->summary->all_resources[i]->service);
        put_attributes(w, &w->summary->all_resources[i]->attributes);
        json_object_end(&w->json);
    }
    json_array_end(&w->json);
}

static int64_t length_of(const struct summary *summary)
{
    int64_t length_ns;

    return __builtin_sub_overflow(summary->end_ns, summary->start_ns, &length_ns) ? INT64_MAX : length_ns;
}

static void put_trace(struct writing *w)
{
    json_object_begin(&w->json);
    put_text(w, "trace_id", slice_from(idtext_of_trace(w->summary->root->trace_id).text));
    put_number(w, "start_ns", w->summary->start_ns);
    put_number(w, "duration_ns", length_of(w->summary));
    put_number(w, "n_spans", w->show->tree.n);
    put_number(w, "n_errors", w->summary->n_errors);
    put_truth(w, "is_cut", w->show->trace.is_cut);
    put_text(w, "attribution", slice_from(askspans_words[w->show->attribution]));
    put_link_out(w);
    put_services(w);
    put_resources(w);
    json_key(&w->json, "spans");
    json_array_begin(&w->json);
    for (uint32_t i = 0; i < w->show->tree.n; i++)
        put_span(w, i);
    json_array_end(&w->json);
    json_object_end(&w->json);
}

int showtrace_json(const struct showtrace *show, struct arena *arena, struct buffer *out, struct error *err)
{
    struct summary summary;
    struct writing *w;
    int result;

    if (summarise(show, arena, &summary, err) < 0)
        return -1;
    w = ARENA_NEW(arena, struct writing, err);
    if (!w)
        return -1;
    *w = (struct writing){ .show = show, .summary = &summary, .arena = arena };
    buffer_init(&w->scratch, 0);
    json_init(&w->json, out, JSON_COMPACT);
    put_trace(w);
    json_done(&w->json);
    result = buffer_check(&w->scratch, err);
    buffer_done(&w->scratch);
    return result;
}

/* --- the waterfall --- */

enum { BAR_MIN = 16, BAR_MAX = 60, MAX_INDENT = 30 };

/* A bar: spaces, what was on a CPU, the rest. It is never without a mark. */
static void draw_bar(struct table *table, const struct summary *summary, const struct span *span, int64_t cpu_ns,
                     size_t width, bool is_ascii)
{
    double whole = (double)MAX(length_of(summary), 1);
    size_t first = (size_t)((double)(span->start_ns - summary->start_ns) / whole * (double)width);
    size_t end = (size_t)((double)(spantree_end_ns(span) - summary->start_ns) / whole * (double)width + 0.5), busy;
    AUTO(buffer_done) struct buffer bar;

    buffer_init(&bar, 0);
    first = MIN(first, width - 1);
    end = MIN(MAX(end, first + 1), width);
    busy = (size_t)((double)cpu_ns / (double)MAX(span->duration_ns, 1) * (double)(end - first) + 0.5);
    busy = MIN(cpu_ns > 0 ? MAX(busy, 1u) : 0, end - first);
    for (size_t i = 0; i < first; i++)
        buffer_append_byte(&bar, ' ');
    for (size_t i = first; i < end; i++)
        buffer_append_text(&bar, i < first + busy ? (is_ascii ? "#" : "█") : (is_ascii ? "-" : "░"));
    if (bar.failure.code != ERR_OK)
        table->failure = bar.failure;
    else
        table_cell(table, buffer_slice(&bar));
}

/* The operation, as deep as it is, its service where that is another one than above, and whether it failed. */
static int name_cell(struct table *table, const struct showtrace *show, uint32_t place, struct error *err)
{
    const struct spantree_node *node = &show->tree.nodes[place];
    const struct span *span = span_of(show, place);
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    for (uint32_t i = 0; i < MIN(node->depth, (uint32_t)MAX_INDENT); i++)
        buffer_append_text(&text, "  ");
    if (node->depth > MAX_INDENT)
        buffer_printf(&text, "(%u) ", node->depth);
    if (node->parent == SPANTREE_NONE ||
        !slice_equal(span_of(show, node->parent)->resource->service, span->resource->service))
        buffer_printf(&text, "%.*s: ", SLICE_ARG(span->resource->service));
    buffer_append_slice(&text, span->name);
    if (buffer_check(&text, err) < 0)
        return -1;
    table_cell_name(table, "", buffer_slice(&text),
                    span->status == SPAN_ERROR ? " (failed)"
                    : node->is_orphan          ? " (its parent is missing)"
                                               : "");
    return 0;
}

static int print_span(struct table *table, const struct showtrace *show, const struct summary *summary, uint32_t place,
                      size_t width, bool is_ascii, struct error *err)
{
    const struct spantree_node *node = &show->tree.nodes[place];
    const struct span *span = span_of(show, place);
    struct spansamples_latency latency = spansamples_latency(&show->samples, span, node);

    table_row(table, span->status == SPAN_ERROR ? TABLE_RED : TABLE_PLAIN);
    draw_bar(table, summary, span, latency.cpu_ns, width, is_ascii);
    table_cell(table, slice_from(units_human_ns(span->duration_ns).text));
    table_cell(table, latency.cpu_ns ? slice_from(units_human_ns(latency.cpu_ns).text) : SLICE("-"));
    table_cell(table, slice_from(units_human_ns(span->duration_ns - latency.children_ns).text));
    table_cell(table, slice_from(idtext_of_span(span->span_id).text));
    return name_cell(table, show, place, err);
}

static void print_title(const struct showtrace *show, const struct summary *summary, struct buffer *out)
{
    char time[CLOCK_TEXT_BYTES];

    buffer_printf(out, "trace %s: %u span%s of %u service%s", idtext_of_trace(summary->root->trace_id).text,
                  show->tree.n, show->tree.n == 1 ? "" : "s", summary->n_services, summary->n_services == 1 ? "" : "s");
    if (summary->n_errors)
        buffer_printf(out, ", %u failed", summary->n_errors);
    buffer_printf(out, ", %s from %s\n", units_human_ns(length_of(summary)).text,
                  clock_format(summary->start_ns, CLOCK_ZONE_UTC, 3, time));
}

int showtrace_print(const struct showtrace *show, struct command_context *context, struct buffer *out,
                    struct error *err)
{
    static const struct table_column columns[] = { { "WHEN", TABLE_LEFT }, { "TOOK", TABLE_RIGHT },
                                                   { "CPU", TABLE_RIGHT }, { "ITSELF", TABLE_RIGHT },
                                                   { "SPAN", TABLE_LEFT }, { "OPERATION", TABLE_LEFT } };
    size_t width = MIN(MAX(context->world->width / 4, (unsigned)BAR_MIN), (unsigned)BAR_MAX);
    bool is_ascii = !sparkline_has_utf8(context->world->environment);
    struct summary summary;
    struct table table;

    if (summarise(show, context->arena, &summary, err) < 0)
        return -1;
    print_title(show, &summary, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t i = 0; i < show->tree.n; i++)
        if (print_span(&table, show, &summary, i, width, is_ascii, err) < 0)
            return -1;
    return table_print(&table, context->has_colour, out, err);
}
