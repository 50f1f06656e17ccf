// SPDX-License-Identifier: Apache-2.0
#include "intake/spill.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/memory.h"
#include "pack/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPILL_MAGIC       "hearthS1"
#define SPILL_START_BYTES 16 /* the magic, and eight bytes that no other file has */
#define SPILL_HEAD_BYTES  8
#define SPILL_MAX_RECORD  ((uint32_t)512 << 20)

struct spill {
    char directory[PATH_MAX - 32];
    uint64_t max_bytes;
    struct lock_mutex lock; /* guards what follows */
    uint64_t bytes;
    uint32_t write_number, read_number; /* of files; read_number > write_number: nothing was ever written */
    int write_fd;                       /* -1 = the next record begins a file */
    uint64_t write_at;
    int read_fd; /* -1 = not open */
    uint64_t read_at;
    uint64_t current_bytes; /* of the record that spill_next gave; 0 = none */
    char id[48];            /* of the same */
    uint64_t read_name;     /* of the file: ids begin with it */
    bool is_directory_synced;
    bool has_lost_sync; /* of a file that is written no more */
    struct buffer scratch;
    struct spill_counts counts;
};

static void name_file(const struct spill *spill, uint32_t number, char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%08u.spill", spill->directory, number);
}

/* --- opening --- */

static bool file_number(const char *name, uint32_t *ret_number)
{
    uint64_t number;

    if (strlen(name) != 14 || strcmp(name + 8, ".spill") != 0 || !slice_to_u64(slice_of(name, 8), &number) ||
        number == 0)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* Learns which files there are. New records go to a new one: the last may end in the middle of a record. */
static int find_files(struct spill *spill, struct error *err)
{
    struct fs_listing listing;
    struct arena arena;
    uint32_t number;
    int result = -1;

    arena_init(&arena, 0);
    if (fs_list(spill->directory, &arena, &listing, err) < 0)
        goto out;
    for (size_t i = 0; i < listing.n; i++) {
        char path[PATH_MAX];
        uint64_t size;

        if (!file_number(listing.names[i], &number))
            continue;
        name_file(spill, number, path);
        if (fs_size(path, &size, err) < 0)
            goto out;
        spill->bytes += size;
        spill->read_number = spill->read_number ? MIN(spill->read_number, number) : number;
        spill->write_number = MAX(spill->write_number, number);
    }
    if (spill->read_number == 0)
        spill->read_number = 1;
    result = 0;
out:
    arena_done(&arena);
    return result;
}

int spill_open(const char *directory, uint64_t max_bytes, struct spill **ret_spill, struct error *err)
{
    struct spill *spill = MEMORY_NEW(struct spill, err);

    if (!spill)
        return -1;
    lock_mutex_init(&spill->lock, LOCK_INTAKE_SPILL);
    buffer_init(&spill->scratch, 0);
    spill->write_fd = spill->read_fd = -1;
    spill->max_bytes = max_bytes ? max_bytes : SPILL_DEFAULT_MAX;
    if ((size_t)snprintf(spill->directory, sizeof(spill->directory), "%s", directory) >= sizeof(spill->directory))
        error_set(err, ERR_LIMIT, "the path '%.64s...' is too long", directory);
    else if (fs_make_directories(directory, 0700, err) == 0 && find_files(spill, err) == 0) {
        *ret_spill = spill;
        return 0;
    }
    spill_close(spill);
    return error_wrap(err, "opening the spill directory");
}

void spill_close(struct spill *spill)
{
    if (!spill)
        return;
    if (spill->write_fd >= 0)
        close(spill->write_fd);
    if (spill->read_fd >= 0)
        close(spill->read_fd);
    buffer_done(&spill->scratch);
    lock_mutex_done(&spill->lock);
    memory_free(spill);
}

/* --- writing --- */

static int begin_file(struct spill *spill, struct error *err)
{
    char path[PATH_MAX], start[SPILL_START_BYTES];
    int fd;

    name_file(spill, spill->write_number + 1, path);
    if (fs_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, err) < 0)
        return -1;
    memcpy(start, SPILL_MAGIC, 8);
    bytes_put_le64(start + 8, (uint64_t)clock_now_ns());
    if (fs_write(fd, start, sizeof(start), err) < 0) {
        close(fd);
        unlink(path);
        return error_wrap(err, "writing '%s'", path);
    }
    spill->write_number++;
    spill->write_fd = fd;
    spill->write_at = SPILL_START_BYTES;
    spill->bytes += SPILL_START_BYTES;
    spill->is_directory_synced = false;
    return 0;
}

static int sync_locked(struct spill *spill, struct error *err)
{
    char path[PATH_MAX];

    if (spill->has_lost_sync) {
        spill->has_lost_sync = false;
        return error_set(err, ERR_IO, "a spill file was left without a sync");
    }
    if (spill->write_fd < 0)
        return 0;
    name_file(spill, spill->write_number, path);
    if (fdatasync(spill->write_fd) < 0)
        return error_set_errno(err, errno, "syncing '%s'", path);
    if (!spill->is_directory_synced && fs_sync_parent(path, err) < 0)
        return -1;
    spill->is_directory_synced = true;
    return 0;
}

