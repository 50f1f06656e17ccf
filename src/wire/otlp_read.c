// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_read_internal.h"

int otlp_read_failed(const struct otlp_decoder *d, struct protobuf_reader failed, struct error *err)
{
    return otlp_schema_explain(d->document->bytes, d->document->numbering, &failed, err);
}

int otlp_read_reserve(struct arena *arena, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes,
                      struct error *err)
{
    uint64_t wanted = MAX(MAX(needed, (uint64_t)*capacity * 2), 16);
    void *grown;

    if (needed <= *capacity)
        return 0;
    if (wanted > INT32_MAX)
        return error_set(err, ERR_LIMIT, "OTLP: a table would have more than %d entries", INT32_MAX);
    grown = arena_resize(arena, *items, *capacity * item_bytes, wanted * item_bytes, err);
    if (!grown)
        return -1;
    *items = grown;
    *capacity = (uint32_t)wanted;
    return 0;
}

int otlp_read_add_string(struct otlp_decoder *d, struct slice text, uint32_t *ret_id, struct error *err)
{
    uint32_t n = d->tables->n_strings;

    if (text.len == 0) {
        *ret_id = 0;
        return 0;
    }
    if (n >= d->batch->limits.max_strings)
        return error_set(err, ERR_LIMIT, "OTLP: more than the %u strings allowed", d->batch->limits.max_strings);
    if (OTLP_RESERVE(d, d->tables->strings, strings, (uint64_t)n + 1, err) < 0)
        return -1;
    d->tables->strings[n] = text;
    *ret_id = d->tables->n_strings++;
    return 0;
}

uint32_t otlp_read_missing_string(struct otlp_decoder *d, uint64_t index)
{
    report_add(d->report, "string index outside the string table; left empty", 1, "string %lld of %u", (long long)index,
               d->strings.n);
    return 0;
}

struct value_type otlp_read_value_type(struct otlp_decoder *d, struct protobuf_reader *r)
{
    struct value_type type = { 0 };
    uint32_t tag;

    while (protobuf_next(r, &tag)) {
        switch (tag) {
        case PROTOBUF_TAG(OTLP_VALUE_TYPE_TYPE, PROTOBUF_VARINT):
            type.type = otlp_read_string(d, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_VALUE_TYPE_UNIT, PROTOBUF_VARINT):
            type.unit = otlp_read_string(d, protobuf_varint(r));
            break;
        case PROTOBUF_TAG(OTLP_VALUE_TYPE_TEMPORALITY, PROTOBUF_VARINT): {
            uint64_t temporality = protobuf_varint(r);

            type.temporality = temporality == 1   ? TEMPORALITY_DELTA
                               : temporality == 2 ? TEMPORALITY_CUMULATIVE
                                                  : TEMPORALITY_UNKNOWN;
            break;
        }
        default: protobuf_skip_unknown(r, tag, OTLP_VALUE_TYPE_TEMPORALITY);
        }
    }
    return type;
}

/* --- documents --- */

static int read_document(struct otlp_decoder *d, const struct otlp_document *document, struct error *err)
{
    d->document = document;
    hash_set_clear(&d->set_hashes);
    hash_set_clear(&d->stack_hashes);
    memset(d->memo, 0, sizeof(d->memo));
    if (otlp_dictionary_read(d, err) < 0)
        return -1;
    return otlp_profiles_read(d, err);
}

static int read_documents(struct otlp_decoder *d, struct otlp_document *documents, uint32_t n, struct error *err)
{
    uint64_t n_profiles = 0;
    uint32_t i;

    for (i = 0; i < n; i++) {
        if (otlp_document_prepare(&documents[i], err) < 0)
            goto fail;
        n_profiles += documents[i].n_profiles;
    }
    if (n_profiles > d->batch->limits.max_profiles)
        return error_set(err, ERR_LIMIT, "OTLP: %llu profiles, more than the %u allowed",
                         (unsigned long long)n_profiles, d->batch->limits.max_profiles);
    if (otlp_dictionary_allocate(d, documents, n, err) < 0)
        return -1;
    d->batch->profiles = ARENA_ARRAY(d->arena, struct profile, n_profiles, err);
    if (!d->batch->profiles)
        return -1;
    for (i = 0; i < n; i++)
        if (read_document(d, &documents[i], err) < 0)
            goto fail;
    return 0;

fail:
    return n > 1 ? error_wrap(err, "request %u", i) : -1;
}

int otlp_read(struct otlp_document *documents, uint32_t n, struct batch *batch, struct error *err)
{
    struct otlp_decoder d = { .batch = batch,
                              .tables = &batch->tables,
                              .arena = &batch->arena,
                              .report = &batch->report,
                              .failure = { .code = ERR_OK } };
    int result;

    hash_set_init(&d.set_hashes, 0);
    hash_set_init(&d.stack_hashes, 0);
    buffer_init(&d.text, OTLP_MAX_JSON_BYTES);
    result = read_documents(&d, documents, n, err);
    hash_set_done(&d.set_hashes);
    hash_set_done(&d.stack_hashes);
    buffer_done(&d.text);
    return result;
}
