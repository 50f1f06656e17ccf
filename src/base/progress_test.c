// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/test.h"
#include "base/thread.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define TENTH (CLOCK_NS_PER_SECOND / 10)
#define NEVER (3600 * CLOCK_NS_PER_SECOND) /* between ticks: steps alone draw */
#define OFTEN (CLOCK_NS_PER_SECOND / 1000)
#define WIPE  "\r\x1b[K"

/* A pseudo-terminal of 80 columns on which the bar is drawn, read through the other side. */
struct screen {
    int master;
    int terminal;
    char seen[1024];
};

static void screen_open(struct screen *screen, int64_t tick_ns)
{
    struct winsize size = { .ws_row = 24, .ws_col = 80 };
    struct termios settings;

    screen->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (screen->master < 0 || grantpt(screen->master) < 0 || unlockpt(screen->master) < 0)
        test_skip("impossible here: no pseudo-terminal can be had");
    screen->terminal = open(ptsname(screen->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(screen->terminal >= 0);
    CHECK_EQ(tcgetattr(screen->terminal, &settings), 0);
    cfmakeraw(&settings);
    CHECK_EQ(tcsetattr(screen->terminal, TCSANOW, &settings), 0);
    CHECK_EQ(ioctl(screen->terminal, TIOCSWINSZ, &size), 0);
    progress_set_output(screen->terminal);
    progress_set_tick(tick_ns);
    clock_fake_set(0);
}

static void screen_close(struct screen *screen)
{
    progress_set_output(STDERR_FILENO);
    progress_set_tick(0);
    close(screen->terminal);
    close(screen->master);
}

/* What was drawn since the last look. The kernel brings it over in its own time, so a mark is sent after it. */
static const char *look(struct screen *screen)
{
    size_t len = 0;

    CHECK_EQ(write(screen->terminal, "$", 1), 1);
    do {
        ssize_t n = read(screen->master, screen->seen + len, sizeof(screen->seen) - len);

        CHECK(n > 0);
        len += (size_t)n;
    } while (screen->seen[len - 1] != '$');
    screen->seen[len - 1] = '\0';
    return screen->seen;
}

/* Waits until the ticker has drawn `wanted`, and checks that it drew nothing else. */
static void await(struct screen *screen, const char *wanted)
{
    struct pollfd drawn = { .fd = screen->master, .events = POLLIN };

    CHECK_EQ(poll(&drawn, 1, 10000), 1);
    CHECK_TEXT(look(screen), wanted);
}

static size_t count_threads(void)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing threads;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_list("/proc/self/task", &arena, &threads, &err), &err);
    return threads.n;
}

