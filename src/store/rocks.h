// SPDX-License-Identifier: Apache-2.0
/* The embedded store: days of RocksDB under one directory (docs/format-store.md).
 *
 *   DATA/  LOCK          held by the process that writes; has its pid
 *          FORMAT        "hearth store 1.1", the seed of the hashes, and a checksum
 *          profiles/DAY/ one database per UTC day
 *          meta/         kept ranges
 *          quarantine/   what could not be read
 *          tmp/          files on their way, and days on their way out; emptied at every start
 *
 * Threads of its own, with has_background: `store-sync` (the WAL to the disk each second, where that is the mode) and
 * `store-work` (everything that store_maintain does). */
#pragma once

#include "store/store.h"

MUST_CHECK int rocks_open(const struct store_options *options, struct store **ret_store, struct error *err);
