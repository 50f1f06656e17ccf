// SPDX-License-Identifier: Apache-2.0
#include "store/names.h"

#include "block/chunk.h"
#include "block/storekey.h"
#include "kv/kv_fixture_test.h"

#include <stdio.h>

/* --- a dictionary to read --- */

struct fixture {
    struct kv_shared *shared;
    struct kv *kv;
    struct names *names; /* of tenant 7 */
    struct arena arena;
};

static void open_names(struct fixture *fixture, const struct kv_snapshot *snapshot, uint32_t tenant)
{
    struct error err;

    CHECK_OK(names_new(fixture->kv, snapshot, tenant, &fixture->names, &err), &err);
}

static void begin(struct fixture *fixture)
{
    struct kv_options options = { .mode = KV_WRITE, .memtable_bytes = 1 << 20, .is_unsynced = true };
    struct error err;

    arena_init(&fixture->arena, 0);
    CHECK_OK(kv_shared_new(1 << 20, &fixture->shared, &err), &err);
    CHECK_OK(kv_open(fixture->shared, test_directory(), &options, &fixture->kv, &err), &err);
    open_names(fixture, NULL, 7);
}

static void end(struct fixture *fixture)
{
    names_free(fixture->names);
    kv_close(fixture->kv);
    kv_shared_free(fixture->shared);
    arena_done(&fixture->arena);
}

static void put_value(struct fixture *fixture, uint32_t tenant, enum chunk_kind kind, uint32_t first_id,
                      struct slice value)
{
    struct storekey key = storekey_chunk(tenant, kind, first_id);
    struct kv_batch *batch;
    struct error err;

    CHECK_OK(kv_batch_new(&batch, &err), &err);
    kv_batch_put(batch, fixture->kv, KV_DEFAULT, storekey_slice(&key), value);
    CHECK_OK(kv_write(fixture->kv, batch, false, &err), &err);
    kv_batch_free(batch);
}

/* Writes the chunk down and empties the writer; `cut_bytes` are left out at its end. */
static void put_cut_chunk(struct fixture *fixture, uint32_t tenant, struct chunk_writer *writer, uint32_t first_id,
                          size_t cut_bytes)
{
    AUTO(buffer_done) struct buffer bytes;
    struct error err;

    buffer_init(&bytes, 0);
    chunk_writer_finish(writer, &bytes);
    CHECK_OK(buffer_check(&bytes, &err), &err);
    put_value(fixture, tenant, writer->kind, first_id, slice_sub(buffer_slice(&bytes), 0, bytes.len - cut_bytes));
    chunk_writer_done(writer);
}

static void put_chunk(struct fixture *fixture, struct chunk_writer *writer, uint32_t first_id)
{
    put_cut_chunk(fixture, 7, writer, first_id, 0);
}

static struct chunk_writer new_writer(enum chunk_kind kind)
{
    struct chunk_writer writer;

    chunk_writer_init(&writer, kind, 0);
    return writer;
}

static void put_strings(struct fixture *fixture, uint32_t first_id, const char *const *texts, uint32_t n)
{
    struct chunk_writer writer = new_writer(CHUNK_STRING);

    for (uint32_t i = 0; i < n; i++)
        chunk_put_string(&writer, slice_from(texts[i]));
    put_chunk(fixture, &writer, first_id);
}

