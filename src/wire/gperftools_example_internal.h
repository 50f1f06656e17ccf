// SPDX-License-Identifier: Apache-2.0
/* Old profiles made by hand, for tests. */
#pragma once

#include "base/buffer.h"
#include "base/memory.h"
#include "base/test.h"
#include "wire/gperftools.h"

#define EXAMPLE_MAPS                                                                                                   \
    "00400000-00500000 r-xp 00000000 fd:01 1234                 /usr/bin/app\n"                                        \
    "00700000-00701000 rw-p 00100000 fd:01 1234                 /usr/bin/app\n"                                        \
    "7f0000001000-7f0000100000 r-xp 00001000 fd:01 77           /lib/libc.so.6\n"                                      \
    "7f0000100000-7f0000200000 r-xp 00100000 fd:01 77           /lib/libc.so.6\n"                                      \
    "7fff00000000-7fff00001000 r-xp 00000000 00:00 0            [vdso]\n"

#define EXAMPLE_HEAP                                                                                                   \
    "heap profile:    3:     1200 [   10:    90000] @ heap_v2/524288\n"                                                \
    "     2:      800 [    9:    89600] @ 0x00401234 0x00402222\n"                                                     \
    "     1:      400 [    1:      400] @ 0x00401111 0x7f0000005000\n"                                                 \
    "\n"                                                                                                               \
    "MAPPED_LIBRARIES:\n" EXAMPLE_MAPS

#define EXAMPLE_GOROUTINES                                                                                             \
    "goroutine profile: total 4\n"                                                                                     \
    "3 @ 0x47e78e 0x41590e 0x4e2a55 0x484e61\n"                                                                        \
    "# labels: {\"key\":\"value\"}\n"                                                                                  \
    "#\t0x41590d\tmain.wait[int, string]+0x14\t\t/src/wait.go:81\n"                                                    \
    "#\t0x4e2a54\tmain.loop+0x73\t\t\t\t/src/loop.go:62\n"                                                             \
    "\n"                                                                                                               \
    "1 @ 0x41590e\n"

/* Decodes and checks every id. */
static inline void example_read(struct slice bytes, struct batch *batch)
{
    struct error err = { 0 };

    batch_init(batch, NULL);
    CHECK_OK(gperftools_decode(bytes, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
    CHECK_EQ(batch->n_profiles, 1);
}

/* The frame at `depth` (0 = leaf) of a sample. */
static inline const struct frame *example_frame(const struct batch *batch, uint32_t sample, uint32_t depth)
{
    uint32_t n;
    const uint32_t *frames = tables_stack(&batch->tables, batch->profiles[0].stacks[sample], &n);

    CHECK(depth < n);
    return &batch->tables.frames[frames[depth]];
}

static inline uint32_t example_depth(const struct batch *batch, uint32_t sample)
{
    uint32_t n;

    (void)tables_stack(&batch->tables, batch->profiles[0].stacks[sample], &n);
    return n;
}

static inline int64_t example_value(const struct batch *batch, uint32_t sample, uint32_t type)
{
    return profile_values(&batch->profiles[0], type)[sample];
}

static inline struct slice example_type_name(const struct batch *batch, uint32_t type)
{
    return tables_string(&batch->tables, batch->profiles[0].types[type].type);
}

/* Name of the function on a line of a frame. */
static inline struct slice example_function_name(const struct batch *batch, const struct frame *frame, uint32_t line)
{
    const struct tables *t = &batch->tables;

    CHECK(line < frame->n_lines);
    return tables_string(t, t->functions[t->lines[frame->first_line + line].function].name);
}

/* A CPU profile: words, then the text behind them. */
struct example_words {
    struct buffer out;
    uint32_t word_bytes;
    bool is_big_endian;
};

static inline void example_word(struct example_words *words, uint64_t value)
{
    for (uint32_t i = 0; i < words->word_bytes; i++) {
        uint32_t byte = words->is_big_endian ? words->word_bytes - 1 - i : i;

        buffer_append_byte(&words->out, (char)(value >> (8 * byte)));
    }
}
#define EXAMPLE_WORDS(words, ...)                                                                                      \
    do {                                                                                                               \
        const uint64_t values_[] = { __VA_ARGS__ };                                                                    \
        for (size_t i_ = 0; i_ < ARRAY_LEN(values_); i_++)                                                             \
            example_word(words, values_[i_]);                                                                          \
    } while (0)

static inline struct example_words example_cpu(uint32_t word_bytes, bool is_big_endian)
{
    struct example_words words = { .word_bytes = word_bytes, .is_big_endian = is_big_endian };

    buffer_init(&words.out, 0);
    EXAMPLE_WORDS(&words, 0, 3, 0, 10000, 0);
    return words;
}
