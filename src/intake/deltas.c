// SPDX-License-Identifier: Apache-2.0
#include "intake/deltas.h"

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "pack/checksum.h"

#include <stdlib.h>
#include <sys/random.h>

#define MAGIC         "hearthD2"
#define MAX_SERIES    (1u << 20)
#define MAX_WINDOW_NS (24 * 3600 * (int64_t)1000000000)
#define OVERLAP_NS    ((int64_t)1000000000)
#define NONE          UINT32_MAX

/* The counters of one process, sorted by key, each key once: values[row * n_types + type]. */
struct deltas_process {
    uint64_t version; /* unique among all processes that were ever remembered */
    uint64_t place;
    int64_t end_ns;
    int64_t used_mono_ns;
    uint32_t n_rows, n_types;
    struct hash128 *keys;
    int64_t *values;
};

struct series {
    struct hash128 key;
    struct deltas_process *processes[DELTAS_PROCESSES];
    uint32_t n;
    uint32_t older, newer; /* by use */
    bool is_used;
};

struct deltas {
    struct lock_mutex lock;
    char *path;
    uint64_t seed;
    uint64_t max_bytes;
    /* guarded by lock: */
    uint64_t used_bytes;
    uint64_t last_version;
    struct series *series; /* [n_series] */
    uint32_t n_series, capacity;
    uint32_t n_free;
    uint32_t oldest, newest;
    uint32_t free;    /* places that are free again, by `newer` */
    struct map index; /* first word of the key -> place; of two with the same word the later wins */
};

/* --- processes --- */

static uint64_t process_bytes(uint32_t n_rows, uint32_t n_types)
{
    return sizeof(struct deltas_process) + (uint64_t)n_rows * (sizeof(struct hash128) + n_types * sizeof(int64_t));
}

/* Room for the counters of a process, in one piece. */
static struct deltas_process *process_new(uint32_t n_rows, uint32_t n_types, struct error *err)
{
    struct deltas_process *process = memory_alloc(process_bytes(n_rows, n_types), err);

    if (!process)
        return NULL;
    *process = (struct deltas_process){ .n_rows = n_rows, .n_types = n_types };
    process->keys = (struct hash128 *)(process + 1);
    process->values = (int64_t *)(process->keys + n_rows);
    return process;
}

/* --- series --- */

static void unlink_series(struct deltas *d, uint32_t at)
{
    struct series *s = &d->series[at];

    *(s->older == NONE ? &d->oldest : &d->series[s->older].newer) = s->newer;
    *(s->newer == NONE ? &d->newest : &d->series[s->newer].older) = s->older;
}

static void link_series(struct deltas *d, uint32_t at)
{
    struct series *s = &d->series[at];

    s->newer = NONE;
    s->older = d->newest;
    *(s->older == NONE ? &d->oldest : &d->series[s->older].newer) = at;
    d->newest = at;
}

static void forget_process(struct deltas *d, struct series *s, uint32_t i)
{
    d->used_bytes -= process_bytes(s->processes[i]->n_rows, s->processes[i]->n_types);
    memory_free(s->processes[i]);
    s->processes[i] = s->processes[--s->n];
}

static void forget_series(struct deltas *d, uint32_t at)
{
    struct series *s = &d->series[at];

    while (s->n > 0)
        forget_process(d, s, s->n - 1);
    unlink_series(d, at);
    d->used_bytes -= sizeof(*s);
    s->is_used = false;
    s->newer = d->free;
    d->free = at;
    d->n_free++;
}

static struct series *find_series(struct deltas *d, struct hash128 key)
{
    uint32_t *at = map_find(&d->index, key.a);

    return at && d->series[*at].is_used && hash_equal(d->series[*at].key, key) ? &d->series[*at] : NULL;
}

/* The index forgets nothing by itself: once most of it is of series that are gone, it is made anew. */
static int tidy_index(struct deltas *d, struct error *err)
{
    if (d->index.n < 1024 || d->index.n / 2 < d->n_series - d->n_free)
        return 0;
    map_clear(&d->index);
    for (uint32_t at = d->oldest; at != NONE; at = d->series[at].newer)
        if (map_set(&d->index, d->series[at].key.a, at, err) < 0)
            return -1;
    return 0;
}

static int grow_series(struct deltas *d, struct error *err)
{
    uint32_t capacity = d->capacity ? 2 * d->capacity : 64;
    struct series *longer;

    if (capacity > MAX_SERIES)
        return error_set(err, ERR_LIMIT, "more than %u series with counters", MAX_SERIES);
    longer = memory_realloc(d->series, capacity * sizeof(*longer), err);
    if (!longer)
        return -1;
    d->series = longer;
    d->capacity = capacity;
    return 0;
}

