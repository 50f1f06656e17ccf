// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_layout_internal.h"

#include "base/memory.h"

/* Up to this many attribute indexes of one sample are compared with each other. */
#define MAX_COMPARED 64

/* Entries of a table that are looked at before the profiles: they are alike, but entry 0 is often empty. */
#define FIRST_ENTRIES 4

/* One request being looked at. All field numbers here are those on the wire. */
struct otlp_survey {
    const struct otlp_document *document;
    struct otlp_signs signs;
    uint32_t *attribute_keys; /* key index of each entry of the attribute table; made when first needed */
    bool has_keys;
};

static void note(struct otlp_survey *survey, enum otlp_sign sign)
{
    survey->signs.found |= sign;
}

static bool has(const struct otlp_signs *signs, uint32_t any_of)
{
    return (signs->found & any_of) != 0;
}

/* --- weighing --- */

#define SIGNS_NOT_L7 (OTLP_SIGN_PROFILE_3_FIXED64 | OTLP_SIGN_PROFILE_5_BYTES | OTLP_SIGN_STACKS)
#define SIGNS_L7                                                                                                       \
    (OTLP_SIGN_PROFILE_3_BYTES | OTLP_SIGN_PROFILE_5_VARINT | OTLP_SIGN_INLINE_KEY | OTLP_SIGN_UNITS |                 \
     OTLP_SIGN_SAMPLE_2_VARINT)
#define SIGNS_L8                                                                                                       \
    (OTLP_SIGN_PROFILE_8_BYTES | OTLP_SIGN_PROFILE_9_VARINT | OTLP_SIGN_PROFILE_12 | OTLP_SIGN_VALUE_TYPE_3)
#define SIGNS_L10 (OTLP_SIGN_SAMPLE_4_BYTES | OTLP_SIGN_STRING_INDEX)

/* How samples are numbered, L8 and newer: true as in L10, false as in L8 and L9. Without a sign it makes no difference,
 * since samples of nothing but stack and timestamps are alike. */
static bool has_new_samples(const struct otlp_signs *signs)
{
    if (has(signs, SIGNS_L10))
        return true;
    if (has(signs, OTLP_SIGN_SAMPLE_3_BYTES))
        return false;
    /* Integers that could be packed may come one by one, so these two are weaker. */
    if (has(signs, OTLP_SIGN_SAMPLE_3_VARINT))
        return true;
    if (has(signs, OTLP_SIGN_SAMPLE_4_VARINT | OTLP_SIGN_SAMPLE_ONLY_2))
        return false;
    return signs->n_attribute_like >= signs->n_value_like;
}

enum otlp_layout otlp_layout_weigh(const struct otlp_signs *signs)
{
    if (has(signs, OTLP_SIGN_TABLES_AT_TOP))
        return OTLP_L6;
    if (has(signs, OTLP_SIGN_PROFILE_15_TO_22) || (has(signs, OTLP_SIGN_SAMPLES) && !has(signs, OTLP_SIGN_DICTIONARY)))
        return OTLP_L4;
    if (has(signs, SIGNS_L7) && !has(signs, SIGNS_NOT_L7))
        return OTLP_L7;
    if (has_new_samples(signs) && !has(signs, SIGNS_L8))
        return OTLP_L10;
    if (has(signs, SIGNS_L10))
        return OTLP_L10;
    if (has(signs, SIGNS_L8))
        return OTLP_L8;
    return has(signs, OTLP_SIGN_PROFILE_7_ODD_BYTES) && !has(signs, OTLP_SIGN_PROFILE_L9) ? OTLP_L8 : OTLP_L9;
}

/* Whether what is still to come cannot change the answer. */
static bool is_decided(const struct otlp_signs *signs)
{
    if (has(signs, OTLP_SIGN_TABLES_AT_TOP | OTLP_SIGN_PROFILE_15_TO_22))
        return true;
    if (has(signs, OTLP_SIGN_PROFILE_3_BYTES | OTLP_SIGN_PROFILE_5_VARINT))
        return true;
    if (!has(signs, SIGNS_NOT_L7))
        return false;
    if (has(signs, SIGNS_L10 | OTLP_SIGN_PROFILE_8_BYTES))
        return true;
    return has(signs, OTLP_SIGN_SAMPLE_3_BYTES) && has(signs, OTLP_SIGN_PROFILE_L9);
}

/* --- the dictionary --- */

