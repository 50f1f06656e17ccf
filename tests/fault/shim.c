// SPDX-License-Identifier: Apache-2.0
/* A library to preload (LD_PRELOAD) that makes the disk misbehave, for RocksDB does its own input and output. All of it
 * concerns files under HEARTH_SHIM_DIR (an absolute path) only:
 *
 *   HEARTH_SHIM_FAIL=CALL:NTH:ERRNO[:forever]   the NTH (from 1) call of that kind fails and does nothing; with
 *                                               `forever` so does every later one. ERRNO is a number or one of a few
 *                                               names (EIO, ENOSPC ...). CALL is a row of SHIM_CALLS below.
 *   HEARTH_SHIM_MATCH=TEXT                      only calls on paths that hold the text count and fail
 *   HEARTH_SHIM_COUNT=FILE                      at exit the number of calls of each kind goes there: `CALL NUMBER`
 *   HEARTH_SHIM_POWER=DIRECTORY                 keeps the shadow described in shadow.h there. Nothing is really synced.
 *
 * Calls of one kind in all their spellings (open, open64, openat, __open_2 ...) are counted together. Reads through
 * stdio are seen where RocksDB makes them (fread_unlocked); its LOG file, written through stdio, is not seen. */
#include "tests/fault/shadow.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define SHIM_CALLS(X)                                                                                                  \
    X(open)                                                                                                            \
    X(read)                                                                                                            \
    X(pread)                                                                                                           \
    X(write)                                                                                                           \
    X(pwrite)                                                                                                          \
    X(fsync)                                                                                                           \
    X(fdatasync)                                                                                                       \
    X(sync_file_range)                                                                                                 \
    X(ftruncate)                                                                                                       \
    X(fallocate)                                                                                                       \
    X(rename)                                                                                                          \
    X(link)                                                                                                            \
    X(unlink)                                                                                                          \
    X(mkdir)

enum shim_call {
#define SHIM_ENUM(name) CALL_##name,
    SHIM_CALLS(SHIM_ENUM)
#undef SHIM_ENUM
        N_CALLS
};

static const char *const call_names[N_CALLS] = {
#define SHIM_NAME(name) #name,
    SHIM_CALLS(SHIM_NAME)
#undef SHIM_NAME
};

#define MAX_FD 65536

static struct {
    const char *dir; /* NULL: leave everything alone */
    size_t dir_len;
    const char *match; /* NULL: all of them */
    const char *count_path;
    bool has_shadow;
    enum shim_call failing_call; /* N_CALLS = none */
    uint64_t failing_nth;
    int failing_errno;
    bool is_failing_forever;
    _Atomic uint64_t counts[N_CALLS];
    atomic_bool is_ours[MAX_FD]; /* descriptors of files under `dir` */
} shim = { .failing_call = N_CALLS };

/* --- setting up --- */

static _Noreturn void refuse(const char *what, const char *text)
{
    dprintf(2, "shim: %s: '%s'\n", what, text);
    _exit(99);
}

static int errno_called(const char *text)
{
    static const struct {
        const char *name;
        int errnum;
    } known[] = { { "EIO", EIO },       { "ENOSPC", ENOSPC }, { "EACCES", EACCES }, { "EPERM", EPERM },
                  { "EMFILE", EMFILE }, { "EROFS", EROFS },   { "ENOMEM", ENOMEM }, { "EDQUOT", EDQUOT } };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, text) == 0)
            return known[i].errnum;
    return atoi(text);
}

static void set_up_failure(const char *spec)
{
    char call[32], errnum[16], rest[16] = "";
    unsigned long long nth;

    if (sscanf(spec, "%31[^:]:%llu:%15[^:]:%15s", call, &nth, errnum, rest) < 3 || nth == 0 || !errno_called(errnum) ||
        (rest[0] && strcmp(rest, "forever") != 0))
        refuse("HEARTH_SHIM_FAIL is CALL:NTH:ERRNO[:forever], not", spec);
    for (int i = 0; i < N_CALLS; i++)
        if (strcmp(call_names[i], call) == 0)
            shim.failing_call = i;
    if (shim.failing_call == N_CALLS)
        refuse("HEARTH_SHIM_FAIL names an unknown call", call);
    shim.failing_nth = nth;
    shim.failing_errno = errno_called(errnum);
    shim.is_failing_forever = rest[0] != '\0';
}

