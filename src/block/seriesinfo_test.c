// SPDX-License-Identifier: Apache-2.0
#include "block/seriesinfo.h"

#include "base/memory.h"
#include "base/test.h"
#include "pack/varint.h"

#define SEED 7

static struct series_label api_labels[] = {
    { { "__name__", 8 }, { "process_cpu", 11 } },
    { { "service_name", 12 }, { "api", 3 } },
    { { "zone", 4 }, { "eu", 2 } },
};
static struct series_type cpu_types[] = {
    { { "samples", 7 }, { "count", 5 }, VALUE_FLOW, TEMPORALITY_DELTA },
    { { "cpu", 3 }, { "nanoseconds", 11 }, VALUE_LEVEL, TEMPORALITY_CUMULATIVE },
};

static struct seriesinfo api_series(void)
{
    return (struct seriesinfo){
        .group = 300,
        .labels = api_labels,
        .n_labels = ARRAY_LEN(api_labels),
        .period_type = SLICE("cpu"),
        .period_unit = SLICE("ns"),
        .types = cpu_types,
        .n_types = ARRAY_LEN(cpu_types),
    };
}

static const struct slice api_bytes = SLICE("\1\xac\2\3"
                                            "\10__name__\13process_cpu\14service_name\3api\4zone\2eu"
                                            "\3cpu\2ns"
                                            "\2\7samples\5count\0\1\3cpu\13nanoseconds\1\2");

static void check_equal(const struct seriesinfo *got, const struct seriesinfo *wanted)
{
    CHECK_EQ(got->group, wanted->group);
    CHECK_EQ(got->n_labels, wanted->n_labels);
    for (uint32_t i = 0; i < got->n_labels; i++) {
        CHECK_TEXT(got->labels[i].name, wanted->labels[i].name);
        CHECK_TEXT(got->labels[i].value, wanted->labels[i].value);
    }
    CHECK_TEXT(got->period_type, wanted->period_type);
    CHECK_TEXT(got->period_unit, wanted->period_unit);
    CHECK_EQ(got->n_types, wanted->n_types);
    for (uint32_t i = 0; i < got->n_types; i++) {
        CHECK_TEXT(got->types[i].type, wanted->types[i].type);
        CHECK_TEXT(got->types[i].unit, wanted->types[i].unit);
        CHECK_EQ(got->types[i].nature, wanted->types[i].nature);
        CHECK_EQ(got->types[i].temporality, wanted->types[i].temporality);
    }
}

static void check_round_trip(const struct seriesinfo *info)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct seriesinfo back;
    struct error err;

    buffer_init(&out, 0);
    arena_init(&arena, 0);
    seriesinfo_encode(info, &out);
    CHECK_OK(buffer_check(&out, &err), &err);
    CHECK_OK(seriesinfo_decode(buffer_slice(&out), &arena, &back, &err), &err);
    check_equal(&back, info);
    CHECK(hash_equal(seriesinfo_hash(&back, SEED), seriesinfo_hash(info, SEED)));
    CHECK(hash_equal(seriesinfo_group_hash(&back, SEED), seriesinfo_group_hash(info, SEED)));
}

TEST(seriesinfo_writes_the_bytes_of_the_format)
{
    AUTO(buffer_done) struct buffer out;
    struct seriesinfo info = api_series();

    buffer_init(&out, 0);
    seriesinfo_encode(&info, &out);
    CHECK_TEXT(buffer_slice(&out), api_bytes);
    check_round_trip(&info);
}

TEST(seriesinfo_may_be_empty)
{
    struct seriesinfo info = { .group = UINT32_MAX };

    check_round_trip(&info);
}

static uint64_t next_random(uint64_t *state)
{
    return hash_mix64(*state += 0x9e3779b97f4a7c15u);
}

static struct slice random_text(uint64_t *state, struct arena *arena)
{
    char bytes[300];
    size_t len = next_random(state) % (next_random(state) % 8 ? 12 : sizeof(bytes));
    struct error err;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)next_random(state);
    return arena_copy(arena, slice_of(bytes, len), &err);
}

/* Random labels with names that rise, since they begin with a number that does. */
static struct seriesinfo random_series(uint64_t *state, struct arena *arena)
{
    struct seriesinfo info = { .group = (uint32_t)next_random(state) >> next_random(state) % 32 };
    struct error err;