/* Looks for texts and keys given as indexes, in a message that is an AnyValue or holds some. */
static bool has_string_index(struct protobuf_reader *r, enum otlp_message message, uint32_t depth)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        const struct otlp_field *field = otlp_schema_find_number(message, PROTOBUF_FIELD(tag));

        if ((message == OTLP_ANY_VALUE && tag == PROTOBUF_TAG(OTLP_VALUE_STRING_INDEX, PROTOBUF_VARINT)) ||
            (message == OTLP_KEY_VALUE && tag == PROTOBUF_TAG(OTLP_KEY_VALUE_KEY_INDEX, PROTOBUF_VARINT)))
            return true;
        if (field && field->kind == OTLP_MESSAGE && PROTOBUF_WIRE(tag) == PROTOBUF_BYTES && depth > 0) {
            struct protobuf_reader inner = protobuf_message(r);

            if (has_string_index(&inner, field->message, depth - 1))
                return true;
            protobuf_leave(r, &inner);
        } else {
            protobuf_skip(r, tag);
        }
    }
    return false;
}

static void look_at_attribute(struct otlp_survey *survey, struct protobuf_reader *r)
{
    struct protobuf_reader again = *r;
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_ATTRIBUTE_KEY, PROTOBUF_BYTES))
            note(survey, OTLP_SIGN_INLINE_KEY);
        protobuf_skip(r, tag);
    }
    if (!r->bad && has_string_index(&again, OTLP_ATTRIBUTE, 8))
        note(survey, OTLP_SIGN_STRING_INDEX);
}

static void look_at_stack(struct otlp_survey *survey, struct protobuf_reader *r)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_STACK_LOCATIONS, PROTOBUF_BYTES))
            note(survey, OTLP_SIGN_STACKS);
        else if (tag == PROTOBUF_TAG(OTLP_UNIT_UNIT, PROTOBUF_VARINT))
            note(survey, OTLP_SIGN_UNITS);
        protobuf_skip(r, tag);
    }
}

/* Looks at the first entries of a table that differs from layout to layout. */
static void look_at_table(struct otlp_survey *survey, uint32_t table, uint32_t max_entries, struct protobuf_reader *r)
{
    const struct otlp_range *range = &survey->document->tables[table];
    struct protobuf_reader reader = otlp_range_reader(range), entry;

    for (uint32_t i = 0; i < max_entries && otlp_range_next(range, &reader, &entry); i++) {
        if (table == OTLP_DICTIONARY_ATTRIBUTES)
            look_at_attribute(survey, &entry);
        else
            look_at_stack(survey, &entry);
        protobuf_leave(&reader, &entry);
    }
    protobuf_leave(r, &reader);
}

/* --- samples --- */

static uint32_t read_key(struct protobuf_reader *entry)
{
    uint32_t tag, key = 0;

    while (protobuf_next(entry, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_ATTRIBUTE_KEY, PROTOBUF_VARINT))
            key = (uint32_t)protobuf_varint(entry);
        else
            protobuf_skip(entry, tag);
    }
    return key;
}

/* The key of every attribute, for telling attribute indexes from values. */
static int read_attribute_keys(struct otlp_survey *survey, struct error *err)
{
    const struct otlp_range *range = &survey->document->tables[OTLP_DICTIONARY_ATTRIBUTES];
    struct protobuf_reader reader = otlp_range_reader(range), entry;

    survey->has_keys = true;
    survey->attribute_keys = memory_alloc(range->n * sizeof(uint32_t), err);
    if (!survey->attribute_keys)
        return -1;
    for (uint32_t i = 0; otlp_range_next(range, &reader, &entry); i++)
        survey->attribute_keys[i] = read_key(&entry);
    return 0;
}

/* Whether packed numbers are indexes of attributes with distinct keys. */
static bool are_attributes(const struct otlp_survey *survey, struct slice packed)
{
    uint32_t n_attributes = survey->document->tables[OTLP_DICTIONARY_ATTRIBUTES].n;
    struct protobuf_reader r = protobuf_reader_of(packed);
    uint32_t keys[MAX_COMPARED], n = 0;

    while (protobuf_more(&r)) {
        uint64_t index = protobuf_varint(&r);

        if (index == 0 || index >= n_attributes)
            return false;
        for (uint32_t i = 0; i < n; i++)
            if (keys[i] == survey->attribute_keys[index])
                return false;
        if (n < MAX_COMPARED)
            keys[n++] = survey->attribute_keys[index];
    }
    return true;
}

/* A sample with 2 and 5 alone. */
static int weigh_pair(struct otlp_survey *survey, struct slice second, size_t n_times, struct error *err)
{
    if (protobuf_count_varints(second) != n_times) {
        survey->signs.n_attribute_like++;
        return 0;
    }
    if (!survey->has_keys && read_attribute_keys(survey, err) < 0)
        return -1;
    survey->signs.n_value_like += !are_attributes(survey, second);
    return 0;
}

