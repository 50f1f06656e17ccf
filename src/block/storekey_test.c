// SPDX-License-Identifier: Apache-2.0
#include "block/storekey.h"

#include "base/hash.h"
#include "base/test.h"

#define CHECK_KEY(key, wanted) check_key(__LINE__, (key), SLICE(wanted))

static void check_key(int line, struct storekey key, struct slice wanted)
{
    test_check_text(__FILE__, line, "key", storekey_slice(&key), wanted);
}

TEST(storekey_writes_the_bytes_of_the_format)
{
    static const uint8_t id[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255 };
    struct storekey_block block = { 5, STOREKEY_WINDOWS, 0x01020304, 6, 7, 8, 0x0900 };

    CHECK_KEY(storekey_tenant(0x01020304), "n\1\2\3\4");
    CHECK_KEY(storekey_series(1, 0xfffefdfc), "s\0\0\0\1\xff\xfe\xfd\xfc");
    CHECK_KEY(storekey_chunk(1, 5, 258), "d\0\0\0\1\5\0\0\1\2");
    CHECK_KEY(storekey_generation(2), "g\0\0\0\2");
    CHECK_KEY(storekey_profile_id(3, id), "i\0\0\0\3\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\377");
    CHECK_KEY(storekey_tombstone(4, 5), "t\0\0\0\4\0\0\0\5");
    CHECK_KEY(storekey_counter("sequence"), "msequence");
    CHECK_KEY(storekey_row(1, 9, 2, 3, 4), "\0\0\0\1\0\0\0\11\0\0\0\2\200\0\0\0\0\0\0\3\0\0\0\4");
    CHECK_KEY(storekey_row(1, 9, 2, -1, 4), "\0\0\0\1\0\0\0\11\0\0\0\2\177\377\377\377\377\377\377\377\0\0\0\4");
    CHECK_KEY(storekey_marker(23, 9), "\27c\0\0\0\11");
    CHECK_KEY(storekey_block(block), "\5w\1\2\3\4\0\0\0\6\0\0\0\7\0\0\0\10\0\0\11\0");
}

struct fields {
    uint32_t tenant, group, series, id, number, part, sequence;
    int64_t start_ns;
    uint8_t hour, kind;
};

/* Numbers of every magnitude, so that each byte of a field is met at its edges. */
static uint32_t random_number(uint64_t *state)
{
    uint64_t random = hash_mix64(++*state);

    return (uint32_t)(random >> 32) >> (random & 31);
}

static struct fields random_fields(uint64_t *state)
{
    static const char kinds[] = "5hrstwx";
    uint64_t time = (uint64_t)random_number(state) << 32 | random_number(state);

    return (struct fields){
        .tenant = random_number(state),
        .group = random_number(state),
        .series = random_number(state),
        .id = random_number(state),
        .number = random_number(state),
        .part = random_number(state),
        .sequence = random_number(state),
        .start_ns = (int64_t)(random_number(state) & 1 ? time : ~time),
        .hour = (uint8_t)(random_number(state) % 24),
        .kind = (uint8_t)kinds[random_number(state) % 7],
    };
}

static struct storekey_block block_of(const struct fields *f)
{
    return (struct storekey_block){ f->hour, (enum storekey_kind)f->kind, f->tenant, f->group, f->series, f->number,
                                    f->part };
}

static void check_row_parses_back(const struct fields *f)
{
    struct storekey key = storekey_row(f->tenant, f->group, f->series, f->start_ns, f->sequence);
    uint32_t tenant = 0, group = 0, series = 0, sequence = 0;
    int64_t start_ns = 0;

    CHECK(storekey_parse_row(storekey_slice(&key), &tenant, &group, &series, &start_ns, &sequence));
    CHECK_EQ(tenant, f->tenant);
    CHECK_EQ(group, f->group);
    CHECK_EQ(series, f->series);
    CHECK_EQ(start_ns, f->start_ns);
    CHECK_EQ(sequence, f->sequence);
}

