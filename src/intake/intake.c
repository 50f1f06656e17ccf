// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/memory.h"
#include "intake/ingest.h"
#include "intake/intakework_internal.h"
#include "intake/otlpexport.h"
#include "intake/plain.h"
#include "intake/push.h"

#define DEFAULT_BODY_BYTES ((uint64_t)64 << 20)
#define BATCH_PER_BODY     8                 /* the most memory of a decoded batch, in bodies */
#define KEPT_BYTES         ((size_t)4 << 20) /* of a buffer between uploads */

/* --- the intake --- */

static int open_deltas(struct intake *intake, const char *data_dir, struct error *err)
{
    struct arena arena;
    char *directory, *path;
    int result = -1;

    if (!data_dir)
        return deltas_new(NULL, 0, &intake->deltas, err);
    arena_init(&arena, 0);
    directory = arena_printf(&arena, err, "%s/deltas", data_dir);
    path = directory ? arena_printf(&arena, err, "%s/state", directory) : NULL;
    if (path && fs_make_directories(directory, 0700, err) == 0)
        result = deltas_new(path, 0, &intake->deltas, err);
    arena_done(&arena);
    return result;
}

static struct profile_limits limits_of(const struct intake_options *options, uint64_t max_body_bytes)
{
    const struct profile_limits *usual = &profile_default_limits, *given = &options->limits;

    return (struct profile_limits){
        .max_inflated_bytes = given->max_inflated_bytes ? given->max_inflated_bytes : max_body_bytes,
        .max_memory_bytes = given->max_memory_bytes ? given->max_memory_bytes : BATCH_PER_BODY * max_body_bytes,
        .max_strings = given->max_strings ? given->max_strings : usual->max_strings,
        .max_samples = given->max_samples ? given->max_samples : usual->max_samples,
        .max_depth = given->max_depth ? given->max_depth : usual->max_depth,
        .max_labels_per_sample =
            given->max_labels_per_sample ? given->max_labels_per_sample : usual->max_labels_per_sample,
        .max_profiles = given->max_profiles ? given->max_profiles : usual->max_profiles,
    };
}

int intake_new(const struct intake_options *options, struct intake **ret_intake, struct error *err)
{
    struct intake *intake = MEMORY_NEW(struct intake, err);

    if (!intake)
        return -1;
    intake->store = options->store;
    intake->max_body_bytes = options->max_body_bytes ? options->max_body_bytes : DEFAULT_BODY_BYTES;
    intake->limits = limits_of(options, intake->max_body_bytes);
    intakemetrics_init(&intake->metrics);
    if (sources_new(&intake->sources, err) < 0 || open_deltas(intake, options->data_dir, err) < 0 ||
        (options->counters.max_rows && profilecounters_new(&options->counters, &intake->counters, err) < 0)) {
        intake_free(intake);
        return -1;
    }
    *ret_intake = intake;
    return 0;
}

void intake_free(struct intake *intake)
{
    if (!intake)
        return;
    deltas_free(intake->deltas);
    profilecounters_free(intake->counters);
    sources_free(intake->sources);
    intakemetrics_done(&intake->metrics);
    memory_free(intake);
}

struct sources *intake_sources(struct intake *intake)
{
    return intake->sources;
}

struct profilecounters *intake_counters(struct intake *intake)
{
    return intake->counters;
}

/* --- workers --- */

int intake_worker_new(struct intake *intake, struct intake_worker **ret_worker, struct error *err)
{
    struct intake_worker *worker = MEMORY_NEW(struct intake_worker, err);

    if (!worker)
        return -1;
    worker->intake = intake;
    arena_init(&worker->arena, intake->limits.max_memory_bytes);
    batch_init(&worker->batch, &intake->limits);
    batch_init(&worker->made, &intake->limits);
    buffer_init(&worker->snappy, intake->max_body_bytes);
    if (unpacker_new(&worker->outer, err) < 0 || unpacker_new(&worker->inner, err) < 0) {
        intake_worker_free(worker);
        return -1;
    }
    *ret_worker = worker;
    return 0;
}

void intake_worker_free(struct intake_worker *worker)
{
    if (!worker)
        return;
    unpacker_free(worker->outer);
    unpacker_free(worker->inner);
    batch_done(&worker->batch);
    batch_done(&worker->made);
    buffer_done(&worker->snappy);
    arena_done(&worker->arena);
    memory_free(worker);
}

/* Empties it, and lets go of what a single large upload needed. */
static void trim_arena(struct arena *arena)
{
    size_t max_bytes = arena->max_bytes;

    if (arena->used_bytes <= KEPT_BYTES) {
        arena_reset(arena);
        return;
    }
    arena_done(arena);
    arena_init(arena, max_bytes);
}

