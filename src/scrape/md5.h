// SPDX-License-Identifier: Apache-2.0
/* MD5 (RFC 1321), for one thing only: relabelling's `hashmod`, which must send a target to the same shard as Prometheus
 * does. It protects nothing. */
#pragma once

#include "base/slice.h"

#define MD5_BYTES 16

void md5_bytes(struct slice text, uint8_t ret_digest[static MD5_BYTES]);
