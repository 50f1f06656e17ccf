// SPDX-License-Identifier: Apache-2.0
#include "intake/otlpexport.h"

#include "intake/batchedit.h"
#include "intake/intakework_internal.h"
#include "profile/builder.h"
#include "wire/otlp.h"

/* --- services --- */

static bool has_service(const struct tables *tables, uint32_t set)
{
    return tables_find_label(tables, set, SLICE("service.name")) ||
           tables_find_label(tables, set, SLICE("service_name"));
}

/* A resource that names no service has that of its executable, or its samples have theirs: senders of 2025 describe
 * processes there. */
static int name_services(struct batch *batch, struct error *err)
{
    uint32_t *named;

    if (batchedit_derive_label(batch, SLICE("process.executable.name"), SLICE("service.name"), &named, err) < 0)
        return -1;
    for (uint32_t i = 0; named && i < batch->n_profiles; i++) {
        struct profile *profile = &batch->profiles[i];

        if (has_service(&batch->tables, profile->resource))
            continue;
        for (uint32_t k = 0; profile->label_sets && k < profile->n_samples; k++)
            profile->label_sets[k] = named[profile->label_sets[k]];
        profile->resource = named[profile->resource];
    }
    return 0;
}

/* --- types --- */

/* Ids of the strings that types are renamed to, added when the first profile needs them. */
struct spellings {
    uint32_t first; /* 0 = not yet */
};
enum { SPELLED_CPU, SPELLED_NANOSECONDS };

static int spell(struct batch *batch, struct spellings *spellings, uint32_t which, uint32_t *ret_string,
                 struct error *err)
{
    static const struct slice texts[] = { { "cpu", 3 }, { "nanoseconds", 11 } };

    if (spellings->first == 0 && batchedit_add_strings(batch, texts, ARRAY_LEN(texts), &spellings->first, err) < 0)
        return -1;
    *ret_string = spellings->first + which;
    return 0;
}

static int respell_type(struct batch *batch, struct value_type *type, struct spellings *spellings, struct error *err)
{
    if (slice_is(tables_string(&batch->tables, type->type), "itimer") &&
        spell(batch, spellings, SPELLED_CPU, &type->type, err) < 0)
        return -1;
    if (slice_is(tables_string(&batch->tables, type->unit), "ns"))
        return spell(batch, spellings, SPELLED_NANOSECONDS, &type->unit, err);
    return 0;
}

static bool is_type(const struct tables *tables, const struct value_type *type, const char *name, const char *unit)
{
    return slice_is(tables_string(tables, type->type), name) && slice_is(tables_string(tables, type->unit), unit);
}

/* Samples of a CPU become the time that they stand for; how many there were is kept beside. */
static int samples_to_time(struct batch *batch, struct profile *profile, struct spellings *spellings, struct error *err)
{
    uint64_t ignored = 0;

    if (profile->n_types != 1 || profile->period <= 0 ||
        !is_type(&batch->tables, &profile->types[0], "samples", "count") ||
        !is_type(&batch->tables, &profile->period_type, "cpu", "nanoseconds"))
        return 0;
    if (spell(batch, spellings, SPELLED_CPU, &profile->types[0].type, err) < 0 ||
        spell(batch, spellings, SPELLED_NANOSECONDS, &profile->types[0].unit, err) < 0)
        return -1;
    if (!profile->counts) {
        profile->counts = ARENA_ARRAY(&batch->arena, uint64_t, profile->stride, err);
        if (!profile->counts)
            return -1;
        for (uint32_t i = 0; i < profile->n_samples; i++)
            profile->counts[i] = profile->values[i] > 0 ? (uint64_t)profile->values[i] : 1;
    }
    for (uint32_t i = 0; i < profile->n_samples; i++)
        profile->values[i] = value_multiply(profile->values[i], profile->period, &ignored);
    profile->types[0].nature = VALUE_FLOW;
    profile->types[0].temporality = TEMPORALITY_DELTA;
    return 0;
}

static int settle_types(struct batch *batch, struct profile *profile, struct spellings *spellings, struct error *err)
{
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (respell_type(batch, &profile->types[i], spellings, err) < 0)
            return -1;
    if (respell_type(batch, &profile->period_type, spellings, err) < 0)
        return -1;
    return samples_to_time(batch, profile, spellings, err);
}

/* --- windows --- */

static bool flows(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (profile->types[i].nature == VALUE_FLOW && profile->types[i].temporality != TEMPORALITY_CUMULATIVE)
            return true;
    return false;
}

