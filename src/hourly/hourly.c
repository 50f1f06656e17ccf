// SPDX-License-Identifier: Apache-2.0
#include "hourly/hourly.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "hourly/hourly_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const uint64_t default_memory_bytes = (uint64_t)32 << 20;
static const uint64_t min_memory_bytes = (uint64_t)4 << 20;
static const uint64_t default_head_bytes = (uint64_t)64 << 20;
static const int64_t default_close_delay_ns = 300 * CLOCK_NS_PER_SECOND;
static const int64_t room_period_ns = CLOCK_NS_PER_SECOND;

/* --- dates --- */

const char *hourly_day_name(int64_t time_ns, char ret_name[static HOURLY_DAY_BYTES])
{
    char text[CLOCK_TEXT_BYTES];

    clock_format(time_ns, CLOCK_ZONE_UTC, 0, text);
    snprintf(ret_name, HOURLY_DAY_BYTES, "%.*s", HOURLY_DAY_BYTES - 1, text);
    return ret_name;
}

bool hourly_parse_day(const char *name, int64_t *ret_start_ns)
{
    struct error err;

    return clock_parse_date(slice_from(name), ret_start_ns, &err) == 0;
}

/* --- opening --- */

static char *print_path(struct error *err, const char *directory, const char *name)
{
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = memory_alloc(size, err);

    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Readers have their place in the directory for temporary files, called as readers of the store are, who remove what dead
 * ones leave. */
static char *name_scratch(const struct hourly *hourly, struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    char name[64];

    if (!hourly->options.is_read_only)
        return print_path(err, hourly->directory, "tmp");
    snprintf(name, sizeof(name), "hearth-reader-%ld-%s-%llx", (long)getpid(), hourly->options.kind->name,
             (unsigned long long)clock_mono_ns());
    return print_path(err, temporary && *temporary ? temporary : "/tmp", name);
}

static int name_places(struct hourly *hourly, struct error *err)
{
    hourly->directory = print_path(err, hourly->options.data_dir, hourly->options.kind->name);
    if (!hourly->directory)
        return -1;
    if (strlen(hourly->directory) > HOURLY_PATH_BYTES - 128)
        return error_set(err, ERR_INVALID, "the path of the data directory has %zu bytes, at most %d are allowed",
                         strlen(hourly->options.data_dir), HOURLY_PATH_BYTES - 160);
    hourly->quarantine = print_path(err, hourly->options.data_dir, "quarantine");
    hourly->scratch = hourly->quarantine ? name_scratch(hourly, err) : NULL;
    return hourly->scratch ? 0 : -1;
}

static void complete_options(struct hourly_options *options)
{
    if (!options->memory_bytes)
        options->memory_bytes = default_memory_bytes;
    options->memory_bytes = MAX(options->memory_bytes, min_memory_bytes);
    if (!options->max_head_bytes)
        options->max_head_bytes = default_head_bytes;
    if (!options->close_delay_ns)
        options->close_delay_ns = default_close_delay_ns;
}

int hourly_open(const struct hourly_options *options, struct hourly **ret_hourly, struct error *err)
{
    AUTO(hourly_closep) struct hourly *hourly = MEMORY_NEW(struct hourly, err);

    if (!hourly)
        return -1;
    hourly->options = *options;
    complete_options(&hourly->options);
    lock_mutex_init(&hourly->copying, LOCK_HOURLY_COPY);
    lock_mutex_init(&hourly->maintaining, LOCK_HOURLY_MAINTAIN);
    lock_mutex_init(&hourly->lock, LOCK_HOURLY);
    lock_condition_init(&hourly->changed);
    if (name_places(hourly, err) < 0 || kv_shared_new(hourly->options.memory_bytes / 2, &hourly->kv, err) < 0)
        return -1;
    if (!options->is_read_only &&
        (fs_remove_tree(hourly->scratch, err) < 0 || fs_make_directories(hourly->scratch, 0700, err) < 0))
        return error_wrap(err, "opening %s", options->kind->name);
    *ret_hourly = TAKE(hourly);
    return 0;
}

void hourly_close(struct hourly *hourly)
{
    struct error err;

    if (!hourly)
        return;
    VEC_EACH (&hourly->slots, slot) {
        ASSERT(!slot->day->n_users);
        hourly_day_close(slot->day);
    }
    VEC_DONE(&hourly->slots);
    kv_shared_free(hourly->kv);
    if (hourly->scratch && hourly->options.is_read_only)
        IGNORE(fs_remove_tree(hourly->scratch, &err), "it is in the directory for temporary files");
    lock_condition_done(&hourly->changed);
    lock_mutex_done(&hourly->lock);
    lock_mutex_done(&hourly->maintaining);
    lock_mutex_done(&hourly->copying);
    memory_free(hourly->scratch);
    memory_free(hourly->quarantine);
    memory_free(hourly->directory);
    memory_free(hourly);
}

void hourly_closep(struct hourly **hourly)
{
    hourly_close(*hourly);
}

/* --- room --- */

int hourly_check_room(struct hourly *hourly, struct error *err)
{
    uint64_t min_free_bytes = hourly->options.min_free_bytes, wanted_bytes = min_free_bytes;
    int64_t mono_ns = clock_mono_ns();
    struct statvfs info;

    if (!min_free_bytes)
        return 0;
    LOCK_SCOPE(&hourly->lock);
    if (!hourly->room_mono_ns || mono_ns - hourly->room_mono_ns >= room_period_ns) {
        hourly->room_mono_ns = mono_ns;
        /* Once full, a little more must be free before writing begins again, or it would flutter. */
        if (hourly->is_out_of_room && __builtin_add_overflow(min_free_bytes, min_free_bytes / 8, &wanted_bytes))
            wanted_bytes = UINT64_MAX;
        if (statvfs(hourly->directory, &info) == 0)
            hourly->is_out_of_room = (uint64_t)info.f_bavail * info.f_frsize < wanted_bytes;
    }
    if (!hourly->is_out_of_room)
        return 0;
    return error_set(err, ERR_FULL, "the disk of '%s' has less than %llu MiB free: free some, or lower --min-free",
                     hourly->options.data_dir, (unsigned long long)min_free_bytes >> 20);
}

/* --- reading --- */

int hourly_get_index(struct hourly *hourly, int64_t time_ns, struct slice key, struct buffer *into, bool *ret_found,
                     struct error *err)
{
    struct hourly_day *day;
    int result;

    if (hourly_days_acquire(hourly, hourly_day_start(time_ns), HOURLY_READ, &day, err) < 0)
        return -1;
    if (!day) {
        *ret_found = false;
        return 0;
    }
    result = kv_get(day->kv, KV_DEFAULT, key, into, ret_found, err);
    hourly_days_release(hourly, day);
    return result;
}

uint32_t hourly_generation(const struct hourly *hourly)
{
    return atomic_load(&hourly->generation);
}

/* A day that cannot be opened: answers go on without it if nobody can ever read it. */
static int skip_day(struct hourly *hourly, int64_t start_ns, struct error *err)
{
    char name[HOURLY_DAY_BYTES];

    if (err->code != ERR_CORRUPT && err->code != ERR_VERSION)
        return -1;
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&hourly->n_damaged, 1, memory_order_relaxed);
    LOG_EVERY(10, LOG_ERROR, hourly->options.kind->name, "day %s cannot be read and is left out of the answer: %s",
              hourly_day_name(start_ns, name), err->text);
    return 0;
}

