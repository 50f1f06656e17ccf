// SPDX-License-Identifier: Apache-2.0
/* Tells the service manager how we are: the protocol of sd_notify(3), one datagram of NAME=VALUE lines to the socket
 * that NOTIFY_SOCKET names (a path, or '@' and an abstract name).
 *
 * Without that variable nobody wants to know, and everything here succeeds at once. A manager that does not read is
 * waited for at most NOTIFY_TIMEOUT_SECONDS. */
#pragma once

#include "base/error.h"

#define NOTIFY_TIMEOUT_SECONDS 5

/* Sends `lines` as they are: "READY=1\nSTATUS=serving on 127.0.0.1:4040", "STOPPING=1". Errors: ERR_INVALID for a
 * NOTIFY_SOCKET that is no socket's name, ERR_TIMEOUT, and those of sending.  Thread: any. */
MUST_CHECK int notify_send(const char *lines, struct error *err);

/* Says that the configuration is being read again, and when that began, as units of type notify-reload need it.
 * READY=1 ends it, also where nothing changed. Errors: as notify_send.  Thread: any. */
MUST_CHECK int notify_reloading(struct error *err);
