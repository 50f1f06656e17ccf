// SPDX-License-Identifier: Apache-2.0
#include "label/selector.h"

#include "label/labelrules.h"
#include "label/labeltext_internal.h"
#include "label/selectortext_internal.h"

static int read_new(struct slice text, bool is_name_allowed, struct selector **ret_selector, struct error *err)
{
    AUTO(selector_freep) struct selector *selector = MEMORY_NEW(struct selector, err);

    if (!selector)
        return -1;
    arena_init(&selector->arena, 0); /* the text's own limits bound it */
    if (selectortext_read(text, is_name_allowed, selector, err) < 0)
        return -1;
    *ret_selector = TAKE(selector);
    return 0;
}

int selector_new(struct slice text, struct selector **ret_selector, struct error *err)
{
    return read_new(text, false, ret_selector, err);
}

int selector_new_named(struct slice text, struct selector **ret_selector, struct error *err)
{
    return read_new(text, true, ret_selector, err);
}

int selector_new_narrowed(const struct selector *selector, struct slice profile_type, const struct series_label *label,
                          struct selector **ret_selector, struct error *err)
{
    AUTO(selector_freep) struct selector *narrowed = NULL;
    AUTO(buffer_done) struct buffer text;
    struct slice value;

    if (label && selector_value(selector, label->name, &value) && slice_equal(value, label->value))
        label = NULL;
    buffer_init(&text, 0); /* what was read is bounded, and so is what is written of it */
    selectortext_write_braces(selector, label, profile_type.len == 0, &text);
    if (buffer_check(&text, err) < 0 || selector_new(buffer_slice(&text), &narrowed, err) < 0)
        return -1;
    narrowed->profile_type = arena_copy(&narrowed->arena, profile_type, err);
    if (!narrowed->profile_type.ptr)
        return -1;
    *ret_selector = TAKE(narrowed);
    return 0;
}

void selector_free(struct selector *selector)
{
    if (!selector)
        return;
    VEC_EACH (&selector->matchers, matcher)
        pattern_free(matcher->pattern);
    VEC_DONE(&selector->matchers);
    arena_done(&selector->arena);
    memory_free(selector);
}

void selector_freep(struct selector **selector)
{
    selector_free(*selector);
}

struct slice selector_profile_type(const struct selector *selector)
{
    return selector->profile_type;
}

struct slice selector_name(const struct selector *selector)
{
    return selector->name;
}

void selector_text(const struct selector *selector, struct buffer *out)
{
    selectortext_write(selector, out);
}

bool selector_is_empty(const struct selector *selector)
{
    return selector->profile_type.len == 0 && selector->name.len == 0 && selector->matchers.n == 0;
}

/* --- matching --- */

static bool is_negated(const struct matcher *matcher)
{
    return matcher->kind == MATCH_NOT_EQUAL || matcher->kind == MATCH_NOT_REGEXP;
}

/* Whether a value is the one asked for, or asked not to be. */
static int is_asked_for(const struct matcher *matcher, struct slice value, struct pattern_scratch *scratch,
                        bool *ret_is, struct error *err)
{
    if (matcher->pattern)
        return pattern_test(matcher->pattern, scratch, value, ret_is, err);
    *ret_is = slice_equal(matcher->value, value);
    return 0;
}

bool selector_value(const struct selector *selector, struct slice name, struct slice *ret_value)
{
    for (size_t i = 0; i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];

        if (matcher->kind == MATCH_EQUAL && slice_equal(matcher->name, name)) {
            *ret_value = matcher->value;
            return true;
        }
    }
    return false;
}

int selector_labels(const struct selector *selector, struct arena *arena, struct series_label **ret_labels,
                    uint32_t *ret_n, struct error *err)
{
    struct series_label *labels = ARENA_ARRAY(arena, struct series_label, selector->matchers.n, err);
    uint32_t n = 0;

    if (!labels)
        return -1;
    for (size_t i = 0; i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];

        if (matcher->kind != MATCH_EQUAL)
            continue;
        labels[n].name = arena_copy(arena, matcher->name, err);
        labels[n].value = arena_copy(arena, matcher->value, err);
        if (!labels[n].name.ptr || !labels[n].value.ptr)
            return -1;
        n++;
    }
    *ret_labels = labels;
    *ret_n = n;
    return 0;
}

int selector_allows(const struct selector *selector, struct slice name, struct slice value,
                    struct pattern_scratch *scratch, bool *ret_allows, struct error *err)
{
    for (size_t i = 0; i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];
        bool is = false;

        if (!slice_equal(matcher->name, name))
            continue;
        if (is_asked_for(matcher, value, scratch, &is, err) < 0)
            return -1;
        if (is == is_negated(matcher)) {
            *ret_allows = false;
            return 0;
        }
    }
    *ret_allows = true;
    return 0;
}

/* --- types --- */

bool selector_has_type_matchers(const struct selector *selector)
{
    for (size_t i = 0; i < selector->matchers.n; i++)
        if (selector->matchers.items[i].is_of_type)
            return true;
    return false;
}