static int visit_day(struct hourly *hourly, int64_t start_ns,
                     int (*visit)(void *context, const struct hourly_view *view, struct error *err), void *context,
                     struct error *err)
{
    struct hourly_view view;
    struct hourly_day *day;
    int result;

    if (hourly_days_acquire(hourly, start_ns, HOURLY_READ, &day, err) < 0)
        return skip_day(hourly, start_ns, err);
    if (!day)
        return 0;
    result = hourly_day_view(day, &view, err);
    if (!result) {
        result = visit(context, &view, err);
        hourly_day_view_done(day, &view);
    }
    hourly_days_release(hourly, day);
    return result;
}

int hourly_each_day(struct hourly *hourly, int64_t from_ns, int64_t until_ns, bool is_falling,
                    int (*visit)(void *context, const struct hourly_view *view, struct error *err), void *context,
                    struct error *err)
{
    AUTO(arena_done) struct arena arena;
    struct hourly_list list;

    arena_init(&arena, 0);
    if (hourly_days_list(hourly, &arena, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++) {
        int64_t start_ns = list.starts_ns[is_falling ? list.n - 1 - i : i];

        if (start_ns < until_ns && start_ns + HOURLY_DAY_NS > from_ns &&
            visit_day(hourly, start_ns, visit, context, err) < 0)
            return -1;
    }
    return 0;
}

void hourly_note_damage(struct hourly *hourly, const struct hourly_view *view, const struct error *err)
{
    char name[HOURLY_DAY_BYTES];

    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&hourly->n_damaged, 1, memory_order_relaxed);
    LOG_EVERY(10, LOG_WARN, hourly->options.kind->name, "day %s: damaged, skipped: %s",
              hourly_day_name(view->start_ns, name), err->text);
}

/* --- numbers --- */

struct counting {
    struct hourly *hourly;
    struct hourly_stats stats;
};

static int count_day(void *context, const struct hourly_view *view, struct error *err)
{
    struct counting *counting = context;
    struct hourly_stats *stats = &counting->stats;

    for (size_t i = 0; i < view->n_heads; i++)
        stats->head_bytes += view->heads[i].bytes;
    stats->n_heads += (uint32_t)view->n_heads;
    stats->n_closings += (uint32_t)view->n_closings;
    stats->block_bytes += kv_family_bytes(view->kv, view->block_family);
    stats->disk_bytes += hourly_care_day_bytes(counting->hourly, view->start_ns, true);
    stats->first_day_ns = stats->n_days ? stats->first_day_ns : view->start_ns;
    stats->last_day_ns = view->start_ns;
    stats->n_days++;
    return 0;
}

int hourly_stats(struct hourly *hourly, struct hourly_stats *ret_stats, struct error *err)
{
    struct counting counting = { .hourly = hourly };

    if (hourly_each_day(hourly, INT64_MIN, INT64_MAX, false, count_day, &counting, err) < 0)
        return -1;
    counting.stats.n_damaged = atomic_load_explicit(&hourly->n_damaged, memory_order_relaxed);
    counting.stats.n_set_aside = atomic_load_explicit(&hourly->n_set_aside, memory_order_relaxed);
    counting.stats.n_dropped = atomic_load_explicit(&hourly->n_dropped, memory_order_relaxed);
    lock_mutex_acquire(&hourly->lock);
    counting.stats.n_open = (uint32_t)hourly->slots.n;
    lock_mutex_release(&hourly->lock);
    *ret_stats = counting.stats;
    return 0;
}
