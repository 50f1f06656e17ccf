// SPDX-License-Identifier: Apache-2.0
/* Whether a secondary sees all tables of its database. Where it cannot open one, RocksDB takes it for removed by whoever
 * writes, and shows what there was before it, and be it nothing, without a word.
 *
 * Manifests are read before and after opening. A table that both name was there all the time: if it is not seen, it is
 * lost. */
#include "base/fs.h"
#include "kv/kv_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TABLES = 1 << 24 };

void kv_tables_init(struct kv_tables *tables)
{
    *tables = (struct kv_tables){ 0 };
    map_init(&tables->places, MAX_TABLES);
}

void kv_tables_done(struct kv_tables *tables)
{
    VEC_DONE(&tables->items);
    map_done(&tables->places);
}

/* --- reading --- */

static struct kv_table *find_table(const struct kv_tables *tables, uint64_t number)
{
    const uint32_t *place = map_find(&tables->places, number);

    return place ? &tables->items.items[*place] : NULL;
}

static bool is_named(const struct kv_tables *tables, uint64_t number)
{
    const struct kv_table *table = find_table(tables, number);

    return table && !table->is_gone;
}

static int add_table(struct kv_tables *tables, const struct kv_edit *edit, struct error *err)
{
    struct kv_table *table = VEC_PUSH(&tables->items, MAX_TABLES, err);

    if (!table)
        return -1;
    *table = (struct kv_table){ .number = edit->table, .bytes = edit->table_bytes };
    return map_set(&tables->places, edit->table, (uint32_t)(tables->items.n - 1), err);
}

/* A table that moves from level to level is first gone and then added. What follows a record that cannot be followed is
 * not known. */
static int take_edit(void *context, struct slice record, struct error *err)
{
    struct kv_edit edit = { .id = KV_DEFAULT };
    struct kv_tables *tables = context;
    size_t first = tables->items.n;

    while (record.len) {
        struct kv_table *gone;

        if (!kv_edit_next(&record, &edit)) {
            tables->is_unclear = true;
            return 0;
        }
        gone = edit.is_table_gone ? find_table(tables, edit.table) : NULL;
        if (gone)
            gone->is_gone = true;
        if (edit.is_table_added && add_table(tables, &edit, err) < 0)
            return -1;
    }
    for (size_t i = first; i < tables->items.n; i++)
        tables->items.items[i].family = edit.id;
    if (edit.is_dropped)
        VEC_EACH (&tables->items, table)
            table->is_gone |= table->family == edit.id;
    return 0;
}

int kv_tables_read(struct kv_tables *tables, const char *directory, struct error *err)
{
    char manifest[KV_PATH_BYTES];

    if (kv_records_find_manifest(directory, manifest, err) == 0 &&
        kv_records_each(manifest, take_edit, tables, err) == 0)
        return 0;
    tables->is_unclear = true;
    return err->code == ERR_MEMORY ? -1 : 0;
}

/* --- comparing --- */

static void note_seen(struct kv_tables *tables, rocksdb_t *db)
{
    const rocksdb_livefiles_t *files = rocksdb_livefiles(db);
    int n = rocksdb_livefiles_count(files);

    for (int i = 0; i < n; i++) {
        /* As "/000013.sst". */
        struct kv_table *table = find_table(tables, strtoull(rocksdb_livefiles_name(files, i) + 1, NULL, 10));

        if (table)
            table->is_seen = true;
    }
    rocksdb_livefiles_destroy(files);
}

/* Says what is wrong with a table that is not seen, as far as its file tells; 0 if that is as it should be. */
static int check_file(const char *directory, const struct kv_table *table, struct error *err)
{
    char path[KV_PATH_BYTES];
    struct stat info;

    snprintf(path, sizeof(path), "%s/%06" PRIu64 ".sst", directory, table->number);
    if (fs_stat(path, &info, err) < 0)
        return error_set(err, ERR_CORRUPT, "the table '%s' is missing", path);
    if ((uint64_t)info.st_size != table->bytes)
        return error_set(err, ERR_CORRUPT, "the table '%s' has %lld bytes, and should have %" PRIu64, path,
                         (long long)info.st_size, table->bytes);
    return 0;
}

/* With one table all of its family are not seen, so the one that is to blame is looked for. */
static int compare(const struct kv_tables *before, const struct kv_tables *after, const char *directory,
                   struct error *err)
{
    const struct kv_table *lost = NULL;

    if (before->is_unclear || after->is_unclear)
        return 0;
    for (size_t i = 0; i < before->items.n; i++) {
        const struct kv_table *table = &before->items.items[i];

        if (table->is_gone || table->is_seen || !is_named(after, table->number))
            continue;
        lost = lost ? lost : table;
        if (check_file(directory, table, err) < 0)
            return -1;
    }
    if (!lost)
        return 0;
    return error_set(err, ERR_CORRUPT,
                     "'%s' has a table that is damaged and cannot be opened, %06" PRIu64
                     ".sst or another of its family",
                     directory, lost->number);
}

int kv_tables_check(struct kv_tables *before, const char *directory, rocksdb_t *db, struct error *err)
{
    struct kv_tables after;
    int result;

    note_seen(before, db);
    kv_tables_init(&after);
    result = kv_tables_read(&after, directory, err);
    if (!result)
        result = compare(before, &after, directory, err);
    kv_tables_done(&after);
    return result;
}
