// SPDX-License-Identifier: Apache-2.0
/* Log lines.
 *
 *     2026-11-15T10:00:00.123Z warn store: block 'b-17' unreadable, skipped: ...
 *
 * error: someone must act. warn: we went on, and here is what we did instead. info: life events. debug: free.
 *
 * G1  An event is one line, written by one write(2), at most LOG_LINE_BYTES long; a longer message ends in "...".
 *     Control characters and bytes that are not UTF-8 are escaped, so that input can neither forge a line nor drive a
 *     terminal.
 * G2  Logging allocates nothing, keeps errno and may be done under any lock. */
#pragma once

#include "base/buffer.h"

#include <stdatomic.h>

#define LOG_LINE_BYTES 4096 /* PIPE_BUF: what the kernel writes to a pipe in one piece */

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_format {
    LOG_TEXT, /* as above; on a terminal without the time, the level coloured */
    LOG_JSON, /* {"time":"2026-11-15T10:00:00.123Z","level":"warn","room":"store","message":"..."} */
};

/* Before this, lines of level info and above go to standard error as text. `fd` stays the caller's. A file that
 * log_open_file opened is closed.  Thread: any. */
void log_setup(int fd, enum log_format format, enum log_level level);
void log_set_level(enum log_level level);

/* From now on lines go to the end of the file at `path`, which is made if it is missing (its group may read it); format
 * and level stay. On failure they go on where they went. Errors: those of opening, ERR_INVALID for a path that is too
 * long.  Thread: any. */
MUST_CHECK int log_open_file(const char *path, struct error *err);

/* Opens the file at the same path again, for whoever has moved the old one away; every line is in one of the two. On
 * failure lines go on into the old file, and the error says so. Without a file there is nothing to do.  Thread: any. */
MUST_CHECK int log_reopen(struct error *err);

/* "warn" for LOG_WARN. */
const char *log_level_name(enum log_level level);

/* Whether text on `fd` should be coloured: it is a terminal that can, and NO_COLOR is unset or empty. */
bool log_has_colour(int fd);

/* The usual way to log; `room` is the folder the call stands in. The arguments are evaluated only if the level is on.
 */
#define log_error(room, ...) LOG_WRITE(LOG_ERROR, room, __VA_ARGS__)
#define log_warn(room, ...)  LOG_WRITE(LOG_WARN, room, __VA_ARGS__)
#define log_info(room, ...)  LOG_WRITE(LOG_INFO, room, __VA_ARGS__)
#define log_debug(room, ...) LOG_WRITE(LOG_DEBUG, room, __VA_ARGS__)
#define LOG_WRITE(level, room, ...)                                                                                    \
    do {                                                                                                               \
        if (log_is_on(level))                                                                                          \
            log_write((level), (room), 0, __VA_ARGS__);                                                                \
    } while (0)

/* Logs at most once in `seconds` from this place in the code, and says how many lines it held back since the last. */
#define LOG_EVERY(seconds, level, room, ...)                                                                           \
    do {                                                                                                               \
        static struct log_every log_every_;                                                                            \
        uint64_t log_held_back_;                                                                                       \
                                                                                                                       \
        if (log_is_on(level) && log_every_is_due(&log_every_, (seconds), &log_held_back_))                             \
            log_write((level), (room), log_held_back_, __VA_ARGS__);                                                   \
    } while (0)

bool log_is_on(enum log_level level);
/* Logs whatever the level; `held_back` > 0 is mentioned behind the message. */
void log_write(enum log_level level, const char *room, uint64_t held_back, const char *fmt, ...) PRINTF(4, 5);

/* The memory of one LOG_EVERY; starts as zero. */
struct log_every {
    _Atomic int64_t next_mono_ns;
    _Atomic uint64_t held_back;
};
MUST_CHECK bool log_every_is_due(struct log_every *every, int64_t seconds, uint64_t *ret_held_back);

/* Test seam: lines are appended to `into` instead of being written; NULL ends that, and so does the end of a test. */
void log_capture(struct buffer *into);
