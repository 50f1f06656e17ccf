// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include "base/fs.h"
#include "base/log.h"
#include "store/backup.h"
#include "store/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    NAME_BYTES = 32,
    BATCH_BYTES = 1 << 20,
    MAX_TABLES = 64, /* that are lost; with more the manifest is not worth having */
};

/* On its way into place, beside the day. */
#define SUFFIX ".salvaged"
/* Before "head-HH-ID": a head whose name is lost, by its number in the logs, until it is copied. */
#define LOST   "lost-"

struct salvage {
    struct day_context *context;
    const char *name;
    int64_t start_ns;
    const char *from;
    struct kv *damaged; /* NULL: it cannot be opened */
    struct kv *whole;   /* made of those tables that are whole; NULL: not needed yet, or there are none */
    bool has_tried_whole;
    char links[2][PATH_BYTES]; /* scratch: second names of the files, for either */
    struct kv *to;
    struct kv_batch *batch;
    uint64_t n_values;
};

/* --- databases made of the same files --- */

static bool is_file_of_database(const char *name)
{
    struct slice text = slice_from(name);

    return slice_ends_with(text, SLICE(".sst")) || slice_ends_with(text, SLICE(".log")) ||
           slice_starts_with(text, SLICE("MANIFEST-"));
}

/* Gives the files of the damaged day second names in `directory`; the name of its newest manifest, or NULL. */
static int link_files(const struct salvage *salvage, const char *directory, struct arena *arena,
                      const char **ret_manifest, struct error *err)
{
    struct fs_listing listing;

    *ret_manifest = NULL;
    if (fs_remove_tree(directory, err) < 0 || fs_make_directories(directory, 0700, err) < 0 ||
        fs_list(salvage->from, arena, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        const char *from, *to;
        uint64_t bytes;

        if (!is_file_of_database(listing.names[i]))
            continue;
        from = arena_printf(arena, err, "%s/%s", salvage->from, listing.names[i]);
        to = from ? arena_printf(arena, err, "%s/%s", directory, listing.names[i]) : NULL;
        if (!to)
            return -1;
        if (link(from, to) < 0 && backup_copy_file(from, to, &bytes, err) < 0)
            return -1;
        /* The listing rises. */
        if (strncmp(listing.names[i], "MANIFEST-", 9) == 0)
            *ret_manifest = listing.names[i];
    }
    return 0;
}

static int open_to_read(const struct salvage *salvage, const char *path, struct kv **ret_kv, struct error *err)
{
    struct kv_options options = { .mode = KV_READ_ONLY,
                                  .recovery = KV_SALVAGE,
                                  .memtable_bytes = salvage->context->memtable_bytes };

    return kv_open(salvage->context->kv, path, &options, ret_kv, err);
}

/* Makes a table longer: it is read from its end, where the footer is. What is between that and the rest is not looked
 * at. */
static int stretch_table(const char *path, uint64_t bytes, uint64_t wanted, struct error *err)
{
    enum { FOOTER_BYTES = 53 };
    AUTO(fd_closep) int fd = -1;
    char footer[FOOTER_BYTES];

    if (bytes < FOOTER_BYTES || bytes + FOOTER_BYTES > wanted)
        return error_set(err, ERR_CORRUPT, "'%s' is too small to be left out", path);
    if (fs_open(path, O_RDWR | O_CLOEXEC, 0, &fd, err) < 0)
        return -1;
    if (pread(fd, footer, FOOTER_BYTES, (off_t)(bytes - FOOTER_BYTES)) != FOOTER_BYTES ||
        ftruncate(fd, (off_t)wanted) < 0 ||
        pwrite(fd, footer, FOOTER_BYTES, (off_t)(wanted - FOOTER_BYTES)) != FOOTER_BYTES)
        return error_set_errno(err, errno, "writing '%s'", path);
    return 0;
}

/* Writes a table without keys to `path`, as long as the one for which it stands: one must have something in it, and this
 * has the deletion of keys that there never are. */
static int write_stub(const struct salvage *salvage, const char *path, uint64_t wanted, struct error *err)
{
    struct kv_sst *sst;
    uint64_t bytes;
    int result;

    if (kv_sst_new(salvage->to, KV_DEFAULT, path, &sst, err) < 0)
        return -1;
    result = kv_sst_delete_range(sst, SLICE("~"), SLICE("~~"), err);
    if (!result)
        result = kv_sst_finish(sst, &bytes, err);
    kv_sst_free(sst);
    return result < 0 ? -1 : stretch_table(path, bytes, wanted, err);
}

/* Opening failed for one table, which the error names: puts one with nothing in it in its place. False if it names none,
 * or one that was replaced already. */
static bool replace_table(const struct salvage *salvage, const struct error *failure, char last[static NAME_BYTES])
{
    const char *end = strstr(failure->text, ".sst"), *name = end;
    char path[PATH_BYTES + 2 * NAME_BYTES];
    struct error err;
    uint64_t size;

    while (name && name > failure->text && name[-1] >= '0' && name[-1] <= '9')
        name--;
    if (!end || end == name || end - name >= NAME_BYTES || strncmp(last, name, (size_t)(end - name)) == 0)
        return false;
    snprintf(last, NAME_BYTES, "%.*s", (int)(end - name), name);
    snprintf(path, sizeof(path), "%s/%s.sst", salvage->links[0], last);
    return fs_size(path, &size, &err) == 0 && unlink(path) == 0 && write_stub(salvage, path, size, &err) == 0;
}

/* The database from links to its files, with a new CURRENT and without the tables that keep it from being opened: that
 * may be all that is wrong. */
static int open_by_manifest(struct salvage *salvage, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    const char *manifest, *current, *line;
    char table[NAME_BYTES] = "";
    int result;

    arena_init(&arena, 0);
    if (link_files(salvage, salvage->links[0], &arena, &manifest, err) < 0)
        return -1;
    if (!manifest)
        return error_set(err, ERR_CORRUPT, "'%s' has no manifest", salvage->from);
    current = arena_printf(&arena, err, "%s/CURRENT", salvage->links[0]);
    line = current ? arena_printf(&arena, err, "%s\n", manifest) : NULL;
    if (!line || fs_write_file(current, slice_from(line), err) < 0)
        return -1;
    for (unsigned i = 0; i < MAX_TABLES; i++) {
        result = open_to_read(salvage, salvage->links[0], &salvage->damaged, err);
        if (!result || err->code != ERR_CORRUPT || !replace_table(salvage, err, table))
            return result;
        log_warn("store", "day %s: table %s.sst cannot be read: %s", salvage->name, table, err->text);
    }
    return -1;
}

static bool is_damage(const struct error *err)
{
    return err->code == ERR_CORRUPT || err->code == ERR_NOT_FOUND;
}

static int open_damaged(struct salvage *salvage, struct error *err)
{
    if (open_to_read(salvage, salvage->from, &salvage->damaged, err) == 0)
        return 0;
    if (is_damage(err) && open_by_manifest(salvage, err) == 0)
        return 0;
    if (!is_damage(err))
        return -1;
    log_warn("store", "day %s: its tables are read without a manifest: %s", salvage->name, err->text);
    return 0;
}

/* Names a family that only the log knows, and by its number: keys of rows tell their hour. */
static bool name_family(void *context, uint32_t id, struct slice key, char ret_name[static KV_NAME_BYTES])
{
    const struct salvage *salvage = context;
    uint32_t tenant, group, series, number;
    char head[STOREKEY_HEAD_NAME_BYTES];
    struct storekey_block block;
    int64_t start_ns;
    uint8_t hour;

    if (storekey_parse_row(key, &tenant, &group, &series, &start_ns, &number)) {
        if (start_ns < salvage->start_ns || start_ns >= salvage->start_ns + DAY_NS)
            return false;
        hour = (uint8_t)((start_ns - salvage->start_ns) / DAY_HOUR_NS);
        snprintf(ret_name, KV_NAME_BYTES, LOST "%s", storekey_head_name(hour, id, head));
        return true;
    }
    if (!storekey_parse_block(key, &block) && !storekey_parse_marker(key, &hour, &number) &&
        !slice_starts_with(key, SLICE(STOREKEY_COPY)))
        return false;
    snprintf(ret_name, KV_NAME_BYTES, DAY_BLOCK_FAMILY);
    return true;
}

/* Takes a table in that was made outside of the database. One that overlapped others when it was taken in first has its
 * place among them written down, and must forget it: a copy does, since the file belongs to the day. */
static int take_table_in(struct kv *kv, const char *path, struct arena *arena, struct error *err)
{
    uint32_t family = kv_family_find(kv, DAY_BLOCK_FAMILY);
    const char *copy = arena_printf(arena, err, "%s.copy", path);
    uint64_t bytes;

    if (!copy)
        return -1;
    if (kv_ingest(kv, family, path, err) == 0)
        return 0;
    if (err->code != ERR_CORRUPT)
        return -1;
    if (backup_copy_file(path, copy, &bytes, err) < 0 || kv_sst_renew(copy, err) < 0)
        return -1;
    return kv_ingest(kv, family, copy, err);
}

/* Tables that were made outside of a database are none that a repair knows what to do with: they are taken in again, in
 * the order in which they came first. What is damaged stays out. */
static int take_tables_in(const struct salvage *salvage, struct kv *kv, struct arena *arena, struct error *err)
{
    const char *lost = arena_printf(arena, err, "%s/lost", salvage->links[1]);
    struct fs_listing listing;

    if (!lost)
        return -1;
    if (fs_list(lost, arena, &listing, err) < 0)
        return err->code == ERR_NOT_FOUND ? 0 : -1;
    for (size_t i = 0; i < listing.n; i++) {
        const char *path = arena_printf(arena, err, "%s/%s", lost, listing.names[i]);

        if (!path)
            return -1;
        if (!slice_ends_with(slice_from(path), SLICE(".sst")) || take_table_in(kv, path, arena, err) == 0)
            continue;
        if (err->code == ERR_MEMORY || err->code == ERR_FULL)
            return -1;
        log_warn("store", "day %s: table %s stays out: %s", salvage->name, listing.names[i], err->text);
    }
    return 0;
}

/* Makes the database of tables and logs, of links to the files. */
static int make_whole(struct salvage *salvage, struct error *err)
{
    struct kv_options options = { .mode = KV_WRITE, .memtable_bytes = salvage->context->memtable_bytes };
    struct kv_namer namer = { salvage, name_family };
    AUTO(arena_done) struct arena arena;
    AUTO(kv_closep) struct kv *kv = NULL;
    const char *manifest;

    arena_init(&arena, 0);
    if (link_files(salvage, salvage->links[1], &arena, &manifest, err) < 0 ||
        kv_repair(salvage->context->kv, salvage->links[1], &namer, err) < 0 ||
        kv_open(salvage->context->kv, salvage->links[1], &options, &kv, err) < 0)
        return -1;
    return take_tables_in(salvage, kv, &arena, err);
}

static int open_whole(struct salvage *salvage, struct error *err)
{
    if (salvage->has_tried_whole)
        return 0;
    salvage->has_tried_whole = true;
    if (make_whole(salvage, err) == 0 && kv_repair_logs(salvage->links[1], err) == 0 &&
        open_to_read(salvage, salvage->links[1], &salvage->whole, err) == 0)
        return 0;
    if (!is_damage(err))
        return -1;
    log_warn("store", "day %s: its tables cannot be read one by one: %s", salvage->name, err->text);
    return 0;
}

/* --- copying --- */

/* Where a walk goes. */
struct stretch {
    char before[KV_PASS_KEY_BYTES], behind[KV_PASS_KEY_BYTES];
    size_t before_len, behind_len;
    bool has_before, has_behind; /* else from the first key, to the last one */
};

static void set_before(struct stretch *stretch, struct slice key)
{
    stretch->before_len = MIN(key.len, sizeof(stretch->before));
    memcpy(stretch->before, key.ptr, stretch->before_len);
    stretch->has_before = true;
}

static void set_behind(struct stretch *stretch, struct slice key)
{
    stretch->behind_len = MIN(key.len, sizeof(stretch->behind));
    memcpy(stretch->behind, key.ptr, stretch->behind_len);
    stretch->has_behind = true;
}

/* Nothing can be read up to the end of the keys that begin with `prefix`, of at most one byte. */
static void set_end(struct stretch *stretch, struct slice prefix)
{
    char next = prefix.len ? (char)(prefix.ptr[0] + 1) : '\0';

    stretch->has_behind = false;
    if (next)
        set_behind(stretch, slice_of(&next, 1));
}

static struct slice before(const struct stretch *stretch)
{
    return slice_of(stretch->before, stretch->before_len);
}

/* A span index with a part missing would hide samples, and nobody could tell that the last one is missing. Without an
 * index the samples are looked at. */
static bool is_left_out(const struct salvage *salvage, uint32_t to_family, struct slice key)
{
    struct storekey_block block;

    return to_family == kv_family_find(salvage->to, DAY_BLOCK_FAMILY) && storekey_parse_block(key, &block) &&
           block.kind == STOREKEY_SPANS;
}

static int copy_one(struct salvage *salvage, uint32_t to_family, const struct kv_iterator *iterator, struct error *err)
{
    if (is_left_out(salvage, to_family, kv_iterator_key(iterator)))
        return 0;
    kv_batch_put(salvage->batch, salvage->to, to_family, kv_iterator_key(iterator), kv_iterator_value(iterator));
    salvage->n_values++;
    if (kv_batch_bytes(salvage->batch) < BATCH_BYTES)
        return 0;
    if (kv_write(salvage->to, salvage->batch, false, err) < 0)
        return -1;
    kv_batch_clear(salvage->batch);
    return 0;
}

/* Copies a stretch that cannot be read in the damaged database from the tables that are whole. */
static int fill_stretch(struct salvage *salvage, const char *name, uint32_t to_family, const struct stretch *stretch,
                        struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct stretch at = *stretch;
    uint32_t family;

    if (open_whole(salvage, err) < 0)
        return -1;
    family = salvage->whole ? kv_family_find(salvage->whole, name) : KV_NO_FAMILY;
    if (family == KV_NO_FAMILY)
        return 0;
    if (kv_iterator_new(salvage->whole, family, NULL, SLICE(""), true, &iterator, err) < 0)
        return -1;
    if (at.has_before)
        kv_iterator_seek(iterator, before(&at));
    for (;; kv_iterator_next(iterator)) {
        bool has = kv_iterator_is_valid(iterator);
        struct slice key;

        if (!has && kv_iterator_check(iterator, err) < 0 &&
            (err->code != ERR_CORRUPT || kv_iterator_pass_damage(iterator, before(&at), &has, err) < 0))
            return -1;
        if (!has)
            return 0;
        key = kv_iterator_key(iterator);
        if (at.has_behind && slice_compare(key, slice_of(at.behind, at.behind_len)) >= 0)
            return 0;
        if (!(stretch->has_before && slice_equal(key, before(stretch))) &&
            copy_one(salvage, to_family, iterator, err) < 0)
            return -1;
        set_before(&at, key);
    }
}

/* Copies the keys that begin with `prefix`. */
static int copy_range(struct salvage *salvage, uint32_t family, uint32_t to_family, struct slice prefix,
                      struct error *err)
{
    const char *name = kv_family_name(salvage->damaged, family);
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct stretch stretch = { .has_before = false };

    if (kv_iterator_new(salvage->damaged, family, NULL, prefix, true, &iterator, err) < 0)
        return -1;
    if (prefix.len)
        set_before(&stretch, prefix);
    for (;; kv_iterator_next(iterator)) {
        bool has = kv_iterator_is_valid(iterator);

        if (!has && kv_iterator_check(iterator, err) < 0) {
            if (err->code != ERR_CORRUPT)
                return -1;
            log_warn("store", "day %s: part of '%s' cannot be read: %s", salvage->name, name, err->text);
            if (kv_iterator_pass_damage(iterator, before(&stretch), &has, err) < 0)
                return -1;
            if (has)
                set_behind(&stretch, kv_iterator_key(iterator));
            else
                set_end(&stretch, prefix);
            if (fill_stretch(salvage, name, to_family, &stretch, err) < 0)
                return -1;
        }
        if (!has)
            return 0;
        if (copy_one(salvage, to_family, iterator, err) < 0)
            return -1;
        set_before(&stretch, kv_iterator_key(iterator));
    }
}

/* Blocks are copied hour by hour: RocksDB 7.8 can lose an error, and all that is behind it in a level, when it steps from
 * one table to the next, but not when it seeks. */
static int copy_family(struct salvage *salvage, uint32_t family, uint32_t to_family, struct error *err)
{
    if (strcmp(kv_family_name(salvage->damaged, family), DAY_BLOCK_FAMILY) != 0)
        return copy_range(salvage, family, to_family, SLICE(""), err);
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        char prefix = (char)byte;

        if (copy_range(salvage, family, to_family, slice_of(&prefix, 1), err) < 0)
            return -1;
    }
    return 0;
}