static int look_at_sample(struct otlp_survey *survey, struct protobuf_reader *r, struct error *err)
{
    struct slice second = { NULL, 0 }, fifth = { NULL, 0 };
    uint32_t tag, others = 0;

    while (protobuf_next(r, &tag)) {
        if (PROTOBUF_FIELD(tag) > 2 && PROTOBUF_FIELD(tag) != 5)
            others++;
        switch (tag) {
        case PROTOBUF_TAG(2, PROTOBUF_BYTES): second = protobuf_bytes(r); continue;
        case PROTOBUF_TAG(5, PROTOBUF_BYTES): fifth = protobuf_bytes(r); continue;
        case PROTOBUF_TAG(2, PROTOBUF_VARINT): note(survey, OTLP_SIGN_SAMPLE_2_VARINT); break;
        case PROTOBUF_TAG(3, PROTOBUF_VARINT): note(survey, OTLP_SIGN_SAMPLE_3_VARINT); break;
        case PROTOBUF_TAG(3, PROTOBUF_BYTES): note(survey, OTLP_SIGN_SAMPLE_3_BYTES); break;
        case PROTOBUF_TAG(4, PROTOBUF_VARINT): note(survey, OTLP_SIGN_SAMPLE_4_VARINT); break;
        case PROTOBUF_TAG(4, PROTOBUF_BYTES): note(survey, OTLP_SIGN_SAMPLE_4_BYTES); break;
        }
        protobuf_skip(r, tag);
    }
    if (r->bad || others > 0 || second.len == 0)
        return 0;
    if (fifth.len > 0)
        return weigh_pair(survey, second, fifth.len / 8, err);
    note(survey, OTLP_SIGN_SAMPLE_ONLY_2);
    return 0;
}

/* --- profiles --- */

static void look_at_value_type(struct otlp_survey *survey, struct protobuf_reader *r)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_VALUE_TYPE_TEMPORALITY, PROTOBUF_VARINT))
            note(survey, OTLP_SIGN_VALUE_TYPE_3);
        protobuf_skip(r, tag);
    }
}

/* What one field of a profile says by its number and wire type. */
static uint32_t sign_of_profile_field(uint32_t tag)
{
    switch (tag) {
    case PROTOBUF_TAG(2, PROTOBUF_BYTES): return OTLP_SIGN_SAMPLES;
    case PROTOBUF_TAG(3, PROTOBUF_BYTES): return OTLP_SIGN_PROFILE_3_BYTES;
    case PROTOBUF_TAG(3, PROTOBUF_FIXED64): return OTLP_SIGN_PROFILE_3_FIXED64;
    case PROTOBUF_TAG(5, PROTOBUF_VARINT): return OTLP_SIGN_PROFILE_5_VARINT;
    case PROTOBUF_TAG(5, PROTOBUF_BYTES): return OTLP_SIGN_PROFILE_5_BYTES;
    case PROTOBUF_TAG(8, PROTOBUF_BYTES): return OTLP_SIGN_PROFILE_8_BYTES;
    case PROTOBUF_TAG(8, PROTOBUF_VARINT): return OTLP_SIGN_PROFILE_L9;
    case PROTOBUF_TAG(9, PROTOBUF_VARINT): return OTLP_SIGN_PROFILE_9_VARINT;
    case PROTOBUF_TAG(9, PROTOBUF_BYTES): return OTLP_SIGN_PROFILE_L9;
    case PROTOBUF_TAG(12, PROTOBUF_VARINT):
    case PROTOBUF_TAG(12, PROTOBUF_BYTES): return OTLP_SIGN_PROFILE_12;
    default: return PROTOBUF_FIELD(tag) >= 15 && PROTOBUF_FIELD(tag) <= 22 ? OTLP_SIGN_PROFILE_15_TO_22 : 0;
    }
}

static int look_at_profile(struct otlp_survey *survey, struct protobuf_reader *r, struct error *err)
{
    uint32_t tag;

    while (!is_decided(&survey->signs) && protobuf_next(r, &tag)) {
        survey->signs.found |= sign_of_profile_field(tag);
        if (tag == PROTOBUF_TAG(1, PROTOBUF_BYTES)) {
            struct protobuf_reader type = protobuf_message(r);

            look_at_value_type(survey, &type);
            protobuf_leave(r, &type);
        } else if (tag == PROTOBUF_TAG(2, PROTOBUF_BYTES)) {
            struct protobuf_reader sample = protobuf_message(r);

            if (look_at_sample(survey, &sample, err) < 0)
                return -1;
            protobuf_leave(r, &sample);
        } else if (tag == PROTOBUF_TAG(7, PROTOBUF_BYTES)) {
            size_t len = protobuf_bytes(r).len;

            note(survey, len == 0 || len == 16 ? OTLP_SIGN_PROFILE_L9 : OTLP_SIGN_PROFILE_7_ODD_BYTES);
        } else {
            protobuf_skip(r, tag);
        }
    }
    return 0;
}