int selector_allows_type(const struct selector *selector, struct slice profile_type, struct pattern_scratch *scratch,
                         bool *ret_allows, struct error *err)
{
    struct slice rest = profile_type, part;

    if (selector_allows(selector, SLICE(SELECTORTEXT_TYPE_LABEL), profile_type, scratch, ret_allows, err) < 0)
        return -1;
    for (size_t i = 0; *ret_allows && i < ARRAY_LEN(selectortext_part_labels) && slice_next_part(&rest, ':', &part);
         i++)
        if (selector_allows(selector, slice_from(selectortext_part_labels[i]), part, scratch, ret_allows, err) < 0)
            return -1;
    return 0;
}

/* Whether one of the types of a series meets all that is asked of types. */
static int has_allowed_type(const struct selector *selector, const struct seriesinfo *series,
                            struct pattern_scratch *scratch, bool *ret_has, struct error *err)
{
    AUTO(buffer_done) struct buffer text;

    *ret_has = !selector_has_type_matchers(selector);
    buffer_init(&text, 0);
    for (uint32_t i = 0; i < series->n_types && !*ret_has; i++) {
        buffer_clear(&text);
        seriesinfo_profile_type(series, i, &text);
        if (buffer_check(&text, err) < 0 ||
            selector_allows_type(selector, buffer_slice(&text), scratch, ret_has, err) < 0)
            return -1;
    }
    return 0;
}

/* --- labels --- */

/* The name of a kind of profile is the series' alone (labelrules.h, N6). */
static bool is_of_series_alone(const struct matcher *matcher)
{
    return slice_is(matcher->name, SERIES_NAME_LABEL);
}

/* Whether the rows of this series can say otherwise (likewise N6). */
static bool is_open(const struct matcher *matcher, struct slice value)
{
    if (is_of_series_alone(matcher))
        return false;
    return value.len == 0 ||
           (slice_is(matcher->name, SERIES_SERVICE_LABEL) && slice_is(value, LABELRULES_OTHER_SERVICES));
}

int selector_judge(const struct selector *selector, const struct seriesinfo *series, bool has_columns,
                   struct pattern_scratch *scratch, enum selector_verdict *ret_verdict, struct error *err)
{
    enum selector_verdict verdict = SELECTOR_YES;
    bool has_type;

    if (has_allowed_type(selector, series, scratch, &has_type, err) < 0)
        return -1;
    if (!has_type)
        verdict = SELECTOR_NO;
    for (size_t i = 0; has_type && i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];
        struct slice value = seriesinfo_label(series, matcher->name);
        bool is = false;

        if (matcher->is_of_type)
            continue;
        if (has_columns && is_open(matcher, value)) {
            verdict = SELECTOR_MAYBE;
            continue;
        }
        if (is_asked_for(matcher, value, scratch, &is, err) < 0)
            return -1;
        if (is == is_negated(matcher)) {
            verdict = SELECTOR_NO;
            break;
        }
    }
    *ret_verdict = verdict;
    return 0;
}

/* Looks at the labels of that name; *ret_has says whether there are any. Of several values one is enough. */
static int look_in(const struct matcher *matcher, const struct selector_label *labels, uint32_t n,
                   struct pattern_scratch *scratch, bool *ret_has, bool *ret_is, struct error *err)
{
    *ret_has = *ret_is = false;
    for (uint32_t i = 0; i < n && !*ret_is; i++) {
        if (labels[i].value.len == 0 || !labeltext_is_named(labels[i].name, matcher->name))
            continue;
        *ret_has = true;
        if (is_asked_for(matcher, labels[i].value, scratch, ret_is, err) < 0)
            return -1;
    }
    return 0;
}

int selector_test(const struct selector *selector, const struct seriesinfo *series,
                  const struct selector_label *row_labels, uint32_t n_row_labels,
                  const struct selector_label *sample_labels, uint32_t n_sample_labels, struct pattern_scratch *scratch,
                  bool *ret_matches, struct error *err)
{
    if (has_allowed_type(selector, series, scratch, ret_matches, err) < 0)
        return -1;
    if (!*ret_matches)
        return 0;
    for (size_t i = 0; i < selector->matchers.n; i++) {
        const struct matcher *matcher = &selector->matchers.items[i];
        bool has = false, is = false;

        if (matcher->is_of_type)
            continue; /* judged by the series */
        if (!is_of_series_alone(matcher)) {
            if (look_in(matcher, sample_labels, n_sample_labels, scratch, &has, &is, err) < 0)
                return -1;
            if (!has && look_in(matcher, row_labels, n_row_labels, scratch, &has, &is, err) < 0)
                return -1;
        }
        if (!has && is_asked_for(matcher, seriesinfo_label(series, matcher->name), scratch, &is, err) < 0)
            return -1;
        if (is == is_negated(matcher)) {
            *ret_matches = false;
            return 0;
        }
    }
    *ret_matches = true;
    return 0;
}
