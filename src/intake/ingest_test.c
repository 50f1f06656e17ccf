// SPDX-License-Identifier: Apache-2.0
#include "intake/ingest.h"

#include "intake/intake_sample_test.h"

#define FORM_TYPE "multipart/form-data; boundary=b"

static struct upload ingest(struct slice query, struct slice type, struct slice body)
{
    return (struct upload){
        .kind = UPLOAD_INGEST, .tenant = SLICE("t"), .query = query, .content_type = type, .body = body
    };
}

/* The parts of a form: name, body, name, body ... */
static struct slice form(struct buffer *out, const struct slice *parts, size_t n)
{
    buffer_init(out, 0);
    for (size_t i = 0; i < n; i += 2) {
        buffer_printf(out, "--b\r\nContent-Disposition: form-data; name=\"%.*s\"; filename=\"x\"\r\n\r\n",
                      SLICE_ARG(parts[i]));
        buffer_append_slice(out, parts[i + 1]);
        buffer_append_text(out, "\r\n");
    }
    buffer_append_text(out, "--b--\r\n");
    return buffer_slice(out);
}
#define FORM(out, ...)                                                                                                 \
    form((out), (const struct slice[]){ __VA_ARGS__ },                                                                 \
         sizeof((const struct slice[]){ __VA_ARGS__ }) / sizeof(struct slice))

static struct slice rows(struct intake_sample *sample)
{
    return store_sample_rows(&sample->store, &(const struct store_sample_query){ .tenant = "t" });
}

TEST(ingest_takes_the_form_of_go)
{
    struct intake_sample sample;
    struct buffer body;

    intake_sample_begin(&sample);
    intake_sample_take(
        &sample, ingest(SLICE("name=shop.api%7B__session_id__%3D77e4%2Czone%3Deu%7D&from=1794736790000000000&until="
                              "1794736805000000000&spyName=gospy&sampleRate=100&units=&aggregationType="),
                        SLICE(FORM_TYPE),
                        FORM(&body, SLICE("profile"),
                             INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "main;work 3 30"))));
    CHECK_TEXT(rows(&sample), "15T09:59:50+15s every 10000000 {__name__=\"process_cpu\", pyroscope_spy=\"gospy\", "
                              "service_name=\"shop.api\", zone=\"eu\"} [process_cpu:samples:count:cpu:nanoseconds "
                              "process_cpu:cpu:nanoseconds:cpu:nanoseconds] main;work 3 30\n");
    CHECK_EQ(sample.receipt.n_profiles, 1);
    CHECK_EQ(sample.receipt.n_stored, 1);
    CHECK_EQ(sample.receipt.n_samples, 1);
    CHECK_TEXT(sample.receipt.service, "shop.api");
    CHECK(sample.receipt.inflated_bytes > 0);
    CHECK_TEXT(intake_sample_sources(&sample), "t|shop.api|ingest gospy uploads 1 seen 1 stored 1\n");
    buffer_done(&body);
    intake_sample_end(&sample);
}

TEST(ingest_takes_the_raw_body_of_node_whose_time_is_the_end)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample,
                       ingest(SLICE("name=web&format=pprof&spyName=nodespy"), SLICE("application/octet-stream"),
                              INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:01", .duration_ns = 60000000000,
                                                  .types = "samples/count wall/nanoseconds", .samples = "a 1 9")));
    CHECK_HAS(rows(&sample), "15T10:00:00+60s every 10000000 {__name__=\"wall\"");
    intake_sample_end(&sample);
}

TEST(ingest_names_profiles_by_display_names)
{
    struct intake_sample sample;
    struct buffer body;

    intake_sample_begin(&sample);
    intake_sample_take(
        &sample, ingest(SLICE("name=a"), SLICE(FORM_TYPE),
                        FORM(&body, SLICE("sample_type_config"),
                             SLICE("{\"contentions\":{\"display-name\":\"block_count\"}}"), SLICE("profile"),
                             INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00",
                                                 .types = "contentions/count delay/nanoseconds", .samples = "x 1 5"))));
    CHECK_HAS(rows(&sample), "__name__=\"block\"");
    CHECK_HAS(rows(&sample), "pyroscope_spy=\"unknown\"");
    buffer_done(&body);
    intake_sample_end(&sample);
}

/* Cumulative heap of an old client, one profile after another. */
static void take_heap(struct intake_sample *sample, const char *at, const char *samples)
{
    struct store_sample_profile heap = { .at = at, .types = "alloc_space/bytes inuse_space/bytes", .samples = samples };
    struct buffer body;

    intake_sample_take(sample,
                       ingest(SLICE("name=a"), SLICE(FORM_TYPE),
                              FORM(&body, SLICE("profile"), intake_sample_pprof(sample, &heap, false),
                                   SLICE("sample_type_config"), SLICE("{\"alloc_space\":{\"cumulative\":true}}"))));
    buffer_done(&body);
}