/* The first and last timestamps; false without any. */
static bool find_times(const struct profile *profile, int64_t *ret_first_ns, int64_t *ret_last_ns)
{
    uint32_t n = profile->time_starts ? profile->time_starts[profile->n_samples] : 0;
    uint64_t first = UINT64_MAX, last = 0;

    for (uint32_t i = 0; i < n; i++) {
        first = MIN(first, profile->times[i]);
        last = MAX(last, profile->times[i]);
    }
    if (n == 0 || first == 0 || last >= INT64_MAX)
        return false;
    *ret_first_ns = (int64_t)first;
    *ret_last_ns = (int64_t)last;
    return true;
}

static void settle_window(struct profile *profile, int64_t received_ns)
{
    struct intakewindow window = { .received_ns = received_ns };
    int64_t first_ns, last_ns;

    if ((profile->start_ns <= 0 || profile->duration_ns <= 0) && find_times(profile, &first_ns, &last_ns)) {
        if (profile->start_ns <= 0)
            profile->start_ns = first_ns;
        if (profile->duration_ns <= 0 && last_ns >= profile->start_ns &&
            last_ns - profile->start_ns < INTAKEWINDOW_MAX_NS)
            profile->duration_ns = last_ns - profile->start_ns + 1;
    }
    if (profile->duration_ns <= 0 && flows(profile))
        profile->duration_ns = OTLPEXPORT_WINDOW_NS;
    intakewindow_settle(&window, profile);
}

/* --- merging --- */

/* What profiles must have in common to become one. */
static struct hash128 group_hash(const struct profile *profile, const struct content *content)
{
    struct hash128 hash = { (uint64_t)(profile->start_ns / OTLPEXPORT_WINDOW_NS), 1 };
    const struct hash128 parts[] = {
        content->label_sets[profile->resource],     content->label_sets[profile->scope],
        content->label_sets[profile->attributes],   content->strings[profile->scope_name],
        content->strings[profile->scope_version],   content->strings[profile->period_type.type],
        content->strings[profile->period_type.unit]
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        hash = hash_fold(hash, parts[i].a, parts[i].b);
    hash = hash_fold(hash, (uint64_t)profile->period, profile->n_types);
    for (uint32_t i = 0; i < profile->n_types; i++)
        hash = hash_fold(hash, content->strings[profile->types[i].type].a, content->strings[profile->types[i].unit].a);
    return hash;
}

/* The profiles of each group: next[i] is the one after i, or 0. */
struct groups {
    uint32_t *first; /* [n] */
    uint32_t *last;
    uint32_t *next; /* [n_profiles] */
    uint32_t n;
};

static int find_groups(struct intake_worker *worker, const struct batch *batch, struct hash_set *index,
                       struct groups *groups, struct error *err)
{
    struct content content;

    groups->first = ARENA_ARRAY(&worker->arena, uint32_t, batch->n_profiles, err);
    groups->last = groups->first ? ARENA_ARRAY(&worker->arena, uint32_t, batch->n_profiles, err) : NULL;
    groups->next = groups->last ? arena_alloc_zero(&worker->arena, batch->n_profiles * sizeof(uint32_t), err) : NULL;
    if (!groups->next || content_hash(&batch->tables, 0, false, &worker->arena, &content, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        const struct profile *profile = &batch->profiles[i];
        struct hash128 hash = group_hash(profile, &content);
        uint32_t group;
        bool is_new;

        if (deltas_is_cumulative(profile)) /* each is a step of its own */
            hash = hash_fold(hash, i, 1);
        if (hash_set_add(index, hash, &group, &is_new, err) < 0)
            return -1;
        if (is_new)
            groups->first[group] = i;
        else
            groups->next[groups->last[group]] = i;
        groups->last[group] = i;
        groups->n = index->n;
    }
    return 0;
}

static void add_samples(struct builder *builder, struct builder_import *import, const struct profile *profile)
{
    int64_t values[PROFILE_MAX_TYPES];

    for (uint32_t i = 0; i < profile->n_samples; i++) {
        for (uint32_t k = 0; k < profile->n_types; k++)
            values[k] = profile_values(profile, k)[i];
        builder_sample(builder, builder_import_stack(import, profile->stacks[i]),
                       builder_import_label_set(import, profile_label_set(profile, i)),
                       builder_import_link(import, profile_link(profile, i)), values,
                       profile->counts ? profile->counts[i] : 0);
    }
}

/* The id of several is made from theirs, so that the same request sent again is known again. */
static void fold_id(const struct profile *profile, struct hash128 *hash, bool *all_have)
{
    static const uint8_t none[sizeof(profile->profile_id)];
    uint64_t words[2];

    memcpy(words, profile->profile_id, sizeof(words));
    *all_have &= memcmp(profile->profile_id, none, sizeof(none)) != 0;
    *hash = hash_fold(*hash, words[0], words[1]);
}

static void merge_group(struct builder *builder, struct builder_import *import, const struct batch *batch,
                        const struct groups *groups, uint32_t group)
{
    uint32_t at = groups->first[group];
    struct profile *header = builder_import_header(import, &batch->profiles[at]);
    bool is_one = groups->next[at] == 0, all_have = true;
    int64_t start_ns = INT64_MAX, end_ns = 0, ends_ns;
    struct hash128 id = { 0, 1 };

    do {
        const struct profile *profile = &batch->profiles[at];

        add_samples(builder, import, profile);
        fold_id(profile, &id, &all_have);
        start_ns = MIN(start_ns, profile->start_ns);
        if (__builtin_add_overflow(profile->start_ns, profile->duration_ns, &ends_ns))
            ends_ns = INT64_MAX;
        end_ns = MAX(end_ns, ends_ns);
        at = groups->next[at];
    } while (at != 0);
    if (is_one)
        return;
    header->start_ns = start_ns;
    header->duration_ns = end_ns - start_ns;
    if (all_have)
        memcpy(header->profile_id, &id, sizeof(header->profile_id));
    else
        memset(header->profile_id, 0, sizeof(header->profile_id));
}

static int merge_groups(struct intake_worker *worker, const struct batch *batch, const struct groups *groups,
                        struct error *err)
{
    struct builder_options options = { .limits = batch->limits, .keep_addresses = true };
    AUTO(builder_freep) struct builder *builder = NULL;
    struct builder_import *import;

