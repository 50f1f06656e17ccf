// SPDX-License-Identifier: Apache-2.0
#include "intake/pushmessage.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/test.h"

#include <stdio.h>

/* series { labels { name: "a" value: "1" } samples { raw_profile: "xyz" ID: "i" } 5: 9 } series {} */
static const char proto[] = "\x0a\x14\x0a\x06\x0a\x01"
                            "a\x12\x01"
                            "1\x12\x08\x0a\x03xyz\x12\x01i\x28\x09\x0a\x00";

static const char *shown(const struct pushmessage *message)
{
    static char out[512];
    int at = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < message->n; i++) {
        const struct pushmessage_series *s = &message->series[i];

        at += snprintf(out + at, sizeof(out) - (size_t)at, "series");
        for (uint32_t k = 0; k < s->n_labels; k++)
            at += snprintf(out + at, sizeof(out) - (size_t)at, " %.*s=%.*s", SLICE_ARG(s->labels[k].name),
                           SLICE_ARG(s->labels[k].value));
        for (uint32_t k = 0; k < s->n_samples; k++)
            at += snprintf(out + at, sizeof(out) - (size_t)at, " (%.*s)%.*s", SLICE_ARG(s->samples[k].profile),
                           SLICE_ARG(s->samples[k].id));
        at += snprintf(out + at, sizeof(out) - (size_t)at, "\n");
    }
    return out;
}

TEST(pushmessage_reads_protobuf)
{
    struct pushmessage message;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(pushmessage_decode(slice_of(proto, sizeof(proto) - 1), &arena, &message, &err), &err);
    CHECK_TEXT(shown(&message), "series a=1 (xyz)i\nseries\n");
    arena_done(&arena);
}

TEST(pushmessage_cut_anywhere_never_reads_outside)
{
    struct pushmessage message;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (size_t len = 1; len < sizeof(proto) - 1; len++) {
        char *copy = memory_alloc(len, &err);
        int result;

        memcpy(copy, proto, len);
        result = pushmessage_decode(slice_of(copy, len), &arena, &message, &err);
        CHECK(len == 22 ? result == 0 : result < 0); /* between the two series it is whole */
        if (result < 0)
            CHECK_HAS(err.text, "PushRequest: ");
        memory_free(copy);
    }
    arena_done(&arena);
}

static const char json[] = "{\"other\":{\"a\":[]},\"series\":[{\"labels\":[{\"name\":\"a\",\"value\":\"1\",\"x\":2}],"
                           "\"samples\":[{\"raw_profile\":\"eHl6\",\"ID\":\"i\"},{\"rawProfile\":\"_-8=\"}],"
                           "\"annotations\":null},{\"labels\":null,\"samples\":null}]}";

TEST(pushmessage_reads_json)
{
    struct pushmessage message;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(pushmessage_decode_json(slice_from(json), &arena, &message, &err), &err);
    CHECK_TEXT(shown(&message), "series a=1 (xyz)i (\xff\xef)\nseries\n");
    CHECK_OK(pushmessage_decode_json(SLICE("{\"series\":null}"), &arena, &message, &err), &err);
    CHECK_EQ(message.n, 0);
    arena_done(&arena);
}

TEST(pushmessage_says_what_is_wrong_with_json)
{
    struct pushmessage message;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(pushmessage_decode_json(SLICE(""), &arena, &message, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(pushmessage_decode_json(SLICE("{\"series\":[{\"samples\":[{\"rawProfile\":\"a*b\"}]}]}"), &arena,
                                        &message, &err),
                &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "character 1 of rawProfile is not base64");
    CHECK_ERROR(pushmessage_decode_json(SLICE("{\"series\":[{\"labels\":7}]}"), &arena, &message, &err), &err,
                ERR_CORRUPT);
    arena_done(&arena);
}

TEST(pushmessage_of_too_many_things_is_refused)
{
    struct pushmessage message;
    struct buffer body;
    struct arena arena;
    struct error err;

    buffer_init(&body, 0);
    for (uint32_t i = 0; i <= PUSHMESSAGE_MAX_ITEMS; i++)
        buffer_append(&body, "\x0a\x00", 2);
    arena_init(&arena, 0);
    CHECK_ERROR(pushmessage_decode(buffer_slice(&body), &arena, &message, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "1048576");
    arena_done(&arena);
    buffer_done(&body);
}

static int proto_step(void *context, struct error *err)
{
    struct pushmessage message;
    struct arena arena;
    int result;

    (void)context;
    arena_init(&arena, 0);
    result = pushmessage_decode(slice_of(proto, sizeof(proto) - 1), &arena, &message, err);
    arena_done(&arena);
    return result;
}

static int json_step(void *context, struct error *err)
{
    struct pushmessage message;
    struct arena arena;
    int result;

    (void)context;
    arena_init(&arena, 0);
    result = pushmessage_decode_json(slice_from(json), &arena, &message, err);
    arena_done(&arena);
    return result;
}

TEST(pushmessage_survives_failing_allocations)
{
    test_each_allocation_failing(proto_step, NULL);
    test_each_allocation_failing(json_step, NULL);
}
