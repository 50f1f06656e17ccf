// SPDX-License-Identifier: Apache-2.0
#include "intake/intakework_internal.h"

#include "intake/batchedit.h"
#include "intake/idlabels.h"
#include "label/labelrules.h"
#include "pack/snappy.h"

#define WEIGHT_LABEL "hearth_weight"

/* --- labels --- */

int intakework_labels_init(struct intake_worker *worker, uint32_t max, struct intakework_labels *ret_labels,
                           struct error *err)
{
    struct series_label *items = ARENA_ARRAY(&worker->arena, struct series_label, max, err);

    if (!items)
        return -1;
    *ret_labels = (struct intakework_labels){ .items = items, .max = max };
    return 0;
}

void intakework_labels_add(struct intakework_labels *labels, struct slice name, struct slice value)
{
    ASSERT(labels->n < labels->max);
    if (value.len > 0)
        labels->items[labels->n++] = (struct series_label){ name, value };
}

static bool is_named(struct slice name, struct slice canonical)
{
    if (name.len != canonical.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != canonical.ptr[i] && !(name.ptr[i] == '.' && canonical.ptr[i] == '_'))
            return false;
    return true;
}

static struct slice find_given(const struct intakework_labels *labels, struct slice canonical)
{
    for (uint32_t i = 0; i < labels->n; i++)
        if (is_named(labels->items[i].name, canonical))
            return labels->items[i].value;
    return SLICE("");
}

struct slice intakework_labels_find(const struct intakework_labels *labels, const char *canonical)
{
    return find_given(labels, slice_from(canonical));
}

/* --- bytes --- */

static void count_inflated(struct intake_worker *worker, size_t len)
{
    worker->inflated_left -= MIN(len, worker->inflated_left);
    worker->receipt.inflated_bytes += len;
}

static int inflate(struct intake_worker *worker, struct unpacker *unpacker, struct slice bytes,
                   struct slice *ret_content, struct error *err)
{
    struct slice content;

    if (unpacker_unwrap(unpacker, bytes, worker->inflated_left, UNPACKER_MAX_LAYERS, &content, err) < 0)
        return -1;
    if (content.ptr != bytes.ptr)
        count_inflated(worker, content.len);
    *ret_content = content;
    return 0;
}

/* Snappy is the only kind that its first bytes do not tell. */
static bool is_snappy(struct slice coding)
{
    coding = slice_trim(coding);
    return slice_equal_nocase(coding, SLICE("snappy")) || slice_equal_nocase(coding, SLICE("x-snappy-framed"));
}

static int inflate_body(struct intake_worker *worker, struct slice coding, struct slice body, struct slice *ret_content,
                        struct error *err)
{
    if (body.len == 0 || !is_snappy(coding))
        return inflate(worker, worker->outer, body, ret_content, err);
    buffer_clear(&worker->snappy);
    if (snappy_unpack(body, worker->inflated_left, &worker->snappy, err) < 0)
        return -1;
    count_inflated(worker, worker->snappy.len);
    *ret_content = buffer_slice(&worker->snappy);
    return 0;
}

int intakework_body(struct intake_worker *worker, struct slice *ret_content, struct error *err)
{
    return inflate_body(worker, worker->upload->content_encoding, worker->upload->body, ret_content, err);
}

int intake_unpack(struct intake_worker *worker, struct slice coding, struct slice body, struct slice *ret_content,
                  struct error *err)
{
    worker->inflated_left = worker->intake->max_body_bytes;
    return inflate_body(worker, coding, body, ret_content, err);
}

int intakework_part(struct intake_worker *worker, struct slice part, struct slice *ret_content, struct error *err)
{
    return inflate(worker, worker->inner, part, ret_content, err);
}

int intakework_decode(struct intake_worker *worker, struct slice content, const struct format *format,
                      struct error *err)
{
    batch_reset(&worker->batch);
    return format_read(content, format, worker->inner, &worker->batch, &format, err);
}

/* --- counting --- */

void intakework_name_sender(struct intake_worker *worker, struct slice name)
{
    if (slice_trim(name).len > 0)
        worker->sender = upload_sender(worker->upload, name, worker->sender_text);
}

