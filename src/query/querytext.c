// SPDX-License-Identifier: Apache-2.0
#include "query/querytext.h"

#define QUOTED_MAX         40 /* bytes of names shown in an error */
#define QUOTED(slice)      SLICE_ARG(slice_sub((slice), 0, QUOTED_MAX))
#define QUOTED_TYPE_MAX    80
#define QUOTED_TYPE(slice) SLICE_ARG(slice_sub((slice), 0, QUOTED_TYPE_MAX))

#define PROFILE_TYPE_LABEL "__profile_type__"

/* --- reading --- */

int querytext_parse(struct slice text, struct querytext *ret_text, struct error *err)
{
    struct selector *selector;

    if (selector_new_named(text, &selector, err) < 0)
        return -1;
    *ret_text = (struct querytext){
        .selector = selector,
        .profile_type = selector_profile_type(selector),
        .name = selector_name(selector),
    };
    return 0;
}

void querytext_done(struct querytext *text)
{
    selector_free(text->selector);
    *text = (struct querytext){ 0 };
}

/* --- resolving --- */

struct resolving {
    const struct querytext *text;
    const struct querycatalog *catalog;
    struct arena *arena;
    const struct querycatalog_service *service; /* the one in front of the braces, or NULL */
    struct slice suffix;                        /* the short type behind it, or empty */
    struct querycatalog_service scope;          /* whose types to choose from: the service, or several joined */
    bool has_scope;
    const char *note;
};

/* Takes the sentence, which is NULL where memory ran out. */
static int add_note(struct resolving *q, const char *sentence, struct error *err)
{
    const char *note;

    if (!sentence)
        return -1;
    note = arena_printf(q->arena, err, "%s%s%s", q->note, q->note[0] ? "; " : "", sentence);
    if (!note)
        return -1;
    q->note = note;
    return 0;
}

/* Where there is nothing: the catalog is of a range, or of all that there is. */
static const char *where(const struct resolving *q)
{
    return q->catalog->is_of_all_time ? "" : " in this range";
}

static int no_service(const struct resolving *q, struct slice name, struct slice typed, struct error *err)
{
    if (q->catalog->n_services == 0)
        return error_set(err, ERR_NOT_FOUND, "no service '%.*s'%s: there are no profiles at all", QUOTED(name),
                         where(q));
    return error_set(err, ERR_NOT_FOUND, "no service '%.*s'%s; %s", QUOTED(name), where(q),
                     querycatalog_nearest(q->catalog, typed).text);
}

/* Cuts the name at its last dot; false if there is no such dot, or nothing on one side of it. */
static bool split_name(struct slice name, struct slice *ret_service, struct slice *ret_suffix)
{
    ptrdiff_t dot = slice_find_last_byte(name, '.');

    if (dot <= 0 || (size_t)dot + 1 == name.len)
        return false;
    *ret_service = slice_sub(name, 0, (size_t)dot);
    *ret_suffix = slice_sub(name, (size_t)dot + 1, name.len);
    return true;
}

static bool has_short(const struct querycatalog_service *service, struct slice word)
{
    return querycatalog_choose_short(service->types, service->n_types, word).type != NULL;
}

/* Q1 */
static int find_service(struct resolving *q, struct error *err)
{
    struct slice name = q->text->name, service_name = { 0 }, suffix = { 0 };
    bool is_split = split_name(name, &service_name, &suffix);
    const struct querycatalog_service *whole = querycatalog_find(q->catalog, name);
    const struct querycatalog_service *part = is_split ? querycatalog_find(q->catalog, service_name) : NULL;

    if (whole) {
        q->service = whole;
        if (!part || !has_short(part, suffix))
            return 0;
        return add_note(q,
                        arena_printf(q->arena, err,
                                     "'%.*s' is a service of that name, and not the type %.*s of the service '%.*s'",
                                     SLICE_ARG(name), SLICE_ARG(suffix), SLICE_ARG(service_name)),
                        err);
    }
    if (!part)
        return no_service(q, name, is_split && querycatalog_is_short(suffix) ? service_name : name, err);
    if (!querycatalog_is_short(suffix) && !has_short(part, suffix))
        return error_set(err, ERR_NOT_FOUND,
                         "no service '%.*s'%s, and '%.*s' is no type of the service '%.*s', which has %s", QUOTED(name),
                         where(q), QUOTED(suffix), QUOTED(service_name),
                         querycatalog_sample_types(part->types, part->n_types).text);
    q->service = part;
    q->suffix = suffix;
    return 0;
}

/* Whether the braces let a service through. */
static int allows(const struct resolving *q, struct slice service, struct pattern_scratch *scratch, bool *ret_allows,
                  struct error *err)
{
    return selector_allows(q->text->selector, SLICE(SERIES_SERVICE_LABEL), service, scratch, ret_allows, err);
}

