// SPDX-License-Identifier: Apache-2.0
#include "profile/labelmatch.h"

#include "base/test.h"
#include "profile/builder.h"

/* Two profiles over the same tables, each with three samples:
 *   0  thread=main thread=aux, bytes=2048 bytes
 *   1  thread=worker-1, request=4096, "http.route"=/a
 *   2  no labels
 * The first has the attribute env=prod and the resource service.name=shop; the second has neither, and in it bytes has
 * no unit. */
static void fill_batch(struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    for (int round = 0; round < 2; round++) {
        struct profile *profile = builder_profile(b);
        struct label first[] = {
            { .key = builder_string(b, SLICE("thread")), .text = builder_string(b, SLICE("main")) },
            { .key = builder_string(b, SLICE("thread")), .text = builder_string(b, SLICE("aux")) },
            { .key = builder_string(b, SLICE("bytes")),
              .number = 2048,
              .unit = round == 0 ? builder_string(b, SLICE("bytes")) : 0,
              .kind = LABEL_NUMBER },
        };
        struct label second[] = {
            { .key = builder_string(b, SLICE("thread")), .text = builder_string(b, SLICE("worker-1")) },
            { .key = builder_string(b, SLICE("request")), .number = 4096, .kind = LABEL_NUMBER },
            { .key = builder_string(b, SLICE("http.route")), .text = builder_string(b, SLICE("/a")) },
        };
        struct label env = { .key = builder_string(b, SLICE("env")), .text = builder_string(b, SLICE("prod")) };
        struct label service = { .key = builder_string(b, SLICE("service.name")),
                                 .text = builder_string(b, SLICE("shop")) };
        int64_t value = 1;

        if (round == 0) {
            profile->attributes = builder_label_set(b, &env, 1);
            profile->resource = builder_label_set(b, &service, 1);
        }
        builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("n")) });
        builder_sample(b, 0, builder_label_set(b, first, 3), 0, &value, 0);
        builder_sample(b, 0, builder_label_set(b, second, 3), 0, &value, 0);
        builder_sample(b, 0, 0, 0, &value, 0);
    }
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

/* Which samples match, as text: "yn- yyn" would be two profiles of three. */
static const char *matches(const char *text, bool is_tag)
{
    static char result[8];
    AUTO(labelmatch_freep) struct labelmatch *match = NULL;
    AUTO(labelmatch_run_freep) struct labelmatch_run *run = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct batch batch;
    struct error err;
    size_t n = 0;

    batch_init(&batch, NULL);
    fill_batch(&batch);
    CHECK_OK((is_tag ? labelmatch_new_tag : labelmatch_new)(slice_from(text), &match, &err), &err);
    CHECK_OK(pattern_scratch_new(&scratch, &err), &err);
    CHECK_OK(labelmatch_run_new(match, scratch, &run, &err), &err);
    for (uint32_t i = 0; i < batch.n_profiles; i++) {
        CHECK_OK(labelmatch_run_profile(run, &batch.profiles[i], &err), &err);
        for (uint32_t sample = 0; sample < 3; sample++) {
            bool first = false, again = true;

            CHECK_OK(labelmatch_run_test(run, sample, &first, &err), &err);
            CHECK_OK(labelmatch_run_test(run, sample, &again, &err), &err);
            CHECK_EQ(first, again);
            result[n++] = first ? 'y' : 'n';
        }
        result[n++] = i == 0 ? ' ' : '\0';
    }
    batch_done(&batch);
    return result;
}

static const char *selected(const char *text)
{
    return matches(text, false);
}

static const char *tagged(const char *text)
{
    return matches(text, true);
}

TEST(labelmatch_selects_by_value)
{
    CHECK_TEXT(selected("thread=main"), "ynn ynn");
    CHECK_TEXT(selected("thread=aux"), "ynn ynn");
    CHECK_TEXT(selected("thread=\"main\""), "ynn ynn");
    CHECK_TEXT(selected("thread!=main"), "nyy nyy");
    CHECK_TEXT(selected("thread="), "nny nny");
    CHECK_TEXT(selected("thread!="), "yyn yyn");
    CHECK_TEXT(selected("bytes=2048"), "ynn ynn");
    CHECK_TEXT(selected("thread=mai"), "nnn nnn");
}

TEST(labelmatch_selects_by_anchored_regexp)
{
    CHECK_TEXT(selected("thread=~work.*"), "nyn nyn");
    CHECK_TEXT(selected("thread=~ork.*"), "nnn nnn");
    CHECK_TEXT(selected("thread!~\"main|worker-.\""), "nny nny");
    CHECK_TEXT(selected("thread=~.+"), "yyn yyn");
    CHECK_TEXT(selected("thread=~.*"), "yyy yyy");
}

