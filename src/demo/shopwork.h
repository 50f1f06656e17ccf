// SPDX-License-Identifier: Apache-2.0
/* What the clerks of the shop do: one function for each kind of request. Functions are kept apart for the profile's sake;
 * their results are returned so that nobody can leave them out. */
#pragma once

#include "base/error.h"
#include "base/lock.h"

#define SHOPWORK_PRODUCTS 400

/* What all clerks share. */
struct shopwork_stock {
    struct lock_mutex lock;
    uint32_t left[SHOPWORK_PRODUCTS]; /* guarded by lock */
};
void shopwork_stock_init(struct shopwork_stock *stock);
void shopwork_stock_done(struct shopwork_stock *stock);

/* What one clerk works with. The stock is borrowed. Thread: one at a time. */
struct shopwork;
MUST_CHECK int shopwork_new(struct shopwork_stock *stock, uint64_t seed, struct shopwork **ret_work, struct error *err);
void shopwork_free(struct shopwork *work);

/* The next number of the clerk's own: the same ones for the same seed. */
uint64_t shopwork_random(struct shopwork *work);

/* The kinds of requests. Orders are parsed, priced, taken out of stock and signed; carts are rendered as a page; products are
 * ranked by how well they fit; passwords are hashed many times. */
struct shopwork_endpoint {
    const char *path;                          /* "/checkout" */
    uint32_t percent;                          /* of all requests; all of them are 100 */
    uint64_t (*handle)(struct shopwork *work); /* serves one; the result depends on all that was done */
};
#define SHOPWORK_ENDPOINTS 4
extern const struct shopwork_endpoint shopwork_endpoints[SHOPWORK_ENDPOINTS];
