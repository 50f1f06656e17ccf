// SPDX-License-Identifier: Apache-2.0
/* Whether long work is still wanted by whoever asked for it: loops ask now and then, so that a deadline is kept and nothing is
 * done for somebody who left. */
#pragma once

#include "base/error.h"

struct patience {
    /* -1 with an error ends the work. NULL = it goes on in any case. */
    int (*check)(void *context, struct error *err);
    void *context;
};

/* Asks. `patience` may be NULL. */
MUST_CHECK static inline int patience_check(const struct patience *patience, struct error *err)
{
    return patience && patience->check ? patience->check(patience->context, err) : 0;
}

/* Asks at step 0 and at every PATIENCE_STEPS-th one: for loops whose steps are too short for asking at each. */
#define PATIENCE_STEPS 1024u
MUST_CHECK static inline int patience_check_at(const struct patience *patience, size_t step, struct error *err)
{
    return step % PATIENCE_STEPS ? 0 : patience_check(patience, err);
}
