// SPDX-License-Identifier: Apache-2.0
/* Builds the directory that a power loss would have left, from the shadow that shim.so kept (shadow.h):
 *
 *     survive SHADOW LOST NEW [SEED]
 *
 * LOST is the directory as the process saw it last, NEW must not exist. With a SEED other than 0 the disk had written
 * some of what was never synced, as disks do: each file keeps a random piece of its unsynced end, sometimes with zeros
 * in place of the bytes. */
#include "base/base.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t random_state;

static NORETURN void give_up(const char *what)
{
    fprintf(stderr, "survive: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t random_below(uint64_t n)
{
    random_state += 0x9e3779b97f4a7c15u;
    return hash_mix64(random_state) % n;
}

static const char *join(char path[static PATH_MAX], const char *directory, const char *name)
{
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        give_up(name);
    }
    return path;
}

/* Copies [from, until) of a file, or zeros, to the same place of another. */
static void copy_range(int source, int target, off_t from, off_t until, bool as_zeros)
{
    char chunk[65536];

    while (from < until) {
        size_t want = MIN((size_t)(until - from), sizeof(chunk));
        ssize_t n = pread(source, chunk, want, from);

        if (n <= 0)
            give_up("reading");
        if (as_zeros)
            memset(chunk, 0, (size_t)n);
        if (pwrite(target, chunk, (size_t)n, from) != n)
            give_up("writing");
        from += n;
    }
}

static off_t size_of(int fd)
{
    struct stat info;

    if (fstat(fd, &info) < 0)
        give_up("fstat");
    return info.st_size;
}

/* Some of the end that was written but not synced, if the file still is the same one. */
static void keep_torn_end(const char *lost, unsigned long long inode, int target)
{
    struct stat info;
    off_t synced = size_of(target), kept;
    int fd;

    if (random_state == 0 || stat(lost, &info) < 0 || info.st_ino != inode || info.st_size <= synced)
        return;
    fd = open(lost, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(lost);
    kept = (off_t)random_below((uint64_t)(info.st_size - synced) + 1);
    copy_range(fd, target, synced, synced + kept, random_below(4) == 0);
    close(fd);
}

static void restore_file(const char *stored, const char *lost, unsigned long long inode, const char *path)
{
    int source = open(stored, O_RDONLY | O_CLOEXEC);
    int target = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (source < 0 || target < 0)
        give_up(source < 0 ? stored : path);
    copy_range(source, target, 0, size_of(source), false);
    keep_torn_end(lost, inode, target);
    close(source);
    close(target);
}

static void restore_directory(const char *shadow, unsigned long long id, const char *lost, const char *path)
{
    char name[NAME_MAX + 1], stored[PATH_MAX], lost_child[PATH_MAX], child[PATH_MAX], sort;
    unsigned long long child_id, inode;
    FILE *names;

    snprintf(name, sizeof(name), "d.%llu", id);
    names = fopen(join(stored, shadow, name), "re");
    if (!names || mkdir(path, 0755) < 0)
        give_up(names ? path : stored);
    while (fscanf(names, "%c %llu %llu %255[^\n]\n", &sort, &child_id, &inode, name) == 4) {
        char stored_name[32];

        join(child, path, name);
        join(lost_child, lost, name);
        snprintf(stored_name, sizeof(stored_name), "f.%llu", child_id);
        if (sort == 'd')
            restore_directory(shadow, child_id, lost_child, child);
        else
            restore_file(join(stored, shadow, stored_name), lost_child, inode, child);
    }
    if (!feof(names))
        give_up("a list of names is damaged");
    fclose(names);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fputs("usage: survive SHADOW LOST NEW [SEED]\n", stderr);
        return 2;
    }
    random_state = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
    restore_directory(argv[1], 1, argv[2], argv[3]);
    return 0;
}
