// SPDX-License-Identifier: Apache-2.0
#include "block/headrow.h"

#include "base/memory.h"
#include "block/idsort.h"
#include "block/valuecolumns.h"
#include "pack/varint.h"

#include <inttypes.h>

#define VERSION 1

/* Room is made for so many samples at once: the worst case, yet little of it is left over at the end of a large row. */
#define BATCH 4096u

/* The code beside a stack that says that the quotient follows; below it, the quotient is the code plus one. */
#define CODE_FOLLOWS 3u

/* --- sorting --- */

/* Whether sample `i` belongs right behind the one before it (R1). */
static bool is_behind(const struct headrow *row, uint32_t i)
{
    if (row->stacks[i - 1] != row->stacks[i])
        return row->stacks[i - 1] < row->stacks[i];
    if (row->label_sets && row->label_sets[i - 1] != row->label_sets[i])
        return row->label_sets[i - 1] < row->label_sets[i];
    return row->links && row->links[i - 1] < row->links[i];
}

int64_t headrow_total(const struct headrow *row, uint32_t type)
{
    uint64_t n_saturated = 0;
    int64_t total = 0;

    for (uint32_t i = 0; i < row->n_samples; i++)
        total = value_add(total, row->values[(size_t)type * row->stride + i], &n_saturated);
    return total;
}

bool headrow_is_sorted(const struct headrow *row)
{
    for (uint32_t i = 1; i < row->n_samples; i++)
        if (!is_behind(row, i))
            return false;
    return true;
}

static void sort_by(const uint32_t *column, uint64_t *pairs, uint64_t *scratch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = idsort_pair(column[idsort_from(pairs[i])], idsort_from(pairs[i]));
    idsort_pairs(pairs, scratch, n);
}

static void permute_u32(uint32_t *column, const uint64_t *pairs, void *scratch, uint32_t n)
{
    uint32_t *permuted = scratch;

    for (uint32_t i = 0; i < n; i++)
        permuted[i] = column[idsort_from(pairs[i])];
    memcpy(column, permuted, n * sizeof(*column));
}

static void permute_u64(uint64_t *column, const uint64_t *pairs, uint64_t *scratch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = column[idsort_from(pairs[i])];
    memcpy(column, scratch, n * sizeof(*column));
}

static void permute(struct headrow *row, const uint64_t *pairs, uint64_t *scratch)
{
    for (uint32_t i = 0; i < row->n_samples; i++)
        row->stacks[i] = idsort_id(pairs[i]);
    for (uint32_t type = 0; type < row->n_types; type++)
        permute_u64((uint64_t *)row->values + (size_t)type * row->stride, pairs, scratch, row->n_samples);
    if (row->label_sets)
        permute_u32(row->label_sets, pairs, scratch, row->n_samples);
    if (row->links)
        permute_u32(row->links, pairs, scratch, row->n_samples);
    if (row->counts)
        permute_u64(row->counts, pairs, scratch, row->n_samples);
}

void headrow_move_sample(struct headrow *row, uint32_t from, uint32_t to)
{
    row->stacks[to] = row->stacks[from];
    for (uint32_t type = 0; type < row->n_types; type++)
        row->values[(size_t)type * row->stride + to] = row->values[(size_t)type * row->stride + from];
    if (row->label_sets)
        row->label_sets[to] = row->label_sets[from];
    if (row->links)
        row->links[to] = row->links[from];
    if (row->counts)
        row->counts[to] = row->counts[from];
}

static void add_sample(struct headrow *row, uint32_t from, uint32_t to, uint64_t *saturated)
{
    for (uint32_t type = 0; type < row->n_types; type++) {
        int64_t *values = row->values + (size_t)type * row->stride;

        values[to] = value_add(values[to], values[from], saturated);
    }
    if (row->counts && __builtin_add_overflow(row->counts[to], row->counts[from], &row->counts[to])) {
        row->counts[to] = UINT64_MAX;
        ++*saturated;
    }
}

