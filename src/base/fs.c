// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define READ_CHUNK    ((size_t)64 * 1024) /* for pipes and others that cannot tell their size */
#define MAX_TREE      128u                /* levels that fs_remove_tree descends; each holds a descriptor */
#define NAME_ATTEMPTS 100
#define MAX_LINKS     40 /* that one leads to after the other; the kernel follows no more either */

/* --- the system calls, each of which a test can make fail --- */

static _Thread_local uint64_t calls;
static _Thread_local uint64_t failing_call;
static _Thread_local int failing_errno;
static _Thread_local size_t most_bytes;

uint64_t fs_fail_at(uint64_t nth, int errnum)
{
    uint64_t made = calls;

    calls = 0;
    failing_call = nth;
    failing_errno = errnum;
    return made;
}

void fs_short_io(size_t max_bytes)
{
    most_bytes = max_bytes;
}

static bool must_fail(void)
{
    if (++calls != failing_call)
        return false;
    errno = failing_errno;
    return true;
}

/* The call's own result, or -1 where a test wants it; repeated while it is only interrupted. */
#define CALL(call) TEMP_FAILURE_RETRY(must_fail() ? -1 : (call))

static size_t io_len(size_t len)
{
    len = MIN(len, (size_t)SSIZE_MAX);
    return most_bytes ? MIN(len, most_bytes) : len;
}

/* --- descriptors --- */

/* F1: moves a descriptor that landed on 0, 1 or 2 (they were closed) out of the way. */
static int lift_fd(int fd)
{
    int lifted, errnum;

    if (fd > STDERR_FILENO || fd < 0)
        return fd;
    lifted = (int)CALL(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    errnum = errno;
    close(fd);
    errno = errnum;
    return lifted;
}

static int open_at(int parent, const char *path, int flags, mode_t mode)
{
    return lift_fd((int)CALL(openat(parent, path, flags | O_CLOEXEC, mode)));
}

int fs_open(const char *path, int flags, mode_t mode, int *ret_fd, struct error *err)
{
    int fd = open_at(AT_FDCWD, path, flags, mode);

    if (fd < 0)
        return error_set_errno(err, errno, "opening '%s'", path);
    *ret_fd = fd;
    return 0;
}

int fs_close(int fd, struct error *err)
{
    bool fails = must_fail();

    /* Linux has released the descriptor even where close fails; after EINTR too, so it is not repeated. */
    if ((close(fd) < 0 || fails) && errno != EINTR)
        return error_set_errno(err, errno, "closing");
    return 0;
}

void fd_closep(int *fd)
{
    if (*fd > STDERR_FILENO)
        close(*fd);
}

/* Whether a call that failed can be tried again: a non-blocking descriptor was not ready, and now is. */
static bool became_ready(int fd, short events)
{
    struct pollfd wait = { .fd = fd, .events = events };

    return errno == EAGAIN && CALL(poll(&wait, 1, -1)) > 0;
}

int fs_read(int fd, void *bytes, size_t len, size_t *ret_len, struct error *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = CALL(read(fd, (char *)bytes + done, io_len(len - done)));

        if (n < 0 && became_ready(fd, POLLIN))
            continue;
        if (n < 0)
            return error_set_errno(err, errno, "reading");
        if (n == 0)
            break;
        done += (size_t)n;
    }
    *ret_len = done;
    return 0;
}

int fs_write(int fd, const void *bytes, size_t len, struct error *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = CALL(write(fd, (const char *)bytes + done, io_len(len - done)));

        if (n < 0 && became_ready(fd, POLLOUT))
            continue;
        if (n < 0 && errno == EPIPE)
            return error_set(err, ERR_CLOSED, "writing: the reader went away after %zu of %zu bytes", done, len);
        if (n < 0)
            return error_set_errno(err, errno, "writing");
        done += (size_t)n;
    }
    return 0;
}

/* --- whole files --- */

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* How much to make room for at a time: a regular file's size and one byte, so that its end is seen without growing. */
static size_t first_chunk(int fd)
{
    struct stat info;

    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size <= 0)
        return READ_CHUNK;
    return (size_t)info.st_size + 1;
}

static int read_all(int fd, size_t max_bytes, struct buffer *into, struct error *err)
{
    size_t chunk = first_chunk(fd);
    size_t total = 0, len;
    char excess;

    while (total < max_bytes) {
        size_t wanted = MIN(chunk, max_bytes - total);
        char *at = buffer_reserve(into, wanted);

        if (!at)
            return buffer_check(into, err);
        if (fs_read(fd, at, wanted, &len, err) < 0)
            return -1;
        buffer_commit(into, len);
        if (len < wanted)
            return 0;
        total += len;
        chunk = READ_CHUNK;
    }
    if (fs_read(fd, &excess, 1, &len, err) < 0)
        return -1;
    return len == 0 ? 0 : error_set(err, ERR_LIMIT, "it is larger than the limit of %zu bytes", max_bytes);
}

