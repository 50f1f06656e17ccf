// SPDX-License-Identifier: Apache-2.0
#include "store/commit.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/map.h"
#include "block/idrecord.h"
#include "block/storekey.h"
#include "store/knownid.h"
#include "store/slotcache.h"

enum {
    MAX_COMMIT_BYTES = 1 << 30,
    MAX_ROWS = 1 << 24,
    SPARE_SERIES = 256, /* for the last resorts of a tenant with few series */
};

int commit_init(struct commit *commit, struct day *day, struct slice tenant, const struct tables *tables,
                const struct content *content, struct arena *lasting, struct arena *arena, struct error *err)
{
    *commit = (struct commit){ .day = day, .tenant = tenant, .content = content, .arena = arena };
    buffer_init(&commit->bytes, MAX_COMMIT_BYTES);
    commit->frame_memo = arena_alloc_zero(lasting, tables->n_frames * sizeof(*commit->frame_memo), err);
    return commit->frame_memo ? 0 : -1;
}

void commit_done(struct commit *commit)
{
    VEC_DONE(&commit->profiles);
    VEC_DONE(&commit->rows);
    buffer_done(&commit->bytes);
}

/* Under the lock. Memory is ahead of the disk from now on: nobody may go on with it (Y2). */
static int poison(struct day *day, struct error *err)
{
    day_stop(day, err);
    return -1;
}

/* --- series --- */

static int add_series(struct day *day, struct tenant *tenant, struct seriesinfo *info, struct hash128 hash,
                      struct tenant_series *ret_series, struct error *err)
{
    struct hash128 group_hash = seriesinfo_group_hash(info, day->context->seed);
    uint32_t place, group_place, *group;
    struct tenant_series *series;
    bool is_new;
    struct storekey key;

    if (hash_set_add(&tenant->series, hash, &place, &is_new, err) < 0 ||
        hash_set_add(&tenant->groups, group_hash, &group_place, &is_new, err) < 0)
        return poison(day, err);
    if (is_new) {
        group = VEC_PUSH(&tenant->group_ids, UINT32_MAX, err);
        if (!group)
            return poison(day, err);
        *group = tenant->next_series;
    }
    series = VEC_PUSH(&tenant->series_ids, UINT32_MAX, err);
    if (!series)
        return poison(day, err);
    *series = (struct tenant_series){ tenant->next_series++, tenant->group_ids.items[group_place] };
    info->group = series->group;
    buffer_clear(&day->group.scratch);
    seriesinfo_encode(info, &day->group.scratch);
    if (buffer_check(&day->group.scratch, err) < 0)
        return poison(day, err);
    key = storekey_series(tenant->id, series->id);
    day_put_twice(day, day->group.batch, &key, buffer_slice(&day->group.scratch));
    *ret_series = *series;
    return 0;
}

/* Series for all pieces; `*ret_fits` is false when the tenant would have more than `max_series` of them. */
static int find_series(struct commit *commit, struct tenant *tenant, struct series_plan *plan, uint64_t max_series,
                       struct tenant_series *series, bool *ret_fits, struct error *err)
{
    struct day *day = commit->day;
    uint32_t n_new = 0;

    for (uint32_t i = 0; i < plan->n_pieces; i++) {
        uint32_t place = hash_set_find(&tenant->series, seriesinfo_hash(&plan->pieces[i].info, day->context->seed));

        series[i] = place == HASH_NONE ? (struct tenant_series){ 0 } : tenant->series_ids.items[place];
        n_new += place == HASH_NONE;
    }
    *ret_fits = !n_new || (uint64_t)tenant->series.n + n_new <= max_series;
    if (!*ret_fits || !n_new)
        return 0;
    for (uint32_t i = 0; i < plan->n_pieces; i++) {
        struct seriesinfo *info = &plan->pieces[i].info;

        if (!series[i].id &&
            add_series(day, tenant, info, seriesinfo_hash(info, day->context->seed), &series[i], err) < 0)
            return -1;
    }
    return 0;
}

