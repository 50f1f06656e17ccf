// SPDX-License-Identifier: Apache-2.0
/* A progress bar on standard error for work that takes longer than a second.
 *
 * Shown only if standard error is a terminal, drawn at most ten times a second, and wiped away at the end. There is one
 * bar, since there is one terminal. A thread of its own keeps it alive between steps, so that work of a single long
 * step shows how long it has taken; where there is no terminal there is no thread either. */
#pragma once

#include "base/base.h"

/* Begins a piece of work of `total` steps (0 = unknown) and ends the one before, if it is not finished. `title` is
 * printable ASCII, kept until progress_finish. Thread: main, for this and the two below. */
void progress_start(const char *title, uint64_t total);
/* `done` of the steps lie behind us. Reads the clock, so call it for each file or chunk, not for each byte. */
void progress_step(uint64_t done);
/* Wipes the bar away, if it is there. Nothing is drawn afterwards. */
void progress_finish(void);

/* Wipes the bar away, and keeps it away for a tenth of a second; for those who now write a line to the same terminal.
 * Thread: any. */
void progress_hide(void);

/* Test seams, for use between two pieces of work. progress_set_output: draws on `fd` instead of standard error.
 * progress_set_tick: how often the thread looks at the clock; it sleeps by the real time, even where that clock is
 * faked. 0 is the usual interval. */
void progress_set_output(int fd);
void progress_set_tick(int64_t interval_ns);
