// SPDX-License-Identifier: Apache-2.0
#include "intake/multipart.h"

#define MAX_BOUNDARY_BYTES 70 /* RFC 2046, 5.1.1 */

bool multipart_is_form(struct slice content_type)
{
    struct slice type = slice_trim(content_type);

    return slice_equal_nocase(slice_sub(type, 0, 19), SLICE("multipart/form-data"));
}

/* --- header values: a word, then `; name=value` or `; name="value"` --- */

/* Cuts a value off the front of `rest`: quoted, or up to the next semicolon. */
static struct slice next_value(struct slice *rest)
{
    size_t end = 0;

    if (rest->len > 0 && rest->ptr[0] == '"') {
        for (end = 1; end < rest->len && rest->ptr[end] != '"'; end++)
            end += rest->ptr[end] == '\\';
        struct slice quoted = slice_sub(*rest, 1, MIN(end, rest->len) - 1);

        *rest = slice_sub(*rest, end + 1, SIZE_MAX);
        return quoted;
    }
    while (end < rest->len && rest->ptr[end] != ';')
        end++;
    struct slice word = slice_trim(slice_sub(*rest, 0, end));

    *rest = slice_sub(*rest, end, SIZE_MAX);
    return word;
}

static bool find_parameter(struct slice value, const char *name, struct slice *ret_value)
{
    ptrdiff_t semicolon;

    while ((semicolon = slice_find_byte(value, ';')) >= 0) {
        ptrdiff_t equals;
        struct slice key, found;

        value = slice_sub(value, (size_t)semicolon + 1, SIZE_MAX);
        equals = slice_find_byte(value, '=');
        if (equals < 0)
            return false;
        key = slice_trim(slice_sub(value, 0, (size_t)equals));
        value = slice_sub(value, (size_t)equals + 1, SIZE_MAX);
        found = next_value(&value);
        if (slice_equal_nocase(key, slice_from(name))) {
            *ret_value = found;
            return true;
        }
    }
    return false;
}

/* --- parts --- */

struct reader {
    struct slice body;
    size_t at;
    char delimiter[2 + MAX_BOUNDARY_BYTES]; /* "--boundary" */
    size_t delimiter_len;
};

/* Whether a delimiter may end in front of this: by "--" or the end of its line, or where the body was cut. */
static bool ends_delimiter(struct slice rest)
{
    while (rest.len > 0 && (rest.ptr[0] == ' ' || rest.ptr[0] == '\t' || rest.ptr[0] == '\r'))
        rest = slice_sub(rest, 1, SIZE_MAX);
    return rest.len == 0 || rest.ptr[0] == '\n' || slice_starts_with(rest, SLICE("--"));
}

/* Finds the next delimiter that begins a line: where the line before it ends, and where the text behind it begins. Goes from
 * line to line, which in packed bytes is faster than looking for all of the delimiter everywhere. */
static bool find_delimiter(const struct reader *r, size_t from, size_t *ret_end, size_t *ret_behind)
{
    struct slice delimiter = slice_of(r->delimiter, r->delimiter_len);

    for (size_t at = from; at < r->body.len;) {
        struct slice rest = slice_sub(r->body, at, SIZE_MAX);
        ptrdiff_t line_end;

        if ((at == 0 || r->body.ptr[at - 1] == '\n') && slice_starts_with(rest, delimiter) &&
            ends_delimiter(slice_sub(rest, delimiter.len, SIZE_MAX))) {
            *ret_behind = at + delimiter.len;
            at -= at > from;
            at -= at > from && r->body.ptr[at - 1] == '\r';
            *ret_end = at;
            return true;
        }
        line_end = slice_find_byte(rest, '\n');
        if (line_end < 0)
            return false;
        at += (size_t)line_end + 1;
    }
    return false;
}

static int corrupt(size_t at, const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "multipart form: %s at byte %zu", what, at);
}