static void refuse(struct commit *commit, const struct tenant *tenant, uint32_t max_series)
{
    if (!commit->n_refused++)
        error_set(
            &commit->refusal, ERR_LIMIT,
            "tenant '%s' has %u series today, at most %u are allowed, and it has a type of its own (--max-series)",
            tenant->name, tenant->series.n, max_series);
}

/* The plan that fits: as the labels want it, else without all but the service, else without even that. NULL in
 * `*ret_series` if none does. */
static int plan_series(struct commit *commit, struct tenant *tenant, const struct profile *profile,
                       struct series_plan *plan, struct tenant_series **ret_series, struct error *err)
{
    const struct day_context *context = commit->day->context;
    const struct label_limits *limits = &context->labels;
    uint32_t max_series = context->max_series(context->store, slice_from(tenant->name));
    /* Every name and shape of values has a last resort of its own; somebody who invents them is stopped. */
    uint64_t last_resorts = (uint64_t)max_series + SPARE_SERIES;
    struct tenant_series *series = NULL;
    bool fits = false;

    for (unsigned attempt = 0; attempt < 3 && !fits; attempt++) {
        if (attempt && labelrules_plan_collapsed(profile, commit->labels, commit->n_labels, limits, attempt == 2,
                                                 &commit->counts, commit->arena, plan, err) < 0)
            return -1;
        series = ARENA_ARRAY(commit->arena, struct tenant_series, plan->n_pieces, err);
        if (!series ||
            find_series(commit, tenant, plan, max_series + (attempt == 2 ? last_resorts : 0), series, &fits, err) < 0)
            return -1;
    }
    if (!fits)
        refuse(commit, tenant, max_series);
    *ret_series = fits ? series : NULL;
    return 0;
}

/* --- rows --- */

/* A row with room for the samples of a piece. */
static int new_row(struct arena *arena, const struct profile *profile, uint32_t n, bool has_label_sets,
                   struct headrow *row, struct error *err)
{
    *row = (struct headrow){ .n_types = profile->n_types, .n_samples = n, .stride = n };
    row->duration_ns = profile->duration_ns;
    row->period = profile->period;
    row->stacks = ARENA_ARRAY(arena, uint32_t, n, err);
    row->values = row->stacks ? ARENA_ARRAY(arena, int64_t, (size_t)n * profile->n_types, err) : NULL;
    if (!row->values)
        return -1;
    if (has_label_sets && !(row->label_sets = ARENA_ARRAY(arena, uint32_t, n, err)))
        return -1;
    if (profile->links && !(row->links = ARENA_ARRAY(arena, uint32_t, n, err)))
        return -1;
    if (profile->counts && !(row->counts = ARENA_ARRAY(arena, uint64_t, n, err)))
        return -1;
    return 0;
}

/* Links get places in the row's own table, in order of first use. */
static int fill_links(const struct profile *profile, const struct series_piece *piece, struct arena *arena,
                      struct headrow *row, struct error *err)
{
    const struct tables *tables = profile->tables;
    struct map places;
    uint32_t n = 0;
    int result = 0;

    row->link_table = ARENA_ARRAY(arena, struct link, MIN(row->n_samples, tables->n_links), err);
    if (!row->link_table)
        return -1;
    map_init(&places, 0);
    for (uint32_t i = 0; i < row->n_samples && !result; i++) {
        uint32_t local = profile->links[piece->samples ? piece->samples[i] : i], place = 0;

        if (local) {
            result = map_add(&places, local, n + 1, &place, err);
            if (!result && place == n + 1)
                row->link_table[n++] = tables->links[local];
        }
        row->links[i] = place;
    }
    map_done(&places);
    row->n_links = n;
    if (!n)
        row->links = NULL;
    return result;
}

