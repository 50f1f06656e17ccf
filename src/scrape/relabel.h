// SPDX-License-Identifier: Apache-2.0
/* Sets of labels, and Prometheus's rules that change them (`relabel_configs`).
 *
 * R1  A set is sorted by name and has each name once. An empty value is no label, as in Prometheus.
 * R2  Regular expressions match a whole text. They are those of profile/pattern.h, which has nearly all of Go's.
 * R3  Rules act in order; a rule that drops ends it. `lowercase` and `uppercase` change ASCII letters. */
#pragma once

#include "base/buffer.h"
#include "config/configtree.h"
#include "profile/pattern.h"

#define RELABEL_LABELS_MAX 128   /* of a target, those of relabelling included */
#define RELABEL_VALUE_MAX  65536 /* bytes that a rule may make */

struct relabel_label {
    struct slice name, value;
};

struct relabel_set {
    struct relabel_label items[RELABEL_LABELS_MAX];
    size_t n;
};

/* The value of a label; empty where there is none. Borrows from the set. */
struct slice relabel_get(const struct relabel_set *set, struct slice name);
/* Sets a label; an empty value takes it out. Name and value are kept by reference. Errors: ERR_LIMIT. */
MUST_CHECK int relabel_put(struct relabel_set *set, struct slice name, struct slice value, struct error *err);

/* Whether it is a label name: [a-zA-Z_][a-zA-Z0-9_]* */
bool relabel_is_name(struct slice name);

enum relabel_action {
    RELABEL_REPLACE,
    RELABEL_KEEP,
    RELABEL_DROP,
    RELABEL_KEEPEQUAL,
    RELABEL_DROPEQUAL,
    RELABEL_HASHMOD,
    RELABEL_LABELMAP,
    RELABEL_LABELDROP,
    RELABEL_LABELKEEP,
    RELABEL_LOWERCASE,
    RELABEL_UPPERCASE,
};

struct relabel_rule {
    enum relabel_action action;
    const struct configtree *source_labels; /* NULL = none */
    struct slice separator, regex, target_label, replacement;
    uint64_t modulus;
    struct pattern *pattern; /* owned */
};

/* Reads one rule; its texts borrow from `node`. Errors: ERR_INVALID with the place; ERR_LIMIT, ERR_MEMORY. */
MUST_CHECK int relabel_rule_init(struct relabel_rule *rule, const struct configtree *node, struct error *err);
/* Accepts zeroed rules. */
void relabel_rule_done(struct relabel_rule *rule);

/* Memory that applying rules needs between calls; used by one at a time. */
struct relabel_scratch {
    struct pattern_scratch *pattern;
    struct buffer source, made;
};
MUST_CHECK int relabel_scratch_init(struct relabel_scratch *scratch, struct error *err);
void relabel_scratch_done(struct relabel_scratch *scratch);

/* Applies the rules to `set`; what they make is in `arena`. `ret_is_kept` is false when a rule dropped the target. Errors:
 * ERR_LIMIT (labels, bytes, steps of a regular expression), ERR_MEMORY; then the set is half changed. */
MUST_CHECK int relabel_apply(const struct relabel_rule *rules, size_t n_rules, struct relabel_scratch *scratch,
                             struct arena *arena, struct relabel_set *set, bool *ret_is_kept, struct error *err);
