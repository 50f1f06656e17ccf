// SPDX-License-Identifier: Apache-2.0
#include "answer/renderquery.h"

#include "base/clock.h"
#include "base/timetext.h"

#define RANGE_NS   (3600 * CLOCK_NS_PER_SECOND) /* unless told otherwise */
#define QUOTED_MAX 40                           /* bytes of a time shown in an error */

/* --- the range --- */

static int read_time(const struct renderquery_request *request, const char *name, int64_t *time_ns, struct error *err)
{
    struct slice text = urlquery_get(request->url, name);
    int64_t given_ns;

    if (text.len == 0)
        return 0;
    if (timetext_parse(text, request->now_ns, &given_ns, err) < 0)
        return error_wrap(err, "%s", name);
    if (given_ns <= 0)
        return error_set(err, ERR_INVALID, "%s: '%.*s' is not after 1970; leave it out, or give a time like now-1h",
                         name, SLICE_ARG(slice_sub(text, 0, QUOTED_MAX)));
    *time_ns = given_ns;
    return 0;
}

static int read_range(const struct renderquery_request *request, const struct renderquery_names *names,
                      struct renderquery_range *ret_range, struct error *err)
{
    struct renderquery_range range = { .until_ns = request->now_ns };
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    if (read_time(request, names->until, &range.until_ns, err) < 0)
        return -1;
    range.from_ns = MAX(range.until_ns - RANGE_NS, 1);
    if (read_time(request, names->from, &range.from_ns, err) < 0)
        return -1;
    if (range.from_ns > range.until_ns)
        return error_set(err, ERR_INVALID, "the range from %s until %s ends before it begins; exchange %s and %s",
                         clock_format(range.from_ns, CLOCK_ZONE_UTC, 3, from),
                         clock_format(range.until_ns, CLOCK_ZONE_UTC, 3, until), names->from, names->until);
    *ret_range = range;
    return 0;
}

/* Everything but the query itself. */
static int begin(const struct renderquery_request *request, const struct renderquery_names *names,
                 struct renderquery *ret_query, struct error *err)
{
    struct renderquery result = { .query = *request->base };

    if (read_range(request, names, &result.range, err) < 0)
        return -1;
    result.query.sums_levels = true;
    result.query.from_ns = result.range.from_ns;
    result.query.until_ns = result.range.until_ns == INT64_MAX ? INT64_MAX : result.range.until_ns + 1;
    *ret_query = result;
    return 0;
}

/* --- the query --- */

static int resolve_in(const struct renderquery_request *request, const struct querytext *text,
                      const struct store_query *where, struct querytext_resolved *ret_resolved, struct error *err)
{
    struct querycatalog catalog;

    if (querycatalog_load(request->answer->store, where, request->arena, &catalog, err) < 0)
        return -1;
    return querytext_resolve(text, SLICE(""), &catalog, request->arena, ret_resolved, err);
}

/* R2; a full type needs no catalog. */
static int resolve(const struct renderquery_request *request, const struct query *query, const struct querytext *text,
                   struct querytext_resolved *ret_resolved, struct error *err)
{
    struct store_query where = { .tenant = query->tenant, .from_ns = query->from_ns, .until_ns = query->until_ns };
    struct querycatalog nothing = { 0 };

    if (text->profile_type.len > 0)
        return querytext_resolve(text, SLICE(""), &nothing, request->arena, ret_resolved, err);
    if (resolve_in(request, text, &where, ret_resolved, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND)
        return -1;
    where.from_ns = 0;
    where.until_ns = INT64_MAX;
    return resolve_in(request, text, &where, ret_resolved, err);
}

static bool names_type(const struct querytext *text)
{
    return text->profile_type.len > 0 || text->name.len > 0 || selector_has_type_matchers(text->selector);
}

static int find_meaning(const struct renderquery_request *request, struct slice given, struct renderquery *query,
                        struct error *err)
{
    AUTO(querytext_done) struct querytext text = { 0 };

    if (given.len == 0)
        return error_set(
            err, ERR_INVALID,
            "missing; give a profile type and labels, like "
            "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}, or a service, like api.cpu");
    if (querytext_parse(given, &text, err) < 0)
        return -1;
    if (!names_type(&text))
        return error_set(err, ERR_INVALID,
                         "no profile type is named; put one in front of the braces, like "
                         "process_cpu:cpu:nanoseconds:cpu:nanoseconds{...}, or a service, like api.cpu{...}");
    return resolve(request, &query->query, &text, &query->resolved, err);
}

static int find_labels(const struct renderquery_request *request, struct slice given, struct renderquery *query,
                       struct error *err)
{
    AUTO(querytext_done) struct querytext text = { 0 };

    if (given.len == 0)
        return 0;
    if (querytext_parse(given, &text, err) < 0)
        return -1;
    if (names_type(&text))
        return resolve(request, &query->query, &text, &query->resolved, err);
    query->resolved = (struct querytext_resolved){ .selector = TAKE(text.selector), .note = "" };
    return 0;
}

static int read_with(const struct renderquery_request *request, const struct renderquery_names *names,
                     int (*find)(const struct renderquery_request *request, struct slice given,
                                 struct renderquery *query, struct error *err),
                     struct renderquery *ret_query, struct error *err)
{
    struct renderquery result;

    if (begin(request, names, &result, err) < 0)
        return -1;
    if (find(request, slice_trim(urlquery_get(request->url, names->query)), &result, err) < 0)
        return error_wrap(err, "%s", names->query);
    result.query.type = result.resolved.profile_type;
    result.query.selector = result.resolved.selector;
    *ret_query = result;
    return 0;
}

int renderquery_read(const struct renderquery_request *request, const struct renderquery_names *names,
                     struct renderquery *ret_query, struct error *err)
{
    return read_with(request, names, find_meaning, ret_query, err);
}

int renderquery_read_labels(const struct renderquery_request *request, const struct renderquery_names *names,
                            struct renderquery *ret_query, struct error *err)
{
    return read_with(request, names, find_labels, ret_query, err);
}

void renderquery_done(struct renderquery *query)
{
    querytext_resolved_done(&query->resolved);
    *query = (struct renderquery){ 0 };
}

void renderquery_type_parts(struct slice profile_type, struct slice *ret_type, struct slice *ret_unit)
{
    struct slice rest = profile_type, name;

    *ret_type = *ret_unit = SLICE("");
    if (slice_next_part(&rest, ':', &name) && slice_next_part(&rest, ':', ret_type))
        IGNORE(!slice_next_part(&rest, ':', ret_unit), "a full type has five parts");
}
