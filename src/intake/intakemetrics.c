// SPDX-License-Identifier: Apache-2.0
#include "intake/intakemetrics.h"

const struct metric_spec intakemetrics_specs[INTAKEMETRICS] = {
    [INTAKEMETRIC_UPLOADS] = { "hearth_intake_uploads", METRIC_COUNTER, NULL, "Uploads taken, by how they came.",
                               .labels = { "kind" } },
    [INTAKEMETRIC_PROFILES] = { "hearth_intake_profiles", METRIC_COUNTER, NULL,
                                "Profiles that came, by how they came and what became of them: stored, merged into "
                                "another one of the same upload, empty, rejected.",
                                .labels = { "kind", "outcome" } },
    [INTAKEMETRIC_BODY_BYTES] = { "hearth_intake_body", METRIC_COUNTER, "bytes", "Bytes of uploads as they came.",
                                  .labels = { "kind" } },
    [INTAKEMETRIC_INFLATED_BYTES] = { "hearth_intake_inflated", METRIC_COUNTER, "bytes",
                                      "Bytes that were made by inflating uploads.", .labels = { "kind" } },
    [INTAKEMETRIC_DELTAS] = { "hearth_intake_cumulative_profiles", METRIC_COUNTER, NULL,
                              "Profiles that count from the start of their process: made a delta, or the first of "
                              "their process, of which only levels are stored.",
                              .labels = { "outcome" } },
    [INTAKEMETRIC_DOWNSAMPLED] = { "hearth_intake_downsampled_profiles", METRIC_COUNTER, NULL,
                                   "Profiles stored that stand for others left out under load." },
    [INTAKEMETRIC_NEGATIVE_SAMPLES] = { "hearth_intake_negative_samples", METRIC_COUNTER, NULL,
                                        "Samples left out because a value of theirs was negative." },
};

static const char *const outcome_names[] = {
    [INTAKE_STORED] = "stored", [INTAKE_EMPTY] = "empty", [INTAKE_MERGED] = "merged", [INTAKE_REJECTED] = "rejected"
};
static const char *const delta_names[] = { [INTAKE_DELTA_MADE] = "delta", [INTAKE_DELTA_FIRST] = "first" };
static_assert(ARRAY_LEN(outcome_names) == INTAKE_OUTCOMES && ARRAY_LEN(delta_names) == INTAKE_DELTAS,
              "every outcome has a name");

void intakemetrics_init(struct intakemetrics *metrics)
{
    struct error err;

    *metrics = (struct intakemetrics){ 0 };
    if (metrics_register(intakemetrics_specs, INTAKEMETRICS, &metrics->metrics, &err) < 0) {
        metrics->metrics = NULL; /* another intake of this process has them, or memory is short: count nothing */
        return;
    }
    for (unsigned kind = 0; kind < UPLOAD_KIND_COUNT; kind++) {
        struct slice values[] = { slice_from(upload_kind_name((enum upload_kind)kind)), { NULL, 0 } };

        metrics->uploads[kind] = metrics_get_labelled(metrics->metrics, INTAKEMETRIC_UPLOADS, values);
        metrics->body_bytes[kind] = metrics_get_labelled(metrics->metrics, INTAKEMETRIC_BODY_BYTES, values);
        metrics->inflated_bytes[kind] = metrics_get_labelled(metrics->metrics, INTAKEMETRIC_INFLATED_BYTES, values);
        for (unsigned outcome = 0; outcome < INTAKE_OUTCOMES; outcome++) {
            values[1] = slice_from(outcome_names[outcome]);
            metrics->profiles[kind][outcome] = metrics_get_labelled(metrics->metrics, INTAKEMETRIC_PROFILES, values);
        }
    }
    for (unsigned i = 0; i < INTAKE_DELTAS; i++)
        metrics->deltas[i] =
            metrics_get_labelled(metrics->metrics, INTAKEMETRIC_DELTAS, (struct slice[]){ slice_from(delta_names[i]) });
    metrics->downsampled = metrics_get(metrics->metrics, INTAKEMETRIC_DOWNSAMPLED);
    metrics->negative_samples = metrics_get(metrics->metrics, INTAKEMETRIC_NEGATIVE_SAMPLES);
}

void intakemetrics_done(struct intakemetrics *metrics)
{
    metrics_unregister(metrics->metrics);
    *metrics = (struct intakemetrics){ 0 };
}

void intakemetrics_add(const struct intakemetrics *metrics, struct metrics_series *series, uint64_t amount)
{
    if (metrics->metrics && amount)
        metrics_add(series, amount);
}
