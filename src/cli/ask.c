// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/storagesignals.h"
#include "query/idtext.h"

const struct option_spec ask_options[ASK_OPTIONS_N] = {
    { "tenant", OPTION_TEXT, FIELD(ask_config, tenant), STORE_TENANT_DEFAULT, STORAGE_TENANT_HELP },
    { "query-memory", OPTION_SIZE, FIELD(ask_config, query_bytes), "256MiB",
      "What the answer to a query may take of memory while it is made.", .min = "1MiB", .is_of_machine = true },
    { "timeout", OPTION_DURATION, FIELD(ask_config, timeout_ns), "30s", "Give up after this time; 0 never does." },
    { "pyroscope-sums", OPTION_BOOL, FIELD(ask_config, sums_levels), "false",
      "Add up levels like memory in use over time, as Pyroscope does, instead of averaging them." },
};

const struct option_spec ask_selection_options[ASK_SELECTION_OPTIONS_N] = {
    { "type", OPTION_TEXT, FIELD(ask_selection, type), NULL,
      "Profile type, for queries that do not name it: a full one as 'hearth types' lists them, or a short one like cpu "
      "or alloc_space.",
      .value_name = "TYPE" },
    /* No variable and no key: --from is something else where files are read. */
    { "from", OPTION_TEXT, FIELD(ask_selection, from), NULL,
      "Profiles whose window began at this time or later; an hour before --until unless given. " STORAGE_TIME_HELP,
      .value_name = "TIME", .is_flag_only = true },
    { "until", OPTION_TEXT, FIELD(ask_selection, until), NULL,
      "Profiles whose window began before this time; now unless given. Written as --from.", .value_name = "TIME",
      .is_flag_only = true },
    { "span-id", OPTION_LIST, FIELD(ask_selection, spans), NULL, "Samples of this span alone, 16 hexadecimal digits.",
      .value_name = "HEX", .is_flag_only = true },
    { "trace-id", OPTION_LIST, FIELD(ask_selection, traces), NULL,
      "Samples of this trace alone, 32 hexadecimal digits.", .value_name = "HEX", .is_flag_only = true },
    { "profile-id", OPTION_LIST, FIELD(ask_selection, profiles), NULL,
      "This profile alone: the id that it came with or that 'hearth timeseries --exemplars' shows, a UUID.",
      .value_name = "UUID", .is_flag_only = true },
};

/* --- opening --- */

int ask_open(struct ask *ask, struct command_context *context, const struct ask_config *config, struct error *err)
{
    const struct command_served *served = context->world->served;
    struct engine_options options = { .query_bytes = config->query_bytes };

    *ask = (struct ask){ .context = context, .config = config, .now_ns = clock_now_ns() };
    ask->patience = command_patience(context, config->timeout_ns);
    if (storage_check_tenant(config->tenant, err) < 0)
        return -1;
    if (served) {
        ask->store = served->store;
        ask->engine = served->engine;
        ask->is_lent = true;
        return 0;
    }
    if (storage_open_to_read(&config->store, &ask->store, err) < 0)
        return -1;
    options.store = ask->store;
    return engine_new(&options, &ask->engine, err);
}

void ask_close(struct ask *ask)
{
    if (!ask->is_lent) {
        engine_free(ask->engine);
        store_close(ask->store);
    }
    *ask = (struct ask){ 0 };
}

static struct telemetry_limits limits_of(const struct command_context *context, const struct ask_config *config)
{
    const struct command_served *served = context->world->served;

    return (struct telemetry_limits){ .timeout_ns = config->timeout_ns,
                                      .query_bytes = served ? served->query_bytes : config->query_bytes };
}

int ask_use_traces(struct command_context *context, const struct ask_config *config,
                   struct storagesignals_traces *ret_use, struct error *err)
{
    return storagesignals_use_traces(context, &config->store, limits_of(context, config), ret_use, err);
}

int ask_use_metrics(struct command_context *context, const struct ask_config *config,
                    struct storagesignals_metrics *ret_use, struct error *err)
{
    return storagesignals_use_metrics(context, &config->store, limits_of(context, config), ret_use, err);
}

/* --- what there is --- */

