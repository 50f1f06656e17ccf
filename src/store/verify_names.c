// SPDX-License-Identifier: Apache-2.0
#include "store/verify_internal.h"

#include <stdio.h>

enum {
    MAX_RANGES = 1 << 24,
    MAX_SERIES = 1 << 24,
    MAX_LOST = 1 << 16,
    MAX_MISSING = 4096,
    MAX_NAMELESS = 1 << 20, /* entries made up for one chunk */
};

#define ENDLESS ((uint64_t)UINT32_MAX + 1) /* behind the last id there can be */

/* --- ids --- */

/* Whether an id is there. Ids asked for one after another are near each other. */
static bool has_id(struct verify_tenant *tenant, enum chunk_kind kind, uint32_t id)
{
    const struct verify_range *ranges = tenant->ids[kind].items;
    size_t low = 0, high = tenant->ids[kind].n, last = tenant->last_range[kind];

    tenant->max_named[kind] = MAX(tenant->max_named[kind], id);
    if (id == 0 || (last < high && ranges[last].first <= id && id < ranges[last].end))
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges[middle].end <= id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == tenant->ids[kind].n || ranges[low].first > id)
        return false;
    tenant->last_range[kind] = low;
    return true;
}

static int note_missing(struct verify_tenant *tenant, enum chunk_kind kind, uint32_t id, struct error *err)
{
    uint64_t wanted = (uint64_t)kind << 32 | id;
    size_t low = 0, high = tenant->missing.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tenant->missing.items[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < tenant->missing.n && tenant->missing.items[low] == wanted)
        return 0;
    if (tenant->missing.n >= MAX_MISSING) {
        tenant->has_more_missing = true;
        return 0;
    }
    if (VEC_RESERVE(&tenant->missing, 1, MAX_MISSING, err) < 0)
        return -1;
    memmove(&tenant->missing.items[low + 1], &tenant->missing.items[low],
            (tenant->missing.n - low) * sizeof(*tenant->missing.items));
    tenant->missing.items[low] = wanted;
    tenant->missing.n++;
    return 0;
}

int verify_check_ids(struct verify_run *run, enum chunk_kind kind, const uint32_t *ids, size_t n,
                     struct verify_missing *missing, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (LIKELY(has_id(&run->tenant, kind, ids[i])))
            continue;
        if (missing->n++ == 0) {
            missing->kind = kind;
            missing->id = ids[i];
        }
        if (note_missing(&run->tenant, kind, ids[i], err) < 0)
            return -1;
    }
    return 0;
}

int verify_check_row(struct verify_run *run, const struct headrow *row, struct verify_missing *missing,
                     struct error *err)
{
    if (verify_check_ids(run, CHUNK_LABEL_SET, &row->label_set, 1, missing, err) < 0 ||
        verify_check_ids(run, CHUNK_STACK, row->stacks, row->n_samples, missing, err) < 0)
        return -1;
    return verify_check_ids(run, CHUNK_LABEL_SET, row->label_sets, row->label_sets ? row->n_samples : 0, missing, err);
}

void verify_tell_missing(struct verify_run *run, const char *what, const struct verify_missing *missing)
{
    if (!missing->n)
        return;
    run->tenant.n_naming++;
    verify_find(run, "%s names %llu entries that are not in the dictionary; the first is %s %u", what,
                (unsigned long long)missing->n, chunk_kind_name(missing->kind), missing->id);
}

/* --- the dictionary --- */

/* V2: what an entry names. */
static int check_entry(struct verify_run *run, enum chunk_kind kind, const struct chunk_entry *entry,
                       struct verify_missing *missing, struct error *err)
{
    const struct mapping *mapping = &entry->mapping;
    const struct function *function = &entry->function;
    uint32_t mapping_texts[] = { mapping->file, mapping->build_id, mapping->build_id_go, mapping->build_id_hash };
    uint32_t function_texts[] = { function->name, function->system_name, function->file };

