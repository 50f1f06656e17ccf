// SPDX-License-Identifier: Apache-2.0
/* A set of span ids: open addressing over 64-bit words, since ids are random already. */
#pragma once

#include "base/error.h"
#include "trace/span.h"

struct spanids {
    uint64_t *slots; /* 0 = empty: no span has that id */
    size_t n, capacity, max;
};

/* An empty set of at most `max` ids. Thread: one at a time; once filled, any. */
void spanids_init(struct spanids *ids, size_t max);
void spanids_done(struct spanids *ids);
/* Adds one; zeros are left out. Errors: ERR_LIMIT naming `max`, ERR_MEMORY. */
MUST_CHECK int spanids_add(struct spanids *ids, const uint8_t id[static SPAN_ID_BYTES], struct error *err);
bool spanids_has(const struct spanids *ids, const uint8_t id[static SPAN_ID_BYTES]);