/* The services of a range with their types. */
static int load_catalog(const struct ask *ask, int64_t from_ns, int64_t until_ns, struct querycatalog *ret_catalog,
                        struct error *err)
{
    struct store_query everything = { .tenant = slice_from(ask->config->tenant),
                                      .from_ns = from_ns,
                                      .until_ns = until_ns };

    return querycatalog_load(ask->store, &everything, ask->context->arena, ret_catalog, err);
}

/* --- questions --- */

/* A name that the range does not know may be that of a service that was quiet then: the answer is empty, and says when
 * there is something. */
static int find_meaning(const struct ask *ask, const struct querytext *text, struct slice type, int64_t from_ns,
                        int64_t until_ns, struct querytext_resolved *ret_resolved, struct error *err)
{
    struct querycatalog catalog;

    if (load_catalog(ask, from_ns, until_ns, &catalog, err) < 0)
        return -1;
    if (querytext_resolve(text, type, &catalog, ask->context->arena, ret_resolved, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND || load_catalog(ask, 0, INT64_MAX, &catalog, err) < 0)
        return -1;
    if (!catalog.n_services)
        return error_set(err, ERR_NOT_FOUND,
                         "tenant %s has no profiles at all; 'hearth import' writes some, and --tenant names another",
                         ask->config->tenant);
    return querytext_resolve(text, type, &catalog, ask->context->arena, ret_resolved, err);
}

static int copy_text(const struct ask *ask, const struct selector *selector, struct slice *ret_text, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    selector_text(selector, &text);
    if (buffer_check(&text, err) < 0)
        return -1;
    *ret_text = arena_copy(ask->context->arena, buffer_slice(&text), err);
    return ret_text->ptr ? 0 : -1;
}

int ask_resolve(const struct ask *ask, const char *given, const char *type, int64_t from_ns, int64_t until_ns,
                struct ask_question *ret_question, struct error *err)
{
    struct ask_question question = { .query = { .tenant = slice_from(ask->config->tenant),
                                                .from_ns = from_ns,
                                                .until_ns = until_ns,
                                                .sums_levels = ask->config->sums_levels,
                                                .deadline_mono_ns = ask->patience.deadline_mono_ns } };
    const struct command_served *served = ask->context->world->served;
    struct querytext text;
    int result = querytext_parse(slice_from(given), &text, err);

    if (result == 0) {
        result = find_meaning(ask, &text, slice_from(type), from_ns, until_ns, &question.resolved, err);
        querytext_done(&text);
    }
    if (result < 0) {
        if (err->code == ERR_INVALID)
            err->code = ERR_USAGE;
        return -1;
    }
    if (copy_text(ask, question.resolved.selector, &question.text, err) < 0) {
        ask_question_done(&question);
        return -1;
    }
    if (served)
        question.query.is_cancelled = served->is_cancelled;
    question.query.type = question.resolved.profile_type;
    question.query.selector = question.resolved.selector;
    *ret_question = question;
    return 0;
}

void ask_tell_choice(const struct ask *ask, const struct ask_question *question)
{
    if (question->resolved.note[0])
        command_note(ask->context, "%s", question->resolved.note);
}

void ask_question_done(struct ask_question *question)
{
    querytext_resolved_done(&question->resolved);
    askspans_done(&question->spans);
}

/* The ids of one option, `id_bytes` each. */
static int read_ids(struct arena *arena, const char *option, const struct option_list *list,
                    int (*parse)(struct slice text, uint8_t *ret_id, struct error *err), size_t id_bytes,
                    uint8_t **ret_ids, struct error *err)
{
    uint8_t *ids = arena_alloc(arena, list->n * id_bytes, err);

    if (!ids)
        return -1;
    for (size_t i = 0; i < list->n; i++)
        if (parse(slice_from(list->items[i]), ids + i * id_bytes, err) < 0) {
            err->code = ERR_USAGE;
            return error_wrap(err, "--%s", option);
        }
    *ret_ids = ids;
    return 0;
}

/* NULL in `*ret_ids` if none are given. */
static int read_all_ids(const struct ask_selection *selection, struct arena *arena, const struct store_ids **ret_ids,
                        struct error *err)
{
    struct store_ids *ids = ARENA_NEW(arena, struct store_ids, err);
    uint8_t *spans = NULL, *traces = NULL, *profiles = NULL;

    if (!ids || read_ids(arena, "span-id", &selection->spans, idtext_parse_span, IDTEXT_SPAN_BYTES, &spans, err) < 0 ||
        read_ids(arena, "trace-id", &selection->traces, idtext_parse_trace, IDTEXT_TRACE_BYTES, &traces, err) < 0 ||
        read_ids(arena, "profile-id", &selection->profiles, idtext_parse_profile, IDTEXT_PROFILE_BYTES, &profiles,
                 err) < 0)
        return -1;
    *ids = (struct store_ids){ .spans = (const uint8_t(*)[IDTEXT_SPAN_BYTES])spans,
                               .traces = (const uint8_t(*)[IDTEXT_TRACE_BYTES])traces,
                               .profiles = (const uint8_t(*)[IDTEXT_PROFILE_BYTES])profiles,
                               .n_spans = (uint32_t)selection->spans.n,
                               .n_traces = (uint32_t)selection->traces.n,
                               .n_profiles = (uint32_t)selection->profiles.n };
    *ret_ids = ids->n_spans || ids->n_traces || ids->n_profiles ? ids : NULL;
    return 0;
}

int ask_begin(struct ask *ask, struct ask_question *question, struct command_context *context,
              const struct ask_config *config, const struct ask_selection *selection, struct error *err)
{
    const struct store_ids *ids;
    int64_t from_ns, until_ns;

    if (read_all_ids(selection, context->arena, &ids, err) < 0 || ask_open(ask, context, config, err) < 0 ||
        storage_parse_range(selection->from, selection->until, ask->now_ns, &from_ns, &until_ns, err) < 0 ||
        ask_resolve(ask, context->arguments.items[0], selection->type, from_ns, until_ns, question, err) < 0)
        return -1;
    ask_tell_choice(ask, question);
    question->query.ids = ids;
    return askspans_narrow(ask, &selection->by_span, question, err);
}

/* --- labels to group by --- */

int ask_split_names(const struct option_list *by, struct arena *arena, struct slice **ret_names, uint32_t *ret_n,
                    struct error *err)
{
    size_t most = by->n;
    struct slice *names;
    uint32_t n = 0;

    for (size_t i = 0; i < by->n; i++)
        for (const char *at = by->items[i]; (at = strchr(at, ',')); at++)
            most++;
    names = ARENA_ARRAY(arena, struct slice, most, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < by->n; i++) {
        struct slice rest = slice_from(by->items[i]), part;

        while (slice_next_part(&rest, ',', &part)) {
            names[n] = slice_trim(part);
            if (names[n++].len == 0)
                return error_set(err, ERR_USAGE,
                                 "--by: '%.64s' has an empty name in it; write it like service_name,version",
                                 by->items[i]);
        }
    }
    *ret_names = names;
    *ret_n = n;
    return 0;
}

/* --- points --- */

#define POINTS_USUAL 60 /* that a range is cut into, about */

int64_t ask_usual_step(int64_t range_ns)
{
    static const int64_t seconds[] = { 1,   2,   5,    10,   15,   30,    60,    120,  300,
                                       600, 900, 1800, 3600, 7200, 21600, 43200, 86400 };

    for (size_t i = 0; i < ARRAY_LEN(seconds); i++)
        if (range_ns / POINTS_USUAL <= seconds[i] * CLOCK_NS_PER_SECOND)
            return seconds[i] * CLOCK_NS_PER_SECOND;
    return range_ns / POINTS_USUAL;
}

/* --- answers --- */

int ask_failed(const struct ask *ask, struct error *err)
{
    return err->code == ERR_TIMEOUT ? command_too_slow(&ask->patience, err) : -1;
}

void ask_count(const struct command_context *context, const struct query_facts *facts)
{
    const struct command_served *served = context->world->served;
    struct query_facts *all = served ? served->facts : NULL;

    if (!all)
        return;
    all->reads.n_hours += facts->reads.n_hours;
    all->reads.n_slots += facts->reads.n_slots;
    all->reads.n_series += facts->reads.n_series;
    all->reads.n_known += facts->reads.n_known;
    all->reads.n_rows += facts->reads.n_rows;
    all->reads.n_parts += facts->reads.n_parts;
    all->reads.n_spans += facts->reads.n_spans;
    all->reads.n_bytes += facts->reads.n_bytes;
    all->n_rows += facts->n_rows;
    all->read_ns += facts->read_ns;
    all->finish_ns += facts->finish_ns;
}

int ask_filter(const struct ask *ask, const struct view_filter *filter, struct ask_question *question,
               struct error *err)
{
    return view_filter_spec(filter, ask->context->arena, &question->query.filter, err);
}

int ask_filter_tags(const struct ask *ask, const struct view_filter *filter, struct ask_question *question,
                    struct view_filter *ret_rest, struct error *err)
{
    struct view_filter tags = { .tag_focus = filter->tag_focus, .tag_ignore = filter->tag_ignore };

    if (ask_filter(ask, &tags, question, err) < 0)
        return -1;
    *ret_rest = *filter;
    ret_rest->tag_focus = ret_rest->tag_ignore = NULL;
    return 0;
}

int ask_profile(const struct ask *ask, const struct ask_question *question, struct batch *ret_batch,
                struct query_facts *ret_facts, struct error *err)
{
    const struct command_served *served = ask->context->world->served;
    struct profile_limits limits = profile_default_limits;

    limits.max_memory_bytes = served ? served->query_bytes : ask->config->query_bytes;
    batch_init(ret_batch, &limits);
    if (engine_profile(ask->engine, &question->query, ret_batch, ret_facts, err) < 0) {
        batch_done(ret_batch);
        return ask_failed(ask, err);
    }
    ask_count(ask->context, ret_facts);
    ret_batch->profiles[0].default_type = 0;
    ret_batch->profiles[0].duration_ns = ret_facts->duration_ns;
    return 0;
}

struct view ask_view(const struct ask_question *question, const struct query_facts *facts, int64_t total, bool is_local)
{
    const struct filter_spec *filter = &question->query.filter;
    struct view view = { .is_local = is_local,
                         .is_filtered = filter->focus.len || filter->ignore.len || filter->hide.len ||
                                        filter->show.len || filter->show_from.len,
                         .total = total,
                         .whole = facts->whole,
                         .whole_size = facts->whole_size,
                         .n_profiles = facts->n_rows,
                         .duration_ns = facts->duration_ns,
                         .query = ask_view_query(question, facts) };

    ask_type_parts(question, &view.type_name, &view.unit);
    return view;
}

struct view_query ask_view_query(const struct ask_question *question, const struct query_facts *facts)
{
    return (struct view_query){ .text = question->text,
                                .from_ns = question->query.from_ns,
                                .until_ns = question->query.until_ns,
                                .is_averaged = facts->is_averaged };
}

void ask_type_parts(const struct ask_question *question, struct slice *ret_type, struct slice *ret_unit)
{
    struct slice rest = question->resolved.profile_type, name;

    *ret_type = *ret_unit = (struct slice){ 0 };
    if (slice_next_part(&rest, ':', &name) && slice_next_part(&rest, ':', ret_type))
        IGNORE(!slice_next_part(&rest, ':', ret_unit), "a full type has five parts");
}

/* --- nothing --- */

/* When the first and the last row began. */
struct stretch {
    const struct ask *ask;
    int64_t first_ns, last_ns;
};

static int check_deadline(void *context, struct error *err)
{
    const struct ask *ask = context;

    if (command_check_asker(ask->context, err) < 0)
        return -1;
    if (ask->patience.deadline_mono_ns && clock_mono_ns() > ask->patience.deadline_mono_ns)
        return error_set(err, ERR_TIMEOUT, "looking for what there is took too long");
    return 0;
}

static int widen_stretch(void *context, const struct seriesinfo *series, const struct windows *windows,
                         struct error *err)
{
    struct stretch *stretch = context;

    if (check_deadline((void *)stretch->ask, err) < 0)
        return -1;
    if (windows->n_rows > 0) {
        stretch->first_ns = MIN(stretch->first_ns, windows->starts_ns[0]);
        stretch->last_ns = MAX(stretch->last_ns, windows->starts_ns[windows->n_rows - 1]);
    }
    return 0;
}

/* Of all rows that a selector chooses, at any time; first_ns is behind last_ns where there are none. */
static int find_stretch(const struct ask *ask, const struct selector *selector, struct stretch *ret_stretch,
                        struct error *err)
{
    struct stretch stretch = { ask, INT64_MAX, INT64_MIN };
    struct store_query always = { .tenant = slice_from(ask->config->tenant),
                                  .selector = selector,
                                  .until_ns = INT64_MAX,
                                  .check = check_deadline,
                                  .check_context = (void *)ask };
    struct store_reads reads = { 0 };

    if (store_windows(ask->store, &always, &(struct store_window_sink){ &stretch, widen_stretch }, &reads, err) < 0)
        return -1;
    *ret_stretch = stretch;
    return 0;
}

static int tell_what_there_is(const struct ask *ask, struct error *err)
{
    char first[CLOCK_TEXT_BYTES], last[CLOCK_TEXT_BYTES];
    struct querycatalog_service all;
    struct querycatalog catalog;
    struct stretch stretch;

    if (load_catalog(ask, 0, INT64_MAX, &catalog, err) < 0 ||
        querycatalog_join(&catalog, NULL, ask->context->arena, &all, err) < 0 ||
        find_stretch(ask, NULL, &stretch, err) < 0)
        return -1;
    if (stretch.first_ns > stretch.last_ns) {
        command_note(ask->context, "tenant %s has no profiles at all", ask->config->tenant);
        return 0;
    }
    command_note(ask->context, "of services %s; of types there are %s; profiles begin from %s to %s",
                 querycatalog_nearest(&catalog, SLICE("")).text, querycatalog_sample_types(all.types, all.n_types).text,
                 clock_format(stretch.first_ns, CLOCK_ZONE_UTC, 0, first),
                 clock_format(stretch.last_ns, CLOCK_ZONE_UTC, 0, last));
    return 0;
}

/* Nothing begins in the range. */
static void tell_range(const struct ask *ask, const struct ask_question *question)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];

    command_note(ask->context, "no profile of %.*s%s begins from %s until %s", SLICE_ARG(question->text),
                 question->query.ids ? " with these ids" : "",
                 clock_format(question->query.from_ns, CLOCK_ZONE_UTC, 0, from),
                 clock_format(question->query.until_ns, CLOCK_ZONE_UTC, 0, until));
}