TEST(ingest_makes_deltas_of_what_clients_call_cumulative)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    take_heap(&sample, "15T10:00", "x 100 7");
    take_heap(&sample, "15T10:01", "x 130 8 | y 5 5");
    CHECK_EQ(sample.receipt.n_stored, 1);
    take_heap(&sample, "15T10:02", "x 130 8 | y 5 5");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = "t", .from = "15T10:00", .until = "15T10:01"),
               "[alloc_space/bytes inuse_space/bytes] x 0 7\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = "t", .from = "15T10:01", .until = "15T10:02"),
               "[alloc_space/bytes inuse_space/bytes] x 30 8\n[alloc_space/bytes inuse_space/bytes] y 5 5\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = "t", .from = "15T10:02", .until = "15T10:03"),
               "[alloc_space/bytes inuse_space/bytes] x 0 8\n[alloc_space/bytes inuse_space/bytes] y 0 5\n");
    intake_sample_end(&sample);
}

TEST(ingest_subtracts_the_profile_that_a_client_sends_along)
{
    struct store_sample_profile older = { .at = "15T10:00", .types = "alloc_space/bytes", .samples = "x 100" };
    struct store_sample_profile newer = { .at = "15T10:01", .types = "alloc_space/bytes", .samples = "x 140" };
    struct intake_sample sample;
    struct buffer body, previous;

    intake_sample_begin(&sample);
    buffer_init(&previous, 0);
    buffer_append_slice(&previous, intake_sample_pprof(&sample, &older, false));
    intake_sample_take(&sample, ingest(SLICE("name=a"), SLICE(FORM_TYPE),
                                       FORM(&body, SLICE("prev_profile"), buffer_slice(&previous), SLICE("profile"),
                                            intake_sample_pprof(&sample, &newer, true), SLICE("sample_type_config"),
                                            SLICE("{\"alloc_space\":{\"cumulative\":true}}"))));
    CHECK_TEXT(STORE_SAMPLE_SUMS(&sample.store, .tenant = "t"), "[alloc_space/bytes] x 40\n");
    buffer_done(&previous);
    buffer_done(&body);
    intake_sample_end(&sample);
}

TEST(ingest_joins_file_and_function_for_scripts)
{
    struct store_sample_profile profile = { .at = "15T10:00", .samples = "run@app.py;lib@/usr/x.py 1 2" };
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, ingest(SLICE("name=a&format=pprof&spyName=pyspy"), SLICE(""),
                                       intake_sample_pprof(&sample, &profile, true)));
    CHECK_HAS(rows(&sample), "app.py run@app.py;lib@/usr/x.py 1 2");
    intake_sample_take(&sample, ingest(SLICE("name=b&format=pprof&spyName=rbspy"), SLICE(""),
                                       intake_sample_pprof(&sample, &profile, true)));
    CHECK_HAS(rows(&sample), "app.py run@app.py;/usr/x.py lib@/usr/x.py 1 2");
    intake_sample_end(&sample);
}

TEST(ingest_respells_the_types_of_dotnet)
{
    struct store_sample_profile profile = { .at = "15T10:00", .types = "inuse-space/bytes", .samples = "x 1" };
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, ingest(SLICE("name=a&format=pprof&spyName=dotnetspy"), SLICE(""),
                                       intake_sample_pprof(&sample, &profile, true)));
    CHECK_HAS(rows(&sample), "[memory:inuse_space:bytes::]");
    intake_sample_end(&sample);
}

TEST(ingest_takes_text_tree_and_trie)
{
    struct intake_sample sample;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, ingest(SLICE("name=a.cpu{k=v}&from=now-10s&until=now&sampleRate=50"),
                                       SLICE("text/plain"), SLICE("main;f 3\n")));
    CHECK_HAS(rows(&sample), "15T11:59:50+10s every 20000000 {__name__=\"process_cpu\", k=\"v\", "
                             "pyroscope_spy=\"unknown\", service_name=\"a\"} [process_cpu:cpu:nanoseconds:cpu:"
                             "nanoseconds] main:0:0;f:0:0 60000000 x3");
    intake_sample_take(&sample,
                       ingest(SLICE("name=b&format=lines&sampleRate=0"), SLICE(""), SLICE("main;f\nmain;f\n")));
    CHECK_HAS(rows(&sample), "[process_cpu:samples:count::] main:0:0;f:0:0 2 x2");
    intake_sample_take(
        &sample, ingest(SLICE("name=c.alloc_space{service_name=d}&format=tree"), SLICE(""), SLICE("\0\0\1\4main\7\0")));
    CHECK_HAS(rows(&sample), "{__name__=\"memory\", app_name=\"c\", pyroscope_spy=\"unknown\", service_name=\"d\"} "
                             "[memory:alloc_space:bytes::] main:0:0 7 x7");
    intake_sample_take(&sample, ingest(SLICE("name=e.wall"), SLICE("binary/octet-stream+trie"), SLICE("\4m;fx\2\0")));
    CHECK_HAS(rows(&sample), "[wall:wall:nanoseconds:cpu:nanoseconds] m:0:0;fx:0:0 20000000 x2");
    intake_sample_end(&sample);
}

