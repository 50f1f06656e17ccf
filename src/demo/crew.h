// SPDX-License-Identifier: Apache-2.0
/* The processes of the demo: one for each service, so that what is said of a process is said of a service.
 *
 * They are forked, not started anew, since they need what the parent has (options, how to reach the server) and no more; so
 * all are made before the parent has threads.
 *
 * C1  Members end with SIGTERM, which they get when they are dismissed and when the parent dies, however it does. Ctrl-C, which
 *     a terminal gives to all, is the parent's business alone: so all end in order.
 * C2  No member outlives crew_dismiss, and none is left behind as a zombie. */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#define CREW_MAX 8

struct crew {
    struct crew_member {
        const char *name;
        _Atomic pid_t pid; /* 0 = it has ended */
    } members[CREW_MAX];
    uint32_t n;
};

/* What a member says when it serves: crew_ready in `run`, once. */
struct crew_voice {
    int fd;
};
/* `port` is 0 for members that nobody calls. */
void crew_ready(struct crew_voice *voice, uint16_t port);
/* For `run`: waits until it is to end. */
void crew_wait(void);

/* Makes a process called `name`, in which `run` is called, and waits until that is ready. In the new process this function
 * returns when `run` has, with `*ret_is_member` set: it then has nothing to do but to give back what it has and end; what went
 * wrong has been told to the parent. Signals that end programs are to be blocked. Errors: ERR_IO, ERR_LIMIT, ERR_TIMEOUT, those of
 * `run` before it was ready. */
MUST_CHECK int crew_hire(struct crew *crew, const char *name,
                         int (*run)(void *context, struct crew_voice *voice, struct error *err), void *context,
                         bool *ret_is_member, uint16_t *ret_port, struct error *err);

/* Looks whether all are there. Errors: ERR_IO naming one that has ended, and how. */
MUST_CHECK int crew_check(struct crew *crew, struct error *err);
/* The CPU that those who are there have used so far. Thread: any. */
int64_t crew_cpu_ns(const struct crew *crew);
/* Ends all, the last one hired first, and waits for them; those who take too long are killed. */
void crew_dismiss(struct crew *crew);
