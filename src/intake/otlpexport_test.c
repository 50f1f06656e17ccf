// SPDX-License-Identifier: Apache-2.0
#include "intake/otlpexport.h"

#include "intake/intake_sample_test.h"
#include "pack/varint.h"

static void export(struct intake_sample *sample, const struct store_sample_profile *profiles, size_t n, bool is_json)
{
    intake_sample_take(sample, (struct upload){ .kind = is_json ? UPLOAD_OTLP_JSON : UPLOAD_OTLP,
                                                .user_agent = SLICE("OTel OTLP Exporter Go/1.47.0"),
                                                .body = intake_sample_otlp(sample, profiles, n, is_json) });
}
#define EXPORT(sample, ...)                                                                                            \
    export((sample), (const struct store_sample_profile[]){ __VA_ARGS__ },                                             \
           sizeof((const struct store_sample_profile[]){ __VA_ARGS__ }) / sizeof(struct store_sample_profile), false)

TEST(otlpexport_takes_profiles_of_several_services)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    EXPORT(
        &sample,
        { .at = "15T10:00", .service = "api", .labels = "host.name=h1", .types = "cpu/nanoseconds", .samples = "a 1" },
        { .at = "15T10:00", .service = "web", .types = "cpu/nanoseconds", .samples = "b 2 {zone=eu} @0a-0b" });
    CHECK_TEXT(intake_sample_rows(&sample),
               "15T10:00:00+10s {__name__=\"process_cpu\", host_name=\"h1\", service_name=\"api\"} "
               "[process_cpu:cpu:nanoseconds::] a 1\n"
               "15T10:00:00+10s {__name__=\"process_cpu\", service_name=\"web\", zone=\"eu\"} "
               "[process_cpu:cpu:nanoseconds::] b 2 link 0a-0b\n");
    CHECK_TEXT(intake_sample_sources(&sample), "|api|otlp OTel OTLP Exporter Go/1.47.0 uploads 1 seen 1 stored 1\n"
                                               "|web|otlp OTel OTLP Exporter Go/1.47.0 uploads 0 seen 1 stored 1\n");
    intake_sample_end(&sample);
}

TEST(otlpexport_takes_json)
{
    struct store_sample_profile profile = {
        .at = "15T10:00", .service = "api", .types = "cpu/nanoseconds", .samples = "a 1"
    };
    struct intake_sample sample;

    intake_sample_begin(&sample);
    export(&sample, &profile, 1, true);
    CHECK_HAS(intake_sample_rows(&sample), "[process_cpu:cpu:nanoseconds::] a 1\n");
    intake_sample_end(&sample);
}

TEST(otlpexport_takes_snappy)
{
    struct store_sample_profile profile = {
        .at = "15T10:00", .service = "api", .types = "cpu/nanoseconds", .samples = "a 1"
    };
    struct intake_sample sample;
    struct buffer packed;
    struct slice plain;

    intake_sample_begin(&sample);
    plain = intake_sample_otlp(&sample, &profile, 1, false);
    buffer_init(&packed, 0);
    varint_append(&packed, plain.len);
    buffer_append_byte(&packed, (char)0xf4); /* a literal whose length less one is in two bytes */
    buffer_append_byte(&packed, (char)(plain.len - 1));
    buffer_append_byte(&packed, (char)((plain.len - 1) >> 8));
    buffer_append_slice(&packed, plain);
    intake_sample_take(
        &sample,
        (struct upload){ .kind = UPLOAD_OTLP, .content_encoding = SLICE("snappy"), .body = buffer_slice(&packed) });
    CHECK_HAS(intake_sample_rows(&sample), "a 1\n");
    CHECK_EQ(sample.receipt.inflated_bytes, plain.len);
    buffer_done(&packed);
    intake_sample_end(&sample);
}

TEST(otlpexport_names_the_service_by_the_executable)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    EXPORT(&sample,
           { .at = "15T10:00",
             .labels = "process.executable.name=redis-server;process.pid=#7",
             .types = "cpu/nanoseconds",
             .samples = "a 1" },
           { .at = "15T10:00", .labels = "host.name=h", .types = "cpu/nanoseconds", .samples = "b 1" });
    CHECK_HAS(intake_sample_rows(&sample),
              "process_executable_name=\"redis-server\", service_name=\"redis-server\"} {process.pid=#7}");
    CHECK_HAS(intake_sample_rows(&sample), "service_name=\"unknown_service\"}");
    intake_sample_end(&sample);
}

static int add_samples(void *context, const struct source_row *row, struct error *err)
{
    (void)err;
    buffer_printf(context, "%.*s %llu\n", SLICE_ARG(row->service), (unsigned long long)row->counts.n_samples);
    return 0;
}

TEST(otlpexport_counts_samples_for_the_service_they_are_of)
{
    struct intake_sample sample;
    struct buffer text;
    struct error err;

    intake_sample_begin(&sample);
    buffer_init(&text, 0);
    EXPORT(&sample, { .at = "15T10:00", .service = "api", .types = "cpu/nanoseconds", .samples = "a 1 | b 1 | c 1" },
           { .at = "15T10:00", .service = "web", .types = "cpu/nanoseconds", .samples = "a 1 | b 1" });
    CHECK_OK(sources_each(intake_sources(sample.intake), add_samples, &text, &err), &err);
    CHECK_TEXT(buffer_slice(&text), "api 3\nweb 2\n");
    buffer_done(&text);
    intake_sample_end(&sample);
}

