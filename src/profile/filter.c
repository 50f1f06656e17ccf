// SPDX-License-Identifier: Apache-2.0
#include "profile/filter.h"

#include "base/memory.h"
#include "profile/framematch_internal.h"
#include "profile/labelmatch.h"
#include "profile/rewrite_internal.h"
#include "profile/symbolname.h"

enum name_filter { FOCUS, IGNORED, HIDE, SHOW, SHOW_FROM, NAME_FILTERS };
enum tag_filter { TAG_FOCUS, TAG_IGNORE, TAG_FILTERS };

static const char *const option_names[] = { "focus", "ignore", "hide", "show", "show-from" };
static const char *const tag_option_names[] = { "tagfocus", "tagignore" };
static const char *const no_match_notes[] = {
    "focus matches no frame", "ignore matches no frame",    "hide matches no frame",
    "show matches no frame",  "show-from matches no frame",
};
static const char *const no_tag_match_notes[] = { "tagfocus matches no sample", "tagignore matches no sample" };

struct filter {
    struct pattern *names[NAME_FILTERS];
    struct labelmatch *tags[TAG_FILTERS];
    struct labelmatch **labels;
    uint32_t n_labels;
    struct slice *call_site; /* from the arena */
    uint32_t n_call_site;
    struct arena arena;
};

/* --- reading --- */

static int read_names(struct filter *filter, const struct filter_spec *spec, struct error *err)
{
    const struct slice texts[] = { spec->focus, spec->ignore, spec->hide, spec->show, spec->show_from };
    const struct slice tags[] = { spec->tag_focus, spec->tag_ignore };

    for (size_t i = 0; i < NAME_FILTERS; i++)
        if (texts[i].len && pattern_new(texts[i], PATTERN_SEARCH, &filter->names[i], err) < 0)
            return error_wrap(err, "%s", option_names[i]);
    for (size_t i = 0; i < TAG_FILTERS; i++)
        if (tags[i].len && labelmatch_new_tag(tags[i], &filter->tags[i], err) < 0)
            return error_wrap(err, "%s", tag_option_names[i]);
    return 0;
}

static int copy_call_site(struct filter *filter, const struct filter_spec *spec, struct error *err)
{
    filter->call_site = ARENA_ARRAY(&filter->arena, struct slice, spec->n_call_site, err);
    if (!filter->call_site)
        return -1;
    for (; filter->n_call_site < spec->n_call_site; filter->n_call_site++) {
        struct slice copy = arena_copy(&filter->arena, spec->call_site[filter->n_call_site], err);

        if (!copy.ptr)
            return -1;
        filter->call_site[filter->n_call_site] = copy;
    }
    return 0;
}

int filter_new(const struct filter_spec *spec, struct filter **ret_filter, struct error *err)
{
    AUTO(filter_freep) struct filter *filter = MEMORY_NEW(struct filter, err);

    if (!filter)
        return -1;
    arena_init(&filter->arena, 0);
    if (read_names(filter, spec, err) < 0 || (spec->n_call_site && copy_call_site(filter, spec, err) < 0))
        return -1;
    filter->labels = memory_alloc_zero(spec->n_labels * sizeof(*filter->labels), err);
    if (!filter->labels)
        return -1;
    for (; filter->n_labels < spec->n_labels; filter->n_labels++)
        if (labelmatch_new(spec->labels[filter->n_labels], &filter->labels[filter->n_labels], err) < 0)
            return error_wrap(err, "label");
    *ret_filter = TAKE(filter);
    return 0;
}

void filter_free(struct filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < NAME_FILTERS; i++)
        pattern_free(filter->names[i]);
    for (size_t i = 0; i < TAG_FILTERS; i++)
        labelmatch_free(filter->tags[i]);
    for (uint32_t i = 0; i < filter->n_labels; i++)
        labelmatch_free(filter->labels[i]);
    memory_free(filter->labels);
    arena_done(&filter->arena);
    memory_free(filter);
}

void filter_freep(struct filter **filter)
{
    filter_free(*filter);
}

/* --- names --- */

/* What was found out about a frame. */
enum { IS_FOCUSED = 1, IS_IGNORED = 2, IS_HIDDEN = 4, IS_SHOWN_FROM = 8 };