/* main (main.c:10) calls work (work.c, _Z4workv), into which helper is inlined, in the program /bin/app. */
static void put_program(struct fixture *fixture)
{
    static const char *const texts[] = { "main", "main.c", "work", "_Z4workv", "work.c", "helper", "/bin/app", "beef" };
    struct chunk_writer mappings = new_writer(CHUNK_MAPPING), functions = new_writer(CHUNK_FUNCTION);
    struct chunk_writer frames = new_writer(CHUNK_FRAME), stacks = new_writer(CHUNK_STACK);

    put_strings(fixture, 1, texts, ARRAY_LEN(texts));
    chunk_put_mapping(&mappings, &(struct mapping){ .start = 4096, .limit = 8192, .file = 7, .build_id = 8 });
    put_chunk(fixture, &mappings, 1);
    chunk_put_function(&functions, &(struct function){ .name = 1, .system_name = 1, .file = 2, .start_line = 9 });
    chunk_put_function(&functions, &(struct function){ .name = 3, .system_name = 4, .file = 5 });
    chunk_put_function(&functions, &(struct function){ .name = 6 });
    put_chunk(fixture, &functions, 1);
    chunk_put_frame(&frames, &(struct frame){ .mapping = 1, .address = 5000, .n_lines = 1, .kind = FRAME_NATIVE },
                    (struct line[]){ { .function = 1, .line = 10 } });
    chunk_put_frame(&frames, &(struct frame){ .mapping = 1, .address = 5100, .n_lines = 2 },
                    (struct line[]){ { .function = 3, .line = 3 }, { .function = 2, .line = 20, .column = 5 } });
    chunk_put_frame(&frames, &(struct frame){ .address = 77 }, NULL);
    put_chunk(fixture, &frames, 1);
    chunk_put_stack(&stacks, (struct hash128){ 11, 1 }, (uint32_t[]){ 1 }, 1);
    chunk_put_stack(&stacks, (struct hash128){ 22, 3 }, (uint32_t[]){ 2, 1 }, 2);
    chunk_put_stack(&stacks, (struct hash128){ 33, 5 }, (uint32_t[]){ 3, 2, 1 }, 3);
    put_chunk(fixture, &stacks, 1);
}

/* Loads, checks the tables, and compares how much is missing. */
static struct tables load(struct fixture *fixture, const uint32_t *stacks, uint32_t n_stacks,
                          const uint32_t *label_sets, uint32_t n_label_sets, uint32_t n_missing_wanted)
{
    struct tables tables;
    uint32_t n_missing;
    struct error err;

    CHECK_OK(names_load(fixture->names, stacks, n_stacks, label_sets, n_label_sets, &fixture->arena, &tables,
                        &n_missing, &err),
             &err);
    CHECK_EQ(n_missing, n_missing_wanted);
    CHECK_OK(tables_check(&tables, &err), &err);
    CHECK_EQ(tables.n_stacks, n_stacks + 1);
    CHECK_EQ(tables.n_label_sets, n_label_sets + 1);
    return tables;
}

/* A stack as text: "leaf;inlined+caller;root", with an address where there is no name. */
static const char *stack_text(const struct tables *tables, uint32_t stack)
{
    static char text[512];
    uint32_t depth;
    const uint32_t *frames = tables_stack(tables, stack, &depth);

    text[0] = '\0';
    for (uint32_t i = 0; i < depth; i++) {
        const struct frame *frame = &tables->frames[frames[i]];

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", i ? ";" : "");
        for (uint32_t line = 0; line < frame->n_lines; line++) {
            const struct line *at = &tables->lines[frame->first_line + line];
            struct slice name = tables_string(tables, tables->functions[at->function].name);

            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s", line ? "+" : "", SLICE_ARG(name));
        }
        if (frame->n_lines == 0)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "@%llu", (unsigned long long)frame->address);
    }
    return text;
}

/* --- loading --- */

TEST(names_load_gives_a_stack_with_all_it_refers_to)
{
    struct fixture fixture;
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    t = load(&fixture, (uint32_t[]){ 1, 2, 3 }, 3, NULL, 0, 0);
    CHECK_TEXT(stack_text(&t, 0), "");
    CHECK_TEXT(stack_text(&t, 1), "main");
    CHECK_TEXT(stack_text(&t, 2), "helper+work;main");
    CHECK_TEXT(stack_text(&t, 3), "@77;helper+work;main");
    CHECK_EQ(t.n_frames, 4);
    CHECK_EQ(t.n_functions, 4);
    CHECK_EQ(t.n_mappings, 2);
    CHECK_EQ(t.n_strings, 9);
    CHECK_EQ(t.frames[1].kind, FRAME_NATIVE);
    CHECK_EQ(t.frames[1].address, 5000);
    CHECK_EQ(t.mappings[t.frames[1].mapping].limit, 8192);
    CHECK_TEXT(tables_string(&t, t.mappings[1].file), "/bin/app");
    CHECK_TEXT(tables_string(&t, t.mappings[1].build_id), "beef");
    CHECK_EQ(t.frames[3].mapping, 0);
    CHECK_TEXT(tables_string(&t, t.functions[1].system_name), "main");
    CHECK_EQ(t.functions[1].start_line, 9);
    CHECK_TEXT(tables_string(&t, t.functions[2].system_name), "_Z4workv");
    CHECK_TEXT(tables_string(&t, t.functions[2].file), "work.c");
    CHECK_EQ(t.lines[t.frames[2].first_line + 1].column, 5);
    end(&fixture);
}

