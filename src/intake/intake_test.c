// SPDX-License-Identifier: Apache-2.0
#include "intake/intake.h"

#include "base/metrics.h"
#include "intake/intake_sample_test.h"
#include "pack/packer.h"

static struct upload pprof_upload(struct slice body)
{
    return (struct upload){ .kind = UPLOAD_INGEST, .query = SLICE("name=api&format=pprof"), .body = body };
}

TEST(intake_weighs_uploads_that_stand_for_others)
{
    struct intake_sample sample;
    struct upload upload;

    intake_sample_begin(&sample);
    upload = pprof_upload(INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "a 3 30"));
    upload.weight = 4;
    intake_sample_take(&sample, upload);
    CHECK_TEXT(
        intake_sample_rows(&sample),
        "15T10:00:00+10s every 10000000 {__name__=\"process_cpu\", pyroscope_spy=\"unknown\", service_name=\"api\"} "
        "{hearth_weight=4} [process_cpu:samples:count:cpu:nanoseconds "
        "process_cpu:cpu:nanoseconds:cpu:nanoseconds] a 12 120\n");
    intake_sample_end(&sample);
}

TEST(intake_makes_links_of_ids_and_no_series)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample,
                       pprof_upload(INTAKE_SAMPLE_PPROF(
                           &sample, .at = "15T10:00",
                           .samples = "a 1 1 {span id=0c00000000000000} | b 1 1 {pyroscope.profile_id=0d0000000000000"
                                      "0} | c 1 1 {span_id=who knows}")));
    CHECK_HAS(intake_sample_rows(&sample), "a 1 1 link 00-0c");
    CHECK_HAS(intake_sample_rows(&sample), "b 1 1 link 00-0d");
    CHECK_HAS(intake_sample_rows(&sample), "c 1 1 {span_id=who knows}");
    intake_sample_end(&sample);
}

TEST(intake_refuses_bodies_that_are_too_large_before_and_after_inflating)
{
    static char zeros[1 << 20];
    struct intake_options options = { .max_body_bytes = 4096 };
    struct intake_receipt receipt;
    struct intake_sample sample;
    struct buffer packed;
    struct upload upload;
    struct error err;

    intake_sample_begin(&sample);
    intake_sample_close(&sample);
    options.store = sample.store.store;
    CHECK_OK(intake_new(&options, &sample.intake, &err), &err);
    CHECK_OK(intake_worker_new(sample.intake, &sample.worker, &err), &err);
    upload = pprof_upload(slice_of(zeros, 5000));
    CHECK_ERROR(intake_take(sample.worker, &upload, &receipt, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "at most 4096");
    buffer_init(&packed, 0);
    {
        AUTO(packer_freep) struct packer *packer = NULL;

        CHECK_OK(packer_new(&packer, &err), &err);
        CHECK_OK(packer_pack(packer, PACK_GZIP, 0, slice_of(zeros, sizeof(zeros)), &packed, &err), &err);
    }
    upload = pprof_upload(buffer_slice(&packed));
    CHECK_ERROR(intake_take(sample.worker, &upload, &receipt, &err), &err, ERR_LIMIT);
    CHECK_EQ(receipt.n_rejected, 1);
    CHECK_TEXT(intake_sample_sources(&sample), "|api|ingest uploads 1 seen 1 stored 0 limit 1\n"
                                               "|unknown_service|ingest uploads 1 seen 1 stored 0 limit 1\n");
    buffer_done(&packed);
    intake_sample_end(&sample);
}

TEST(intake_remembers_counters_over_a_clean_restart)
{
    struct store_sample_profile first = { .at = "15T10:00", .types = "alloc_space/bytes", .samples = "x 100" };
    struct store_sample_profile second = { .at = "15T10:01", .types = "alloc_space/bytes", .samples = "x 150" };
    struct upload upload = { .kind = UPLOAD_SCRAPED, .query = SLICE("service_name=api") };
    struct intake_sample sample;

    first.duration_ns = second.duration_ns = -1; /* covers no window */
    intake_sample_begin(&sample);
    upload.body = intake_sample_pprof(&sample, &first, true);
    intake_sample_take(&sample, upload);
    CHECK_TEXT(intake_sample_rows(&sample), "");
    intake_sample_close(&sample);
    intake_sample_open(&sample);
    upload.body = intake_sample_pprof(&sample, &second, true);
    intake_sample_take(&sample, upload);
    CHECK_HAS(intake_sample_rows(&sample), "x 50\n");
    intake_sample_end(&sample);
}

TEST(intake_does_not_weigh_counters_whose_difference_holds_what_was_left_out)
{
    struct store_sample_profile first = { .at = "15T10:00", .types = "alloc_space/bytes", .samples = "x 100" };
    struct store_sample_profile second = { .at = "15T10:03", .types = "alloc_space/bytes", .samples = "x 190" };
    struct upload upload = { .kind = UPLOAD_SCRAPED, .query = SLICE("service_name=api") };
    struct intake_sample sample;

    first.duration_ns = second.duration_ns = -1;
    intake_sample_begin(&sample);
    upload.body = intake_sample_pprof(&sample, &first, true);
    intake_sample_take(&sample, upload);
    upload.body = intake_sample_pprof(&sample, &second, true);
    upload.weight = 3;
    intake_sample_take(&sample, upload);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = NULL), "[alloc_space/bytes] x 90\n");
    intake_sample_end(&sample);
}

TEST(intake_shows_what_it_does_in_metrics)
{
    struct intake_sample sample;
    struct buffer out;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, pprof_upload(INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "a 3 30")));
    buffer_init(&out, 0);
    metrics_write(&out);
    CHECK_HAS(buffer_slice(&out), "hearth_intake_uploads_total{kind=\"ingest\"} 1");
    CHECK_HAS(buffer_slice(&out), "hearth_intake_profiles_total{kind=\"ingest\",outcome=\"stored\"} 1");
    buffer_done(&out);
    intake_sample_end(&sample);
}

struct taking {
    struct intake_sample *sample;
    struct upload upload;
};

static int take_step(void *context, struct error *err)
{
    struct taking *taking = context;
    struct intake_worker *worker;
    int result;

    if (intake_worker_new(taking->sample->intake, &worker, err) < 0)
        return -1;
    result = intake_take(worker, &taking->upload, &taking->sample->receipt, err);
    intake_worker_free(worker);
    return result;
}

TEST(intake_survives_failing_allocations)
{
    struct intake_sample sample;
    struct taking taking = { .sample = &sample };

    intake_sample_begin(&sample);
    taking.upload = pprof_upload(INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "a 3 30 {span id=5;b=c}"));
    taking.upload.received_ns = clock_now_ns();
    taking.upload.weight = 2;
    test_each_allocation_failing(take_step, &taking);
    intake_sample_end(&sample);
}

static int new_step(void *context, struct error *err)
{
    struct intake_options options = { .store = NULL };
    struct intake *intake;

    (void)context;
    if (intake_new(&options, &intake, err) < 0)
        return -1;
    intake_free(intake);
    return 0;
}

TEST(intake_new_survives_failing_allocations)
{
    test_each_allocation_failing(new_step, NULL);
}
