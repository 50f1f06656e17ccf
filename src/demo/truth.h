// SPDX-License-Identifier: Apache-2.0
/* The endpoints of the demo's services, the tasks of each, and what follows from them: which function has which share of
 * whose CPU. Nothing is measured for it: it is counted from units (shopwork.h). */
#pragma once

#include "base/arena.h"
#include "demo/releases.h"
#include "demo/shopwork.h"

/* The services, each a process of its own; whoever loads them is `web`, and has no endpoints. */
enum truth_service { TRUTH_SHOP, TRUTH_PAYMENT, TRUTH_INVENTORY, TRUTH_REPORT };
#define TRUTH_SERVICES (TRUTH_REPORT + 1)
const char *truth_service_name(enum truth_service service);
/* How many releases it has: those without new ones stay at the first. */
uint32_t truth_n_releases(enum truth_service service);

enum truth_endpoint_id {
    TRUTH_CHECKOUT, /* of the shop, as the next three */
    TRUTH_PAY,
    TRUTH_LOOK,
    TRUTH_SUMMARY,
    TRUTH_CHARGE,  /* of payment */
    TRUTH_RESERVE, /* of inventory, as the next */
    TRUTH_RANK,
    TRUTH_BUILD, /* of report */
};
#define TRUTH_ENDPOINTS (TRUTH_BUILD + 1)
#define TRUTH_MAX_TASKS 5

struct truth_endpoint {
    enum truth_service service;
    const char *method, *path; /* "POST", "/checkout" */
    const char *operation;     /* what its spans are called: "POST /checkout" */
    const char *handler;       /* the function that serves it */
    uint32_t per_round;        /* how many of them there are in a round of requests */
    struct {
        enum shopwork_task task;
        uint32_t since; /* the first release that does it */
    } tasks[TRUTH_MAX_TASKS];
    uint32_t n_tasks;
};
const struct truth_endpoint *truth_endpoint(enum truth_endpoint_id id);

/* The requests that the shop gets, over and over: TRUTH_ROUND endpoints of it, well mixed. */
#define TRUTH_ROUND 20
enum truth_endpoint_id truth_request(uint64_t number);

struct truth_share {
    enum truth_service service;
    uint32_t release;
    const char *endpoint; /* NULL = all of them together */
    const char *function;
    double self, total; /* shares of the CPU spent on the endpoint: by itself, and with what it calls */
};
struct truth_shares {
    const struct truth_share *items; /* by service, release, endpoint (all together first), and total, largest first */
    size_t n;
};
/* Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int truth_list(struct arena *arena, struct truth_shares *ret_shares, struct error *err);
