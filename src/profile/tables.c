// SPDX-License-Identifier: Apache-2.0
#include "profile/tables.h"

#include "profile/content.h"

static const char *const kind_names[] = {
#define FRAME_KIND_NAME(name, text) text,
    FRAME_KINDS(FRAME_KIND_NAME)
#undef FRAME_KIND_NAME
};

const char *frame_kind_name(enum frame_kind kind)
{
    return kind < ARRAY_LEN(kind_names) ? kind_names[kind] : "";
}

enum frame_kind frame_kind_find(struct slice name)
{
    for (uint32_t i = 1; i < ARRAY_LEN(kind_names); i++)
        if (slice_is(name, kind_names[i]))
            return (enum frame_kind)i;
    return FRAME_UNKNOWN;
}

const struct label *tables_find_label(const struct tables *tables, uint32_t set, struct slice key)
{
    uint32_t n;
    const struct label *labels = tables_label_set(tables, set, &n);

    for (uint32_t i = 0; i < n; i++)
        if (slice_equal(tables_string(tables, labels[i].key), key))
            return &labels[i];
    return NULL;
}

int tables_init_empty(struct tables *tables, struct arena *arena, struct error *err)
{
    struct {
        struct mapping mapping;
        struct frame frame;
        struct link link;
        struct function function;
        struct slice string;
        uint32_t starts[4];
    } *zero = ARENA_NEW(arena, __typeof__(*zero), err);

    if (!zero)
        return -1;
    zero->string = SLICE("");
    *tables = (struct tables){
        .strings = &zero->string,
        .mappings = &zero->mapping,
        .functions = &zero->function,
        .lines = (struct line *)zero, /* empty, but a place: NULL + 0 is not allowed */
        .frames = &zero->frame,
        .stack_frames = zero->starts,
        .stack_starts = zero->starts,
        .labels = (struct label *)zero,
        .label_set_starts = zero->starts,
        .links = &zero->link,
        .n_strings = 1,
        .n_mappings = 1,
        .n_functions = 1,
        .n_frames = 1,
        .n_stacks = 1,
        .n_label_sets = 1,
        .n_links = 1,
    };
    return 0;
}

/* Whether some stack could be too deep, judged by the deepest one and the frame with the most lines. */
static bool may_be_too_deep(const struct tables *t, uint32_t max_depth)
{
    uint32_t most_lines = 1, deepest = 0;

    for (uint32_t i = 0; i < t->n_frames; i++)
        most_lines = MAX(most_lines, t->frames[i].n_lines);
    for (uint32_t i = 0; i < t->n_stacks; i++)
        deepest = MAX(deepest, t->stack_starts[i + 1] - t->stack_starts[i]);
    return (uint64_t)most_lines * deepest > max_depth;
}

/* How many frames of the stack, from the leaf, stand for at most `max_depth` functions. */
static uint32_t frames_within(const struct tables *t, const uint32_t *frames, uint32_t n, uint32_t max_depth)
{
    uint32_t depth = 0, kept = 0;

    while (kept < n) {
        depth += MAX(t->frames[frames[kept]].n_lines, (uint16_t)1);
        if (depth > max_depth && kept > 0)
            break;
        kept++;
    }
    return kept;
}

uint32_t tables_limit_depth(struct tables *t, uint32_t max_depth)
{
    uint32_t n_cut = 0, end = 0;

    if (!may_be_too_deep(t, max_depth))
        return 0;
    for (uint32_t i = 0; i < t->n_stacks; i++) {
        uint32_t start = t->stack_starts[i], n = t->stack_starts[i + 1] - start;
        uint32_t kept = frames_within(t, t->stack_frames + start, n, max_depth);

        memmove(t->stack_frames + end, t->stack_frames + start, kept * sizeof(*t->stack_frames));
        n_cut += kept < n;
        t->stack_starts[i] = end;
        end += kept;
    }
    t->stack_starts[t->n_stacks] = end;
    t->n_stack_frames = end;
    return n_cut;
}

/* One broken reference, told in the words of the tables. */
static int bad(struct error *err, const char *what, uint32_t index, const char *field, uint64_t value, uint64_t limit)
{
    return error_set(err, ERR_CORRUPT, "%s %u: %s is %llu, must be below %llu", what, index, field,
                     (unsigned long long)value, (unsigned long long)limit);
}