static enum source_reason reason_of(enum error_code code)
{
    switch (code) {
    case ERR_LIMIT: return SOURCE_LIMIT;
    case ERR_USAGE:
    case ERR_INVALID:
    case ERR_CORRUPT:
    case ERR_UNSUPPORTED:
    case ERR_VERSION: return SOURCE_INVALID;
    case ERR_OK:
    case ERR_MEMORY:
    case ERR_IO:
    case ERR_NOT_FOUND:
    case ERR_EXISTS:
    case ERR_DENIED:
    case ERR_FULL:
    case ERR_BUSY:
    case ERR_TIMEOUT:
    case ERR_CANCELLED:
    case ERR_CLOSED: break;
    }
    return SOURCE_FAILED;
}

/* The upload itself counts for the service that it names first. */
static void remember_service(struct intake_worker *worker, struct slice service)
{
    struct intake_receipt *receipt = &worker->receipt;

    if (service.len == 0)
        service = SLICE(SOURCES_UNKNOWN);
    receipt->service = slice_of(worker->service, MIN(service.len, sizeof(worker->service)));
    memcpy(worker->service, service.ptr, receipt->service.len);
}

static void count_source(struct intake_worker *worker, struct slice service, struct source_counts *counts,
                         const struct error *err)
{
    const struct upload *upload = worker->upload;
    struct intake_receipt *receipt = &worker->receipt;

    if (receipt->n_profiles == 0)
        remember_service(worker, service);
    if (receipt->n_profiles == receipt->n_failed && upload->progress.n_counted == 0) { /* nothing has counted yet */
        counts->n_uploads = 1;
        counts->n_bytes = upload->body.len;
    }
    receipt->n_profiles += (uint32_t)counts->n_seen;
    sources_count(worker->intake->sources, upload->tenant, service.len ? service : SLICE(SOURCES_UNKNOWN),
                  worker->sender, upload->received_ns, counts, err);
}

static void count_outcome(struct intake_worker *worker, enum intake_outcome outcome, uint64_t n)
{
    const struct intakemetrics *metrics = &worker->intake->metrics;

    intakemetrics_add(metrics, metrics->profiles[worker->upload->kind][outcome], n);
}

/* Not counted: perhaps they are kept another time. */
static void fail(struct intake_worker *worker, struct slice service, uint32_t n, const struct error *err)
{
    if (worker->receipt.n_profiles == 0)
        remember_service(worker, service);
    if (worker->receipt.n_failed == 0)
        worker->receipt.failure = *err;
    worker->receipt.n_profiles += n;
    worker->receipt.n_failed += n;
}

static void reject(struct intake_worker *worker, struct slice service, uint32_t n, enum source_reason reason,
                   const struct error *err)
{
    struct source_counts counts = { .n_seen = n };

    if (reason == SOURCE_FAILED) {
        fail(worker, service, n, err);
        return;
    }
    if (worker->receipt.n_rejected == 0)
        worker->receipt.rejection = *err;
    worker->receipt.n_rejected += n;
    counts.n_dropped[reason] = n;
    count_source(worker, service, &counts, err);
    count_outcome(worker, INTAKE_REJECTED, n);
}

/* What was wrong with an upload is wrong with it the next time too, and has been counted. */
void intakework_reject(struct intake_worker *worker, struct slice service, uint32_t n, const struct error *err)
{
    enum source_reason reason = reason_of(err->code);

    if (reason == SOURCE_FAILED || worker->upload->progress.n_counted == 0)
        reject(worker, service, n, reason, err);
}

void intakework_accept(struct intake_worker *worker, struct slice service, uint32_t n, enum intake_outcome outcome)
{
    struct source_counts counts = { .n_seen = n, .n_stored = n };

    counts.n_spilled = worker->upload->id.len > 0 ? n : 0;
    if (n == 0 || (outcome == INTAKE_EMPTY && worker->upload->progress.n_counted > 0)) /* counted at the first try */
        return;
    count_source(worker, service, &counts, NULL);
    count_outcome(worker, outcome, n);
    worker->receipt.n_stored += n;
}

/* --- services --- */

static struct slice label_text(const struct profile *profile, uint32_t set, const char *name)
{
    const struct label *label = tables_find_label(profile->tables, set, slice_from(name));

    return label && label->kind == LABEL_STRING ? tables_string(profile->tables, label->text) : SLICE("");
}

struct slice intakework_service(const struct profile *profile, const struct intakework_labels *labels)
{
    struct slice service = intakework_labels_find(labels, SERIES_SERVICE_LABEL);

