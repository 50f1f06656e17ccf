// SPDX-License-Identifier: Apache-2.0
#include "trace/spanblock.h"

#include "trace/random_span_test.h"
#include "trace/spanbuckets.h"
#include "trace/spanrow.h"

#include <stdlib.h>

/* Spans, and the block made of them. */
struct made {
    struct arena arena;
    struct span *spans; /* in the order of keys */
    uint32_t n;
    struct spanblock_writer *writer;
    struct packer *packer;
    struct unpacker *unpacker;
    struct buffer body, header;
    struct spanblock_prefixes prefixes;
};

static int compare_keys(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    uint32_t slots[] = { spanrow_slot(x->start_ns), spanrow_slot(y->start_ns) };
    int order = slots[0] < slots[1] ? -1 : slots[0] > slots[1];

    if (order == 0)
        order = memcmp(x->trace_id, y->trace_id, SPAN_TRACE_ID_BYTES);
    if (order == 0)
        order = memcmp(x->span_id, y->span_id, SPAN_ID_BYTES);
    return order ? order : x->kind - y->kind;
}

static int make_block(struct made *made, struct error *err)
{
    buffer_clear(&made->body);
    buffer_clear(&made->header);
    for (uint32_t i = 0; i < made->n; i++)
        if (spanblock_writer_add(made->writer, &made->spans[i], err) < 0)
            return -1;
    return spanblock_writer_finish(made->writer, made->packer, &made->body, &made->header, &made->prefixes, err);
}

static void make_spans(struct made *made, uint64_t seed, uint32_t n)
{
    uint64_t state = seed;
    const struct span_resource *resource = NULL;

    made->n = n;
    made->spans = random_span_room(&made->arena, n, sizeof(*made->spans));
    for (uint32_t i = 0; i < n; i++) {
        if (!resource || random_span_below(&state, 5) == 0)
            resource = random_span_resource(&state, &made->arena);
        made->spans[i] = random_span(&state, &made->arena, resource, i > 0 ? &made->spans[i - 1] : NULL);
    }
    qsort(made->spans, n, sizeof(*made->spans), compare_keys);
}

static void make(struct made *made, uint64_t seed, uint32_t n)
{
    struct error err;

    *made = (struct made){ 0 };
    arena_init(&made->arena, 0);
    buffer_init(&made->body, 0);
    buffer_init(&made->header, 0);
    CHECK_OK(spanblock_writer_new(&made->writer, &err), &err);
    CHECK_OK(packer_new(&made->packer, &err), &err);
    CHECK_OK(unpacker_new(&made->unpacker, &err), &err);
    make_spans(made, seed, n);
    CHECK_OK(make_block(made, &err), &err);
}

static void done(struct made *made)
{
    spanblock_writer_free(made->writer);
    packer_free(made->packer);
    unpacker_free(made->unpacker);
    buffer_done(&made->body);
    buffer_done(&made->header);
    arena_done(&made->arena);
}

static const struct span *find_span(const struct made *made, const struct span *span)
{
    return bsearch(span, made->spans, made->n, sizeof(*made->spans), compare_keys);
}

/* --- spans --- */

TEST(spanblock_gives_back_every_random_span)
{
    for (unsigned seed = 1; seed <= test_times(12); seed++) {
        struct spanblock block;
        struct arena arena;
        struct made made;
        struct error err;

        make(&made, seed, seed < 3 ? seed : seed * 71);
        arena_init(&arena, 0);
        CHECK_OK(spanblock_open(buffer_slice(&made.body), made.unpacker, &arena, &block, &err), &err);
        CHECK_EQ(block.n_spans, made.n);
        for (uint32_t i = 0; i < block.n_spans; i++) {
            const struct span *wanted;
            struct span span;

            CHECK_OK(spanblock_get(&block, i, SPANBLOCK_ALL, &span, &err), &err);
            wanted = find_span(&made, &span);
            CHECK(wanted);
            same_span(&span, wanted);
        }
        arena_done(&arena);
        done(&made);
    }
}

TEST(spanblock_keeps_spans_of_a_trace_together_by_start)
{
    struct spanblock block;
    struct arena arena;
    struct made made;
    struct error err;

    make(&made, 5, 400);
    arena_init(&arena, 0);
    CHECK_OK(spanblock_open(buffer_slice(&made.body), made.unpacker, &arena, &block, &err), &err);
    CHECK_EQ(block.n_runs, made.prefixes.n);
    CHECK_EQ(block.run_starts[0], 0);
    CHECK_EQ(block.run_starts[block.n_runs], block.n_spans);
    for (uint32_t run = 0; run < block.n_runs; run++) {
        uint64_t prefix = 0;

        for (int i = 0; i < 8; i++)
            prefix = prefix << 8 | block.trace_ids[run][i];
        CHECK(prefix == made.prefixes.items[run]);
        for (uint32_t i = block.run_starts[run]; i < block.run_starts[run + 1]; i++) {
            CHECK_EQ(spanblock_find_run(&block, i), run);
            CHECK(i == block.run_starts[run] || block.start_ns[i - 1] <= block.start_ns[i]);
        }
    }
    arena_done(&arena);
    done(&made);
}