static void begin(struct intake_worker *worker, const struct upload *upload)
{
    trim_arena(&worker->arena);
    worker->upload = upload;
    worker->receipt = (struct intake_receipt){ .progress = upload->progress };
    worker->receipt.progress.is_tried = true;
    worker->inflated_left = worker->intake->max_body_bytes;
    worker->n_batches = 0;
    worker->sender = slice_from(upload_kind_name(upload->kind));
}

static void trim_batch(struct batch *batch)
{
    struct profile_limits limits = batch->limits;

    if (batch->arena.used_bytes <= KEPT_BYTES)
        return;
    batch_done(batch);
    batch_init(batch, &limits);
}

void intake_trim(struct intake_worker *worker)
{
    trim_batch(&worker->batch);
    trim_batch(&worker->made);
    unpacker_trim(worker->outer, KEPT_BYTES);
    unpacker_trim(worker->inner, KEPT_BYTES);
    if (worker->snappy.capacity > KEPT_BYTES)
        buffer_done(&worker->snappy);
    if (worker->arena.used_bytes > KEPT_BYTES) {
        arena_done(&worker->arena);
        arena_init(&worker->arena, worker->intake->limits.max_memory_bytes);
    }
    worker->upload = NULL;
}

/* --- uploads --- */

static int receive(struct intake_worker *worker, struct error *err)
{
    switch (worker->upload->kind) {
    case UPLOAD_INGEST: return ingest_take(worker, err);
    case UPLOAD_PUSH: return push_take(worker, false, err);
    case UPLOAD_PUSH_JSON: return push_take(worker, true, err);
    case UPLOAD_OTLP: return otlpexport_take(worker, false, err);
    case UPLOAD_OTLP_JSON: return otlpexport_take(worker, true, err);
    case UPLOAD_PLAIN: return plain_take(worker, err);
    case UPLOAD_SCRAPED: break;
    }
    return plain_take_scraped(worker, err);
}

static int take(struct intake_worker *worker, struct error *err)
{
    const struct upload *upload = worker->upload;

    if (upload->body.len > worker->intake->max_body_bytes)
        return error_set(err, ERR_LIMIT, "the body has %zu bytes, at most %llu are taken", upload->body.len,
                         (unsigned long long)worker->intake->max_body_bytes);
    intakework_name_sender(worker, upload->user_agent);
    return receive(worker, err);
}

int intake_take(struct intake_worker *worker, const struct upload *upload, struct intake_receipt *ret_receipt,
                struct error *err)
{
    const struct intakemetrics *metrics = &worker->intake->metrics;
    struct intake_receipt *receipt = &worker->receipt;
    int result;

    begin(worker, upload);
    result = take(worker, err);
    if (result < 0 && receipt->n_rejected + receipt->n_failed == 0) /* nobody got so far as to count */
        intakework_reject(worker, SLICE(""), 1, err);
    if (result == 0 && receipt->n_stored == 0 && receipt->n_rejected + receipt->n_failed > 0) {
        *err = receipt->n_failed ? receipt->failure : receipt->rejection;
        result = -1;
    }
    receipt->progress.n_counted += receipt->n_profiles - receipt->n_failed;
    if (!upload->progress.is_tried) {
        intakemetrics_add(metrics, metrics->uploads[upload->kind], 1);
        intakemetrics_add(metrics, metrics->body_bytes[upload->kind], upload->body.len);
    }
    intakemetrics_add(metrics, metrics->inflated_bytes[upload->kind], receipt->inflated_bytes);
    *ret_receipt = *receipt;
    intake_trim(worker);
    return receipt->n_stored > 0 ? 0 : result;
}

void intake_give_up(struct intake_worker *worker, const struct upload *upload)
{
    struct intake_receipt *receipt = &worker->receipt;
    const struct intakemetrics *metrics = &worker->intake->metrics;
    struct source_counts counts = { .n_seen = receipt->n_failed, .n_dropped = { [SOURCE_FAILED] = receipt->n_failed } };

    if (receipt->n_failed == 0)
        return;
    if (receipt->progress.n_counted == 0) {
        counts.n_uploads = 1;
        counts.n_bytes = upload->body.len;
    }
    sources_count(worker->intake->sources, upload->tenant, receipt->service, worker->sender, upload->received_ns,
                  &counts, &receipt->failure);
    intakemetrics_add(metrics, metrics->profiles[upload->kind][INTAKE_REJECTED], receipt->n_failed);
    receipt->n_failed = 0;
}
