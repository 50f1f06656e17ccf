// SPDX-License-Identifier: Apache-2.0
/* One request to a target, with libcurl: how it is made, how much of the answer is kept, and what the answer means. */
#pragma once

#include "base/buffer.h"
#include "scrape/scrape.h"

#include "scrape/curlload.h"

/* What all calls together may hold. Belongs to the thread that runs them. */
struct scrapecall_budget {
    uint64_t used_bytes, max_bytes;
};

struct scrapecall_request {
    struct slice url; /* a NUL follows */
    const struct scrapeconfig_http *http;
    int64_t timeout_ns;         /* of all of it */
    int64_t connect_timeout_ns; /* of the beginning */
    uint64_t max_body_bytes;
    bool is_cpu_profile; /* for telling a conflict */
};

struct scrapecall;

/* Adds the request to `multi`; curl_multi_info_read tells when it ended, and scrapecall_of finds it. Nothing of `request`
 * is kept by reference but the budget. Errors: ERR_MEMORY, what reading files of credentials gives, ERR_INVALID for
 * credentials that are no text. */
MUST_CHECK int scrapecall_start(CURLM *multi, const struct scrapecall_request *request,
                                struct scrapecall_budget *budget, void *owner, struct scrapecall **ret_call,
                                struct error *err);
/* Ends it, if it has not ended, and frees it. Accepts NULL. */
void scrapecall_free(struct scrapecall *call);

/* The call, and its owner, of a handle that curl_multi_info_read gave. */
struct scrapecall *scrapecall_of(CURL *easy);
void *scrapecall_owner(const struct scrapecall *call);

/* An answer; borrows from the call. */
struct scrapecall_answer {
    struct slice body;
    struct slice content_type, content_encoding;
};

/* What became of a call that ended with `code`. Anything but SCRAPE_OK has its story in `ret_error`. */
enum scrape_result scrapecall_finish(struct scrapecall *call, CURLcode code, struct scrapecall_answer *ret_answer,
                                     struct error *ret_error);
