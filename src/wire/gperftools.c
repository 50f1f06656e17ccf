// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools.h"

#include "profile/builder.h"
#include "profile/valuetype.h"
#include "wire/gperftools_internal.h"

static const struct kind {
    bool (*is)(struct slice bytes);
    int (*read)(struct gperftools *g, struct error *err);
} kinds[] = {
    { gperftools_is_cpu, gperftools_read_cpu },
    { gperftools_is_heap, gperftools_read_heap },
    { gperftools_is_count, gperftools_read_count },
    { gperftools_is_threads, gperftools_read_threads },
    { gperftools_is_java, gperftools_read_java }, /* before contention, whose heading it may have */
    { gperftools_is_contention, gperftools_read_contention },
};

static const struct kind *find_kind(struct slice bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].is(bytes))
            return &kinds[i];
    return NULL;
}

int gperftools_recognise(struct slice bytes)
{
    return find_kind(bytes) ? 95 : 0;
}

/* --- collecting --- */

int gperftools_add_sample(struct gperftools *g, const int64_t *values, struct error *err)
{
    struct gperftools_sample *sample = VEC_PUSH(&g->samples, g->batch->limits.max_samples, err);

    if (!sample)
        return error_wrap(err, "gperftools: reading samples");
    sample->first_address = g->addresses.n;
    memcpy(sample->values, values, g->n_types * sizeof(*values));
    return 0;
}

int gperftools_add_symbol(struct gperftools *g, uint64_t address, const struct gperftools_symbol *symbol,
                          struct error *err)
{
    struct gperftools_symbol *place = VEC_PUSH(&g->symbols, UINT32_MAX, err);
    uint32_t first;

    if (!place || map_add(&g->symbol_of, address, (uint32_t)(g->symbols.n - 1), &first, err) < 0)
        return error_wrap(err, "gperftools: reading names");
    *place = *symbol;
    return 0;
}

int gperftools_add_address(struct gperftools *g, uint64_t address, struct error *err)
{
    uint64_t *place;

    if (address == 0)
        return 0;
    place = VEC_PUSH(&g->addresses, UINT32_MAX, err);
    if (!place)
        return error_wrap(err, "gperftools: reading addresses");
    *place = address;
    gperftools_last(g)->depth++;
    return 0;
}

/* --- building --- */

#define MAX_LINES 64 /* of inlined calls at one address */

static struct line make_line(struct builder *builder, const struct gperftools_symbol *symbol)
{
    uint32_t name = builder_string(builder, symbol->name);
    struct function function = { .name = name, .system_name = name, .file = builder_string(builder, symbol->file) };

    return (struct line){ .function = builder_function(builder, &function), .line = symbol->line };
}

static uint32_t make_frame(struct gperftools *g, struct builder *builder, uint64_t address, uint32_t mapping)
{
    struct frame frame = { .address = g->is_java ? 0 : address, .mapping = mapping };
    const uint32_t *first = map_find(&g->symbol_of, address);
    struct line lines[MAX_LINES];
    uint32_t max_lines = MIN(g->batch->limits.max_depth, (uint32_t)MAX_LINES);

    for (size_t i = first ? *first : g->symbols.n; i < g->symbols.n && frame.n_lines < max_lines; i++) {
        lines[frame.n_lines++] = make_line(builder, &g->symbols.items[i]);
        if (!g->symbols.items[i].is_inlined)
            break;
    }
    if (frame.n_lines == 0)
        frame.address = address;
    return builder_frame(builder, &frame, lines);
}

/* Makes the stacks and rows. `mappings` has the mapping of each address, `frames` room for the deepest stack. */
static void build_samples(struct gperftools *g, struct builder *builder, const uint32_t *mappings,
                          const uint32_t *mapping_ids, uint32_t *frames)
{
    uint32_t bytes = g->has_block_bytes ? builder_string(builder, SLICE("bytes")) : 0;

    for (size_t i = 0; i < g->samples.n; i++) {
        const struct gperftools_sample *sample = &g->samples.items[i];
        const uint64_t *addresses = gperftools_addresses(g, sample);
        struct label label = { .key = bytes, .number = sample->block_bytes, .kind = LABEL_NUMBER };
        uint32_t labels = bytes ? builder_label_set(builder, &label, 1) : 0;

        for (size_t k = 0; k < sample->depth; k++)
            frames[k] = make_frame(g, builder, addresses[k], mapping_ids[mappings[sample->first_address + k]]);
        builder_sample(builder, builder_stack(builder, frames, (uint32_t)sample->depth), labels, 0, sample->values,
                       sample->count);
    }
}

