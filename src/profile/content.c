// SPDX-License-Identifier: Apache-2.0
#include "profile/content.h"

/* Odd multipliers by position from the leaf, one per lane. Fixed: hashes are kept on disk. */
static struct {
    uint64_t a, b;
} position_keys[CONTENT_MAX_DEPTH];

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return hash_mix64(*state);
}

__attribute__((constructor)) static void fill_position_keys(void)
{
    uint64_t state = 0x68656172746820; /* "hearth " */

    for (uint32_t i = 0; i < CONTENT_MAX_DEPTH; i++) {
        position_keys[i].a = next_random(&state) | 1;
        position_keys[i].b = next_random(&state) | 1;
    }
}

/* Starting points that keep the kinds apart. */
static const struct hash128 function_start = { 0x66756e6374696f6e, 1 };
static const struct hash128 mapping_start = { 0x6d617070696e6731, 1 };
static const struct hash128 frame_start = { 0x6672616d65206672, 1 };
static const struct hash128 labels_start = { 0x6c6162656c73206c, 1 };
static const struct hash128 link_start = { 0x6c696e6b206c696e, 1 };

static inline struct hash128 fold(struct hash128 h, struct hash128 other)
{
    return hash_fold(h, other.a, other.b);
}

struct hash128 content_string(struct slice text, uint64_t seed)
{
    return hash_bytes(text, seed);
}

static inline struct hash128 function_hash(const struct function *function, const struct hash128 *strings)
{
    struct hash128 h = fold(fold(function_start, strings[function->name]), strings[function->file]);

    if (function->system_name && function->system_name != function->name)
        h = fold(h, strings[function->system_name]);
    return h;
}

struct hash128 content_function(const struct function *function, const struct hash128 *strings)
{
    return function_hash(function, strings);
}

struct hash128 content_mapping(const struct mapping *mapping, const struct hash128 *strings, bool keep_addresses)
{
    uint32_t identity = mapping->build_id        ? mapping->build_id
                        : mapping->build_id_go   ? mapping->build_id_go
                        : mapping->build_id_hash ? mapping->build_id_hash
                                                 : mapping->file;
    struct hash128 h = fold(mapping_start, strings[identity]);

    return keep_addresses ? hash_fold(h, mapping->offset, mapping->limit - mapping->start) : h;
}

/* `start` is frame_start with the frame's mapping in it. */
static inline struct hash128 frame_hash(struct hash128 start, const struct frame *frame, const struct line *lines,
                                        const struct tables *tables, const struct hash128 *functions,
                                        bool keep_addresses)
{
    struct hash128 h = start;

    if (frame->n_lines == 0 || keep_addresses) {
        const struct mapping *mapping = &tables->mappings[frame->mapping];

        h = hash_fold(h, frame->address - mapping->start + mapping->offset, frame->flags);
    }
    if (frame->mapping == 0 && (frame->kind == FRAME_KERNEL || frame->kind == FRAME_JIT))
        h = hash_fold(h, frame->kind, 0);
    for (uint32_t i = 0; i < frame->n_lines; i++) {
        struct hash128 function = functions[lines[i].function];

        h = hash_fold(h, function.a + lines[i].line, function.b + ((uint64_t)lines[i].column << 1));
    }
    return h;
}

struct hash128 content_frame(const struct frame *frame, const struct line *lines, const struct tables *tables,
                             const struct hash128 *functions, const struct hash128 *mappings, bool keep_addresses)
{
    return frame_hash(fold(frame_start, mappings[frame->mapping]), frame, lines, tables, functions, keep_addresses);
}

static inline struct hash128 stack_hash(const uint32_t *frames, uint32_t depth, const struct hash128 *frame_hashes)
{
    uint64_t a = 0, b = 0;

    DEBUG_ASSERT(depth <= CONTENT_MAX_DEPTH);
    for (uint32_t i = 0; i < depth; i++) {
        struct hash128 frame = frame_hashes[frames[i]];

        a += frame.a * position_keys[i].a;
        b += frame.b * position_keys[i].b;
    }
    return (struct hash128){ hash_mix64(a + depth), hash_mix64(b ^ depth) | 1 };
}

struct hash128 content_stack(const uint32_t *frames, uint32_t depth, const struct hash128 *frame_hashes)
{
    return stack_hash(frames, depth, frame_hashes);
}

