// SPDX-License-Identifier: Apache-2.0
/* What every receiver of uploads works with: unpacking, decoding, storing, and keeping count of what became of it.
 *
 * K1  Of one upload at most max_body_bytes are inflated, all its parts together.
 * K2  What a receiver finds wrong with one profile it rejects (intakework_reject) and goes on; what is wrong with the
 *     upload itself it returns. */
#pragma once

#include "base/lock.h"
#include "intake/deltas.h"
#include "intake/intake.h"
#include "intake/intakemetrics.h"
#include "intake/intakewindow.h"
#include "pack/unpacker.h"
#include "wire/format.h"

struct intake {
    struct store *store;
    struct sources *sources;
    struct deltas *deltas;
    struct profilecounters *counters; /* NULL = none */
    struct intakemetrics metrics;
    uint64_t max_body_bytes;
    struct profile_limits limits;
};

#define INTAKEWORK_SERVICE_BYTES 256

struct intake_worker {
    struct intake *intake;
    struct unpacker *outer; /* of bodies */
    struct unpacker *inner; /* of the profiles in them */
    struct buffer snappy;   /* the body, where that is how it came */
    struct batch batch;     /* what was decoded */
    struct batch made;      /* what was made of it where it had to be built anew */
    struct arena arena;     /* of one upload */
    /* of the upload at hand */
    const struct upload *upload;
    struct slice sender; /* in sender_text */
    struct intake_receipt receipt;
    char service[INTAKEWORK_SERVICE_BYTES]; /* of the receipt; longer ones are cut */
    char sender_text[UPLOAD_SENDER_BYTES];
    uint64_t inflated_left; /* K1 */
    uint32_t n_batches;     /* that came to be stored */
};

/* Labels for the profiles of an upload; the array is in the arena of the worker. */
struct intakework_labels {
    struct series_label *items;
    uint32_t n, max;
};
/* None, with room for `max`. */
MUST_CHECK int intakework_labels_init(struct intake_worker *worker, uint32_t max, struct intakework_labels *ret_labels,
                                      struct error *err);
/* There must be room. An empty value is no label. */
void intakework_labels_add(struct intakework_labels *labels, struct slice name, struct slice value);
/* The value of the label with this canonical name ("service_name", also as "service.name"); empty if there is none. */
struct slice intakework_labels_find(const struct intakework_labels *labels, const char *canonical);

/* What is known of profiles beside their bytes. */
struct intakework_delivery {
    const struct intakework_labels *labels;
    struct intakewindow window; /* received_ns is filled in */
    bool has_own_window;        /* of the profiles: they are settled already */
    bool is_delta;              /* whatever the types say: nothing counts from the start of the process */
    struct slice session;       /* tells processes behind the same labels apart, for deltas */
};

/* Calls the sender by the kind of upload and a name of its own: "push pyroscope-rs/pyspy/1.4.0". An empty one changes
 * nothing. */
void intakework_name_sender(struct intake_worker *worker, struct slice name);

/* The body, inflated as its first bytes and its Content-Encoding say. Valid until the next upload. */
MUST_CHECK int intakework_body(struct intake_worker *worker, struct slice *ret_content, struct error *err);
/* Inflates a part of a body. Valid until the next call. */
MUST_CHECK int intakework_part(struct intake_worker *worker, struct slice part, struct slice *ret_content,
                               struct error *err);
/* Decodes plain bytes into worker->batch, which is emptied first. `format` NULL = whatever is recognised. */
MUST_CHECK int intakework_decode(struct intake_worker *worker, struct slice content, const struct format *format,
                                 struct error *err);

/* Puts windows in order, makes deltas, weighs, and stores all profiles of `batch`, which is changed. What the store
 * refuses is rejected here; -1 means that nothing of the batch was kept, and that it was counted. Counts all profiles of
 * the batch as seen. */
MUST_CHECK int intakework_store(struct intake_worker *worker, struct batch *batch,
                                const struct intakework_delivery *delivery, struct error *err);

/* Counts `n` profiles that came and were not kept, because of `err`; where that is no fault of theirs, only once they are
 * given up (I6). */
void intakework_reject(struct intake_worker *worker, struct slice service, uint32_t n, const struct error *err);
/* Counts profiles that came and need no row of their own: nothing is in them, or they were merged into others. */
void intakework_accept(struct intake_worker *worker, struct slice service, uint32_t n, enum intake_outcome outcome);

/* The service of a profile, as far as it is known without its samples: of the labels, else of its resource. */
struct slice intakework_service(const struct profile *profile, const struct intakework_labels *labels);