static int tell_empty(const struct ask *ask, const struct ask_question *question, struct error *err)
{
    char from[CLOCK_TEXT_BYTES], until[CLOCK_TEXT_BYTES];
    const struct query *query = &question->query;
    struct stretch stretch;

    if (query->ids) {
        tell_range(ask, question);
        if (question->spans.is_own)
            command_note(ask->context,
                         "samples may carry the ids of spans below these: --attribution root counts them, too");
        command_note(ask->context, "a range that is too short may be why: --from and --until widen it");
        return 0;
    }
    if (find_stretch(ask, query->selector, &stretch, err) < 0)
        return -1;
    if ((query->filter.tag_focus.len || query->filter.tag_ignore.len) && stretch.first_ns < query->until_ns &&
        stretch.last_ns >= query->from_ns) {
        command_note(ask->context,
                     "no sample of %.*s passes --tagfocus and --tagignore; without them there may be some",
                     SLICE_ARG(question->text));
        return 0;
    }
    tell_range(ask, question);
    if (stretch.first_ns > stretch.last_ns)
        return tell_what_there_is(ask, err);
    command_note(ask->context, "there are some that begin from %s to %s; ask for that time",
                 clock_format(stretch.first_ns, CLOCK_ZONE_UTC, 0, from),
                 clock_format(stretch.last_ns, CLOCK_ZONE_UTC, 0, until));
    return 0;
}

int ask_tell_empty(const struct ask *ask, const struct ask_question *question, struct error *err)
{
    if (tell_empty(ask, question, err) == 0)
        return 0;
    if (err->code != ERR_TIMEOUT)
        return -1;
    command_note(ask->context, "nothing matches, and looking for what there is took longer than %s %s",
                 ask->patience.is_server_s ? "the server's --query-timeout" : "--timeout",
                 units_human_ns(ask->patience.limit_ns).text);
    return 0;
}
