// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"

#include <arpa/inet.h>
#include <stdio.h>

#define SHOWN_BYTES 64 /* of a wrong address, in a message */

static struct slice shown(struct slice text)
{
    return slice_sub(text, 0, SHOWN_BYTES);
}

static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
}

static bool is_host(struct slice host)
{
    for (size_t i = 0; i < host.len; i++)
        if (!is_host_byte(host.ptr[i]))
            return false;
    return host.len <= ADDRESS_NAME_MAX;
}

static void set_name(struct address *address, struct slice name)
{
    if (name.len > 0)
        memcpy(address->name, name.ptr, name.len);
    address->name[name.len] = '\0';
}

static int parse_unix(struct slice text, struct address *ret_address, struct error *err)
{
    struct slice path = slice_sub(text, strlen("unix:"), text.len);

    if (path.len == 0 || path.len > ADDRESS_PATH_MAX || slice_find_byte(path, '\0') >= 0)
        return error_set(err, ERR_INVALID, "'%.*s' needs a path of 1 to %d bytes behind 'unix:'",
                         SLICE_ARG(shown(text)), ADDRESS_PATH_MAX);
    ret_address->kind = ADDRESS_UNIX;
    ret_address->port = 0;
    set_name(ret_address, path);
    return 0;
}

static int check_ipv6(struct slice host, struct slice text, struct error *err)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr parsed;

    if (host.len < sizeof(copy)) {
        memcpy(copy, host.ptr, host.len);
        copy[host.len] = '\0';
        if (strlen(copy) == host.len && inet_pton(AF_INET6, copy, &parsed) == 1)
            return 0;
    }
    return error_set(err, ERR_INVALID, "'%.*s' has no IPv6 address between its brackets; write [::1]:PORT",
                     SLICE_ARG(shown(text)));
}

static int parse_port(struct slice digits, struct slice text, uint16_t *ret_port, struct error *err)
{
    uint64_t port;

    if (!slice_to_u64(digits, &port) || port > UINT16_MAX)
        return error_set(err, ERR_INVALID, "'%.*s' has no port from 0 to 65535 behind its last colon",
                         SLICE_ARG(shown(text)));
    *ret_port = (uint16_t)port;
    return 0;
}

int address_parse(struct slice text, struct address *ret_address, struct error *err)
{
    ptrdiff_t colon = slice_find_last_byte(text, ':');
    struct slice host;
    uint16_t port = 0;

    if (slice_starts_with(text, SLICE("unix:")))
        return parse_unix(text, ret_address, err);
    if (colon < 0)
        return error_set(err, ERR_INVALID, "'%.*s' has no port; write HOST:PORT, :PORT, [::1]:PORT or unix:PATH",
                         SLICE_ARG(shown(text)));
    host = slice_sub(text, 0, (size_t)colon);
    if (parse_port(slice_sub(text, (size_t)colon + 1, text.len), text, &port, err) < 0)
        return -1;
    if (slice_starts_with(host, SLICE("[")) && slice_ends_with(host, SLICE("]"))) {
        host = slice_sub(host, 1, host.len - 2);
        if (check_ipv6(host, text, err) < 0)
            return -1;
    } else if (slice_find_byte(host, ':') >= 0) {
        return error_set(err, ERR_INVALID, "'%.*s' has several colons; write an IPv6 address in brackets, [::1]:PORT",
                         SLICE_ARG(shown(text)));
    } else if (!is_host(host)) {
        return error_set(err, ERR_INVALID, "'%.*s' has no host name or IPv4 address before its colon",
                         SLICE_ARG(shown(text)));
    }
    ret_address->kind = ADDRESS_TCP;
    ret_address->port = port;
    set_name(ret_address, host);
    return 0;
}

struct address_text address_format(const struct address *address)
{
    struct address_text text;

    if (address->kind == ADDRESS_UNIX)
        snprintf(text.text, sizeof(text.text), "unix:%s", address->name);
    else if (strchr(address->name, ':'))
        snprintf(text.text, sizeof(text.text), "[%s]:%u", address->name, address->port);
    else
        snprintf(text.text, sizeof(text.text), "%s:%u", address->name, address->port);
    return text;
}
