// SPDX-License-Identifier: Apache-2.0
/* Profiles made of random numbers, for tests that compare with a naive way of doing the same. The same seed makes the
 * same profile. They have what real ones have: recursion, inlined functions, frames without names, one name in two
 * files, labels, samples without a stack. And profiles made by hand, for the rest. */
#pragma once

#include "base/buffer.h"
#include "base/hash.h"
#include "base/test.h"
#include "profile/builder.h"

#include <stdio.h>

struct random_options {
    uint64_t seed;
    uint32_t n_functions; /* distinct names; few of them make much recursion */
    uint32_t n_frames;
    uint32_t n_stacks;
    uint32_t max_depth;
    uint32_t n_samples;
    bool has_labels;
    bool has_negatives;
    bool has_counts;
};

static inline uint64_t random_next(uint64_t *state)
{
    return hash_mix64(*state += 0x9e3779b97f4a7c15u);
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(random_next(state) % limit);
}

static inline uint32_t random_function(struct builder *b, uint64_t *state, uint32_t n_functions)
{
    char text[32];
    struct function function = { 0 };

    if (random_below(state, 40) == 0)
        return 0;
    snprintf(text, sizeof(text), "f%u", random_below(state, n_functions));
    function.name = builder_string(b, slice_from(text));
    snprintf(text, sizeof(text), "/src/%u.c", random_below(state, 3));
    function.file = builder_string(b, slice_from(text));
    function.start_line = 1 + random_below(state, 100);
    return builder_function(b, &function);
}

static inline uint32_t random_mapping(struct builder *b, uint64_t *state)
{
    static const char *const files[] = { "", "/bin/app", "/lib/libc.so.6", "[kernel.kallsyms]" };
    uint32_t at = random_below(state, ARRAY_LEN(files));
    struct mapping mapping = { .start = 0x1000 * at, .limit = 0x1000 * at + 0x1000 };

    mapping.file = builder_string(b, slice_from(files[at]));
    return at ? builder_mapping(b, &mapping) : 0;
}

static inline uint32_t random_frame(struct builder *b, uint64_t *state, uint32_t n_functions)
{
    struct frame frame = { .address = 0x1000 + random_below(state, 0x1000), .mapping = random_mapping(b, state) };
    struct line lines[3];

    frame.n_lines = (uint16_t)random_below(state, ARRAY_LEN(lines) + 1);
    for (uint32_t i = 0; i < frame.n_lines; i++)
        lines[i] = (struct line){ .function = random_function(b, state, n_functions), .line = random_below(state, 50) };
    return builder_frame(b, &frame, lines);
}

static inline uint32_t random_labels(struct builder *b, uint64_t *state)
{
    char text[32];
    struct label labels[2] = { { .kind = LABEL_STRING }, { .kind = LABEL_NUMBER } };

    snprintf(text, sizeof(text), "t%u", random_below(state, 4));
    labels[0].key = builder_string(b, SLICE("thread"));
    labels[0].text = builder_string(b, slice_from(text));
    labels[1].key = builder_string(b, SLICE("bytes"));
    labels[1].number = 1 << random_below(state, 12);
    return builder_label_set(b, labels, random_below(state, 3));
}

static inline void random_samples(struct builder *b, uint64_t *state, const struct random_options *options)
{
    uint32_t frames[256], stacks[512], depth;
    uint32_t n_stacks = MIN(options->n_stacks, (uint32_t)ARRAY_LEN(stacks));
    uint32_t n_frames = MIN(options->n_frames, (uint32_t)ARRAY_LEN(frames));

    for (uint32_t i = 0; i < n_frames; i++)
        frames[i] = random_frame(b, state, options->n_functions);
    for (uint32_t i = 0; i < n_stacks; i++) {
        uint32_t stack[64];

        depth = random_below(state, MIN(options->max_depth, (uint32_t)ARRAY_LEN(stack)) + 1);
        for (uint32_t j = 0; j < depth; j++)
            stack[j] = frames[random_below(state, n_frames)];
        stacks[i] = builder_stack(b, stack, depth);
    }
    for (uint32_t i = 0; i < options->n_samples; i++) {
        int64_t n = random_below(state, 5);
        int64_t values[2] = { n, n * 10000000 };

        if (options->has_negatives && random_below(state, 3) == 0)
            values[1] = -values[1];
        builder_sample(b, stacks[random_below(state, n_stacks)], options->has_labels ? random_labels(b, state) : 0, 0,
                       values, options->has_counts ? 1 + random_below(state, 3) : 0);
    }
}

