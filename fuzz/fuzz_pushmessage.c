// SPDX-License-Identifier: Apache-2.0
/* PushRequest: text that begins with '{' as JSON, all else as protobuf. What protobuf gave is written again and is read as
 * the same. */
#include "intake/pushmessage.h"
#include "wire/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode(const struct pushmessage *message, struct buffer *out)
{
    for (uint32_t i = 0; i < message->n; i++) {
        const struct pushmessage_series *s = &message->series[i];
        size_t series = protobuf_begin(out, 1);

        for (uint32_t k = 0; k < s->n_labels; k++) {
            size_t label = protobuf_begin(out, 1);

            protobuf_put_bytes(out, 1, s->labels[k].name);
            protobuf_put_bytes(out, 2, s->labels[k].value);
            protobuf_end(out, label);
        }
        for (uint32_t k = 0; k < s->n_samples; k++) {
            size_t sample = protobuf_begin(out, 2);

            protobuf_put_bytes(out, 1, s->samples[k].profile);
            protobuf_put_bytes(out, 2, s->samples[k].id);
            protobuf_end(out, sample);
        }
        protobuf_end(out, series);
    }
}

static void check_same(const struct pushmessage *a, const struct pushmessage *b)
{
    ASSERT(a->n == b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct pushmessage_series *x = &a->series[i], *y = &b->series[i];

        ASSERT(x->n_labels == y->n_labels && x->n_samples == y->n_samples);
        for (uint32_t k = 0; k < x->n_labels; k++)
            ASSERT(slice_equal(x->labels[k].name, y->labels[k].name) &&
                   slice_equal(x->labels[k].value, y->labels[k].value));
        for (uint32_t k = 0; k < x->n_samples; k++)
            ASSERT(slice_equal(x->samples[k].profile, y->samples[k].profile) &&
                   slice_equal(x->samples[k].id, y->samples[k].id));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of(data, size);
    struct pushmessage message, again;
    struct arena arena;
    struct buffer out;
    struct error err;
    int result;

    arena_init(&arena, 64 << 20);
    buffer_init(&out, 0);
    result = size > 0 && data[0] == '{' ? pushmessage_decode_json(input, &arena, &message, &err)
                                        : pushmessage_decode(input, &arena, &message, &err);
    if (result == 0) {
        encode(&message, &out);
        ASSERT(buffer_check(&out, &err) == 0);
        ASSERT(pushmessage_decode(buffer_slice(&out), &arena, &again, &err) == 0);
        check_same(&message, &again);
    } else {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_LIMIT);
    }
    buffer_done(&out);
    arena_done(&arena);
    return 0;
}
