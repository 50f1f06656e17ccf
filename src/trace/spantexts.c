// SPDX-License-Identifier: Apache-2.0
#include "trace/spantexts_internal.h"

#include "pack/column.h"
#include "pack/varint.h"

#include <inttypes.h>

/* How the texts of a list are written. On disk. */
enum form {
    FORM_LETTERS, /* as they are */
    FORM_DECIMAL, /* a number between a front and a back that all share */
    FORM_HEX,     /* bytes in lower-case hexadecimal digits behind a front, as many in each */
    FORM_UUID,    /* 8-4-4-4-12 lower-case hexadecimal digits behind a front */
    FORM_COUNT,
};

#define MAX_DIGITS 18 /* of a decimal number: less than 2^63 */
#define MIN_HEX    8
#define UUID_LEN   36
#define UUID_BYTES 16
#define IS_DASH(i) ((i) == 8 || (i) == 13 || (i) == 18 || (i) == 23)

/* What the texts of a list share. */
struct shared {
    enum form form;
    struct slice front, back;
    size_t middle_len; /* of FORM_HEX and FORM_UUID */
};

/* --- finding the form --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_uuid(const char *text)
{
    for (size_t i = 0; i < UUID_LEN; i++)
        if (IS_DASH(i) ? text[i] != '-' : hex_digit(text[i]) < 0)
            return false;
    return true;
}

static bool is_hex(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (hex_digit(text[i]) < 0)
            return false;
    return true;
}

/* A number as it would be written: without needless zeros in front. */
static bool is_decimal(const char *text, size_t len)
{
    if (len == 0 || len > MAX_DIGITS || (text[0] == '0' && len > 1))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(text[i]))
            return false;
    return true;
}

static struct shared split_by_length(struct slice text, enum form form, size_t middle_len)
{
    return (struct shared){
        .form = form,
        .front = slice_of(text.ptr, text.len - middle_len),
        .back = SLICE(""),
        .middle_len = middle_len,
    };
}

/* The digits at the end of a text that make whole bytes. */
static size_t count_hex(struct slice text)
{
    size_t n = 0;

    while (n < text.len && hex_digit(text.ptr[text.len - 1 - n]) >= 0)
        n++;
    return n & ~(size_t)1;
}

/* The last number in a text, and what is around it. */
static struct shared split_number(struct slice text)
{
    size_t end = text.len, start;

    while (end > 0 && !is_digit(text.ptr[end - 1]))
        end--;
    for (start = end; start > 0 && is_digit(text.ptr[start - 1]);)
        start--;
    return (struct shared){
        .form = is_decimal(text.ptr + start, end - start) ? FORM_DECIMAL : FORM_LETTERS,
        .front = slice_of(text.ptr, start),
        .back = slice_of(text.ptr + end, text.len - end),
    };
}

/* The form that the first text of a list suggests. */
static struct shared guess(struct slice text)
{
    if (text.len >= UUID_LEN && is_uuid(text.ptr + text.len - UUID_LEN))
        return split_by_length(text, FORM_UUID, UUID_LEN);
    if (count_hex(text) >= MIN_HEX)
        return split_by_length(text, FORM_HEX, count_hex(text));
    return split_number(text);
}

static bool has_front_and_back(struct slice text, const struct shared *shared)
{
    return text.len >= shared->front.len + shared->back.len &&
           memcmp(text.ptr, shared->front.ptr, shared->front.len) == 0 &&
           memcmp(text.ptr + text.len - shared->back.len, shared->back.ptr, shared->back.len) == 0;
}

static bool fits(struct slice text, const struct shared *shared)
{
    const char *middle = text.ptr + shared->front.len;
    size_t len;

    if (text.len == 0 || !has_front_and_back(text, shared))
        return false;
    len = text.len - shared->front.len - shared->back.len;
    switch (shared->form) {
    case FORM_DECIMAL: return is_decimal(middle, len);
    case FORM_HEX: return len == shared->middle_len && is_hex(middle, len);
    case FORM_UUID: return len == UUID_LEN && is_uuid(middle);
    case FORM_LETTERS:
    case FORM_COUNT: break;
    }
    return false;
}

static bool all_fit(const struct slice *texts, uint32_t n, const struct shared *shared)
{
    for (uint32_t i = 0; i < n; i++)
        if (!fits(texts[i], shared))
            return false;
    return true;
}

static struct shared find_form(const struct slice *texts, uint32_t n)
{
    struct shared plain = { .form = FORM_LETTERS }, shared;

    if (n < 2 || texts[0].len == 0)
        return plain;
    shared = guess(texts[0]);
    if (all_fit(texts, n, &shared))
        return shared;
    if (shared.form != FORM_HEX) /* digits of one length in the first may be numbers after all */
        return plain;
    shared = split_number(texts[0]);
    return all_fit(texts, n, &shared) ? shared : plain;
}

