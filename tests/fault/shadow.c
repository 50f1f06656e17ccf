// SPDX-License-Identifier: Apache-2.0
/* Part of the preloaded library: all system calls are made directly, so that none comes back to us. */
#include "tests/fault/shadow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUCKETS 4096

/* A file or directory that exists now. */
struct node {
    struct node *next;
    ino_t inode;
    uint64_t id;
    off_t clean_bytes; /* of the content, this much from the front is in the shadow as it is */
};

static struct {
    pthread_mutex_t lock;
    int fd; /* of the shadow directory */
    struct node *buckets[BUCKETS];
    uint64_t last_id;
} shadow = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .fd = -1 };

static _Noreturn void give_up(const char *what)
{
    dprintf(2, "shim: the shadow failed: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static int raw_openat(int directory_fd, const char *path, int flags)
{
    return (int)syscall(SYS_openat, directory_fd, path, flags | O_CLOEXEC, 0644);
}

static void raw_close(int fd)
{
    syscall(SYS_close, fd);
}

/* --- nodes --- */

static struct node **find_node(ino_t inode)
{
    struct node **at = &shadow.buckets[inode % BUCKETS];

    while (*at && (*at)->inode != inode)
        at = &(*at)->next;
    return at;
}

static void forget_node(ino_t inode)
{
    struct node **at = find_node(inode), *node = *at;

    if (!node)
        return;
    *at = node->next;
    free(node);
}

static void store_name(char name[static 32], char sort, uint64_t id)
{
    snprintf(name, 32, "%c.%llu", sort, (unsigned long long)id);
}

/* An empty file of the shadow, open for writing. */
static int make_stored(char sort, uint64_t id)
{
    char name[32];
    int fd;

    store_name(name, sort, id);
    fd = raw_openat(shadow.fd, name, O_RDWR | O_CREAT | O_TRUNC);
    if (fd < 0)
        give_up(name);
    return fd;
}

static struct node *new_node(ino_t inode, bool is_directory)
{
    struct node *node = calloc(1, sizeof(*node));

    if (!node)
        give_up("memory");
    forget_node(inode);
    node->inode = inode;
    node->id = ++shadow.last_id;
    node->next = shadow.buckets[inode % BUCKETS];
    shadow.buckets[inode % BUCKETS] = node;
    raw_close(make_stored(is_directory ? 'd' : 'f', node->id));
    return node;
}

/* The node of an inode. One that nobody told us of (made inside of libc) begins now, empty. */
static struct node *need_node(ino_t inode, bool is_directory)
{
    struct node *node = *find_node(inode);

    return node ? node : new_node(inode, is_directory);
}

/* --- content --- */

static void write_all(int fd, const char *bytes, size_t len, off_t offset)
{
    while (len > 0) {
        ssize_t n = syscall(SYS_pwrite64, fd, bytes, len, offset);

        if (n <= 0)
            give_up("writing");
        bytes += n;
        len -= (size_t)n;
        offset += n;
    }
}

/* Brings the stored content up to that of `fd`, from the first byte that changed. `fd` may be open for writing only, so
 * it is opened again by its number. */
static void save_content(int fd, struct node *node, off_t size)
{
    char name[32], source[64], chunk[65536];
    off_t at = node->clean_bytes < size ? node->clean_bytes : size;
    int from, into;

    snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
    store_name(name, 'f', node->id);
    from = raw_openat(AT_FDCWD, source, O_RDONLY);
    into = raw_openat(shadow.fd, name, O_RDWR);
    if (from < 0 || into < 0)
        give_up(name);
    while (at < size) {
        size_t want = (size_t)(size - at) < sizeof(chunk) ? (size_t)(size - at) : sizeof(chunk);
        ssize_t n = syscall(SYS_pread64, from, chunk, want, at);

        if (n < 0)
            give_up("reading");
        if (n == 0)
            break;
        write_all(into, chunk, (size_t)n, at);
        at += n;
    }
    if (syscall(SYS_ftruncate, into, at) < 0)
        give_up("truncating");
    node->clean_bytes = at;
    raw_close(from);
    raw_close(into);
}

/* --- names --- */

static DIR *list(int fd)
{
    int own = raw_openat(fd, ".", O_RDONLY | O_DIRECTORY);
    DIR *directory = own < 0 ? NULL : fdopendir(own);

    if (!directory)
        give_up("listing");
    return directory;
}

static void print_name(FILE *out, int fd, const char *name)
{
    struct stat info;
    struct node *node;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    if (fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* removed just now */
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return;
    node = need_node(info.st_ino, S_ISDIR(info.st_mode));
    fprintf(out, "%c %llu %llu %s\n", S_ISDIR(info.st_mode) ? 'd' : 'f', (unsigned long long)node->id,
            (unsigned long long)info.st_ino, name);
}

static void save_names(int fd, const struct node *node)
{
    char name[32];
    DIR *directory = list(fd);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    int into;

    if (!out)
        give_up("memory");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        print_name(out, fd, entry->d_name);
    closedir(directory);
    if (fclose(out) != 0)
        give_up("memory");
    into = make_stored('t', 0);
    write_all(into, text, len, 0);
    raw_close(into);
    free(text);
    store_name(name, 'd', node->id);
    if (syscall(SYS_renameat, shadow.fd, "t.0", shadow.fd, name) < 0)
        give_up("renaming");
}

/* --- what the interposed calls tell --- */

static void take_tree(int fd, ino_t inode)
{
    struct node *node = need_node(inode, true);
    DIR *directory = list(fd);

    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat info;
        int child;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        child = raw_openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW);
        if (child < 0)
            continue;
        if (fstat(child, &info) < 0)
            give_up(entry->d_name);
        if (S_ISDIR(info.st_mode))
            take_tree(child, info.st_ino);
        else if (S_ISREG(info.st_mode))
            save_content(child, need_node(info.st_ino, false), info.st_size);
        raw_close(child);
    }
    closedir(directory);
    save_names(fd, node);
}

void shadow_start(const char *directory, const char *path)
{
    struct stat info;
    int fd;

    if (syscall(SYS_mkdir, path, 0755) < 0)
        give_up(path);
    shadow.fd = raw_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    fd = raw_openat(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (shadow.fd < 0 || fd < 0 || fstat(fd, &info) < 0)
        give_up(directory);
    take_tree(fd, info.st_ino);
    raw_close(fd);
    fd = raw_openat(shadow.fd, "ready", O_WRONLY | O_CREAT);
    if (fd < 0)
        give_up("ready");
    raw_close(fd);
}

void shadow_hold(void)
{
    pthread_mutex_lock(&shadow.lock);
}

void shadow_release(void)
{
    pthread_mutex_unlock(&shadow.lock);
}

/* Holds the shadow and keeps errno until the end of the enclosing block. */
static int enter(void)
{
    shadow_hold();
    return errno;
}

static void leave(const int *errnum)
{
    errno = *errnum;
    shadow_release();
}
#define VISIT __attribute__((cleanup(leave), unused)) const int errnum_before = enter()

void shadow_made(int directory_fd, const char *path)
{
    struct stat info;
    VISIT;

    if (fstatat(directory_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0)
        new_node(info.st_ino, S_ISDIR(info.st_mode));
}

ino_t shadow_inode_leaving(int directory_fd, const char *path)
{
    struct stat info;
    VISIT;

    if (fstatat(directory_fd, path, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return S_ISDIR(info.st_mode) || info.st_nlink == 1 ? info.st_ino : 0;
}

void shadow_gone(ino_t inode)
{
    VISIT;

    if (inode)
        forget_node(inode);
}

void shadow_changed(int fd, off_t offset)
{
    struct stat info;
    struct node *node;
    VISIT;

    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_nlink == 0)
        return;
    node = need_node(info.st_ino, false);
    if (offset < node->clean_bytes)
        node->clean_bytes = offset;
}

void shadow_synced(int fd)
{
    struct stat info;
    VISIT;

    if (fstat(fd, &info) < 0 || info.st_nlink == 0)
        return;
    if (S_ISDIR(info.st_mode))
        save_names(fd, need_node(info.st_ino, true));
    else if (S_ISREG(info.st_mode))
        save_content(fd, need_node(info.st_ino, false), info.st_size);
}