/* The series of this key, made if it is new; it is now the newest. */
static int get_series(struct deltas *d, struct hash128 key, struct series **ret_series, struct error *err)
{
    struct series *s = find_series(d, key);
    uint32_t at;

    if (s) {
        unlink_series(d, (uint32_t)(s - d->series));
        link_series(d, (uint32_t)(s - d->series));
        *ret_series = s;
        return 0;
    }
    if (d->free == NONE && d->n_series == MAX_SERIES)
        forget_series(d, d->oldest);
    at = d->free != NONE ? d->free : d->n_series;
    if (at == d->capacity && grow_series(d, err) < 0)
        return -1;
    if (tidy_index(d, err) < 0 || map_set(&d->index, key.a, at, err) < 0)
        return -1;
    if (at == d->free) {
        d->free = d->series[at].newer;
        d->n_free--;
    } else {
        d->n_series++;
    }
    d->used_bytes += sizeof(struct series);
    d->series[at] = (struct series){ .key = key, .is_used = true };
    link_series(d, at);
    *ret_series = &d->series[at];
    return 0;
}

/* Keeps to D3; the newest series stays. */
static void make_room(struct deltas *d)
{
    while (d->used_bytes > d->max_bytes && d->oldest != d->newest)
        forget_series(d, d->oldest);
}

/* Remembers a process, in the place of another where there are too many. */
static void remember(struct deltas *d, struct series *s, struct deltas_process *process)
{
    if (s->n == DELTAS_PROCESSES) {
        uint32_t oldest = 0;

        for (uint32_t i = 1; i < s->n; i++)
            if (s->processes[i]->used_mono_ns < s->processes[oldest]->used_mono_ns)
                oldest = i;
        forget_process(d, s, oldest);
    }
    process->used_mono_ns = clock_mono_ns();
    d->used_bytes += process_bytes(process->n_rows, process->n_types);
    s->processes[s->n++] = process;
}

/* --- one profile --- */

struct sample_key {
    struct hash128 key;
    uint32_t sample;
};

static int compare_keys(struct hash128 a, struct hash128 b)
{
    return a.a != b.a ? (a.a > b.a) - (a.a < b.a) : (a.b > b.b) - (a.b < b.b);
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample_key *x = a, *y = b;
    int order = compare_keys(x->key, y->key);

    return order ? order : (x->sample > y->sample) - (x->sample < y->sample);
}

static bool is_cumulative(const struct value_type *type)
{
    return type->nature == VALUE_FLOW && type->temporality == TEMPORALITY_CUMULATIVE;
}

bool deltas_is_cumulative(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_types; i++)
        if (is_cumulative(&profile->types[i]))
            return true;
    return false;
}

/* The samples sorted by what tells them apart, and which types count. */
struct counters {
    struct sample_key *samples;
    uint32_t types[PROFILE_MAX_TYPES];
    uint32_t n_types;
};

static int gather(const struct profile *profile, const struct content *content, struct arena *scratch,
                  struct counters *c, struct error *err)
{
    c->n_types = 0;
    for (uint32_t i = 0; i < profile->n_types && i < PROFILE_MAX_TYPES; i++)
        if (is_cumulative(&profile->types[i]))
            c->types[c->n_types++] = i;
    c->samples = ARENA_ARRAY(scratch, struct sample_key, profile->n_samples, err);
    if (!c->samples)
        return -1;
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        struct hash128 labels = content->label_sets[profile_label_set(profile, i)];
        struct hash128 link = content->links[profile_link(profile, i)];
        struct hash128 key = hash_fold(content->stacks[profile->stacks[i]], labels.a, labels.b);

        c->samples[i] = (struct sample_key){ hash_fold(key, link.a, link.b), i };
    }
    qsort(c->samples, profile->n_samples, sizeof(*c->samples), compare_samples);
    return 0;
}

/* The counters of a profile as a process to remember; equal samples are added up. */
static struct deltas_process *process_of(const struct profile *profile, const struct counters *c, struct error *err)
{
    struct deltas_process *process;
    uint64_t saturated = 0;
    uint32_t row = 0;

    process = process_new(profile->n_samples, c->n_types, err);
    if (!process)
        return NULL;
    for (uint32_t i = 0; i < profile->n_samples; i++) {
        bool is_same = i > 0 && hash_equal(c->samples[i].key, c->samples[i - 1].key);

        row = i == 0 ? 0 : is_same ? row : row + 1;
        process->keys[row] = c->samples[i].key;
        for (uint32_t k = 0; k < c->n_types; k++) {
            int64_t *value = &process->values[(size_t)row * c->n_types + k];

            *value =
                value_add(is_same ? *value : 0, profile_values(profile, c->types[k])[c->samples[i].sample], &saturated);
        }
    }
    process->n_rows = profile->n_samples ? row + 1 : 0;
    process->end_ns = value_add(profile->start_ns, profile->duration_ns, &saturated);
    return process;
}