    info.n_labels = (uint32_t)(next_random(state) % 20);
    info.labels = ARENA_ARRAY(arena, struct series_label, info.n_labels, &err);
    for (uint32_t i = 0; i < info.n_labels; i++) {
        struct slice end = random_text(state, arena);
        char *name = arena_printf(arena, &err, "%02u%.*s", i, (int)end.len, end.ptr);

        info.labels[i] = (struct series_label){ slice_from(name), random_text(state, arena) };
    }
    info.period_type = random_text(state, arena);
    info.period_unit = random_text(state, arena);
    info.n_types = (uint32_t)(next_random(state) % 6);
    info.types = ARENA_ARRAY(arena, struct series_type, info.n_types, &err);
    for (uint32_t i = 0; i < info.n_types; i++)
        info.types[i] = (struct series_type){ random_text(state, arena), random_text(state, arena),
                                              (enum value_nature)(next_random(state) % 2),
                                              (enum value_temporality)(next_random(state) % 3) };
    return info;
}

TEST(seriesinfo_gives_back_any_series)
{
    AUTO(arena_done) struct arena arena;
    uint64_t state = 3;

    arena_init(&arena, 0);
    for (int i = 0; i < 500; i++) {
        struct seriesinfo info = random_series(&state, &arena);

        check_round_trip(&info);
        arena_reset(&arena);
    }
}

TEST(seriesinfo_refuses_every_truncation)
{
    AUTO(arena_done) struct arena arena;
    struct seriesinfo info = { .group = 77 };
    struct error err;

    arena_init(&arena, 0);
    for (size_t len = 0; len < api_bytes.len; len++) {
        AUTO(memory_freep) char *copy = memory_alloc(len, &err); /* so that a sanitizer sees a step outside */

        CHECK(copy);
        memcpy(copy, api_bytes.ptr, len);
        CHECK_ERROR(seriesinfo_decode(slice_of(copy, len), &arena, &info, &err), &err, ERR_CORRUPT);
        CHECK_EQ(info.group, 77);
    }
}

#define CHECK_REFUSED(bytes, code, words)                                                                              \
    do {                                                                                                               \
        AUTO(arena_done) struct arena arena_;                                                                          \
        struct seriesinfo info_;                                                                                       \
        struct error err_;                                                                                             \
        arena_init(&arena_, 0);                                                                                        \
        CHECK_ERROR(seriesinfo_decode(SLICE(bytes), &arena_, &info_, &err_), &err_, code);                             \
        CHECK_TEXT(err_.text, words);                                                                                  \
    } while (0)

TEST(seriesinfo_says_what_is_damaged_and_where)
{
    CHECK_REFUSED("", ERR_CORRUPT, "a series is empty, without its version");
    CHECK_REFUSED("\2\0\0\0\0\0", ERR_VERSION, "a series has version 2, this hearth reads version 1");
    CHECK_REFUSED("\1\x80", ERR_CORRUPT, "a series: the group at byte 1 is cut off, or too large for 64 bits");
    CHECK_REFUSED("\1\x80\x80\x80\x80\x10\0\0\0\0", ERR_CORRUPT,
                  "a series: the group at byte 1 is 4294967296, the most is 4294967295");
    CHECK_REFUSED("\1\0\3\1a\0\1b", ERR_CORRUPT, "a series: the number of labels at byte 2 is 3, but 5 bytes follow");
    CHECK_REFUSED("\1\0\1\4abc", ERR_CORRUPT,
                  "a series: the length of a label name at byte 3 is 4, but 3 bytes follow");
    CHECK_REFUSED("\1\0\2\1b\0\1a\0\0\0\0", ERR_CORRUPT,
                  "a series: the name of label 2, at byte 6, does not sort behind the one before");
    CHECK_REFUSED("\1\0\2\1a\0\1a\0\0\0\0", ERR_CORRUPT,
                  "a series: the name of label 2, at byte 6, does not sort behind the one before");
    CHECK_REFUSED("\1\0\0\0\0\1\0\0\2\0", ERR_CORRUPT,
                  "a series: the nature of a type at byte 8 is 2, known are 0 to 1");
    CHECK_REFUSED("\1\0\0\0\0\1\0\0\1\3", ERR_CORRUPT,
                  "a series: the temporality of a type at byte 9 is 3, known are 0 to 2");
    CHECK_REFUSED("\1\0\0\0\0\1\1x\0\1", ERR_CORRUPT, "a series: the temporality of a type at byte 10 is cut off");
    CHECK_REFUSED("\1\0\0\0\0\0x", ERR_CORRUPT, "a series: 1 bytes follow its end at byte 6");
}

