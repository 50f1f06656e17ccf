// SPDX-License-Identifier: Apache-2.0
#include "scrape/scrapekinds_internal.h"

#include "base/clock.h"
#include "base/suggest.h"

#define SHOWN 64 /* bytes of a text in a message */

/* What Go's net/http/pprof, godeltaprof and fgprof serve. Kinds of one name are the same data. heap and allocs are one
 * data set, which differs by its default column only. */
static const struct known_kind {
    const char *key, *alias;
    const char *name;
    const char *path;
    bool is_default;
    enum scrapeconfig_window window;
} known_kinds[] = {
    { "process_cpu", "profile", "process_cpu", "/debug/pprof/profile", true, SCRAPECONFIG_SECONDS },
    { "memory", "heap", "memory", "/debug/pprof/heap", true, SCRAPECONFIG_SINCE_START },
    { "goroutine", NULL, "goroutine", "/debug/pprof/goroutine", true, SCRAPECONFIG_SINCE_START },
    { "mutex", NULL, "mutex", "/debug/pprof/mutex", true, SCRAPECONFIG_SINCE_START },
    { "block", NULL, "block", "/debug/pprof/block", true, SCRAPECONFIG_SINCE_START },
    { "allocs", NULL, "memory", "/debug/pprof/allocs", false, SCRAPECONFIG_SINCE_START },
    { "threadcreate", NULL, "threadcreate", "/debug/pprof/threadcreate", false, SCRAPECONFIG_SINCE_START },
    { "godeltaprof_memory", "godeltaprof_heap", "memory", "/debug/pprof/delta_heap", false, SCRAPECONFIG_SINCE_LAST },
    { "godeltaprof_mutex", NULL, "mutex", "/debug/pprof/delta_mutex", false, SCRAPECONFIG_SINCE_LAST },
    { "godeltaprof_block", NULL, "block", "/debug/pprof/delta_block", false, SCRAPECONFIG_SINCE_LAST },
    { "fgprof", NULL, "fgprof", "/debug/fgprof", false, SCRAPECONFIG_SECONDS },
};

struct kind_reading {
    struct slice key, name, path;
    enum scrapeconfig_window window;
    const struct configtree *node; /* NULL where the configuration does not mention it */
    uint64_t seconds;
    bool is_enabled, is_delta;
};

struct kinds_reading {
    struct slice path_prefix;
    const struct configtree *kinds;
    struct kind_reading items[SCRAPECONFIG_KINDS_MAX];
    size_t n;
    int64_t interval_ns;
};
static_assert(ARRAY_LEN(known_kinds) < SCRAPECONFIG_KINDS_MAX, "the known kinds leave room for others");

static int read_kind_map(const struct configtree *node, void *field, void *context, struct error *err)
{
    if (node->kind != CONFIGTREE_MAP)
        return configtree_refuse(node, err, "pprof_config is a map, as in {process_cpu: {enabled: true}}");
    *(const struct configtree **)field = node;
    return 0;
}

static const struct configtree_field profiling_fields[] = {
    { "path_prefix", configtree_any_text, offsetof(struct kinds_reading, path_prefix) },
    { "pprof_config", read_kind_map, offsetof(struct kinds_reading, kinds) },
};

static const struct configtree_field kind_fields[] = {
    { "enabled", configtree_bool, offsetof(struct kind_reading, is_enabled) },
    { "path", configtree_text, offsetof(struct kind_reading, path) },
    { "delta", configtree_bool, offsetof(struct kind_reading, is_delta) },
    { "seconds", configtree_uint, offsetof(struct kind_reading, seconds) },
};

static void start_with_known(struct kinds_reading *reading)
{
    for (size_t i = 0; i < ARRAY_LEN(known_kinds); i++) {
        const struct known_kind *known = &known_kinds[i];

        reading->items[reading->n++] = (struct kind_reading){
            .key = slice_from(known->key),
            .name = slice_from(known->name),
            .path = slice_from(known->path),
            .window = known->window,
            .is_enabled = known->is_default,
            .is_delta = known->window == SCRAPECONFIG_SECONDS,
        };
    }
}

/* The kind that `node` is about: a known one, or a new one of its name. NULL with the error set. */
static struct kind_reading *kind_of(struct kinds_reading *reading, const struct configtree *node, struct error *err)
{
    struct kind_reading *added;

    for (size_t i = 0; i < ARRAY_LEN(known_kinds); i++)
        if (slice_is(node->key, known_kinds[i].key) ||
            (known_kinds[i].alias && slice_is(node->key, known_kinds[i].alias)))
            return &reading->items[i];
    if (reading->n == SCRAPECONFIG_KINDS_MAX) {
        error_set(err, ERR_LIMIT, "pprof_config has too many kinds; at most %d are read", SCRAPECONFIG_KINDS_MAX);
        configtree_blame(node, err);
        return NULL;
    }
    if (!relabel_is_name(node->key)) {
        configtree_refuse(node, err, "'%.*s' is no name of profiles; letters, digits and '_' are allowed",
                          SLICE_ARG(slice_sub(node->key, 0, SHOWN)));
        return NULL;
    }
    added = &reading->items[reading->n++];
    *added = (struct kind_reading){ .key = node->key, .name = node->key };
    return added;
}

static int refuse_pathless(const struct configtree *node, struct error *err)
{
    struct suggest nearest = suggest_start(node->key);
    struct slice key = slice_sub(node->key, 0, SHOWN);

    for (size_t i = 0; i < ARRAY_LEN(known_kinds); i++)
        suggest_offer(&nearest, known_kinds[i].key);
    if (nearest.name)
        return configtree_refuse(node, err, "'%.*s' is no known kind of profile; did you mean '%s'? Others need a path",
                                 SLICE_ARG(key), nearest.name);
    return configtree_refuse(node, err, "'%.*s' is no known kind of profile, so it needs a path", SLICE_ARG(key));
}

