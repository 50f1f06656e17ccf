// SPDX-License-Identifier: Apache-2.0
/* Everything runs over blocks of BLOCK values that stay in the first-level cache, so encoding and decoding need no
 * memory beside input and output. */
#include "pack/column.h"

#include "pack/varint.h"

#include <inttypes.h>

#define BLOCK     256u
#define MAX_WIDTH 8u
#define NARROW    4u /* planes whose values fit 32 bits */

/* What a coding remembers between two blocks. */
struct history {
    uint64_t value;
    uint64_t delta;
};

static uint64_t zigzag(uint64_t difference)
{
    return varint_zigzag((int64_t)difference);
}

static uint64_t unzigzag(uint64_t value)
{
    return (uint64_t)varint_unzigzag(value);
}

static void apply(enum column_coding coding, struct history *before, uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n && coding != COLUMN_PLAIN; i++) {
        uint64_t delta = values[i] - before->value;
        uint64_t change = delta - before->delta;

        *before = (struct history){ values[i], delta };
        values[i] = coding == COLUMN_DELTA ? delta : zigzag(coding == COLUMN_ZIGZAG_DELTA ? delta : change);
    }
}

static void undo(enum column_coding coding, struct history *before, uint64_t *values, size_t n)
{
    uint64_t value = before->value, delta = before->delta;

    switch (coding) {
    case COLUMN_PLAIN: break;
    case COLUMN_DELTA:
        for (size_t i = 0; i < n; i++)
            values[i] = value += values[i];
        break;
    case COLUMN_ZIGZAG_DELTA:
        for (size_t i = 0; i < n; i++)
            values[i] = value += unzigzag(values[i]);
        break;
    case COLUMN_DELTA_OF_DELTA:
        for (size_t i = 0; i < n; i++) {
            delta += unzigzag(values[i]);
            values[i] = value += delta;
        }
        break;
    }
    *before = (struct history){ value, delta };
}

void column_apply(enum column_coding coding, uint64_t *values, size_t n)
{
    apply(coding, &(struct history){ 0 }, values, n);
}

void column_undo(enum column_coding coding, uint64_t *values, size_t n)
{
    undo(coding, &(struct history){ 0 }, values, n);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t remainder = a % b;

        a = b;
        b = remainder;
    }
    return a;
}

uint64_t column_gcd(const uint64_t *values, size_t n)
{
    uint64_t divisor = 0;

    for (size_t i = 0; i < n && divisor != 1; i++)
        divisor = gcd(values[i], divisor);
    return divisor;
}

static unsigned width_of(uint64_t bits)
{
    return bits ? (64 - (unsigned)__builtin_clzll(bits) + 7) / 8 : 0;
}

unsigned column_width_u64(const uint64_t *values, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < n; i++)
        bits |= values[i];
    return width_of(bits);
}

unsigned column_width_u32(const uint32_t *values, size_t n)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < n; i++)
        bits |= values[i];
    return width_of(bits);
}

/* Spreads `n` values over planes that are `stride` bytes apart, and back. */
static void split(const uint64_t *values, size_t n, unsigned width, char *planes, size_t stride)
{
    for (unsigned plane = 0; plane < width; plane++, planes += stride)
        for (size_t i = 0; i < n; i++)
            planes[i] = (char)(values[i] >> (8 * plane));
}

/* Up to NARROW planes in one pass: nearly all columns have no more. */
static ALWAYS_INLINE void join_narrow(const unsigned char *restrict planes, size_t stride, size_t n, unsigned width,
                                      uint32_t *restrict values)
{
    switch (width) {
    case 0: memset(values, 0, n * sizeof(*values)); break;
    case 1:
        for (size_t i = 0; i < n; i++)
            values[i] = planes[i];
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            values[i] = planes[i] | (uint32_t)planes[stride + i] << 8;
        break;
    case 3:
        for (size_t i = 0; i < n; i++)
            values[i] = planes[i] | (uint32_t)planes[stride + i] << 8 | (uint32_t)planes[2 * stride + i] << 16;
        break;
    default:
        for (size_t i = 0; i < n; i++)
            values[i] = planes[i] | (uint32_t)planes[stride + i] << 8 | (uint32_t)planes[2 * stride + i] << 16 |
                        (uint32_t)planes[3 * stride + i] << 24;
        break;
    }
}