/* A series that is at its limits, and past one of them by one. */
static void check_limit(uint32_t n_labels, uint32_t n_types, size_t text_bytes, const char *words)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct seriesinfo info = { .n_labels = n_labels, .n_types = n_types };
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    info.labels = ARENA_ARRAY(&arena, struct series_label, n_labels, &err);
    info.types = arena_alloc_zero(&arena, n_types * sizeof(*info.types), &err);
    info.period_type = slice_of(arena_alloc_zero(&arena, text_bytes, &err), text_bytes);
    for (uint32_t i = 0; i < n_labels; i++)
        info.labels[i] = (struct series_label){ slice_from(arena_printf(&arena, &err, "%03u", i)), SLICE("x") };
    seriesinfo_encode(&info, &out);
    if (!words) {
        CHECK_OK(buffer_check(&out, &err), &err);
        check_round_trip(&info);
        return;
    }
    CHECK_ERROR(buffer_check(&out, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, words);
}

TEST(seriesinfo_writes_only_what_it_will_read)
{
    check_limit(SERIES_MAX_LABELS, PROFILE_MAX_TYPES, SERIES_MAX_TEXT, NULL);
    check_limit(SERIES_MAX_LABELS + 1, 1, 1, "a series has 257 labels, the most is 256");
    check_limit(1, PROFILE_MAX_TYPES + 1, 1, "a series has 65 value types, the most is 64");
    check_limit(1, 1, SERIES_MAX_TEXT + 1, "a series has 65537 bytes in one text, the most is 65536");
}

/* Version, group, then a list of `n` labels (or types) of `item_bytes` zero bytes each. */
static void check_reading_limit(struct slice start, uint32_t n, size_t item_bytes, const char *words)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer bytes;
    struct seriesinfo info;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    buffer_append_slice(&bytes, start);
    varint_append(&bytes, n);
    for (size_t i = 0; i < n * item_bytes; i++)
        buffer_append_byte(&bytes, 0);
    CHECK_ERROR(seriesinfo_decode(buffer_slice(&bytes), &arena, &info, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, words);
}

TEST(seriesinfo_reads_no_more_than_the_limits)
{
    check_reading_limit(SLICE("\1\0"), SERIES_MAX_LABELS + 1, 2,
                        "a series: the number of labels at byte 2 is 257, the most is 256");
    check_reading_limit(SLICE("\1\0\0\0\0"), PROFILE_MAX_TYPES + 1, 4,
                        "a series: the number of types at byte 5 is 65, the most is 64");
    check_reading_limit(SLICE("\1\0\0"), SERIES_MAX_TEXT + 1, 1,
                        "a series: the length of the period type at byte 3 is 65537, the most is 65536");
}

TEST(seriesinfo_reports_the_limit_of_the_arena)
{
    AUTO(arena_done) struct arena arena;
    struct seriesinfo info;
    struct error err;

    arena_init(&arena, 64);
    CHECK_ERROR(seriesinfo_decode(api_bytes, &arena, &info, &err), &err, ERR_LIMIT);
}

static int encode_and_decode(void *context, struct error *err)
{
    AUTO(buffer_done) struct buffer out;
    AUTO(arena_done) struct arena arena;
    struct seriesinfo info = api_series(), back;

    (void)context;
    buffer_init(&out, 0);
    arena_init(&arena, 0);
    seriesinfo_encode(&info, &out);
    if (buffer_check(&out, err) < 0)
        return -1;
    return seriesinfo_decode(buffer_slice(&out), &arena, &back, err);
}

TEST(seriesinfo_survives_every_failing_allocation)
{
    test_each_allocation_failing(encode_and_decode, NULL);
}

