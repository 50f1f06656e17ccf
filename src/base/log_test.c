// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/test.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#define NOVEMBER 1794736800123456789 /* 2026-11-15T10:00:00.123456789Z */

/* Lines go into `lines` at a fixed time. Whatever the test sets up is undone by the next one's begin. */
static void begin(struct buffer *lines, enum log_format format, enum log_level level)
{
    buffer_init(lines, 0);
    clock_fake_set(NOVEMBER);
    log_setup(STDERR_FILENO, format, level);
    log_capture(lines);
}

static void end(struct buffer *lines)
{
    log_capture(NULL);
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    buffer_done(lines);
}

TEST(log_text_line_has_time_level_room_and_message)
{
    AUTO(end) struct buffer lines;

    begin(&lines, LOG_TEXT, LOG_DEBUG);
    log_error("store", "disk %d full", 3);
    log_warn("store", "block '%s' unreadable, skipped", "b-17");
    log_info("server", "ready");
    log_debug("net", "accepted");
    CHECK_TEXT(buffer_slice(&lines), "2026-11-15T10:00:00.123Z error store: disk 3 full\n"
                                     "2026-11-15T10:00:00.123Z warn store: block 'b-17' unreadable, skipped\n"
                                     "2026-11-15T10:00:00.123Z info server: ready\n"
                                     "2026-11-15T10:00:00.123Z debug net: accepted\n");
}

TEST(log_json_line_is_one_object)
{
    AUTO(end) struct buffer lines;

    begin(&lines, LOG_JSON, LOG_INFO);
    log_warn("store", "bad \"name\"\n\xff");
    CHECK_TEXT(buffer_slice(&lines), "{\"time\":\"2026-11-15T10:00:00.123Z\",\"level\":\"warn\",\"room\":\"store\","
                                     "\"message\":\"bad \\\"name\\\"\\n\xef\xbf\xbd\"}\n");
}

