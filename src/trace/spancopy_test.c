// SPDX-License-Identifier: Apache-2.0
#include "trace/spancopy.h"

#include "trace/tracesample_test.h"

static struct span make_whole(struct arena *arena)
{
    static const struct span_link links[] = { { .flags = 3, .state = SLICE("a=b") } };
    struct span span = tracesample_span(1, 2, 3, TRACESAMPLE_DAY, 500);

    span.status = SPAN_ERROR;
    do {
        span.start_ns++;
        tracesample_dress(&span, arena);
    } while (span.n_events == 0 || !span.scope || span.attributes.n < 3 || span.resource->attributes.n == 0);
    span.links = links;
    span.n_links = 1;
    span.state = SLICE("k=v");
    return span;
}

TEST(spancopy_has_all_there_is_and_borrows_nothing)
{
    struct arena source, arena;
    struct spancopy copy;
    struct span span, made;
    struct error err;

    arena_init(&source, 1 << 20);
    arena_init(&arena, 1 << 20);
    spancopy_init(&copy, &arena);
    span = make_whole(&source);
    CHECK_OK(spancopy_make(&copy, &span, true, &made, &err), &err);
    CHECK(made.name.ptr != span.name.ptr && slice_equal(made.name, span.name));
    CHECK_TEXT(made.status_message, "it broke");
    CHECK_TEXT(made.state, "k=v");
    CHECK_TEXT(made.scope->version, "1.2");
    CHECK_EQ(made.attributes.n, 3);
    CHECK(made.attributes.items != span.attributes.items);
    CHECK_TEXT(made.attributes.items[0].key, "code");
    CHECK_EQ(made.attributes.items[0].value.integer, span.attributes.items[0].value.integer);
    CHECK(slice_equal(made.attributes.items[2].value.text, span.attributes.items[2].value.text));
    CHECK(slice_equal(made.resource->service, span.resource->service));
    CHECK_EQ(made.resource->attributes.n, span.resource->attributes.n);
    CHECK_EQ(made.n_events, 1);
    CHECK_TEXT(made.events[0].name, "retry");
    CHECK_EQ(made.n_links, 1);
    CHECK_TEXT(made.links[0].state, "a=b");
    spancopy_done(&copy);
    arena_done(&arena);
    arena_done(&source);
}

TEST(spancopy_shares_resources_and_scopes_that_say_the_same)
{
    struct span_attribute attribute = { SLICE("host"), { SPAN_VALUE_TEXT, .text = SLICE("b") } };
    struct span_resource other = { SLICE("stock"), { &attribute, 1, 0 } };
    struct span_scope scope = tracesample_scope;
    struct span span = tracesample_span(1, 2, 3, 4, 5), first, second, third;
    struct arena arena;
    struct spancopy copy;
    struct error err;

    arena_init(&arena, 1 << 20);
    spancopy_init(&copy, &arena);
    span.resource = &tracesample_resources[1];
    span.scope = &tracesample_scope;
    CHECK_OK(spancopy_make(&copy, &span, true, &first, &err), &err);
    span.resource = &other;
    span.scope = &scope;
    CHECK_OK(spancopy_make(&copy, &span, true, &second, &err), &err);
    CHECK(first.resource == second.resource);
    CHECK(first.scope == second.scope);
    CHECK(first.name.ptr == second.name.ptr);
    attribute.value.text = SLICE("c");
    spancopy_forget(&copy);
    CHECK_OK(spancopy_make(&copy, &span, true, &third, &err), &err);
    CHECK(third.resource != first.resource);
    CHECK_TEXT(third.resource->attributes.items[0].value.text, "c");
    spancopy_done(&copy);
    arena_done(&arena);
}

TEST(spancopy_of_the_front_leaves_the_rest_out)
{
    struct arena source, arena;
    struct spancopy copy;
    struct span span, made;
    struct error err;

    arena_init(&source, 1 << 20);
    arena_init(&arena, 1 << 20);
    spancopy_init(&copy, &arena);
    span = make_whole(&source);
    CHECK_OK(spancopy_make(&copy, &span, false, &made, &err), &err);
    CHECK(slice_equal(made.resource->service, span.resource->service));
    CHECK(!made.scope && !made.events && !made.links && made.attributes.n == 0 && made.resource->attributes.n == 0);
    CHECK_EQ(made.n_events + made.n_links, 0);
    CHECK_EQ(made.status_message.len + made.state.len, 0);
    spancopy_done(&copy);
    arena_done(&arena);
    arena_done(&source);
}

static int copy_whole(void *context, struct error *err)
{
    struct arena arena;
    struct spancopy copy;
    struct span made;
    int result;

    arena_init(&arena, 1 << 20);
    spancopy_init(&copy, &arena);
    result = spancopy_make(&copy, context, true, &made, err);
    spancopy_done(&copy);
    arena_done(&arena);
    return result;
}

TEST(spancopy_survives_failing_allocations)
{
    struct arena source;
    struct span span;

    arena_init(&source, 1 << 20);
    span = make_whole(&source);
    test_each_allocation_failing(copy_whole, &span);
    arena_done(&source);
}