    if (service.len == 0)
        service = label_text(profile, profile->resource, "service.name");
    return service.len ? service : label_text(profile, profile->resource, SERIES_SERVICE_LABEL);
}

/* Counts what was written. Profiles of one service that follow each other count together; which of them the store refused
 * it does not say, so those are taken to be the last. */
static void count_stored(struct intake_worker *worker, const struct batch *batch,
                         const struct intakework_labels *labels, const struct store_receipt *receipt)
{
    uint32_t n_kept = receipt->n_written + receipt->n_duplicate;

    for (uint32_t i = 0, next; i < batch->n_profiles; i = next) {
        struct slice service = intakework_service(&batch->profiles[i], labels);
        struct source_counts counts = { 0 };
        uint32_t n_stored;

        for (next = i + 1; next < batch->n_profiles; next++)
            if (!slice_equal(intakework_service(&batch->profiles[next], labels), service))
                break;
        n_stored = MIN(next - i, n_kept > i ? n_kept - i : 0);
        for (uint32_t k = i; k < i + n_stored; k++)
            counts.n_samples += batch->profiles[k].n_samples;
        if (n_stored > 0) {
            counts.n_seen = counts.n_stored = n_stored;
            counts.n_weighted = worker->upload->weight > 1 ? n_stored : 0;
            counts.n_spilled = worker->upload->id.len > 0 ? n_stored : 0;
            count_source(worker, service, &counts, NULL);
        }
        if (n_stored < next - i)
            reject(worker, service, next - i - n_stored,
                   receipt->refusal.code == ERR_INVALID ? SOURCE_OUTSIDE_WINDOW : reason_of(receipt->refusal.code),
                   &receipt->refusal);
    }
    count_outcome(worker, INTAKE_STORED, n_kept);
    worker->receipt.n_stored += n_kept;
    worker->receipt.n_samples += receipt->n_samples;
    if (worker->upload->weight > 1)
        intakemetrics_add(&worker->intake->metrics, worker->intake->metrics.downsampled, n_kept);
}

/* --- what they come to --- */

/* The value of a label of a whole profile, by its canonical name. */
static struct slice find_label(const struct profile *profile, const struct intakework_labels *labels,
                               struct slice canonical)
{
    const struct tables *tables = profile->tables;
    uint32_t sets[] = { profile->attributes, profile->resource };
    struct slice value = find_given(labels, canonical);

    for (size_t k = 0; value.len == 0 && k < ARRAY_LEN(sets); k++)
        for (uint32_t i = tables->label_set_starts[sets[k]]; i < tables->label_set_starts[sets[k] + 1]; i++)
            if (tables->labels[i].kind == LABEL_STRING &&
                is_named(tables_string(tables, tables->labels[i].key), canonical))
                value = tables_string(tables, tables->labels[i].text);
    return value;
}

static int64_t total_of(const struct profile *profile, uint32_t type)
{
    const int64_t *values = profile_values(profile, type);
    uint64_t saturated = 0;
    int64_t total = 0;

    for (uint32_t i = 0; i < profile->n_samples; i++)
        total = value_add(total, values[i], &saturated);
    return total;
}

static void count_values(struct intake_worker *worker, const struct profile *profile,
                         const struct intakework_labels *labels)
{
    struct profilecounters *counters = worker->intake->counters;
    struct slice values[PROFILECOUNTERS_MAX_LABELS], tenant = worker->upload->tenant, service;
    struct profilecounters_type type = { .name = find_label(profile, labels, SLICE(SERIES_NAME_LABEL)) };
    const struct slice *names;
    uint32_t n;

    if (type.name.len == 0)
        type.name = labelrules_name(profile);
    service = find_label(profile, labels, SLICE(SERIES_SERVICE_LABEL));
    names = profilecounters_labels(counters, &n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = find_label(profile, labels, names[i]);
    for (uint32_t i = 0; i < profile->n_types; i++) {
        if (profile->types[i].nature != VALUE_FLOW)
            continue;
        type.type = tables_string(profile->tables, profile->types[i].type);
        type.unit = tables_string(profile->tables, profile->types[i].unit);
        profilecounters_add(counters, &type, slice_is(tenant, STORE_TENANT_DEFAULT) ? SLICE("") : tenant,
                            service.len ? service : SLICE(SOURCES_UNKNOWN), values, total_of(profile, i));
    }
}

/* Which were duplicates or refused the store does not say; they are taken to be the last. */
static void count_all_values(struct intake_worker *worker, const struct batch *batch,
                             const struct intakework_labels *labels, const struct store_receipt *receipt)
{
    for (uint32_t i = 0; worker->intake->counters && i < MIN(batch->n_profiles, receipt->n_written); i++)
        count_values(worker, &batch->profiles[i], labels);
}

static void reject_all(struct intake_worker *worker, const struct batch *batch, const struct intakework_labels *labels,
                       bool is_store, const struct error *err)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        reject(worker, intakework_service(&batch->profiles[i], labels), 1,
               is_store && err->code == ERR_INVALID ? SOURCE_OUTSIDE_WINDOW : reason_of(err->code), err);
}

