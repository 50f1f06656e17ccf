// SPDX-License-Identifier: Apache-2.0
/* The paths of annotations. */
#include "base/json.h"
#include "base/timetext.h"
#include "base/urlquery.h"
#include "server/annotations.h"
#include "server/server_internal.h"
#include "wire/json_reader.h"

#define ANNOTATE_ARENA_BYTES (32u << 20) /* holds a file of them, its texts, and the list */
#define ANNOTATE_DEPTH       4
#define ANNOTATE_PREFIX      "/api/v1/annotations/"

/* What a handler needs; false: it is answered. */
static bool begin(struct exchange *exchange, struct arena *arena, struct slice *ret_tenant)
{
    const struct server *server = exchange->context;

    arena_init(arena, ANNOTATE_ARENA_BYTES);
    return answer_tenant(exchange, server->options.is_multi_tenant, ret_tenant);
}

static void answer_json(struct exchange *exchange, int status, struct json *json, struct buffer *out)
{
    json_done(json);
    buffer_append_byte(out, '\n');
    exchange_answer(exchange, status, "application/json", SLICE(""));
    buffer_done(&exchange->response.body);
    exchange->response.body = *out;
    buffer_init(out, 0);
}

/* --- adding --- */

static void read_labels(struct json_reader *reader, struct arena *arena, struct annotation *annotation)
{
    struct slice key;
    struct error err;

    annotation->labels = ARENA_ARRAY(arena, struct series_label, ANNOTATIONS_MAX_LABELS, &err);
    if (!annotation->labels) {
        json_reader_fail(reader, "%s", err.text);
        return;
    }
    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        if (annotation->n_labels == ANNOTATIONS_MAX_LABELS) {
            json_reader_fail(reader, "more than %u labels", ANNOTATIONS_MAX_LABELS);
            return;
        }
        annotation->labels[annotation->n_labels++] = (struct series_label){ key, json_reader_text(reader) };
    }
}

/* A time is a text or a number, as everywhere else. */
static void read_time(struct json_reader *reader, int64_t now_ns, struct annotation *annotation)
{
    struct slice text = json_reader_peek(reader) == JSON_NUMBER ? json_reader_number(reader) : json_reader_text(reader);
    struct error err;

    if (text.len > 0 && timetext_parse(text, now_ns, &annotation->time_ns, &err) < 0)
        json_reader_fail(reader, "\"time\": %s", err.text);
}

static int read_request(struct exchange *exchange, struct arena *arena, struct annotation *ret_annotation,
                        struct error *err)
{
    struct annotation annotation = { .text = SLICE(""), .time_ns = exchange->request.received_ns };
    struct json_reader reader;
    struct slice key;

    json_reader_init(&reader, exchange->request.body, arena, ANNOTATE_DEPTH);
    json_reader_enter_object(&reader);
    while (json_reader_next_key(&reader, &key)) {
        if (slice_is(key, "time"))
            read_time(&reader, exchange->request.received_ns, &annotation);
        else if (slice_is(key, "text"))
            annotation.text = json_reader_text(&reader);
        else if (slice_is(key, "labels"))
            read_labels(&reader, arena, &annotation);
        else
            json_reader_fail(&reader, "\"%.*s\" is not known; \"time\", \"text\" and \"labels\" are",
                             SLICE_ARG(slice_sub(key, 0, 64)));
    }
    json_reader_end(&reader);
    if (json_reader_check(&reader, err) < 0) {
        if (err->code == ERR_CORRUPT)
            err->code = ERR_INVALID;
        return error_wrap(err, "the annotation");
    }
    *ret_annotation = annotation;
    return annotations_tidy(ret_annotation, arena, err);
}

void annotate_add(struct exchange *exchange)
{
    const struct server *server = exchange->context;
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct annotation annotation;
    struct slice tenant;
    struct error err;
    struct json json;

    buffer_init(&out, 0);
    if (!begin(exchange, &arena, &tenant))
        return;
    if (read_request(exchange, &arena, &annotation, &err) < 0 ||
        annotations_add(server->annotations, tenant, &annotation, &arena, &err) < 0) {
        exchange_fail(exchange, &err);
        return;
    }
    json_init(&json, &out, JSON_COMPACT);
    annotations_write(&json, &annotation);
    answer_json(exchange, 201, &json, &out);
}

/* --- finding --- */

static int read_range(const struct exchange *exchange, const struct urlquery *query, int64_t *ret_from_ns,
                      int64_t *ret_until_ns, struct error *err)
{
    struct slice from = urlquery_get(query, "from"), until = urlquery_get(query, "until");

    *ret_from_ns = 0;
    *ret_until_ns = INT64_MAX;
    if (from.len > 0 && timetext_parse(from, exchange->request.received_ns, ret_from_ns, err) < 0)
        return error_wrap(err, "from");
    if (until.len > 0 && timetext_parse(until, exchange->request.received_ns, ret_until_ns, err) < 0)
        return error_wrap(err, "until");
    if (*ret_until_ns <= *ret_from_ns)
        return error_set(err, ERR_INVALID, "until is not behind from");
    return 0;
}

static int find(struct exchange *exchange, struct slice tenant, struct arena *arena, struct annotations_list *ret_list,
                struct error *err)
{
    const struct server *server = exchange->context;
    AUTO(selector_freep) struct selector *selector = NULL;
    int64_t from_ns, until_ns;
    struct urlquery query;

    if (urlquery_parse(exchange->request.query, arena, &query, err) < 0 ||
        read_range(exchange, &query, &from_ns, &until_ns, err) < 0)
        return -1;
    if (selector_new(urlquery_get(&query, "selector"), &selector, err) < 0)
        return error_wrap(err, "selector");
    return annotations_find(server->annotations, tenant, from_ns, until_ns, selector, arena, ret_list, err);
}

void annotate_list(struct exchange *exchange)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct annotations_list list;
    struct slice tenant;
    struct error err;
    struct json json;

    buffer_init(&out, 0);
    if (!begin(exchange, &arena, &tenant))
        return;
    if (find(exchange, tenant, &arena, &list, &err) < 0) {
        exchange_fail(exchange, &err);
        return;
    }
    json_init(&json, &out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "annotations");
    json_array_begin(&json);
    for (uint32_t i = 0; i < list.n; i++)
        annotations_write(&json, &list.items[i]);
    json_array_end(&json);
    json_object_end(&json);
    answer_json(exchange, 200, &json, &out);
}

/* --- removing --- */

void annotate_remove(struct exchange *exchange)
{
    const struct server *server = exchange->context;
    struct slice id = slice_sub(exchange->request.path, sizeof(ANNOTATE_PREFIX) - 1, SIZE_MAX);
    AUTO(arena_done) struct arena arena;
    struct slice tenant;
    struct error err;

    if (!begin(exchange, &arena, &tenant))
        return;
    if (annotations_remove(server->annotations, tenant, id, &arena, &err) < 0)
        exchange_fail(exchange, &err);
    else
        exchange_answer(exchange, 204, NULL, SLICE(""));
}
