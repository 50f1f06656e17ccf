// SPDX-License-Identifier: Apache-2.0
#include "demo/crew.h"

#include "base/clock.h"
#include "base/test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_NS (20 * CLOCK_NS_PER_SECOND)

static int serve(void *context, struct crew_voice *voice, struct error *err UNUSED)
{
    crew_ready(voice, *(uint16_t *)context);
    crew_wait();
    return 0;
}

static int fail(void *context UNUSED, struct crew_voice *voice UNUSED, struct error *err)
{
    return error_set(err, ERR_EXISTS, "the port is taken");
}

static int vanish(void *context UNUSED, struct crew_voice *voice UNUSED, struct error *err UNUSED)
{
    _exit(3);
}

/* As a program does it: signals are blocked, and a member that is done ends. */
static int hire(struct crew *crew, int (*run)(void *context, struct crew_voice *voice, struct error *err),
                uint16_t wanted, uint16_t *port, struct error *err)
{
    bool is_member = false;
    sigset_t set, old;
    int result;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    result = crew_hire(crew, "helper", run, &wanted, &is_member, port, err);
    if (is_member)
        _exit(0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

TEST(crew_members_serve_until_they_are_dismissed)
{
    struct crew crew = { 0 };
    uint16_t ports[2] = { 0 };
    pid_t pids[2];
    struct error err;

    CHECK_OK(hire(&crew, serve, 4711, &ports[0], &err), &err);
    CHECK_OK(hire(&crew, serve, 4712, &ports[1], &err), &err);
    CHECK(ports[0] == 4711 && ports[1] == 4712);
    pids[0] = crew.members[0].pid;
    pids[1] = crew.members[1].pid;
    CHECK_OK(crew_check(&crew, &err), &err);
    CHECK(crew_cpu_ns(&crew) > 0);
    kill(pids[0], SIGINT); /* which is not theirs */
    crew_dismiss(&crew);
    CHECK(kill(pids[0], 0) < 0 && errno == ESRCH);
    CHECK(kill(pids[1], 0) < 0 && errno == ESRCH);
    CHECK_EQ(crew_cpu_ns(&crew), 0);
    crew_dismiss(&crew);
}

TEST(crew_tells_why_a_member_did_not_start)
{
    struct crew crew = { 0 };
    uint16_t port = 0;
    struct error err;

    CHECK_ERROR(hire(&crew, fail, 0, &port, &err), &err, ERR_EXISTS);
    CHECK_TEXT(err.text, "starting the service 'helper': the port is taken");
    CHECK_ERROR(hire(&crew, vanish, 0, &port, &err), &err, ERR_IO);
    CHECK_HAS(err.text, "the service 'helper' ended before it could start");
    crew_dismiss(&crew);
}

TEST(crew_notices_a_member_that_ends)
{
    struct crew crew = { 0 };
    int64_t begun_ns = clock_mono_ns();
    uint16_t port = 0;
    struct error err;

    CHECK_OK(hire(&crew, serve, 1, &port, &err), &err);
    kill(crew.members[0].pid, SIGKILL);
    while (crew_check(&crew, &err) == 0) {
        CHECK(clock_mono_ns() - begun_ns < WAIT_NS);
        usleep(1000);
    }
    CHECK_HAS(err.text, "the service 'helper' of the demo was ended by signal 9 (Killed)");
    CHECK_OK(crew_check(&crew, &err), &err); /* told once */
    crew_dismiss(&crew);
}

TEST(crew_has_a_bound)
{
    struct crew crew = { .n = CREW_MAX };
    uint16_t port;
    struct error err;

    CHECK_ERROR(hire(&crew, serve, 1, &port, &err), &err, ERR_LIMIT);
}
