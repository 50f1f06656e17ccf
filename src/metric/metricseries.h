// SPDX-License-Identifier: Apache-2.0
/* A series as bytes: the record that the index of a day has of it, and what its number is made of.
 *
 *     byte 0    bits 0-1 kind, bits 2-3 temporality, bit 4 only rises, bits 5-7 zero
 *     texts     name, unit: varint length and bytes each
 *     varint    number of labels, then key and value of each as texts, keys rising */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "metric/metric.h"

void metricseries_encode(const struct metric_series *series, struct buffer *out);
/* Texts borrow `bytes`, labels are from `arena`. Errors: ERR_CORRUPT saying what is wrong, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int metricseries_decode(struct slice bytes, struct arena *arena, struct metric_series *ret_series,
                                   struct error *err);

/* The number by which a series is known within its tenant: 64 bits of a hash of its bytes. Whoever makes two of one number
 * mixes up points of his own. */
uint64_t metricseries_number(struct slice encoded);
/* The number of a service, for keys. */
uint64_t metricseries_service_number(struct slice service);

/* The value of a label, empty where there is none. */
struct slice metricseries_label(const struct metric_series *series, struct slice key);
#define METRICSERIES_SERVICE SLICE("service_name")