__attribute__((constructor)) static void start(void)
{
    const char *dir = getenv("HEARTH_SHIM_DIR"), *fail = getenv("HEARTH_SHIM_FAIL");
    const char *power = getenv("HEARTH_SHIM_POWER");

    if (!dir)
        return;
    if (dir[0] != '/')
        refuse("HEARTH_SHIM_DIR must be an absolute path", dir);
    if (fail)
        set_up_failure(fail);
    shim.count_path = getenv("HEARTH_SHIM_COUNT");
    shim.match = getenv("HEARTH_SHIM_MATCH");
    if (power && shim.match)
        refuse("HEARTH_SHIM_POWER sees everything; it goes without HEARTH_SHIM_MATCH", shim.match);
    if (power) {
        shadow_start(dir, power);
        shim.has_shadow = true;
    }
    shim.dir_len = strlen(dir);
    shim.dir = dir;
}

/* A process that did nothing here (`timeout`, which runs the one that did) leaves the file alone. */
__attribute__((destructor)) static void end(void)
{
    uint64_t total = 0;
    FILE *out;

    for (int i = 0; i < N_CALLS; i++)
        total += shim.counts[i];
    if (!shim.dir || !shim.count_path || total == 0)
        return;
    shim.dir = NULL;
    out = fopen(shim.count_path, "w");
    if (!out)
        refuse("HEARTH_SHIM_COUNT cannot be written", shim.count_path);
    for (int i = 0; i < N_CALLS; i++)
        fprintf(out, "%s %llu\n", call_names[i], (unsigned long long)shim.counts[i]);
    fclose(out);
}

/* --- whose file it is, and whether its time has come --- */

static bool is_our_fd(int fd)
{
    /* Relaxed here and below: who uses a descriptor got it from the thread that opened it. */
    return shim.dir && fd >= 0 && fd < MAX_FD && atomic_load_explicit(&shim.is_ours[fd], memory_order_relaxed);
}

static void set_our_fd(int fd, bool is_ours)
{
    if (fd >= 0 && fd < MAX_FD)
        atomic_store_explicit(&shim.is_ours[fd], is_ours, memory_order_relaxed);
}

static bool is_our_path(int directory_fd, const char *path)
{
    char whole[PATH_MAX];

    if (!shim.dir)
        return false;
    if (shim.match && !strstr(path, shim.match))
        return false;
    if (path[0] != '/') {
        size_t len;

        if (directory_fd != AT_FDCWD)
            return is_our_fd(directory_fd);
        if (!getcwd(whole, sizeof(whole)))
            return false;
        len = strlen(whole);
        if (snprintf(whole + len, sizeof(whole) - len, "/%s", path) >= (int)(sizeof(whole) - len))
            return false;
        path = whole;
    }
    return strncmp(path, shim.dir, shim.dir_len) == 0 && (path[shim.dir_len] == '/' || path[shim.dir_len] == '\0');
}

/* Counts a call that concerns us; true when it must fail, with errno set. */
static bool must_fail(enum shim_call call)
{
    uint64_t number = atomic_fetch_add_explicit(&shim.counts[call], 1, memory_order_relaxed) + 1;

    if (call != shim.failing_call || number < shim.failing_nth ||
        (number > shim.failing_nth && !shim.is_failing_forever))
        return false;
    errno = shim.failing_errno;
    return true;
}

/* --- descriptors --- */

static int open_as(int directory_fd, const char *path, int flags, mode_t mode)
{
    bool is_ours = is_our_path(directory_fd, path), is_new = false;
    int fd;

    if (is_ours && must_fail(CALL_open))
        return -1;
    if (is_ours && shim.has_shadow) {
        shadow_hold();
        is_new = flags & O_CREAT && faccessat(directory_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    }
    fd = (int)syscall(SYS_openat, directory_fd, path, flags, mode);
    set_our_fd(fd, is_ours);
    if (is_ours && shim.has_shadow) {
        if (fd >= 0 && is_new)
            shadow_made(directory_fd, path);
        else if (fd >= 0 && flags & O_TRUNC)
            shadow_changed(fd, 0);
        shadow_release();
    }
    return fd;
}

/* The mode, where the caller gave one. */
static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                                     \
    EXPORT int name(const char *path, int flags, ...)                                                                  \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        mode_t mode;                                                                                                   \
                                                                                                                       \
        va_start(arguments, flags);                                                                                    \
        mode = mode_of(flags, arguments);                                                                              \
        va_end(arguments);                                                                                             \
        return open_as(AT_FDCWD, path, flags, mode);                                                                   \
    }
