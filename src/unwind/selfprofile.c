// SPDX-License-Identifier: Apache-2.0
#include "unwind/selfprofile.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/thread.h"
#include "profile/builder.h"
#include "unwind/addressnames.h"
#include "unwind/framesampler.h"
#include "unwind/framewalk.h"

#include <string.h>

#define LOOK_NS             (CLOCK_NS_PER_SECOND / 2) /* how often samples are fetched, and new threads looked for */
#define DEFAULT_MEMORY      ((uint64_t)16 << 20)
#define MAX_KNOWN_ADDRESSES (1u << 16)

struct selfprofile_recording {
    struct selfprofile_recording *next;
    struct builder *builder;
    struct map frames; /* address -> frame of the builder */
    const struct framesampler_label *last_label;
    uint32_t last_label_set;
    int64_t start_ns, start_mono_ns;
};

struct selfprofile {
    struct selfprofile_options options;
    struct lock_mutex control; /* over starting and stopping; held while `thread` is waited for */
    struct thread thread;      /* guarded by control; runs while there is a recording */
    uint32_t n_recordings;     /* guarded by control */
    struct lock_mutex lock;
    struct selfprofile_recording
        *recordings; /* guarded by lock, as is what is in them, the ring's end, and the names */
    struct addressnames *names;
};

int selfprofile_new(const struct selfprofile_options *options, struct selfprofile **ret_self, struct error *err)
{
    struct selfprofile *self = MEMORY_NEW(struct selfprofile, err);

    if (!self)
        return -1;
    ASSERT(options->n_resource <= SELFPROFILE_MAX_RESOURCE);
    self->options = *options;
    if (self->options.rate_hz == 0)
        self->options.rate_hz = SELFPROFILE_RATE_HZ;
    if (self->options.max_memory_bytes == 0)
        self->options.max_memory_bytes = DEFAULT_MEMORY;
    if (addressnames_new(&self->names, err) < 0) {
        memory_free(self);
        return -1;
    }
    lock_mutex_init(&self->control, LOCK_UNWIND_CONTROL);
    lock_mutex_init(&self->lock, LOCK_UNWIND);
    *ret_self = self;
    return 0;
}

void selfprofile_free(struct selfprofile *self)
{
    if (!self)
        return;
    ASSERT(self->n_recordings == 0);
    addressnames_free(self->names);
    lock_mutex_done(&self->lock);
    lock_mutex_done(&self->control);
    memory_free(self);
}

/* --- samples --- */

static uint32_t make_mapping(struct builder *builder, const struct addressname *name)
{
    if (!name->has_mapping)
        return 0;
    return builder_mapping(builder, &(struct mapping){ .start = name->start,
                                                       .limit = name->limit,
                                                       .offset = name->offset,
                                                       .file = builder_string(builder, name->file),
                                                       .build_id = builder_string(builder, name->build_id),
                                                       .flags = MAPPING_HAS_FUNCTIONS });
}

static uint32_t make_frame(struct selfprofile *self, struct builder *builder, uint64_t address)
{
    struct addressname name = addressnames_find(self->names, address);
    struct frame frame = { .address = name.address, .kind = FRAME_NATIVE };
    struct line line = { 0 };

    frame.mapping = make_mapping(builder, &name);
    if (name.name.len > 0) {
        line.function =
            builder_function(builder, &(struct function){ .name = builder_string(builder, name.name),
                                                          .system_name = builder_string(builder, name.system_name) });
        frame.n_lines = 1;
    }
    return builder_frame(builder, &frame, &line);
}

/* An address that was seen before is not named again. */
static uint32_t frame_of(struct selfprofile *self, struct selfprofile_recording *recording, uint64_t address)
{
    uint32_t *known = map_find(&recording->frames, address), frame;
    struct error ignored;

    if (known)
        return *known;
    frame = make_frame(self, recording->builder, address);
    IGNORE(map_set(&recording->frames, address, frame, &ignored), "it is named once more, then");
    return frame;
}