    if (verify_check_ids(run, CHUNK_STRING, mapping_texts, ARRAY_LEN(mapping_texts), missing, err) < 0 ||
        verify_check_ids(run, CHUNK_STRING, function_texts, ARRAY_LEN(function_texts), missing, err) < 0 ||
        verify_check_ids(run, CHUNK_MAPPING, &entry->frame.mapping, 1, missing, err) < 0)
        return -1;
    for (uint32_t i = 0; i < entry->frame.n_lines; i++)
        if (verify_check_ids(run, CHUNK_FUNCTION, &entry->lines[i].function, 1, missing, err) < 0)
            return -1;
    if (kind == CHUNK_STACK && verify_check_ids(run, CHUNK_FRAME, entry->frames, entry->n, missing, err) < 0)
        return -1;
    for (uint32_t i = 0; kind == CHUNK_LABEL_SET && i < entry->n; i++) {
        uint32_t texts[] = { entry->labels[i].key, entry->labels[i].text, entry->labels[i].unit };

        if (verify_check_ids(run, CHUNK_STRING, texts, ARRAY_LEN(texts), missing, err) < 0)
            return -1;
    }
    return 0;
}

/* What stands for an entry that is lost: a text says so, anything else is empty. Stacks keep their hashes. */
static struct chunk_entry nameless_entry(enum chunk_kind kind, struct hash128 hash)
{
    struct chunk_entry entry = { .hash = hash };

    if (kind == CHUNK_STRING)
        entry.text = SLICE("[missing]");
    return entry;
}

/* Puts a chunk into the database: the entries of `reader` (NULL = none) up to the first that cannot be read, and
 * nameless ones for the rest. False in `*ret_is_done` where that would be too many. */
static int put_chunk(struct verify_run *run, enum chunk_kind kind, uint32_t first, uint64_t n,
                     struct chunk_reader *reader, bool *ret_is_done, struct error *err)
{
    struct storekey key = storekey_chunk(run->tenant.id, (uint8_t)kind, first);
    struct chunk_writer writer;
    struct error lost;
    int result;

    *ret_is_done = false;
    chunk_writer_init(&writer, kind, 0);
    while (reader && reader->at < reader->n) {
        struct chunk_entry entry;

        arena_reset(&run->arena);
        if (chunk_next(reader, &run->arena, &entry, &lost) < 0)
            break;
        chunk_put(&writer, &entry);
    }
    if (n > MAX_NAMELESS && n - MAX_NAMELESS > writer.n) {
        chunk_writer_done(&writer);
        return 0;
    }
    while (writer.n < n) {
        struct hash128 none = { 0, 1 },
                       hash = reader && kind == CHUNK_STACK ? chunk_stack_hash(reader, writer.n) : none;
        struct chunk_entry entry = nameless_entry(kind, hash);

        chunk_put(&writer, &entry);
    }
    buffer_clear(&run->scratch);
    chunk_writer_finish(&writer, &run->scratch);
    result = buffer_check(&run->scratch, err);
    if (!result)
        verify_replace(run, KV_DEFAULT, storekey_slice(&key), buffer_slice(&run->scratch));
    *ret_is_done = !result;
    chunk_writer_done(&writer);
    return result;
}

/* The ids of a chunk are there from now on; those of one that is lost as far as the next one. */
static int add_range(struct verify_run *run, enum chunk_kind kind, uint32_t first, uint64_t end, struct error *err)
{
    struct verify_tenant *tenant = &run->tenant;
    struct verify_range *last = tenant->ids[kind].n ? &tenant->ids[kind].items[tenant->ids[kind].n - 1] : NULL;
    struct verify_lost_chunk *lost = tenant->lost.n ? &tenant->lost.items[tenant->lost.n - 1] : NULL;

    if (lost && lost->kind == kind && lost->end == 0) {
        lost->end = first;
        if (last && last->end == ENDLESS)
            last->end = first;
    }
    if (first == 0 || end > ENDLESS || (last && last->end > first)) {
        verify_find(run, "tenant '%s': the chunk of %s entries at %u has ids that are not its own", tenant->name,
                    chunk_kind_name(kind), first);
        return 0;
    }
    if (last && last->end == first) {
        last->end = end;
        return 0;
    }
    last = VEC_PUSH(&tenant->ids[kind], MAX_RANGES, err);
    if (!last)
        return -1;
    *last = (struct verify_range){ first, end };
    return 0;
}

