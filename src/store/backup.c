// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    COPY_BYTES = 256 << 10,
    TAIL_BYTES = 16 << 10, /* of a table: its properties lie at the end */
};

/* One database on its way. */
struct copying {
    const char *from;     /* the checkpoint */
    const char *to;       /* the backup */
    const char *previous; /* where files may be linked from, or NULL */
    struct arena arena;
    struct backup_counts counts;
};

/* --- files --- */

static int sync_fd(int fd, const char *path, struct error *err)
{
    return fsync(fd) < 0 ? error_set_errno(err, errno, "syncing '%s'", path) : 0;
}

static int sync_directory(const char *path, struct error *err)
{
    AUTO(fd_closep) int fd = -1;

    if (fs_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    return sync_fd(fd, path, err);
}

static int copy_content(int from, int to, const char *from_path, const char *to_path, uint64_t *ret_bytes,
                        struct error *err)
{
    AUTO(memory_freep) char *bytes = memory_alloc(COPY_BYTES, err);
    uint64_t total = 0;
    size_t len = COPY_BYTES;

    if (!bytes)
        return -1;
    while (len == COPY_BYTES) {
        if (fs_read(from, bytes, COPY_BYTES, &len, err) < 0)
            return error_wrap(err, "reading '%s'", from_path);
        if (fs_write(to, bytes, len, err) < 0)
            return error_wrap(err, "writing '%s'", to_path);
        total += len;
    }
    *ret_bytes = total;
    return 0;
}

int backup_copy_file(const char *from, const char *to, uint64_t *ret_bytes, struct error *err)
{
    AUTO(fd_closep) int in = -1, out = -1;
    uint64_t bytes = 0;

    if (fs_open(from, O_RDONLY | O_CLOEXEC, 0, &in, err) < 0 ||
        fs_open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &out, err) < 0 ||
        copy_content(in, out, from, to, &bytes, err) < 0 || sync_fd(out, to, err) < 0 || fs_close(TAKE(out), err) < 0)
        return -1;
    *ret_bytes = bytes;
    return 0;
}

