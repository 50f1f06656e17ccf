// SPDX-License-Identifier: Apache-2.0
/* What every kind of store promises, part 5: backups, statistics, readers beside the writer, a second writer. */
#include "base/thread.h"
#include "store/store_sample_test.h"

#include <unistd.h>

/* --- backups --- */

static const char *backup_path(const char *name)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % ARRAY_LEN(paths)];

    snprintf(path, sizeof(paths[0]), "%s/backups/%s", test_directory(), name);
    return path;
}

static void back_up(struct store_sample *sample, const char *name, uint64_t *copied_bytes, uint64_t *linked_bytes)
{
    struct store_backup backup = { .path = backup_path(name) };
    struct error err;

    CHECK_OK(store_backup(sample->store, &backup, &err), &err);
    *copied_bytes = backup.copied_bytes;
    *linked_bytes = backup.linked_bytes;
}

/* The backup as a store of its own, beside the one it was made of. */
static void open_backup(struct store_sample *sample, const char *name, struct store_sample *ret_copy)
{
    *ret_copy = (struct store_sample){ .kind = sample->kind, .options = sample->options };
    ret_copy->options.data_dir = backup_path(name);
    for (size_t i = 0; i < ARRAY_LEN(ret_copy->texts); i++)
        buffer_init(&ret_copy->texts[i], 0);
    store_sample_open(ret_copy);
}

static void close_backup(struct store_sample *copy)
{
    store_sample_close(copy);
    for (size_t i = 0; i < ARRAY_LEN(copy->texts); i++)
        buffer_done(&copy->texts[i]);
}

/* A bit of everything: closed and open hours, late data, a deletion, a kept range, two tenants. */
static void write_variety(struct store_sample *sample)
{
    struct store_keep keep = { .name = SLICE("v1"),
                               .selector = SLICE("{service_name=\"api\"}"),
                               .from_ns = store_sample_time("14T00:00"),
                               .until_ns = store_sample_time("15T00:00") };
    struct store_query query;
    struct error err;
    uint32_t n_days;

    STORE_SAMPLE_WRITE(sample, { .at = "14T10:00", .service = "api", .samples = "a 1 10 {thread=t1}", .id = 1 },
                       { .at = "15T09:00", .service = "api", .samples = "b 2 20|gone 1 10 {thread=bad}" },
                       { .at = "15T09:30", .service = "web", .samples = "c 3 30 {route=/x}" });
    STORE_SAMPLE_WRITE_AS(sample, "bob", { .at = "15T09:30", .service = "web", .samples = "his 4 40" });
    store_sample_maintain(sample);
    STORE_SAMPLE_WRITE(sample, { .at = "15T09:45", .service = "api", .samples = "late 5 50" });
    store_sample_maintain(sample);
    query = store_sample_ask(&(struct store_sample_query){ .selector = "thread=bad" });
    CHECK_OK(store_delete(sample->store, &query, &n_days, &err), &err);
    store_sample_asked(&query);
    CHECK_OK(store_keep(sample->store, &keep, &err), &err);
    STORE_SAMPLE_WRITE(sample, { .at = "15T11:30", .service = "api", .samples = "open 6 60" });
}
#define VARIETY_SUMS "a 1 10\nb 2 20\nc 3 30\nlate 5 50\nopen 6 60\n"

static int count_keep(void *context, const struct store_keep *keep, struct error *err)
{
    ++*(int *)context;
    return 0;
}

static void check_variety(struct store_sample *sample, const void *context)
{
    struct error err;
    int n_keeps = 0;

    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), VARIETY_SUMS);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .tenant = "bob"), "his 4 40\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "thread=t1"), "a 1 10\n");
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample, .selector = "route=/x"), "c 3 30\n");
    CHECK_OK(store_each_keep(sample->store, count_keep, &n_keeps, &err), &err);
    CHECK_EQ(n_keeps, 1);
    CHECK_EQ(STORE_SAMPLE_WRITE(sample, { .at = "14T10:00", .samples = "a 1 10", .id = 1 }).n_duplicate, 1);
}

CONFORMANCE(makes_a_backup_that_is_a_store_of_its_own)
{
    uint64_t copied_bytes, linked_bytes;
    struct store_sample copy;

    write_variety(sample);
    back_up(sample, "one", &copied_bytes, &linked_bytes);
    CHECK(copied_bytes > 0);
    CHECK_EQ(linked_bytes, 0);
    /* What comes afterwards is not in it. */
    STORE_SAMPLE_WRITE(sample, { .at = "15T11:30", .samples = "after 1 10" });
    open_backup(sample, "one", &copy);
    store_sample_each_stage(&copy, "15T15:00", check_variety, NULL);
    close_backup(&copy);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\nafter 1 10\nb 2 20\nc 3 30\nlate 5 50\nopen 6 60\n");
}