TEST(labelmatch_sees_labels_of_the_profile_and_its_resource)
{
    CHECK_TEXT(selected("env=prod"), "yyy nnn");
    CHECK_TEXT(selected("service.name=shop"), "yyy nnn");
    CHECK_TEXT(selected("service_name=~sh.p"), "yyy nnn");
    CHECK_TEXT(selected("service_name!=shop"), "nnn yyy");
    CHECK_TEXT(selected("http_route=/a"), "nyn nyn");
    CHECK_TEXT(selected("\"http.route\"=/a"), "nyn nyn");
}

TEST(labelmatch_selects_by_range)
{
    CHECK_TEXT(selected("bytes:2kB"), "ynn ynn");
    CHECK_TEXT(selected("bytes:1kB:4kB"), "ynn ynn");
    CHECK_TEXT(selected("bytes:3kB:"), "nnn nnn");
    CHECK_TEXT(selected("bytes::2048B"), "ynn ynn");
    CHECK_TEXT(selected("bytes:2048"), "ynn ynn");
    CHECK_TEXT(selected("bytes:2000:3000"), "ynn ynn");
    CHECK_TEXT(selected("bytes:1ms:1h"), "nnn nnn");
    CHECK_TEXT(selected("request:1kb:"), "nyn nyn");
}

static void check_bad(const char *text, const char *words)
{
    struct labelmatch *match = NULL;
    struct error err;

    CHECK_ERROR(labelmatch_new(slice_from(text), &match, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, words);
    CHECK(match == NULL);
}

TEST(labelmatch_says_how_a_selection_is_written)
{
    check_bad("thread", "label selection 'thread': no operator; write NAME=VALUE");
    check_bad("=x", "no label name");
    check_bad("\"thread=x", "no operator");
    check_bad("bytes:", "no range of numbers");
    check_bad("bytes:lots", "no range of numbers");
    check_bad("bytes:1:4kb", "no range of numbers");
    check_bad("bytes:99999999999999999999", "no range of numbers");
    check_bad("thread=~(", "missing closing parenthesis");
}

TEST(labelmatch_reads_tag_filters_as_pprof_does)
{
    CHECK_TEXT(tagged("thread:main"), "ynn ynn");
    CHECK_TEXT(tagged("main|worker"), "yyn yyn");
    CHECK_TEXT(tagged("main,aux"), "ynn ynn");
    CHECK_TEXT(tagged("main,worker"), "nnn nnn");
    CHECK_TEXT(tagged("thread=main,worker"), "yyn yyn");
    CHECK_TEXT(tagged("thread=^thread"), "nnn nnn");
    CHECK_TEXT(tagged("env=prod"), "nnn nnn");
    CHECK_TEXT(tagged("^http"), "nyn nyn");
    CHECK_TEXT(tagged("http_route=/a"), "nnn nnn");
}

TEST(labelmatch_reads_tag_ranges_as_pprof_does)
{
    CHECK_TEXT(tagged("2kb"), "ynn ynn");
    CHECK_TEXT(tagged("bytes=1kb:4kb"), "ynn ynn");
    CHECK_TEXT(tagged("1kb:4kb"), "yyn yyn"); /* request is guessed to be in bytes */
    CHECK_TEXT(tagged(":4kb"), "yyn yyn");
    CHECK_TEXT(tagged("3kb:"), "nyn nyn");
    CHECK_TEXT(tagged("thread=1kb:4kb"), "nnn nnn");
    CHECK_TEXT(tagged("bytes=2048"), "nnn nnn"); /* a number without unit is not in bytes */
    CHECK_TEXT(tagged("1.5"), "nnn nnn");        /* no range, so a pattern, which only texts can match */
}

static int select_all(void *context, struct error *err)
{
    AUTO(labelmatch_freep) struct labelmatch *match = NULL;
    AUTO(labelmatch_run_freep) struct labelmatch_run *run = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct batch *batch = context;
    bool matched;

    if (labelmatch_new_tag(SLICE("main,aux"), &match, err) < 0 || pattern_scratch_new(&scratch, err) < 0 ||
        labelmatch_run_new(match, scratch, &run, err) < 0 || labelmatch_run_profile(run, &batch->profiles[0], err) < 0)
        return -1;
    return labelmatch_run_test(run, 0, &matched, err);
}

TEST(labelmatch_survives_any_failing_allocation)
{
    struct batch batch;

    batch_init(&batch, NULL);
    fill_batch(&batch);
    test_each_allocation_failing(select_all, &batch);
    batch_done(&batch);
}
