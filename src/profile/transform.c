// SPDX-License-Identifier: Apache-2.0
#include "profile/transform.h"

#include "profile/framematch_internal.h"
#include "profile/rewrite_internal.h"
#include "profile/symbolset.h"

/* What all of them do: edit the tables, then copy every sample. */
typedef int edit_tables(struct tables *tables, struct arena *arena, void *context, struct error *err);

static int transform(const struct batch *in, struct batch *out, edit_tables *edit, void *context, struct error *err)
{
    struct tables tables = in->tables;
    struct rewrite rewrite;
    int result;

    if (rewrite_init(&rewrite, in, out, err) < 0)
        return -1;
    result = edit(&tables, &rewrite.arena, context, err) < 0 || rewrite_all(&rewrite, &tables, NULL, NULL, err) < 0
                 ? -1
                 : rewrite_finish(&rewrite, out, err);
    rewrite_done(&rewrite);
    return result;
}

/* --- renaming --- */

struct renaming {
    const struct pattern *pattern;
    struct pattern_scratch *scratch;
    struct slice replacement;
    struct buffer text;
};

/* Gives the new name of a string id, as a new string behind the others; the same id if nothing changes. */
static int rename_string(struct renaming *r, struct tables *t, uint32_t string, struct arena *arena,
                         uint32_t *ret_string, struct error *err)
{
    uint32_t n;

    buffer_clear(&r->text);
    if (pattern_replace(r->pattern, r->scratch, tables_string(t, string), r->replacement, &r->text, &n, err) < 0)
        return -1;
    *ret_string = string;
    if (r->text.len == 0)
        return 0;
    *ret_string = t->n_strings;
    t->strings[t->n_strings] = arena_copy(arena, buffer_slice(&r->text), err);
    return t->strings[t->n_strings++].ptr ? 0 : -1;
}

static int rename_functions(struct tables *t, struct arena *arena, void *context, struct error *err)
{
    struct function *functions = ARENA_ARRAY(arena, struct function, t->n_functions, err);
    /* Each string may get a new one behind the old ones. */
    struct slice *strings = functions ? ARENA_ARRAY(arena, struct slice, (size_t)t->n_strings * 2, err) : NULL;
    uint32_t *renamed = strings ? arena_alloc_zero(arena, t->n_strings * sizeof(*renamed), err) : NULL;

    if (!renamed)
        return -1;
    memcpy(functions, t->functions, t->n_functions * sizeof(*functions));
    memcpy(strings, t->strings, t->n_strings * sizeof(*strings));
    t->functions = functions;
    t->strings = strings;
    for (uint32_t i = 0; i < t->n_functions; i++) {
        uint32_t name = functions[i].name;

        if (name && !renamed[name] && rename_string(context, t, name, arena, &renamed[name], err) < 0)
            return -1;
        functions[i].name = renamed[name];
        if (functions[i].system_name == name)
            functions[i].system_name = renamed[name];
    }
    return 0;
}

int transform_rename(const struct batch *in, const struct pattern *pattern, struct slice replacement, struct batch *out,
                     struct error *err)
{
    struct renaming renaming = { .pattern = pattern, .replacement = replacement };
    int result;

    if (in->tables.n_strings > UINT32_MAX / 2)
        return error_set(err, ERR_LIMIT, "%u strings are too many to rename", in->tables.n_strings);
    if (pattern_scratch_new(&renaming.scratch, err) < 0)
        return -1;
    buffer_init(&renaming.text, in->limits.max_memory_bytes);
    result = transform(in, out, rename_functions, &renaming, err);
    buffer_done(&renaming.text);
    pattern_scratch_free(renaming.scratch);
    return result;
}

/* --- dropping --- */

struct dropping {
    const struct pattern *pattern;
    struct pattern_scratch *scratch;
    struct framematch match;
    bool *is_dropped; /* [frame] */
};

static int drop_lines(struct dropping *d, struct tables *t, uint32_t id, struct error *err)
{
    struct frame *frame = &t->frames[id];
    struct line *lines = t->lines + frame->first_line;
    bool had_lines = frame->n_lines > 0, matches;
    uint16_t kept = 0;

    if (framematch_mapping(&d->match, frame, &matches, err) < 0)
        return -1;
    d->is_dropped[id] = matches;
    for (uint32_t i = 0; i < frame->n_lines && !d->is_dropped[id]; i++) {
        if (framematch_line(&d->match, &lines[i], &matches, err) < 0)
            return -1;
        if (!matches)
            lines[kept++] = lines[i];
    }
    frame->n_lines = kept;
    d->is_dropped[id] |= had_lines && kept == 0;
    return 0;
}

