// SPDX-License-Identifier: Apache-2.0
#include "net/origin.h"

#include <arpa/inet.h>
#include <string.h>

struct place {
    struct slice host; /* without brackets */
    uint64_t port;
};

/* "host", "host:port" or "[host]:port". False: it is none of them. */
static bool parse_authority(struct slice text, uint64_t default_port, struct place *ret_place)
{
    bool has_brackets = slice_starts_with(text, SLICE("["));
    ptrdiff_t end = has_brackets ? slice_find_byte(text, ']') : slice_find_byte(text, ':');
    struct slice host = text, rest = SLICE("");

    if (has_brackets && end < 0)
        return false;
    if (end >= 0) {
        host = has_brackets ? slice_sub(text, 1, (size_t)end - 1) : slice_sub(text, 0, (size_t)end);
        rest = slice_sub(text, (size_t)end + has_brackets, SIZE_MAX);
    }
    *ret_place = (struct place){ host, default_port };
    if (rest.len == 0)
        return host.len > 0;
    return host.len > 0 && rest.ptr[0] == ':' && slice_to_u64(slice_sub(rest, 1, SIZE_MAX), &ret_place->port);
}

/* "scheme://authority". */
static bool parse_origin(struct slice text, struct place *ret_place, uint64_t *ret_default_port)
{
    static const struct {
        const char *prefix;
        uint64_t port;
    } schemes[] = { { "http://", 80 }, { "https://", 443 } };

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i].prefix);

        if (!slice_equal_nocase(slice_sub(text, 0, len), slice_from(schemes[i].prefix)))
            continue;
        *ret_default_port = schemes[i].port;
        return parse_authority(slice_sub(text, len, SIZE_MAX), schemes[i].port, ret_place);
    }
    return false;
}

static bool is_loopback_host(struct slice host)
{
    struct in6_addr address6, loopback6 = IN6ADDR_LOOPBACK_INIT;
    char text[INET6_ADDRSTRLEN];
    struct in_addr address;

    if (slice_equal_nocase(host, SLICE("localhost")))
        return true;
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, text, &address6) == 1 && memcmp(&address6, &loopback6, sizeof(loopback6)) == 0;
}

bool origin_is_loopback(struct slice authority)
{
    struct place place;

    return parse_authority(authority, 0, &place) && is_loopback_host(place.host);
}

bool origin_is_of(struct slice origin, struct slice authority)
{
    struct place page, server;
    uint64_t default_port;

    return parse_origin(origin, &page, &default_port) && parse_authority(authority, default_port, &server) &&
           slice_equal_nocase(page.host, server.host) && page.port == server.port;
}

/* O2. Only programs leave Host out. */
static bool is_own_name(struct slice authority, const struct origin_rules *rules)
{
    struct place asked, trusted;
    uint64_t ignored;

    if (!is_loopback_host(slice_from(rules->listener)) || authority.len == 0)
        return true;
    if (!parse_authority(authority, 0, &asked))
        return false;
    if (is_loopback_host(asked.host) || slice_equal_nocase(asked.host, slice_from(rules->listener)))
        return true;
    return rules->cors_origin && parse_origin(slice_from(rules->cors_origin), &trusted, &ignored) &&
           slice_equal_nocase(asked.host, trusted.host);
}

bool origin_admits(struct exchange *exchange, const struct origin_rules *rules)
{
    const struct request *request = &exchange->request;
    struct slice origin = http_header(&request->headers, "origin");
    enum route_scope scope = exchange->route->scope;

    if (request->method == HTTP_GET || request->method == HTTP_HEAD || (scope != ROUTE_WRITE && scope != ROUTE_ADMIN) ||
        (scope == ROUTE_WRITE && !origin.ptr))
        return true;
    if (rules->cors_origin && (strcmp(rules->cors_origin, "*") == 0 ||
                               (origin.ptr && slice_equal_nocase(origin, slice_from(rules->cors_origin)))))
        return true;
    if (origin.ptr && !origin_is_of(origin, request->authority)) {
        exchange_fail_with(exchange, 403,
                           "pages of '%.*s' may not change anything here; the server allows it with --cors-origin",
                           SLICE_ARG(slice_sub(origin, 0, 200)));
        return false;
    }
    if (!is_own_name(request->authority, rules)) {
        exchange_fail_with(exchange, 403,
                           "'%.*s' is no name of this server, which listens on %s: ask for that or localhost, or name "
                           "the origin of a proxy in front of it with --cors-origin",
                           SLICE_ARG(slice_sub(request->authority, 0, 200)), rules->listener);
        return false;
    }
    return true;
}
