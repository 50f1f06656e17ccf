// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storm_check.h"

#include "base/clock.h"
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>

#define DAY_NS        ((int64_t)86400 * CLOCK_NS_PER_SECOND)
#define MAX_PROFILES  10000000u
#define FLUSH_SAMPLES 100000u /* rows wait until so many samples want names */

/* A profile that was found. */
struct seen {
    struct storm_id id;
    struct storm_print print;
    uint32_t n_rows;
    bool is_missing_names;
};

/* A row that waits for its names; its samples are in the columns behind `first`. */
struct waiting {
    struct storm_id id;
    uint32_t label_set;
    size_t first;
    uint32_t n_samples;
    bool has_endpoint; /* of the series */
    bool is_cart;
};

struct waiting_sample {
    uint32_t stack;
    uint32_t label_set;
    bool has_link;
    struct link link;
    int64_t values[2];
};

struct storm_found {
    struct map index;
    VEC(struct seen) seen;
    /* while reading: */
    const struct storm_damage *damage;
    uint32_t tenant_parity;
    struct names *names;
    VEC(struct waiting) rows;
    VEC(struct waiting_sample) samples;
    VEC(uint32_t) stacks;
    VEC(uint32_t) label_sets;
};

void storm_found_free(struct storm_found *found)
{
    if (!found)
        return;
    map_done(&found->index);
    VEC_DONE(&found->seen);
    VEC_DONE(&found->rows);
    VEC_DONE(&found->samples);
    VEC_DONE(&found->stacks);
    VEC_DONE(&found->label_sets);
    memory_free(found);
}

void storm_found_freep(struct storm_found **found)
{
    storm_found_free(*found);
}

size_t storm_found_count(const struct storm_found *found)
{
    return found->seen.n;
}

static uint64_t key_of(struct storm_id id)
{
    return (uint64_t)id.thread << 40 | (uint64_t)id.counter << 4 | id.index;
}

static struct seen *see(struct storm_found *found, struct storm_id id, struct error *err)
{
    uint32_t place;
    struct seen *seen;

    if (map_add(&found->index, key_of(id), (uint32_t)found->seen.n, &place, err) < 0)
        return NULL;
    if (place < found->seen.n)
        return &found->seen.items[place];
    seen = VEC_PUSH(&found->seen, MAX_PROFILES, err);
    if (seen)
        seen->id = id;
    return seen;
}

static bool is_damaged_day(const struct storm_damage *damage, int64_t time_ns)
{
    for (uint32_t i = 0; damage && i < damage->n; i++)
        if (damage->days_ns[i] == time_ns - time_ns % DAY_NS)
            return true;
    return damage && damage->is_everywhere;
}

/* --- names for the rows that wait --- */

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Sorts ids, each once, without 0. */
static uint32_t sort_ids(uint32_t *ids, size_t n)
{
    uint32_t kept = 0;

    if (n > 0)
        qsort(ids, n, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < n; i++)
        if (ids[i] != 0 && (kept == 0 || ids[kept - 1] != ids[i]))
            ids[kept++] = ids[i];
    return kept;
}

/* Where the tables of names_load have an id. */
static uint32_t place_of(const uint32_t *ids, uint32_t n, uint32_t id)
{
    const uint32_t *at = id ? bsearch(&id, ids, n, sizeof(*ids), compare_ids) : NULL;

    return at ? (uint32_t)(at - ids) + 1 : 0;
}

static int64_t number_label(const struct tables *tables, uint32_t label_set, struct slice key)
{
    const struct label *label = tables_find_label(tables, label_set, key);

    return label ? label->number : 0;
}

static struct slice row_endpoint(const struct waiting *row)
{
    return !row->has_endpoint ? SLICE("") : row->is_cart ? SLICE("/cart") : SLICE("/pay");
}

/* What a salvage makes up for entries that are lost, and what stands for those that are missing: texts that say so, stacks
 * without frames, frames without lines, functions without names, sets without labels. No writer makes such. */
static bool is_lost_text(const struct tables *tables, uint32_t string)
{
    return slice_is(tables_string(tables, string), "[missing]");
}

