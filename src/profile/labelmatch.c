// SPDX-License-Identifier: Apache-2.0
#include "profile/labelmatch.h"

#include "base/vec.h"
#include "profile/unit.h"

#include <stdio.h>

#define PATTERNS_MAX 64 /* in one tag filter */
#define TEXT_MAX     65536

enum match_kind { SELECT_EQUAL, SELECT_REGEXP, SELECT_RANGE, TAG_REGEXP, TAG_RANGE };

struct range {
    bool has_low, has_high;
    double low, high;
    struct slice unit; /* both ends are in this one; "" = whatever the label has */
};

struct labelmatch {
    enum match_kind kind;
    bool is_negated;
    bool has_name; /* else any label (tags) */
    struct slice name;
    struct slice value; /* SELECT_EQUAL */
    struct range range;
    VEC(struct pattern *) patterns;
    char *text; /* what the slices point into */
};

/* --- quantities and ranges --- */

/* As pprof scales: into `to` if that is of the same family, else into the family's usual unit. Tells the unit it came
 * to, in the spelling of that family, so that two results can be compared if their units are equal. */
static double scale(int64_t value, struct slice from, struct slice to, struct slice *ret_unit)
{
    static const char *const silent[] = { "count", "sample", "unit", "minimum", "auto" };
    const struct unit *unit = unit_find(from), *wanted = unit_find(to);

    if (unit && unit->family != UNIT_COUNT) {
        if (!wanted || wanted->family != unit->family)
            wanted = unit_find(unit->family == UNIT_TIME ? SLICE("s") : SLICE("B"));
        *ret_unit = slice_from(wanted->symbol);
        return (double)value * (double)unit->size / (double)wanted->size;
    }
    *ret_unit = to;
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        if (slice_is(to, silent[i]))
            *ret_unit = SLICE("");
    return (double)value;
}