static bool is_zero(const struct deltas_process *process, uint32_t row)
{
    for (uint32_t k = 0; k < process->n_types; k++)
        if (process->values[(size_t)row * process->n_types + k] != 0)
            return false;
    return true;
}

/* Passes over rows of the older counters that are below `key`; false where one of them is gone, though it counted. */
static bool pass_rows(const struct deltas_process *older, uint32_t *at, const struct hash128 *key)
{
    while (*at < older->n_rows && (!key || compare_keys(older->keys[*at], *key) < 0))
        if (!is_zero(older, (*at)++))
            return false;
    return true;
}

/* How far the newer counters are above the older ones; negative where one fell or is gone. */
static double distance(const struct deltas_process *older, const struct deltas_process *newer)
{
    double sum = 0;
    uint32_t at = 0;

    if (older->n_types != newer->n_types)
        return -1;
    for (uint32_t row = 0; row < newer->n_rows; row++) {
        bool is_known;

        if (!pass_rows(older, &at, &newer->keys[row]))
            return -1;
        is_known = at < older->n_rows && hash_equal(older->keys[at], newer->keys[row]);
        for (uint32_t k = 0; k < newer->n_types; k++) {
            int64_t before = is_known ? older->values[(size_t)at * older->n_types + k] : 0;
            int64_t now = newer->values[(size_t)row * newer->n_types + k];

            if (now < before)
                return -1;
            sum += (double)now - (double)before;
        }
        at += is_known;
    }
    return pass_rows(older, &at, NULL) ? sum : -1;
}

/* Whether the window of `profile` begins before that of the older one ends: one process has one after the other. Some
 * senders round to whole seconds. */
static bool overlaps(const struct deltas_process *older, const struct profile *profile)
{
    return profile->duration_ns > 0 && profile->start_ns > 0 && older->end_ns - profile->start_ns > OVERLAP_NS;
}

/* The nearest of those that are of `place`, or of all where it is 0. */
static uint32_t find_nearest(const struct series *s, const struct deltas_process *process,
                             const struct profile *profile, uint64_t place)
{
    uint32_t nearest = NONE;
    double best = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        double far;

        if ((place && s->processes[i]->place != place) || overlaps(s->processes[i], profile))
            continue;
        far = distance(s->processes[i], process);
        if (far >= 0 && (nearest == NONE || far < best)) {
            nearest = i;
            best = far;
        }
    }
    return nearest;
}

/* Whether the window of `profile` begins where that of the older one ends. */
static bool continues(const struct deltas_process *older, const struct profile *profile)
{
    return profile->duration_ns > 0 && profile->start_ns > 0 && profile->start_ns - older->end_ns <= OVERLAP_NS;
}

/* The one that `process` follows. */
static uint32_t find_before(const struct series *s, const struct deltas_process *process, const struct profile *profile)
{
    uint32_t nearest = find_nearest(s, process, profile, 0), own;
    const struct deltas_process *other;

    if (nearest == NONE)
        return NONE;
    other = s->processes[nearest];
    if (other->place == process->place || !other->place || !process->place || continues(other, profile))
        return nearest;
    own = find_nearest(s, process, profile, process->place);
    return own != NONE && distance(s->processes[own], other) < 0 ? own : NONE;
}

/* Puts the differences where the counters were: at the first of equal samples, nothing at the others. */
static void put_differences(struct profile *profile, const struct counters *c, const struct deltas_process *before,
                            const struct deltas_process *now)
{
    uint64_t saturated = 0;
    uint32_t row = 0, at = 0;

    for (uint32_t i = 0; i < profile->n_samples; i++) {
        bool is_same = i > 0 && hash_equal(c->samples[i].key, c->samples[i - 1].key), is_known;

        row = i == 0 ? 0 : is_same ? row : row + 1;
        while (before && at < before->n_rows && compare_keys(before->keys[at], now->keys[row]) < 0)
            at++;
        is_known = before && at < before->n_rows && hash_equal(before->keys[at], now->keys[row]);
        for (uint32_t k = 0; k < c->n_types; k++) {
            int64_t *value = &profile->values[(size_t)c->types[k] * profile->stride + c->samples[i].sample];
            int64_t older = is_known ? before->values[(size_t)at * before->n_types + k] : 0;

            *value =
                before && !is_same ? value_subtract(now->values[(size_t)row * now->n_types + k], older, &saturated) : 0;
        }
    }
    for (uint32_t k = 0; k < c->n_types; k++)
        profile->types[c->types[k]].temporality = TEMPORALITY_DELTA;
    profile->counts = NULL; /* they were of all that happened */
}