/* One filter_apply. */
struct run {
    const struct filter *filter;
    struct rewrite rewrite;
    struct tables tables; /* edited */
    struct pattern_scratch *scratch;
    struct framematch names[NAME_FILTERS];
    uint8_t *marks;     /* [frame] */
    bool *drops_stack;  /* [stack] */
    bool *is_elsewhere; /* [stack] it does not begin at the call site; NULL = none is asked for */
    bool has_matched[NAME_FILTERS];
    struct labelmatch_run *tags[TAG_FILTERS];
    bool has_matched_tag[TAG_FILTERS];
    struct labelmatch_run **labels;
    const struct profile *profile; /* that the label runs are set to */
};

static int judge_focus(struct run *run, const struct frame *frame, uint8_t *mark, struct error *err)
{
    bool matches;

    if (run->filter->names[IGNORED]) {
        if (framematch_frame(&run->names[IGNORED], frame, &matches, err) < 0)
            return -1;
        run->has_matched[IGNORED] |= matches;
        if (matches) {
            *mark |= IS_IGNORED;
            return 0;
        }
    }
    matches = true;
    if (run->filter->names[FOCUS] && framematch_frame(&run->names[FOCUS], frame, &matches, err) < 0)
        return -1;
    run->has_matched[FOCUS] |= matches;
    *mark |= matches ? IS_FOCUSED : 0;
    return 0;
}

/* Keeps the lines that match (or those that do not), in place. A line without a function stays either way. */
static int keep_lines(struct run *run, enum name_filter which, struct frame *frame, bool if_matching, struct error *err)
{
    struct line *lines = run->tables.lines + frame->first_line;
    uint16_t kept = 0;

    for (uint32_t i = 0; i < frame->n_lines; i++) {
        bool matches;

        if (framematch_line(&run->names[which], &lines[i], &matches, err) < 0)
            return -1;
        if (matches == if_matching || lines[i].function == 0)
            lines[kept++] = lines[i];
    }
    frame->n_lines = kept;
    return 0;
}

static int hide(struct run *run, struct frame *frame, uint8_t *mark, struct error *err)
{
    bool matches, mapping_matches;

    if (framematch_frame(&run->names[HIDE], frame, &matches, err) < 0 ||
        framematch_mapping(&run->names[HIDE], frame, &mapping_matches, err) < 0)
        return -1;
    if (!matches)
        return 0;
    run->has_matched[HIDE] = true;
    if (mapping_matches)
        frame->n_lines = 0;
    else if (keep_lines(run, HIDE, frame, false, err) < 0)
        return -1;
    if (frame->n_lines == 0)
        *mark |= IS_HIDDEN;
    return 0;
}

static int show(struct run *run, struct frame *frame, uint8_t *mark, struct error *err)
{
    bool mapping_matches;

    if (framematch_mapping(&run->names[SHOW], frame, &mapping_matches, err) < 0 ||
        (!mapping_matches && keep_lines(run, SHOW, frame, true, err) < 0))
        return -1;
    if (frame->n_lines == 0)
        *mark |= IS_HIDDEN;
    else
        run->has_matched[SHOW] = true;
    return 0;
}

/* Cuts the lines that called the outermost match. pprof does so wherever the frame stands, and so do we. */
static int show_from(struct run *run, struct frame *frame, uint8_t *mark, struct error *err)
{
    bool matches;

    if (framematch_mapping(&run->names[SHOW_FROM], frame, &matches, err) < 0)
        return -1;
    for (uint16_t i = frame->n_lines; i > 0 && !matches; i--) {
        if (framematch_line(&run->names[SHOW_FROM], &run->tables.lines[frame->first_line + i - 1], &matches, err) < 0)
            return -1;
        if (matches)
            frame->n_lines = i;
    }
    run->has_matched[SHOW_FROM] |= matches;
    *mark |= matches ? IS_SHOWN_FROM : 0;
    return 0;
}

static int judge_frames(struct run *run, struct error *err)
{
    const struct filter *filter = run->filter;

    for (uint32_t i = 0; i < run->tables.n_frames; i++) {
        struct frame *frame = &run->tables.frames[i];
        uint8_t *mark = &run->marks[i];

        if (judge_focus(run, frame, mark, err) < 0 || (filter->names[HIDE] && hide(run, frame, mark, err) < 0) ||
            (filter->names[SHOW] && show(run, frame, mark, err) < 0) ||
            (filter->names[SHOW_FROM] && show_from(run, frame, mark, err) < 0))
            return -1;
    }
    return 0;
}