static struct value_type make_type(struct builder *builder, const struct gperftools_type *type)
{
    return (struct value_type){ .type = builder_string(builder, type->type),
                                .unit = builder_string(builder, type->unit) };
}

static void build_header(const struct gperftools *g, struct builder *builder)
{
    struct profile *profile = builder_profile(builder);

    for (uint32_t i = 0; i < g->n_types; i++)
        (void)builder_type(builder, make_type(builder, &g->types[i]));
    profile->period_type = make_type(builder, &g->period_type);
    profile->period = g->period;
    profile->duration_ns = g->duration_ns;
    profile->drop_frames = builder_string(builder, g->drop_frames);
}

static void build_mappings(const struct gperftools *g, struct builder *builder, uint32_t *mapping_ids)
{
    mapping_ids[0] = 0;
    for (size_t i = 0; i < g->mappings.n; i++) {
        const struct gperftools_mapping *from = &g->mappings.items[i];
        struct mapping mapping = { .start = from->start, .limit = from->limit, .offset = from->offset };

        mapping.file = builder_string(builder, from->file);
        mapping.build_id = builder_string(builder, from->build_id);
        mapping_ids[i + 1] = builder_mapping(builder, &mapping);
    }
}

static size_t deepest(const struct gperftools *g)
{
    size_t depth = 0;

    for (size_t i = 0; i < g->samples.n; i++)
        depth = MAX(depth, g->samples.items[i].depth);
    return depth;
}

static int build(struct gperftools *g, struct error *err)
{
    struct builder_options options = { .limits = g->batch->limits, .keep_addresses = true };
    AUTO(builder_freep) struct builder *builder = NULL;
    uint32_t *mappings = ARENA_ARRAY(&g->arena, uint32_t, g->addresses.n, err);
    uint32_t *mapping_ids = mappings ? ARENA_ARRAY(&g->arena, uint32_t, g->mappings.n + 1, err) : NULL;
    uint32_t *frames = mapping_ids ? ARENA_ARRAY(&g->arena, uint32_t, deepest(g), err) : NULL;
    struct profile *profile;

    if (!frames || gperftools_find_mappings(g, mappings, err) < 0 || builder_new(&options, &builder, err) < 0)
        return -1;
    build_header(g, builder);
    build_mappings(g, builder, mapping_ids);
    build_samples(g, builder, mappings, mapping_ids, frames);
    if (builder_finish(builder, g->batch, err) < 0)
        return -1;
    profile = &g->batch->profiles[0];
    value_type_describe_all(profile->types, profile->n_types, &g->batch->tables, profile->duration_ns);
    value_type_describe_all(&profile->period_type, 1, &g->batch->tables, profile->duration_ns);
    return 0;
}

static void gperftools_done(struct gperftools *g)
{
    VEC_DONE(&g->samples);
    VEC_DONE(&g->addresses);
    VEC_DONE(&g->mappings);
    VEC_DONE(&g->symbols);
    map_done(&g->symbol_of);
    arena_done(&g->arena);
}

int gperftools_decode(struct slice bytes, struct batch *batch, struct error *err)
{
    AUTO(gperftools_done) struct gperftools g = { .bytes = bytes, .batch = batch };
    const struct kind *kind = find_kind(bytes);

    arena_init(&g.arena, batch->limits.max_memory_bytes);
    map_init(&g.symbol_of, 0);
    if (!kind)
        return error_set(err, ERR_CORRUPT,
                         "gperftools: begins with none of a CPU header, 'heap profile:', 'NAME profile: total N', "
                         "'--- contention', '--- mutex:', '--- threadz', '--- Thread' and '--- heapz'");
    if (kind->read(&g, err) < 0)
        return -1;
    gperftools_tidy_maps(&g);
    return build(&g, err);
}