/* Adds up equal samples, which are neighbours now. */
static void add_equal(struct headrow *row, uint64_t *saturated)
{
    uint32_t kept = 1;

    for (uint32_t i = 1; i < row->n_samples; i++) {
        if (kept < i)
            headrow_move_sample(row, i, kept);
        if (is_behind(row, kept))
            kept++;
        else
            add_sample(row, kept, kept - 1, saturated);
    }
    row->n_samples = kept;
}

int headrow_sort(struct headrow *row, struct arena *arena, uint64_t *saturated, struct error *err)
{
    uint32_t n = row->n_samples;
    uint64_t *pairs, *scratch;

    if (headrow_is_sorted(row))
        return 0;
    pairs = ARENA_ARRAY(arena, uint64_t, (size_t)n * 2, err);
    if (!pairs)
        return -1;
    scratch = pairs + n;
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = idsort_pair(0, i);
    if (row->links)
        sort_by(row->links, pairs, scratch, n);
    if (row->label_sets)
        sort_by(row->label_sets, pairs, scratch, n);
    sort_by(row->stacks, pairs, scratch, n);
    permute(row, pairs, scratch);
    if (!headrow_is_sorted(row))
        add_equal(row, saturated);
    return 0;
}

/* --- encoding --- */

static int64_t value_of(const struct headrow *row, uint32_t type, uint32_t i)
{
    return row->values[(size_t)type * row->stride + i];
}

/* The greatest number that divides all values of a type; 1 where there is none. */
static int64_t find_divisor(const struct headrow *row, uint32_t type)
{
    uint64_t divisor = 0;

    for (uint32_t i = 0; i < row->n_samples && divisor != 1; i++) {
        int64_t value = value_of(row, type, i);
        uint64_t a = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

        while (a != 0) {
            uint64_t remainder = divisor % a;

            divisor = a;
            a = remainder;
        }
    }
    if (divisor > INT64_MAX) /* nothing but zeros and INT64_MIN */
        divisor >>= 1;
    return divisor ? (int64_t)divisor : 1;
}

static uint8_t row_flags(const struct headrow *row)
{
    return (uint8_t)((row->label_sets ? HEADROW_HAS_LABEL_SETS : 0) | (row->links ? HEADROW_HAS_LINKS : 0) |
                     (row->counts ? HEADROW_HAS_COUNTS : 0));
}

/* How each type is kept: its form and, where it has a column of its own, the divisor. */
struct row_forms {
    struct value_form forms[PROFILE_MAX_TYPES];
    int64_t divisors[PROFILE_MAX_TYPES];
};

static void find_forms(const struct headrow *row, struct row_forms *forms)
{
    valuecolumns_find_forms(row->values, row->stride, row->n_samples, row->n_types, forms->forms);
    for (uint32_t type = 0; type < row->n_types; type++)
        if (forms->forms[type].base == 0)
            forms->divisors[type] = find_divisor(row, type);
}

static void encode_head(const struct headrow *row, const struct row_forms *forms, struct buffer *out)
{
    char *start = buffer_reserve(out, 2 + 5 * VARINT_MAX_BYTES +
                                          row->n_types * (VALUE_FORM_MAX_BYTES + (size_t)VARINT_MAX_BYTES));
    char *at = start;

    if (!start)
        return;
    *at++ = VERSION;
    *at++ = (char)row_flags(row);
    at = varint_put(at, varint_zigzag(row->duration_ns));
    at = varint_put(at, varint_zigzag(row->period));
    at = varint_put(at, row->label_set);
    at = varint_put(at, row->n_types);
    at = varint_put(at, row->n_samples);
    for (uint32_t type = 0; type < row->n_types; type++) {
        at = valuecolumns_put_form(at, forms->forms[type]);
        if (forms->forms[type].base == 0)
            at = varint_put(at, (uint64_t)forms->divisors[type]);
    }
    buffer_commit(out, (size_t)(at - start));
}