/* A file that may end in half a record, or is long enough, is followed by another. What was appended to it stays. */
static void end_file(struct spill *spill)
{
    close(spill->write_fd);
    spill->write_fd = -1;
}

static int encode_record(struct spill *spill, const struct upload *upload, struct error *err)
{
    struct buffer *record = &spill->scratch;
    char head[SPILL_HEAD_BYTES] = { 0 };

    buffer_clear(record);
    buffer_append(record, head, sizeof(head));
    upload_encode(upload, record);
    if (buffer_check(record, err) < 0)
        return -1;
    if (record->len - SPILL_HEAD_BYTES > SPILL_MAX_RECORD)
        return error_set(err, ERR_LIMIT, "an upload of %zu bytes does not fit into the spill file", record->len);
    bytes_put_le32(record->data, (uint32_t)(record->len - SPILL_HEAD_BYTES));
    bytes_put_le32(record->data + 4, checksum_crc32c(0, slice_sub(buffer_slice(record), SPILL_HEAD_BYTES, SIZE_MAX)));
    return 0;
}

/* Takes half a record back, or leaves the file that ends in it; what was whole in there is synced first. */
static void give_up_record(struct spill *spill)
{
    if (ftruncate(spill->write_fd, (off_t)spill->write_at) == 0 &&
        lseek(spill->write_fd, (off_t)spill->write_at, SEEK_SET) >= 0)
        return;
    spill->has_lost_sync |= fdatasync(spill->write_fd) < 0;
    end_file(spill);
}

static int append_locked(struct spill *spill, const struct upload *upload, struct error *err)
{
    if (encode_record(spill, upload, err) < 0)
        return -1;
    if (spill->bytes + spill->scratch.len + SPILL_START_BYTES > spill->max_bytes)
        return error_set(err, ERR_FULL, "the spill file has %llu bytes of the %llu that it may have",
                         (unsigned long long)spill->bytes, (unsigned long long)spill->max_bytes);
    if (spill->write_fd >= 0 && spill->write_at >= SPILL_FILE_BYTES) {
        if (sync_locked(spill, err) < 0)
            return -1;
        end_file(spill);
    }
    if (spill->write_fd < 0 && begin_file(spill, err) < 0)
        return -1;
    if (fs_write(spill->write_fd, spill->scratch.data, spill->scratch.len, err) < 0) {
        give_up_record(spill);
        return error_wrap(err, "writing to the spill file");
    }
    spill->write_at += spill->scratch.len;
    spill->bytes += spill->scratch.len;
    spill->counts.n_appended++;
    return 0;
}

int spill_append(struct spill *spill, const struct upload *upload, struct error *err)
{
    LOCK_SCOPE(&spill->lock);

    return append_locked(spill, upload, err);
}

int spill_sync(struct spill *spill, struct error *err)
{
    LOCK_SCOPE(&spill->lock);

    return sync_locked(spill, err);
}

/* --- reading --- */

static void count_off(struct spill *spill, const char *path)
{
    struct error ignored;
    uint64_t size = 0;

    if (fs_size(path, &size, &ignored) == 0)
        spill->bytes -= MIN(spill->bytes, size);
}

/* Leaves the file that is being read behind: removed, or set aside if something is wrong with it. */
static void leave_file(struct spill *spill, const char *damage)
{
    char path[PATH_MAX], aside[PATH_MAX + 8];

    name_file(spill, spill->read_number, path);
    if (spill->read_fd >= 0)
        close(spill->read_fd);
    spill->read_fd = -1;
    spill->read_at = 0;
    if (spill->read_number == spill->write_number && spill->write_fd >= 0)
        end_file(spill);
    count_off(spill, path);
    spill->read_number++;
    if (!damage) {
        unlink(path);
        return;
    }
    spill->counts.n_damaged++;
    snprintf(aside, sizeof(aside), "%s.bad", path);
    log_error("intake", "'%s' is damaged (%s); what could not be read is in '%s'", path, damage, aside);
    rename(path, aside);
}

/* Opens the file to read, if there is one. */
static int open_file(struct spill *spill, bool *ret_is_there, struct error *err)
{
    char path[PATH_MAX], start[SPILL_START_BYTES];
    size_t len;

    while (spill->read_fd < 0 && spill->read_number <= spill->write_number) {
        name_file(spill, spill->read_number, path);
        if (fs_open(path, O_RDONLY, 0, &spill->read_fd, err) < 0) {
            spill->read_fd = -1;
            if (err->code != ERR_NOT_FOUND)
                return -1;
            spill->read_number++;
            continue;
        }
        if (fs_read(spill->read_fd, start, sizeof(start), &len, err) < 0) {
            close(spill->read_fd);
            spill->read_fd = -1;
            return -1;
        }
        spill->read_at = SPILL_START_BYTES;
        spill->read_name = bytes_get_le64(start + 8);
        if (len < sizeof(start))
            leave_file(spill, NULL);
        else if (memcmp(start, SPILL_MAGIC, 8) != 0)
            leave_file(spill, "it does not begin like one");
    }
    *ret_is_there = spill->read_fd >= 0;
    return 0;
}