/* Of a whole block, the number of values is known to the compiler, which then makes vectors of them. */
static void join_few(const char *planes, size_t stride, size_t n, unsigned width, uint32_t *values)
{
    const unsigned char *bytes = (const unsigned char *)planes;

    if (n == BLOCK)
        join_narrow(bytes, stride, BLOCK, width, values);
    else
        join_narrow(bytes, stride, n, width, values);
}

static ALWAYS_INLINE void widen_some(const uint32_t *restrict values, size_t n, uint64_t *restrict wide)
{
    for (size_t i = 0; i < n; i++)
        wide[i] = values[i];
}

static void widen(const uint32_t *values, size_t n, uint64_t *wide)
{
    if (n == BLOCK)
        widen_some(values, BLOCK, wide);
    else
        widen_some(values, n, wide);
}

/* At most BLOCK values. */
static void join(const char *planes, size_t stride, size_t n, unsigned width, uint64_t *values)
{
    uint32_t low[BLOCK];

    join_few(planes, stride, n, MIN(width, NARROW), low);
    widen(low, n, values);
    for (unsigned plane = NARROW; plane < width; plane++)
        for (size_t i = 0; i < n; i++)
            values[i] |= (uint64_t)(unsigned char)planes[plane * stride + i] << (8 * plane);
}

static void narrow(const uint64_t *values, size_t n, uint32_t *narrowed)
{
    for (size_t i = 0; i < n; i++)
        narrowed[i] = (uint32_t)values[i];
}

void column_split_u64(const uint64_t *values, size_t n, unsigned width, char *planes)
{
    ASSERT(width <= sizeof(*values));
    for (size_t i = 0; i < n; i += BLOCK)
        split(values + i, MIN(n - i, BLOCK), width, planes + i, n);
}

void column_split_u32(const uint32_t *values, size_t n, unsigned width, char *planes)
{
    uint64_t block[BLOCK];

    ASSERT(width <= sizeof(*values));
    for (size_t i = 0; i < n; i += BLOCK) {
        widen(values + i, MIN(n - i, BLOCK), block);
        split(block, MIN(n - i, BLOCK), width, planes + i, n);
    }
}

void column_join_u64(const char *planes, size_t n, unsigned width, uint64_t *values)
{
    ASSERT(width <= sizeof(*values));
    for (size_t i = 0; i < n; i += BLOCK)
        join(planes + i, n, MIN(n - i, BLOCK), width, values + i);
}

void column_join_u32(const char *planes, size_t n, unsigned width, uint32_t *values)
{
    uint64_t block[BLOCK];

    ASSERT(width <= sizeof(*values));
    for (size_t i = 0; i < n; i += BLOCK) {
        join(planes + i, n, MIN(n - i, BLOCK), width, block);
        narrow(block, MIN(n - i, BLOCK), values + i);
    }
}

/* Division that is known to leave no remainder: a shift and a product with the inverse of the odd part modulo 2^64. */
struct divisor {
    uint64_t number;
    uint64_t inverse;
    unsigned shift;
};

static struct divisor make_divisor(uint64_t number)
{
    unsigned shift = (unsigned)__builtin_ctzll(number);
    uint64_t odd = number >> shift;
    uint64_t inverse = odd; /* right in its lowest three bits; each step of Newton's method doubles them */