int fs_read_file(const char *path, size_t max_bytes, struct buffer *into, struct error *err)
{
    AUTO(fd_closep) int opened = -1;
    size_t len_before = into->len;
    size_t room = into->max_bytes - into->len;

    if (buffer_check(into, err) < 0)
        return -1;
    if (!is_standard(path) && fs_open(path, O_RDONLY, 0, &opened, err) < 0)
        return -1;
    if (read_all(is_standard(path) ? STDIN_FILENO : opened, max_bytes ? MIN(max_bytes, room) : room, into, err) < 0) {
        into->failure.code = ERR_OK;
        buffer_truncate(into, len_before);
        return is_standard(path) ? error_wrap(err, "standard input") : error_wrap(err, "'%s'", path);
    }
    return 0;
}

int fs_read_if_there(const char *path, size_t max_bytes, struct arena *arena, struct slice *ret_content,
                     struct error *err)
{
    AUTO(buffer_done) struct buffer content;
    struct slice copy;

    buffer_init(&content, 0);
    if (fs_read_file(path, max_bytes, &content, err) < 0) {
        if (err->code != ERR_NOT_FOUND)
            return -1;
        *ret_content = slice_of(NULL, 0);
        return 0;
    }
    copy = arena_copy(arena, buffer_slice(&content), err);
    if (!copy.ptr)
        return -1;
    *ret_content = copy;
    return 0;
}

static int write_standard_output(struct slice bytes, struct error *err)
{
    if (fs_write(STDOUT_FILENO, bytes.ptr, bytes.len, err) < 0)
        return error_wrap(err, "standard output");
    return 0;
}

/* Devices, pipes and what links of /proc stand for: there is nothing to replace. A regular file is one of the latter;
 * what its owner wrote before us stays. */
static int write_in_place(const char *path, struct slice bytes, struct error *err)
{
    AUTO(fd_closep) int fd = -1;

    if (fs_open(path, O_WRONLY | O_APPEND, 0, &fd, err) < 0)
        return -1;
    if (fs_write(fd, bytes.ptr, bytes.len, err) < 0 || fs_close(TAKE(fd), err) < 0)
        return error_wrap(err, "'%s'", path);
    return 0;
}

