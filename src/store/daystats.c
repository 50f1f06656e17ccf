// SPDX-License-Identifier: Apache-2.0
#include "store/daystats.h"

#include "base/fs.h"
#include "base/map.h"
#include "block/chunk.h"
#include "block/part.h"
#include "block/storekey.h"

#include <stdio.h>
#include <stdlib.h>

/* What the series of a day cost. */
struct cost {
    uint32_t tenant, series;
    uint64_t bytes, n_rows, n_samples;
};

/* What the series of a group cost, which are of one service. */
struct group {
    uint32_t tenant, number;
    struct servicecost cost; /* without names */
};

struct counting {
    struct day *day;
    struct store_stats *stats;
    struct servicecosts *services; /* NULL = nobody asks */
    struct day_view view;
    struct arena arena;
    struct unpacker *unpacker;
    struct map places; /* tenant << 32 | series -> place in costs */
    VEC(struct cost) costs;
    size_t max_costs;
    struct map group_places; /* tenant << 32 | group -> place in groups */
    VEC(struct group) groups;
};

/* --- costs of series --- */

static uint64_t cost_key(uint32_t tenant, uint32_t series)
{
    return (uint64_t)tenant << 32 | series;
}

static int by_bytes(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return cost_key(x->tenant, x->series) < cost_key(y->tenant, y->series) ? -1 : 1;
}

/* The most expensive first; the others are forgotten. */
static int keep_first(struct counting *counting, size_t n, struct error *err)
{
    if (!counting->costs.n)
        return 0;
    qsort(counting->costs.items, counting->costs.n, sizeof(*counting->costs.items), by_bytes);
    counting->costs.n = MIN(counting->costs.n, n);
    map_clear(&counting->places);
    for (uint32_t i = 0; i < counting->costs.n; i++) {
        const struct cost *cost = &counting->costs.items[i];

        if (map_set(&counting->places, cost_key(cost->tenant, cost->series), i, err) < 0)
            return -1;
    }
    return 0;
}

static int find_cost(struct counting *counting, uint32_t tenant, uint32_t series, struct cost **ret_cost,
                     struct error *err)
{
    uint32_t place, next;
    struct cost *cost;

    if (counting->costs.n >= counting->max_costs && keep_first(counting, counting->max_costs / 2, err) < 0)
        return -1;
    next = (uint32_t)counting->costs.n;
    if (VEC_RESERVE(&counting->costs, 1, UINT32_MAX, err) < 0 ||
        map_add(&counting->places, cost_key(tenant, series), next, &place, err) < 0)
        return -1;
    if (place == next) {
        cost = &counting->costs.items[counting->costs.n++];
        *cost = (struct cost){ .tenant = tenant, .series = series };
    }
    *ret_cost = &counting->costs.items[place];
    return 0;
}

/* --- the index's records --- */

/* Damage is counted and passed by; anything else stops the counting. */
static int pass_damage(struct counting *counting, const struct error *err)
{
    if (err->code != ERR_CORRUPT && err->code != ERR_VERSION && err->code != ERR_LIMIT)
        return -1;
    counting->stats->n_damaged++;
    return 0;
}

/* The record of a series, from the arena. `*ret_is_there` is false where there is none, or none that can be read. */
static int read_series(struct counting *counting, uint32_t tenant, uint32_t series, struct seriesinfo *ret_info,
                       bool *ret_is_there, struct error *err)
{
    struct storekey key = storekey_series(tenant, series);
    AUTO(buffer_done) struct buffer value;
    struct slice bytes;
    bool is_found;
    int result;

    buffer_init(&value, 0);
    *ret_is_there = false;
    arena_reset(&counting->arena);
    result = kv_get(counting->day->kv, KV_DEFAULT, storekey_slice(&key), &value, &is_found, err);
    if (!result)
        result = buffer_check(&value, err);
    if (!result && is_found) {
        bytes = arena_copy(&counting->arena, buffer_slice(&value), err);
        result = bytes.ptr ? seriesinfo_decode(bytes, &counting->arena, ret_info, err) : -1;
    }
    *ret_is_there = !result && is_found;
    return result < 0 ? pass_damage(counting, err) : 0;
}

