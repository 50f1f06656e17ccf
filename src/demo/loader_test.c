// SPDX-License-Identifier: Apache-2.0
#include "demo/loader.h"

#include "base/clock.h"
#include "base/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_NS (20 * CLOCK_NS_PER_SECOND)

static const struct framesampler_label resource[] = { { "service.name", "web" } };

/* Each look costs a tenth of a second of CPU. */
static int64_t use_much(void *context)
{
    return atomic_fetch_add((_Atomic int64_t *)context, CLOCK_NS_PER_SECOND / 10);
}

/* A port where nobody listens: of a socket that is bound and does nothing. */
static int take_port(uint16_t *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

TEST(loader_counts_requests_that_nobody_answers_and_goes_on)
{
    _Atomic int64_t used_ns = 0;
    struct loader_options options = {
        .n_threads = 2, .cpu_share = 1, .used_ns = use_much, .context = (void *)&used_ns
    };
    int64_t begun_ns = clock_mono_ns();
    struct procmetrics metrics;
    struct loader *loader = NULL;
    struct loader_counts counts;
    struct error err;
    int fd = take_port(&options.port);

    CHECK_OK(tracer_new(resource, ARRAY_LEN(resource), &options.tracer, &err), &err);
    CHECK_OK(loader_start(&options, &loader, &err), &err);
    while (loader_counts(loader).n_failed < 4) {
        CHECK(clock_mono_ns() - begun_ns < WAIT_NS);
        usleep(1000);
    }
    counts = loader_counts(loader);
    CHECK(counts.n_served >= counts.n_failed);
    CHECK(counts.n_served < 1000); /* it rests */
    procmetrics_init(&metrics, 2, 1);
    loader_measure(loader, &metrics);
    CHECK_EQ(metrics.n, 2);
    CHECK(metrics.points[1].value >= 4);
    loader_stop(loader);
    loader_stop(NULL);
    tracer_free(options.tracer);
    close(fd);
}

static int start_and_stop(void *context, struct error *err)
{
    struct loader_options *options = context;
    struct loader *loader;

    if (loader_start(options, &loader, err) < 0)
        return -1;
    loader_stop(loader);
    return 0;
}

TEST(loader_reports_that_memory_ran_out)
{
    _Atomic int64_t used_ns = 0;
    struct loader_options options = {
        .n_threads = 2, .cpu_share = 1, .used_ns = use_much, .context = (void *)&used_ns
    };
    struct error err;
    int fd = take_port(&options.port);

    CHECK_OK(tracer_new(resource, ARRAY_LEN(resource), &options.tracer, &err), &err);
    test_each_allocation_failing(start_and_stop, &options);
    tracer_free(options.tracer);
    close(fd);
}
