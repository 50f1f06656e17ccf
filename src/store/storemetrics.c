// SPDX-License-Identifier: Apache-2.0
#include "store/storemetrics.h"

const struct metric_spec storemetrics_specs[STOREMETRICS] = {
    [STOREMETRIC_WRITTEN] = { "hearth_store_profiles_written", METRIC_COUNTER, NULL, "Profiles kept." },
    [STOREMETRIC_SAMPLES] = { "hearth_store_samples_written", METRIC_COUNTER, NULL,
                              "Samples kept, equal ones added up." },
    [STOREMETRIC_DUPLICATES] = { "hearth_store_profiles_duplicate", METRIC_COUNTER, NULL,
                                 "Profiles sent again under an id that is there already." },
    [STOREMETRIC_REFUSED] = { "hearth_store_profiles_refused", METRIC_COUNTER, NULL,
                              "Profiles that start too long ago or too far ahead, or that no series is left for." },
    [STOREMETRIC_FAILED_WRITES] = { "hearth_store_writes_failed", METRIC_COUNTER, NULL,
                                    "Writes that were not acknowledged: disk full, input/output error, limits." },
    [STOREMETRIC_NAMES_REPAIRED] = { "hearth_store_label_names_repaired", METRIC_COUNTER, NULL,
                                     "Label names with characters that are not allowed." },
    [STOREMETRIC_NAMES_CUT] = { "hearth_store_label_names_cut", METRIC_COUNTER, NULL,
                                "Label names that were too long." },
    [STOREMETRIC_VALUES_CUT] = { "hearth_store_label_values_cut", METRIC_COUNTER, NULL,
                                 "Label values that were too long." },
    [STOREMETRIC_VALUES_REPAIRED] = { "hearth_store_label_values_repaired", METRIC_COUNTER, NULL,
                                      "Label values that were not UTF-8." },
    [STOREMETRIC_LABELS_MOVED] = { "hearth_store_labels_moved", METRIC_COUNTER, NULL,
                                   "Labels beyond the limits of a series, moved to its samples." },
    [STOREMETRIC_SPLITS_MOVED] = { "hearth_store_sample_labels_moved", METRIC_COUNTER, NULL,
                                   "Labels of samples that would have made too many series, left with the samples." },
    [STOREMETRIC_HOURS_CLOSED] = { "hearth_store_closings", METRIC_COUNTER, NULL,
                                   "Hours turned into blocks, late data counted again." },
    [STOREMETRIC_OPEN_BYTES] = { "hearth_store_open_rollup_bytes", METRIC_GAUGE, NULL,
                                 "Memory that roll-ups and windows of open hours take." },
    [STOREMETRIC_OPEN_DROPPED] = { "hearth_store_open_rollups_dropped", METRIC_COUNTER, NULL,
                                   "Roll-ups of open hours that profiles came too late for; they are made again." },
    [STOREMETRIC_DAYS_DROPPED] = { "hearth_store_partitions_dropped", METRIC_COUNTER, NULL,
                                   "Days dropped, or reduced to kept ranges, by retention." },
    [STOREMETRIC_DAYS_SET_ASIDE] = { "hearth_store_partitions_set_aside", METRIC_COUNTER, NULL,
                                     "Days moved to quarantine because they could not be read." },
    [STOREMETRIC_DAYS_REOPENED] = { "hearth_store_partitions_reopened", METRIC_COUNTER, NULL,
                                    "Days closed and opened again after a failed write." },
    [STOREMETRIC_DAMAGED] = { "hearth_store_values_damaged", METRIC_COUNTER, NULL,
                              "Values that could not be read and were left out of answers." },
    [STOREMETRIC_FULL] = { "hearth_store_is_full", METRIC_GAUGE, NULL,
                           "1 while nothing is accepted because the disk has too little room." },
};

void storemetrics_init(struct storemetrics *metrics)
{
    struct error err;

    *metrics = (struct storemetrics){ 0 };
    if (metrics_register(storemetrics_specs, STOREMETRICS, &metrics->metrics, &err) < 0) {
        metrics->metrics = NULL; /* another store of this process has them, or memory is short: count nothing */
        return;
    }
    for (unsigned i = 0; i < STOREMETRICS; i++)
        metrics->series[i] = metrics_get(metrics->metrics, i);
}

void storemetrics_done(struct storemetrics *metrics)
{
    metrics_unregister(metrics->metrics);
    *metrics = (struct storemetrics){ 0 };
}

void storemetrics_add(struct storemetrics *metrics, enum storemetric metric, uint64_t amount)
{
    if (metrics->metrics && amount)
        metrics_add(metrics->series[metric], amount);
}

void storemetrics_set(struct storemetrics *metrics, enum storemetric metric, double value)
{
    if (metrics->metrics)
        metrics_set(metrics->series[metric], value);
}
