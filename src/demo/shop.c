// SPDX-License-Identifier: Apache-2.0
#include "demo/shop.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "demo/shopwork.h"
#include "unwind/framesampler.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define MAX_PAUSE_NS CLOCK_NS_PER_SECOND

struct clerk {
    struct shop *shop;
    struct thread thread;
    struct shopwork *work;
};

struct shop {
    struct shop_options options;
    struct shopwork_stock stock;
    struct clerk clerks[SHOP_MAX_THREADS];
    _Atomic uint64_t n_served;
};

/* Samples may point here when the shop is long closed. */
static struct framesampler_label labels[SHOPWORK_ENDPOINTS];

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * CLOCK_NS_PER_SECOND + now.tv_nsec;
}

/* Serves one request; the nanoseconds of CPU that it took. */
static int64_t serve_request(struct clerk *clerk)
{
    uint32_t luck = (uint32_t)(shopwork_random(clerk->work) % 100);
    int64_t begun_ns = thread_cpu_ns();
    size_t i = 0;

    while (luck >= shopwork_endpoints[i].percent)
        luck -= shopwork_endpoints[i++].percent;
    framesampler_set_label(&labels[i]);
    shopwork_endpoints[i].handle(clerk->work);
    framesampler_set_label(NULL);
    atomic_fetch_add_explicit(&clerk->shop->n_served, 1, memory_order_relaxed);
    return thread_cpu_ns() - begun_ns;
}

/* After each request the clerk rests for so long that the share of the processor comes out right. */
static void serve(struct thread *thread, void *context)
{
    struct clerk *clerk = context;
    const struct shop_options *options = &clerk->shop->options;
    double rest = options->n_threads / options->cpu_share - 1;

    for (;;) {
        int64_t busy_ns = serve_request(clerk);
        double pause_ns = rest > 0 ? (double)busy_ns * rest : 0;

        if (!thread_sleep(thread, (int64_t)MIN(pause_ns, (double)MAX_PAUSE_NS)))
            return;
    }
}

static int start_clerk(struct shop *shop, uint32_t number, struct error *err)
{
    struct clerk *clerk = &shop->clerks[number];
    char name[24];

    clerk->shop = shop;
    if (shopwork_new(&shop->stock, number + 1, &clerk->work, err) < 0)
        return -1;
    snprintf(name, sizeof(name), "clerk-%u", number);
    return thread_start(&clerk->thread, name, serve, clerk, err);
}

int shop_start(const struct shop_options *options, struct shop **ret_shop, struct error *err)
{
    struct shop *shop = MEMORY_NEW(struct shop, err);

    ASSERT(options->n_threads >= 1 && options->n_threads <= SHOP_MAX_THREADS && options->cpu_share > 0);
    if (!shop)
        return -1;
    shop->options = *options;
    shopwork_stock_init(&shop->stock);
    for (size_t i = 0; i < SHOPWORK_ENDPOINTS; i++)
        labels[i] = (struct framesampler_label){ "endpoint", shopwork_endpoints[i].path };
    for (uint32_t i = 0; i < options->n_threads; i++)
        if (start_clerk(shop, i, err) < 0) {
            shop_stop(shop);
            return -1;
        }
    *ret_shop = shop;
    return 0;
}

void shop_stop(struct shop *shop)
{
    if (!shop)
        return;
    for (uint32_t i = 0; i < shop->options.n_threads; i++) {
        thread_stop(&shop->clerks[i].thread);
        shopwork_free(shop->clerks[i].work);
    }
    shopwork_stock_done(&shop->stock);
    memory_free(shop);
}

uint64_t shop_served(const struct shop *shop)
{
    return atomic_load_explicit(&shop->n_served, memory_order_relaxed);
}
