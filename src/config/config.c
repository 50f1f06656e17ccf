// SPDX-License-Identifier: Apache-2.0
/* One recursive walk over libyaml's events, never more than one event at a time in memory. */
#include "config/config.h"

#include "base/fs.h"
#include "base/vec.h"

#include <yaml.h>

#define FILE_SHOWN 96 /* bytes of a file's name in a message */
#define KEY_SHOWN  64

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* A key that was seen, with or without a value of its own. */
struct seen_key {
    struct slice key;
    unsigned line;
};

struct config_reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; empty (YAML_NO_EVENT) before the first and after a failure */
    struct slice yaml;
    const char *file;
    struct arena *arena;
    VEC(struct option_entry) entries;
    VEC(struct seen_key) seen;
    VEC(const char *) items; /* of the list being read */
};

static void reader_done(struct config_reader *reader)
{
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
    VEC_DONE(&reader->entries);
    VEC_DONE(&reader->seen);
    VEC_DONE(&reader->items);
}

static unsigned line_of(yaml_mark_t mark)
{
    return (unsigned)MIN(mark.line + 1, (size_t)UINT32_MAX);
}

/* --- errors --- */

/* Puts "file:line:column" in front of the story. */
static int blame(const struct config_reader *reader, yaml_mark_t mark, struct error *err)
{
    return error_wrap(err, "%.*s:%u:%zu", FILE_SHOWN, reader->file, line_of(mark), mark.column + 1);
}

static int refuse(const struct config_reader *reader, const char *story, struct error *err)
{
    error_set(err, ERR_INVALID, "%s", story);
    return blame(reader, reader->event.start_mark, err);
}

/* Whether the line of the problem is indented with tabs, the commonest mistake. */
static bool is_tab_indented(const struct config_reader *reader)
{
    struct slice rest = reader->yaml, line = { NULL, 0 };

    for (size_t i = 0; i <= reader->parser.problem_mark.line; i++)
        if (!slice_next_line(&rest, &line))
            return false;
    for (size_t i = 0; i < line.len && (line.ptr[i] == ' ' || line.ptr[i] == '\t'); i++)
        if (line.ptr[i] == '\t')
            return true;
    return false;
}

/* What to do about a problem that libyaml reports. */
static const char *cure_of(const struct config_reader *reader)
{
    static const struct {
        const char *problem;
        const char *cure;
    } cures[] = {
        { "mapping values are not allowed in this context",
          "quote a value that holds ': ', and check the indentation" },
        { "could not find expected ':'", "write each option as 'key: value'" },
        { "did not find expected key", "write each option as 'key: value', all indented alike" },
        { "found unexpected end of stream", "close the quotes" },
        { "did not find expected ',' or ']'", "separate the items of a list by commas and close it with ']'" },
        { "did not find expected ',' or '}'", "separate the keys of a map by commas and close it with '}'" },
    };

    if (is_tab_indented(reader))
        return "indent with spaces, not tabs";
    for (size_t i = 0; i < ARRAY_LEN(cures); i++)
        if (strcmp(reader->parser.problem, cures[i].problem) == 0)
            return cures[i].cure;
    return "check the indentation and the quotes here";
}

/* Bytes that are no text: libyaml gives an offset only. */
static int report_bad_bytes(const struct config_reader *reader, struct error *err)
{
    size_t offset = MIN(reader->parser.problem_offset, reader->yaml.len);
    unsigned line = 1;

    for (size_t i = 0; i < offset; i++)
        line += reader->yaml.ptr[i] == '\n';
    return error_set(err, ERR_INVALID, "%.*s:%u: byte %zu is no text (%s); save the file as UTF-8", FILE_SHOWN,
                     reader->file, line, offset, reader->parser.problem);
}

static int report_problem(const struct config_reader *reader, struct error *err)
{
    switch (reader->parser.error) {
    case YAML_MEMORY_ERROR:
        return error_set(err, ERR_MEMORY, "out of memory while reading '%.*s'", FILE_SHOWN, reader->file);
    case YAML_READER_ERROR: return report_bad_bytes(reader, err);
    case YAML_NO_ERROR:
    case YAML_SCANNER_ERROR:
    case YAML_PARSER_ERROR:
    case YAML_COMPOSER_ERROR:
    case YAML_WRITER_ERROR:
    case YAML_EMITTER_ERROR: break;
    }
    error_set(err, ERR_INVALID, "not valid YAML: %s; %s", reader->parser.problem, cure_of(reader));
    return blame(reader, reader->parser.problem_mark, err);
}

/* --- events --- */

static int next_event(struct config_reader *reader, struct error *err)
{
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->parser, &reader->event))
        return 0;
    memset(&reader->event, 0, sizeof(reader->event));
    return report_problem(reader, err);
}

