// SPDX-License-Identifier: Apache-2.0
/* Spans by short texts, for tests: "01<00 shop GET 0+100", which is span 1 without a parent, of the service shop and the
 * operation GET, from 0 ms on for 100 ms; "/server" or another kind may stand behind it, and then "!" for an error. All are of trace aa and begin
 * SPAN_SAMPLE_NS after 1970. */
#pragma once

#include "base/clock.h"
#include "base/test.h"
#include "trace/span.h"

#include <stdio.h>
#include <string.h>

#define SPAN_SAMPLE_NS INT64_C(1794736800000000000) /* 2026-11-15T10:00:00Z */

static inline enum span_kind span_sample_kind(const char *word)
{
    static const char *const words[] = { "", "internal", "server", "client", "producer", "consumer" };

    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(word, words[i]) == 0)
            return (enum span_kind)i;
    test_fail(__FILE__, __LINE__, "'%s' is no kind", word);
}

struct span_sample {
    struct span spans[32];
    struct span_resource resources[32];
    char services[32][16], names[32][16];
    size_t n;
};

static inline void span_sample_add(struct span_sample *sample, const char *text)
{
    unsigned id, parent;
    long long start, duration;
    char kind[16] = "", error[2] = "";
    size_t i = sample->n++;
    struct span *span = &sample->spans[i];

    CHECK(i < ARRAY_LEN(sample->spans));
    CHECK(sscanf(text, "%x<%x %15s %15s %lld+%lld/%15[a-z]%1[!]", &id, &parent, sample->services[i], sample->names[i],
                 &start, &duration, kind, error) >= 6);
    sample->resources[i] = (struct span_resource){ .service = slice_from(sample->services[i]) };
    *span = (struct span){ .trace_id = { 0xaa },
                           .span_id = { (uint8_t)id },
                           .parent_id = { (uint8_t)parent },
                           .kind = (uint8_t)span_sample_kind(kind),
                           .status = error[0] ? SPAN_ERROR : SPAN_UNSET,
                           .start_ns = SPAN_SAMPLE_NS + start * 1000000,
                           .duration_ns = duration * 1000000,
                           .name = slice_from(sample->names[i]),
                           .resource = &sample->resources[i] };
}

/* SPAN_SAMPLE(&sample, "01<00 ...", "02<01 ...") */
#define SPAN_SAMPLE(sample, ...) span_sample_fill((sample), (const char *const[]){ __VA_ARGS__, NULL })
static inline void span_sample_fill(struct span_sample *sample, const char *const *texts)
{
    sample->n = 0;
    for (; *texts; texts++)
        span_sample_add(sample, *texts);
}
