// SPDX-License-Identifier: Apache-2.0
/* Walks a stack by its frame pointers, from within a signal handler: no memory, no locks, and no belief in what the
 * registers hold.
 *
 * F1  The stack is read by process_vm_readv on the own process, which fails where a plain read would crash. So no bounds of
 *     stacks need to be known, and code that uses the frame pointer for something else ends the walk and nothing more.
 * F2  Each frame is farther from the top of the stack than the one before, so every walk ends. */
#pragma once

#include "base/base.h"

#include <ucontext.h>

#define FRAMEWALK_MAX_DEPTH 128

struct framewalk_registers {
    uintptr_t pc, sp, fp;
};

/* The registers of the code that a signal interrupted. Signal-safe. */
struct framewalk_registers framewalk_registers_of(const ucontext_t *context);

/* Whether stacks can be walked here: a sandbox may forbid the call of F1, and then walks end behind the first frame. */
bool framewalk_is_possible(void);

/* Fills `ret_frames` with addresses, leaf first, and returns how many: at least 1, at most `max` (which is at least 1). The
 * first is the pc, the others are addresses to return to. Signal-safe; keeps errno. */
uint32_t framewalk(const struct framewalk_registers *registers, uintptr_t *ret_frames, uint32_t max);
