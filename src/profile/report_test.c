// SPDX-License-Identifier: Apache-2.0
#include "profile/report.h"

#include "base/test.h"

#include <stdio.h>

TEST(report_counts_by_kind_and_keeps_the_first_example)
{
    struct report report = { 0 };

    report_add(&report, "bad sample", 1, "sample %d", 12);
    report_add(&report, "bad sample", 2, "sample %d", 13);
    report_add(&report, "bad label", 1, "label %d", 1);
    CHECK_EQ(report_count(&report, "bad sample"), 3);
    CHECK_EQ(report_count(&report, "nothing"), 0);
    CHECK_EQ(report_total(&report), 4);
    CHECK_EQ(report.n, 2);
    CHECK_TEXT(report.entries[0].example, "sample 12");
}

TEST(report_stays_bounded_however_many_kinds_there_are)
{
    static char kinds[REPORT_MAX_KINDS + 10][24];
    struct report report = { 0 };

    for (int i = 0; i < REPORT_MAX_KINDS + 10; i++) {
        snprintf(kinds[i], sizeof(kinds[i]), "kind %d", i);
        report_add(&report, kinds[i], 1, "x");
    }
    CHECK_EQ(report.n, REPORT_MAX_KINDS);
    CHECK_EQ(report.unlisted, 10);
    CHECK_EQ(report_total(&report), REPORT_MAX_KINDS + 10);
}

TEST(report_merge_adds_all_entries)
{
    struct report a = { 0 }, b = { 0 };

    report_add(&a, "x", 1, "first");
    report_add(&b, "x", 2, "second");
    report_add(&b, "y", 3, "third");
    report_merge(&a, &b);
    CHECK_EQ(report_count(&a, "x"), 3);
    CHECK_EQ(report_count(&a, "y"), 3);
    CHECK_TEXT(a.entries[0].example, "first");
    report_clear(&a);
    CHECK_EQ(report_total(&a), 0);
}
