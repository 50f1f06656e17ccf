// SPDX-License-Identifier: Apache-2.0
/* The paths of uploaded profiles: somebody has a file and wants to look at it, or to show it to somebody else. */
#include "answer/adhocfiles.h"
#include "answer/adhocprofile.h"
#include "answer/answer_internal.h"
#include "answer/flamebearer.h"
#include "base/json.h"
#include "base/urlquery.h"
#include "flame/flamebytes.h"
#include "flame/top.h"
#include "flame/trim.h"
#include "page/pagefile.h"
#include "wire/format.h"

#define ADHOC_ARENA_BYTES (256u << 20) /* of one request, beside the profile */
#define ADHOC_PREFIX      "/api/v1/adhoc/"
#define ADHOC_NODES       8192u
#define ADHOC_MAX_NODES   1048576u
#define ADHOC_ROWS        100u
#define ADHOC_MAX_ROWS    100000u

/* A file that is looked at. */
struct side {
    struct adhocfile file;
    struct buffer bytes;
    struct adhocprofile profile;
    bool has_profile;
};

/* One request on its way. */
struct visit {
    struct exchange *exchange;
    struct adhocfiles *files;
    struct slice tenant;
    struct urlquery url;
    struct arena arena;
    struct buffer out;
    struct side side;
    struct side other; /* that it is compared with */
};

/* --- parameters --- */

static int read_number(const struct visit *visit, const char *name, uint32_t otherwise, uint32_t max, uint32_t *ret_n,
                       struct error *err)
{
    struct slice text = urlquery_get(&visit->url, name);
    uint64_t value = otherwise;

    if (text.len > 0 && (!slice_to_u64(text, &value) || value == 0 || value > max))
        return error_set(err, ERR_INVALID, "%s: '%.*s' is not a number from 1 to %u", name,
                         SLICE_ARG(slice_sub(text, 0, 64)), max);
    *ret_n = (uint32_t)value;
    return 0;
}

/* --- JSON --- */

static void put_time(struct json *json, const char *key, int64_t time_ns)
{
    char text[CLOCK_TEXT_BYTES];

    json_key(json, key);
    json_text(json, clock_format(time_ns, CLOCK_ZONE_UTC, 3, text));
}

static void put_slice(struct json *json, const char *key, struct slice text)
{
    json_key(json, key);
    json_string(json, text);
}

static void put_file(struct json *json, const struct adhocfile *file)
{
    put_slice(json, "id", file->id);
    put_slice(json, "name", file->name);
    put_time(json, "uploaded", file->uploaded_ns);
    put_time(json, "expires", file->expires_ns);
    json_key(json, "bytes");
    json_uint(json, file->size_bytes);
}

static void put_types(struct json *json, const struct visit *visit)
{
    const struct adhocprofile *profile = &visit->side.profile;

    put_slice(json, "type", adhocprofile_type_name(profile, profile->type));
    put_slice(json, "unit", adhocprofile_type_unit(profile, profile->type));
    json_key(json, "types");
    json_array_begin(json);
    for (uint32_t i = 0; i < adhocprofile_get(profile)->n_types; i++) {
        json_object_begin(json);
        put_slice(json, "type", adhocprofile_type_name(profile, i));
        put_slice(json, "unit", adhocprofile_type_unit(profile, i));
        json_object_end(json);
    }
    json_array_end(json);
}

/* Gives what is in `out`. */
static void give(struct visit *visit, int status, const char *type)
{
    exchange_answer(visit->exchange, status, type, SLICE(""));
    buffer_done(&visit->exchange->response.body);
    visit->exchange->response.body = visit->out;
    buffer_init(&visit->out, 0);
}

/* --- views --- */

static bool is_page(const struct visit *visit)
{
    return slice_is(urlquery_get(&visit->url, "format"), "html");
}

/* Unless it is said, a page has all nodes that it may have, since it cannot ask for more later. */
static int read_nodes(const struct visit *visit, uint32_t *ret_n, struct error *err)
{
    return read_number(visit, "max-nodes", is_page(visit) ? ADHOC_MAX_NODES : ADHOC_NODES, ADHOC_MAX_NODES, ret_n, err);
}

static int make_flame(const struct visit *visit, struct flame **ret_flame, struct error *err)
{
    uint32_t max_nodes;

    if (read_nodes(visit, &max_nodes, err) < 0)
        return -1;
    return adhocprofile_flame(&visit->side.profile, max_nodes, ret_flame, err);
}

static int show_flamebearer(struct visit *visit, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct flamebearer bearer;
    struct json json;

    if (make_flame(visit, &flame, err) < 0 || flamebearer_from_flame(flame, &visit->arena, &bearer, err) < 0)
        return -1;
    json_init(&json, &visit->out, JSON_COMPACT);
    json_object_begin(&json);
    put_file(&json, &visit->side.file);
    put_types(&json, visit);
    json_key(&json, "total");
    json_int(&json, flame_total(flame, 0, 0));
    json_key(&json, "flamebearer");
    flamebearer_write_json(&bearer, &json);
    json_object_end(&json);
    json_done(&json);
    give(visit, 200, "application/json");
    return 0;
}

