// SPDX-License-Identifier: Apache-2.0
/* YAML is written as lines; texts are in double quotes, as JSON has them, so that nothing in them means anything. */
#include "cli/openapi.h"

#include "base/json.h"
#include "base/version.h"
#include "cli/api.h"

#define PROCEDURE_TYPES "application/json, application/proto"

static void quote(struct slice text, struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_string(&json, text);
    json_done(&json);
}

static void put_text(const char *indent, const char *key, const char *text, struct buffer *out)
{
    buffer_printf(out, "%s%s: ", indent, key);
    quote(slice_from(text), out);
    buffer_append_byte(out, '\n');
}

/* --- schemas of parameters --- */

#define SCHEMA "            "

static void put_words(const struct apirow_parameter *parameter, struct buffer *out)
{
    buffer_append_text(out, SCHEMA "enum: [");
    for (size_t i = 0; apirow_word(parameter, i); i++) {
        buffer_append_text(out, i ? ", " : "");
        quote(slice_from(apirow_word(parameter, i)), out);
    }
    buffer_append_text(out, "]\n");
}

static void put_integer(const struct apirow_parameter *parameter, struct buffer *out)
{
    const struct option_spec *spec = parameter->spec;

    buffer_append_text(out, SCHEMA "type: integer\n");
    if (spec->type == OPTION_UINT || option_min(spec))
        buffer_printf(out, SCHEMA "minimum: %s\n", option_min(spec) ? option_min(spec) : "0");
    if (option_max(spec))
        buffer_printf(out, SCHEMA "maximum: %s\n", option_max(spec));
    if (parameter->default_text)
        buffer_printf(out, SCHEMA "default: %s\n", parameter->default_text);
}

static void put_string(const struct apirow_parameter *parameter, struct buffer *out)
{
    buffer_append_text(out, SCHEMA "type: string\n");
    if (parameter->is_required)
        buffer_append_text(out, SCHEMA "minLength: 1\n");
    if (apirow_word(parameter, 0))
        put_words(parameter, out);
    if (parameter->default_text)
        put_text(SCHEMA, "default", parameter->default_text, out);
}

static void put_schema(const struct apirow_parameter *parameter, struct buffer *out)
{
    enum option_type type = parameter->spec ? parameter->spec->type : OPTION_TEXT;

    switch (type) {
    case OPTION_INT:
    case OPTION_UINT: put_integer(parameter, out); break;
    case OPTION_BOOL:
        buffer_append_text(out, SCHEMA "type: boolean\n");
        if (parameter->default_text)
            buffer_printf(out, SCHEMA "default: %s\n", parameter->default_text);
        break;
    case OPTION_LIST:
        buffer_append_text(out, SCHEMA "type: array\n" SCHEMA "items:\n" SCHEMA "  type: string\n" SCHEMA
                                       "  minLength: 1\n");
        break;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_DIRECTORY:
    case OPTION_REGEX:
    case OPTION_DOUBLE:
    case OPTION_DURATION:
    case OPTION_SIZE:
    case OPTION_PERCENT:
    case OPTION_RATE:
    case OPTION_ADDRESS:
    case OPTION_ENUM: put_string(parameter, out); break;
    }
}

/* The help, and how a value of the type is written where that is not plain. */
static void put_description(const struct apirow_parameter *parameter, struct buffer *out)
{
    const struct option_spec *spec = parameter->spec;
    struct buffer text;

    buffer_init(&text, 0);
    buffer_append_text(&text, parameter->help);
    if (spec && (spec->type == OPTION_DURATION || spec->type == OPTION_SIZE || spec->type == OPTION_PERCENT ||
                 spec->type == OPTION_RATE))
        buffer_printf(&text, " It is %s.", option_type_syntax(spec->type));
    buffer_append_text(out, "          description: ");
    quote(buffer_slice(&text), out);
    buffer_append_byte(out, '\n');
    buffer_done(&text);
}

static void put_parameter_head(const char *name, const char *place, bool is_required, struct buffer *out)
{
    put_text("        - ", "name", name, out);
    buffer_printf(out, "          in: %s\n", place);
    if (is_required)
        buffer_append_text(out, "          required: true\n");
}

static void put_api_parameters(const struct apirow *row, struct buffer *out)
{
    struct apirow_parameter parameter;

    for (size_t i = 0; apirow_parameter(row, i, &parameter); i++) {
        if (i == 0)
            buffer_append_text(out, "      parameters:\n");
        put_parameter_head(parameter.name, "query", parameter.is_required, out);
        put_description(&parameter, out);
        buffer_append_text(out, "          schema:\n");
        put_schema(&parameter, out);
    }
}

static bool has_rest(const struct route *route)
{
    return slice_ends_with(slice_from(route->path), SLICE("*"));
}

