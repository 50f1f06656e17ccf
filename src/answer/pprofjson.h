// SPDX-License-Identifier: Apache-2.0
/* profile.proto as protobuf JSON, for calls that speak JSON. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

/* Appends the JSON of a profile that pprof_encode wrote, plain: repeated fields must stand together, as they do there. Unknown
 * fields are left out. Errors: ERR_CORRUPT, ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int pprofjson_write(struct slice profile, struct buffer *out, struct error *err);
