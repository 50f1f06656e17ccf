// SPDX-License-Identifier: Apache-2.0
/* The few words every file may use: attributes, assertions, cleanup and ownership.
 * No types and no functions of weight live here; see the other headers of base/. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK       __attribute__((warn_unused_result))
#define PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define NORETURN         __attribute__((noreturn))
#define UNUSED           __attribute__((unused))
#define ALWAYS_INLINE    inline __attribute__((always_inline))
#define LIKELY(x)        __builtin_expect(!!(x), 1)
#define UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)        ((a) < (b) ? (a) : (b))
#define MAX(a, b)        ((a) > (b) ? (a) : (b))

/* AUTO(f) on a local calls f(&local) when it leaves scope; TAKE(local) moves the value out and leaves zero behind. */
#define AUTO(function) __attribute__((cleanup(function)))
#define TAKE(lvalue)                                                                                                   \
    __extension__({                                                                                                    \
        __typeof__(lvalue) taken_ = (lvalue);                                                                          \
        (lvalue) = (__typeof__(lvalue)){ 0 };                                                                          \
        taken_;                                                                                                        \
    })

/* Throws a must-check result away on purpose; `why` is for the reader. */
#define IGNORE(call, why)                                                                                              \
    do {                                                                                                               \
        if (call) {                                                                                                    \
            (void)"" why;                                                                                              \
        }                                                                                                              \
    } while (0)

/* ASSERT is always on and means a bug of ours: it prints where and aborts. Input, files and the network never reach it.
 * DEBUG_ASSERT is for hot paths: on in the sanitizer variants only. */
NORETURN void base_assert_failed(const char *expr, const char *file, int line);
#define ASSERT(expr)                                                                                                   \
    do {                                                                                                               \
        if (UNLIKELY(!(expr)))                                                                                         \
            base_assert_failed(#expr, __FILE__, __LINE__);                                                             \
    } while (0)
#ifdef HEARTH_DEBUG
#define DEBUG_ASSERT(expr) ASSERT(expr)
#else
#define DEBUG_ASSERT(expr) ((void)(false && (expr)))
#endif

/* How many bits are set. The compiler's own calls a function that looks into tables where it may not use the machine's
 * instruction, which not every machine of the kind has. */
static inline uint32_t base_count_ones(uint64_t bits)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return (uint32_t)__builtin_popcountll(bits);
#else
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(bits * 0x0101010101010101u >> 56);
#endif
}
