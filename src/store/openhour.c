// SPDX-License-Identifier: Apache-2.0
#include "store/openhour.h"

#include <stdlib.h>

/* A group of which rows are wanted from the head: what is not in memory. */
struct rest {
    uint32_t id;
    uint32_t place;             /* in rowfilter_groups */
    bool is_recent;             /* its rows are among the recent ones */
    uint8_t n_steps[DAY_SLOTS]; /* of each slot, from its beginning, that were given */
};

struct openhour {
    struct dayread *read;
    const struct openhour_sink *sink;
    const struct day_head *head;
    struct slotcache_head slots;
    int64_t begin_ns, end_ns; /* the part of the hour that lies in the range */
    struct arena arena;
    struct rest *rests; /* [n_rests], by id */
    uint32_t n_rests;
    bool is_sparse; /* they are not all there is */
};

/* --- what is in memory --- */

static int give_span(struct openhour *hour, struct rest *rest, uint32_t number, uint32_t *ret_n_steps,
                     struct error *err)
{
    struct openhour_span span = { .head = &hour->slots,
                                  .place = rest->place,
                                  .group = rest->id,
                                  .number = number,
                                  .start_ns =
                                      hour->slots.hour_ns + (number == SLOTCACHE_HOUR ? 0 : number * DAY_SLOT_NS) };

    return hour->sink->span(hour->sink->context, &span, ret_n_steps, err);
}

/* The hour so far, as if it were slots. */
static int give_hour_so_far(struct openhour *hour, struct rest *rest, struct error *err)
{
    uint32_t n_steps;

    if (give_span(hour, rest, SLOTCACHE_HOUR, &n_steps, err) < 0)
        return -1;
    for (uint32_t slot = 0; slot < DAY_SLOTS; slot++) {
        uint32_t before = slot * SLOTCACHE_SLOT_STEPS;

        rest->n_steps[slot] = (uint8_t)MIN(n_steps - MIN(n_steps, before), (uint32_t)SLOTCACHE_SLOT_STEPS);
    }
    return 0;
}

/* Under the conditions under which roll-ups of closed hours answer. */
static int give_group(struct openhour *hour, const struct rowfilter_group *group, struct rest *rest, struct error *err)
{
    uint32_t n_steps;

    if (group->has_others || group->n_whole != group->n_series)
        return 0;
    if (give_hour_so_far(hour, rest, err) < 0)
        return -1;
    for (uint32_t slot = 0; slot < DAY_SLOTS; slot++) {
        int64_t slot_ns = hour->slots.hour_ns + slot * DAY_SLOT_NS;

        if (rest->n_steps[slot] || slot_ns >= hour->end_ns || slot_ns + DAY_SLOT_NS <= hour->begin_ns)
            continue;
        if (give_span(hour, rest, slot, &n_steps, err) < 0)
            return -1;
        rest->n_steps[slot] = (uint8_t)n_steps;
    }
    return 0;
}

/* --- which rows are wanted besides --- */

/* The first time, at `time_ns` or later, from which rows are still wanted; INT64_MAX = none. */
static int64_t find_time(const struct openhour *hour, const struct rest *rest, int64_t time_ns)
{
    int64_t hour_ns = hour->slots.hour_ns;

    for (time_ns = MAX(time_ns, hour->begin_ns); time_ns < hour->end_ns;) {
        int64_t slot = (time_ns - hour_ns) / DAY_SLOT_NS, slot_ns = hour_ns + slot * DAY_SLOT_NS;
        int64_t given_ns = slot_ns + rest->n_steps[slot] * SLOTCACHE_STEP_NS;

        if (time_ns >= given_ns)
            return time_ns;
        time_ns = given_ns;
    }
    return INT64_MAX;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const struct rest *)a)->id, y = ((const struct rest *)b)->id;

    return x < y ? -1 : x > y;
}

/* Gives what is in memory of all groups, and finds out which rows are wanted besides. */
static int give_groups(struct openhour *hour, struct error *err)
{
    size_t n_groups;
    const struct rowfilter_group *groups = rowfilter_groups(hour->read->filter, &n_groups);

    hour->rests = ARENA_ARRAY(&hour->arena, struct rest, n_groups, err);
    if (!hour->rests)
        return -1;
    for (uint32_t place = 0; place < n_groups; place++) {
        struct rest *rest = &hour->rests[hour->n_rests];
        int64_t first_ns;

        if (rowfilter_next_of_group(hour->read->filter, place, 0) == UINT32_MAX)
            continue;
        *rest = (struct rest){ .id = groups[place].id, .place = place };
        if (give_group(hour, &groups[place], rest, err) < 0)
            return -1;
        first_ns = find_time(hour, rest, hour->begin_ns);
        hour->is_sparse |= first_ns != hour->begin_ns;
        hour->n_rests += first_ns != INT64_MAX;
    }
    qsort(hour->rests, hour->n_rests, sizeof(*hour->rests), by_id);
    return 0;
}