/* Refuses what no configuration needs: see config.h. */
static int check_plain(const struct config_reader *reader, struct error *err)
{
    static const char no_anchors[] = "anchors and aliases are not supported; write the value out";
    static const char no_tags[] = "tags are not supported; write the value without its '!' word";
    const yaml_event_t *event = &reader->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_ALIAS_EVENT)
        return refuse(reader, no_anchors, err);
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return refuse(reader, no_anchors, err);
    return tag ? refuse(reader, no_tags, err) : 0;
}

static struct slice scalar_text(const struct config_reader *reader)
{
    return slice_of(reader->event.data.scalar.value, reader->event.data.scalar.length);
}

/* Whether the current scalar says "no value": nothing, null or ~ without quotes. */
static bool is_null(const struct config_reader *reader)
{
    struct slice text = scalar_text(reader);

    return reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text.len == 0 || slice_is(text, "~") || slice_equal_nocase(text, SLICE("null")));
}

/* A copy of the current scalar, which must be text. */
static int copy_scalar(const struct config_reader *reader, const char **ret_text, struct error *err)
{
    struct slice copy;

    if (slice_find_byte(scalar_text(reader), '\0') >= 0)
        return refuse(reader, "this text holds a zero byte; take the '\\0' out", err);
    copy = arena_copy(reader->arena, scalar_text(reader), err);
    if (!copy.ptr)
        return -1;
    *ret_text = copy.ptr;
    return 0;
}

/* --- keys and values --- */

/* The key of the current event, behind those of the maps around it. */
static int read_key(struct config_reader *reader, struct slice prefix, struct slice *ret_key, struct error *err)
{
    struct slice name;
    char *joined;

    if (reader->event.type != YAML_SCALAR_EVENT)
        return refuse(reader, "a key must be a word, not a list or a map; write 'key: value'", err);
    name = scalar_text(reader);
    if (name.len == 0)
        return refuse(reader, "a key is missing before ':'; write 'key: value'", err);
    if (prefix.len + 1 + name.len > CONFIG_KEY_MAX || slice_find_byte(name, '\0') >= 0)
        return refuse(reader, "a key is longer than any that is known, or holds a zero byte", err);
    joined = arena_printf(reader->arena, err, "%.*s%s%.*s", SLICE_ARG(prefix), prefix.len ? "." : "", SLICE_ARG(name));
    if (!joined)
        return -1;
    *ret_key = slice_from(joined);
    return 0;
}

static int refuse_twice(const struct config_reader *reader, const struct seen_key *first, struct error *err)
{
    error_set(err, ERR_INVALID, "key '%.*s' was given on line %u already; keep one of the two",
              SLICE_ARG(slice_sub(first->key, 0, KEY_SHOWN)), first->line);
    return blame(reader, reader->event.start_mark, err);
}

static int note_key(struct config_reader *reader, struct slice key, struct error *err)
{
    struct seen_key *added;

    VEC_EACH (&reader->seen, earlier)
        if (slice_equal(earlier->key, key))
            return refuse_twice(reader, earlier, err);
    added = VEC_PUSH(&reader->seen, CONFIG_ENTRIES_MAX, err);
    if (!added)
        return error_wrap(err, "keys of '%.*s'", FILE_SHOWN, reader->file);
    *added = (struct seen_key){ key, line_of(reader->event.start_mark) };
    return 0;
}

static int add_entry(struct config_reader *reader, const struct option_entry *entry, struct error *err)
{
    struct option_entry *added = VEC_PUSH(&reader->entries, CONFIG_ENTRIES_MAX, err);

    if (!added)
        return -1;
    *added = *entry;
    return 0;
}

static int read_scalar(struct config_reader *reader, struct option_entry *entry, struct error *err)
{
    const char **value;

    if (is_null(reader))
        return add_entry(reader, entry, err);
    value = ARENA_NEW(reader->arena, const char *, err);
    if (!value || copy_scalar(reader, value, err) < 0)
        return -1;
    entry->values = value;
    entry->values_n = 1;
    return add_entry(reader, entry, err);
}

