// SPDX-License-Identifier: Apache-2.0
/* What the fields of a request tell about its layout, gathered and weighed apart so that each can be tested. */
#pragma once

#include "wire/otlp_document_internal.h"

/* Named by message and field: the wire type in which it was met, or what was found in it. */
enum otlp_sign {
    OTLP_SIGN_DICTIONARY = 1 << 0,          /* there is one */
    OTLP_SIGN_SAMPLES = 1 << 1,             /* there are some */
    OTLP_SIGN_TABLES_AT_TOP = 1 << 2,       /* L6: two or more of the fields 3 to 8 beside the profiles */
    OTLP_SIGN_PROFILE_15_TO_22 = 1 << 3,    /* L4 */
    OTLP_SIGN_PROFILE_3_BYTES = 1 << 4,     /* L7: location_indices */
    OTLP_SIGN_PROFILE_3_FIXED64 = 1 << 5,   /* L8+: time */
    OTLP_SIGN_PROFILE_5_VARINT = 1 << 6,    /* L7: duration */
    OTLP_SIGN_PROFILE_5_BYTES = 1 << 7,     /* L8+: period type */
    OTLP_SIGN_PROFILE_7_ODD_BYTES = 1 << 8, /* L8: comments; an id would have 0 or 16 bytes */
    OTLP_SIGN_PROFILE_8_BYTES = 1 << 9,     /* L8: id */
    OTLP_SIGN_PROFILE_9_VARINT = 1 << 10,   /* L8: dropped attributes */
    OTLP_SIGN_PROFILE_12 = 1 << 11,         /* L8: attributes */
    OTLP_SIGN_VALUE_TYPE_3 = 1 << 12,       /* L8: temporality */
    OTLP_SIGN_PROFILE_L9 = 1 << 13,         /* L9+: 7 of 0 or 16 bytes, 8 varint, or 9 bytes */
    OTLP_SIGN_INLINE_KEY = 1 << 14,         /* L7: an entry of the attribute table has its key in it */
    OTLP_SIGN_UNITS = 1 << 15,              /* L7: dictionary 7 holds pairs of numbers */
    OTLP_SIGN_STACKS = 1 << 16,             /* L8+: dictionary 7 holds packed numbers */
    OTLP_SIGN_STRING_INDEX = 1 << 17,       /* L10: a key or text of a resource, scope or attribute is an index */
    OTLP_SIGN_SAMPLE_2_VARINT = 1 << 18,    /* L7: length of the stack */
    OTLP_SIGN_SAMPLE_3_BYTES = 1 << 19,     /* L8, L9: attributes */
    OTLP_SIGN_SAMPLE_3_VARINT = 1 << 20,    /* L10: link */
    OTLP_SIGN_SAMPLE_4_VARINT = 1 << 21,    /* L8, L9: link */
    OTLP_SIGN_SAMPLE_4_BYTES = 1 << 22,     /* L10: values */
    OTLP_SIGN_SAMPLE_ONLY_2 = 1 << 23,      /* L8, L9: a sample with 2 and without 3, 4, 5: L10 would have no values */
};

struct otlp_signs {
    uint32_t found; /* OTLP_SIGN_... */
    /* Samples with 2 and 5, but without 3 and 4: L10 has attributes in 2, L8 and L9 have a value per timestamp. */
    uint32_t n_attribute_like; /* not as many in 2 as in 5: not values */
    uint32_t n_value_like;     /* as many, but not distinct attributes */
};

/* The layout of a request whose tables are found (otlp_document_survey). Errors: ERR_CORRUPT, ERR_MEMORY. */
MUST_CHECK int otlp_layout_of(const struct otlp_document *document, enum otlp_layout *ret_layout, struct error *err);
/* The layout that the signs tell. */
enum otlp_layout otlp_layout_weigh(const struct otlp_signs *signs);
/* Sets ERR_VERSION for a layout that is not read (L4, L6); returns -1. */
int otlp_layout_refuse(enum otlp_layout layout, struct error *err);
