// SPDX-License-Identifier: Apache-2.0
#include "net/route.h"

#include "base/memory.h"

const char *route_scope_name(enum route_scope scope)
{
    static const char *const names[] = {
        [ROUTE_PUBLIC] = "public", [ROUTE_WRITE] = "write", [ROUTE_READ] = "read", [ROUTE_ADMIN] = "admin"
    };

    return names[scope];
}

static bool matches(const struct route *route, struct slice path)
{
    struct slice pattern = slice_from(route->path);

    if (slice_ends_with(pattern, SLICE("*")))
        return slice_starts_with(path, slice_sub(pattern, 0, pattern.len - 1));
    return route->is_procedure ? slice_ends_with(path, pattern) : slice_equal(path, pattern);
}

/* The table has some dozens of rows at most, and comparing lengths settles most of them. */
const struct route *route_find(const struct route_table *table, enum http_method method, struct slice path,
                               struct arena *arena, int *ret_status, struct slice *ret_allowed)
{
    enum http_method asked = method == HTTP_HEAD ? HTTP_GET : method;
    bool is_known[HTTP_METHODS] = { false };
    struct error ignored;
    char *allowed = NULL;

    for (size_t i = 0; i < table->n; i++) {
        if (!matches(&table->routes[i], path))
            continue;
        if (table->routes[i].method == asked)
            return &table->routes[i];
        is_known[table->routes[i].method] = true;
    }
    for (int known = 0; known < HTTP_METHOD_OTHER; known++)
        if (is_known[known])
            allowed = arena_printf(arena, &ignored, "%s%s%s%s", allowed ? allowed : "", allowed ? ", " : "",
                                   http_method_name((enum http_method)known), known == HTTP_GET ? ", HEAD" : "");
    *ret_status = allowed ? 405 : 404;
    *ret_allowed = slice_from(allowed);
    return NULL;
}

int route_join(const struct route_mount *mounts, size_t n, struct route_table *ret_table, struct error *err)
{
    struct route *routes;
    size_t at = 0, total = 0;

    for (size_t i = 0; i < n; i++)
        total += mounts[i].table->n;
    routes = memory_alloc(total * sizeof(*routes), err);
    if (!routes)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < mounts[i].table->n; k++) {
            routes[at] = mounts[i].table->routes[k];
            routes[at++].context = mounts[i].context;
        }
    *ret_table = (struct route_table){ routes, total };
    return 0;
}