/* Gives what is in `out`, in the flame format, as a page of its own. It has scripts in it, so browsers are told to keep it as a
 * file instead of showing it as one of ours. */
static int give_page(struct visit *visit, struct slice title, struct error *err)
{
    AUTO(buffer_done) struct buffer flame = visit->out;

    buffer_init(&visit->out, 0);
    if (pagefile_write(title, buffer_slice(&flame), &visit->out, err) < 0)
        return -1;
    give(visit, 200, "text/html; charset=utf-8");
    exchange_header_text(visit->exchange, "content-disposition", "attachment; filename=\"profile.html\"");
    return 0;
}

static int give_tree(struct visit *visit, struct slice title, struct error *err)
{
    if (is_page(visit))
        return give_page(visit, title, err);
    give(visit, 200, FLAMEBYTES_TYPE);
    return 0;
}

static int show_flame(struct visit *visit, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;

    if (make_flame(visit, &flame, err) < 0 ||
        flamebytes_encode(flame, 0, adhocprofile_type_unit(&visit->side.profile, visit->side.profile.type), &visit->out,
                          err) < 0)
        return -1;
    return give_tree(visit, visit->side.file.name, err);
}

static int read_scaling(const struct visit *visit, enum diff_scaling *ret_scaling, struct error *err)
{
    static const char *const words[] = {
        [DIFF_ABSOLUTE] = "none", [DIFF_EQUAL_TOTALS] = "totals", [DIFF_EQUAL_DURATIONS] = "durations"
    };
    struct slice text = urlquery_get(&visit->url, "scale");

    *ret_scaling = DIFF_ABSOLUTE;
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(text, words[i])) {
            *ret_scaling = (enum diff_scaling)i;
            return 0;
        }
    return text.len == 0 ? 0
                         : error_set(err, ERR_INVALID, "scale: '%.*s' is not known; none, totals and durations are",
                                     SLICE_ARG(slice_sub(text, 0, 64)));
}

static int show_both(struct visit *visit, struct error *err)
{
    const struct adhocprofile *before = &visit->side.profile, *after = &visit->other.profile;
    struct diff_options options = { .granularity = SYMBOL_FUNCTION };
    struct trim_options trim = { .column = TRIM_ALL_COLUMNS };
    AUTO(flame_freep) struct flame *trimmed = NULL;
    AUTO(diff_freep) struct diff *diff = NULL;
    AUTO(buffer_done) struct buffer title;

    buffer_init(&title, 0);
    if (!is_page(visit) && !slice_is(urlquery_get(&visit->url, "format"), "flame"))
        return error_set(err, ERR_INVALID,
                         "against: two profiles side by side are there as format=flame and html only");
    if (read_scaling(visit, &options.scaling, err) < 0 || read_nodes(visit, &trim.max_nodes, err) < 0 ||
        diff_new(adhocprofile_get(before), before->type, adhocprofile_get(after), after->type, &options, &diff, err) <
            0 ||
        trim_flame(diff->flame, &trim, &trimmed, err) < 0 ||
        flamebytes_encode_diff(diff, trimmed, &visit->out, err) < 0)
        return -1;
    buffer_printf(&title, "%.*s against %.*s", SLICE_ARG(visit->side.file.name), SLICE_ARG(visit->other.file.name));
    return give_tree(visit, buffer_slice(&title), err);
}

