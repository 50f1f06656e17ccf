// SPDX-License-Identifier: Apache-2.0
/* `hearth status`: what /api/v1/status of a server says, for people. */
#include "base/units.h"
#include "cli/commands.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/view.h"
#include "wire/json_reader.h"

struct status_config {
    const char *url;
    bool is_json;
};

static const struct option_spec status_options[] = {
    { "url", OPTION_TEXT, FIELD(status_config, url), REMOTE_URL_DEFAULT,
      "The server: http://HOST:PORT, https://HOST:PORT or unix:PATH." },
    { "json", OPTION_BOOL, FIELD(status_config, is_json), "false", "Write JSON, as the server says it." },
};

/* The page while it is being read: lines about the server first, then two tables. */
struct page {
    struct json_reader reader;
    struct buffer head;
    struct table sources, targets;
    size_t n_sources, n_targets;
};

/* --- rows --- */

/* An object of texts and numbers, as far as it is known: keys[i] is told as texts[i] or numbers[i]. */
struct fields {
    const char *const *keys;
    size_t n;
    struct slice texts[12];
    uint64_t numbers[12];
};

static void read_field(struct json_reader *reader, struct slice key, struct fields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        if (!slice_is(key, fields->keys[i]))
            continue;
        switch (json_reader_peek(reader)) {
        case JSON_STRING: fields->texts[i] = json_reader_text(reader); return;
        case JSON_NUMBER: fields->numbers[i] = json_reader_u64(reader); return;
        case JSON_BOOL: fields->numbers[i] = json_reader_bool(reader); return;
        case JSON_NULL:
        case JSON_ARRAY:
        case JSON_OBJECT:
        case JSON_NOTHING: break;
        }
        break;
    }
    json_reader_skip(reader);
}

static void read_fields(struct json_reader *reader, struct fields *fields)
{
    struct slice key;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key))
        read_field(reader, key, fields);
}

static struct units_text count_text(uint64_t n)
{
    return units_human_count((int64_t)MIN(n, (uint64_t)INT64_MAX));
}

static struct units_text bytes_text(uint64_t n)
{
    return units_human_bytes((int64_t)MIN(n, (uint64_t)INT64_MAX));
}

/* What was dropped, added up over the reasons. */
static uint64_t read_dropped(struct json_reader *reader)
{
    struct slice reason;
    uint64_t n = 0;

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &reason))
        n += json_reader_u64(reader);
    return n;
}

static void read_source(struct page *page)
{
    enum { TENANT, SERVICE, SENDER, STORED, DOWNSAMPLED, BYTES, LAST_SEEN, LAST_ERROR };
    static const char *const keys[] = { "tenant",      "service", "sender",    "stored",
                                        "downsampled", "bytes",   "last_seen", "last_error" };
    struct fields fields = { .keys = keys, .n = ARRAY_LEN(keys) };
    uint64_t n_dropped = 0;
    struct slice key;

    json_reader_enter_object(&page->reader);
    while (json_reader_next_key(&page->reader, &key)) {
        if (slice_is(key, "dropped"))
            n_dropped = read_dropped(&page->reader);
        else
            read_field(&page->reader, key, &fields);
    }
    page->n_sources++;
    table_row(&page->sources, n_dropped ? TABLE_RED : TABLE_PLAIN);
    table_cell(&page->sources, fields.texts[TENANT]);
    table_cell(&page->sources, fields.texts[SERVICE]);
    table_cell(&page->sources, slice_from(count_text(fields.numbers[STORED]).text));
    table_cell(&page->sources, slice_from(count_text(fields.numbers[DOWNSAMPLED]).text));
    table_cell(&page->sources, slice_from(count_text(n_dropped).text));
    table_cell(&page->sources, slice_from(bytes_text(fields.numbers[BYTES]).text));
    table_cell(&page->sources, fields.texts[LAST_SEEN]);
    table_cell(&page->sources, fields.texts[SENDER]);
    table_cell(&page->sources, fields.texts[LAST_ERROR]);
}

