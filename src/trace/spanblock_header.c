// SPDX-License-Identifier: Apache-2.0
/* Headers of blocks: how many spans each operation has, how many failed, and how long they took. */
#include "pack/varint.h"
#include "trace/spanblock_internal.h"
#include "trace/spanbuckets.h"
#include "trace/spanparts_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define PIECE_BYTES ((size_t)1 << 20)

/* A span in its operation: what is sorted to make the table. */
#define BUCKET_BITS 10
static_assert(SPANBUCKETS_COUNT <= 1u << BUCKET_BITS, "a bucket fits its bits");
static_assert((uint64_t)SPANBLOCK_MAX_SPANS << BUCKET_BITS <= UINT32_MAX, "an operation and a bucket fit a word");

struct summary {
    uint32_t n_spans, n_errors, n_buckets;
    int64_t min_ns, max_ns, total_ns;
};

/* --- writing --- */

/* The operations of classes: (service, name), sorted by their texts. */
struct operations {
    uint32_t *of_class;
    uint32_t *classes; /* one class of each operation, and before that all of them */
    struct summary *summaries;
    uint32_t n;
};

static struct slice service_of(const struct spanblock_writer *writer, uint32_t class_id)
{
    return writer->texts.items[writer->resources.items[writer->classes.items[class_id].resource].service];
}

static struct slice name_of(const struct spanblock_writer *writer, uint32_t class_id)
{
    return writer->texts.items[writer->classes.items[class_id].name];
}

static int compare_operations(const void *a, const void *b, void *context)
{
    const struct spanblock_writer *writer = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = slice_compare(service_of(writer, x), service_of(writer, y));

    return order ? order : slice_compare(name_of(writer, x), name_of(writer, y));
}

static int find_operations(struct spanblock_writer *writer, struct operations *operations, struct error *err)
{
    uint32_t n_classes = (uint32_t)writer->classes.n;

    operations->of_class = ARENA_ARRAY(&writer->work, uint32_t, n_classes, err);
    operations->classes = operations->of_class ? ARENA_ARRAY(&writer->work, uint32_t, n_classes, err) : NULL;
    operations->summaries =
        operations->classes ? arena_alloc_zero(&writer->work, n_classes * sizeof(struct summary), err) : NULL;
    if (!operations->summaries)
        return -1;
    for (uint32_t i = 0; i < n_classes; i++)
        operations->classes[i] = i;
    qsort_r(operations->classes, n_classes, sizeof(*operations->classes), compare_operations, writer);
    for (uint32_t i = 0; i < n_classes; i++) {
        uint32_t id = operations->classes[i];

        if (operations->n == 0 || compare_operations(&operations->classes[operations->n - 1], &id, writer) != 0)
            operations->classes[operations->n++] = id;
        operations->of_class[id] = operations->n - 1;
    }
    return 0;
}

