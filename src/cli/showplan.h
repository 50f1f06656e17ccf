// SPDX-License-Identifier: Apache-2.0
/* What an answer would be read from, day by day, as text or JSON. */
#pragma once

#include "base/buffer.h"
#include "base/json.h"
#include "base/vec.h"
#include "store/store.h"

struct showplan {
    struct arena *arena;
    VEC(struct store_plan) days;
};

/* Takes days until showplan_done; what they point to is copied to `arena`. */
void showplan_init(struct showplan *plan, struct arena *arena);
void showplan_done(struct showplan *plan);
/* The function of store_plan: the context is a struct showplan. Errors: ERR_MEMORY. */
int showplan_add(void *context, const struct store_plan *day, struct error *err);

/* Appends a table of the days, each line behind `indent`. Errors: ERR_MEMORY. */
MUST_CHECK int showplan_print(const struct showplan *plan, const char *indent, struct buffer *out, struct error *err);
/* Appends an array of the days. */
void showplan_json(const struct showplan *plan, struct json *json);
