// SPDX-License-Identifier: Apache-2.0
/* Stores of every version of the format there has been, in tests/golden/store-MAJOR.MINOR, beside what must be read from
 * them, in store-MAJOR.MINOR.txt. tests/golden/README.md says how one is recorded. */
#include "store/datadir.h"
#include "store/store_sample_test.h"

#include <unistd.h>

#define GOLDEN_DIR    "tests/golden"
#define GOLDEN_TENANT "default" /* what the first ones called whoever said nothing */

static void golden_name(char *name, size_t size)
{
    snprintf(name, size, GOLDEN_DIR "/store-%d.%d", DATADIR_FORMAT_MAJOR, DATADIR_FORMAT_MINOR);
}

/* --- what a golden store holds --- */

/* An hour with five-minute roll-ups: a hundred profiles of two instances. */
static void write_full_hour(struct store_sample *sample)
{
    for (unsigned i = 0; i < 100; i++) {
        char samples[160];
        struct store_sample_profile profile = { .start_ns = store_sample_time("14T10:00") +
                                                            (int64_t)i * 35 * CLOCK_NS_PER_SECOND,
                                                .service = "api",
                                                .labels = i % 2 ? "instance=one;pid=#7" : "instance=two;pid=#8",
                                                .samples = samples };

        snprintf(samples, sizeof(samples), "main;parse %u %u0|main;render;draw 1 10 {thread=t%u}", 1 + i % 4, 1 + i % 4,
                 i % 3);
        STORE_SAMPLE_WRITE_AS(sample, GOLDEN_TENANT, profile);
    }
}

/* Links, unnamed frames, a level, negative values. */
static void write_rare(struct store_sample *sample)
{
    static const struct store_sample_profile header = { .at = "14T11:15",
                                                        .service = "web",
                                                        .types = "alloc_space/bytes inuse_space/bytes" };
    AUTO(builder_freep) struct builder *b = NULL;
    struct link link = { .trace_id = { 0xaa, 1 }, .span_id = { 0xbb, 2 } };
    struct batch batch;
    struct store_write write = { .tenant = SLICE(GOLDEN_TENANT), .batch = &batch };
    struct store_receipt receipt;
    struct mapping mapping;
    struct frame frame;
    struct error err;
    uint32_t unnamed;

    batch_init(&batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    store_sample_add(b, &header)->types[1].nature = VALUE_LEVEL;
    mapping = (struct mapping){ .start = 0x400000,
                                .limit = 0x500000,
                                .offset = 0x1000,
                                .file = builder_string(b, SLICE("/usr/bin/web")),
                                .build_id = builder_string(b, SLICE("c0ffee")) };
    frame = (struct frame){ .mapping = builder_mapping(b, &mapping), .address = 0x400123, .kind = FRAME_NATIVE };
    unnamed = builder_frame(b, &frame, NULL);
    builder_sample(b, builder_stack(b, &unnamed, 1), labelplan_set(b, "bytes=#64:bytes"), builder_link(b, &link),
                   (int64_t[]){ 4096, -64 }, 3);
    builder_sample(b, 0, 0, 0, (int64_t[]){ INT64_MAX, INT64_MIN }, 1);
    CHECK_OK(builder_finish(b, &batch, &err), &err);
    CHECK_OK(store_write(sample->store, &write, &receipt, &err), &err);
    batch_done(&batch);
}

static void forget_and_keep(struct store_sample *sample)
{
    struct store_keep keep = { .name = SLICE("v1.2.3"),
                               .tenant = SLICE(GOLDEN_TENANT),
                               .selector = SLICE("{service_name=\"web\"}"),
                               .from_ns = store_sample_time("14T11:00"),
                               .until_ns = store_sample_time("14T12:00") };
    struct store_query query = store_sample_ask(&(struct store_sample_query){
        .tenant = GOLDEN_TENANT, .selector = "{thread=\"t2\"}", .from = "14T10:00", .until = "14T10:30" });
    struct error err;
    uint32_t n_days;

    CHECK_OK(store_delete(sample->store, &query, &n_days, &err), &err);
    CHECK_EQ(n_days, 1);
    CHECK_OK(store_keep(sample->store, &keep, &err), &err);
    store_sample_asked(&query);
}

/* Closed hours with roll-ups and a span index, late data as a closing of its own, a deletion that was not applied to the
 * blocks, a kept range, two tenants, profile ids; and an hour that is open, in files and in the write-ahead log. */
static void golden_fill(struct store_sample *sample)
{
    clock_fake_set(store_sample_time("14T12:00"));
    write_full_hour(sample);
    write_rare(sample);
    STORE_SAMPLE_WRITE_AS(sample, "other",
                          { .at = "14T11:20", .service = "api", .samples = "main;parse 9 90", .id = 5 });
    clock_fake_set(store_sample_time("14T13:00"));
    store_sample_maintain(sample);
    STORE_SAMPLE_WRITE_AS(sample, GOLDEN_TENANT,
                          { .at = "14T10:05", .service = "api", .labels = "instance=one", .samples = "late 1 10" },
                          { .at = "14T11:30", .service = "idle" });
    clock_fake_set(store_sample_time("14T14:00"));
    store_sample_maintain(sample);
    forget_and_keep(sample);
    clock_fake_set(store_sample_time("15T12:00"));
    STORE_SAMPLE_WRITE_AS(sample, GOLDEN_TENANT,
                          { .at = "15T11:30", .service = "api", .samples = "open;in_a_file 2 20", .id = 6 });
    store_sample_reopen(sample);
    STORE_SAMPLE_WRITE_AS(sample, GOLDEN_TENANT,
                          { .at = "15T11:40", .service = "api", .samples = "open;in_the_log 3 30" });
}

/* --- what is read from one --- */

static int print_keep(void *context, const struct store_keep *keep, struct error *err)
{
    buffer_printf(context, "kept %.*s: %.*s of %.*s [%lld, %lld)\n", SLICE_ARG(keep->name), SLICE_ARG(keep->selector),
                  SLICE_ARG(keep->tenant), (long long)keep->from_ns, (long long)keep->until_ns);
    return 0;
}

static void golden_print(struct store_sample *sample, struct buffer *out)
{
    static const char *const tenants[] = { GOLDEN_TENANT, "other", "nobody" };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(tenants); i++) {
        buffer_printf(out, "--- tenant %s\n", tenants[i]);
        buffer_append_slice(out, STORE_SAMPLE_ROWS(sample, .tenant = tenants[i]));
        buffer_append_text(out, "series\n");
        buffer_append_slice(out, STORE_SAMPLE_SERIES(sample, .tenant = tenants[i]));
        buffer_append_text(out, "sums\n");
        buffer_append_slice(out, STORE_SAMPLE_SUMS(sample, .tenant = tenants[i]));
    }
    buffer_append_text(out, "---\n");
    CHECK_OK(store_each_keep(sample->store, print_keep, out, &err), &err);
}

