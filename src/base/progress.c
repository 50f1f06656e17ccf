// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include "base/clock.h"
#include "base/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PATIENCE_NS CLOCK_NS_PER_SECOND
#define REDRAW_NS   (CLOCK_NS_PER_SECOND / 10)
#define TICK_NS     (CLOCK_NS_PER_SECOND / 5)
#define MAX_WIDTH   200
#define BAR_WIDTH   30
#define WIPE        "\r\x1b[K" /* to the first column, erase to the end of the line */

static struct thread ticker;
static int64_t tick_ns = TICK_NS; /* does not change while the ticker runs */
static bool is_drawable;          /* work has begun, and there is a terminal; for the main thread only */

static struct lock_mutex lock = LOCK_MUTEX_INIT(LOCK_PROGRESS);
static int output = STDERR_FILENO; /* guarded by lock */
static struct {                    /* guarded by lock */
    const char *title;
    uint64_t total;
    uint64_t done;
    int64_t start_mono_ns;
    int64_t step_mono_ns; /* when `done` was told */
    int64_t next_mono_ns; /* no drawing before */
    bool is_shown;
} work;

void progress_set_output(int fd)
{
    lock_mutex_acquire(&lock);
    output = fd;
    lock_mutex_release(&lock);
}

void progress_set_tick(int64_t interval_ns)
{
    tick_ns = interval_ns ? interval_ns : TICK_NS;
}

/* --- drawing; the caller holds the lock --- */

static int terminal_width(void)
{
    struct winsize size;

    if (ioctl(output, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return 80;
    return MIN((int)size.ws_col, MAX_WIDTH);
}

static double seconds(int64_t ns)
{
    return (double)ns / (double)CLOCK_NS_PER_SECOND;
}

/* " [####      ]  41%  7/17  3s left". The pace is that of the last step, so that the estimate falls until the next. */
static void describe_bar(int64_t elapsed_ns, char *text, size_t size)
{
    double share = (double)MIN(work.done, work.total) / (double)work.total;
    double wanted_s = seconds(work.step_mono_ns - work.start_mono_ns) / share;
    char bar[BAR_WIDTH + 1] = { 0 };

    memset(bar, ' ', BAR_WIDTH);
    memset(bar, '#', (size_t)(share * BAR_WIDTH));
    snprintf(text, size, " [%s] %3d%%  %" PRIu64 "/%" PRIu64 "  %.0fs left", bar, (int)(share * 100), work.done,
             work.total, MAX(wanted_s - seconds(elapsed_ns), 0));
}

/* What stands behind the title. */
static void describe(int64_t elapsed_ns, char *text, size_t size)
{
    int64_t elapsed_s = elapsed_ns / CLOCK_NS_PER_SECOND;

    if (work.done == 0)
        snprintf(text, size, " ... %" PRId64 "s", elapsed_s);
    else if (work.total == 0)
        snprintf(text, size, " %" PRIu64 " ... %" PRId64 "s", work.done, elapsed_s);
    else
        describe_bar(elapsed_ns, text, size);
}

static void draw_if_due(void)
{
    char state[160];
    char line[sizeof(WIPE) + MAX_WIDTH];
    int64_t now_ns = clock_mono_ns();
    int width, title_width;

    if (now_ns < work.next_mono_ns)
        return;
    work.next_mono_ns = now_ns + REDRAW_NS;
    describe(now_ns - work.start_mono_ns, state, sizeof(state));
    width = terminal_width() - 1; /* the last column makes some terminals break the line */
    title_width = MAX(width - (int)strlen(state), 0);
    snprintf(line, sizeof(line), WIPE "%.*s%.*s", title_width, work.title, width, state);
    work.is_shown = true;
    IGNORE(write(output, line, strlen(line)) < 0, "a bar that cannot be drawn is not missed");
}

/* --- a piece of work --- */

static void tick(struct thread *thread, void *context)
{
    int64_t interval_ns = *(const int64_t *)context;

    while (thread_sleep(thread, interval_ns)) {
        lock_mutex_acquire(&lock);
        draw_if_due();
        lock_mutex_release(&lock);
    }
}

void progress_start(const char *title, uint64_t total)
{
    int64_t now_ns = clock_mono_ns();
    struct error err;

    progress_finish();
    lock_mutex_acquire(&lock);
    work.title = title;
    work.total = total;
    work.done = 0;
    work.start_mono_ns = now_ns;
    work.next_mono_ns = now_ns + PATIENCE_NS;
    is_drawable = isatty(output);
    lock_mutex_release(&lock);
    if (is_drawable)
        IGNORE(thread_start(&ticker, "progress", tick, &tick_ns, &err), "then steps alone draw the bar");
}

void progress_step(uint64_t done)
{
    if (!is_drawable)
        return;
    lock_mutex_acquire(&lock);
    work.done = done;
    work.step_mono_ns = clock_mono_ns();
    draw_if_due();
    lock_mutex_release(&lock);
}

void progress_hide(void)
{
    lock_mutex_acquire(&lock);
    /* The line that is to be written comes after this, so the bar must not be back at once. */
    work.next_mono_ns = MAX(work.next_mono_ns, clock_mono_ns() + REDRAW_NS);
    if (work.is_shown)
        IGNORE(write(output, WIPE, strlen(WIPE)) < 0, "as above");
    work.is_shown = false;
    lock_mutex_release(&lock);
}

void progress_finish(void)
{
    thread_stop(&ticker);
    progress_hide();
    is_drawable = false;
}
