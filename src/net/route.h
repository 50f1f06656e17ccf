// SPDX-License-Identifier: Apache-2.0
/* The table of routes: what paths there are, who may ask them and who answers. Reference pages come from it too. */
#pragma once

#include "net/exchange.h"

enum route_scope {
    ROUTE_PUBLIC, /* health and the like */
    ROUTE_WRITE,  /* brings data */
    ROUTE_READ,   /* asks for data */
    ROUTE_ADMIN,  /* changes the server */
};
const char *route_scope_name(enum route_scope scope);

struct route_parameter {
    const char *name; /* "from" */
    const char *help; /* a sentence */
};
#define ROUTE_MAX_PARAMETERS 16

/* How an answer says that a request failed. */
enum route_failure {
    ROUTE_FAILS_AS_JSON,   /* {"code": "invalid_argument", "message": ...} */
    ROUTE_FAILS_AS_STATUS, /* google.rpc.Status in the encoding of the request, or a sentence where that is not known */
    ROUTE_FAILS_AS_TEXT,   /* a sentence */
};

struct route {
    enum http_method method; /* GET answers HEAD too */
    /* "/ready", or with a '*' at its end for whatever follows. With `is_procedure` anything may stand in front, as Connect
     * allows. */
    const char *path;
    enum route_scope scope;
    const char *summary; /* a sentence */
    void (*handler)(struct exchange *exchange);
    /* Called instead of the handler when the pool has no room, in the thread that takes overflow; NULL = 503. */
    void (*overflow)(struct exchange *exchange);
    /* Called instead of both when there is no room for that either, on the loop; NULL = 429. */
    void (*refuse)(struct exchange *exchange);
    /* Whose turn the pool should count it as: equal numbers share a turn. Called on the loop. NULL = by the peer. */
    uint64_t (*lane)(const struct exchange *exchange);
    /* Looks at the headers before the body is read: an answer given here ends it. Called on the loop. May be NULL. */
    void (*admit)(struct exchange *exchange);
    /* Told that the body is larger than it may be; it is answered already. Called on the loop. May be NULL. */
    void (*too_large)(struct exchange *exchange);
    uint64_t max_body_bytes;                                 /* 0 = the server's */
    bool is_quick;                                           /* the handler runs on the loop */
    bool is_procedure;                                       /* of an RPC service */
    struct route_parameter parameters[ROUTE_MAX_PARAMETERS]; /* up to the first without a name */
    /* What descriptions of the API tell beside. Media types have commas between. */
    const char *consumes; /* of the body; NULL = application/octet-stream, or what procedures take */
    const char *produces; /* of good answers; "" = no body, NULL = application/json, or what procedures give */
    int good_status;      /* of good answers; 0 = 200 */
    enum route_failure failure;
    bool is_absent; /* clients ask for it, hearth has no such thing: always 501 */
    void *context;  /* exchange->context of its handlers; NULL = the server's. Set by route_join */
};

struct route_table {
    const struct route *routes;
    size_t n;
};

/* A table whose handlers have a context of their own. */
struct route_mount {
    const struct route_table *table;
    void *context; /* NULL = the server's */
};
/* All rows of several tables as one, in their order; freed with memory_free(table.routes). Errors: ERR_MEMORY. */
MUST_CHECK int route_join(const struct route_mount *mounts, size_t n, struct route_table *ret_table, struct error *err);

/* The route of a request, or NULL with the status that says why: 404, or 405 with the methods that the path knows, as an
 * Allow header has them, in `ret_allowed` (from the arena). */
const struct route *route_find(const struct route_table *table, enum http_method method, struct slice path,
                               struct arena *arena, int *ret_status, struct slice *ret_allowed);
