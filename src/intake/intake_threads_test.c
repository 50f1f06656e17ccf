// SPDX-License-Identifier: Apache-2.0
/* Several threads give uploads to one intake: for the thread sanitizer, and for sums that must come out right. */
#include "intake/intake_sample_test.h"

#include <pthread.h>

enum { THREADS = 4, UPLOADS = 20 };

struct sender {
    struct intake_sample *sample;
    struct slice cpu, heap;
    uint64_t n_stored;
};

static void *send(void *context)
{
    struct sender *sender = context;
    struct upload cpu = { .kind = UPLOAD_INGEST, .query = SLICE("name=api&format=pprof"), .body = sender->cpu };
    struct upload heap = { .kind = UPLOAD_SCRAPED, .query = SLICE("service_name=api"), .body = sender->heap };
    struct intake_worker *worker;
    struct intake_receipt receipt;
    struct error err;

    if (intake_worker_new(sender->sample->intake, &worker, &err) < 0)
        return NULL;
    cpu.received_ns = heap.received_ns = store_sample_time("15T12:00");
    for (int i = 0; i < UPLOADS; i++) {
        if (intake_take(worker, &cpu, &receipt, &err) == 0)
            sender->n_stored += receipt.n_stored;
        if (intake_take(worker, &heap, &receipt, &err) == 0)
            sender->n_stored += receipt.n_stored;
    }
    intake_worker_free(worker);
    return NULL;
}

TEST(intake_takes_uploads_of_several_threads)
{
    struct store_sample_profile heap = {
        .at = "15T10:00", .duration_ns = -1, .types = "alloc_space/bytes", .samples = "x 9"
    };
    struct sender senders[THREADS];
    pthread_t threads[THREADS];
    struct intake_sample sample;
    struct buffer cpu, counted;

    intake_sample_begin(&sample);
    buffer_init(&cpu, 0);
    buffer_init(&counted, 0);
    buffer_append_slice(&cpu, INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "a 1 10"));
    buffer_append_slice(&counted, intake_sample_pprof(&sample, &heap, false));
    for (int i = 0; i < THREADS; i++) {
        senders[i] = (struct sender){ .sample = &sample, .cpu = buffer_slice(&cpu), .heap = buffer_slice(&counted) };
        CHECK_EQ(pthread_create(&threads[i], NULL, send, &senders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(senders[i].n_stored, 2 * UPLOADS);
    }
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .selector = "{__name__=\"process_cpu\"}"), "a 80 800\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .selector = "{__name__=\"memory\"}"), "");
    buffer_done(&cpu);
    buffer_done(&counted);
    intake_sample_end(&sample);
}
