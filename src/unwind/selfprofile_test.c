// SPDX-License-Identifier: Apache-2.0
#include "unwind/selfprofile.h"

#include "base/test.h"
#include "profile/symbolname.h"
#include "unwind/framesampler.h"
#include "unwind/hotwork_test.h"

#include <string.h>

#define WORK_NS (CLOCK_NS_PER_SECOND * 4 / 10)

/* Types of values. */
enum { SAMPLES, CPU };

static const struct framesampler_label checkout = { "endpoint", "/checkout" };

static struct selfprofile *make_self(void)
{
    struct selfprofile *self = NULL;
    struct error err;

    CHECK_OK(selfprofile_new(&(struct selfprofile_options){ .rate_hz = 250 }, &self, &err), &err);
    return self;
}

static struct selfprofile_recording *begin(struct selfprofile *self)
{
    struct selfprofile_recording *recording = NULL;
    struct error err;

    CHECK_OK(selfprofile_begin(self, &recording, &err), &err);
    return recording;
}

static void end(struct selfprofile *self, struct selfprofile_recording *recording, struct batch *batch)
{
    struct error err;

    batch_init(batch, NULL);
    CHECK_OK(selfprofile_end(self, recording, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
    CHECK_EQ(batch->n_profiles, 1);
}

static struct slice frame_name(const struct batch *batch, uint32_t frame)
{
    const struct tables *tables = &batch->tables;

    return tables_string(tables, tables->functions[tables->lines[tables->frames[frame].first_line].function].name);
}

/* How much of the profile has a function at a depth, 0 being the leaf. */
static int64_t value_at(const struct batch *batch, uint32_t depth, const char *name)
{
    const struct profile *profile = &batch->profiles[0];
    int64_t sum = 0;

    for (uint32_t i = 0; i < profile->n_samples; i++) {
        uint32_t n;
        const uint32_t *frames = tables_stack(&batch->tables, profile->stacks[i], &n);

        if (depth < n && batch->tables.frames[frames[depth]].n_lines > 0 &&
            slice_is(frame_name(batch, frames[depth]), name))
            sum += profile_values(profile, CPU)[i];
    }
    return sum;
}

TEST(selfprofile_has_the_hot_function_on_top_with_its_callers)
{
    struct selfprofile *self = make_self();
    struct selfprofile_recording *recording = begin(self);
    const struct profile *profile;
    struct batch batch;
    int64_t total;

    framesampler_set_label(&checkout);
    hotwork_run(WORK_NS);
    framesampler_set_label(NULL);
    end(self, recording, &batch);
    selfprofile_free(self);
    if (HOTWORK_IS_DELAYED) {
        batch_done(&batch);
        test_skip("impossible here: the thread sanitizer delays signals, and with them what is seen");
    }
    profile = &batch.profiles[0];
    total = profile_total(profile, CPU);
    CHECK_EQ(profile->n_types, 2);
    CHECK_TEXT(tables_string(&batch.tables, profile->types[SAMPLES].type), "samples");
    CHECK_TEXT(tables_string(&batch.tables, profile->types[SAMPLES].unit), "count");
    CHECK_TEXT(tables_string(&batch.tables, profile->types[CPU].type), "cpu");
    CHECK_TEXT(tables_string(&batch.tables, profile->types[CPU].unit), "nanoseconds");
    CHECK_EQ(profile_default_type(profile), CPU);
    CHECK(profile_total(profile, SAMPLES) > 0 && profile_total(profile, SAMPLES) * profile->period <= total);
    CHECK_EQ(profile->period, CLOCK_NS_PER_SECOND / 250);
    CHECK(profile->start_ns > 0 && profile->duration_ns >= WORK_NS);
    CHECK_NEAR((double)total, (double)WORK_NS, (double)WORK_NS / 5);
    CHECK(value_at(&batch, 0, "hotwork_leaf") > total / 10 * 7);
    CHECK(value_at(&batch, 1, "hotwork_run") > total / 10 * 7);
    CHECK(tables_find_label(&batch.tables, profile_label_set(profile, 0), SLICE("endpoint")) != NULL);
    batch_done(&batch);
}

/* How much of the profile is linked to a span. */
static int64_t value_of_span(const struct batch *batch, const char *span_id)
{
    const struct profile *profile = &batch->profiles[0];
    int64_t sum = 0;

    for (uint32_t i = 0; i < profile->n_samples; i++) {
        const struct link *link = &batch->tables.links[profile_link(profile, i)];

        if (memcmp(link->span_id, span_id, sizeof(link->span_id)) == 0) {
            CHECK_TEXT(slice_of(link->trace_id, sizeof(link->trace_id)), "trace-of-16-byte");
            sum += profile_values(profile, CPU)[i];
        }
    }
    return sum;
}

TEST(selfprofile_samples_are_linked_to_the_spans_of_threads)
{
    static const struct framesampler_span first = { "trace-of-16-byte", "first-id" };
    static const struct framesampler_span second = { "trace-of-16-byte", "secondid" };
    struct selfprofile *self = make_self();
    struct selfprofile_recording *recording = begin(self);
    struct batch batch;

    framesampler_set_span(&first);
    hotwork_run(WORK_NS);
    framesampler_set_span(&second);
    hotwork_run(WORK_NS / 2);
    framesampler_set_span(NULL);
    hotwork_run(WORK_NS / 2);
    end(self, recording, &batch);
    selfprofile_free(self);
    if (!HOTWORK_IS_DELAYED) {
        double all = (double)profile_total(&batch.profiles[0], CPU);

        CHECK_NEAR((double)value_of_span(&batch, "first-id") / all, 0.5, 0.1);
        CHECK_NEAR((double)value_of_span(&batch, "secondid") / all, 0.25, 0.1);
    }
    batch_done(&batch);
}

TEST(selfprofile_frames_know_their_file_and_build_id)
{
    struct selfprofile *self = make_self();
    struct selfprofile_recording *recording = begin(self);
    const struct tables *tables;
    struct batch batch;

    do
        hotwork_run(WORK_NS / 4);
    while (framesampler_counts().n_taken == 0);
    end(self, recording, &batch);
    selfprofile_free(self);
    tables = &batch.tables;
    CHECK(tables->n_mappings > 1);
    CHECK_HAS(tables_string(tables, tables->mappings[1].file), "/");
    CHECK(tables_string(tables, tables->mappings[1].build_id).len >= 16);
    CHECK(tables->mappings[1].start < tables->mappings[1].limit);
    batch_done(&batch);
}

TEST(selfprofile_records_several_at_a_time)
{
    struct selfprofile *self = make_self();
    struct selfprofile_recording *whole = begin(self), *part, *cancelled;
    struct batch whole_batch, part_batch;

    hotwork_run(WORK_NS / 2);
    part = begin(self);
    cancelled = begin(self);
    hotwork_run(WORK_NS / 2);
    end(self, part, &part_batch);
    selfprofile_cancel(self, cancelled);
    selfprofile_cancel(self, NULL);
    end(self, whole, &whole_batch);
    if (!HOTWORK_IS_DELAYED) {
        int64_t all = profile_total(&whole_batch.profiles[0], CPU), half = profile_total(&part_batch.profiles[0], CPU);

        CHECK(half > 0);
        CHECK_NEAR((double)half / (double)all, 0.5, 0.2);
    }
    CHECK(part_batch.profiles[0].start_ns > whole_batch.profiles[0].start_ns);
    CHECK_EQ(framesampler_counts().n_threads, 0); /* nobody records, so nothing is sampled */
    batch_done(&whole_batch);
    batch_done(&part_batch);
    selfprofile_free(self);
}

static int record(void *context UNUSED, struct error *err)
{
    struct selfprofile_recording *recording;
    struct selfprofile *self;
    struct batch batch;
    int result;

    if (selfprofile_new(&(struct selfprofile_options){ 0 }, &self, err) < 0)
        return -1;
    if (selfprofile_begin(self, &recording, err) < 0) {
        selfprofile_free(self);
        return -1;
    }
    batch_init(&batch, NULL);
    result = selfprofile_end(self, recording, &batch, err);
    batch_done(&batch);
    selfprofile_free(self);
    return result;
}

TEST(selfprofile_reports_that_memory_ran_out)
{
    test_each_allocation_failing(record, NULL);
}
