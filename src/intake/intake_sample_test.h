// SPDX-License-Identifier: Apache-2.0
/* For tests of receivers: a store and an intake in the test's directory at a faked time, uploads made from short texts
 * (store_sample_test.h), and what was kept as text. */
#pragma once

#include "intake/intakework_internal.h"
#include "store/store_sample_test.h"
#include "wire/otlp.h"
#include "wire/pprof.h"

struct intake_sample {
    struct store_sample store;
    struct intake *intake;
    struct intake_worker *worker;
    struct intake_receipt receipt; /* of the last upload */
    struct buffer body;
};

static inline void intake_sample_open(struct intake_sample *sample)
{
    struct intake_options options = { .store = sample->store.store, .data_dir = sample->store.path };
    struct error err;

    CHECK_OK(intake_new(&options, &sample->intake, &err), &err);
    CHECK_OK(intake_worker_new(sample->intake, &sample->worker, &err), &err);
}

static inline void intake_sample_close(struct intake_sample *sample)
{
    intake_worker_free(sample->worker);
    intake_free(sample->intake);
}

static inline void intake_sample_begin(struct intake_sample *sample)
{
    store_sample_begin(&sample->store, &store_sample_kinds[0]);
    buffer_init(&sample->body, 0);
    intake_sample_open(sample);
}

static inline void intake_sample_end(struct intake_sample *sample)
{
    intake_sample_close(sample);
    buffer_done(&sample->body);
    store_sample_end(&sample->store);
}

/* A profile as pprof, gzip unless it is to be plain; in sample->body until the next one. A negative duration means that it
 * covers no window. */
static inline struct slice intake_sample_pprof(struct intake_sample *sample, const struct store_sample_profile *profile,
                                               bool is_plain)
{
    struct format_write_options options = { .plain = is_plain };
    struct batch batch;
    struct error err;

    store_sample_batch(profile, 1, &batch);
    batch.profiles[0].duration_ns = MAX(batch.profiles[0].duration_ns, 0);
    buffer_clear(&sample->body);
    CHECK_OK(pprof_encode(&batch, &options, &sample->body, &err), &err);
    batch_done(&batch);
    return buffer_slice(&sample->body);
}
#define INTAKE_SAMPLE_PPROF(sample, ...)                                                                               \
    intake_sample_pprof((sample), &(const struct store_sample_profile){ __VA_ARGS__ }, false)

static inline struct slice intake_sample_otlp(struct intake_sample *sample, const struct store_sample_profile *profiles,
                                              size_t n, bool is_json)
{
    struct format_write_options options = { .plain = true };
    struct batch batch;
    struct error err;

    store_sample_batch(profiles, n, &batch);
    buffer_clear(&sample->body);
    CHECK_OK(is_json ? otlp_json_encode(&batch, &options, &sample->body, &err)
                     : otlp_encode(&batch, &options, &sample->body, &err),
             &err);
    batch_done(&batch);
    return buffer_slice(&sample->body);
}

/* Gives an upload to the intake, received now. */
static inline int intake_sample_try(struct intake_sample *sample, struct upload upload, struct error *err)
{
    upload.received_ns = clock_now_ns();
    return intake_take(sample->worker, &upload, &sample->receipt, err);
}

static inline void intake_sample_take(struct intake_sample *sample, struct upload upload)
{
    struct error err;

    CHECK_OK(intake_sample_try(sample, upload, &err), &err);
}

/* All rows of the store (store_sample_rows). */
static inline struct slice intake_sample_rows(struct intake_sample *sample)
{
    return store_sample_rows(&sample->store, &(const struct store_sample_query){ 0 });
}

static inline int intake_sample_print_source(void *context, const struct source_row *row, struct error *err)
{
    struct buffer *out = context;

    (void)err;
    buffer_printf(out, "%.*s|%.*s|%.*s uploads %llu seen %llu stored %llu", SLICE_ARG(row->tenant),
                  SLICE_ARG(row->service), SLICE_ARG(row->sender), (unsigned long long)row->counts.n_uploads,
                  (unsigned long long)row->counts.n_seen, (unsigned long long)row->counts.n_stored);
    for (int i = 0; i < SOURCE_REASONS; i++)
        if (row->counts.n_dropped[i])
            buffer_printf(out, " %s %llu", source_reason_name((enum source_reason)i),
                          (unsigned long long)row->counts.n_dropped[i]);
    buffer_append_byte(out, '\n');
    return 0;
}

static inline struct slice intake_sample_sources(struct intake_sample *sample)
{
    struct buffer *text = store_sample_text(&sample->store);
    struct error err;

    CHECK_OK(sources_each(intake_sources(sample->intake), intake_sample_print_source, text, &err), &err);
    return buffer_slice(text);
}