/* Stacks, with the quotients of the first type, which is always kept by itself. */
static void encode_stacks(const struct headrow *row, int64_t divisor, struct buffer *out)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < row->n_samples;) {
        uint32_t stop = MIN(row->n_samples, i + BATCH);
        char *start = buffer_reserve(out, (stop - i) * (size_t)(2 * VARINT_MAX_BYTES));
        char *at = start;

        if (!start)
            return;
        for (; i < stop; i++) {
            int64_t quotient = row->n_types == 0 ? 1 : divisor == 1 ? row->values[i] : row->values[i] / divisor;
            uint64_t code = MIN((uint64_t)quotient - 1, CODE_FOLLOWS);

            at = varint_put(at, (uint64_t)(row->stacks[i] - before) << 2 | code);
            if (code == CODE_FOLLOWS)
                at = varint_put(at, varint_zigzag(quotient));
            before = row->stacks[i];
        }
        buffer_commit(out, (size_t)(at - start));
    }
}

static void encode_quotients(const struct headrow *row, uint32_t type, int64_t divisor, struct buffer *out)
{
    for (uint32_t i = 0; i < row->n_samples;) {
        uint32_t stop = MIN(row->n_samples, i + BATCH);
        char *start = buffer_reserve(out, (stop - i) * (size_t)VARINT_MAX_BYTES);
        char *at = start;

        if (!start)
            return;
        for (; i < stop; i++)
            at = varint_put(at, varint_zigzag(value_of(row, type, i) / divisor));
        buffer_commit(out, (size_t)(at - start));
    }
}

void headrow_encode(const struct headrow *row, struct buffer *out)
{
    struct row_forms forms;

    ASSERT(row->n_types <= PROFILE_MAX_TYPES && row->n_samples <= HEADROW_MAX_SAMPLES);
    find_forms(row, &forms);
    encode_head(row, &forms, out);
    encode_stacks(row, row->n_types ? forms.divisors[0] : 1, out);
    for (uint32_t type = 1; type < row->n_types; type++)
        if (forms.forms[type].base == 0)
            encode_quotients(row, type, forms.divisors[type], out);
    if (row->label_sets)
        varint_encode_u32(row->label_sets, row->n_samples, out);
    if (row->links) {
        varint_append(out, row->n_links);
        buffer_append(out, row->link_table, row->n_links * sizeof(*row->link_table));
        varint_encode_u32(row->links, row->n_samples, out);
    }
    if (row->counts)
        varint_encode_u64(row->counts, row->n_samples, out);
}

/* --- decoding --- */

struct decoder {
    struct slice bytes; /* all of them, for offsets */
    struct slice rest;
    struct arena *arena;
    struct row_forms forms;
    uint8_t flags;
};

static size_t offset_of(const struct decoder *decoder)
{
    return decoder->bytes.len - decoder->rest.len;
}

static int next_number(struct decoder *decoder, const char *what, uint64_t max, uint64_t *ret_number, struct error *err)
{
    size_t offset = offset_of(decoder);

    if (!varint_next(&decoder->rest, ret_number))
        return error_set(err, ERR_CORRUPT, "no valid number for the %s at byte %zu", what, offset);
    if (*ret_number > max)
        return error_set(err, ERR_CORRUPT, "%s at byte %zu is %" PRIu64 ", it can be %" PRIu64 " at most", what, offset,
                         *ret_number, max);
    return 0;
}

static int decode_version(struct decoder *decoder, struct error *err)
{
    if (decoder->bytes.len < 2)
        return error_set(err, ERR_CORRUPT, "cut off: %zu bytes, at least 2 are needed", decoder->bytes.len);
    if (decoder->bytes.ptr[0] != VERSION)
        return error_set(err, ERR_VERSION, "is of version %u, this program reads version %u",
                         (unsigned char)decoder->bytes.ptr[0], VERSION);
    decoder->flags = (uint8_t)decoder->bytes.ptr[1];
    if (decoder->flags & ~HEADROW_ALL_FLAGS)
        return error_set(err, ERR_CORRUPT, "flags at byte 1 are 0x%02x, of which only 0x%02x have a meaning",
                         decoder->flags, HEADROW_ALL_FLAGS);
    decoder->rest = slice_sub(decoder->bytes, 2, SIZE_MAX);
    return 0;
}

