// SPDX-License-Identifier: Apache-2.0
#include "store/dayset.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "kv/kv_fixture_test.h"
#include "store/backup.h"
#include "store/day_sample_test.h"

#include <unistd.h>

/* Days in the test's directory; "today" is 2026-11-15. */
struct days {
    struct day_sample sample; /* for its context */
    struct dayset set;
    char directory[200], trash[200];
    struct buffer log;
};

static int64_t start_of(const char *name)
{
    int64_t start_ns;

    CHECK(day_parse_name(name, &start_ns));
    return start_ns;
}

static void days_init(struct days *days)
{
    struct error err;

    day_sample_init(&days->sample);
    day_close(TAKE(days->sample.day));
    CHECK_OK(fs_remove_tree(days->sample.path, &err), &err);
    snprintf(days->directory, sizeof(days->directory), "%s/profiles", test_directory());
    snprintf(days->trash, sizeof(days->trash), "%s/scratch", test_directory());
    dayset_init(&days->set, &days->sample.context, days->directory, days->sample.quarantine, days->trash, false);
    clock_fake_set(start_of("2026-11-15") + 12 * DAY_HOUR_NS);
    buffer_init(&days->log, 0);
    log_capture(&days->log);
}

static void days_done(struct days *days)
{
    log_capture(NULL);
    buffer_done(&days->log);
    dayset_done(&days->set);
    day_sample_done(&days->sample);
}

static struct day *acquire(struct days *days, const char *name, enum dayset_use use)
{
    struct day *day;
    struct error err;

    CHECK_OK(dayset_acquire(&days->set, start_of(name), use, &day, &err), &err);
    return day;
}

/* Makes a day, with a little in it. */
static void make(struct days *days, const char *name)
{
    struct day *day = acquire(days, name, DAYSET_CREATE);

    CHECK(day);
    days->sample.day = day;
    day_sample_put(&days->sample, KV_DEFAULT, SLICE("i note"), slice_from(name));
    days->sample.day = NULL;
    dayset_release(&days->set, day);
}

static bool has_note(struct day *day, const char *name)
{
    struct buffer value;
    struct error err;
    bool is_found, is_equal;

    buffer_init(&value, 0);
    CHECK_OK(kv_get(day->kv, KV_DEFAULT, SLICE("i note"), &value, &is_found, &err), &err);
    is_equal = slice_is(buffer_slice(&value), name);
    buffer_done(&value);
    return is_found && is_equal;
}

static const char *list(struct days *days)
{
    static char text[512];
    struct dayset_list found;
    struct arena arena;
    struct error err;
    char name[DAY_NAME_BYTES];

    arena_init(&arena, 0);
    text[0] = '\0';
    CHECK_OK(dayset_list(&days->set, &arena, &found, &err), &err);
    for (size_t i = 0; i < found.n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", day_name(found.starts_ns[i], name) + 5);
    arena_done(&arena);
    return text;
}

TEST(dayset_makes_a_day_only_when_it_may)
{
    struct days days;
    struct day *day;

    days_init(&days);
    CHECK_TEXT(list(&days), "");
    CHECK(!acquire(&days, "2026-11-15", DAYSET_READ));
    CHECK(!acquire(&days, "2026-11-15", DAYSET_WRITE));
    CHECK_EQ(dayset_n_open(&days.set), 0);
    make(&days, "2026-11-15");
    day = acquire(&days, "2026-11-15", DAYSET_READ);
    CHECK(day && has_note(day, "2026-11-15"));
    CHECK_TEXT(day->name, "2026-11-15");
    CHECK_EQ(dayset_n_open(&days.set), 1);
    dayset_release(&days.set, day);
    dayset_release(&days.set, NULL);
    days_done(&days);
}

TEST(dayset_opens_old_days_for_reading_and_again_for_writing)
{
    struct days days;
    struct day *day, *again;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-14");
    dayset_close_idle(&days.set, INT64_MAX, INT64_MAX);
    CHECK_EQ(dayset_n_open(&days.set), 0);
    day = acquire(&days, "2026-11-10", DAYSET_READ);
    CHECK_EQ(day->mode, KV_READ_ONLY);
    again = acquire(&days, "2026-11-10", DAYSET_READ);
    CHECK(again == day);
    CHECK_EQ(day->n_users, 2);
    dayset_release(&days.set, again);
    dayset_release(&days.set, day);
    day = acquire(&days, "2026-11-10", DAYSET_WRITE);
    CHECK_EQ(day->mode, KV_WRITE);
    CHECK(has_note(day, "2026-11-10"));
    dayset_release(&days.set, day);
    /* Yesterday may still be written to. */
    day = acquire(&days, "2026-11-14", DAYSET_READ);
    CHECK_EQ(day->mode, KV_WRITE);
    dayset_release(&days.set, day);
    days_done(&days);
}

TEST(dayset_lists_days_and_nothing_else)
{
    static const char *const odd[] = { "2026-13-01", "2026-11-31", "2026-11-1", "lost+found", "2026-11-100", "x" };
    struct days days;
    struct error err;
    char path[300];

    days_init(&days);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        snprintf(path, sizeof(path), "%s/%s", days.directory, odd[i]);
        CHECK_OK(fs_make_directories(path, 0700, &err), &err);
    }
    make(&days, "2026-11-15");
    make(&days, "2026-02-28");
    make(&days, "1969-12-31");
    CHECK_TEXT(list(&days), "12-31 02-28 11-15 ");
    days_done(&days);
}

