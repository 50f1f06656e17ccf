// SPDX-License-Identifier: Apache-2.0
#include "cli/remote.h"

#include "base/clock.h"
#include "base/fs.h"
#include "cli/remotecall.h"
#include "cli/sparkline.h"
#include "cli/storage.h"
#include "wire/json_reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Beyond --timeout, for the way there and back. */
#define GRACE_NS (10 * CLOCK_NS_PER_SECOND)

/* --- what was given --- */

static bool find_given(const struct command_context *context, const char *name, struct option_given *ret_given)
{
    for (size_t i = 0; options_at(context->options, i, ret_given); i++)
        if (strcmp(ret_given->spec->name, name) == 0)
            return true;
    return false;
}

static const char *text_of(const struct command_context *context, const char *name)
{
    struct option_given given;

    return find_given(context, name, &given) ? given.text : NULL;
}

static bool is_on(const struct command_context *context, const char *name)
{
    union option_value value;
    struct option_given given;
    struct error ignored;

    return find_given(context, name, &given) && given.text &&
           option_parse(given.spec, given.text, &value, &ignored) == 0 && value.truth;
}

static bool is_flag(const struct command_context *context, const char *name)
{
    struct option_given given;

    return find_given(context, name, &given) && given.origin == OPTION_FROM_FLAG;
}

/* M3. */
static int find_server(const struct command_context *context, const char **ret_url, struct error *err)
{
    const char *url = text_of(context, "url");

    *ret_url = NULL;
    if (!url || (is_flag(context, "data-dir") && !is_flag(context, "url")))
        return 0;
    if (is_flag(context, "data-dir"))
        return error_set(err, ERR_USAGE, "--url asks a server and --data-dir names a directory here; give one of them");
    *ret_url = url;
    return 0;
}

/* --- the request --- */

/* Global options are about what is printed here, and so are those that requests have in other words. */
static bool is_translated(const struct command_context *context, const struct option_spec *spec)
{
    return !apirow_option(context->command, slice_from(spec->name)) || strcmp(spec->name, "json") == 0 ||
           strcmp(spec->name, "csv") == 0;
}

static bool stays_here(const struct option_spec *spec)
{
    return strcmp(spec->name, "url") == 0 || strcmp(spec->name, "output") == 0;
}

/* Whether a row takes everything that was given. */
static bool takes_all(const struct apirow *row, const struct command_context *context)
{
    struct apirow_parameter parameter;
    struct option_given given;
    size_t n_arguments = 0;

    while (n_arguments < APIROW_MAX_ARGUMENTS && row->arguments[n_arguments])
        n_arguments++;
    if (context->arguments.n > n_arguments)
        return false;
    for (size_t i = 0; options_at(context->options, i, &given); i++)
        if (given.origin != OPTION_FROM_DEFAULT && !is_translated(context, given.spec) && !given.spec->is_of_machine &&
            !apirow_find_parameter(row, slice_from(given.spec->name), &parameter))
            return false;
    return true;
}

/* The row that runs the whole command: listing goes before changing, where a command does both. */
static const struct apirow *find_row(const struct command_context *context)
{
    for (size_t i = 0; i < apirow_n; i++)
        if (apirow_all[i].command == context->command && !apirow_all[i].is_view && takes_all(&apirow_all[i], context))
            return &apirow_all[i];
    return NULL;
}

static bool is_served(const struct command *command)
{
    for (size_t i = 0; i < apirow_n; i++)
        if (apirow_all[i].command == command)
            return true;
    return false;
}

/* M2. */
static int check_machine_options(const struct command_context *context, struct error *err)
{
    struct option_given given;

    for (size_t i = 0; options_at(context->options, i, &given); i++)
        if (given.origin == OPTION_FROM_FLAG && given.spec->is_of_machine && !stays_here(given.spec))
            return error_set(err, ERR_USAGE,
                             "--%s is about this machine, and --url asks a server; leave one of them out",
                             given.spec->name);
    return 0;
}

static bool has_empty(const struct option_given *given)
{
    for (size_t i = 0; i < given->list.n; i++)
        if (given->list.items[i][0] == '\0')
            return true;
    return given->text && given->text[0] == '\0';
}

/* M4. */
static int check_values(const struct command_context *context, struct error *err)
{
    const char *tenant = text_of(context, "tenant");
    struct option_given given;

    if (tenant && storage_check_tenant(tenant, err) < 0)
        return -1;
    for (size_t i = 0; options_at(context->options, i, &given); i++)
        if (given.origin != OPTION_FROM_DEFAULT && strcmp(given.spec->name, "url") != 0 && has_empty(&given))
            return error_set(err, ERR_USAGE,
                             "--%s is empty, which a server takes for not given; give a value or leave it out",
                             given.spec->name);
    return 0;
}

