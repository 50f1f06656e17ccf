// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapetarget.h"

#include "base/clock.h"

#include <inttypes.h>

#define IDENTITY_SEED 0x73637261u
#define PARAM_PREFIX  "__param_"
#define SHOWN         64 /* bytes of a text in a message */

/* --- the labels before relabelling --- */

static int put_params(struct scrapetarget_maker *maker, const struct scrapeconfig_job *job, struct relabel_set *set,
                      struct error *err)
{
    for (const struct configtree *param = job->params ? job->params->first : NULL; param; param = param->next) {
        char *name;

        if (!param->first)
            continue;
        name = arena_printf(maker->arena, err, PARAM_PREFIX "%.*s", SLICE_ARG(param->key));
        if (!name || relabel_put(set, slice_from(name), param->first->text, err) < 0)
            return -1;
    }
    return 0;
}

static int put_seconds(struct scrapetarget_maker *maker, struct relabel_set *set, const char *name, int64_t ns,
                       struct error *err)
{
    char *text = arena_printf(maker->arena, err, "%" PRId64 "ms", ns / 1000000);

    return text ? relabel_put(set, slice_from(name), slice_from(text), err) : -1;
}

static int start_labels(struct scrapetarget_maker *maker, const struct scrapetarget_plan *plan,
                        const struct scrapeconfig_group *group, struct relabel_set *set, struct error *err)
{
    const struct scrapeconfig_job *job = plan->job;

    set->n = 0;
    if (relabel_put(set, SLICE("job"), job->name, err) < 0 ||
        relabel_put(set, SLICE("__scheme__"), job->scheme, err) < 0 ||
        relabel_put(set, SLICE("__name__"), plan->kind->name, err) < 0 ||
        relabel_put(set, SLICE("__profile_path__"), plan->kind->path, err) < 0 ||
        put_seconds(maker, set, "__scrape_interval__", job->interval_ns, err) < 0 ||
        put_seconds(maker, set, "__scrape_timeout__", job->timeout_ns, err) < 0 || put_params(maker, job, set, err) < 0)
        return -1;
    for (const struct configtree *label = group->labels ? group->labels->first : NULL; label; label = label->next)
        if (relabel_put(set, label->key, label->text, err) < 0)
            return -1;
    return relabel_put(set, SLICE("__address__"), plan->address, err);
}

/* --- the URL --- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c) != NULL;
}

static void append_escaped(struct buffer *url, struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] && is_plain(text.ptr[i]))
            buffer_append_byte(url, text.ptr[i]);
        else
            buffer_printf(url, "%%%02X", (unsigned char)text.ptr[i]);
}

static void append_param(struct buffer *url, bool *is_first, struct slice name, struct slice value)
{
    buffer_append_byte(url, *is_first ? '?' : '&');
    *is_first = false;
    append_escaped(url, name);
    buffer_append_byte(url, '=');
    append_escaped(url, value);
}

/* Relabelling may have changed the first value of a parameter, or made new ones; later values are those of the job. */
static void append_params(struct buffer *url, const struct scrapetarget_plan *plan, const struct relabel_set *set)
{
    const struct configtree *params = plan->job->params;
    bool is_first = true;

    for (size_t i = 0; i < set->n; i++) {
        struct slice name = set->items[i].name;

        if (slice_starts_with(name, SLICE(PARAM_PREFIX)))
            append_param(url, &is_first, slice_sub(name, sizeof(PARAM_PREFIX) - 1, name.len), set->items[i].value);
    }
    for (const struct configtree *param = params ? params->first : NULL; param; param = param->next)
        for (const struct configtree *value = param->first ? param->first->next : NULL; value; value = value->next)
            append_param(url, &is_first, param->key, value->text);
    if (plan->kind->seconds > 0)
        buffer_printf(url, "%cseconds=%" PRIu64, is_first ? '?' : '&', plan->kind->seconds);
}

/* Whether nothing in it could end its part of a URL. */
static bool is_address(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!text.ptr[i] || (!is_plain(text.ptr[i]) && !strchr(":[]%", text.ptr[i])))
            return false;
    return text.len > 0;
}

static bool is_path(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f || strchr("?#", text.ptr[i]))
            return false;
    return text.len > 0 && text.ptr[0] == '/';
}

static int make_url(const struct scrapetarget_plan *plan, const struct relabel_set *set, struct buffer *url,
                    struct error *err)
{
    struct slice address = relabel_get(set, SLICE("__address__")), scheme = relabel_get(set, SLICE("__scheme__"));
    struct slice path = relabel_get(set, SLICE("__profile_path__"));

    if (!is_address(address))
        return error_set(err, ERR_INVALID, "'%.*s' is no address; __address__ must be host:port",
                         SLICE_ARG(slice_sub(address, 0, SHOWN)));
    if (!slice_is(scheme, "http") && !slice_is(scheme, "https"))
        return error_set(err, ERR_INVALID, "'%.*s' is no scheme; __scheme__ must be http or https",
                         SLICE_ARG(slice_sub(scheme, 0, SHOWN)));
    if (!is_path(path))
        return error_set(err, ERR_INVALID, "'%.*s' is no path; __profile_path__ must begin with '/'",
                         SLICE_ARG(slice_sub(path, 0, SHOWN)));
    buffer_printf(url, "%.*s://%.*s%.*s", SLICE_ARG(scheme), SLICE_ARG(address), SLICE_ARG(path));
    append_params(url, plan, set);
    return buffer_check(url, err);
}

/* --- the labels behind relabelling --- */