static void summarise(struct summary *summary, const struct spanblock_row *row, bool is_error)
{
    if (summary->n_spans == 0 || row->duration_ns < summary->min_ns)
        summary->min_ns = row->duration_ns;
    summary->max_ns = MAX(summary->max_ns, row->duration_ns);
    if (__builtin_add_overflow(summary->total_ns, row->duration_ns, &summary->total_ns))
        summary->total_ns = INT64_MAX;
    summary->n_spans++;
    summary->n_errors += is_error;
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Fills the summaries and gives a word for each span, sorted: its operation and its bucket. */
static int count_spans(struct spanblock_writer *writer, struct operations *operations, uint32_t **ret_words,
                       struct error *err)
{
    uint32_t *words = ARENA_ARRAY(&writer->work, uint32_t, writer->rows.n, err);

    if (!words)
        return -1;
    for (size_t i = 0; i < writer->rows.n; i++) {
        const struct spanblock_row *row = &writer->rows.items[i];
        uint32_t operation = operations->of_class[row->class_id];

        summarise(&operations->summaries[operation], row, writer->classes.items[row->class_id].status == SPAN_ERROR);
        words[i] = operation << BUCKET_BITS | spanbuckets_find(row->duration_ns);
    }
    qsort(words, writer->rows.n, sizeof(*words), compare_words);
    for (size_t i = 0; i < writer->rows.n; i++)
        if (i == 0 || words[i] != words[i - 1])
            operations->summaries[words[i] >> BUCKET_BITS].n_buckets++;
    *ret_words = words;
    return 0;
}

/* The buckets of one operation, whose words begin at `word`; returns the first word behind them. */
static const uint32_t *put_buckets(const uint32_t *word, const struct summary *summary, struct buffer *out)
{
    const uint32_t *end = word + summary->n_spans;
    uint32_t before = 0;

    varint_append(out, summary->n_buckets);
    while (word < end) {
        uint32_t bucket = *word & ((1u << BUCKET_BITS) - 1), n = 1;

        while (word + n < end && word[n] == *word)
            n++;
        varint_append(out, bucket - before);
        varint_append(out, n);
        before = bucket;
        word += n;
    }
    return word;
}

static void put_operations(const struct spanblock_writer *writer, const struct operations *operations,
                           const uint32_t *words, struct buffer *out)
{
    struct slice service = SLICE("");

    varint_append(out, operations->n);
    for (uint32_t i = 0; i < operations->n; i++) {
        const struct summary *summary = &operations->summaries[i];
        struct slice own = service_of(writer, operations->classes[i]);
        bool is_same = i > 0 && slice_equal(own, service);

        varint_append(out, is_same ? 0 : own.len + 1);
        if (!is_same)
            buffer_append_slice(out, own);
        service = own;
        spanparts_put_text(out, name_of(writer, operations->classes[i]));
        varint_append(out, summary->n_spans);
        varint_append(out, summary->n_errors);
        varint_append(out, (uint64_t)summary->min_ns);
        varint_append(out, (uint64_t)(summary->max_ns - summary->min_ns));
        varint_append(out, (uint64_t)summary->total_ns);
        words = put_buckets(words, summary, out);
    }
}

static void put_range(const struct spanblock_writer *writer, struct buffer *out)
{
    int64_t first = INT64_MAX, last = 0;

    for (size_t i = 0; i < writer->rows.n; i++) {
        first = MIN(first, writer->rows.items[i].start_ns);
        last = MAX(last, writer->rows.items[i].start_ns);
    }
    varint_append(out, (uint64_t)first);
    varint_append(out, (uint64_t)(last - first));
}

int spanblock_header_encode(struct spanblock_writer *writer, uint32_t n_runs, struct packer *packer, struct buffer *out,
                            struct error *err)
{
    struct operations operations = { 0 };
    struct buffer *content = &writer->section;
    uint32_t *words;

    if (find_operations(writer, &operations, err) < 0 || count_spans(writer, &operations, &words, err) < 0)
        return -1;
    buffer_clear(content);
    put_range(writer, content);
    put_operations(writer, &operations, words, content);
    if (buffer_check(content, err) < 0)
        return -1;
    buffer_append_byte(out, SPANBLOCK_HEADER_VERSION);
    varint_append(out, writer->rows.n);
    varint_append(out, n_runs);
    varint_append(out, content->len);
    return spanblock_pack(buffer_slice(content), PIECE_BYTES, packer, out, err);
}

/* --- reading --- */

static bool is_behind(const struct spanblock_operation *before, const struct spanblock_operation *operation)
{
    int order = slice_compare(before->service, operation->service);

    return order < 0 || (order == 0 && slice_compare(before->name, operation->name) < 0);
}

static int read_buckets(struct spanparts_reader *r, struct arena *arena, struct spanblock_operation *operation,
                        struct error *err)
{
    uint32_t n = (uint32_t)spanparts_number(r, MIN(operation->n_spans, SPANBUCKETS_COUNT), "number of buckets");
    struct spanblock_bucket *buckets = ARENA_ARRAY(arena, struct spanblock_bucket, n, err);
    uint64_t bucket = 0, total = 0;

    if (!buckets)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t step = spanparts_number(r, SPANBUCKETS_COUNT - 1 - bucket, "bucket");

        if (i > 0 && step == 0)
            spanparts_fail(r, "bucket behind the one before");
        bucket += step;
        buckets[i].bucket = (uint32_t)bucket;
        buckets[i].n = (uint32_t)spanparts_number(r, operation->n_spans - total, "number of spans in a bucket");
        total += buckets[i].n;
    }
    if (total != operation->n_spans)
        spanparts_fail(r, "sum of buckets");
    operation->buckets = buckets;
    operation->n_buckets = n;
    return 0;
}

static int read_operation(struct spanparts_reader *r, struct slice service_before, uint64_t max_spans,
                          struct arena *arena, struct spanblock_operation *operation, struct error *err)
{
    size_t len = spanparts_number(r, SPAN_MAX_NAME_BYTES + 1, "service");

