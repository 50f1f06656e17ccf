// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"
#include "base/test.h"
#include "net/route.h"

#include <stdio.h>

static void answer(struct exchange *exchange UNUSED) {}

static const struct route routes[] = {
    { HTTP_GET, "/ready", ROUTE_PUBLIC, "Whether the server is ready.", answer },
    { HTTP_POST, "/ready", ROUTE_ADMIN, "Says so.", answer },
    { HTTP_POST, "/push.v1.PusherService/Push", ROUTE_WRITE, "Takes profiles.", answer, .is_procedure = true },
    { HTTP_GET, "/files/*", ROUTE_READ, "A file.", answer },
};
static const struct route_table table = { routes, ARRAY_LEN(routes) };

static const struct route *find(enum http_method method, const char *path, int *ret_status, char allowed[64])
{
    struct arena arena;
    struct slice methods = { 0 };
    const struct route *route;

    arena_init(&arena, 0);
    *ret_status = 0;
    route = route_find(&table, method, slice_from(path), &arena, ret_status, &methods);
    if (allowed)
        snprintf(allowed, 64, "%.*s", SLICE_ARG(methods));
    arena_done(&arena);
    return route;
}

TEST(a_route_is_found_by_method_and_path)
{
    int status;

    CHECK(find(HTTP_GET, "/ready", &status, NULL) == &routes[0]);
    CHECK(find(HTTP_HEAD, "/ready", &status, NULL) == &routes[0]);
    CHECK(find(HTTP_POST, "/ready", &status, NULL) == &routes[1]);
    CHECK(find(HTTP_GET, "/files/a/b", &status, NULL) == &routes[3]);
}

TEST(anything_may_stand_in_front_of_a_procedure)
{
    int status;

    CHECK(find(HTTP_POST, "/push.v1.PusherService/Push", &status, NULL) == &routes[2]);
    CHECK(find(HTTP_POST, "/a/b/push.v1.PusherService/Push", &status, NULL) == &routes[2]);
    CHECK(!find(HTTP_POST, "/a/ready", &status, NULL));
    CHECK_EQ(status, 404);
}

TEST(a_wrong_method_is_told_the_right_ones)
{
    char allowed[64];
    int status;

    CHECK(!find(HTTP_PUT, "/ready", &status, allowed));
    CHECK_EQ(status, 405);
    CHECK_TEXT(allowed, "GET, HEAD, POST");
    CHECK(!find(HTTP_GET, "/nothing", &status, allowed));
    CHECK_EQ(status, 404);
    CHECK_TEXT(allowed, "");
}

TEST(joined_tables_keep_their_order_and_give_their_rows_a_context)
{
    struct route_table first = { routes, 2 }, second = { routes + 2, 2 }, all;
    struct route_mount mounts[] = { { &first, NULL }, { &second, &second } };
    struct error err;

    CHECK_OK(route_join(mounts, 2, &all, &err), &err);
    CHECK_EQ(all.n, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(all.routes[i].path == routes[i].path);
        CHECK(all.routes[i].context == (i < 2 ? NULL : (void *)&second));
    }
    memory_free((void *)all.routes);
}