TEST(names_load_reads_nothing_that_nobody_asked_for)
{
    struct fixture fixture;
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    t = load(&fixture, (uint32_t[]){ 1 }, 1, NULL, 0, 0);
    CHECK_TEXT(stack_text(&t, 1), "main");
    CHECK_EQ(t.n_frames, 2);
    CHECK_EQ(t.n_functions, 2);
    CHECK_EQ(t.n_strings, 5); /* none, main, main.c, /bin/app, beef */
    t = load(&fixture, NULL, 0, NULL, 0, 0);
    CHECK_EQ(t.n_strings, 1);
    CHECK_EQ(t.n_frames, 1);
    end(&fixture);
}

TEST(names_load_copies_strings)
{
    static const char *const others[] = { "X", "X", "X", "X", "X", "X", "X", "X" };
    struct fixture fixture;
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    t = load(&fixture, (uint32_t[]){ 2 }, 1, NULL, 0, 0);
    put_strings(&fixture, 1, others, ARRAY_LEN(others));
    end(&(struct fixture){ .shared = fixture.shared, .kv = fixture.kv, .names = fixture.names });
    CHECK_TEXT(stack_text(&t, 1), "helper+work;main");
    arena_done(&fixture.arena);
}

TEST(names_load_gives_labels_of_every_kind)
{
    static const char *const texts[] = {
        "thread", "main", "size", "bytes", "is_hot", "load", "raw", "\x01\xff", "[1]"
    };
    const struct label labels[] = {
        { .key = 1, .kind = LABEL_STRING, .text = 2 },
        { .key = 3, .kind = LABEL_NUMBER, .number = -5, .unit = 4 },
        { .key = 5, .kind = LABEL_BOOL, .number = 1 },
        { .key = 7, .kind = LABEL_BYTES, .text = 8 },
    };
    struct chunk_writer writer = new_writer(CHUNK_LABEL_SET);
    struct fixture fixture;
    const struct label *got;
    struct tables t;
    uint32_t n;

    begin(&fixture);
    put_strings(&fixture, 1, texts, ARRAY_LEN(texts));
    chunk_put_label_set(&writer, labels, 1);
    chunk_put_label_set(&writer, labels, ARRAY_LEN(labels));
    put_chunk(&fixture, &writer, 1);
    t = load(&fixture, NULL, 0, (uint32_t[]){ 2 }, 1, 0);
    got = tables_label_set(&t, 1, &n);
    CHECK_EQ(n, ARRAY_LEN(labels));
    CHECK_TEXT(tables_string(&t, got[0].key), "thread");
    CHECK_TEXT(tables_string(&t, got[0].text), "main");
    CHECK_EQ(got[1].kind, LABEL_NUMBER);
    CHECK_EQ(got[1].number, -5);
    CHECK_TEXT(tables_string(&t, got[1].unit), "bytes");
    CHECK_EQ(got[1].text, 0);
    CHECK_EQ(got[2].number, 1);
    CHECK_TEXT(tables_string(&t, got[3].text), "\x01\xff");
    t = load(&fixture, NULL, 0, (uint32_t[]){ 1, 2 }, 2, 0);
    tables_label_set(&t, 1, &n);
    CHECK_EQ(n, 1);
    end(&fixture);
}

