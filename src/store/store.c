// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "base/hash.h"
#include "base/vec.h"
#include "store/rocks.h"

#include <stdlib.h>

enum { MAX_TEXTS = 1 << 24 };

int store_open(const struct store_options *options, struct store **ret_store, struct error *err)
{
    return rocks_open(options, ret_store, err);
}

void store_close(struct store *store)
{
    if (store)
        store->ops->close(store);
}

void store_closep(struct store **store)
{
    store_close(*store);
}

/* --- passing on, with what is common checked and filled in --- */

static struct slice tenant_or_default(struct slice tenant)
{
    return tenant.len ? tenant : SLICE(STORE_TENANT_DEFAULT);
}

int store_check_tenant(struct slice name, struct error *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!_.*'()-";

    if (name.len == 0 || name.len > STORE_TENANT_MAX_BYTES)
        return error_set(err, ERR_INVALID, "a tenant's name has 1 to %d bytes, this one %zu", STORE_TENANT_MAX_BYTES,
                         name.len);
    for (size_t i = 0; i < name.len; i++)
        if (!name.ptr[i] || !strchr(allowed, name.ptr[i]))
            return error_set(
                err, ERR_INVALID,
                "the tenant's name '%.*s' has a character that is not allowed: use letters, digits and any "
                "of !_.*'()-",
                SLICE_ARG(name));
    if (slice_is(name, ".") || slice_is(name, ".."))
        return error_set(err, ERR_INVALID, "a tenant cannot be called '%.*s'", SLICE_ARG(name));
    return 0;
}

static int check_ids(const struct store_ids *ids, struct error *err)
{
    uint32_t most = MAX(MAX(ids->n_spans, ids->n_traces), ids->n_profiles);

    if (most > STORE_MAX_IDS)
        return error_set(err, ERR_LIMIT, "%u ids of one kind, and at most %u can be asked for: ask several times", most,
                         STORE_MAX_IDS);
    return 0;
}

static int check_query(const struct store_query *query, struct store_query *ret_query, struct error *err)
{
    *ret_query = *query;
    ret_query->tenant = tenant_or_default(query->tenant);
    if (query->from_ns > query->until_ns)
        return error_set(err, ERR_INVALID, "the range ends before it begins");
    return query->ids ? check_ids(query->ids, err) : 0;
}

int store_write(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                struct error *err)
{
    struct store_write given = *write;

    given.tenant = tenant_or_default(write->tenant);
    return store->ops->write(store, &given, ret_receipt, err);
}

int store_scan(struct store *store, const struct store_query *query, const struct store_sink *sink, struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->scan(store, &given, sink, err);
}

int store_sum(struct store *store, const struct store_query *query, int64_t step_ns, const struct store_sum_sink *sink,
              struct store_reads *reads, struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->sum(store, &given, step_ns, sink, reads, err);
}

int store_windows(struct store *store, const struct store_query *query, const struct store_window_sink *sink,
                  struct store_reads *reads, struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->windows(store, &given, sink, reads, err);
}

int store_plan(struct store *store, const struct store_query *query, const struct store_plan_options *options,
               int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
               struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->plan(store, &given, options, visit, context, err);
}

int store_each_series(struct store *store, const struct store_query *query,
                      int (*visit)(void *context, const struct seriesinfo *series, struct error *err), void *context,
                      struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->each_series(store, &given, visit, context, err);
}

int store_each_column_label(struct store *store, const struct store_query *query,
                            int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                            void *context, struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->each_column_label(store, &given, visit, context, err);
}

int store_ready(struct store *store, struct error *err)
{
    return store->ops->ready(store, err);
}

int store_maintain(struct store *store, struct error *err)
{
    return store->ops->maintain(store, err);
}

int store_delete(struct store *store, const struct store_query *query, uint32_t *ret_n_days, struct error *err)
{
    struct store_query given;

    return check_query(query, &given, err) < 0 ? -1 : store->ops->delete (store, &given, ret_n_days, err);
}

int store_keep(struct store *store, const struct store_keep *keep, struct error *err)
{
    struct store_keep given = *keep;

    given.tenant = tenant_or_default(keep->tenant);
    return store->ops->keep(store, &given, err);
}

int store_unkeep(struct store *store, struct slice tenant, struct slice name, struct error *err)
{
    return store->ops->unkeep(store, tenant_or_default(tenant), name, err);
}

int store_each_keep(struct store *store, int (*visit)(void *context, const struct store_keep *keep, struct error *err),
                    void *context, struct error *err)
{
    return store->ops->each_keep(store, visit, context, err);
}

int store_compact(struct store *store, struct error *err)
{
    return store->ops->compact(store, err);
}

int store_backup(struct store *store, struct store_backup *backup, struct error *err)
{
    return store->ops->backup(store, backup, err);
}

int store_verify(struct store *store, struct store_verify *verify, struct error *err)
{
    return store->ops->verify(store, verify, err);
}

int store_stats(struct store *store, struct servicecosts *services, struct store_stats *ret_stats, struct error *err)
{
    return store->ops->stats(store, services, ret_stats, err);
}

/* --- what there is --- */

