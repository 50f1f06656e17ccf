// SPDX-License-Identifier: Apache-2.0
/* Rows of text in aligned columns, for people. */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"

#define TABLE_MAX_COLUMNS 12

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *title;
    enum table_align align;
};

enum table_colour { TABLE_PLAIN, TABLE_BOLD, TABLE_DIM, TABLE_RED, TABLE_GREEN };

struct table {
    struct arena *arena;
    const struct table_column *columns;
    size_t n_columns;
    struct table_row *first, *last;
    size_t widths[TABLE_MAX_COLUMNS];
    struct error failure; /* as in buffer.h: told once, by table_print */
};

/* A table with these columns, its rows in `arena`; `columns` must outlive it. */
void table_init(struct table *table, struct arena *arena, const struct table_column *columns, size_t n_columns);

/* Starts a row; cells follow in order of the columns. Cells left out are empty. */
void table_row(struct table *table, enum table_colour colour);
void table_cell(struct table *table, struct slice text);
/* A cell made of a text that may hold anything, between two of our own. */
void table_cell_name(struct table *table, const char *prefix, struct slice name, const char *suffix);
void table_printf(struct table *table, const char *fmt, ...) PRINTF(2, 3);

/* Appends titles and rows. The last column is not padded, and not cut either: names are for copying. */
MUST_CHECK int table_print(const struct table *table, bool has_colour, struct buffer *out, struct error *err);

/* Appends text that came from a file: control characters, which could drive a terminal, become '?'. */
void table_append_text(struct buffer *out, struct slice text);

/* Escape sequences around text, or "" without colour. */
const char *table_colour_begin(enum table_colour colour, bool has_colour);
const char *table_colour_end(enum table_colour colour, bool has_colour);
/* Columns of a terminal that the text takes: one for each character of UTF-8, two for wide ones. */
size_t table_width(struct slice text);