TEST(spanblock_reads_only_what_is_wanted)
{
    struct spanblock block;
    struct arena arena;
    struct made made;
    struct error err;
    struct span span;

    make(&made, 6, 50);
    arena_init(&arena, 0);
    CHECK_OK(spanblock_open(buffer_slice(&made.body), made.unpacker, &arena, &block, &err), &err);
    for (uint32_t i = 0; i < block.n_spans; i++) {
        CHECK_OK(spanblock_get(&block, i, 0, &span, &err), &err);
        CHECK_EQ(span.attributes.n, 0);
        CHECK_EQ(span.resource->attributes.n, 0);
        CHECK_EQ(span.n_events, 0);
        CHECK_TEXT(span.resource->service, find_span(&made, &span)->resource->service);
        CHECK_TEXT(span.name, find_span(&made, &span)->name);
        CHECK_TEXT(span.name, block.classes[block.class_ids[i]].name);
        CHECK_OK(spanblock_get(&block, i, SPANBLOCK_ATTRIBUTES, &span, &err), &err);
        CHECK_EQ(span.attributes.n, find_span(&made, &span)->attributes.n);
        CHECK_EQ(span.resource->attributes.n, 0);
    }
    arena_done(&arena);
    done(&made);
}

/* What spanblock_find_attribute should find. */
static const struct span_value *find_value(const struct span *span, struct slice key)
{
    const struct span_attributes *lists[] = { &span->attributes, &span->resource->attributes };

    for (size_t list = 0; list < ARRAY_LEN(lists); list++)
        for (uint32_t i = 0; i < lists[list]->n; i++)
            if (slice_equal(lists[list]->items[i].key, key))
                return &lists[list]->items[i].value;
    return NULL;
}

TEST(spanblock_finds_attributes_of_spans_and_of_their_resources)
{
    static const char *const keys[] = { "user.id", "service.name", "nowhere", "n", "" };
    struct spanblock block;
    struct arena arena;
    struct made made;
    struct error err;

    make(&made, 8, 300);
    arena_init(&arena, 0);
    CHECK_OK(spanblock_open(buffer_slice(&made.body), made.unpacker, &arena, &block, &err), &err);
    for (uint32_t i = 0; i < block.n_spans; i++)
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            const struct span_value *wanted;
            struct span_value value;
            struct span span;
            bool has;

            CHECK_OK(spanblock_get(&block, i, 0, &span, &err), &err);
            wanted = find_value(find_span(&made, &span), slice_from(keys[k]));
            CHECK_OK(spanblock_find_attribute(&block, i, slice_from(keys[k]), &has, &value, &err), &err);
            CHECK_EQ(has, wanted != NULL);
            if (wanted)
                same_span_value(&value, wanted);
        }
    arena_done(&arena);
    done(&made);
}

TEST(spanblock_of_the_same_spans_is_the_same_bytes)
{
    struct made a, b;
    struct error err;

    make(&a, 9, 200);
    make(&b, 10, 300);
    b.spans = a.spans;
    b.n = a.n;
    CHECK_OK(make_block(&b, &err), &err); /* the writer was used before */
    CHECK(slice_equal(buffer_slice(&a.body), buffer_slice(&b.body)));
    CHECK(slice_equal(buffer_slice(&a.header), buffer_slice(&b.header)));
    done(&b);
    done(&a);
}

TEST(spanblock_finds_parents_in_long_runs)
{
    struct spanblock block;
    struct arena arena;
    struct made made;
    struct error err;
    struct span span;

    make(&made, 11, 200);
    for (uint32_t i = 0; i < made.n; i++) {
        memset(made.spans[i].trace_id, 1, SPAN_TRACE_ID_BYTES);
        made.spans[i].start_ns = RANDOM_SPAN_START_NS + i % 7;
        memcpy(made.spans[i].parent_id, made.spans[i * 31 % made.n].span_id, SPAN_ID_BYTES);
        if (i % 10 == 0)
            made.spans[i].parent_id[0] ^= 0x40; /* somewhere else */
    }
    qsort(made.spans, made.n, sizeof(*made.spans), compare_keys);
    CHECK_OK(make_block(&made, &err), &err);
    arena_init(&arena, 0);
    CHECK_OK(spanblock_open(buffer_slice(&made.body), made.unpacker, &arena, &block, &err), &err);
    CHECK_EQ(block.n_runs, 1);
    for (uint32_t i = 0; i < block.n_spans; i++) {
        CHECK_OK(spanblock_get(&block, i, 0, &span, &err), &err);
        CHECK(memcmp(span.parent_id, find_span(&made, &span)->parent_id, SPAN_ID_BYTES) == 0);
    }
    arena_done(&arena);
    done(&made);
}