struct quantity {
    int64_t number;
    struct slice unit;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Cuts "-12kb" off the front. False, with nothing changed, if there is none or the number does not fit. */
static bool take_quantity(struct slice *text, struct quantity *ret_quantity)
{
    bool has_plus = text->len > 0 && text->ptr[0] == '+', has_minus = text->len > 0 && text->ptr[0] == '-';
    size_t digits = has_plus || has_minus ? 1 : 0;
    size_t unit = digits, end;

    while (unit < text->len && is_digit(text->ptr[unit]))
        unit++;
    for (end = unit; end < text->len && is_letter(text->ptr[end]); end++)
        ;
    if (unit == digits || !slice_to_i64(slice_sub(*text, has_plus, unit - has_plus), &ret_quantity->number))
        return false;
    ret_quantity->unit = slice_sub(*text, unit, end - unit);
    *text = slice_sub(*text, end, text->len);
    return true;
}

/* The four forms of a range: "4kb", "4kb:", ":4kb", "4kb:8kb". False if the text is none. */
static bool parse_range(struct slice text, struct range *ret_range)
{
    struct range range = { 0 };
    struct quantity first, second;
    struct slice unit;

    if (take_quantity(&text, &first)) {
        range.has_low = true;
        range.low = range.high = scale(first.number, first.unit, first.unit, &range.unit);
        range.has_high = text.len == 0;
        if (text.len == 0) {
            *ret_range = range;
            return true;
        }
    }
    if (text.len == 0 || text.ptr[0] != ':')
        return false;
    text = slice_sub(text, 1, text.len);
    if (text.len == 0) {
        *ret_range = range;
        return range.has_low;
    }
    if (!take_quantity(&text, &second) || text.len != 0)
        return false;
    range.has_high = true;
    range.high = scale(second.number, second.unit, range.has_low ? range.unit : second.unit, &unit);
    if (!range.has_low)
        range.unit = unit;
    if (!slice_equal(range.unit, unit))
        return false;
    *ret_range = range;
    return true;
}

static bool is_in_range(const struct range *range, double value)
{
    return (!range->has_low || value >= range->low) && (!range->has_high || value <= range->high);
}

/* --- reading --- */

static int add_pattern(struct labelmatch *match, struct slice text, enum pattern_mode mode, struct error *err)
{
    struct pattern **pattern = VEC_PUSH(&match->patterns, PATTERNS_MAX, err);

    return pattern ? pattern_new(text, mode, pattern, err) : -1;
}

static struct slice without_quotes(struct slice text)
{
    if (text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"')
        return slice_sub(text, 1, text.len - 2);
    return text;
}

static int bad_selection(struct slice text, const char *what, struct error *err)
{
    return error_set(err, ERR_INVALID,
                     "label selection '%.*s': %s; write NAME=VALUE, NAME!=VALUE, NAME=~REGEXP, NAME!~REGEXP or a range "
                     "of numbers like NAME:4kB:64kB",
                     (int)MIN(text.len, (size_t)60), text.ptr, what);
}

/* Where the operator begins: behind a quoted name, else at the first = or != or !~, else at the first colon. */
static ptrdiff_t find_operator(struct slice text)
{
    if (text.len > 0 && text.ptr[0] == '"') {
        ptrdiff_t quote = slice_find_byte(slice_sub(text, 1, text.len), '"');

        return quote < 0 ? -1 : quote + 2;
    }
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '=' ||
            (text.ptr[i] == '!' && i + 1 < text.len && (text.ptr[i + 1] == '=' || text.ptr[i + 1] == '~')))
            return (ptrdiff_t)i;
    return slice_find_byte(text, ':');
}

static int parse_selection(struct labelmatch *match, struct slice text, struct error *err)
{
    ptrdiff_t at = find_operator(text);
    struct slice rest;

    if (at < 0)
        return bad_selection(text, "no operator", err);
    match->has_name = true;
    match->name = without_quotes(slice_trim(slice_sub(text, 0, (size_t)at)));
    if (match->name.len == 0)
        return bad_selection(text, "no label name", err);
    rest = slice_sub(text, (size_t)at, text.len);
    if (slice_starts_with(rest, SLICE("=~")) || slice_starts_with(rest, SLICE("!~"))) {
        match->kind = SELECT_REGEXP;
        match->is_negated = rest.ptr[0] == '!';
        return add_pattern(match, without_quotes(slice_sub(rest, 2, rest.len)), PATTERN_WHOLE, err);
    }
    if (slice_starts_with(rest, SLICE("=")) || slice_starts_with(rest, SLICE("!="))) {
        match->kind = SELECT_EQUAL;
        match->is_negated = rest.ptr[0] == '!';
        match->value = without_quotes(slice_sub(rest, match->is_negated ? 2 : 1, rest.len));
        return 0;
    }
    match->kind = SELECT_RANGE;
    if (!slice_starts_with(rest, SLICE(":")) || !parse_range(slice_sub(rest, 1, rest.len), &match->range))
        return bad_selection(text, "no range of numbers", err);
    return 0;
}

static int parse_tag(struct labelmatch *match, struct slice text, struct error *err)
{
    ptrdiff_t equals = slice_find_byte(text, '=');
    struct slice part;

    if (equals >= 0) {
        match->name = slice_sub(text, 0, (size_t)equals);
        match->has_name = match->name.len > 0;
        text = slice_sub(text, (size_t)equals + 1, text.len);
    }
    if (parse_range(text, &match->range)) {
        match->kind = TAG_RANGE;
        return 0;
    }
    match->kind = TAG_REGEXP;
    while (slice_next_part(&text, ',', &part))
        if (add_pattern(match, part, PATTERN_SEARCH, err) < 0)
            return -1;
    return 0;
}

static int new_match(struct slice text, int (*parse)(struct labelmatch *, struct slice, struct error *),
                     struct labelmatch **ret_match, struct error *err)
{
    AUTO(labelmatch_freep) struct labelmatch *match = NULL;

