// SPDX-License-Identifier: Apache-2.0
#include "store/datadir.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/memory.h"
#include "pack/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define FORMAT_WORDS "hearth store "
#define READER_WORDS "hearth-reader-"

enum { MAX_LISTING_BYTES = 64 << 20 };

static char *join(const char *directory, const char *name, struct error *err)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = memory_alloc(size, err);

    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* --- FORMAT --- */

/* The lines of the file: "hearth store 1.0", then "name value" pairs, of which we know some; the last one is the checksum
 * of all before it, because a seed that changed by a bit would make strangers of all that is known. */
struct format {
    struct slice version, seed, check;
    size_t checked_len; /* bytes in front of the line with the checksum */
};

static void split_format(struct slice text, struct format *format)
{
    struct slice rest = text;

    *format = (struct format){ .version = { 0 } };
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct slice line = slice_of(rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len);

        if (rest.ptr == text.ptr)
            format->version = slice_trim(slice_sub(line, sizeof(FORMAT_WORDS) - 1, SIZE_MAX));
        else if (slice_starts_with(line, SLICE("seed ")))
            format->seed = slice_trim(slice_sub(line, 5, SIZE_MAX));
        else if (slice_starts_with(line, SLICE("check "))) {
            format->check = slice_trim(slice_sub(line, 6, SIZE_MAX));
            format->checked_len = (size_t)(line.ptr - text.ptr);
        }
        rest = slice_sub(rest, line.len + (end != NULL), SIZE_MAX);
    }
}

static bool parse_version(struct slice version, uint64_t *ret_major, uint64_t *ret_minor)
{
    size_t dot = 0;

    while (dot < version.len && version.ptr[dot] != '.')
        dot++;
    return slice_to_u64(slice_sub(version, 0, dot), ret_major) &&
           slice_to_u64(slice_sub(version, dot + 1, SIZE_MAX), ret_minor);
}

static int check_version(struct slice version, struct error *err)
{
    uint64_t major, minor;

    if (!parse_version(version, &major, &minor))
        return error_set(err, ERR_CORRUPT, "its file FORMAT has no version such as '%s%d.%d'", FORMAT_WORDS,
                         DATADIR_FORMAT_MAJOR, DATADIR_FORMAT_MINOR);
    if (major == 0)
        return error_set(err, ERR_CORRUPT, "its file FORMAT has version %.*s, which there never was", (int)version.len,
                         version.ptr);
    if (major > DATADIR_FORMAT_MAJOR)
        return error_set(err, ERR_VERSION,
                         "it has format %llu.%llu, which is newer than this hearth knows (%d.%d); nothing was changed. "
                         "Use the version of hearth that wrote it, or a later one",
                         (unsigned long long)major, (unsigned long long)minor, DATADIR_FORMAT_MAJOR,
                         DATADIR_FORMAT_MINOR);
    return 0;
}

int datadir_parse_format(const char *text, size_t len, uint64_t *ret_seed, struct error *err)
{
    struct slice whole = slice_of(text, len);
    struct format format;
    uint64_t seed, check;

    if (!slice_starts_with(whole, SLICE(FORMAT_WORDS)))
        return error_set(err, ERR_CORRUPT, "its file FORMAT does not begin with '%s'", FORMAT_WORDS);
    split_format(whole, &format);
    if (check_version(format.version, err) < 0)
        return -1;
    if (!slice_to_u64_hex(format.check, &check) || check != checksum_crc32c(0, slice_sub(whole, 0, format.checked_len)))
        return error_set(err, ERR_CORRUPT,
                         "its file FORMAT is damaged: the line 'check' is not the checksum of the lines before it; "
                         "take the file from a backup of this store");
    if (!slice_to_u64_hex(format.seed, &seed))
        return error_set(err, ERR_CORRUPT, "its file FORMAT has no line 'seed' with a hexadecimal number");
    *ret_seed = seed;
    return 0;
}

/* Appends the content of the file to `text`; false in `*ret_exists` if there is none. */
static int load_format(const struct datadir *datadir, struct buffer *text, bool *ret_exists, struct error *err)
{
    char *path = join(datadir->path, "FORMAT", err);
    int result;

    if (!path)
        return -1;
    result = fs_read_file(path, 65536, text, err);
    memory_free(path);
    *ret_exists = !result;
    return result < 0 && err->code != ERR_NOT_FOUND ? -1 : 0;
}

static int read_format(struct datadir *datadir, bool *ret_exists, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 65536);
    if (load_format(datadir, &text, ret_exists, err) < 0)
        return -1;
    return *ret_exists ? datadir_parse_format(text.data ? text.data : "", text.len, &datadir->seed, err) : 0;
}