/* --- headers --- */

/* Adds up what a header should say of an operation. */
static struct spanblock_operation sum_operation(const struct made *made, const struct spanblock_operation *of)
{
    struct spanblock_operation sum = { .min_duration_ns = INT64_MAX };

    for (uint32_t i = 0; i < made->n; i++) {
        const struct span *span = &made->spans[i];

        if (!slice_equal(span->name, of->name) || !slice_equal(span->resource->service, of->service))
            continue;
        sum.n_spans++;
        sum.n_errors += span->status == SPAN_ERROR;
        sum.min_duration_ns = MIN(sum.min_duration_ns, span->duration_ns);
        sum.max_duration_ns = MAX(sum.max_duration_ns, span->duration_ns);
        if (__builtin_add_overflow(sum.total_ns, span->duration_ns, &sum.total_ns))
            sum.total_ns = INT64_MAX;
    }
    return sum;
}

TEST(spanblock_header_sums_up_operations)
{
    struct spanblock_header header;
    struct made made;
    struct error err;
    uint32_t n = 0;

    make(&made, 12, 700);
    CHECK_OK(spanblock_header_decode(buffer_slice(&made.header), made.unpacker, &made.arena, &header, &err), &err);
    CHECK_EQ(header.n_spans, made.n);
    CHECK_EQ(header.n_runs, made.prefixes.n);
    for (uint32_t i = 0; i < header.n_operations; i++) {
        const struct spanblock_operation *got = &header.operations[i];
        struct spanblock_operation wanted = sum_operation(&made, got);
        uint32_t n_in_buckets = 0;

        CHECK_EQ(got->n_spans, wanted.n_spans);
        CHECK_EQ(got->n_errors, wanted.n_errors);
        CHECK_EQ(got->min_duration_ns, wanted.min_duration_ns);
        CHECK_EQ(got->max_duration_ns, wanted.max_duration_ns);
        CHECK_EQ(got->total_ns, wanted.total_ns);
        for (uint32_t k = 0; k < got->n_buckets; k++)
            n_in_buckets += got->buckets[k].n;
        CHECK_EQ(n_in_buckets, got->n_spans);
        CHECK_EQ(got->buckets[0].bucket, spanbuckets_find(got->min_duration_ns));
        CHECK_EQ(got->buckets[got->n_buckets - 1].bucket, spanbuckets_find(got->max_duration_ns));
        n += got->n_spans;
    }
    CHECK_EQ(n, made.n);
    for (uint32_t i = 0; i < made.n; i++)
        CHECK(made.spans[i].start_ns >= header.min_start_ns && made.spans[i].start_ns <= header.max_start_ns);
    done(&made);
}

TEST(spanbuckets_are_narrow_and_in_order)
{
    uint32_t before = 0;

    for (int64_t value = 0; value >= 0 && value < INT64_MAX / 2; value += 1 + value / 50) {
        uint32_t bucket = spanbuckets_find(value);

        CHECK(bucket >= before && bucket < SPANBUCKETS_COUNT);
        CHECK(spanbuckets_first(bucket) <= value);
        CHECK(bucket + 1 == SPANBUCKETS_COUNT || spanbuckets_first(bucket + 1) > value);
        CHECK_NEAR((double)spanbuckets_middle(bucket), (double)value, (double)value * 0.032);
        before = bucket;
    }
    CHECK_EQ(spanbuckets_find(INT64_MAX), SPANBUCKETS_COUNT - 1);
}

/* --- what is wrong --- */

/* Opens and reads everything; the error of the first step that fails. */
static int read_all(struct slice body, struct unpacker *unpacker, struct arena *arena, struct error *err)
{
    struct spanblock block;
    struct span span;

    if (spanblock_open(body, unpacker, arena, &block, err) < 0)
        return -1;
    for (uint32_t i = 0; i < block.n_spans; i++)
        if (spanblock_get(&block, i, SPANBLOCK_ALL, &span, err) < 0)
            return -1;
    return 0;
}

