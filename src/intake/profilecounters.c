// SPDX-License-Identifier: Apache-2.0
#include "intake/profilecounters.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/memory.h"

#include <stdlib.h>

#define OTHER      "other"
#define QUIET_NS   (3600 * CLOCK_NS_PER_SECOND)
#define NAME_BYTES 96
#define TEXT_MAX   256 /* of a label's value; longer ones are cut */
#define FIXED      2   /* tenant and service_name go before the labels */
#define TEXTS      (FIXED + PROFILECOUNTERS_MAX_LABELS)

struct row {
    uint64_t hash;
    struct row *next; /* in its bucket */
    int64_t added_mono_ns;
    uint64_t total;
    bool is_time; /* in nanoseconds */
    char name[NAME_BYTES];
    struct slice texts[TEXTS];
    char bytes[];
};

struct profilecounters {
    struct lock_mutex lock;
    uint32_t max_rows;
    char *label_bytes;
    struct slice labels[PROFILECOUNTERS_MAX_LABELS];
    uint32_t n_labels;
    /* guarded by lock: */
    struct row **rows; /* [max_rows + 1 or more] */
    uint32_t n_rows;
    struct row **buckets;
    uint32_t n_buckets; /* a power of two */
};

/* --- making --- */

static bool is_word(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return text.len > 0;
}

static int read_labels(struct profilecounters *c, const char *text, struct error *err)
{
    struct slice rest, name;

    c->label_bytes = memory_alloc(strlen(text) + 1, err);
    if (!c->label_bytes)
        return -1;
    memcpy(c->label_bytes, text, strlen(text) + 1);
    rest = slice_from(c->label_bytes);
    while (rest.len > 0 && slice_next_part(&rest, ',', &name)) {
        name = slice_trim(name);
        if (!is_word(name))
            return error_set(err, ERR_INVALID, "'%.*s' is no name of a label: letters, digits and _ make one",
                             SLICE_ARG(name));
        if (c->n_labels == PROFILECOUNTERS_MAX_LABELS)
            return error_set(err, ERR_INVALID, "there are more than %d labels", PROFILECOUNTERS_MAX_LABELS);
        c->labels[c->n_labels++] = name;
    }
    return 0;
}

int profilecounters_new(const struct profilecounters_options *options, struct profilecounters **ret_counters,
                        struct error *err)
{
    struct profilecounters *c = MEMORY_NEW(struct profilecounters, err);

    if (!c)
        return -1;
    lock_mutex_init(&c->lock, LOCK_INTAKE_COUNTERS);
    c->max_rows = options->max_rows;
    for (c->n_buckets = 64; c->n_buckets < c->max_rows; c->n_buckets *= 2)
        ;
    c->rows = memory_alloc_zero(((size_t)c->max_rows + 1) * sizeof(*c->rows), err);
    c->buckets = c->rows ? memory_alloc_zero(c->n_buckets * sizeof(*c->buckets), err) : NULL;
    if (!c->buckets || read_labels(c, options->labels ? options->labels : "", err) < 0) {
        profilecounters_free(c);
        return -1;
    }
    *ret_counters = c;
    return 0;
}

void profilecounters_free(struct profilecounters *counters)
{
    if (!counters)
        return;
    for (uint32_t i = 0; i < counters->n_rows; i++)
        memory_free(counters->rows[i]);
    memory_free(counters->rows);
    memory_free(counters->buckets);
    memory_free(counters->label_bytes);
    lock_mutex_done(&counters->lock);
    memory_free(counters);
}

const struct slice *profilecounters_labels(const struct profilecounters *counters, uint32_t *ret_n)
{
    *ret_n = counters->n_labels;
    return counters->labels;
}

/* --- names --- */

static void append_word(char name[static NAME_BYTES], size_t *at, struct slice word)
{
    if (*at > 0 && *at < NAME_BYTES - 1)
        name[(*at)++] = '_';
    for (size_t i = 0; i < word.len && *at < NAME_BYTES - 1; i++) {
        char c = word.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        name[(*at)++] = is_plain ? c : c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : '_';
    }
    name[*at] = '\0';
}

/* How many nanoseconds one of a unit is; 0 = it is no time. */
static uint64_t unit_ns(struct slice unit)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        { "nanoseconds", 1 }, { "microseconds", 1000 }, { "milliseconds", 1000000 }, { "seconds", 1000000000 }
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (slice_is(unit, units[i].name))
            return units[i].ns;
    return 0;
}