TEST(dayset_closes_days_that_nobody_uses)
{
    struct days days;
    struct day *day;
    int64_t now;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-15");
    day = acquire(&days, "2026-11-11", DAYSET_CREATE);
    now = clock_mono_ns();
    clock_fake_advance(1000);
    dayset_close_idle(&days.set, now - 1, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 3);
    /* The one in use and the one of today stay. */
    dayset_close_idle(&days.set, now, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 2);
    dayset_release(&days.set, day);
    dayset_close_idle(&days.set, now, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 2);
    dayset_close_idle(&days.set, clock_mono_ns(), start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 1);
    CHECK_TEXT(list(&days), "11-10 11-11 11-15 ");
    days_done(&days);
}

TEST(dayset_closes_a_day_that_was_borrowed_at_once)
{
    struct days days;
    struct day *day, *other;
    struct error err;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-15");
    dayset_close_idle(&days.set, INT64_MAX, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 1);
    CHECK(!dayset_borrow_open(&days.set, start_of("2026-11-10")));
    CHECK_OK(dayset_borrow(&days.set, start_of("2026-11-10"), DAYSET_READ, &day, &err), &err);
    other = dayset_borrow_open(&days.set, start_of("2026-11-10"));
    CHECK(other == day);
    dayset_give_back(&days.set, other);
    CHECK_EQ(dayset_n_open(&days.set), 2);
    dayset_give_back(&days.set, day);
    CHECK_EQ(dayset_n_open(&days.set), 1);
    /* Somebody else uses it: it stays, though it is borrowed again for writing. */
    dayset_release(&days.set, acquire(&days, "2026-11-10", DAYSET_READ));
    CHECK_OK(dayset_borrow(&days.set, start_of("2026-11-10"), DAYSET_WRITE, &day, &err), &err);
    CHECK_EQ(day->mode, KV_WRITE);
    dayset_give_back(&days.set, day);
    CHECK_EQ(dayset_n_open(&days.set), 2);
    /* Today is open in any case, and what is not there is none. */
    CHECK_OK(dayset_borrow(&days.set, start_of("2026-11-01"), DAYSET_READ, &day, &err), &err);
    CHECK(!day);
    dayset_give_back(&days.set, day);
    days_done(&days);
}