/* --- deltas --- */

static struct hash128 series_hash(const struct intake_worker *worker, const struct profile *profile,
                                  const struct content *content, const struct intakework_delivery *delivery)
{
    uint64_t seed = deltas_seed(worker->intake->deltas);
    struct hash128 hash = hash_bytes(worker->upload->tenant, seed);
    struct hash128 part = hash_bytes(delivery->session, seed);

    hash = hash_fold(hash, part.a, part.b);
    part = content->label_sets[profile->resource];
    hash = hash_fold(hash, part.a, part.b);
    part = content->label_sets[profile->attributes];
    hash = hash_fold(hash, part.a, part.b);
    for (uint32_t i = 0; i < delivery->labels->n; i++) {
        struct hash128 value = hash_bytes(delivery->labels->items[i].value, seed);

        part = hash_bytes(delivery->labels->items[i].name, seed);
        hash = hash_fold(hash_fold(hash, part.a, part.b), value.a, value.b);
    }
    for (uint32_t i = 0; i < profile->n_types; i++)
        hash = hash_fold(hash, content->strings[profile->types[i].type].a, content->strings[profile->types[i].unit].a);
    return hash;
}

/* The steps of all profiles of a batch that count from the start of their processes. */
struct delta_steps {
    struct deltas_step *steps;
    uint32_t n;
};

static void finish_deltas(struct intake_worker *worker, struct delta_steps *steps, bool is_kept)
{
    for (uint32_t i = steps->n; i > 0; i--)
        deltas_finish(worker->intake->deltas, &steps->steps[i - 1], is_kept);
    steps->n = 0;
}

static int make_deltas(struct intake_worker *worker, struct batch *batch, const struct intakework_delivery *delivery,
                       struct delta_steps *steps, struct error *err)
{
    const struct intakemetrics *metrics = &worker->intake->metrics;
    struct deltas *deltas = worker->intake->deltas;
    struct slice place = worker->upload->place;
    struct deltas_source source = { .place = place.len ? hash_bytes64(place, deltas_seed(deltas)) : 0 };
    struct content content = { 0 };

    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        struct profile *profile = &batch->profiles[i];
        struct deltas_step *step;

        if (delivery->is_delta || !deltas_is_cumulative(profile))
            continue;
        if (!steps->steps) {
            steps->steps = ARENA_ARRAY(&worker->arena, struct deltas_step, batch->n_profiles, err);
            if (!steps->steps ||
                content_hash(&batch->tables, deltas_seed(deltas), false, &worker->arena, &content, err) < 0)
                return -1;
        }
        step = &steps->steps[steps->n];
        source.series = series_hash(worker, profile, &content, delivery);
        if (deltas_apply(deltas, source, &content, profile, &worker->arena, step, err) < 0)
            return -1;
        steps->n++;
        intakemetrics_add(metrics, metrics->deltas[step->is_first ? INTAKE_DELTA_FIRST : INTAKE_DELTA_MADE], 1);
    }
    return 0;
}

/* --- storing --- */

/* What senders call deltas is no longer cumulative; what nobody calls so is left to make_deltas. */
static void call_deltas(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (profile->types[i].temporality == TEMPORALITY_CUMULATIVE)
            profile->types[i].temporality = TEMPORALITY_DELTA;
}

static int check_profile(const struct profile *profile, struct error *err)
{
    if (profile->n_types == 0 && profile->n_samples > 0)
        return error_set(err, ERR_INVALID, "the profile names no sample types, so its values mean nothing");
    return 0;
}

static int prepare(struct intake_worker *worker, struct batch *batch, const struct intakework_delivery *delivery,
                   struct error *err)
{
    const struct intakemetrics *metrics = &worker->intake->metrics;
    struct intakewindow window = delivery->window;

