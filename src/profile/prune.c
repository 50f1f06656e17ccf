// SPDX-License-Identifier: Apache-2.0
#include "profile/prune.h"

#include "profile/pattern.h"
#include "profile/rewrite_internal.h"

bool prune_is_needed(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->n_profiles; i++)
        if (batch->profiles[i].drop_frames)
            return true;
    return false;
}

struct slice prune_simple_name(struct slice name)
{
    static const struct slice reserved[] = { SLICE("(anonymous namespace)"), SLICE("operator()") };

    if (name.len > 0 && name.ptr[0] == '.') /* PowerPC writes one before the names of functions */
        name = slice_sub(name, 1, name.len);
    for (size_t at = 0; at < name.len; at++) {
        struct slice rest = slice_sub(name, at, name.len);
        bool is_reserved = false;

        for (size_t i = 0; i < ARRAY_LEN(reserved) && !is_reserved; i++) {
            is_reserved = slice_starts_with(rest, reserved[i]);
            if (is_reserved)
                at += reserved[i].len - 1;
        }
        if (!is_reserved && rest.ptr[0] == '(')
            return slice_sub(name, 0, at);
    }
    return name;
}

/* What was found out about a frame. */
enum { IS_DROPPED = 1, HAS_DROPPED_LINES = 2 };

/* The pruning of one profile, or of several in a row with the same patterns. */
struct prune {
    struct pattern *drop, *keep;
    struct pattern_scratch *scratch;
    struct tables tables; /* edited */
    uint8_t *known;       /* [string] 0 = not tried yet, 1 = stays, 2 = goes */
    uint8_t *marks;       /* [frame] */
};

static int is_dropped_name(struct prune *p, uint32_t string, bool *ret_is_dropped, struct error *err)
{
    uint8_t *known = &p->known[string];

    if (*known == 0) {
        struct slice name = prune_simple_name(tables_string(&p->tables, string));
        bool drops, keeps = false;

        if (pattern_test(p->drop, p->scratch, name, &drops, err) < 0 ||
            (drops && p->keep && pattern_test(p->keep, p->scratch, name, &keeps, err) < 0))
            return -1;
        *known = drops && !keeps ? 2 : 1;
    }
    *ret_is_dropped = *known == 2;
    return 0;
}

/* Finds the outermost line that goes; it takes those inside of it along. */
static int judge_frame(struct prune *p, struct frame *frame, uint8_t *mark, struct error *err)
{
    for (uint16_t i = frame->n_lines; i-- > 0;) {
        uint32_t name = p->tables.functions[p->tables.lines[frame->first_line + i].function].name;
        bool is_dropped = false;

        if (name && is_dropped_name(p, name, &is_dropped, err) < 0)
            return -1;
        if (!is_dropped)
            continue;
        if (i + 1 == frame->n_lines) {
            *mark = IS_DROPPED;
        } else {
            *mark = HAS_DROPPED_LINES;
            frame->first_line += i + 1u;
            frame->n_lines = (uint16_t)(frame->n_lines - i - 1);
        }
        return 0;
    }
    return 0;
}

static uint32_t edit_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth)
{
    const struct prune *p = context;
    bool has_ordinary = false;

    for (uint32_t i = depth; i-- > 0;) {
        uint8_t mark = p->marks[frames[i]];
        uint32_t first;

        has_ordinary |= mark == 0;
        if (mark == 0 || !has_ordinary)
            continue;
        first = mark == IS_DROPPED ? i + 1 : i;
        memmove(frames, frames + first, (depth - first) * sizeof(*frames));
        return depth - first;
    }
    return depth;
}

static int edit_tables(struct prune *p, struct arena *arena, struct error *err)
{
    p->known = arena_alloc_zero(arena, p->tables.n_strings, err);
    p->marks = arena_alloc_zero(arena, p->tables.n_frames, err);
    if (!p->known || !p->marks || rewrite_own_frames(&p->tables, arena, err) < 0)
        return -1;
    for (uint32_t i = 0; i < p->tables.n_frames; i++)
        if (judge_frame(p, &p->tables.frames[i], &p->marks[i], err) < 0)
            return -1;
    return rewrite_own_stacks(&p->tables, arena, edit_stack, p, err);
}

/* Reads the patterns of a profile. A bad one is told, and `drop` stays NULL. */
static int read_patterns(struct prune *p, const struct profile *profile, struct report *report, struct error *err)
{
    int result = 0;

    if (profile->drop_frames)
        result = pattern_new(tables_string(profile->tables, profile->drop_frames), PATTERN_WHOLE, &p->drop, err);
    if (result == 0 && profile->drop_frames && profile->keep_frames)
        result = pattern_new(tables_string(profile->tables, profile->keep_frames), PATTERN_WHOLE, &p->keep, err);
    if (result == 0 || err->code == ERR_MEMORY)
        return result;
    report_add(report, "drop_frames or keep_frames cannot be read; no frames dropped", 1, "%s", err->text);
    pattern_free(p->drop);
    p->drop = NULL;
    return 0;
}

/* Profiles from `first` on that have its patterns: how many. */
static uint32_t count_alike(const struct batch *batch, uint32_t first)
{
    const struct profile *profiles = batch->profiles;
    uint32_t end = first + 1;

    while (end < batch->n_profiles && profiles[end].drop_frames == profiles[first].drop_frames &&
           profiles[end].keep_frames == profiles[first].keep_frames)
        end++;
    return end - first;
}

static int prune_profiles(struct rewrite *rewrite, struct prune *p, uint32_t first, uint32_t n, struct error *err)
{
    const struct batch *in = rewrite->in;

    if (read_patterns(p, &in->profiles[first], builder_report(rewrite->builder), err) < 0 ||
        (p->drop && (pattern_scratch_new(&p->scratch, err) < 0 || edit_tables(p, &rewrite->arena, err) < 0)))
        return -1;
    return rewrite_range(rewrite, &p->tables, first, n, NULL, NULL, err);
}

static int prune_batch(struct rewrite *rewrite, struct error *err)
{
    const struct batch *in = rewrite->in;
    uint32_t n;

    for (uint32_t first = 0; first < in->n_profiles; first += n) {
        struct prune prune = { .tables = in->tables };
        int result;

        n = count_alike(in, first);
        result = prune_profiles(rewrite, &prune, first, n, err);
        pattern_free(prune.drop);
        pattern_free(prune.keep);
        pattern_scratch_free(prune.scratch);
        arena_reset(&rewrite->arena);
        if (result < 0)
            return error_wrap(err, "dropping frames as profile %u asks", first);
    }
    return 0;
}

int prune_apply(const struct batch *in, struct batch *out, struct error *err)
{
    struct rewrite rewrite;
    int result;

    if (rewrite_init(&rewrite, in, out, err) < 0)
        return -1;
    result = prune_batch(&rewrite, err) < 0 ? -1 : rewrite_finish(&rewrite, out, err);
    rewrite_done(&rewrite);
    return result;
}