TEST(names_load_keeps_tenants_and_snapshots_apart)
{
    static const char *const texts[] = { "theirs" };
    struct chunk_writer functions = new_writer(CHUNK_FUNCTION), frames = new_writer(CHUNK_FRAME);
    struct chunk_writer stacks = new_writer(CHUNK_STACK), strings = new_writer(CHUNK_STRING);
    struct kv_snapshot *snapshot;
    struct fixture fixture;
    struct tables t;
    struct error err;

    begin(&fixture);
    CHECK_OK(kv_snapshot_new(fixture.kv, &snapshot, &err), &err);
    put_program(&fixture);
    chunk_put_string(&strings, slice_from(texts[0]));
    chunk_put_function(&functions, &(struct function){ .name = 1 });
    chunk_put_frame(&frames, &(struct frame){ .n_lines = 1 }, (struct line[]){ { .function = 1 } });
    chunk_put_stack(&stacks, (struct hash128){ 1, 1 }, (uint32_t[]){ 1 }, 1);
    put_cut_chunk(&fixture, 8, &strings, 1, 0);
    put_cut_chunk(&fixture, 8, &functions, 1, 0);
    put_cut_chunk(&fixture, 8, &frames, 1, 0);
    put_cut_chunk(&fixture, 8, &stacks, 1, 0);

    names_free(fixture.names);
    open_names(&fixture, NULL, 8);
    t = load(&fixture, (uint32_t[]){ 1, 2 }, 2, NULL, 0, 1);
    CHECK_TEXT(stack_text(&t, 1), "theirs");
    CHECK_TEXT(stack_text(&t, 2), "[missing]");

    names_free(fixture.names);
    open_names(&fixture, snapshot, 7);
    t = load(&fixture, (uint32_t[]){ 1 }, 1, NULL, 0, 1);
    CHECK_TEXT(stack_text(&t, 1), "[missing]");
    kv_snapshot_free(snapshot);
    end(&fixture);
}

/* --- many chunks --- */

/* Entry i of each kind is about string i, "name-i", except that stack i has the frames i, i + 1 and i + 2. Chunks are
 * of random length. */
static void put_many(struct fixture *fixture, uint32_t n, uint64_t seed)
{
    static const enum chunk_kind kinds[] = { CHUNK_STRING, CHUNK_FUNCTION, CHUNK_FRAME, CHUNK_STACK };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (uint32_t first = 1; first <= n;) {
            struct chunk_writer writer = new_writer(kinds[k]);
            uint32_t end = MIN(n + 1, first + 1 + (uint32_t)(hash_mix64(seed++) % 40));

            for (uint32_t id = first; id < end; id++) {
                uint32_t frames[] = { id, MIN(id + 1, n), MIN(id + 2, n) };
                char text[32];

                snprintf(text, sizeof(text), "name-%u", id);
                if (kinds[k] == CHUNK_STRING)
                    chunk_put_string(&writer, slice_from(text));
                else if (kinds[k] == CHUNK_FUNCTION)
                    chunk_put_function(&writer, &(struct function){ .name = id });
                else if (kinds[k] == CHUNK_FRAME)
                    chunk_put_frame(&writer, &(struct frame){ .n_lines = 1 }, (struct line[]){ { .function = id } });
                else
                    chunk_put_stack(&writer, (struct hash128){ id, id | 1 }, frames, ARRAY_LEN(frames));
            }
            put_chunk(fixture, &writer, first);
            first = end;
        }
}

/* Some of the ids up to `n`, rising: one of every `stride` or so. */
static uint32_t choose_ids(uint32_t n, uint32_t stride, uint64_t seed, uint32_t *ids)
{
    uint32_t n_ids = 0;

    for (uint32_t id = 1; id <= n; id += 1 + (uint32_t)(hash_mix64(seed++) % (2 * stride - 1)))
        ids[n_ids++] = id;
    return n_ids;
}