/* --- records --- */

enum record_state {
    RECORD_GOOD,
    RECORD_BAD,    /* its checksum is wrong; the next one can be found */
    RECORD_TORN,   /* the file ends before it does */
    RECORD_JUNK,   /* no record can be this long */
    RECORD_NO_MORE /* the file ends here */
};

static int read_bytes(struct spill *spill, struct buffer *bytes, uint32_t record_bytes, uint32_t checksum,
                      enum record_state *ret_state, struct error *err)
{
    size_t len;
    char *room;

    buffer_clear(bytes);
    room = buffer_reserve(bytes, record_bytes);
    if (!room)
        return buffer_check(bytes, err);
    if (fs_read(spill->read_fd, room, record_bytes, &len, err) < 0)
        return -1;
    buffer_commit(bytes, len);
    if (len < record_bytes)
        *ret_state = RECORD_TORN;
    else
        *ret_state = checksum_crc32c(0, buffer_slice(bytes)) == checksum ? RECORD_GOOD : RECORD_BAD;
    return 0;
}

static int read_record(struct spill *spill, struct buffer *bytes, enum record_state *ret_state, struct error *err)
{
    char head[SPILL_HEAD_BYTES];
    uint32_t record_bytes;
    size_t len;

    if (lseek(spill->read_fd, (off_t)spill->read_at, SEEK_SET) < 0)
        return error_set_errno(err, errno, "seeking in the spill file");
    if (fs_read(spill->read_fd, head, sizeof(head), &len, err) < 0)
        return -1;
    if (len < sizeof(head)) {
        *ret_state = len == 0 ? RECORD_NO_MORE : RECORD_TORN;
        return 0;
    }
    record_bytes = bytes_get_le32(head);
    if (record_bytes == 0 || record_bytes > SPILL_MAX_RECORD) {
        *ret_state = RECORD_JUNK;
        return 0;
    }
    spill->current_bytes = SPILL_HEAD_BYTES + (uint64_t)record_bytes;
    return read_bytes(spill, bytes, record_bytes, bytes_get_le32(head + 4), ret_state, err);
}

static void skip_record(struct spill *spill, const char *why)
{
    spill->counts.n_damaged++;
    log_error("intake", "an upload in the spill file is lost: %s (file %u at byte %llu)", why, spill->read_number,
              (unsigned long long)spill->read_at);
    spill->read_at += spill->current_bytes;
    spill->current_bytes = 0;
}

/* What is at the place to be read, past what cannot be. */
static int next_locked(struct spill *spill, struct buffer *bytes, struct upload *ret_upload, bool *ret_is_there,
                       struct error *err)
{
    enum record_state state = RECORD_NO_MORE;

    for (;;) {
        spill->current_bytes = 0;
        if (open_file(spill, ret_is_there, err) < 0)
            return -1;
        if (!*ret_is_there)
            return 0;
        if (read_record(spill, bytes, &state, err) < 0)
            return error_wrap(err, "reading the spill file");
        if (state == RECORD_GOOD) {
            if (upload_decode(buffer_slice(bytes), ret_upload, err) == 0)
                break;
            skip_record(spill, err->text);
        } else if (state == RECORD_BAD) {
            skip_record(spill, "its checksum is wrong");
        } else { /* a torn end is what a crash leaves of a record that nobody was promised */
            leave_file(spill, state == RECORD_JUNK ? "no record can begin there" : NULL);
        }
    }
    snprintf(spill->id, sizeof(spill->id), "spill-%llx-%llx", (unsigned long long)spill->read_name,
             (unsigned long long)spill->read_at);
    if (ret_upload->id.len == 0) /* else it has been here before, and was put behind others */
        ret_upload->id = slice_from(spill->id);
    return 0;
}

int spill_next(struct spill *spill, struct buffer *bytes, struct upload *ret_upload, bool *ret_is_there,
               struct error *err)
{
    LOCK_SCOPE(&spill->lock);

    *ret_is_there = false;
    return next_locked(spill, bytes, ret_upload, ret_is_there, err);
}

void spill_done(struct spill *spill)
{
    LOCK_SCOPE(&spill->lock);

    if (spill->current_bytes == 0)
        return;
    spill->read_at += spill->current_bytes;
    spill->current_bytes = 0;
    spill->counts.n_done++;
    /* Nothing is left in the file that is being written: the next record begins another, and this one goes. */
    if (spill->read_number == spill->write_number && spill->write_fd >= 0 && spill->read_at >= spill->write_at)
        leave_file(spill, NULL);
}

struct spill_counts spill_counts(struct spill *spill)
{
    LOCK_SCOPE(&spill->lock);
    struct spill_counts counts = spill->counts;

    counts.bytes = spill->bytes;
    counts.max_bytes = spill->max_bytes;
    return counts;
}