/* The last bytes of a file of `size` bytes. */
static int read_tail(const char *path, uint64_t size, char *ret_bytes, size_t *ret_len, struct error *err)
{
    AUTO(fd_closep) int fd = -1;

    if (fs_open(path, O_RDONLY | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    if (lseek(fd, size > TAIL_BYTES ? (off_t)(size - TAIL_BYTES) : 0, SEEK_SET) < 0)
        return error_set_errno(err, errno, "reading '%s'", path);
    if (fs_read(fd, ret_bytes, TAIL_BYTES, ret_len, err) < 0)
        return error_wrap(err, "reading '%s'", path);
    return 0;
}

static int have_same_tail(const char *a, const char *b, uint64_t size, bool *ret_is_same, struct error *err)
{
    AUTO(memory_freep) char *bytes = memory_alloc(2 * TAIL_BYTES, err);
    size_t a_len, b_len;

    if (!bytes || read_tail(a, size, bytes, &a_len, err) < 0 || read_tail(b, size, bytes + TAIL_BYTES, &b_len, err) < 0)
        return -1;
    *ret_is_same = a_len == b_len && memcmp(bytes, bytes + TAIL_BYTES, a_len) == 0;
    return 0;
}

/* --- tables --- */

/* Whether the earlier backup has this very file. */
static int is_in_previous(const struct copying *copying, const char *name, const char *from, const char *earlier,
                          uint64_t *ret_bytes, bool *ret_has, struct error *err)
{
    struct stat info;

    *ret_has = false;
    if (!copying->previous || !slice_ends_with(slice_from(name), SLICE(".sst")))
        return 0;
    if (fs_size(from, ret_bytes, err) < 0)
        return -1;
    if (fs_stat(earlier, &info, err) < 0)
        return err->code == ERR_NOT_FOUND ? 0 : -1;
    if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != *ret_bytes)
        return 0;
    return have_same_tail(from, earlier, *ret_bytes, ret_has, err);
}

/* Links a file; false in `*ret_is_linked` where the file system cannot. */
static int link_file(const char *from, const char *to, bool *ret_is_linked, struct error *err)
{
    *ret_is_linked = link(from, to) == 0;
    if (*ret_is_linked || errno == EXDEV || errno == EMLINK || errno == EPERM || errno == EOPNOTSUPP)
        return 0;
    return error_set_errno(err, errno, "linking '%s' to '%s'", from, to);
}

static int bring_file(struct copying *copying, const char *name, struct error *err)
{
    const char *from, *to, *earlier;
    uint64_t bytes;
    bool is_linked;

    arena_reset(&copying->arena);
    from = arena_printf(&copying->arena, err, "%s/%s", copying->from, name);
    to = from ? arena_printf(&copying->arena, err, "%s/%s", copying->to, name) : NULL;
    earlier = to ? arena_printf(&copying->arena, err, "%s/%s", copying->previous ? copying->previous : "", name) : NULL;
    if (!earlier || is_in_previous(copying, name, from, earlier, &bytes, &is_linked, err) < 0)
        return -1;
    if (is_linked && link_file(earlier, to, &is_linked, err) < 0)
        return -1;
    if (is_linked) {
        copying->counts.linked_bytes += bytes;
        return 0;
    }
    if (backup_copy_file(from, to, &bytes, err) < 0)
        return -1;
    copying->counts.copied_bytes += bytes;
    return 0;
}

/* --- databases --- */

/* Whether two directories hold the same database. One without an identity is like no other. */
static int have_same_identity(const char *a, const char *b, struct arena *arena, bool *ret_is_same, struct error *err)
{
    AUTO(buffer_done) struct buffer first;
    AUTO(buffer_done) struct buffer second;
    const char *a_path = arena_printf(arena, err, "%s/IDENTITY", a);
    const char *b_path = a_path ? arena_printf(arena, err, "%s/IDENTITY", b) : NULL;

    buffer_init(&first, 4096);
    buffer_init(&second, 4096);
    *ret_is_same = false;
    if (!b_path)
        return -1;
    if (fs_read_file(a_path, 4096, &first, err) < 0 || fs_read_file(b_path, 4096, &second, err) < 0)
        return err->code == ERR_NOT_FOUND ? 0 : -1;
    *ret_is_same = first.len > 0 && slice_equal(buffer_slice(&first), buffer_slice(&second));
    return 0;
}

/* Checkpoints leave the identity out. */
static int bring_identity(struct copying *copying, const char *database, struct error *err)
{
    struct stat info;
    const char *to, *from;
    uint64_t bytes;

    arena_reset(&copying->arena);
    from = arena_printf(&copying->arena, err, "%s/IDENTITY", database);
    to = from ? arena_printf(&copying->arena, err, "%s/IDENTITY", copying->to) : NULL;
    if (!to)
        return -1;
    if (fs_stat(to, &info, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND || backup_copy_file(from, to, &bytes, err) < 0)
        return -1;
    copying->counts.copied_bytes += bytes;
    return 0;
}

static int bring_files(struct copying *copying, const char *database, struct error *err)
{
    AUTO(arena_done) struct arena names;
    struct fs_listing listing;
    bool is_same;

    arena_init(&names, 0);
    if (copying->previous) {
        if (have_same_identity(database, copying->previous, &names, &is_same, err) < 0)
            return -1;
        if (!is_same)
            copying->previous = NULL;
    }
    if (fs_make_directories(copying->to, 0700, err) < 0 || fs_list(copying->from, &names, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++)
        if (bring_file(copying, listing.names[i], err) < 0)
            return -1;
    if (bring_identity(copying, database, err) < 0 || sync_directory(copying->to, err) < 0)
        return -1;
    arena_reset(&copying->arena);
    copying->to = arena_printf(&copying->arena, err, "%s/..", copying->to);
    return copying->to ? sync_directory(copying->to, err) : -1;
}

int backup_checkpoint(struct kv *kv, const char *scratch, struct error *err)
{
    struct error none;

    if (kv_checkpoint(kv, scratch, err) == 0)
        return 0;
    IGNORE(fs_remove_tree(scratch, &none), "the scratch directory is emptied at the next start");
    return -1;
}

int backup_bring(const char *database, const char *scratch, const char *path, const char *previous,
                 struct backup_counts *counts, struct error *err)
{
    struct copying copying = { .from = scratch, .to = path, .previous = previous };
    struct error none;
    struct stat info;
    int result = 0;

    arena_init(&copying.arena, 0);
    if (fs_stat(path, &info, err) == 0)
        result = error_set(err, ERR_EXISTS, "a backup to '%s': there is something already", path);
    else if (err->code != ERR_NOT_FOUND)
        result = -1;
    else if (bring_files(&copying, database, err) < 0) {
        IGNORE(fs_remove_tree(path, &none), "the failure is told; without BACKUP nobody takes it for one");
        result = error_wrap(err, "copying '%s' to '%s'", database, path);
    }
    IGNORE(fs_remove_tree(scratch, &none), "the scratch directory is emptied at the next start");
    arena_done(&copying.arena);
    counts->copied_bytes += result ? 0 : copying.counts.copied_bytes;
    counts->linked_bytes += result ? 0 : copying.counts.linked_bytes;
    return result;
}

int backup_database(struct kv *kv, const char *scratch, const char *path, const char *previous,
                    struct backup_counts *counts, struct error *err)
{
    struct stat info;

    if (fs_stat(path, &info, err) == 0)
        return error_set(err, ERR_EXISTS, "a backup to '%s': there is something already", path);
    if (backup_checkpoint(kv, scratch, err) < 0)
        return error_wrap(err, "copying '%s' to '%s'", kv_path(kv), path);
    return backup_bring(kv_path(kv), scratch, path, previous, counts, err);
}

int backup_find_newest(const char *directory, struct arena *arena, const char **ret_path, struct error *err)
{
    struct fs_listing listing;
    struct stat info;

    *ret_path = NULL;
    if (fs_list(directory, arena, &listing, err) < 0)
        return err->code == ERR_NOT_FOUND ? 0 : -1;
    for (size_t i = listing.n; i > 0; i--) {
        const char *path = arena_printf(arena, err, "%s/%s", directory, listing.names[i - 1]);
        const char *mark = path ? arena_printf(arena, err, "%s/BACKUP", path) : NULL;

        if (!mark)
            return -1;
        if (fs_stat(mark, &info, err) == 0 && S_ISREG(info.st_mode)) {
            *ret_path = path;
            return 0;
        }
    }
    return 0;
}

void backup_tell_unfinished(const char *directory)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    if (fs_list(directory, &arena, &listing, &err) < 0)
        return;
    for (size_t i = 0; i < listing.n; i++) {
        const char *name = listing.names[i], *mark;
        struct stat info;

        if (strlen(name) < strlen("2026-11-15T10-00-00Z") || name[4] != '-' || name[10] != 'T')
            continue;
        mark = arena_printf(&arena, &err, "%s/%s/BACKUP", directory, name);
        if (mark && fs_stat(mark, &info, &err) < 0 && err.code == ERR_NOT_FOUND)
            log_warn("store", "'%s/%s' is a backup that was not finished: remove it", directory, name);
    }
}