/* Empty if it is not known. Valid as long as the day: tenants stay. */
static struct slice tenant_name(struct counting *counting, uint32_t tenant)
{
    struct day *day = counting->day;
    struct slice name = SLICE("");

    LOCK_SCOPE(&day->lock);
    for (size_t i = 0; i < day->tenants.n; i++)
        if (day->tenants.items[i].id == tenant)
            name = slice_from(day->tenants.items[i].name);
    return name;
}

/* --- costs of services --- */

/* Adds what groups cost to what their services do, and forgets them. */
static int settle_groups(struct counting *counting, struct error *err)
{
    for (size_t i = 0; i < counting->groups.n; i++) {
        struct group *group = &counting->groups.items[i];
        struct seriesinfo info;
        bool is_there;

        if (read_series(counting, group->tenant, group->number, &info, &is_there, err) < 0)
            return -1;
        group->cost.tenant = tenant_name(counting, group->tenant);
        group->cost.service = is_there ? seriesinfo_label(&info, SLICE("service_name")) : SLICE("");
        if (servicecosts_add(counting->services, &group->cost, err) < 0)
            return -1;
    }
    counting->groups.n = 0;
    map_clear(&counting->group_places);
    return 0;
}

static int count_service(struct counting *counting, uint32_t tenant, uint32_t number, const struct servicecost *part,
                         struct error *err)
{
    uint32_t place, next;

    if (!counting->services)
        return 0;
    if (counting->groups.n >= counting->max_costs && settle_groups(counting, err) < 0)
        return -1;
    next = (uint32_t)counting->groups.n;
    if (VEC_RESERVE(&counting->groups, 1, UINT32_MAX, err) < 0 ||
        map_add(&counting->group_places, cost_key(tenant, number), next, &place, err) < 0)
        return -1;
    if (place == next)
        counting->groups.items[counting->groups.n++] = (struct group){ .tenant = tenant, .number = number };
    servicecost_add(&counting->groups.items[place].cost, part);
    return 0;
}

/* --- walking --- */

static void count_value(struct store_usage *usage, const struct kv_iterator *iterator, uint64_t n)
{
    usage->bytes += kv_iterator_key(iterator).len + kv_iterator_value(iterator).len;
    usage->n += n;
}

static void count_time(struct store_stats *stats, int64_t start_ns)
{
    if (!stats->first_ns || start_ns < stats->first_ns)
        stats->first_ns = start_ns;
    if (!stats->last_ns || start_ns > stats->last_ns)
        stats->last_ns = start_ns;
}

typedef int visit_function(struct counting *counting, const struct kv_iterator *iterator, struct error *err);

static int walk(struct counting *counting, uint32_t family, visit_function *visit, struct error *err)
{
    AUTO(kv_iterator_freep) struct kv_iterator *iterator = NULL;

    if (kv_iterator_new(counting->day->kv, family, counting->view.snapshot, SLICE(""), true, &iterator, err) < 0)
        return -1;
    for (; kv_iterator_is_valid(iterator); kv_iterator_next(iterator))
        if (visit(counting, iterator, err) < 0)
            return -1;
    return kv_iterator_check(iterator, err) < 0 ? pass_damage(counting, err) : 0;
}

/* --- the index --- */

static int visit_chunk(struct counting *counting, const struct kv_iterator *iterator, struct error *err)
{
    struct chunk_reader reader;
    uint32_t tenant, first;
    uint8_t kind;

    if (!storekey_parse_chunk(kv_iterator_key(iterator), &tenant, &kind, &first) || kind >= CHUNK_KINDS)
        counting->stats->n_damaged++;
    else if (chunk_reader_init(&reader, (enum chunk_kind)kind, kv_iterator_value(iterator), err) < 0)
        return pass_damage(counting, err);
    else
        count_value(&counting->stats->dictionary[kind], iterator, reader.n);
    return 0;
}

