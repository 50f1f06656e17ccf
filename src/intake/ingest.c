// SPDX-License-Identifier: Apache-2.0
#include "intake/ingest.h"

#include "base/timetext.h"
#include "base/urlquery.h"
#include "intake/batchedit.h"
#include "intake/ingestname.h"
#include "intake/intakework_internal.h"
#include "intake/legacybody.h"
#include "intake/legacytype.h"
#include "intake/multipart.h"
#include "intake/plain.h"
#include "intake/sampletypes.h"
#include "profile/subtract.h"
#include "wire/pprof.h"

#define DEFAULT_RATE_HZ 100
#define MAX_OWN_LABELS  4 /* __name__, service_name, app_name, pyroscope_spy */

enum ingest_form { FORM_PPROF, FORM_JFR, FORM_SPEEDSCOPE, FORM_TRIE, FORM_TREE, FORM_LINES, FORM_GROUPS };

/* The request at hand. */
struct ingest {
    struct intake_worker *worker;
    struct urlquery query;
    struct slice app;
    struct slice spy;
    struct intakework_labels labels;
    struct intakework_delivery delivery;
    struct slice content; /* the body */
    struct multipart form;
};

/* --- what the query says --- */

static struct slice spy_of(const struct ingest *ingest)
{
    struct slice spy = urlquery_get(&ingest->query, "spyName");

    return spy.len ? spy : SLICE("unknown");
}

/* Junk is no time: the profile's own will do. */
static int64_t time_of(const struct ingest *ingest, const char *name)
{
    struct slice text = urlquery_get(&ingest->query, name);
    struct error ignored;
    int64_t time_ns;

    if (text.len == 0 || timetext_parse(text, ingest->worker->upload->received_ns, &time_ns, &ignored) < 0)
        return 0;
    return time_ns;
}

/* Of names with two underscores, __name__ is the application and __session_id__ tells hosts apart; the others are of no
 * use. */
static int read_name(struct ingest *ingest, struct error *err)
{
    struct intake_worker *worker = ingest->worker;
    struct ingestname name;

    if (ingestname_parse(urlquery_get(&ingest->query, "name"), &worker->arena, &name, err) < 0 ||
        intakework_labels_init(worker, name.n_labels + MAX_OWN_LABELS, &ingest->labels, err) < 0)
        return -1;
    ingest->app = name.app;
    for (uint32_t i = 0; i < name.n_labels; i++) {
        const struct series_label *label = &name.labels[i];

        if (slice_is(label->name, SERIES_NAME_LABEL) && label->value.len > 0)
            ingest->app = label->value;
        else if (slice_is(label->name, "__session_id__"))
            ingest->delivery.session = label->value;
        else if (!slice_starts_with(label->name, SLICE("__")))
            intakework_labels_add(&ingest->labels, label->name, label->value);
    }
    return 0;
}

static int read_request(struct ingest *ingest, struct error *err)
{
    if (read_name(ingest, err) < 0)
        return -1;
    ingest->spy = spy_of(ingest);
    ingest->delivery.labels = &ingest->labels;
    ingest->delivery.window = (struct intakewindow){ .from_ns = time_of(ingest, "from"),
                                                     .until_ns = time_of(ingest, "until"),
                                                     .is_time_end = slice_is(ingest->spy, "nodespy") };
    intakework_name_sender(ingest->worker, urlquery_get(&ingest->query, "spyName"));
    return 0;
}

static void add_labels(struct ingest *ingest, struct slice metric)
{
    intakework_labels_add(&ingest->labels, SLICE(SERIES_NAME_LABEL), metric);
    intakework_labels_add(&ingest->labels, SLICE("pyroscope_spy"), ingest->spy);
    if (intakework_labels_find(&ingest->labels, SERIES_SERVICE_LABEL).len == 0)
        intakework_labels_add(&ingest->labels, SLICE(SERIES_SERVICE_LABEL), ingest->app);
}

/* --- pprof --- */