TEST(names_load_finds_any_ids_among_many_chunks)
{
    enum { N = 3000 };
    static uint32_t ids[N];
    static struct hash128 hashes[N];
    struct fixture fixture;
    struct error err;

    begin(&fixture);
    put_many(&fixture, N, 1);
    CHECK_OK(kv_flush(fixture.kv, KV_DEFAULT, &err), &err);
    for (uint32_t stride = 1; stride < N; stride *= 5) {
        uint32_t n_ids = choose_ids(N, stride, stride, ids), n_missing;
        struct tables t = load(&fixture, ids, n_ids, NULL, 0, 0);

        CHECK_OK(names_stack_hashes(fixture.names, ids, n_ids, hashes, &n_missing, &err), &err);
        CHECK_EQ(n_missing, 0);
        for (uint32_t i = 0; i < n_ids; i++) {
            char wanted[64];

            snprintf(wanted, sizeof(wanted), "name-%u;name-%u;name-%u", ids[i], MIN(ids[i] + 1, N), MIN(ids[i] + 2, N));
            CHECK_TEXT(stack_text(&t, i + 1), wanted);
            CHECK_EQ(hashes[i].a, ids[i]);
        }
        arena_reset(&fixture.arena);
    }
    end(&fixture);
}

/* --- what is missing or damaged --- */

TEST(names_load_puts_a_frame_in_place_of_a_missing_stack)
{
    struct fixture fixture;
    struct tables t;
    uint32_t n;

    begin(&fixture);
    put_program(&fixture);
    t = load(&fixture, (uint32_t[]){ 2, 4, 900, UINT32_MAX }, 4, (uint32_t[]){ 5 }, 1, 4);
    CHECK_TEXT(stack_text(&t, 1), "helper+work;main");
    CHECK_TEXT(stack_text(&t, 2), "[missing]");
    CHECK_TEXT(stack_text(&t, 3), "[missing]");
    CHECK_TEXT(stack_text(&t, 4), "[missing]");
    CHECK_EQ(t.stack_frames[t.stack_starts[2]], t.stack_frames[t.stack_starts[3]]);
    tables_label_set(&t, 1, &n);
    CHECK_EQ(n, 0);
    end(&fixture);
}

TEST(names_load_finds_what_lies_around_a_gap)
{
    struct fixture fixture;
    struct chunk_writer stacks = new_writer(CHUNK_STACK);
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    chunk_put_stack(&stacks, (struct hash128){ 1, 1 }, (uint32_t[]){ 1 }, 1);
    put_chunk(&fixture, &stacks, 100);
    t = load(&fixture, (uint32_t[]){ 3, 4, 50, 99, 100, 101 }, 6, NULL, 0, 4);
    CHECK_TEXT(stack_text(&t, 1), "@77;helper+work;main");
    CHECK_TEXT(stack_text(&t, 4), "[missing]");
    CHECK_TEXT(stack_text(&t, 5), "main");
    CHECK_TEXT(stack_text(&t, 6), "[missing]");
    end(&fixture);
}

TEST(names_load_finds_what_begins_behind_the_first_ids)
{
    struct fixture fixture;
    struct chunk_writer stacks = new_writer(CHUNK_STACK), frames = new_writer(CHUNK_FRAME);
    struct tables t;

    begin(&fixture);
    chunk_put_frame(&frames, &(struct frame){ .address = 5 }, NULL);
    put_chunk(&fixture, &frames, 1);
    chunk_put_stack(&stacks, (struct hash128){ 1, 1 }, (uint32_t[]){ 1 }, 1);
    put_chunk(&fixture, &stacks, 10);
    t = load(&fixture, (uint32_t[]){ 8, 9, 10 }, 3, NULL, 0, 2);
    CHECK_TEXT(stack_text(&t, 2), "[missing]");
    CHECK_TEXT(stack_text(&t, 3), "@5");
    end(&fixture);
}

TEST(names_load_names_what_lower_levels_lack)
{
    struct fixture fixture;
    struct chunk_writer stacks = new_writer(CHUNK_STACK), frames = new_writer(CHUNK_FRAME);
    struct chunk_writer functions = new_writer(CHUNK_FUNCTION);
    struct tables t;

    begin(&fixture);
    chunk_put_stack(&stacks, (struct hash128){ 1, 1 }, (uint32_t[]){ 9, 1, 2, 3 }, 4); /* frame 9 is not there */
    put_chunk(&fixture, &stacks, 1);
    chunk_put_frame(&frames, &(struct frame){ .n_lines = 1 }, (struct line[]){ { .function = 1 } });
    chunk_put_frame(&frames, &(struct frame){ .n_lines = 1 },
                    (struct line[]){ { .function = 2 } });                         /* nor function 2 */
    chunk_put_frame(&frames, &(struct frame){ .mapping = 6, .address = 3 }, NULL); /* nor mapping 6 */
    put_chunk(&fixture, &frames, 1);
    chunk_put_function(&functions, &(struct function){ .name = 4, .file = 5 }); /* nor strings 4 and 5 */
    put_chunk(&fixture, &functions, 1);
    t = load(&fixture, (uint32_t[]){ 1 }, 1, NULL, 0, 5);
    CHECK_TEXT(stack_text(&t, 1), "[missing];[missing];[missing];@3");
    CHECK_EQ(t.mappings[t.frames[3].mapping].limit, 0);
    end(&fixture);
}

