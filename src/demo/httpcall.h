// SPDX-License-Identifier: Apache-2.0
/* Calls of one service of the demo by another: HTTP/1.1 to a port of this machine, over a connection that is kept. */
#pragma once

#include "base/buffer.h"

#define HTTPCALL_TIMEOUT_S 10 /* without any progress */

/* A connection to one service. Thread: one at a time. */
struct httpcall {
    int fd; /* -1 = none yet */
    uint16_t port;
    struct buffer out, in;
};

struct httpcall_request {
    const char *method, *path;
    const char *traceparent; /* NULL = none */
    struct slice body;
};

struct httpcall_answer {
    int status;
    struct slice body; /* until the next call */
};

/* Connects with the first call. */
void httpcall_init(struct httpcall *call, uint16_t port);
void httpcall_done(struct httpcall *call);
/* Sends the request and waits for the whole answer, whatever its status. A kept connection that has ended meanwhile is made
 * again. Errors: ERR_IO, ERR_TIMEOUT, ERR_MEMORY, those of httpreply_parse. */
MUST_CHECK int httpcall_perform(struct httpcall *call, const struct httpcall_request *request,
                                struct httpcall_answer *ret_answer, struct error *err);