static int visit_index(struct counting *counting, const struct kv_iterator *iterator, struct error *err)
{
    struct slice key = kv_iterator_key(iterator);

    switch (key.len ? key.ptr[0] : '\0') {
    case 'd': return visit_chunk(counting, iterator, err);
    case 's': count_value(&counting->stats->series, iterator, 1); break;
    case 'i': count_value(&counting->stats->profile_ids, iterator, 1); break;
    case 't': count_value(&counting->stats->tombstones, iterator, 1); break;
    }
    return 0;
}

/* --- open hours --- */

static int visit_row(struct counting *counting, const struct kv_iterator *iterator, struct error *err)
{
    struct store_stats *stats = counting->stats;
    struct slice key = kv_iterator_key(iterator), value = kv_iterator_value(iterator);
    uint32_t tenant, group, series, sequence;
    struct headrow row;
    struct cost *cost;
    int64_t start_ns;

    count_value(&stats->head_rows, iterator, 1);
    arena_reset(&counting->arena);
    if (!storekey_parse_row(key, &tenant, &group, &series, &start_ns, &sequence)) {
        stats->n_damaged++;
        return 0;
    }
    if (headrow_decode(value, &counting->arena, &row, err) < 0)
        return pass_damage(counting, err);
    if (find_cost(counting, tenant, series, &cost, err) < 0)
        return -1;
    cost->bytes += key.len + value.len;
    cost->n_rows++;
    cost->n_samples += row.n_samples;
    stats->n_rows++;
    stats->n_samples += row.n_samples;
    count_time(stats, start_ns);
    return count_service(counting, tenant, group,
                         &(struct servicecost){ .bytes = key.len + value.len,
                                                .n_rows = 1,
                                                .n_samples = row.n_samples,
                                                .first_ns = start_ns,
                                                .last_ns = start_ns },
                         err);
}

/* --- closed hours --- */

static int visit_windows(struct counting *counting, const struct kv_iterator *iterator, struct cost *cost,
                         struct servicecost *part, struct error *err)
{
    struct windows windows;

    arena_reset(&counting->arena);
    if (windows_decode(kv_iterator_value(iterator), counting->unpacker, &counting->arena, &windows, err) < 0)
        return pass_damage(counting, err);
    part->n_rows = windows.n_rows;
    for (uint32_t i = 0; i < windows.n_rows; i++)
        part->n_samples += windows.sample_counts[i];
    if (windows.n_rows) {
        part->first_ns = windows.starts_ns[0];
        part->last_ns = windows.starts_ns[windows.n_rows - 1];
        count_time(counting->stats, part->first_ns);
        count_time(counting->stats, part->last_ns);
    }
    cost->n_rows += part->n_rows;
    cost->n_samples += part->n_samples;
    return 0;
}

/* Values of a closing that was replaced take room, but are nobody's any more. */
static int visit_part(struct counting *counting, const struct kv_iterator *iterator, struct store_usage *usage,
                      const struct storekey_block *key, struct error *err)
{
    struct servicecost part = { .bytes = kv_iterator_key(iterator).len + kv_iterator_value(iterator).len };
    struct cost *cost;

    count_value(usage, iterator, 1);
    if (!day_view_has_block(&counting->view, key->hour, key->number))
        return 0;
    if (find_cost(counting, key->tenant, key->series, &cost, err) < 0)
        return -1;
    cost->bytes += part.bytes;
    if (key->kind == STOREKEY_WINDOWS && visit_windows(counting, iterator, cost, &part, err) < 0)
        return -1;
    return count_service(counting, key->tenant, key->group, &part, err);
}

static int visit_rollup(struct counting *counting, const struct kv_iterator *iterator, struct store_usage *usage,
                        const struct storekey_block *key, struct error *err)
{
    struct servicecost part = { .bytes = kv_iterator_key(iterator).len + kv_iterator_value(iterator).len };

    count_value(usage, iterator, 1);
    if (!day_view_has_block(&counting->view, key->hour, key->number))
        return 0;
    return count_service(counting, key->tenant, key->group, &part, err);
}

