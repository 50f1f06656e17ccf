// SPDX-License-Identifier: Apache-2.0
/* Damage in manifests and logs that RocksDB takes for their end. A record that seems to reach beyond the end of the file,
 * or to be left from an earlier use of it, is to RocksDB one whose writer was killed: it goes on with what came before,
 * without a word. After that it removes the files that its manifest does not name, and tables that were written from a
 * log are ahead of what is left of it. But a writer that was killed writes no more: a sound record behind one that is not
 * proves damage.
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

enum { BLOCK_BYTES = 32768, HEADER_BYTES = 7, LENGTH_AT = 4, TYPE_AT = 6, MAX_TYPE = 4 };

/* The bytes that the record at `at` of a block takes, or 0 if there is no sound one. */
static size_t sound_record(struct slice block, size_t at)
{
    const char *header = block.ptr + at;
    size_t bytes;
    uint32_t crc;

    if (block.len - at < HEADER_BYTES || header[TYPE_AT] < 1 || header[TYPE_AT] > MAX_TYPE)
        return 0;
    bytes = HEADER_BYTES + bytes_get_le16(header + LENGTH_AT);
    if (bytes > block.len - at)
        return 0;
    crc = checksum_crc32c(0, slice_of(header + TYPE_AT, bytes - TYPE_AT));
    return bytes_get_le32(header) == (crc >> 15 | crc << 17) + 0xa282ead8u ? bytes : 0;
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
    bool is_over = false;
    uint64_t end = 0;
    size_t len = 0;

    for (uint64_t at = 0;; at += BLOCK_BYTES) {
        struct slice block;
        size_t begin = 0, sound;

        if (read_block(fd, path, at, bytes, &len, err) < 0)
            return -1;
        if (!len)
            return 0;
        block = slice_of(bytes, len);
        if (!is_over) {
            begin = find_end(block);
            if (begin == len)
                continue;
            if (is_empty(block, begin))
                return 0;
            is_over = true;
            end = at + begin++;
        }
        sound = find_sound(block, begin);
        if (sound < len)
            return error_set(err, ERR_CORRUPT, "'%s' is damaged at byte %llu: the record at byte %llu is sound", path,
                             (unsigned long long)end, (unsigned long long)(at + sound));
    }
}

int kv_records_check(const char *path, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    char block[BLOCK_BYTES];

    if (fs_open(path, O_RDONLY | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    return check_blocks(fd, path, block, err);
}

int kv_records_check_manifest(const char *directory, struct error *err)
{
    enum { MAX_NAME = 64, PATH_BYTES = 4096 };
    AUTO(buffer_done) struct buffer content;
    char path[PATH_BYTES];
    struct slice name;

    buffer_init(&content, 0);
    snprintf(path, sizeof(path), "%s/CURRENT", directory);
    if (fs_read_file(path, MAX_NAME, &content, err) < 0)
        return err->code == ERR_MEMORY ? -1 : 0;
    name = slice_sub(buffer_slice(&content), 0, content.len ? content.len - 1 : 0);
    if (!slice_starts_with(name, SLICE("MANIFEST-")) || memchr(name.ptr, '/', name.len))
        return 0;
    snprintf(path, sizeof(path), "%s/%.*s", directory, (int)name.len, name.ptr);
    if (kv_records_check(path, err) == 0)
        return 0;
    return err->code == ERR_MEMORY || err->code == ERR_CORRUPT ? -1 : 0;
}