TEST(ingest_of_nothing_is_fine_and_keeps_nothing)
{
    struct intake_sample sample;
    struct buffer body;

    intake_sample_begin(&sample);
    intake_sample_take(&sample, ingest(SLICE("name=a"), SLICE(FORM_TYPE), FORM(&body, SLICE("other"), SLICE("x"))));
    CHECK_EQ(sample.receipt.n_stored, 1);
    intake_sample_take(&sample, ingest(SLICE("name=a&format=pprof"), SLICE(""),
                                       INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "x 0 0")));
    intake_sample_take(&sample, ingest(SLICE("name=a"), SLICE(""), SLICE("")));
    CHECK_TEXT(rows(&sample), "");
    CHECK_TEXT(intake_sample_sources(&sample), "t|a|ingest uploads 3 seen 3 stored 3\n");
    buffer_done(&body);
    intake_sample_end(&sample);
}

TEST(ingest_says_what_it_takes_where_it_refuses)
{
    struct intake_sample sample;
    struct error err;

    intake_sample_begin(&sample);
    CHECK_ERROR(intake_sample_try(&sample, ingest(SLICE("name=a&format=jfr"), SLICE(""), SLICE("FLR\0")), &err), &err,
                ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "JFR");
    CHECK_HAS(err.text, "accepted are pprof");
    CHECK_ERROR(intake_sample_try(&sample, ingest(SLICE("name=a&format=speedscope"), SLICE(""), SLICE("{}")), &err),
                &err, ERR_UNSUPPORTED);
    CHECK_ERROR(intake_sample_try(&sample, ingest(SLICE("name="), SLICE(""), SLICE("a 1")), &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "name=APPLICATION");
    CHECK_ERROR(intake_sample_try(&sample, ingest(SLICE("name=a.b"), SLICE(""), SLICE("a 1")), &err), &err,
                ERR_INVALID);
    CHECK_ERROR(intake_sample_try(&sample, ingest(SLICE("name=a&format=pprof"), SLICE(""), SLICE("not pprof")), &err),
                &err, ERR_CORRUPT);
    CHECK_EQ(sample.receipt.n_rejected, 1);
    CHECK_HAS(intake_sample_sources(&sample), "t|a|ingest uploads 3 seen 3 stored 0 invalid 3\n");
    intake_sample_end(&sample);
}

TEST(ingest_too_old_is_refused_as_such)
{
    struct intake_sample sample;
    struct error err;

    intake_sample_begin(&sample);
    CHECK_ERROR(intake_sample_try(&sample,
                                  ingest(SLICE("name=a&format=pprof&from=2001-01-01&until=2001-01-01T00:00:10Z"),
                                         SLICE(""), INTAKE_SAMPLE_PPROF(&sample, .at = "15T10:00", .samples = "x 1 1")),
                                  &err),
                &err, ERR_INVALID);
    CHECK_HAS(intake_sample_sources(&sample), "outside_window 1");
    intake_sample_end(&sample);
}

TEST(ingest_uploads_can_be_named_without_reading_them)
{
    static const struct {
        const char *query, *type, *body, *service, *spy;
    } cases[] = {
        { "name=shop.cpu%7Bzone%3Deu%7D&spyName=gospy", "", "main 1", "shop", "gospy" },
        { "name=a%2Fb.cpu&format=trie", "", "", "a/b", "" },
        { "name=shop.cpu", FORM_TYPE, "--b", "shop.cpu", "" },
        { "name=shop.cpu&format=pprof", "", "x", "shop.cpu", "" },
        { "name=shop.cpu", "", "\x1f\x8b\x08", "shop.cpu", "" },
        { "name=shop.what", "", "main 1", "shop.what", "" },
        { "name=shop.cpu%7Bservice_name%3Dweb%7D", "", "main 1", "web", "" },
        { "name=shop%7B__name__%3Dother.cpu%7D", "", "main 1", "other", "" },
    };
    struct slice service = SLICE(""), spy = SLICE("");
    struct upload upload;
    struct arena arena;

    arena_init(&arena, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        upload = ingest(slice_from(cases[i].query), slice_from(cases[i].type), slice_from(cases[i].body));
        CHECK(ingest_peek(&upload, &arena, &service, &spy));
        CHECK_TEXT(service, cases[i].service);
        CHECK_TEXT(spy, cases[i].spy);
    }
    upload = ingest(SLICE("name=%7B%7D"), SLICE(""), SLICE(""));
    CHECK(!ingest_peek(&upload, &arena, &service, &spy));
    arena_done(&arena);
}