/* The list whose start is the current event. */
static int read_list(struct config_reader *reader, struct option_entry *entry, struct error *err)
{
    const char **values;

    reader->items.n = 0;
    for (;;) {
        const char **item;

        if (next_event(reader, err) < 0 || check_plain(reader, err) < 0)
            return -1;
        if (reader->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (reader->event.type != YAML_SCALAR_EVENT)
            return refuse(reader, "a list holds plain values only, not lists or maps", err);
        item = VEC_PUSH(&reader->items, OPTIONS_LIST_MAX, err);
        if (!item)
            return error_wrap(err, "list on line %u of '%.*s'", entry->line, FILE_SHOWN, reader->file);
        if (copy_scalar(reader, item, err) < 0)
            return -1;
    }
    values = ARENA_ARRAY(reader->arena, const char *, reader->items.n, err);
    if (!values)
        return -1;
    if (reader->items.n > 0)
        memcpy(values, reader->items.items, reader->items.n * sizeof(*values));
    entry->values = values;
    entry->values_n = reader->items.n;
    entry->is_list = true;
    return add_entry(reader, entry, err);
}

static int read_map(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err);

/* One key, which is the current event, and its value. */
static int read_pair(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err)
{
    struct option_entry entry = { .line = line_of(reader->event.start_mark) };

    if (read_key(reader, prefix, &entry.key, err) < 0 || note_key(reader, entry.key, err) < 0 ||
        next_event(reader, err) < 0 || check_plain(reader, err) < 0)
        return -1;
    if (reader->event.type == YAML_MAPPING_START_EVENT)
        return read_map(reader, entry.key, depth + 1, err);
    if (reader->event.type == YAML_SEQUENCE_START_EVENT)
        return read_list(reader, &entry, err);
    return read_scalar(reader, &entry, err);
}

/* The map whose start is the current event. */
static int read_map(struct config_reader *reader, struct slice prefix, unsigned depth, struct error *err)
{
    if (depth > CONFIG_DEPTH_MAX) {
        error_set(err, ERR_LIMIT, "maps are nested more than %d deep", CONFIG_DEPTH_MAX);
        return blame(reader, reader->event.start_mark, err);
    }
    for (;;) {
        if (next_event(reader, err) < 0 || check_plain(reader, err) < 0)
            return -1;
        if (reader->event.type == YAML_MAPPING_END_EVENT)
            return 0;
        if (read_pair(reader, prefix, depth, err) < 0)
            return -1;
    }
}

/* The content of a document, whose start is the current event. */
static int read_document(struct config_reader *reader, struct error *err)
{
    if (next_event(reader, err) < 0 || check_plain(reader, err) < 0)
        return -1;
    if (reader->event.type == YAML_MAPPING_START_EVENT)
        return read_map(reader, slice_of(NULL, 0), 1, err);
    if (reader->event.type == YAML_SCALAR_EVENT && is_null(reader))
        return 0;
    return refuse(reader, "a configuration is a map; write each option as 'key: value'", err);
}

/* STREAM-START [DOCUMENT-START content DOCUMENT-END] STREAM-END. */
static int read_stream(struct config_reader *reader, struct error *err)
{
    if (next_event(reader, err) < 0 || next_event(reader, err) < 0)
        return -1;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (read_document(reader, err) < 0 || next_event(reader, err) < 0 || next_event(reader, err) < 0)
        return -1;
    if (reader->event.type != YAML_STREAM_END_EVENT)
        return refuse(reader, "a second document begins here; keep one document in a file", err);
    return 0;
}

static int take_entries(const struct config_reader *reader, struct config *ret_config, struct error *err)
{
    size_t n = reader->entries.n;
    struct option_entry *entries = ARENA_ARRAY(reader->arena, struct option_entry, n, err);

    if (!entries)
        return -1;
    if (n > 0)
        memcpy(entries, reader->entries.items, n * sizeof(*entries));
    *ret_config = (struct config){ entries, n };
    return 0;
}

/* libyaml compares each %TAG directive with all before it, so a file of nothing else would take minutes. Every line
 * break that YAML knows ends in one of these bytes. */
static int check_directives(struct slice yaml, const char *file, struct error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < yaml.len; i++) {
        unsigned char before = i ? (unsigned char)yaml.ptr[i - 1] : '\n';

        n += yaml.ptr[i] == '%' && (before == '\n' || before == '\r' || before >= 0x80);
    }
    if (n <= CONFIG_PERCENT_MAX)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "'%.*s' has %zu lines that begin with '%%'; at most %d are read, and none is needed", FILE_SHOWN,
                     file, n, CONFIG_PERCENT_MAX);
}

int config_parse(struct slice yaml, const char *file, struct arena *arena, struct config *ret_config, struct error *err)
{
    AUTO(reader_done) struct config_reader reader = { .file = file, .arena = arena };

    if (yaml.len > CONFIG_BYTES_MAX)
        return error_set(err, ERR_LIMIT, "'%.*s' has %zu bytes; a configuration file has at most %d", FILE_SHOWN, file,
                         yaml.len, CONFIG_BYTES_MAX);
    if (check_directives(yaml, file, err) < 0)
        return -1;
    if (!yaml_parser_initialize(&reader.parser))
        return error_set(err, ERR_MEMORY, "out of memory while reading '%.*s'", FILE_SHOWN, file);
    reader.yaml = slice_starts_with(yaml, SLICE(BYTE_ORDER_MARK)) ? slice_sub(yaml, 3, yaml.len) : yaml;
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.yaml.ptr, reader.yaml.len);
    if (read_stream(&reader, err) < 0)
        return -1;
    return take_entries(&reader, ret_config, err);
}

int config_read(const char *path, struct arena *arena, struct config *ret_config, struct error *err)
{
    AUTO(buffer_done) struct buffer yaml;

    buffer_init(&yaml, CONFIG_BYTES_MAX);
    if (fs_read_file(path, CONFIG_BYTES_MAX, &yaml, err) < 0)
        return error_wrap(err, "configuration file");
    return config_parse(buffer_slice(&yaml), path, arena, ret_config, err);
}