static void check_block_parses_back(const struct fields *f)
{
    struct storekey key = storekey_block(block_of(f));
    struct storekey marker = storekey_marker(f->hour, f->number);
    struct storekey_block block = { 0 };
    uint32_t number = 0;
    uint8_t hour = 0;

    CHECK(storekey_parse_block(storekey_slice(&key), &block));
    CHECK_EQ(block.hour, f->hour);
    CHECK_EQ(block.tenant, f->tenant);
    CHECK_EQ(block.kind, f->kind);
    CHECK_EQ(block.group, f->group);
    CHECK_EQ(block.series, f->series);
    CHECK_EQ(block.number, f->number);
    CHECK_EQ(block.part, f->part);
    CHECK(storekey_parse_marker(storekey_slice(&marker), &hour, &number));
    CHECK_EQ(hour, f->hour);
    CHECK_EQ(number, f->number);
}

static void check_index_parses_back(const struct fields *f)
{
    struct storekey tenant_key = storekey_tenant(f->tenant);
    struct storekey series_key = storekey_series(f->tenant, f->series);
    struct storekey chunk_key = storekey_chunk(f->tenant, f->kind, f->id);
    struct storekey tombstone_key = storekey_tombstone(f->tenant, f->number);
    uint32_t tenant = 0, other = 0;
    uint8_t kind = 0;

    CHECK(storekey_parse_tenant(storekey_slice(&tenant_key), &tenant));
    CHECK_EQ(tenant, f->tenant);
    tenant = ~tenant;
    CHECK(storekey_parse_series(storekey_slice(&series_key), &tenant, &other));
    CHECK_EQ(tenant, f->tenant);
    CHECK_EQ(other, f->series);
    tenant = ~tenant;
    CHECK(storekey_parse_chunk(storekey_slice(&chunk_key), &tenant, &kind, &other));
    CHECK_EQ(tenant, f->tenant);
    CHECK_EQ(kind, f->kind);
    CHECK_EQ(other, f->id);
    tenant = ~tenant;
    CHECK(storekey_parse_tombstone(storekey_slice(&tombstone_key), &tenant, &other));
    CHECK_EQ(tenant, f->tenant);
    CHECK_EQ(other, f->number);
}

TEST(storekey_parses_back_what_it_wrote)
{
    uint64_t state = 1;

    for (int i = 0; i < 5000; i++) {
        struct fields f = random_fields(&state);

        check_row_parses_back(&f);
        check_block_parses_back(&f);
        check_index_parses_back(&f);
    }
}

/* How many of the parsers take the key; rows apart, since any 24 bytes are the key of one in a family that has only rows. */
static int count_takers(struct slice key)
{
    struct storekey_block block;
    uint32_t a, b;
    uint8_t byte;

    return storekey_parse_tenant(key, &a) + storekey_parse_series(key, &a, &b) +
           storekey_parse_chunk(key, &a, &byte, &b) + storekey_parse_tombstone(key, &a, &b) +
           storekey_parse_marker(key, &byte, &a) + storekey_parse_block(key, &block);
}

static void check_taken_only_whole(struct storekey key)
{
    struct slice whole = storekey_slice(&key);

    CHECK_EQ(count_takers(whole), 1);
    for (size_t len = 0; len < whole.len; len++)
        CHECK_EQ(count_takers(slice_sub(whole, 0, len)), 0);
    key.bytes[key.len++] = 0;
    CHECK_EQ(count_takers(storekey_slice(&key)), 0);
}

