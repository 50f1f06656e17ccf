// SPDX-License-Identifier: Apache-2.0
#include "cli/showtree.h"

#include "cli/table.h"
#include "flame/flamebytes.h"
#include "flame/trim.h"
#include "profile/unit.h"

/* Levels that are indented; deeper ones stand below each other, or a deep stack would fill the memory with spaces. */
#define MAX_INDENT 100u

/* Those of SHOWTREE_DIFF_GROUP first. */
const struct option_spec showtree_options[SHOWTREE_OPTIONS_N] = {
    { "min-share", OPTION_PERCENT, FIELD(showtree_config, min_share), "0.5%",
      "Add up smaller nodes in one `other` for each parent." },
    { "max-nodes", OPTION_UINT, FIELD(showtree_config, max_nodes), "0",
      "Keep so many of the heaviest nodes, the rest as `other`; 0 keeps all.", .max = "4294967295" },
    { "path", OPTION_TEXT, FIELD(showtree_config, path), NULL,
      "Begin at the end of this path of calls: names of functions from the root, with semicolons between them. A "
      "semicolon within a name is written \\; and a backslash \\\\.",
      .value_name = "CALLS", .is_flag_only = true },
    { "collapse-recursion", OPTION_BOOL, FIELD(showtree_config, collapses_recursion), "false",
      "Show a function that calls itself directly once." },
    { "invert", OPTION_BOOL, FIELD(showtree_config, is_inverted), "false",
      "Grow from the leaves: the functions that cost, and below each its callers." },
    { "depth", OPTION_UINT, FIELD(showtree_config, depth), "0", "Show so many levels; 0 shows all." },
};

struct flame_options showtree_flame_options(const struct showtree_config *config, enum symbol_granularity granularity)
{
    return (struct flame_options){ .granularity = granularity,
                                   .is_inverted = config->is_inverted,
                                   .collapses_recursion = config->collapses_recursion };
}

int showtree_path(struct command_context *context, const struct showtree_config *config, struct slice **ret_names,
                  uint32_t *ret_n, struct error *err)
{
    struct slice path = slice_from(config->path);
    struct slice *names = ARENA_ARRAY(context->arena, struct slice, path.len / 2 + 1, err);
    char *text = names ? arena_alloc(context->arena, path.len, err) : NULL;
    size_t len = 0, first = 0;
    uint32_t n = 0;

    if (!text)
        return -1;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != ';') {
            i += path.ptr[i] == '\\' && i + 1 < path.len && (path.ptr[i + 1] == ';' || path.ptr[i + 1] == '\\');
            text[len++] = path.ptr[i];
        } else {
            if (len > first)
                names[n++] = slice_of(text + first, len - first);
            first = len;
        }
    }
    *ret_names = names;
    *ret_n = n;
    return 0;
}

static bool is_shown(const struct showtree_config *config, const struct flame *flame, uint32_t node)
{
    return !config->depth || flame->depths[node] <= config->depth;
}

static int print_text(struct command_context *context, const struct showtree_config *config, const struct view *view,
                      const struct flame *flame, struct buffer *out, struct error *err)
{
    static const struct table_column columns[] = {
        { "TOTAL", TABLE_RIGHT }, { "TOTAL%", TABLE_RIGHT }, { "SELF", TABLE_RIGHT }, { "FUNCTION", TABLE_LEFT }
    };
    char indent[2 * MAX_INDENT + 1];
    struct table table;

    memset(indent, ' ', sizeof(indent) - 1);
    indent[sizeof(indent) - 1] = '\0';
    view_print_title(view, out);
    table_init(&table, context->arena, columns, ARRAY_LEN(columns));
    for (uint32_t node = 0; node < flame->n_nodes; node++) {
        int64_t self = flame_self(flame, 0, node);
        bool is_other = flame->flags[node] & FLAME_IS_OTHER;
        struct slice name = flame_name(flame, node);

        if (!is_shown(config, flame, node))
            continue;
        table_row(&table, is_other ? TABLE_DIM : TABLE_PLAIN);
        table_cell(&table, slice_from(unit_format(flame_total(flame, 0, node), view->unit).text));
        table_printf(&table, "%.2f%%", view_percent(view, flame_total(flame, 0, node)));
        table_cell(&table, self ? slice_from(unit_format(self, view->unit).text) : SLICE("."));
        table_cell_name(&table, indent + sizeof(indent) - 1 - 2 * MIN(flame->depths[node], MAX_INDENT), name,
                        flame->flags[node] & FLAME_IS_INLINED ? " (inline)" : "");
    }
    return table_print(&table, context->has_colour, out, err);
}

/* The node and all below it, as nested objects. The depth is that of stacks, which --max-depth bounds. */
static void json_node(struct json *json, const struct showtree_config *config, const struct flame *flame, uint32_t node)
{
    json_object_begin(json);
    json_key(json, "name");
    json_string(json, flame_name(flame, node));
    json_key(json, "total");
    json_int(json, flame_total(flame, 0, node));
    json_key(json, "self");
    json_int(json, flame_self(flame, 0, node));
    if (flame->flags[node] & FLAME_IS_OTHER) {
        json_key(json, "other");
        json_bool(json, true);
    }
    if (flame->flags[node] & FLAME_IS_INLINED) {
        json_key(json, "inlined");
        json_bool(json, true);
    }
    if (flame_first_child(flame, node) && is_shown(config, flame, flame_first_child(flame, node))) {
        json_key(json, "children");
        json_array_begin(json);
        for (uint32_t child = flame_first_child(flame, node); child; child = flame_next_child(flame, child))
            json_node(json, config, flame, child);
        json_array_end(json);
    }
    json_object_end(json);
}

static void print_json(const struct showtree_config *config, const struct view *view, const struct flame *flame,
                       struct buffer *out)
{
    struct json json;

    json_init(&json, out, JSON_COMPACT);
    json_object_begin(&json);
    view_json_title(view, &json);
    json_key(&json, "tree");
    json_node(&json, config, flame, 0);
    json_object_end(&json);
    json_done(&json);
    buffer_append_byte(out, '\n');
}

int showtree_print(struct command_context *context, const struct showtree_config *config, const struct view *view,
                   const struct flame *flame, enum showtree_form form, struct buffer *out, struct error *err)
{
    struct trim_options trim = { .max_nodes = (uint32_t)config->max_nodes, .min_share = config->min_share };
    AUTO(flame_freep) struct flame *trimmed = NULL;
    struct slice *path;
    uint32_t n;

    if (showtree_path(context, config, &path, &n, err) < 0 || flame_find_path(flame, path, n, &trim.root, err) < 0)
        return -1;
    if (trim_flame(flame, &trim, &trimmed, err) < 0)
        return -1;
    switch (form) {
    case SHOWTREE_TEXT: return print_text(context, config, view, trimmed, out, err);
    case SHOWTREE_JSON: print_json(config, view, trimmed, out); return 0;
    case SHOWTREE_BYTES: return flamebytes_encode(trimmed, 0, view->unit, out, err);
    }
    return 0;
}