static int decode_form(struct decoder *decoder, uint32_t type, struct error *err)
{
    size_t offset = offset_of(decoder);
    uint64_t divisor;

    if (valuecolumns_next_form(&decoder->rest, type, decoder->forms.forms, &decoder->forms.forms[type], err) < 0)
        return error_wrap(err, "at byte %zu", offset);
    if (decoder->forms.forms[type].base != 0)
        return 0;
    offset = offset_of(decoder);
    if (next_number(decoder, "divisor", INT64_MAX, &divisor, err) < 0)
        return -1;
    if (divisor == 0)
        return error_set(err, ERR_CORRUPT, "divisor at byte %zu is 0, it must be at least 1", offset);
    decoder->forms.divisors[type] = (int64_t)divisor;
    return 0;
}

static int decode_head(struct decoder *decoder, struct headrow *row, struct error *err)
{
    uint64_t duration, period, label_set, n_types, n_samples;

    if (decode_version(decoder, err) < 0 || next_number(decoder, "duration", UINT64_MAX, &duration, err) < 0 ||
        next_number(decoder, "period", UINT64_MAX, &period, err) < 0 ||
        next_number(decoder, "label set", UINT32_MAX, &label_set, err) < 0 ||
        next_number(decoder, "number of types", PROFILE_MAX_TYPES, &n_types, err) < 0 ||
        next_number(decoder, "number of samples", UINT64_MAX, &n_samples, err) < 0)
        return -1;
    if (n_samples > HEADROW_MAX_SAMPLES)
        return error_set(err, ERR_CORRUPT, "has %" PRIu64 " samples, at most %u are allowed", n_samples,
                         HEADROW_MAX_SAMPLES);
    for (uint32_t type = 0; type < n_types; type++)
        if (decode_form(decoder, type, err) < 0)
            return -1;
    if (n_samples > decoder->rest.len) /* each takes a byte or more: checked before memory is spent on them */
        return error_set(err, ERR_CORRUPT, "cut off: %" PRIu64 " samples, but only %zu bytes from byte %zu", n_samples,
                         decoder->rest.len, offset_of(decoder));
    *row = (struct headrow){
        .label_set = (uint32_t)label_set,
        .duration_ns = varint_unzigzag(duration),
        .period = varint_unzigzag(period),
        .n_types = (uint32_t)n_types,
        .n_samples = (uint32_t)n_samples,
        .stride = (uint32_t)n_samples,
    };
    return 0;
}

static int fail_sample(const struct decoder *decoder, const char *at, uint32_t i, const struct headrow *row,
                       const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "sample %u of %u, at byte %zu: %s", i + 1, row->n_samples,
                     (size_t)(at - decoder->bytes.ptr), what);
}

/* The value that goes with a stack: its code says it, or that it follows. Returns where the next sample begins; NULL if
 * it is cut off. */
static const char *next_quotient(const char *at, const char *end, uint64_t code, int64_t *ret_quotient)
{
    uint64_t coded;

    *ret_quotient = (int64_t)code + 1;
    if (code != CODE_FOLLOWS)
        return at;
    at = varint_get(at, end, &coded);
    if (LIKELY(at))
        *ret_quotient = varint_unzigzag(coded);
    return at;
}

