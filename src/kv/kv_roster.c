// SPDX-License-Identifier: Apache-2.0
/* Which families a database has, told by what is left of its manifests and logs. A log knows families by their numbers, and
 * the numbers are given names by the manifest alone: without these, the writes of a log cannot be told apart.
 *
 * A record of a manifest is a list of fields, each a varint tag and what the tag asks for; one that adds or drops a
 * family names it by its number. A record of a log is a batch of writes: u64 le sequence, u32 le count, then for each
 * write a byte type, the family's number if it is not the default one, and one or two texts. Both are read as far as
 * their kinds are known. */
#include "base/fs.h"
#include "kv/kv_internal.h"
#include "pack/varint.h"

enum {
    MAX_ROSTER = 1 << 20,
    BATCH_HEADER_BYTES = 12,
};

/* Fields of a record of a manifest. */
enum field {
    FIELD_COMPARATOR = 1,
    FIELD_LOG = 2,
    FIELD_NEXT_FILE = 3,
    FIELD_LAST_SEQUENCE = 4,
    FIELD_CURSOR = 5,
    FIELD_FILE_GONE = 6,
    FIELD_PREVIOUS_LOG = 9,
    FIELD_MIN_LOG = 10,
    FIELD_FILE = 103,
    FIELD_FAMILY = 200,
    FIELD_FAMILY_ADDED = 201,
    FIELD_FAMILY_DROPPED = 202,
    FIELD_MAX_FAMILY = 203,
    FIELD_GROUP = 300,
    FIELD_IGNORABLE = 1 << 13, /* a bit: a text that need not be understood */
};
#define COMPARATOR   "leveldb.BytewiseComparator"
#define LAST_OF_FILE 1 /* the tag behind the fields of a file */

/* Writes in a batch. */
enum write {
    WRITE_DELETION = 0,
    WRITE_VALUE = 1,
    WRITE_COMMENT = 3,
    WRITE_FAMILY_DELETION = 4,
    WRITE_FAMILY_VALUE = 5,
    WRITE_SINGLE_DELETION = 7,
    WRITE_FAMILY_SINGLE_DELETION = 8,
    WRITE_NOTHING = 13,
    WRITE_FAMILY_RANGE_DELETION = 14,
    WRITE_RANGE_DELETION = 15,
};

void kv_roster_init(struct kv_roster *roster)
{
    *roster = (struct kv_roster){ 0 };
    map_init(&roster->places, MAX_ROSTER);
    arena_init(&roster->arena, 0);
}

void kv_roster_done(struct kv_roster *roster)
{
    VEC_DONE(&roster->families);
    map_done(&roster->places);
    arena_done(&roster->arena);
}

/* --- families --- */

static struct kv_roster_family *find_id(const struct kv_roster *roster, uint32_t id)
{
    const uint32_t *place = map_find(&roster->places, id);

    return place ? &roster->families.items[*place] : NULL;
}

static struct kv_roster_family *find_name(const struct kv_roster *roster, struct slice name)
{
    for (size_t i = 0; i < roster->families.n; i++) {
        struct kv_roster_family *family = &roster->families.items[i];

        if (!family->is_dropped && slice_is(name, family->name))
            return family;
    }
    return NULL;
}

/* Adds a family whose number is not there yet. */
static int add_family(struct kv_roster *roster, struct kv_roster_family added, struct slice name, struct error *err)
{
    struct slice copy = arena_copy(&roster->arena, name, err);

    if (!copy.ptr || VEC_RESERVE(&roster->families, 1, MAX_ROSTER, err) < 0 ||
        map_set(&roster->places, added.id, (uint32_t)roster->families.n, err) < 0)
        return -1;
    added.name = copy.ptr;
    roster->families.items[roster->families.n++] = added;
    return 0;
}

