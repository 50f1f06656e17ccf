// SPDX-License-Identifier: Apache-2.0
#include "pack/checksum.h"

#include "base/bytes.h"
#include "base/hash.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* The table entry of a byte is the xor of the entries of its bits, since CRCs are linear; these eight are the entries
 * of 1, 2, 4 ... 128 for the reversed polynomial 0x82f63b78. */
#define BIT(i, bit, entry) (((i) & (bit)) ? (entry) : 0u)
#define ENTRY(i)                                                                                                       \
    (BIT(i, 1, 0xf26b8303u) ^ BIT(i, 2, 0xe13b70f7u) ^ BIT(i, 4, 0xc79a971fu) ^ BIT(i, 8, 0x8ad958cfu) ^               \
     BIT(i, 16, 0x105ec76fu) ^ BIT(i, 32, 0x20bd8edeu) ^ BIT(i, 64, 0x417b1dbcu) ^ BIT(i, 128, 0x82f63b78u))
#define ENTRIES_4(i)  ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRIES_16(i) ENTRIES_4(i), ENTRIES_4((i) + 4), ENTRIES_4((i) + 8), ENTRIES_4((i) + 12)
#define ENTRIES_64(i) ENTRIES_16(i), ENTRIES_16((i) + 16), ENTRIES_16((i) + 32), ENTRIES_16((i) + 48)
static const uint32_t table[256] = { ENTRIES_64(0), ENTRIES_64(64), ENTRIES_64(128), ENTRIES_64(192) };

uint32_t checksum_crc32c_portable(uint32_t crc, struct slice bytes)
{
    crc = ~crc;
    for (size_t i = 0; i < bytes.len; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)bytes.ptr[i]) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)
static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2"); /* found out by the compiler's start-up code, only read here */
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_by_cpu(uint32_t start, struct slice bytes)
{
    uint64_t crc = ~start;
    size_t i = 0;

    for (; bytes.len - i >= 8; i += 8)
        crc = _mm_crc32_u64(crc, bytes_get_le64(bytes.ptr + i));
    for (; i < bytes.len; i++)
        crc = _mm_crc32_u8((uint32_t)crc, (unsigned char)bytes.ptr[i]);
    return ~(uint32_t)crc;
}
#elif defined(__aarch64__)
static bool has_instruction(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

static uint32_t crc32c_by_cpu(uint32_t start, struct slice bytes)
{
    uint32_t crc = ~start;
    size_t i = 0;

    /* Assembly, since gcc and clang disagree on how a single function gets an extension. */
    for (; bytes.len - i >= 8; i += 8)
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(bytes_get_le64(bytes.ptr + i)));
    for (; i < bytes.len; i++)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((unsigned char)bytes.ptr[i]));
    return ~crc;
}
#else
static bool has_instruction(void)
{
    return false;
}

static uint32_t crc32c_by_cpu(uint32_t start, struct slice bytes)
{
    return checksum_crc32c_portable(start, bytes);
}
#endif

uint32_t checksum_crc32c(uint32_t crc, struct slice bytes)
{
    return has_instruction() ? crc32c_by_cpu(crc, bytes) : checksum_crc32c_portable(crc, bytes);
}

uint64_t checksum_xxh3(struct slice bytes)
{
    return hash_bytes64(bytes, 0);
}