static void append_options(const struct command_context *context, struct buffer *parameters)
{
    struct option_given given;

    for (size_t i = 0; options_at(context->options, i, &given); i++) {
        if (given.origin == OPTION_FROM_DEFAULT || is_translated(context, given.spec) || given.spec->is_of_machine)
            continue;
        if (given.text)
            remotecall_append(parameters, given.spec->name, given.text);
        for (size_t k = 0; k < given.list.n; k++)
            remotecall_append(parameters, given.spec->name, given.list.items[k]);
    }
}

/* How the answer is to look. */
static void append_form(const struct command_context *context, struct buffer *parameters)
{
    const char *output = text_of(context, "output");
    char width[16];

    if (is_on(context, "json")) {
        remotecall_append(parameters, "output", "json");
    } else if (is_on(context, "csv")) {
        remotecall_append(parameters, "output", "csv");
    } else {
        remotecall_append(parameters, "output", "text");
        snprintf(width, sizeof(width), "%u", context->world->width);
        remotecall_append(parameters, "width", width);
        remotecall_append(parameters, "color", context->has_colour ? "true" : "false");
        remotecall_append(parameters, "utf8", sparkline_has_utf8(context->world->environment) ? "true" : "false");
    }
    if (output && strcmp(output, "-") != 0) {
        const char *slash = strrchr(output, '/');

        remotecall_append(parameters, "file", slash ? slash + 1 : output);
    }
}

int remote_request(struct command_context *context, const struct apirow **ret_row, struct buffer *parameters,
                   struct error *err)
{
    const struct apirow *row = find_row(context);

    if (check_machine_options(context, err) < 0 || check_values(context, err) < 0)
        return -1;
    if (!row)
        return error_set(err, ERR_USAGE,
                         "a server cannot run 'hearth %s' with these arguments; leave --url out to run it here",
                         context->command->name);
    for (size_t i = 0; i < context->arguments.n; i++)
        remotecall_append(parameters, row->arguments[i], context->arguments.items[i]);
    append_options(context, parameters);
    append_form(context, parameters);
    *ret_row = row;
    return buffer_check(parameters, err);
}

/* --- the answer --- */

static enum error_code code_of(struct slice name)
{
    for (unsigned code = 0; code < ERROR_CODE_COUNT; code++)
        if (slice_is(name, error_code_name(code)))
            return code;
    return ERR_IO;
}

/* The sentence of a failure: {"code":..., "message":...}. Empty if the body is something else. */
static struct slice sentence_of(const struct remotecall_answer *answer, struct arena *arena)
{
    struct json_reader reader;
    struct slice key, sentence = SLICE("");
    struct error ignored;

    json_reader_init(&reader, buffer_slice(&answer->body), arena, JSON_READER_MAX_DEPTH);
    json_reader_enter_object(&reader);
    while (json_reader_next_key(&reader, &key)) {
        if (slice_is(key, "message"))
            sentence = json_reader_text(&reader);
        else
            json_reader_skip(&reader);
    }
    json_reader_end(&reader);
    return json_reader_check(&reader, &ignored) < 0 ? SLICE("") : sentence;
}

/* A status that says no. */
static int tell_refusal(const struct remotecall *call, const struct remotecall_answer *answer, struct error *err)
{
    struct arena arena;
    struct slice sentence;

    arena_init(&arena, 1 << 20);
    sentence = sentence_of(answer, &arena);
    if (answer->error.len > 0)
        error_set(err, code_of(buffer_slice(&answer->error)), "%.*s", SLICE_ARG(sentence));
    else if (answer->status == 404)
        error_set(err, ERR_NOT_FOUND,
                  "%.80s has no %s: either it is no hearth server, or one of another version; look at --url", call->url,
                  call->path);
    else if (answer->status == 401)
        error_set(err, ERR_DENIED, "%.80s keeps tenants apart: --tenant says whose data is meant (%.*s)", call->url,
                  SLICE_ARG(sentence));
    else
        error_set(err, ERR_IO, "%.80s answered with status %d: %.*s", call->url, answer->status, SLICE_ARG(sentence));
    arena_done(&arena);
    return -1;
}