CONFORMANCE(shares_unchanged_files_with_the_backup_before)
{
    uint64_t copied_bytes, linked_bytes, first_bytes;
    struct store_sample copy;
    struct error err;

    write_variety(sample);
    store_sample_pass(sample, 2);
    store_sample_compact(sample);
    back_up(sample, "1", &first_bytes, &linked_bytes);
    back_up(sample, "2", &copied_bytes, &linked_bytes);
    CHECK(linked_bytes > 0);
    CHECK(copied_bytes < first_bytes);
    CHECK_ERROR(store_backup(sample->store, &(struct store_backup){ .path = backup_path("2") }, &err), &err,
                ERR_EXISTS);
    CHECK_HAS(err.text, "backups/2' is there already");
    /* Writing into a restored copy does not reach the other. */
    open_backup(sample, "2", &copy);
    check_variety(&copy, NULL);
    STORE_SAMPLE_WRITE(&copy, { .at = "15T09:00", .samples = "new 1 10" });
    store_sample_compact(&copy);
    close_backup(&copy);
    open_backup(sample, "1", &copy);
    check_variety(&copy, NULL);
    store_sample_verify(&copy);
    close_backup(&copy);
}

struct writer {
    struct thread thread;
    struct store *store;
    _Atomic uint32_t n_written;
    struct error failure;
    int result;
};

static void run_writer(struct thread *thread, void *context)
{
    struct writer *writer = context;

    for (uint32_t i = 0; !thread_is_stopping(thread) && !writer->result; i++) {
        struct store_sample_profile profile = { .at = i % 3 ? "15T11:30" : "15T09:30",
                                                .types = "samples/count",
                                                .samples = "n 1" };
        struct batch batch;
        struct store_write write = { .batch = &batch };
        struct store_receipt receipt;

        store_sample_batch(&profile, 1, &batch);
        writer->result = store_write(writer->store, &write, &receipt, &writer->failure);
        batch_done(&batch);
        atomic_fetch_add_explicit(&writer->n_written, 1, memory_order_release);
        usleep(200);
    }
}

static uint32_t count_written(struct store_sample *sample)
{
    struct store_query query = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct batch batch;
    struct error err;
    int64_t n;

    batch_init(&batch, NULL);
    CHECK_OK(store_read(sample->store, &query, &batch, &err), &err);
    n = batch.n_profiles ? profile_total(&batch.profiles[0], 0) : 0;
    batch_done(&batch);
    return (uint32_t)n;
}