uint32_t spantexts_cost(const struct slice *texts, uint32_t n)
{
    struct shared shared = find_form(texts, n);
    size_t total = 0;

    switch (shared.form) {
    case FORM_DECIMAL: return 3;
    case FORM_HEX: return (uint32_t)shared.middle_len / 2;
    case FORM_UUID: return UUID_BYTES;
    case FORM_LETTERS:
    case FORM_COUNT: break;
    }
    for (uint32_t i = 0; i < n; i++)
        total += texts[i].len;
    return n ? (uint32_t)MIN(2 + total / n / 3, UINT32_MAX) : 0;
}

/* --- writing --- */

static void encode_letters(const struct slice *texts, uint32_t n, uint64_t *scratch, struct spantexts_out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        scratch[i] = texts[i].len;
        buffer_append_slice(&out->letters, texts[i]);
    }
    column_encode_u64(scratch, n, COLUMN_PLAIN, &out->numbers);
}

static void encode_decimals(const struct slice *texts, uint32_t n, const struct shared *shared, uint64_t *scratch,
                            struct spantexts_out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t number = 0;

        for (size_t k = shared->front.len; k < texts[i].len - shared->back.len; k++)
            number = number * 10 + (uint64_t)(texts[i].ptr[k] - '0');
        scratch[i] = number;
    }
    column_encode_u64(scratch, n, COLUMN_PLAIN, &out->numbers);
}

static void encode_hex(const struct slice *texts, uint32_t n, const struct shared *shared, struct spantexts_out *out)
{
    bool is_dashed = shared->form == FORM_UUID;

    for (uint32_t i = 0; i < n; i++) {
        const char *middle = texts[i].ptr + shared->front.len;
        char *to = buffer_reserve(&out->bytes, shared->middle_len / 2);

        for (size_t k = 0, len = 0; to && k < shared->middle_len; k += 2) {
            if (is_dashed && IS_DASH(k))
                k++;
            to[len++] = (char)(hex_digit(middle[k]) << 4 | hex_digit(middle[k + 1]));
        }
        if (to)
            buffer_commit(&out->bytes, is_dashed ? UUID_BYTES : shared->middle_len / 2);
    }
}

void spantexts_encode(const struct slice *texts, uint32_t n, uint64_t *scratch, struct spantexts_out *out)
{
    struct shared shared = find_form(texts, n);

    buffer_append_byte(&out->numbers, (char)shared.form);
    if (shared.form == FORM_LETTERS) {
        encode_letters(texts, n, scratch, out);
        return;
    }
    varint_append(&out->numbers, shared.front.len);
    varint_append(&out->numbers, shared.back.len);
    buffer_append_slice(&out->letters, shared.front);
    buffer_append_slice(&out->letters, shared.back);
    if (shared.form == FORM_DECIMAL) {
        encode_decimals(texts, n, &shared, scratch, out);
        return;
    }
    if (shared.form == FORM_HEX)
        varint_append(&out->numbers, shared.middle_len / 2);
    encode_hex(texts, n, &shared, out);
}

/* --- reading --- */

static int fail(const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "list of texts: %s", what);
}

static bool cut_bytes(struct slice *from, size_t len, struct slice *ret_bytes)
{
    if (len > from->len)
        return false;
    *ret_bytes = slice_of(from->ptr, len);
    *from = slice_sub(*from, len, SIZE_MAX);
    return true;
}

static int decode_column(struct slice *numbers, uint32_t n, struct arena *arena, uint64_t **ret_values,
                         struct error *err)
{
    size_t count;

    if (column_decode_u64(numbers, n, arena, ret_values, &count, err) < 0)
        return error_wrap(err, "list of texts");
    return count == n ? 0 : fail("it has less numbers than texts", err);
}

static int decode_letters(struct spantexts_in *in, uint32_t n, size_t max_len, struct arena *arena, struct slice *texts,
                          struct error *err)
{
    uint64_t *lengths;

