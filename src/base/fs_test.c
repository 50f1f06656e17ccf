// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"

#include "base/memory.h"
#include "base/test.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A path below the test's directory; each call gives another of a few buffers. */
static const char *in_directory(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", test_directory(), name);
    return path;
}

static void put_file(const char *path, const char *content)
{
    struct error err;

    CHECK_OK(fs_write_file(path, slice_from(content), &err), &err);
}

static void check_file(const char *path, const char *wanted)
{
    AUTO(buffer_done) struct buffer content;
    struct error err;

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    CHECK_TEXT(buffer_slice(&content), wanted);
}

/* The names in a directory, joined by spaces. */
static const char *names_in(const char *path)
{
    static char joined[512];
    struct fs_listing listing;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list(path, &arena, &listing, &err), &err);
    joined[0] = '\0';
    for (size_t i = 0; i < listing.n; i++)
        snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", i ? " " : "", listing.names[i]);
    arena_done(&arena);
    return joined;
}

/* --- descriptors --- */

TEST(fs_open_gives_descriptors_that_do_not_survive_exec)
{
    AUTO(fd_closep) int fd = -1;
    struct error err;

    CHECK_OK(fs_open(test_directory(), O_RDONLY, 0, &fd, &err), &err);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST(fs_open_never_takes_the_place_of_a_standard_descriptor)
{
    AUTO(fd_closep) int fd = -1;
    struct error err;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), result;

    CHECK(kept >= 0);
    close(STDIN_FILENO);
    result = fs_open(test_directory(), O_RDONLY, 0, &fd, &err);
    CHECK_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
    CHECK_EQ(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
    CHECK_OK(result, &err);
    CHECK(fd > STDERR_FILENO);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

TEST(fs_open_says_what_could_not_be_opened)
{
    struct error err;
    int fd = 4711;

    CHECK_ERROR(fs_open(in_directory("missing"), O_RDONLY, 0, &fd, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "opening '");
    CHECK_HAS(err.text, "missing': No such file");
    CHECK_EQ(fd, 4711);
}

TEST(fs_descriptor_that_was_taken_is_not_closed)
{
    struct error err;
    int kept;

    {
        AUTO(fd_closep) int fd = -1;

        CHECK_OK(fs_open(test_directory(), O_RDONLY, 0, &fd, &err), &err);
        kept = TAKE(fd);
    }
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0 || errno == EBADF);
    CHECK_OK(fs_close(kept, &err), &err);
    CHECK_EQ(fcntl(kept, F_GETFD), -1);
    CHECK_ERROR(fs_close(kept, &err), &err, ERR_IO);
}

TEST(fs_read_and_write_continue_after_short_and_interrupted_calls)
{
    struct error err;
    char text[64];
    size_t len;
    int pipe_fds[2];

    CHECK_EQ(pipe(pipe_fds), 0);
    fs_short_io(1);
    fs_fail_at(3, EINTR);
    CHECK_OK(fs_write(pipe_fds[1], "hello world", 11, &err), &err);
    CHECK_EQ(fs_fail_at(2, EINTR), 12);
    CHECK_OK(fs_read(pipe_fds[0], text, 5, &len, &err), &err);
    CHECK_EQ(fs_fail_at(0, 0), 6);
    CHECK_TEXT(slice_of(text, len), "hello");
    close(pipe_fds[1]);
    CHECK_OK(fs_read(pipe_fds[0], text, sizeof(text), &len, &err), &err);
    CHECK_TEXT(slice_of(text, len), " world");
    close(pipe_fds[0]);
}

#define LONG_BYTES 1000000 /* more than a pipe holds */

struct reading {
    int fd;
    size_t len;
    char bytes[LONG_BYTES + 1];
};

static void read_long(struct thread *thread, void *context)
{
    struct reading *reading = context;
    struct error err;

    IGNORE(fs_read(reading->fd, reading->bytes, sizeof(reading->bytes), &reading->len, &err), "then `len` is wrong");
}

TEST(fs_read_and_write_wait_for_descriptors_that_do_not_block)
{
    static const char bytes[LONG_BYTES];
    static struct reading reading;
    struct thread thread;
    struct error err;
    int pipe_fds[2];

    CHECK_EQ(pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC), 0);
    reading.fd = pipe_fds[0];
    CHECK_OK(thread_start(&thread, "read", read_long, &reading, &err), &err);
    CHECK_OK(fs_write(pipe_fds[1], bytes, sizeof(bytes), &err), &err);
    close(pipe_fds[1]);
    thread_stop(&thread);
    close(pipe_fds[0]);
    CHECK_EQ(reading.len, LONG_BYTES);
}

TEST(fs_write_to_a_reader_that_went_away_is_err_closed)
{
    struct error err;
    int pipe_fds[2];
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);

    CHECK_EQ(pipe(pipe_fds), 0);
    close(pipe_fds[0]);
    CHECK_ERROR(fs_write(pipe_fds[1], "x", 1, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "the reader went away after 0 of 1 bytes");
    close(pipe_fds[1]);
    signal(SIGPIPE, before);
}

/* --- reading files --- */

TEST(fs_read_file_appends_all_of_it)
{
    AUTO(buffer_done) struct buffer content;
    struct error err;

    buffer_init(&content, 0);
    buffer_append_text(&content, "head ");
    put_file(in_directory("file"), "body");
    put_file(in_directory("empty"), "");
    CHECK_OK(fs_read_file(in_directory("file"), 0, &content, &err), &err);
    CHECK_OK(fs_read_file(in_directory("empty"), 0, &content, &err), &err);
    CHECK_TEXT(buffer_slice(&content), "head body");
}

TEST(fs_read_if_there_tells_nothing_from_an_empty_file)
{
    struct slice content;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    put_file(in_directory("file"), "body");
    put_file(in_directory("empty"), "");
    CHECK_OK(fs_read_if_there(in_directory("file"), 0, &arena, &content, &err), &err);
    CHECK_TEXT(content, "body");
    CHECK_OK(fs_read_if_there(in_directory("empty"), 0, &arena, &content, &err), &err);
    CHECK(content.ptr && content.len == 0);
    CHECK_OK(fs_read_if_there(in_directory("missing"), 0, &arena, &content, &err), &err);
    CHECK(!content.ptr);
    CHECK_ERROR(fs_read_if_there(in_directory("file"), 3, &arena, &content, &err), &err, ERR_LIMIT);
    CHECK_ERROR(fs_read_if_there(test_directory(), 0, &arena, &content, &err), &err, ERR_IO);
    arena_done(&arena);
}

TEST(fs_read_file_takes_its_limit_exactly)
{
    AUTO(buffer_done) struct buffer content;
    AUTO(buffer_done) struct buffer small;
    struct error err;

    put_file(in_directory("file"), "12345");
    buffer_init(&content, 0);
    buffer_append_text(&content, "head ");
    CHECK_OK(fs_read_file(in_directory("file"), 5, &content, &err), &err);
    CHECK_ERROR(fs_read_file(in_directory("file"), 4, &content, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "file': it is larger than the limit of 4 bytes");
    CHECK_TEXT(buffer_slice(&content), "head 12345");
    CHECK_OK(buffer_check(&content, &err), &err);

    buffer_init(&small, 5); /* a buffer's own maximum counts alike */
    CHECK_OK(fs_read_file(in_directory("file"), 0, &small, &err), &err);
    buffer_clear(&small);
    buffer_append_byte(&small, 'x');
    CHECK_ERROR(fs_read_file(in_directory("file"), 0, &small, &err), &err, ERR_LIMIT);
    CHECK_TEXT(buffer_slice(&small), "x");
}

TEST(fs_read_file_reads_what_has_no_size)
{
    AUTO(buffer_done) struct buffer content;
    struct error err;

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file("/proc/self/status", 0, &content, &err), &err);
    CHECK_HAS(buffer_slice(&content), "Name:");
    CHECK_ERROR(fs_read_file("/dev/zero", 100000, &content, &err), &err, ERR_LIMIT);
}

TEST(fs_read_file_one_byte_at_a_time_gives_the_same)
{
    put_file(in_directory("file"), "short reads are no end");
    fs_short_io(1);
    check_file(in_directory("file"), "short reads are no end");
}

TEST(fs_read_file_of_a_directory_or_a_missing_file_says_so)
{
    AUTO(buffer_done) struct buffer content;
    struct error err;

    buffer_init(&content, 0);
    CHECK_ERROR(fs_read_file(test_directory(), 0, &content, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "Is a directory");
    CHECK_HAS(err.text, test_directory());
    CHECK_ERROR(fs_read_file(in_directory("missing"), 0, &content, &err), &err, ERR_NOT_FOUND);
}

/* Runs `step` with standard input or output (`fd`) being `replacement`. */
static int with_standard(int fd, int replacement, int (*step)(struct buffer *buffer, struct error *err),
                         struct buffer *buffer, struct error *err)
{
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, 10), result;

    CHECK(kept >= 0);
    dup2(replacement, fd);
    result = step(buffer, err);
    dup2(kept, fd);
    close(kept);
    return result;
}

static int read_standard(struct buffer *buffer, struct error *err)
{
    return fs_read_file("-", 10, buffer, err);
}

static int write_standard(struct buffer *buffer, struct error *err)
{
    return fs_write_file("-", buffer_slice(buffer), err);
}

TEST(fs_dash_is_standard_input_and_output)
{
    AUTO(buffer_done) struct buffer sent;
    AUTO(buffer_done) struct buffer received;
    struct error err;
    int pipe_fds[2];

    buffer_init(&sent, 0);
    buffer_init(&received, 0);
    buffer_append_text(&sent, "0123456789");
    CHECK_EQ(pipe(pipe_fds), 0);
    CHECK_OK(with_standard(STDOUT_FILENO, pipe_fds[1], write_standard, &sent, &err), &err);
    CHECK_OK(with_standard(STDOUT_FILENO, pipe_fds[1], write_standard, &sent, &err), &err);
    close(pipe_fds[1]);
    CHECK_ERROR(with_standard(STDIN_FILENO, pipe_fds[0], read_standard, &received, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "standard input: it is larger than the limit of 10 bytes");
    CHECK_EQ(received.len, 0);
    close(pipe_fds[0]);

    CHECK_EQ(pipe(pipe_fds), 0);
    CHECK_OK(with_standard(STDOUT_FILENO, pipe_fds[1], write_standard, &sent, &err), &err);
    close(pipe_fds[1]);
    CHECK_OK(with_standard(STDIN_FILENO, pipe_fds[0], read_standard, &received, &err), &err);
    CHECK_TEXT(buffer_slice(&received), "0123456789");
    close(pipe_fds[0]);
}

TEST(fs_standard_output_that_was_closed_says_so)
{
    AUTO(buffer_done) struct buffer sent;
    struct error err;
    int pipe_fds[2];
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);

    buffer_init(&sent, 0);
    buffer_append_text(&sent, "x");
    CHECK_EQ(pipe(pipe_fds), 0);
    close(pipe_fds[0]);
    CHECK_ERROR(with_standard(STDOUT_FILENO, pipe_fds[1], write_standard, &sent, &err), &err, ERR_CLOSED);
    CHECK_HAS(err.text, "standard output: writing: the reader went away");
    close(pipe_fds[1]);
    signal(SIGPIPE, before);
}

/* --- writing files --- */

TEST(fs_write_file_replaces_content_and_keeps_permissions)
{
    struct stat info;
    struct error err;
    mode_t mask = umask(022);

    put_file(in_directory("file"), "old");
    CHECK_OK(fs_stat(in_directory("file"), &info, &err), &err);
    CHECK_EQ(info.st_mode & 07777, 0644);
    CHECK_EQ(chmod(in_directory("file"), 0640), 0);
    put_file(in_directory("file"), "new content");
    check_file(in_directory("file"), "new content");
    CHECK_OK(fs_stat(in_directory("file"), &info, &err), &err);
    CHECK_EQ(info.st_mode & 07777, 0640);
    CHECK_TEXT(names_in(test_directory()), "file");
    umask(mask);
}

TEST(fs_write_file_follows_a_link_and_leaves_it)
{
    struct stat info;

    put_file(in_directory("target"), "old");
    CHECK_EQ(symlink("target", in_directory("link")), 0);
    put_file(in_directory("link"), "new");
    check_file(in_directory("target"), "new");
    CHECK_EQ(lstat(in_directory("link"), &info), 0);
    CHECK(S_ISLNK(info.st_mode));
    CHECK_TEXT(names_in(test_directory()), "link target");
}

TEST(fs_write_file_follows_a_chain_of_links_through_directories)
{
    struct error err;
    struct stat info;

    CHECK_OK(fs_make_directories(in_directory("a/b"), 0700, &err), &err);
    put_file(in_directory("a/b/target"), "old");
    CHECK_EQ(chmod(in_directory("a/b/target"), 0600), 0);
    CHECK_EQ(symlink("b/target", in_directory("a/second")), 0);
    CHECK_EQ(symlink("a", in_directory("directory")), 0);
    CHECK_EQ(symlink(in_directory("directory/second"), in_directory("first")), 0);
    put_file(in_directory("first"), "new");
    check_file(in_directory("a/b/target"), "new");
    CHECK_OK(fs_stat(in_directory("a/b/target"), &info, &err), &err);
    CHECK_EQ(info.st_mode & 07777, 0600);
    CHECK_TEXT(names_in(in_directory("a/b")), "target");
    CHECK_EQ(lstat(in_directory("a/second"), &info), 0);
    CHECK(S_ISLNK(info.st_mode));
}

TEST(fs_write_file_creates_the_target_of_a_dangling_link)
{
    struct error err;
    struct stat info;

    CHECK_OK(fs_make_directories(in_directory("below"), 0700, &err), &err);
    CHECK_EQ(symlink("below/new", in_directory("dangling")), 0);
    put_file(in_directory("dangling"), "x");
    check_file(in_directory("below/new"), "x");
    CHECK_EQ(lstat(in_directory("dangling"), &info), 0);
    CHECK(S_ISLNK(info.st_mode));

    CHECK_EQ(symlink("missing/new", in_directory("lost")), 0);
    CHECK_ERROR(fs_write_file(in_directory("lost"), SLICE("x"), &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "missing/new'");
}

TEST(fs_write_file_refuses_links_in_a_circle)
{
    struct error err;

    CHECK_EQ(symlink("b", in_directory("a")), 0);
    CHECK_EQ(symlink("a", in_directory("b")), 0);
    CHECK_ERROR(fs_write_file(in_directory("a"), SLICE("x"), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "Too many levels of symbolic links");
}

/* "/proc/self/fd/N"; a link to it is what /dev/stdout is. */
static const char *path_of_descriptor(int fd)
{
    static char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return path;
}

TEST(fs_write_file_writes_into_a_pipe_by_its_descriptor)
{
    struct error err;
    char received[8];
    size_t len;
    int pipe_fds[2];

    CHECK_EQ(pipe(pipe_fds), 0);
    CHECK_EQ(symlink(path_of_descriptor(pipe_fds[1]), in_directory("link")), 0);
    CHECK_OK(fs_write_file(path_of_descriptor(pipe_fds[1]), SLICE("abc"), &err), &err);
    CHECK_OK(fs_write_file(in_directory("link"), SLICE("def"), &err), &err);
    close(pipe_fds[1]);
    CHECK_OK(fs_read(pipe_fds[0], received, sizeof(received), &len, &err), &err);
    CHECK_TEXT(slice_of(received, len), "abcdef");
    close(pipe_fds[0]);
}

TEST(fs_write_file_appends_to_a_file_known_by_its_descriptor)
{
    AUTO(fd_closep) int fd = -1;
    struct error err;
    char content[16];
    size_t len;

    CHECK_OK(fs_open(in_directory("file"), O_RDWR | O_CREAT, 0600, &fd, &err), &err);
    CHECK_OK(fs_write(fd, "before ", 7, &err), &err);
    CHECK_EQ(symlink(path_of_descriptor(fd), in_directory("link")), 0);
    CHECK_OK(fs_write_file(in_directory("link"), SLICE("a"), &err), &err);
    check_file(in_directory("file"), "before a");
    CHECK_EQ(unlink(in_directory("file")), 0); /* now it has no name at all */
    CHECK_OK(fs_write_file(in_directory("link"), SLICE("b"), &err), &err);
    CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
    CHECK_OK(fs_read(fd, content, sizeof(content), &len, &err), &err);
    CHECK_TEXT(slice_of(content, len), "before ab");
    CHECK_TEXT(names_in(test_directory()), "link");
}

TEST(fs_write_file_writes_into_a_named_pipe)
{
    AUTO(fd_closep) int reader = -1;
    struct error err;
    struct stat info;
    char received[8];
    size_t len;

    CHECK_EQ(mkfifo(in_directory("pipe"), 0600), 0);
    CHECK_EQ(symlink("pipe", in_directory("link")), 0);
    CHECK_OK(fs_open(in_directory("pipe"), O_RDONLY | O_NONBLOCK, 0, &reader, &err), &err);
    put_file(in_directory("link"), "abc");
    CHECK_OK(fs_read(reader, received, sizeof(received), &len, &err), &err);
    CHECK_TEXT(slice_of(received, len), "abc");
    CHECK_EQ(lstat(in_directory("pipe"), &info), 0);
    CHECK(S_ISFIFO(info.st_mode));
}

TEST(fs_write_file_writes_into_a_device_and_does_not_replace_it)
{
    struct error err;
    struct stat info;

    CHECK_OK(fs_write_file("/dev/null", SLICE("x"), &err), &err);
    CHECK_OK(fs_stat("/dev/null", &info, &err), &err);
    CHECK(S_ISCHR(info.st_mode));
    CHECK_ERROR(fs_write_file("/dev/full", SLICE("x"), &err), &err, ERR_FULL);
    CHECK_HAS(err.text, "'/dev/full': writing: No space left");
}

TEST(fs_write_file_into_a_missing_directory_or_over_one_says_so)
{
    struct error err;

    CHECK_ERROR(fs_write_file(in_directory("no/file"), SLICE("x"), &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "no/file'");
    CHECK_ERROR(fs_write_file(test_directory(), SLICE("x"), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "Is a directory");
    CHECK_HAS(err.text, test_directory());
    CHECK_EQ(symlink(".", in_directory("link")), 0);
    CHECK_ERROR(fs_write_file(in_directory("link"), SLICE("x"), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "link': Is a directory");
}

/* Replaces "old content" with the `nth` call failing; returns false once there is no such call any more. `names` are
 * those in the directory. */
static bool replace_with_failure(const char *path, const char *names, uint64_t nth, int *failures)
{
    AUTO(buffer_done) struct buffer content;
    struct error err;
    bool is_written, had_failure;

    put_file(path, "old content");
    fs_short_io(4);
    fs_fail_at(nth, EIO);
    is_written = fs_write_file(path, SLICE("new content"), &err) == 0;
    had_failure = fs_fail_at(0, 0) >= nth;
    fs_short_io(0);
    CHECK_EQ(is_written, !had_failure);
    if (had_failure) {
        CHECK_EQ(err.code, ERR_IO);
        CHECK_HAS(err.text, test_directory());
        ++*failures;
    }

    buffer_init(&content, 0);
    CHECK_OK(fs_read_file(path, 0, &content, &err), &err);
    if (is_written || !slice_is(buffer_slice(&content), "old content")) /* it failed after the rename */
        CHECK_TEXT(buffer_slice(&content), "new content");
    CHECK_TEXT(names_in(test_directory()), names); /* no temporary file is left */
    return had_failure;
}

TEST(fs_write_file_is_all_or_nothing_whichever_call_fails)
{
    const char *path = in_directory("file"), *link = in_directory("link");
    uint64_t nth = 1;
    int failures = 0;

    while (replace_with_failure(path, "file", nth, &failures))
        nth++;
    /* stat, readlink; open, fchmod, write 3 times, fsync, close, rename; open and fsync the directory */
    CHECK_EQ(failures, 12);

    CHECK_EQ(symlink("file", link), 0);
    for (nth = 1; replace_with_failure(link, "file link", nth, &failures);)
        nth++;
    CHECK_EQ(failures, 12 + 15); /* also readlink, open and fstatfs of the link */
}

TEST(fs_write_file_goes_on_after_interruptions)
{
    struct error err;
    uint64_t nth = 1;

    do {
        fs_fail_at(nth, EINTR);
        CHECK_OK(fs_write_file(in_directory("file"), SLICE("content"), &err), &err);
    } while (fs_fail_at(0, 0) >= nth++);
    check_file(in_directory("file"), "content");
}

/* --- maps and facts --- */

TEST(fs_map_shows_the_file)
{
    struct fs_map map = { NULL, 4711 };
    struct error err;

    put_file(in_directory("file"), "mapped");
    CHECK_OK(fs_map(in_directory("file"), &map, &err), &err);
    CHECK_TEXT(slice_of(map.ptr, map.len), "mapped");
    fs_unmap(&map);
    CHECK(!map.ptr && map.len == 0);
    fs_unmap(&map);

    put_file(in_directory("empty"), "");
    CHECK_OK(fs_map(in_directory("empty"), &map, &err), &err);
    CHECK(!map.ptr && map.len == 0);
    CHECK_ERROR(fs_map("/dev/null", &map, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "'/dev/null' is no regular file");
    CHECK_ERROR(fs_map(in_directory("missing"), &map, &err), &err, ERR_NOT_FOUND);
}

TEST(fs_size_counts_bytes)
{
    uint64_t size_bytes = 4711;
    struct error err;

    put_file(in_directory("file"), "12345");
    CHECK_ERROR(fs_size(in_directory("missing"), &size_bytes, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "examining '");
    CHECK_EQ(size_bytes, 4711);
    CHECK_OK(fs_size(in_directory("file"), &size_bytes, &err), &err);
    CHECK_EQ(size_bytes, 5);
}

/* --- directories --- */

TEST(fs_make_directories_makes_parents_and_is_content_with_existing_ones)
{
    struct error err;
    struct stat info;

    CHECK_OK(fs_make_directories(in_directory("a//b/c/"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(in_directory("a/b/c"), 0700, &err), &err);
    CHECK_OK(fs_stat(in_directory("a/b/c"), &info, &err), &err);
    CHECK_EQ(info.st_mode, S_IFDIR | 0700);

    put_file(in_directory("a/file"), "");
    CHECK_ERROR(fs_make_directories(in_directory("a/file"), 0700, &err), &err, ERR_EXISTS);
    CHECK_HAS(err.text, "a/file' exists and is no directory");
    CHECK_ERROR(fs_make_directories(in_directory("a/file/below"), 0700, &err), &err, ERR_EXISTS);
    CHECK_ERROR(fs_make_directories("", 0700, &err), &err, ERR_NOT_FOUND);
}

static void plant_tree(void)
{
    struct error err;

    CHECK_OK(fs_make_directories(in_directory("tree/b/c"), 0700, &err), &err);
    CHECK_OK(fs_make_directories(in_directory("outside"), 0700, &err), &err);
    put_file(in_directory("tree/file"), "x");
    put_file(in_directory("tree/b/c/file"), "x");
    put_file(in_directory("outside/file"), "x");
    if (symlink("../outside", in_directory("tree/link")) < 0)
        CHECK_EQ(errno, EEXIST);
}

TEST(fs_remove_tree_removes_all_below_and_nothing_behind_links)
{
    struct error err;

    plant_tree();
    CHECK_OK(fs_remove_tree(in_directory("tree"), &err), &err);
    CHECK_TEXT(names_in(test_directory()), "outside");
    CHECK_TEXT(names_in(in_directory("outside")), "file");
    CHECK_OK(fs_remove_tree(in_directory("tree"), &err), &err); /* missing is fine */
    CHECK_OK(fs_remove_tree(in_directory("outside/file"), &err), &err);
    CHECK_TEXT(names_in(in_directory("outside")), "");
}

TEST(fs_remove_tree_stops_at_a_depth_no_tree_of_ours_has)
{
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), "%s/deep", test_directory());
    for (int i = 0; i < 140; i++)
        strcat(path, "/d");
    CHECK_OK(fs_make_directories(path, 0700, &err), &err);
    CHECK_ERROR(fs_remove_tree(in_directory("deep"), &err), &err, ERR_LIMIT);
    path[strlen(path) - 2 * 30] = '\0';
    CHECK_OK(fs_remove_tree(path, &err), &err);
    CHECK_OK(fs_remove_tree(in_directory("deep"), &err), &err);
    CHECK_TEXT(names_in(test_directory()), "");
}

TEST(fs_list_sorts_by_bytes)
{
    struct fs_listing listing = { NULL, 4711 };
    struct arena arena;
    struct error err;

    for (int i = 99; i >= 0; i--) {
        char name[16];

        snprintf(name, sizeof(name), "%02d", i);
        put_file(in_directory(name), "");
    }
    put_file(in_directory("Z"), "");
    put_file(in_directory(".hidden"), "");
    arena_init(&arena, 0);
    CHECK_ERROR(fs_list(in_directory("missing"), &arena, &listing, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "opening directory '");
    CHECK_EQ(listing.n, 4711);
    CHECK_OK(fs_list(test_directory(), &arena, &listing, &err), &err);
    CHECK_EQ(listing.n, 102);
    CHECK_TEXT(listing.names[0], ".hidden");
    CHECK_TEXT(listing.names[1], "00");
    CHECK_TEXT(listing.names[100], "99");
    CHECK_TEXT(listing.names[101], "Z");
    arena_done(&arena);

    arena_init(&arena, 1000);
    CHECK_ERROR(fs_list(test_directory(), &arena, &listing, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "listing directory '");
    arena_done(&arena);
}

/* --- failures --- */

static int read_many_ways(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer content;
    AUTO(arena_done) struct arena arena;
    AUTO(fs_unmap) struct fs_map map = { NULL, 0 };
    struct fs_listing listing;
    uint64_t size_bytes;

    buffer_init(&content, 0);
    arena_init(&arena, 0);
    if (fs_make_directories(in_directory("new/directory"), 0700, err) < 0 ||
        fs_read_file(in_directory("tree/file"), 0, &content, err) < 0 ||
        fs_map(in_directory("tree/file"), &map, err) < 0 || fs_size(in_directory("tree/file"), &size_bytes, err) < 0 ||
        fs_list(in_directory("tree"), &arena, &listing, err) < 0)
        return -1;
    CHECK_EQ(listing.n, 3);
    return 0;
}

TEST(fs_reports_each_call_that_fails)
{
    plant_tree();
    test_each_file_call_failing(read_many_ways, NULL, EIO, ERR_IO);
    test_each_file_call_failing(read_many_ways, NULL, EACCES, ERR_DENIED);
}

TEST(fs_survives_any_failing_allocation)
{
    plant_tree();
    test_each_allocation_failing(read_many_ways, NULL);
}

static int remove_tree(void *context, struct error *err)
{
    return fs_remove_tree(in_directory("tree"), err);
}

TEST(fs_remove_tree_reports_failures_and_can_be_repeated)
{
    plant_tree();
    test_each_file_call_failing(remove_tree, NULL, EIO, ERR_IO);
    CHECK_TEXT(names_in(test_directory()), "outside");
}

TEST(fs_remove_tree_names_the_way_to_what_it_could_not_remove)
{
    struct error err;

    plant_tree();
    CHECK_OK(fs_remove_tree(in_directory("tree/file"), &err), &err);
    CHECK_OK(fs_remove_tree(in_directory("tree/link"), &err), &err);
    fs_fail_at(10, EIO); /* after unlink, open and list of 'tree', of 'b' and of 'c' comes unlink of the file */
    CHECK_ERROR(fs_remove_tree(in_directory("tree"), &err), &err, ERR_IO);
    CHECK_HAS(err.text, "tree': in 'b': in 'c': removing 'file': Input/output error");
}