CONFORMANCE(backs_up_while_others_write)
{
    struct writer writer = { .store = sample->store };
    struct store_sample copy;
    struct error err;

    CHECK_OK(thread_start(&writer.thread, "writer", run_writer, &writer, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t before = atomic_load_explicit(&writer.n_written, memory_order_acquire), after, n;
        uint64_t copied_bytes, linked_bytes;
        char name[16];

        store_sample_maintain(sample);
        snprintf(name, sizeof(name), "%u", i);
        back_up(sample, name, &copied_bytes, &linked_bytes);
        after = atomic_load_explicit(&writer.n_written, memory_order_acquire);
        open_backup(sample, name, &copy);
        store_sample_verify(&copy);
        n = count_written(&copy);
        CHECK(n >= before && n <= after + 1);
        close_backup(&copy);
    }
    thread_stop(&writer.thread);
    CHECK_OK(writer.result, &writer.failure);
    CHECK_EQ(count_written(sample), writer.n_written);
}

/* --- statistics --- */

CONFORMANCE(counts_what_it_holds)
{
    struct store_stats stats;

    store_sample_stats(sample, &stats);
    CHECK_EQ(stats.n_days + stats.n_rows + stats.n_samples, 0);
    CHECK_EQ(stats.first_ns, 0);
    STORE_SAMPLE_WRITE(
        sample,
        { .at = "15T10:00", .service = "api", .samples = "a;b 1 10|a;c 2 20|a;d 3 30|a;e 4 47|a;f 5 51", .id = 7 },
        { .at = "14T11:00", .service = "web", .samples = "a;b 3 30 {thread=t}" });
    for (unsigned closed = 0; closed < 2; closed++) {
        store_sample_stats(sample, &stats);
        CHECK_EQ(stats.n_days, 2);
        CHECK_EQ(stats.n_rows, 2);
        CHECK_EQ(stats.n_samples, 6);
        CHECK_EQ(stats.n_closed_samples, closed ? 6 : 0);
        CHECK_EQ(stats.head_rows.n, closed ? 0 : 2);
        CHECK_EQ(stats.series.n, 2);
        CHECK_EQ(stats.profile_ids.n, 1);
        CHECK_EQ(stats.n_damaged, 0);
        CHECK_EQ(stats.n_quarantined, 0);
        CHECK_EQ(stats.first_ns, store_sample_time("14T11:00"));
        CHECK_EQ(stats.last_ns, store_sample_time("15T10:00"));
        CHECK_EQ(stats.n_top, 2);
        CHECK_HAS(stats.top[0].labels, "service_name=\"api\"");
        CHECK_EQ(stats.top[0].n_samples, 5);
        CHECK(stats.top[0].bytes > stats.top[1].bytes);
        CHECK(stats.disk_bytes > 0 && stats.written_bytes > 0);
        CHECK(closed ? stats.block_bytes > 0 && stats.samples.bytes > 0 && stats.windows.n == 2
                     : stats.wal_bytes > 0 && stats.head_rows.bytes > 0);
        store_sample_pass(sample, 2);
    }
}

/* --- others on the same directory --- */

CONFORMANCE(refuses_a_second_writer_and_names_the_first)
{
    struct store *second;
    struct error err;
    char pid[32];

    CHECK_ERROR(sample->kind->open(&sample->options, &second, &err), &err, ERR_BUSY);
    snprintf(pid, sizeof(pid), "process %ld has it open", (long)getpid());
    CHECK_HAS(err.text, pid);
    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" });
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
}

CONFORMANCE(lets_readers_look_beside_the_writer_and_change_nothing)
{
    struct store_sample reader = { .kind = sample->kind, .options = sample->options };
    struct store_sample_profile profile = { .at = "15T10:00", .samples = "a 1 10" };
    struct store_query all = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct store_keep keep = { .name = SLICE("v1"), .until_ns = 1 };
    struct store_receipt receipt;
    struct store_stats stats;
    struct error err;
    uint32_t n_days;

    write_variety(sample);
    reader.options.is_read_only = true;
    for (size_t i = 0; i < ARRAY_LEN(reader.texts); i++)
        buffer_init(&reader.texts[i], 0);
    store_sample_open(&reader);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&reader), VARIETY_SUMS);
    CHECK_TEXT(STORE_SAMPLE_SUMS(&reader, .tenant = "bob"), "his 4 40\n");
    store_sample_verify(&reader);
    store_sample_stats(&reader, &stats);
    CHECK_EQ(stats.n_days, 2);
    CHECK_ERROR(store_sample_try(&reader, NULL, &profile, 1, &receipt, &err), &err, ERR_DENIED);
    CHECK_HAS(err.text, "reading only");
    CHECK_ERROR(store_delete(reader.store, &all, &n_days, &err), &err, ERR_DENIED);
    CHECK_ERROR(store_keep(reader.store, &keep, &err), &err, ERR_DENIED);
    CHECK_ERROR(store_unkeep(reader.store, SLICE(""), SLICE("v1"), &err), &err, ERR_DENIED);
    CHECK_ERROR(store_compact(reader.store, &err), &err, ERR_DENIED);
    CHECK_ERROR(store_maintain(reader.store, &err), &err, ERR_DENIED);
    CHECK_ERROR(store_backup(reader.store, &(struct store_backup){ .path = backup_path("no") }, &err), &err,
                ERR_DENIED);
    /* The writer goes on, and a new reader sees it. */
    STORE_SAMPLE_WRITE(sample, { .at = "15T11:30", .samples = "new 1 10" });
    store_sample_pass(sample, 2);
    close_backup(&reader);
    open_backup(sample, "none", &reader); /* an empty store elsewhere */
    CHECK_TEXT(STORE_SAMPLE_SUMS(&reader), "");
    close_backup(&reader);
    reader.options = sample->options;
    reader.options.is_read_only = true;
    store_sample_open(&reader);
    CHECK_HAS(STORE_SAMPLE_SUMS(&reader), "new 1 10\n");
    close_backup(&reader);
}

CONFORMANCE(makes_no_store_for_a_reader)
{
    struct store_options options = sample->options;
    struct store *store;
    struct stat info;
    struct error err;

    options.is_read_only = true;
    options.data_dir = backup_path("nothing");
    CHECK_ERROR(sample->kind->open(&options, &store, &err), &err, ERR_NOT_FOUND);
    CHECK_ERROR(fs_stat(options.data_dir, &info, &err), &err, ERR_NOT_FOUND);
}

/* --- the background --- */

CONFORMANCE(does_by_itself_what_is_due_when_it_has_a_background)
{
    struct store_stats stats;

    STORE_SAMPLE_WRITE(sample, { .at = "15T10:00", .samples = "a 1 10" });
    sample->options.has_background = true;
    sample->options.wal_sync = STORE_SYNC_EACH_SECOND;
    store_sample_reopen(sample);
    for (unsigned i = 0; i < 600; i++) {
        store_sample_stats(sample, &stats);
        if (!stats.head_rows.n)
            break;
        usleep(20000);
    }
    CHECK_EQ(stats.head_rows.n, 0);
    CHECK_EQ(stats.n_closed_samples, 1);
    CHECK_TEXT(STORE_SAMPLE_SUMS(sample), "a 1 10\n");
}