    if (builder_new(&options, &builder, err) < 0)
        return -1;
    import = builder_import_new(builder, &batch->tables);
    for (uint32_t i = 0; i < groups->n; i++)
        merge_group(builder, import, batch, groups, i);
    builder_import_free(import);
    batch_reset(&worker->made);
    return builder_finish(builder, &worker->made, err);
}

/* Leaves the batch alone where no two profiles go together. */
static int merge(struct intake_worker *worker, struct batch **batch, struct groups *groups, struct error *err)
{
    struct hash_set index;
    int result = 0;

    if ((*batch)->n_profiles < 2)
        return 0;
    hash_set_init(&index, 0);
    result = find_groups(worker, *batch, &index, groups, err);
    hash_set_done(&index);
    if (result < 0 || groups->n == (*batch)->n_profiles)
        return result;
    if (merge_groups(worker, *batch, groups, err) < 0)
        return -1;
    *batch = &worker->made;
    return 0;
}

/* Counts the profiles that went into others: they fared as these. */
static void count_merged(struct intake_worker *worker, const struct batch *batch, const struct groups *groups,
                         const struct error *err)
{
    const struct intakework_labels none = { 0 };

    for (uint32_t i = 0; i < groups->n; i++) {
        struct slice service = intakework_service(&batch->profiles[groups->first[i]], &none);
        uint32_t n = 0;

        for (uint32_t at = groups->next[groups->first[i]]; at != 0; at = groups->next[at])
            n++;
        if (n > 0 && err)
            intakework_reject(worker, service, n, err);
        else if (n > 0)
            intakework_accept(worker, service, n, INTAKE_MERGED);
    }
}

/* --- the upload --- */

static int settle(struct intake_worker *worker, struct batch *batch, struct error *err)
{
    struct spellings spellings = { 0 };

    if (name_services(batch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        if (settle_types(batch, &batch->profiles[i], &spellings, err) < 0)
            return -1;
        settle_window(&batch->profiles[i], worker->upload->received_ns);
    }
    return 0;
}

int otlpexport_take(struct intake_worker *worker, bool is_json, struct error *err)
{
    struct intakework_labels none = { 0 };
    struct intakework_delivery delivery = { .labels = &none, .has_own_window = true };
    struct batch *batch = &worker->batch;
    struct groups groups = { 0 };
    struct slice content;
    int result;

    if (intakework_body(worker, &content, err) < 0)
        return -1;
    if (content.len == 0)
        return 0;
    if (intakework_decode(worker, content, format_find(is_json ? SLICE("otlp-json") : SLICE("otlp")), err) < 0)
        return -1;
    if (settle(worker, batch, err) < 0 || merge(worker, &batch, &groups, err) < 0)
        return -1;
    result = intakework_store(worker, batch, &delivery, err);
    if (batch != &worker->batch)
        count_merged(worker, &worker->batch, &groups, result < 0 ? err : NULL);
    return result;
}