/* The number behind those of an hour's heads, at least `number`. */
static uint32_t number_behind_heads(struct kv *kv, uint8_t hour, uint32_t number)
{
    for (uint32_t family = 0; family < kv_families(kv); family++) {
        const char *name = kv_family_name(kv, family);
        uint32_t its_number;
        uint8_t its_hour;

        if (name && storekey_parse_head_name(name, &its_hour, &its_number) && its_hour == hour)
            number = MAX(number, its_number + 1);
    }
    return number;
}

/* Raises the number behind those of the heads that an hour's markers name. */
static int number_behind_markers(struct kv *kv, uint8_t hour, uint32_t *number, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;
    struct storekey at = storekey_marker(hour, 0);
    uint32_t family = kv_family_find(kv, DAY_BLOCK_FAMILY);

    if (family == KV_NO_FAMILY)
        return 0;
    if (kv_iterator_new(kv, family, NULL, slice_of(at.bytes, at.len - 4), false, &iterator, err) < 0)
        return -1;
    for (;; kv_iterator_next(iterator)) {
        bool has = kv_iterator_is_valid(iterator);
        struct marker marker;
        uint32_t closing;

        if (!has && kv_iterator_check(iterator, err) < 0 &&
            (err->code != ERR_CORRUPT || kv_iterator_pass_damage(iterator, storekey_slice(&at), &has, err) < 0))
            return -1;
        if (!has)
            return 0;
        if (storekey_parse_marker(kv_iterator_key(iterator), &hour, &closing))
            at = storekey_marker(hour, closing);
        if (marker_decode(kv_iterator_value(iterator), &marker, err) == 0 && marker.head != MARKER_NO_HEAD)
            *number = MAX(*number, marker.head + 1);
    }
}