/* A chunk whose header cannot be read. */
static int lose_chunk(struct verify_run *run, enum chunk_kind kind, uint32_t first, struct slice value,
                      const struct error *damage, struct error *err)
{
    struct storekey key = storekey_chunk(run->tenant.id, (uint8_t)kind, first);
    struct verify_lost_chunk *lost;

    verify_find(run, "tenant '%s': the chunk of %s entries at %u: %s", run->tenant.name, chunk_kind_name(kind), first,
                damage->text);
    if (add_range(run, kind, first, ENDLESS, err) < 0)
        return -1;
    lost = VEC_PUSH(&run->tenant.lost, MAX_LOST, err);
    if (!lost)
        return -1;
    *lost = (struct verify_lost_chunk){ .kind = (uint8_t)kind, .first = first };
    return verify_set_aside(run, KV_DEFAULT, storekey_slice(&key), value, err);
}

/* A chunk of which some entry cannot be read. */
static int mend_chunk(struct verify_run *run, enum chunk_kind kind, uint32_t first, struct slice value,
                      const struct chunk_reader *at, const struct error *damage, struct error *err)
{
    struct storekey key = storekey_chunk(run->tenant.id, (uint8_t)kind, first);
    struct chunk_reader reader;
    bool is_done;

    verify_find(run, "tenant '%s': the chunk of %s entries at %u, entry %u of %u: %s", run->tenant.name,
                chunk_kind_name(kind), first, at->at + 1, at->n, damage->text);
    if (!run->verify->is_repairing)
        return 0;
    if (chunk_reader_init(&reader, kind, value, err) < 0 ||
        verify_set_aside(run, KV_DEFAULT, storekey_slice(&key), value, err) < 0 ||
        put_chunk(run, kind, first, reader.n, &reader, &is_done, err) < 0)
        return -1;
    if (is_done)
        verify_mended(run);
    return 0;
}

/* Reads all entries of a chunk; what cannot be read is `damage`. */
static int check_entries(struct verify_run *run, struct chunk_reader *reader, struct verify_missing *missing,
                         struct error *damage, struct error *err)
{
    struct chunk_entry entry;

    *damage = (struct error){ .code = ERR_OK };
    while (reader->at < reader->n) {
        arena_reset(&run->arena);
        if (chunk_next(reader, &run->arena, &entry, damage) < 0)
            return 0;
        if (check_entry(run, reader->kind, &entry, missing, err) < 0)
            return -1;
    }
    return 0;
}

static int check_chunk(struct verify_run *run, enum chunk_kind kind, uint32_t first, struct slice value,
                       struct error *err)
{
    struct verify_missing missing = { 0 };
    struct chunk_reader reader;
    struct error damage;
    bool is_certain;
    char what[STORE_TENANT_MAX_BYTES + 80];

    if (chunk_reader_init(&reader, kind, value, &damage) < 0)
        return lose_chunk(run, kind, first, value, &damage, err);
    if (add_range(run, kind, first, (uint64_t)first + reader.n, err) < 0 ||
        check_entries(run, &reader, &missing, &damage, err) < 0)
        return -1;
    snprintf(what, sizeof(what), "tenant '%s': the chunk of %s entries at %u", run->tenant.name, chunk_kind_name(kind),
             first);
    verify_tell_missing(run, what, &missing);
    if (damage.code == ERR_OK)
        return 0;
    if (verify_is_bad(&damage, &is_certain))
        return mend_chunk(run, kind, first, value, &reader, &damage, err);
    *err = damage;
    return -1;
}

