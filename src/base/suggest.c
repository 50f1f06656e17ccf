// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#define LONGEST_NAME 48
#define LEAST_PREFIX 2 /* letters that must be there for a beginning to mean something */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Edits from `a` to `b`: the dynamic programme over prefixes, three rows at a time. */
static unsigned distance(struct slice a, struct slice b)
{
    unsigned rows[3][LONGEST_NAME + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b.len; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned *reused = before;

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            bool is_same = lower(a.ptr[i - 1]) == lower(b.ptr[j - 1]);
            unsigned edits = MIN(above[j], row[j - 1]) + 1;

            edits = MIN(edits, above[j - 1] + !is_same);
            if (i > 1 && j > 1 && lower(a.ptr[i - 1]) == lower(b.ptr[j - 2]) &&
                lower(a.ptr[i - 2]) == lower(b.ptr[j - 1]))
                edits = MIN(edits, before[j - 2] + 1);
            row[j] = edits;
        }
        before = above;
        above = row;
        row = reused;
    }
    return above[b.len];
}

static bool is_beginning(struct slice typed, struct slice name)
{
    return typed.len >= LEAST_PREFIX && typed.len < name.len &&
           slice_equal_nocase(typed, slice_sub(name, 0, typed.len));
}

void suggest_offer(struct suggest *suggest, const char *name)
{
    struct slice known = slice_from(name);
    unsigned edits;

    if (known.len > LONGEST_NAME || suggest->typed.len > LONGEST_NAME || suggest->typed.len == 0)
        return;
    if (is_beginning(suggest->typed, known)) {
        edits = 1;
    } else {
        edits = distance(suggest->typed, known);
        if (edits > MAX(1, known.len / 3))
            return;
    }
    if (!suggest->name || edits < suggest->distance) {
        suggest->name = name;
        suggest->distance = edits;
    }
}