/* --- stacks --- */

static bool is_focused(const struct run *run, const uint32_t *frames, uint32_t depth)
{
    uint8_t marks = 0;

    for (uint32_t i = 0; i < depth; i++)
        marks |= run->marks[frames[i]];
    return (marks & IS_FOCUSED) && !(marks & IS_IGNORED);
}

/* Whether the name that a stack has at some place from the root is `wanted`. */
static bool is_called(const struct tables *t, uint32_t frame, uint32_t line, struct slice wanted, struct buffer *text)
{
    struct symbolname name = symbolname_get(t, frame, line, SYMBOL_FUNCTION);

    buffer_clear(text);
    symbolname_print(t, &name, text);
    return slice_equal(buffer_slice(text), wanted);
}

static bool begins_at(const struct filter *filter, const struct tables *t, uint32_t stack, struct buffer *text)
{
    uint32_t depth, n = 0;
    const uint32_t *frames = tables_stack(t, stack, &depth);

    while (depth > 0 && n < filter->n_call_site) {
        uint32_t frame = frames[--depth];

        for (uint32_t line = symbolname_count(&t->frames[frame]); line > 0 && n < filter->n_call_site; line--)
            if (!is_called(t, frame, line - 1, filter->call_site[n++], text))
                return false;
    }
    return n == filter->n_call_site;
}

/* Before frames are edited. */
static int find_call_site(struct run *run, struct error *err)
{
    const struct tables *t = &run->tables;
    AUTO(buffer_done) struct buffer text;

    buffer_init(&text, 0);
    run->is_elsewhere = ARENA_ARRAY(&run->rewrite.arena, bool, t->n_stacks, err);
    if (!run->is_elsewhere)
        return -1;
    for (uint32_t stack = 0; stack < t->n_stacks; stack++)
        run->is_elsewhere[stack] = !begins_at(run->filter, t, stack, &text);
    return buffer_check(&text, err);
}

static uint32_t edit_stack(void *context, uint32_t stack, uint32_t *frames, uint32_t depth)
{
    struct run *run = context;
    uint32_t kept = 0;

    run->drops_stack[stack] = !is_focused(run, frames, depth) || (run->is_elsewhere && run->is_elsewhere[stack]);
    for (uint32_t i = 0; i < depth; i++)
        if (!(run->marks[frames[i]] & IS_HIDDEN))
            frames[kept++] = frames[i];
    if (run->filter->names[SHOW_FROM])
        while (kept > 0 && !(run->marks[frames[kept - 1]] & IS_SHOWN_FROM))
            kept--;
    run->drops_stack[stack] |= kept == 0;
    return kept;
}

static bool has_name_filter(const struct filter *filter)
{
    for (size_t i = 0; i < NAME_FILTERS; i++)
        if (filter->names[i])
            return true;
    return filter->n_call_site > 0;
}

static int filter_names(struct run *run, struct error *err)
{
    struct arena *arena = &run->rewrite.arena;
    const struct tables *t = &run->tables;

    run->marks = arena_alloc_zero(arena, t->n_frames, err);
    run->drops_stack = arena_alloc_zero(arena, t->n_stacks * sizeof(*run->drops_stack), err);
    if (!run->marks || !run->drops_stack || (run->filter->n_call_site && find_call_site(run, err) < 0))
        return -1;
    for (uint32_t i = 0; i < NAME_FILTERS; i++)
        if (run->filter->names[i] &&
            framematch_init(&run->names[i], run->filter->names[i], run->scratch, t, option_names[i], arena, err) < 0)
            return -1;
    for (uint32_t stack = 0; stack < t->n_stacks; stack++)
        run->drops_stack[stack] = t->stack_starts[stack] == t->stack_starts[stack + 1];
    return rewrite_own_frames(&run->tables, arena, err) < 0 || judge_frames(run, err) < 0
               ? -1
               : rewrite_own_stacks(&run->tables, arena, edit_stack, run, err);
}

/* --- samples --- */