TEST(otlpexport_names_the_service_by_the_executables_of_samples)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    EXPORT(&sample,
           { .at = "15T10:00",
             .labels = "container.id=c1",
             .types = "cpu/nanoseconds",
             .samples = "a 1 {process.executable.name=nginx} | b 2" },
           { .at = "15T10:00",
             .service = "api",
             .types = "cpu/nanoseconds",
             .samples = "a 1 {process.executable.name=nginx}" });
    CHECK_HAS(intake_sample_rows(&sample),
              "container_id=\"c1\", process_executable_name=\"nginx\", service_name=\"nginx\"}");
    CHECK_HAS(intake_sample_rows(&sample), "container_id=\"c1\", service_name=\"unknown_service\"}");
    CHECK_HAS(intake_sample_rows(&sample), "process_executable_name=\"nginx\", service_name=\"api\"}");
    intake_sample_end(&sample);
}

/* A profile as the eBPF profiler sends it, and one as async-profiler does. */
static struct slice encode_with_period(struct intake_sample *sample, const char *types, const char *period_type,
                                       const char *period_unit, int64_t period)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct store_sample_profile wanted = { .at = "15T10:00", .service = "api", .types = types, .samples = "a 3" };
    struct format_write_options options = { .plain = true };
    struct profile *profile;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    profile = store_sample_add(b, &wanted);
    profile->period_type = (struct value_type){ .type = builder_string(b, slice_from(period_type)),
                                                .unit = builder_string(b, slice_from(period_unit)) };
    profile->period = period;
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    buffer_clear(&sample->body);
    CHECK_OK(otlp_encode(&batch, &options, &sample->body, &err), &err);
    batch_done(&batch);
    return buffer_slice(&sample->body);
}

TEST(otlpexport_turns_samples_into_time_and_knows_other_spellings)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(
        &sample, (struct upload){ .kind = UPLOAD_OTLP,
                                  .body = encode_with_period(&sample, "samples/count", "cpu", "nanoseconds", 50) });
    CHECK_TEXT(intake_sample_rows(&sample), "15T10:00:00+10s every 50 {__name__=\"process_cpu\", service_name=\"api\"} "
                                            "[process_cpu:cpu:nanoseconds:cpu:nanoseconds] a 150 x3\n");
    intake_sample_take(
        &sample,
        (struct upload){ .kind = UPLOAD_OTLP, .body = encode_with_period(&sample, "itimer/ns", "itimer", "ns", 50) });
    CHECK_HAS(intake_sample_rows(&sample), "[process_cpu:cpu:nanoseconds:cpu:nanoseconds] a 3\n");
    intake_sample_take(&sample, (struct upload){ .kind = UPLOAD_OTLP,
                                                 .body = encode_with_period(&sample, "samples/count", "", "", 0) });
    CHECK_HAS(intake_sample_rows(&sample), ":samples:count::] a 3\n");
    intake_sample_end(&sample);
}

TEST(otlpexport_merges_profiles_of_one_window)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    EXPORT(
        &sample,
        { .at = "15T10:00", .duration_ns = 1, .service = "api", .types = "cpu/nanoseconds", .samples = "a 1", .id = 1 },
        { .at = "15T10:00",
          .duration_ns = 4000000000,
          .service = "api",
          .types = "cpu/nanoseconds",
          .samples = "a 2",
          .id = 2 },
        { .at = "15T10:00", .duration_ns = 1, .service = "api", .types = "wall/nanoseconds", .samples = "a 4" },
        { .at = "15T10:01", .duration_ns = 1, .service = "api", .types = "cpu/nanoseconds", .samples = "b 3" });
    CHECK_TEXT(intake_sample_rows(&sample),
               "15T10:00:00+0s {__name__=\"wall\", service_name=\"api\"} [wall:wall:nanoseconds::] a 4\n"
               "15T10:00:00+4s {__name__=\"process_cpu\", service_name=\"api\"} [process_cpu:cpu:nanoseconds::] a 3\n"
               "15T10:01:00+0s {__name__=\"process_cpu\", service_name=\"api\"} [process_cpu:cpu:nanoseconds::] b 3\n");
    CHECK_EQ(sample.receipt.n_profiles, 4);
    CHECK_EQ(sample.receipt.n_stored, 4);
    intake_sample_end(&sample);
}

TEST(otlpexport_merged_from_profiles_with_ids_is_kept_once)
{
    const struct store_sample_profile profiles[] = {
        { .at = "15T10:00", .service = "api", .types = "cpu/nanoseconds", .samples = "a 1", .id = 1 },
        { .at = "15T10:00", .service = "api", .types = "cpu/nanoseconds", .samples = "a 2", .id = 2 },
    };
    struct intake_sample sample;

    intake_sample_begin(&sample);
    export(&sample, profiles, 2, false);
    export(&sample, profiles, 2, false);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = NULL), "[cpu/nanoseconds] a 3\n");
    intake_sample_end(&sample);
}

TEST(otlpexport_without_a_time_ends_now)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    EXPORT(&sample, { .start_ns = 0, .service = "api", .types = "cpu/nanoseconds", .samples = "a 1" });
    CHECK_HAS(intake_sample_rows(&sample), "15T11:59:50+10s");
    intake_sample_end(&sample);
}

TEST(otlpexport_of_nothing_is_fine)
{
    struct intake_sample sample;
    struct error err;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, (struct upload){ .kind = UPLOAD_OTLP, .body = SLICE("") });
    CHECK_EQ(sample.receipt.n_profiles, 0);
    CHECK_ERROR(intake_sample_try(&sample, (struct upload){ .kind = UPLOAD_OTLP, .body = SLICE("\n\7rubbish") }, &err),
                &err, ERR_CORRUPT);
    CHECK_ERROR(intake_sample_try(&sample, (struct upload){ .kind = UPLOAD_OTLP_JSON, .body = SLICE("{") }, &err), &err,
                ERR_CORRUPT);
    intake_sample_end(&sample);
}
