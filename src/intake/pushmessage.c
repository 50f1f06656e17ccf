// SPDX-License-Identifier: Apache-2.0
#include "intake/pushmessage.h"

#include "wire/json_reader.h"
#include "wire/protobuf.h"

enum { REQUEST_SERIES = 1, SERIES_LABELS = 1, SERIES_SAMPLES = 2, SAMPLE_PROFILE = 1, SAMPLE_ID = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };

#define BYTES_TAG(field) PROTOBUF_TAG(field, PROTOBUF_BYTES)

static const struct protobuf_field label_fields[] = { { "name", LABEL_NAME, PROTOBUF_BYTES, false, NULL },
                                                      { "value", LABEL_VALUE, PROTOBUF_BYTES, false, NULL },
                                                      { .name = NULL } };
static const struct protobuf_field sample_fields[] = { { "raw_profile", SAMPLE_PROFILE, PROTOBUF_BYTES, false, NULL },
                                                       { "ID", SAMPLE_ID, PROTOBUF_BYTES, false, NULL },
                                                       { .name = NULL } };
static const struct protobuf_field series_fields[] = { { "label", SERIES_LABELS, PROTOBUF_BYTES, true, label_fields },
                                                       { "sample", SERIES_SAMPLES, PROTOBUF_BYTES, true,
                                                         sample_fields },
                                                       { .name = NULL } };
static const struct protobuf_field request_fields[] = {
    { "series", REQUEST_SERIES, PROTOBUF_BYTES, true, series_fields }, { .name = NULL }
};

/* Arrays grow in the arena, doubling; the total is bounded. */
struct decoding {
    struct arena *arena;
    struct pushmessage message;
    uint32_t n_items;
    uint32_t max_series, max_labels, max_samples; /* room in the newest arrays */
};

static int grow(struct decoding *d, void **items, uint32_t n, uint32_t *max, size_t item_bytes, struct error *err)
{
    uint32_t longer = *max ? 2 * *max : 4;
    void *moved;

    if (++d->n_items > PUSHMESSAGE_MAX_ITEMS)
        return error_set(err, ERR_LIMIT, "PushRequest: more than %u series, labels and samples", PUSHMESSAGE_MAX_ITEMS);
    if (n < *max)
        return 0;
    moved = *items ? arena_resize(d->arena, *items, *max * item_bytes, longer * item_bytes, err)
                   : arena_alloc_array(d->arena, longer, item_bytes, err);
    if (!moved)
        return -1;
    *items = moved;
    *max = longer;
    return 0;
}

static struct pushmessage_series *add_series(struct decoding *d, struct error *err)
{
    struct pushmessage *m = &d->message;

    if (grow(d, (void **)&m->series, m->n, &d->max_series, sizeof(*m->series), err) < 0)
        return NULL;
    d->max_labels = d->max_samples = 0;
    m->series[m->n] = (struct pushmessage_series){ 0 };
    return &m->series[m->n++];
}

static int add_label(struct decoding *d, struct pushmessage_series *s, struct series_label label, struct error *err)
{
    if (grow(d, (void **)&s->labels, s->n_labels, &d->max_labels, sizeof(*s->labels), err) < 0)
        return -1;
    s->labels[s->n_labels++] = label;
    return 0;
}

static int add_sample(struct decoding *d, struct pushmessage_series *s, struct pushmessage_sample sample,
                      struct error *err)
{
    if (grow(d, (void **)&s->samples, s->n_samples, &d->max_samples, sizeof(*s->samples), err) < 0)
        return -1;
    s->samples[s->n_samples++] = sample;
    return 0;
}

/* --- protobuf --- */

/* Both labels and samples are two fields of bytes; unknown ones are passed over. */
static void read_pair(struct protobuf_reader *outer, struct slice *first, struct slice *second)
{
    struct protobuf_reader r = protobuf_message(outer);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag == BYTES_TAG(1))
            *first = protobuf_bytes(&r);
        else if (tag == BYTES_TAG(2))
            *second = protobuf_bytes(&r);
        else
            protobuf_skip_unknown(&r, tag, 2);
    }
    protobuf_leave(outer, &r);
}

static int read_series(struct decoding *d, struct protobuf_reader *outer, struct error *err)
{
    struct protobuf_reader r = protobuf_message(outer);
    struct pushmessage_series *s = add_series(d, err);
    uint32_t tag;

    if (!s)
        return -1;
    while (protobuf_next(&r, &tag)) {
        struct series_label label = { { "", 0 }, { "", 0 } };
        struct pushmessage_sample sample = { { "", 0 }, { "", 0 } };

        if (tag == BYTES_TAG(SERIES_LABELS)) {
            read_pair(&r, &label.name, &label.value);
            if (add_label(d, s, label, err) < 0)
                return -1;
        } else if (tag == BYTES_TAG(SERIES_SAMPLES)) {
            read_pair(&r, &sample.profile, &sample.id);
            if (add_sample(d, s, sample, err) < 0)
                return -1;
        } else {
            protobuf_skip_unknown(&r, tag, SERIES_SAMPLES);
        }
    }
    protobuf_leave(outer, &r);
    return 0;
}