static int check_starts(const uint32_t *starts, uint32_t n, uint32_t n_items, const char *what, struct error *err)
{
    if (starts[0] != 0 || starts[1] != 0)
        return error_set(err, ERR_CORRUPT, "%s 0 is not empty", what);
    for (uint32_t i = 0; i < n; i++)
        if (starts[i + 1] < starts[i] || starts[i + 1] > n_items)
            return bad(err, what, i, "end", starts[i + 1], (uint64_t)n_items + 1);
    return 0;
}

static int check_zero_entries(const struct tables *t, struct error *err)
{
    static const struct mapping no_mapping;
    static const struct function no_function;
    static const struct frame no_frame;
    static const struct link no_link;

    if (!t->n_strings || !t->n_mappings || !t->n_functions || !t->n_frames || !t->n_stacks || !t->n_label_sets ||
        !t->n_links)
        return error_set(err, ERR_CORRUPT, "a table lacks its entry 0");
    if (t->strings[0].len != 0 || memcmp(&t->mappings[0], &no_mapping, sizeof(no_mapping)) != 0 ||
        memcmp(&t->functions[0], &no_function, sizeof(no_function)) != 0 ||
        memcmp(&t->frames[0], &no_frame, sizeof(no_frame)) != 0 || memcmp(&t->links[0], &no_link, sizeof(no_link)) != 0)
        return error_set(err, ERR_CORRUPT, "entry 0 of a table is not the zero entry");
    return 0;
}

static int check_symbols(const struct tables *t, struct error *err)
{
    for (uint32_t i = 0; i < t->n_mappings; i++) {
        const struct mapping *m = &t->mappings[i];
        uint32_t highest = MAX(MAX(m->file, m->build_id), MAX(m->build_id_go, m->build_id_hash));

        if (highest >= t->n_strings)
            return bad(err, "mapping", i, "string", highest, t->n_strings);
    }
    for (uint32_t i = 0; i < t->n_functions; i++) {
        const struct function *f = &t->functions[i];
        uint32_t highest = MAX(MAX(f->name, f->system_name), f->file);

        if (highest >= t->n_strings)
            return bad(err, "function", i, "string", highest, t->n_strings);
    }
    for (uint32_t i = 0; i < t->n_lines; i++)
        if (t->lines[i].function >= t->n_functions)
            return bad(err, "line", i, "function", t->lines[i].function, t->n_functions);
    for (uint32_t i = 0; i < t->n_frames; i++) {
        const struct frame *f = &t->frames[i];

        if (f->mapping >= t->n_mappings)
            return bad(err, "frame", i, "mapping", f->mapping, t->n_mappings);
        if ((uint64_t)f->first_line + f->n_lines > t->n_lines)
            return bad(err, "frame", i, "end of lines", (uint64_t)f->first_line + f->n_lines, t->n_lines + 1ull);
        if (f->kind >= ARRAY_LEN(kind_names))
            return bad(err, "frame", i, "kind", f->kind, ARRAY_LEN(kind_names));
    }
    return 0;
}

int tables_check(const struct tables *t, struct error *err)
{
    if (check_zero_entries(t, err) < 0 || check_symbols(t, err) < 0 ||
        check_starts(t->stack_starts, t->n_stacks, t->n_stack_frames, "stack", err) < 0 ||
        check_starts(t->label_set_starts, t->n_label_sets, t->n_labels, "label set", err) < 0)
        return -1;
    for (uint32_t i = 0; i < t->n_stacks; i++)
        if (t->stack_starts[i + 1] - t->stack_starts[i] > CONTENT_MAX_DEPTH)
            return bad(err, "stack", i, "depth", t->stack_starts[i + 1] - t->stack_starts[i], CONTENT_MAX_DEPTH + 1);
    for (uint32_t i = 0; i < t->n_stack_frames; i++)
        if (t->stack_frames[i] >= t->n_frames)
            return bad(err, "stack entry", i, "frame", t->stack_frames[i], t->n_frames);
    for (uint32_t i = 0; i < t->n_labels; i++) {
        const struct label *l = &t->labels[i];
        uint32_t highest = MAX(MAX(l->key, l->text), l->unit);

        if (highest >= t->n_strings)
            return bad(err, "label", i, "string", highest, t->n_strings);
        if (l->kind > LABEL_JSON)
            return bad(err, "label", i, "kind", l->kind, LABEL_JSON + 1);
    }
    return 0;
}
