// SPDX-License-Identifier: Apache-2.0
#include "profile/framematch_internal.h"

int framematch_init(struct framematch *match, const struct pattern *pattern, struct pattern_scratch *scratch,
                    const struct tables *tables, const char *option, struct arena *arena, struct error *err)
{
    *match = (struct framematch){ .pattern = pattern, .scratch = scratch, .tables = tables, .option = option };
    match->known = arena_alloc_zero(arena, tables->n_strings, err);
    return match->known ? 0 : -1;
}

static int match_string(struct framematch *match, uint32_t string, bool *ret_matches, struct error *err)
{
    uint8_t *known = &match->known[string];

    if (*known == 0) {
        bool matches;

        if (pattern_test(match->pattern, match->scratch, tables_string(match->tables, string), &matches, err) < 0)
            return match->option ? error_wrap(err, "%s", match->option) : -1;
        *known = matches ? 2 : 1;
    }
    *ret_matches = *known == 2;
    return 0;
}

int framematch_line(struct framematch *match, const struct line *line, bool *ret_matches, struct error *err)
{
    const struct function *function = &match->tables->functions[line->function];

    *ret_matches = false;
    if (line->function == 0)
        return 0;
    if (match_string(match, function->name, ret_matches, err) < 0)
        return -1;
    return *ret_matches ? 0 : match_string(match, function->file, ret_matches, err);
}

int framematch_mapping(struct framematch *match, const struct frame *frame, bool *ret_matches, struct error *err)
{
    *ret_matches = false;
    return frame->mapping ? match_string(match, match->tables->mappings[frame->mapping].file, ret_matches, err) : 0;
}

int framematch_frame(struct framematch *match, const struct frame *frame, bool *ret_matches, struct error *err)
{
    *ret_matches = false;
    for (uint32_t i = 0; i < frame->n_lines && !*ret_matches; i++)
        if (framematch_line(match, &match->tables->lines[frame->first_line + i], ret_matches, err) < 0)
            return -1;
    return *ret_matches ? 0 : framematch_mapping(match, frame, ret_matches, err);
}
