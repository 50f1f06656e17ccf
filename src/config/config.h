// SPDX-License-Identifier: Apache-2.0
/* Configuration files: YAML in, flat entries for the option tables of base/options.h out.
 *
 * A file is one map. Nested maps become dotted keys, so `limits: {samples: 5}` and `limits.samples: 5` are the same; a
 * list belongs to an option that may be repeated. Values stay text: the option's type decides what they mean. A key
 * without a value (or null, or ~) leaves its option alone.
 *
 * What a configuration does not need is refused with a sentence rather than half understood: anchors and aliases (so a
 * small file cannot unfold into a large one), tags, lists of anything but plain values, several documents, a key given
 * twice.
 *
 * A section is a key of the outermost map that is no option: its value, of any shape, is kept as a tree for whoever
 * knows what it means (configtree.h). */
#pragma once

#include "base/options.h"
#include "config/configtree.h"

#define CONFIG_BYTES_MAX   (1 << 20)
#define CONFIG_DEPTH_MAX   16   /* nested maps and lists */
#define CONFIG_ENTRIES_MAX 1024 /* keys with a value; four times what one program can know */
#define CONFIG_KEY_MAX     256  /* bytes of a dotted key */
#define CONFIG_PERCENT_MAX 256  /* lines that begin with '%' */

struct config {
    const struct option_entry *entries; /* in the order of the file */
    size_t n;
    const struct configtree *sections; /* those given, linked by `next` */
};

/* Reads `yaml`. Keys and values are copied into `arena`. `file` names the text in errors. `sections` are the names of
 * sections, the last followed by NULL; NULL = there are none.
 * Errors: ERR_INVALID as "file:line:column: ..." with what was found and what to do; ERR_LIMIT for more than the limits
 * above; ERR_MEMORY. Thread: any. */
MUST_CHECK int config_parse(struct slice yaml, const char *file, const char *const *sections, struct arena *arena,
                            struct config *ret_config, struct error *err);

/* Reads the file at `path`; "-" is standard input. Errors: those of config_parse and of reading the file. */
MUST_CHECK int config_read(const char *path, const char *const *sections, struct arena *arena,
                           struct config *ret_config, struct error *err);

/* The section of that name, or NULL if the file had none. */
const struct configtree *config_section(const struct config *config, const char *name);
