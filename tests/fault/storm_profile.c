// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storm_profile.h"

#include "base/clock.h"
#include "base/hash.h"
#include "profile/builder.h"

#include <stdio.h>

#define POOL_STACKS    2000u /* that writers share; every eighth sample has a stack of its own */
#define POOL_FUNCTIONS 700u
#define MAX_DEPTH      12u
#define MAX_SAMPLES    12u /* times the weight */
#define PERIOD_NS      10000000
#define NAME_BYTES     48
#define SECOND_NS      CLOCK_NS_PER_SECOND

static int64_t step_ns = 5 * SECOND_NS;
static uint32_t weight = 1;

/* One sample, before it is made of strings. */
struct sample {
    uint64_t stack; /* below POOL_STACKS: of the pool; else it is only here */
    uint32_t endpoint;
    int64_t pid;
    bool has_link;
    struct link link;
    int64_t value;
};

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    return hash_mix64(hash_mix64(hash_mix64(a + 1) + b) + c);
}

static uint64_t mix_id(struct storm_id id, uint64_t salt)
{
    return mix((uint64_t)id.thread << 32 | id.index, id.counter, salt);
}

void storm_profile_set_up(int64_t new_step_ns, uint32_t new_weight)
{
    ASSERT(new_step_ns >= SECOND_NS && new_weight >= 1 && new_weight <= STORM_MAX_WEIGHT);
    step_ns = new_step_ns;
    weight = new_weight;
}

int64_t storm_profile_now(uint32_t counter)
{
    return STORM_BASE_NS + (int64_t)counter * step_ns;
}

/* Late ones are up to three hours late, and the windows of a batch lie seven minutes apart: below STORM_MAX_LATE_NS. */
int64_t storm_profile_start(struct storm_id id)
{
    uint64_t random = mix_id(id, 1);
    int64_t late_ns = (int64_t)id.index * 7 * 60 * SECOND_NS;
    int64_t seconds;

    if (random % 16 == 0)
        late_ns += (int64_t)(random / 16 % (3 * 3600)) * SECOND_NS;
    seconds = (storm_profile_now(id.counter) - late_ns) / SECOND_NS;
    return seconds * SECOND_NS + ((int64_t)(id.counter & 0x3fffff) << 7 | (int64_t)id.thread << 3 | (int64_t)id.index);
}

bool storm_profile_parse_start(int64_t start_ns, struct storm_id *ret_id)
{
    uint32_t code = (uint32_t)(start_ns % SECOND_NS);
    struct storm_id id = { .thread = code >> 3 & (STORM_MAX_THREADS - 1), .counter = code >> 7, .index = code & 7 };

    if (id.index >= storm_profile_count(id.thread, id.counter) || storm_profile_start(id) != start_ns)
        return false;
    *ret_id = id;
    return true;
}

uint32_t storm_profile_count(uint32_t thread, uint32_t counter)
{
    uint64_t random = mix(thread, counter, 2);

    return random % 8 == 0 ? 2 + (uint32_t)(random / 8 % (STORM_MAX_PROFILES - 1)) : 1;
}

enum storm_naming storm_profile_naming(uint32_t thread, uint32_t counter)
{
    uint64_t random = mix(thread, counter, 3) % 6;

    return random == 0 ? STORM_NAMELESS : random <= 2 ? STORM_UPLOAD_ID : STORM_OWN_IDS;
}

uint32_t storm_profile_shard(struct storm_id id)
{
    return (uint32_t)(mix_id(id, 4) % STORM_SHARDS);
}

uint32_t storm_profile_service(struct storm_id id)
{
    return (uint32_t)(mix_id(id, 5) % 3);
}

int64_t storm_profile_duration(struct storm_id id)
{
    return (int64_t)(1 + mix_id(id, 6) % 15) * SECOND_NS;
}

const char *storm_profile_tenant(uint32_t thread)
{
    return thread % 2 ? STORM_TENANT_OTHER : STORM_TENANT;
}

static void make_link(uint64_t random, struct link *link)
{
    uint64_t words[3] = { hash_mix64(random + 1) | 1, hash_mix64(random + 2), hash_mix64(random + 3) | 1 };

    memcpy(link->trace_id, words, sizeof(link->trace_id));
    memcpy(link->span_id, words + 2, sizeof(link->span_id));
}

static bool has_endpoints(struct storm_id id)
{
    return mix_id(id, 7) % 4 == 0;
}

