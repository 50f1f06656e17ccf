// SPDX-License-Identifier: Apache-2.0
/* What every format that holds whatever the model has must keep: what is read is sound, can be written, and after being
 * written once stays the same bytes. */
#pragma once

#include "wire/format.h"

/* Writes `batch` and reads it again into `again`. */
static inline void round_trip_once(const struct format *format, const struct batch *batch, struct buffer *written,
                                   struct batch *again)
{
    struct format_write_options options = { .plain = true };
    struct error err;

    ASSERT(format->encode(batch, &options, written, &err) == 0);
    ASSERT(format->decode(buffer_slice(written), again, &err) == 0);
    ASSERT(batch_check(again, &err) == 0);
}

static inline void round_trip_written(const struct format *format, const struct batch *batch)
{
    struct buffer written[3];
    struct batch again[3];

    for (int i = 0; i < 3; i++) {
        buffer_init(&written[i], 0);
        batch_init(&again[i], NULL);
        round_trip_once(format, i ? &again[i - 1] : batch, &written[i], &again[i]);
    }
    ASSERT(slice_equal(buffer_slice(&written[1]), buffer_slice(&written[2])));
    for (int i = 0; i < 3; i++) {
        buffer_done(&written[i]);
        batch_done(&again[i]);
    }
}

/* One input through the format called `name`. */
static inline void round_trip(const char *name, struct slice bytes)
{
    const struct format *format = format_find(slice_from(name));
    struct profile_limits limits = profile_default_limits;
    struct batch batch;
    struct error err;
    int likeliness = format->recognise(bytes);

    ASSERT(likeliness >= 0 && likeliness <= 100);
    limits.max_memory_bytes = 64 << 20;
    batch_init(&batch, &limits);
    if (format->decode(bytes, &batch, &err) == 0) {
        ASSERT(batch_check(&batch, &err) == 0);
        round_trip_written(format, &batch);
    }
    batch_done(&batch);
}
