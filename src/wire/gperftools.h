// SPDX-License-Identifier: Apache-2.0
/* The profile formats that came before profile.proto, from gperftools and from Go's `debug=1` pages:
 *
 *   CPU          binary words of 32 or 64 bits of either byte order: header, records, an end mark, then the memory map
 *   heap         text, "heap profile: ..."; sampled counts (heap_v2, Go's heap) are scaled up; growth and fragmentation
 *   counts       text, "goroutine profile: total 5" and the like
 *   contention   text, "--- contentionz 1 ---", and Go's "--- mutex:" and "--- contention:"
 *   threads      text, "--- threadz 1 ---"
 *   Java         CPU, heap and contention with a table of names
 *
 * They hold addresses, to be named later through the mappings; where Go wrote names behind a sample as comments, those
 * are taken. Return addresses are moved into the call before them, as `pprof` does. Lines that are no samples are
 * skipped and told in batch->report. */
#pragma once

#include "profile/profile.h"

/* 95 if the plain bytes begin like one of these formats, else 0. Thread: any. */
int gperftools_recognise(struct slice bytes);

/* Decodes plain bytes into `batch`, which is empty; it gets one profile. Equal samples are added up.
 * Errors: ERR_CORRUPT naming line or byte; ERR_LIMIT, ERR_MEMORY. Thread: any; the batch is not shared. */
MUST_CHECK int gperftools_decode(struct slice bytes, struct batch *batch, struct error *err);
