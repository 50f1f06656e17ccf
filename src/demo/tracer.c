// SPDX-License-Identifier: Apache-2.0
#include "demo/tracer.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "trace/otlptraces.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#define SAMPLED_FLAG 1u
#define ENCODE_BYTES ((size_t)64 << 20)

struct tracer {
    struct span_attribute attributes[RELEASES][TRACER_MAX_RESOURCE];
    struct span_resource resources[RELEASES];
    uint64_t seed;
    _Atomic uint64_t next_id;
    struct lock_mutex lock;
    VEC(struct tracer_span) waiting; /* guarded by lock, as the next */
    uint64_t n_lost;
};

/* --- the tracer --- */

static struct span_attribute text_attribute(const char *key, const char *text)
{
    return (struct span_attribute){ slice_from(key), { .kind = SPAN_VALUE_TEXT, .text = slice_from(text) } };
}

/* The same service in all releases: only its version differs. */
static void make_resources(struct tracer *tracer, const struct framesampler_label *resource, uint32_t n)
{
    for (uint32_t release = 0; release < RELEASES; release++) {
        struct span_resource *made = &tracer->resources[release];

        for (uint32_t i = 0; i < n; i++) {
            bool is_version = strcmp(resource[i].key, "service.version") == 0;

            if (strcmp(resource[i].key, "service.name") == 0)
                made->service = slice_from(resource[i].value);
            tracer->attributes[release][i] =
                text_attribute(resource[i].key, is_version ? releases_name(release) : resource[i].value);
        }
        made->attributes = (struct span_attributes){ .items = tracer->attributes[release], .n = n };
    }
}

int tracer_new(const struct framesampler_label *resource, uint32_t n_resource, struct tracer **ret_tracer,
               struct error *err)
{
    struct tracer *tracer = MEMORY_NEW(struct tracer, err);

    if (!tracer)
        return -1;
    ASSERT(n_resource <= TRACER_MAX_RESOURCE);
    make_resources(tracer, resource, n_resource);
    if (getrandom(&tracer->seed, sizeof(tracer->seed), GRND_NONBLOCK) != sizeof(tracer->seed))
        tracer->seed = (uint64_t)clock_now_ns() ^ (uint64_t)(uintptr_t)tracer; /* the machine has just begun */
    lock_mutex_init(&tracer->lock, LOCK_DEMO_SPANS);
    *ret_tracer = tracer;
    return 0;
}

void tracer_free(struct tracer *tracer)
{
    if (!tracer)
        return;
    VEC_DONE(&tracer->waiting);
    lock_mutex_done(&tracer->lock);
    memory_free(tracer);
}

/* --- spans --- */

static uint64_t make_id(struct tracer *tracer)
{
    uint64_t number = atomic_fetch_add_explicit(&tracer->next_id, 1, memory_order_relaxed);
    uint64_t id = hash_mix64(tracer->seed + number);

    return id ? id : 1;
}

void tracer_begin(struct tracer *tracer, const char *name, enum span_kind kind, uint32_t release,
                  const struct framesampler_span *parent, struct tracer_span *ret_span)
{
    uint64_t ids[3] = { make_id(tracer), make_id(tracer), make_id(tracer) };

    *ret_span = (struct tracer_span){
        .kind = kind, .release = release, .name = name, .start_ns = clock_now_ns(), .start_mono_ns = clock_mono_ns()
    };
    memcpy(ret_span->ids.span_id, ids, SPAN_ID_BYTES);
    memcpy(ret_span->ids.trace_id, ids + 1, SPAN_TRACE_ID_BYTES);
    if (parent) {
        memcpy(ret_span->ids.trace_id, parent->trace_id, SPAN_TRACE_ID_BYTES);
        memcpy(ret_span->parent_id, parent->span_id, SPAN_ID_BYTES);
    }
    ret_span->outer = framesampler_set_span(&ret_span->ids);
}

static void set(struct tracer_span *span, const struct tracer_attribute *attribute)
{
    if (span->n_attributes < TRACER_MAX_ATTRIBUTES)
        span->attributes[span->n_attributes++] = *attribute;
}

void tracer_set_text(struct tracer_span *span, const char *key, const char *text)
{
    set(span, &(struct tracer_attribute){ .key = key, .text = text });
}

void tracer_set_number(struct tracer_span *span, const char *key, int64_t number)
{
    set(span, &(struct tracer_attribute){ .key = key, .number = number });
}

void tracer_fail(struct tracer_span *span, const char *type, const char *message)
{
    span->status = SPAN_ERROR;
    span->message = message;
    span->event = "exception";
    span->event_ns = clock_now_ns();
    span->event_attributes[0] = (struct tracer_attribute){ .key = "exception.type", .text = type };
    span->event_attributes[1] = (struct tracer_attribute){ .key = "exception.message", .text = message };
    tracer_set_text(span, "error.type", type);
}