/* The name of the copy of a family. A head that has lost its own is given a number that no head of its hour has, and none
 * that a marker names. */
static int name_copy(struct salvage *salvage, const char *name, char buf[static STOREKEY_HEAD_NAME_BYTES],
                     const char **ret_name, struct error *err)
{
    uint32_t number = 0;
    uint8_t hour;

    *ret_name = name;
    if (!salvage->whole || !slice_starts_with(slice_from(name), SLICE(LOST)) ||
        !storekey_parse_head_name(name + strlen(LOST), &hour, &number))
        return 0;
    number = number_behind_heads(salvage->to, hour, number_behind_heads(salvage->whole, hour, 0));
    if (number_behind_markers(salvage->whole, hour, &number, err) < 0)
        return -1;
    *ret_name = storekey_head_name(hour, number, buf);
    return 0;
}

static int copy_into(struct salvage *salvage, const char *name, struct error *err)
{
    struct stretch everything = { .has_before = false };
    uint32_t family = salvage->damaged ? kv_family_find(salvage->damaged, name) : KV_NO_FAMILY;
    char buf[STOREKEY_HEAD_NAME_BYTES];
    const char *to_name;
    uint32_t to_family;

    if (name_copy(salvage, name, buf, &to_name, err) < 0)
        return -1;
    to_family = kv_family_find(salvage->to, to_name);
    if (to_family == KV_NO_FAMILY && kv_family_create(salvage->to, to_name, &to_family, err) < 0)
        return -1;
    return family != KV_NO_FAMILY ? copy_family(salvage, family, to_family, err)
                                  : fill_stretch(salvage, name, to_family, &everything, err);
}

