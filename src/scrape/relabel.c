// SPDX-License-Identifier: Apache-2.0
#include "scrape/relabel.h"

#include "base/suggest.h"
#include "scrape/md5.h"

#include <inttypes.h>
#include <stdio.h>

/* --- sets --- */

/* Where `name` is in the set, or would be. */
static size_t position_of(const struct relabel_set *set, struct slice name, bool *ret_is_there)
{
    size_t i = 0;
    int order = 1;

    while (i < set->n && (order = slice_compare(set->items[i].name, name)) < 0)
        i++;
    *ret_is_there = i < set->n && order == 0;
    return i;
}

struct slice relabel_get(const struct relabel_set *set, struct slice name)
{
    bool is_there;
    size_t at = position_of(set, name, &is_there);

    return is_there ? set->items[at].value : SLICE("");
}

int relabel_put(struct relabel_set *set, struct slice name, struct slice value, struct error *err)
{
    bool is_there;
    size_t at = position_of(set, name, &is_there), behind = set->n - at - is_there;

    if (value.len == 0) {
        memmove(&set->items[at], &set->items[at + is_there], behind * sizeof(*set->items));
        set->n -= is_there;
        return 0;
    }
    if (!is_there && set->n == RELABEL_LABELS_MAX)
        return error_set(err, ERR_LIMIT, "a target has more than %d labels", RELABEL_LABELS_MAX);
    if (!is_there)
        memmove(&set->items[at + 1], &set->items[at], behind * sizeof(*set->items));
    set->n += !is_there;
    set->items[at] = (struct relabel_label){ name, value };
    return 0;
}

bool relabel_is_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0;
}

/* --- reading rules --- */

static const struct {
    const char *name;
    bool needs_target; /* and it must be a plain name, or for `replace` one with groups */
    bool needs_modulus;
} actions[] = {
    [RELABEL_REPLACE] = { "replace", true },
    [RELABEL_KEEP] = { "keep" },
    [RELABEL_DROP] = { "drop" },
    [RELABEL_KEEPEQUAL] = { "keepequal", true },
    [RELABEL_DROPEQUAL] = { "dropequal", true },
    [RELABEL_HASHMOD] = { "hashmod", true, true },
    [RELABEL_LABELMAP] = { "labelmap" },
    [RELABEL_LABELDROP] = { "labeldrop" },
    [RELABEL_LABELKEEP] = { "labelkeep" },
    [RELABEL_LOWERCASE] = { "lowercase", true },
    [RELABEL_UPPERCASE] = { "uppercase", true },
};