/* Texts gathered once each. */
struct gathering {
    struct arena *arena;
    struct hash_set seen;
    VEC(struct slice) texts;
    struct slice name; /* of the label whose values are wanted */
    struct buffer scratch;
};

static int gather(struct gathering *gathering, struct slice text, struct error *err)
{
    struct slice *slot;
    uint32_t id;
    bool is_new;

    if (hash_set_add(&gathering->seen, hash_bytes(text, 0), &id, &is_new, err) < 0)
        return -1;
    if (!is_new)
        return 0;
    slot = VEC_PUSH(&gathering->texts, MAX_TEXTS, err);
    if (!slot)
        return -1;
    *slot = arena_copy(gathering->arena, text, err);
    return slot->ptr ? 0 : -1;
}

static int by_text(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts what was gathered and hands it over. */
static int finish_gathering(struct gathering *gathering, int result, struct store_texts *ret_texts, struct error *err)
{
    struct slice *texts = NULL;

    if (!result) {
        texts = ARENA_ARRAY(gathering->arena, struct slice, gathering->texts.n, err);
        result = texts ? 0 : -1;
    }
    if (!result) {
        if (gathering->texts.n) {
            qsort(gathering->texts.items, gathering->texts.n, sizeof(*texts), by_text);
            memcpy(texts, gathering->texts.items, gathering->texts.n * sizeof(*texts));
        }
        *ret_texts = (struct store_texts){ texts, gathering->texts.n };
    }
    VEC_DONE(&gathering->texts);
    hash_set_done(&gathering->seen);
    buffer_done(&gathering->scratch);
    return result;
}

static void begin_gathering(struct gathering *gathering, struct arena *arena)
{
    *gathering = (struct gathering){ .arena = arena };
    hash_set_init(&gathering->seen, 0);
    buffer_init(&gathering->scratch, 0);
}

static int gather_canonical(struct gathering *gathering, struct slice name, struct error *err)
{
    struct arena arena;
    struct slice canonical;
    bool is_repaired;
    int result;

    arena_init(&arena, 0);
    result = labelrules_canonical(name, &arena, &canonical, &is_repaired, err);
    if (!result)
        result = gather(gathering, canonical, err);
    arena_done(&arena);
    return result;
}

static int gather_series_names(void *context, const struct seriesinfo *series, struct error *err)
{
    for (uint32_t i = 0; i < series->n_labels; i++)
        if (gather(context, series->labels[i].name, err) < 0)
            return -1;
    return 0;
}

static int gather_column_name(void *context, struct slice name, struct slice value, struct error *err)
{
    return gather_canonical(context, name, err);
}

int store_label_names(struct store *store, const struct store_query *query, struct arena *arena,
                      struct store_texts *ret_names, struct error *err)
{
    struct gathering gathering;
    int result;

    begin_gathering(&gathering, arena);
    result = store_each_series(store, query, gather_series_names, &gathering, err);
    if (!result)
        result = store_each_column_label(store, query, gather_column_name, &gathering, err);
    return finish_gathering(&gathering, result, ret_names, err);
}

static int gather_series_value(void *context, const struct seriesinfo *series, struct error *err)
{
    struct gathering *gathering = context;
    struct slice value = seriesinfo_label(series, gathering->name);

    return value.len ? gather(gathering, value, err) : 0;
}

static int gather_column_value(void *context, struct slice name, struct slice value, struct error *err)
{
    struct gathering *gathering = context;
    struct arena arena;
    struct slice canonical;
    bool is_repaired, is_wanted = false;
    int result;

    arena_init(&arena, 0);
    result = labelrules_canonical(name, &arena, &canonical, &is_repaired, err);
    if (!result)
        is_wanted = slice_equal(canonical, gathering->name);
    arena_done(&arena);
    return result < 0 || !is_wanted || !value.len ? result : gather(gathering, value, err);
}

int store_label_values(struct store *store, const struct store_query *query, struct slice name, struct arena *arena,
                       struct store_texts *ret_values, struct error *err)
{
    struct gathering gathering;
    bool is_repaired;
    int result;

    begin_gathering(&gathering, arena);
    result = labelrules_canonical(name, arena, &gathering.name, &is_repaired, err);
    if (!result)
        result = store_each_series(store, query, gather_series_value, &gathering, err);
    if (!result)
        result = store_each_column_label(store, query, gather_column_value, &gathering, err);
    return finish_gathering(&gathering, result, ret_values, err);
}

static int gather_types(void *context, const struct seriesinfo *series, struct error *err)
{
    struct gathering *gathering = context;

    for (uint32_t i = 0; i < series->n_types; i++) {
        buffer_clear(&gathering->scratch);
        seriesinfo_profile_type(series, i, &gathering->scratch);
        if (buffer_check(&gathering->scratch, err) < 0 || gather(gathering, buffer_slice(&gathering->scratch), err) < 0)
            return -1;
    }
    return 0;
}

int store_profile_types(struct store *store, const struct store_query *query, struct arena *arena,
                        struct store_texts *ret_types, struct error *err)
{
    struct gathering gathering;
    int result;

    begin_gathering(&gathering, arena);
    result = store_each_series(store, query, gather_types, &gathering, err);
    return finish_gathering(&gathering, result, ret_types, err);
}
