// SPDX-License-Identifier: Apache-2.0
/* docs/openapi.yaml: every route of a server as OpenAPI 3.0, from the tables of routes and, for hearth's own API, from the
 * options of the commands. */
#pragma once

#include "base/buffer.h"
#include "net/route.h"

/* Appends the document. Routes of one path stand together; those of what hearth does not have (`is_absent`) are left out.
 * Failures stay in the buffer. */
void openapi_print(const struct route_table *table, struct buffer *out);
