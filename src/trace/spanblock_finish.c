// SPDX-License-Identifier: Apache-2.0
/* Makes columns of what a writer gathered. Spans get their places (B1), classes are sorted so that those of one shape stand
 * together, and the values of attributes are written in the order of classes: so that what an operation always says makes a
 * run of equal numbers. */
#include "base/bytes.h"
#include "base/map.h"
#include "pack/column.h"
#include "pack/varint.h"
#include "trace/spanblock_internal.h"
#include "trace/spanrow.h"

#include <stdlib.h>

#define LEVEL 3

/* Numbers are cut so that planes of a full block get codes of their own; texts so that what is far apart can still be alike. */
#define NUMBER_PIECE_BYTES ((size_t)16 << 10)
#define LETTER_PIECE_BYTES ((size_t)256 << 10)

/* Runs of so many spans look for parents one by one, longer ones in a map. */
#define SHORT_RUN 24u

struct finishing {
    struct spanblock_writer *writer;
    uint32_t n, n_runs;
    uint32_t *places;      /* the row of each place */
    uint32_t *run_starts;  /* [n_runs + 1] */
    uint32_t *class_ranks; /* the new number of each class */
    uint32_t *class_order; /* and back */
    uint32_t *by_class;    /* rows by class, then place */
    uint32_t *class_starts;
    uint64_t *numbers; /* [n], for one column */
    uint32_t *short_numbers;
    struct slice *texts; /* [n], of one column */
    uint32_t *seen;      /* by text: the column in which it was met last, */
    uint32_t *local;     /* and its number there */
    uint32_t n_columns;
};

/* --- places --- */

static bool is_same_run(const struct spanblock_row *a, const struct spanblock_row *b)
{
    return spanrow_slot(a->start_ns) == spanrow_slot(b->start_ns) &&
           memcmp(a->trace_id, b->trace_id, SPAN_TRACE_ID_BYTES) == 0;
}

static int compare_places(const void *a, const void *b, void *context)
{
    const struct spanblock_row *rows = context;
    const struct spanblock_row *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x < y ? -1 : x > y; /* the order in which they came: by id and kind */
}

static int find_places(struct finishing *f, struct error *err)
{
    const struct spanblock_row *rows = f->writer->rows.items;

    f->places = ARENA_ARRAY(&f->writer->work, uint32_t, f->n, err);
    f->run_starts = f->places ? ARENA_ARRAY(&f->writer->work, uint32_t, (size_t)f->n + 1, err) : NULL;
    if (!f->run_starts)
        return -1;
    for (uint32_t i = 0; i < f->n; i++) {
        f->places[i] = i;
        if (i == 0 || !is_same_run(&rows[i - 1], &rows[i]))
            f->run_starts[f->n_runs++] = i;
    }
    f->run_starts[f->n_runs] = f->n;
    for (uint32_t run = 0; run < f->n_runs; run++)
        qsort_r(f->places + f->run_starts[run], f->run_starts[run + 1] - f->run_starts[run], sizeof(*f->places),
                compare_places, f->writer->rows.items);
    return 0;
}

/* --- classes --- */

