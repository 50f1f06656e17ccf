// SPDX-License-Identifier: Apache-2.0
/* Closing an hour: the rows of a head become blocks, their headers, pages of the index of traces and tallies (tracekeys.h). */
#pragma once

#include "hourly/hourly.h"

#include <stdatomic.h>

struct traceclose {
    _Atomic uint64_t n_damaged; /* rows that could not be read, and were left out */
};

/* For struct hourly_kind; the context is a struct traceclose. */
MUST_CHECK int traceclose_head(void *context, struct hourly_closing *closing, struct error *err);