    for (int bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    return (struct divisor){ number, inverse, shift };
}

/* A column on its way out: u64 or u32 values, and what is known about them so far. */
struct encoder {
    const uint64_t *wide; /* NULL if the values are `narrow` */
    const uint32_t *narrow;
    size_t n;
    enum column_coding coding;
    uint64_t minimum;
    struct divisor divisor;
};

/* Gives the values from `at` on, less the minimum; returns how many. */
static size_t load_block(const struct encoder *encoder, size_t at, uint64_t *block)
{
    size_t n = MIN(encoder->n - at, BLOCK);

    if (encoder->wide)
        memcpy(block, encoder->wide + at, n * sizeof(*block));
    else
        widen(encoder->narrow + at, n, block);
    for (size_t i = 0; i < n; i++)
        block[i] -= encoder->minimum;
    return n;
}

/* As load_block, but divided and coded. */
static size_t code_block(const struct encoder *encoder, size_t at, struct history *before, uint64_t *block)
{
    size_t n = load_block(encoder, at, block);

    for (size_t i = 0; i < n; i++)
        block[i] = (block[i] >> encoder->divisor.shift) * encoder->divisor.inverse;
    apply(encoder->coding, before, block, n);
    return n;
}

static uint64_t find_minimum(const struct encoder *encoder)
{
    uint64_t block[BLOCK];
    uint64_t minimum = encoder->n ? UINT64_MAX : 0;

    for (size_t at = 0; at < encoder->n; at += BLOCK) {
        size_t n = load_block(encoder, at, block);

        for (size_t i = 0; i < n; i++)
            minimum = MIN(minimum, block[i]);
    }
    return minimum;
}

static struct divisor find_divisor(const struct encoder *encoder)
{
    uint64_t block[BLOCK];
    uint64_t number = 0;

    for (size_t at = 0; at < encoder->n && number != 1; at += BLOCK) {
        size_t n = load_block(encoder, at, block);

        number = gcd(column_gcd(block, n), number);
    }
    return make_divisor(number ? number : 1);
}

static unsigned find_width(const struct encoder *encoder)
{
    uint64_t block[BLOCK];
    struct history before = { 0 };
    unsigned width = 0;

    for (size_t at = 0; at < encoder->n; at += BLOCK) {
        size_t n = code_block(encoder, at, &before, block);

        width = MAX(width, column_width_u64(block, n));
    }
    return width;
}

static void write_header(const struct encoder *encoder, unsigned width, struct buffer *out)
{
    buffer_append_byte(out, (char)((unsigned)encoder->coding | width << 2));
    varint_append(out, encoder->n);
    varint_append(out, encoder->divisor.number);
    varint_append(out, encoder->minimum);
}

static void encode(struct encoder *encoder, struct buffer *out)
{
    uint64_t block[BLOCK];
    struct history before = { 0 };
    unsigned width;
    char *planes;

    encoder->minimum = find_minimum(encoder);
    encoder->divisor = find_divisor(encoder);
    width = find_width(encoder);
    write_header(encoder, width, out);
    planes = buffer_reserve(out, encoder->n * width); /* no more than the values take in memory */
    if (!planes)
        return;
    for (size_t at = 0; at < encoder->n; at += BLOCK)
        split(block, code_block(encoder, at, &before, block), width, planes + at, encoder->n);
    buffer_commit(out, encoder->n * width);
}

void column_encode_u64(const uint64_t *values, size_t n, enum column_coding coding, struct buffer *out)
{
    encode(&(struct encoder){ .wide = values, .n = n, .coding = coding }, out);
}

void column_encode_u32(const uint32_t *values, size_t n, enum column_coding coding, struct buffer *out)
{
    encode(&(struct encoder){ .narrow = values, .n = n, .coding = coding }, out);
}

/* Which values of a block must be looked at to know that all of them fit. */
enum check {
    CHECK_ALL,
    CHECK_LAST, /* they never fall, nor pass 2^64 */
    CHECK_NONE, /* the planes hold none that is too large */
};

/* A column on its way in: its header, checked. */
struct decoder {
    enum column_coding coding;
    unsigned width;
    size_t n;
    uint64_t divisor;
    uint64_t minimum;
    uint64_t max_quotient; /* larger ones give values over the type's largest */
    enum check check;
    const char *planes;
};

static int read_header(struct slice *rest, struct decoder *ret_decoder, struct error *err)
{
    struct decoder decoder = { 0 };
    struct slice in = *rest;
    uint64_t n;

    if (in.len == 0)
        return error_set(err, ERR_CORRUPT, "column: cut off before its header");
    decoder.coding = (unsigned char)in.ptr[0] & 3;
    decoder.width = (unsigned char)in.ptr[0] >> 2;
    if (decoder.width > MAX_WIDTH)
        return error_set(err, ERR_CORRUPT, "column: header byte 0x%02x says %u planes, there are at most %u",
                         (unsigned char)in.ptr[0], decoder.width, MAX_WIDTH);
    in = slice_sub(in, 1, SIZE_MAX);
    if (!varint_next(&in, &n) || !varint_next(&in, &decoder.divisor) || !varint_next(&in, &decoder.minimum))
        return error_set(err, ERR_CORRUPT, "column: no valid number at byte %zu of its header",
                         (size_t)(in.ptr - rest->ptr));
    if (decoder.divisor == 0)
        return error_set(err, ERR_CORRUPT, "column: divisor is 0, it must be at least 1");
    decoder.n = n;
    *rest = in;
    *ret_decoder = decoder;
    return 0;
}

/* A block that begins below 2^63 and rises by less than 2^32 each time stays below 2^64. */
static enum check choose_check(const struct decoder *decoder)
{
    bool is_narrow = decoder->width <= NARROW;