    if (text.len > TEXT_MAX)
        return error_set(err, ERR_LIMIT, "a label selection of %zu bytes is longer than the %d allowed", text.len,
                         TEXT_MAX);
    match = MEMORY_NEW(struct labelmatch, err);
    if (!match)
        return -1;
    match->text = memory_alloc(text.len + 1, err);
    if (!match->text)
        return -1;
    if (text.len)
        memcpy(match->text, text.ptr, text.len);
    if (parse(match, slice_of(match->text, text.len), err) < 0)
        return -1;
    *ret_match = TAKE(match);
    return 0;
}

int labelmatch_new(struct slice text, struct labelmatch **ret_match, struct error *err)
{
    return new_match(text, parse_selection, ret_match, err);
}

int labelmatch_new_tag(struct slice text, struct labelmatch **ret_match, struct error *err)
{
    return new_match(text, parse_tag, ret_match, err);
}

void labelmatch_free(struct labelmatch *match)
{
    if (!match)
        return;
    VEC_EACH (&match->patterns, pattern)
        pattern_free(*pattern);
    VEC_DONE(&match->patterns);
    memory_free(match->text);
    memory_free(match);
}

void labelmatch_freep(struct labelmatch **match)
{
    labelmatch_free(*match);
}

/* --- matching --- */

struct labelmatch_run {
    const struct labelmatch *match;
    struct pattern_scratch *scratch;
    const struct profile *profile;
    uint32_t round;     /* counts profiles */
    uint32_t *verdicts; /* [label set] round * 2 + verdict, once known in this round */
    uint32_t verdicts_n;
    uint32_t *units; /* [string] TAG_RANGE: the first unit met with this name of a label in the profile; 0 = none */
    uint32_t units_n;
    VEC(char) text; /* "name:value" */
};

int labelmatch_run_new(const struct labelmatch *match, struct pattern_scratch *scratch, struct labelmatch_run **ret_run,
                       struct error *err)
{
    struct labelmatch_run *run = MEMORY_NEW(struct labelmatch_run, err);

    if (!run)
        return -1;
    run->match = match;
    run->scratch = scratch;
    *ret_run = run;
    return 0;
}

void labelmatch_run_free(struct labelmatch_run *run)
{
    if (!run)
        return;
    memory_free(run->verdicts);
    memory_free(run->units);
    VEC_DONE(&run->text);
    memory_free(run);
}

void labelmatch_run_freep(struct labelmatch_run **run)
{
    labelmatch_run_free(*run);
}

static int make_room(uint32_t **array, uint32_t *array_n, uint32_t n, struct error *err)
{
    uint32_t *larger;

    if (n <= *array_n)
        return 0;
    larger = memory_alloc_zero((size_t)n * sizeof(*larger), err);
    if (!larger)
        return -1;
    memory_free(*array);
    *array = larger;
    *array_n = n;
    return 0;
}

/* As pprof has it, a numeric label has one unit in a whole profile: the first one met with its name. */
static void find_units(struct labelmatch_run *run)
{
    const struct profile *p = run->profile;

    memset(run->units, 0, run->units_n * sizeof(*run->units));
    for (uint32_t sample = 0; sample < p->n_samples; sample++) {
        uint32_t n;
        const struct label *labels = tables_label_set(p->tables, profile_label_set(p, sample), &n);

        for (uint32_t i = 0; i < n; i++)
            if (labels[i].kind == LABEL_NUMBER && !run->units[labels[i].key])
                run->units[labels[i].key] = labels[i].unit;
    }
}

int labelmatch_run_profile(struct labelmatch_run *run, const struct profile *profile, struct error *err)
{
    if (make_room(&run->verdicts, &run->verdicts_n, profile->tables->n_label_sets, err) < 0)
        return -1;
    if (run->match->kind == TAG_RANGE && make_room(&run->units, &run->units_n, profile->tables->n_strings, err) < 0)
        return -1;
    run->profile = profile;
    run->round++;
    if (run->match->kind == TAG_RANGE)
        find_units(run);
    return 0;
}

/* Unit of a label without one: that of its name, with two names of old that mean bytes. */
static struct slice unit_or_guess(const struct tables *t, const struct label *label, uint32_t unit)
{
    struct slice name = tables_string(t, label->key);