/* The members of a class in the order in which they matter. */
static int compare_classes(const void *a, const void *b, void *context)
{
    const struct spanblock_writer *writer = context;
    const struct spanblock_class_item *x = &writer->classes.items[*(const uint32_t *)a];
    const struct spanblock_class_item *y = &writer->classes.items[*(const uint32_t *)b];
    const uint32_t keys[][2] = {
        { x->shape, y->shape },
        { writer->resources.items[x->resource].service, writer->resources.items[y->resource].service },
        { x->name, y->name },
        { x->kind, y->kind },
        { x->status, y->status },
        { x->resource, y->resource },
        { x->scope, y->scope },
        { x->flags, y->flags },
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int sort_classes(struct finishing *f, struct error *err)
{
    struct arena *work = &f->writer->work;
    uint32_t n = (uint32_t)f->writer->classes.n;

    f->class_order = ARENA_ARRAY(work, uint32_t, n, err);
    f->class_ranks = f->class_order ? ARENA_ARRAY(work, uint32_t, n, err) : NULL;
    f->class_starts = f->class_ranks ? ARENA_ARRAY(work, uint32_t, (size_t)n + 1, err) : NULL;
    f->by_class = f->class_starts ? ARENA_ARRAY(work, uint32_t, f->n, err) : NULL;
    if (!f->by_class)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        f->class_order[i] = i;
    qsort_r(f->class_order, n, sizeof(*f->class_order), compare_classes, f->writer);
    for (uint32_t i = 0; i < n; i++)
        f->class_ranks[f->class_order[i]] = i;
    return 0;
}

/* Rows by the rank of their class, equal ones by place: counting sort. */
static int order_by_class(struct finishing *f, struct error *err)
{
    uint32_t n_classes = (uint32_t)f->writer->classes.n;
    uint32_t *next = ARENA_ARRAY(&f->writer->work, uint32_t, (size_t)n_classes + 1, err);

    if (!next)
        return -1;
    memset(next, 0, ((size_t)n_classes + 1) * sizeof(*next));
    for (uint32_t i = 0; i < f->n; i++)
        next[f->class_ranks[f->writer->rows.items[i].class_id] + 1]++;
    for (uint32_t i = 0; i < n_classes; i++)
        next[i + 1] += next[i];
    memcpy(f->class_starts, next, ((size_t)n_classes + 1) * sizeof(*next));
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t row = f->places[i];

        f->by_class[next[f->class_ranks[f->writer->rows.items[row].class_id]]++] = row;
    }
    return 0;
}

/* --- sections --- */

int spanblock_pack(struct slice content, size_t piece_bytes, struct packer *packer, struct buffer *out,
                   struct error *err)
{
    for (size_t at = 0; at < content.len; at += piece_bytes)
        if (packer_pack(packer, PACK_ZSTD, LEVEL, slice_sub(content, at, piece_bytes), out, err) < 0)
            return -1;
    return 0;
}

/* Where the sections end up: a directory, which stands in front of them, and their bytes. */
struct body {
    struct buffer *directory, *bytes;
    struct packer *packer;
};

/* Appends a section: compressed, unless that is no gain. */
static int add_section(struct body *body, struct slice content, size_t piece_bytes, struct error *err)
{
    size_t before = body->bytes->len;
    enum spanblock_packing packing = SPANBLOCK_STORED;

    if (piece_bytes > 0) {
        if (spanblock_pack(content, piece_bytes, body->packer, body->bytes, err) < 0)
            return -1;
        packing = SPANBLOCK_PACKED;
    }
    if (packing == SPANBLOCK_STORED || body->bytes->len - before >= content.len) {
        buffer_truncate(body->bytes, before);
        buffer_append_slice(body->bytes, content);
        packing = SPANBLOCK_STORED;
    }
    varint_append(body->directory, content.len << 1 | packing);
    varint_append(body->directory, body->bytes->len - before);
    return buffer_check(body->bytes, err);
}

static const struct spanblock_row *row_at(const struct finishing *f, uint32_t place)
{
    return &f->writer->rows.items[f->places[place]];
}

static bool has_parent(const struct spanblock_row *row)
{
    return bytes_get_le64(row->parent_id) != 0;
}

/* --- parents --- */

/* Where in its run the parent of a span is, or UINT32_MAX. */
static uint32_t find_in_short_run(const struct finishing *f, uint32_t start, uint32_t end, uint64_t parent)
{
    for (uint32_t i = start; i < end; i++)
        if (bytes_get_le64(row_at(f, i)->span_id) == parent)
            return i;
    return UINT32_MAX;
}

static uint32_t parent_code(const struct spanblock_row *row, uint32_t place, uint32_t parent_place,
                            struct buffer *foreign)
{
    if (parent_place == UINT32_MAX) {
        buffer_append(foreign, row->parent_id, SPAN_ID_BYTES);
        return SPANBLOCK_FOREIGN_PARENT;
    }
    return SPANBLOCK_NEAR_PARENT + (uint32_t)varint_zigzag((int64_t)place - parent_place);
}

static int find_parents_of_long_run(struct finishing *f, uint32_t start, uint32_t end, struct map *map,
                                    struct buffer *foreign, struct error *err)
{
    map_clear(map);
    for (uint32_t i = start; i < end; i++) {
        uint32_t first;

        if (map_add(map, bytes_get_le64(row_at(f, i)->span_id), i, &first, err) < 0)
            return -1;
    }
    for (uint32_t i = start; i < end; i++) {
        const struct spanblock_row *row = row_at(f, i);
        const uint32_t *place;

        f->short_numbers[i] = SPANBLOCK_NO_PARENT;
        if (!has_parent(row))
            continue;
        place = map_find(map, bytes_get_le64(row->parent_id));
        f->short_numbers[i] = parent_code(row, i, place ? *place : UINT32_MAX, foreign);
    }
    return 0;
}

static void find_parents_of_short_run(struct finishing *f, uint32_t start, uint32_t end, struct buffer *foreign)
{
    for (uint32_t i = start; i < end; i++) {
        const struct spanblock_row *row = row_at(f, i);

        f->short_numbers[i] = SPANBLOCK_NO_PARENT;
        if (has_parent(row))
            f->short_numbers[i] =
                parent_code(row, i, find_in_short_run(f, start, end, bytes_get_le64(row->parent_id)), foreign);
    }
}

/* Fills short_numbers with the codes of parents; `foreign` gets the ids of those that are not in their run. */
static int find_parents(struct finishing *f, struct buffer *foreign, struct error *err)
{
    struct map map;
    int result = 0;

    map_init(&map, 0);
    for (uint32_t run = 0; run < f->n_runs && result == 0; run++) {
        uint32_t start = f->run_starts[run], end = f->run_starts[run + 1];

        if (end - start <= SHORT_RUN)
            find_parents_of_short_run(f, start, end, foreign);
        else
            result = find_parents_of_long_run(f, start, end, &map, foreign, err);
    }
    map_done(&map);
    return result;
}

/* --- ids, times, members --- */

/* IDS and MEMBERS go together, since looking for parents fills both. */
static int add_ids(struct finishing *f, struct body *body, struct error *err)
{
    struct buffer *ids = &f->writer->section;

    buffer_clear(ids);
    for (uint32_t run = 0; run < f->n_runs; run++)
        buffer_append(ids, row_at(f, f->run_starts[run])->trace_id, SPAN_TRACE_ID_BYTES);
    for (uint32_t i = 0; i < f->n; i++)
        buffer_append(ids, row_at(f, i)->span_id, SPAN_ID_BYTES);
    if (find_parents(f, ids, err) < 0 || buffer_check(ids, err) < 0)
        return -1;
    return add_section(body, buffer_slice(ids), 0, err);
}

static int add_times(struct finishing *f, struct body *body, struct error *err)
{
    struct buffer *times = &f->writer->section;
    uint32_t n = 0;

    buffer_clear(times);
    for (uint32_t run = 0; run < f->n_runs; run++)
        f->numbers[run] = (uint64_t)row_at(f, f->run_starts[run])->start_ns;
    column_encode_u64(f->numbers, f->n_runs, COLUMN_PLAIN, times);
    for (uint32_t run = 0; run < f->n_runs; run++)
        for (uint32_t i = f->run_starts[run] + 1; i < f->run_starts[run + 1]; i++)
            f->numbers[n++] = (uint64_t)(row_at(f, i)->start_ns - row_at(f, i - 1)->start_ns);
    column_encode_u64(f->numbers, n, COLUMN_PLAIN, times);
    for (uint32_t i = 0; i < f->n; i++)
        f->numbers[i] = (uint64_t)row_at(f, i)->duration_ns;
    column_encode_u64(f->numbers, f->n, COLUMN_PLAIN, times);
    if (buffer_check(times, err) < 0)
        return -1;
    return add_section(body, buffer_slice(times), NUMBER_PIECE_BYTES, err);
}

static int add_members(struct finishing *f, struct body *body, struct error *err)
{
    struct buffer *members = &f->writer->section;

    buffer_clear(members);
    column_encode_u32(f->short_numbers, f->n, COLUMN_PLAIN, members); /* parents, as add_ids found them */
    for (uint32_t i = 0; i < f->n; i++)
        f->short_numbers[i] = f->class_ranks[row_at(f, i)->class_id];
    column_encode_u32(f->short_numbers, f->n, COLUMN_PLAIN, members);
    for (uint32_t run = 0; run < f->n_runs; run++)
        f->short_numbers[run] = f->run_starts[run + 1] - f->run_starts[run];
    column_encode_u32(f->short_numbers, f->n_runs, COLUMN_PLAIN, members);
    if (buffer_check(members, err) < 0)
        return -1;
    return add_section(body, buffer_slice(members), NUMBER_PIECE_BYTES, err);
}

/* --- columns of attributes --- */

/* Numbers the distinct texts of a column in the order in which they come: their number, with the index of each value in
 * short_numbers. */
static uint32_t find_distinct(struct finishing *f, const uint64_t *text_ids, uint32_t n)
{
    uint32_t n_distinct = 0;

    f->n_columns++;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t text = text_ids[i];

        if (f->seen[text] != f->n_columns) {
            f->seen[text] = f->n_columns;
            f->texts[n_distinct] = f->writer->texts.items[text];
            f->local[text] = n_distinct++;
        }
        f->short_numbers[i] = f->local[text];
    }
    return n_distinct;
}

