// SPDX-License-Identifier: Apache-2.0
#include "intake/upload.h"

#include "base/test.h"

static const struct upload example = {
    .kind = UPLOAD_PLAIN,
    .tenant = { "team-a", 6 },
    .id = { "7/1", 3 },
    .received_ns = -5,
    .weight = 300,
    .progress = { true, 5, 700 },
    .query = { "name=app", 8 },
    .content_type = { "application/x", 13 },
    .content_encoding = { "gzip", 4 },
    .user_agent = { "curl", 4 },
    .profile_type = { "cpu", 3 },
    .profile_time = { "2026", 4 },
    .trace_id = { "4bf9", 4 },
    .place = { "10.0.0.7", 8 },
    .body = { "\0body", 5 },
};

TEST(upload_comes_back_as_it_was)
{
    struct upload back;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    upload_encode(&example, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK_OK(upload_decode(buffer_slice(&out), &back, &err), &err);
    CHECK_EQ(back.kind, UPLOAD_PLAIN);
    CHECK_EQ(back.received_ns, -5);
    CHECK_EQ(back.weight, 300);
    CHECK(back.progress.is_tried);
    CHECK_EQ(back.progress.n_kept, 5);
    CHECK_EQ(back.progress.n_counted, 700);
    CHECK_TEXT(back.tenant, "team-a");
    CHECK_TEXT(back.query, "name=app");
    CHECK_TEXT(back.content_type, "application/x");
    CHECK_TEXT(back.content_encoding, "gzip");
    CHECK_TEXT(back.user_agent, "curl");
    CHECK_TEXT(back.profile_type, "cpu");
    CHECK_TEXT(back.profile_time, "2026");
    CHECK_TEXT(back.trace_id, "4bf9");
    CHECK_TEXT(back.place, "10.0.0.7");
    CHECK_TEXT(back.id, "7/1");
    CHECK_TEXT(back.body, example.body);
    buffer_done(&out);
}

TEST(upload_cut_anywhere_is_refused)
{
    struct upload back;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    upload_encode(&example, &out);
    for (size_t len = 0; len < out.len; len++)
        CHECK_ERROR(upload_decode(slice_of(out.data, len), &back, &err), &err, ERR_CORRUPT);
    buffer_append_byte(&out, 'x');
    CHECK_ERROR(upload_decode(buffer_slice(&out), &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "1 bytes before its end");
    buffer_done(&out);
}

TEST(upload_of_another_version_or_kind_is_refused)
{
    struct upload back;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    upload_encode(&example, &out);
    out.data[1] = UPLOAD_KIND_COUNT;
    CHECK_ERROR(upload_decode(buffer_slice(&out), &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "kind 7");
    out.data[0] = 3;
    CHECK_ERROR(upload_decode(buffer_slice(&out), &back, &err), &err, ERR_VERSION);
    buffer_done(&out);
}

TEST(upload_of_version_1_has_neither_id_nor_place_nor_progress)
{
    /* kind, time, weight, eight texts, body */
    static const char old[] = { 1, UPLOAD_PUSH, 4, 7, 1, 't', 0, 0, 0, 1, 'u', 0, 0, 0, 2, 'o', 'k' };
    struct upload back;
    struct error err;

    CHECK_OK(upload_decode(slice_of(old, sizeof(old)), &back, &err), &err);
    CHECK_EQ(back.kind, UPLOAD_PUSH);
    CHECK_EQ(back.weight, 7);
    CHECK(!back.progress.is_tried);
    CHECK_TEXT(back.user_agent, "u");
    CHECK_TEXT(back.place, "");
    CHECK_TEXT(back.body, "ok");
}

TEST(upload_weight_of_nothing_is_one)
{
    struct upload weightless = { .kind = UPLOAD_INGEST }, back;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    upload_encode(&weightless, &out);
    CHECK_OK(upload_decode(buffer_slice(&out), &back, &err), &err);
    CHECK_EQ(back.weight, 1);
    buffer_done(&out);
}

TEST(upload_texts_that_are_too_long_are_cut)
{
    static char long_text[UPLOAD_TEXT_MAX + 10];
    struct upload upload = example, back;
    struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    upload.query = slice_of(long_text, sizeof(long_text));
    upload_encode(&upload, &out);
    CHECK_OK(upload_decode(buffer_slice(&out), &back, &err), &err);
    CHECK_EQ(back.query.len, UPLOAD_TEXT_MAX);
    CHECK_TEXT(back.body, example.body);
    buffer_done(&out);
}

TEST(upload_senders_have_short_names)
{
    static const char long_name[200] = { [0 ... 198] = 'x' };
    struct upload upload = { .kind = UPLOAD_PUSH_JSON };
    char text[UPLOAD_SENDER_BYTES];

    CHECK_TEXT(upload_sender(&upload, SLICE(" agent/1 "), text), "push-json agent/1");
    CHECK_TEXT(upload_sender(&upload, SLICE(" "), text), "push-json");
    CHECK_EQ(upload_sender(&upload, slice_from(long_name), text).len, strlen("push-json ") + 96);
}

TEST(upload_kinds_have_names)
{
    CHECK_TEXT(upload_kind_name(UPLOAD_INGEST), "ingest");
    CHECK_TEXT(upload_kind_name(UPLOAD_SCRAPED), "scraped");
}
