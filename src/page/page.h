// SPDX-License-Identifier: Apache-2.0
/* The web page: the files that the build made of ui/ (or a stub, with `make UI=0`), which are part of the program, and the
 * paths under which a server gives them. */
#pragma once

#include "base/error.h"
#include "net/route.h"

struct page_asset {
    const char *path; /* "/assets/hearth-0123456789ab.js" */
    const char *content_type;
    const char *tag;          /* hex digits that change with the content */
    struct slice plain, gzip; /* gzip is empty where it would not be smaller */
    bool is_immutable;        /* its name changes with its content */
};

/* The file of that path, or NULL. Thread: any. */
const struct page_asset *page_find(struct slice path);

/* The shell of a self-contained page, with its marks @TITLE@ and @DATA@. Errors: ERR_UNSUPPORTED if this program was built
 * without the page. Thread: any. */
MUST_CHECK int page_offline(struct slice *ret_html, struct error *err);

/* "/", a path for each view, and "/assets/". They need no context. */
extern const struct route_table page_routes;