TEST(progress_is_silent_where_there_is_no_terminal)
{
    char byte;
    int pipe_fds[2];
    size_t threads;

    CHECK_EQ(pipe2(pipe_fds, O_NONBLOCK), 0);
    progress_set_output(pipe_fds[1]);
    clock_fake_set(0);
    threads = count_threads();
    progress_start("reading", 10);
    CHECK_EQ(count_threads(), threads);
    for (uint64_t i = 0; i <= 10; i++) {
        clock_fake_advance(CLOCK_NS_PER_SECOND);
        progress_step(i);
    }
    progress_finish();
    CHECK_EQ(read(pipe_fds[0], &byte, 1), -1);
    progress_set_output(STDERR_FILENO);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

TEST(progress_waits_a_second_draws_and_wipes_itself_away)
{
    struct screen screen;

    screen_open(&screen, NEVER);
    progress_start("reading", 200);
    clock_fake_advance(CLOCK_NS_PER_SECOND - 1);
    progress_step(49);
    CHECK_TEXT(look(&screen), "");
    clock_fake_advance(1);
    progress_step(50);
    CHECK_TEXT(look(&screen), WIPE "reading [#######                       ]  25%  50/200  3s left");
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    progress_step(300); /* more than promised */
    CHECK_TEXT(look(&screen), WIPE "reading [##############################] 100%  300/200  0s left");
    progress_finish();
    CHECK_TEXT(look(&screen), WIPE);
    progress_finish();
    progress_step(1);
    CHECK_TEXT(look(&screen), "");
    screen_close(&screen);
}

TEST(progress_of_short_work_is_never_seen)
{
    struct screen screen;

    screen_open(&screen, NEVER);
    progress_start("reading", 2);
    progress_step(1);
    progress_step(2);
    progress_finish();
    CHECK_TEXT(look(&screen), "");
    screen_close(&screen);
}

TEST(progress_draws_at_most_ten_times_a_second)
{
    struct screen screen;
    int drawn = 0;

    screen_open(&screen, NEVER);
    progress_start("reading", 0);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    for (int i = 0; i < 1000; i++) { /* one second in a thousand steps */
        progress_step((uint64_t)i);
        drawn += *look(&screen) != '\0';
        clock_fake_advance(CLOCK_NS_PER_SECOND / 1000);
    }
    CHECK_EQ(drawn, 10);
    progress_finish();
    screen_close(&screen);
}

TEST(progress_without_a_total_shows_the_count)
{
    struct screen screen;

    screen_open(&screen, NEVER);
    progress_start("reading", 0);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    progress_step(12345);
    CHECK_TEXT(look(&screen), WIPE "reading 12345 ... 1s");
    progress_finish();
    screen_close(&screen);
}

TEST(progress_title_gives_way_on_a_narrow_terminal)
{
    struct winsize size = { .ws_row = 24, .ws_col = 68 };
    struct screen screen;

    screen_open(&screen, NEVER);
    CHECK_EQ(ioctl(screen.terminal, TIOCSWINSZ, &size), 0);
    progress_start("reading a file with a long name.pb.gz", 10);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    progress_step(5);
    CHECK_TEXT(look(&screen), WIPE "reading a file [###############               ]  50%  5/10  1s left");
    size.ws_col = 12;
    CHECK_EQ(ioctl(screen.terminal, TIOCSWINSZ, &size), 0);
    clock_fake_advance(TENTH);
    progress_step(5);
    CHECK_TEXT(look(&screen), WIPE " [#########");
    progress_finish();
    screen_close(&screen);
}

TEST(progress_makes_way_for_a_line_of_the_log)
{
    struct screen screen;

    screen_open(&screen, NEVER);
    setenv("NO_COLOR", "1", 1);
    log_setup(screen.terminal, LOG_TEXT, LOG_INFO);
    progress_start("reading", 0);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    progress_step(1);
    log_warn("wire", "odd");
    log_warn("wire", "odder");
    clock_fake_advance(TENTH);
    progress_step(2);
    CHECK_TEXT(look(&screen),
               WIPE "reading 1 ... 1s" WIPE "warn wire: odd\nwarn wire: odder\n" WIPE "reading 2 ... 1s");
    progress_finish();
    unsetenv("NO_COLOR");
    log_setup(STDERR_FILENO, LOG_TEXT, LOG_INFO);
    screen_close(&screen);
}

TEST(progress_of_one_long_step_shows_how_long_it_has_taken)
{
    struct screen screen;

    screen_open(&screen, OFTEN);
    progress_start("reading a.pb", 0);
    clock_fake_advance(CLOCK_NS_PER_SECOND - 1);
    usleep(20000); /* some ticks, which draw nothing yet */
    CHECK_TEXT(look(&screen), "");
    clock_fake_advance(1);
    await(&screen, WIPE "reading a.pb ... 1s");
    clock_fake_advance(2 * CLOCK_NS_PER_SECOND);
    await(&screen, WIPE "reading a.pb ... 3s");
    progress_finish();
    CHECK_TEXT(look(&screen), WIPE);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    usleep(20000);
    CHECK_TEXT(look(&screen), "");
    screen_close(&screen);
}

TEST(progress_goes_on_between_steps_and_counts_down)
{
    struct screen screen;

    screen_open(&screen, OFTEN);
    progress_start("reading", 4);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    await(&screen, WIPE "reading ... 1s");
    clock_fake_advance(TENTH / 2);
    progress_step(1); /* too early to be drawn at once */
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    await(&screen, WIPE "reading [#######                       ]  25%  1/4  2s left");
    clock_fake_advance(9 * CLOCK_NS_PER_SECOND); /* the second step takes longer than the first promised */
    await(&screen, WIPE "reading [#######                       ]  25%  1/4  0s left");
    progress_finish();
    screen_close(&screen);
}

TEST(progress_stays_away_for_a_moment_when_hidden)
{
    struct screen screen;

    screen_open(&screen, OFTEN);
    progress_start("writing", 0);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    await(&screen, WIPE "writing ... 1s");
    clock_fake_advance(TENTH - 1);
    progress_hide();
    clock_fake_advance(TENTH - 1);
    usleep(20000);
    CHECK_TEXT(look(&screen), WIPE);
    clock_fake_advance(1);
    await(&screen, WIPE "writing ... 1s");
    progress_finish();
    screen_close(&screen);
}

/* The harness ends a test that hangs long before the tick. */
TEST(progress_finish_does_not_wait_for_the_next_tick)
{
    struct screen screen;
    size_t threads = count_threads();

    screen_open(&screen, NEVER);
    progress_start("reading", 0);
    CHECK_EQ(count_threads(), threads + 1);
    progress_start("writing", 0); /* ends the one before */
    CHECK_EQ(count_threads(), threads + 1);
    progress_finish();
    CHECK_EQ(count_threads(), threads);
    screen_close(&screen);
}

/* Takes what is there now off the screen, without a mark behind which others could draw. */
static const char *glance(struct screen *screen)
{
    struct pollfd drawn = { .fd = screen->master, .events = POLLIN };
    ssize_t len = 0;

    if (poll(&drawn, 1, 0) > 0)
        len = read(screen->master, screen->seen, sizeof(screen->seen) - 1);
    CHECK(len >= 0);
    screen->seen[len] = '\0';
    return screen->seen;
}

static void hide_again_and_again(struct thread *thread, void *context)
{
    while (thread_sleep(thread, OFTEN))
        progress_hide();
}

TEST(progress_is_drawn_and_hidden_by_several_threads_at_once)
{
    struct screen screen;
    struct thread hider;
    struct error err;
    size_t drawn = 0;

    screen_open(&screen, OFTEN);
    CHECK_OK(thread_start(&hider, "hider", hide_again_and_again, NULL, &err), &err);
    progress_start("reading", 200);
    clock_fake_advance(CLOCK_NS_PER_SECOND);
    for (uint64_t i = 1; i <= 200; i++) {
        progress_step(i);
        usleep(200);
        drawn += strstr(glance(&screen), "/200") != NULL;
        clock_fake_advance(TENTH);
    }
    progress_finish();
    thread_stop(&hider);
    look(&screen);
    CHECK(drawn > 0);
    progress_hide();
    CHECK_TEXT(look(&screen), ""); /* nothing was left to wipe */
    screen_close(&screen);
}