    if (unit)
        return tables_string(t, unit);
    return slice_is(name, "alignment") || slice_is(name, "request") ? SLICE("bytes") : name;
}

static struct slice text_of(const struct tables *t, const struct label *label, char *space, size_t size)
{
    double number;

    switch ((enum label_kind)label->kind) {
    case LABEL_STRING:
    case LABEL_BYTES:
    case LABEL_JSON: return tables_string(t, label->text);
    case LABEL_BOOL: return label->number ? SLICE("true") : SLICE("false");
    case LABEL_NUMBER: snprintf(space, size, "%lld", (long long)label->number); break;
    case LABEL_DOUBLE:
        memcpy(&number, &label->number, sizeof(number));
        snprintf(space, size, "%.15g", number);
        break;
    }
    return slice_from(space);
}

/* Names of labels are equal whether they are written with dots or underscores. */
static bool is_same_name(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] && !((a.ptr[i] == '.' || a.ptr[i] == '_') && (b.ptr[i] == '.' || b.ptr[i] == '_')))
            return false;
    return true;
}

static bool is_selected_number(const struct labelmatch *match, const struct tables *t, const struct label *label)
{
    struct slice unit;
    double value;

    if (label->kind == LABEL_DOUBLE && match->range.unit.len == 0) {
        memcpy(&value, &label->number, sizeof(value));
        return is_in_range(&match->range, value);
    }
    if (label->kind != LABEL_NUMBER)
        return false;
    if (match->range.unit.len == 0)
        return is_in_range(&match->range, (double)label->number);
    value = scale(label->number, unit_or_guess(t, label, label->unit), match->range.unit, &unit);
    return slice_equal(unit, match->range.unit) && is_in_range(&match->range, value);
}

static int select_value(struct labelmatch_run *run, struct slice text, bool *ret_matches, struct error *err)
{
    if (run->match->kind == SELECT_REGEXP)
        return pattern_test(run->match->patterns.items[0], run->scratch, text, ret_matches, err);
    *ret_matches = run->match->kind == SELECT_EQUAL && slice_equal(text, run->match->value);
    return 0;
}

/* Looks at the labels of that name in one set; *ret_has says whether there are any. */
static int select_in_set(struct labelmatch_run *run, uint32_t set, bool *ret_has, bool *ret_matches, struct error *err)
{
    const struct tables *t = run->profile->tables;
    uint32_t n;
    const struct label *labels = tables_label_set(t, set, &n);
    char space[32];

    *ret_has = *ret_matches = false;
    for (uint32_t i = 0; i < n && !*ret_matches; i++) {
        if (!is_same_name(tables_string(t, labels[i].key), run->match->name))
            continue;
        *ret_has = true;
        if (run->match->kind == SELECT_RANGE)
            *ret_matches = is_selected_number(run->match, t, &labels[i]);
        else if (select_value(run, text_of(t, &labels[i], space, sizeof(space)), ret_matches, err) < 0)
            return -1;
    }
    return 0;
}

static int select_labels(struct labelmatch_run *run, uint32_t set, bool *ret_matches, struct error *err)
{
    const uint32_t sets[] = { set, run->profile->attributes, run->profile->resource };
    bool has = false, matches = false;

    for (size_t i = 0; i < ARRAY_LEN(sets) && !has; i++)
        if (select_in_set(run, sets[i], &has, &matches, err) < 0)
            return -1;
    if (!has && select_value(run, SLICE(""), &matches, err) < 0)
        return -1;
    *ret_matches = matches != run->match->is_negated;
    return 0;
}

/* --- pprof's tags --- */

static bool is_tag_named(const struct labelmatch_run *run, const struct label *label)
{
    return !run->match->has_name || slice_equal(tables_string(run->profile->tables, label->key), run->match->name);
}

/* A label that is neither text nor number nor unit does not exist for pprof. */
static bool is_numeric_tag(const struct labelmatch_run *run, const struct label *label)
{
    return label->kind == LABEL_NUMBER && (label->number || label->unit) && is_tag_named(run, label);
}