TEST(log_levels_have_the_names_that_lines_show)
{
    CHECK_TEXT(log_level_name(LOG_ERROR), "error");
    CHECK_TEXT(log_level_name(LOG_WARN), "warn");
    CHECK_TEXT(log_level_name(LOG_INFO), "info");
    CHECK_TEXT(log_level_name(LOG_DEBUG), "debug");
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

TEST(log_level_that_is_off_costs_not_even_its_arguments)
{
    AUTO(end) struct buffer lines;

    begin(&lines, LOG_TEXT, LOG_WARN);
    evaluated = 0;
    log_info("base", "%d", evaluate());
    LOG_EVERY(1, LOG_DEBUG, "base", "%d", evaluate());
    CHECK_EQ(evaluated, 0);
    CHECK_EQ(lines.len, 0);
    log_set_level(LOG_INFO);
    log_info("base", "%d", evaluate());
    CHECK_EQ(evaluated, 1);
    CHECK_HAS(buffer_slice(&lines), "info base: 1\n");
}

TEST(log_message_cannot_forge_a_line_or_drive_a_terminal)
{
    AUTO(end) struct buffer lines;

    begin(&lines, LOG_TEXT, LOG_INFO);
    log_info("net", "%s", "a\nb\r\tc\x1b[31m\x7f\xff \xc2\x9b gr\xc3\xbc\xc3\x9f");
    CHECK_TEXT(slice_sub(buffer_slice(&lines), 25, SIZE_MAX),
               "info net: a\\nb\\r\\tc\\x1b[31m\\x7f\\xff \\xc2\\x9b gr\xc3\xbc\xc3\x9f\n");
}

static void check_long_message(enum log_format format, char filling, const char *line_end)
{
    AUTO(end) struct buffer lines;
    char message[2 * LOG_LINE_BYTES];

    memset(message, filling, sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    begin(&lines, format, LOG_INFO);
    log_write(LOG_INFO, "net", UINT64_MAX, "%s", message);
    CHECK(lines.len > LOG_LINE_BYTES - 200 && lines.len <= LOG_LINE_BYTES);
    CHECK(slice_ends_with(buffer_slice(&lines), slice_from(line_end)));
    CHECK_EQ(slice_find_byte(buffer_slice(&lines), '\n'), lines.len - 1);
}

TEST(log_message_that_is_too_long_is_cut_and_says_so)
{
    check_long_message(LOG_TEXT, 'x', "x... (and 18446744073709551615 more like it held back)\n");
    check_long_message(LOG_TEXT, '\x01', "\\x01... (and 18446744073709551615 more like it held back)\n");
    check_long_message(LOG_JSON, 'x', "x... (and 18446744073709551615 more like it held back)\"}\n");
    check_long_message(LOG_JSON, '\x01', "\\u0001... (and 18446744073709551615 more like it held back)\"}\n");
}

static void complain(int n)
{
    LOG_EVERY(30, LOG_WARN, "store", "complaint %d", n);
}

TEST(log_every_writes_once_in_its_interval_and_counts_the_rest)
{
    AUTO(end) struct buffer lines;

    begin(&lines, LOG_TEXT, LOG_INFO);
    for (int n = 1; n <= 5; n++)
        complain(n);
    clock_fake_advance(30 * CLOCK_NS_PER_SECOND - 1);
    complain(6);
    clock_fake_advance(1);
    complain(7);
    clock_fake_advance(30 * CLOCK_NS_PER_SECOND);
    complain(8);
    CHECK_TEXT(buffer_slice(&lines), "2026-11-15T10:00:00.123Z warn store: complaint 1\n"
                                     "2026-11-15T10:00:30.123Z warn store: complaint 7 (and 5 more like it held back)\n"
                                     "2026-11-15T10:01:00.123Z warn store: complaint 8\n");
}

TEST(log_keeps_errno_and_allocates_nothing)
{
    int pipe_fds[2];
    char line[256];

    CHECK_EQ(pipe(pipe_fds), 0);
    log_setup(pipe_fds[1], LOG_TEXT, LOG_INFO);
    memory_fail_at(1);
    errno = ENOSPC;
    log_info("base", "hello");
    CHECK_EQ(errno, ENOSPC);
    CHECK_EQ(memory_fail_at(0), 0);
    CHECK(read(pipe_fds[0], line, sizeof(line)) > 0);

    close(pipe_fds[0]);
    close(pipe_fds[1]);
    errno = ENOSPC;
    log_info("base", "into the void"); /* the descriptor is closed: nobody can be told */
    CHECK_EQ(errno, ENOSPC);
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
}

TEST(log_may_be_written_under_any_lock)
{
    AUTO(end) struct buffer lines;
    struct lock_mutex lock = LOCK_MUTEX_INIT(LOCK_LOG - 1);

    begin(&lines, LOG_TEXT, LOG_INFO);
    LOCK_SCOPE(&lock);
    log_info("base", "held");
    CHECK_HAS(buffer_slice(&lines), "info base: held");
}

/* The master side of a new pseudo-terminal, and its other side in `ret_terminal`. */
static int open_terminal(int *ret_terminal)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios settings;

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        test_skip("impossible here: no pseudo-terminal can be had");
    *ret_terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(*ret_terminal >= 0);
    CHECK_EQ(tcgetattr(*ret_terminal, &settings), 0);
    cfmakeraw(&settings);
    CHECK_EQ(tcsetattr(*ret_terminal, TCSANOW, &settings), 0);
    return master;
}

/* One line from the terminal's other side, where it may arrive in pieces. */
static struct slice read_line(int master)
{
    static char line[256];
    size_t len = 0;

    do {
        ssize_t n = read(master, line + len, sizeof(line) - len);

        CHECK(n > 0);
        len += (size_t)n;
    } while (line[len - 1] != '\n');
    return slice_of(line, len);
}

TEST(log_on_a_terminal_has_colours_and_no_time)
{
    int terminal, master = open_terminal(&terminal);

    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    log_setup(terminal, LOG_TEXT, LOG_INFO);
    log_warn("store", "careful");
    CHECK_TEXT(read_line(master), "\x1b[33mwarn\x1b[0m store: careful\n");

    setenv("NO_COLOR", "1", 1);
    CHECK(!log_has_colour(terminal));
    log_setup(terminal, LOG_TEXT, LOG_INFO);
    log_warn("store", "careful");
    CHECK_TEXT(read_line(master), "warn store: careful\n");

    setenv("NO_COLOR", "", 1); /* empty counts as unset */
    CHECK(log_has_colour(terminal));
    setenv("TERM", "dumb", 1);
    CHECK(!log_has_colour(terminal));
    unsetenv("NO_COLOR");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    close(terminal);
    close(master);
}

/* What the file `name` of the test's directory holds. */
static struct slice content_of(const char *name)
{
    static struct buffer content;
    struct error err;
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", test_directory(), name);
    buffer_done(&content);
    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    return buffer_slice(&content);
}

/* Opens the file `name` of the test's directory as the log, at a fixed time. */
static void begin_file(const char *name)
{
    struct error err;
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", test_directory(), name);
    clock_fake_set(NOVEMBER);
    CHECK_OK(log_open_file(path, &err), &err);
}

/* As somebody does who rotates logs. */
static void move_file(const char *from, const char *to)
{
    char from_path[128], to_path[128];

    snprintf(from_path, sizeof(from_path), "%s/%s", test_directory(), from);
    snprintf(to_path, sizeof(to_path), "%s/%s", test_directory(), to);
    CHECK_EQ(rename(from_path, to_path), 0);
}

static int open_descriptors(void)
{
    struct fs_listing listing;
    struct arena arena;
    struct error err;
    size_t n;

    arena_init(&arena, 0);
    CHECK_OK(fs_list("/proc/self/fd", &arena, &listing, &err), &err);
    n = listing.n;
    arena_done(&arena);
    return (int)n;
}

TEST(log_file_keeps_what_it_had_and_goes_on_behind_it)
{
    begin_file("log");
    log_info("base", "one");
    log_setup(STDERR_FILENO, LOG_JSON, LOG_INFO);
    begin_file("log");
    log_info("base", "two");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    CHECK_TEXT(content_of("log"),
               "2026-11-15T10:00:00.123Z info base: one\n"
               "{\"time\":\"2026-11-15T10:00:00.123Z\",\"level\":\"info\",\"room\":\"base\",\"message\":\"two\"}\n");
}

TEST(log_file_that_was_moved_away_is_followed_by_a_new_one)
{
    int before = open_descriptors();
    struct error err;

    begin_file("log");
    log_info("base", "one");
    move_file("log", "log.1");
    log_info("base", "two");
    CHECK_OK(log_reopen(&err), &err);
    log_info("base", "three");
    CHECK_TEXT(content_of("log.1"), "2026-11-15T10:00:00.123Z info base: one\n"
                                    "2026-11-15T10:00:00.123Z info base: two\n");
    CHECK_TEXT(content_of("log"), "2026-11-15T10:00:00.123Z info base: three\n");
    begin_file("another");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    CHECK_EQ(open_descriptors(), before);
    CHECK_OK(log_reopen(&err), &err); /* no file, nothing to do */
    CHECK_EQ(open_descriptors(), before);
}

TEST(log_file_that_cannot_be_reopened_stays_in_use)
{
    struct error err;

    begin_file("log");
    move_file("log", "log.1");
    fs_fail_at(1, EACCES);
    CHECK_ERROR(log_reopen(&err), &err, ERR_DENIED);
    CHECK_HAS(err.text, "the old log file stays in use: log file: opening '");
    CHECK_HAS(err.text, "/log': Permission denied");
    log_info("base", "still here");
    CHECK_OK(log_reopen(&err), &err);
    log_info("base", "and there");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    CHECK_TEXT(content_of("log.1"), "2026-11-15T10:00:00.123Z info base: still here\n");
    CHECK_TEXT(content_of("log"), "2026-11-15T10:00:00.123Z info base: and there\n");
}

TEST(log_file_that_cannot_be_opened_leaves_the_log_where_it_was)
{
    char path[PATH_MAX + 1];
    struct error err;

    begin_file("log");
    CHECK_ERROR(log_open_file(test_directory(), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "log file: opening '");
    CHECK_HAS(err.text, "Is a directory");
    memset(path, 'x', sizeof(path) - 1);
    path[PATH_MAX] = '\0';
    CHECK_ERROR(log_open_file(path, &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "the log file's path has 4096 bytes, the most allowed is 4095");
    log_info("base", "one");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    CHECK_TEXT(content_of("log"), "2026-11-15T10:00:00.123Z info base: one\n");
}

#define WRITERS 4
#define LINES   200

static void write_lines(struct thread *thread, void *context)
{
    for (int i = 0; i < LINES; i++)
        log_info("base", "%s wrote line %d of many, long enough to be torn apart", (const char *)context, i);
}

TEST(log_lines_of_many_threads_stay_whole)
{
    char path[128];
    struct thread threads[WRITERS];
    struct error err;
    AUTO(buffer_done) struct buffer content;
    struct slice rest, line;
    int fd, n = 0;

    snprintf(path, sizeof(path), "%s/log", test_directory());
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    log_setup(fd, LOG_TEXT, LOG_INFO);
    for (int i = 0; i < WRITERS; i++)
        CHECK_OK(thread_start(&threads[i], "writer", write_lines, (void *)(uintptr_t) "thread", &err), &err);
    for (int i = 0; i < WRITERS; i++)
        thread_stop(&threads[i]);
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    close(fd);

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    rest = buffer_slice(&content);
    while (slice_next_line(&rest, &line)) {
        CHECK(slice_ends_with(line, SLICE("of many, long enough to be torn apart")));
        CHECK_EQ(slice_find(line, SLICE(" info base: thread wrote line ")), 24);
        n++;
    }
    CHECK_EQ(n, WRITERS * LINES);
}

TEST(log_lines_all_arrive_while_the_file_is_reopened)
{
    struct thread threads[WRITERS];
    struct error err;
    struct slice rest, line;
    int n = 0;

    begin_file("log.0");
    for (int i = 0; i < WRITERS; i++)
        CHECK_OK(thread_start(&threads[i], "writer", write_lines, (void *)(uintptr_t) "thread", &err), &err);
    for (int i = 0; i < 20; i++) {
        char path[128];

        snprintf(path, sizeof(path), "%s/log.%d", test_directory(), i % 2);
        CHECK_OK(log_open_file(path, &err), &err);
        CHECK_OK(log_reopen(&err), &err);
    }
    for (int i = 0; i < WRITERS; i++)
        thread_stop(&threads[i]);
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    for (int i = 0; i < 2; i++) {
        rest = content_of(i ? "log.1" : "log.0");
        while (slice_next_line(&rest, &line)) {
            CHECK(slice_ends_with(line, SLICE("of many, long enough to be torn apart")));
            n++;
        }
    }
    CHECK_EQ(n, WRITERS * LINES);
}

static struct log_every shared_every;
static _Atomic uint64_t written, reported;

static void ask_often(struct thread *thread, void *context)
{
    for (int i = 0; i < 10000; i++) {
        uint64_t held_back;

        if (log_every_is_due(&shared_every, 1000000, &held_back)) {
            atomic_fetch_add(&written, 1);
            atomic_fetch_add(&reported, held_back);
        }
    }
}

TEST(log_every_lets_one_of_many_threads_through_and_counts_the_others)
{
    struct thread threads[WRITERS];
    struct error err;

    for (int i = 0; i < WRITERS; i++)
        CHECK_OK(thread_start(&threads[i], "asker", ask_often, NULL, &err), &err);
    for (int i = 0; i < WRITERS; i++)
        thread_stop(&threads[i]);
    CHECK_EQ(written, 1);
    CHECK_EQ(written + reported + shared_every.held_back, WRITERS * 10000);
}