void tracer_link(struct tracer_span *span, const struct framesampler_span *other)
{
    span->link = *other;
    span->has_link = true;
}

void tracer_end(struct tracer *tracer, struct tracer_span *span)
{
    struct tracer_span *kept;
    struct error ignored;

    span->duration_ns = clock_mono_ns() - span->start_mono_ns;
    framesampler_set_span(span->outer);
    LOCK_SCOPE(&tracer->lock);
    kept = VEC_PUSH(&tracer->waiting, TRACER_MAX_WAITING, &ignored);
    if (kept)
        *kept = *span;
    else
        tracer->n_lost++;
}

uint64_t tracer_lost(struct tracer *tracer)
{
    LOCK_SCOPE(&tracer->lock);
    return tracer->n_lost;
}

/* --- sending --- */

static struct span_attributes make_attributes(const struct tracer_attribute *attributes, uint32_t n,
                                              struct span_attribute *room)
{
    for (uint32_t i = 0; i < n; i++)
        room[i] = attributes[i].text
                      ? text_attribute(attributes[i].key, attributes[i].text)
                      : (struct span_attribute){ slice_from(attributes[i].key),
                                                 { .kind = SPAN_VALUE_INT, .integer = attributes[i].number } };
    return (struct span_attributes){ .items = room, .n = n };
}

/* What a span of the model points to. */
struct parts {
    struct span_attribute attributes[TRACER_MAX_ATTRIBUTES], event_attributes[2];
    struct span_event event;
    struct span_link link;
};

static void make_span(const struct tracer *tracer, const struct tracer_span *from, struct parts *parts,
                      struct span *span)
{
    static const struct span_scope scope = { { "hearth demo", 11 }, { NULL, 0 } };

    *span = (struct span){ .kind = (uint8_t)from->kind,
                           .status = (uint8_t)from->status,
                           .flags = SAMPLED_FLAG,
                           .start_ns = from->start_ns,
                           .duration_ns = from->duration_ns,
                           .name = slice_from(from->name),
                           .status_message = slice_from(from->message ? from->message : ""),
                           .resource = &tracer->resources[from->release],
                           .scope = &scope,
                           .attributes = make_attributes(from->attributes, from->n_attributes, parts->attributes) };
    memcpy(span->trace_id, from->ids.trace_id, SPAN_TRACE_ID_BYTES);
    memcpy(span->span_id, from->ids.span_id, SPAN_ID_BYTES);
    memcpy(span->parent_id, from->parent_id, SPAN_ID_BYTES);
    if (from->event) {
        parts->event = (struct span_event){
            .time_ns = from->event_ns,
            .name = slice_from(from->event),
            .attributes =
                make_attributes(from->event_attributes, ARRAY_LEN(from->event_attributes), parts->event_attributes),
        };
        span->events = &parts->event;
        span->n_events = 1;
    }
    if (from->has_link) {
        parts->link = (struct span_link){ .flags = SAMPLED_FLAG };
        memcpy(parts->link.trace_id, from->link.trace_id, SPAN_TRACE_ID_BYTES);
        memcpy(parts->link.span_id, from->link.span_id, SPAN_ID_BYTES);
        span->links = &parts->link;
        span->n_links = 1;
    }
}

static int encode(const struct tracer *tracer, const struct tracer_span *waiting, size_t n, struct arena *arena,
                  struct buffer *out, struct error *err)
{
    struct span *spans = ARENA_ARRAY(arena, struct span, n, err);
    struct parts *parts = spans ? ARENA_ARRAY(arena, struct parts, n, err) : NULL;

    if (!parts)
        return -1;
    for (size_t i = 0; i < n; i++)
        make_span(tracer, &waiting[i], &parts[i], &spans[i]);
    otlptraces_encode(&(struct span_list){ spans, n }, out);
    return buffer_check(out, err);
}

int tracer_encode(struct tracer *tracer, struct buffer *out, size_t *ret_n, struct error *err)
{
    struct tracer_span *waiting;
    struct arena arena;
    int result = 0;
    size_t n;

    lock_mutex_acquire(&tracer->lock);
    waiting = tracer->waiting.items;
    n = tracer->waiting.n;
    tracer->waiting.items = NULL;
    tracer->waiting.n = tracer->waiting.capacity = 0;
    lock_mutex_release(&tracer->lock);
    arena_init(&arena, ENCODE_BYTES);
    if (n > 0)
        result = encode(tracer, waiting, n, &arena, out, err);
    arena_done(&arena);
    memory_free(waiting);
    if (result == 0)
        *ret_n = n;
    return result;
}