/* "cpu" of process_cpu:cpu, "alloc_space" of memory:alloc_space, "mutex_delay" of mutex:delay. What is called by the name of
 * a time but is none says so, since a family has one unit. */
static void make_name(const struct profilecounters_type *type, bool is_time, char name[static NAME_BYTES])
{
    bool is_cpu = slice_is(type->name, "process_cpu");
    struct slice family = is_cpu ? SLICE("cpu") : type->name;
    size_t at = 0;

    if (!slice_is(type->name, "memory") && !slice_equal(family, type->type))
        append_word(name, &at, family);
    append_word(name, &at, type->type);
    if (!is_time && !slice_is(type->unit, "count") && !slice_is(type->unit, "bytes"))
        append_word(name, &at, type->unit);
    else if (!is_time && (slice_is(type->type, "cpu") || slice_is(type->type, "wall")))
        append_word(name, &at, type->unit);
}

/* --- rows --- */

struct key {
    char name[NAME_BYTES];
    struct slice texts[TEXTS];
    uint64_t hash;
    bool is_time;
};

static void hash_key(struct key *key, uint32_t n_texts)
{
    uint64_t hash = hash_bytes64(slice_from(key->name), 1);

    for (uint32_t i = 0; i < n_texts; i++)
        hash = hash_bytes64(key->texts[i], hash_mix64(hash));
    key->hash = hash;
}

static bool is_row_of(const struct row *row, const struct key *key, uint32_t n_texts)
{
    if (row->hash != key->hash || strcmp(row->name, key->name) != 0)
        return false;
    for (uint32_t i = 0; i < n_texts; i++)
        if (!slice_equal(row->texts[i], key->texts[i]))
            return false;
    return true;
}

static struct row *find_row(const struct profilecounters *c, const struct key *key)
{
    struct row *row = c->buckets[key->hash & (c->n_buckets - 1)];

    while (row && !is_row_of(row, key, FIXED + c->n_labels))
        row = row->next;
    return row;
}

static void remove_row(struct profilecounters *c, uint32_t at)
{
    struct row *row = c->rows[at], **link = &c->buckets[row->hash & (c->n_buckets - 1)];

    while (*link != row)
        link = &(*link)->next;
    *link = row->next;
    memory_free(row);
    c->rows[at] = c->rows[--c->n_rows];
}

/* Lets go of the row that stood still longest, if that is long enough. */
static bool make_room(struct profilecounters *c, int64_t now_mono_ns)
{
    uint32_t oldest = 0;

    for (uint32_t i = 1; i < c->n_rows; i++)
        if (c->rows[i]->added_mono_ns < c->rows[oldest]->added_mono_ns)
            oldest = i;
    if (now_mono_ns - c->rows[oldest]->added_mono_ns < QUIET_NS)
        return false;
    remove_row(c, oldest);
    return true;
}

static struct row *add_row(struct profilecounters *c, const struct key *key)
{
    uint32_t n_texts = FIXED + c->n_labels;
    size_t len = 0;
    struct error ignored;
    struct row *row;
    char *at;

    for (uint32_t i = 0; i < n_texts; i++)
        len += key->texts[i].len;
    row = memory_alloc_zero(sizeof(*row) + len, &ignored);
    if (!row)
        return NULL;
    row->hash = key->hash;
    row->is_time = key->is_time;
    memcpy(row->name, key->name, sizeof(row->name));
    at = row->bytes;
    for (uint32_t i = 0; i < n_texts; i++) {
        row->texts[i] = slice_of(at, key->texts[i].len);
        if (key->texts[i].len > 0)
            memcpy(at, key->texts[i].ptr, key->texts[i].len);
        at += key->texts[i].len;
    }
    row->next = c->buckets[key->hash & (c->n_buckets - 1)];
    c->buckets[key->hash & (c->n_buckets - 1)] = row;
    c->rows[c->n_rows++] = row;
    return row;
}

/* The row of a key, or that of the others. One place is kept for those of each type, as long as there is any. */
static struct row *get_row(struct profilecounters *c, struct key *key, int64_t now_mono_ns)
{
    struct row *row = find_row(c, key);

