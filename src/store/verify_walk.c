// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "store/verify_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum {
    MAX_LINES = 50,          /* that are told of one day */
    MAX_ASIDE_FILES = 1000,  /* of one day */
    REPAIRS_BYTES = 4 << 20, /* of keys, before they are written */
};

/* --- telling --- */

void verify_find(struct verify_run *run, const char *fmt, ...)
{
    char text[600], line[640];
    va_list args;

    run->verify->n_bad_values++;
    if (++run->n_findings > MAX_LINES || !run->verify->tell)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    snprintf(line, sizeof(line), "%s: %s", run->day->name, text);
    run->verify->tell(run->verify->context, line);
}

void verify_mended(struct verify_run *run)
{
    run->n_mended += run->verify->is_repairing;
}

bool verify_is_bad(const struct error *err, bool *ret_is_certain)
{
    *ret_is_certain = err->code != ERR_LIMIT;
    return err->code == ERR_CORRUPT || err->code == ERR_VERSION || err->code == ERR_LIMIT || err->code == ERR_INVALID;
}

/* --- setting aside --- */

/* A new file for what is bad, under the first number that is free. */
static int open_aside(struct verify_run *run, struct error *err)
{
    size_t size = strlen(run->quarantine_dir) + sizeof(run->day->name) + 16;

    if (fs_make_directories(run->quarantine_dir, 0700, err) < 0)
        return -1;
    run->aside_path = memory_alloc(size, err);
    if (!run->aside_path)
        return -1;
    for (unsigned number = 0; number < MAX_ASIDE_FILES; number++) {
        snprintf(run->aside_path, size, "%s/%s-%03u.bad", run->quarantine_dir, run->day->name, number);
        if (fs_open(run->aside_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &run->aside_fd, err) == 0)
            return 0;
        if (err->code != ERR_EXISTS)
            break;
    }
    run->aside_fd = -1;
    memory_free(TAKE(run->aside_path));
    return error_wrap(err, "setting bad values of day %s aside", run->day->name);
}

static int write_field(struct verify_run *run, struct slice field, struct error *err)
{
    char len[4];

    bytes_put_le32(len, (uint32_t)field.len);
    if (fs_write(run->aside_fd, len, sizeof(len), err) < 0 || fs_write(run->aside_fd, field.ptr, field.len, err) < 0)
        return error_wrap(err, "writing '%s'", run->aside_path);
    return 0;
}

static int sync_aside(struct verify_run *run, struct error *err)
{
    AUTO(fd_closep) int directory = -1;

    if (run->aside_fd < 0)
        return 0;
    if (fsync(run->aside_fd) < 0)
        return error_set_errno(err, errno, "syncing '%s'", run->aside_path);
    if (fs_open(run->quarantine_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, &directory, err) < 0)
        return -1;
    if (fsync(directory) < 0)
        return error_set_errno(err, errno, "syncing '%s'", run->quarantine_dir);
    return 0;
}

static int write_repairs(struct verify_run *run, struct error *err)
{
    if (!run->repairs || !kv_batch_count(run->repairs))
        return 0;
    /* Nothing is deleted that is not elsewhere. */
    if (sync_aside(run, err) < 0 || kv_write(run->day->kv, run->repairs, true, err) < 0)
        return error_wrap(err, "repairing day %s", run->day->name);
    kv_batch_clear(run->repairs);
    run->has_repaired = true;
    return 0;
}

int verify_set_aside(struct verify_run *run, uint32_t family, struct slice key, struct slice value, struct error *err)
{
    const char *name = kv_family_name(run->day->kv, family);

    if (!run->verify->is_repairing || run->is_unreadable)
        return 0;
    if (run->aside_fd < 0 && open_aside(run, err) < 0)
        return -1;
    if (write_field(run, slice_from(name), err) < 0 || write_field(run, key, err) < 0 ||
        write_field(run, value, err) < 0)
        return -1;
    kv_batch_delete(run->repairs, run->day->kv, family, key);
    return kv_batch_bytes(run->repairs) > REPAIRS_BYTES ? write_repairs(run, err) : 0;
}

void verify_replace(struct verify_run *run, uint32_t family, struct slice key, struct slice value)
{
    if (run->verify->is_repairing && !run->is_unreadable)
        kv_batch_put(run->repairs, run->day->kv, family, key, value);
}

int verify_apply(struct verify_run *run, struct error *err)
{
    char line[128];

    if (run->n_findings > MAX_LINES && run->verify->tell) {
        snprintf(line, sizeof(line), "%s: and %llu more", run->day->name,
                 (unsigned long long)(run->n_findings - MAX_LINES));
        run->verify->tell(run->verify->context, line);
    }
    if (run->is_unreadable) {
        run->verify->n_bad_days++;
        return 0;
    }
    if (write_repairs(run, err) < 0)
        return -1;
    run->verify->n_repaired += run->n_mended;
    return 0;
}

/* --- walking --- */

static void remember(struct verify_walk *walk, struct slice key)
{
    walk->last_len = MIN(key.len, sizeof(walk->last));
    memcpy(walk->last, key.ptr, walk->last_len);
}

/* The key before, in hexadecimal digits. */
static const char *hex_key(const struct verify_walk *walk, char ret_text[static 2 * VERIFY_KEY_BYTES + 1])
{
    ret_text[0] = '\0';
    for (size_t i = 0; i < walk->last_len; i++)
        snprintf(ret_text + 2 * i, 3, "%02x", (uint8_t)walk->last[i]);
    return ret_text;
}

/* Behind what cannot be read. */
static int pass_damage(struct verify_walk *walk, struct error *err)
{
    struct error damage = *err;
    char text[2 * VERIFY_KEY_BYTES + 1];

    if (kv_iterator_pass_damage(walk->iterator, slice_of(walk->last, walk->last_len), &walk->is_valid, err) < 0)
        return -1;
    walk->run->is_unreadable = true;
    verify_find(walk->run, "%s of '%s' cannot be read, behind key %s: %s", walk->is_valid ? "a stretch" : "the rest",
                kv_family_name(walk->run->day->kv, walk->family), hex_key(walk, text), damage.text);
    return 0;
}

/* Where the iterator stands after a move. */
static int settle(struct verify_walk *walk, struct error *err)
{
    walk->is_valid = kv_iterator_is_valid(walk->iterator);
    if (!walk->is_valid && kv_iterator_check(walk->iterator, err) < 0 &&
        (err->code != ERR_CORRUPT || pass_damage(walk, err) < 0))
        return -1;
    if (walk->is_valid)
        remember(walk, kv_iterator_key(walk->iterator));
    return 0;
}

int verify_walk_open(struct verify_walk *walk, struct verify_run *run, uint32_t family, struct slice prefix,
                     struct error *err)
{
    *walk = (struct verify_walk){ .run = run, .family = family };
    remember(walk, prefix);
    /* Several walks at a time, each over all files: what they read ahead would add up. */
    if (kv_iterator_new_sparse(run->day->kv, family, run->view.snapshot, prefix, &walk->iterator, err) < 0)
        return -1;
    kv_iterator_seek(walk->iterator, prefix);
    return settle(walk, err);
}

int verify_walk_next(struct verify_walk *walk, struct error *err)
{
    kv_iterator_next(walk->iterator);
    return settle(walk, err);
}

int verify_walk_seek(struct verify_walk *walk, struct slice key, struct error *err)
{
    remember(walk, key);
    kv_iterator_seek(walk->iterator, key);
    return settle(walk, err);
}

void verify_walk_close(struct verify_walk *walk)
{
    kv_iterator_free(TAKE(walk->iterator));
    walk->is_valid = false;
}