static int read_action(const struct configtree *node, void *field, void *context, struct error *err)
{
    struct suggest nearest = suggest_start(node->text);

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (node->kind == CONFIGTREE_TEXT && slice_equal_nocase(node->text, slice_from(actions[i].name))) {
            *(enum relabel_action *)field = (enum relabel_action)i;
            return 0;
        }
        suggest_offer(&nearest, actions[i].name);
    }
    return configtree_refuse(node, err,
                             "'%.*s' is no action%s%s%s; there are replace, keep, drop, keepequal, dropequal, hashmod, "
                             "labelmap, labeldrop, labelkeep, lowercase, uppercase",
                             SLICE_ARG(slice_sub(node->text, 0, 32)), nearest.name ? ", did you mean '" : "",
                             nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

static const struct configtree_field fields[] = {
    { "source_labels", configtree_texts, offsetof(struct relabel_rule, source_labels) },
    { "separator", configtree_any_text, offsetof(struct relabel_rule, separator) },
    { "regex", configtree_any_text, offsetof(struct relabel_rule, regex) },
    { "modulus", configtree_uint, offsetof(struct relabel_rule, modulus) },
    { "target_label", configtree_text, offsetof(struct relabel_rule, target_label) },
    { "replacement", configtree_any_text, offsetof(struct relabel_rule, replacement) },
    { "action", read_action, offsetof(struct relabel_rule, action) },
};

static int check_rule(const struct relabel_rule *rule, const struct configtree *node, struct error *err)
{
    const char *action = actions[rule->action].name;
    bool may_have_groups = rule->action == RELABEL_REPLACE && slice_find_byte(rule->target_label, '$') >= 0;

    if (actions[rule->action].needs_target && rule->target_label.len == 0)
        return configtree_refuse(node, err, "action '%s' needs a target_label", action);
    if (actions[rule->action].needs_target && !may_have_groups && !relabel_is_name(rule->target_label))
        return configtree_refuse(node, err, "target_label '%.*s' is no label name; letters, digits and '_' are allowed",
                                 SLICE_ARG(slice_sub(rule->target_label, 0, 64)));
    if (actions[rule->action].needs_modulus && rule->modulus == 0)
        return configtree_refuse(node, err, "action '%s' needs a modulus of 1 or more", action);
    return 0;
}

int relabel_rule_init(struct relabel_rule *rule, const struct configtree *node, struct error *err)
{
    struct relabel_rule made = { .separator = SLICE(";"), .regex = SLICE("(.*)"), .replacement = SLICE("$1") };

    if (configtree_fill(node, fields, ARRAY_LEN(fields), &made, NULL, err) < 0 || check_rule(&made, node, err) < 0)
        return -1;
    if (pattern_new(made.regex, PATTERN_WHOLE, &made.pattern, err) < 0)
        return configtree_blame(node, err);
    *rule = made;
    return 0;
}

void relabel_rule_done(struct relabel_rule *rule)
{
    pattern_free(rule->pattern);
    *rule = (struct relabel_rule){ 0 };
}

/* --- applying them --- */

int relabel_scratch_init(struct relabel_scratch *scratch, struct error *err)
{
    buffer_init(&scratch->source, RELABEL_LABELS_MAX * (size_t)RELABEL_VALUE_MAX);
    buffer_init(&scratch->made, RELABEL_VALUE_MAX);
    scratch->pattern = NULL;
    return pattern_scratch_new(&scratch->pattern, err);
}

void relabel_scratch_done(struct relabel_scratch *scratch)
{
    buffer_done(&scratch->source);
    buffer_done(&scratch->made);
    pattern_scratch_free(scratch->pattern);
    scratch->pattern = NULL;
}

/* One rule at work. */
struct relabelling {
    const struct relabel_rule *rule;
    struct relabel_scratch *scratch;
    struct arena *arena;
    struct relabel_set *set;
    struct slice source; /* the values of source_labels, joined */
};

static int join_source(struct relabelling *work, struct error *err)
{
    const struct configtree *names = work->rule->source_labels;
    struct buffer *joined = &work->scratch->source;

    buffer_clear(joined);
    for (const struct configtree *name = names ? names->first : NULL; name; name = name->next) {
        if (name != names->first)
            buffer_append_slice(joined, work->rule->separator);
        buffer_append_slice(joined, relabel_get(work->set, name->text));
    }
    work->source = buffer_slice(joined);
    return buffer_check(joined, err);
}

/* Sets a label to copies of these. */
static int put_copy(struct relabelling *work, struct slice name, struct slice value, struct error *err)
{
    struct slice own_name = arena_copy(work->arena, name, err), own_value;

    if (!own_name.ptr)
        return -1;
    own_value = arena_copy(work->arena, value, err);
    return own_value.ptr ? relabel_put(work->set, own_name, own_value, err) : -1;
}

/* `text` with the groups of the match of the rule's expression with `subject`, in the scratch. */
static int expand(struct relabelling *work, struct slice subject, struct slice text, struct slice *ret_made,
                  bool *ret_matches, struct error *err)
{
    struct buffer *made = &work->scratch->made;

    buffer_clear(made);
    if (pattern_expand(work->rule->pattern, work->scratch->pattern, subject, text, made, ret_matches, err) < 0)
        return -1;
    *ret_made = buffer_slice(made);
    return 0;
}

static int replace(struct relabelling *work, struct error *err)
{
    struct slice name, own_name, value;
    bool matches;

    if (expand(work, work->source, work->rule->target_label, &name, &matches, err) < 0)
        return -1;
    if (!matches || !relabel_is_name(name))
        return 0;
    own_name = arena_copy(work->arena, name, err); /* the scratch is needed for the value */
    if (!own_name.ptr || expand(work, work->source, work->rule->replacement, &value, &matches, err) < 0)
        return -1;
    return put_copy(work, own_name, value, err);
}

static int hash_modulo(struct relabelling *work, struct error *err)
{
    uint8_t digest[MD5_BYTES];
    uint64_t number = 0;
    char text[24];

    md5_bytes(work->source, digest);
    for (unsigned i = MD5_BYTES - 8; i < MD5_BYTES; i++)
        number = number << 8 | digest[i];
    snprintf(text, sizeof(text), "%" PRIu64, number % work->rule->modulus);
    return put_copy(work, work->rule->target_label, slice_from(text), err);
}

/* Every label whose name matches also gets the name that the replacement makes. */
static int map_labels(struct relabelling *work, struct error *err)
{
    struct relabel_set before = *work->set;

    for (size_t i = 0; i < before.n; i++) {
        struct slice name;
        bool matches;

        if (expand(work, before.items[i].name, work->rule->replacement, &name, &matches, err) < 0)
            return -1;
        if (matches && relabel_is_name(name) && put_copy(work, name, before.items[i].value, err) < 0)
            return -1;
    }
    return 0;
}

/* Takes out the labels whose name matches, or those whose name does not. */
static int drop_labels(struct relabelling *work, bool drops_matching, struct error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < work->set->n; i++) {
        struct relabel_label label = work->set->items[i];
        bool matches;

        if (pattern_test(work->rule->pattern, work->scratch->pattern, label.name, &matches, err) < 0)
            return -1;
        if (matches != drops_matching)
            work->set->items[n++] = label;
    }
    work->set->n = n;
    return 0;
}