    if (row)
        return row;
    if (c->n_rows < c->max_rows || (c->n_rows > 0 && make_room(c, now_mono_ns)))
        return add_row(c, key);
    for (uint32_t i = 0; i < FIXED + c->n_labels; i++)
        key->texts[i] = SLICE("");
    key->texts[1] = SLICE(OTHER);
    hash_key(key, FIXED + c->n_labels);
    row = find_row(c, key);
    return row || c->n_rows > c->max_rows ? row : add_row(c, key);
}

void profilecounters_add(struct profilecounters *counters, const struct profilecounters_type *type, struct slice tenant,
                         struct slice service, const struct slice *values, int64_t amount)
{
    uint64_t scale = unit_ns(type->unit), total;
    struct key key = { .is_time = scale > 0 };
    int64_t now_mono_ns = clock_mono_ns();
    struct row *row;

    if (amount <= 0)
        return;
    if (__builtin_mul_overflow((uint64_t)amount, MAX(scale, 1u), &total))
        total = UINT64_MAX;
    make_name(type, key.is_time, key.name);
    key.texts[0] = slice_sub(tenant, 0, TEXT_MAX);
    key.texts[1] = slice_sub(service, 0, TEXT_MAX);
    for (uint32_t i = 0; i < counters->n_labels; i++)
        key.texts[FIXED + i] = slice_sub(values[i], 0, TEXT_MAX);
    hash_key(&key, FIXED + counters->n_labels);
    LOCK_SCOPE(&counters->lock);
    row = get_row(counters, &key, now_mono_ns);
    if (!row)
        return;
    row->added_mono_ns = now_mono_ns;
    row->total += MIN(total, UINT64_MAX - row->total);
}

/* --- showing --- */

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    int order = strcmp(x->name, y->name);

    for (uint32_t i = 0; order == 0 && i < TEXTS; i++)
        order = slice_compare(x->texts[i], y->texts[i]);
    return order;
}

static void append_label(struct buffer *out, char *separator, struct slice name, struct slice value)
{
    if (value.len == 0)
        return;
    buffer_append_byte(out, *separator);
    *separator = ',';
    buffer_append_slice(out, name);
    buffer_append_text(out, "=\"");
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '\n') {
            buffer_append_text(out, "\\n");
            continue;
        }
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, value.ptr[i]);
    }
    buffer_append_byte(out, '"');
}

static void write_row(const struct profilecounters *c, const char *prefix, const struct row *row, struct buffer *out)
{
    char separator = '{';

    buffer_printf(out, "%s_profiles_%s_total", prefix, row->name);
    append_label(out, &separator, SLICE("tenant"), row->texts[0]);
    append_label(out, &separator, SLICE("service_name"), row->texts[1]);
    for (uint32_t i = 0; i < c->n_labels; i++)
        append_label(out, &separator, c->labels[i], row->texts[FIXED + i]);
    if (separator == ',')
        buffer_append_byte(out, '}');
    if (row->is_time)
        buffer_printf(out, " %llu.%09llu\n", (unsigned long long)(row->total / CLOCK_NS_PER_SECOND),
                      (unsigned long long)(row->total % CLOCK_NS_PER_SECOND));
    else
        buffer_printf(out, " %llu\n", (unsigned long long)row->total);
}

/* The rows of one name, which stand behind each other. */
static void write_family(const struct profilecounters *c, const char *prefix, uint32_t from, uint32_t to,
                         struct buffer *out)
{
    const struct row *first = c->rows[from];

    buffer_printf(out,
                  "# HELP %s_profiles_%s_total What profiles of %s come to%s.\n# TYPE %s_profiles_%s_total counter\n",
                  prefix, first->name, first->name, first->is_time ? ", in seconds" : "", prefix, first->name);
    for (uint32_t i = from; i < to; i++)
        write_row(c, prefix, c->rows[i], out);
}

void profilecounters_write(struct profilecounters *counters, struct buffer *out)
{
    LOCK_SCOPE(&counters->lock);

    qsort(counters->rows, counters->n_rows, sizeof(struct row *), compare_rows);
    for (uint32_t from = 0, to; from < counters->n_rows; from = to) {
        for (to = from + 1; to < counters->n_rows; to++)
            if (strcmp(counters->rows[to]->name, counters->rows[from]->name) != 0)
                break;
        write_family(counters, "hearth", from, to, out);
        if (strcmp(counters->rows[from]->name, "cpu") == 0)
            write_family(counters, "pyroscope", from, to, out);
    }
}