/* Writes the file: the present version, `lines`, their checksum. */
static int put_format(const struct datadir *datadir, struct slice lines, struct error *err)
{
    AUTO(buffer_done) struct buffer text;
    char *path;
    int result;

    buffer_init(&text, 65536);
    buffer_printf(&text, FORMAT_WORDS "%d.%d\n", DATADIR_FORMAT_MAJOR, DATADIR_FORMAT_MINOR);
    buffer_append_slice(&text, lines);
    buffer_printf(&text, "check %08x\n", checksum_crc32c(0, buffer_slice(&text)));
    path = buffer_check(&text, err) < 0 ? NULL : join(datadir->path, "FORMAT", err);
    if (!path)
        return -1;
    result = fs_write_file(path, buffer_slice(&text), err);
    memory_free(path);
    return result;
}

static int write_format(struct datadir *datadir, struct error *err)
{
    char seed[32];

    if (getrandom(&datadir->seed, sizeof(datadir->seed), 0) != sizeof(datadir->seed))
        datadir->seed = hash_mix64((uint64_t)clock_now_ns() ^ (uint64_t)getpid());
    snprintf(seed, sizeof(seed), "seed %016llx\n", (unsigned long long)datadir->seed);
    return put_format(datadir, slice_from(seed), err);
}

/* We write what an older minor version does not know: the file says so from now on. Its other lines stay. */
static int raise_format(const struct datadir *datadir, struct error *err)
{
    AUTO(buffer_done) struct buffer text;
    struct format format;
    struct slice lines, version;
    uint64_t major, minor;
    bool exists;

    buffer_init(&text, 65536);
    if (load_format(datadir, &text, &exists, err) < 0)
        return -1;
    split_format(buffer_slice(&text), &format);
    if (!parse_version(format.version, &major, &minor) || major != DATADIR_FORMAT_MAJOR ||
        minor >= DATADIR_FORMAT_MINOR)
        return 0;
    lines = slice_sub(buffer_slice(&text), 0, format.checked_len);
    return slice_next_line(&lines, &version) ? put_format(datadir, lines, err) : 0;
}

static bool has_name(const struct fs_listing *listing, const char *name)
{
    for (size_t i = 0; i < listing->n; i++)
        if (strcmp(listing->names[i], name) == 0)
            return true;
    return false;
}

/* A directory without FORMAT must be empty, or one whose making was interrupted. */
static int check_is_new(const struct datadir *datadir, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;

    arena_init(&arena, 0);
    if (fs_list(datadir->path, &arena, &listing, err) < 0)
        return -1;
    /* A store that lost it has other names, too, some of which sort before this one. */
    if (has_name(&listing, "profiles"))
        return error_set(err, ERR_CORRUPT,
                         "its file FORMAT is missing, though it has days in 'profiles'; take the file from a backup of "
                         "this store");
    for (size_t i = 0; i < listing.n; i++)
        if (strncmp(listing.names[i], "FORMAT", 6) != 0 && strcmp(listing.names[i], "LOCK") != 0 &&
            strcmp(listing.names[i], "lost+found") != 0)
            return error_set(err, ERR_INVALID,
                             "it has no file FORMAT, so it is no store, but it is not empty either ('%s'); choose an "
                             "empty or new directory",
                             listing.names[i]);
    return 0;
}

/* --- LOCK --- */

static int take_lock(struct datadir *datadir, struct error *err)
{
    char text[32] = "", *path = join(datadir->path, "LOCK", err);
    ssize_t len;
    int result;

    if (!path)
        return -1;
    result = fs_open(path, O_RDWR | O_CREAT, 0600, &datadir->lock_fd, err);
    memory_free(path);
    if (result < 0)
        return -1;
    if (flock(datadir->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        int cause = errno;

        len = pread(datadir->lock_fd, text, sizeof(text) - 1, 0);
        text[len > 0 ? len : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        if (cause != EWOULDBLOCK)
            return error_set_errno(err, cause, "locking it");
        return error_set(err, ERR_BUSY, "process %s has it open", text[0] ? text : "(unknown)");
    }
    len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(datadir->lock_fd, 0) < 0 || pwrite(datadir->lock_fd, text, (size_t)len, 0) != len)
        return error_set_errno(err, errno, "writing our pid into LOCK");
    return 0;
}

/* --- directories of readers --- */

static const char *temporary_directory(void)
{
    const char *path = getenv("TMPDIR");

    return path && *path ? path : "/tmp";
}

/* The pid in the name of a reader's directory; 0 if it is none. */
static pid_t reader_of(const char *name)
{
    char *end;
    long pid;

    if (strncmp(name, READER_WORDS, strlen(READER_WORDS)) != 0)
        return 0;
    pid = strtol(name + strlen(READER_WORDS), &end, 10);
    return pid > 0 && pid <= INT32_MAX && *end == '-' ? (pid_t)pid : 0;
}

/* Whether a directory of ours was left by a reader that was killed: neither a process of its number nor a lock is there.
 * Another container may share the directory but not the numbers, so both are looked at. */
static bool is_left_over(const char *path, pid_t pid)
{
    struct stat info;
    bool is_free;
    int fd;

    if (kill(pid, 0) == 0 || errno != ESRCH)
        return false;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    is_free = fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return is_free;
}

/* As far as it goes: nobody needs them. */
static void remove_left_over(void)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, MAX_LISTING_BYTES);
    if (fs_list(temporary_directory(), &arena, &listing, &err) < 0)
        return;
    for (size_t i = 0; i < listing.n; i++) {
        pid_t pid = reader_of(listing.names[i]);
        const char *path = pid ? arena_printf(&arena, &err, "%s/%s", temporary_directory(), listing.names[i]) : NULL;

        if (path && is_left_over(path, pid))
            IGNORE(fs_remove_tree(path, &err), "the next reader tries again");
    }
}