/* Whether a table of distinct texts and an index is smaller than the texts themselves. */
static bool is_index_worth_it(const struct finishing *f, uint32_t n, uint32_t n_distinct)
{
    uint64_t cost;

    if (n_distinct == 1 || n_distinct * (uint64_t)4 < n)
        return true;
    cost = spantexts_cost(f->texts, n_distinct);
    return n_distinct * cost + n * (uint64_t)(n_distinct > 256 ? 2 : 1) < n * cost;
}

static void encode_texts(struct finishing *f, uint32_t n)
{
    struct spantexts_out *out = &f->writer->columns;
    uint32_t n_distinct = find_distinct(f, f->numbers, n);

    if (n_distinct < n && !is_index_worth_it(f, n, n_distinct)) {
        for (uint32_t i = 0; i < n; i++)
            f->texts[i] = f->writer->texts.items[f->numbers[i]];
        n_distinct = n;
    }
    varint_append(&out->numbers, n_distinct);
    if (n_distinct > 1 && n_distinct < n)
        column_encode_u32(f->short_numbers, n, COLUMN_PLAIN, &out->numbers);
    spantexts_encode(f->texts, n_distinct, f->numbers, out);
}

/* One column: attribute `key` of the rows from `from` to `to` in the order of classes. Its ends in the three streams go to the
 * tables. */
