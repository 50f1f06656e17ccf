// SPDX-License-Identifier: Apache-2.0
/* Everything behind decoding: what any reader accepts is merged, filtered, made into trees and tables and compared, and
 * the sums must agree. Small limits, so that a file that makes too much of little shows at once. */
#include "base/memory.h"
#include "flame/diff.h"
#include "flame/top.h"
#include "flame/trim.h"
#include "profile/filter.h"
#include "profile/merge.h"
#include "profile/transform.h"
#include "wire/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct profile_limits limits = { .max_inflated_bytes = 1 << 20,
                                              .max_memory_bytes = 32 << 20,
                                              .max_strings = 1 << 16,
                                              .max_samples = 1 << 16,
                                              .max_depth = 256,
                                              .max_labels_per_sample = 64,
                                              .max_profiles = 64 };

/* Tree, table and difference of the profile with itself. */
static void answer(const struct profile *profile)
{
    struct flame_options options = { .is_inverted = profile->n_samples & 1 };
    struct trim_options trim = { .max_nodes = 10 };
    AUTO(flame_freep) struct flame *flame = NULL;
    AUTO(flame_freep) struct flame *trimmed = NULL;
    AUTO(top_freep) struct top *top = NULL;
    AUTO(diff_freep) struct diff *diff = NULL;
    uint32_t type = profile_default_type(profile);
    struct error err;

    if (type == PROFILE_NO_TYPE)
        return;
    if (flame_new(profile, &type, 1, &options, &flame, &err) == 0) {
        ASSERT(report_total(&flame->report) || flame_total(flame, 0, 0) == profile_total(profile, type));
        if (trim_flame(flame, &trim, &trimmed, &err) == 0)
            ASSERT(report_total(&flame->report) || flame_total(trimmed, 0, 0) == flame_total(flame, 0, 0));
    }
    IGNORE(top_new(profile, &type, 1, SYMBOL_LINE, TOP_BY_TOTAL, &top, &err) < 0, "a limit is a fine answer");
    if (diff_new(profile, type, profile, type, NULL, &diff, &err) == 0)
        for (uint32_t i = 0; i < diff->n_functions; i++)
            ASSERT(diff_function_self(diff, diff->functions[i]).delta == 0);
}

static void transform(const struct batch *batch)
{
    struct filter_spec spec = { .ignore = SLICE("a"), .show_from = SLICE("e|o") };
    AUTO(filter_freep) struct filter *filter = NULL;
    struct batch out;
    struct error err;

    batch_init(&out, &limits);
    if (transform_invert(batch, &out, &err) == 0)
        ASSERT(batch_check(&out, &err) == 0);
    batch_done(&out);
    batch_init(&out, &limits);
    if (filter_new(&spec, &filter, &err) == 0 && filter_apply(filter, batch, &out, &err) == 0)
        ASSERT(batch_check(&out, &err) == 0);
    batch_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(unpacker_freep) struct unpacker *unpacker = NULL;
    AUTO(merge_freep) struct merge *merge = NULL;
    struct merge_options options = { .limits = limits, .average_levels = size & 1 };
    const struct format *format;
    struct batch batch, merged;
    struct error err;

    memory_set_limit((uint64_t)256 << 20);
    batch_init(&batch, &limits);
    batch_init(&merged, &limits);
    if (unpacker_new(&unpacker, &err) == 0 && merge_new(&options, &merge, &err) == 0 &&
        format_read(slice_of(data, size), NULL, unpacker, &batch, &format, &err) == 0) {
        ASSERT(batch_check(&batch, &err) == 0);
        for (uint32_t i = 0; i < batch.n_profiles && i < 4; i++)
            answer(&batch.profiles[i]);
        transform(&batch);
        if (merge_add(merge, &batch, &err) == 0 && merge_add(merge, &batch, &err) == 0 &&
            merge_finish(merge, &merged, &err) == 0) {
            ASSERT(batch_check(&merged, &err) == 0);
            answer(&merged.profiles[0]);
        }
    }
    batch_done(&merged);
    batch_done(&batch);
    return 0;
}