TEST(storekey_takes_no_shorter_and_no_longer_key)
{
    struct storekey row = storekey_row(0xffffffff, 1, 2, 3, 4);
    uint32_t tenant, group, series, sequence;
    int64_t start_ns;

    check_taken_only_whole(storekey_tenant(0xffffffff));
    check_taken_only_whole(storekey_series(0xffffffff, 1));
    check_taken_only_whole(storekey_chunk(0xffffffff, 1, 1));
    check_taken_only_whole(storekey_tombstone(0xffffffff, 1));
    check_taken_only_whole(storekey_marker(1, 0xffffffff));
    check_taken_only_whole(storekey_block((struct storekey_block){ 1, STOREKEY_SPANS, 0xffffffff, 1, 1, 1, 1 }));
    for (size_t len = 0; len <= sizeof(row.bytes); len++)
        CHECK_EQ(storekey_parse_row(slice_of(row.bytes, len), &tenant, &group, &series, &start_ns, &sequence),
                 len == row.len);
}

TEST(storekey_takes_no_key_of_another_sort)
{
    static const uint8_t id[16] = { 0 };
    struct storekey keys[] = { storekey_generation(1), storekey_profile_id(1, id), storekey_counter("written") };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        CHECK_EQ(count_takers(storekey_slice(&keys[i])), 0);
    CHECK_EQ(count_takers(SLICE("\30c\0\0\0\1")), 0); /* hour 24 */
    CHECK_EQ(count_takers(SLICE("\0w\0\0\0\1")), 0);  /* too short for a block, no marker */
    CHECK_EQ(count_takers(SLICE("\0y\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0")), 0); /* no such kind */
    CHECK_EQ(count_takers(SLICE("\0c\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0")), 0);
    CHECK_EQ(count_takers(SLICE("\30x\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0")), 0);
}

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))
#define CHECK_ORDER(key, other, wanted)                                                                                \
    do {                                                                                                               \
        struct storekey key_ = (key), other_ = (other);                                                                \
        int order_ = slice_compare(storekey_slice(&key_), storekey_slice(&other_));                                    \
        CHECK_EQ(ORDER(order_, 0), (wanted));                                                                          \
    } while (0)

/* The first of the orders that decides. */
static int first_of(const int *orders, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}
#define FIRST_OF(...) first_of((int[]){ __VA_ARGS__ }, ARRAY_LEN(((int[]){ __VA_ARGS__ })))

static void check_order(const struct fields *x, const struct fields *y)
{
    int tenants = ORDER(x->tenant, y->tenant);
    int groups = ORDER(x->group, y->group);
    int series = ORDER(x->series, y->series);

    CHECK_ORDER(storekey_row(x->tenant, x->group, x->series, x->start_ns, x->sequence),
                storekey_row(y->tenant, y->group, y->series, y->start_ns, y->sequence),
                FIRST_OF(tenants, groups, series, ORDER(x->start_ns, y->start_ns), ORDER(x->sequence, y->sequence)));
    CHECK_ORDER(storekey_block(block_of(x)), storekey_block(block_of(y)),
                FIRST_OF(ORDER(x->hour, y->hour), ORDER(x->kind, y->kind), tenants, groups, series,
                         ORDER(x->number, y->number), ORDER(x->part, y->part)));
    CHECK_ORDER(storekey_marker(x->hour, x->number), storekey_marker(y->hour, y->number),
                FIRST_OF(ORDER(x->hour, y->hour), ORDER(x->number, y->number)));
    CHECK_ORDER(storekey_chunk(x->tenant, x->kind, x->id), storekey_chunk(y->tenant, y->kind, y->id),
                FIRST_OF(tenants, ORDER(x->kind, y->kind), ORDER(x->id, y->id)));
    CHECK_ORDER(storekey_series(x->tenant, x->series), storekey_series(y->tenant, y->series),
                FIRST_OF(tenants, series));
    CHECK_ORDER(storekey_tombstone(x->tenant, x->number), storekey_tombstone(y->tenant, y->number),
                FIRST_OF(tenants, ORDER(x->number, y->number)));
    CHECK_ORDER(storekey_tenant(x->tenant), storekey_tenant(y->tenant), tenants);
}

