// SPDX-License-Identifier: Apache-2.0
/* Whether functions match a pattern, as filters of profiles see it (profile/filter.h): by name, by file, or by binary.
 * Functions of one name are one symbol; where their files or binaries decide and do not agree, the symbol alone does not
 * tell. Each symbol and each file is tried once. */
#pragma once

#include "profile/pattern.h"
#include "tree/symbolplaces.h"

enum functionmatch_verdict { FUNCTIONMATCH_UNTRIED, FUNCTIONMATCH_NO, FUNCTIONMATCH_YES, FUNCTIONMATCH_DEPENDS };

struct functionmatch {
    const struct pattern *pattern; /* NULL = there is none */
    struct pattern_scratch *scratch;
    const char *option; /* whose pattern it is, for errors */
    const struct symbolset *symbols;
    const struct symbolplaces *places;
    uint8_t *symbol_verdicts; /* [symbol] */
    uint8_t *string_verdicts; /* [string of places] */
};

/* Fills in the verdicts, from `arena`; all else is set and borrowed. Symbols that come later cannot be asked for. Errors:
 * ERR_MEMORY. */
MUST_CHECK int functionmatch_start(struct functionmatch *match, struct arena *arena, struct error *err);
/* Errors: those of pattern_test. */
MUST_CHECK int functionmatch_test(struct functionmatch *match, uint32_t symbol, enum functionmatch_verdict *ret_verdict,
                                  struct error *err);