static bool is_lost_frame(const struct tables *tables, const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        uint32_t name = tables->functions[tables->lines[frame->first_line + i].function].name;

        if (name == 0 || is_lost_text(tables, name))
            return true;
    }
    return frame->n_lines == 0;
}

static bool is_lost_stack(const struct tables *tables, uint32_t stack)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(tables, stack, &depth);

    for (uint32_t i = 0; i < depth; i++)
        if (is_lost_frame(tables, &tables->frames[frames[i]]))
            return true;
    return depth == 0;
}

static bool is_lost_set(const struct tables *tables, uint32_t set)
{
    uint32_t n;
    const struct label *labels = tables_label_set(tables, set, &n);

    for (uint32_t i = 0; i < n; i++)
        if (is_lost_text(tables, labels[i].key) || is_lost_text(tables, labels[i].text))
            return true;
    return set != 0 && n == 0;
}

static int add_row(struct storm_found *found, const struct tables *tables, const struct waiting *row, uint32_t n_stacks,
                   uint32_t n_label_sets, struct error *err)
{
    uint32_t row_set = place_of(found->label_sets.items, n_label_sets, row->label_set);
    int64_t row_pid = number_label(tables, row_set, SLICE("process.pid"));
    struct seen *seen = see(found, row->id, err);

    if (!seen)
        return -1;
    seen->n_rows++;
    seen->is_missing_names |= is_lost_set(tables, row_set);
    for (uint32_t i = 0; i < row->n_samples; i++) {
        const struct waiting_sample *sample = &found->samples.items[row->first + i];
        uint32_t set = place_of(found->label_sets.items, n_label_sets, sample->label_set);
        uint32_t stack = place_of(found->stacks.items, n_stacks, sample->stack);

        seen->is_missing_names |= is_lost_stack(tables, stack) || is_lost_set(tables, set);
        storm_profile_add(&seen->print, tables, stack, row_endpoint(row), number_label(tables, set, SLICE("pid")),
                          row_pid, sample->has_link ? &sample->link : NULL, sample->values[0], sample->values[1]);
    }
    return 0;
}

static int resolve(struct storm_found *found, struct arena *arena, struct error *err)
{
    uint32_t n_stacks = sort_ids(found->stacks.items, found->stacks.n);
    uint32_t n_label_sets = sort_ids(found->label_sets.items, found->label_sets.n);
    uint32_t n_missing = 0;
    struct tables tables;

    if (names_load(found->names, found->stacks.items, n_stacks, found->label_sets.items, n_label_sets, arena, &tables,
                   &n_missing, err) < 0)
        return error_wrap(err, "names of %u stacks and %u label sets", n_stacks, n_label_sets);
    if (n_missing > 0 && !is_damaged_day(found->damage, storm_profile_start(found->rows.items[0].id)))
        return error_set(err, ERR_CORRUPT, "%u names of %u stacks and %u label sets are missing", n_missing, n_stacks,
                         n_label_sets);
    for (size_t i = 0; i < found->rows.n; i++)
        if (add_row(found, &tables, &found->rows.items[i], n_stacks, n_label_sets, err) < 0)
            return -1;
    return 0;
}

static int flush(struct storm_found *found, struct error *err)
{
    struct arena arena;
    int result = 0;

    if (found->rows.n > 0) {
        arena_init(&arena, 0);
        result = resolve(found, &arena, err);
        arena_done(&arena);
    }
    found->rows.n = found->samples.n = found->stacks.n = found->label_sets.n = 0;
    return result;
}

/* --- the sink --- */

static int take_names(void *context, struct names *names, struct error *err)
{
    struct storm_found *found = context;

    if (flush(found, err) < 0)
        return -1;
    found->names = names;
    return 0;
}

