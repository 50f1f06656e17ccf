// SPDX-License-Identifier: Apache-2.0
#include "unwind/framewalk.h"

#include "base/test.h"

#include <sys/mman.h>

/* A stack as code with frame pointers leaves it: words[0] and [1] are a frame, and so on. */
#define CODE(n) (0x400000u + (n))

static uintptr_t address_of(const uintptr_t *word)
{
    return (uintptr_t)word;
}

TEST(framewalk_follows_frame_pointers_to_their_end)
{
    uintptr_t stack[16] = { 0 }, frames[FRAMEWALK_MAX_DEPTH];
    struct framewalk_registers registers = { CODE(1), address_of(stack), address_of(&stack[2]) };

    stack[2] = address_of(&stack[6]);
    stack[3] = CODE(2);
    stack[6] = address_of(&stack[10]);
    stack[7] = CODE(3);
    stack[10] = 0;
    stack[11] = CODE(4);
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(frames[i], CODE(i + 1));
    CHECK_EQ(framewalk(&registers, frames, 2), 2);
    CHECK_EQ(framewalk(&registers, frames, 1), 1);
}

TEST(framewalk_ends_at_frame_pointers_that_cannot_be_right)
{
    uintptr_t stack[16] = { 0 }, frames[FRAMEWALK_MAX_DEPTH];
    struct framewalk_registers registers = { CODE(1), address_of(&stack[4]), 0 };
    const uintptr_t wrong[] = { 0,
                                1,
                                address_of(&stack[2]),     /* above the top of the stack */
                                address_of(&stack[6]) + 1, /* not aligned */
                                UINTPTR_MAX - 7,
                                address_of(stack) + (64u << 20) };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        registers.fp = wrong[i];
        CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 1);
        CHECK_EQ(frames[0], CODE(1));
    }
    registers.sp = UINTPTR_MAX - 7; /* nor can this */
    registers.fp = UINTPTR_MAX - 7;
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 1);
    registers.sp = address_of(&stack[4]);
    registers.fp = address_of(&stack[6]);
    stack[6] = address_of(&stack[6]); /* its own caller */
    stack[7] = CODE(2);
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 2);
    stack[7] = 12; /* nobody's code */
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 1);
}

TEST(framewalk_survives_memory_that_is_not_there)
{
    const size_t page = 4096;
    uintptr_t frames[FRAMEWALK_MAX_DEPTH], *words;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct framewalk_registers registers = { .pc = CODE(1) };

    CHECK(pages != MAP_FAILED);
    CHECK(munmap(pages + page, page) == 0);
    words = (uintptr_t *)(pages + page) - 4;
    words[0] = address_of(&words[2]);
    words[1] = CODE(2);
    words[2] = address_of(&words[4]); /* the page that is gone */
    words[3] = CODE(3);
    registers.sp = registers.fp = address_of(words);
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 3);
    registers.fp = address_of(&words[3]); /* half of it is gone */
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 1);
    munmap(pages, page);
}

TEST(framewalk_is_bounded_by_its_depth)
{
    static uintptr_t stack[2 * FRAMEWALK_MAX_DEPTH + 4];
    uintptr_t frames[FRAMEWALK_MAX_DEPTH];
    struct framewalk_registers registers = { CODE(0), address_of(stack), address_of(stack) };

    for (size_t i = 0; i + 1 < ARRAY_LEN(stack); i += 2) {
        stack[i] = address_of(&stack[i]) + 2 * sizeof(uintptr_t);
        stack[i + 1] = CODE(i);
    }
    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), FRAMEWALK_MAX_DEPTH);
}

#if defined(__x86_64__)
/* A call, a function behind it, and other kinds of calls. */
static const uint8_t code[64] = { 0x90,        0x90, 0xe8, 9,    0,
                                  0,           0,                /* 2: call 16 */
                                  [16] = 0xf3, 0x0f, 0x1e, 0xfa, /* 16: endbr64 */
                                  0x55,        0x48, 0x89, 0xe5, 0x90,
                                  0x90,        0xc3,                     /* 20: push, 21: mov, 24: nop, 26: ret */
                                  [40] = 0xff, 0xd0,                     /* 40: call *%rax */
                                  [50] = 0xe8, 0,    0,    0,    0x40 }; /* 50: call far away */
enum { BEHIND_CALL = 7, BEHIND_POINTER = 42, BEHIND_FAR = 55 };

static uint32_t walk_from(size_t pc, uintptr_t first, uintptr_t second, uintptr_t *frames)
{
    uintptr_t stack[8] = { first, second, 0, CODE(3) };
    struct framewalk_registers registers = { (uintptr_t)&code[pc], address_of(stack), address_of(&stack[2]) };

    return framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH);
}

TEST(framewalk_sees_the_caller_of_a_function_that_has_no_frame)
{
    uintptr_t frames[FRAMEWALK_MAX_DEPTH], caller = (uintptr_t)&code[BEHIND_CALL];
    const size_t places[] = { 16, 20, 24, 26 };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        CHECK_EQ(walk_from(places[i], caller, 0, frames), 3);
        CHECK_EQ(frames[1], caller);
        CHECK_EQ(frames[2], CODE(3));
    }
    CHECK_EQ(walk_from(21, 0, caller, frames), 3); /* the frame pointer was saved, but not set */
    CHECK_EQ(frames[1], caller);
    CHECK_EQ(walk_from(24, (uintptr_t)&code[BEHIND_POINTER], 0, frames), 3);
    CHECK_EQ(frames[1], (uintptr_t)&code[BEHIND_POINTER]);
}

TEST(framewalk_is_not_misled_by_what_else_is_on_the_stack)
{
    uintptr_t frames[FRAMEWALK_MAX_DEPTH];

    CHECK_EQ(walk_from(24, (uintptr_t)&code[8], 0, frames), 2);          /* not behind a call */
    CHECK_EQ(walk_from(24, (uintptr_t)&code[BEHIND_FAR], 0, frames), 2); /* a call of something else */
    CHECK_EQ(walk_from(24, CODE(9), 0, frames), 2);                      /* not there at all */
    CHECK_EQ(walk_from(24, 3, 0, frames), 2);
}

TEST(framewalk_has_a_caller_once)
{
    uintptr_t stack[4] = { (uintptr_t)&code[BEHIND_CALL], 0, 0, (uintptr_t)&code[BEHIND_CALL] };
    struct framewalk_registers registers = { (uintptr_t)&code[24], address_of(stack), address_of(&stack[2]) };
    uintptr_t frames[FRAMEWALK_MAX_DEPTH];

    CHECK_EQ(framewalk(&registers, frames, FRAMEWALK_MAX_DEPTH), 2);
}
#endif

TEST(framewalk_is_possible_in_tests)
{
    CHECK(framewalk_is_possible());
}
