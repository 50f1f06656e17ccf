// SPDX-License-Identifier: Apache-2.0
/* libcurl, loaded when the first request is to be sent: to a target of scraping, or to a server by --url. It brings thirty other libraries along, which would cost every
 * command some milliseconds and megabytes at its start.
 *
 * `curl.easy_init()` is curl_easy_init() and so on, once curlload has returned 0. */
#pragma once

#include "base/error.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURLLOAD_FUNCTIONS(X)                                                                                          \
    X(easy_cleanup)                                                                                                    \
    X(easy_getinfo)                                                                                                    \
    X(easy_init)                                                                                                       \
    X(easy_perform)                                                                                                    \
    X(easy_setopt)                                                                                                     \
    X(easy_strerror)                                                                                                   \
    X(free)                                                                                                            \
    X(global_cleanup)                                                                                                  \
    X(global_init)                                                                                                     \
    X(multi_add_handle)                                                                                                \
    X(multi_cleanup)                                                                                                   \
    X(multi_info_read)                                                                                                 \
    X(multi_init)                                                                                                      \
    X(multi_perform)                                                                                                   \
    X(multi_poll)                                                                                                      \
    X(multi_remove_handle)                                                                                             \
    X(multi_setopt)                                                                                                    \
    X(multi_strerror)                                                                                                  \
    X(multi_wakeup)                                                                                                    \
    X(slist_append)                                                                                                    \
    X(slist_free_all)                                                                                                  \
    X(url)                                                                                                             \
    X(url_cleanup)                                                                                                     \
    X(url_get)                                                                                                         \
    X(url_set)

struct curlload {
#define CURLLOAD_FIELD(name) __typeof__(&curl_##name) name;
    CURLLOAD_FUNCTIONS(CURLLOAD_FIELD)
#undef CURLLOAD_FIELD
};
extern struct curlload curl;

/* Loads the library, if that has not been done, and never lets it go again. Errors: ERR_NOT_FOUND saying which package
 * has it. Thread: any. */
MUST_CHECK int curlload(struct error *err);
