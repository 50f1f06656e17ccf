// SPDX-License-Identifier: Apache-2.0
#include "pack/bitcolumn.h"

#include "pack/varint.h"

#include <stdlib.h>

enum how { AS_IT_IS, DIFFERENCE, CHANGE_OF_DIFFERENCE };
#define HOW_COUNT (CHANGE_OF_DIFFERENCE + 1)
#define MAX_ORDER 63

/* How many numbers stand apart at the front. */
static size_t first_ones(enum how how, size_t n)
{
    return MIN(n, (size_t)how);
}

/* Number `i` of the column. The value before the first counts as 0, and so does the difference before the first. */
static uint64_t number_at(const uint64_t *values, size_t i, enum how how)
{
    uint64_t before = i > 0 ? values[i - 1] : 0, difference = values[i] - before;

    if (how == AS_IT_IS)
        return values[i];
    if (how == DIFFERENCE || i < 2)
        return difference;
    return difference - (before - values[i - 2]);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The one in the middle, by size; `numbers` are sorted for it. */
static uint64_t middle_of(uint64_t *numbers, size_t n)
{
    if (n == 0)
        return 0;
    qsort(numbers, n, sizeof(*numbers), compare_numbers);
    return numbers[n / 2];
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Zigzag of the number divided. A divisor of 2^63 and more does not fit a signed number: it divides -2^63 alone. */
static uint64_t divided(int64_t number, uint64_t divisor)
{
    return divisor > INT64_MAX ? varint_zigzag(number ? -1 : 0) : varint_zigzag(number / (int64_t)divisor);
}

static unsigned bits_of(uint64_t value)
{
    return 64 - (unsigned)__builtin_clzll(value | 1);
}

/* How many bits a number takes at an order. q may be 2^64, at order 0 alone. */
static unsigned code_bits(uint64_t value, unsigned order)
{
    uint64_t q = (value >> order) + 1;

    return order + (q ? 2 * bits_of(q) - 1 : 129);
}

/* The numbers of one way to write the column, with what it takes. */
struct plan {
    enum how how;
    unsigned order;
    uint64_t middle;
    uint64_t divisor;
    uint64_t n_bits;
};

static void choose_order(const uint64_t *numbers, size_t n, struct plan *plan)
{
    unsigned longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = MAX(longest, bits_of(numbers[i]));
    plan->n_bits = UINT64_MAX;
    for (unsigned order = 0; order < longest && order <= MAX_ORDER; order++) {
        uint64_t n_bits = 0;

        for (size_t i = 0; i < n && n_bits < plan->n_bits; i++)
            n_bits += code_bits(numbers[i], order);
        if (n_bits < plan->n_bits) {
            plan->n_bits = n_bits;
            plan->order = order;
        }
    }
}

static struct plan make_plan(const uint64_t *values, size_t n, enum how how, uint64_t *numbers)
{
    struct plan plan = { .how = how };
    size_t first = first_ones(how, n);

    for (size_t i = first; i < n; i++)
        numbers[i - first] = number_at(values, i, how);
    plan.middle = middle_of(numbers, n - first);
    for (size_t i = 0; i < n - first; i++)
        plan.divisor = greatest_divisor(plan.divisor, magnitude((int64_t)(numbers[i] - plan.middle)));
    if (plan.divisor == 0)
        return plan;
    for (size_t i = 0; i < n - first; i++)
        numbers[i] = divided((int64_t)(numbers[i] - plan.middle), plan.divisor);
    choose_order(numbers, n - first, &plan);
    return plan;
}

/* --- writing --- */

struct bit_writer {
    struct buffer *out;
    uint8_t byte;
    unsigned n; /* bits in it */
};

static void put_bits(struct bit_writer *writer, uint64_t bits, unsigned n)
{
    while (n > 0) {
        unsigned room = 8 - writer->n, take = MIN(room, n);

        writer->byte |= (uint8_t)((bits >> (n - take) & ((1u << take) - 1)) << (room - take));
        writer->n += take;
        n -= take;
        if (writer->n == 8) {
            buffer_append_byte(writer->out, (char)writer->byte);
            *writer = (struct bit_writer){ .out = writer->out };
        }
    }
}

static void put_code(struct bit_writer *writer, uint64_t value, unsigned order)
{
    uint64_t q = (value >> order) + 1;
    unsigned len = q ? bits_of(q) : 65;

    put_bits(writer, 0, len - 1);
    if (!q)
        put_bits(writer, 1, 1);
    put_bits(writer, q, MIN(len, 64u));
    put_bits(writer, value, order);
}

void bitcolumn_encode(const uint64_t *values, size_t n, uint64_t *scratch, struct buffer *out)
{
    struct bit_writer writer = { .out = out };
    struct plan best = make_plan(values, n, AS_IT_IS, scratch);
    size_t first;

    for (enum how how = DIFFERENCE; how < HOW_COUNT; how++) {
        struct plan plan = make_plan(values, n, how, scratch);

        if (plan.n_bits < best.n_bits)
            best = plan;
    }
    first = first_ones(best.how, n);
    buffer_append_byte(out, (char)(best.how | best.order << 2));
    varint_append(out, best.divisor);
    varint_append(out, varint_zigzag((int64_t)best.middle));
    for (size_t i = 0; i < first; i++)
        varint_append(out, varint_zigzag((int64_t)number_at(values, i, best.how)));
    for (size_t i = first; best.divisor && i < n; i++)
        put_code(&writer, divided((int64_t)(number_at(values, i, best.how) - best.middle), best.divisor), best.order);
    if (writer.n > 0)
        buffer_append_byte(out, (char)writer.byte);
}

/* --- reading --- */

struct bit_reader {
    const uint8_t *bytes;
    uint64_t at, n; /* in bits */
};

static bool take_bits(struct bit_reader *reader, unsigned n, uint64_t *ret_bits)
{
    uint64_t bits = 0;

    if (reader->n - reader->at < n)
        return false;
    while (n > 0) {
        unsigned behind = 8 - (unsigned)(reader->at % 8), take = MIN(behind, n);

        bits = bits << take | (reader->bytes[reader->at / 8] >> (behind - take) & ((1u << take) - 1));
        reader->at += take;
        n -= take;
    }
    *ret_bits = bits;
    return true;
}

static bool take_code(struct bit_reader *reader, unsigned order, uint64_t *ret_value)
{
    unsigned zeros = 0;
    uint64_t bit = 0, q, low;

    while (zeros <= 64 && take_bits(reader, 1, &bit) && !bit)
        zeros++;
    if (!bit || zeros > 64 || !take_bits(reader, zeros, &q))
        return false;
    if (zeros < 64)
        q |= (uint64_t)1 << zeros;
    /* Of a 65-bit q only 2^64 itself is a code, at order 0. */
    if ((zeros == 64 && q != 0) || (order && ((q - 1) >> (64 - order))) || !take_bits(reader, order, &low))
        return false;
    *ret_value = (q - 1) << order | low;
    return true;
}

/* Turns numbers into values, in place. */
static void undo(uint64_t *values, size_t n, enum how how)
{
    if (how == CHANGE_OF_DIFFERENCE)
        for (size_t i = 2; i < n; i++)
            values[i] += values[i - 1];
    if (how != AS_IT_IS)
        for (size_t i = 1; i < n; i++)
            values[i] += values[i - 1];
}

int bitcolumn_decode(struct slice *rest, uint64_t *values, size_t n, struct error *err)
{
    struct slice left = slice_sub(*rest, 1, SIZE_MAX);
    unsigned header = rest->len ? (unsigned char)rest->ptr[0] : 0, order = header >> 2;
    enum how how = header & 3;
    size_t first = first_ones(how, n);
    struct bit_reader reader;
    uint64_t divisor, middle;

    if (rest->len == 0 || (header & 3) >= HOW_COUNT || !varint_next(&left, &divisor) || !varint_next(&left, &middle))
        return error_set(err, ERR_CORRUPT, "column of bits: its header is cut off or impossible");
    middle = (uint64_t)varint_unzigzag(middle);
    for (size_t i = first; i < n; i++)
        values[i] = middle;
    for (size_t i = 0; i < first; i++) {
        if (!varint_next(&left, &values[i]))
            return error_set(err, ERR_CORRUPT, "column of bits: value %zu is cut off", i);
        values[i] = (uint64_t)varint_unzigzag(values[i]);
    }
    reader = (struct bit_reader){ .bytes = (const uint8_t *)left.ptr, .n = (uint64_t)left.len * 8 };
    for (size_t i = first; divisor && i < n; i++) {
        uint64_t number;

        if (!take_code(&reader, order, &number))
            return error_set(err, ERR_CORRUPT, "column of bits: value %zu of %zu is cut off or no code", i, n);
        values[i] += (uint64_t)varint_unzigzag(number) * divisor;
    }
    undo(values, n, how);
    *rest = slice_sub(left, (size_t)((reader.at + 7) / 8), SIZE_MAX);
    return 0;
}
