// SPDX-License-Identifier: Apache-2.0
/* JSON: passing over a text and taking it apart agree on whether it is good; a text that is good can be written again
 * from what was read, and is then read as the same. */
#include "base/json.h"
#include "wire/json_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_DEPTH 50

/* Reads one value and writes it again. */
static void copy_value(struct json_reader *r, struct json *out)
{
    struct slice key;

    switch (json_reader_peek(r)) {
    case JSON_NULL:
        json_reader_null(r);
        json_null(out);
        break;
    case JSON_BOOL: json_bool(out, json_reader_bool(r)); break;
    case JSON_NUMBER: json_raw(out, json_reader_number(r)); break;
    case JSON_STRING: {
        struct slice text = json_reader_text(r);

        ASSERT(slice_is_utf8(text));
        json_string(out, text);
        break;
    }
    case JSON_ARRAY:
        json_reader_enter_array(r);
        json_array_begin(out);
        while (json_reader_next_item(r))
            copy_value(r, out);
        json_array_end(out);
        break;
    case JSON_OBJECT:
        json_reader_enter_object(r);
        json_object_begin(out);
        while (json_reader_next_key(r, &key)) {
            json_key_slice(out, key);
            copy_value(r, out);
        }
        json_object_end(out);
        break;
    case JSON_NOTHING:
        json_reader_skip(r); /* says what is wrong */
        json_null(out);
        break;
    }
}

/* Copies a whole text; whether it was good. */
static bool copy(struct slice text, struct arena *arena, struct buffer *out, struct error *err)
{
    struct json_reader r;
    struct json json;

    json_reader_init(&r, text, arena, MAX_DEPTH);
    json_init(&json, out, JSON_COMPACT);
    copy_value(&r, &json);
    json_reader_end(&r);
    json_done(&json);
    return json_reader_check(&r, err) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buffer_done) struct buffer first, second;
    AUTO(arena_done) struct arena arena;
    struct slice text = slice_of(data, size);
    struct json_reader r;
    struct error err, skip_err;
    bool is_good, can_be_skipped;

    buffer_init(&first, 0);
    buffer_init(&second, 0);
    arena_init(&arena, 16 << 20);
    json_reader_init(&r, text, &arena, MAX_DEPTH);
    json_reader_skip(&r);
    json_reader_end(&r);
    can_be_skipped = json_reader_check(&r, &skip_err) == 0;
    ASSERT(arena.used_bytes == 0);
    is_good = copy(text, &arena, &first, &err);
    ASSERT(is_good == can_be_skipped);
    if (!is_good) {
        ASSERT(err.code == skip_err.code && (err.code == ERR_CORRUPT || err.code == ERR_LIMIT));
        return 0;
    }
    ASSERT(copy(buffer_slice(&first), &arena, &second, &err));
    ASSERT(slice_equal(buffer_slice(&first), buffer_slice(&second)));
    return 0;
}
