// SPDX-License-Identifier: Apache-2.0
#include "net/nuisance.h"

#include "base/clock.h"

#include <nghttp2/nghttp2.h>

static const struct {
    const char *name;
    uint32_t most, per_second;
} allowances[NUISANCE_COUNT] = {
    [NUISANCE_RESET] = { "RST_STREAM", 400, 40 },    [NUISANCE_PING] = { "PING", 200, 20 },
    [NUISANCE_SETTINGS] = { "SETTINGS", 40, 1 },     [NUISANCE_EMPTY] = { "empty DATA", 200, 20 },
    [NUISANCE_OTHER] = { "meaningless", 1000, 100 },
};

static enum nuisance_kind kind_of(uint8_t type, uint8_t flags, size_t len)
{
    switch (type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: /* nghttp2 counts these itself */
    case NGHTTP2_WINDOW_UPDATE: return NUISANCE_NONE;
    case NGHTTP2_DATA: return len == 0 && !(flags & NGHTTP2_FLAG_END_STREAM) ? NUISANCE_EMPTY : NUISANCE_NONE;
    case NGHTTP2_RST_STREAM: return NUISANCE_RESET;
    case NGHTTP2_PING: return NUISANCE_PING;
    case NGHTTP2_SETTINGS: return NUISANCE_SETTINGS;
    default: return NUISANCE_OTHER;
    }
}

const char *nuisance_count(struct nuisance *nuisance, uint8_t type, uint8_t flags, size_t len)
{
    enum nuisance_kind kind = kind_of(type, flags, len);
    int64_t now, back;
    uint32_t used;

    if (kind == NUISANCE_NONE)
        return NULL;
    now = clock_mono_ns();
    back = (now - nuisance->kinds[kind].since_mono_ns) / (CLOCK_NS_PER_SECOND / allowances[kind].per_second);
    used = nuisance->kinds[kind].used;
    if (back > 0) {
        used = used > back ? used - (uint32_t)back : 0;
        nuisance->kinds[kind].since_mono_ns = now;
    }
    nuisance->kinds[kind].used = ++used;
    return used > allowances[kind].most ? allowances[kind].name : NULL;
}