static void make_sample(struct storm_id id, uint32_t i, struct sample *ret_sample)
{
    uint64_t random = mix_id(id, 100 + i);
    struct sample sample = { .value = 1 + (int64_t)(random >> 40 & 63) };

    sample.stack = random % 8 == 0 ? POOL_STACKS + (random >> 8 & 0xffffffff) : random / 8 % POOL_STACKS;
    if (has_endpoints(id))
        sample.endpoint = 1 + i % 2;
    if (mix_id(id, 8) % 4 == 0)
        sample.pid = 1000 + i % 3;
    if (random >> 60 == 0) {
        sample.has_link = true;
        make_link(random, &sample.link);
    }
    *ret_sample = sample;
}

static uint32_t sample_count(struct storm_id id)
{
    return 1 + (uint32_t)(mix_id(id, 10) % (MAX_SAMPLES * weight));
}

/* The process id that is a label of the whole profile, or 0. */
static int64_t row_pid_of(struct storm_id id)
{
    uint64_t random = mix_id(id, 9);

    return random % 3 == 0 ? 500 + (int64_t)(random / 3 % 20) : 0;
}

uint32_t storm_profile_rows(struct storm_id id)
{
    return sample_count(id) > 1 && has_endpoints(id) ? 2 : 1;
}

/* --- stacks: frame `i` of a stack, leaf first --- */

static uint32_t stack_depth(uint64_t stack)
{
    return 2 + (uint32_t)(mix(stack, 0, 11) % (MAX_DEPTH - 1));
}

static uint32_t frame_line(uint64_t stack, uint32_t i)
{
    return 1 + (uint32_t)(mix(stack, i, 12) % 40);
}

static struct slice frame_name(uint64_t stack, uint32_t i, char name[static NAME_BYTES])
{
    int len;

    if (stack >= POOL_STACKS && i == 0)
        len = snprintf(name, NAME_BYTES, "storm.only_%llx", (unsigned long long)stack);
    else if (i + 1 == stack_depth(stack))
        len = snprintf(name, NAME_BYTES, "main");
    else
        len =
            snprintf(name, NAME_BYTES, "storm.function_%llu", (unsigned long long)(mix(stack, i, 13) % POOL_FUNCTIONS));
    return slice_of(name, (size_t)len);
}

static struct slice endpoint_name(uint32_t endpoint)
{
    return endpoint == 0 ? SLICE("") : endpoint == 1 ? SLICE("/cart") : SLICE("/pay");
}

/* --- prints --- */

static uint64_t fold_frame(uint64_t h, struct slice function, uint32_t line)
{
    return mix(h, hash_bytes64(function, 17), line);
}

static void add_sample(struct storm_print *print, uint64_t stack_hash, struct slice endpoint, int64_t pid,
                       int64_t row_pid, const struct link *link, int64_t value, int64_t value_ns)
{
    uint64_t h = mix(stack_hash, hash_bytes64(endpoint, 18), mix((uint64_t)pid, (uint64_t)row_pid, 19));

    if (link)
        h = mix(h, hash_bytes64(slice_of(link->trace_id, sizeof(link->trace_id)), 20),
                hash_bytes64(slice_of(link->span_id, sizeof(link->span_id)), 21));
    print->content += h * (uint64_t)value + hash_mix64(h) * (uint64_t)value_ns;
    print->totals[0] += value;
    print->totals[1] += value_ns;
}

struct storm_print storm_profile_print(struct storm_id id)
{
    struct storm_print print = { 0 };
    char name[NAME_BYTES];

    for (uint32_t k = 0; k < sample_count(id); k++) {
        struct sample sample;
        uint64_t h = 0;

        make_sample(id, k, &sample);
        for (uint32_t i = 0; i < stack_depth(sample.stack); i++)
            h = fold_frame(h, frame_name(sample.stack, i, name), frame_line(sample.stack, i));
        add_sample(&print, h, endpoint_name(sample.endpoint), sample.pid, row_pid_of(id),
                   sample.has_link ? &sample.link : NULL, sample.value, sample.value * PERIOD_NS);
    }
    return print;
}

