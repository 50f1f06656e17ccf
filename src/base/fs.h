// SPDX-License-Identifier: Apache-2.0
/* Files and directories. All of hearth's file access goes through here, so that a test can make call N fail.
 *
 * F1  Descriptors are born close-on-exec and above 2: none is ever mistaken for standard input, output or error, and a
 *     descriptor that TAKE has zeroed is not closed.
 * F2  Interrupted calls are repeated; short reads and writes are continued, on non-blocking descriptors too (standard
 *     output is one if another program said so).
 * F3  Errors name the file and carry the code that error_set_errno chooses. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <sys/stat.h>

/* As open(2); `mode` matters with O_CREAT only. */
MUST_CHECK int fs_open(const char *path, int flags, mode_t mode, int *ret_fd, struct error *err);
/* Closes and reports what a write only now ran into. The descriptor is gone in any case. */
MUST_CHECK int fs_close(int fd, struct error *err);
/* Cleans up a descriptor declared with AUTO(fd_closep); -1 and zeroed ones are left alone. */
void fd_closep(int *fd);

/* Reads until `len` bytes are there or the file ends; `ret_len` says how many. Errors name the cause only: wrap them.
 */
MUST_CHECK int fs_read(int fd, void *bytes, size_t len, size_t *ret_len, struct error *err);
/* Writes all `len` bytes. A reader that went away (EPIPE) is ERR_CLOSED; the program must ignore SIGPIPE. Errors name
 * the cause only: wrap them. */
MUST_CHECK int fs_write(int fd, const void *bytes, size_t len, struct error *err);

/* Appends the whole file to `into`; "-" is standard input. More than `max_bytes` (0 = no limit) is ERR_LIMIT. On
 * failure `into` is as it was. */
MUST_CHECK int fs_read_file(const char *path, size_t max_bytes, struct buffer *into, struct error *err);
/* The whole file in the arena, ptr NULL if there is none. */
MUST_CHECK int fs_read_if_there(const char *path, size_t max_bytes, struct arena *arena, struct slice *ret_content,
                                struct error *err);

/* Makes `bytes` the content of the file, all of it or nothing, also across a power loss: a temporary file in the same
 * directory is written, synced and renamed, and the directory synced. Keeps the permissions of an existing file.
 * Follows symbolic links, also to a file that does not exist yet, and leaves them as they are. "-" is standard output;
 * it, other things that are no regular files, and open files by their descriptor (/dev/stdout, /proc/self/fd/N) are just
 * written to; behind such a descriptor a regular file is appended to. */
MUST_CHECK int fs_write_file(const char *path, struct slice bytes, struct error *err);

/* A file as read-only memory. Somebody who shortens the file meanwhile makes touching it fatal (SIGBUS), so map only
 * files that belong to us. */
struct fs_map {
    const char *ptr; /* NULL for an empty file */
    size_t len;
};
MUST_CHECK int fs_map(const char *path, struct fs_map *ret_map, struct error *err);
void fs_unmap(struct fs_map *map);

/* What stat(2) says; links are followed. */
MUST_CHECK int fs_stat(const char *path, struct stat *ret_info, struct error *err);
MUST_CHECK int fs_size(const char *path, uint64_t *ret_size_bytes, struct error *err);

/* Makes the directory and its missing parents, in a way that survives a power loss. One that exists is fine. */
MUST_CHECK int fs_make_directories(const char *path, mode_t mode, struct error *err);
/* Makes the names in the directory that holds `path` survive a power loss. */
MUST_CHECK int fs_sync_parent(const char *path, struct error *err);
/* Removes a file, or a directory and all below it. Links are removed, not followed. One that is missing is fine. */
MUST_CHECK int fs_remove_tree(const char *path, struct error *err);

/* The names in a directory, without "." and "..", in bytewise order; all of it in the arena. */
struct fs_listing {
    const char **names;
    size_t n;
};
MUST_CHECK int fs_list(const char *path, struct arena *arena, struct fs_listing *ret_listing, struct error *err);

/* Test seams, for this thread only; the test harness ends both after each test.
 * fs_fail_at: the `nth` system call made here from now (1 = the next one) fails with `errnum`, and every later one
 * works again. 0 turns it off. Returns how many calls were made since the last fs_fail_at. fs_short_io: each read and
 * write moves at most `max_bytes` at a time; 0 turns it off. */
uint64_t fs_fail_at(uint64_t nth, int errnum);
void fs_short_io(size_t max_bytes);