static void read_target(struct page *page)
{
    enum { JOB, INSTANCE, RESULT, SCRAPES, FAILURES, LAST_SUCCESS, LAST_ERROR };
    static const char *const keys[] = {
        "job", "instance", "result", "scrapes", "failures", "last_success", "last_error"
    };
    struct fields fields = { .keys = keys, .n = ARRAY_LEN(keys) };

    read_fields(&page->reader, &fields);
    page->n_targets++;
    table_row(&page->targets, TABLE_PLAIN);
    table_cell(&page->targets, fields.texts[JOB]);
    table_cell(&page->targets, fields.texts[INSTANCE]);
    table_cell(&page->targets, fields.texts[RESULT]);
    table_cell(&page->targets, slice_from(count_text(fields.numbers[SCRAPES]).text));
    table_cell(&page->targets, slice_from(count_text(fields.numbers[FAILURES]).text));
    table_cell(&page->targets, fields.texts[LAST_SUCCESS]);
    table_cell(&page->targets, fields.texts[LAST_ERROR]);
}

/* --- the head --- */

static void print_line(struct page *page, const char *title, struct slice text)
{
    buffer_printf(&page->head, "%-10s", title);
    table_append_text(&page->head, text);
    buffer_append_byte(&page->head, '\n');
}

static void read_listeners(struct page *page)
{
    static const char *const keys[] = { "name", "address" };

    json_reader_enter_array(&page->reader);
    while (json_reader_next_item(&page->reader)) {
        struct fields fields = { .keys = keys, .n = ARRAY_LEN(keys) };

        read_fields(&page->reader, &fields);
        buffer_printf(&page->head, "%-10s", "listens");
        table_append_text(&page->head, fields.texts[1]);
        buffer_append_text(&page->head, " (--");
        table_append_text(&page->head, fields.texts[0]);
        buffer_append_text(&page->head, ")\n");
    }
}

static void read_queue(struct page *page)
{
    static const char *const keys[] = { "waiting", "waiting_bytes", "overflowed", "refused" };
    struct fields fields = { .keys = keys, .n = ARRAY_LEN(keys) };

    read_fields(&page->reader, &fields);
    buffer_printf(&page->head, "%-10s%s waiting (%s), %s went to the spill file, %s refused\n", "queue",
                  count_text(fields.numbers[0]).text, bytes_text(fields.numbers[1]).text,
                  count_text(fields.numbers[2]).text, count_text(fields.numbers[3]).text);
}

static void read_spill(struct page *page)
{
    static const char *const keys[] = { "bytes", "max_bytes", "damaged" };
    struct fields fields = { .keys = keys, .n = ARRAY_LEN(keys) };

    read_fields(&page->reader, &fields);
    buffer_printf(&page->head, "%-10s%s of %s", "spill", bytes_text(fields.numbers[0]).text,
                  bytes_text(fields.numbers[1]).text);
    if (fields.numbers[2])
        buffer_printf(&page->head, ", %s damaged", count_text(fields.numbers[2]).text);
    buffer_append_byte(&page->head, '\n');
}

static void read_rows(struct page *page, void (*read)(struct page *page))
{
    json_reader_enter_array(&page->reader);
    while (json_reader_next_item(&page->reader))
        read(page);
}

static void read_member(struct page *page, struct slice key)
{
    struct json_reader *reader = &page->reader;

    if (slice_is(key, "version"))
        print_line(page, "hearth", json_reader_text(reader));
    else if (slice_is(key, "started"))
        print_line(page, "started", json_reader_text(reader));
    else if (slice_is(key, "ready"))
        print_line(page, "ready", json_reader_bool(reader) ? SLICE("yes") : SLICE("no"));
    else if (slice_is(key, "listeners"))
        read_listeners(page);
    else if (slice_is(key, "queue"))
        read_queue(page);
    else if (slice_is(key, "spill"))
        read_spill(page);
    else if (slice_is(key, "sources"))
        read_rows(page, read_source);
    else if (slice_is(key, "scrape"))
        read_rows(page, read_target);
    else
        json_reader_skip(reader);
}