/* Copies all families: those of the damaged database, or, where it cannot be opened, those of the tables. */
static int copy_families(struct salvage *salvage, struct error *err)
{
    struct kv *from;

    if (!salvage->damaged && open_whole(salvage, err) < 0)
        return -1;
    from = salvage->damaged ? salvage->damaged : salvage->whole;
    for (uint32_t family = 0; from && family < kv_families(from); family++) {
        const char *name = kv_family_name(from, family);

        if (name && strcmp(name, DAY_BLOCK_FAMILY) != 0 && copy_into(salvage, name, err) < 0)
            return -1;
    }
    if (copy_into(salvage, DAY_BLOCK_FAMILY, err) < 0 || kv_write(salvage->to, salvage->batch, true, err) < 0 ||
        kv_flush(salvage->to, KV_NO_FAMILY, err) < 0)
        return -1;
    return salvage->n_values ? 0 : error_set(err, ERR_CORRUPT, "nothing of it can be read");
}

static int copy(struct salvage *salvage, const char *path, struct error *err)
{
    struct kv_options options = { .mode = KV_WRITE, .memtable_bytes = salvage->context->memtable_bytes };

    if (kv_open(salvage->context->kv, path, &options, &salvage->to, err) < 0 || open_damaged(salvage, err) < 0 ||
        kv_batch_new(&salvage->batch, err) < 0)
        return -1;
    return copy_families(salvage, err);
}