static void read_header(struct slice line, struct multipart_part *part)
{
    ptrdiff_t colon = slice_find_byte(line, ':');
    struct slice name = slice_trim(slice_sub(line, 0, colon < 0 ? 0 : (size_t)colon));
    struct slice value = slice_trim(slice_sub(line, (size_t)(colon + 1), SIZE_MAX));

    if (slice_equal_nocase(name, SLICE("Content-Disposition"))) {
        (void)find_parameter(value, "name", &part->name);
        part->has_filename = find_parameter(value, "filename", &part->filename);
    } else if (slice_equal_nocase(name, SLICE("Content-Type"))) {
        part->content_type = value;
    }
}

/* Reads the part that begins behind a delimiter and its line end. */
static int read_part(struct reader *r, struct multipart_part *part, struct error *err)
{
    struct slice rest = slice_sub(r->body, r->at, SIZE_MAX), line;
    size_t body_at, end;

    do {
        if (!slice_next_line(&rest, &line))
            return corrupt(r->body.len, "the headers of a part do not end", err);
        body_at = r->body.len - rest.len;
        if (body_at - r->at > MULTIPART_MAX_HEADER_BYTES)
            return error_set(err, ERR_LIMIT, "multipart form: headers of a part are longer than %d bytes at byte %zu",
                             MULTIPART_MAX_HEADER_BYTES, r->at);
        read_header(line, part);
    } while (line.len > 0);
    if (!find_delimiter(r, body_at, &end, &r->at))
        return corrupt(r->body.len, "the closing boundary is missing", err);
    part->body = slice_sub(r->body, body_at, end - body_at);
    return 0;
}

/* Passes over what follows a delimiter on its line, and says whether a part begins behind it. */
static int pass_line(struct reader *r, bool *ret_begins_part, struct error *err)
{
    struct slice rest = slice_sub(r->body, r->at, SIZE_MAX), line;

    *ret_begins_part = !slice_starts_with(rest, SLICE("--"));
    if (!*ret_begins_part)
        return 0;
    if (!slice_next_line(&rest, &line))
        return corrupt(r->body.len, "the closing boundary is missing", err);
    r->at = r->body.len - rest.len;
    return 0;
}

static int make_delimiter(struct slice content_type, struct reader *r, struct error *err)
{
    struct slice boundary = { NULL, 0 };

    if (!find_parameter(content_type, "boundary", &boundary) || boundary.len == 0 || boundary.len > MAX_BOUNDARY_BYTES)
        return error_set(err, ERR_INVALID,
                         "the Content-Type '%.*s' names no boundary of 1 to %d bytes; write multipart/form-data; "
                         "boundary=WORD",
                         (int)MIN(content_type.len, 80u), content_type.ptr, MAX_BOUNDARY_BYTES);
    memcpy(r->delimiter, "--", 2);
    memcpy(r->delimiter + 2, boundary.ptr, boundary.len);
    r->delimiter_len = 2 + boundary.len;
    return 0;
}

int multipart_parse(struct slice content_type, struct slice body, struct arena *arena, struct multipart *ret_form,
                    struct error *err)
{
    struct reader r = { .body = body };
    struct multipart form = { 0 };
    bool begins_part;
    size_t ignored;

    if (make_delimiter(content_type, &r, err) < 0)
        return -1;
    form.parts = arena_alloc_zero(arena, MULTIPART_MAX_PARTS * sizeof(*form.parts), err);
    if (!form.parts)
        return -1;
    if (!find_delimiter(&r, 0, &ignored, &r.at))
        return corrupt(0, "the boundary of the Content-Type does not occur from here on", err);
    for (;;) {
        if (pass_line(&r, &begins_part, err) < 0)
            return -1;
        if (!begins_part)
            break;
        if (form.n == MULTIPART_MAX_PARTS)
            return error_set(err, ERR_LIMIT, "multipart form: more than %d parts", MULTIPART_MAX_PARTS);
        if (read_part(&r, &form.parts[form.n], err) < 0)
            return -1;
        form.n++;
    }
    *ret_form = form;
    return 0;
}

const struct multipart_part *multipart_find(const struct multipart *form, const char *name)
{
    for (uint32_t i = 0; i < form->n; i++)
        if (slice_is(form->parts[i].name, name))
            return &form->parts[i];
    return NULL;
}
