// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapequeue.h"

#include "base/hash.h"
#include "base/test.h"

TEST(scrapequeue_gives_items_by_time)
{
    static struct scrapequeue_item items[500];
    struct scrapequeue queue = { 0 };
    struct error err;
    size_t n = 0;

    CHECK(!scrapequeue_first(&queue));
    CHECK_OK(scrapequeue_reserve(&queue, ARRAY_LEN(items), &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(items); i++) {
        items[i].due_mono_ns = (int64_t)(hash_mix64(i) % 200); /* with equals */
        scrapequeue_add(&queue, &items[i]);
    }
    for (int64_t before = 0; scrapequeue_first(&queue); n++) {
        CHECK(scrapequeue_first(&queue)->due_mono_ns >= before);
        before = scrapequeue_first(&queue)->due_mono_ns;
        scrapequeue_pop(&queue);
    }
    CHECK_EQ(n, ARRAY_LEN(items));
    scrapequeue_done(&queue);
}

TEST(scrapequeue_takes_items_back_at_a_later_time)
{
    struct scrapequeue_item a = { 10 }, b = { 20 }, c = { 30 };
    struct scrapequeue queue = { 0 };
    struct error err;

    CHECK_OK(scrapequeue_reserve(&queue, 3, &err), &err);
    scrapequeue_add(&queue, &c);
    scrapequeue_add(&queue, &a);
    scrapequeue_add(&queue, &b);
    CHECK(scrapequeue_first(&queue) == &a);
    scrapequeue_pop(&queue);
    a.due_mono_ns = 25;
    scrapequeue_add(&queue, &a);
    CHECK(scrapequeue_first(&queue) == &b);
    scrapequeue_pop(&queue);
    CHECK(scrapequeue_first(&queue) == &a);
    scrapequeue_clear(&queue);
    CHECK(!scrapequeue_first(&queue));
    scrapequeue_done(&queue);
}
