// SPDX-License-Identifier: Apache-2.0
/* Field numbers of profile.proto, what reading and writing share, and what the parts of the reader share. */
#pragma once

#include "base/map.h"
#include "profile/profile.h"
#include "wire/protobuf.h"

enum {
    PPROF_PROFILE_SAMPLE_TYPE = 1,
    PPROF_PROFILE_SAMPLE = 2,
    PPROF_PROFILE_MAPPING = 3,
    PPROF_PROFILE_LOCATION = 4,
    PPROF_PROFILE_FUNCTION = 5,
    PPROF_PROFILE_STRING_TABLE = 6,
    PPROF_PROFILE_DROP_FRAMES = 7,
    PPROF_PROFILE_KEEP_FRAMES = 8,
    PPROF_PROFILE_TIME_NANOS = 9,
    PPROF_PROFILE_DURATION_NANOS = 10,
    PPROF_PROFILE_PERIOD_TYPE = 11,
    PPROF_PROFILE_PERIOD = 12,
    PPROF_PROFILE_COMMENT = 13,
    PPROF_PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    PPROF_PROFILE_DOC_URL = 15,
};
enum { PPROF_VALUE_TYPE_TYPE = 1, PPROF_VALUE_TYPE_UNIT = 2 };
enum { PPROF_SAMPLE_LOCATION_ID = 1, PPROF_SAMPLE_VALUE = 2, PPROF_SAMPLE_LABEL = 3 };
enum { PPROF_LABEL_KEY = 1, PPROF_LABEL_STR = 2, PPROF_LABEL_NUM = 3, PPROF_LABEL_NUM_UNIT = 4 };
enum {
    PPROF_MAPPING_ID = 1,
    PPROF_MAPPING_MEMORY_START = 2,
    PPROF_MAPPING_MEMORY_LIMIT = 3,
    PPROF_MAPPING_FILE_OFFSET = 4,
    PPROF_MAPPING_FILENAME = 5,
    PPROF_MAPPING_BUILD_ID = 6,
    PPROF_MAPPING_FIRST_FLAG = 7, /* has_functions, has_filenames, has_line_numbers, has_inline_frames: 7 to 10 */
    PPROF_MAPPING_LAST_FLAG = 10,
};
enum {
    PPROF_LOCATION_ID = 1,
    PPROF_LOCATION_MAPPING_ID = 2,
    PPROF_LOCATION_ADDRESS = 3,
    PPROF_LOCATION_LINE = 4,
    PPROF_LOCATION_IS_FOLDED = 5
};
enum { PPROF_LINE_FUNCTION_ID = 1, PPROF_LINE_LINE = 2, PPROF_LINE_COLUMN = 3 };
enum {
    PPROF_FUNCTION_ID = 1,
    PPROF_FUNCTION_NAME = 2,
    PPROF_FUNCTION_SYSTEM_NAME = 3,
    PPROF_FUNCTION_FILENAME = 4,
    PPROF_FUNCTION_START_LINE = 5
};

/* Tags as the bytes have them. */
#define PPROF_VARINT(field) PROTOBUF_TAG(field, PROTOBUF_VARINT)
#define PPROF_BYTES(field)  PROTOBUF_TAG(field, PROTOBUF_BYTES)

/* Warnings are made in functions that stay out of the way of hot loops. */
#define PPROF_COLD __attribute__((cold, noinline))
/* The steps of decoding stay apart, so that each has the registers to itself. */
#define PPROF_STEP __attribute__((noinline))

#define PPROF_TRACE_KEY    SLICE("trace_id")
#define PPROF_SPAN_KEY     SLICE("span_id")
/* What older clients of Pyroscope, and that for Ruby, call the span id. */
#define PPROF_OLD_SPAN_KEY SLICE("profile_id")

/* Whether a trace or span id is set: zeros mean "unknown". */
static inline bool pprof_has_id(const uint8_t *id, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (id[i])
            return true;
    return false;
}

/* Puts a label that is the trace or span id of its sample into `link`, if that part of the link is empty still. False
 * when it is neither, or the part is taken: then it is a label as any other. */
bool pprof_lift_link(const struct tables *tables, const struct label *label, struct link *link);

/* Sets ERR_CORRUPT saying where in `bytes` and why `failed` failed; returns -1. */
int pprof_explain(struct slice bytes, const struct protobuf_reader *failed, struct error *err);

/* --- reading --- */

/* Entries by their id in the file. Ids are any 64-bit numbers, mostly 1 to n in order: then an entry is its id. */
struct pprof_ids {
    uint64_t n;        /* ids below have their entry in `dense`, or are entries themselves where that is NULL */
    uint32_t *dense;   /* 0 = no such entry */
    struct map sparse; /* for ids too far apart */
};

uint32_t pprof_find_sparse(const struct pprof_ids *ids, uint64_t id);

/* The entry with this id, or 0. */
static inline uint32_t pprof_find(const struct pprof_ids *ids, uint64_t id)
{
    if (LIKELY(id < ids->n))
        return LIKELY(!ids->dense) ? (uint32_t)id : ids->dense[id];
    return pprof_find_sparse(ids, id);
}

/* Where the fields of one kind are, in order. */
struct pprof_notes {
    const char *what; /* for messages */
    uint64_t max;
    struct slice *items; /* their bytes */
    uint64_t n, capacity;
};

struct pprof_scalars {
    uint64_t drop_frames, keep_frames, default_type, doc_url; /* strings */
    uint64_t time_nanos, duration_nanos, period;
    bool is_concatenated;
};

struct pprof_decoder {
    struct slice bytes;
    struct batch *batch;
    struct tables *tables;
    struct profile *profile;
    struct pprof_scalars scalars;
    struct pprof_notes types, samples, mappings, locations, functions, strings, period_types;
    struct pprof_notes comments; /* packed */
    uint64_t *mapping_ids;       /* by entry; entry 0 is unused */
    uint64_t *function_ids;
    uint64_t *location_ids;
    struct pprof_ids mappings_by_id, functions_by_id, frames_by_id;
    uint64_t n_labelled_samples; /* counted once the first label is met */
};

/* Decodes the noted samples into stacks, label sets, links and columns. The tables and d->frames_by_id are complete. */
MUST_CHECK int pprof_decode_samples(struct pprof_decoder *d, struct error *err);