    *operation = (struct spanblock_operation){ .service = service_before };
    if (len > 0)
        operation->service = spanparts_bytes(r, len - 1, "service");
    operation->name = spanparts_text(r, SPAN_MAX_NAME_BYTES, "name");
    operation->n_spans = (uint32_t)spanparts_number(r, max_spans, "number of spans");
    if (operation->n_spans == 0)
        spanparts_fail(r, "number of spans");
    operation->n_errors = (uint32_t)spanparts_number(r, operation->n_spans, "number of errors");
    operation->min_duration_ns = (int64_t)spanparts_number(r, INT64_MAX, "shortest duration");
    operation->max_duration_ns =
        operation->min_duration_ns +
        (int64_t)spanparts_number(r, (uint64_t)(INT64_MAX - operation->min_duration_ns), "longest duration");
    operation->total_ns = (int64_t)spanparts_number(r, INT64_MAX, "sum of durations");
    return read_buckets(r, arena, operation, err);
}

static int read_operations(struct spanparts_reader *r, struct arena *arena, struct spanblock_header *header,
                           struct error *err)
{
    uint32_t n =
        (uint32_t)spanparts_number(r, MIN(header->n_spans, (uint64_t)(r->end - r->at)), "number of operations");
    struct spanblock_operation *operations = ARENA_ARRAY(arena, struct spanblock_operation, n, err);
    struct slice service = SLICE("");
    uint64_t n_spans = 0;

    if (!operations)
        return -1;
    for (uint32_t i = 0; i < n && !r->bad_at; i++) {
        if (read_operation(r, service, header->n_spans - n_spans, arena, &operations[i], err) < 0)
            return -1;
        if (i > 0 && !is_behind(&operations[i - 1], &operations[i]))
            spanparts_fail(r, "operation behind the one before");
        service = operations[i].service;
        n_spans += operations[i].n_spans;
    }
    if (n_spans != header->n_spans)
        spanparts_fail(r, "sum of spans");
    header->operations = operations;
    header->n_operations = n;
    return 0;
}

static int read_content(struct slice content, struct arena *arena, struct spanblock_header *header, struct error *err)
{
    struct spanparts_reader r;

    content = arena_copy(arena, content, err); /* texts borrow it, and the unpacker's will be gone */
    if (!content.ptr)
        return -1;
    r = spanparts_reader_of(content);
    header->min_start_ns = (int64_t)spanparts_number(&r, INT64_MAX, "first start");
    header->max_start_ns = header->min_start_ns +
                           (int64_t)spanparts_number(&r, (uint64_t)(INT64_MAX - header->min_start_ns), "last start");
    if (read_operations(&r, arena, header, err) < 0)
        return -1;
    return spanparts_check(&r, err);
}

static int decode(struct slice bytes, struct unpacker *unpacker, struct arena *arena, struct spanblock_header *header,
                  struct error *err)
{
    struct slice rest = slice_sub(bytes, 1, SIZE_MAX), content;
    uint64_t n_spans, n_runs, len;

    if (bytes.len == 0)
        return error_set(err, ERR_CORRUPT, "it is empty");
    if ((uint8_t)bytes.ptr[0] != SPANBLOCK_HEADER_VERSION)
        return error_set(err, ERR_VERSION, "is of version %u, this program reads version %u", (uint8_t)bytes.ptr[0],
                         SPANBLOCK_HEADER_VERSION);
    if (!varint_next(&rest, &n_spans) || !varint_next(&rest, &n_runs) || !varint_next(&rest, &len) ||
        n_spans > SPANBLOCK_MAX_SPANS || n_spans == 0 || n_runs > n_spans || n_runs == 0 || len > SPANBLOCK_MAX_BYTES)
        return error_set(err, ERR_CORRUPT, "no valid numbers of spans and bytes at its front");
    if (unpacker_unpack(unpacker, PACK_ZSTD, rest, len, &content, err) < 0) {
        if (err->code != ERR_MEMORY)
            err->code = ERR_CORRUPT;
        return -1;
    }
    *header = (struct spanblock_header){ .n_spans = (uint32_t)n_spans, .n_runs = (uint32_t)n_runs };
    return read_content(content, arena, header, err);
}

int spanblock_header_decode(struct slice bytes, struct unpacker *unpacker, struct arena *arena,
                            struct spanblock_header *ret_header, struct error *err)
{
    struct spanblock_header header;

    if (decode(bytes, unpacker, arena, &header, err) < 0)
        return error_wrap(err, "header of a block of spans");
    *ret_header = header;
    return 0;
}