static void check_golden(struct store_sample *sample, struct slice wanted)
{
    struct buffer got;

    buffer_init(&got, 0);
    golden_print(sample, &got);
    CHECK_TEXT(buffer_slice(&got), wanted);
    buffer_done(&got);
}

/* --- files --- */

/* RocksDB makes what is left out anew; its log and options name machines and paths. */
static bool is_left_out(const char *name)
{
    return strncmp(name, "LOG", 3) == 0 || strncmp(name, "OPTIONS", 7) == 0 || strcmp(name, "LOCK") == 0 ||
           strcmp(name, "tmp") == 0;
}

static void copy_tree(const char *from, const char *to)
{
    AUTO(arena_done) struct arena arena;
    struct fs_listing listing;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(fs_make_directories(to, 0755, &err), &err);
    CHECK_OK(fs_list(from, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *source = arena_printf(&arena, &err, "%s/%s", from, listing.names[i]);
        const char *target = arena_printf(&arena, &err, "%s/%s", to, listing.names[i]);
        struct buffer content;
        struct stat info;

        if (is_left_out(listing.names[i]))
            continue;
        CHECK_OK(fs_stat(source, &info, &err), &err);
        if (S_ISDIR(info.st_mode)) {
            copy_tree(source, target);
            continue;
        }
        buffer_init(&content, 0);
        CHECK_OK(fs_read_file(source, 0, &content, &err), &err);
        CHECK_OK(fs_write_file(target, buffer_slice(&content), &err), &err);
        buffer_done(&content);
    }
}

static void check_at_root(void)
{
    if (access(GOLDEN_DIR, R_OK) < 0)
        test_skip("golden stores are found from the root of the source tree");
}

/* --- the tests --- */

/* With RECORD=1, and only if there is none of the current version: one that is there is the proof that it can be read. */
TEST(golden_store_of_the_current_format_is_there)
{
    struct store_sample sample;
    struct buffer text;
    struct error err;
    char name[64], text_name[80];

    check_at_root();
    golden_name(name, sizeof(name));
    if (access(name, R_OK) == 0)
        return;
    if (!getenv("RECORD"))
        test_fail(__FILE__, __LINE__, "there is no '%s': a new version of the format needs one (see %s/README.md)",
                  name, GOLDEN_DIR);
    store_sample_begin(&sample, &store_sample_kinds[0]);
    golden_fill(&sample);
    copy_tree(sample.path, name); /* while it is open: as a process leaves it that was killed */
    buffer_init(&text, 0);
    golden_print(&sample, &text);
    snprintf(text_name, sizeof(text_name), "%s.txt", name);
    CHECK_OK(fs_write_file(text_name, buffer_slice(&text), &err), &err);
    buffer_done(&text);
    store_sample_end(&sample);
}

static void check_one(const char *name)
{
    struct store_sample sample;
    struct buffer wanted;
    struct store_stats stats;
    struct error err;
    char path[200];

    store_sample_begin(&sample, &store_sample_kinds[0]);
    store_sample_close(&sample);
    CHECK_OK(fs_remove_tree(sample.path, &err), &err);
    snprintf(path, sizeof(path), GOLDEN_DIR "/%s", name);
    copy_tree(path, sample.path);
    buffer_init(&wanted, 0);
    snprintf(path, sizeof(path), GOLDEN_DIR "/%s.txt", name);
    CHECK_OK(fs_read_file(path, 0, &wanted, &err), &err);

    /* As a reader that may change nothing, then as the one process that writes. */
    clock_fake_set(store_sample_time("15T12:00"));
    sample.options.is_read_only = true;
    store_sample_open(&sample);
    check_golden(&sample, buffer_slice(&wanted));
    store_sample_verify(&sample);
    store_sample_close(&sample);
    sample.options.is_read_only = false;
    store_sample_open(&sample);
    check_golden(&sample, buffer_slice(&wanted));
    store_sample_verify(&sample);
    CHECK_EQ(STORE_SAMPLE_WRITE_AS(&sample, GOLDEN_TENANT, { .at = "15T11:30", .samples = "again 1 10", .id = 6 })
                 .n_duplicate,
             1);
    CHECK_EQ(
        STORE_SAMPLE_WRITE_AS(&sample, "other", { .at = "14T11:20", .samples = "again 1 10", .id = 5 }).n_duplicate, 1);
    clock_fake_set(store_sample_time("15T14:00"));
    store_sample_maintain(&sample);
    check_golden(&sample, buffer_slice(&wanted));
    store_sample_compact(&sample);
    check_golden(&sample, buffer_slice(&wanted));
    store_sample_verify(&sample);
    store_sample_stats(&sample, &stats);
    CHECK_EQ(stats.n_damaged, 0);
    CHECK_EQ(stats.n_quarantined, 0);
    /* It goes on with what it knows. */
    STORE_SAMPLE_WRITE_AS(&sample, GOLDEN_TENANT,
                          { .at = "14T10:00", .service = "api", .samples = "main;parse 1 10|new 2 20" });
    store_sample_maintain(&sample);
    CHECK_HAS(STORE_SAMPLE_SUMS(&sample, .tenant = GOLDEN_TENANT), "new 2 20\n");
    store_sample_verify(&sample);
    buffer_done(&wanted);
    store_sample_end(&sample);
}

TEST(golden_stores_of_all_versions_are_read_exactly)
{
    struct fs_listing listing;
    struct arena arena;
    struct error err;
    unsigned n = 0;

    check_at_root();
    arena_init(&arena, 0);
    CHECK_OK(fs_list(GOLDEN_DIR, &arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++)
        if (strncmp(listing.names[i], "store-", 6) == 0 &&
            !slice_ends_with(slice_from(listing.names[i]), SLICE(".txt"))) {
            check_one(listing.names[i]);
            n++;
        }
    arena_done(&arena);
    CHECK(n > 0);
}
