// SPDX-License-Identifier: Apache-2.0
/* Heavy profiles, made up but always the same: what a busy service sends every ten seconds.
 *
 * A service is a pool of 30,000 stacks about 25 frames deep, grown like a real call tree: a new stack leaves an older
 * one somewhere on the way and goes on by itself. A profile draws stacks from the pool, hot ones far more often than
 * cold ones (Zipf), until it has 536 different ones; how often each was drawn is its value. As in a real encoder,
 * tables are numbered by first use, so that equal stacks have other ids in every profile.
 *
 * One profile: about 2,900 locations, 1,970 functions, 2,410 strings, 259 kB (92 kB as gzip). */
#pragma once

#include "base/memory.h"
#include "wire/protobuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HEAVY_STACKS = 30000,
    HEAVY_SAMPLES = 536,
    HEAVY_MAX_DEPTH = 48,
    HEAVY_FUNCTIONS = 2180,
    HEAVY_SITES = 2, /* call sites of a function, about */
    HEAVY_FRAMES = HEAVY_FUNCTIONS * HEAVY_SITES,
    HEAVY_FUNCTIONS_PER_FILE = 5,
    HEAVY_FILES = HEAVY_FUNCTIONS / HEAVY_FUNCTIONS_PER_FILE,
    HEAVY_PERIOD_NS = 10000000,
};

struct heavy_stack {
    uint32_t depth;
    uint32_t frames[HEAVY_MAX_DEPTH]; /* root first; a frame is function * HEAVY_SITES + call site */
};

struct heavy_service {
    uint64_t seed;
    struct heavy_stack *stacks;
    double *weights; /* cumulative, by rank */
};

static inline uint64_t heavy_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint32_t heavy_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((heavy_random(state) >> 32) * n >> 32);
}

/* Ends the program when memory runs out: this is for benchmarks. */
static inline void *heavy_alloc(size_t size_bytes)
{
    struct error err;
    void *memory = memory_alloc_zero(size_bytes, &err);

    if (!memory) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return memory;
}

static inline void heavy_service_init(struct heavy_service *service, uint32_t number)
{
    uint64_t state = number * 1000003u + 17;
    double total = 0;

    service->seed = number;
    service->stacks = heavy_alloc(HEAVY_STACKS * sizeof(*service->stacks));
    service->weights = heavy_alloc(HEAVY_STACKS * sizeof(*service->weights));
    for (uint32_t i = 0; i < HEAVY_STACKS; i++) {
        struct heavy_stack *stack = &service->stacks[i];
        const struct heavy_stack *older = &service->stacks[i ? heavy_below(&state, i) : 0];
        uint32_t shared = older->depth ? older->depth * 5 / 8 + heavy_below(&state, older->depth * 3 / 8 + 1) : 0;

        stack->depth = 14 + heavy_below(&state, 12) + heavy_below(&state, 12);
        shared = MIN(shared, stack->depth - 1);
        memcpy(stack->frames, older->frames, shared * sizeof(*stack->frames));
        for (uint32_t k = shared; k < stack->depth; k++)
            stack->frames[k] = heavy_below(&state, HEAVY_FRAMES);
        total += pow(i + 3, -0.85);
        service->weights[i] = total;
    }
}

static inline void heavy_service_done(struct heavy_service *service)
{
    memory_free(service->stacks);
    memory_free(service->weights);
}

