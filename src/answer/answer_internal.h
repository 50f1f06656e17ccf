// SPDX-License-Identifier: Apache-2.0
/* The handlers of this room, for its table of routes. */
#pragma once

#include "answer/answer.h"

/* Calls that clients make to learn about the server (clientcalls.c). */
void clientcalls_version(struct exchange *exchange);
