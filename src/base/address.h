// SPDX-License-Identifier: Apache-2.0
/* Where to listen or connect: HOST:PORT, :PORT, [IPV6]:PORT or unix:PATH. Text only; nothing is resolved here. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

enum address_kind { ADDRESS_TCP, ADDRESS_UNIX };

#define ADDRESS_NAME_MAX 253 /* longest host name of the DNS */
#define ADDRESS_PATH_MAX 107 /* longest path that fits sockaddr_un */

struct address {
    enum address_kind kind;
    uint16_t port;                   /* TCP: 0 lets the kernel choose */
    char name[ADDRESS_NAME_MAX + 1]; /* TCP: the host without brackets, "" for every interface. Unix: the path. */
};

struct address_text {
    char text[ADDRESS_NAME_MAX + 16];
};

/* Reads an address. Errors: ERR_INVALID saying what is wrong with it and what would be right. Thread: any. */
MUST_CHECK int address_parse(struct slice text, struct address *ret_address, struct error *err);

/* The address as address_parse reads it. */
struct address_text address_format(const struct address *address);