TEST(names_load_loses_only_what_follows_damage_in_a_chunk)
{
    struct fixture fixture;
    struct chunk_writer stacks = new_writer(CHUNK_STACK), more = new_writer(CHUNK_STACK);
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    for (uint32_t i = 0; i < 3; i++)
        chunk_put_stack(&stacks, (struct hash128){ i, 1 }, (uint32_t[]){ 2, 1 }, 2);
    put_cut_chunk(&fixture, 7, &stacks, 4, 4);
    chunk_put_stack(&more, (struct hash128){ 9, 1 }, (uint32_t[]){ 1 }, 1);
    put_chunk(&fixture, &more, 7);
    t = load(&fixture, (uint32_t[]){ 1, 4, 5, 6, 7 }, 5, NULL, 0, 2);
    CHECK_TEXT(stack_text(&t, 1), "main");
    CHECK_TEXT(stack_text(&t, 2), "helper+work;main");
    CHECK_TEXT(stack_text(&t, 3), "[missing]");
    CHECK_TEXT(stack_text(&t, 4), "[missing]");
    CHECK_TEXT(stack_text(&t, 5), "main");
    /* Passing over the damage without reading it comes to the same. */
    t = load(&fixture, (uint32_t[]){ 6, 7 }, 2, NULL, 0, 1);
    CHECK_TEXT(stack_text(&t, 1), "[missing]");
    CHECK_TEXT(stack_text(&t, 2), "main");
    end(&fixture);
}

TEST(names_load_takes_chunks_it_cannot_read_for_missing)
{
    struct fixture fixture;
    struct tables t;

    begin(&fixture);
    put_program(&fixture);
    put_value(&fixture, 7, CHUNK_FUNCTION, 1, SLICE(""));
    t = load(&fixture, (uint32_t[]){ 2 }, 1, NULL, 0, 3);
    CHECK_TEXT(stack_text(&t, 1), "[missing]+[missing];[missing]");
    put_value(&fixture, 7, CHUNK_STACK, 1, SLICE("\x09 of the future"));
    t = load(&fixture, (uint32_t[]){ 1, 2 }, 2, NULL, 0, 2);
    CHECK_TEXT(stack_text(&t, 2), "[missing]");
    end(&fixture);
}

/* Flips a byte in the middle of the only table of the database. */
static void damage_table(struct fixture *fixture)
{
    struct kv_options options = { .mode = KV_READ_ONLY };
    struct fs_listing listing;
    struct error err;

    CHECK_OK(kv_flush(fixture->kv, KV_DEFAULT, &err), &err);
    names_free(fixture->names);
    kv_close(fixture->kv);
    CHECK_OK(fs_list(test_directory(), &fixture->arena, &listing, &err), &err);
    for (size_t i = 0; i < listing.n; i++) {
        const char *path = arena_printf(&fixture->arena, &err, "%s/%s", test_directory(), listing.names[i]);
        uint64_t size_bytes;

        if (!slice_ends_with(slice_from(path), SLICE(".sst")))
            continue;
        CHECK_OK(fs_size(path, &size_bytes, &err), &err);
        kv_fixture_flip_byte(path, (long)size_bytes / 2);
    }
    CHECK_OK(kv_open(fixture->shared, test_directory(), &options, &fixture->kv, &err), &err);
    open_names(fixture, NULL, 7);
}