    if (decoder->coding == COLUMN_PLAIN && decoder->width < MAX_WIDTH &&
        decoder->max_quotient >> (8 * decoder->width) > 0)
        return CHECK_NONE;
    return decoder->coding == COLUMN_DELTA && is_narrow && decoder->max_quotient <= INT64_MAX ? CHECK_LAST : CHECK_ALL;
}

/* Reads the header and checks that planes and values can be there; cuts the whole column off `rest`. */
static int open_column(struct slice *rest, size_t max_values, uint64_t max_value, struct decoder *ret_decoder,
                       struct error *err)
{
    struct slice in = *rest;
    size_t planes_bytes;

    if (read_header(&in, ret_decoder, err) < 0)
        return -1;
    if (ret_decoder->n > max_values)
        return error_set(err, ERR_CORRUPT, "column: has %zu values, at most %zu are allowed", ret_decoder->n,
                         max_values);
    if (__builtin_mul_overflow(ret_decoder->n, (size_t)ret_decoder->width, &planes_bytes) || planes_bytes > in.len)
        return error_set(err, ERR_CORRUPT, "column: cut off: %zu values in %u planes, but only %zu bytes from byte %zu",
                         ret_decoder->n, ret_decoder->width, in.len, (size_t)(in.ptr - rest->ptr));
    if (ret_decoder->minimum > max_value)
        return error_set(err, ERR_CORRUPT, "column: minimum %" PRIu64 " is more than its type's largest, %" PRIu64,
                         ret_decoder->minimum, max_value);
    ret_decoder->max_quotient = (max_value - ret_decoder->minimum) / ret_decoder->divisor;
    ret_decoder->check = choose_check(ret_decoder);
    ret_decoder->planes = in.ptr;
    *rest = slice_sub(in, planes_bytes, SIZE_MAX);
    return 0;
}

static int check_block(const struct decoder *decoder, size_t at, const uint64_t *block, size_t n, struct error *err)
{
    if (decoder->check == CHECK_NONE || (decoder->check == CHECK_LAST && block[n - 1] <= decoder->max_quotient))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (UNLIKELY(block[i] > decoder->max_quotient))
            return error_set(err, ERR_CORRUPT, "column: value %zu of %zu does not fit its type", at + i + 1,
                             decoder->n);
    return 0;
}

/* Gives the values of the block from `at` on, and how many there are. */
static int decode_block(const struct decoder *decoder, size_t at, struct history *before, uint64_t *block,
                        size_t *ret_n, struct error *err)
{
    uint64_t minimum = decoder->minimum, divisor = decoder->divisor;
    size_t n = MIN(decoder->n - at, BLOCK);

    join(decoder->planes + at, decoder->n, n, decoder->width, block);
    undo(decoder->coding, before, block, n);
    if (check_block(decoder, at, block, n, err) < 0)
        return -1;
    if (minimum || divisor != 1)
        for (size_t i = 0; i < n; i++)
            block[i] = minimum + divisor * block[i];
    *ret_n = n;
    return 0;
}

/* The same for 32 bits, of which nearly all columns are plain or rise. */
static int decode_block_u32(const struct decoder *decoder, size_t at, struct history *before, uint32_t *values,
                            size_t *ret_n, struct error *err)
{
    uint32_t minimum = (uint32_t)decoder->minimum, divisor = (uint32_t)decoder->divisor;
    uint64_t block[BLOCK];
    size_t n = MIN(decoder->n - at, BLOCK);

    if (decoder->check == CHECK_ALL || decoder->width > NARROW) {
        if (decode_block(decoder, at, before, block, ret_n, err) < 0)
            return -1;
        narrow(block, n, values);
        return 0;
    }
    join_few(decoder->planes + at, decoder->n, n, decoder->width, values);
    if (decoder->check == CHECK_LAST) {
        uint64_t value = before->value;

        for (size_t i = 0; i < n; i++)
            values[i] = (uint32_t)(value += values[i]);
        before->value = value;
        if (value > decoder->max_quotient)
            return error_set(err, ERR_CORRUPT, "column: one of values %zu to %zu of %zu does not fit its type", at + 1,
                             at + n, decoder->n);
    }
    if (minimum || divisor != 1)
        for (size_t i = 0; i < n; i++)
            values[i] = minimum + divisor * values[i];
    *ret_n = n;
    return 0;
}

int column_decode_u64(struct slice *rest, size_t max_values, struct arena *arena, uint64_t **ret_values, size_t *ret_n,
                      struct error *err)
{
    struct slice in = *rest;
    struct history before = { 0 };
    struct decoder decoder;
    uint64_t *values;
    size_t n;