struct hash128 content_label_set(const struct label *labels, uint32_t n, const struct hash128 *strings)
{
    struct hash128 h = labels_start;

    for (uint32_t i = 0; i < n; i++) {
        h = fold(h, strings[labels[i].key]);
        h = fold(h, strings[labels[i].text]);
        h = hash_fold(h, (uint64_t)labels[i].number, strings[labels[i].unit].a + labels[i].kind);
    }
    return h;
}

struct hash128 content_link(const struct link *link)
{
    uint64_t words[3];

    memcpy(words, link, sizeof(words));
    return hash_fold(hash_fold(link_start, words[0], words[1]), words[2], 0);
}

/* --- whole tables: nearly all that is hashed comes this way, so the pieces are inlined into loops of their own --- */

static int make_content(const struct tables *t, struct arena *arena, struct content *c, struct error *err)
{
    c->strings = ARENA_ARRAY(arena, struct hash128, t->n_strings, err);
    c->functions = c->strings ? ARENA_ARRAY(arena, struct hash128, t->n_functions, err) : NULL;
    c->mappings = c->functions ? ARENA_ARRAY(arena, struct hash128, t->n_mappings, err) : NULL;
    c->frames = c->mappings ? ARENA_ARRAY(arena, struct hash128, t->n_frames, err) : NULL;
    c->stacks = c->frames ? ARENA_ARRAY(arena, struct hash128, t->n_stacks, err) : NULL;
    c->label_sets = c->stacks ? ARENA_ARRAY(arena, struct hash128, t->n_label_sets, err) : NULL;
    c->links = c->label_sets ? ARENA_ARRAY(arena, struct hash128, t->n_links, err) : NULL;
    return c->links ? 0 : -1;
}

static void hash_strings(const struct tables *t, uint64_t seed, struct hash128 *ret_hashes)
{
    for (uint32_t i = 0; i < t->n_strings; i++)
        ret_hashes[i] = content_string(t->strings[i], seed);
}

static void hash_functions(const struct tables *t, const struct hash128 *strings, struct hash128 *ret_hashes)
{
    for (uint32_t i = 0; i < t->n_functions; i++)
        ret_hashes[i] = function_hash(&t->functions[i], strings);
}

static void hash_frames(const struct tables *t, const struct content *c, bool keep_addresses,
                        struct hash128 *ret_hashes)
{
    uint32_t mapping = 0; /* neighbours mostly have the same */
    struct hash128 start = fold(frame_start, c->mappings[mapping]);

    for (uint32_t i = 0; i < t->n_frames; i++) {
        const struct frame *frame = &t->frames[i];

        if (frame->mapping != mapping) {
            mapping = frame->mapping;
            start = fold(frame_start, c->mappings[mapping]);
        }
        ret_hashes[i] = frame_hash(start, frame, t->lines + frame->first_line, t, c->functions, keep_addresses);
    }
}

static void hash_stacks(const struct tables *t, const struct hash128 *frames, struct hash128 *ret_hashes)
{
    for (uint32_t i = 0; i < t->n_stacks; i++) {
        uint32_t depth;
        const uint32_t *stack = tables_stack(t, i, &depth);

        ret_hashes[i] = stack_hash(stack, depth, frames);
    }
}

int content_hash(const struct tables *t, uint64_t seed, bool keep_addresses, struct arena *arena,
                 struct content *ret_content, struct error *err)
{
    struct content c;
    uint32_t n;

    if (make_content(t, arena, &c, err) < 0)
        return -1;
    hash_strings(t, seed, c.strings);
    hash_functions(t, c.strings, c.functions);
    for (uint32_t i = 0; i < t->n_mappings; i++)
        c.mappings[i] = content_mapping(&t->mappings[i], c.strings, keep_addresses);
    hash_frames(t, &c, keep_addresses, c.frames);
    hash_stacks(t, c.frames, c.stacks);
    for (uint32_t i = 0; i < t->n_label_sets; i++) {
        const struct label *labels = tables_label_set(t, i, &n);

        c.label_sets[i] = content_label_set(labels, n, c.strings);
    }
    for (uint32_t i = 0; i < t->n_links; i++)
        c.links[i] = content_link(&t->links[i]);
    *ret_content = c;
    return 0;
}
