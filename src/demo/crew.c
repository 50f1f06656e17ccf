// SPDX-License-Identifier: Apache-2.0
#include "demo/crew.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_TIMEOUT_MS 20000
#define END_TIMEOUT_NS   (5 * CLOCK_NS_PER_SECOND)
#define LOOK_NS          (CLOCK_NS_PER_SECOND / 200)

/* What a member tells the parent, once. */
struct word {
    uint16_t port;
    struct error failure; /* ERR_OK = it serves */
};
static_assert(sizeof(struct word) <= 4096, "a pipe takes it at once");

/* --- in the member --- */

static void speak(struct crew_voice *voice, const struct word *word)
{
    ssize_t n;

    if (voice->fd < 0)
        return;
    do
        n = write(voice->fd, word, sizeof(*word));
    while (n < 0 && errno == EINTR);
    close(voice->fd);
    voice->fd = -1;
}

void crew_ready(struct crew_voice *voice, uint16_t port)
{
    speak(voice, &(struct word){ .port = port });
}

void crew_wait(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    while (sigwaitinfo(&set, NULL) < 0)
        continue;
}

/* C1. The parent may have died before it was asked for. */
static bool tie_to_parent(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent;
}

static void be_member(const char *name, int (*run)(void *context, struct crew_voice *voice, struct error *err),
                      void *context, pid_t parent, struct crew_voice voice)
{
    struct word word = { 0 };
    char title[16];

    snprintf(title, sizeof(title), "hearth-%s", name);
    prctl(PR_SET_NAME, title);
    if (tie_to_parent(parent) && run(context, &voice, &word.failure) < 0)
        speak(&voice, &word);
    if (voice.fd >= 0)
        close(voice.fd);
}

/* --- in the parent --- */

static int hear(const char *name, int fd, uint16_t *ret_port, struct error *err)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    struct word word;
    ssize_t n;
    int ready;

    do
        ready = poll(&poll_fd, 1, START_TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return error_set(err, ERR_TIMEOUT, "the service '%s' did not start within %d s", name, START_TIMEOUT_MS / 1000);
    n = read(fd, &word, sizeof(word));
    if (n != sizeof(word))
        return error_set(err, ERR_IO, "the service '%s' ended before it could start", name);
    if (word.failure.code != ERR_OK) {
        *err = word.failure;
        return error_wrap(err, "starting the service '%s'", name);
    }
    *ret_port = word.port;
    return 0;
}

int crew_hire(struct crew *crew, const char *name,
              int (*run)(void *context, struct crew_voice *voice, struct error *err), void *context,
              bool *ret_is_member, uint16_t *ret_port, struct error *err)
{
    pid_t parent = getpid(), pid;
    int ends[2], result;

    *ret_is_member = false;
    if (crew->n == CREW_MAX)
        return error_set(err, ERR_LIMIT, "there are %d services already", CREW_MAX);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set_errno(err, errno, "making a pipe");
    fflush(NULL); /* what waits to be written is written once */
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        *crew = (struct crew){ 0 }; /* the others are not its own */
        *ret_is_member = true;
        be_member(name, run, context, parent, (struct crew_voice){ ends[1] });
        return 0;
    }
    close(ends[1]);
    if (pid < 0) {
        result = error_set_errno(err, errno, "making the process of the service '%s'", name);
    } else {
        crew->members[crew->n++] = (struct crew_member){ name, pid };
        result = hear(name, ends[0], ret_port, err);
    }
    close(ends[0]);
    return result;
}

int crew_check(struct crew *crew, struct error *err)
{
    for (uint32_t i = 0; i < crew->n; i++) {
        struct crew_member *member = &crew->members[i];
        int status;

        if (member->pid == 0 || waitpid(member->pid, &status, WNOHANG) != member->pid)
            continue;
        member->pid = 0;
        if (WIFSIGNALED(status))
            return error_set(err, ERR_IO, "the service '%s' of the demo was ended by signal %d (%s)", member->name,
                             WTERMSIG(status), strsignal(WTERMSIG(status)));
        return error_set(err, ERR_IO, "the service '%s' of the demo has ended with status %d", member->name,
                         WEXITSTATUS(status));
    }
    return 0;
}

int64_t crew_cpu_ns(const struct crew *crew)
{
    int64_t sum_ns = 0;

    for (uint32_t i = 0; i < crew->n; i++) {
        struct timespec used;
        clockid_t clock;

        if (crew->members[i].pid > 0 && clock_getcpuclockid(crew->members[i].pid, &clock) == 0 &&
            clock_gettime(clock, &used) == 0)
            sum_ns += used.tv_sec * CLOCK_NS_PER_SECOND + used.tv_nsec;
    }
    return sum_ns;
}

static bool has_ended(struct crew_member *member)
{
    if (member->pid > 0 && waitpid(member->pid, NULL, WNOHANG) != 0)
        member->pid = 0;
    return member->pid == 0;
}

static void dismiss(struct crew_member *member)
{
    int64_t end_mono_ns = clock_mono_ns() + END_TIMEOUT_NS;
    struct timespec pause = { .tv_nsec = LOOK_NS };

    if (has_ended(member))
        return;
    kill(member->pid, SIGTERM);
    while (!has_ended(member) && clock_mono_ns() < end_mono_ns)
        nanosleep(&pause, NULL);
    if (member->pid > 0) {
        kill(member->pid, SIGKILL);
        while (waitpid(member->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        member->pid = 0;
    }
}

void crew_dismiss(struct crew *crew)
{
    while (crew->n > 0)
        dismiss(&crew->members[--crew->n]);
}