    if (open_column(&in, max_values, UINT64_MAX, &decoder, err) < 0)
        return -1;
    values = ARENA_ARRAY(arena, uint64_t, decoder.n, err);
    if (!values)
        return -1;
    for (size_t at = 0; at < decoder.n; at += n)
        if (decode_block(&decoder, at, &before, values + at, &n, err) < 0)
            return -1;
    *rest = in;
    *ret_values = values;
    *ret_n = decoder.n;
    return 0;
}

int column_decode_u32(struct slice *rest, size_t max_values, struct arena *arena, uint32_t **ret_values, size_t *ret_n,
                      struct error *err)
{
    struct slice in = *rest;
    struct history before = { 0 };
    struct decoder decoder;
    uint32_t *values;
    size_t n;

    if (open_column(&in, max_values, UINT32_MAX, &decoder, err) < 0)
        return -1;
    values = ARENA_ARRAY(arena, uint32_t, decoder.n, err);
    if (!values)
        return -1;
    for (size_t at = 0; at < decoder.n; at += n)
        if (decode_block_u32(&decoder, at, &before, values + at, &n, err) < 0)
            return -1;
    *rest = in;
    *ret_values = values;
    *ret_n = decoder.n;
    return 0;
}

static ALWAYS_INLINE void unzigzag_some(const uint64_t *restrict values, size_t n, int64_t *restrict signed_values)
{
    for (size_t i = 0; i < n; i++)
        signed_values[i] = varint_unzigzag(values[i]);
}

int column_decode_zigzag(struct slice *rest, size_t n, int64_t *ret_values, struct error *err)
{
    struct slice in = *rest;
    struct history before = { 0 };
    uint64_t block[BLOCK];
    struct decoder decoder;
    size_t n_block;

    if (open_column(&in, n, UINT64_MAX, &decoder, err) < 0)
        return -1;
    if (decoder.n != n)
        return error_set(err, ERR_CORRUPT, "column has %zu values, %zu are wanted", decoder.n, n);
    for (size_t at = 0; at < n; at += n_block) {
        if (decode_block(&decoder, at, &before, block, &n_block, err) < 0)
            return -1;
        if (n_block == BLOCK)
            unzigzag_some(block, BLOCK, ret_values + at);
        else
            unzigzag_some(block, n_block, ret_values + at);
    }
    *rest = in;
    return 0;
}

int column_skip(struct slice *rest, size_t max_values, size_t *ret_n, struct error *err)
{
    struct decoder decoder;

    if (open_column(rest, max_values, UINT64_MAX, &decoder, err) < 0)
        return -1;
    *ret_n = decoder.n;
    return 0;
}
