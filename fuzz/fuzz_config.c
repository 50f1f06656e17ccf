// SPDX-License-Identifier: Apache-2.0
/* YAML into an option table of every type. What was accepted, printed as a configuration file, is accepted again and
 * means the same. */
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_values {
    bool truth;
    const char *text;
    const char *file;
    int64_t i64;
    uint64_t u64;
    double number;
    int64_t duration_ns;
    uint64_t size_bytes;
    double share;
    double rate_hz;
    struct address address;
    enum { FUZZ_A, FUZZ_B } word;
    struct option_list list;
};

static const char *const words[] = { "a", "b", NULL };

static const struct option_spec specs[] = {
    { "bool", OPTION_BOOL, FIELD(fuzz_values, truth), NULL, "Help." },
    { "text", OPTION_TEXT, FIELD(fuzz_values, text), NULL, "Help." },
    { "file", OPTION_FILE, FIELD(fuzz_values, file), NULL, "Help." },
    { "int", OPTION_INT, FIELD(fuzz_values, i64), NULL, "Help." },
    { "uint", OPTION_UINT, FIELD(fuzz_values, u64), "5", "Help.", .min = "1", .max = "1000" },
    { "number", OPTION_DOUBLE, FIELD(fuzz_values, number), NULL, "Help." },
    { "nested.duration", OPTION_DURATION, FIELD(fuzz_values, duration_ns), "7d", "Help." },
    { "nested.size", OPTION_SIZE, FIELD(fuzz_values, size_bytes), "1MB", "Help.", .max = "1TiB" },
    { "percent", OPTION_PERCENT, FIELD(fuzz_values, share), "90%", "Help." },
    { "rate", OPTION_RATE, FIELD(fuzz_values, rate_hz), "97", "Help." },
    { "address", OPTION_ADDRESS, FIELD(fuzz_values, address), ":4040", "Help." },
    { "word", OPTION_ENUM, FIELD(fuzz_values, word), "a", "Help.", .words = words },
    { "list", OPTION_LIST, FIELD(fuzz_values, list), NULL, "Help." },
};
static const struct option_group group = OPTION_GROUP("Options", specs);

static int read_yaml(struct arena *arena, struct slice yaml, struct fuzz_values *values, struct options **ret_options)
{
    struct config config;
    struct error err;

    if (options_new(arena, ret_options, &err) < 0 || options_bind(*ret_options, &group, values, &err) < 0)
        return -1;
    if (config_parse(yaml, "fuzz.yaml", NULL, arena, &config, &err) < 0 ||
        options_apply_entries(*ret_options, "fuzz.yaml", config.entries, config.n, &err) < 0) {
        ASSERT(err.code == ERR_INVALID || err.code == ERR_LIMIT);
        return -1;
    }
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void check_same(const struct fuzz_values *a, const struct fuzz_values *b)
{
    ASSERT(a->truth == b->truth && same_text(a->text, b->text) && same_text(a->file, b->file));
    ASSERT(a->i64 == b->i64 && a->u64 == b->u64 && a->duration_ns == b->duration_ns && a->size_bytes == b->size_bytes);
    ASSERT(a->number == b->number && a->share == b->share && a->rate_hz == b->rate_hz && a->word == b->word);
    ASSERT(strcmp(address_format(&a->address).text, address_format(&b->address).text) == 0);
    ASSERT(a->list.n == b->list.n);
    for (size_t i = 0; i < a->list.n; i++)
        ASSERT(same_text(a->list.items[i], b->list.items[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_values values = { 0 }, again = { 0 };
    struct options *options, *options_again;
    struct buffer printed;
    struct arena arena;

    arena_init(&arena, 64 << 20);
    buffer_init(&printed, 0);
    if (read_yaml(&arena, slice_of(data, size), &values, &options) == 0) {
        options_print_effective(options, &printed);
        ASSERT(printed.len > CONFIG_BYTES_MAX ||
               read_yaml(&arena, buffer_slice(&printed), &again, &options_again) == 0);
        if (printed.len <= CONFIG_BYTES_MAX)
            check_same(&values, &again);
    }
    buffer_done(&printed);
    arena_done(&arena);
    return 0;
}
