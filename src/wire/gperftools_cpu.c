// SPDX-License-Identifier: Apache-2.0
/* CPU profiles of gperftools: words of 32 or 64 bits in the byte order of the machine.
 *
 *     header    0, 3, 0 (1 for Java), period in microseconds, 0
 *     record    how often the stack was seen, its depth, that many addresses (leaf first)   repeated
 *     end       0, 1, 0
 *     text      the memory map; for Java, the names of the addresses */
#include "base/bytes.h"
#include "wire/gperftools_internal.h"

enum { HEADER_WORDS = 5 };

struct words {
    const char *start;
    const char *at;
    const char *end;
    uint32_t word_bytes;
    bool is_big_endian;
};

static bool has_words(const struct words *words, uint64_t n)
{
    return n <= (uint64_t)(words->end - words->at) / words->word_bytes;
}

/* The next word, which is there. */
static uint64_t next_word(struct words *words)
{
    const char *at = words->at;

    words->at += words->word_bytes;
    if (words->word_bytes == 8)
        return words->is_big_endian ? bytes_get_be64(at) : bytes_get_le64(at);
    return words->is_big_endian ? bytes_get_be32(at) : bytes_get_le32(at);
}

struct header {
    uint64_t period_us;
    bool is_java;
};

static bool read_header(struct slice bytes, struct words *ret_words, struct header *ret_header)
{
    for (int form = 0; form < 4; form++) {
        struct words words = { .start = bytes.ptr, .at = bytes.ptr, .end = bytes.ptr + bytes.len };
        uint64_t header[HEADER_WORDS];

        words.word_bytes = form < 2 ? 4 : 8;
        words.is_big_endian = form % 2 == 1;
        if (!bytes.len || !has_words(&words, HEADER_WORDS))
            return false;
        for (int i = 0; i < HEADER_WORDS; i++)
            header[i] = next_word(&words);
        if (header[0] == 0 && header[1] == 3 && header[2] <= 1 && header[3] > 0 && header[4] == 0) {
            *ret_words = words;
            *ret_header = (struct header){ .period_us = header[3], .is_java = header[2] == 1 };
            return true;
        }
    }
    return false;
}

bool gperftools_is_cpu(struct slice bytes)
{
    struct words words;
    struct header header;

    return read_header(bytes, &words, &header);
}

static int64_t clamp(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int cut_short(const struct words *words, const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "gperftools: CPU profile, byte %zu: %s reaches past the end",
                     (size_t)(words->at - words->start), what);
}

/* Reads records up to the end mark, or, with a warning, to the end of the bytes where there is none. Return addresses are moved into the
 * call, the leaf is exact; in Java profiles they are only numbers. */
static int read_records(struct gperftools *g, struct words *words, const struct header *header, struct error *err)
{
    while (words->at < words->end) {
        uint64_t count, depth, saturated = 0;
        int64_t values[2];

        if (!has_words(words, 2))
            return cut_short(words, "a record", err);
        count = next_word(words);
        depth = next_word(words);
        if (!has_words(words, depth))
            return cut_short(words, "a stack", err);
        values[0] = clamp(count);
        values[1] = value_multiply(values[0], g->period, &saturated);
        if (saturated)
            report_add(&g->batch->report, "time of a sample does not fit in 64 bits; cut", 1, "sample %zu",
                       g->samples.n);
        if (gperftools_add_sample(g, values, err) < 0)
            return -1;
        gperftools_last(g)->count = count;
        for (uint64_t i = 0; i < depth; i++) {
            uint64_t address = next_word(words);

            if (count == 0 && depth == 1 && address == 0) {
                g->samples.n--;
                return 0;
            }
            if (gperftools_add_address(g, address - (i > 0 && address && !header->is_java), err) < 0)
                return -1;
        }
    }
    report_add(&g->batch->report, "CPU profile without an end mark; it may be cut short", 1, "%zu samples were read",
               g->samples.n);
    return 0;
}

static void remove_second(struct gperftools *g, struct gperftools_sample *sample)
{
    uint64_t *addresses = gperftools_addresses(g, sample);

    memmove(addresses + 1, addresses + 2, (sample->depth - 2) * sizeof(*addresses));
    sample->depth--;
}

/* An address that nearly all samples have next to the leaf is the signal handler's, not the program's. One sample in 32
 * may be without. */
static int remove_signal_frame(struct gperftools *g, struct error *err)
{
    size_t enough = g->samples.n - g->samples.n / 32;
    struct map counts;
    int result = 0;

    map_init(&counts, 0);
    for (size_t i = 0; i < g->samples.n && result == 0; i++) {
        const struct gperftools_sample *sample = &g->samples.items[i];
        uint64_t address;
        uint32_t n = 0;

        if (sample->depth < 2)
            continue;
        address = gperftools_addresses(g, sample)[1];
        if (map_find(&counts, address))
            n = *map_find(&counts, address);
        result = map_set(&counts, address, n + 1, err);
        if (result < 0 || n + 1 < enough)
            continue;
        for (size_t k = 0; k < g->samples.n; k++) {
            struct gperftools_sample *other = &g->samples.items[k];

            if (other->depth >= 2 && gperftools_addresses(g, other)[1] == address)
                remove_second(g, other);
        }
        break;
    }
    map_done(&counts);
    return result;
}

void gperftools_remove_doubled_leaves(struct gperftools *g)
{
    for (size_t i = 0; i < g->samples.n; i++) {
        struct gperftools_sample *sample = &g->samples.items[i];
        const uint64_t *addresses = gperftools_addresses(g, sample);

        if (sample->depth >= 2 && addresses[0] == addresses[1] + 1)
            remove_second(g, sample);
    }
}

int gperftools_read_cpu(struct gperftools *g, struct error *err)
{
    struct words words;
    struct header header;
    uint64_t saturated = 0;
    struct slice text;

    if (!read_header(g->bytes, &words, &header))
        return error_set(err, ERR_CORRUPT, "gperftools: CPU profile without its header");
    g->types[0] = (struct gperftools_type){ SLICE("samples"), SLICE("count") };
    g->types[1] = (struct gperftools_type){ SLICE("cpu"), SLICE("nanoseconds") };
    g->n_types = 2;
    g->period_type = g->types[1];
    g->period = value_multiply(clamp(header.period_us), 1000, &saturated);
    g->drop_frames = SLICE("(ProfileData|CpuProfiler)::(Add|prof_handler)|__pthread_sighandler|__restore");
    if (read_records(g, &words, &header, err) < 0)
        return -1;
    text = slice_of(words.at, (size_t)(words.end - words.at));
    if (header.is_java)
        return gperftools_read_java_symbols(g, text, err);
    /* One or two such frames. */
    if (remove_signal_frame(g, err) < 0 || remove_signal_frame(g, err) < 0)
        return -1;
    gperftools_remove_doubled_leaves(g);
    return gperftools_read_maps(g, text, err);
}
