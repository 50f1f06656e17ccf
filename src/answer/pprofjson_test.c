// SPDX-License-Identifier: Apache-2.0
#include "answer/pprofjson.h"

#include "profile/random_profile_test.h"
#include "wire/format.h"
#include "wire/json_reader.h"
#include "wire/pprof.h"

static void encode(struct batch *batch, struct buffer *out)
{
    struct error err;

    CHECK_OK(pprof_encode(batch, &(struct format_write_options){ .plain = true }, out, &err), &err);
}

TEST(pprofjson_writes_a_profile_as_protobuf_json)
{
    static const char *const stacks[] = { "ab" };
    struct buffer bytes, text;
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    buffer_init(&bytes, 0);
    buffer_init(&text, 0);
    letter_batch(&batch, stacks, (const int64_t[]){ -7 }, 1);
    batch.profiles[0].period = 5;
    encode(&batch, &bytes);
    CHECK_OK(pprofjson_write(buffer_slice(&bytes), &text, &err), &err);
    CHECK_HAS(buffer_slice(&text), "\"sampleType\":[{\"type\":\"");
    CHECK_HAS(buffer_slice(&text), "\"value\":[\"-7\"]");
    CHECK_HAS(buffer_slice(&text), "\"locationId\":[\"");
    CHECK_HAS(buffer_slice(&text), "\"line\":[{\"functionId\":\"");
    CHECK_HAS(buffer_slice(&text), "\"stringTable\":[\"\",");
    CHECK_HAS(buffer_slice(&text), "\"period\":\"5\"");
    buffer_done(&text);
    buffer_done(&bytes);
    batch_done(&batch);
}

TEST(pprofjson_writes_json_whatever_the_profile)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct random_options shape = random_shape(seed);
        struct json_reader reader;
        struct buffer bytes, text;
        struct batch batch;
        struct arena arena;
        struct error err;

        batch_init(&batch, NULL);
        buffer_init(&bytes, 0);
        buffer_init(&text, 0);
        arena_init(&arena, 0);
        random_batch(&batch, &shape);
        encode(&batch, &bytes);
        CHECK_OK(pprofjson_write(buffer_slice(&bytes), &text, &err), &err);
        json_reader_init(&reader, buffer_slice(&text), &arena, JSON_READER_MAX_DEPTH);
        json_reader_skip(&reader);
        json_reader_end(&reader);
        CHECK_OK(json_reader_check(&reader, &err), &err);
        buffer_clear(&text);
        CHECK_ERROR(pprofjson_write(slice_of(bytes.data, bytes.len - 1), &text, &err), &err, ERR_CORRUPT);
        arena_done(&arena);
        buffer_done(&text);
        buffer_done(&bytes);
        batch_done(&batch);
    }
}
