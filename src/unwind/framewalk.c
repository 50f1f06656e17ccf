// SPDX-License-Identifier: Apache-2.0
#include "unwind/framewalk.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES   ((uintptr_t)4096)
#define WINDOW_BYTES ((size_t)2048)       /* read at a time: about as dear as a single word */
#define MAX_FRAME    ((uintptr_t)1 << 20) /* bytes of one frame; more is taken for nonsense */
#define LOWEST_CODE  ((uintptr_t)PAGE_BYTES)

/* A copy of a part of the stack. */
struct window {
    uintptr_t start;
    size_t len;
    char bytes[WINDOW_BYTES];
};

struct framewalk_registers framewalk_registers_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (struct framewalk_registers){ .pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP],
                                         .sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP],
                                         .fp = (uintptr_t)context->uc_mcontext.gregs[REG_RBP] };
#elif defined(__aarch64__)
    return (struct framewalk_registers){ .pc = context->uc_mcontext.pc,
                                         .sp = context->uc_mcontext.sp,
                                         .fp = context->uc_mcontext.regs[29] };
#else
#error "which register is the frame pointer here?"
#endif
}

/* Addresses to return to may be signed in their upper bits on arm64. */
static uintptr_t code_address(uintptr_t value)
{
#if defined(__aarch64__)
    return value & (((uintptr_t)1 << 48) - 1);
#else
    return value;
#endif
}

/* Copies up to `len` bytes of our own memory; how many could be read. A page that is not there ends it. */
static size_t read_memory(uintptr_t at, void *to, size_t len)
{
    size_t first = (size_t)MIN((uintptr_t)len, PAGE_BYTES - at % PAGE_BYTES);
    struct iovec local = { to, len };
    struct iovec remote[2] = { { (void *)at, first }, { (void *)(at + first), len - first } };
    /* Not by libc's function: sanitizers stand in front of that one. */
    long n = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, remote, len > first ? 2ul : 1ul, 0ul);

    return n > 0 ? (size_t)n : 0;
}

/* Two words at `at`, through the window. */
static bool read_frame(struct window *window, uintptr_t at, uintptr_t ret_words[static 2])
{
    const size_t len = 2 * sizeof(uintptr_t);

    if (at < window->start || at - window->start > window->len || window->len - (at - window->start) < len) {
        window->start = at;
        window->len = read_memory(at, window->bytes, sizeof(window->bytes));
        if (window->len < len)
            return false;
    }
    memcpy(ret_words, window->bytes + (at - window->start), len);
    return true;
}

#if defined(__x86_64__)
/* Whether `at` is where a call returns to that may have led to `pc`. A direct call says whom it calls: the function around
 * `pc`, or, if that is in another file, the little piece of code that leads there. */
static bool is_behind_call(uintptr_t at, uintptr_t pc)
{
    enum { CALL = 0xe8, CALL_BY = 0xff, NEAR_BYTES = 16 << 10, FILE_BYTES = 4 << 20 };
    bool is_other_file = (at > pc ? at - pc : pc - at) > FILE_BYTES;
    uint8_t code[7];
    int32_t distance;

    if (at < LOWEST_CODE || read_memory(at - sizeof(code), code, sizeof(code)) < sizeof(code))
        return false;
    if (code[2] == CALL) {
        memcpy(&distance, &code[3], sizeof(distance));
        return is_other_file || pc - (at + (uintptr_t)(intptr_t)distance) < NEAR_BYTES;
    }
    if (code[1] == CALL_BY && code[2] == 0x15) /* by a pointer in the table of the linker */
        return is_other_file;
    return code[5] == CALL_BY && (code[6] & 0xf8) == 0xd0; /* by a pointer in a register */
}

/* Compilers give small functions no frame that call nobody, whatever they are told, and at its first and last instructions
 * no function has one. Then the frame pointer is the caller's, who would be left out without a look at the top of the stack:
 * there is the address to return to. It is, or 0 where there is none. */
static uintptr_t return_without_frame(const struct framewalk_registers *registers, struct window *window)
{
    static const uint8_t save[] = { 0x48, 0x89, 0xe5 }; /* mov %rsp,%rbp: the old frame pointer is above it */
    uint8_t code[sizeof(save)] = { 0 };
    uintptr_t words[2], found;

    if (!read_frame(window, registers->sp, words))
        return 0;
    found = words[0];
    if (read_memory(registers->pc, code, sizeof(code)) == sizeof(code) && memcmp(code, save, sizeof(save)) == 0)
        found = words[1];
    return is_behind_call(found, registers->pc) ? found : 0;
}
#else
static uintptr_t return_without_frame(const struct framewalk_registers *registers UNUSED, struct window *window UNUSED)
{
    return 0;
}
#endif

uint32_t framewalk(const struct framewalk_registers *registers, uintptr_t *ret_frames, uint32_t max)
{
    int errnum = errno;
    struct window window;
    uintptr_t below = registers->sp, fp = registers->fp, caller, words[2];
    uint32_t n = 0;

    window.start = window.len = 0;
    ret_frames[n++] = registers->pc;
    caller = return_without_frame(registers, &window);
    if (caller != 0 && n < max)
        ret_frames[n++] = caller;
    while (n < max && fp >= below && fp - below < MAX_FRAME && fp % sizeof(uintptr_t) == 0 &&
           read_frame(&window, fp, words) && code_address(words[1]) >= LOWEST_CODE) {
        if (code_address(words[1]) != caller)
            ret_frames[n++] = code_address(words[1]);
        caller = 0; /* it was a stale word if the frame pointer knows the same */
        below = fp + 2 * sizeof(uintptr_t);
        fp = words[0];
    }
    errno = errnum;
    return n;
}

bool framewalk_is_possible(void)
{
    uintptr_t here = 1, copy = 0;

    return read_memory((uintptr_t)&here, &copy, sizeof(copy)) == sizeof(copy) && copy == here;
}
