// SPDX-License-Identifier: Apache-2.0
#include "trace/tracebloom.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"

#define BLOOM_VERSION 1
#define N_PROBES      5u
#define MIN_BYTES     64u

/* What is hashed with a key. Booleans and JSON are what they look like, as texts are. */
enum { KEY = 1, TEXT, INTEGER, REAL, BYTES };

static uint64_t hash_text(struct slice key, unsigned kind, struct slice text)
{
    return hash_bytes64(text, hash_bytes64(key, kind));
}

static uint64_t hash_word(struct slice key, unsigned kind, uint64_t word)
{
    return hash_mix64(word ^ hash_bytes64(key, kind));
}

static uint64_t hash_real(struct slice key, double real)
{
    uint64_t word;

    real = real == 0 ? 0 : real; /* one zero for both */
    memcpy(&word, &real, sizeof(word));
    return hash_word(key, REAL, word);
}

static uint64_t bit_of(uint64_t hash, unsigned probe, uint64_t n_bits)
{
    return (hash + probe * (hash >> 32 | 1)) & (n_bits - 1);
}

void tracebloom_clear(struct tracebloom *bloom)
{
    memset(bloom, 0, sizeof(*bloom));
}

static void add(struct tracebloom *bloom, uint64_t hash)
{
    for (unsigned i = 0; i < N_PROBES; i++) {
        uint64_t bit = bit_of(hash, i, (uint64_t)TRACEBLOOM_MAX_BYTES * 8);

        bloom->words[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static uint64_t hash_value(struct slice key, const struct span_value *value)
{
    switch (value->kind) {
    case SPAN_VALUE_EMPTY: break;
    case SPAN_VALUE_TEXT:
    case SPAN_VALUE_JSON: return hash_text(key, TEXT, value->text);
    case SPAN_VALUE_BOOL: return hash_text(key, TEXT, value->integer ? SLICE("true") : SLICE("false"));
    case SPAN_VALUE_INT: return hash_word(key, INTEGER, (uint64_t)value->integer);
    case SPAN_VALUE_DOUBLE: return hash_real(key, value->real);
    case SPAN_VALUE_BYTES: return hash_text(key, BYTES, value->text);
    }
    return hash_word(key, KEY, 0);
}

static void add_attributes(struct tracebloom *bloom, const struct span_attributes *attributes)
{
    for (uint32_t i = 0; i < attributes->n; i++) {
        add(bloom, hash_word(attributes->items[i].key, KEY, 0));
        add(bloom, hash_value(attributes->items[i].key, &attributes->items[i].value));
    }
}

void tracebloom_add_span(struct tracebloom *bloom, const struct span *span)
{
    add_attributes(bloom, &span->attributes);
    add_attributes(bloom, &span->resource->attributes);
}

/* Whether a half of it would do: at most a quarter of its bits are set. */
static bool is_sparse(const struct tracebloom *bloom, size_t n_bytes)
{
    uint64_t n_set = 0;

    for (size_t i = 0; i < n_bytes / sizeof(uint64_t); i++)
        n_set += base_count_ones(bloom->words[i]);
    return n_set <= n_bytes * 8 / 4;
}

void tracebloom_encode(struct tracebloom *bloom, struct buffer *out)
{
    size_t n_bytes = TRACEBLOOM_MAX_BYTES;

    for (; n_bytes > MIN_BYTES && is_sparse(bloom, n_bytes); n_bytes /= 2)
        for (size_t i = 0, half = n_bytes / sizeof(uint64_t) / 2; i < half; i++)
            bloom->words[i] |= bloom->words[half + i];
    buffer_append_byte(out, BLOOM_VERSION);
    buffer_append(out, bloom->words, n_bytes);
}

/* --- asking --- */

static bool may_have_hash(struct slice bits, uint64_t hash)
{
    for (unsigned i = 0; i < N_PROBES; i++) {
        uint64_t bit = bit_of(hash, i, (uint64_t)bits.len * 8);

        if (!((unsigned char)bits.ptr[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

static bool may_have_bytes(struct slice bits, struct slice key, struct slice text)
{
    char decoded[BASE64_DECODED_BYTES(SPAN_MAX_VALUE_BYTES * 2)];
    size_t len, bad_at;

    return text.len <= SPAN_MAX_VALUE_BYTES * 2 && base64_decode(text, decoded, &len, &bad_at) &&
           may_have_hash(bits, hash_text(key, BYTES, slice_of(decoded, len)));
}

/* Whatever tracestore_value_is would find to be `text`. */
static bool may_have_value(struct slice bits, struct slice key, struct slice text)
{
    int64_t integer;
    double real;

    if (text.len == 0)
        return may_have_hash(bits, hash_word(key, KEY, 0));
    return may_have_hash(bits, hash_text(key, TEXT, text)) ||
           (slice_to_i64(text, &integer) && may_have_hash(bits, hash_word(key, INTEGER, (uint64_t)integer))) ||
           (slice_to_double(text, &real) && may_have_hash(bits, hash_real(key, real))) ||
           may_have_bytes(bits, key, text);
}

int tracebloom_check(struct slice bytes, struct error *err)
{
    size_t n_bytes = bytes.len - 1;

    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "a filter of attributes has no bytes");
    if (bytes.ptr[0] != BLOOM_VERSION)
        return error_set(err, ERR_VERSION, "a filter of attributes is of version %u, this program knows %d",
                         (unsigned char)bytes.ptr[0], BLOOM_VERSION);
    if (n_bytes < MIN_BYTES || n_bytes > TRACEBLOOM_MAX_BYTES || (n_bytes & (n_bytes - 1)) != 0)
        return error_set(err, ERR_CORRUPT,
                         "a filter of attributes has %zu bytes, allowed are powers of two of %u to %u", n_bytes,
                         MIN_BYTES, TRACEBLOOM_MAX_BYTES);
    return 0;
}

bool tracebloom_may_have(struct slice bytes, const struct tracestore_filter *filter)
{
    struct slice bits = slice_sub(bytes, 1, bytes.len);

    for (uint32_t i = 0; i < filter->n_attributes; i++)
        if (!may_have_value(bits, filter->attributes[i].key, filter->attributes[i].value.text))
            return false;
    return true;
}