/* Length of the directory part of `path`, its last slash included; 0 for a bare name. */
static size_t directory_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Opens a new file in the directory of `path`. Its mode comes from the umask, unlike mkstemp's. */
static int open_temporary(const char *path, char ret_temporary[static PATH_MAX], int *ret_fd, struct error *err)
{
    static atomic_uint counter;

    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        /* Relaxed: only the uniqueness of the number matters. */
        unsigned number = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
        int len = snprintf(ret_temporary, PATH_MAX, "%.*s.hearth-%d-%u", (int)directory_len(path), path, (int)getpid(),
                           number);

        if (len >= PATH_MAX)
            return error_set_errno(err, ENAMETOOLONG, "creating a temporary file beside '%s'", path);
        *ret_fd = open_at(AT_FDCWD, ret_temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (*ret_fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return error_set_errno(err, errno, "creating a temporary file beside '%s'", path);
}

int fs_sync_parent(const char *path, struct error *err)
{
    char directory[PATH_MAX];
    AUTO(fd_closep) int fd = -1;
    size_t len = directory_len(path);

    snprintf(directory, sizeof(directory), "%.*s", len ? (int)len : 1, len ? path : ".");
    if (fs_open(directory, O_RDONLY | O_DIRECTORY, 0, &fd, err) < 0)
        return -1;
    if (CALL(fsync(fd)) < 0 && errno != EINVAL) /* EINVAL: this file system has no such thing */
        return error_set_errno(err, errno, "syncing directory '%s'", directory);
    return 0;
}

/* Fills the temporary file, which has the mode `old` has, if there is one. Closes `fd` in any case. */
static int fill_temporary(int fd_to_close, const struct stat *old, struct slice bytes, struct error *err)
{
    AUTO(fd_closep) int fd = fd_to_close;

    if (old && CALL(fchmod(fd, old->st_mode & 07777)) < 0)
        return error_set_errno(err, errno, "setting permissions");
    if (fs_write(fd, bytes.ptr, bytes.len, err) < 0)
        return -1;
    if (CALL(fsync(fd)) < 0)
        return error_set_errno(err, errno, "syncing");
    return fs_close(TAKE(fd), err);
}

static int replace_file(const char *path, const struct stat *old, struct slice bytes, struct error *err)
{
    char temporary[PATH_MAX];
    int fd = -1;

    if (open_temporary(path, temporary, &fd, err) < 0)
        return -1;
    if (fill_temporary(fd, old, bytes, err) < 0) {
        error_wrap(err, "'%s'", path);
    } else if (CALL(rename(temporary, path)) < 0) {
        error_set_errno(err, errno, "renaming the temporary file to '%s'", path);
    } else {
        return fs_sync_parent(path, err);
    }
    IGNORE(CALL(unlink(temporary)) < 0, "the first error tells more");
    return -1;
}

/* Whether the link is one of /proc, like /proc/self/fd/1, to which /dev/stdout leads. Such a link stands for an open
 * file, and its text ("pipe:[4711]", "/tmp/x (deleted)") is no path to it. */
static int find_link_kind(const char *link, bool *ret_is_of_proc, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    struct statfs info;

    if (fs_open(link, O_PATH | O_NOFOLLOW, 0, &fd, err) < 0)
        return -1;
    if (CALL(fstatfs(fd, &info)) < 0)
        return error_set_errno(err, errno, "examining the link '%s'", link);
    *ret_is_of_proc = info.f_type == PROC_SUPER_MAGIC;
    return 0;
}

/* Puts what the link at `path` says in the place of `path`. */
static int step_along_link(char path[static PATH_MAX], struct slice text, struct error *err)
{
    char next[PATH_MAX];
    size_t directory = text.len > 0 && text.ptr[0] == '/' ? 0 : directory_len(path);
    int len = snprintf(next, sizeof(next), "%.*s%.*s", (int)directory, path, SLICE_ARG(text));

    if (len >= PATH_MAX)
        return error_set_errno(err, ENAMETOOLONG, "following the link '%s'", path);
    memcpy(path, next, (size_t)len + 1);
    return 0;
}

/* Follows the links at the end of `path`, which need not lead to something that exists. `ret_has_name` is whether they
 * lead to a name, and not by way of /proc to an open file. */
static int follow_links(char path[static PATH_MAX], bool *ret_has_name, struct error *err)
{
    for (int links = 0; links < MAX_LINKS; links++) {
        char text[PATH_MAX];
        ssize_t len = CALL(readlink(path, text, sizeof(text)));
        bool is_of_proc = false;

        if (len < 0 && (errno == EINVAL || errno == ENOENT)) { /* no link, or nothing */
            *ret_has_name = true;
            return 0;
        }
        if (len < 0)
            return error_set_errno(err, errno, "following the link '%s'", path);
        if (find_link_kind(path, &is_of_proc, err) < 0)
            return -1;
        if (is_of_proc) {
            *ret_has_name = false;
            return 0;
        }
        if (step_along_link(path, slice_of(text, (size_t)len), err) < 0)
            return -1;
    }
    return error_set_errno(err, ELOOP, "following the link '%s'", path);
}

int fs_write_file(const char *path, struct slice bytes, struct error *err)
{
    char target[PATH_MAX];
    struct stat old;
    bool exists, has_name = true;

    if (is_standard(path))
        return write_standard_output(bytes, err);
    exists = CALL(stat(path, &old)) == 0;
    if (!exists && errno != ENOENT)
        return error_set_errno(err, errno, "examining '%s'", path);
    if (exists && !S_ISREG(old.st_mode))
        return write_in_place(path, bytes, err);
    snprintf(target, sizeof(target), "%s", path); /* stat refused longer ones */
    if (follow_links(target, &has_name, err) < 0)
        return -1;
    return has_name ? replace_file(target, exists ? &old : NULL, bytes, err) : write_in_place(path, bytes, err);
}

/* --- maps and facts --- */

int fs_map(const char *path, struct fs_map *ret_map, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    struct fs_map map = { NULL, 0 };
    struct stat info;

    if (fs_open(path, O_RDONLY, 0, &fd, err) < 0)
        return -1;
    if (CALL(fstat(fd, &info)) < 0)
        return error_set_errno(err, errno, "examining '%s'", path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERR_UNSUPPORTED, "'%s' is no regular file and cannot be mapped", path);
    map.len = (size_t)info.st_size;
    if (map.len > 0) {
        map.ptr = must_fail() ? MAP_FAILED : mmap(NULL, map.len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map.ptr == MAP_FAILED)
            return error_set_errno(err, errno, "mapping '%s'", path);
    }
    *ret_map = map;
    return 0;
}

void fs_unmap(struct fs_map *map)
{
    if (map->ptr)
        munmap((void *)(uintptr_t)map->ptr, map->len);
    *map = (struct fs_map){ NULL, 0 };
}

int fs_stat(const char *path, struct stat *ret_info, struct error *err)
{
    struct stat info;

    if (CALL(stat(path, &info)) < 0)
        return error_set_errno(err, errno, "examining '%s'", path);
    *ret_info = info;
    return 0;
}

int fs_size(const char *path, uint64_t *ret_size_bytes, struct error *err)
{
    struct stat info;

    if (fs_stat(path, &info, err) < 0)
        return -1;
    *ret_size_bytes = (uint64_t)info.st_size;
    return 0;
}

/* --- directories --- */

static int make_directory(const char *path, mode_t mode, struct error *err)
{
    struct stat info;

    if (CALL(mkdir(path, mode)) == 0)
        return fs_sync_parent(path, err);
    if (errno != EEXIST)
        return error_set_errno(err, errno, "making directory '%s'", path);
    if (fs_stat(path, &info, err) < 0)
        return -1;
    return S_ISDIR(info.st_mode) ? 0 : error_set(err, ERR_EXISTS, "'%s' exists and is no directory", path);
}

int fs_make_directories(const char *path, mode_t mode, struct error *err)
{
    char prefix[PATH_MAX];
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof(prefix))
        return error_set_errno(err, len ? ENAMETOOLONG : ENOENT, "making directory '%s'", path);
    memcpy(prefix, path, len + 1);
    for (size_t i = 1; i < len; i++) {
        if (path[i] != '/' || path[i - 1] == '/')
            continue;
        prefix[i] = '\0';
        if (make_directory(prefix, mode, err) < 0)
            return -1;
        prefix[i] = '/';
    }
    return make_directory(path, mode, err);
}

static void close_directory(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

/* Opens a directory stream below `parent`; NULL with errno set. */
static DIR *open_directory(int parent, const char *name, int flags)
{
    int fd = open_at(parent, name, O_RDONLY | O_DIRECTORY | flags, 0);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !directory)
        close(fd);
    return directory;
}

/* The next name but "." and ".."; NULL at the end (errno 0) or on failure. */
static const char *next_name(DIR *directory)
{
    const struct dirent *entry;

    if (must_fail())
        return NULL;
    do {
        errno = 0;
        entry = readdir(directory);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry ? entry->d_name : NULL;
}

static int remove_at(int parent, const char *name, unsigned depth, struct error *err);

static int remove_content(DIR *directory, unsigned depth, struct error *err)
{
    const char *name;

    while ((name = next_name(directory)))
        if (remove_at(dirfd(directory), name, depth + 1, err) < 0)
            return -1;
    return errno == 0 ? 0 : error_set_errno(err, errno, "listing");
}

static int remove_at(int parent, const char *name, unsigned depth, struct error *err)
{
    AUTO(close_directory) DIR *directory = NULL;

    if (CALL(unlinkat(parent, name, 0)) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return error_set_errno(err, errno, "removing '%s'", name);
    if (depth >= MAX_TREE)
        return error_set(err, ERR_LIMIT, "'%s' lies more than %u directories deep", name, MAX_TREE);
    directory = open_directory(parent, name, O_NOFOLLOW);
    if (!directory)
        return error_set_errno(err, errno, "opening '%s'", name);
    if (remove_content(directory, depth, err) < 0)
        return error_wrap(err, "in '%s'", name);
    if (CALL(unlinkat(parent, name, AT_REMOVEDIR)) < 0 && errno != ENOENT)
        return error_set_errno(err, errno, "removing '%s'", name);
    return 0;
}

int fs_remove_tree(const char *path, struct error *err)
{
    return remove_at(AT_FDCWD, path, 0, err);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_name(struct fs_listing *listing, size_t *capacity, const char *name, struct arena *arena,
                    struct error *err)
{
    struct slice copy = arena_copy(arena, slice_from(name), err);

    if (!copy.ptr)
        return -1;
    if (listing->n == *capacity) {
        size_t larger = MAX(*capacity * 2, (size_t)32);
        void *names = arena_resize(arena, listing->names, *capacity * sizeof(*listing->names),
                                   larger * sizeof(*listing->names), err);

        if (!names)
            return -1;
        listing->names = names;
        *capacity = larger;
    }
    listing->names[listing->n++] = copy.ptr;
    return 0;
}

int fs_list(const char *path, struct arena *arena, struct fs_listing *ret_listing, struct error *err)
{
    AUTO(close_directory) DIR *directory = open_directory(AT_FDCWD, path, 0);
    struct fs_listing listing = { NULL, 0 };
    size_t capacity = 0;
    const char *name;

    if (!directory)
        return error_set_errno(err, errno, "opening directory '%s'", path);
    while ((name = next_name(directory)))
        if (add_name(&listing, &capacity, name, arena, err) < 0)
            return error_wrap(err, "listing directory '%s'", path);
    if (errno != 0)
        return error_set_errno(err, errno, "listing directory '%s'", path);
    if (listing.n > 0)
        qsort(listing.names, listing.n, sizeof(*listing.names), compare_names);
    *ret_listing = listing;
    return 0;
}