int kv_roster_merge(struct kv_roster *roster, const struct kv_roster *other, struct error *err)
{
    for (size_t i = 0; i < other->families.n; i++) {
        const struct kv_roster_family *from = &other->families.items[i];
        struct kv_roster_family added = { .id = from->id, .is_dropped = from->is_dropped, .is_new = true };
        struct kv_roster_family *known = find_id(roster, from->id);
        struct slice name = slice_from(from->name);

        if (known)
            known->is_dropped |= from->is_dropped;
        else if ((from->is_dropped || !find_name(roster, name)) && add_family(roster, added, name, err) < 0)
            return -1;
    }
    return 0;
}

/* --- manifests --- */

static bool next_text(struct slice *rest, struct slice *ret_text)
{
    uint64_t len;

    if (!varint_next(rest, &len) || len > rest->len)
        return false;
    *ret_text = slice_sub(*rest, 0, len);
    *rest = slice_sub(*rest, len, SIZE_MAX);
    return true;
}

static bool skip_numbers(struct slice *rest, unsigned n)
{
    uint64_t number;

    while (n && varint_next(rest, &number))
        n--;
    return !n;
}

static bool skip_text(struct slice *rest)
{
    struct slice text;

    return next_text(rest, &text);
}

/* A file: level, number, size, smallest and largest key, their sequences, then fields of its own. */
static bool next_file(struct slice *rest, struct kv_edit *edit)
{
    uint64_t tag;

    if (!skip_numbers(rest, 1) || !varint_next(rest, &edit->table) || !varint_next(rest, &edit->table_bytes) ||
        !skip_text(rest) || !skip_text(rest) || !skip_numbers(rest, 2))
        return false;
    edit->is_table_added = true;
    while (varint_next(rest, &tag))
        if (tag == LAST_OF_FILE || !skip_text(rest))
            return tag == LAST_OF_FILE;
    return false;
}

static bool next_file_gone(struct slice *rest, struct kv_edit *edit)
{
    edit->is_table_gone = true;
    return skip_numbers(rest, 1) && varint_next(rest, &edit->table);
}

bool kv_edit_next(struct slice *rest, struct kv_edit *edit)
{
    uint64_t tag;

    edit->is_table_added = edit->is_table_gone = false;
    if (!varint_next(rest, &tag))
        return false;
    if (tag & FIELD_IGNORABLE)
        return skip_text(rest);
    switch (tag) {
    case FIELD_COMPARATOR: return skip_text(rest);
    case FIELD_LOG:
    case FIELD_NEXT_FILE:
    case FIELD_LAST_SEQUENCE:
    case FIELD_PREVIOUS_LOG:
    case FIELD_MIN_LOG:
    case FIELD_MAX_FAMILY:
    case FIELD_GROUP: return skip_numbers(rest, 1);
    case FIELD_CURSOR: return skip_numbers(rest, 1) && skip_text(rest);
    case FIELD_FILE_GONE: return next_file_gone(rest, edit);
    case FIELD_FILE: return next_file(rest, edit);
    case FIELD_FAMILY: return varint_next(rest, &edit->id) && edit->id <= UINT32_MAX;
    case FIELD_FAMILY_ADDED: edit->is_added = true; return next_text(rest, &edit->name);
    case FIELD_FAMILY_DROPPED: edit->is_dropped = true; return true;
    default: return false;
    }
}

static int take_edit(void *context, struct slice record, struct error *err)
{
    struct kv_edit edit = { .id = KV_DEFAULT };
    struct kv_roster *roster = context;
    struct kv_roster_family *family;

    while (record.len)
        if (!kv_edit_next(&record, &edit))
            return 0;
    if (edit.id == KV_DEFAULT || (!edit.is_added && !edit.is_dropped))
        return 0;
    if (edit.is_added) {
        /* Two cannot have one name: that the first was dropped is lost. */
        family = find_name(roster, edit.name);
        if (family)
            family->is_dropped = true;
    }
    family = find_id(roster, (uint32_t)edit.id);
    if (!family)
        return add_family(roster, (struct kv_roster_family){ .id = (uint32_t)edit.id, .is_dropped = edit.is_dropped },
                          edit.name, err);
    family->is_dropped = edit.is_dropped;
    return 0;
}

int kv_roster_read_manifest(struct kv_roster *roster, const char *path, struct error *err)
{
    return kv_records_each(path, take_edit, roster, err);
}

