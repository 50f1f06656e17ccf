// SPDX-License-Identifier: Apache-2.0
#include "intake/upload.h"

#include "pack/varint.h"

#include <stdio.h>

#define MAX_NAME_BYTES 96 /* of a sender */
enum { UPLOAD_VERSION = 1 };

const char *upload_kind_name(enum upload_kind kind)
{
    static const char *const names[] = {
        [UPLOAD_INGEST] = "ingest",   [UPLOAD_PUSH] = "push",           [UPLOAD_PUSH_JSON] = "push-json",
        [UPLOAD_OTLP] = "otlp",       [UPLOAD_OTLP_JSON] = "otlp-json", [UPLOAD_PLAIN] = "plain",
        [UPLOAD_SCRAPED] = "scraped",
    };

    static_assert(ARRAY_LEN(names) == UPLOAD_KIND_COUNT, "every kind has a name");
    return names[kind];
}

struct slice upload_sender(const struct upload *upload, struct slice name, char to[static UPLOAD_SENDER_BYTES])
{
    struct slice own = slice_sub(slice_trim(name), 0, MAX_NAME_BYTES);

    snprintf(to, UPLOAD_SENDER_BYTES, "%s%s%.*s", upload_kind_name(upload->kind), own.len ? " " : "", SLICE_ARG(own));
    return slice_from(to);
}

/* The texts in the order in which they are written. New ones go to the end, with a new version. */
#define N_TEXTS 8
static void list_texts(struct upload *upload, struct slice *texts[static N_TEXTS])
{
    struct slice *const list[N_TEXTS] = { &upload->tenant,           &upload->query,      &upload->content_type,
                                          &upload->content_encoding, &upload->user_agent, &upload->profile_type,
                                          &upload->profile_time,     &upload->trace_id };

    memcpy(texts, list, sizeof(list));
}

static void append_text(struct buffer *out, struct slice text)
{
    varint_append(out, text.len);
    buffer_append_slice(out, text);
}

void upload_encode(const struct upload *upload, struct buffer *out)
{
    struct upload copy = *upload;
    struct slice *texts[N_TEXTS];

    list_texts(&copy, texts);
    buffer_append_byte(out, UPLOAD_VERSION);
    buffer_append_byte(out, (char)upload->kind);
    varint_append(out, varint_zigzag(upload->received_ns));
    varint_append(out, MAX(upload->weight, 1u));
    for (size_t i = 0; i < N_TEXTS; i++)
        append_text(out, slice_sub(*texts[i], 0, UPLOAD_TEXT_MAX));
    append_text(out, upload->body);
}

static bool next_text(struct slice *rest, size_t max_bytes, struct slice *ret_text)
{
    uint64_t len;

    if (!varint_next(rest, &len) || len > rest->len || len > max_bytes)
        return false;
    *ret_text = slice_sub(*rest, 0, len);
    *rest = slice_sub(*rest, len, rest->len);
    return true;
}

int upload_decode(struct slice bytes, struct upload *ret_upload, struct error *err)
{
    struct upload upload = { 0 };
    struct slice *texts[N_TEXTS], rest = slice_sub(bytes, 2, bytes.len);
    uint64_t received, weight;
    bool is_whole;

    if (bytes.len < 2)
        return error_set(err, ERR_CORRUPT, "an upload of %zu bytes is too short to be one", bytes.len);
    if (bytes.ptr[0] != UPLOAD_VERSION)
        return error_set(err, ERR_VERSION, "an upload has version %d, this program knows %d", bytes.ptr[0],
                         UPLOAD_VERSION);
    if ((unsigned char)bytes.ptr[1] >= UPLOAD_KIND_COUNT)
        return error_set(err, ERR_CORRUPT, "an upload is of kind %d, the last known is %d", bytes.ptr[1],
                         UPLOAD_KIND_COUNT - 1);
    upload.kind = (enum upload_kind)bytes.ptr[1];
    is_whole = varint_next(&rest, &received) && varint_next(&rest, &weight) && weight > 0 && weight <= UINT32_MAX;
    list_texts(&upload, texts);
    for (size_t i = 0; is_whole && i < N_TEXTS; i++)
        is_whole = next_text(&rest, UPLOAD_TEXT_MAX, texts[i]);
    is_whole = is_whole && next_text(&rest, SIZE_MAX, &upload.body);
    if (!is_whole || rest.len > 0)
        return error_set(err, ERR_CORRUPT, "an upload of %zu bytes is damaged %zu bytes before its end", bytes.len,
                         rest.len);
    upload.received_ns = varint_unzigzag(received);
    upload.weight = (uint32_t)weight;
    *ret_upload = upload;
    return 0;
}
