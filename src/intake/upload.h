// SPDX-License-Identifier: Apache-2.0
/* One upload: the bytes of a request that brings profiles, and what the request said about them, whatever protocol it
 * came by. It is what waits in queues and lies in the spill file; decoding it needs nothing else.
 *
 * U1  The body is as it came: still compressed, still multipart.
 * U2  An upload borrows everything; the texts are those of the request, cut at UPLOAD_TEXT_MAX where they were longer. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

enum upload_kind {
    UPLOAD_INGEST,    /* Pyroscope's POST /ingest */
    UPLOAD_PUSH,      /* push.v1.PushRequest, protobuf */
    UPLOAD_PUSH_JSON, /* the same as protobuf JSON */
    UPLOAD_OTLP,      /* ExportProfilesServiceRequest, protobuf */
    UPLOAD_OTLP_JSON, /* the same as OTLP/JSON */
    UPLOAD_PLAIN,     /* one profile as the body; headers say the rest */
    UPLOAD_SCRAPED,   /* the answer of a target; the scraper gives labels */
};
#define UPLOAD_KIND_COUNT (UPLOAD_SCRAPED + 1)
/* "ingest" for UPLOAD_INGEST. */
const char *upload_kind_name(enum upload_kind kind);

#define UPLOAD_TEXT_MAX     65536
#define UPLOAD_SENDER_BYTES 128

/* How far an upload got that could not be stored wholly for a trouble of the store. */
struct upload_progress {
    bool is_tried;
    uint32_t n_kept;    /* of its batches, which come in the same order each time: these are stored */
    uint32_t n_counted; /* of its profiles: their sources have counted them */
};

struct upload {
    enum upload_kind kind;
    struct slice tenant;
    struct slice id; /* the same upload has the same, if it comes again; empty = nobody knows */
    int64_t received_ns;
    struct upload_progress progress;
    uint32_t weight;           /* how many uploads this one stands for: 1, or more where others were left out; 0 is 1 */
    struct slice query;        /* of the URL, as it came; UPLOAD_SCRAPED: labels as `name=value` lines joined by LF */
    struct slice content_type; /* as it came, with parameters */
    struct slice content_encoding; /* of `body`: "gzip", "zstd", "snappy", "identity" or empty */
    struct slice user_agent;
    struct slice profile_type; /* X-Profile-Type */
    struct slice profile_time; /* X-Profile-Timestamp */
    struct slice trace_id;     /* X-Trace-ID */
    struct slice place; /* whence it came: an address without its port, as the first proxy saw it; empty = not known */
    struct slice body;
};

/* Who sent it, for people: the kind, and the name that the sender has of its own (cut, or empty), as in
 * "ingest gospy". It is in `to`. */
struct slice upload_sender(const struct upload *upload, struct slice name, char to[static UPLOAD_SENDER_BYTES]);

/* Appends the upload as bytes, for the spill file. What went wrong, if anything, says buffer_check. */
void upload_encode(const struct upload *upload, struct buffer *out);
/* Reads one back; slices borrow `bytes`. Errors: ERR_CORRUPT, ERR_VERSION. */
MUST_CHECK int upload_decode(struct slice bytes, struct upload *ret_upload, struct error *err);
