// SPDX-License-Identifier: Apache-2.0
/* /label-values and /labels: what there is to ask for, as JSON arrays of texts. */
#include "answer/answer_internal.h"
#include "answer/renderquery.h"
#include "base/json.h"

#define MAX_WORK_BYTES (64u << 20)

/* A name that stands for the profile type, as it does in front of the braces of a query. */
#define TYPE_LABEL "__name__"

/* Finds the texts. `url` has whatever else they depend on. */
typedef int labelpaths_find(struct store *store, const struct store_query *where, const struct urlquery *url,
                            struct arena *arena, struct store_texts *ret_texts, struct error *err);

static int find_names(struct store *store, const struct store_query *where, const struct urlquery *url UNUSED,
                      struct arena *arena, struct store_texts *ret_texts, struct error *err)
{
    return store_label_names(store, where, arena, ret_texts, err);
}

static int find_values(struct store *store, const struct store_query *where, const struct urlquery *url,
                       struct arena *arena, struct store_texts *ret_texts, struct error *err)
{
    struct slice label = urlquery_get(url, "label");

    if (label.len == 0)
        return error_set(err, ERR_INVALID,
                         "label: missing; give the name of a label, or " TYPE_LABEL " for the profile types");
    if (slice_is(label, TYPE_LABEL))
        return store_profile_types(store, where, arena, ret_texts, err);
    return store_label_values(store, where, label, arena, ret_texts, err);
}

static int answer_texts(struct exchange *exchange, const struct store_texts *texts, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    struct json json;

    buffer_init(&out, MAX_WORK_BYTES);
    json_init(&json, &out, JSON_COMPACT);
    json_array_begin(&json);
    for (size_t i = 0; i < texts->n; i++)
        json_string(&json, texts->texts[i]);
    json_array_end(&json);
    json_done(&json);
    if (buffer_check(&out, err) < 0)
        return -1;
    exchange_answer(exchange, 200, "application/json", buffer_slice(&out));
    return 0;
}

static int list(struct exchange *exchange, const struct query *base, struct arena *arena, labelpaths_find *find,
                struct error *err)
{
    static const struct renderquery_names names = { "query", "from", "until" };
    const struct answer *answer = exchange->context;
    AUTO(renderquery_done) struct renderquery query = { 0 };
    struct urlquery url;
    struct renderquery_request request = { answer, base, &url, exchange->request.received_ns, arena };
    struct store_query where = { .tenant = base->tenant };
    struct store_texts texts;

    if (urlquery_parse(exchange->request.query, arena, &url, err) < 0 ||
        renderquery_read_labels(&request, &names, &query, err) < 0)
        return -1;
    where.selector = query.query.selector;
    where.from_ns = query.query.from_ns;
    where.until_ns = query.query.until_ns;
    if (find(answer->store, &where, &url, arena, &texts, err) < 0)
        return -1;
    return answer_texts(exchange, &texts, err);
}

static void handle(struct exchange *exchange, labelpaths_find *find)
{
    struct query base;
    struct arena arena;
    struct error err;

    if (!answer_begin(exchange, exchange->context, &base))
        return;
    arena_init(&arena, MAX_WORK_BYTES);
    if (list(exchange, &base, &arena, find, &err) < 0)
        exchange_fail(exchange, &err);
    arena_done(&arena);
}

void labelpaths_handle_names(struct exchange *exchange)
{
    handle(exchange, find_names);
}

void labelpaths_handle_values(struct exchange *exchange)
{
    handle(exchange, find_values);
}
