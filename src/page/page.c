// SPDX-License-Identifier: Apache-2.0
#include "page/page_internal.h"

#include "base/error.h"
#include "net/etag.h"

#include <stdio.h>

#define INDEX   "/index.html"
#define OFFLINE "/offline.html"
#define BASE    "<base href=\"/\">"

/* Nothing but what the server itself gives is run, shown or asked, and no other page may frame this one. The same as
 * ui/dev.mjs says. */
#define POLICY                                                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "        \
    "font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

#define MAX_PREFIX_BYTES 256

const struct page_asset *page_find(struct slice path)
{
    for (size_t i = 0; i < assets_n; i++)
        if (slice_is(path, assets_all[i].path))
            return &assets_all[i];
    return NULL;
}

int page_offline(struct slice *ret_html, struct error *err)
{
    const struct page_asset *asset = page_find(SLICE(OFFLINE));

    if (!asset)
        return error_set(
            err, ERR_UNSUPPORTED,
            "this hearth was built without its page (make UI=0), of which HTML files are made; build it with "
            "Node and npm installed, or write another format");
    *ret_html = asset->plain;
    return 0;
}

/* --- answers --- */

static void add_common_headers(struct exchange *exchange)
{
    exchange_header_text(exchange, "content-security-policy", POLICY);
    exchange_header_text(exchange, "x-content-type-options", "nosniff");
    exchange_header_text(exchange, "referrer-policy", "no-referrer");
    exchange_header_text(exchange, "cross-origin-opener-policy", "same-origin");
    exchange_header_text(exchange, "cross-origin-resource-policy", "same-origin");
}

static void give(struct exchange *exchange, const struct page_asset *asset)
{
    const struct http_headers *asked = &exchange->request.headers;
    bool is_packed = asset->gzip.len > 0 && http_header_quality(asked, "accept-encoding", "gzip") > 0;
    char tag[80];

    if (etag_is_known(asked, asset->tag))
        exchange_answer(exchange, 304, NULL, SLICE(""));
    else
        exchange_answer(exchange, 200, asset->content_type, is_packed ? asset->gzip : asset->plain);
    if (is_packed && exchange->response.status == 200)
        exchange_header_text(exchange, "content-encoding", "gzip");
    if (asset->gzip.len > 0)
        exchange_header_text(exchange, "vary", "accept-encoding");
    snprintf(tag, sizeof(tag), "\"%s%s\"", asset->tag, is_packed ? "-gzip" : "");
    exchange_header_text(exchange, "etag", tag);
    exchange_header_text(exchange, "cache-control",
                         asset->is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
    add_common_headers(exchange);
}

/* --- behind a proxy that serves us under a path of its own --- */

/* Whether it is a path that can stand in an attribute and in no way be another server: "/hearth", "/tools/hearth/". */
static bool is_prefix(struct slice text)
{
    static const char marks[] = { '/', '-', '.', '_', '~' };

    if (text.len < 2 || text.len > MAX_PREFIX_BYTES || text.ptr[0] != '/' || slice_find(text, SLICE("//")) >= 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            !memchr(marks, c, sizeof(marks)))
            return false;
    }
    return true;
}

/* The page with another base, to which all of its addresses are relative. It is small, so it is neither packed nor kept. */
static void give_below(struct exchange *exchange, const struct page_asset *asset, size_t at, struct slice prefix)
{
    struct buffer *body = &exchange->response.body;
    const char *slash = slice_ends_with(prefix, SLICE("/")) ? "" : "/";

    exchange_answer(exchange, 200, asset->content_type, slice_sub(asset->plain, 0, at));
    buffer_printf(body, "<base href=\"%.*s%s\">", SLICE_ARG(prefix), slash);
    buffer_append_slice(body, slice_sub(asset->plain, at + strlen(BASE), SIZE_MAX));
    exchange_header_text(exchange, "cache-control", "no-store");
    add_common_headers(exchange);
}

/* --- routes --- */

static void give_view(struct exchange *exchange)
{
    const struct page_asset *asset = page_find(SLICE(INDEX));
    struct slice prefix = http_header(&exchange->request.headers, "x-forwarded-prefix");
    ptrdiff_t at = slice_find(asset->plain, SLICE(BASE));

    if (is_prefix(prefix) && at >= 0)
        give_below(exchange, asset, (size_t)at, prefix);
    else
        give(exchange, asset);
}

static void give_asset(struct exchange *exchange)
{
    const struct page_asset *asset = page_find(exchange->request.path);

    if (asset)
        give(exchange, asset);
    else
        exchange_fail_with(
            exchange, 404,
            "this server's page has no '%.*s'; if the server has just been replaced by another version, load "
            "the page again",
            (int)MIN(exchange->request.path.len, (size_t)200), exchange->request.path.ptr);
}

#define HTML "text/html"
static const struct route routes[] = {
    { HTTP_GET, "/", ROUTE_PUBLIC, "The page: all services and what changed about them.", give_view, .is_quick = true,
      .produces = HTML },
    { HTTP_GET, "/explore", ROUTE_PUBLIC, "The page: what a service did over time, as a flame graph.", give_view,
      .is_quick = true, .produces = HTML },
    { HTTP_GET, "/compare", ROUTE_PUBLIC, "The page: two selections of profiles side by side.", give_view,
      .is_quick = true, .produces = HTML },
    { HTTP_GET, "/status", ROUTE_PUBLIC, "The page: how the server is doing.", give_view, .is_quick = true,
      .produces = HTML },
    { HTTP_GET, "/adhoc", ROUTE_PUBLIC, "The page: profiles from files.", give_view, .is_quick = true,
      .produces = HTML },
    { HTTP_GET, "/adhoc/*", ROUTE_PUBLIC, "The page: one uploaded profile, by its id.", give_view, .is_quick = true,
      .produces = HTML },
    { HTTP_GET, "/traces", ROUTE_PUBLIC, "The page: traces, found by what is slow or failed in them.", give_view,
      .is_quick = true, .produces = HTML },
    { HTTP_GET, "/traces/*", ROUTE_PUBLIC, "The page: one trace by its id, with the profiles of its spans.", give_view,
      .is_quick = true, .produces = HTML },
    { HTTP_GET, "/assets/*", ROUTE_PUBLIC, "What the page is made of; names change with the content.", give_asset,
      .is_quick = true, .produces = "text/javascript, text/css, text/plain" },
};

const struct route_table page_routes = { routes, ARRAY_LEN(routes) };
