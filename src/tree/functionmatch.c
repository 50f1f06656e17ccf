// SPDX-License-Identifier: Apache-2.0
#include "tree/functionmatch.h"

int functionmatch_start(struct functionmatch *match, struct arena *arena, struct error *err)
{
    match->symbol_verdicts = arena_alloc_zero(arena, match->symbols->symbols.n, err);
    match->string_verdicts = match->symbol_verdicts ? arena_alloc_zero(arena, match->places->strings.n, err) : NULL;
    return match->string_verdicts ? 0 : -1;
}

static int test_text(const struct functionmatch *match, struct slice text, bool *ret_matches, struct error *err)
{
    return pattern_test(match->pattern, match->scratch, text, ret_matches, err) < 0
               ? error_wrap(err, "%s", match->option)
               : 0;
}

/* `number` is that of a place: none matches nothing. */
static int test_string(struct functionmatch *match, uint32_t number, bool *ret_matches, struct error *err)
{
    uint8_t *verdict = number ? &match->string_verdicts[number - 1] : NULL;

    if (verdict && *verdict == FUNCTIONMATCH_UNTRIED) {
        bool matches;

        if (test_text(match, match->places->strings.items[number - 1], &matches, err) < 0)
            return -1;
        *verdict = matches ? FUNCTIONMATCH_YES : FUNCTIONMATCH_NO;
    }
    *ret_matches = verdict && *verdict == FUNCTIONMATCH_YES;
    return 0;
}

static int test_places(struct functionmatch *match, uint32_t symbol, uint8_t *ret_verdict, struct error *err)
{
    const struct symbolplace *place = symbolplaces_first(match->places, symbol);
    bool has_match = false, has_other = !place, is_named = false;

    if (test_text(match, symbolset_get(match->symbols, symbol)->function, &is_named, err) < 0)
        return -1;
    for (; place; place = symbolplaces_next(match->places, place)) {
        bool is_match = is_named && place->file;

        if ((!is_match && test_string(match, place->file, &is_match, err) < 0) ||
            (!is_match && test_string(match, place->module, &is_match, err) < 0))
            return -1;
        has_match |= is_match;
        has_other |= !is_match;
    }
    *ret_verdict = has_match && has_other ? FUNCTIONMATCH_DEPENDS : has_match ? FUNCTIONMATCH_YES : FUNCTIONMATCH_NO;
    return 0;
}

int functionmatch_test(struct functionmatch *match, uint32_t symbol, enum functionmatch_verdict *ret_verdict,
                       struct error *err)
{
    uint8_t *verdict = &match->symbol_verdicts[symbol];

    if (*verdict == FUNCTIONMATCH_UNTRIED && test_places(match, symbol, verdict, err) < 0)
        return -1;
    *ret_verdict = (enum functionmatch_verdict) * verdict;
    return 0;
}