static void encode_column(struct finishing *f, uint32_t from, uint32_t to, uint32_t key, enum span_value_kind kind)
{
    struct spantexts_out *out = &f->writer->columns;
    size_t numbers = out->numbers.len, letters = out->letters.len, bytes = out->bytes.len;

    for (uint32_t i = from; i < to; i++)
        f->numbers[i - from] = f->writer->values.items[f->writer->rows.items[f->by_class[i]].first_value + key];
    if (spanblock_is_text(kind))
        encode_texts(f, to - from);
    else if (kind != SPAN_VALUE_EMPTY)
        column_encode_u64(f->numbers, to - from, COLUMN_PLAIN, &out->numbers);
    varint_append(&f->writer->tables, out->numbers.len - numbers);
    varint_append(&f->writer->tables, out->letters.len - letters);
    varint_append(&f->writer->tables, out->bytes.len - bytes);
}

/* The columns of all shapes, in the order of shapes, which is that of classes. */
static void encode_columns(struct finishing *f)
{
    const struct spanblock_writer *writer = f->writer;
    uint32_t n_classes = (uint32_t)writer->classes.n;

    for (uint32_t first = 0, last; first < n_classes; first = last) {
        uint32_t id = writer->classes.items[f->class_order[first]].shape;
        struct spanblock_shape_item shape = writer->shapes.items[id];

        for (last = first; last < n_classes && writer->classes.items[f->class_order[last]].shape == id;)
            last++;
        for (uint32_t key = 0; key < shape.n_keys; key++)
            encode_column(f, f->class_starts[first], f->class_starts[last], key,
                          (enum span_value_kind)writer->keys.items[shape.first_key + key].kind);
    }
}

/* --- tables --- */

/* Texts of tables get numbers of their own, in the order in which they are met: values of attributes are not among them. */
struct text_table {
    uint32_t *numbers; /* by text; UINT32_MAX = not met yet */
    struct slice *texts;
    uint32_t n;
};

static void put_table_text(struct finishing *f, struct text_table *table, uint32_t text)
{
    if (table->numbers[text] == UINT32_MAX) {
        table->numbers[text] = table->n;
        table->texts[table->n++] = f->writer->texts.items[text];
    }
    varint_append(&f->writer->tables, table->numbers[text]);
}

