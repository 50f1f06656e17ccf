// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/test.h"
#include "trace/spantexts_internal.h"

#include <stdio.h>

static struct spantexts_out out;

static struct spantexts_in written(void)
{
    return (struct spantexts_in){ buffer_slice(&out.numbers), buffer_slice(&out.letters), buffer_slice(&out.bytes) };
}

static void clear(void)
{
    buffer_done(&out.numbers);
    buffer_done(&out.letters);
    buffer_done(&out.bytes);
    buffer_init(&out.numbers, 0);
    buffer_init(&out.letters, 0);
    buffer_init(&out.bytes, 0);
}

/* Writes texts, reads them again, and says which form they got. */
static int form_of(const struct slice *texts, uint32_t n)
{
    static uint64_t scratch[1000];
    const struct slice *back;
    struct spantexts_in in;
    struct arena arena;
    struct error err;
    int form;

    clear();
    arena_init(&arena, 0);
    spantexts_encode(texts, n, scratch, &out);
    in = written();
    form = in.numbers.ptr[0];
    CHECK_OK(spantexts_decode(&in, n, 2048, &arena, &back, &err), &err);
    for (uint32_t i = 0; i < n; i++)
        CHECK_TEXT(back[i], texts[i]);
    CHECK_EQ(in.numbers.len + in.letters.len + in.bytes.len, 0);
    arena_done(&arena);
    return form;
}

enum { LETTERS, DECIMAL, HEX, UUID };

/* The form of up to four texts. */
static int form_of_few(const char *a, const char *b, const char *c)
{
    struct slice texts[] = { slice_from(a), slice_from(b), slice_from(c) };

    return form_of(texts, c ? 3 : b ? 2 : 1);
}

TEST(spantexts_finds_the_form_that_texts_share)
{
    CHECK_EQ(form_of_few("GET", "POST", "PUT"), LETTERS);
    CHECK_EQ(form_of_few("user-1", NULL, NULL), LETTERS); /* one alone shares nothing */
    CHECK_EQ(form_of_few("", "", NULL), LETTERS);
    CHECK_EQ(form_of_few("user-1", "user-99", "user-10000"), DECIMAL);
    CHECK_EQ(form_of_few("/items/5/of", "/items/0/of", NULL), DECIMAL);
    CHECK_EQ(form_of_few("/v1/items/5", "/v1/items/17", NULL), DECIMAL);
    CHECK_EQ(form_of_few("7", "123456789012345678", NULL), DECIMAL);
    CHECK_EQ(form_of_few("12345678", "1234", "5"), DECIMAL); /* the first might be hexadecimal */
    CHECK_EQ(form_of_few("0af7651916cd43dd", "ffffffffffffffff", NULL), HEX);
    CHECK_EQ(form_of_few("order_00000000", "order_deadbeef", NULL), HEX);
    CHECK_EQ(form_of_few("550e8400-e29b-41d4-a716-446655440000", "00000000-0000-0000-0000-000000000000", NULL), UUID);
    CHECK_EQ(form_of_few("r:550e8400-e29b-41d4-a716-446655440000", "r:00000000-0000-0000-0000-0123456789ab", NULL),
             UUID);
}

TEST(spantexts_keeps_as_letters_what_digits_would_not_give_back)
{
    CHECK_EQ(form_of_few("user-1", "user-01", NULL), LETTERS);
    CHECK_EQ(form_of_few("user-1", "User-2", NULL), LETTERS);
    CHECK_EQ(form_of_few("user-1", "user-", NULL), LETTERS);
    CHECK_EQ(form_of_few("user-1", "", NULL), LETTERS);
    CHECK_EQ(form_of_few("1", "1234567890123456789", NULL), LETTERS); /* too many digits */
    CHECK_EQ(form_of_few("x-0af7651916cd43dd", "x-0AF7651916CD43DD", NULL), LETTERS);
    CHECK_EQ(form_of_few("x-0af7651916cd43dd", "x-0af7651916cd43", NULL), LETTERS);
    CHECK_EQ(form_of_few("550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716+446655440000", NULL),
             LETTERS);
    CHECK_EQ(form_of_few("ab1ba", "a1ba", NULL), LETTERS); /* front and back would overlap */
}

TEST(spantexts_takes_ids_as_few_bytes)
{
    static char texts[500][40];
    struct slice slices[500];

    for (uint32_t i = 0; i < 500; i++) {
        uint64_t number = hash_mix64(i + 1);

        snprintf(texts[i], sizeof(texts[i]), "id-%016llx", (unsigned long long)number);
        slices[i] = slice_from(texts[i]);
    }
    CHECK_EQ(form_of(slices, 500), HEX);
    CHECK_EQ(out.bytes.len, 500 * 8);
    CHECK_EQ(out.letters.len, 3);
    CHECK(out.numbers.len < 10);
    CHECK_EQ(spantexts_cost(slices, 500), 8);
}

TEST(spantexts_refuses_lists_that_cannot_be)
{
    static uint64_t scratch[3];
    struct slice texts[] = { SLICE("user-1"), SLICE("user-22"), SLICE("user-333") };
    struct spantexts_in in;
    const struct slice *back;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    clear();
    spantexts_encode(texts, 3, scratch, &out);
    for (size_t len = 0; len < out.numbers.len; len++) {
        in = written();
        in.numbers.len = len;
        CHECK_ERROR(spantexts_decode(&in, 3, 2048, &arena, &back, &err), &err, ERR_CORRUPT);
    }
    in = written();
    in.letters.len--;
    CHECK_ERROR(spantexts_decode(&in, 3, 2048, &arena, &back, &err), &err, ERR_CORRUPT);
    in = written();
    CHECK_ERROR(spantexts_decode(&in, 4, 2048, &arena, &back, &err), &err, ERR_CORRUPT);
    in = written();
    CHECK_ERROR(spantexts_decode(&in, 3, 7, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "a text is longer than it can be");
    out.numbers.data[0] = 9;
    in = written();
    CHECK_ERROR(spantexts_decode(&in, 3, 2048, &arena, &back, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "no form that is known");
    clear();
    arena_done(&arena);
}
