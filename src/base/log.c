// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TAIL_BYTES 96 /* kept free behind the message: how many were held back, closing quotes, the line's end */

static const struct {
    const char *name;
    const char *colour;
} levels[] = {
    [LOG_ERROR] = { "error", "\x1b[31m" },
    [LOG_WARN] = { "warn", "\x1b[33m" },
    [LOG_INFO] = { "info", "\x1b[32m" },
    [LOG_DEBUG] = { "debug", "\x1b[2m" },
};

static _Atomic int most_level = LOG_INFO;
static struct lock_mutex lock = LOCK_MUTEX_INIT(LOCK_LOG);
static struct { /* guarded by lock */
    int fd;
    enum log_format format;
    bool is_terminal;
    bool has_colour;
    struct buffer *capture;
    char path[PATH_MAX]; /* of the file behind `fd`, which then is ours; "" where log_setup gave us `fd` */
} out = { .fd = STDERR_FILENO };

struct line {
    size_t len;
    char text[LOG_LINE_BYTES];
};

bool log_has_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return isatty(fd) && (!no_colour || !*no_colour) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* Lines go to `fd` from now on: the file at `path`, or the caller's with "". Gives the file that was left, to be closed,
 * or -1. Caller holds the lock. */
static int redirect(int fd, const char *path)
{
    int left = out.path[0] ? out.fd : -1;

    out.fd = fd;
    out.is_terminal = isatty(fd);
    out.has_colour = log_has_colour(fd);
    snprintf(out.path, sizeof(out.path), "%s", path);
    return left;
}

void log_setup(int fd, enum log_format format, enum log_level level)
{
    AUTO(fd_closep) int left = -1;
    LOCK_SCOPE(&lock);

    left = redirect(fd, "");
    out.format = format;
    log_set_level(level);
}

int log_open_file(const char *path, struct error *err)
{
    AUTO(fd_closep) int left = -1;
    int fd;

    if (strlen(path) >= sizeof(out.path))
        return error_set(err, ERR_INVALID, "the log file's path has %zu bytes, the most allowed is %zu", strlen(path),
                         sizeof(out.path) - 1);
    if (fs_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, 0640, &fd, err) < 0)
        return error_wrap(err, "log file");
    LOCK_SCOPE(&lock);
    left = redirect(fd, path);
    return 0;
}

int log_reopen(struct error *err)
{
    char path[sizeof(out.path)];

    lock_mutex_acquire(&lock);
    memcpy(path, out.path, sizeof(path));
    lock_mutex_release(&lock);
    if (!path[0] || log_open_file(path, err) == 0)
        return 0;
    return error_wrap(err, "the old log file stays in use");
}

/* Relaxed, here and below: the level stands alone, and a line more or less at the moment it changes does not matter. */
void log_set_level(enum log_level level)
{
    atomic_store_explicit(&most_level, (int)level, memory_order_relaxed);
}

bool log_is_on(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&most_level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
    return levels[level].name;
}

void log_capture(struct buffer *into)
{
    LOCK_SCOPE(&lock);
    out.capture = into;
}

/* --- composing a line: prefix, message, tail --- */

static void add(struct line *line, const char *bytes, size_t len)
{
    ASSERT(len <= sizeof(line->text) - line->len);
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
}

static void add_text(struct line *line, const char *text)
{
    add(line, text, strlen(text));
}

typedef size_t escape_function(struct slice text, char ret_escaped[static JSON_ESCAPE_BYTES], size_t *ret_len);

