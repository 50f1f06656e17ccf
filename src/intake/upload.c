// SPDX-License-Identifier: Apache-2.0
#include "intake/upload.h"

#include "pack/varint.h"

#include <stdio.h>

#define MAX_NAME_BYTES 96    /* of a sender */
enum { UPLOAD_VERSION = 2 }; /* 1 had neither id, place nor progress */

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
#define N_TEXTS     10
#define N_OLD_TEXTS 8 /* of version 1 */
static void list_texts(struct upload *upload, struct slice *texts[static N_TEXTS])
{
    struct slice *const list[N_TEXTS] = { &upload->tenant,       &upload->query,
                                          &upload->content_type, &upload->content_encoding,
                                          &upload->user_agent,   &upload->profile_type,
                                          &upload->profile_time, &upload->trace_id,
                                          &upload->place,        &upload->id };

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
    buffer_append_byte(out, (char)upload->progress.is_tried);
    varint_append(out, upload->progress.n_kept);
    varint_append(out, upload->progress.n_counted);
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

static bool next_u32(struct slice *rest, uint32_t *ret_value)
{
    uint64_t value;

    if (!varint_next(rest, &value) || value > UINT32_MAX)
        return false;
    *ret_value = (uint32_t)value;
    return true;
}

static bool next_progress(struct slice *rest, struct upload_progress *ret_progress)
{
    uint32_t is_tried;

    if (!next_u32(rest, &is_tried) || is_tried > 1 || !next_u32(rest, &ret_progress->n_kept) ||
        !next_u32(rest, &ret_progress->n_counted))
        return false;
    ret_progress->is_tried = is_tried;
    return true;
}

int upload_decode(struct slice bytes, struct upload *ret_upload, struct error *err)
{
    struct upload upload = { 0 };
    struct slice *texts[N_TEXTS], rest = slice_sub(bytes, 2, bytes.len);
    size_t n_texts = N_TEXTS;
    uint64_t received;
    bool is_whole;

    if (bytes.len < 2)
        return error_set(err, ERR_CORRUPT, "an upload of %zu bytes is too short to be one", bytes.len);
    if (bytes.ptr[0] == 1)
        n_texts = N_OLD_TEXTS;
    else if (bytes.ptr[0] != UPLOAD_VERSION)
        return error_set(err, ERR_VERSION, "an upload has version %d, this program knows %d", bytes.ptr[0],
                         UPLOAD_VERSION);
    if ((unsigned char)bytes.ptr[1] >= UPLOAD_KIND_COUNT)
        return error_set(err, ERR_CORRUPT, "an upload is of kind %d, the last known is %d", bytes.ptr[1],
                         UPLOAD_KIND_COUNT - 1);
    upload.kind = (enum upload_kind)bytes.ptr[1];
    is_whole = varint_next(&rest, &received) && next_u32(&rest, &upload.weight) && upload.weight > 0;
    if (is_whole && n_texts == N_TEXTS)
        is_whole = next_progress(&rest, &upload.progress);
    list_texts(&upload, texts);
    for (size_t i = 0; is_whole && i < n_texts; i++)
        is_whole = next_text(&rest, UPLOAD_TEXT_MAX, texts[i]);
    is_whole = is_whole && next_text(&rest, SIZE_MAX, &upload.body);
    if (!is_whole || rest.len > 0)
        return error_set(err, ERR_CORRUPT, "an upload of %zu bytes is damaged %zu bytes before its end", bytes.len,
                         rest.len);
    upload.received_ns = varint_unzigzag(received);
    *ret_upload = upload;
    return 0;
}
