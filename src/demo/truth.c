// SPDX-License-Identifier: Apache-2.0
#include "demo/truth.h"

#include <stdlib.h>
#include <string.h>

/* Of one service, release and endpoint: the handlers and all functions of all tasks. */
#define MAX_ROWS ((SHOPWORK_TASKS * SHOPWORK_MAX_FUNCTIONS) + TRUTH_ENDPOINTS)

const char *truth_service_name(enum truth_service service)
{
    static const char *const names[TRUTH_SERVICES] = { "shop", "payment", "inventory", "report" };

    return names[service];
}

uint32_t truth_n_releases(enum truth_service service)
{
    return service == TRUTH_SHOP ? RELEASES : 1;
}

/* --- the endpoints --- */

static const struct truth_endpoint endpoints[TRUTH_ENDPOINTS] = {
    [TRUTH_CHECKOUT] = { TRUTH_SHOP,
                         "POST",
                         "/checkout",
                         "POST /checkout",
                         "handle_checkout",
                         8,
                         { { SHOPWORK_READ_ORDER, 0 },
                           { SHOPWORK_CHECK_ORDER, 1 }, /* the regression: orders are parsed twice */
                           { SHOPWORK_COMPUTE_PRICE, 0 },
                           { SHOPWORK_RENDER_RECEIPT, 0 } },
                         4 },
    [TRUTH_PAY] = { TRUTH_SHOP,
                    "POST",
                    "/payment",
                    "POST /payment",
                    "handle_payment",
                    3,
                    { { SHOPWORK_READ_PAYMENT, 0 }, { SHOPWORK_SIGN_PAYMENT, 0 } },
                    2 },
    [TRUTH_LOOK] = { TRUTH_SHOP,
                     "GET",
                     "/inventory",
                     "GET /inventory",
                     "handle_inventory",
                     7,
                     { { SHOPWORK_RENDER_LIST, 0 } },
                     1 },
    [TRUTH_SUMMARY] = { TRUTH_SHOP,
                        "GET",
                        "/report",
                        "GET /report",
                        "handle_report",
                        2,
                        { { SHOPWORK_RENDER_REPORT, 0 } },
                        1 },
    /* Each checkout reserves, then charges; each payment charges. */
    [TRUTH_CHARGE] = { TRUTH_PAYMENT,
                       "POST",
                       "/charge",
                       "POST /charge",
                       "handle_charge",
                       11,
                       { { SHOPWORK_CHECK_CARD, 0 }, { SHOPWORK_HASH_CARD, 0 } },
                       2 },
    [TRUTH_RESERVE] = { TRUTH_INVENTORY,
                        "POST",
                        "/reserve",
                        "POST /reserve",
                        "handle_reserve",
                        8,
                        { { SHOPWORK_RESERVE_STOCK, 0 } },
                        1 },
    [TRUTH_RANK] = { TRUTH_INVENTORY,
                     "GET",
                     "/rank",
                     "GET /rank",
                     "handle_rank",
                     7,
                     { { SHOPWORK_RANK_PRODUCTS, 0 } },
                     1 },
    [TRUTH_BUILD] = { TRUTH_REPORT,
                      "GET",
                      "/build",
                      "GET /build",
                      "handle_build",
                      2,
                      { { SHOPWORK_AGGREGATE_ROWS, 0 }, { SHOPWORK_FORMAT_REPORT, 0 } },
                      2 },
};

const struct truth_endpoint *truth_endpoint(enum truth_endpoint_id id)
{
    return &endpoints[id];
}

enum truth_endpoint_id truth_request(uint64_t number)
{
    static const uint8_t round[TRUTH_ROUND] = {
        TRUTH_CHECKOUT, TRUTH_LOOK,     TRUTH_PAY,  TRUTH_CHECKOUT, TRUTH_LOOK,     TRUTH_LOOK,     TRUTH_CHECKOUT,
        TRUTH_SUMMARY,  TRUTH_CHECKOUT, TRUTH_LOOK, TRUTH_PAY,      TRUTH_CHECKOUT, TRUTH_CHECKOUT, TRUTH_LOOK,
        TRUTH_CHECKOUT, TRUTH_LOOK,     TRUTH_PAY,  TRUTH_SUMMARY,  TRUTH_LOOK,     TRUTH_CHECKOUT,
    };

