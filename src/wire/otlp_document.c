// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_document_internal.h"

#include "wire/otlp_layout_internal.h"

static void count_profiles(struct otlp_document *document, struct protobuf_reader *r)
{
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        struct protobuf_reader scope;

        if (tag != PROTOBUF_TAG(OTLP_RESOURCE_PROFILES_SCOPE_PROFILES, PROTOBUF_BYTES)) {
            protobuf_skip(r, tag);
            continue;
        }
        scope = protobuf_message(r);
        while (protobuf_next(&scope, &tag)) {
            document->n_profiles += tag == PROTOBUF_TAG(OTLP_SCOPE_PROFILES_PROFILES, PROTOBUF_BYTES);
            protobuf_skip(&scope, tag);
        }
        protobuf_leave(r, &scope);
    }
}

/* Finds the dictionary, which may stand before or behind the profiles, and counts the profiles. */
static void survey_request(struct otlp_document *document, struct protobuf_reader *r, uint32_t *n_dictionaries)
{
    uint32_t tag, tables = 0;

    while (protobuf_next(r, &tag)) {
        if (tag == PROTOBUF_TAG(OTLP_REQUEST_DICTIONARY, PROTOBUF_BYTES)) {
            document->dictionary = protobuf_bytes(r);
            document->has_dictionary = true;
            (*n_dictionaries)++;
        } else if (tag == PROTOBUF_TAG(OTLP_REQUEST_RESOURCE_PROFILES, PROTOBUF_BYTES)) {
            struct protobuf_reader resource = protobuf_message(r);

            count_profiles(document, &resource);
            protobuf_leave(r, &resource);
        } else {
            if (PROTOBUF_WIRE(tag) == PROTOBUF_BYTES && PROTOBUF_FIELD(tag) >= 3 && PROTOBUF_FIELD(tag) <= 8)
                tables |= 1u << PROTOBUF_FIELD(tag);
            protobuf_skip_unknown(r, tag, OTLP_REQUEST_DICTIONARY);
        }
    }
    document->has_tables_at_top = (tables & (tables - 1)) != 0;
}

static void survey_dictionary(struct otlp_document *document, struct protobuf_reader *dictionary)
{
    struct protobuf_reader r = *dictionary; /* a copy, so that it can live in registers */
    const uint8_t *start = r.at;
    uint32_t tag;

    for (; protobuf_next(&r, &tag); start = r.at) {
        uint32_t number = PROTOBUF_FIELD(tag), n = 0;
        struct otlp_range *range;

        if (UNLIKELY(PROTOBUF_WIRE(tag) != PROTOBUF_BYTES || number == 0 || number >= OTLP_TABLE_COUNT)) {
            protobuf_skip_unknown(&r, tag, OTLP_DICTIONARY_STACKS);
            continue;
        }
        range = &document->tables[number];
        if (range->n == 0) {
            range->from = start;
            range->tag = tag;
        }
        (void)protobuf_bytes(&r);
        for (n = 1; protobuf_more(&r) && *r.at == tag; n++) { /* entries of one table mostly come in a run */
            r.at++;
            (void)protobuf_bytes(&r);
        }
        range->n += n;
        range->to = r.at;
    }
    *dictionary = r;
}

int otlp_document_survey(struct otlp_document *document, struct error *err)
{
    struct protobuf_reader r = protobuf_reader_of(document->bytes), dictionary;
    uint32_t n_dictionaries = 0;

    survey_request(document, &r, &n_dictionaries);
    if (!r.bad && document->has_tables_at_top)
        return 0;
    if (!r.bad && n_dictionaries > 1)
        return error_set(err, ERR_CORRUPT, "OTLP: %u dictionaries in one request, the last at byte %zu; it has one",
                         n_dictionaries, (size_t)(document->dictionary.ptr - document->bytes.ptr));
    dictionary = protobuf_reader_of(document->dictionary);
    survey_dictionary(document, &dictionary);
    protobuf_leave(&r, &dictionary);
    return r.bad ? otlp_schema_explain(document->bytes, document->numbering, &r, err) : 0;
}

/* How many frames the stacks have at most: a frame ends in a byte below 128, and so do the tag and the length of every
 * entry. */
static uint64_t count_stack_frames(const struct otlp_range *stacks)
{
    if (stacks->n == 0)
        return 0;
    return protobuf_count_varints(slice_of(stacks->from, (size_t)(stacks->to - stacks->from))) -
           (uint64_t)stacks->n * 2;
}

/* Puts the tables where the canonical numbers are; those that the layout does not have are forgotten. */
static void name_tables(struct otlp_document *document)
{
    struct otlp_range named[OTLP_TABLE_COUNT] = { { 0 } };

    for (uint32_t i = 1; i < OTLP_TABLE_COUNT; i++)
        if (document->numbering->dictionary[i])
            named[document->numbering->dictionary[i]] = document->tables[i];
    memcpy(document->tables, named, sizeof(named));
    document->n_stack_frames = count_stack_frames(&document->tables[OTLP_DICTIONARY_STACKS]);
}

int otlp_document_prepare(struct otlp_document *document, struct error *err)
{
    enum otlp_layout layout;

    if (otlp_document_survey(document, err) < 0)
        return -1;
    if (!document->numbering) {
        if (otlp_layout_of(document, &layout, err) < 0)
            return -1;
        if (layout < OTLP_L7)
            return otlp_layout_refuse(layout, err);
        document->numbering = otlp_schema_numbering(layout);
    }
    name_tables(document);
    return 0;
}