static void put_route_parameters(const struct route *route, struct buffer *out)
{
    if (route->parameters[0].name || has_rest(route))
        buffer_append_text(out, "      parameters:\n");
    if (has_rest(route)) {
        put_parameter_head("rest", "path", true, out);
        buffer_append_text(out, "          schema:\n" SCHEMA "type: string\n");
    }
    for (size_t i = 0; i < ROUTE_MAX_PARAMETERS && route->parameters[i].name; i++) {
        put_parameter_head(route->parameters[i].name, "query", false, out);
        put_text("          ", "description", route->parameters[i].help, out);
        buffer_append_text(out, "          schema:\n" SCHEMA "type: string\n");
    }
}

/* --- bodies and answers --- */

/* Of JSON, ours is an object; of what others expect there are lists, too. */
static void put_content(const char *indent, struct slice types, bool is_ours, struct buffer *out)
{
    struct slice type;

    if (types.len == 0)
        return;
    buffer_printf(out, "%scontent:\n", indent);
    while (slice_next_part(&types, ',', &type)) {
        bool is_json = slice_is(slice_trim(type), "application/json");

        buffer_printf(out, "%s  ", indent);
        quote(slice_trim(type), out);
        buffer_printf(out, ":\n%s    schema:", indent);
        if (is_json)
            buffer_append_text(out, is_ours ? "" : " {}");
        buffer_append_byte(out, '\n');
        if (!is_json || is_ours)
            buffer_printf(out, "%s      type: %s\n", indent, is_json ? "object" : "string");
        if (!is_json && !slice_starts_with(slice_trim(type), SLICE("text/")))
            buffer_printf(out, "%s      format: binary\n", indent);
    }
}

static const char *api_types(const struct apirow *row)
{
    if (row->is_file)
        return "application/octet-stream, application/x-protobuf, application/json, text/plain";
    if (apirow_option(row->command, SLICE("csv")))
        return "application/json, text/plain, text/csv";
    return row->is_view || !apirow_option(row->command, SLICE("output"))
               ? "application/json, text/plain"
               : "application/json, text/plain, application/octet-stream, application/x-protobuf";
}

static const char *types_of(const struct route *route)
{
    if (route->handler == api_serve)
        return api_types(apirow_of(route));
    if (route->produces)
        return route->produces;
    return route->is_procedure ? PROCEDURE_TYPES : "application/json";
}

static void put_request_body(const struct route *route, struct buffer *out)
{
    const char *types = route->is_procedure ? PROCEDURE_TYPES : "application/octet-stream";

    if (route->method != HTTP_POST || route->handler == api_serve)
        return;
    buffer_append_text(out, "      requestBody:\n        required: true\n");
    put_content("        ", slice_from(route->consumes ? route->consumes : types), false, out);
}

/* Public ones know no bad request, but one whose path goes on may be asked for what is not there. */
static bool may_fail_with(const struct route *route, int status)
{
    bool goes_on = slice_ends_with(slice_from(route->path), SLICE("*"));

    return status == 503 || (status == 404 && goes_on) || route->scope != ROUTE_PUBLIC || route->is_procedure;
}

static void put_failures(const struct route *route, struct buffer *out)
{
    static const int statuses[] = { 400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503, 504, 507 };
    static const char *const components[] = { [ROUTE_FAILS_AS_JSON] = "Failure",
                                              [ROUTE_FAILS_AS_STATUS] = "StatusFailure",
                                              [ROUTE_FAILS_AS_TEXT] = "TextFailure" };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (may_fail_with(route, statuses[i]))
            buffer_printf(out, "        \"%d\":\n          $ref: \"#/components/responses/%s\"\n", statuses[i],
                          components[route->failure]);
}

static void put_responses(const struct route *route, struct buffer *out)
{
    buffer_printf(out, "      responses:\n        \"%d\":\n          description: \"The answer.\"\n",
                  route->good_status ? route->good_status : 200);
    if (route->handler == api_serve)
        buffer_append_text(out, "          headers:\n            X-Hearth-Messages:\n"
                                "              $ref: \"#/components/headers/Messages\"\n            Server-Timing:\n"
                                "              $ref: \"#/components/headers/Timing\"\n");
    put_content("          ", slice_from(types_of(route)), route->handler == api_serve, out);
    if (route->method == HTTP_GET && route->scope == ROUTE_READ)
        buffer_append_text(out, "        \"304\":\n"
                                "          description: \"If-None-Match has the ETag of the answer already.\"\n");
    put_failures(route, out);
}

/* --- operations --- */