static int change_case(struct relabelling *work, char first, char last, struct error *err)
{
    struct buffer *made = &work->scratch->made;

    buffer_clear(made);
    for (size_t i = 0; i < work->source.len; i++) {
        char c = work->source.ptr[i];

        buffer_append_byte(made, c >= first && c <= last ? (char)(c ^ 0x20) : c);
    }
    if (buffer_check(made, err) < 0)
        return -1;
    return put_copy(work, work->rule->target_label, buffer_slice(made), err);
}

static int apply_rule(struct relabelling *work, bool *ret_is_kept, struct error *err)
{
    const struct relabel_rule *rule = work->rule;
    bool is_equal = slice_equal(relabel_get(work->set, rule->target_label), work->source), matches;

    *ret_is_kept = true;
    switch (rule->action) {
    case RELABEL_REPLACE: return replace(work, err);
    case RELABEL_KEEP:
    case RELABEL_DROP:
        if (pattern_test(rule->pattern, work->scratch->pattern, work->source, &matches, err) < 0)
            return -1;
        *ret_is_kept = matches == (rule->action == RELABEL_KEEP);
        return 0;
    case RELABEL_KEEPEQUAL: *ret_is_kept = is_equal; return 0;
    case RELABEL_DROPEQUAL: *ret_is_kept = !is_equal; return 0;
    case RELABEL_HASHMOD: return hash_modulo(work, err);
    case RELABEL_LABELMAP: return map_labels(work, err);
    case RELABEL_LABELDROP: return drop_labels(work, true, err);
    case RELABEL_LABELKEEP: return drop_labels(work, false, err);
    case RELABEL_LOWERCASE: return change_case(work, 'A', 'Z', err);
    case RELABEL_UPPERCASE: return change_case(work, 'a', 'z', err);
    }
    return 0;
}

int relabel_apply(const struct relabel_rule *rules, size_t n_rules, struct relabel_scratch *scratch,
                  struct arena *arena, struct relabel_set *set, bool *ret_is_kept, struct error *err)
{
    bool is_kept = true;

    for (size_t i = 0; i < n_rules && is_kept; i++) {
        struct relabelling work = { &rules[i], scratch, arena, set, { NULL, 0 } };

        if (join_source(&work, err) < 0 || apply_rule(&work, &is_kept, err) < 0)
            return error_wrap(err, "relabelling rule %zu", i + 1);
    }
    *ret_is_kept = is_kept;
    return 0;
}
