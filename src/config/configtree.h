// SPDX-License-Identifier: Apache-2.0
/* Configuration that is more than options: maps and lists of any shape, kept as a tree with the place of every value, and
 * read into structs by tables of fields.
 *
 *     static const struct configtree_field fields[] = {
 *         { "job_name", configtree_text, offsetof(struct job, name) },
 *         { "scrape_interval", configtree_duration, offsetof(struct job, interval_ns) },
 *     };
 *     configtree_fill(node, fields, ARRAY_LEN(fields), &job, NULL, err)
 *
 * What is refused is refused as for options (config.h); JSON files can be read too, YAML being nearly all of it. */
#pragma once

#include "base/arena.h"

#define CONFIGTREE_NODES_MAX 131072 /* values in one file */
#define CONFIGTREE_KEYS_MAX  1024   /* in one map */

enum configtree_kind {
    CONFIGTREE_NOTHING, /* no value, null or ~ */
    CONFIGTREE_TEXT,
    CONFIGTREE_LIST,
    CONFIGTREE_MAP,
};

struct configtree {
    enum configtree_kind kind;
    unsigned line, column; /* where the value begins, from 1 */
    unsigned key_line, key_column;
    const char *file;
    struct slice key;         /* in a map; a NUL follows, as with `text` */
    struct slice text;        /* CONFIGTREE_TEXT */
    struct configtree *first; /* of the values in a list or map, in order */
    struct configtree *next;
    size_t n; /* values in a list or map */
};

/* Reads one document of YAML or JSON, at most CONFIG_BYTES_MAX; everything is copied into `arena`. An empty document is
 * CONFIGTREE_NOTHING. Errors: those of config_parse. */
MUST_CHECK int configtree_parse(struct slice yaml, const char *file, struct arena *arena,
                                const struct configtree **ret_tree, struct error *err);
/* Reads the file at `path`. */
MUST_CHECK int configtree_read(const char *path, struct arena *arena, const struct configtree **ret_tree,
                               struct error *err);
/* The same tree in another arena; without what follows the node in its list. NULL on failure. */
MUST_CHECK const struct configtree *configtree_copy(const struct configtree *tree, struct arena *arena,
                                                    struct error *err);

/* ERR_INVALID as "file:line:column: ..." of the node's value. Returns -1. */
int configtree_refuse(const struct configtree *node, struct error *err, const char *fmt, ...) PRINTF(3, 4);
/* Puts "file:line:column" of the node's value in front of an error. Returns -1. */
int configtree_blame(const struct configtree *node, struct error *err);

/* The value of a key in a map, or NULL. */
const struct configtree *configtree_find(const struct configtree *map, const char *key);

/* A key that a map may have: `read` fills the field at `offset` of the object from the key's value. */
struct configtree_field {
    const char *name;
    int (*read)(const struct configtree *node, void *field, void *context, struct error *err);
    size_t offset;
};

/* Fills the fields of `object` that `map` has keys for; a key without a value leaves its field alone. Errors:
 * ERR_INVALID if it is no map, for an unknown key (with the nearest known one), and what `read` finds. */
MUST_CHECK int configtree_fill(const struct configtree *map, const struct configtree_field *fields, size_t n_fields,
                               void *object, void *context, struct error *err);

/* Readers of fields. Nodes are kept by reference.
 *                                     the field is a
 *   configtree_text                   struct slice, not empty
 *   configtree_any_text               struct slice
 *   configtree_bool                   bool
 *   configtree_duration               int64_t, nanoseconds, more than 0
 *   configtree_uint                   uint64_t
 *   configtree_texts                  const struct configtree *: a list of texts
 *   configtree_text_map               const struct configtree *: a map whose values are texts */
MUST_CHECK int configtree_text(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_any_text(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_bool(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_duration(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_uint(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_texts(const struct configtree *node, void *field, void *context, struct error *err);
MUST_CHECK int configtree_text_map(const struct configtree *node, void *field, void *context, struct error *err);

/* Refuses what is no list (of maps, as `what` says: "a list of targets"). */
MUST_CHECK int configtree_check_list(const struct configtree *node, const char *what, struct error *err);
