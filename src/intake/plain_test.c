// SPDX-License-Identifier: Apache-2.0
#include "intake/plain.h"

#include "intake/intake_sample_test.h"
#include "pack/packer.h"

TEST(plain_takes_pprof_and_what_the_headers_say)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample,
                       (struct upload){ .kind = UPLOAD_PLAIN,
                                        .content_encoding = SLICE("gzip"),
                                        .profile_type = SLICE("cpu"),
                                        .profile_time = SLICE("2026-11-15T10:00:00.5Z"),
                                        .trace_id = SLICE("0A0000000000000000000000000000ff"),
                                        .body = INTAKE_SAMPLE_PPROF(&sample, .start_ns = 0,
                                                                    .samples = "main#/usr/bin/shop 1 10 | "
                                                                               "x#/lib/libc.so.6 1 10 @0b-0c") });
    CHECK_TEXT(intake_sample_rows(&sample),
               "15T10:00:00+10s every 10000000 {__name__=\"process_cpu\", service_name=\"shop\"} "
               "[process_cpu:samples:count:cpu:nanoseconds process_cpu:cpu:nanoseconds:cpu:nanoseconds] "
               "main</usr/bin/shop#/usr/bin/shop> 1 10 link 0a-00\n"
               "15T10:00:00+10s every 10000000 {__name__=\"process_cpu\", service_name=\"shop\"} "
               "[process_cpu:samples:count:cpu:nanoseconds process_cpu:cpu:nanoseconds:cpu:nanoseconds] "
               "x</lib/libc.so.6#/lib/libc.so.6> 1 10 link 0b-0c\n");
    intake_sample_end(&sample);
}

TEST(plain_service_of_samples_and_of_the_query_go_before_the_binary)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, (struct upload){ .kind = UPLOAD_PLAIN,
                                                 .query = SLICE("service_name=asked"),
                                                 .trace_id = SLICE("not an id"),
                                                 .profile_type = SLICE("mutex"),
                                                 .body = INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00",
                                                                             .samples = "m#/bin/x 1 2 | n#/bin/x 1 2 "
                                                                                        "{service.name=own}") });
    CHECK_HAS(intake_sample_rows(&sample), "{__name__=\"mutex\", service_name=\"asked\"} {trace_id=not an id}");
    CHECK_HAS(intake_sample_rows(&sample), "{__name__=\"mutex\", service_name=\"own\"}");
    intake_sample_end(&sample);
}

TEST(plain_is_what_ingest_takes_without_a_name)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(
        &sample, (struct upload){ .kind = UPLOAD_INGEST,
                                  .profile_type = SLICE("heap"),
                                  .body = INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .types = "inuse_space/bytes",
                                                              .samples = "m#/bin/x 1") });
    CHECK_HAS(intake_sample_rows(&sample), "{__name__=\"memory\", service_name=\"x\"}");
    intake_sample_take(&sample, (struct upload){ .kind = UPLOAD_PLAIN });
    CHECK_EQ(sample.receipt.n_stored, 1);
    intake_sample_end(&sample);
}

TEST(plain_unwraps_two_layers_and_no_more)
{
    struct intake_sample sample;
    struct buffer once, twice;
    struct packer *packer;
    struct error err;

    intake_sample_begin(&sample);
    buffer_init(&once, 0);
    buffer_init(&twice, 0);
    CHECK_OK(packer_new(&packer, &err), &err);
    CHECK_OK(packer_pack(packer, PACK_GZIP, 0, INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "a 1 1"),
                         &once, &err),
             &err);
    intake_sample_take(&sample, (struct upload){ .kind = UPLOAD_PLAIN, .body = buffer_slice(&once) });
    CHECK_OK(packer_pack(packer, PACK_GZIP, 0, buffer_slice(&once), &twice, &err), &err);
    CHECK_ERROR(intake_sample_try(&sample, (struct upload){ .kind = UPLOAD_PLAIN, .body = buffer_slice(&twice) }, &err),
                &err, ERR_LIMIT);
    packer_free(packer);
    buffer_done(&once);
    buffer_done(&twice);
    intake_sample_end(&sample);
}

TEST(plain_scraped_has_the_labels_of_its_target)
{
    struct intake_sample sample;
    struct error err;

    intake_sample_begin(&sample);
    intake_sample_take(
        &sample, (struct upload){ .kind = UPLOAD_SCRAPED,
                                  .query = SLICE("__name__=mutex\nservice_name=api\ninstance=h1:6060\n__delta__=false"),
                                  .body = INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00",
                                                              .types = "contentions/count delay/nanoseconds",
                                                              .samples = "m 1 2") });
    CHECK_HAS(intake_sample_rows(&sample), "{__name__=\"mutex\", instance=\"h1:6060\", service_name=\"api\"}");
    CHECK_ERROR(intake_sample_try(&sample,
                                  (struct upload){ .kind = UPLOAD_SCRAPED,
                                                   .query = SLICE("service_name=api"),
                                                   .body = SLICE("Could not enable CPU profiling") },
                                  &err),
                &err, ERR_UNSUPPORTED);
    CHECK_TEXT(intake_sample_sources(&sample), "|api|scraped uploads 2 seen 2 stored 1 invalid 1\n");
    intake_sample_end(&sample);
}