/* Whether a row has what its writer gave it, apart from its samples. */
static const char *row_fault(const struct storm_found *found, struct storm_id id, const struct seriesinfo *series,
                             const struct headrow *row)
{
    char service[16], shard[16];

    snprintf(service, sizeof(service), "storm-%u", storm_profile_service(id));
    snprintf(shard, sizeof(shard), "s%u", storm_profile_shard(id));
    if (id.thread % 2 != found->tenant_parity)
        return "it belongs to the other tenant";
    if (!slice_is(seriesinfo_label(series, SLICE(STORM_SERVICE_LABEL)), service))
        return "its service is another";
    if (!slice_is(seriesinfo_label(series, SLICE(STORM_SHARD_LABEL)), shard))
        return "its shard is another";
    if (row->n_types != 2 || series->n_types != 2 || !slice_is(series->types[0].type, "samples") ||
        !slice_is(series->types[1].type, "cpu"))
        return "its types are others";
    if (row->duration_ns != storm_profile_duration(id))
        return "its duration is another";
    return NULL;
}

static int keep_samples(struct storm_found *found, const struct headrow *row, struct error *err)
{
    if (VEC_RESERVE(&found->samples, row->n_samples, SIZE_MAX, err) < 0 ||
        VEC_RESERVE(&found->stacks, row->n_samples, SIZE_MAX, err) < 0 ||
        VEC_RESERVE(&found->label_sets, row->n_samples + 1u, SIZE_MAX, err) < 0)
        return -1;
    found->label_sets.items[found->label_sets.n++] = row->label_set;
    for (uint32_t i = 0; i < row->n_samples; i++) {
        struct waiting_sample *sample = &found->samples.items[found->samples.n++];

        *sample = (struct waiting_sample){ .stack = row->stacks[i],
                                           .label_set = row->label_sets ? row->label_sets[i] : 0,
                                           .values = { row->values[i], row->values[row->stride + i] } };
        if (row->links && row->links[i]) {
            sample->has_link = true;
            sample->link = row->link_table[row->links[i] - 1];
        }
        found->stacks.items[found->stacks.n++] = sample->stack;
        found->label_sets.items[found->label_sets.n++] = sample->label_set;
    }
    return 0;
}

static int take_row(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err)
{
    struct storm_found *found = context;
    struct slice endpoint = seriesinfo_label(series, SLICE(STORM_ENDPOINT_LABEL));
    struct waiting *waiting;
    const char *fault;
    struct storm_id id;

    if (!storm_profile_parse_start(row->start_ns, &id))
        return error_set(err, ERR_CORRUPT, "a row begins at %lld, which no writer wrote", (long long)row->start_ns);
    fault = row_fault(found, id, series, row);
    if (fault)
        return error_set(err, ERR_CORRUPT, "profile %u/%u/%u: %s", id.thread, id.counter, id.index, fault);
    if (found->samples.n >= FLUSH_SAMPLES && flush(found, err) < 0)
        return -1;
    waiting = VEC_PUSH(&found->rows, SIZE_MAX, err);
    if (!waiting)
        return -1;
    *waiting = (struct waiting){ .id = id,
                                 .label_set = row->label_set,
                                 .first = found->samples.n,
                                 .n_samples = row->n_samples,
                                 .has_endpoint = endpoint.len > 0,
                                 .is_cart = slice_is(endpoint, "/cart") };
    return keep_samples(found, row, err);
}

static int read_tenant(struct store *store, struct storm_found *found, uint32_t parity, struct error *err)
{
    struct store_query query = { .tenant = slice_from(storm_profile_tenant(parity)),
                                 .from_ns = INT64_MIN,
                                 .until_ns = INT64_MAX };
    struct store_sink sink = { .context = found, .names = take_names, .row = take_row };

    found->tenant_parity = parity;
    if (store_scan(store, &query, &sink, err) < 0)
        return error_wrap(err, "reading tenant '%s'", storm_profile_tenant(parity));
    if (found->rows.n > 0)
        return error_set(err, ERR_CORRUPT, "the scan did not end the names of its last rows");
    return 0;
}

int storm_check_read(struct store *store, const struct storm_damage *damage, struct storm_found **ret_found,
                     struct error *err)
{
    AUTO(storm_found_freep) struct storm_found *found = MEMORY_NEW(struct storm_found, err);

    if (!found)
        return -1;
    map_init(&found->index, 0);
    found->damage = damage;
    for (uint32_t parity = 0; parity < 2; parity++)
        if (read_tenant(store, found, parity, err) < 0)
            return -1;
    *ret_found = TAKE(found);
    return 0;
}

/* --- comparing --- */

