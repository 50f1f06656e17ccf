// SPDX-License-Identifier: Apache-2.0
/* What options.c gathers and options_effective.c tells: the bound rows and their values. */
#pragma once

#include "base/options.h"

struct option_slot {
    const struct option_spec *spec;
    char *field;
    enum option_origin origin;
    const char *where; /* "--lines", "HEARTH_LINES", "hearth.yaml:12"; NULL for a default */
    const char *text;  /* the value as written; NULL for a list and for what was never set */
};

/* A table of somebody else's options. */
struct known_group {
    struct option_group group;
    const struct known_group *next;
};

struct options {
    struct arena *arena;
    struct option_list positionals;
    const struct known_group *known; /* the newest first */
    size_t n;
    struct option_slot slots[OPTIONS_MAX];
};

/* The field of a slot whose option is a list. */
static inline struct option_list *options_list(const struct option_slot *slot)
{
    return (struct option_list *)(void *)slot->field;
}
