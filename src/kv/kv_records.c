// SPDX-License-Identifier: Apache-2.0
/* Damage in manifests and logs that RocksDB takes for their end. A record that seems to reach beyond the end of the file,
 * or to be left from an earlier use of it, is to RocksDB one whose writer was killed: it goes on with what came before,
 * without a word. After that it removes the files that its manifest does not name, and tables that were written from a
 * log are ahead of what is left of it. But a writer that was killed writes no more: a sound record behind one that is not
 * proves damage. And what it leaves is short, or has room in it that was never filled: a last record that is there to its
 * end and does not agree with its checksum proves it, too.
 *
 * Both are blocks of 32 KiB, filled with records as kv_wal.c says. The checksum is the CRC-32C of the type and the bytes,
 * rotated, and a number added. */
#include "base/bytes.h"
#include "base/fs.h"
#include "kv/kv_internal.h"
#include "pack/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 32768,
    HEADER_BYTES = 7,
    LENGTH_AT = 4,
    TYPE_AT = 6,
    SECTOR_BYTES = 512,
    MAX_RECORD_BYTES = 1 << 28, /* of all parts of a record */
};
enum record_type { RECORD_WHOLE = 1, RECORD_FIRST, RECORD_MIDDLE, RECORD_LAST };

/* The checksum of a record, header and all. */
static uint32_t sum(struct slice record)
{
    uint32_t crc = checksum_crc32c(0, slice_sub(record, TYPE_AT, SIZE_MAX));

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* The bytes that the record at `at` of a block takes, or 0 if there is no sound one. */
static size_t sound_record(struct slice block, size_t at)
{
    const char *header = block.ptr + at;
    size_t bytes;

    if (block.len - at < HEADER_BYTES || header[TYPE_AT] < RECORD_WHOLE || header[TYPE_AT] > RECORD_LAST)
        return 0;
    bytes = HEADER_BYTES + bytes_get_le16(header + LENGTH_AT);
    if (bytes > block.len - at)
        return 0;
    return bytes_get_le32(header) == sum(slice_of(header, bytes)) ? bytes : 0;
}

/* Where the records of a block end. */
static size_t find_end(struct slice block)
{
    size_t at = 0, bytes;

    while (at < block.len && (bytes = sound_record(block, at)))
        at += bytes;
    return BLOCK_BYTES - at < HEADER_BYTES ? block.len : at;
}

/* The first sound record from `at` on; the length of the block if there is none. */
static size_t find_sound(struct slice block, size_t at)
{
    while (at < block.len && !sound_record(block, at))
        at++;
    return at;
}

/* Room that was never filled: after a loss of power it may lie before records that were. */
static bool is_empty(struct slice block, size_t at)
{
    static const char zeros[HEADER_BYTES];

    return block.len - at >= HEADER_BYTES && memcmp(block.ptr + at, zeros, HEADER_BYTES) == 0;
}

/* Whether the last sector, as far as it belongs to the record at `at`, was never filled: a loss of power can leave a file
 * that is as long as it should be. */
static bool ends_in_zeros(struct slice block, size_t at)
{
    size_t from = MAX(at + HEADER_BYTES, (block.len - 1) / SECTOR_BYTES * SECTOR_BYTES);

    if (from == block.len)
        return false;
    while (from < block.len && !block.ptr[from])
        from++;
    return from == block.len;
}

/* Whether the record at `at`, which is not sound and has no sound one behind it, was once written whole. */
static bool is_damaged_end(struct slice block, size_t at)
{
    size_t left = block.len - at, bytes;

    if (left < HEADER_BYTES)
        return false;
    bytes = HEADER_BYTES + bytes_get_le16(block.ptr + at + LENGTH_AT);
    if (bytes > BLOCK_BYTES - at)
        return true;
    /* One that seems to be cut off, and is not: its length alone is wrong. */
    if (bytes > left)
        return bytes_get_le32(block.ptr + at) == sum(slice_sub(block, at, left));
    return !ends_in_zeros(block, at);
}

static int read_block(int fd, const char *path, uint64_t at, char *bytes, size_t *ret_len, struct error *err)
{
    size_t len = 0;

    while (len < BLOCK_BYTES) {
        ssize_t n = pread(fd, bytes + len, BLOCK_BYTES - len, (off_t)(at + len));

        if (n < 0 && errno != EINTR)
            return error_set_errno(err, errno, "reading '%s'", path);
        if (n == 0)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    *ret_len = len;
    return 0;
}

static int check_blocks(int fd, const char *path, char *bytes, struct error *err)
{
    bool is_over = false, is_damaged = false;
    uint64_t end = 0;
    size_t len = 0;

    for (uint64_t at = 0;; at += BLOCK_BYTES) {
        struct slice block;
        size_t begin = 0, sound;

        if (read_block(fd, path, at, bytes, &len, err) < 0)
            return -1;
        if (!len)
            break;
        block = slice_of(bytes, len);
        if (!is_over) {
            begin = find_end(block);
            if (begin == len)
                continue;
            if (is_empty(block, begin))
                return 0;
            is_over = true;
            is_damaged = is_damaged_end(block, begin);
            end = at + begin++;
        }
        sound = find_sound(block, begin);
        if (sound < len)
            return error_set(err, ERR_CORRUPT, "'%s' is damaged at byte %llu: the record at byte %llu is sound", path,
                             (unsigned long long)end, (unsigned long long)(at + sound));
    }
    if (!is_damaged)
        return 0;
    return error_set(err, ERR_CORRUPT, "'%s' is damaged at byte %llu, in its last record", path,
                     (unsigned long long)end);
}

int kv_records_check(const char *path, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    char block[BLOCK_BYTES];

    if (fs_open(path, O_RDONLY | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    return check_blocks(fd, path, block, err);
}

int kv_records_find_manifest(const char *directory, char path[static KV_PATH_BYTES], struct error *err)
{
    enum { MAX_NAME = 64 };
    AUTO(buffer_done) struct buffer content;
    struct slice name;

    buffer_init(&content, 0);
    snprintf(path, KV_PATH_BYTES, "%s/CURRENT", directory);
    if (fs_read_file(path, MAX_NAME, &content, err) < 0)
        return -1;
    name = slice_sub(buffer_slice(&content), 0, content.len ? content.len - 1 : 0);
    if (!slice_starts_with(name, SLICE("MANIFEST-")) || memchr(name.ptr, '/', name.len))
        return error_set(err, ERR_CORRUPT, "'%s' names no manifest", path);
    snprintf(path, KV_PATH_BYTES, "%s/%.*s", directory, (int)name.len, name.ptr);
    return 0;
}

int kv_records_check_manifest(const char *directory, struct error *err)
{
    char path[KV_PATH_BYTES];

    if (kv_records_find_manifest(directory, path, err) < 0)
        return err->code == ERR_MEMORY ? -1 : 0;
    if (kv_records_check(path, err) == 0)
        return 0;
    return err->code == ERR_MEMORY || err->code == ERR_CORRUPT ? -1 : 0;
}

/* --- what is in them --- */

/* A record on its way, part by part. */
struct joining {
    struct buffer bytes;
    bool is_inside; /* its first part and all since were sound */
    int (*take)(void *context, struct slice record, struct error *err);
    void *context;
};

static int take_joined(struct joining *joining, struct error *err)
{
    if (buffer_check(&joining->bytes, err) < 0)
        return err->code == ERR_LIMIT ? 0 : -1;
    return joining->take(joining->context, buffer_slice(&joining->bytes), err);
}

static int take_part(struct joining *joining, struct slice record, struct error *err)
{
    struct slice part = slice_sub(record, HEADER_BYTES, SIZE_MAX);
    enum record_type type = (enum record_type)record.ptr[TYPE_AT];
    bool is_whole = type == RECORD_WHOLE || (type == RECORD_LAST && joining->is_inside);

    if (type == RECORD_WHOLE || type == RECORD_FIRST)
        buffer_clear(&joining->bytes);
    if (joining->is_inside || type == RECORD_WHOLE || type == RECORD_FIRST)
        buffer_append_slice(&joining->bytes, part);
    joining->is_inside = type == RECORD_FIRST || (type == RECORD_MIDDLE && joining->is_inside);
    return is_whole ? take_joined(joining, err) : 0;
}

static int take_block(struct joining *joining, struct slice block, struct error *err)
{
    size_t at = 0;

    while (at < block.len && BLOCK_BYTES - at >= HEADER_BYTES) {
        size_t bytes = sound_record(block, at);

        if (!bytes) {
            joining->is_inside = false;
            at = find_sound(block, at + 1);
        } else if (take_part(joining, slice_sub(block, at, bytes), err) < 0) {
            return -1;
        } else {
            at += bytes;
        }
    }
    return 0;
}

int kv_records_each(const char *path, int (*take)(void *context, struct slice record, struct error *err), void *context,
                    struct error *err)
{
    struct joining joining = { .take = take, .context = context };
    AUTO(fd_closep) int fd = -1;
    char block[BLOCK_BYTES];
    size_t len = 0;
    int result;

    if (fs_open(path, O_RDONLY | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    buffer_init(&joining.bytes, MAX_RECORD_BYTES);
    result = read_block(fd, path, 0, block, &len, err);
    for (uint64_t at = BLOCK_BYTES; !result && len; at += BLOCK_BYTES) {
        result = take_block(&joining, slice_of(block, len), err);
        if (!result)
            result = read_block(fd, path, at, block, &len, err);
    }
    buffer_done(&joining.bytes);
    return result;
}

/* --- adding to them --- */

static void append_part(struct buffer *out, enum record_type type, struct slice part)
{
    char header[HEADER_BYTES] = { 0 };
    size_t at = out->len;

    header[LENGTH_AT] = (char)part.len;
    header[LENGTH_AT + 1] = (char)(part.len >> 8);
    header[TYPE_AT] = (char)type;
    buffer_append(out, header, sizeof(header));
    buffer_append_slice(out, part);
    if (out->len == at + HEADER_BYTES + part.len)
        bytes_put_le32(out->data + at, sum(slice_of(out->data + at, HEADER_BYTES + part.len)));
}

static enum record_type choose_type(bool is_first, bool is_last)
{
    if (is_first)
        return is_last ? RECORD_WHOLE : RECORD_FIRST;
    return is_last ? RECORD_LAST : RECORD_MIDDLE;
}

void kv_records_append(struct buffer *out, struct slice record)
{
    static const char zeros[HEADER_BYTES];
    bool is_first = true, is_last;

    do {
        size_t room = BLOCK_BYTES - out->len % BLOCK_BYTES, len;

        if (room < HEADER_BYTES) {
            buffer_append(out, zeros, room);
            room = BLOCK_BYTES;
        }
        len = MIN(record.len, room - HEADER_BYTES);
        is_last = len == record.len;
        append_part(out, choose_type(is_first, is_last), slice_sub(record, 0, len));
        record = slice_sub(record, len, SIZE_MAX);
        is_first = false;
    } while (!is_last);
}