static void fill_values(const struct profile *profile, const struct series_piece *piece, struct headrow *row)
{
    for (uint32_t type = 0; type < profile->n_types; type++) {
        const int64_t *from = profile_values(profile, type);
        int64_t *to = row->values + (size_t)type * row->stride;

        if (!piece->samples)
            memcpy(to, from, row->n_samples * sizeof(*to));
        else
            for (uint32_t i = 0; i < row->n_samples; i++)
                to[i] = from[piece->samples[i]];
    }
    for (uint32_t i = 0; row->counts && i < row->n_samples; i++)
        row->counts[i] = profile->counts[piece->samples ? piece->samples[i] : i];
}

static int append_row(struct commit *commit, struct headrow *row, struct tenant_series series, struct error *err)
{
    struct commit_row *entry;
    uint64_t saturated = 0;
    size_t offset = commit->bytes.len;

    if (headrow_sort(row, commit->arena, &saturated, err) < 0)
        return -1;
    headrow_encode(row, &commit->bytes);
    if (buffer_check(&commit->bytes, err) < 0)
        return -1;
    entry = VEC_PUSH(&commit->rows, MAX_ROWS, err);
    if (!entry)
        return -1;
    *entry = (struct commit_row){ .group = series.group,
                                  .series = series.id,
                                  .start_ns = row->start_ns,
                                  .offset = offset,
                                  .len = commit->bytes.len - offset };
    return 0;
}

/* What is known of a profile once its ids are given; the rest needs no lock. */
struct interned {
    struct series_plan plan;
    struct tenant_series *series; /* of each piece; NULL = the profile is refused */
    uint32_t *stacks;             /* of each sample of the profile */
    uint32_t *label_sets;         /* of each local label set; NULL = none */
    uint32_t row_label_set;
};

static int intern_label_sets(struct commit *commit, struct tenant *tenant, const struct profile *profile,
                             struct interned *interned, struct error *err)
{
    const struct series_plan *plan = &interned->plan;
    bool has_any = false;

    if (dictionary_label_set(&tenant->dictionary, &plan->row_labels, &interned->row_label_set, err) < 0)
        return poison(commit->day, err);
    if (!plan->sample_labels || !profile->label_sets)
        return 0;
    interned->label_sets =
        arena_alloc_zero(commit->arena, profile->tables->n_label_sets * sizeof(*interned->label_sets), err);
    if (!interned->label_sets)
        return -1;
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        uint32_t set = profile->label_sets[i];

        if (!plan->sample_labels[set].n || interned->label_sets[set])
            continue;
        if (dictionary_label_set(&tenant->dictionary, &plan->sample_labels[set], &interned->label_sets[set], err) < 0)
            return poison(commit->day, err);
        has_any = true;
    }
    if (!has_any)
        interned->label_sets = NULL;
    return 0;
}

static int intern_in(struct commit *commit, struct tenant *tenant, const struct profile *profile,
                     struct interned *interned, struct error *err)
{
    struct day *day = commit->day;

    if (dictionary_load(&tenant->dictionary, day->kv, err) < 0)
        return poison(day, err);
    tenants_make_room(&day->tenants, tenant, profile->n_samples, day->group.done);
    if (dictionary_prepare(&tenant->dictionary, day->kv, err) < 0)
        return poison(day, err);
    if (plan_series(commit, tenant, profile, &interned->plan, &interned->series, err) < 0)
        return -1;
    if (!interned->series)
        return 0;
    if (dictionary_stacks(&tenant->dictionary, profile->tables, commit->content, profile->stacks, profile->n_samples,
                          commit->frame_memo, interned->stacks, err) < 0)
        return poison(day, err);
    return intern_label_sets(commit, tenant, profile, interned, err);
}

static int intern(struct commit *commit, const struct profile *profile, struct interned *interned, struct error *err)
{
    struct day *day = commit->day;
    struct tenant *tenant;
    int result;

    LOCK_SCOPE(&day->lock);
    if (day_check(day, err) < 0)
        return -1;
    tenant = day_tenant_for_write(day, commit->tenant, err);
    if (!tenant)
        return -1;
    commit->tenant_id = tenant->id;
    commit->has_deletions = day->has_deletions;
    result = intern_in(commit, tenant, profile, interned, err);
    tenants_note_write(&day->tenants, tenant, day->group.open);
    return result;
}