static void encode_unsorted(void)
{
    struct series_label labels[] = { { SLICE("b"), SLICE("1") }, { SLICE("a"), SLICE("2") } };
    struct seriesinfo info = { .labels = labels, .n_labels = 2 };
    struct buffer out;

    buffer_init(&out, 0);
    seriesinfo_encode(&info, &out);
}

TEST(seriesinfo_refuses_to_write_labels_out_of_order)
{
    CHECK_ABORTS(encode_unsorted, "slice_compare");
}

/* Whether the hashes of two series are equal: those of the series, and those of the group. */
static void check_hashes(const struct seriesinfo *a, const struct seriesinfo *b, bool is_same, bool is_same_group)
{
    CHECK_EQ(hash_equal(seriesinfo_hash(a, SEED), seriesinfo_hash(b, SEED)), is_same);
    CHECK_EQ(hash_equal(seriesinfo_group_hash(a, SEED), seriesinfo_group_hash(b, SEED)), is_same_group);
}

TEST(seriesinfo_hashes_tell_labels_apart)
{
    struct seriesinfo a = api_series(), b = api_series();
    struct series_label labels[ARRAY_LEN(api_labels)];

    b.group = 1;
    check_hashes(&a, &b, true, true);
    b.labels = labels;
    for (uint32_t i = 0; i < a.n_labels; i++) {
        memcpy(labels, api_labels, sizeof(labels));
        labels[i].value = SLICE("other");
        check_hashes(&a, &b, false, i == 2); /* a zone is not what a group has in common, name and service are */
    }
    b.labels = api_labels;
    b.n_labels--;
    check_hashes(&a, &b, false, true);
}

TEST(seriesinfo_hashes_tell_shapes_apart)
{
    struct seriesinfo a = api_series(), b = api_series();
    struct series_type types[ARRAY_LEN(cpu_types)];

    b.period_type = SLICE("wall");
    check_hashes(&a, &b, false, false);
    b = api_series();
    b.period_unit = SLICE("s");
    check_hashes(&a, &b, false, false);
    b = api_series();
    b.n_types--;
    check_hashes(&a, &b, false, false);
    b = api_series();
    b.types = types;
    for (int i = 0; i < 4; i++) {
        memcpy(types, cpu_types, sizeof(types));
        check_hashes(&a, &b, true, true);
        switch (i) {
        case 0: types[1].type = SLICE("wall"); break;
        case 1: types[1].unit = SLICE("seconds"); break;
        case 2: types[1].nature = VALUE_FLOW; break;
        case 3: types[1].temporality = TEMPORALITY_UNKNOWN; break;
        }
        check_hashes(&a, &b, false, false);
    }
}

TEST(seriesinfo_hashes_see_where_a_text_ends)
{
    struct series_label one[] = { { SLICE("ab"), SLICE("c") } }, other[] = { { SLICE("a"), SLICE("bc") } };
    struct seriesinfo a = { .labels = one, .n_labels = 1 }, b = { .labels = other, .n_labels = 1 };

    check_hashes(&a, &b, false, true);
    a = (struct seriesinfo){ .period_type = SLICE("x"), .period_unit = SLICE("") };
    b = (struct seriesinfo){ .period_type = SLICE(""), .period_unit = SLICE("x") };
    check_hashes(&a, &b, false, false);
}

TEST(seriesinfo_hashes_depend_on_the_seed)
{
    struct seriesinfo info = api_series();

    CHECK(!hash_equal(seriesinfo_hash(&info, 1), seriesinfo_hash(&info, 2)));
    CHECK(!hash_equal(seriesinfo_group_hash(&info, 1), seriesinfo_group_hash(&info, 2)));
    CHECK(!hash_equal(seriesinfo_hash(&info, 1), seriesinfo_group_hash(&info, 1)));
}

TEST(seriesinfo_finds_labels_in_either_spelling)
{
    struct seriesinfo info = api_series();

    CHECK_TEXT(seriesinfo_label(&info, SLICE("service_name")), "api");
    CHECK_TEXT(seriesinfo_label(&info, SLICE("service.name")), "api");
    CHECK_TEXT(seriesinfo_label(&info, SLICE("zone")), "eu");
    CHECK_TEXT(seriesinfo_label(&info, SLICE("zon")), "");
    CHECK_TEXT(seriesinfo_label(&info, SLICE("zones")), "");
    CHECK_TEXT(seriesinfo_label(&info, SLICE("")), "");
}