static int check_path(const struct configtree *node, struct slice path, struct error *err)
{
    if (path.ptr[0] == '/' && slice_find_byte(path, '?') < 0 && slice_find_byte(path, '#') < 0)
        return 0;
    return configtree_refuse(node, err, "path '%.*s' must begin with '/' and have no '?' or '#'; parameters are params",
                             SLICE_ARG(slice_sub(path, 0, SHOWN)));
}

/* Settles what is asked for: `delta` makes a window of `seconds`, or of the interval but for a second in which the next
 * request can begin. */
static int settle_window(const struct kinds_reading *reading, struct kind_reading *kind, struct error *err)
{
    uint64_t interval = (uint64_t)(reading->interval_ns / CLOCK_NS_PER_SECOND);

    if (kind->window == SCRAPECONFIG_SINCE_LAST)
        return kind->seconds == 0
                   ? 0
                   : configtree_refuse(kind->node, err,
                                       "'%.*s' has its own window: since the last scrape; take 'seconds' "
                                       "out",
                                       SLICE_ARG(kind->key));
    if (kind->window == SCRAPECONFIG_SECONDS && !kind->is_delta)
        return configtree_refuse(kind->node, err, "'%.*s' is always of some seconds; take 'delta: false' out",
                                 SLICE_ARG(kind->key));
    if (!kind->is_delta && kind->seconds > 0)
        return configtree_refuse(kind->node, err, "'seconds' needs 'delta: true'");
    kind->window = kind->is_delta ? SCRAPECONFIG_SECONDS : SCRAPECONFIG_SINCE_START;
    if (kind->is_delta && kind->seconds == 0)
        kind->seconds = MAX(interval, (uint64_t)2) - 1;
    if (kind->node && kind->seconds > interval)
        return configtree_refuse(kind->node, err, "seconds: %zu is more than the scrape_interval of %zu seconds",
                                 (size_t)kind->seconds, (size_t)interval);
    return 0;
}

static int read_kind(struct kinds_reading *reading, const struct configtree *node, struct error *err)
{
    struct kind_reading *kind = kind_of(reading, node, err);

    if (!kind)
        return -1;
    if (kind->node)
        return configtree_refuse(node, err, "'%.*s' was given on line %u already, under its other name",
                                 SLICE_ARG(slice_sub(node->key, 0, SHOWN)), kind->node->key_line);
    kind->node = node;
    kind->is_enabled = true; /* to mention one is to want it */
    if (configtree_fill(node, kind_fields, ARRAY_LEN(kind_fields), kind, NULL, err) < 0)
        return -1;
    if (kind->path.len == 0)
        return refuse_pathless(node, err);
    return check_path(node, kind->path, err);
}

/* Of kinds that are the same data, one that is mentioned turns those off that are not; two that are mentioned would
 * count everything twice. */
static int choose_among_same(struct kinds_reading *reading, struct error *err)
{
    for (size_t i = 0; i < reading->n; i++) {
        for (size_t j = 0; j < reading->n; j++) {
            struct kind_reading *kind = &reading->items[i], *other = &reading->items[j];

            if (i == j || !kind->is_enabled || !other->is_enabled || !slice_equal(kind->name, other->name))
                continue;
            if (kind->node && other->node)
                return configtree_refuse(other->node, err,
                                         "'%.*s' and '%.*s' are the same data, which would count twice; keep one",
                                         SLICE_ARG(kind->key), SLICE_ARG(other->key));
            if (kind->node)
                other->is_enabled = false;
        }
    }
    return 0;
}

static int take_kinds(struct kinds_reading *reading, struct arena *arena, const struct scrapeconfig_kind **ret_kinds,
                      size_t *ret_n, struct error *err)
{
    struct scrapeconfig_kind *kinds = ARENA_ARRAY(arena, struct scrapeconfig_kind, reading->n, err);
    size_t n = 0;

    if (!kinds)
        return -1;
    for (size_t i = 0; i < reading->n; i++) {
        struct kind_reading *kind = &reading->items[i];
        char *path;

        if (!kind->is_enabled)
            continue;
        if (settle_window(reading, kind, err) < 0)
            return -1;
        path = arena_printf(arena, err, "%.*s%.*s", SLICE_ARG(reading->path_prefix), SLICE_ARG(kind->path));
        if (!path)
            return -1;
        kinds[n++] = (struct scrapeconfig_kind){ kind->key, kind->name, slice_from(path), kind->window, kind->seconds };
    }
    *ret_kinds = kinds;
    *ret_n = n;
    return 0;
}

int scrapekinds_read(const struct configtree *node, int64_t interval_ns, struct arena *arena,
                     const struct scrapeconfig_kind **ret_kinds, size_t *ret_n, struct error *err)
{
    struct kinds_reading reading = { .interval_ns = interval_ns, .path_prefix = SLICE("") };

    start_with_known(&reading);
    if (node && configtree_fill(node, profiling_fields, ARRAY_LEN(profiling_fields), &reading, NULL, err) < 0)
        return -1;
    while (reading.path_prefix.len > 0 && slice_ends_with(reading.path_prefix, SLICE("/")))
        reading.path_prefix.len--;
    if (reading.path_prefix.len > 0 && check_path(node, reading.path_prefix, err) < 0)
        return -1;
    for (const struct configtree *kind = reading.kinds ? reading.kinds->first : NULL; kind; kind = kind->next)
        if (read_kind(&reading, kind, err) < 0)
            return -1;
    if (choose_among_same(&reading, err) < 0)
        return -1;
    return take_kinds(&reading, arena, ret_kinds, ret_n, err);
}