static int decode_stacks(struct decoder *decoder, struct headrow *row, struct error *err)
{
    const char *end = decoder->bytes.ptr + decoder->bytes.len;
    const char *at = decoder->rest.ptr;
    uint64_t stack = 0;

    for (uint32_t i = 0; i < row->n_samples; i++) {
        uint64_t coded;
        int64_t quotient;
        const char *next = varint_get(at, end, &coded);

        if (UNLIKELY(!next))
            return fail_sample(decoder, at, i, row, "no valid number for its stack", err);
        stack += coded >> 2;
        if (UNLIKELY(stack > UINT32_MAX))
            return fail_sample(decoder, at, i, row, "its stack does not fit 32 bits", err);
        row->stacks[i] = (uint32_t)stack;
        next = next_quotient(next, end, coded & 3, &quotient);
        if (UNLIKELY(!next))
            return fail_sample(decoder, at, i, row, "no valid number for its value", err);
        if (row->n_types == 0) {
            if (UNLIKELY((coded & 3) != 0))
                return fail_sample(decoder, at, i, row, "has a value, but the row has no types", err);
        } else if (UNLIKELY(__builtin_mul_overflow(quotient, decoder->forms.divisors[0], &row->values[i]))) {
            return fail_sample(decoder, at, i, row, "its value does not fit 64 bits", err);
        }
        at = next;
    }
    decoder->rest = slice_of(at, (size_t)(end - at));
    return 0;
}

static int decode_quotients(struct decoder *decoder, struct headrow *row, uint32_t type, struct error *err)
{
    int64_t *values = row->values + (size_t)type * row->stride;
    size_t offset = offset_of(decoder);

    if (varint_decode_u64(&decoder->rest, (uint64_t *)values, row->n_samples, err) < 0)
        return error_wrap(err, "values of type %u from byte %zu", type, offset);
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (UNLIKELY(__builtin_mul_overflow(varint_unzigzag((uint64_t)values[i]), decoder->forms.divisors[type],
                                            &values[i])))
            return error_set(err, ERR_CORRUPT, "values of type %u from byte %zu: value %u does not fit 64 bits", type,
                             offset, i + 1);
    return 0;
}