void storm_profile_add(struct storm_print *print, const struct tables *tables, uint32_t stack, struct slice endpoint,
                       int64_t pid, int64_t row_pid, const struct link *link, int64_t value, int64_t value_ns)
{
    uint32_t depth;
    const uint32_t *frames = tables_stack(tables, stack, &depth);
    uint64_t h = 0;

    for (uint32_t i = 0; i < depth; i++) {
        const struct frame *frame = &tables->frames[frames[i]];

        for (uint32_t k = 0; k < frame->n_lines; k++) {
            const struct line *line = &tables->lines[frame->first_line + k];

            h = fold_frame(h, tables_string(tables, tables->functions[line->function].name), line->line);
        }
    }
    add_sample(print, h, endpoint, pid, row_pid, link, value, value_ns);
}

/* --- building --- */

static uint32_t build_stack(struct builder *builder, uint64_t stack)
{
    uint32_t frames[MAX_DEPTH + 1], depth = stack_depth(stack);
    char name[NAME_BYTES];

    for (uint32_t i = 0; i < depth; i++) {
        struct function function = { .name = builder_string(builder, frame_name(stack, i, name)) };
        struct line line = { .line = frame_line(stack, i) };

        function.file = builder_string(builder, SLICE("storm.c"));
        line.function = builder_function(builder, &function);
        frames[i] = builder_frame(builder, &(struct frame){ .n_lines = 1 }, &line);
    }
    return builder_stack(builder, frames, depth);
}

static struct label text_label(struct builder *builder, struct slice key, struct slice text)
{
    return (struct label){ .kind = LABEL_STRING,
                           .key = builder_string(builder, key),
                           .text = builder_string(builder, text) };
}

static struct label number_label(struct builder *builder, struct slice key, int64_t number)
{
    return (struct label){ .kind = LABEL_NUMBER, .key = builder_string(builder, key), .number = number };
}

static void build_sample(struct builder *builder, const struct sample *sample)
{
    struct label labels[2];
    uint32_t n_labels = 0, link = 0;

    if (sample->endpoint)
        labels[n_labels++] = text_label(builder, SLICE(STORM_ENDPOINT_LABEL), endpoint_name(sample->endpoint));
    if (sample->pid)
        labels[n_labels++] = number_label(builder, SLICE("pid"), sample->pid);
    if (sample->has_link)
        link = builder_link(builder, &sample->link);
    builder_sample(builder, build_stack(builder, sample->stack), builder_label_set(builder, labels, n_labels), link,
                   (int64_t[]){ sample->value, sample->value * PERIOD_NS }, 0);
}

static void build_header(struct builder *builder, struct storm_id id)
{
    struct profile *profile = builder_profile(builder);
    struct label labels[2], row_label;
    int64_t row_pid = row_pid_of(id);
    char text[16];

    snprintf(text, sizeof(text), "storm-%u", storm_profile_service(id));
    labels[0] = text_label(builder, SLICE("service.name"), slice_from(text));
    snprintf(text, sizeof(text), "s%u", storm_profile_shard(id));
    labels[1] = text_label(builder, SLICE(STORM_SHARD_LABEL), slice_from(text));
    profile->resource = builder_label_set(builder, labels, 2);
    if (row_pid) {
        row_label = number_label(builder, SLICE("process.pid"), row_pid);
        profile->attributes = builder_label_set(builder, &row_label, 1);
    }
    profile->start_ns = storm_profile_start(id);
    profile->duration_ns = storm_profile_duration(id);
    profile->period = PERIOD_NS;
    profile->period_type = (struct value_type){ .type = builder_string(builder, SLICE("cpu")),
                                                .unit = builder_string(builder, SLICE("nanoseconds")) };
    if (storm_profile_naming(id.thread, id.counter) == STORM_OWN_IDS) {
        uint32_t words[4] = { 0x73746f72, id.thread, id.counter, id.index };

        memcpy(profile->profile_id, words, sizeof(words));
    }
    builder_type(builder, (struct value_type){ .type = builder_string(builder, SLICE("samples")),
                                               .unit = builder_string(builder, SLICE("count")) });
    builder_type(builder, profile->period_type);
}

int storm_profile_build(uint32_t thread, uint32_t counter, struct batch *batch, struct error *err)
{
    AUTO(builder_freep) struct builder *builder = NULL;
    uint32_t n = storm_profile_count(thread, counter);

    if (builder_new(NULL, &builder, err) < 0)
        return -1;
    for (uint32_t index = 0; index < n; index++) {
        struct storm_id id = { thread, counter, index };

        build_header(builder, id);
        for (uint32_t i = 0; i < sample_count(id); i++) {
            struct sample sample;

            make_sample(id, i, &sample);
            build_sample(builder, &sample);
        }
    }
    return builder_finish(builder, batch, err);
}
