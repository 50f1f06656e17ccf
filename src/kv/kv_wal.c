// SPDX-License-Identifier: Apache-2.0
/* Holes in the write-ahead log. Logs follow each other; where writes are not synced one by one, a loss of power may take
 * the end of a log and leave a later one. RocksDB would take in both, with a hole between them that no order of writes
 * explains.
 *
 * A log is blocks of 32 KiB, filled with records: u32 checksum, u16 le length, byte type (1 whole, 2 first, 3 middle, 4
 * last part), the bytes. The last bytes of a block that cannot hold this are left out. Only the frame is looked at here:
 * what is in it is RocksDB's business. A log that was cut between two records looks whole. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fs.h"
#include "kv/kv_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_BYTES = 32768, HEADER_BYTES = 7, LENGTH_AT = 4, TYPE_AT = 6 };
enum record_type { RECORD_ZERO, RECORD_WHOLE, RECORD_FIRST, RECORD_MIDDLE, RECORD_LAST };

struct log {
    uint64_t number;
    const char *path;
    uint64_t bytes;
};

static int by_number(const void *a, const void *b)
{
    const struct log *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* The logs of the database, oldest first. */
static int list_logs(const char *directory, struct arena *scratch, struct log **ret_logs, size_t *ret_n,
                     struct error *err)
{
    struct fs_listing listing;
    struct log *logs;
    size_t n = 0;

    if (fs_list(directory, scratch, &listing, err) < 0)
        return -1;
    logs = ARENA_ARRAY(scratch, struct log, listing.n, err);
    if (!logs)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        struct slice name = slice_from(listing.names[i]);
        struct log log;

        if (!slice_ends_with(name, SLICE(".log")) || !slice_to_u64(slice_sub(name, 0, name.len - 4), &log.number))
            continue;
        log.path = arena_printf(scratch, err, "%s/%s", directory, listing.names[i]);
        if (!log.path || fs_size(log.path, &log.bytes, err) < 0)
            return -1;
        logs[n++] = log;
    }
    if (n)
        qsort(logs, n, sizeof(*logs), by_number);
    *ret_logs = logs;
    *ret_n = n;
    return 0;
}

/* Whether the log ends in the middle of a record. */
static int is_torn(const struct log *log, bool *ret_is_torn, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    bool is_inside = false;
    uint64_t at = 0;

    *ret_is_torn = true;
    if (fs_open(log->path, O_RDONLY, 0, &fd, err) < 0)
        return -1;
    while (at < log->bytes) {
        uint64_t room = BLOCK_BYTES - at % BLOCK_BYTES;
        char header[HEADER_BYTES];
        ssize_t len;

        if (room < HEADER_BYTES) {
            at += room;
            continue;
        }
        len = pread(fd, header, sizeof(header), (off_t)at);
        if (len < 0)
            return error_set_errno(err, errno, "reading '%s'", log->path);
        if (len < HEADER_BYTES || header[TYPE_AT] == RECORD_ZERO)
            return 0;
        if ((uint8_t)header[TYPE_AT] > RECORD_LAST)
            break; /* of a kind we do not know: let RocksDB judge */
        at += HEADER_BYTES + bytes_get_le16(header + LENGTH_AT);
        if (at > log->bytes)
            return 0;
        is_inside = header[TYPE_AT] == RECORD_FIRST || header[TYPE_AT] == RECORD_MIDDLE;
    }
    *ret_is_torn = is_inside;
    return 0;
}

int kv_wal_find_hole(const char *directory, bool *ret_has_hole, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    struct log *logs;
    bool has_hole = false;
    size_t n;

    arena_init(&scratch, 0);
    if (list_logs(directory, &scratch, &logs, &n, err) < 0)
        return -1;
    while (n && !logs[n - 1].bytes)
        n--;
    for (size_t i = 0; i + 1 < n && !has_hole; i++)
        if (is_torn(&logs[i], &has_hole, err) < 0)
            return -1;
    *ret_has_hole = has_hole;
    return 0;
}

int kv_wal_check(const char *directory, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    struct log *logs;
    size_t n;

    arena_init(&scratch, 0);
    if (list_logs(directory, &scratch, &logs, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (kv_records_check(logs[i].path, err) < 0)
            return -1;
    return 0;
}

int kv_wal_each(const char *directory, int (*take)(void *context, struct slice record, struct error *err),
                void *context, struct error *err)
{
    AUTO(arena_done) struct arena scratch;
    struct log *logs;
    size_t n;

    arena_init(&scratch, 0);
    if (list_logs(directory, &scratch, &logs, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (kv_records_each(logs[i].path, take, context, err) < 0)
            return -1;
    return 0;
}