/* `to` takes over the first `n` fields of `from`, in an order that suits all keys, so that the later ones decide. */
static void share_fields(const struct fields *from, struct fields *to, uint32_t n)
{
    if (n > 0)
        to->hour = from->hour, to->kind = from->kind;
    if (n > 1)
        to->tenant = from->tenant;
    if (n > 2)
        to->group = from->group, to->id = from->id;
    if (n > 3)
        to->series = from->series;
    if (n > 4)
        to->start_ns = from->start_ns, to->number = from->number;
    if (n > 5)
        *to = *from;
}

TEST(storekey_bytes_sort_as_their_fields_do)
{
    uint64_t state = 2;

    for (uint32_t i = 0; i < 20000; i++) {
        struct fields x = random_fields(&state);
        struct fields y = random_fields(&state);

        share_fields(&x, &y, i % 7);
        check_order(&x, &y);
    }
}

TEST(storekey_rows_sort_by_time_across_zero)
{
    static const int64_t times[] = { INT64_MIN, INT64_MIN + 1, -1000, -256, -255, -1, 0, 1, 255, 256, INT64_MAX };

    for (size_t i = 1; i < ARRAY_LEN(times); i++)
        CHECK_ORDER(storekey_row(1, 1, 1, times[i - 1], 9), storekey_row(1, 1, 1, times[i], 0), -1);
}

TEST(storekey_keeps_the_kinds_of_an_hour_apart)
{
    static const char order[] = "5chrswx"; /* 'c' are the markers */

    for (size_t i = 0; i + 1 < sizeof(order) - 1; i++) {
        struct storekey_block last = { 3, (enum storekey_kind)order[i], -1, -1, -1, -1, -1 };
        struct storekey_block first = { 3, (enum storekey_kind)order[i + 1], 0, 0, 0, 0, 0 };

        CHECK_ORDER(order[i] == 'c' ? storekey_marker(3, UINT32_MAX) : storekey_block(last),
                    order[i + 1] == 'c' ? storekey_marker(3, 0) : storekey_block(first), -1);
    }
}

TEST(storekey_head_names_parse_back)
{
    static const uint32_t numbers[] = { 0, 1, 9, 10, 4294967295u };
    char name[STOREKEY_HEAD_NAME_BYTES];

    CHECK_TEXT(storekey_head_name(7, 0, name), "head-07-0");
    CHECK_TEXT(storekey_head_name(23, 4294967295u, name), "head-23-4294967295");
    for (uint8_t wanted = 0; wanted < 24; wanted++) {
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
            uint8_t hour = 99;
            uint32_t number = 99;

            CHECK(storekey_parse_head_name(storekey_head_name(wanted, numbers[i], name), &hour, &number));
            CHECK_EQ(hour, wanted);
            CHECK_EQ(number, numbers[i]);
        }
    }
}

TEST(storekey_takes_only_names_that_a_head_has)
{
    static const char *const others[] = {
        "",           "default",    "block",      "head",       "head-",        "head-07",
        "head-07-",   "head-7-0",   "head-007-0", "head-24-0",  "head-99-0",    "head-07-00",
        "head-07-01", "head-07-+1", "head-07--1", "head-07- 1", "head-07-1 ",   "head-07-4294967296",
        "head-07x0",  "head-0x-0",  "head--7-0",  "Head-07-0",  "head-07-0x10", "head-07-18446744073709551616",
    };
    uint8_t hour = 99;
    uint32_t number = 99;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (storekey_parse_head_name(others[i], &hour, &number))
            test_fail(__FILE__, __LINE__, "'%s' was taken", others[i]);
    CHECK_EQ(hour, 99);
    CHECK_EQ(number, 99);
}

static void name_too_long(void)
{
    storekey_counter("a name of more bytes than a key has room");
}

static void hour_too_late(void)
{
    storekey_marker(24, 0);
}

TEST(storekey_refuses_to_write_what_is_no_key)
{
    CHECK_ABORTS(name_too_long, "len <= sizeof(key->bytes)");
    CHECK_ABORTS(hour_too_late, "hour < HOURS");
}