static void tell_message(struct json_reader *reader, const struct command_context *context)
{
    struct slice key, level = SLICE(""), text = SLICE("");

    json_reader_enter_object(reader);
    while (json_reader_next_key(reader, &key)) {
        if (slice_is(key, "level"))
            level = json_reader_text(reader);
        else if (slice_is(key, "text"))
            text = json_reader_text(reader);
        else
            json_reader_skip(reader);
    }
    if (slice_is(level, "warn"))
        command_warn(context, "%.*s", SLICE_ARG(text));
    else if (slice_is(level, "info"))
        command_note(context, "%.*s", SLICE_ARG(text));
}

static void tell_messages(const struct remotecall_answer *answer, const struct command_context *context)
{
    struct json_reader reader;

    if (answer->messages.len == 0)
        return;
    json_reader_init(&reader, buffer_slice(&answer->messages), context->arena, JSON_READER_MAX_DEPTH);
    json_reader_enter_array(&reader);
    while (json_reader_next_item(&reader))
        tell_message(&reader, context);
}

static bool is_for_terminals(const struct remotecall_answer *answer)
{
    struct slice type = buffer_slice(&answer->content_type);

    return slice_starts_with(type, SLICE("text/")) || slice_starts_with(type, SLICE("application/json"));
}

static int print_answer(struct command_context *context, const struct remotecall_answer *answer, struct error *err)
{
    const char *output = text_of(context, "output");
    uint64_t status;

    if (slice_to_u64(buffer_slice(&answer->exit), &status))
        context->exit_status = (int)MIN(status, (uint64_t)255);
    if (output && strcmp(output, "-") != 0)
        return fs_write_file(output, buffer_slice(&answer->body), err);
    if (!is_for_terminals(answer) && isatty(STDOUT_FILENO))
        return error_set(err, ERR_USAGE,
                         "the answer is binary and would garble the terminal; name a file or use a pipe");
    if (answer->body.len > 0)
        fwrite(answer->body.data, 1, answer->body.len, context->out);
    return 0;
}

/* --- both --- */

/* What --timeout says, and something for the way; 0 where it says nothing or never. */
static int64_t timeout_of(const struct command_context *context)
{
    union option_value value;
    struct option_given given;
    struct error ignored;

    if (!find_given(context, "timeout", &given) || option_parse(given.spec, given.text, &value, &ignored) < 0 ||
        value.i64 == 0 || value.i64 > INT64_MAX - GRACE_NS)
        return 0;
    return value.i64 + GRACE_NS;
}

static int ask(struct command_context *context, const char *url, struct error *err)
{
    AUTO(remotecall_done) struct remotecall_answer answer = { 0 };
    AUTO(buffer_done) struct buffer parameters;
    struct remotecall call = { .url = url, .timeout_ns = timeout_of(context) };
    struct option_given tenant;
    const struct apirow *row;

    buffer_init(&parameters, 0);
    if (remote_request(context, &row, &parameters, err) < 0)
        return -1;
    call.path = row->path;
    call.is_post = row->method == HTTP_POST;
    call.parameters = buffer_slice(&parameters);
    if (find_given(context, "tenant", &tenant) && tenant.origin != OPTION_FROM_DEFAULT)
        call.tenant = tenant.text;
    if (remotecall_perform(&call, &answer, err) < 0)
        return -1;
    tell_messages(&answer, context);
    if (answer.status != 200)
        return tell_refusal(&call, &answer, err);
    if (!answer.is_of_api)
        return error_set(err, ERR_IO, "%.80s answers %s, but not as hearth does: look at --url", url, call.path);
    return print_answer(context, &answer, err);
}

int remote_run(struct command_context *context, bool *ret_is_done, struct error *err)
{
    const char *url;

    *ret_is_done = false;
    if (!is_served(context->command))
        return 0;
    if (find_server(context, &url, err) < 0)
        return -1;
    /* Files are compared here, whatever a variable says. */
    if (!url || (!find_row(context) && !is_flag(context, "url")))
        return 0;
    *ret_is_done = true;
    return ask(context, url, err);
}

int remote_get(const char *url, const char *path, struct buffer *body, struct error *err)
{
    AUTO(remotecall_done) struct remotecall_answer answer = { 0 };
    struct remotecall call = { .url = url, .path = path, .timeout_ns = 3 * GRACE_NS };

    if (remotecall_perform(&call, &answer, err) < 0)
        return -1;
    if (answer.status != 200)
        return tell_refusal(&call, &answer, err);
    buffer_append_slice(body, buffer_slice(&answer.body));
    return buffer_check(body, err);
}