static int check_dictionary(struct verify_run *run, struct error *err)
{
    struct storekey prefix = storekey_chunk(run->tenant.id, 0, 0);
    bool was_unreadable = run->is_unreadable;
    struct verify_walk walk;
    int result;

    run->is_unreadable = false;
    result = verify_walk_open(&walk, run, KV_DEFAULT, slice_of(prefix.bytes, 5), err);
    while (!result && walk.is_valid) {
        uint32_t tenant, first;
        uint8_t kind;

        run->verify->n_values++;
        if (storekey_parse_chunk(verify_walk_key(&walk), &tenant, &kind, &first) && kind >= CHUNK_STRING &&
            kind < CHUNK_KINDS)
            result = check_chunk(run, (enum chunk_kind)kind, first, verify_walk_value(&walk), err);
        else {
            verify_find(run, "tenant '%s': a key of the dictionary is damaged", run->tenant.name);
            verify_mended(run);
            result = verify_set_aside(run, KV_DEFAULT, verify_walk_key(&walk), verify_walk_value(&walk), err);
        }
        if (!result)
            result = verify_walk_next(&walk, err);
    }
    verify_walk_close(&walk);
    run->tenant.is_partial = run->is_unreadable;
    run->is_unreadable |= was_unreadable;
    return result;
}

/* --- series --- */

const struct verify_series *verify_find_series(const struct verify_tenant *tenant, uint32_t id)
{
    size_t low = 0, high = tenant->series.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tenant->series.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tenant->series.n && tenant->series.items[low].id == id ? &tenant->series.items[low] : NULL;
}

static int add_series(struct verify_run *run, uint32_t id, const struct seriesinfo *info, struct error *err)
{
    struct verify_series *series = VEC_PUSH(&run->tenant.series, MAX_SERIES, err);
    const struct verify_series *first;

    if (!series)
        return -1;
    *series = (struct verify_series){ .id = id,
                                      .group = info->group,
                                      .n_types = info->n_types,
                                      .group_hash = seriesinfo_group_hash(info, run->day->context->seed).a };
    first = verify_find_series(&run->tenant, info->group);
    if (info->group == 0 || info->group > id || (first && first->group_hash != series->group_hash))
        verify_find(run, "tenant '%s': series %u is in group %u, to which it does not belong", run->tenant.name, id,
                    info->group);
    return 0;
}

/* A series that is damaged in the index: its copy takes its place, if that can be read. */
static int use_copy(struct verify_run *run, uint32_t id, struct error *err)
{
    struct storekey key = storekey_series(run->tenant.id, id), copy = storekey_copy(&key);
    struct seriesinfo info;
    struct error damage;
    bool is_found;

    if (!run->verify->is_repairing)
        return 0;
    buffer_clear(&run->scratch);
    if (kv_get(run->day->kv, run->day->block_family, storekey_slice(&copy), &run->scratch, &is_found, &damage) < 0)
        is_found = false;
    arena_reset(&run->arena);
    if (!is_found || seriesinfo_decode(buffer_slice(&run->scratch), &run->arena, &info, &damage) < 0)
        return 0;
    verify_replace(run, KV_DEFAULT, storekey_slice(&key), buffer_slice(&run->scratch));
    return add_series(run, id, &info, err);
}

static int check_series(struct verify_run *run, const struct verify_walk *walk, struct error *err)
{
    struct seriesinfo info;
    uint32_t tenant, id = 0;
    struct error damage;
    bool is_certain;

    arena_reset(&run->arena);
    if (!storekey_parse_series(verify_walk_key(walk), &tenant, &id))
        error_set(&damage, ERR_CORRUPT, "its key is damaged");
    else if (seriesinfo_decode(verify_walk_value(walk), &run->arena, &info, &damage) == 0)
        return add_series(run, id, &info, err);
    if (!verify_is_bad(&damage, &is_certain)) {
        *err = damage;
        return -1;
    }
    verify_find(run, "tenant '%s': series %u: %s", run->tenant.name, id, damage.text);
    if (!is_certain)
        return 0;
    verify_mended(run);
    if (verify_set_aside(run, KV_DEFAULT, verify_walk_key(walk), verify_walk_value(walk), err) < 0)
        return -1;
    return id ? use_copy(run, id, err) : 0;
}