static void salvage_done(struct salvage *salvage)
{
    struct error err;

    kv_batch_free(salvage->batch);
    kv_close(salvage->to);
    kv_close(salvage->damaged);
    kv_close(salvage->whole);
    for (unsigned i = 0; i < ARRAY_LEN(salvage->links); i++)
        IGNORE(fs_remove_tree(salvage->links[i], &err), "the scratch directory is emptied at the next start");
}

/* --- making it agree --- */

static void tell(void *context, const char *line)
{
    log_warn("store", "salvaging day %s", line);
}

static int mend(struct day_context *context, const char *name, const char *path, const char *quarantine_dir,
                struct error *err)
{
    struct store_verify verify = { .is_repairing = true, .tell = tell };
    struct day *day;
    int result;

    if (day_open_recovering(context, path, name, KV_WRITE, &day, err) < 0)
        return -1;
    result = verify_day(day, quarantine_dir, &verify, err);
    if (!result)
        log_warn("store", "day %s: %llu rows were salvaged", name, (unsigned long long)verify.n_rows);
    day_close(day);
    return result;
}

int salvage_make(struct day_context *context, const char *name, const char *from, const char *path,
                 const char *quarantine_dir, struct error *err)
{
    struct salvage salvage = { .context = context, .name = name, .from = from };
    struct stat info;
    struct error none;
    int result;

    if (!day_parse_name(name, &salvage.start_ns))
        return error_set(err, ERR_INVALID, "'%s' is no date", name);
    if (fs_stat(path, &info, &none) == 0)
        return error_set(err, ERR_EXISTS, "salvaging day %s: '%s' is there already", name, path);
    for (unsigned i = 0; i < ARRAY_LEN(salvage.links); i++)
        snprintf(salvage.links[i], PATH_BYTES, "%s/salvage-%s-%u", context->scratch_dir, name, i);
    result = copy(&salvage, path, err);
    salvage_done(&salvage);
    if (!result)
        result = mend(context, name, path, quarantine_dir, err);
    if (!result)
        return 0;
    IGNORE(fs_remove_tree(path, &none), "the failure is told, and the scratch directory is emptied at the next start");
    return error_wrap(err, "salvaging day %s", name);
}