TEST(names_load_gives_what_a_damaged_table_still_has)
{
    enum { N = 20000 };
    static uint32_t ids[N];
    static struct hash128 hashes[N];
    struct fixture fixture;
    struct tables tables;
    uint32_t n_missing, n_hashes_missing;
    struct error err;

    begin(&fixture);
    put_many(&fixture, N, 2);
    damage_table(&fixture);
    for (uint32_t i = 0; i < N; i++)
        ids[i] = i + 1;
    CHECK_OK(names_load(fixture.names, ids, N, NULL, 0, &fixture.arena, &tables, &n_missing, &err), &err);
    CHECK_OK(tables_check(&tables, &err), &err);
    CHECK_OK(names_stack_hashes(fixture.names, ids, N, hashes, &n_hashes_missing, &err), &err);
    CHECK(n_missing > 0);
    CHECK(n_missing < N);
    CHECK(n_hashes_missing <= n_missing);
    end(&fixture);
}

/* --- hashes --- */

TEST(names_stack_hashes_are_zero_where_a_stack_is_missing)
{
    struct fixture fixture;
    struct hash128 hashes[3];
    uint32_t n_missing;
    struct error err;

    begin(&fixture);
    put_program(&fixture);
    CHECK_OK(names_stack_hashes(fixture.names, (uint32_t[]){ 1, 3, 4 }, 3, hashes, &n_missing, &err), &err);
    CHECK_EQ(n_missing, 1);
    CHECK_EQ(hashes[0].a, 11);
    CHECK_EQ(hashes[1].a, 33);
    CHECK_EQ(hashes[1].b, 5);
    CHECK(hashes[2].a == 0 && hashes[2].b == 0);
    CHECK_OK(names_stack_hashes(fixture.names, NULL, 0, hashes, &n_missing, &err), &err);
    CHECK_EQ(n_missing, 0);
    end(&fixture);
}

/* --- every label --- */

struct seen {
    char text[512];
    uint32_t n;
    uint32_t fail_at;
};

static int see(void *context, struct slice name, struct slice value, struct error *err)
{
    struct seen *seen = context;
    size_t len = strlen(seen->text);

    if (++seen->n == seen->fail_at)
        return error_set(err, ERR_LIMIT, "enough labels");
    snprintf(seen->text + len, sizeof(seen->text) - len, "%.*s=%.*s ", SLICE_ARG(name), SLICE_ARG(value));
    return 0;
}

static void put_label_sets(struct fixture *fixture)
{
    static const char *const texts[] = { "thread", "main", "size", "bytes", "hot", "load", "list", "[1]" };
    const double half = 0.5;
    struct label labels[] = {
        { .key = 1, .kind = LABEL_STRING, .text = 2 },
        { .key = 3, .kind = LABEL_NUMBER, .number = INT64_MIN, .unit = 4 },
        { .key = 5, .kind = LABEL_BOOL, .number = 1 },
        { .key = 6, .kind = LABEL_DOUBLE },
        { .key = 7, .kind = LABEL_JSON, .text = 8 },
    };
    struct chunk_writer first = new_writer(CHUNK_LABEL_SET), second = new_writer(CHUNK_LABEL_SET);

    memcpy(&labels[3].number, &half, sizeof(half));
    put_strings(fixture, 1, texts, ARRAY_LEN(texts));
    chunk_put_label_set(&first, labels, 3);
    chunk_put_label_set(&first, labels + 3, 2);
    put_chunk(fixture, &first, 1);
    chunk_put_label_set(&second, labels, 1);
    put_chunk(fixture, &second, 3);
}

TEST(names_each_label_shows_values_as_text)
{
    struct fixture fixture;
    struct seen seen = { .n = 0 };
    struct error err;

    begin(&fixture);
    put_label_sets(&fixture);
    CHECK_OK(names_each_label(fixture.names, see, &seen, &err), &err);
    CHECK_TEXT(seen.text, "thread=main size=-9223372036854775808 hot=true load=0.5 list=[1] thread=main ");
    end(&fixture);
}

