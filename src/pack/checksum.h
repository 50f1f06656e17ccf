// SPDX-License-Identifier: Apache-2.0
/* Checksums against damage by accident: on disk, on the wire, in memory. They stop no attacker. */
#pragma once

#include "base/slice.h"

/* CRC-32C (Castagnoli), as in iSCSI, ext4 and Snappy frames. Start with 0; give the result of one piece to the next to
 * get the checksum of both. Uses the CPU's instruction where it has one. Thread: any. */
uint32_t checksum_crc32c(uint32_t crc, struct slice bytes);
/* The same without help of the CPU; for tests and for comparing. */
uint32_t checksum_crc32c_portable(uint32_t crc, struct slice bytes);

/* XXH3, 64 bits, no seed: the checksum of our own blocks. Thread: any. */
uint64_t checksum_xxh3(struct slice bytes);