/* How a character of a message stands in a text line. Besides ASCII controls, U+0080 to U+009F drive terminals. */
static size_t escape_text(struct slice text, char ret_escaped[static JSON_ESCAPE_BYTES], size_t *ret_len)
{
    unsigned char c = (unsigned char)text.ptr[0];
    size_t char_len = slice_utf8_len(text);

    if (c == '\n' || c == '\t' || c == '\r') {
        ret_escaped[0] = '\\';
        ret_escaped[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
        *ret_len = 2;
        return 1;
    }
    if (c < 0x20 || c == 0x7f || char_len == 0 || (c == 0xc2 && (unsigned char)text.ptr[1] < 0xa0)) {
        *ret_len = (size_t)snprintf(ret_escaped, JSON_ESCAPE_BYTES, "\\x%02x", (unsigned)c);
        return 1;
    }
    memcpy(ret_escaped, text.ptr, char_len);
    *ret_len = char_len;
    return char_len;
}

static void add_escaped(struct line *line, struct slice text, escape_function *escape)
{
    size_t most = sizeof(line->text) - TAIL_BYTES;

    while (text.len > 0) {
        char escaped[JSON_ESCAPE_BYTES];
        size_t escaped_len, used = escape(text, escaped, &escaped_len);

        if (line->len + escaped_len > most) {
            add_text(line, "...");
            return;
        }
        add(line, escaped, escaped_len);
        text = slice_of(text.ptr + used, text.len - used);
    }
}

static void add_held_back(struct line *line, uint64_t held_back)
{
    char text[64];

    if (held_back == 0)
        return;
    snprintf(text, sizeof(text), " (and %" PRIu64 " more like it held back)", held_back);
    add_text(line, text);
}

/* Caller holds the lock. */
static void compose_text(struct line *line, enum log_level level, const char *room, struct slice message,
                         uint64_t held_back)
{
    bool is_bare = out.is_terminal && !out.capture;
    bool has_colour = is_bare && out.has_colour;
    char time[CLOCK_TEXT_BYTES];

    if (!is_bare) {
        add_text(line, clock_format(clock_now_ns(), CLOCK_ZONE_UTC, 3, time));
        add_text(line, " ");
    }
    if (has_colour)
        add_text(line, levels[level].colour);
    add_text(line, levels[level].name);
    if (has_colour)
        add_text(line, "\x1b[0m");
    add_text(line, " ");
    add_escaped(line, slice_from(room), escape_text);
    add_text(line, ": ");
    add_escaped(line, message, escape_text);
    add_held_back(line, held_back);
    add_text(line, "\n");
}

static void compose_json(struct line *line, enum log_level level, const char *room, struct slice message,
                         uint64_t held_back)
{
    char time[CLOCK_TEXT_BYTES];

    add_text(line, "{\"time\":\"");
    add_text(line, clock_format(clock_now_ns(), CLOCK_ZONE_UTC, 3, time));
    add_text(line, "\",\"level\":\"");
    add_text(line, levels[level].name);
    add_text(line, "\",\"room\":\"");
    add_escaped(line, slice_from(room), json_escape);
    add_text(line, "\",\"message\":\"");
    add_escaped(line, message, json_escape);
    add_held_back(line, held_back);
    add_text(line, "\"}\n");
}

/* Caller holds the lock. A log that cannot be written has nowhere to complain. */
static void emit(struct slice line)
{
    if (out.capture) {
        buffer_append_slice(out.capture, line);
        return;
    }
    if (out.is_terminal)
        progress_hide();
    while (line.len > 0) {
        ssize_t n = write(out.fd, line.ptr, line.len);

        if (n < 0 && errno != EINTR)
            return;
        line = slice_sub(line, n < 0 ? 0 : (size_t)n, SIZE_MAX);
    }
}

void log_write(enum log_level level, const char *room, uint64_t held_back, const char *fmt, ...)
{
    int errno_before = errno;
    char message[LOG_LINE_BYTES];
    struct line line;
    struct slice text;
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    text = slice_of(message, MIN((size_t)MAX(len, 0), sizeof(message) - 1));

    line.len = 0;
    lock_mutex_acquire(&lock);
    if (out.format == LOG_JSON)
        compose_json(&line, level, room, text, held_back);
    else
        compose_text(&line, level, room, text, held_back);
    emit(slice_of(line.text, line.len));
    lock_mutex_release(&lock);
    errno = errno_before;
}

bool log_every_is_due(struct log_every *every, int64_t seconds, uint64_t *ret_held_back)
{
    int64_t now_ns = clock_mono_ns();
    int64_t next_ns = atomic_load_explicit(&every->next_mono_ns, memory_order_relaxed);

    /* Relaxed throughout: of several threads at once exactly one wins the exchange and logs, the others are counted,
     * and no other data hangs on either number. */
    if (now_ns < next_ns ||
        !atomic_compare_exchange_strong_explicit(&every->next_mono_ns, &next_ns, now_ns + seconds * CLOCK_NS_PER_SECOND,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&every->held_back, 1, memory_order_relaxed);
        return false;
    }
    *ret_held_back = atomic_exchange_explicit(&every->held_back, 0, memory_order_relaxed);
    return true;
}
