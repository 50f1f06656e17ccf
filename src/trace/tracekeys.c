// SPDX-License-Identifier: Apache-2.0
#include "trace/tracekeys.h"

#include "base/bytes.h"
#include "base/hash.h"

#define ROW_BYTES     (4 + SPAN_TRACE_ID_BYTES + SPAN_ID_BYTES + 1 + 4) /* behind the tenant */
#define CLOSING_BYTES (1 + 1 + 4)                                       /* before it */

int tracekeys_check_tenant(struct slice tenant, struct error *err)
{
    if (tenant.len > TRACEKEYS_MAX_TENANT)
        return error_set(err, ERR_INVALID, "the name of a tenant has %zu bytes, at most %d are allowed", tenant.len,
                         TRACEKEYS_MAX_TENANT);
    if (slice_find_byte(tenant, '\0') >= 0)
        return error_set(err, ERR_INVALID, "the name of a tenant has a NUL at byte %td",
                         slice_find_byte(tenant, '\0') + 1);
    return 0;
}

static void put_u32(struct buffer *out, uint32_t value)
{
    char bytes[4];

    bytes_put_be32(bytes, value);
    buffer_append(out, bytes, sizeof(bytes));
}

static uint32_t check_of(const struct span *span)
{
    struct hash128 hash =
        hash_fold((struct hash128){ span->status, 1 }, (uint64_t)span->start_ns, (uint64_t)span->duration_ns);

    hash = hash_fold(hash, bytes_get_le64(span->parent_id), hash_bytes64(span->name, 0));
    return (uint32_t)(hash.a >> 32);
}

void tracekeys_put_tenant(struct buffer *out, char kind, struct slice tenant)
{
    buffer_append_byte(out, kind);
    buffer_append_slice(out, tenant);
    buffer_append_byte(out, '\0');
}

void tracekeys_put_slot(struct buffer *out, struct slice tenant, uint32_t slot)
{
    tracekeys_put_tenant(out, TRACEKEYS_SPAN, tenant);
    put_u32(out, slot);
}

void tracekeys_put_run(struct buffer *out, struct slice tenant, uint32_t slot,
                       const uint8_t trace_id[static SPAN_TRACE_ID_BYTES])
{
    tracekeys_put_slot(out, tenant, slot);
    buffer_append(out, trace_id, SPAN_TRACE_ID_BYTES);
}

void tracekeys_put_row(struct buffer *out, struct slice tenant, const struct span *span)
{
    tracekeys_put_run(out, tenant, spanrow_slot(span->start_ns), span->trace_id);
    buffer_append(out, span->span_id, sizeof(span->span_id));
    buffer_append_byte(out, (char)span->kind);
    put_u32(out, check_of(span));
}

void tracekeys_put_trace_slot(struct buffer *out, struct slice tenant,
                              const uint8_t trace_id[static SPAN_TRACE_ID_BYTES], uint32_t slot)
{
    tracekeys_put_tenant(out, TRACEKEYS_SLOT, tenant);
    buffer_append(out, trace_id, SPAN_TRACE_ID_BYTES);
    put_u32(out, slot);
}

void tracekeys_put_closing(struct buffer *out, char kind, uint8_t hour, uint32_t closing, struct slice tenant)
{
    buffer_append_byte(out, kind);
    buffer_append_byte(out, (char)hour);
    put_u32(out, closing);
    buffer_append_slice(out, tenant);
    buffer_append_byte(out, '\0');
}

void tracekeys_put_block(struct buffer *out, char kind, uint8_t hour, uint32_t closing, struct slice tenant,
                         uint32_t block)
{
    tracekeys_put_closing(out, kind, hour, closing, tenant);
    put_u32(out, block);
}

void tracekeys_put_page(struct buffer *out, uint8_t hour, uint32_t closing, struct slice tenant, uint64_t first)
{
    tracekeys_put_closing(out, TRACEKEYS_INDEX, hour, closing, tenant);
    put_u32(out, (uint32_t)(first >> 32));
    put_u32(out, (uint32_t)first);
}

bool tracekeys_parse_row(struct slice key, struct slice *ret_tenant, struct spanrow_key *ret_key)
{
    ptrdiff_t end = slice_find_byte(key, '\0');
    const char *at;

    if (end < 1 || key.ptr[0] != TRACEKEYS_SPAN || key.len != (size_t)end + 1 + ROW_BYTES)
        return false;
    at = key.ptr + end + 1;
    *ret_tenant = slice_of(key.ptr + 1, (size_t)end - 1);
    ret_key->slot = bytes_get_be32(at);
    memcpy(ret_key->trace_id, at + 4, SPAN_TRACE_ID_BYTES);
    memcpy(ret_key->span_id, at + 4 + SPAN_TRACE_ID_BYTES, SPAN_ID_BYTES);
    ret_key->kind = (uint8_t)at[4 + SPAN_TRACE_ID_BYTES + SPAN_ID_BYTES];
    return true;
}

bool tracekeys_parse_trace_slot(struct slice key, struct slice tenant, uint8_t ret_trace_id[static SPAN_TRACE_ID_BYTES],
                                uint32_t *ret_slot)
{
    const char *at = key.ptr + 1 + tenant.len + 1;

    if (key.len != 1 + tenant.len + 1 + SPAN_TRACE_ID_BYTES + 4 || key.ptr[0] != TRACEKEYS_SLOT)
        return false;
    memcpy(ret_trace_id, at, SPAN_TRACE_ID_BYTES);
    *ret_slot = bytes_get_be32(at + SPAN_TRACE_ID_BYTES);
    return true;
}

bool tracekeys_parse_block(struct slice key, uint32_t *ret_block)
{
    if (key.len < CLOSING_BYTES + 1 + 4)
        return false;
    *ret_block = bytes_get_be32(key.ptr + key.len - 4);
    return true;
}

bool tracekeys_parse_page(struct slice key, uint64_t *ret_first)
{
    if (key.len < CLOSING_BYTES + 1 + 8)
        return false;
    *ret_first = bytes_get_be64(key.ptr + key.len - 8);
    return true;
}