static int build_row(struct commit *commit, const struct profile *profile, const struct interned *interned,
                     uint32_t number, int64_t start_ns, uint64_t *n_samples, struct error *err)
{
    const struct series_piece *piece = &interned->plan.pieces[number];
    struct headrow row;

    if (new_row(commit->arena, profile, piece->n_samples, interned->label_sets, &row, err) < 0)
        return -1;
    row.start_ns = start_ns;
    row.label_set = interned->row_label_set;
    for (uint32_t i = 0; i < row.n_samples; i++) {
        uint32_t sample = piece->samples ? piece->samples[i] : i;

        row.stacks[i] = interned->stacks[sample];
        if (row.label_sets)
            row.label_sets[i] = interned->label_sets[profile->label_sets[sample]];
    }
    fill_values(profile, piece, &row);
    if (row.links && fill_links(profile, piece, commit->arena, &row, err) < 0)
        return -1;
    if (append_row(commit, &row, interned->series[number], err) < 0)
        return -1;
    *n_samples += row.n_samples;
    return 0;
}

static int set_id(struct commit *commit, struct commit_profile *profile, const uint8_t *id, struct error *err)
{
    struct knownid known = { 0 };

    /* Damage among the ids is met again, and told, when the rows join. */
    if (commit->has_deletions && knownid_find(commit->day, commit->tenant_id, id, &known, err) < 0 &&
        err->code != ERR_CORRUPT)
        return -1;
    memcpy(profile->id, id, sizeof(profile->id));
    profile->has_id = true;
    profile->is_forgotten = known.is_forgotten;
    profile->forgotten = known.value;
    return 0;
}

int commit_add(struct commit *commit, const struct profile *profile, int64_t start_ns, const uint8_t *id,
               struct error *err)
{
    struct interned interned = { 0 };
    struct commit_profile *entry;

    arena_reset(commit->arena);
    if (labelrules_plan(profile, commit->labels, commit->n_labels, &commit->day->context->labels, &commit->counts,
                        commit->arena, &interned.plan, err) < 0)
        return -1;
    interned.stacks = ARENA_ARRAY(commit->arena, uint32_t, profile->n_samples, err);
    if (!interned.stacks || intern(commit, profile, &interned, err) < 0)
        return -1;
    if (!interned.series)
        return 0;
    entry = VEC_PUSH(&commit->profiles, MAX_ROWS, err);
    if (!entry)
        return -1;
    entry->first_row = (uint32_t)commit->rows.n;
    entry->n_rows = interned.plan.n_pieces;
    if (id && set_id(commit, entry, id, err) < 0)
        return -1;
    for (uint32_t i = 0; i < interned.plan.n_pieces; i++)
        if (build_row(commit, profile, &interned, i, start_ns, &entry->n_samples, err) < 0)
            return -1;
    return 0;
}

/* --- group commit --- */

/* Under the lock: writes the open group, and lets go of the lock meanwhile. */
static void lead(struct day *day)
{
    struct error err;
    struct kv_batch *batch = day->group.batch;
    struct hash_set ids = day->group.ids;
    struct storekey key = storekey_counter("sequence");
    uint64_t number = day->group.open;
    char sequence[4];
    int result;

    day->group.has_leader = true;
    result = tenants_take(&day->tenants, day->kv, batch, &day->group.scratch, &err);
    bytes_put_le32(sequence, day->next_sequence);
    kv_batch_put(batch, day->kv, KV_DEFAULT, storekey_slice(&key), slice_of(sequence, sizeof(sequence)));
    day->group.batch = day->group.spare;
    day->group.ids = day->group.spare_ids;
    day->group.spare = batch;
    day->group.spare_ids = ids;
    day->group.open++;
    if (!result) {
        lock_mutex_release(&day->lock);
        result = kv_write(day->kv, batch, day->context->wal_sync == STORE_SYNC_ALWAYS, &err);
        lock_mutex_acquire(&day->lock);
        day->group.unsure = result < 0 ? number : 0;
    }
    kv_batch_clear(day->group.spare);
    hash_set_clear(&day->group.spare_ids);
    if (result < 0)
        IGNORE(poison(day, &err), "told to all that wait");
    else
        day->group.done = number;
    day->group.has_leader = false;
    day->write_mono_ns = clock_mono_ns();
    lock_condition_wake_all(&day->committed);
}

