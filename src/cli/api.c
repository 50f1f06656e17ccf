// SPDX-License-Identifier: Apache-2.0
/* In order: the parameters of a request, the run, the answer. */
#include "cli/api.h"

#include "answer/answer.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/urlquery.h"
#include "cli/output.h"
#include "flame/flamebytes.h"

#include <stdio.h>
#include <string.h>

#define VALUES_MAX   (2 * URLQUERY_MAX_PAIRS + 4) /* those of URL and form, and what the path settles */
#define MESSAGES_MAX 32

int api_begin(void *self, const struct server_parts *parts, struct error *err UNUSED)
{
    struct api *api = self;

    api->parts = *parts;
    return 0;
}

struct server_guest api_guest(struct api *api)
{
    return (struct server_guest){ .routes = &apirow_routes, .begin = api_begin, .self = api };
}

/* --- parameters --- */

/* One run, from the request to the answer. */
struct run {
    struct exchange *exchange;
    const struct api *api;
    const struct apirow *row;
    struct slice tenant;
    struct apirow_own own;
    const char *arguments[APIROW_MAX_ARGUMENTS]; /* as given; NULL = not */
    struct command_value values[VALUES_MAX];
    size_t n_values;
    struct buffer out;
    struct {
        enum log_level level;
        struct slice text;
    } messages[MESSAGES_MAX];
    size_t n_messages;
    struct query_facts facts;
};

static const char *value_of(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->n_values; i++)
        if (strcmp(run->values[i].name, name) == 0)
            return run->values[i].text;
    return NULL;
}

/* Why there is no such parameter. */
static int unknown_parameter(const struct run *run, struct slice name, struct error *err)
{
    const struct option_spec *option = apirow_option(run->row->command, name);
    struct suggest nearest = suggest_start(name);
    struct apirow_parameter parameter;

    if (option && option->is_of_machine)
        return error_set(err, ERR_USAGE, "'%s' is no parameter: it is about the server's own machine", option->name);
    if (option)
        return error_set(err, ERR_USAGE, "'%s' is no parameter of %s, which settles it", option->name, run->row->path);
    for (size_t i = 0; apirow_parameter(run->row, i, &parameter); i++)
        suggest_offer(&nearest, parameter.name);
    name = slice_sub(name, 0, 64);
    if (nearest.name)
        return error_set(err, ERR_USAGE, "%s has no parameter '%.*s'; did you mean '%s'?", run->row->path,
                         SLICE_ARG(name), nearest.name);
    return error_set(err, ERR_USAGE, "%s has no parameter '%.*s'; docs/reference/http.md lists them", run->row->path,
                     SLICE_ARG(name));
}

static int give_value(struct run *run, const char *name, const char *text, struct error *err)
{
    if (run->n_values == VALUES_MAX)
        return error_set(err, ERR_LIMIT, "more than %d parameters; give fewer", VALUES_MAX);
    run->values[run->n_values++] = (struct command_value){ name, text };
    return 0;
}

static int given_twice(const char *name, struct error *err)
{
    return error_set(err, ERR_USAGE, "'%s' is given twice; give it once", name);
}

static int give_argument(struct run *run, const struct apirow_parameter *parameter, const char *text, struct error *err)
{
    size_t i = 0;

    while (run->row->arguments[i] != parameter->name)
        i++;
    if (run->arguments[i])
        return given_twice(parameter->name, err);
    run->arguments[i] = text;
    return 0;
}

static int check_word(const struct apirow_parameter *parameter, const char *text, struct error *err)
{
    struct slice known = SLICE("");
    char words[200];

    if (!parameter->words)
        return 0;
    for (size_t i = 0; parameter->words[i]; i++) {
        if (strcmp(parameter->words[i], text) == 0)
            return 0;
        snprintf(words + known.len, sizeof(words) - known.len, "%s%s", i ? ", " : "", parameter->words[i]);
        known = slice_from(words);
    }
    return error_set(err, ERR_USAGE, "%s: '%.64s' is none of %s", parameter->name, text, words);
}