    if (decode_column(&in->numbers, n, arena, &lengths, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (lengths[i] > max_len || !cut_bytes(&in->letters, lengths[i], &texts[i]))
            return fail("a text is longer than it can be", err);
    return 0;
}

static size_t count_digits(uint64_t number)
{
    size_t n = 1;

    for (; number >= 10; number /= 10)
        n++;
    return n;
}

/* Room for `len` bytes between front and back, which are put around it; where those bytes belong. */
static char *frame_text(const struct shared *shared, size_t len, char **at, struct slice *ret_text)
{
    char *start = *at, *middle = start + shared->front.len;

    memcpy(start, shared->front.ptr, shared->front.len);
    memcpy(middle + len, shared->back.ptr, shared->back.len);
    *at = middle + len + shared->back.len;
    *ret_text = slice_of(start, (size_t)(*at - start));
    return middle;
}

static int decode_decimals(struct spantexts_in *in, const struct shared *shared, uint32_t n, struct arena *arena,
                           struct slice *texts, struct error *err)
{
    size_t total = 0, frame = shared->front.len + shared->back.len;
    uint64_t *numbers;
    char *at;

    if (decode_column(&in->numbers, n, arena, &numbers, err) < 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        size_t len = count_digits(numbers[i]);

        if (len > MAX_DIGITS)
            return fail("a number has too many digits", err);
        total += frame + len;
    }
    at = arena_alloc(arena, total, err);
    if (!at)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        size_t len = count_digits(numbers[i]);
        char *middle = frame_text(shared, len, &at, &texts[i]);
        uint64_t number = numbers[i];

        for (size_t k = len; k > 0; number /= 10)
            middle[--k] = (char)('0' + number % 10);
    }
    return 0;
}

static int decode_hex(struct spantexts_in *in, const struct shared *shared, uint32_t n, struct arena *arena,
                      struct slice *texts, struct error *err)
{
    static const char digits[] = "0123456789abcdef";
    bool is_dashed = shared->form == FORM_UUID;
    size_t n_bytes = is_dashed ? UUID_BYTES : shared->middle_len / 2;
    size_t len = shared->front.len + shared->middle_len + shared->back.len;
    struct slice bytes;
    char *at;

    if (n > 0 && in->bytes.len / n < n_bytes)
        return fail("there are less bytes than ids need", err);
    at = arena_alloc_array(arena, n, len, err);
    if (!at || !cut_bytes(&in->bytes, n * n_bytes, &bytes))
        return at ? fail("there are less bytes than ids need", err) : -1;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *from = (const uint8_t *)bytes.ptr + i * n_bytes;
        char *middle = frame_text(shared, shared->middle_len, &at, &texts[i]);

        for (size_t k = 0; k < shared->middle_len; k += 2, from++) {
            if (is_dashed && IS_DASH(k))
                middle[k++] = '-';
            middle[k] = digits[*from >> 4];
            middle[k + 1] = digits[*from & 15];
        }
    }
    return 0;
}

static int decode_shared(struct spantexts_in *in, size_t max_len, struct shared *shared, struct error *err)
{
    uint64_t front, back, n_bytes = 0;
    size_t middle_max = shared->form == FORM_DECIMAL ? MAX_DIGITS : UUID_LEN;

    if (!varint_next(&in->numbers, &front) || !varint_next(&in->numbers, &back) || front > max_len || back > max_len ||
        !cut_bytes(&in->letters, front, &shared->front) || !cut_bytes(&in->letters, back, &shared->back))
        return fail("what its texts share is longer than it can be", err);
    if (shared->form == FORM_HEX) {
        if (!varint_next(&in->numbers, &n_bytes) || n_bytes > max_len / 2)
            return fail("its ids are longer than they can be", err);
        middle_max = n_bytes * 2;
    }
    shared->middle_len = middle_max;
    /* Numbers may be shorter than the longest: those of a list that is right never make a text too long. */
    if (shared->form != FORM_DECIMAL && front + back + middle_max > max_len)
        return fail("its texts are longer than they can be", err);
    return 0;
}

static int check_lengths(const struct slice *texts, uint32_t n, size_t max_len, struct error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (texts[i].len > max_len)
            return fail("a text is longer than it can be", err);
    return 0;
}

int spantexts_decode(struct spantexts_in *in, uint32_t n, size_t max_len, struct arena *arena,
                     const struct slice **ret_texts, struct error *err)
{
    struct shared shared = { .form = FORM_LETTERS };
    struct slice form;
    struct slice *texts;
    int result;

    if (!cut_bytes(&in->numbers, 1, &form) || (uint8_t)form.ptr[0] >= FORM_COUNT)
        return fail("it has no form that is known", err);
    shared.form = (enum form)form.ptr[0];
    texts = ARENA_ARRAY(arena, struct slice, n, err);
    if (!texts || (shared.form != FORM_LETTERS && decode_shared(in, max_len, &shared, err) < 0))
        return -1;
    switch (shared.form) {
    case FORM_LETTERS: result = decode_letters(in, n, max_len, arena, texts, err); break;
    case FORM_DECIMAL: result = decode_decimals(in, &shared, n, arena, texts, err); break;
    default: result = decode_hex(in, &shared, n, arena, texts, err); break;
    }
    if (result < 0 || check_lengths(texts, n, max_len, err) < 0)
        return -1;
    *ret_texts = texts;
    return 0;
}