static int check_all_series(struct verify_run *run, struct error *err)
{
    struct storekey prefix = storekey_series(run->tenant.id, 0);
    struct verify_walk walk;
    int result = verify_walk_open(&walk, run, KV_DEFAULT, slice_of(prefix.bytes, 5), err);

    while (!result && walk.is_valid) {
        run->verify->n_values++;
        result = check_series(run, &walk, err);
        if (!result)
            result = verify_walk_next(&walk, err);
    }
    verify_walk_close(&walk);
    return result;
}

int verify_names(struct verify_run *run, struct error *err)
{
    return check_dictionary(run, err) < 0 ? -1 : check_all_series(run, err);
}

void verify_tenant_done(struct verify_tenant *tenant)
{
    for (unsigned kind = 0; kind < CHUNK_KINDS; kind++)
        VEC_DONE(&tenant->ids[kind]);
    VEC_DONE(&tenant->lost);
    VEC_DONE(&tenant->missing);
    VEC_DONE(&tenant->series);
    *tenant = (struct verify_tenant){ 0 };
}

/* --- mending --- */

/* The ids that the writer of the day gives next; 0 where the tenant is not being written to. */
static void find_next_ids(struct verify_run *run, uint32_t ret_next_ids[static CHUNK_KINDS])
{
    struct day *day = run->day;

    memset(ret_next_ids, 0, CHUNK_KINDS * sizeof(*ret_next_ids));
    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->tenants.n; i++)
        if (day->tenants.items[i].id == run->tenant.id && day->tenants.items[i].loaded)
            memcpy(ret_next_ids, day->tenants.items[i].loaded->dictionary.next_ids,
                   CHUNK_KINDS * sizeof(*ret_next_ids));
}

static int replace_lost(struct verify_run *run, const uint32_t *next_ids, struct error *err)
{
    const struct verify_tenant *tenant = &run->tenant;

    for (size_t i = 0; i < tenant->lost.n; i++) {
        const struct verify_lost_chunk *lost = &tenant->lost.items[i];
        uint64_t end = lost->end;
        bool is_done;

        if (!end)
            end = MAX((uint64_t)MAX(tenant->max_named[lost->kind], lost->first) + 1, next_ids[lost->kind]);
        if (put_chunk(run, (enum chunk_kind)lost->kind, lost->first, end - lost->first, NULL, &is_done, err) < 0)
            return -1;
        if (is_done)
            verify_mended(run);
    }
    return 0;
}

/* Whether all that is missing can be made up. Ids that the writer has not given yet will be something else. */
static bool can_fill(const struct verify_run *run, const uint32_t *next_ids)
{
    const struct verify_tenant *tenant = &run->tenant;

    for (size_t i = 0; i < tenant->missing.n; i++) {
        uint32_t next = next_ids[tenant->missing.items[i] >> 32];

        if (next && (uint32_t)tenant->missing.items[i] >= next)
            return false;
    }
    return !tenant->is_partial && !tenant->has_more_missing;
}

/* Runs of ids that are named and not there become chunks of nameless entries. */
static int fill_missing(struct verify_run *run, struct error *err)
{
    const struct verify_tenant *tenant = &run->tenant;
    const uint64_t *missing = tenant->missing.items;
    bool is_done;

    for (size_t i = 0, n; i < tenant->missing.n; i += n) {
        for (n = 1; i + n < tenant->missing.n && missing[i + n] == missing[i] + n; n++)
            ;
        if (put_chunk(run, (enum chunk_kind)(missing[i] >> 32), (uint32_t)missing[i], n, NULL, &is_done, err) < 0)
            return -1;
    }
    for (uint64_t i = 0; i < tenant->n_naming; i++)
        verify_mended(run);
    return 0;
}

int verify_names_mend(struct verify_run *run, struct error *err)
{
    uint32_t next_ids[CHUNK_KINDS];

    if (!run->verify->is_repairing || run->is_unreadable)
        return 0;
    find_next_ids(run, next_ids);
    if (replace_lost(run, next_ids, err) < 0)
        return -1;
    return can_fill(run, next_ids) ? fill_missing(run, err) : 0;
}