/* What counts from the start of the process, as far as the client says so. */
static void set_temporality(struct profile *profile, const struct sampletypes *types)
{
    for (uint32_t i = 0; i < profile->n_types; i++) {
        const struct sampletype *type = sampletypes_find(types, tables_string(profile->tables, profile->types[i].type));

        if (type && type->is_cumulative && profile->types[i].nature == VALUE_FLOW)
            profile->types[i].temporality = TEMPORALITY_CUMULATIVE;
        else if (profile->types[i].temporality == TEMPORALITY_CUMULATIVE)
            profile->types[i].temporality = TEMPORALITY_DELTA;
    }
}

/* Profilers of scripts told files and functions apart only so. */
static int join_names(struct ingest *ingest, struct batch *batch, struct error *err)
{
    struct tables *t = &batch->tables;
    bool keeps_absolute = slice_is(ingest->spy, "pyspy");
    struct slice *names = ARENA_ARRAY(&batch->arena, struct slice, t->n_functions, err);
    uint32_t first;

    if (!names)
        return -1;
    for (uint32_t i = 0; i < t->n_functions; i++) {
        struct slice name = tables_string(t, t->functions[i].name), file = tables_string(t, t->functions[i].file);
        char *text;

        names[i] = name;
        if (file.len == 0 || (keeps_absolute && file.ptr[0] == '/'))
            continue;
        text = arena_alloc(&batch->arena, file.len + 1 + name.len, err);
        if (!text)
            return -1;
        memcpy(text, file.ptr, file.len);
        text[file.len] = ' ';
        if (name.len > 0)
            memcpy(text + file.len + 1, name.ptr, name.len);
        names[i] = slice_of(text, file.len + 1 + name.len);
    }
    if (batchedit_add_strings(batch, names, t->n_functions, &first, err) < 0)
        return -1;
    for (uint32_t i = 1; i < t->n_functions; i++)
        t->functions[i].name = first + i;
    return 0;
}

/* Old clients of .NET wrote inuse-space. */
static int respell_types(struct batch *batch, struct error *err)
{
    struct profile *profile = &batch->profiles[0];

    for (uint32_t i = 0; i < profile->n_types; i++) {
        struct slice name = tables_string(&batch->tables, profile->types[i].type);
        char *text;

        if (slice_find_byte(name, '-') < 0)
            continue;
        text = arena_alloc(&batch->arena, name.len, err);
        if (!text)
            return -1;
        for (size_t at = 0; at < name.len; at++)
            text[at] = name.ptr[at] == '-' ? '_' : name.ptr[at];
        name.ptr = text;
        if (batchedit_add_strings(batch, &name, 1, &profile->types[i].type, err) < 0)
            return -1;
    }
    return 0;
}

static int fix_up(struct ingest *ingest, struct batch *batch, const struct sampletypes *types, struct error *err)
{
    if ((slice_is(ingest->spy, "pyspy") || slice_is(ingest->spy, "rbspy") || slice_is(ingest->spy, "scripting")) &&
        join_names(ingest, batch, err) < 0)
        return -1;
    if (slice_is(ingest->spy, "dotnetspy") ||
        (slice_is(ingest->spy, "unknown") && sampletypes_find(types, SLICE("inuse-space"))))
        return respell_types(batch, err);
    return 0;
}

static int store_pprof(struct ingest *ingest, struct batch *batch, const struct sampletypes *types, struct error *err)
{
    if (fix_up(ingest, batch, types, err) < 0)
        return -1;
    add_labels(ingest, sampletypes_metric(types, &batch->profiles[0]));
    return intakework_store(ingest->worker, batch, &ingest->delivery, err);
}

/* The profile of a client that sends its predecessor along: what counts is the difference. */
static int subtract_previous(struct ingest *ingest, struct slice previous, struct error *err)
{
    struct intake_worker *worker = ingest->worker;
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    const struct format *format = format_find(SLICE("pprof"));
    struct profile_limits limits = worker->intake->limits;
    struct batch older;
    int result;

    if (unpacker_new(&unpacker, err) < 0)
        return -1;
    limits.max_inflated_bytes = MIN(limits.max_inflated_bytes, worker->inflated_left);
    batch_init(&older, &limits);
    batch_reset(&worker->made);
    result = format_read(previous, format, unpacker, &older, &format, err);
    if (result < 0)
        error_wrap(err, "part prev_profile");
    else
        result = subtract_profiles(&older.profiles[0], &worker->batch.profiles[0], &worker->made, err);
    batch_done(&older);
    return result;
}