static int give(struct run *run, struct slice name, const char *text, struct error *err)
{
    struct apirow_parameter parameter;

    if (!apirow_find_parameter(run->row, name, &parameter))
        return unknown_parameter(run, name, err);
    if (check_word(&parameter, text, err) < 0)
        return -1;
    switch (parameter.target) {
    case APIROW_ARGUMENT: return give_argument(run, &parameter, text, err);
    case APIROW_OWN: return apirow_take_own(&run->own, &parameter, text, err);
    case APIROW_OPTION: break;
    }
    if (parameter.spec->type != OPTION_LIST && value_of(run, parameter.name))
        return given_twice(parameter.name, err);
    return give_value(run, parameter.name, text, err);
}

/* Whether an empty value counts as absent, as forms send it: that of a text. Others have nothing that is empty. */
static bool is_absent(const struct run *run, const struct urlquery_pair *pair)
{
    struct apirow_parameter parameter;

    if (pair->value.len > 0 || !apirow_find_parameter(run->row, pair->name, &parameter))
        return false;
    if (!parameter.spec)
        return true;
    switch (parameter.spec->type) {
    case OPTION_BOOL:
    case OPTION_INT:
    case OPTION_UINT:
    case OPTION_DOUBLE:
    case OPTION_ENUM:
    case OPTION_LIST: return false;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_DIRECTORY:
    case OPTION_REGEX:
    case OPTION_DURATION:
    case OPTION_SIZE:
    case OPTION_PERCENT:
    case OPTION_RATE:
    case OPTION_ADDRESS: break;
    }
    return true;
}

static int take_pair(struct run *run, const struct urlquery_pair *pair, struct error *err)
{
    struct slice value;

    if (slice_find_byte(pair->name, '\0') >= 0 || slice_find_byte(pair->value, '\0') >= 0)
        return error_set(err, ERR_USAGE, "a parameter holds a NUL byte; take it out");
    if (is_absent(run, pair))
        return 0;
    value = arena_copy(&run->exchange->arena, pair->value, err); /* with a NUL behind it */
    return value.ptr ? give(run, pair->name, value.ptr, err) : -1;
}

static int take_pairs(struct run *run, struct slice text, struct error *err)
{
    struct urlquery query;

    if (urlquery_parse(text, &run->exchange->arena, &query, err) < 0)
        return -1;
    for (uint32_t i = 0; i < query.n; i++)
        if (take_pair(run, &query.pairs[i], err) < 0)
            return -1;
    return 0;
}

/* Parameters may also come as the body of a form. */
static int take_body(struct run *run, struct error *err)
{
    const struct request *request = &run->exchange->request;
    struct slice type = http_media_type(http_header(&request->headers, "content-type"));

    if (request->body.len == 0 || request->method != HTTP_POST)
        return 0;
    if (!slice_equal_nocase(type, SLICE("application/x-www-form-urlencoded")))
        return error_set(err, ERR_UNSUPPORTED,
                         "the body is '%.*s'; parameters are in the URL, or in a body of type "
                         "application/x-www-form-urlencoded",
                         SLICE_ARG(slice_sub(type, 0, 64)));
    return take_pairs(run, request->body, err);
}

static bool is_given(const struct run *run, const struct apirow_parameter *parameter)
{
    if (parameter->target == APIROW_OPTION)
        return value_of(run, parameter->name) != NULL;
    for (size_t i = 0; i < APIROW_MAX_ARGUMENTS; i++)
        if (run->row->arguments[i] == parameter->name)
            return run->arguments[i] != NULL;
    return false;
}

/* What a command misses among its own options it says itself, better. */
static int check_required(const struct run *run, struct error *err)
{
    struct apirow_parameter parameter;

    for (size_t i = 0; apirow_parameter(run->row, i, &parameter); i++)
        if (parameter.is_required && !is_given(run, &parameter) &&
            (parameter.target == APIROW_ARGUMENT || run->row->is_view))
            return error_set(err, ERR_USAGE, "%s needs the parameter '%s': %s", run->row->path, parameter.name,
                             parameter.help);
    return 0;
}

