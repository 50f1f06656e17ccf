// SPDX-License-Identifier: Apache-2.0
/* A pull parser for JSON (RFC 8259, strictly): the caller asks for what should come next, nothing is built in memory.
 *
 * J1  Failing is sticky: the first problem is noted with its line and column, the reader then stands at its end and
 * gives zeros, empty texts and "no more". So loops end by themselves, and the caller looks once, at json_reader_check.
 * J2  Texts without escapes are borrowed from the input; the others are copied into the arena. Nothing else allocates.
 * J3  Texts and keys are well-formed UTF-8: bad bytes and lone surrogates are problems.
 * J4  Nesting is bounded by `max_depth`, at most JSON_READER_MAX_DEPTH.
 *
 *      json_reader_init(&r, text, &arena, JSON_READER_MAX_DEPTH);
 *      json_reader_enter_object(&r);
 *      while (json_reader_next_key(&r, &key)) {
 *          if (slice_is(key, "name"))
 *              name = json_reader_text(&r);
 *          else
 *              json_reader_skip(&r);
 *      }
 *      json_reader_end(&r);
 *      if (json_reader_check(&r, err) < 0)
 *          return -1;
 *
 * Between two calls the caller takes every value that was announced, by reading, entering or skipping it. A container
 * once entered is left by next_key or next_item returning false. Thread: one at a time. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/slice.h"

#define JSON_READER_MAX_DEPTH 128

enum json_kind { JSON_NOTHING, JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_reader {
    const char *start;
    const char *at;
    const char *end;
    struct arena *arena;
    uint32_t depth;
    uint32_t max_depth;
    bool is_after_value; /* a comma or the end of the container must come next */
    struct error failure;
};

/* A reader over borrowed text. A byte order mark at the front is passed over. */
void json_reader_init(struct json_reader *reader, struct slice text, struct arena *arena, uint32_t max_depth);

/* 0 if all is well so far, else -1 with the first problem: ERR_CORRUPT ("line 3, column 7: expected ..., found ..."),
 * ERR_LIMIT or ERR_MEMORY. */
MUST_CHECK int json_reader_check(const struct json_reader *reader, struct error *err);
/* Notes a problem of the caller's own (ERR_CORRUPT) at the reader's place, unless one is noted already. */
void json_reader_fail(struct json_reader *reader, const char *fmt, ...) PRINTF(2, 3);

/* What the next value is, by its first byte; JSON_NOTHING at the end, after a problem, and where no value begins. */
enum json_kind json_reader_peek(struct json_reader *reader);

void json_reader_enter_object(struct json_reader *reader);
/* The next key, its value to be taken next; false where the object ends. */
bool json_reader_next_key(struct json_reader *reader, struct slice *ret_key);
void json_reader_enter_array(struct json_reader *reader);
/* Whether another item comes, to be taken next; false where the array ends. */
bool json_reader_next_item(struct json_reader *reader);

struct slice json_reader_text(struct json_reader *reader);
bool json_reader_bool(struct json_reader *reader);
void json_reader_null(struct json_reader *reader);
/* A number as it is written. */
struct slice json_reader_number(struct json_reader *reader);
/* A whole number in range, or a string that holds one (which is how 64-bit integers often come). 1e3 and 5.0 are
 * whole. */
int64_t json_reader_i64(struct json_reader *reader);
uint64_t json_reader_u64(struct json_reader *reader);
/* Any number, or a string that holds one or one of NaN, Infinity, -Infinity. */
double json_reader_double(struct json_reader *reader);
/* Passes over a value of any kind, checking it. */
void json_reader_skip(struct json_reader *reader);

/* Texts of several values one after another (JSON lines): whether another one comes. */
bool json_reader_next_document(struct json_reader *reader);
/* Nothing but white space may be left. */
void json_reader_end(struct json_reader *reader);