static int take_pprof(struct ingest *ingest, struct slice bytes, struct slice previous, struct slice config,
                      struct error *err)
{
    struct intake_worker *worker = ingest->worker;
    struct batch *batch = &worker->batch;
    struct sampletypes types;
    struct slice content;

    if (sampletypes_parse(config, &worker->arena, &types, err) < 0 || intakework_part(worker, bytes, &content, err) < 0)
        return -1;
    if (content.len == 0) {
        intakework_accept(worker, ingest->app, 1, INTAKE_EMPTY);
        return 0;
    }
    if (intakework_decode(worker, content, format_find(SLICE("pprof")), err) < 0)
        return -1;
    set_temporality(&batch->profiles[0], &types);
    if (previous.len > 0) {
        if (subtract_previous(ingest, previous, err) < 0)
            return -1;
        batch = &worker->made;
    }
    return store_pprof(ingest, batch, &types, err);
}

static struct slice part_body(const struct ingest *ingest, const char *name)
{
    const struct multipart_part *part = multipart_find(&ingest->form, name);

    return part ? part->body : SLICE("");
}

static int take_pprof_form(struct ingest *ingest, struct error *err)
{
    return take_pprof(ingest, part_body(ingest, "profile"), part_body(ingest, "prev_profile"),
                      part_body(ingest, "sample_type_config"), err);
}

/* --- text, trie and tree --- */

/* What is no number of at least 0 is the usual rate, as with Pyroscope. */
static int64_t rate_of(const struct ingest *ingest)
{
    int64_t rate_hz;

    if (!slice_to_i64(urlquery_get(&ingest->query, "sampleRate"), &rate_hz) || rate_hz < 0)
        return DEFAULT_RATE_HZ;
    return rate_hz;
}

/* Samples become time where the rate is known. */
static struct legacybody_shape shape_of(const struct ingest *ingest, const struct legacytype *type)
{
    struct legacybody_shape shape = { .type = slice_from(type->type), .unit = slice_from(type->unit), .factor = 1 };
    int64_t rate_hz = rate_of(ingest);

    if (!type->period_type)
        return shape;
    if (rate_hz == 0) {
        shape.type = SLICE("samples");
        shape.unit = SLICE("count");
        return shape;
    }
    shape.period_type = slice_from(type->period_type);
    shape.period = shape.factor = MAX(1000000000 / rate_hz, 1);
    return shape;
}

static int take_legacy(struct ingest *ingest, enum legacybody_form form, struct error *err)
{
    struct intake_worker *worker = ingest->worker;
    const struct legacytype *type;
    struct legacybody_shape shape;

    if (legacytype_find(ingest->app, &type, &ingest->app, err) < 0)
        return -1;
    shape = shape_of(ingest, type);
    batch_reset(&worker->batch);
    if (legacybody_decode(form, ingest->content, &shape, &worker->batch, err) < 0)
        return -1;
    /* Where the service is given, the application is something else. */
    if (intakework_labels_find(&ingest->labels, SERIES_SERVICE_LABEL).len > 0)
        intakework_labels_add(&ingest->labels, SLICE("app_name"), ingest->app);
    add_labels(ingest, slice_from(type->metric));
    ingest->delivery.is_delta = true;
    return intakework_store(worker, &worker->batch, &ingest->delivery, err);
}

/* --- forms --- */

/* By the query, then the Content-Type, then the bytes themselves. */
static enum ingest_form find_form(const struct urlquery *query, struct slice type, struct slice content)
{
    struct slice format = urlquery_get(query, "format");

