// SPDX-License-Identifier: Apache-2.0
/* libyaml's events, one at a time, with what no configuration needs refused (config.h) and problems told as
 * "file:line:column: ...". What reads files of this program stands on it: config.c and configtree.c. */
#pragma once

#include "base/arena.h"

#include <yaml.h>

#define YAMLEVENTS_FILE_SHOWN 96 /* bytes of a file's name in a message */
#define YAMLEVENTS_KEY_SHOWN  64

struct yamlevents {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; empty (YAML_NO_EVENT) before the first and after a failure */
    struct slice yaml;
    const char *file;
};

/* Starts on `yaml`, of at most CONFIG_BYTES_MAX; both it and `file` outlive the events. */
MUST_CHECK int yamlevents_init(struct yamlevents *events, struct slice yaml, const char *file, struct error *err);
/* Accepts what was never initialised but zeroed. */
void yamlevents_done(struct yamlevents *events);

/* The next event. Errors: ERR_INVALID for what is no YAML, or has anchors, aliases or tags; ERR_MEMORY. */
MUST_CHECK int yamlevents_next(struct yamlevents *events, struct error *err);

/* Goes through the whole stream: calls `read` with the first event of the one document's content, if there is one. It
 * leaves the events at the last of the content. */
MUST_CHECK int yamlevents_document(struct yamlevents *events, int (*read)(void *context, struct error *err),
                                   void *context, struct error *err);

/* ERR_INVALID with the story, at the current event. Returns -1. */
int yamlevents_refuse(const struct yamlevents *events, const char *story, struct error *err);
/* Puts "file:line:column" of the current event in front of the story. Returns -1. */
int yamlevents_blame(const struct yamlevents *events, struct error *err);
/* Where the current event begins, from 1. */
unsigned yamlevents_line(const struct yamlevents *events);
unsigned yamlevents_column(const struct yamlevents *events);

/* Of the current event, a scalar: its text, whether it says "no value" (nothing, null or ~ without quotes), and a copy,
 * which must be text without zero bytes. */
struct slice yamlevents_text(const struct yamlevents *events);
bool yamlevents_is_null(const struct yamlevents *events);
MUST_CHECK int yamlevents_copy(const struct yamlevents *events, struct arena *arena, struct slice *ret_text,
                               struct error *err);