/* "getApiV1Label_values": a slash begins a word, and so no two paths get the same. */
static void put_operation_id(const struct route *route, struct buffer *out)
{
    bool is_start = false;

    buffer_append_text(out, "      operationId: ");
    for (const char *c = http_method_name(route->method); *c; c++)
        buffer_append_byte(out, (char)(*c | 0x20));
    for (const char *c = route->path; *c; c++) {
        bool is_lower = *c >= 'a' && *c <= 'z',
             is_word = is_lower || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');

        if (*c != '/')
            buffer_append_byte(out, (char)(!is_word ? '_' : is_start && is_lower ? *c & ~0x20 : *c));
        is_start = *c == '/';
    }
    buffer_append_byte(out, '\n');
}

static void put_operation(const struct route *route, struct buffer *out)
{
    buffer_append_text(out, "    ");
    for (const char *c = http_method_name(route->method); *c; c++)
        buffer_append_byte(out, (char)(*c | 0x20));
    buffer_append_text(out, ":\n");
    put_operation_id(route, out);
    put_text("      ", "summary", route->summary, out);
    if (route->handler == api_serve)
        buffer_printf(out, "      description: \"Runs 'hearth %s' in the server.\"\n", apirow_of(route)->command->name);
    buffer_printf(out, "      tags: [%s]\n", route_scope_name(route->scope));
    if (route->handler == api_serve)
        put_api_parameters(apirow_of(route), out);
    else
        put_route_parameters(route, out);
    put_request_body(route, out);
    put_responses(route, out);
}

/* "/files/{rest}": of "/files/" and a star. */
static void put_path(const struct route *route, struct buffer *out)
{
    struct slice path = slice_from(route->path);

    buffer_append_text(out, "  \"");
    buffer_append_slice(out, has_rest(route) ? slice_sub(path, 0, path.len - 1) : path);
    buffer_append_text(out, has_rest(route) ? "{rest}\":\n" : "\":\n");
}

static bool is_told(const struct route_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (slice_equal(slice_from(table->routes[i].path), slice_from(table->routes[index].path)))
            return true;
    return false;
}

static void put_head(struct buffer *out)
{
    buffer_printf(out,
                  "# Made by `make docs` from the tables of the program; changes made here are lost.\n"
                  "openapi: \"3.0.3\"\n"
                  "info:\n"
                  "  title: \"hearth\"\n"
                  "  description: \"Continuous profiling for Linux fleets. docs/guide/api.md tells how to ask.\"\n"
                  "  version: \"%s\"\n"
                  "  license:\n"
                  "    name: \"Apache-2.0\"\n"
                  "    url: \"https://www.apache.org/licenses/LICENSE-2.0\"\n"
                  "servers:\n"
                  "  - url: \"http://127.0.0.1:4040\"\n"
                  "tags:\n",
                  version_text());
    for (int scope = ROUTE_PUBLIC; scope <= ROUTE_ADMIN; scope++)
        buffer_printf(out, "  - name: %s\n", route_scope_name((enum route_scope)scope));
}

static void put_failure(const char *name, struct buffer *out)
{
    buffer_printf(out,
                  "    %s:\n"
                  "      description: \"One sentence: what was given, what is allowed, what to do.\"\n"
                  "      content:\n",
                  name);
}

static void put_failure_json(const char *code_type, struct buffer *out)
{
    buffer_printf(out,
                  "        \"application/json\":\n"
                  "          schema:\n"
                  "            type: object\n"
                  "            required: [code, message]\n"
                  "            properties:\n"
                  "              code:\n"
                  "                type: %s\n"
                  "              message:\n"
                  "                type: string\n",
                  code_type);
}

static void put_failure_text(const char *type, struct buffer *out)
{
    buffer_printf(out, "        \"%s\":\n          schema:\n            type: string\n", type);
}

static void put_components(struct buffer *out)
{
    buffer_append_text(out,
                       "components:\n"
                       "  headers:\n"
                       "    Messages:\n"
                       "      description: \"Notes and warnings beside the answer: a JSON array of {level, text}.\"\n"
                       "      schema:\n"
                       "        type: string\n"
                       "    Timing:\n"
                       "      description: \"What was read for the answer, and how long its steps took.\"\n"
                       "      schema:\n"
                       "        type: string\n"
                       "  responses:\n");
    put_failure("Failure", out);
    put_failure_json("string", out);
    put_failure("StatusFailure", out);
    put_failure_json("integer", out);
    put_failure_text("application/x-protobuf", out);
    put_failure_text("text/plain", out);
    put_failure("TextFailure", out);
    put_failure_text("text/plain", out);
}

void openapi_print(const struct route_table *table, struct buffer *out)
{
    put_head(out);
    buffer_append_text(out, "paths:\n");
    for (size_t i = 0; i < table->n; i++) {
        if (table->routes[i].is_absent || is_told(table, i))
            continue;
        put_path(&table->routes[i], out);
        for (size_t k = i; k < table->n; k++)
            if (slice_equal(slice_from(table->routes[k].path), slice_from(table->routes[i].path)))
                put_operation(&table->routes[k], out);
    }
    put_components(out);
}