int commit_wait(struct day *day, uint64_t group, struct error *err)
{
    while (day->group.done < group) {
        /* Writing once more is safe only for groups that never were on their way. */
        if (group == day->group.unsure) {
            *err = day->failure;
            err->code = err->code == ERR_FULL ? ERR_FULL : ERR_IO;
            return error_wrap(err, "it is not certain whether the profile was kept");
        }
        if (day_check(day, err) < 0)
            return -1;
        if (day->group.has_leader)
            lock_condition_wait(&day->committed, &day->lock);
        else
            lead(day);
    }
    return 0;
}

int commit_head(struct day *day, uint8_t hour, uint32_t *ret_place, struct error *err)
{
    uint32_t number = 0;
    char name[STOREKEY_HEAD_NAME_BYTES];
    struct day_head *head;

    for (size_t i = 0; i < day->heads.n; i++) {
        const struct day_head *other = &day->heads.items[i];

        if (other->hour != hour)
            continue;
        if (!other->is_frozen && !other->is_covered) {
            *ret_place = (uint32_t)i;
            return 0;
        }
        number = MAX(number, other->number + 1);
    }
    for (size_t i = 0; i < day->markers.n; i++)
        if (day->markers.items[i].hour == hour && day->markers.items[i].head != MARKER_NO_HEAD)
            number = MAX(number, day->markers.items[i].head + 1);
    if (VEC_RESERVE(&day->heads, 1, UINT32_MAX, err) < 0)
        return -1;
    head = &day->heads.items[day->heads.n];
    *head = (struct day_head){ .hour = hour, .number = number, .made_ns = clock_now_ns(), .has_recents = true };
    if (kv_family_create(day->kv, storekey_head_name(hour, number, name), &head->family, err) < 0)
        return poison(day, err);
    *ret_place = (uint32_t)day->heads.n++;
    return 0;
}

/* Whether the id is kept or on its way; `*group` is raised to the group it is in. */
static int find_id(struct day *day, uint32_t tenant, const struct commit_profile *profile, struct hash128 *ret_hash,
                   bool *ret_found, uint64_t *group, struct error *err)
{
    struct storekey key = storekey_profile_id(tenant, profile->id);
    struct hash128 hash = hash_bytes(storekey_slice(&key), day->context->seed);

    *ret_hash = hash;
    *ret_found = true;
    if (hash_set_find(&day->group.ids, hash) != HASH_NONE) {
        *group = MAX(*group, day->group.open);
        return 0;
    }
    if (hash_set_find(&day->group.spare_ids, hash) != HASH_NONE) {
        *group = MAX(*group, day->group.open - 1);
        return 0;
    }
    buffer_clear(&day->group.scratch);
    if (!kv_get(day->kv, KV_DEFAULT, storekey_slice(&key), &day->group.scratch, ret_found, err)) {
        if (*ret_found && profile->is_forgotten &&
            hash_equal(knownid_hash(day, buffer_slice(&day->group.scratch)), profile->forgotten))
            *ret_found = false;
        return 0;
    }
    if (err->code != ERR_CORRUPT)
        return -1;
    /* Better a profile twice than one refused for ever because an old file is damaged. */
    day_damage(day, "profile ids", err);
    *ret_found = false;
    return 0;
}