static uint32_t drop_from_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth)
{
    const struct dropping *d = context;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < depth; i++)
        if (!d->is_dropped[frames[i]])
            frames[kept++] = frames[i];
    return kept;
}

static int drop_functions(struct tables *t, struct arena *arena, void *context, struct error *err)
{
    struct dropping *d = context;

    d->is_dropped = arena_alloc_zero(arena, t->n_frames * sizeof(*d->is_dropped), err);
    if (!d->is_dropped || framematch_init(&d->match, d->pattern, d->scratch, t, NULL, arena, err) < 0 ||
        rewrite_own_frames(t, arena, err) < 0)
        return -1;
    for (uint32_t i = 0; i < t->n_frames; i++)
        if (drop_lines(d, t, i, err) < 0)
            return -1;
    return rewrite_own_stacks(t, arena, drop_from_stack, d, err);
}

int transform_drop(const struct batch *in, const struct pattern *pattern, struct batch *out, struct error *err)
{
    struct dropping dropping = { .pattern = pattern };
    int result;

    if (pattern_scratch_new(&dropping.scratch, err) < 0)
        return -1;
    result = transform(in, out, drop_functions, &dropping, err);
    pattern_scratch_free(dropping.scratch);
    return result;
}

/* --- inverting --- */

static uint32_t invert_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth)
{
    for (uint32_t i = 0; i < depth / 2; i++) {
        uint32_t frame = frames[i];

        frames[i] = frames[depth - 1 - i];
        frames[depth - 1 - i] = frame;
    }
    return depth;
}

static int invert_tables(struct tables *t, struct arena *arena, void *context, struct error *err)
{
    if (rewrite_own_frames(t, arena, err) < 0)
        return -1;
    for (uint32_t id = 0; id < t->n_frames; id++) {
        struct line *lines = t->lines + t->frames[id].first_line;
        uint32_t n = t->frames[id].n_lines;

        for (uint32_t i = 0; i < n / 2; i++) {
            struct line line = lines[i];

            lines[i] = lines[n - 1 - i];
            lines[n - 1 - i] = line;
        }
    }
    return rewrite_own_stacks(t, arena, invert_stack, NULL, err);
}

int transform_invert(const struct batch *in, struct batch *out, struct error *err)
{
    return transform(in, out, invert_tables, NULL, err);
}

/* --- collapsing recursion --- */

/* A frame whose outermost function equals the one that called it loses that line. As this depends on the caller, each
 * frame gets a twin, at id + n, that lacks it. */
#define UNNAMED 0x80000000u /* above all symbols and all frames */

struct collapsing {
    uint32_t n;          /* frames before the twins */
    uint32_t *outermost; /* [frame] symbol of its last line */
    uint32_t *innermost; /* [frame] symbol of its first line */
    bool *is_single;     /* [frame] all its lines are one function, or it has none: without the outermost it is gone */
};

/* Within a frame, of equal functions in a row the outermost stays. `ids` are their symbols and shrink along. */
static void collapse_lines(struct line *lines, uint32_t *ids, uint16_t *n_lines)
{
    uint16_t n = *n_lines, kept = 0;

    for (uint16_t i = 0; i < n; i++) {
        if (i + 1 < n && ids[i] == ids[i + 1])
            continue;
        ids[kept] = ids[i];
        lines[kept++] = lines[i];
    }
    *n_lines = kept;
}

static uint32_t collapse_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth)
{
    const struct collapsing *c = context;
    uint32_t caller = UINT32_MAX; /* symbol of the function before */
    uint32_t kept = depth;        /* frames[kept .. depth) stay */

    for (uint32_t i = depth; i-- > 0;) {
        uint32_t frame = frames[i];
        bool repeats = c->outermost[frame] == caller;

        if (!(repeats && c->is_single[frame]))
            frames[--kept] = repeats ? frame + c->n : frame;
        caller = c->innermost[frame];
    }
    memmove(frames, frames + kept, (depth - kept) * sizeof(*frames));
    return depth - kept;
}

static int make_twins(struct tables *t, struct arena *arena, struct error *err)
{
    size_t n = t->n_frames;
    struct frame *frames = ARENA_ARRAY(arena, struct frame, n * 2, err);

    if (!frames)
        return -1;
    memcpy(frames, t->frames, n * sizeof(*frames));
    memcpy(frames + n, t->frames, n * sizeof(*frames));
    for (size_t i = n; i < n * 2; i++)
        if (frames[i].n_lines)
            frames[i].n_lines--;
    t->frames = frames;
    t->n_frames *= 2;
    return 0;
}

/* Symbols of frames without names are those of their binary; here each frame is its own. */
static void tell_unnamed_apart(const struct symbolset *set, uint32_t frame, uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (symbolset_get(set, ids[i])->function.len == 0)
            ids[i] = UNNAMED | frame;
}