static void put_shapes(struct finishing *f, struct text_table *table)
{
    struct spanblock_writer *writer = f->writer;

    varint_append(&writer->tables, writer->shapes.n);
    VEC_EACH (&writer->shapes, shape) {
        varint_append(&writer->tables, shape->n_keys);
        for (uint32_t i = 0; i < shape->n_keys; i++) {
            varint_append(&writer->tables, writer->keys.items[shape->first_key + i].kind);
            put_table_text(f, table, writer->keys.items[shape->first_key + i].key);
        }
    }
}

static void put_classes(struct finishing *f, struct text_table *table)
{
    struct buffer *tables = &f->writer->tables;

    varint_append(tables, f->writer->classes.n);
    for (size_t i = 0; i < f->writer->classes.n; i++) {
        const struct spanblock_class_item *item = &f->writer->classes.items[f->class_order[i]];

        varint_append(tables, item->shape);
        varint_append(tables, item->resource);
        varint_append(tables, item->scope);
        put_table_text(f, table, item->name);
        varint_append(tables, item->kind << 2 | item->status);
        varint_append(tables, item->flags);
    }
}

static void put_owners(struct finishing *f, struct text_table *table)
{
    struct spanblock_writer *writer = f->writer;

    varint_append(&writer->tables, writer->resources.n);
    VEC_EACH (&writer->resources, resource)
        put_table_text(f, table, resource->service);
    varint_append(&writer->tables, writer->scopes.n);
    VEC_EACH (&writer->scopes, scope) {
        put_table_text(f, table, scope->name);
        put_table_text(f, table, scope->version);
    }
}

/* The tables, then the texts they name, then where columns end: so the columns are encoded here. */
static int add_tables(struct finishing *f, struct body *body, struct error *err)
{
    struct arena *work = &f->writer->work;
    struct buffer *tables = &f->writer->tables;
    size_t n_texts = f->writer->texts.n;
    struct text_table table = { .numbers = ARENA_ARRAY(work, uint32_t, n_texts, err) };

    table.texts = table.numbers ? ARENA_ARRAY(work, struct slice, n_texts, err) : NULL;
    if (!table.texts)
        return -1;
    memset(table.numbers, 0xff, n_texts * sizeof(*table.numbers));
    buffer_clear(tables);
    put_owners(f, &table);
    put_shapes(f, &table);
    put_classes(f, &table);
    varint_append(tables, table.n);
    for (uint32_t i = 0; i < table.n; i++) {
        varint_append(tables, table.texts[i].len);
        buffer_append_slice(tables, table.texts[i]);
    }
    encode_columns(f);
    if (buffer_check(tables, err) < 0)
        return -1;
    return add_section(body, buffer_slice(tables), LETTER_PIECE_BYTES, err);
}

static int add_resources(struct finishing *f, struct body *body, struct error *err)
{
    struct buffer *section = &f->writer->section;

    buffer_clear(section);
    VEC_EACH (&f->writer->resources, resource) {
        varint_append(section, resource->attributes.len);
        buffer_append_slice(section, resource->attributes);
    }
    if (buffer_check(section, err) < 0)
        return -1;
    return add_section(body, buffer_slice(section), LETTER_PIECE_BYTES, err);
}

static int add_columns(struct finishing *f, struct body *body, struct error *err)
{
    const struct spantexts_out *out = &f->writer->columns;

    if (buffer_check(&out->numbers, err) < 0 || buffer_check(&out->letters, err) < 0 ||
        buffer_check(&out->bytes, err) < 0)
        return -1;
    if (add_section(body, buffer_slice(&out->numbers), NUMBER_PIECE_BYTES, err) < 0 ||
        add_section(body, buffer_slice(&out->letters), LETTER_PIECE_BYTES, err) < 0)
        return -1;
    return add_section(body, buffer_slice(&out->bytes), 0, err);
}

