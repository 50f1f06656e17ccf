// SPDX-License-Identifier: Apache-2.0
/* What happened when, as people and pipelines note it: a deployment, an incident. Pages draw it over time.
 *
 * N1  Each tenant has its own, in a file DATA/annotations/TENANT.json: an array of {"id", "time_ns", "text", "labels"}, by time.
 *     What annotations_add and annotations_remove said is done survives the loss of power.
 * N2  There are bounds for how many there are and how large they are, below.
 * N3  Names of labels are as selectors have them: letters, digits and '_', where '.' is taken for '_'. */
#pragma once

#include "base/arena.h"
#include "block/seriesinfo.h"
#include "label/selector.h"

#define ANNOTATIONS_MAX             4096u /* of a tenant */
#define ANNOTATIONS_MAX_TEXT_BYTES  4096u
#define ANNOTATIONS_MAX_LABELS      32u
#define ANNOTATIONS_MAX_LABEL_BYTES 1024u      /* of a name, and of a value */
#define ANNOTATIONS_MAX_BYTES       (1u << 20) /* of the texts and labels of a tenant, together */

struct annotation {
    struct slice id; /* 16 digits of hex */
    int64_t time_ns;
    struct slice text;           /* UTF-8 */
    struct series_label *labels; /* by name, each once */
    uint32_t n_labels;
};

struct annotations_list {
    struct annotation *items; /* by time */
    uint32_t n;
};

struct annotations;
/* Those under a data directory, in which nothing is touched before the first is added. Errors: ERR_MEMORY, ERR_LIMIT (the
 * path is too long). */
MUST_CHECK int annotations_open(const char *data_dir, struct annotations **ret_annotations, struct error *err);
void annotations_close(struct annotations *annotations);

/* Puts labels in order: names as N3 has them, sorted. Errors: ERR_INVALID for a name that is none or is there twice,
 * ERR_LIMIT; ERR_MEMORY of the arena. */
MUST_CHECK int annotations_tidy(struct annotation *annotation, struct arena *arena, struct error *err);

/* Keeps an annotation, tidied, whose `id` is set here to a new one, from `arena`. The tenant's name is one that
 * store_check_tenant allows, here and below. Errors: ERR_INVALID (no text), ERR_LIMIT naming the bound, ERR_IO, ERR_CORRUPT
 * naming the file, ERR_MEMORY. Thread: any, as for all of these. */
MUST_CHECK int annotations_add(struct annotations *annotations, struct slice tenant, struct annotation *annotation,
                               struct arena *arena, struct error *err);
/* Those from `from_ns` until before `until_ns` whose labels a selector allows (NULL = all), by time, from `arena`. Errors: those
 * of the file, as above, and those of the selector's patterns. */
MUST_CHECK int annotations_find(struct annotations *annotations, struct slice tenant, int64_t from_ns, int64_t until_ns,
                                const struct selector *selector, struct arena *arena, struct annotations_list *ret_list,
                                struct error *err);
/* Forgets one. Errors: ERR_NOT_FOUND, and those of annotations_add. */
MUST_CHECK int annotations_remove(struct annotations *annotations, struct slice tenant, struct slice id,
                                  struct arena *arena, struct error *err);

/* One as JSON, as the API has it: "time" as text beside "time_ns". */
struct json;
void annotations_write(struct json *json, const struct annotation *annotation);