/* A stack by its heat. */
static inline uint32_t heavy_draw(const struct heavy_service *service, uint64_t *state)
{
    double at = (double)(heavy_random(state) >> 11) * 0x1p-53 * service->weights[HEAVY_STACKS - 1];
    uint32_t low = 0, high = HEAVY_STACKS - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (service->weights[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline const char *heavy_word(uint32_t i)
{
    static const char *const words[] = {
        "account", "batch",   "cache",    "decode",  "entry",  "filter",   "gather",  "handle",  "index",
        "journal", "kernel",  "ledger",   "merge",   "notify", "order",    "payment", "query",   "router",
        "session", "ticket",  "update",   "vector",  "worker", "exchange", "yield",   "zone",    "archive",
        "balance", "commit",  "dispatch", "encode",  "fetch",  "group",    "hash",    "invoice", "join",
        "lookup",  "message", "network",  "observe", "parse",  "queue",    "resolve", "store",
    };

    return words[i % (sizeof(words) / sizeof(words[0]))];
}

/* The n-th function: a package path, a type and a method, about as long as real ones. */
static inline size_t heavy_function_name(uint64_t seed, uint32_t function, char *text, size_t size)
{
    uint64_t state = seed << 32 | function;
    uint64_t x = heavy_random(&state), y = heavy_random(&state);

    return (size_t)snprintf(text, size, "example.org/%s/%s%u.(*%s%s).%s%s%x", heavy_word((uint32_t)seed),
                            heavy_word(function / 64), function / 256, heavy_word((uint32_t)(x & 63)),
                            heavy_word((uint32_t)(x >> 8 & 63)), heavy_word((uint32_t)(y & 63)),
                            heavy_word((uint32_t)(y >> 8 & 63)), (unsigned)(y >> 16 & 0xfff));
}

static inline size_t heavy_file_name(uint64_t seed, uint32_t file, char *text, size_t size)
{
    uint64_t state = seed << 32 | file | 1u << 31;
    uint64_t x = heavy_random(&state);

    return (size_t)snprintf(text, size, "/src/example.org/%s/%s%u/%s_%s.go", heavy_word((uint32_t)seed),
                            heavy_word(file / 16), file / 64, heavy_word((uint32_t)(x & 63)),
                            heavy_word((uint32_t)(x >> 8 & 63)));
}

/* Numbers given out by first use. */
struct heavy_numbering {
    uint32_t *number; /* of each thing, 0 = not used yet */
    uint32_t *used;   /* the things in the order of their numbers */
    uint32_t n;
};

static inline struct heavy_numbering heavy_numbering_new(uint32_t n)
{
    return (struct heavy_numbering){ .number = heavy_alloc(n * sizeof(uint32_t)),
                                     .used = heavy_alloc(n * sizeof(uint32_t)) };
}

static inline void heavy_numbering_free(struct heavy_numbering *numbering)
{
    memory_free(numbering->number);
    memory_free(numbering->used);
}

static inline uint32_t heavy_number(struct heavy_numbering *numbering, uint32_t thing)
{
    if (!numbering->number[thing]) {
        numbering->used[numbering->n] = thing;
        numbering->number[thing] = ++numbering->n;
    }
    return numbering->number[thing];
}

enum {
    HEAVY_SAMPLES_STRING = 1,
    HEAVY_COUNT_STRING,
    HEAVY_CPU_STRING,
    HEAVY_NS_STRING,
    HEAVY_BINARY_STRING,
    HEAVY_FIRST_NAME
};

static inline void heavy_put_value_type(struct buffer *out, uint32_t field, uint32_t type, uint32_t unit)
{
    size_t begin = protobuf_begin(out, field);

    protobuf_put_uint(out, 1, type);
    protobuf_put_uint(out, 2, unit);
    protobuf_end(out, begin);
}

static inline void heavy_put_sample(struct buffer *out, const struct heavy_stack *stack, uint32_t count,
                                    struct heavy_numbering *frames)
{
    size_t begin = protobuf_begin(out, 2), values;
    uint32_t ids[HEAVY_MAX_DEPTH];

    for (uint32_t i = 0; i < stack->depth; i++)
        ids[i] = heavy_number(frames, stack->frames[stack->depth - 1 - i]);
    protobuf_put_packed(out, 1, ids, stack->depth);
    values = protobuf_begin(out, 2);
    protobuf_put_varint(out, count);
    protobuf_put_varint(out, (uint64_t)count * HEAVY_PERIOD_NS);
    protobuf_end(out, values);
    protobuf_end(out, begin);
}

static inline void heavy_put_location(struct buffer *out, uint32_t id, uint32_t frame,
                                      struct heavy_numbering *functions)
{
    uint32_t function = frame / HEAVY_SITES, site = frame % HEAVY_SITES;
    size_t begin = protobuf_begin(out, 4);
    /* Every eighth call was inlined into its caller. */
    uint32_t n_lines = frame % 8 == 0 ? 2 : 1;

    protobuf_put_uint(out, 1, id);
    protobuf_put_uint(out, 2, 1);
    protobuf_put_uint(out, 3, 0x401000 + (uint64_t)frame * 212);
    for (uint32_t i = 0; i < n_lines; i++) {
        size_t line = protobuf_begin(out, 4);

        protobuf_put_uint(out, 1, heavy_number(functions, (function + i) % HEAVY_FUNCTIONS));
        protobuf_put_uint(out, 2, 20 + function % 700 + site * 9);
        protobuf_end(out, line);
    }
    protobuf_end(out, begin);
}

static inline void heavy_put_tables(struct buffer *out, const struct heavy_service *service,
                                    struct heavy_numbering *frames)
{
    struct heavy_numbering functions = heavy_numbering_new(HEAVY_FUNCTIONS), files = heavy_numbering_new(HEAVY_FILES);
    static const char *const fixed[] = { "", "samples", "count", "cpu", "nanoseconds", "/usr/bin/example" };
    char text[256];
    size_t begin = protobuf_begin(out, 3);

    protobuf_put_uint(out, 1, 1);
    protobuf_put_uint(out, 2, 0x400000);
    protobuf_put_uint(out, 3, 0x2000000);
    protobuf_put_uint(out, 5, HEAVY_BINARY_STRING);
    protobuf_put_uint(out, 7, 1);
    protobuf_end(out, begin);
    for (uint32_t i = 0; i < frames->n; i++)
        heavy_put_location(out, i + 1, frames->used[i], &functions);
    for (uint32_t i = 0; i < functions.n; i++) {
        uint32_t file = heavy_number(&files, functions.used[i] / HEAVY_FUNCTIONS_PER_FILE);

        begin = protobuf_begin(out, 5);
        protobuf_put_uint(out, 1, i + 1);
        protobuf_put_uint(out, 2, HEAVY_FIRST_NAME + i);
        protobuf_put_uint(out, 3, HEAVY_FIRST_NAME + i);
        protobuf_put_uint(out, 4, HEAVY_FIRST_NAME + functions.n + file - 1);
        protobuf_put_uint(out, 5, 20 + functions.used[i] % 700);
        protobuf_end(out, begin);
    }
    for (uint32_t i = 0; i < HEAVY_FIRST_NAME; i++)
        protobuf_put_bytes_always(out, 6, slice_from(fixed[i]));
    for (uint32_t i = 0; i < functions.n; i++)
        protobuf_put_bytes(out, 6,
                           slice_of(text, heavy_function_name(service->seed, functions.used[i], text, sizeof(text))));
    for (uint32_t i = 0; i < files.n; i++)
        protobuf_put_bytes(out, 6, slice_of(text, heavy_file_name(service->seed, files.used[i], text, sizeof(text))));
    heavy_numbering_free(&functions);
    heavy_numbering_free(&files);
}

/* Appends the `index`-th profile of the service, as plain pprof: ten seconds that begin `index` times ten seconds after
 * midnight of some day. */
static inline void heavy_profile(const struct heavy_service *service, uint32_t index, struct buffer *out)
{
    struct heavy_numbering stacks = heavy_numbering_new(HEAVY_STACKS), frames = heavy_numbering_new(HEAVY_FRAMES);
    uint32_t *counts = heavy_alloc(HEAVY_STACKS * sizeof(*counts));
    uint64_t state = service->seed << 40 ^ (uint64_t)index << 1 ^ 0x5bd1e995;

    while (stacks.n < HEAVY_SAMPLES) {
        uint32_t drawn = heavy_draw(service, &state);

        (void)heavy_number(&stacks, drawn);
        counts[drawn]++;
    }
    heavy_put_value_type(out, 1, HEAVY_SAMPLES_STRING, HEAVY_COUNT_STRING);
    heavy_put_value_type(out, 1, HEAVY_CPU_STRING, HEAVY_NS_STRING);
    for (uint32_t i = 0; i < stacks.n; i++)
        heavy_put_sample(out, &service->stacks[stacks.used[i]], counts[stacks.used[i]], &frames);
    heavy_put_tables(out, service, &frames);
    protobuf_put_uint(out, 9, 1790000000000000000u + (uint64_t)index * 10000000000u);
    protobuf_put_uint(out, 10, 10000000000u);
    heavy_put_value_type(out, 11, HEAVY_CPU_STRING, HEAVY_NS_STRING);
    protobuf_put_uint(out, 12, HEAVY_PERIOD_NS);
    heavy_numbering_free(&stacks);
    heavy_numbering_free(&frames);
    memory_free(counts);
}