static int note_frames(struct collapsing *c, struct tables *t, const struct symbolset *set,
                       const struct symbolset_frames *symbols, struct arena *arena, struct error *err)
{
    c->n = t->n_frames;
    c->outermost = ARENA_ARRAY(arena, uint32_t, c->n, err);
    c->innermost = ARENA_ARRAY(arena, uint32_t, c->n, err);
    c->is_single = ARENA_ARRAY(arena, bool, c->n, err);
    if (!c->outermost || !c->innermost || !c->is_single)
        return -1;
    for (uint32_t i = 0; i < c->n; i++) {
        struct frame *frame = &t->frames[i];
        uint32_t *ids = symbols->ids + symbols->starts[i];

        tell_unnamed_apart(set, i, ids, symbolname_count(frame));
        collapse_lines(t->lines + frame->first_line, ids, &frame->n_lines);
        c->innermost[i] = ids[0];
        c->outermost[i] = ids[frame->n_lines ? frame->n_lines - 1 : 0];
        c->is_single[i] = frame->n_lines <= 1;
    }
    return 0;
}

static int collapse_tables(struct tables *t, struct arena *arena, void *context, struct error *err)
{
    struct symbolset *set = context;
    struct collapsing collapsing;
    struct symbolset_frames symbols;
    int result;

    if (rewrite_own_frames(t, arena, err) < 0 || symbolset_import(set, t, &symbols, err) < 0)
        return -1;
    result = note_frames(&collapsing, t, set, &symbols, arena, err) < 0 || make_twins(t, arena, err) < 0
                 ? -1
                 : rewrite_own_stacks(t, arena, collapse_stack, &collapsing, err);
    symbolset_frames_done(&symbols);
    return result;
}

int transform_collapse_recursion(const struct batch *in, struct batch *out, struct error *err)
{
    struct symbolset set;
    int result;

    if (in->tables.n_frames > INT32_MAX)
        return error_set(err, ERR_LIMIT, "%u frames are too many to collapse", in->tables.n_frames);
    symbolset_init(&set, SYMBOL_FUNCTION);
    result = transform(in, out, collapse_tables, &set, err);
    symbolset_done(&set);
    return result;
}

/* --- keeping leaves --- */

struct leaves {
    uint32_t n;
    uint32_t offset; /* to the frames without their innermost line; 0 = there are none */
};

static uint32_t keep_leaves(void *context, uint32_t stack UNUSED, uint32_t *frames, uint32_t depth)
{
    const struct leaves *leaves = context;

    frames[0] += leaves->offset;
    return MIN(depth, leaves->n);
}

/* Puts a second of each frame behind them all, without the number of its innermost line. */
static int add_lineless(struct tables *t, struct arena *arena, struct error *err)
{
    struct frame *frames = ARENA_ARRAY(arena, struct frame, 2 * (size_t)t->n_frames, err);
    struct line *lines = frames ? ARENA_ARRAY(arena, struct line, 2 * (size_t)t->n_lines, err) : NULL;

    if (!lines)
        return -1;
    memcpy(frames, t->frames, t->n_frames * sizeof(*frames));
    memcpy(frames + t->n_frames, t->frames, t->n_frames * sizeof(*frames));
    if (t->n_lines > 0) {
        memcpy(lines, t->lines, t->n_lines * sizeof(*lines));
        memcpy(lines + t->n_lines, t->lines, t->n_lines * sizeof(*lines));
    }
    for (uint32_t i = t->n_frames; i < 2 * t->n_frames; i++) {
        frames[i].first_line += t->n_lines;
        if (frames[i].n_lines == 0)
            continue; /* its address is all there is to know of it */
        frames[i].address = 0;
        lines[frames[i].first_line].line = lines[frames[i].first_line].column = 0;
    }
    t->frames = frames;
    t->lines = lines;
    t->n_frames *= 2;
    t->n_lines *= 2;
    return 0;
}

static int cut_tables(struct tables *t, struct arena *arena, void *context, struct error *err)
{
    struct leaves *leaves = context;

    if (leaves->offset && (t->n_frames > UINT32_MAX / 2 || t->n_lines > UINT32_MAX / 2))
        return error_set(err, ERR_LIMIT, "%u frames are too many to have twice", t->n_frames);
    if (leaves->offset) {
        leaves->offset = t->n_frames;
        if (add_lineless(t, arena, err) < 0)
            return -1;
    }
    return rewrite_own_stacks(t, arena, keep_leaves, leaves, err);
}

int transform_keep_leaves(const struct batch *in, uint32_t n, bool merges_leaves, struct batch *out, struct error *err)
{
    struct leaves leaves = { .n = n, .offset = merges_leaves };

    return transform(in, out, cut_tables, &leaves, err);
}