/* Puts the id of a profile whose rows come next into the group. */
static int put_id(struct commit *commit, const struct commit_profile *profile, struct error *err)
{
    struct day *day = commit->day;
    struct storekey key = storekey_profile_id(commit->tenant_id, profile->id);
    const struct commit_row *rows = &commit->rows.items[profile->first_row];
    struct idrecord record = { .start_ns = rows->start_ns, .sequence = day->next_sequence, .n_rows = profile->n_rows };

    arena_reset(commit->arena);
    record.series = ARENA_ARRAY(commit->arena, uint32_t, profile->n_rows, err);
    if (!record.series)
        return -1;
    for (uint32_t i = 0; i < profile->n_rows; i++)
        record.series[i] = rows[i].series;
    buffer_clear(&day->group.scratch);
    idrecord_encode(&record, &day->group.scratch);
    if (buffer_check(&day->group.scratch, err) < 0)
        return -1;
    kv_batch_put(day->group.batch, day->kv, KV_DEFAULT, storekey_slice(&key), buffer_slice(&day->group.scratch));
    return 0;
}

/* Tells those who answer for open hours from memory that a row joins (recents.h, N1; slotcache.h, S2). */
static void note_row(struct day *day, uint32_t place, uint32_t tenant, const struct commit_row *row)
{
    struct day_head *head = &day->heads.items[place];
    struct slotcache_head slots = { day, day->start_ns + head->hour * DAY_HOUR_NS, head->number };
    struct recents_row recent = { place, tenant, row->group, row->series, row->start_ns, day->next_sequence };

    head->last_group = day->group.open;
    recents_add(&day->recents, &recent);
    if (row->start_ns >= day->slots_until_ns)
        return;
    day->late_group = day->group.open;
    storemetrics_add(&day->context->metrics, STOREMETRIC_OPEN_DROPPED,
                     slotcache_drop(day->context->slots, &slots, tenant, row->group, row->start_ns));
}

static int join_profile(struct commit *commit, struct commit_profile *profile, uint64_t *group, struct error *err)
{
    struct day *day = commit->day;
    struct hash128 hash;
    uint32_t place;
    bool is_new;

    if (profile->has_id) {
        if (find_id(day, commit->tenant_id, profile, &hash, &profile->is_duplicate, group, err) < 0)
            return -1;
        if (profile->is_duplicate)
            return 0;
        if (hash_set_add(&day->group.ids, hash, &place, &is_new, err) < 0 || put_id(commit, profile, err) < 0)
            return poison(day, err);
    }
    for (uint32_t i = 0; i < profile->n_rows; i++) {
        const struct commit_row *row = &commit->rows.items[profile->first_row + i];
        struct storekey key;

        if (day->next_sequence == UINT32_MAX) {
            error_set(err, ERR_LIMIT, "day %s has taken four thousand million profiles and can take no more",
                      day->name);
            return poison(day, err);
        }
        if (commit_head(day, day_hour(day, row->start_ns), &place, err) < 0)
            return -1;
        note_row(day, place, commit->tenant_id, row);
        key = storekey_row(commit->tenant_id, row->group, row->series, row->start_ns, day->next_sequence++);
        kv_batch_put(day->group.batch, day->kv, day->heads.items[place].family, storekey_slice(&key),
                     slice_of(commit->bytes.data + row->offset, row->len));
    }
    *group = MAX(*group, day->group.open);
    return 0;
}

int commit_finish(struct commit *commit, struct error *err)
{
    struct day *day = commit->day;
    uint64_t group = 0;

    LOCK_SCOPE(&day->lock);
    if (day_check(day, err) < 0)
        return -1;
    for (size_t i = 0; i < commit->profiles.n; i++)
        if (join_profile(commit, &commit->profiles.items[i], &group, err) < 0)
            return poison(day, err); /* part of it may be in the group, which must not be written */
    return commit_wait(day, group, err);
}