int pushmessage_decode(struct slice bytes, struct arena *arena, struct pushmessage *ret_message, struct error *err)
{
    struct decoding d = { .arena = arena };
    struct protobuf_reader r = protobuf_reader_of(bytes);
    uint32_t tag;

    while (protobuf_next(&r, &tag)) {
        if (tag != BYTES_TAG(REQUEST_SERIES))
            protobuf_skip_unknown(&r, tag, REQUEST_SERIES);
        else if (read_series(&d, &r, err) < 0)
            return -1;
    }
    if (r.bad)
        return protobuf_explain("PushRequest", request_fields, bytes, &r, err);
    *ret_message = d.message;
    return 0;
}

/* --- JSON --- */

/* -1 for what is no digit. */
static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static int decode_base64(struct slice text, struct arena *arena, struct json_reader *r, struct slice *ret_bytes,
                         struct error *err)
{
    uint32_t bits = 0;
    unsigned n_bits = 0;
    size_t len = 0;
    char *out;

    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    out = arena_alloc(arena, text.len / 4 * 3 + 3, err);
    if (!out)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        int digit = base64_digit(text.ptr[i]);

        if (digit < 0) {
            json_reader_fail(r, "character %zu of rawProfile is not base64", i);
            break;
        }
        bits = bits << 6 | (uint32_t)digit;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[len++] = (char)(bits >> n_bits);
        }
    }
    *ret_bytes = slice_of(out, len);
    return 0;
}

static struct slice text_or_null(struct json_reader *r)
{
    if (json_reader_peek(r) != JSON_NULL)
        return json_reader_text(r);
    json_reader_null(r);
    return SLICE("");
}

/* Whether an array comes; null is as good as none and is taken. */
static bool enter_array(struct json_reader *r)
{
    if (json_reader_peek(r) == JSON_NULL) {
        json_reader_null(r);
        return false;
    }
    json_reader_enter_array(r);
    return true;
}

static struct series_label read_json_label(struct json_reader *r)
{
    struct series_label label = { { "", 0 }, { "", 0 } };
    struct slice key;

    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        if (slice_is(key, "name"))
            label.name = text_or_null(r);
        else if (slice_is(key, "value"))
            label.value = text_or_null(r);
        else
            json_reader_skip(r);
    }
    return label;
}

static int read_json_sample(struct decoding *d, struct json_reader *r, struct pushmessage_sample *ret_sample,
                            struct error *err)
{
    struct slice key;

    *ret_sample = (struct pushmessage_sample){ { "", 0 }, { "", 0 } };
    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        if (slice_is(key, "rawProfile") || slice_is(key, "raw_profile")) {
            if (decode_base64(text_or_null(r), d->arena, r, &ret_sample->profile, err) < 0)
                return -1;
        } else if (slice_is(key, "ID")) {
            ret_sample->id = text_or_null(r);
        } else {
            json_reader_skip(r);
        }
    }
    return 0;
}

static int read_json_series(struct decoding *d, struct json_reader *r, struct error *err)
{
    struct pushmessage_series *s = add_series(d, err);
    struct pushmessage_sample sample;
    struct slice key;

    if (!s)
        return -1;
    json_reader_enter_object(r);
    while (json_reader_next_key(r, &key)) {
        if (slice_is(key, "labels")) {
            for (bool is_list = enter_array(r); is_list && json_reader_next_item(r);)
                if (add_label(d, s, read_json_label(r), err) < 0)
                    return -1;
        } else if (slice_is(key, "samples")) {
            for (bool is_list = enter_array(r); is_list && json_reader_next_item(r);)
                if (read_json_sample(d, r, &sample, err) < 0 || add_sample(d, s, sample, err) < 0)
                    return -1;
        } else {
            json_reader_skip(r);
        }
    }
    return 0;
}

int pushmessage_decode_json(struct slice text, struct arena *arena, struct pushmessage *ret_message, struct error *err)
{
    struct decoding d = { .arena = arena };
    struct json_reader r;
    struct slice key;

    json_reader_init(&r, text, arena, JSON_READER_MAX_DEPTH);
    json_reader_enter_object(&r);
    while (json_reader_next_key(&r, &key)) {
        if (!slice_is(key, "series")) {
            json_reader_skip(&r);
            continue;
        }
        for (bool is_list = enter_array(&r); is_list && json_reader_next_item(&r);)
            if (read_json_series(&d, &r, err) < 0)
                return -1;
    }
    json_reader_end(&r);
    if (json_reader_check(&r, err) < 0)
        return error_wrap(err, "PushRequest");
    *ret_message = d.message;
    return 0;
}
