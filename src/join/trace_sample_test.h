// SPDX-License-Identifier: Apache-2.0
/* A store of traces in the test's directory, at a faked time, filled by the texts of span_sample_test.h. */
#pragma once

#include "join/span_sample_test.h"
#include "trace/tracestore.h"

struct trace_sample {
    struct tracestore *traces;
};

static inline void trace_sample_begin(struct trace_sample *sample)
{
    struct tracestore_options options = { .data_dir = test_directory() };
    struct error err;

    clock_fake_set(SPAN_SAMPLE_NS + 600 * CLOCK_NS_PER_SECOND);
    CHECK_OK(tracestore_open(&options, &sample->traces, &err), &err);
}

static inline void trace_sample_write(struct trace_sample *sample, const struct span *spans, size_t n)
{
    struct span_list list = { spans, n };
    struct tracestore_receipt receipt;
    struct error err;

    CHECK_OK(tracestore_write(sample->traces, SLICE("anonymous"), &list, &receipt, &err), &err);
    CHECK_EQ(receipt.n_kept, n);
}

static inline void trace_sample_end(struct trace_sample *sample)
{
    tracestore_close(sample->traces);
}