/* The first one with that id or a higher one. */
static const struct rest *find_rest(const struct openhour *hour, uint32_t id)
{
    uint32_t low = 0, high = hour->n_rests;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (hour->rests[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < hour->n_rests ? &hour->rests[low] : NULL;
}

/* --- recent rows --- */

/* The recent rows of the head, and the groups that want no others. */
static int find_recents(struct openhour *hour, uint32_t place, struct recents_list *ret_list, struct error *err)
{
    struct day *day = hour->read->view.day;
    int64_t first_ns = INT64_MAX;

    LOCK_SCOPE(&day->lock);
    *ret_list = (struct recents_list){ 0 };
    if (!day->heads.items[place].has_recents)
        return 0;
    for (uint32_t i = 0; i < hour->n_rests; i++) {
        int64_t time_ns = find_time(hour, &hour->rests[i], INT64_MIN);

        hour->rests[i].is_recent = time_ns >= day->recents.from_ns;
        if (hour->rests[i].is_recent)
            first_ns = MIN(first_ns, time_ns);
    }
    return recents_find(&day->recents, place, hour->read->tenant, first_ns, &hour->arena, ret_list, err);
}

/* Those that are wanted: of groups that want no others. */
static void choose_recents(const struct openhour *hour, struct recents_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct recents_row *row = &list->rows[i];
        const struct rest *rest = find_rest(hour, row->group);

        if (rest && rest->id == row->group && rest->is_recent && rowfilter_wants(hour->read->filter, row->series) &&
            find_time(hour, rest, row->start_ns) == row->start_ns)
            list->rows[n++] = *row;
    }
    list->n = n;
}

static void remove_recents(struct openhour *hour)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < hour->n_rests; i++)
        if (!hour->rests[i].is_recent)
            hour->rests[n++] = hour->rests[i];
    hour->n_rests = n;
}

static int give_recents(struct openhour *hour, uint32_t place, struct error *err)
{
    struct recents_list list;
    struct rowstream *stream;

    if (find_recents(hour, place, &list, err) < 0)
        return -1;
    choose_recents(hour, &list);
    recents_sort(&list);
    remove_recents(hour);
    if (!list.n)
        return 0;
    if (rowstream_new_list(&hour->read->view, hour->head, &list, &stream, err) < 0)
        return -1;
    return dayread_rows(hour->read, stream, hour->sink->row, hour->sink->context, err);
}

/* --- the others --- */

/* The `seek` of a head: goes straight to the rows that are wanted. */
static int seek(void *context, struct rowstream_place *place, bool *ret_has, struct error *err)
{
    const struct openhour *hour = context;
    const struct rest *rest;

    *ret_has = true;
    while (*ret_has && (rest = find_rest(hour, place->group))) {
        uint32_t series;
        int64_t time_ns;

        if (rest->id != place->group)
            *place = (struct rowstream_place){ .tenant = place->tenant, .group = rest->id, .start_ns = INT64_MIN };
        series = rowfilter_next_of_group(hour->read->filter, rest->place, place->series);
        if (series == UINT32_MAX) {
            *ret_has = rowstream_pass_group(place) && place->tenant == hour->read->tenant;
            continue;
        }
        if (series != place->series)
            place->start_ns = INT64_MIN;
        place->series = series;
        time_ns = find_time(hour, rest, place->start_ns);
        if (time_ns != INT64_MAX) {
            place->start_ns = time_ns;
            return 0;
        }
        *ret_has = rowstream_pass_series(place) && place->tenant == hour->read->tenant;
    }
    *ret_has = false;
    return 0;
}

static int give_rows(struct openhour *hour, const struct rowstream_filter *filter, struct error *err)
{
    struct rowstream *stream;

    if (rowstream_new_head(&hour->read->view, hour->head, filter, &stream, err) < 0)
        return -1;
    return dayread_rows(hour->read, stream, hour->sink->row, hour->sink->context, err);
}

/* Nothing in memory knows of ids. */
static int give_all_rows(struct openhour *hour, struct error *err)
{
    return give_rows(hour,
                     &(struct rowstream_filter){ .tenant = hour->read->tenant,
                                                 .from_ns = hour->begin_ns,
                                                 .until_ns = hour->end_ns,
                                                 .wants = dayread_wants,
                                                 .context = hour->read,
                                                 .ids = rowfilter_ids(hour->read->filter) },
                     err);
}

static int give_rest(struct openhour *hour, struct error *err)
{
    return give_rows(hour,
                     &(struct rowstream_filter){
                         .tenant = hour->read->tenant, .seek = seek, .context = hour, .is_sparse = hour->is_sparse },
                     err);
}

int openhour_read(struct dayread *read, size_t number, int64_t from_ns, int64_t until_ns,
                  const struct openhour_sink *sink, struct error *err)
{
    const struct day_head *head = &read->view.head_copies.items[number];
    int64_t hour_ns = read->view.day->start_ns + head->hour * DAY_HOUR_NS;
    struct openhour hour = { .read = read,
                             .sink = sink,
                             .head = head,
                             .slots = { read->view.day, hour_ns, head->number },
                             .begin_ns = MAX(from_ns, hour_ns),
                             .end_ns = MIN(until_ns, hour_ns + DAY_HOUR_NS) };
    int result;

    if (hour.begin_ns >= hour.end_ns)
        return 0;
    if (!sink->span || rowfilter_ids(read->filter))
        return give_all_rows(&hour, err);
    arena_init(&hour.arena, 0);
    result = give_groups(&hour, err);
    if (!result)
        result = give_recents(&hour, read->view.heads.items[number], err);
    if (!result && hour.n_rests)
        result = give_rest(&hour, err);
    arena_done(&hour.arena);
    return result;
}
