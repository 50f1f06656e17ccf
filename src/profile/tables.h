// SPDX-License-Identifier: Apache-2.0
/* What the samples of a batch refer to: strings, mappings, functions, frames, stacks, label sets and links, each a flat
 * table addressed by a 32-bit id.
 *
 * T1  Entry 0 of every table is "none": the empty string, no mapping, no function, no frame, the empty stack, no labels,
 *     no link. It is always there.
 * T2  Every id in a table is valid: decoders check once, nobody checks again.
 * T3  Stacks are at most 4,096 frames deep (content.h hashes no deeper ones); decoders cut and say so.
 * T4  Ids mean nothing outside their tables. What is equal across tables is found by content hash (content.h).
 * T5  Strings are borrowed: they point into the decoded bytes or into the arena of the batch.
 *
 *      sample -> stack -> frames (leaf first) -> lines (innermost inlined first) -> function -> strings
 *                          `-> mapping -> strings
 *
 * A frame is one physical call: an address in a mapping, and the source lines it stands for. A call whose callee was
 * inlined has several lines; the last one is the function that really was called. A frame without lines has only its
 * address, and names may arrive later by build id. */
#pragma once

#include "base/arena.h"
#include "base/slice.h"

/* What ran in a frame. The names are those of OpenTelemetry's `profile.frame.type` where it has one. */
#define FRAME_KINDS(X)                                                                                                 \
    X(UNKNOWN, "")                                                                                                     \
    X(NATIVE, "native")                                                                                                \
    X(KERNEL, "kernel")                                                                                                \
    X(GO, "go")                                                                                                        \
    X(RUST, "rust")                                                                                                    \
    X(CPYTHON, "cpython")                                                                                              \
    X(JVM, "jvm")                                                                                                      \
    X(V8JS, "v8js")                                                                                                    \
    X(RUBY, "ruby")                                                                                                    \
    X(PHP, "php")                                                                                                      \
    X(PERL, "perl")                                                                                                    \
    X(DOTNET, "dotnet")                                                                                                \
    X(BEAM, "beam")                                                                                                    \
    X(LUAJIT, "luajit")                                                                                                \
    X(JIT, "jit")                                                                                                      \
    X(ABORT_MARKER, "abort-marker")

enum frame_kind {
#define FRAME_KIND_ENUM(name, text) FRAME_##name,
    FRAME_KINDS(FRAME_KIND_ENUM)
#undef FRAME_KIND_ENUM
};

enum {
    MAPPING_HAS_FUNCTIONS = 1,
    MAPPING_HAS_FILENAMES = 2,
    MAPPING_HAS_LINE_NUMBERS = 4,
    MAPPING_HAS_INLINE_FRAMES = 8,
};

struct mapping {
    uint64_t start;
    uint64_t limit;
    uint64_t offset;
    uint32_t file;          /* string */
    uint32_t build_id;      /* string: GNU build id in hex, or whatever pprof's build_id held */
    uint32_t build_id_go;   /* string: Go's own build id */
    uint32_t build_id_hash; /* string: OpenTelemetry's htlhash in hex */
    uint32_t flags;         /* MAPPING_HAS_... */
    uint32_t spare;
};

struct function {
    uint32_t name;        /* string: as people read it */
    uint32_t system_name; /* string: as the linker has it, may equal name or be empty */
    uint32_t file;        /* string */
    uint32_t start_line;  /* 1-based, 0 = unknown */
};

struct line {
    uint32_t function;
    uint32_t line;   /* 1-based, 0 = unknown */
    uint32_t column; /* 1-based, 0 = unknown */
};

enum { FRAME_IS_FOLDED = 1 };

struct frame {
    uint64_t address;
    uint32_t mapping;
    uint32_t first_line; /* its lines are lines[first_line .. first_line + n_lines), innermost first */
    uint16_t n_lines;
    uint8_t kind;  /* enum frame_kind */
    uint8_t flags; /* FRAME_IS_FOLDED */
    uint32_t spare;
};

/* Text that is neither plain string nor number keeps its kind, so that it can be written as it came. */
enum label_kind {
    LABEL_STRING, /* text */
    LABEL_NUMBER, /* number, with an optional unit */
    LABEL_BOOL,   /* number 0 or 1 */
    LABEL_DOUBLE, /* number holds the bits of an IEEE double */
    LABEL_BYTES,  /* text holds raw bytes */
    LABEL_JSON,   /* text holds the JSON of a list or a nested map */
};

struct label {
    int64_t number;
    uint32_t key;  /* string */
    uint32_t text; /* string */
    uint32_t unit; /* string */
    uint32_t kind; /* enum label_kind */
};

struct link {
    uint8_t trace_id[16]; /* zeros = unknown */
    uint8_t span_id[8];
};

struct tables {
    struct slice *strings;
    struct mapping *mappings;
    struct function *functions;
    struct line *lines;
    struct frame *frames;
    uint32_t *stack_frames; /* frame ids, leaf first */
    uint32_t *stack_starts; /* n_stacks + 1: stack s is stack_frames[stack_starts[s] .. stack_starts[s + 1]) */
    struct label *labels;
    uint32_t *label_set_starts; /* n_label_sets + 1, likewise */
    struct link *links;
    uint32_t n_strings, n_mappings, n_functions, n_lines, n_frames, n_stack_frames, n_stacks, n_labels, n_label_sets,
        n_links;
};

static_assert(sizeof(struct mapping) == 48 && sizeof(struct function) == 16 && sizeof(struct line) == 12 &&
                  sizeof(struct frame) == 24 && sizeof(struct label) == 24 && sizeof(struct link) == 24,
              "tables stay compact");

static inline struct slice tables_string(const struct tables *tables, uint32_t id)
{
    return tables->strings[id];
}

static inline const uint32_t *tables_stack(const struct tables *tables, uint32_t stack, uint32_t *ret_depth)
{
    uint32_t start = tables->stack_starts[stack];

    *ret_depth = tables->stack_starts[stack + 1] - start;
    return tables->stack_frames + start;
}

static inline const struct label *tables_label_set(const struct tables *tables, uint32_t set, uint32_t *ret_n)
{
    uint32_t start = tables->label_set_starts[set];

    *ret_n = tables->label_set_starts[set + 1] - start;
    return tables->labels + start;
}

/* The label with `key` in a set, or NULL; the first one where a key repeats. */
const struct label *tables_find_label(const struct tables *tables, uint32_t set, struct slice key);

const char *frame_kind_name(enum frame_kind kind);
/* The kind called `name`, or FRAME_UNKNOWN. */
enum frame_kind frame_kind_find(struct slice name);

/* Tables that hold nothing but the "none" entries. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int tables_init_empty(struct tables *tables, struct arena *arena, struct error *err);

/* Cuts stacks that stand for more than `max_depth` functions, inlined ones counted, at the root end; the leaf frame
 * always stays. Returns how many were cut. For readers, after decoding: costs next to nothing where none is so deep. */
uint32_t tables_limit_depth(struct tables *tables, uint32_t max_depth);

/* Checks T1, T2 and T3 in full: ERR_CORRUPT naming the first broken entry. For tests and fuzzers, not for hot paths. */
MUST_CHECK int tables_check(const struct tables *tables, struct error *err);
