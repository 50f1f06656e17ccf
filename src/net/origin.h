// SPDX-License-Identifier: Apache-2.0
/* Which pages may change something here. A browser lets any page send requests to any server, with whatever rights the
 * machine it runs on has: one on loopback, too. It says in Origin whose page it is, and in Host under which name it found
 * the server, which may be one that the page's owner let point here (DNS rebinding).
 *
 * O1  A request that changes something (ROUTE_WRITE, ROUTE_ADMIN; not GET) and has an Origin comes from a page of this server, by its
 *     Host, or of --cors-origin.
 * O2  On a loopback listener its Host, too, is a name of loopback, of the listener, or that of --cors-origin.
 * O3  Programs send no Origin: O1 does not concern them, O2 only for ROUTE_ADMIN. Senders may come through proxies under
 *     any name. */
#pragma once

#include "net/route.h"

/* Whether a Host or the host of an authority, as "localhost:4040", "127.0.0.1" or "[::1]:80", is one of loopback. */
bool origin_is_loopback(struct slice authority);
/* Whether an Origin is that of an authority, both as they come: "https://A.example" is that of "a.example:443". */
bool origin_is_of(struct slice origin, struct slice authority);

struct origin_rules {
    const char *cors_origin; /* "*", an origin, or NULL */
    const char *listener;    /* the host that is listened on; "" = all of them, or a socket file */
};
/* Judges a request whose route is found. True, or it is answered with 403. */
MUST_CHECK bool origin_admits(struct exchange *exchange, const struct origin_rules *rules);