static int visit_block(struct counting *counting, const struct kv_iterator *iterator, struct error *err)
{
    struct store_stats *stats = counting->stats;
    struct storekey_block key;
    uint32_t number;
    uint8_t hour;

    if (storekey_parse_marker(kv_iterator_key(iterator), &hour, &number))
        return 0;
    if (slice_starts_with(kv_iterator_key(iterator), SLICE(STOREKEY_COPY))) {
        if (slice_starts_with(kv_iterator_key(iterator), SLICE(STOREKEY_COPY "s")))
            count_value(&stats->series, iterator, 0);
        return 0;
    }
    if (!storekey_parse_block(kv_iterator_key(iterator), &key)) {
        stats->n_damaged++;
        return 0;
    }
    switch (key.kind) {
    case STOREKEY_WINDOWS: return visit_part(counting, iterator, &stats->windows, &key, err);
    case STOREKEY_SUMS: return visit_part(counting, iterator, &stats->sums, &key, err);
    case STOREKEY_SAMPLES: return visit_part(counting, iterator, &stats->samples, &key, err);
    case STOREKEY_GROUP_SLOT: return visit_rollup(counting, iterator, &stats->slot_rollups, &key, err);
    case STOREKEY_GROUP_HOUR: return visit_rollup(counting, iterator, &stats->hour_rollups, &key, err);
    case STOREKEY_SPANS: count_value(&stats->spans, iterator, 1); break;
    case STOREKEY_TALLY: break;
    }
    return 0;
}

static void count_markers(struct counting *counting)
{
    for (size_t i = 0; i < counting->view.markers.n; i++) {
        const struct marker *marker = &counting->view.markers.items[i];

        counting->stats->n_rows += marker->n_rows;
        counting->stats->n_samples += marker->n_samples;
        counting->stats->n_closed_samples += marker->n_samples;
    }
}

/* --- files --- */

static int count_wal(struct counting *counting, struct error *err)
{
    struct fs_listing listing;

    arena_reset(&counting->arena);
    if (fs_list(counting->day->path, &counting->arena, &listing, err) < 0)
        return -1;
    for (size_t i = 0; i < listing.n; i++) {
        struct stat info;
        const char *path;

        if (!slice_ends_with(slice_from(listing.names[i]), SLICE(".log")))
            continue;
        path = arena_printf(&counting->arena, err, "%s/%s", counting->day->path, listing.names[i]);
        if (!path)
            return -1;
        /* It may have gone since. */
        if (fs_stat(path, &info, err) == 0)
            counting->stats->wal_bytes += (uint64_t)info.st_size;
        else if (err->code != ERR_NOT_FOUND)
            return -1;
    }
    return 0;
}

static int count_files(struct counting *counting, struct error *err)
{
    struct day *day = counting->day;

    counting->stats->index_bytes += kv_family_bytes(day->kv, KV_DEFAULT);
    counting->stats->block_bytes += kv_family_bytes(day->kv, day->block_family);
    for (size_t i = 0; i < counting->view.head_copies.n; i++)
        counting->stats->head_bytes += kv_family_bytes(day->kv, counting->view.head_copies.items[i].family);
    counting->stats->written_bytes += day_written_bytes(day);
    return count_wal(counting, err);
}

/* --- the list of the most expensive --- */

/* Cuts a text to what the list has room for, between characters. */
static void copy_text(struct slice text, char *ret_text, size_t size)
{
    size_t len = MIN(text.len, size - 1);

    while (len < text.len && len && ((uint8_t)text.ptr[len] & 0xc0) == 0x80)
        len--;
    memcpy(ret_text, text.ptr, len);
    ret_text[len] = '\0';
}