TEST(dayset_does_not_take_borrowing_for_use)
{
    struct days days;
    struct day *day;
    int64_t now;

    days_init(&days);
    make(&days, "2026-11-10");
    now = clock_mono_ns();
    clock_fake_advance(1000);
    day = dayset_borrow_open(&days.set, start_of("2026-11-10"));
    CHECK(day);
    dayset_close_idle(&days.set, now, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 1);
    dayset_give_back(&days.set, day);
    dayset_close_idle(&days.set, now, start_of("2026-11-14"));
    CHECK_EQ(dayset_n_open(&days.set), 0);
    days_done(&days);
}

TEST(dayset_counts_how_often_a_day_was_opened_for_writing)
{
    struct days days;

    days_init(&days);
    CHECK_EQ(dayset_openings(&days.set, start_of("2026-11-10")), 0);
    make(&days, "2026-11-10");
    make(&days, "2026-11-10");
    CHECK_EQ(dayset_openings(&days.set, start_of("2026-11-10")), 1);
    dayset_close_idle(&days.set, INT64_MAX, INT64_MAX);
    dayset_release(&days.set, acquire(&days, "2026-11-10", DAYSET_READ));
    CHECK_EQ(dayset_openings(&days.set, start_of("2026-11-10")), 1);
    dayset_release(&days.set, acquire(&days, "2026-11-10", DAYSET_WRITE));
    CHECK_EQ(dayset_openings(&days.set, start_of("2026-11-10")), 2);
    CHECK_EQ(dayset_openings(&days.set, start_of("2026-11-11")), 0);
    days_done(&days);
}

TEST(dayset_holds_few_days_open_however_many_are_asked_for)
{
    struct days days;
    char name[32];

    days_init(&days);
    for (int i = 1; i <= 14; i++) {
        snprintf(name, sizeof(name), "2026-10-%02d", i);
        make(&days, name);
        clock_fake_advance(1000);
    }
    CHECK_EQ(dayset_n_open(&days.set), 10);
    for (int i = 1; i <= 14; i++) {
        struct day *day;

        snprintf(name, sizeof(name), "2026-10-%02d", i);
        day = acquire(&days, name, DAYSET_READ);
        CHECK(has_note(day, name));
        dayset_release(&days.set, day);
        clock_fake_advance(1000);
    }
    CHECK_EQ(dayset_n_open(&days.set), 10);
    days_done(&days);
}

TEST(dayset_opens_a_day_that_failed_again)
{
    struct days days;
    struct day *day, *reader;
    struct error err;

    days_init(&days);
    make(&days, "2026-11-15");
    day = acquire(&days, "2026-11-15", DAYSET_WRITE);
    lock_mutex_acquire(&day->lock);
    error_set(&day->failure, ERR_IO, "the disk is gone");
    lock_mutex_release(&day->lock);
    /* Readers go on with it. */
    reader = acquire(&days, "2026-11-15", DAYSET_READ);
    CHECK(reader == day);
    dayset_release(&days.set, reader);
    dayset_release(&days.set, day);
    CHECK_OK(dayset_acquire(&days.set, start_of("2026-11-15"), DAYSET_CREATE, &day, &err), &err);
    CHECK_EQ(day->failure.code, ERR_OK);
    CHECK(has_note(day, "2026-11-15"));
    dayset_release(&days.set, day);
    days_done(&days);
}

/* Another thread that holds a day for a moment. */
struct holder {
    struct thread thread;
    struct days *days;
    struct day *day;
};

static void run_holder(struct thread *thread, void *context)
{
    struct holder *holder = context;

    usleep(100000);
    dayset_release(&holder->days->set, holder->day);
}

TEST(dayset_drops_a_day_once_nobody_uses_it)
{
    struct days days;
    struct holder holder = { .days = &days };
    struct error err;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-15");
    holder.day = acquire(&days, "2026-11-10", DAYSET_READ);
    CHECK_OK(thread_start(&holder.thread, "holder", run_holder, &holder, &err), &err);
    CHECK_OK(dayset_drop(&days.set, start_of("2026-11-10"), &err), &err);
    CHECK_TEXT(list(&days), "11-15 ");
    CHECK(!acquire(&days, "2026-11-10", DAYSET_READ));
    thread_stop(&holder.thread);
    /* One that is not there, or not open, is no trouble. */
    CHECK_OK(dayset_drop(&days.set, start_of("2026-11-10"), &err), &err);
    dayset_close_idle(&days.set, INT64_MAX, INT64_MAX);
    CHECK_OK(dayset_drop(&days.set, start_of("2026-11-15"), &err), &err);
    CHECK_TEXT(list(&days), "");
    CHECK_EQ(kv_fixture_count_files(days.trash, ""), 0);
    days_done(&days);
}

