// SPDX-License-Identifier: Apache-2.0
/* Query strings of /render and its kin, asked of a small store that stays the same: each is answered with a status that is
 * meant, and what says that it is JSON is. The first byte of the input chooses the path. */
#include "answer/answer_internal.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"
#include "profile/builder.h"
#include "wire/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_NS    (1794744000 * (int64_t)1000000000) /* 2026-11-15T12:00:00Z */
#define MAX_ARENA (4 << 20)
#define MAX_DEPTH 16

static char directory[256];
static struct answer answer;

static void end(void)
{
    struct error err;

    engine_free(answer.engine);
    store_close(answer.store);
    if (fs_remove_tree(directory, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
}

/* One profile of `service` in the last hour, with a value of its own. */
static void add_profile(struct builder *b, const char *service, const char *type, const char *unit, int64_t value)
{
    struct profile *profile = builder_profile(b);
    struct value_type types = { builder_string(b, slice_from(type)), builder_string(b, slice_from(unit)) };
    struct label labels[] = {
        { .kind = LABEL_STRING,
          .key = builder_string(b, SLICE("service.name")),
          .text = builder_string(b, slice_from(service)) },
        { .kind = LABEL_STRING, .key = builder_string(b, SLICE("env")), .text = builder_string(b, SLICE("prod")) }
    };
    struct function function = { .name = builder_string(b, slice_from(service)) };
    struct line line = { .function = builder_function(b, &function) };
    uint32_t frame = builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);

    builder_type(b, types);
    profile->period_type = types;
    profile->start_ns = NOW_NS - value * CLOCK_NS_PER_SECOND;
    profile->duration_ns = 10 * CLOCK_NS_PER_SECOND;
    profile->resource = builder_label_set(b, labels, ARRAY_LEN(labels));
    builder_sample(b, builder_stack(b, &frame, 1), 0, 0, &value, 0);
}

static int fill(struct store *store, struct error *err)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct store_receipt receipt;
    struct batch batch;
    int result;

    batch_init(&batch, NULL);
    if (builder_new(NULL, &b, err) < 0)
        return -1;
    add_profile(b, "api", "cpu", "nanoseconds", 100);
    add_profile(b, "api", "inuse_space", "bytes", 200);
    add_profile(b, "web.v2", "cpu", "nanoseconds", 300);
    result = builder_finish(b, &batch, err);
    if (result == 0)
        result = store_write(store, &(struct store_write){ .batch = &batch }, &receipt, err);
    batch_done(&batch);
    return result;
}

static int begin(struct error *err)
{
    struct store_options options = { .data_dir = directory,
                                     .memory_limit_bytes = 64 << 20,
                                     .wal_sync = STORE_SYNC_OFF };
    struct engine_options engine = { .n_threads = 1 };

    log_set_level(LOG_ERROR);
    clock_fake_set(NOW_NS);
    snprintf(directory, sizeof(directory), "%s/hearth-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm"
             : getenv("TMPDIR")            ? getenv("TMPDIR")
                                           : "/tmp");
    ASSERT(mkdtemp(directory));
    if (store_open(&options, &answer.store, err) < 0)
        return -1;
    engine.store = answer.store;
    return engine_new(&engine, &answer.engine, err) < 0 ? -1 : fill(answer.store, err);
}

static void check_json(struct slice text, struct arena *arena)
{
    struct json_reader reader;
    struct error err;

    json_reader_init(&reader, text, arena, MAX_DEPTH);
    json_reader_skip(&reader);
    json_reader_end(&reader);
    ASSERT(json_reader_check(&reader, &err) == 0);
}

static void ask(void (*handler)(struct exchange *exchange), struct slice query)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    ASSERT(exchange);
    exchange->request = (struct request){
        .version = HTTP_1_1, .method = HTTP_GET, .path = SLICE("/render"), .query = query, .received_ns = NOW_NS
    };
    exchange->context = &answer;
    arena_init(&exchange->arena, MAX_ARENA);
    buffer_init(&exchange->response.body, 0);
    handler(exchange);
    ASSERT(exchange->response.status == 200 || exchange->response.status == 400 || exchange->response.status == 404 ||
           exchange->response.status == 413);
    if (slice_is(http_header(&exchange->response.headers, "content-type"), "application/json"))
        check_json(buffer_slice(&exchange->response.body), &exchange->arena);
    buffer_done(&exchange->response.body);
    arena_done(&exchange->arena);
    free(exchange);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const handlers[])(struct exchange * exchange) = { render_handle, render_handle_diff,
                                                                    labelpaths_handle_values, labelpaths_handle_names };
    struct error err;

    if (size < 1)
        return 0;
    if (!answer.store) {
        if (begin(&err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            abort();
        }
        atexit(end); /* behind the store's own: what is there last ends first */
    }
    ask(handlers[data[0] % ARRAY_LEN(handlers)], slice_of(data + 1, size - 1));
    return 0;
}