/* Makes the directory of this reader and locks it for as long as we live. */
static int make_reader_directory(struct datadir *datadir, struct error *err)
{
    remove_left_over();
    if (fs_make_directories(datadir->scratch, 0700, err) < 0 ||
        fs_open(datadir->scratch, O_RDONLY | O_DIRECTORY, 0, &datadir->lock_fd, err) < 0)
        return -1;
    if (flock(datadir->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return error_set_errno(err, errno, "locking '%s'", datadir->scratch);
    return 0;
}

/* --- opening --- */

static int name_places(struct datadir *datadir, const char *path, struct error *err)
{
    char scratch[64];

    datadir->path = memory_alloc(strlen(path) + 1, err);
    if (!datadir->path)
        return -1;
    strcpy(datadir->path, path);
    while (strlen(datadir->path) > 1 && datadir->path[strlen(datadir->path) - 1] == '/')
        datadir->path[strlen(datadir->path) - 1] = '\0';
    datadir->profiles = join(datadir->path, "profiles", err);
    datadir->meta = datadir->profiles ? join(datadir->path, "meta", err) : NULL;
    datadir->quarantine = datadir->meta ? join(datadir->path, "quarantine", err) : NULL;
    if (!datadir->quarantine)
        return -1;
    if (!datadir->is_read_only)
        datadir->scratch = join(datadir->path, "tmp", err);
    else {
        snprintf(scratch, sizeof(scratch), READER_WORDS "%ld-%llx", (long)getpid(),
                 (unsigned long long)clock_mono_ns());
        datadir->scratch = join(temporary_directory(), scratch, err);
    }
    return datadir->scratch ? 0 : -1;
}

static int open_for_reading(struct datadir *datadir, struct error *err)
{
    bool exists;

    if (read_format(datadir, &exists, err) < 0)
        return -1;
    if (!exists)
        return error_set(err, ERR_NOT_FOUND, "there is no store here (no file FORMAT); `hearth import` makes one");
    return make_reader_directory(datadir, err);
}

static int open_for_writing(struct datadir *datadir, struct error *err)
{
    bool exists;

    /* The format first: a newer one is not touched in any way. */
    if (read_format(datadir, &exists, err) < 0 || fs_make_directories(datadir->path, 0700, err) < 0)
        return -1;
    if (!exists && check_is_new(datadir, err) < 0)
        return -1;
    if (take_lock(datadir, err) < 0)
        return -1;
    if (!exists) {
        /* Another process may have made it between our look and our lock. */
        if (read_format(datadir, &exists, err) < 0 || (!exists && write_format(datadir, err) < 0))
            return -1;
    } else if (raise_format(datadir, err) < 0)
        return -1;
    if (fs_remove_tree(datadir->scratch, err) < 0 || fs_make_directories(datadir->scratch, 0700, err) < 0)
        return -1;
    if (fs_make_directories(datadir->profiles, 0700, err) < 0)
        return -1;
    return fs_sync_parent(datadir->profiles, err);
}

int datadir_open(struct datadir *datadir, const char *path, bool is_read_only, struct error *err)
{
    *datadir = (struct datadir){ .lock_fd = -1, .is_read_only = is_read_only };
    if (name_places(datadir, path, err) < 0 ||
        (is_read_only ? open_for_reading(datadir, err) : open_for_writing(datadir, err)) < 0) {
        datadir_close(datadir);
        return error_wrap(err, "data directory '%s'", path);
    }
    return 0;
}

void datadir_close(struct datadir *datadir)
{
    struct error err;

    if (datadir->is_read_only && datadir->scratch)
        IGNORE(fs_remove_tree(datadir->scratch, &err), "it is in the directory for temporary files");
    if (datadir->lock_fd >= 0)
        close(datadir->lock_fd);
    memory_free(datadir->path);
    memory_free(datadir->profiles);
    memory_free(datadir->meta);
    memory_free(datadir->quarantine);
    memory_free(datadir->scratch);
    *datadir = (struct datadir){ .lock_fd = -1 };
}