/* A label as a line; a value of several lines becomes one. */
static void append_line(struct buffer *lines, struct slice name, struct slice value)
{
    if (lines->len > 0)
        buffer_append_byte(lines, '\n');
    buffer_append_slice(lines, name);
    buffer_append_byte(lines, '=');
    for (size_t i = 0; i < value.len; i++)
        buffer_append_byte(lines, value.ptr[i] == '\n' ? ' ' : value.ptr[i]);
}

static void make_lines(const struct scrapetarget_plan *plan, const struct relabel_set *set, struct buffer *lines)
{
    struct slice name = relabel_get(set, SLICE("__name__"));

    append_line(lines, SLICE("__name__"), name.len > 0 ? name : plan->kind->name);
    if (plan->kind->window != SCRAPECONFIG_SINCE_START)
        append_line(lines, SLICE("__delta__"), SLICE("false"));
    buffer_printf(lines, "\n__interval_ns__=%" PRId64, plan->job->interval_ns);
    for (size_t i = 0; i < set->n; i++)
        if (!slice_starts_with(set->items[i].name, SLICE("__")))
            append_line(lines, set->items[i].name, set->items[i].value);
}

static int default_label(struct relabel_set *set, const char *name, struct slice value, struct error *err)
{
    if (relabel_get(set, slice_from(name)).len > 0)
        return 0;
    return relabel_put(set, slice_from(name), value, err);
}

/* --- what is a target of its own --- */

static struct hash128 with_text(struct hash128 hash, struct slice text)
{
    struct hash128 own = hash_bytes(text, IDENTITY_SEED);

    return hash_fold(hash, own.a, own.b);
}

static struct hash128 identity_of(const struct scrapetarget_plan *plan)
{
    const struct scrapeconfig_http *http = &plan->job->http;
    const struct slice texts[] = {
        plan->job->name,          plan->kind->key,     plan->lines,       http->username,
        http->password,           http->password_file, http->credentials, http->credentials_file,
        http->authorization_type, http->ca_file,       http->cert_file,   http->key_file,
        http->server_name,        http->proxy_url,
    };
    struct hash128 hash = hash_bytes(plan->url, IDENTITY_SEED);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        hash = with_text(hash, texts[i]);
    hash = hash_fold(hash, (uint64_t)plan->job->interval_ns, (uint64_t)plan->job->timeout_ns);
    return hash_fold(hash, http->skips_verification, http->follows_redirects);
}

/* --- plans --- */

static int copy_text(struct arena *arena, struct slice text, struct slice *ret_copy, struct error *err)
{
    struct slice copy = arena_copy(arena, text, err);

    if (!copy.ptr)
        return -1;
    *ret_copy = copy;
    return 0;
}

/* Fills the plan from what relabelling left. */
static int finish_plan(struct scrapetarget_maker *maker, struct scrapetarget_plan *plan, struct relabel_set *set,
                       struct error *err)
{
    AUTO(buffer_done) struct buffer url;
    AUTO(buffer_done) struct buffer lines;

    buffer_init(&url, SCRAPETARGET_URL_MAX);
    buffer_init(&lines, RELABEL_VALUE_MAX);
    plan->address = relabel_get(set, SLICE("__address__"));
    if (make_url(plan, set, &url, err) < 0 || default_label(set, "instance", plan->address, err) < 0 ||
        default_label(set, "service_name", plan->job->name, err) < 0)
        return -1;
    make_lines(plan, set, &lines);
    if (buffer_check(&lines, err) < 0)
        return error_wrap(err, "labels");
    plan->instance = relabel_get(set, SLICE("instance"));
    if (copy_text(maker->arena, buffer_slice(&url), &plan->url, err) < 0 ||
        copy_text(maker->arena, buffer_slice(&lines), &plan->lines, err) < 0)
        return -1;
    plan->identity = identity_of(plan);
    return maker->take(maker->context, plan, err);
}

static int plan_one(struct scrapetarget_maker *maker, struct scrapetarget_plan *plan,
                    const struct scrapeconfig_group *group, struct error *err)
{
    struct relabel_set set;
    bool is_kept;

    arena_reset(maker->arena);
    if (start_labels(maker, plan, group, &set, err) < 0 ||
        relabel_apply(plan->job->rules, plan->job->n_rules, maker->scratch, maker->arena, &set, &is_kept, err) < 0)
        return -1;
    if (!is_kept) {
        maker->n_dropped++;
        return 0;
    }
    return finish_plan(maker, plan, &set, err);
}

/* What is wrong with one target does not stop the others; that memory ran out does. */
static int refuse_plan(struct scrapetarget_maker *maker, const struct scrapeconfig_job *job, struct slice target,
                       struct error *err)
{
    error_wrap(err, "job '%.*s', target '%.*s'", SLICE_ARG(slice_sub(job->name, 0, SHOWN)),
               SLICE_ARG(slice_sub(target, 0, SHOWN)));
    if (err->code == ERR_MEMORY)
        return -1;
    maker->n_refused++;
    maker->refusal = *err;
    return 0;
}

int scrapetarget_plan(struct scrapetarget_maker *maker, const struct scrapeconfig_job *job,
                      const struct scrapeconfig_group *group, struct error *err)
{
    const struct configtree *targets = group->targets;

    for (const struct configtree *target = targets ? targets->first : NULL; target; target = target->next) {
        for (size_t i = 0; i < job->n_kinds; i++) {
            struct scrapetarget_plan plan = { .job = job, .kind = &job->kinds[i], .address = target->text };

            if (plan_one(maker, &plan, group, err) < 0 && refuse_plan(maker, job, target->text, err) < 0)
                return -1;
        }
    }
    return 0;
}
