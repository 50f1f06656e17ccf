// SPDX-License-Identifier: Apache-2.0
/* A stream of bench_stream.c, read from standard input and written to a store. */
#pragma once

#include "base/bytes.h"
#include "base/memory.h"
#include "measure.h"
#include "pack/unpacker.h"
#include "store/store.h"
#include "wire/pprof.h"

#include <unistd.h>

struct fleet {
    const char *program; /* for messages */
    struct unpacker *unpacker;
    char *body;
    size_t capacity;
    /* The profile read last: as it came, inflated, and decoded. */
    struct slice packed, plain;
    struct batch batch;
    uint32_t service, instance;
    int64_t start_ns;
    int64_t unpack_ns, decode_ns; /* CPU of this thread, of all profiles so far */
};

static inline void fleet_open(struct fleet *fleet, const char *program)
{
    struct error err;

    *fleet = (struct fleet){ .program = program };
    if (unpacker_new(&fleet->unpacker, &err) < 0)
        measure_die(program, err.text);
    batch_init(&fleet->batch, NULL);
}

static inline void fleet_close(struct fleet *fleet)
{
    batch_done(&fleet->batch);
    unpacker_free(fleet->unpacker);
    memory_free(fleet->body);
}

static inline bool fleet_read(char *bytes, size_t len)
{
    while (len) {
        ssize_t n = read(STDIN_FILENO, bytes, len);

        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* The next profile as it came, in `body`; empty at the end of the stream. */
static inline struct slice fleet_next_body(struct fleet *fleet)
{
    char header[24];
    struct error err;
    size_t len;

    if (!fleet_read(header, sizeof(header)))
        return slice_of(NULL, 0);
    len = bytes_get_le32(header);
    if (len > fleet->capacity) {
        fleet->body = memory_realloc(fleet->body, len, &err);
        fleet->capacity = len;
    }
    if (!fleet->body || !fleet_read(fleet->body, len))
        measure_die(fleet->program, "the stream is cut off");
    fleet->service = bytes_get_le32(header + 4);
    fleet->instance = bytes_get_le32(header + 8);
    fleet->start_ns = (int64_t)bytes_get_le64(header + 16);
    return slice_of(fleet->body, len);
}

/* The next profile, into `batch`; false at the end of the stream. */
static inline bool fleet_next(struct fleet *fleet)
{
    struct error err;
    int64_t begun_ns;

    fleet->packed = fleet_next_body(fleet);
    if (fleet->packed.len == 0)
        return false;
    begun_ns = measure_thread_cpu_ns();
    if (unpacker_unwrap(fleet->unpacker, fleet->packed, profile_default_limits.max_inflated_bytes, UNPACKER_MAX_LAYERS,
                        &fleet->plain, &err) < 0)
        measure_die(fleet->program, err.text);
    fleet->unpack_ns += measure_thread_cpu_ns() - begun_ns;
    begun_ns = measure_thread_cpu_ns();
    batch_reset(&fleet->batch);
    if (pprof_decode(fleet->plain, &fleet->batch, &err) < 0)
        measure_die(fleet->program, err.text);
    fleet->decode_ns += measure_thread_cpu_ns() - begun_ns;
    return true;
}

/* Writes the profile read last, as one that starts then. */
static inline void fleet_write(struct fleet *fleet, struct store *store, int64_t start_ns,
                               struct store_receipt *ret_receipt)
{
    char service_name[32], instance_name[32];
    struct series_label labels[3];
    struct store_write write = { .batch = &fleet->batch, .labels = labels, .n_labels = 3 };
    struct error err;

    snprintf(service_name, sizeof(service_name), "service-%02u", fleet->service);
    snprintf(instance_name, sizeof(instance_name), "instance-%03u", fleet->instance);
    labels[0] = (struct series_label){ SLICE("service_name"), slice_from(service_name) };
    labels[1] = (struct series_label){ SLICE("instance"), slice_from(instance_name) };
    labels[2] = (struct series_label){ SLICE("version"), fleet->instance % 2 ? SLICE("b") : SLICE("a") };
    fleet->batch.profiles[0].start_ns = start_ns;
    if (store_write(store, &write, ret_receipt, &err) < 0)
        measure_die(fleet->program, err.text);
}
