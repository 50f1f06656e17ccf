// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/memory.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_SECONDS 300 /* a test that hangs is ended and named; slow machines and sanitizers stay well below */

static struct test *tests;
static struct test *running;
static jmp_buf leave;
static char directory[64];
enum { PASSED, FAILED, SKIPPED };

void test_register(struct test *test)
{
    struct test **link = &tests;

    while (*link && (strcmp((*link)->file, test->file) < 0 ||
                     (strcmp((*link)->file, test->file) == 0 && strcmp((*link)->name, test->name) < 0)))
        link = &(*link)->next;
    test->next = *link;
    *link = test;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    fflush(stdout);
    printf("FAIL %s\n  %s:%d: ", running->name, file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    longjmp(leave, FAILED + 1);
}

void test_skip(const char *fmt, ...)
{
    va_list args;

    printf("skip %s: ", running->name);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
    longjmp(leave, SKIPPED + 1);
}

void test_check_eq(const char *file, int line, const char *text, int64_t got, int64_t wanted)
{
    if (got != wanted)
        test_fail(file, line, "%s\n    got    %" PRId64 " (0x%" PRIx64 ")\n    wanted %" PRId64 " (0x%" PRIx64 ")",
                  text, got, (uint64_t)got, wanted, (uint64_t)wanted);
}

void test_check_near(const char *file, int line, const char *text, double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance))
        test_fail(file, line, "%s\n    got    %.17g\n    wanted %.17g (give or take %g)", text, got, wanted, tolerance);
}

void test_check_text(const char *file, int line, const char *text, struct slice got, struct slice wanted)
{
    if (!slice_equal(got, wanted))
        test_fail(file, line, "%s\n    got    '%.*s' (%zu bytes)\n    wanted '%.*s' (%zu bytes)", text, SLICE_ARG(got),
                  got.len, SLICE_ARG(wanted), wanted.len);
}

void test_check_has(const char *file, int line, struct slice text, struct slice words)
{
    if (slice_find(text, words) < 0)
        test_fail(file, line, "'%.*s'\n    does not contain '%.*s'", SLICE_ARG(text), SLICE_ARG(words));
}

void test_check_ok(const char *file, int line, const char *text, int result, const struct error *err)
{
    if (result != 0)
        test_fail(file, line, "%s\n    failed: %s: %s", text, error_code_name(err->code), err->text);
}