#define OPENAT(name)                                                                                                   \
    EXPORT int name(int directory_fd, const char *path, int flags, ...)                                                \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        mode_t mode;                                                                                                   \
                                                                                                                       \
        va_start(arguments, flags);                                                                                    \
        mode = mode_of(flags, arguments);                                                                              \
        va_end(arguments);                                                                                             \
        return open_as(directory_fd, path, flags, mode);                                                               \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* What the fortified headers call. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory_fd, const char *path, int flags);
int __openat64_2(int directory_fd, const char *path, int flags);
ssize_t __read_chk(int fd, void *bytes, size_t len, size_t space);
ssize_t __pread_chk(int fd, void *bytes, size_t len, off_t offset, size_t space);
ssize_t __pread64_chk(int fd, void *bytes, size_t len, off_t offset, size_t space);

EXPORT int __open_2(const char *path, int flags)
{
    return open_as(AT_FDCWD, path, flags, 0);
}

EXPORT int __open64_2(const char *path, int flags)
{
    return open_as(AT_FDCWD, path, flags, 0);
}

EXPORT int __openat_2(int directory_fd, const char *path, int flags)
{
    return open_as(directory_fd, path, flags, 0);
}

EXPORT int __openat64_2(int directory_fd, const char *path, int flags)
{
    return open_as(directory_fd, path, flags, 0);
}