/* Q3 */
static int check_braces(const struct resolving *q, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    bool is_allowed = false;

    if (pattern_scratch_new(&scratch, err) < 0 || allows(q, q->service->name, scratch, &is_allowed, err) < 0)
        return -1;
    if (!is_allowed)
        return error_set(
            err, ERR_INVALID,
            "the query names the service '%.*s', and a condition on service_name in its braces refuses it; "
            "leave one of the two out",
            QUOTED(q->service->name));
    return 0;
}

/* The types of all services that the braces allow. */
static int join_allowed(struct resolving *q, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    bool *is_chosen = ARENA_ARRAY(q->arena, bool, q->catalog->n_services, err);
    uint32_t n_chosen = 0;
    struct slice asked;

    if (!is_chosen || pattern_scratch_new(&scratch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < q->catalog->n_services; i++) {
        if (allows(q, q->catalog->services[i].name, scratch, &is_chosen[i], err) < 0)
            return -1;
        n_chosen += is_chosen[i];
    }
    if (n_chosen == 0 && selector_value(q->text->selector, SLICE(SERIES_SERVICE_LABEL), &asked))
        return no_service(q, asked, asked, err);
    return querycatalog_join(q->catalog, is_chosen, q->arena, &q->scope, err);
}

/* Leaves out the types of the scope that the braces refuse (Q4). */
static int narrow_scope(struct resolving *q, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    struct querycatalog_type *types = ARENA_ARRAY(q->arena, struct querycatalog_type, q->scope.n_types, err);
    struct querycatalog_text present = querycatalog_sample_types(q->scope.types, q->scope.n_types);
    bool had_types = q->scope.n_types > 0, is_allowed;
    uint32_t n = 0;

    if (!types || pattern_scratch_new(&scratch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < q->scope.n_types; i++) {
        if (selector_allows_type(q->text->selector, q->scope.types[i].profile_type, scratch, &is_allowed, err) < 0)
            return -1;
        if (is_allowed)
            types[n++] = q->scope.types[i];
    }
    q->scope.types = types;
    q->scope.n_types = n;
    if (had_types && n == 0)
        return error_set(err, ERR_NOT_FOUND,
                         "no profile type%s is one that the conditions on types in the braces allow; there are %s",
                         where(q), present.text);
    return 0;
}

static int find_scope(struct resolving *q, struct error *err)
{
    if (!q->has_scope) {
        if (q->service)
            q->scope = *q->service;
        else if (join_allowed(q, err) < 0)
            return -1;
        if (narrow_scope(q, err) < 0)
            return -1;
        q->has_scope = true;
    }
    if (q->scope.n_types > 0)
        return 0;
    return error_set(
        err, ERR_NOT_FOUND,
        "the query names no full profile type, and there are no profiles to choose one from%s; give %sother "
        "labels",
        where(q), q->catalog->is_of_all_time ? "" : "a longer range or ");
}

/* --- types --- */

static int note_equals(struct resolving *q, struct querycatalog_choice choice, struct error *err)
{
    if (choice.n_equal == 1)
        return 0;
    return add_note(q, arena_printf(q->arena, err, "%u types fit, and this one has the most series", choice.n_equal),
                    err);
}

static int choose_short(struct resolving *q, struct slice word, struct slice *ret_type, struct error *err)
{
    struct querycatalog_choice choice;

    if (find_scope(q, err) < 0)
        return -1;
    choice = querycatalog_choose_short(q->scope.types, q->scope.n_types, word);
    if (!choice.type) {
        struct querycatalog_text present = querycatalog_sample_types(q->scope.types, q->scope.n_types);

        if (!q->service)
            return error_set(err, ERR_NOT_FOUND, "no profiles of type '%.*s'%s; there are %s", QUOTED(word), where(q),
                             present.text);
        return error_set(err, ERR_NOT_FOUND, "service '%.*s' has no profiles of type '%.*s'%s; it has %s",
                         QUOTED(q->service->name), QUOTED(word), where(q), present.text);
    }
    *ret_type = choice.type->profile_type;
    if (choice.n_equal > 1 &&
        add_note(q, arena_printf(q->arena, err, "profile type %.*s", SLICE_ARG(*ret_type)), err) < 0)
        return -1;
    return note_equals(q, choice, err);
}

/* Q2 */
static int choose_default(struct resolving *q, struct slice *ret_type, struct error *err)
{
    struct querycatalog_choice choice;
    const char *sentence;

    if (find_scope(q, err) < 0)
        return -1;
    choice = querycatalog_choose_cpu(q->scope.types, q->scope.n_types);
    if (choice.type) {
        sentence = arena_printf(q->arena, err, "profile type %.*s: CPU, since the query names none",
                                SLICE_ARG(choice.type->profile_type));
    } else {
        choice = querycatalog_choose_common(q->scope.types, q->scope.n_types);
        choice.n_equal = 1; /* all fit */
        sentence = arena_printf(q->arena, err,
                                "profile type %.*s: the most common, since the query names none and there is no CPU",
                                SLICE_ARG(choice.type->profile_type));
    }
    *ret_type = choice.type->profile_type;
    return add_note(q, sentence, err) < 0 ? -1 : note_equals(q, choice, err);
}

/* Reads a full type that was given apart from the query. */
static int read_full(struct resolving *q, struct slice text, struct slice *ret_type, struct error *err)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    bool is_type = slice_find_byte(text, '{') < 0;

    if (is_type && selector_new(text, &selector, err) < 0) {
        if (err->code != ERR_INVALID)
            return -1;
        is_type = false;
    }
    if (!is_type || selector_profile_type(selector).len == 0)
        return error_set(err, ERR_INVALID,
                         "'%.*s' is no profile type: give NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT, or a short one like "
                         "cpu or alloc_space",
                         QUOTED_TYPE(text));
    *ret_type = arena_copy(q->arena, selector_profile_type(selector), err);
    return ret_type->ptr ? 0 : -1;
}

static int read_apart(struct resolving *q, struct slice text, struct slice *ret_type, struct error *err)
{
    if (slice_find_byte(text, ':') < 0)
        return choose_short(q, text, ret_type, err);
    return read_full(q, text, ret_type, err);
}

/* The type that a condition in the braces names, if there is one, beside that of the query, which may be empty. */
static int read_braces(struct resolving *q, struct slice *type, struct error *err)
{
    struct slice text, named;

    if (!selector_value(q->text->selector, SLICE(PROFILE_TYPE_LABEL), &text))
        return 0;
    if (read_full(q, text, &named, err) < 0)
        return error_wrap(err, PROFILE_TYPE_LABEL);
    if (type->len > 0 && !slice_equal(*type, named))
        return error_set(err, ERR_INVALID,
                         "the query asks for %.*s, and " PROFILE_TYPE_LABEL " in its braces is %.*s; "
                         "give one of the two",
                         QUOTED_TYPE(*type), QUOTED_TYPE(named));
    *type = named;
    return 0;
}

/* Q4, where the type is known. */
static int check_allowed(const struct resolving *q, struct slice type, struct error *err)
{
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = NULL;
    bool is_allowed = false;

    if (pattern_scratch_new(&scratch, err) < 0 ||
        selector_allows_type(q->text->selector, type, scratch, &is_allowed, err) < 0)
        return -1;
    if (is_allowed)
        return 0;
    return error_set(err, ERR_INVALID,
                     "the query asks for %.*s, and a condition on types in its braces refuses it; leave one of the two "
                     "out",
                     QUOTED_TYPE(type));
}

/* Q4, where conditions alone say which type is meant. */
static int choose_allowed(struct resolving *q, struct slice *ret_type, struct error *err)
{
    if (find_scope(q, err) < 0)
        return -1;
    if (q->scope.n_types > 1)
        return error_set(err, ERR_INVALID,
                         "the conditions on types in the braces leave %u of them, and an answer is of one: %s; name it "
                         "in front of the braces, or by " PROFILE_TYPE_LABEL,
                         q->scope.n_types, querycatalog_sample_types(q->scope.types, q->scope.n_types).text);
    *ret_type = q->scope.types[0].profile_type;
    return 0;
}

static int find_type(struct resolving *q, struct slice apart, struct slice *ret_type, struct error *err)
{
    struct slice type = q->text->profile_type, type_apart;

    if ((q->suffix.len > 0 && choose_short(q, q->suffix, &type, err) < 0) || read_braces(q, &type, err) < 0)
        return -1;
    if (apart.len > 0) {
        if (read_apart(q, apart, &type_apart, err) < 0)
            return -1;
        if (type.len > 0 && !slice_equal(type, type_apart))
            return error_set(err, ERR_INVALID,
                             "the query asks for %.*s, and the type given apart is %.*s; give one of the two",
                             QUOTED_TYPE(type), QUOTED_TYPE(type_apart));
        type = type_apart;
    }
    if (type.len == 0)
        return selector_has_type_matchers(q->text->selector) ? choose_allowed(q, ret_type, err)
                                                             : choose_default(q, ret_type, err);
    *ret_type = type;
    return check_allowed(q, type, err);
}

int querytext_resolve(const struct querytext *text, struct slice type_apart, const struct querycatalog *catalog,
                      struct arena *arena, struct querytext_resolved *ret_resolved, struct error *err)
{
    struct resolving q = { .text = text, .catalog = catalog, .arena = arena, .note = "" };
    struct series_label service = { .name = SLICE(SERIES_SERVICE_LABEL) };
    struct selector *selector;
    struct slice type;

    if (text->name.len > 0 && (find_service(&q, err) < 0 || check_braces(&q, err) < 0))
        return -1;
    if (find_type(&q, slice_trim(type_apart), &type, err) < 0)
        return -1;
    if (q.service)
        service.value = q.service->name;
    if (selector_new_narrowed(text->selector, type, q.service ? &service : NULL, &selector, err) < 0)
        return -1;
    *ret_resolved = (struct querytext_resolved){
        .selector = selector,
        .profile_type = selector_profile_type(selector),
        .note = q.note,
    };
    return 0;
}

void querytext_resolved_done(struct querytext_resolved *resolved)
{
    selector_free(resolved->selector);
    *resolved = (struct querytext_resolved){ 0 };
}