static bool is_text_tag(const struct labelmatch_run *run, const struct label *label)
{
    return label->kind != LABEL_NUMBER && (label->kind != LABEL_STRING || label->text) && is_tag_named(run, label);
}

static bool is_tag_in_range(const struct labelmatch_run *run, const struct label *labels, uint32_t n)
{
    const struct tables *t = run->profile->tables;

    for (uint32_t i = 0; i < n; i++) {
        struct slice unit;
        double value;

        if (!is_numeric_tag(run, &labels[i]))
            continue;
        value = scale(labels[i].number, unit_or_guess(t, &labels[i], run->units[labels[i].key]), run->match->range.unit,
                      &unit);
        if (slice_equal(unit, run->match->range.unit) && is_in_range(&run->match->range, value))
            return true;
    }
    return false;
}

/* Gives "name:value" of a label, or the value alone where a name is asked for; ptr is NULL when out of memory. */
static struct slice tag_text(struct labelmatch_run *run, const struct label *label, struct error *err)
{
    const struct tables *t = run->profile->tables;
    struct slice name = tables_string(t, label->key);
    char space[32];
    struct slice value = text_of(t, label, space, sizeof(space));
    size_t len = name.len + 1 + value.len;

    run->text.n = 0;
    if (VEC_RESERVE(&run->text, len, SIZE_MAX, err) < 0)
        return (struct slice){ NULL, 0 };
    if (name.len)
        memcpy(run->text.items, name.ptr, name.len);
    run->text.items[name.len] = ':';
    if (value.len)
        memcpy(run->text.items + name.len + 1, value.ptr, value.len);
    return run->match->has_name ? slice_of(run->text.items + name.len + 1, value.len) : slice_of(run->text.items, len);
}

static int match_one_tag_pattern(struct labelmatch_run *run, const struct pattern *pattern, const struct label *labels,
                                 uint32_t n, bool *ret_matches, struct error *err)
{
    *ret_matches = false;
    for (uint32_t i = 0; i < n && !*ret_matches; i++) {
        struct slice text;

        if (!is_text_tag(run, &labels[i]))
            continue;
        text = tag_text(run, &labels[i], err);
        if (!text.ptr || pattern_test(pattern, run->scratch, text, ret_matches, err) < 0)
            return -1;
    }
    return 0;
}

/* With a name one pattern is enough; without, each must be matched by some label. */
static int match_tag_patterns(struct labelmatch_run *run, const struct label *labels, uint32_t n, bool *ret_matches,
                              struct error *err)
{
    bool one_is_enough = run->match->has_name, matches = false;

    for (size_t i = 0; i < run->match->patterns.n; i++) {
        if (match_one_tag_pattern(run, run->match->patterns.items[i], labels, n, &matches, err) < 0)
            return -1;
        if (matches == one_is_enough)
            break;
    }
    *ret_matches = matches;
    return 0;
}

static int match_set(struct labelmatch_run *run, uint32_t set, bool *ret_matches, struct error *err)
{
    uint32_t n;
    const struct label *labels = tables_label_set(run->profile->tables, set, &n);

    switch (run->match->kind) {
    case TAG_RANGE: *ret_matches = is_tag_in_range(run, labels, n); return 0;
    case TAG_REGEXP: return match_tag_patterns(run, labels, n, ret_matches, err);
    case SELECT_EQUAL:
    case SELECT_REGEXP:
    case SELECT_RANGE: break;
    }
    return select_labels(run, set, ret_matches, err);
}

int labelmatch_run_test(struct labelmatch_run *run, uint32_t sample, bool *ret_matches, struct error *err)
{
    uint32_t set = profile_label_set(run->profile, sample);
    bool matches;

    if (run->verdicts[set] / 2 == run->round) {
        *ret_matches = run->verdicts[set] & 1;
        return 0;
    }
    if (match_set(run, set, &matches, err) < 0)
        return -1;
    run->verdicts[set] = run->round * 2 + matches;
    *ret_matches = matches;
    return 0;
}