/* P4. Tenants come from a header; who names one as well must mean the same. */
static int settle_tenant(struct run *run, struct error *err)
{
    const char *named = value_of(run, "tenant");
    struct slice tenant;

    if (!apirow_option(run->row->command, SLICE("tenant")))
        return 0;
    if (named && !slice_is(run->tenant, named))
        return error_set(err, ERR_DENIED,
                         run->api->is_multi_tenant
                             ? "tenant=%.64s: the header X-Scope-OrgID says that the request is of '%.*s'"
                             : "tenant=%.64s: the server keeps no tenants apart (--multi-tenant), and all is of '%.*s'",
                         named, SLICE_ARG(slice_sub(run->tenant, 0, 64)));
    if (named)
        return 0;
    tenant = arena_copy(&run->exchange->arena, run->tenant, err);
    return tenant.ptr ? give_value(run, "tenant", tenant.ptr, err) : -1;
}

/* Whether the command can write a format. */
static bool is_written(const struct run *run, const struct format *format)
{
    const struct option_spec *option = apirow_option(run->row->command, SLICE("format"));
    const char *word;

    for (size_t i = 0; option && (word = option_word(option, i)); i++)
        if (strcmp(word, format->name) == 0)
            return true;
    return false;
}

/* The format of a file that is asked for; NULL = the answer is none. */
static const struct format *file_format(const struct run *run)
{
    const char *name = value_of(run, "format");
    const struct format *format = NULL;

    if (!apirow_option(run->row->command, SLICE("output")))
        return NULL;
    if (name && strcmp(name, "auto") != 0)
        format = output_find(slice_from(name));
    else if (run->own.file && !value_of(run, "function"))
        format = output_find_by_path(slice_from(run->own.file));
    return format && is_written(run, format) ? format : NULL;
}

/* A tree in the flame format has no other form. */
static bool is_flame(const struct run *run)
{
    const char *format = value_of(run, "format");

    return format && strcmp(format, "flame") == 0;
}

/* What the path settles, and R2 of apirow.h. */
static int settle_form(struct run *run, struct error *err)
{
    const struct apirow *row = run->row;

    /* A name says the format where the path takes several; the command finds it. */
    if (row->formats[0] && !value_of(run, "format") && !(row->formats[1] && run->own.file) &&
        give_value(run, "format", row->formats[0], err) < 0)
        return -1;
    if (run->own.file && give_value(run, "output", run->own.file, err) < 0)
        return -1;
    /* These have no other form: who asks for JSON is told so by the command. */
    if ((file_format(run) || is_flame(run)) &&
        (run->own.output != APIROW_JSON || !run->own.is_given[APIROW_OWN_OUTPUT]))
        return 0;
    if (row->is_file)
        return error_set(err, ERR_USAGE, "file: '%.64s' does not tell which format to write; add format",
                         run->own.file);
    if (run->own.output == APIROW_TEXT)
        return 0;
    return give_value(run, run->own.output == APIROW_JSON ? "json" : "csv", "true", err);
}

static int read_request(struct run *run, struct error *err)
{
    if (take_pairs(run, run->exchange->request.query, err) < 0 || take_body(run, err) < 0 ||
        check_required(run, err) < 0)
        return -1;
    if (run->own.file && strchr(run->own.file, '/'))
        return error_set(err, ERR_USAGE, "file: '%.64s' is a path; give a name, without '/'", run->own.file);
    return settle_tenant(run, err) < 0 ? -1 : settle_form(run, err);
}

/* --- the run --- */

static ssize_t take_output(void *context, const char *bytes, size_t len)
{
    struct buffer *out = context;

    buffer_append(out, bytes, len);
    return out->failure.code == ERR_OK ? (ssize_t)len : 0;
}

static void take_message(void *self, enum log_level level, struct slice text)
{
    struct run *run = self;
    struct error ignored;
    struct slice copy = arena_copy(&run->exchange->arena, text, &ignored);

    if (copy.ptr && run->n_messages < MESSAGES_MAX) {
        run->messages[run->n_messages].level = level;
        run->messages[run->n_messages++].text = copy;
    }
}

/* Arguments up to the last one given; those missing between are empty. */
static struct option_list arguments_of(struct run *run)
{
    size_t n = APIROW_MAX_ARGUMENTS;

