// SPDX-License-Identifier: Apache-2.0
/* For tests: requests made by hand, with the field numbers of each layout spelled out again, and batches as text. */
#pragma once

#include "wire/otlp.h"
#include "wire/protobuf.h"

enum otlp_craft_shape {
    OTLP_CRAFT_VALUE,         /* one value (L7: of one type) */
    OTLP_CRAFT_TIMES,         /* timestamps only */
    OTLP_CRAFT_BOTH,          /* a value per timestamp */
    OTLP_CRAFT_STACK_AND_TWO, /* timestamps, and no sample has a link: only fields 1, 2 and 5 in L10 */
};

struct otlp_craft {
    enum otlp_layout layout;
    enum otlp_craft_shape shape;
    bool is_descending; /* as the collector writes: fields by falling number, so the dictionary comes first */
    bool has_empties;   /* as the collector writes: ids of length 0 and an empty value in attribute 0 */
    bool is_unpacked;   /* repeated integers one by one */
    bool has_indexes;   /* L10: keys and texts of the resource as indexes */
    bool has_margin;    /* unknown bytes at the end, so that nothing is too near to it to be read quickly */
};

/* Appends a request: one resource, one scope, one profile of type off_cpu/nanoseconds with two samples. */
void otlp_craft_request(const struct otlp_craft *craft, struct buffer *out);
/* What such a request is in the model, as otlp_craft_dump tells it. */
const char *otlp_craft_expected(enum otlp_craft_shape shape);

/* The whole batch as text, but for what nothing refers to. */
void otlp_craft_dump(const struct batch *batch, struct buffer *out);
/* Decodes and dumps; the text is valid until the next call. */
const char *otlp_craft_decoded(struct slice bytes);
/* The same for JSON. */
const char *otlp_craft_json_decoded(const char *json);
/* The reports of the last otlp_craft_decoded or otlp_craft_json_decoded, one line each: "2 x kind (example)". */
const char *otlp_craft_reports(void);

/* Messages of one field, for small requests. */
void otlp_craft_put_strings(struct buffer *dictionary, const char *const *strings, size_t n);
void otlp_craft_put_packed(struct buffer *out, uint32_t field, const uint64_t *values, size_t n);
