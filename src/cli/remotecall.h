// SPDX-License-Identifier: Apache-2.0
/* One request to a hearth server, by libcurl, and its whole answer. */
#pragma once

#include "base/buffer.h"

#define REMOTECALL_MAX_BYTES ((size_t)1 << 30) /* of an answer */

struct remotecall {
    const char *url;  /* of the server: http://HOST:PORT, https://HOST:PORT, both with a path maybe, or unix:PATH */
    const char *path; /* "/api/v1/top" */
    bool is_post;
    struct slice parameters;  /* name=value&..., encoded; or whatever content_type says, with POST */
    const char *content_type; /* of what a POST brings; NULL = parameters */
    const char *tenant;       /* NULL = none is named */
    int64_t timeout_ns;       /* for all of it; 0 = any time */
};

struct remotecall_answer {
    int status;
    struct buffer body;
    struct buffer content_type;
    struct buffer error;    /* X-Hearth-Error: the name of a code; empty = the server's API did not answer */
    struct buffer exit;     /* X-Hearth-Exit */
    struct buffer messages; /* X-Hearth-Messages */
    bool is_of_api;         /* there is Server-Timing, as with all that the server's API answers */
};

/* Whether requests can be sent there at all, without sending one. Errors: ERR_USAGE for a URL that is none, ERR_NOT_FOUND without
 * libcurl. */
MUST_CHECK int remotecall_check(const char *url, struct error *err);
/* Sends the request and waits for the answer, whatever its status. The answer is initialised here and is for
 * remotecall_done, on failure too. Errors: ERR_USAGE for a URL that is none, ERR_NOT_FOUND without libcurl, ERR_IO saying
 * what to look at, ERR_TIMEOUT, ERR_LIMIT. Thread: any. */
MUST_CHECK int remotecall_perform(const struct remotecall *call, struct remotecall_answer *ret_answer,
                                  struct error *err);
void remotecall_done(struct remotecall_answer *answer);

/* Appends name=value with what is not plain encoded, behind an & unless it is the first. */
void remotecall_append(struct buffer *parameters, const char *name, const char *value);
