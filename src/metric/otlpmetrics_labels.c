// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "metric/metricseries.h"
#include "metric/otlpmetrics_internal.h"
#include "wire/keyvalue.h"

/* Has the last label give way to one that comes before it: false if there is none. The service stays: without it nobody
 * finds the series. */
static bool make_room(struct otlpmetrics_labels *labels, struct slice key)
{
    uint32_t last = labels->n - 1;
    bool is_service = slice_equal(labels->items[last].key, METRICSERIES_SERVICE);
    uint32_t victim = is_service ? last - 1 : last;

    if (slice_compare(key, labels->items[victim].key) > 0)
        return false;
    labels->items[victim] = labels->items[last];
    labels->n--;
    return true;
}

/* Where a label of the key stands, or would: it is there if `*ret_is_there`. */
static uint32_t find_place(const struct otlpmetrics_labels *labels, struct slice key, bool *ret_is_there)
{
    uint32_t at = labels->n;
    int order = 1;

    while (at > 0 && (order = slice_compare(key, labels->items[at - 1].key)) < 0)
        at--;
    *ret_is_there = at > 0 && order == 0;
    return at;
}

void otlpmetrics_labels_add(struct otlpmetrics_labels *labels, struct slice key, struct slice value)
{
    bool is_there;
    uint32_t at = find_place(labels, key, &is_there);

    if (key.len == 0 || value.len == 0 || is_there)
        return;
    if (labels->n == METRIC_MAX_LABELS) {
        if (!make_room(labels, key))
            return;
        at = find_place(labels, key, &is_there);
    }
    memmove(&labels->items[at + 1], &labels->items[at], (labels->n - at) * sizeof(labels->items[0]));
    labels->items[at] = (struct metric_label){ key, value };
    labels->n++;
}

/* A single value as text; empty for lists, maps, bytes and nothing. */
static int value_text(const struct keyvalue *value, struct arena *arena, struct slice *ret_text, struct error *err)
{
    char digits[JSON_NUMBER_BYTES];

    *ret_text = SLICE("");
    switch (value->kind) {
    case KEYVALUE_TEXT: return keyvalue_mend(value->text, METRIC_MAX_VALUE_BYTES, arena, ret_text, err);
    case KEYVALUE_BOOL: *ret_text = value->integer ? SLICE("true") : SLICE("false"); return 0;
    case KEYVALUE_INT: ret_text->ptr = arena_printf(arena, err, "%lld", (long long)value->integer); break;
    case KEYVALUE_DOUBLE:
        if (!__builtin_isfinite(value->real))
            return 0;
        json_number(value->real, digits);
        ret_text->ptr = arena_printf(arena, err, "%s", digits);
        break;
    case KEYVALUE_EMPTY:
    case KEYVALUE_BYTES:
    case KEYVALUE_LIST:
    case KEYVALUE_MAP: return 0;
    }
    if (!ret_text->ptr)
        return -1;
    ret_text->len = strlen(ret_text->ptr);
    return 0;
}

int otlpmetrics_labels_read(struct otlpmetrics_labels *labels, struct protobuf_reader *r, struct arena *arena,
                            struct error *err)
{
    struct keyvalue attribute = keyvalue_read(r);
    struct slice key, value;

    if (r->bad)
        return 0;
    if (keyvalue_mend(attribute.key, METRIC_MAX_NAME_BYTES, arena, &key, err) < 0 ||
        value_text(&attribute, arena, &value, err) < 0)
        return -1;
    otlpmetrics_labels_add(labels, key, value);
    return 0;
}

int otlpmetrics_resource_add(struct otlpmetrics_resource *resource, struct protobuf_reader *r, struct arena *arena,
                             struct error *err)
{
    const struct {
        const char *key;
        struct slice *text;
    } known[] = {
        { "service.name", &resource->service },
        { "service.instance.id", &resource->instance },
        { "service.version", &resource->version },
        { "host.name", &resource->host },
        { "process.executable.name", &resource->executable },
        { "process.pid", &resource->pid },
    };
    struct keyvalue attribute = keyvalue_read(r);

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_is(attribute.key, known[i].key))
            return value_text(&attribute, arena, known[i].text, err);
    return 0;
}

int otlpmetrics_resource_labels(const struct otlpmetrics_resource *resource, struct arena *arena,
                                struct otlpmetrics_labels *ret_labels, struct error *err)
{
    struct slice service = resource->service, instance = resource->instance;

    /* As for profiles and spans, so that they find each other. */
    if (service.len == 0)
        service = resource->executable;
    if (service.len == 0)
        service = SLICE("unknown_service");
    if (instance.len == 0 && resource->pid.len) {
        instance = slice_from(arena_printf(arena, err, "%.*s%s%.*s", SLICE_ARG(resource->host),
                                           resource->host.len ? ":" : "", SLICE_ARG(resource->pid)));
        if (!instance.ptr)
            return -1;
    }
    ret_labels->n = 0;
    otlpmetrics_labels_add(ret_labels, METRICSERIES_SERVICE, slice_sub(service, 0, METRIC_MAX_VALUE_BYTES));
    otlpmetrics_labels_add(ret_labels, SLICE("instance"),
                           slice_sub(instance.len ? instance : resource->host, 0, METRIC_MAX_VALUE_BYTES));
    otlpmetrics_labels_add(ret_labels, SLICE("version"), resource->version);
    otlpmetrics_labels_add(ret_labels, SLICE("host"), resource->host);
    return 0;
}
