// SPDX-License-Identifier: Apache-2.0
#include "demo/releases.h"

const char *releases_name(uint32_t release)
{
    static const char *const names[RELEASES] = { "1.0.0", "1.1.0" };

    return names[release];
}

struct releases releases_from(int64_t mono_ns, int64_t every_ns)
{
    /* As if the first turn had begun before. */
    return (struct releases){ .start_mono_ns = mono_ns - MAX(every_ns - RELEASES_FIRST_NS, 0), .every_ns = every_ns };
}

static int64_t turn_at(const struct releases *releases, int64_t mono_ns)
{
    return releases->every_ns > 0 ? (mono_ns - releases->start_mono_ns) / releases->every_ns : 0;
}

uint32_t releases_at(const struct releases *releases, int64_t mono_ns)
{
    return (uint32_t)(turn_at(releases, mono_ns) % RELEASES);
}

int64_t releases_end_ns(const struct releases *releases, int64_t mono_ns)
{
    int64_t length_ns, end_ns;

    if (releases->every_ns == 0 ||
        __builtin_mul_overflow(turn_at(releases, mono_ns) + 1, releases->every_ns, &length_ns) ||
        __builtin_add_overflow(releases->start_mono_ns, length_ns, &end_ns))
        return INT64_MAX;
    return end_ns;
}
