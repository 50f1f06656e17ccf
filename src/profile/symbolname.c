// SPDX-License-Identifier: Apache-2.0
#include "profile/symbolname.h"

struct symbolname symbolname_get(const struct tables *t, uint32_t frame_id, uint32_t index,
                                 enum symbol_granularity granularity)
{
    const struct frame *frame = &t->frames[frame_id];
    struct symbolname name = { .address = granularity == SYMBOL_ADDRESS ? frame->address : 0 };

    if (index < frame->n_lines) {
        const struct line *line = &t->lines[frame->first_line + index];
        const struct function *function = &t->functions[line->function];

        if (granularity != SYMBOL_FILE)
            name.function = function->name;
        if (granularity != SYMBOL_FUNCTION)
            name.file = function->file;
        if ((granularity == SYMBOL_LINE || granularity == SYMBOL_ADDRESS) && (name.function || name.file))
            name.line = line->line;
    }
    if (!name.function && !name.file)
        name.module = t->mappings[frame->mapping].file;
    return name;
}

static struct slice base_name(struct slice path)
{
    ptrdiff_t slash;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    slash = slice_find_last_byte(path, '/');
    return slash >= 0 && path.len > 1 ? slice_sub(path, (size_t)slash + 1, path.len) : path;
}

static void print_place(const struct tables *t, const struct symbolname *name, struct buffer *out)
{
    buffer_append_slice(out, tables_string(t, name->file));
    if (name->line)
        buffer_printf(out, ":%u", name->line);
}

void symbolname_print(const struct tables *t, const struct symbolname *name, struct buffer *out)
{
    if (name->address)
        buffer_printf(out, "%016llx ", (unsigned long long)name->address);
    if (name->function) {
        buffer_append_slice(out, tables_string(t, name->function));
        if (name->file || name->line)
            buffer_append_byte(out, ' ');
        print_place(t, name, out);
    } else if (name->file) {
        print_place(t, name, out);
    } else if (name->module) {
        buffer_append_byte(out, '[');
        buffer_append_slice(out, base_name(tables_string(t, name->module)));
        buffer_append_byte(out, ']');
    } else {
        buffer_append_text(out, "<unknown>");
    }
}

bool symbolname_is_kernel(const struct tables *t, uint32_t frame_id)
{
    const struct frame *frame = &t->frames[frame_id];

    if (frame->kind != FRAME_UNKNOWN)
        return frame->kind == FRAME_KERNEL;
    return slice_starts_with(tables_string(t, t->mappings[frame->mapping].file), SLICE("[kernel"));
}
