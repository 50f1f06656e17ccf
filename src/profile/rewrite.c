// SPDX-License-Identifier: Apache-2.0
#include "profile/rewrite_internal.h"

int rewrite_init(struct rewrite *rewrite, const struct batch *in, const struct batch *out, struct error *err)
{
    struct builder_options options = { .limits = out->limits, .keep_addresses = true };

    *rewrite = (struct rewrite){ .in = in };
    arena_init(&rewrite->arena, 0);
    return builder_new(&options, &rewrite->builder, err);
}

int rewrite_finish(struct rewrite *rewrite, struct batch *out, struct error *err)
{
    report_merge(builder_report(rewrite->builder), &rewrite->in->report);
    return builder_finish(rewrite->builder, out, err);
}

void rewrite_done(struct rewrite *rewrite)
{
    builder_free(rewrite->builder);
    arena_done(&rewrite->arena);
    *rewrite = (struct rewrite){ 0 };
}

int rewrite_own_frames(struct tables *t, struct arena *arena, struct error *err)
{
    struct frame *frames = ARENA_ARRAY(arena, struct frame, t->n_frames, err);
    struct line *lines;
    uint64_t n = 0;

    for (uint32_t i = 0; i < t->n_frames; i++)
        n += t->frames[i].n_lines;
    if (n > UINT32_MAX)
        return error_set(err, ERR_LIMIT, "%llu lines of frames are more than fit in one table", (unsigned long long)n);
    lines = frames ? ARENA_ARRAY(arena, struct line, n, err) : NULL;
    if (!lines)
        return -1;
    t->n_lines = 0;
    for (uint32_t i = 0; i < t->n_frames; i++) {
        frames[i] = t->frames[i];
        frames[i].first_line = t->n_lines;
        if (frames[i].n_lines)
            memcpy(lines + t->n_lines, t->lines + t->frames[i].first_line, frames[i].n_lines * sizeof(*lines));
        t->n_lines += frames[i].n_lines;
    }
    t->frames = frames;
    t->lines = lines;
    return 0;
}

int rewrite_own_stacks(struct tables *t, struct arena *arena, rewrite_edit_stack *edit, void *context,
                       struct error *err)
{
    uint32_t *frames = ARENA_ARRAY(arena, uint32_t, t->n_stack_frames, err);
    uint32_t *starts = frames ? ARENA_ARRAY(arena, uint32_t, (size_t)t->n_stacks + 1, err) : NULL;
    uint32_t n = 0;

    if (!starts)
        return -1;
    for (uint32_t stack = 0; stack < t->n_stacks; stack++) {
        uint32_t depth;
        const uint32_t *from = tables_stack(t, stack, &depth);

        starts[stack] = n;
        if (depth == 0)
            continue;
        memcpy(frames + n, from, depth * sizeof(*frames));
        n += edit(context, stack, frames + n, depth);
    }
    starts[t->n_stacks] = n;
    t->stack_frames = frames;
    t->stack_starts = starts;
    t->n_stack_frames = n;
    return 0;
}

static void copy_sample(struct rewrite *rewrite, struct builder_import *import, const struct profile *profile,
                        uint32_t sample, rewrite_convert *convert, void *context)
{
    int64_t values[PROFILE_MAX_TYPES];
    uint32_t n_types = MIN(profile->n_types, (uint32_t)PROFILE_MAX_TYPES); /* with more the builder has failed */

    for (uint32_t type = 0; type < n_types; type++)
        values[type] = profile_values(profile, type)[sample];
    if (convert)
        convert(context, values);
    builder_sample(rewrite->builder, builder_import_stack(import, profile->stacks[sample]),
                   builder_import_label_set(import, profile_label_set(profile, sample)),
                   builder_import_link(import, profile_link(profile, sample)), values,
                   profile->counts ? profile->counts[sample] : 0);
}

static void note_what_is_lost(struct rewrite *rewrite, const struct profile *profile)
{
    if (profile->time_starts)
        report_add(builder_report(rewrite->builder), "times of single events are not kept by this operation",
                   profile->time_starts[profile->n_samples], "of %u samples", profile->n_samples);
}

void rewrite_samples(struct rewrite *rewrite, struct builder_import *import, const struct profile *profile,
                     rewrite_convert *convert, void *context)
{
    note_what_is_lost(rewrite, profile);
    for (uint32_t sample = 0; sample < profile->n_samples; sample++)
        copy_sample(rewrite, import, profile, sample, convert, context);
}

static int copy_chosen(struct rewrite *rewrite, struct builder_import *import, const struct profile *profile,
                       rewrite_choose *choose, void *context, struct error *err)
{
    builder_import_header(import, profile);
    if (!choose) {
        rewrite_samples(rewrite, import, profile, NULL, NULL);
        return 0;
    }
    note_what_is_lost(rewrite, profile);
    for (uint32_t sample = 0; sample < profile->n_samples; sample++) {
        bool stays;

        if (choose(context, profile, sample, &stays, err) < 0)
            return -1;
        if (stays)
            copy_sample(rewrite, import, profile, sample, NULL, NULL);
    }
    return 0;
}

int rewrite_range(struct rewrite *rewrite, const struct tables *tables, uint32_t first, uint32_t n,
                  rewrite_choose *choose, void *context, struct error *err)
{
    struct builder_import *import = builder_import_new(rewrite->builder, tables);
    int result = 0;

    for (uint32_t i = first; i < first + n && result == 0; i++)
        result = copy_chosen(rewrite, import, &rewrite->in->profiles[i], choose, context, err);
    builder_import_free(import);
    return result;
}

int rewrite_all(struct rewrite *rewrite, const struct tables *tables, rewrite_choose *choose, void *context,
                struct error *err)
{
    return rewrite_range(rewrite, tables, 0, rewrite->in->n_profiles, choose, context, err);
}
