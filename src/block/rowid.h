// SPDX-License-Identifier: Apache-2.0
/* A profile id that says where its row is. Few senders give profiles ids of their own, and an answer that shows a
 * single profile must be able to name it: so every row has such an id, which nothing needs to remember.
 *
 * It is a UUID of version 8: besides the six bits that say so, the hour since 1970 (32 bits, its sign bit flipped, so
 * that ids sort by time), the series (32), the sequence (32), and 26 bits of a hash of these, which tell it from ids that
 * others made. Series and sequence are those of the row's day and never change. */
#pragma once

#include "base/base.h"

#define ROWID_BYTES 16

struct rowid {
    int32_t hour; /* since 1970 */
    uint32_t series;
    uint32_t sequence;
};

void rowid_encode(const struct rowid *row, uint8_t ret_id[static ROWID_BYTES]);
/* False if the id is none of these. */
bool rowid_decode(const uint8_t id[static ROWID_BYTES], struct rowid *ret_row);
/* The hour of a time, rounded down. */
int32_t rowid_hour(int64_t time_ns);
