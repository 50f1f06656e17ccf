// SPDX-License-Identifier: Apache-2.0
#include "profile/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void report_clear(struct report *report)
{
    report->n = 0;
    report->unlisted = 0;
}

static struct report_entry *find(const struct report *report, const char *kind)
{
    for (uint32_t i = 0; i < report->n; i++)
        if (report->entries[i].kind == kind || strcmp(report->entries[i].kind, kind) == 0)
            return (struct report_entry *)&report->entries[i];
    return NULL;
}

static struct report_entry *find_or_add(struct report *report, const char *kind)
{
    struct report_entry *entry = find(report, kind);

    if (!entry && report->n < REPORT_MAX_KINDS) {
        entry = &report->entries[report->n++];
        entry->kind = kind;
        entry->count = 0;
        entry->example[0] = '\0';
    }
    return entry;
}

void report_add(struct report *report, const char *kind, uint64_t count, const char *fmt, ...)
{
    struct report_entry *entry = find_or_add(report, kind);

    if (!entry) {
        report->unlisted += count;
        return;
    }
    if (entry->count == 0) {
        va_list args;

        va_start(args, fmt);
        vsnprintf(entry->example, sizeof(entry->example), fmt, args);
        va_end(args);
    }
    entry->count += count;
}

void report_merge(struct report *report, const struct report *other)
{
    for (uint32_t i = 0; i < other->n; i++)
        report_add(report, other->entries[i].kind, other->entries[i].count, "%s", other->entries[i].example);
    report->unlisted += other->unlisted;
}

uint64_t report_count(const struct report *report, const char *kind)
{
    const struct report_entry *entry = find(report, kind);

    return entry ? entry->count : 0;
}

uint64_t report_total(const struct report *report)
{
    uint64_t total = report->unlisted;

    for (uint32_t i = 0; i < report->n; i++)
        total += report->entries[i].count;
    return total;
}
