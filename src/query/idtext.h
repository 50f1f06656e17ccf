// SPDX-License-Identifier: Apache-2.0
/* Ids of spans, traces and profiles as people and programs write them: hexadecimal digits. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

#define IDTEXT_SPAN_BYTES    8
#define IDTEXT_TRACE_BYTES   16
#define IDTEXT_PROFILE_BYTES 16

/* A span is 16 digits, a trace 32, as OpenTelemetry writes them; a profile is a UUID, of which the dashes may be left out.
 * Capitals will do. Ids of zeros are none. Errors: ERR_INVALID saying what was given and what is right; then the id is as
 * before. */
MUST_CHECK int idtext_parse_span(struct slice text, uint8_t ret_id[static IDTEXT_SPAN_BYTES], struct error *err);
MUST_CHECK int idtext_parse_trace(struct slice text, uint8_t ret_id[static IDTEXT_TRACE_BYTES], struct error *err);
MUST_CHECK int idtext_parse_profile(struct slice text, uint8_t ret_id[static IDTEXT_PROFILE_BYTES], struct error *err);

/* Ids as texts, in small letters; profiles with dashes. */
struct idtext {
    char text[40];
};
struct idtext idtext_of_span(const uint8_t id[static IDTEXT_SPAN_BYTES]);
struct idtext idtext_of_trace(const uint8_t id[static IDTEXT_TRACE_BYTES]);
struct idtext idtext_of_profile(const uint8_t id[static IDTEXT_PROFILE_BYTES]);
/* Whether an id is there: not all zeros. */
bool idtext_is_there(const uint8_t *id, size_t n_bytes);
