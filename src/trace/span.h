// SPDX-License-Identifier: Apache-2.0
/* A span: one operation of one service, as part of a trace. Everything borrows; what a reader gives comes from its arena or
 * from the bytes it read.
 *
 * P1  A span is known by its trace, its own id and its kind: the two sides of a call may share an id, as Zipkin has it.
 * P2  Ids are never all zeros, but for parent_id, where zeros mean that there is none.
 * P3  What is kept of a span is bounded (SPAN_MAX_*): the rest is left out and counted where senders count it too. */
#pragma once

#include "base/slice.h"

#define SPAN_TRACE_ID_BYTES 16
#define SPAN_ID_BYTES       8

#define SPAN_MAX_ATTRIBUTES       64 /* of a span; more are left out */
#define SPAN_MAX_RESOURCE         64 /* attributes of a resource */
#define SPAN_MAX_EVENTS           64
#define SPAN_MAX_EVENT_ATTRIBUTES 16
#define SPAN_MAX_LINKS            32
#define SPAN_MAX_NAME_BYTES       256  /* of names, services and keys; cut */
#define SPAN_MAX_VALUE_BYTES      2048 /* of a text; cut */

/* OTLP's numbers. */
enum span_kind { SPAN_UNSPECIFIED, SPAN_INTERNAL, SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER, SPAN_CONSUMER };
#define SPAN_KIND_COUNT (SPAN_CONSUMER + 1)
enum span_status { SPAN_UNSET, SPAN_OK, SPAN_ERROR };
#define SPAN_STATUS_COUNT (SPAN_ERROR + 1)

enum span_value_kind {
    SPAN_VALUE_EMPTY,
    SPAN_VALUE_TEXT,
    SPAN_VALUE_BOOL,
    SPAN_VALUE_INT,
    SPAN_VALUE_DOUBLE,
    SPAN_VALUE_BYTES,
    SPAN_VALUE_JSON, /* lists and maps, as the text that JSON has for them */
};
#define SPAN_VALUE_KIND_COUNT (SPAN_VALUE_JSON + 1)

struct span_value {
    enum span_value_kind kind;
    union {
        struct slice text; /* of texts, bytes and JSON */
        int64_t integer;   /* of integers, and 0 or 1 of booleans */
        double real;
    };
};

struct span_attribute {
    struct slice key;
    struct span_value value;
};
struct span_attributes {
    const struct span_attribute *items;
    uint32_t n;
    uint32_t n_dropped; /* by the sender, and here */
};

/* Who did it. `service` is the attribute service.name, else process.executable.name, else "unknown_service": as profiles have
 * it, so that the two find each other. */
struct span_resource {
    struct slice service;
    struct span_attributes attributes;
};
struct span_scope {
    struct slice name, version;
};

struct span_event {
    int64_t time_ns;
    struct slice name;
    struct span_attributes attributes;
};
struct span_link {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint32_t flags;
    struct slice state;
    struct span_attributes attributes;
};

struct span {
    uint8_t trace_id[SPAN_TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t parent_id[SPAN_ID_BYTES];
    uint8_t kind;   /* enum span_kind */
    uint8_t status; /* enum span_status */
    uint32_t flags;
    int64_t start_ns;
    int64_t duration_ns; /* never negative */
    struct slice name;   /* the operation */
    struct slice status_message;
    struct slice state; /* W3C tracestate */
    const struct span_resource *resource;
    const struct span_scope *scope; /* NULL = none */
    struct span_attributes attributes;
    const struct span_event *events;
    uint32_t n_events, n_dropped_events;
    const struct span_link *links;
    uint32_t n_links, n_dropped_links;
};

/* Several spans, as a request brings them. */
struct span_list {
    const struct span *items;
    size_t n;
};