static int decode_values(struct decoder *decoder, struct headrow *row, struct error *err)
{
    for (uint32_t type = 1; type < row->n_types; type++) {
        struct value_form form = decoder->forms.forms[type];

        if (form.base != 0) {
            if (valuecolumns_multiply(row->values, row->stride, row->n_samples, type, form, err) < 0)
                return -1;
        } else if (decode_quotients(decoder, row, type, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int decode_ids(struct decoder *decoder, const char *what, uint32_t n, uint32_t **ret_ids, struct error *err)
{
    size_t offset = offset_of(decoder);
    uint32_t *ids = ARENA_ARRAY(decoder->arena, uint32_t, n, err);

    if (!ids)
        return -1;
    if (varint_decode_u32(&decoder->rest, ids, n, err) < 0)
        return error_wrap(err, "%s from byte %zu", what, offset);
    *ret_ids = ids;
    return 0;
}

static int decode_links(struct decoder *decoder, struct headrow *row, struct error *err)
{
    uint64_t n_links;
    size_t offset;

    if (next_number(decoder, "number of links", UINT32_MAX, &n_links, err) < 0)
        return -1;
    if (n_links > decoder->rest.len / sizeof(struct link))
        return error_set(err, ERR_CORRUPT, "cut off: %" PRIu64 " links, but only %zu bytes from byte %zu", n_links,
                         decoder->rest.len, offset_of(decoder));
    row->n_links = (uint32_t)n_links;
    row->link_table = ARENA_ARRAY(decoder->arena, struct link, n_links, err);
    if (!row->link_table)
        return -1;
    memcpy(row->link_table, decoder->rest.ptr, n_links * sizeof(struct link));
    decoder->rest = slice_sub(decoder->rest, n_links * sizeof(struct link), SIZE_MAX);
    offset = offset_of(decoder);
    if (decode_ids(decoder, "links", row->n_samples, &row->links, err) < 0)
        return -1;
    for (uint32_t i = 0; i < row->n_samples; i++)
        if (row->links[i] > row->n_links)
            return error_set(err, ERR_CORRUPT, "links from byte %zu: sample %u has link %u, there are %u", offset,
                             i + 1, row->links[i], row->n_links);
    return 0;
}

static int decode_counts(struct decoder *decoder, struct headrow *row, struct error *err)
{
    size_t offset = offset_of(decoder);

    row->counts = ARENA_ARRAY(decoder->arena, uint64_t, row->n_samples, err);
    if (!row->counts)
        return -1;
    if (varint_decode_u64(&decoder->rest, row->counts, row->n_samples, err) < 0)
        return error_wrap(err, "counts from byte %zu", offset);
    return 0;
}

static int decode_columns(struct decoder *decoder, struct headrow *row, struct error *err)
{
    row->stacks = ARENA_ARRAY(decoder->arena, uint32_t, row->n_samples, err);
    row->values = ARENA_ARRAY(decoder->arena, int64_t, (size_t)row->n_samples * row->n_types, err);
    if (!row->stacks || !row->values || decode_stacks(decoder, row, err) < 0 || decode_values(decoder, row, err) < 0)
        return -1;
    if ((decoder->flags & HEADROW_HAS_LABEL_SETS) &&
        decode_ids(decoder, "label sets", row->n_samples, &row->label_sets, err) < 0)
        return -1;
    if ((decoder->flags & HEADROW_HAS_LINKS) && decode_links(decoder, row, err) < 0)
        return -1;
    if ((decoder->flags & HEADROW_HAS_COUNTS) && decode_counts(decoder, row, err) < 0)
        return -1;
    return 0;
}

static int check_whole(const struct decoder *decoder, const struct headrow *row, struct error *err)
{
    if (decoder->rest.len > 0)
        return error_set(err, ERR_CORRUPT, "%zu bytes too many, from byte %zu", decoder->rest.len, offset_of(decoder));
    for (uint32_t i = 1; i < row->n_samples; i++)
        if (UNLIKELY(!is_behind(row, i)))
            return error_set(err, ERR_CORRUPT,
                             "samples %u and %u of %u, both with stack %u, are out of order or the same", i, i + 1,
                             row->n_samples, row->stacks[i]);
    return 0;
}

int headrow_decode(struct slice bytes, struct arena *arena, struct headrow *ret_row, struct error *err)
{
    struct decoder decoder = { .bytes = bytes, .arena = arena };
    struct headrow row = { 0 };

    if (decode_head(&decoder, &row, err) < 0 || decode_columns(&decoder, &row, err) < 0 ||
        check_whole(&decoder, &row, err) < 0)
        return error_wrap(err, "head row");
    *ret_row = row;
    return 0;
}

/* --- cutting --- */

int headrow_cut(struct headrow *row, const uint32_t *kept, uint32_t n, struct arena *arena, struct error *err)
{
    struct headrow cut = *row;

    cut.n_samples = cut.stride = n;
    cut.stacks = ARENA_ARRAY(arena, uint32_t, n, err);
    cut.values = cut.stacks ? ARENA_ARRAY(arena, int64_t, (size_t)n * row->n_types, err) : NULL;
    if (!cut.values || (row->label_sets && !(cut.label_sets = ARENA_ARRAY(arena, uint32_t, n, err))) ||
        (row->links && !(cut.links = ARENA_ARRAY(arena, uint32_t, n, err))) ||
        (row->counts && !(cut.counts = ARENA_ARRAY(arena, uint64_t, n, err))))
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        cut.stacks[i] = row->stacks[kept[i]];
        for (uint32_t type = 0; type < row->n_types; type++)
            cut.values[(size_t)type * n + i] = row->values[(size_t)type * row->stride + kept[i]];
        if (row->label_sets)
            cut.label_sets[i] = row->label_sets[kept[i]];
        if (row->links)
            cut.links[i] = row->links[kept[i]];
        if (row->counts)
            cut.counts[i] = row->counts[kept[i]];
    }
    *row = cut;
    return 0;
}

bool headrow_may_have_links(struct slice bytes)
{
    return bytes.len > 1 && (bytes.ptr[1] & HEADROW_HAS_LINKS);
}
