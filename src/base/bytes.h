// SPDX-License-Identifier: Apache-2.0
/* Fixed-width integers in byte strings, little-endian (le) and big-endian (be), unaligned. */
#pragma once

#include "base/base.h"

#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hearth runs on little-endian machines only");

static inline uint16_t bytes_get_le16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint32_t bytes_get_le32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint64_t bytes_get_le64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline uint16_t bytes_get_be16(const void *at)
{
    return __builtin_bswap16(bytes_get_le16(at));
}

static inline uint32_t bytes_get_be32(const void *at)
{
    return __builtin_bswap32(bytes_get_le32(at));
}

static inline uint64_t bytes_get_be64(const void *at)
{
    return __builtin_bswap64(bytes_get_le64(at));
}

static inline void bytes_put_le32(void *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static inline void bytes_put_le64(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof(value));
}

static inline void bytes_put_be32(void *at, uint32_t value)
{
    bytes_put_le32(at, __builtin_bswap32(value));
}

static inline void bytes_put_be64(void *at, uint64_t value)
{
    bytes_put_le64(at, __builtin_bswap64(value));
}