    while (n > 0 && !run->arguments[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!run->arguments[i])
            run->arguments[i] = "";
    return (struct option_list){ run->arguments, n };
}

static int perform(struct run *run, FILE *out, int *ret_status, struct error *err)
{
    static const char *const utf8[] = { "LC_ALL=C.UTF-8", NULL };
    static const char *const ascii[] = { NULL };
    const struct api *api = run->api;
    int64_t begun_ns = run->exchange->request.begun_mono_ns;
    struct command_served served = { .store = api->parts.store,
                                     .engine = api->parts.engine,
                                     .traces = api->parts.traces,
                                     .metrics = api->parts.metrics,
                                     .trace_link = api->trace_link,
                                     .data_dir = api->data_dir,
                                     .query_bytes = api->query_bytes,
                                     .timeout_ns = api->timeout_ns,
                                     .is_cancelled = &run->exchange->is_gone,
                                     .tell = take_message,
                                     .self = run,
                                     .facts = &run->facts };
    struct command_world world = { .out = out,
                                   .environment = run->own.has_utf8 ? utf8 : ascii,
                                   .has_colour = run->own.has_colour,
                                   .width = (unsigned)run->own.width,
                                   .served = &served };
    struct command_call call = {
        .command = run->row->command, .values = run->values, .n = run->n_values, .arguments = arguments_of(run)
    };

    if (api->timeout_ns && run->row->method == HTTP_GET &&
        __builtin_add_overflow(begun_ns, api->timeout_ns, &served.deadline_mono_ns))
        served.deadline_mono_ns = 0;
    return command_serve(api->set, &world, &call, ret_status, err);
}

/* Output goes straight into the buffer: a stream between them would only hold it up. */
static int run_command(struct run *run, int *ret_status, struct error *err)
{
    FILE *out = fopencookie(&run->out, "w", (cookie_io_functions_t){ .write = take_output });
    int result;

    if (!out)
        return error_set(err, ERR_MEMORY, "no memory for an answer");
    setvbuf(out, NULL, _IONBF, 0);
    result = perform(run, out, ret_status, err);
    fclose(out);
    if (run->out.failure.code != ERR_OK)
        return error_set(err, run->out.failure.code, "the answer is too large: %s", run->out.failure.text);
    return result;
}

/* --- the answer --- */

/* JSON as a header can have it: characters beyond ASCII as \uXXXX. `text` is UTF-8, and those stand in strings only. */
static void append_ascii(struct buffer *out, struct slice text)
{
    for (size_t i = 0; i < text.len;) {
        size_t len = MAX(slice_utf8_len(slice_sub(text, i, SIZE_MAX)), 1);
        uint32_t rune = (unsigned char)text.ptr[i];

        if (len == 1) {
            buffer_append_byte(out, text.ptr[i]);
        } else {
            rune &= 0xffu >> (len + 1);
            for (size_t k = 1; k < len; k++)
                rune = rune << 6 | ((unsigned char)text.ptr[i + k] & 0x3f);
            if (rune > 0xffff)
                buffer_printf(out, "\\u%04x\\u%04x", 0xd800 + ((rune - 0x10000) >> 10),
                              0xdc00 + ((rune - 0x10000) & 0x3ff));
            else
                buffer_printf(out, "\\u%04x", rune);
        }
        i += len;
    }
}

static void append_message(struct buffer *out, enum log_level level, struct slice text)
{
    AUTO(buffer_done) struct buffer item;
    struct json json;

    buffer_init(&item, 0);
    json_init(&json, &item, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "level");
    json_text(&json, log_level_name(level));
    json_key(&json, "text");
    json_string(&json, text);
    json_object_end(&json);
    json_done(&json);
    append_ascii(out, buffer_slice(&item));
}

static void add_messages(struct run *run)
{
    AUTO(buffer_done) struct buffer all;
    struct error ignored;

    buffer_init(&all, 0);
    if (run->n_messages == 0)
        return;
    buffer_append_byte(&all, '[');
    for (size_t i = 0; i < run->n_messages; i++) {
        size_t before = all.len;

        buffer_append_text(&all, i ? "," : "");
        append_message(&all, run->messages[i].level, run->messages[i].text);
        if (all.len > API_MESSAGES_BYTES - 1) {
            buffer_truncate(&all, before);
            break;
        }
    }
    buffer_append_byte(&all, ']');
    if (buffer_check(&all, &ignored) == 0)
        exchange_header(run->exchange, "x-hearth-messages", buffer_slice(&all));
}

static double milliseconds(int64_t ns)
{
    return (double)ns / 1e6;
}

static void add_timing(struct run *run)
{
    const struct store_reads *reads = &run->facts.reads;
    char text[320];

    snprintf(text, sizeof(text),
             "read;dur=%.3f;desc=\"hours=%llu slots=%llu sums=%llu rows=%llu windows=%llu bytes=%llu\", "
             "finish;dur=%.3f, total;dur=%.3f",
             milliseconds(run->facts.read_ns), (unsigned long long)reads->n_hours, (unsigned long long)reads->n_slots,
             (unsigned long long)reads->n_series, (unsigned long long)reads->n_rows, (unsigned long long)reads->n_parts,
             (unsigned long long)reads->n_bytes, milliseconds(run->facts.finish_ns),
             milliseconds(clock_mono_ns() - run->exchange->request.begun_mono_ns));
    exchange_header_text(run->exchange, "server-timing", text);
}

static bool is_packed_name(const char *name)
{
    struct format_write_options options = { 0 };

    output_pack_by_name(name, &options);
    return options.pack != PACK_NONE;
}

static const char *file_type(const struct format *file)
{
    if (strcmp(file->name, "otlp") == 0)
        return "application/x-protobuf";
    if (strcmp(file->name, "otlp-json") == 0)
        return "application/json";
    if (strcmp(file->name, "html") == 0)
        return "text/html; charset=utf-8";
    return file->is_binary ? "application/octet-stream" : "text/plain; charset=utf-8";
}

static const char *content_type(const struct run *run, const struct format *file)
{
    const char *format = value_of(run, "format");

    if (run->own.file && is_packed_name(run->own.file))
        return "application/octet-stream";
    if (file)
        return file_type(file);
    if (is_flame(run))
        return FLAMEBYTES_TYPE;
    if (run->own.output == APIROW_JSON || (format && strcmp(format, "json") == 0))
        return "application/json";
    return run->own.output == APIROW_CSV ? "text/csv; charset=utf-8" : "text/plain; charset=utf-8";
}

/* What a browser should call the file. Quotes and what is no printable ASCII are left to it. */
static void add_disposition(struct run *run, const struct format *file)
{
    struct slice ending = slice_from(file->extensions);
    char name[160], text[200];
    size_t len = 0;

    if (run->own.file)
        snprintf(name, sizeof(name), "%s", run->own.file);
    else
        snprintf(name, sizeof(name), "profile.%.*s", (int)strcspn(ending.ptr, " "), ending.ptr);
    for (const char *c = name; *c; c++)
        if (*c >= ' ' && *c <= '~' && *c != '"' && *c != '\\')
            name[len++] = *c;
    snprintf(text, sizeof(text), "attachment; filename=\"%.*s\"", (int)len, name);
    exchange_header_text(run->exchange, "content-disposition", text);
}

static void answer(struct run *run, int status)
{
    const struct format *file = file_format(run);
    char text[16];

    exchange_answer(run->exchange, 200, content_type(run, file), SLICE(""));
    buffer_done(&run->exchange->response.body);
    run->exchange->response.body = run->out;
    buffer_init(&run->out, 0);
    if (file)
        add_disposition(run, file);
    if (status) {
        snprintf(text, sizeof(text), "%d", status);
        exchange_header_text(run->exchange, "x-hearth-exit", text);
    }
}

static void fail(struct run *run, const struct error *err)
{
    exchange_fail(run->exchange, err);
    exchange_header_text(run->exchange, "x-hearth-error", error_code_name(err->code));
}

void api_serve(struct exchange *exchange)
{
    const struct api *api = exchange->context;
    struct error err;
    struct run *run = ARENA_NEW(&exchange->arena, struct run, &err);
    int status = 0;

    if (!run) {
        exchange_fail(exchange, &err);
        return;
    }
    *run = (struct run){ .exchange = exchange, .api = api, .row = apirow_of(exchange->route) };
    run->own = apirow_own_defaults();
    if (!answer_tenant(exchange, api->is_multi_tenant, &run->tenant))
        return;
    buffer_init(&run->out, api->query_bytes);
    if (read_request(run, &err) < 0 || run_command(run, &status, &err) < 0)
        fail(run, &err);
    else
        answer(run, status);
    add_messages(run);
    add_timing(run);
    buffer_done(&run->out);
}
