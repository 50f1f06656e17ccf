// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>

struct table_row {
    struct table_row *next;
    enum table_colour colour;
    size_t n_cells;
    struct slice cells[TABLE_MAX_COLUMNS];
};

void table_init(struct table *table, struct arena *arena, const struct table_column *columns, size_t n_columns)
{
    ASSERT(n_columns <= TABLE_MAX_COLUMNS);
    *table = (struct table){ .arena = arena, .columns = columns, .n_columns = n_columns };
    for (size_t i = 0; i < n_columns; i++)
        table->widths[i] = table_width(slice_from(columns[i].title));
}

void table_row(struct table *table, enum table_colour colour)
{
    struct table_row *row;

    if (table->failure.code != ERR_OK)
        return;
    row = ARENA_NEW(table->arena, struct table_row, &table->failure);
    if (!row)
        return;
    row->colour = colour;
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
}

/* How many bytes at `at` are a control character, of ASCII or of Unicode's second set (U+0080 to U+009F, which
 * terminals obey, too); 0 if it is none. */
static size_t control_len(struct slice text, size_t at)
{
    unsigned char c = (unsigned char)text.ptr[at];

    if (c < ' ' || c == 0x7f)
        return 1;
    if (c == 0xc2 && at + 1 < text.len && (unsigned char)text.ptr[at + 1] >= 0x80 &&
        (unsigned char)text.ptr[at + 1] < 0xa0)
        return 2;
    return 0;
}

void table_append_text(struct buffer *out, struct slice text)
{
    for (size_t i = 0; i < text.len;) {
        size_t len = control_len(text, i);

        buffer_append_byte(out, len ? '?' : text.ptr[i]);
        i += MAX(len, (size_t)1);
    }
}

/* Control characters would break the columns or drive the terminal. Shortens `text` in place; it is ours. */
static size_t make_harmless(char *text, size_t len)
{
    size_t to = 0;

    for (size_t i = 0; i < len;) {
        size_t control = control_len(slice_of(text, len), i);

        text[to++] = control ? '?' : text[i];
        i += MAX(control, (size_t)1);
    }
    return to;
}

void table_cell_name(struct table *table, const char *prefix, struct slice name, const char *suffix)
{
    struct table_row *row = table->last;
    size_t prefix_len = strlen(prefix), suffix_len = strlen(suffix), len;
    char *text;

    if (table->failure.code != ERR_OK || !row)
        return;
    ASSERT(row->n_cells < table->n_columns);
    text = arena_alloc(table->arena, prefix_len + name.len + suffix_len, &table->failure);
    if (!text)
        return;
    memcpy(text, prefix, prefix_len);
    if (name.len)
        memcpy(text + prefix_len, name.ptr, name.len);
    len = prefix_len + make_harmless(text + prefix_len, name.len);
    memcpy(text + len, suffix, suffix_len);
    row->cells[row->n_cells] = slice_of(text, len + suffix_len);
    table->widths[row->n_cells] = MAX(table->widths[row->n_cells], table_width(row->cells[row->n_cells]));
    row->n_cells++;
}

void table_cell(struct table *table, struct slice text)
{
    table_cell_name(table, "", text, "");
}

void table_printf(struct table *table, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    table_cell(table, slice_from(text));
}

/* Ranges of characters that terminals draw two columns wide. */
static const struct {
    uint32_t first, last;
} wide[] = {
    { 0x1100, 0x115f }, { 0x2e80, 0xa4cf },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
    { 0xff00, 0xff60 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd }
};

static bool is_wide(uint32_t character)
{
    for (size_t i = 0; i < ARRAY_LEN(wide); i++)
        if (character >= wide[i].first && character <= wide[i].last)
            return true;
    return false;
}

size_t table_width(struct slice text)
{
    size_t width = 0;

    for (size_t i = 0; i < text.len;) {
        unsigned char first = (unsigned char)text.ptr[i++];
        uint32_t character = first < 0xc0   ? first
                             : first < 0xe0 ? first & 0x1f
                             : first < 0xf0 ? first & 0x0f
                                            : first & 7;

        for (; i < text.len && ((unsigned char)text.ptr[i] & 0xc0) == 0x80; i++)
            character = character << 6 | ((unsigned char)text.ptr[i] & 0x3f);
        width += is_wide(character) ? 2 : 1;
    }
    return width;
}

const char *table_colour_begin(enum table_colour colour, bool has_colour)
{
    static const char *const codes[] = { "", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m" };

    return has_colour ? codes[colour] : "";
}

const char *table_colour_end(enum table_colour colour, bool has_colour)
{
    return has_colour && colour != TABLE_PLAIN ? "\x1b[0m" : "";
}

static void print_cell(const struct table *table, size_t column, struct slice text, bool is_last, struct buffer *out)
{
    size_t padding = table->widths[column] - MIN(table->widths[column], table_width(text));
    bool is_right = table->columns[column].align == TABLE_RIGHT;

    if (column > 0)
        buffer_append_text(out, "  ");
    for (size_t i = 0; is_right && i < padding; i++)
        buffer_append_byte(out, ' ');
    buffer_append_slice(out, text);
    for (size_t i = 0; !is_right && !is_last && i < padding; i++)
        buffer_append_byte(out, ' ');
}

static void trim_end(struct buffer *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        buffer_truncate(out, out->len - 1);
}

int table_print(const struct table *table, bool has_colour, struct buffer *out, struct error *err)
{
    if (table->failure.code != ERR_OK) {
        *err = table->failure;
        return -1;
    }
    buffer_append_text(out, table_colour_begin(TABLE_BOLD, has_colour));
    for (size_t i = 0; i < table->n_columns; i++)
        print_cell(table, i, slice_from(table->columns[i].title), i + 1 == table->n_columns, out);
    trim_end(out);
    buffer_append_text(out, table_colour_end(TABLE_BOLD, has_colour));
    buffer_append_byte(out, '\n');
    for (const struct table_row *row = table->first; row; row = row->next) {
        buffer_append_text(out, table_colour_begin(row->colour, has_colour));
        for (size_t i = 0; i < row->n_cells; i++)
            print_cell(table, i, row->cells[i], i + 1 == row->n_cells, out);
        trim_end(out);
        buffer_append_text(out, table_colour_end(row->colour, has_colour));
        buffer_append_byte(out, '\n');
    }
    return buffer_check(out, err);
}