/* --- logs --- */

struct log_walk {
    struct kv_roster *roster;
    const struct kv_namer *namer;
};

/* Reads one write; false where the batch cannot be followed any further. */
static bool next_write(struct slice *rest, enum write *ret_type, uint64_t *ret_id, struct slice *ret_key)
{
    if (!rest->len)
        return false;
    *ret_type = (enum write)(uint8_t)rest->ptr[0];
    *rest = slice_sub(*rest, 1, SIZE_MAX);
    *ret_id = KV_DEFAULT;
    switch (*ret_type) {
    case WRITE_NOTHING: return true;
    case WRITE_DELETION:
    case WRITE_SINGLE_DELETION:
    case WRITE_COMMENT: return skip_text(rest);
    case WRITE_VALUE:
    case WRITE_RANGE_DELETION: return skip_text(rest) && skip_text(rest);
    case WRITE_FAMILY_DELETION:
    case WRITE_FAMILY_SINGLE_DELETION: return varint_next(rest, ret_id) && next_text(rest, ret_key);
    case WRITE_FAMILY_VALUE:
    case WRITE_FAMILY_RANGE_DELETION: return varint_next(rest, ret_id) && next_text(rest, ret_key) && skip_text(rest);
    default: return false;
    }
}

static int take_batch(void *context, struct slice record, struct error *err)
{
    struct slice rest = slice_sub(record, BATCH_HEADER_BYTES, SIZE_MAX), key;
    struct log_walk *walk = context;
    char name[KV_NAME_BYTES];
    enum write type;
    uint64_t id;

    while (next_write(&rest, &type, &id, &key)) {
        struct kv_roster_family added = { .id = (uint32_t)id, .is_new = true };

        if (type != WRITE_FAMILY_VALUE || id == KV_DEFAULT || id > UINT32_MAX || find_id(walk->roster, added.id) ||
            !walk->namer->name(walk->namer->context, added.id, key, name) || find_name(walk->roster, slice_from(name)))
            continue;
        if (add_family(walk->roster, added, slice_from(name), err) < 0)
            return -1;
    }
    return 0;
}

int kv_roster_read_logs(struct kv_roster *roster, const char *directory, const struct kv_namer *namer,
                        struct error *err)
{
    struct log_walk walk = { roster, namer };

    return kv_wal_each(directory, take_batch, &walk, err);
}

/* --- writing --- */

static void append_text(struct buffer *out, struct slice text)
{
    varint_append(out, text.len);
    buffer_append_slice(out, text);
}

static void append_edit(struct buffer *out, const struct kv_roster_family *family)
{
    if (!family->is_dropped) {
        varint_append(out, FIELD_COMPARATOR);
        append_text(out, SLICE(COMPARATOR));
        varint_append(out, FIELD_LOG);
        varint_append(out, 0);
    }
    varint_append(out, FIELD_FAMILY);
    varint_append(out, family->id);
    varint_append(out, family->is_dropped ? FIELD_FAMILY_DROPPED : FIELD_FAMILY_ADDED);
    if (!family->is_dropped)
        append_text(out, slice_from(family->name));
}

int kv_roster_write(const struct kv_roster *roster, const char *path, struct error *err)
{
    AUTO(buffer_done) struct buffer manifest;
    AUTO(buffer_done) struct buffer edit;

    buffer_init(&manifest, 0);
    buffer_init(&edit, 0);
    if (fs_read_file(path, 0, &manifest, err) < 0)
        return -1;
    for (size_t i = 0; i < roster->families.n; i++) {
        const struct kv_roster_family *family = &roster->families.items[i];

        /* A new one that was dropped has nothing to be dropped. */
        if (family->is_new == family->is_dropped)
            continue;
        buffer_clear(&edit);
        append_edit(&edit, family);
        if (buffer_check(&edit, err) < 0)
            return -1;
        kv_records_append(&manifest, buffer_slice(&edit));
    }
    if (buffer_check(&manifest, err) < 0)
        return -1;
    return fs_write_file(path, buffer_slice(&manifest), err);
}
