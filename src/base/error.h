// SPDX-License-Identifier: Apache-2.0
/* One error value: a code to branch on and a story for people. It lives on the caller's stack and owns nothing.
 *
 * Fallible functions return 0 or -1 and take `struct error *err` last (never NULL). error_set and error_wrap return -1,
 * so that failing is one line. Only `code` is for branching; `text` is for reading. */
#pragma once

#include "base/base.h"

/*        name            text                          HTTP  exit */
#define ERROR_CODES(X)                                                                                                 \
    X(OK, "ok", 200, 0)                                                                                                \
    X(USAGE, "wrong usage", 400, 2)                                                                                    \
    X(INVALID, "invalid input", 400, 1)                                                                                \
    X(CORRUPT, "damaged data", 422, 1)                                                                                 \
    X(UNSUPPORTED, "unsupported", 415, 1)                                                                              \
    X(VERSION, "unsupported version", 422, 1)                                                                          \
    X(LIMIT, "limit reached", 413, 1)                                                                                  \
    X(MEMORY, "out of memory", 503, 1)                                                                                 \
    X(IO, "input/output error", 500, 1)                                                                                \
    X(NOT_FOUND, "not found", 404, 1)                                                                                  \
    X(EXISTS, "already exists", 409, 1)                                                                                \
    X(DENIED, "not permitted", 403, 1)                                                                                 \
    X(FULL, "full", 507, 1)                                                                                            \
    X(BUSY, "busy", 429, 1)                                                                                            \
    X(TIMEOUT, "timed out", 504, 1)                                                                                    \
    X(CANCELLED, "cancelled", 499, 1)                                                                                  \
    X(CLOSED, "closed", 503, 1)

enum error_code {
#define ERROR_ENUM(name, text, http, exit) ERR_##name,
    ERROR_CODES(ERROR_ENUM)
#undef ERROR_ENUM
};

struct error {
    enum error_code code;
    char text[248];
};

/* Fills `err` and returns -1. A text that does not fit ends in "...". Thread: any; signal: no. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...) PRINTF(3, 4);

/* As error_set, with ": " and the meaning of errno behind the text. ENOENT, EEXIST, EACCES, EPERM, ENOSPC, EDQUOT and
 * ENOMEM choose their own code; anything else is ERR_IO. */
int error_set_errno(struct error *err, int errnum, const char *fmt, ...) PRINTF(3, 4);

/* Puts what we were doing in front of the story: "opening block 'x': no such file". Keeps the code, returns -1. */
int error_wrap(struct error *err, const char *fmt, ...) PRINTF(2, 3);

/* The one-line way to report that an allocation of `size_bytes` failed. Returns -1. */
int error_memory(struct error *err, size_t size_bytes);

/* Properties of a code, all from ERROR_CODES. The name is upper case without "ERR_". */
const char *error_code_name(enum error_code code);
const char *error_code_text(enum error_code code);
int error_code_http_status(enum error_code code);
int error_code_exit_status(enum error_code code);
#define ERROR_CODE_COUNT (ERR_CLOSED + 1)
