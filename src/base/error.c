// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
    int http_status;
    int exit_status;
} codes[] = {
#define ERROR_ROW(name, text, http, exit) { #name, text, http, exit },
    ERROR_CODES(ERROR_ROW)
#undef ERROR_ROW
};
static_assert(ARRAY_LEN(codes) == ERROR_CODE_COUNT, "ERROR_CODE_COUNT names the last code");

/* Marks a text that was cut, so that nobody takes half a path for a whole one. */
static void mark_cut(struct error *err, int wanted_len)
{
    if (wanted_len >= (int)sizeof(err->text))
        memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
    va_list args;

    err->code = code;
    va_start(args, fmt);
    mark_cut(err, vsnprintf(err->text, sizeof(err->text), fmt, args));
    va_end(args);
    return -1;
}

static enum error_code code_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT: return ERR_NOT_FOUND;
    case EEXIST: return ERR_EXISTS;
    case EACCES:
    case EPERM: return ERR_DENIED;
    case ENOSPC:
    case EDQUOT: return ERR_FULL;
    case ENOMEM: return ERR_MEMORY;
    default: return ERR_IO;
    }
}

int error_set_errno(struct error *err, int errnum, const char *fmt, ...)
{
    va_list args;
    char reason[96];
    int len;

    err->code = code_of_errno(errnum);
    va_start(args, fmt);
    len = vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    mark_cut(err, len);
    if ((size_t)len < sizeof(err->text)) /* false for the -1 of a text over 2 GiB, too */
        mark_cut(err, len + snprintf(err->text + len, sizeof(err->text) - (size_t)len, ": %s",
                                     strerror_r(errnum, reason, sizeof(reason))));
    return -1;
}

int error_wrap(struct error *err, const char *fmt, ...)
{
    char story[sizeof(err->text)];
    va_list args;
    int len;

    memcpy(story, err->text, sizeof(story));
    va_start(args, fmt);
    len = vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    mark_cut(err, len);
    if ((size_t)len < sizeof(err->text)) /* false for the -1 of a text over 2 GiB, too */
        mark_cut(err, len + snprintf(err->text + len, sizeof(err->text) - (size_t)len, ": %s", story));
    return -1;
}

int error_memory(struct error *err, size_t size_bytes)
{
    return error_set(err, ERR_MEMORY, "out of memory: %zu bytes could not be had", size_bytes);
}

const char *error_code_name(enum error_code code)
{
    return codes[code].name;
}

const char *error_code_text(enum error_code code)
{
    return codes[code].text;
}

int error_code_http_status(enum error_code code)
{
    return codes[code].http_status;
}

int error_code_exit_status(enum error_code code)
{
    return codes[code].exit_status;
}
