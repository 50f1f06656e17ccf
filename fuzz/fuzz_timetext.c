// SPDX-License-Identifier: Apache-2.0
/* Times, ranges and durations as people write them. Whatever is read as a time, written as RFC 3339, is read as the same
 * time; a distance from now moves with now, and nothing else does; a range is never empty. A line feed in the input
 * parts the two ends of a range. */
#include "base/clock.h"
#include "base/timetext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_NS   (1794744000 * CLOCK_NS_PER_SECOND)
#define LATER_NS (NOW_NS + 60 * CLOCK_NS_PER_SECOND)

static void check_time(struct slice text)
{
    char written[CLOCK_TEXT_BYTES];
    int64_t time_ns, again_ns;
    struct error err;

    if (timetext_parse(text, NOW_NS, &time_ns, &err) < 0) {
        ASSERT(err.code == ERR_INVALID);
        return;
    }
    clock_format(time_ns, CLOCK_ZONE_UTC, 9, written);
    /* The first and the last second that can be expressed are beyond what can be read. */
    if (time_ns > INT64_MIN + CLOCK_NS_PER_SECOND && time_ns < INT64_MAX - CLOCK_NS_PER_SECOND) {
        ASSERT(timetext_parse(slice_from(written), NOW_NS, &again_ns, &err) == 0);
        ASSERT(again_ns == time_ns);
    }
}

static void check_duration(struct slice text)
{
    struct error err;
    int64_t ns;

    if (timetext_duration(text, &ns, &err) < 0)
        ASSERT(err.code == ERR_INVALID);
    else
        ASSERT(ns > 0);
}

static void check_range(struct slice from, struct slice until)
{
    struct timetext_range range, later;
    struct error err;

    if (timetext_range(from, until, NOW_NS, &range, &err) < 0) {
        ASSERT(err.code == ERR_INVALID);
        return;
    }
    ASSERT(range.from_ns >= 0 && range.from_ns < range.until_ns);
    if (timetext_range(from, until, LATER_NS, &later, &err) < 0)
        return; /* from now on until a fixed time, which has passed; or beyond 2262 */
    ASSERT(later.is_from_relative == range.is_from_relative && later.is_until_relative == range.is_until_relative);
    ASSERT(later.until_ns - range.until_ns == (range.is_until_relative ? LATER_NS - NOW_NS : 0));
    if (range.from_ns > 0)
        ASSERT(later.from_ns - range.from_ns == (range.is_from_relative ? LATER_NS - NOW_NS : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of(data, size), from = text, until = { 0 };
    ptrdiff_t end = slice_find_byte(text, '\n');

    if (end >= 0) {
        from = slice_sub(text, 0, (size_t)end);
        until = slice_sub(text, (size_t)end + 1, text.len);
    }
    check_time(from);
    check_duration(from);
    check_range(from, until);
    return 0;
}