    if (slice_is(format, "trie") || slice_find(type, SLICE("binary/octet-stream+trie")) >= 0)
        return FORM_TRIE;
    if (slice_is(format, "tree") || slice_find(type, SLICE("binary/octet-stream+tree")) >= 0)
        return FORM_TREE;
    if (slice_is(format, "lines"))
        return FORM_LINES;
    if (slice_is(format, "jfr") || slice_starts_with(content, SLICE("FLR\0")))
        return FORM_JFR;
    if (slice_is(format, "speedscope"))
        return FORM_SPEEDSCOPE;
    if (slice_is(format, "pprof") || multipart_is_form(type) || pprof_recognise(content) > 90)
        return FORM_PPROF;
    return FORM_GROUPS;
}

/* The labels of a name that change whose it is. */
static struct slice service_of(const struct ingestname *name, bool *ret_is_app)
{
    struct slice service = name->app;

    *ret_is_app = true;
    for (uint32_t i = 0; i < name->n_labels; i++) {
        const struct series_label *label = &name->labels[i];

        if (label->value.len == 0)
            continue;
        if (slice_is(label->name, SERIES_SERVICE_LABEL)) {
            *ret_is_app = false;
            return label->value;
        }
        if (slice_is(label->name, SERIES_NAME_LABEL))
            service = label->value;
    }
    return service;
}

bool ingest_peek(const struct upload *upload, struct arena *arena, struct slice *ret_service, struct slice *ret_spy)
{
    const struct legacytype *type;
    struct ingestname name;
    struct urlquery query;
    enum ingest_form form;
    struct error ignored;
    struct slice service;
    bool is_app;

    if (urlquery_parse(upload->query, arena, &query, &ignored) < 0 ||
        ingestname_parse(urlquery_get(&query, "name"), arena, &name, &ignored) < 0)
        return false;
    form = find_form(&query, upload->content_type, upload->body);
    service = service_of(&name, &is_app);
    if (is_app && form >= FORM_TRIE && !slice_starts_with(upload->body, SLICE("\x1f\x8b")))
        IGNORE(legacytype_find(service, &type, &service, &ignored), "an unknown type is part of the name");
    *ret_service = service;
    *ret_spy = urlquery_get(&query, "spyName");
    return true;
}

static int refuse(const char *what, struct error *err)
{
    return error_set(
        err, ERR_UNSUPPORTED,
        "%s cannot be taken yet, a later version will; accepted are pprof (format=pprof, or a form with part "
        "'profile'), folded text, lines, trie and tree",
        what);
}

static int take_form(struct ingest *ingest, struct error *err)
{
    bool is_form = multipart_is_form(ingest->worker->upload->content_type);

    if (is_form && multipart_parse(ingest->worker->upload->content_type, ingest->content, &ingest->worker->arena,
                                   &ingest->form, err) < 0)
        return -1;
    switch (find_form(&ingest->query, ingest->worker->upload->content_type, ingest->content)) {
    case FORM_JFR: return refuse("a recording of Java's Flight Recorder (JFR)", err);
    case FORM_SPEEDSCOPE: return refuse("a profile of speedscope", err);
    case FORM_PPROF:
        return is_form ? take_pprof_form(ingest, err) : take_pprof(ingest, ingest->content, SLICE(""), SLICE(""), err);
    case FORM_TRIE: return take_legacy(ingest, LEGACYBODY_TRIE, err);
    case FORM_TREE: return take_legacy(ingest, LEGACYBODY_TREE, err);
    case FORM_LINES: return take_legacy(ingest, LEGACYBODY_LINES, err);
    case FORM_GROUPS: break;
    }
    return take_legacy(ingest, LEGACYBODY_GROUPS, err);
}

int ingest_take(struct intake_worker *worker, struct error *err)
{
    struct ingest ingest = { .worker = worker };
    uint32_t n_counted = worker->receipt.n_profiles;

    if (urlquery_parse(worker->upload->query, &worker->arena, &ingest.query, err) < 0)
        return -1;
    if (!urlquery_has(&ingest.query, "name"))
        return plain_take(worker, err);
    if (read_request(&ingest, err) < 0)
        return -1;
    if (intakework_body(worker, &ingest.content, err) == 0 && take_form(&ingest, err) == 0)
        return 0;
    if (worker->receipt.n_profiles == n_counted)
        intakework_reject(worker, ingest.app, 1, err);
    return -1;
}