/* --- into place --- */

static int move(const char *from, const char *to, struct error *err)
{
    if (rename(from, to) < 0)
        return error_set_errno(err, errno, "moving '%s' to '%s'", from, to);
    return fs_sync_parent(from, err) < 0 ? -1 : fs_sync_parent(to, err);
}

/* Where the file system cannot exchange two names: by a third one, under which a start finds the new day. */
static int exchange_by_steps(const char *path, const char *place, const char *aside, struct error *err)
{
    char waiting[PATH_BYTES];

    snprintf(waiting, sizeof(waiting), "%s" SUFFIX, place);
    if (move(path, waiting, err) < 0 || move(place, aside, err) < 0)
        return -1;
    return move(waiting, place, err);
}

int salvage_exchange(const char *path, const char *place, const char *aside, struct error *err)
{
    /* First to where the old one goes: then both names belong to a whole day, whichever it is. */
    if (move(path, aside, err) < 0)
        return -1;
    if (renameat2(AT_FDCWD, aside, AT_FDCWD, place, RENAME_EXCHANGE) < 0) {
        int cause = errno;

        if (move(aside, path, err) < 0)
            return -1;
        if (cause == EINVAL || cause == ENOSYS || cause == EOPNOTSUPP)
            return exchange_by_steps(path, place, aside, err);
        return error_set_errno(err, cause, "putting '%s' in place of '%s'", path, place);
    }
    return fs_sync_parent(place, err) < 0 ? -1 : fs_sync_parent(aside, err);
}

int salvage_finish(const char *directory, struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;

    arena_init(&arena, 0);
    if (fs_list(directory, &arena, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        char from[PATH_BYTES], place[PATH_BYTES];
        struct stat info;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(SUFFIX)))
            continue;
        snprintf(from, sizeof(from), "%s/%s", directory, listing.names[i]);
        snprintf(place, sizeof(place), "%.*s", (int)(strlen(from) - strlen(SUFFIX)), from);
        if (fs_stat(place, &info, err) == 0) {
            if (fs_remove_tree(from, err) < 0)
                return -1;
        } else if (err->code != ERR_NOT_FOUND || move(from, place, err) < 0) {
            return -1;
        }
    }
    return 0;
}