/* The labels of a series; one whose record cannot be read is called by its number. */
static int name_series(struct counting *counting, const struct cost *cost, struct buffer *text, struct error *err)
{
    struct slice tenant = tenant_name(counting, cost->tenant);
    struct seriesinfo info;
    bool is_there;

    buffer_clear(text);
    if (tenant.len > 0 && !slice_is(tenant, STORE_TENANT_DEFAULT))
        buffer_printf(text, "%.*s ", SLICE_ARG(tenant));
    if (read_series(counting, cost->tenant, cost->series, &info, &is_there, err) < 0)
        return -1;
    if (is_there)
        seriesinfo_text(&info, text);
    else
        buffer_printf(text, "series %u of %s", cost->series, counting->day->name);
    return buffer_check(text, err);
}

/* Moves an entry up to where it belongs. */
static void sort_entry(struct store_stats *stats, uint32_t place)
{
    struct store_series_cost entry = stats->top[place];

    for (; place && stats->top[place - 1].bytes < entry.bytes; place--)
        stats->top[place] = stats->top[place - 1];
    stats->top[place] = entry;
}

static void add_to_top(struct store_stats *stats, const struct cost *cost, struct slice text)
{
    char labels[sizeof(stats->top[0].labels)];
    uint32_t place = 0;

    copy_text(text, labels, sizeof(labels));
    while (place < stats->n_top && strcmp(stats->top[place].labels, labels) != 0)
        place++;
    if (place == STORE_TOP_SERIES) {
        if (stats->top[--place].bytes >= cost->bytes)
            return;
        stats->n_top = place;
    }
    if (place == stats->n_top) {
        stats->top[place] = (struct store_series_cost){ .bytes = 0 };
        memcpy(stats->top[place].labels, labels, sizeof(labels));
        stats->n_top++;
    }
    stats->top[place].bytes += cost->bytes;
    stats->top[place].n_rows += cost->n_rows;
    stats->top[place].n_samples += cost->n_samples;
    sort_entry(stats, place);
}

static int list_top(struct counting *counting, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    if (keep_first(counting, STORE_TOP_SERIES, err) < 0)
        return -1;
    for (size_t i = 0; i < counting->costs.n; i++) {
        if (name_series(counting, &counting->costs.items[i], &text, err) < 0)
            return -1;
        add_to_top(counting->stats, &counting->costs.items[i], buffer_slice(&text));
    }
    return 0;
}

/* --- a day --- */

static int count_all(struct counting *counting, struct error *err)
{
    if (walk(counting, KV_DEFAULT, visit_index, err) < 0)
        return -1;
    for (size_t i = 0; i < counting->view.head_copies.n; i++)
        if (walk(counting, counting->view.head_copies.items[i].family, visit_row, err) < 0)
            return -1;
    if (walk(counting, counting->day->block_family, visit_block, err) < 0)
        return -1;
    count_markers(counting);
    if (count_files(counting, err) < 0 || settle_groups(counting, err) < 0)
        return -1;
    return list_top(counting, err);
}

int daystats_add(struct day *day, struct servicecosts *services, struct store_stats *stats, struct error *err)
{
    struct counting counting = { .day = day, .stats = stats, .services = services };
    int result;

    /* Half of the memory for costs and their maps, which have up to four slots for each. */
    counting.max_costs =
        MAX(day->context->read_bytes / 2 / (sizeof(struct cost) + sizeof(struct group) + 8 * sizeof(struct map_slot)),
            4 * STORE_TOP_SERIES);
    arena_init(&counting.arena, day->context->read_bytes);
    map_init(&counting.places, 0);
    map_init(&counting.group_places, 0);
    result = unpacker_new(&counting.unpacker, err);
    if (!result)
        result = day_view_open(day, 0, &counting.view, err);
    if (!result)
        result = count_all(&counting, err);
    day_view_close(&counting.view);
    unpacker_free(counting.unpacker);
    VEC_DONE(&counting.costs);
    map_done(&counting.places);
    VEC_DONE(&counting.groups);
    map_done(&counting.group_places);
    arena_done(&counting.arena);
    return result < 0 ? error_wrap(err, "counting day %s", day->name) : 0;
}