    window.received_ns = worker->upload->received_ns;
    if (idlabels_lift(batch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++) {
        struct profile *profile = &batch->profiles[i];

        if (check_profile(profile, err) < 0)
            return -1;
        if (!delivery->has_own_window)
            intakewindow_settle(&window, profile);
        if (delivery->is_delta)
            call_deltas(profile);
        if (worker->upload->weight > 1)
            batchedit_weigh(profile, worker->upload->weight);
        intakemetrics_add(metrics, metrics->negative_samples, batchedit_drop_empty_samples(profile));
    }
    return 0;
}

/* The labels, and one more where the upload stands for others. */
static int mark_weight(struct intake_worker *worker, const struct intakework_labels *labels,
                       struct intakework_labels *ret_labels, struct error *err)
{
    uint32_t weight = worker->upload->weight;
    char *text;

    *ret_labels = *labels;
    if (weight <= 1)
        return 0;
    text = arena_printf(&worker->arena, err, "%u", weight);
    if (!text || intakework_labels_init(worker, labels->n + 1, ret_labels, err) < 0)
        return -1;
    if (labels->n > 0)
        memcpy(ret_labels->items, labels->items, labels->n * sizeof(*labels->items));
    ret_labels->n = labels->n;
    intakework_labels_add(ret_labels, SLICE(WEIGHT_LABEL), slice_from(text));
    return 0;
}

static int write_batch(struct intake_worker *worker, const struct batch *batch, const struct intakework_labels *labels,
                       struct store_receipt *ret_receipt, struct error *err)
{
    struct store_write write = {
        .tenant = worker->upload->tenant, .batch = batch, .labels = labels->items, .n_labels = labels->n
    };

    /* An upload that is known by an id has the same batches in the same order when it comes again. */
    if (worker->upload->id.len > 0) {
        write.upload_id =
            slice_from(arena_printf(&worker->arena, err, "%.*s/%u", SLICE_ARG(worker->upload->id), worker->n_batches));
        if (!write.upload_id.ptr)
            return -1;
    }
    return store_write(worker->intake->store, &write, ret_receipt, err);
}

static void count_empty(struct intake_worker *worker, struct batch *batch, const struct intakework_labels *labels)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (batch->profiles[i].n_samples == 0)
            intakework_accept(worker, intakework_service(&batch->profiles[i], labels), 1, INTAKE_EMPTY);
    batchedit_drop_empty_profiles(batch);
}

static int store_batch(struct intake_worker *worker, struct batch *batch, const struct intakework_delivery *delivery,
                       struct error *err)
{
    struct intakework_labels labels = *delivery->labels;
    struct delta_steps steps = { 0 };
    struct store_receipt receipt;
    bool is_store = false;
    int result = prepare(worker, batch, delivery, err);

    if (result == 0)
        result = make_deltas(worker, batch, delivery, &steps, err);
    if (result == 0 && steps.n > 0)
        for (uint32_t i = 0; i < batch->n_profiles; i++)
            (void)batchedit_drop_empty_samples(&batch->profiles[i]);
    if (result == 0) {
        count_empty(worker, batch, delivery->labels);
        result = mark_weight(worker, delivery->labels, &labels, err);
    }
    if (result == 0 && batch->n_profiles > 0) {
        is_store = true;
        result = write_batch(worker, batch, &labels, &receipt, err);
    }
    finish_deltas(worker, &steps, result == 0);
    if (result < 0)
        reject_all(worker, batch, delivery->labels, is_store, err);
    else if (batch->n_profiles > 0) {
        count_stored(worker, batch, delivery->labels, &receipt);
        count_all_values(worker, batch, delivery->labels, &receipt);
    }
    return result;
}

int intakework_store(struct intake_worker *worker, struct batch *batch, const struct intakework_delivery *delivery,
                     struct error *err)
{
    struct intake_receipt *receipt = &worker->receipt;
    int result;

    if (++worker->n_batches <= worker->upload->progress.n_kept)
        return 0;
    if (receipt->n_failed > 0) {
        *err = receipt->failure;
        count_empty(worker, batch, delivery->labels);
        reject_all(worker, batch, delivery->labels, true, err);
        return -1;
    }
    result = store_batch(worker, batch, delivery, err);
    if (receipt->n_failed == 0)
        receipt->progress.n_kept = worker->n_batches;
    return result;
}