static struct label make_label(struct builder *builder, const struct framesampler_label *label)
{
    return (struct label){ .key = builder_string(builder, slice_from(label->key)),
                           .text = builder_string(builder, slice_from(label->value)),
                           .kind = LABEL_STRING };
}

static uint32_t label_set_of(struct selfprofile_recording *recording, const struct framesampler_label *label)
{
    struct builder *builder = recording->builder;

    if (!label)
        return 0;
    if (label != recording->last_label) {
        struct label made = make_label(builder, label);

        recording->last_label = label;
        recording->last_label_set = builder_label_set(builder, &made, 1);
    }
    return recording->last_label_set;
}

static uint32_t link_of(struct selfprofile_recording *recording, const struct framesampler_span *span)
{
    struct link link;

    if (!span)
        return 0;
    static_assert(sizeof(link.trace_id) == sizeof(span->trace_id) && sizeof(link.span_id) == sizeof(span->span_id),
                  "ids are of one size everywhere");
    memcpy(link.trace_id, span->trace_id, sizeof(link.trace_id));
    memcpy(link.span_id, span->span_id, sizeof(link.span_id));
    return builder_link(recording->builder, &link);
}

/* All but the first address are those behind a call: one less is the call itself. One that is nobody's code is no caller: the
 * frame pointer was none there. */
static void add_sample(struct selfprofile *self, struct selfprofile_recording *recording,
                       const struct framesampler_sample *sample)
{
    int64_t values[] = { 1, framesampler_period_ns(self->options.rate_hz) * sample->weight };
    uint32_t frames[FRAMEWALK_MAX_DEPTH], depth = 0;

    for (uint32_t i = 0; i < sample->depth; i++) {
        uint32_t frame = frame_of(self, recording, sample->frames[i] - (i > 0));

        if (i > 0 && builder_tables(recording->builder)->frames[frame].mapping == 0)
            break;
        frames[depth++] = frame;
    }
    builder_sample(recording->builder, builder_stack(recording->builder, frames, depth),
                   label_set_of(recording, sample->label), link_of(recording, sample->span), values, 0);
}

static void take_sample(void *context, const struct framesampler_sample *sample)
{
    struct selfprofile *self = context;

    for (struct selfprofile_recording *recording = self->recordings; recording; recording = recording->next)
        add_sample(self, recording, sample);
}

static void drain(struct selfprofile *self)
{
    LOCK_SCOPE(&self->lock);
    framesampler_drain(take_sample, self);
}

static void run(struct thread *thread, void *context)
{
    struct error err;

    while (thread_sleep(thread, LOOK_NS)) {
        if (framesampler_follow(&err) < 0)
            LOG_EVERY(60, LOG_WARN, "unwind", "new threads are not in the profile of this process: %s", err.text);
        drain(context);
    }
}

/* --- recordings --- */

/* Names, and the ring behind them, have one user at a time. */
static void add_own_mapping(struct selfprofile *self, struct builder *builder)
{
    struct addressname own;

    LOCK_SCOPE(&self->lock);
    own = addressnames_find(self->names, (uint64_t)(uintptr_t)add_own_mapping);
    make_mapping(builder, &own);
}

static uint32_t make_resource(const struct selfprofile *self, struct builder *builder)
{
    struct label labels[SELFPROFILE_MAX_RESOURCE];

    for (uint32_t i = 0; i < self->options.n_resource; i++)
        labels[i] = make_label(builder, &self->options.resource[i]);
    return builder_label_set(builder, labels, self->options.n_resource);
}