TEST(names_each_label_stops_when_the_visitor_fails)
{
    struct fixture fixture;
    struct seen seen = { .fail_at = 2 };
    struct error err;

    begin(&fixture);
    put_label_sets(&fixture);
    CHECK_ERROR(names_each_label(fixture.names, see, &seen, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "enough labels");
    CHECK_EQ(seen.n, 2);
    end(&fixture);
}

TEST(names_each_label_passes_over_damage)
{
    struct fixture fixture;
    struct chunk_writer cut = new_writer(CHUNK_LABEL_SET);
    struct seen seen = { .n = 0 };
    struct error err;

    begin(&fixture);
    put_label_sets(&fixture);
    chunk_put_label_set(&cut, (struct label[]){ { .key = 5, .kind = LABEL_BOOL } }, 1);
    chunk_put_label_set(&cut, (struct label[]){ { .key = 5, .kind = LABEL_BOOL } }, 1);
    put_cut_chunk(&fixture, 7, &cut, 1, 1);
    put_value(&fixture, 7, CHUNK_LABEL_SET, 2, SLICE("?"));
    CHECK_OK(names_each_label(fixture.names, see, &seen, &err), &err);
    CHECK_TEXT(seen.text, "hot=false thread=main ");
    end(&fixture);
}

static int count_labels(void *context, struct slice name, struct slice value, struct error *err)
{
    uint32_t *n = context;

    CHECK(slice_is(name, "thread") && slice_is(value, "main"));
    ++*n;
    return 0;
}

TEST(names_each_label_shows_more_labels_than_it_holds_at_once)
{
    enum { N_CHUNKS = 90, N_SETS = 1000 };
    static const char *const texts[] = { "thread", "main" };
    struct fixture fixture;
    uint32_t n = 0;
    struct error err;

    begin(&fixture);
    put_strings(&fixture, 1, texts, ARRAY_LEN(texts));
    for (uint32_t chunk = 0; chunk < N_CHUNKS; chunk++) {
        struct chunk_writer writer = new_writer(CHUNK_LABEL_SET);

        for (uint32_t i = 0; i < N_SETS; i++)
            chunk_put_label_set(&writer, (struct label[]){ { .key = 1, .text = 2 } }, 1);
        put_chunk(&fixture, &writer, 1 + chunk * N_SETS);
    }
    CHECK_OK(names_each_label(fixture.names, count_labels, &n, &err), &err);
    CHECK_EQ(n, N_CHUNKS * N_SETS);
    end(&fixture);
}

/* --- memory --- */

static int use_everything(void *context, struct error *err)
{
    struct fixture *fixture = context;
    AUTO(names_freep) struct names *names = NULL;
    AUTO(arena_done) struct arena arena;
    struct seen seen = { .n = 0 };
    struct hash128 hash;
    struct tables tables;
    uint32_t n_missing;

    arena_init(&arena, 0);
    if (names_new(fixture->kv, NULL, 7, &names, err) < 0 ||
        names_load(names, (uint32_t[]){ 1, 3, 9 }, 3, (uint32_t[]){ 1, 2 }, 2, &arena, &tables, &n_missing, err) < 0 ||
        names_stack_hashes(names, (uint32_t[]){ 1 }, 1, &hash, &n_missing, err) < 0)
        return -1;
    return names_each_label(names, see, &seen, err);
}

TEST(names_survive_each_failing_allocation)
{
    struct fixture fixture;

    begin(&fixture);
    put_program(&fixture);
    put_label_sets(&fixture);
    test_each_allocation_failing(use_everything, &fixture);
    end(&fixture);
}

TEST(names_load_stops_at_the_limit_of_the_arena)
{
    struct fixture fixture;
    AUTO(arena_done) struct arena arena;
    struct tables tables = { .n_links = 77 };
    uint32_t n_missing;
    struct error err;

    begin(&fixture);
    put_program(&fixture);
    arena_init(&arena, 200);
    CHECK_ERROR(names_load(fixture.names, (uint32_t[]){ 1, 2, 3 }, 3, NULL, 0, &arena, &tables, &n_missing, &err), &err,
                ERR_LIMIT);
    CHECK_HAS(err.text, "loading names of 3 stacks");
    CHECK_EQ(tables.n_links, 77);
    end(&fixture);
}
