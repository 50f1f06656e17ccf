// SPDX-License-Identifier: Apache-2.0
#include "config/yamlevents_internal.h"

#include "config/config.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static unsigned clamped(size_t position)
{
    return (unsigned)MIN(position + 1, (size_t)UINT32_MAX);
}

unsigned yamlevents_line(const struct yamlevents *events)
{
    return clamped(events->event.start_mark.line);
}

unsigned yamlevents_column(const struct yamlevents *events)
{
    return clamped(events->event.start_mark.column);
}

/* --- errors --- */

static int blame(const struct yamlevents *events, yaml_mark_t mark, struct error *err)
{
    return error_wrap(err, "%.*s:%u:%u", YAMLEVENTS_FILE_SHOWN, events->file, clamped(mark.line), clamped(mark.column));
}

int yamlevents_blame(const struct yamlevents *events, struct error *err)
{
    return blame(events, events->event.start_mark, err);
}

int yamlevents_refuse(const struct yamlevents *events, const char *story, struct error *err)
{
    error_set(err, ERR_INVALID, "%s", story);
    return yamlevents_blame(events, err);
}

/* Whether the line of the problem is indented with tabs, the commonest mistake. */
static bool is_tab_indented(const struct yamlevents *events)
{
    struct slice rest = events->yaml, line = { NULL, 0 };

    for (size_t i = 0; i <= events->parser.problem_mark.line; i++)
        if (!slice_next_line(&rest, &line))
            return false;
    for (size_t i = 0; i < line.len && (line.ptr[i] == ' ' || line.ptr[i] == '\t'); i++)
        if (line.ptr[i] == '\t')
            return true;
    return false;
}

/* What to do about a problem that libyaml reports. */
static const char *cure_of(const struct yamlevents *events)
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

    if (is_tab_indented(events))
        return "indent with spaces, not tabs";
    for (size_t i = 0; i < ARRAY_LEN(cures); i++)
        if (strcmp(events->parser.problem, cures[i].problem) == 0)
            return cures[i].cure;
    return "check the indentation and the quotes here";
}

/* Bytes that are no text: libyaml gives an offset only. */
static int report_bad_bytes(const struct yamlevents *events, struct error *err)
{
    size_t offset = MIN(events->parser.problem_offset, events->yaml.len);
    unsigned line = 1;

    for (size_t i = 0; i < offset; i++)
        line += events->yaml.ptr[i] == '\n';
    return error_set(err, ERR_INVALID, "%.*s:%u: byte %zu is no text (%s); save the file as UTF-8",
                     YAMLEVENTS_FILE_SHOWN, events->file, line, offset, events->parser.problem);
}

static int report_problem(const struct yamlevents *events, struct error *err)
{
    switch (events->parser.error) {
    case YAML_MEMORY_ERROR:
        return error_set(err, ERR_MEMORY, "out of memory while reading '%.*s'", YAMLEVENTS_FILE_SHOWN, events->file);
    case YAML_READER_ERROR: return report_bad_bytes(events, err);
    case YAML_NO_ERROR:
    case YAML_SCANNER_ERROR:
    case YAML_PARSER_ERROR:
    case YAML_COMPOSER_ERROR:
    case YAML_WRITER_ERROR:
    case YAML_EMITTER_ERROR: break;
    }
    error_set(err, ERR_INVALID, "not valid YAML: %s; %s", events->parser.problem, cure_of(events));
    return blame(events, events->parser.problem_mark, err);
}

/* --- events --- */

/* Refuses what no configuration needs: see config.h. */
static int check_plain(const struct yamlevents *events, struct error *err)
{
    static const char no_anchors[] = "anchors and aliases are not supported; write the value out";
    static const char no_tags[] = "tags are not supported; write the value without its '!' word";
    const yaml_event_t *event = &events->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_ALIAS_EVENT)
        return yamlevents_refuse(events, no_anchors, err);
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
        return yamlevents_refuse(events, no_anchors, err);
    return tag ? yamlevents_refuse(events, no_tags, err) : 0;
}

int yamlevents_next(struct yamlevents *events, struct error *err)
{
    yaml_event_delete(&events->event);
    if (yaml_parser_parse(&events->parser, &events->event))
        return check_plain(events, err);
    memset(&events->event, 0, sizeof(events->event));
    return report_problem(events, err);
}

struct slice yamlevents_text(const struct yamlevents *events)
{
    return slice_of(events->event.data.scalar.value, events->event.data.scalar.length);
}

bool yamlevents_is_null(const struct yamlevents *events)
{
    struct slice text = yamlevents_text(events);

    return events->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text.len == 0 || slice_is(text, "~") || slice_equal_nocase(text, SLICE("null")));
}

int yamlevents_copy(const struct yamlevents *events, struct arena *arena, struct slice *ret_text, struct error *err)
{
    struct slice copy;

    if (slice_find_byte(yamlevents_text(events), '\0') >= 0)
        return yamlevents_refuse(events, "this text holds a zero byte; take the '\\0' out", err);
    copy = arena_copy(arena, yamlevents_text(events), err);
    if (!copy.ptr)
        return -1;
    *ret_text = copy;
    return 0;
}

/* --- the stream --- */

/* STREAM-START [DOCUMENT-START content DOCUMENT-END] STREAM-END. */
int yamlevents_document(struct yamlevents *events, int (*read)(void *context, struct error *err), void *context,
                        struct error *err)
{
    if (yamlevents_next(events, err) < 0 || yamlevents_next(events, err) < 0)
        return -1;
    if (events->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (yamlevents_next(events, err) < 0 || read(context, err) < 0 || yamlevents_next(events, err) < 0 ||
        yamlevents_next(events, err) < 0)
        return -1;
    if (events->event.type != YAML_STREAM_END_EVENT)
        return yamlevents_refuse(events, "a second document begins here; keep one document in a file", err);
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
                     "'%.*s' has %zu lines that begin with '%%'; at most %d are read, and none is needed",
                     YAMLEVENTS_FILE_SHOWN, file, n, CONFIG_PERCENT_MAX);
}

int yamlevents_init(struct yamlevents *events, struct slice yaml, const char *file, struct error *err)
{
    *events = (struct yamlevents){ .file = file };
    if (yaml.len > CONFIG_BYTES_MAX)
        return error_set(err, ERR_LIMIT, "'%.*s' has %zu bytes; a configuration file has at most %d",
                         YAMLEVENTS_FILE_SHOWN, file, yaml.len, CONFIG_BYTES_MAX);
    if (check_directives(yaml, file, err) < 0)
        return -1;
    if (!yaml_parser_initialize(&events->parser))
        return error_set(err, ERR_MEMORY, "out of memory while reading '%.*s'", YAMLEVENTS_FILE_SHOWN, file);
    events->yaml = slice_starts_with(yaml, SLICE(BYTE_ORDER_MARK)) ? slice_sub(yaml, 3, yaml.len) : yaml;
    yaml_parser_set_encoding(&events->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&events->parser, (const unsigned char *)events->yaml.ptr, events->yaml.len);
    return 0;
}

void yamlevents_done(struct yamlevents *events)
{
    yaml_event_delete(&events->event);
    yaml_parser_delete(&events->parser);
}
