// SPDX-License-Identifier: Apache-2.0
#include "wire/otlp_walk_internal.h"

OTLP_COLD void otlp_walk_report_not_empty(struct otlp_decoder *d, const char *table)
{
    report_add(d->report, "entry 0 of a dictionary table is not empty, but index 0 means none; ignored", 1, "%s",
               table);
}

OTLP_COLD void otlp_walk_report_missing(struct otlp_decoder *d, const char *what, uint32_t i, const char *table,
                                        uint64_t index)
{
    report_add(d->report, "index outside its table; left out", 1, "%s %u: %s %lld", what, i, table, (long long)index);
}

OTLP_COLD void otlp_walk_report_no_place(struct otlp_decoder *d, const char *what, uint32_t i,
                                         const struct label *label)
{
    report_add(d->report, "attribute of a mapping or location that has no place in the model; dropped", 1,
               "%s %u: %.*s", what, i, SLICE_ARG(tables_string(d->tables, label->key)));
}

OTLP_COLD uint32_t otlp_walk_report_number(struct otlp_decoder *d, const char *what, uint32_t i, uint64_t number)
{
    report_add(d->report, "line or column outside 0 to 4294967295; left unknown", 1, "%s %u: %lld", what, i,
               (long long)number);
    return 0;
}