TEST(spanblock_that_is_cut_anywhere_is_damaged)
{
    struct spanblock_header header;
    struct arena arena;
    struct made made;
    struct error err;

    make(&made, 13, 12);
    arena_init(&arena, 0);
    CHECK_OK(read_all(buffer_slice(&made.body), made.unpacker, &arena, &err), &err);
    for (size_t len = 0; len < made.body.len; len++) {
        arena_reset(&arena);
        CHECK_ERROR(read_all(slice_of(made.body.data, len), made.unpacker, &arena, &err), &err, ERR_CORRUPT);
        CHECK_HAS(err.text, "block of spans: ");
    }
    for (size_t len = 0; len < made.header.len; len++)
        CHECK_ERROR(spanblock_header_decode(slice_of(made.header.data, len), made.unpacker, &arena, &header, &err),
                    &err, ERR_CORRUPT);
    arena_done(&arena);
    done(&made);
}

TEST(spanblock_with_changed_bytes_is_read_or_refused)
{
    struct arena arena;
    struct made made;
    struct error err;

    make(&made, 14, 40);
    arena_init(&arena, (size_t)64 << 20);
    for (size_t at = 0; at < made.body.len; at++) {
        char before = made.body.data[at];

        made.body.data[at] = (char)(before ^ (1 << at % 8));
        arena_reset(&arena);
        if (read_all(buffer_slice(&made.body), made.unpacker, &arena, &err) < 0)
            CHECK(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        made.body.data[at] = before;
    }
    arena_done(&arena);
    done(&made);
}

TEST(spanblock_says_which_version_it_cannot_read)
{
    struct spanblock_header header;
    struct spanblock block;
    struct made made;
    struct error err;

    make(&made, 15, 3);
    made.body.data[0] = made.header.data[0] = 7;
    CHECK_ERROR(spanblock_open(buffer_slice(&made.body), made.unpacker, &made.arena, &block, &err), &err, ERR_VERSION);
    CHECK_HAS(err.text, "is of version 7, this program reads version 1");
    CHECK_ERROR(spanblock_header_decode(buffer_slice(&made.header), made.unpacker, &made.arena, &header, &err), &err,
                ERR_VERSION);
    done(&made);
}

TEST(spanblock_writer_says_when_it_has_enough)
{
    struct spanblock_writer *writer;
    struct arena arena;
    struct error err;
    struct span span;
    uint64_t state = 3;
    struct span_attribute attribute = { SLICE("text"), { .kind = SPAN_VALUE_TEXT } };
    char text[SPAN_MAX_VALUE_BYTES];

    arena_init(&arena, 0);
    CHECK_OK(spanblock_writer_new(&writer, &err), &err);
    span = random_span(&state, &arena, random_span_resource(&state, &arena), NULL);
    span.attributes = (struct span_attributes){ .items = &attribute, .n = 1 };
    memset(text, 'x', sizeof(text));
    attribute.value.text = slice_of(text, sizeof(text));
    while (!spanblock_writer_is_full(writer)) {
        int len = snprintf(text, sizeof(text), "%u", spanblock_writer_count(writer));

        text[len] = 'x';
        CHECK_OK(spanblock_writer_add(writer, &span, &err), &err);
    }
    CHECK(spanblock_writer_count(writer) < SPANBLOCK_SPANS); /* long texts: bytes before spans */
    spanblock_writer_reset(writer);
    CHECK_EQ(spanblock_writer_count(writer), 0);
    span.attributes.n = 0;
    while (!spanblock_writer_is_full(writer))
        CHECK_OK(spanblock_writer_add(writer, &span, &err), &err);
    CHECK_EQ(spanblock_writer_count(writer), SPANBLOCK_SPANS);
    while (spanblock_writer_count(writer) < SPANBLOCK_MAX_SPANS)
        CHECK_OK(spanblock_writer_add(writer, &span, &err), &err);
    CHECK_ERROR(spanblock_writer_add(writer, &span, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "holds 65536 spans");
    spanblock_writer_free(writer);
    arena_done(&arena);
}

static int write_and_read(void *context, struct error *err)
{
    const struct made *from = context;
    struct made made = { .spans = from->spans, .n = from->n };
    struct spanblock_header header;
    int result;

    arena_init(&made.arena, 0);
    buffer_init(&made.body, 0);
    buffer_init(&made.header, 0);
    result = spanblock_writer_new(&made.writer, err);
    if (result == 0)
        result = packer_new(&made.packer, err);
    if (result == 0)
        result = unpacker_new(&made.unpacker, err);
    if (result == 0)
        result = make_block(&made, err);
    if (result == 0)
        result = read_all(buffer_slice(&made.body), made.unpacker, &made.arena, err);
    if (result == 0)
        result = spanblock_header_decode(buffer_slice(&made.header), made.unpacker, &made.arena, &header, err);
    done(&made);
    return result;
}

TEST(spanblock_survives_allocations_that_fail)
{
    struct made made;

    make(&made, 16, 60);
    test_each_allocation_failing(write_and_read, &made);
    done(&made);
}