static int make_builder(struct selfprofile *self, struct builder **ret_builder, struct error *err)
{
    struct builder_options options = { .limits = profile_default_limits, .overflow = true };
    struct builder *builder;
    struct profile *profile;
    struct value_type samples, cpu;

    options.limits.max_memory_bytes = self->options.max_memory_bytes;
    if (builder_new(&options, &builder, err) < 0)
        return -1;
    samples = (struct value_type){ .type = builder_string(builder, SLICE("samples")),
                                   .unit = builder_string(builder, SLICE("count")),
                                   .nature = VALUE_FLOW,
                                   .temporality = TEMPORALITY_DELTA };
    cpu = (struct value_type){ .type = builder_string(builder, SLICE("cpu")),
                               .unit = builder_string(builder, SLICE("nanoseconds")),
                               .nature = VALUE_FLOW,
                               .temporality = TEMPORALITY_DELTA };
    profile = builder_profile(builder);
    profile->period_type = cpu;
    profile->period = framesampler_period_ns(self->options.rate_hz);
    profile->resource = make_resource(self, builder);
    builder_type(builder, samples);
    builder_type(builder, cpu);     /* the last, which readers of pprof show first */
    add_own_mapping(self, builder); /* the first is the program, as readers of pprof take it */
    *ret_builder = builder;
    return 0;
}

static void free_recording(struct selfprofile_recording *recording)
{
    builder_free(recording->builder);
    map_done(&recording->frames);
    memory_free(recording);
}

static int make_recording(struct selfprofile *self, struct selfprofile_recording **ret_recording, struct error *err)
{
    struct selfprofile_recording *recording = MEMORY_NEW(struct selfprofile_recording, err);

    if (!recording)
        return -1;
    map_init(&recording->frames, MAX_KNOWN_ADDRESSES);
    if (make_builder(self, &recording->builder, err) < 0) {
        free_recording(recording);
        return -1;
    }
    *ret_recording = recording;
    return 0;
}

/* Begins to sample. */
static int wake(struct selfprofile *self, struct error *err)
{
    if (framesampler_start(self->options.rate_hz, err) < 0)
        return -1;
    if (thread_start(&self->thread, "self-profile", run, self, err) < 0) {
        framesampler_stop();
        return -1;
    }
    return 0;
}

int selfprofile_begin(struct selfprofile *self, struct selfprofile_recording **ret_recording, struct error *err)
{
    struct selfprofile_recording *recording;

    if (make_recording(self, &recording, err) < 0)
        return -1;
    LOCK_SCOPE(&self->control);
    if (self->n_recordings == 0 && wake(self, err) < 0) {
        free_recording(recording);
        return -1;
    }
    self->n_recordings++;
    drain(self); /* what was sampled before is not its own */
    recording->start_ns = clock_now_ns();
    recording->start_mono_ns = clock_mono_ns();
    lock_mutex_acquire(&self->lock);
    recording->next = self->recordings;
    self->recordings = recording;
    lock_mutex_release(&self->lock);
    *ret_recording = recording;
    return 0;
}

static void unlink_recording(struct selfprofile *self, const struct selfprofile_recording *recording)
{
    LOCK_SCOPE(&self->lock);
    for (struct selfprofile_recording **link = &self->recordings; *link; link = &(*link)->next)
        if (*link == recording) {
            *link = recording->next;
            return;
        }
}

/* Nothing is added to the recording any more. */
static void leave(struct selfprofile *self, struct selfprofile_recording *recording)
{
    LOCK_SCOPE(&self->control);
    drain(self);
    unlink_recording(self, recording);
    if (--self->n_recordings == 0) {
        thread_stop(&self->thread);
        framesampler_stop();
    }
}

int selfprofile_end(struct selfprofile *self, struct selfprofile_recording *recording, struct batch *batch,
                    struct error *err)
{
    int result;

    leave(self, recording);
    result = builder_finish(recording->builder, batch, err);
    if (result == 0) {
        batch->profiles[0].start_ns = recording->start_ns;
        batch->profiles[0].duration_ns = clock_mono_ns() - recording->start_mono_ns;
    }
    free_recording(recording);
    return result;
}

void selfprofile_cancel(struct selfprofile *self, struct selfprofile_recording *recording)
{
    if (!recording)
        return;
    leave(self, recording);
    free_recording(recording);
}
