// SPDX-License-Identifier: Apache-2.0
#include "demo/outbox.h"

#include "base/clock.h"
#include "base/test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A server that is away for its first posts, and refuses what says "bad". */
struct office {
    _Atomic int n_posts, n_away, n_warnings, n_notes;
    _Atomic bool is_slow;
    char seen[256]; /* of the thread, until the box is closed */
    char warning[256];
};

static int post(void *context, const char *path, struct slice body, struct error *err)
{
    struct office *office = context;

    atomic_fetch_add(&office->n_posts, 1);
    while (atomic_load(&office->is_slow))
        usleep(1000);
    if (atomic_load(&office->n_away) > 0) {
        atomic_fetch_sub(&office->n_away, 1);
        return error_set(err, ERR_IO, "nobody is there");
    }
    if (slice_is(body, "bad"))
        return error_set(err, ERR_INVALID, "the server refuses '%.*s'", SLICE_ARG(body));
    snprintf(office->seen + strlen(office->seen), sizeof(office->seen) - strlen(office->seen), "%s=%.*s ", path,
             SLICE_ARG(body));
    return 0;
}

static void tell(void *context, bool is_warning, const char *text)
{
    struct office *office = context;

    if (is_warning)
        snprintf(office->warning, sizeof(office->warning), "%s", text);
    atomic_fetch_add(is_warning ? &office->n_warnings : &office->n_notes, 1);
}

static struct outbox *open_box(struct office *office)
{
    struct outbox *outbox = NULL;
    struct error err;

    CHECK_OK(outbox_start(&(struct outbox_world){ post, tell, office }, &outbox, &err), &err);
    return outbox;
}

static void push(struct outbox *outbox, const char *path, const char *text)
{
    struct buffer body;
    struct error err;

    buffer_init(&body, 0);
    buffer_append_text(&body, text);
    outbox_push(outbox, path, &body);
    CHECK_EQ(body.len, 0);
    buffer_append_text(&body, "it can be used again");
    CHECK_OK(buffer_check(&body, &err), &err);
    buffer_done(&body);
}

TEST(outbox_sends_in_order_and_all_before_it_ends)
{
    struct office office = { 0 };
    struct outbox *outbox = open_box(&office);

    push(outbox, "/v1/traces", "one");
    push(outbox, "/v1/traces", "bad");
    push(outbox, "/v1/metrics", "two");
    outbox_stop(outbox);
    CHECK_TEXT(office.seen, "/v1/traces=one /v1/metrics=two ");
    CHECK_EQ(office.n_warnings, 1);
    CHECK_TEXT(office.warning, "the server refuses 'bad'");
    outbox_stop(NULL);
}

TEST(outbox_tries_again_until_the_server_is_there)
{
    struct office office = { .n_away = 1 };
    struct outbox *outbox = open_box(&office);

    push(outbox, "/v1/traces", "one");
    while (outbox_counts(outbox).n_sent == 0)
        usleep(5000);
    outbox_stop(outbox);
    CHECK_EQ(office.n_posts, 2);
    CHECK_EQ(office.n_warnings, 1);
    CHECK_TEXT(office.warning, "nobody is there; trying again every 2 s");
    CHECK_EQ(office.n_notes, 1);
    CHECK_TEXT(office.seen, "/v1/traces=one ");
}

TEST(outbox_ends_at_once_when_the_server_is_away)
{
    struct office office = { .n_away = 1000 };
    struct outbox *outbox = open_box(&office);
    int64_t begun_ns = clock_mono_ns();

    push(outbox, "/v1/traces", "one");
    push(outbox, "/v1/traces", "two");
    while (atomic_load(&office.n_posts) == 0)
        usleep(1000);
    outbox_stop(outbox);
    CHECK(clock_mono_ns() - begun_ns < OUTBOX_RETRY_S * CLOCK_NS_PER_SECOND);
    CHECK_EQ(office.n_posts, 1);
}

TEST(outbox_leaves_out_what_does_not_fit)
{
    struct office office = { .is_slow = true };
    struct outbox *outbox = open_box(&office);

    push(outbox, "/", "x");
    while (atomic_load(&office.n_posts) == 0)
        usleep(1000);
    for (int i = 0; i < OUTBOX_MAX_WAITING + 5; i++)
        push(outbox, "/", "x");
    CHECK_EQ(outbox_counts(outbox).n_lost, 5);
    atomic_store(&office.is_slow, false);
    outbox_stop(outbox);
    CHECK_EQ(office.n_posts, OUTBOX_MAX_WAITING + 1);
}

static int open_and_close(void *context UNUSED, struct error *err)
{
    struct office office = { 0 };
    struct outbox *outbox;

    if (outbox_start(&(struct outbox_world){ post, tell, &office }, &outbox, err) < 0)
        return -1;
    outbox_stop(outbox);
    return 0;
}

TEST(outbox_reports_that_memory_ran_out)
{
    test_each_allocation_failing(open_and_close, NULL);
}