/* Walks down from resources to profiles. */
static int look_at_profiles(struct otlp_survey *survey, struct protobuf_reader *r, enum otlp_message message,
                            struct error *err)
{
    uint32_t tag;

    while (!is_decided(&survey->signs) && protobuf_next(r, &tag)) {
        struct protobuf_reader inner;
        int result = 0;

        if (PROTOBUF_WIRE(tag) != PROTOBUF_BYTES || PROTOBUF_FIELD(tag) > 2) {
            protobuf_skip(r, tag);
            continue;
        }
        inner = protobuf_message(r);
        if (PROTOBUF_FIELD(tag) == 1) {
            if (has_string_index(&inner, message == OTLP_SCOPE_PROFILES ? OTLP_SCOPE : OTLP_RESOURCE, 8))
                note(survey, OTLP_SIGN_STRING_INDEX);
        } else if (message == OTLP_SCOPE_PROFILES) {
            result = look_at_profile(survey, &inner, err);
        } else {
            result = look_at_profiles(survey, &inner, OTLP_SCOPE_PROFILES, err);
        }
        if (result < 0)
            return -1;
        protobuf_leave(r, &inner);
    }
    return 0;
}

/* --- the request --- */

static int look_at_request(struct otlp_survey *survey, struct protobuf_reader *r, struct error *err)
{
    uint32_t tag;

    look_at_table(survey, OTLP_DICTIONARY_ATTRIBUTES, FIRST_ENTRIES, r);
    look_at_table(survey, OTLP_DICTIONARY_STACKS, FIRST_ENTRIES, r);
    while (!is_decided(&survey->signs) && protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_REQUEST_RESOURCE_PROFILES, PROTOBUF_BYTES)) {
            struct protobuf_reader resource = protobuf_message(r);

            if (look_at_profiles(survey, &resource, OTLP_RESOURCE_PROFILES, err) < 0)
                return -1;
            protobuf_leave(r, &resource);
        } else {
            protobuf_skip(r, tag);
        }
    }
    if (!is_decided(&survey->signs))
        look_at_table(survey, OTLP_DICTIONARY_ATTRIBUTES, UINT32_MAX, r);
    return 0;
}

int otlp_layout_of(const struct otlp_document *document, enum otlp_layout *ret_layout, struct error *err)
{
    struct otlp_survey survey = { .document = document };
    struct protobuf_reader r = protobuf_reader_of(document->bytes);
    int result;

    if (document->has_dictionary)
        note(&survey, OTLP_SIGN_DICTIONARY);
    if (document->has_tables_at_top)
        note(&survey, OTLP_SIGN_TABLES_AT_TOP);
    result = look_at_request(&survey, &r, err);
    memory_free(survey.attribute_keys);
    if (result < 0)
        return -1;
    if (r.bad)
        return otlp_schema_explain(document->bytes, NULL, &r, err);
    *ret_layout = otlp_layout_weigh(&survey.signs);
    return 0;
}

int otlp_layout_find(struct slice request, enum otlp_layout *ret_layout, struct error *err)
{
    struct otlp_document document = { .bytes = request };

    if (otlp_document_survey(&document, err) < 0)
        return -1;
    return otlp_layout_of(&document, ret_layout, err);
}

const char *otlp_layout_name(enum otlp_layout layout)
{
    switch (layout) {
    case OTLP_L4: return "L4 (proto 1.4 and 1.5)";
    case OTLP_L6: return "L6 (proto 1.6)";
    case OTLP_L7: return "L7 (proto 1.7)";
    case OTLP_L8: return "L8 (proto 1.8)";
    case OTLP_L9: return "L9 (proto 1.9)";
    case OTLP_L10: break;
    }
    return "L10 (proto 1.10 and 1.11)";
}

int otlp_layout_refuse(enum otlp_layout layout, struct error *err)
{
    if (layout == OTLP_L6)
        return error_set(err, ERR_VERSION,
                         "OTLP profiles in layout %s, with tables beside the profiles, are not read; layouts L7 "
                         "(proto 1.7) and newer are",
                         otlp_layout_name(layout));
    return error_set(err, ERR_VERSION,
                     "OTLP without a dictionary: another signal than profiles, or profiles in layout %s, as collectors "
                     "0.115 to 0.127 send; update the sender to layout L7 or newer (collector 0.128)",
                     otlp_layout_name(layout));
}