static void put_window(struct profile *profile, const struct deltas_process *before)
{
    int64_t length_ns = profile->start_ns - before->end_ns;

    if (profile->duration_ns == 0 && before->end_ns > 0 && length_ns > 0 && length_ns <= MAX_WINDOW_NS) {
        profile->start_ns = before->end_ns;
        profile->duration_ns = length_ns;
    }
}

int deltas_apply(struct deltas *deltas, struct deltas_source source, const struct content *content,
                 struct profile *profile, struct arena *scratch, struct deltas_step *ret_step, struct error *err)
{
    struct deltas_step step = { .series = source.series, .is_first = true };
    struct deltas_process *process;
    struct counters counters;
    struct series *s;
    uint32_t before;

    if (gather(profile, content, scratch, &counters, err) < 0)
        return -1;
    process = process_of(profile, &counters, err);
    if (!process)
        return -1;
    LOCK_SCOPE(&deltas->lock);
    if (get_series(deltas, source.series, &s, err) < 0) {
        memory_free(process);
        return -1;
    }
    process->version = step.version = ++deltas->last_version;
    process->place = source.place;
    before = find_before(s, process, profile);
    if (before != NONE) {
        step.before = s->processes[before];
        step.is_first = false;
        deltas->used_bytes -= process_bytes(step.before->n_rows, step.before->n_types);
        s->processes[before] = s->processes[--s->n];
        put_window(profile, step.before);
    }
    put_differences(profile, &counters, step.before, process);
    remember(deltas, s, process);
    make_room(deltas);
    *ret_step = step;
    return 0;
}

void deltas_finish(struct deltas *deltas, struct deltas_step *step, bool is_kept)
{
    LOCK_SCOPE(&deltas->lock);
    struct series *s = is_kept ? NULL : find_series(deltas, step->series);

    for (uint32_t i = 0; s && i < s->n; i++) {
        if (s->processes[i]->version != step->version)
            continue;
        forget_process(deltas, s, i);
        if (step->before)
            remember(deltas, s, TAKE(step->before));
        break;
    }
    memory_free(TAKE(step->before));
}

uint64_t deltas_seed(const struct deltas *deltas)
{
    return deltas->seed;
}

/* --- the state on disk ---
 *
 * 8 bytes magic, u64 seed, then processes, oldest series first: hash128 series, i64 end_ns, u32 n_rows, u32 n_types,
 * u64 place, keys, values; at the end u64 xxh3 of all before it. All little-endian. */

#define HEADER_BYTES  16
#define PROCESS_BYTES (16 + 8 + 4 + 4 + 8)

static void append_u64(struct buffer *out, uint64_t value)
{
    char bytes[8];

    bytes_put_le64(bytes, value);
    buffer_append(out, bytes, sizeof(bytes));
}

static void append_process(struct buffer *out, struct hash128 series, const struct deltas_process *process)
{
    append_u64(out, series.a);
    append_u64(out, series.b);
    append_u64(out, (uint64_t)process->end_ns);
    append_u64(out, (uint64_t)process->n_types << 32 | process->n_rows);
    append_u64(out, process->place);
    buffer_append(out, process->keys, process->n_rows * sizeof(*process->keys));
    buffer_append(out, process->values, (size_t)process->n_rows * process->n_types * sizeof(*process->values));
}

static int write_state(const struct deltas *d, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    buffer_append_text(&out, MAGIC);
    append_u64(&out, d->seed);
    for (uint32_t at = d->oldest; at != NONE; at = d->series[at].newer)
        for (uint32_t i = 0; i < d->series[at].n; i++)
            append_process(&out, d->series[at].key, d->series[at].processes[i]);
    append_u64(&out, checksum_xxh3(buffer_slice(&out)));
    result = buffer_check(&out, err);
    if (result == 0)
        result = fs_write_file(d->path, buffer_slice(&out), err);
    buffer_done(&out);
    return result;
}