/* How many spans have extras, their places, the lengths, and the extras themselves. */
static int add_extras(struct finishing *f, struct body *body, struct error *err)
{
    struct buffer *section = &f->writer->section;
    uint32_t n = 0;

    buffer_clear(section);
    for (uint32_t i = 0; i < f->n; i++)
        if (row_at(f, i)->extra_len > 0)
            f->numbers[n++] = i;
    varint_append(section, n);
    column_encode_u64(f->numbers, n, COLUMN_DELTA, section);
    n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (row_at(f, i)->extra_len > 0)
            f->numbers[n++] = row_at(f, i)->extra_len;
    column_encode_u64(f->numbers, n, COLUMN_PLAIN, section);
    for (uint32_t i = 0; i < f->n; i++)
        if (row_at(f, i)->extra_len > 0)
            buffer_append(section, f->writer->extras.data + row_at(f, i)->extra_start, row_at(f, i)->extra_len);
    if (buffer_check(section, err) < 0)
        return -1;
    return add_section(body, buffer_slice(section), LETTER_PIECE_BYTES, err);
}

/* --- all of it --- */

static int prepare(struct finishing *f, struct error *err)
{
    struct spanblock_writer *writer = f->writer;
    struct arena *work = &writer->work;
    size_t n_texts = writer->texts.n;

    f->numbers = ARENA_ARRAY(work, uint64_t, f->n, err);
    f->short_numbers = f->numbers ? ARENA_ARRAY(work, uint32_t, f->n, err) : NULL;
    f->texts = f->short_numbers ? ARENA_ARRAY(work, struct slice, f->n, err) : NULL;
    f->seen = f->texts ? arena_alloc_zero(work, n_texts * sizeof(*f->seen), err) : NULL;
    f->local = f->seen ? ARENA_ARRAY(work, uint32_t, n_texts, err) : NULL;
    if (!f->local)
        return -1;
    buffer_clear(&writer->columns.numbers);
    buffer_clear(&writer->columns.letters);
    buffer_clear(&writer->columns.bytes);
    if (find_places(f, err) < 0 || sort_classes(f, err) < 0)
        return -1;
    return order_by_class(f, err);
}

static int add_sections(struct finishing *f, struct body *body, struct error *err)
{
    if (add_ids(f, body, err) < 0 || add_times(f, body, err) < 0 || add_members(f, body, err) < 0 ||
        add_tables(f, body, err) < 0 || add_resources(f, body, err) < 0 || add_columns(f, body, err) < 0)
        return -1;
    return add_extras(f, body, err);
}

static int encode_body(struct finishing *f, struct packer *packer, struct buffer *out, struct error *err)
{
    AUTO(buffer_done) struct buffer directory = { 0 };
    AUTO(buffer_done) struct buffer bytes = { 0 };
    struct body body = { .directory = &directory, .bytes = &bytes, .packer = packer };

    buffer_init(&directory, 0);
    buffer_init(&bytes, 0);
    if (prepare(f, err) < 0 || add_sections(f, &body, err) < 0 || buffer_check(&directory, err) < 0)
        return -1;
    buffer_append_byte(out, SPANBLOCK_VERSION);
    varint_append(out, f->n);
    varint_append(out, f->n_runs);
    buffer_append_slice(out, buffer_slice(&directory));
    buffer_append_slice(out, buffer_slice(&bytes));
    return buffer_check(out, err);
}

static int list_prefixes(struct finishing *f, struct spanblock_prefixes *ret_prefixes, struct error *err)
{
    struct spanblock_writer *writer = f->writer;

    writer->prefixes.n = 0;
    if (VEC_RESERVE(&writer->prefixes, f->n_runs, SPANBLOCK_MAX_SPANS, err) < 0)
        return -1;
    for (uint32_t run = 0; run < f->n_runs; run++)
        writer->prefixes.items[writer->prefixes.n++] = bytes_get_be64(row_at(f, f->run_starts[run])->trace_id);
    *ret_prefixes = (struct spanblock_prefixes){ .items = writer->prefixes.items, .n = f->n_runs };
    return 0;
}

int spanblock_writer_finish(struct spanblock_writer *writer, struct packer *packer, struct buffer *body,
                            struct buffer *header, struct spanblock_prefixes *ret_prefixes, struct error *err)
{
    struct finishing f = { .writer = writer, .n = (uint32_t)writer->rows.n };
    int result;

    ASSERT(f.n > 0);
    arena_reset(&writer->work);
    result = encode_body(&f, packer, body, err);
    if (result == 0)
        result = spanblock_header_encode(writer, f.n_runs, packer, header, err);
    if (result == 0)
        result = list_prefixes(&f, ret_prefixes, err);
    spanblock_writer_reset(writer);
    return result < 0 ? error_wrap(err, "making a block of spans") : 0;
}