EXPORT int creat(const char *path, mode_t mode)
{
    return open_as(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int creat64(const char *path, mode_t mode)
{
    return open_as(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int close(int fd)
{
    set_our_fd(fd, false);
    return (int)syscall(SYS_close, fd);
}

static int duplicated(int fd, int copy)
{
    set_our_fd(copy, is_our_fd(fd));
    return copy;
}

EXPORT int dup(int fd)
{
    return duplicated(fd, (int)syscall(SYS_dup, fd));
}

EXPORT int dup2(int fd, int copy)
{
    return duplicated(fd, (int)syscall(SYS_dup2, fd, copy));
}

EXPORT int dup3(int fd, int copy, int flags)
{
    return duplicated(fd, (int)syscall(SYS_dup3, fd, copy, flags));
}

static int fcntl_as(int fd, int command, void *argument)
{
    int result = (int)syscall(SYS_fcntl, fd, command, argument);

    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

#define FCNTL(name)                                                                                                    \
    EXPORT int name(int fd, int command, ...)                                                                          \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        void *argument;                                                                                                \
                                                                                                                       \
        va_start(arguments, command);                                                                                  \
        argument = va_arg(arguments, void *);                                                                          \
        va_end(arguments);                                                                                             \
        return fcntl_as(fd, command, argument);                                                                        \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* --- reading --- */

EXPORT ssize_t read(int fd, void *bytes, size_t len)
{
    return is_our_fd(fd) && must_fail(CALL_read) ? -1 : syscall(SYS_read, fd, bytes, len);
}

EXPORT ssize_t pread(int fd, void *bytes, size_t len, off_t offset)
{
    return is_our_fd(fd) && must_fail(CALL_pread) ? -1 : syscall(SYS_pread64, fd, bytes, len, offset);
}

EXPORT ssize_t pread64(int fd, void *bytes, size_t len, off_t offset)
{
    return pread(fd, bytes, len, offset);
}

EXPORT ssize_t __read_chk(int fd, void *bytes, size_t len, size_t space)
{
    return len > space ? (abort(), -1) : read(fd, bytes, len);
}

EXPORT ssize_t __pread_chk(int fd, void *bytes, size_t len, off_t offset, size_t space)
{
    return len > space ? (abort(), -1) : pread(fd, bytes, len, offset);
}

EXPORT ssize_t __pread64_chk(int fd, void *bytes, size_t len, off_t offset, size_t space)
{
    return __pread_chk(fd, bytes, len, offset, space);
}

/* In parentheses, for the headers have a macro of the name. */
EXPORT size_t(fread_unlocked)(void *bytes, size_t size, size_t n, FILE *file)
{
    static size_t (*_Atomic real)(void *, size_t, size_t, FILE *);
    size_t (*function)(void *, size_t, size_t, FILE *) = real;

    if (!function)
        real = function = (size_t(*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fread_unlocked");
    return is_our_fd(fileno(file)) && must_fail(CALL_read) ? 0 : function(bytes, size, n, file);
}

/* --- writing --- */

/* Where the next write(2) will begin. */
static off_t write_offset(int fd)
{
    struct stat info;

    if (fcntl_as(fd, F_GETFL, NULL) & O_APPEND)
        return fstat(fd, &info) == 0 ? info.st_size : 0;
    return (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

static ssize_t write_as(int fd, long number, const void *what, size_t len)
{
    off_t offset = 0;
    ssize_t n;

    if (!is_our_fd(fd))
        return syscall(number, fd, what, len);
    if (must_fail(CALL_write))
        return -1;
    if (shim.has_shadow)
        offset = write_offset(fd);
    n = syscall(number, fd, what, len);
    if (n > 0 && shim.has_shadow)
        shadow_changed(fd, offset);
    return n;
}

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
    return write_as(fd, SYS_write, bytes, len);
}

EXPORT ssize_t writev(int fd, const struct iovec *pieces, int n_pieces)
{
    return write_as(fd, SYS_writev, pieces, (size_t)n_pieces);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    ssize_t n;

    if (is_our_fd(fd) && must_fail(CALL_pwrite))
        return -1;
    n = syscall(SYS_pwrite64, fd, bytes, len, offset);
    if (n > 0 && is_our_fd(fd) && shim.has_shadow)
        shadow_changed(fd, offset);
    return n;
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t offset)
{
    return pwrite(fd, bytes, len, offset);
}

EXPORT int ftruncate(int fd, off_t len)
{
    int result;

    if (is_our_fd(fd) && must_fail(CALL_ftruncate))
        return -1;
    result = (int)syscall(SYS_ftruncate, fd, len);
    if (result == 0 && is_our_fd(fd) && shim.has_shadow)
        shadow_changed(fd, len);
    return result;
}

EXPORT int ftruncate64(int fd, off_t len)
{
    return ftruncate(fd, len);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t len)
{
    return is_our_fd(fd) && must_fail(CALL_fallocate) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

EXPORT int fallocate64(int fd, int mode, off_t offset, off_t len)
{
    return fallocate(fd, mode, offset, len);
}

/* --- syncing --- */

static int sync_as(int fd, enum shim_call call, long number)
{
    if (!is_our_fd(fd))
        return (int)syscall(number, fd);
    if (must_fail(call))
        return -1;
    if (!shim.has_shadow)
        return (int)syscall(number, fd);
    shadow_synced(fd);
    return 0;
}

EXPORT int fsync(int fd)
{
    return sync_as(fd, CALL_fsync, SYS_fsync);
}

EXPORT int fdatasync(int fd)
{
    return sync_as(fd, CALL_fdatasync, SYS_fdatasync);
}

/* RocksDB asks with no flags whether there is such a call, and dies of any answer but "no": that one is let through. */
EXPORT int sync_file_range(int fd, off_t offset, off_t len, unsigned flags)
{
    if (flags && is_our_fd(fd) && must_fail(CALL_sync_file_range))
        return -1;
    return (int)syscall(SYS_sync_file_range, fd, offset, len, flags);
}

/* --- names --- */

static int rename_as(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    bool is_ours = is_our_path(from_fd, from) || is_our_path(to_fd, to);
    ino_t leaving;
    int result;

    if (is_ours && must_fail(CALL_rename))
        return -1;
    if (!is_ours || !shim.has_shadow)
        return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
    shadow_hold();
    leaving = shadow_inode_leaving(to_fd, to);
    result = (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
    if (result == 0)
        shadow_gone(leaving);
    shadow_release();
    return result;
}

EXPORT int rename(const char *from, const char *to)
{
    return rename_as(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return rename_as(from_fd, from, to_fd, to, 0);
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    return rename_as(from_fd, from, to_fd, to, flags);
}

EXPORT int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    if (is_our_path(to_fd, to) && must_fail(CALL_link))
        return -1;
    return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

EXPORT int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int unlinkat(int directory_fd, const char *path, int flags)
{
    bool is_ours = is_our_path(directory_fd, path);
    ino_t leaving;
    int result;

    if (is_ours && must_fail(CALL_unlink))
        return -1;
    if (!is_ours || !shim.has_shadow)
        return (int)syscall(SYS_unlinkat, directory_fd, path, flags);
    shadow_hold();
    leaving = shadow_inode_leaving(directory_fd, path);
    result = (int)syscall(SYS_unlinkat, directory_fd, path, flags);
    if (result == 0)
        shadow_gone(leaving);
    shadow_release();
    return result;
}

EXPORT int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

EXPORT int mkdirat(int directory_fd, const char *path, mode_t mode)
{
    bool is_ours = is_our_path(directory_fd, path);
    int result;

    if (is_ours && must_fail(CALL_mkdir))
        return -1;
    if (!is_ours || !shim.has_shadow)
        return (int)syscall(SYS_mkdirat, directory_fd, path, mode);
    shadow_hold();
    result = (int)syscall(SYS_mkdirat, directory_fd, path, mode);
    if (result == 0)
        shadow_made(directory_fd, path);
    shadow_release();
    return result;
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}