#define CHECK_WRITES(call, wanted)                                                                                     \
    do {                                                                                                               \
        AUTO(buffer_done) struct buffer out;                                                                           \
        buffer_init(&out, 0);                                                                                          \
        call;                                                                                                          \
        CHECK_TEXT(buffer_slice(&out), wanted);                                                                        \
    } while (0)

TEST(seriesinfo_spells_profile_types)
{
    struct seriesinfo info = api_series();

    CHECK_WRITES(seriesinfo_profile_type(&info, 0, &out), "process_cpu:samples:count:cpu:ns");
    CHECK_WRITES(seriesinfo_profile_type(&info, 1, &out), "process_cpu:cpu:nanoseconds:cpu:ns");
    info.n_labels = 0;
    info.period_type = info.period_unit = SLICE("");
    CHECK_WRITES(seriesinfo_profile_type(&info, 1, &out), ":cpu:nanoseconds::");
}

TEST(seriesinfo_finds_the_value_of_a_profile_type)
{
    struct seriesinfo info = api_series();
    uint32_t type = 7;
    struct error err;

    CHECK_OK(seriesinfo_find_type(&info, SLICE("process_cpu:cpu:nanoseconds:cpu:ns"), &type, &err), &err);
    CHECK_EQ(type, 1);
    CHECK_OK(seriesinfo_find_type(&info, SLICE("process_cpu:cpu:nanoseconds:cpu"), &type, &err), &err);
    CHECK_EQ(type, SERIES_NO_TYPE);
}

TEST(seriesinfo_shows_labels_as_a_selector)
{
    struct seriesinfo info = api_series();

    CHECK_WRITES(seriesinfo_text(&info, &out), "{__name__=\"process_cpu\", service_name=\"api\", zone=\"eu\"}");
    info.n_labels = 0;
    CHECK_WRITES(seriesinfo_text(&info, &out), "{}");
}

static void check_value(int line, struct slice value, const char *wanted)
{
    AUTO(buffer_done) struct buffer out;
    struct series_label label = { SLICE("v"), value };
    struct seriesinfo info = { .labels = &label, .n_labels = 1 };

    buffer_init(&out, 0);
    seriesinfo_text(&info, &out);
    test_check_text(__FILE__, line, "text", buffer_slice(&out), slice_from(wanted));
}

/* The wanted texts are what strconv.Quote of Go gives. */
TEST(seriesinfo_escapes_values_as_go_does)
{
    check_value(__LINE__, SLICE(""), "{v=\"\"}");
    check_value(__LINE__, SLICE("a\"b\\c'd"), "{v=\"a\\\"b\\\\c'd\"}");
    check_value(__LINE__, SLICE("\a\b\t\n\v\f\r\0\x1f\x7f"), "{v=\"\\a\\b\\t\\n\\v\\f\\r\\x00\\x1f\\x7f\"}");
    check_value(__LINE__, SLICE("\xc2\x80\xc2\x85\xc2\x9f\xc3\xa9"), "{v=\"\\u0080\\u0085\\u009f\xc3\xa9\"}");
    check_value(__LINE__, SLICE("\xff\xc3("), "{v=\"\\xff\\xc3(\"}");
    check_value(__LINE__, SLICE("\xe6\x97\xa5\xf0\x9f\x94\xa5"), "{v=\"\xe6\x97\xa5\xf0\x9f\x94\xa5\"}");
}

TEST(seriesinfo_quotes_names_that_are_no_words)
{
    static const char *const names[][2] = {
        { "http_2", "{http_2=\"1\"}" },       { "2xx", "{\"2xx\"=\"1\"}" },           { "a.b", "{\"a.b\"=\"1\"}" },
        { "a,b=\"", "{\"a,b=\\\"\"=\"1\"}" }, { "\xc3\xa9", "{\"\xc3\xa9\"=\"1\"}" }, { "", "{\"\"=\"1\"}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct series_label label = { slice_from(names[i][0]), SLICE("1") };
        struct seriesinfo info = { .labels = &label, .n_labels = 1 };

        CHECK_WRITES(seriesinfo_text(&info, &out), names[i][1]);
    }
}