/* What is wrong with a profile, or NULL. */
static const char *fault_of(const struct seen *seen, enum storm_fate fate, bool is_damaged)
{
    struct storm_print want;
    uint32_t n_rows;

    if (!seen)
        return fate == STORM_MUST_BE && !is_damaged ? "was acknowledged and is missing" : NULL;
    if (fate == STORM_MUST_NOT_BE)
        return "was deleted or never written and is there";
    want = storm_profile_print(seen->id);
    n_rows = storm_profile_rows(seen->id);
    if (seen->n_rows > n_rows)
        return "is there more than once";
    if (is_damaged && (seen->n_rows < n_rows || seen->is_missing_names))
        return NULL;
    if (seen->n_rows < n_rows)
        return "is there in part";
    if (seen->print.totals[0] != want.totals[0] || seen->print.totals[1] != want.totals[1])
        return "has other totals";
    return seen->print.content != want.content ? "has other stacks, labels or links" : NULL;
}

#define TOLD_FAULTS 10

/* Tells the first faults, keeps the very first as the story, and counts. */
static void complain(struct storm_id id, const char *fault, uint64_t *n_faults, struct error *err)
{
    char time[CLOCK_TEXT_BYTES];

    clock_format(storm_profile_start(id), CLOCK_ZONE_UTC, 9, time);
    if (*n_faults == 0)
        error_set(err, ERR_CORRUPT, "profile %u/%u/%u (%s) %s", id.thread, id.counter, id.index, time, fault);
    if ((*n_faults)++ < TOLD_FAULTS)
        fprintf(stderr, "storm: profile %u/%u/%u (%s, shard %u) %s\n", id.thread, id.counter, id.index, time,
                storm_profile_shard(id), fault);
}

/* How many profiles of damaged days there ought to be, and are. */
struct survivors {
    uint64_t n_wanted, n_found;
};

static void compare_one(const struct storm_found *found, const struct storm_promise *promise,
                        const struct storm_damage *damage, struct storm_id id, struct survivors *survivors,
                        uint64_t *n_faults, struct error *err)
{
    const uint32_t *place = map_find(&found->index, key_of(id));
    enum storm_fate fate = storm_ledger_fate(promise, id);
    bool is_damaged = is_damaged_day(damage, storm_profile_start(id));
    const char *fault = fault_of(place ? &found->seen.items[*place] : NULL, fate, is_damaged);

    survivors->n_wanted += is_damaged && fate == STORM_MUST_BE;
    survivors->n_found += is_damaged && fate == STORM_MUST_BE && place;
    if (fault)
        complain(id, fault, n_faults, err);
}

static int check_survivors(const struct storm_damage *damage, const struct survivors *survivors, struct error *err)
{
    if (!damage || survivors->n_found * 100 >= survivors->n_wanted * damage->min_percent)
        return 0;
    return error_set(err, ERR_CORRUPT, "of %llu profiles in damaged days %llu are there, less than %u %%",
                     (unsigned long long)survivors->n_wanted, (unsigned long long)survivors->n_found,
                     damage->min_percent);
}

int storm_check_compare(const struct storm_found *found, const struct storm_promise *promise,
                        const struct storm_damage *damage, struct error *err)
{
    struct survivors survivors = { 0 };
    uint64_t n_faults = 0;
    struct storm_id id;

    for (id.thread = 0; id.thread < STORM_MAX_THREADS; id.thread++)
        for (id.counter = 0; id.counter < promise->begun[id.thread]; id.counter++)
            for (id.index = 0; id.index < storm_profile_count(id.thread, id.counter); id.index++)
                compare_one(found, promise, damage, id, &survivors, &n_faults, err);
    for (size_t i = 0; i < found->seen.n; i++) {
        id = found->seen.items[i].id;
        if (id.counter >= promise->begun[id.thread])
            complain(id, "was never written and is there", &n_faults, err);
    }
    if (survivors.n_wanted)
        printf("damaged days: %llu of %llu profiles\n", (unsigned long long)survivors.n_found,
               (unsigned long long)survivors.n_wanted);
    if (n_faults)
        return error_wrap(err, "%llu profiles are wrong, the first", (unsigned long long)n_faults);
    return check_survivors(damage, &survivors, err);
}