/* Fills `batch`, which must be initialised, with one profile of types samples/count and cpu/nanoseconds. */
static inline void random_batch(struct batch *batch, const struct random_options *options)
{
    struct builder_options building = { .keep_addresses = true };
    AUTO(builder_freep) struct builder *b = NULL;
    uint64_t state = options->seed;
    struct profile *profile;
    struct error err;

    CHECK_OK(builder_new(&building, &b, &err), &err);
    profile = builder_profile(b);
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("samples")),
                                         .unit = builder_string(b, SLICE("count")),
                                         .temporality = TEMPORALITY_DELTA });
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("cpu")),
                                         .unit = builder_string(b, SLICE("nanoseconds")),
                                         .temporality = TEMPORALITY_DELTA });
    profile->period_type = profile->types[1];
    profile->period = 10000000;
    profile->duration_ns = 1000000000;
    random_samples(b, &state, options);
    CHECK_OK(builder_finish(b, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
}

/* A range of shapes to try, from trifling to full of recursion. */
static inline struct random_options random_shape(uint64_t seed)
{
    uint64_t state = seed * 7919 + 1;

    return (struct random_options){
        .seed = seed,
        .n_functions = 1 + random_below(&state, 12),
        .n_frames = 1 + random_below(&state, 40),
        .n_stacks = 1 + random_below(&state, 60),
        .max_depth = random_below(&state, 20),
        .n_samples = random_below(&state, 150),
        .has_labels = random_below(&state, 2),
        .has_negatives = random_below(&state, 4) == 0,
        .has_counts = random_below(&state, 3) == 0,
    };
}

/* The frame of a letter: a small one is a function of that name, a large one an unnamed frame of the binary /LIB/X. */
static inline uint32_t letter_frame(struct builder *b, const char *letters, uint32_t n)
{
    struct line lines[8];
    struct frame frame = { 0 };

    if (letters[0] >= 'A' && letters[0] <= 'Z') {
        char file[] = "/LIB/X";

        file[5] = letters[0];
        frame.mapping = builder_mapping(b, &(struct mapping){ .file = builder_string(b, slice_from(file)) });
        frame.address = (uint64_t)letters[0];
        return builder_frame(b, &frame, NULL);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct function function = { .name = builder_string(b, slice_of(&letters[n - 1 - i], 1)) };

        lines[i] = (struct line){ .function = builder_function(b, &function) };
    }
    frame.n_lines = (uint16_t)n;
    return builder_frame(b, &frame, lines);
}

/* The stack of a text, root first. Letters in parentheses are one frame, the first the function that was called and the
 * others inlined into it: "a(bc)d". */
static inline uint32_t letter_stack(struct builder *b, const char *text)
{
    uint32_t frames[1200], n = 0;

    for (const char *at = text; *at; at++) {
        uint32_t letters = 1;

        if (*at == '(') {
            at++;
            letters = (uint32_t)(strchr(at, ')') - at);
            frames[n++] = letter_frame(b, at, letters);
            at += letters;
        } else {
            frames[n++] = letter_frame(b, at, 1);
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t frame = frames[i];

        frames[i] = frames[n - 1 - i];
        frames[n - 1 - i] = frame;
    }
    return builder_stack(b, frames, n);
}

/* A profile of hand-made samples, of one type called widgets. */
static inline void letter_batch(struct batch *batch, const char *const *stacks, const int64_t *values, uint32_t n)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    CHECK_OK(builder_new(NULL, &b, &err), &err);
    builder_profile(b);
    builder_type(b, (struct value_type){ .type = builder_string(b, SLICE("widgets")) });
    for (uint32_t i = 0; i < n; i++)
        builder_sample(b, letter_stack(b, stacks[i]), 0, 0, &values[i], 0);
    CHECK_OK(builder_finish(b, batch, &err), &err);
}

static inline void letter_print_frame(const struct tables *t, uint32_t id, struct buffer *out)
{
    const struct frame *frame = &t->frames[id];

    if (frame->n_lines == 0)
        buffer_append_slice(out, slice_sub(tables_string(t, t->mappings[frame->mapping].file), 5, 1));
    if (frame->n_lines > 1)
        buffer_append_byte(out, '(');
    for (uint32_t i = frame->n_lines; i-- > 0;)
        buffer_append_slice(out, tables_string(t, t->functions[t->lines[frame->first_line + i].function].name));
    if (frame->n_lines > 1)
        buffer_append_byte(out, ')');
}

/* The samples of the first profile in the notation of letter_stack: "a(bc)d=7 ab=5", in their order. */
static inline void letter_print(const struct batch *batch, struct buffer *out)
{
    const struct profile *p = &batch->profiles[0];

    for (uint32_t sample = 0; sample < p->n_samples; sample++) {
        uint32_t depth;
        const uint32_t *frames = tables_stack(p->tables, p->stacks[sample], &depth);

        if (sample)
            buffer_append_byte(out, ' ');
        while (depth > 0)
            letter_print_frame(p->tables, frames[--depth], out);
        buffer_printf(out, "=%lld", (long long)profile_values(p, 0)[sample]);
    }
}