    return round[number % TRUTH_ROUND];
}

/* --- the shares --- */

struct sums {
    struct {
        const char *function;
        uint64_t self, total; /* units */
    } rows[MAX_ROWS];
    uint32_t n;
    uint64_t units;
};

static void add_row(struct sums *sums, const char *function, uint64_t self, uint64_t total)
{
    uint32_t i = 0;

    while (i < sums->n && strcmp(sums->rows[i].function, function) != 0)
        i++;
    if (i == sums->n)
        sums->rows[sums->n++].function = function;
    sums->rows[i].self += self;
    sums->rows[i].total += total;
}

/* What a function costs with all that it calls: those behind it, while they are deeper. */
static uint64_t total_units(const struct shopwork_info *info, uint32_t at)
{
    uint64_t units = info->functions[at].units;

    for (uint32_t i = at + 1; i < info->n_functions && info->functions[i].level > info->functions[at].level; i++)
        units += info->functions[i].units;
    return units;
}

static uint64_t add_task(struct sums *sums, enum shopwork_task task, uint32_t times)
{
    const struct shopwork_info *info = shopwork_info(task);

    for (uint32_t i = 0; i < info->n_functions; i++)
        add_row(sums, info->functions[i].name, (uint64_t)info->functions[i].units * times,
                total_units(info, i) * times);
    return total_units(info, 0) * times;
}

static void add_endpoint(struct sums *sums, const struct truth_endpoint *endpoint, uint32_t release)
{
    uint64_t units = 0;

    for (uint32_t i = 0; i < endpoint->n_tasks; i++)
        if (endpoint->tasks[i].since <= release)
            units += add_task(sums, endpoint->tasks[i].task, endpoint->per_round);
    add_row(sums, endpoint->handler, 0, units);
    sums->units += units;
}

static int compare_shares(const void *left, const void *right)
{
    const struct truth_share *a = left, *b = right;

    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->self != b->self ? (a->self > b->self ? -1 : 1) : strcmp(a->function, b->function);
}

static void append(const struct sums *sums, enum truth_service service, uint32_t release, const char *endpoint,
                   struct truth_share *items, size_t *n)
{
    for (uint32_t i = 0; i < sums->n; i++)
        items[*n + i] = (struct truth_share){ .service = service,
                                              .release = release,
                                              .endpoint = endpoint,
                                              .function = sums->rows[i].function,
                                              .self = (double)sums->rows[i].self / (double)sums->units,
                                              .total = (double)sums->rows[i].total / (double)sums->units };
    qsort(items + *n, sums->n, sizeof(*items), compare_shares);
    *n += sums->n;
}

static void append_release(enum truth_service service, uint32_t release, struct truth_share *items, size_t *n)
{
    struct sums all = { 0 };

    for (unsigned id = 0; id < TRUTH_ENDPOINTS; id++)
        if (endpoints[id].service == service)
            add_endpoint(&all, &endpoints[id], release);
    append(&all, service, release, NULL, items, n);
    for (unsigned id = 0; id < TRUTH_ENDPOINTS; id++)
        if (endpoints[id].service == service) {
            struct sums one = { 0 };

            add_endpoint(&one, &endpoints[id], release);
            append(&one, service, release, endpoints[id].path, items, n);
        }
}

int truth_list(struct arena *arena, struct truth_shares *ret_shares, struct error *err)
{
    /* every function at most twice for each release: with all endpoints, and with its own */
    struct truth_share *items = ARENA_ARRAY(arena, struct truth_share, MAX_ROWS * 2 * RELEASES, err);
    size_t n = 0;

    if (!items)
        return -1;
    for (unsigned service = 0; service < TRUTH_SERVICES; service++)
        for (uint32_t release = 0; release < truth_n_releases(service); release++)
            append_release(service, release, items, &n);
    *ret_shares = (struct truth_shares){ items, n };
    return 0;
}