/* --- the page --- */

static int print_tables(const struct command_context *context, struct page *page, struct buffer *out, struct error *err)
{
    if (page->n_sources == 0)
        buffer_append_text(out, "\nnobody has sent anything yet\n");
    else
        buffer_append_byte(out, '\n');
    if (page->n_sources > 0 && table_print(&page->sources, context->has_colour, out, err) < 0)
        return -1;
    if (page->n_targets == 0)
        return 0;
    buffer_append_byte(out, '\n');
    return table_print(&page->targets, context->has_colour, out, err);
}

static int print_page(struct command_context *context, struct slice status, struct buffer *out, struct error *err)
{
    static const struct table_column source_columns[] = {
        { "TENANT", TABLE_LEFT },    { "SERVICE", TABLE_LEFT },  { "STORED", TABLE_RIGHT },
        { "THINNED", TABLE_RIGHT },  { "DROPPED", TABLE_RIGHT }, { "BYTES", TABLE_RIGHT },
        { "LAST SEEN", TABLE_LEFT }, { "SENDER", TABLE_LEFT },   { "LAST ERROR", TABLE_LEFT },
    };
    static const struct table_column target_columns[] = {
        { "JOB", TABLE_LEFT },        { "INSTANCE", TABLE_LEFT }, { "RESULT", TABLE_LEFT },
        { "SCRAPES", TABLE_RIGHT },   { "FAILED", TABLE_RIGHT },  { "LAST SUCCESS", TABLE_LEFT },
        { "LAST ERROR", TABLE_LEFT },
    };
    struct page page = { 0 };
    struct slice key;
    int result;

    buffer_init(&page.head, 0);
    table_init(&page.sources, context->arena, source_columns, ARRAY_LEN(source_columns));
    table_init(&page.targets, context->arena, target_columns, ARRAY_LEN(target_columns));
    json_reader_init(&page.reader, status, context->arena, JSON_READER_MAX_DEPTH);
    json_reader_enter_object(&page.reader);
    while (json_reader_next_key(&page.reader, &key))
        read_member(&page, key);
    json_reader_end(&page.reader);
    result = json_reader_check(&page.reader, err);
    if (result < 0)
        error_wrap(err, "what the server says of itself");
    if (result == 0)
        result = buffer_check(&page.head, err);
    if (result == 0 && page.head.len == 0)
        result = error_set(err, ERR_IO,
                           "what answers /api/v1/status is no hearth server: it tells nothing of itself; "
                           "look at --url");
    if (result == 0) {
        buffer_append_slice(out, buffer_slice(&page.head));
        result = print_tables(context, &page, out, err);
    }
    buffer_done(&page.head);
    return result;
}

static int run(struct command_context *context, struct error *err)
{
    const struct status_config *config = context->config;
    AUTO(buffer_done) struct buffer status;
    struct buffer out;

    buffer_init(&status, 0);
    if (remote_get(config->url, "/api/v1/status", &status, err) < 0)
        return -1;
    buffer_init(&out, 0);
    if (config->is_json) {
        buffer_append_slice(&out, buffer_slice(&status));
        return view_finish(context, &out, 0, err);
    }
    return view_finish(context, &out, print_page(context, buffer_slice(&status), &out, err), err);
}

const struct command cmd_status = {
    .name = "status",
    .summary = "Show how a server is doing",
    .description =
        "Asks a running server what it listens on, what waits, and what came from whom: how many profiles of each "
        "service and sender were stored, thinned out under overload, or dropped, and why the last one was. Then the "
        "targets that it scrapes.",
    .config_bytes = sizeof(struct status_config),
    .options = { OPTION_GROUP("Options", status_options) },
    .examples = { { "hearth status", "The server on this machine." },
                  { "hearth status --url http://profiles.example:4040 --json", "Another one, for scripts." } },
    .run = run,
};