static int read_process(struct deltas *d, struct slice *rest, struct error *err)
{
    const char *at = rest->ptr;
    struct hash128 key;
    struct deltas_process *process;
    struct series *s;
    uint32_t n_rows, n_types;
    size_t len;

    if (rest->len < PROCESS_BYTES)
        return error_set(err, ERR_CORRUPT, "a process is cut off");
    key = (struct hash128){ bytes_get_le64(at), bytes_get_le64(at + 8) };
    n_rows = bytes_get_le32(at + 24);
    n_types = bytes_get_le32(at + 28);
    len = (size_t)n_rows * (16 + (size_t)n_types * 8);
    if (n_types > PROFILE_MAX_TYPES || len > rest->len - PROCESS_BYTES)
        return error_set(err, ERR_CORRUPT, "a process of %u rows is cut off", n_rows);
    process = process_new(n_rows, n_types, err);
    if (!process)
        return -1;
    process->end_ns = (int64_t)bytes_get_le64(at + 16);
    process->place = bytes_get_le64(at + 32);
    process->version = ++d->last_version;
    memcpy(process->keys, at + PROCESS_BYTES, len);
    if (get_series(d, key, &s, err) < 0) {
        memory_free(process);
        return -1;
    }
    remember(d, s, process);
    make_room(d);
    *rest = slice_sub(*rest, PROCESS_BYTES + len, SIZE_MAX);
    return 0;
}

static int decode_state(struct deltas *d, struct slice bytes, struct error *err)
{
    struct slice rest;

    if (bytes.len < HEADER_BYTES + 8 || !slice_starts_with(bytes, SLICE(MAGIC)))
        return error_set(err, ERR_CORRUPT, "it is no state of deltas");
    if (bytes_get_le64(bytes.ptr + bytes.len - 8) != checksum_xxh3(slice_sub(bytes, 0, bytes.len - 8)))
        return error_set(err, ERR_CORRUPT, "its checksum is wrong");
    d->seed = bytes_get_le64(bytes.ptr + 8);
    rest = slice_sub(bytes, HEADER_BYTES, bytes.len - HEADER_BYTES - 8);
    while (rest.len > 0)
        if (read_process(d, &rest, err) < 0)
            return -1;
    return 0;
}

/* Reads the state and takes it away (D2). */
static int take_state(struct deltas *d, struct error *err)
{
    struct buffer bytes;
    int result;

    buffer_init(&bytes, 0);
    result = fs_read_file(d->path, 4 * d->max_bytes, &bytes, err);
    if (result < 0 && err->code == ERR_NOT_FOUND) {
        buffer_done(&bytes);
        return 0;
    }
    if (result == 0)
        result = decode_state(d, buffer_slice(&bytes), err);
    buffer_done(&bytes);
    if (result < 0 && err->code == ERR_MEMORY)
        return -1;
    if (result < 0)
        log_warn("intake",
                 "what counters stood at is not known any more, the next profile of each process is its first: "
                 "reading '%s': %s",
                 d->path, err->text);
    if (fs_remove_tree(d->path, err) < 0 || fs_sync_parent(d->path, err) < 0)
        return error_wrap(err, "taking away the state of deltas");
    return 0;
}

static void free_all(struct deltas *d)
{
    for (uint32_t at = 0; at < d->n_series; at++)
        for (uint32_t i = 0; d->series[at].is_used && i < d->series[at].n; i++)
            memory_free(d->series[at].processes[i]);
    memory_free(d->series);
    map_done(&d->index);
    lock_mutex_done(&d->lock);
    memory_free(d->path);
    memory_free(d);
}

static int begin(struct deltas *d, const char *path, struct error *err)
{
    if (getrandom(&d->seed, sizeof(d->seed), 0) != (ssize_t)sizeof(d->seed))
        d->seed = (uint64_t)clock_now_ns();
    if (!path)
        return 0;
    d->path = memory_alloc(strlen(path) + 1, err);
    if (!d->path)
        return -1;
    memcpy(d->path, path, strlen(path) + 1);
    return take_state(d, err);
}

int deltas_new(const char *path, uint64_t max_bytes, struct deltas **ret_deltas, struct error *err)
{
    struct deltas *d = MEMORY_NEW(struct deltas, err);

    if (!d)
        return -1;
    lock_mutex_init(&d->lock, LOCK_INTAKE_DELTAS);
    map_init(&d->index, 0);
    d->oldest = d->newest = d->free = NONE;
    d->max_bytes = max_bytes ? max_bytes : DELTAS_DEFAULT_BYTES;
    if (begin(d, path, err) < 0) {
        free_all(d);
        return -1;
    }
    *ret_deltas = d;
    return 0;
}

void deltas_free(struct deltas *deltas)
{
    struct error err;

    if (!deltas)
        return;
    if (deltas->path && deltas->n_series > 0 && write_state(deltas, &err) < 0)
        log_warn("intake", "what counters stood at will not be known after the start: writing '%s': %s", deltas->path,
                 err.text);
    free_all(deltas);
}