void test_check_error(const char *file, int line, const char *text, int result, const struct error *err,
                      enum error_code wanted)
{
    if (result == 0)
        test_fail(file, line, "%s\n    succeeded, wanted ERR_%s", text, error_code_name(wanted));
    if (err->code != wanted)
        test_fail(file, line, "%s\n    got    ERR_%s: %s\n    wanted ERR_%s", text, error_code_name(err->code),
                  err->text, error_code_name(wanted));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

unsigned test_times(unsigned n)
{
    const char *text = getenv("TEST_TIMES");
    int64_t times;

    return n * (text && slice_to_i64(slice_from(text), &times) && times > 0 && times <= 10000 ? (unsigned)times : 1);
}

const char *test_directory(void)
{
    if (directory[0] == '\0') {
        const char *parent = getenv("TMPDIR");

        snprintf(directory, sizeof(directory), "%s/hearth-test-XXXXXX",
                 parent && strlen(parent) < 40 ? parent : "/tmp");
        if (!mkdtemp(directory))
            test_fail(__FILE__, __LINE__, "no temporary directory '%s'", directory);
    }
    return directory;
}

void test_each_allocation_failing(int (*step)(void *context, struct error *err), void *context)
{
    for (uint64_t nth = 1;; nth++) {
        struct error err = { .code = ERR_OK };
        int result;

        memory_fail_at(nth);
        result = step(context, &err);
        if (memory_fail_at(0) < nth) {
            test_check_ok(__FILE__, __LINE__, "the run in which no allocation failed", result, &err);
            return;
        }
        if (result != 0)
            test_check_error(__FILE__, __LINE__, "a run with one allocation failing", result, &err, ERR_MEMORY);
        if (nth > 1000000)
            test_fail(__FILE__, __LINE__, "more than a million allocations in one step");
    }
}

void test_each_file_call_failing(int (*step)(void *context, struct error *err), void *context, int errnum,
                                 enum error_code code)
{
    for (uint64_t nth = 1; nth <= 100000; nth++) {
        struct error err = { .code = ERR_OK };
        int result;

        fs_fail_at(nth, errnum);
        result = step(context, &err);
        if (fs_fail_at(0, 0) < nth) {
            test_check_ok(__FILE__, __LINE__, "the run in which no file call failed", result, &err);
            return;
        }
        if (result != 0)
            test_check_error(__FILE__, __LINE__, "a run with one file call failing", result, &err, code);
    }
    test_fail(__FILE__, __LINE__, "more than 100,000 file calls in one step");
}

NORETURN static void run_child(void (*step)(void), int stderr_fd)
{
    struct rlimit no_core = { 0, 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGABRT, SIG_DFL);
    dup2(stderr_fd, STDERR_FILENO);
    step();
    _exit(0);
}

void test_check_aborts(const char *file, int line, const char *text, void (*step)(void), const char *words)
{
    struct error err;
    char said[4096];
    size_t len = 0;
    int pipe_fds[2], status;
    pid_t child;

    if (pipe(pipe_fds) < 0 || (child = fork()) < 0)
        test_fail(file, line, "%s: no child process", text);
    if (child == 0)
        run_child(step, pipe_fds[1]);
    close(pipe_fds[1]);
    IGNORE(fs_read(pipe_fds[0], said, sizeof(said), &len, &err), "then `words` will be missing");
    close(pipe_fds[0]);
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        test_fail(file, line, "%s did not abort (wait status %d)", text, status);
    test_check_has(file, line, slice_of(said, len), slice_from(words));
}

/* Signal handler: names the test that died, then lets the signal do its work. */
static void on_fatal_signal(int number)
{
    const char *name = running ? running->name : "?";

    IGNORE(write(STDOUT_FILENO, "FAIL ", 5) < 0, "dying anyway");
    IGNORE(write(STDOUT_FILENO, name, strlen(name)) < 0, "dying anyway");
    IGNORE(write(STDOUT_FILENO, number == SIGALRM ? ": hangs\n" : ": died\n", number == SIGALRM ? 8 : 7) < 0,
           "dying anyway");
    signal(number, SIG_DFL);
    raise(number);
}

static int run_one(struct test *test)
{
    int outcome;

    running = test;
    alarm(TEST_SECONDS);
    outcome = setjmp(leave);
    if (outcome == 0) {
        test->run();
        outcome = PASSED + 1;
    }
    alarm(0);
    memory_fail_at(0);
    memory_set_limit(0);
    fs_fail_at(0, 0);
    fs_short_io(0);
    clock_fake_stop();
    log_capture(NULL);
    if (directory[0]) {
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        directory[0] = '\0';
    }
    running = NULL;
    return outcome - 1;
}

static bool is_wanted(const struct test *test, int argc, char **argv)
{
    bool has_words = false;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        has_words = true;
        if (strstr(test->name, argv[i]) || strstr(test->file, argv[i]))
            return true;
    }
    return !has_words;
}

int main(int argc, char **argv)
{
    int counts[3] = { 0 };
    bool only_list = argc > 1 && strcmp(argv[1], "--list") == 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, on_fatal_signal);
    signal(SIGABRT, on_fatal_signal);
    for (struct test *test = tests; test; test = test->next) {
        if (!is_wanted(test, argc, argv))
            continue;
        if (only_list)
            printf("%s\n", test->name);
        else
            counts[run_one(test)]++;
    }
    if (only_list)
        return 0;
    printf("%d passed, %d failed, %d skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] ? 1 : 0;
}
