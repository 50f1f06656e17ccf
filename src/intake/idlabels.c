// SPDX-License-Identifier: Apache-2.0
#include "intake/idlabels.h"

#include "base/bytes.h"

enum id_kind { NO_ID, TRACE_ID, SPAN_ID, ROOT_SPAN_ID };

/* Names in lower case and without anything between the words. */
static const struct {
    const char *name;
    enum id_kind kind;
} id_names[] = {
    { "traceid", TRACE_ID },
    { "spanid", SPAN_ID },
    { "profileid", SPAN_ID },
    { "localrootspanid", ROOT_SPAN_ID },
};
static const char *const prefixes[] = { "pyroscope", "processcontextlabel" };
#define MAX_SQUEEZED 48

static enum id_kind kind_of(struct slice key)
{
    char text[MAX_SQUEEZED];
    struct slice word = { text, 0 };

    /* All names end so, which most labels do not. */
    if (key.len < 6 || (key.ptr[key.len - 1] | 0x20) != 'd' || (key.ptr[key.len - 2] | 0x20) != 'i')
        return NO_ID;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (c == '.' || c == '_' || c == '-' || c == ' ')
            continue;
        if (word.len == sizeof(text))
            return NO_ID;
        text[word.len++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (slice_starts_with(word, slice_from(prefixes[i])))
            word = slice_sub(word, strlen(prefixes[i]), SIZE_MAX);
    for (size_t i = 0; i < ARRAY_LEN(id_names); i++)
        if (slice_is(word, id_names[i].name))
            return id_names[i].kind;
    return NO_ID;
}

/* --- texts --- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_number(struct slice text, unsigned base, unsigned __int128 *ret_number)
{
    unsigned __int128 number = 0;

    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.ptr[i]);

        if (digit < 0 || (unsigned)digit >= base || __builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, (unsigned)digit, &number))
            return false;
    }
    *ret_number = number;
    return text.len > 0;
}

static bool put_number(unsigned __int128 number, uint8_t *id, size_t n_bytes)
{
    if (number == 0 || (n_bytes < 16 && number >> (8 * n_bytes) != 0))
        return false;
    for (size_t i = n_bytes; i > 0; i--, number >>= 8)
        id[i - 1] = (uint8_t)number;
    return true;
}

bool idlabels_parse(struct slice text, uint8_t *id, size_t n_bytes)
{
    unsigned __int128 number;
    bool is_hex = text.len == 2 * n_bytes || text.len == 16;

    if (!parse_number(text, is_hex ? 16 : 10, &number))
        return false;
    return put_number(number, id, n_bytes);
}

/* --- labels --- */

static bool read_id(const struct tables *tables, const struct label *label, uint8_t *id, size_t n_bytes)
{
    if (label->kind == LABEL_NUMBER)
        return put_number((uint64_t)label->number, id, n_bytes);
    return label->kind == LABEL_STRING && idlabels_parse(tables_string(tables, label->text), id, n_bytes);
}

/* What a label set has of ids, and which of its labels those are. */
struct found {
    struct link link;
    const struct label *trace, *span;
};

static void look_at(const struct tables *tables, uint32_t set, struct found *found)
{
    uint8_t root[sizeof(found->link.span_id)];
    const struct label *root_label = NULL;
    uint32_t n;
    const struct label *labels = tables_label_set(tables, set, &n);

    *found = (struct found){ .trace = NULL };
    for (uint32_t i = 0; i < n; i++) {
        switch (kind_of(tables_string(tables, labels[i].key))) {
        case NO_ID: break;
        case TRACE_ID:
            if (!found->trace && read_id(tables, &labels[i], found->link.trace_id, sizeof(found->link.trace_id)))
                found->trace = &labels[i];
            break;
        case SPAN_ID:
            if (!found->span && read_id(tables, &labels[i], found->link.span_id, sizeof(found->link.span_id)))
                found->span = &labels[i];
            break;
        case ROOT_SPAN_ID:
            if (!root_label && read_id(tables, &labels[i], root, sizeof(root)))
                root_label = &labels[i];
            break;
        }
    }
    if (!found->span && root_label) {
        found->span = root_label;
        memcpy(found->link.span_id, root, sizeof(root));
    }
}

/* Where the ids of each label set went: its link, and the set without them. */
struct lifted {
    uint32_t link; /* 0 = it has none */
    uint32_t set;
    bool is_seen;
};

struct lifting {
    struct batch *batch;
    struct lifted *lifted; /* [n_sets] */
    uint32_t n_sets;       /* before anything was lifted */
};

static bool has_ids(const struct tables *tables)
{
    for (uint32_t i = 0; i < tables->n_labels; i++)
        if (kind_of(tables_string(tables, tables->labels[i].key)) != NO_ID)
            return true;
    return false;
}

/* Room for a link and a label set more for each set there is; the labels of the new sets are those of the old. */
static int make_room(struct lifting *l, struct error *err)
{
    struct arena *arena = &l->batch->arena;
    struct tables *t = &l->batch->tables;
    struct label *labels = ARENA_ARRAY(arena, struct label, 2 * (size_t)t->n_labels, err);
    uint32_t *starts = labels ? ARENA_ARRAY(arena, uint32_t, 2 * (size_t)t->n_label_sets + 1, err) : NULL;
    struct link *links = starts ? ARENA_ARRAY(arena, struct link, (size_t)t->n_links + t->n_label_sets, err) : NULL;

    l->lifted = links ? arena_alloc_zero(arena, t->n_label_sets * sizeof(*l->lifted), err) : NULL;
    if (!l->lifted)
        return -1;
    l->n_sets = t->n_label_sets;
    if (t->n_labels > 0)
        memcpy(labels, t->labels, t->n_labels * sizeof(*labels));
    memcpy(starts, t->label_set_starts, ((size_t)t->n_label_sets + 1) * sizeof(*starts));
    memcpy(links, t->links, t->n_links * sizeof(*links));
    t->labels = labels;
    t->label_set_starts = starts;
    t->links = links;
    return 0;
}

static void lift_set(struct lifting *l, uint32_t set)
{
    struct tables *t = &l->batch->tables;
    struct lifted *lifted = &l->lifted[set];
    struct found found;
    uint32_t n, start = t->n_labels;
    const struct label *labels = tables_label_set(t, set, &n);

    *lifted = (struct lifted){ .set = set, .is_seen = true };
    look_at(t, set, &found);
    if (!found.trace && !found.span)
        return;
    lifted->link = t->n_links;
    t->links[t->n_links++] = found.link;
    for (uint32_t i = 0; i < n; i++)
        if (&labels[i] != found.trace && &labels[i] != found.span)
            t->labels[t->n_labels++] = labels[i];
    if (t->n_labels == start) {
        lifted->set = 0;
        return;
    }
    lifted->set = t->n_label_sets++;
    t->label_set_starts[t->n_label_sets] = t->n_labels;
}

static int lift_profile(struct lifting *l, struct profile *profile, struct error *err)
{
    if (!profile->label_sets)
        return 0;
    if (!profile->links) {
        profile->links = arena_alloc_zero(&l->batch->arena, profile->stride * sizeof(*profile->links), err);
        if (!profile->links)
            return -1;
    }
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        uint32_t set = profile->label_sets[i];

        if (set == 0 || profile->links[i] != 0)
            continue;
        if (!l->lifted[set].is_seen)
            lift_set(l, set);
        if (l->lifted[set].link != 0) {
            profile->links[i] = l->lifted[set].link;
            profile->label_sets[i] = l->lifted[set].set;
        }
    }
    return 0;
}

static bool has_labels(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (batch->profiles[i].label_sets)
            return true;
    return false;
}

int idlabels_lift(struct batch *batch, struct error *err)
{
    struct lifting l = { .batch = batch };

    if (!has_labels(batch) || !has_ids(&batch->tables))
        return 0;
    if (make_room(&l, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (lift_profile(&l, &batch->profiles[i], err) < 0)
            return -1;
    return 0;
}
