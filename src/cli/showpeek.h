// SPDX-License-Identifier: Apache-2.0
/* Functions with their callers and callees, as text or JSON: of a file, and of what a store holds. */
#pragma once

#include "cli/view.h"
#include "flame/top.h"

/* Compiles the pattern of function names, which was given as `what`. Errors: ERR_USAGE, naming both; ERR_MEMORY. */
MUST_CHECK int showpeek_pattern(const char *what, const char *text, struct pattern **ret_pattern, struct error *err);

/* Appends the functions that matched it, each with `rows` callers and callees (0 = all); `view` describes what they are of.
 * JSON has all of them. Errors: ERR_NOT_FOUND where there is no function, ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int showpeek_print(struct command_context *context, const char *pattern, uint64_t rows,
                              const struct view *view, const struct top *top, bool is_json, struct buffer *out,
                              struct error *err);
