// SPDX-License-Identifier: Apache-2.0
/* Entity tags: what an answer is known by to those who keep it (RFC 9110 §8.8.3). */
#pragma once

#include "net/http.h"

/* Whether the asker has what `tag`, without quotes, stands for: it is in an If-None-Match, in any encoding ("TAG-gzip" is TAG
 * too) and weak or not. */
bool etag_is_known(const struct http_headers *request, const char *tag);