static int show_top(struct visit *visit, struct error *err)
{
    AUTO(top_freep) struct top *top = NULL;
    struct json json;
    uint32_t rows;

    if (read_number(visit, "rows", ADHOC_ROWS, ADHOC_MAX_ROWS, &rows, err) < 0 ||
        top_new(adhocprofile_get(&visit->side.profile), &visit->side.profile.type, 1, SYMBOL_FUNCTION, TOP_BY_SELF,
                &top, err) < 0)
        return -1;
    json_init(&json, &visit->out, JSON_COMPACT);
    json_object_begin(&json);
    put_file(&json, &visit->side.file);
    put_types(&json, visit);
    json_key(&json, "total");
    json_int(&json, flame_total(top->flame, 0, 0));
    json_key(&json, "functions");
    json_array_begin(&json);
    for (uint32_t i = 0; i < MIN(top->n, rows); i++) {
        json_object_begin(&json);
        put_slice(&json, "name", graph_name(top->graph, top->functions[i]));
        json_key(&json, "self");
        json_int(&json, graph_self(top->graph, 0, top->functions[i]));
        json_key(&json, "total");
        json_int(&json, graph_total(top->graph, 0, top->functions[i]));
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
    give(visit, 200, "application/json");
    return 0;
}

static int show_file(struct visit *visit, const struct format *format, struct error *err)
{
    struct format_write_options options = { .type = visit->side.profile.type };

    if (format->encode(&visit->side.profile.batch, &options, &visit->out, err) < 0)
        return -1;
    give(visit, 200, format->is_binary ? "application/octet-stream" : "text/plain; charset=utf-8");
    return 0;
}

static int show(struct visit *visit, struct error *err)
{
    struct slice name = urlquery_get(&visit->url, "format");
    const struct format *format = format_find(name);

    if (name.len == 0 || slice_is(name, "flamebearer"))
        return show_flamebearer(visit, err);
    if (slice_is(name, "flame") || slice_is(name, "html"))
        return show_flame(visit, err);
    if (slice_is(name, "top"))
        return show_top(visit, err);
    if (format && format->encode)
        return show_file(visit, format, err);
    return error_set(
        err, ERR_INVALID,
        "format: '%.*s' is not known; flamebearer, flame, html, top, pprof, otlp, otlp-json and folded are",
        SLICE_ARG(slice_sub(name, 0, 64)));
}

/* --- the paths --- */

static int read_profile(struct side *side, struct slice bytes, struct error *err)
{
    side->has_profile = true;
    return adhocprofile_read(bytes, &side->profile, err);
}

static int upload(struct visit *visit, struct error *err)
{
    struct slice bytes = visit->exchange->request.body, name = urlquery_get(&visit->url, "name");
    struct json json;

    if (bytes.len == 0)
        return error_set(err, ERR_INVALID, "the body is empty; it should be a profile");
    if (read_profile(&visit->side, bytes, err) < 0 ||
        adhocfiles_put(visit->files, visit->tenant, name.len > 0 ? name : SLICE("profile"), bytes,
                       visit->exchange->request.received_ns, &visit->arena, &visit->side.file, err) < 0)
        return -1;
    json_init(&json, &visit->out, JSON_COMPACT);
    json_object_begin(&json);
    put_file(&json, &visit->side.file);
    put_types(&json, visit);
    json_object_end(&json);
    json_done(&json);
    give(visit, 201, "application/json");
    return 0;
}

static int list(struct visit *visit, struct error *err)
{
    struct adhocfiles_list found;
    struct json json;

    if (adhocfiles_list(visit->files, visit->tenant, visit->exchange->request.received_ns, &visit->arena, &found, err) <
        0)
        return -1;
    json_init(&json, &visit->out, JSON_COMPACT);
    json_object_begin(&json);
    json_key(&json, "profiles");
    json_array_begin(&json);
    for (uint32_t i = 0; i < found.n; i++) {
        json_object_begin(&json);
        put_file(&json, &found.items[i]);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_done(&json);
    give(visit, 200, "application/json");
    return 0;
}

static struct slice id_of(const struct visit *visit)
{
    return slice_sub(visit->exchange->request.path, sizeof(ADHOC_PREFIX) - 1, SIZE_MAX);
}

static int open_side(struct visit *visit, struct side *side, struct slice id, struct slice type, struct error *err)
{
    if (adhocfiles_read(visit->files, visit->tenant, id, visit->exchange->request.received_ns, &visit->arena,
                        &side->file, &side->bytes, err) < 0 ||
        read_profile(side, buffer_slice(&side->bytes), err) < 0)
        return -1;
    return adhocprofile_choose(&side->profile, type, err);
}

static int look(struct visit *visit, struct error *err)
{
    struct slice against = urlquery_get(&visit->url, "against");
    const struct adhocprofile *profile = &visit->side.profile;

    if (open_side(visit, &visit->side, id_of(visit), urlquery_get(&visit->url, "type"), err) < 0)
        return -1;
    if (against.len == 0)
        return show(visit, err);
    if (open_side(visit, &visit->other, against, adhocprofile_type_name(profile, profile->type), err) < 0)
        return error_wrap(err, "against");
    return show_both(visit, err);
}

static int forget(struct visit *visit, struct error *err)
{
    if (adhocfiles_remove(visit->files, visit->tenant, id_of(visit), &visit->arena, err) < 0)
        return -1;
    exchange_answer(visit->exchange, 204, NULL, SLICE(""));
    return 0;
}

static void side_done(struct side *side)
{
    if (side->has_profile)
        adhocprofile_done(&side->profile);
    buffer_done(&side->bytes);
}

static void handle(struct exchange *exchange, int (*make)(struct visit *visit, struct error *err))
{
    const struct answer *answer = exchange->context;
    struct visit visit = { .exchange = exchange, .files = answer->adhocfiles };
    struct error err;

    if (!answer_tenant(exchange, answer->is_multi_tenant, &visit.tenant))
        return;
    arena_init(&visit.arena, ADHOC_ARENA_BYTES);
    buffer_init(&visit.out, 0);
    buffer_init(&visit.side.bytes, 0);
    buffer_init(&visit.other.bytes, 0);
    if (urlquery_parse(exchange->request.query, &visit.arena, &visit.url, &err) < 0 || make(&visit, &err) < 0)
        exchange_fail(exchange, &err);
    side_done(&visit.side);
    side_done(&visit.other);
    buffer_done(&visit.out);
    arena_done(&visit.arena);
}

void adhoc_upload(struct exchange *exchange)
{
    handle(exchange, upload);
}

void adhoc_list(struct exchange *exchange)
{
    handle(exchange, list);
}

void adhoc_look(struct exchange *exchange)
{
    handle(exchange, look);
}

void adhoc_forget(struct exchange *exchange)
{
    handle(exchange, forget);
}
