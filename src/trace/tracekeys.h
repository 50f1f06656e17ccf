// SPDX-License-Identifier: Apache-2.0
/* The keys under which spans and their blocks are kept (docs/format-traces.md is normative).
 *
 * In heads:
 *     span            's' | tenant 00 | u32 slot | trace id 16 | span id 8 | u8 kind | u32 check
 *     slot of a trace 'x' | tenant 00 | trace id 16 | u32 slot
 * In the family of blocks:
 *     block           'b' | u8 hour | u32 closing | tenant 00 | u32 block
 *     its header      'h' | the same
 *     its attributes  'a' | the same
 *     index page      'i' | u8 hour | u32 closing | tenant 00 | u64 first
 *     tally           't' | u8 hour | u32 closing | tenant 00
 *
 * Numbers are big-endian. `check` tells spans of the same ids apart that are not the same (tracestore.h, T2). */
#pragma once

#include "base/buffer.h"
#include "trace/spanrow.h"

#define TRACEKEYS_SPAN   's'
#define TRACEKEYS_SLOT   'x'
#define TRACEKEYS_BODY   'b'
#define TRACEKEYS_HEADER 'h'
#define TRACEKEYS_BLOOM  'a'
#define TRACEKEYS_INDEX  'i'
#define TRACEKEYS_TALLY  't'

/* Names of tenants have no NUL, and at most so many bytes. */
#define TRACEKEYS_MAX_TENANT 256
/* Errors: ERR_INVALID. */
MUST_CHECK int tracekeys_check_tenant(struct slice tenant, struct error *err);
/* No key is longer. */
#define TRACEKEYS_MAX_BYTES (TRACEKEYS_MAX_TENANT + 48)

/* These append to `out`. */
void tracekeys_put_row(struct buffer *out, struct slice tenant, const struct span *span);
/* The beginning of all keys of a kind and a tenant in heads. */
void tracekeys_put_tenant(struct buffer *out, char kind, struct slice tenant);
/* The beginning of all rows of a tenant in a slot. */
void tracekeys_put_slot(struct buffer *out, struct slice tenant, uint32_t slot);
/* The beginning of all rows of a trace in a slot. */
void tracekeys_put_run(struct buffer *out, struct slice tenant, uint32_t slot,
                       const uint8_t trace_id[static SPAN_TRACE_ID_BYTES]);
/* That a trace has rows in a slot. */
void tracekeys_put_trace_slot(struct buffer *out, struct slice tenant,
                              const uint8_t trace_id[static SPAN_TRACE_ID_BYTES], uint32_t slot);
/* The key of a tally, and the beginning of all others of that kind, closing and tenant. */
void tracekeys_put_closing(struct buffer *out, char kind, uint8_t hour, uint32_t closing, struct slice tenant);
void tracekeys_put_block(struct buffer *out, char kind, uint8_t hour, uint32_t closing, struct slice tenant,
                         uint32_t block);
void tracekeys_put_page(struct buffer *out, uint8_t hour, uint32_t closing, struct slice tenant, uint64_t first);

/* What the key of a row says; false if it is none. The tenant borrows the key. */
MUST_CHECK bool tracekeys_parse_row(struct slice key, struct slice *ret_tenant, struct spanrow_key *ret_key);
/* What the key of a slot of a trace says; false if it is none of the tenant. */
MUST_CHECK bool tracekeys_parse_trace_slot(struct slice key, struct slice tenant,
                                           uint8_t ret_trace_id[static SPAN_TRACE_ID_BYTES], uint32_t *ret_slot);
/* The number at the end of the key of a block or a header. */
MUST_CHECK bool tracekeys_parse_block(struct slice key, uint32_t *ret_block);
/* The hash at the end of the key of a page. */
MUST_CHECK bool tracekeys_parse_page(struct slice key, uint64_t *ret_first);