TEST(dayset_salvages_a_day_when_it_is_told_to)
{
    struct days days;
    struct day *day;
    struct error err;

    days_init(&days);
    make(&days, "2026-11-10");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_OK(dayset_salvage(&days.set, start_of("2026-11-10"), &err), &err);
        CHECK_TEXT(list(&days), "11-10 ");
    }
    CHECK_EQ(days.set.n_set_aside, 8);
    CHECK_EQ(kv_fixture_count_files(days.sample.quarantine, ".bad"), 1); /* the note is no value of a day */
    CHECK_EQ(kv_fixture_count_files(days.sample.quarantine, ""), 8 + 1);
    CHECK_HAS(buffer_slice(&days.log), "day 2026-11-10 was set aside as '");
    /* A disk that damages everything is not filled with copies. */
    CHECK_ERROR(dayset_salvage(&days.set, start_of("2026-11-10"), &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "was salvaged 8 times already");
    day = acquire(&days, "2026-11-10", DAYSET_WRITE);
    CHECK(day);
    dayset_release(&days.set, day);
    CHECK_EQ(kv_fixture_count_files(days.trash, ""), 0);
    days_done(&days);
}

/* Writes rubbish over the file of a day's directory whose name begins so. */
static void spoil(struct days *days, const char *day, const char *beginning)
{
    struct fs_listing listing;
    struct arena arena;
    struct error err;
    char path[300];
    unsigned n = 0;

    snprintf(path, sizeof(path), "%s/%s", days->directory, day);
    arena_init(&arena, 0);
    CHECK_OK(fs_list(path, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        if (strncmp(listing.names[i], beginning, strlen(beginning)) == 0) {
            snprintf(path, sizeof(path), "%s/%s/%s", days->directory, day, listing.names[i]);
            CHECK_OK(fs_write_file(path, SLICE("this is no file of a database at all\n"), &err), &err);
            n++;
        }
    CHECK(n > 0);
    arena_done(&arena);
}

static int count_visit(void *context, struct day *day, struct error *err)
{
    ++*(int *)context;
    return 0;
}

TEST(dayset_sets_a_day_aside_of_which_nothing_can_be_read)
{
    struct days days;
    struct day *day;
    struct error err;
    int n = 0;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-12");
    make(&days, "2026-11-15");
    dayset_close_idle(&days.set, INT64_MAX, INT64_MAX);
    spoil(&days, "2026-11-10", "");
    spoil(&days, "2026-11-15", "");
    CHECK_OK(dayset_each(&days.set, INT64_MIN, INT64_MAX, DAYSET_READ, count_visit, &n, &err), &err);
    CHECK_EQ(n, 1);
    CHECK_EQ(days.set.n_set_aside, 2);
    CHECK_TEXT(list(&days), "11-12 ");
    CHECK_HAS(buffer_slice(&days.log), "day 2026-11-10 cannot be opened, what can be read of it is salvaged: ");
    CHECK_HAS(buffer_slice(&days.log), "nothing of it can be read");
    CHECK_HAS(buffer_slice(&days.log), "quarantine/2026-11-15-0'");
    /* Writers get a new one at once. */
    day = acquire(&days, "2026-11-15", DAYSET_CREATE);
    CHECK(day && !has_note(day, "2026-11-15"));
    dayset_release(&days.set, day);
    CHECK_TEXT(list(&days), "11-12 11-15 ");
    days_done(&days);
}

/* Makes a day of the files of another one that is still open: what a process that was killed leaves behind. */
static void copy_day(struct days *days, const char *from, const char *to)
{
    struct fs_listing listing;
    struct arena arena;
    struct error err;
    char source[300], target[300];
    uint64_t bytes;

    snprintf(source, sizeof(source), "%s/%s", days->directory, from);
    snprintf(target, sizeof(target), "%s/%s", days->directory, to);
    CHECK_OK(fs_make_directories(target, 0700, &err), &err);
    arena_init(&arena, 0);
    CHECK_OK(fs_list(source, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        snprintf(source, sizeof(source), "%s/%s/%s", days->directory, from, listing.names[i]);
        snprintf(target, sizeof(target), "%s/%s/%s", days->directory, to, listing.names[i]);
        /* RocksDB removes files it no longer needs when it likes. */
        if (backup_copy_file(source, target, &bytes, &err) < 0)
            CHECK_EQ(err.code, ERR_NOT_FOUND);
    }
    arena_done(&arena);
}

/* Damages the log of an old day: at that byte, or so far from its end. */
static void check_damaged_log(long offset, const char *words)
{
    struct days days;
    struct day *day;
    const char *log;
    char path[300];
    uint64_t bytes;
    struct error err;

    days_init(&days);
    make(&days, "2026-11-10");
    day = acquire(&days, "2026-11-10", DAYSET_WRITE);
    days.sample.day = day;
    for (unsigned i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "i %u", i);
        day_sample_put(&days.sample, KV_DEFAULT, slice_from(path), SLICE("a few bytes that fill the log with records"));
    }
    days.sample.day = NULL;
    copy_day(&days, "2026-11-10", "2026-11-08");
    dayset_release(&days.set, day);
    snprintf(path, sizeof(path), "%s/2026-11-08", days.directory);
    log = kv_fixture_find_file(path, ".log");
    CHECK_OK(fs_size(log, &bytes, &err), &err);
    kv_fixture_flip_byte(log, offset < 0 ? (long)bytes + offset : offset);
    /* It is opened for reading, which cannot mend anything, then for writing: what can be read of the log is kept. */
    day = acquire(&days, "2026-11-08", DAYSET_READ);
    CHECK(day && has_note(day, "2026-11-10"));
    CHECK_EQ(day->mode, KV_WRITE);
    CHECK(day->ids_from >= 1 << 24);
    dayset_release(&days.set, day);
    CHECK_EQ(days.set.n_set_aside, 0);
    CHECK_EQ(kv_fixture_count_files(days.sample.quarantine, ".log"), 1);
    CHECK_EQ(days.sample.context.n_damaged, 1);
    CHECK_HAS(buffer_slice(&days.log), "day 2026-11-08: its write-ahead log is damaged");
    CHECK_HAS(buffer_slice(&days.log), words);
    days_done(&days);
}

TEST(dayset_salvages_an_old_day_whose_log_is_damaged)
{
    check_damaged_log(9000, "is sound");
}

TEST(dayset_tells_of_a_write_that_is_lost_at_the_end_of_a_log)
{
    check_damaged_log(-5, "in its last record");
}

TEST(dayset_visits_the_days_that_overlap)
{
    struct days days;
    struct error err;
    int64_t eleventh = start_of("2026-11-11");
    int n = 0;

    days_init(&days);
    make(&days, "2026-11-10");
    make(&days, "2026-11-11");
    make(&days, "2026-11-12");
    CHECK_OK(dayset_each(&days.set, eleventh, eleventh, DAYSET_READ, count_visit, &n, &err), &err);
    CHECK_EQ(n, 0);
    CHECK_OK(dayset_each(&days.set, eleventh, eleventh + 1, DAYSET_READ, count_visit, &n, &err), &err);
    CHECK_EQ(n, 1);
    CHECK_OK(dayset_each(&days.set, eleventh - 1, eleventh + DAY_NS, DAYSET_READ, count_visit, &n, &err), &err);
    CHECK_EQ(n, 3);
    days_done(&days);
}