static int start_labels(struct run *run, struct error *err)
{
    const struct filter *filter = run->filter;

    run->labels = arena_alloc_zero(&run->rewrite.arena, filter->n_labels * sizeof(*run->labels), err);
    if (!run->labels)
        return -1;
    for (size_t i = 0; i < TAG_FILTERS; i++)
        if (filter->tags[i] && labelmatch_run_new(filter->tags[i], run->scratch, &run->tags[i], err) < 0)
            return -1;
    for (uint32_t i = 0; i < filter->n_labels; i++)
        if (labelmatch_run_new(filter->labels[i], run->scratch, &run->labels[i], err) < 0)
            return -1;
    return 0;
}

static int set_profile(struct run *run, const struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < TAG_FILTERS; i++)
        if (run->tags[i] && labelmatch_run_profile(run->tags[i], profile, err) < 0)
            return -1;
    for (uint32_t i = 0; i < run->filter->n_labels; i++)
        if (labelmatch_run_profile(run->labels[i], profile, err) < 0)
            return -1;
    run->profile = profile;
    return 0;
}

static int choose_by_labels(struct run *run, uint32_t sample, bool *ret_stays, struct error *err)
{
    bool stays = true;

    for (uint32_t i = 0; i < run->filter->n_labels && stays; i++)
        if (labelmatch_run_test(run->labels[i], sample, &stays, err) < 0)
            return -1;
    for (size_t i = 0; i < TAG_FILTERS && stays; i++) {
        bool matches;

        if (!run->tags[i])
            continue;
        if (labelmatch_run_test(run->tags[i], sample, &matches, err) < 0)
            return error_wrap(err, "%s", tag_option_names[i]);
        run->has_matched_tag[i] |= matches;
        stays = matches == (i == TAG_FOCUS);
    }
    *ret_stays = stays;
    return 0;
}

static int choose(void *context, const struct profile *profile, uint32_t sample, bool *ret_stays, struct error *err)
{
    struct run *run = context;

    if (run->profile != profile && set_profile(run, profile, err) < 0)
        return -1;
    if (run->drops_stack && run->drops_stack[profile->stacks[sample]]) {
        *ret_stays = false;
        return 0;
    }
    return choose_by_labels(run, sample, ret_stays, err);
}

static void tell_what_matched_nothing(struct run *run)
{
    struct report *report = builder_report(run->rewrite.builder);

    for (size_t i = 0; i < NAME_FILTERS; i++)
        if (run->filter->names[i] && !run->has_matched[i])
            report_add(report, no_match_notes[i], 1, "in %u frames", run->tables.n_frames - 1);
    for (size_t i = 0; i < TAG_FILTERS; i++)
        if (run->filter->tags[i] && !run->has_matched_tag[i])
            report_add(report, no_tag_match_notes[i], 1, "in %u profiles", run->rewrite.in->n_profiles);
}

static int apply(struct run *run, struct batch *out, struct error *err)
{
    if (pattern_scratch_new(&run->scratch, err) < 0 || start_labels(run, err) < 0 ||
        (has_name_filter(run->filter) && filter_names(run, err) < 0) ||
        rewrite_all(&run->rewrite, &run->tables, choose, run, err) < 0)
        return -1;
    tell_what_matched_nothing(run);
    return rewrite_finish(&run->rewrite, out, err);
}

int filter_apply(const struct filter *filter, const struct batch *in, struct batch *out, struct error *err)
{
    struct run run = { .filter = filter, .tables = in->tables };
    int result;

    if (rewrite_init(&run.rewrite, in, out, err) < 0)
        return -1;
    result = apply(&run, out, err);
    for (size_t i = 0; i < TAG_FILTERS; i++)
        labelmatch_run_free(run.tags[i]);
    for (uint32_t i = 0; run.labels && i < filter->n_labels; i++)
        labelmatch_run_free(run.labels[i]);
    pattern_scratch_free(run.scratch);
    rewrite_done(&run.rewrite);
    return result;
}

int filter_stacks(const struct filter *filter, const struct tables *tables, bool *ret_stays, struct error *err)
{
    struct run run = { .filter = filter, .tables = *tables };
    int result = 0;

    arena_init(&run.rewrite.arena, 0);
    if (has_name_filter(filter))
        result = pattern_scratch_new(&run.scratch, err) < 0 ? -1 : filter_names(&run, err);
    for (uint32_t i = 0; !result && i < tables->n_stacks; i++)
        ret_stays[i] = !run.drops_stack || !run.drops_stack[i];
    pattern_scratch_free(run.scratch);
    arena_done(&run.rewrite.arena);
    return result;
}
