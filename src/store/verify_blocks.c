// SPDX-License-Identifier: Apache-2.0
/* Closed hours. Rows are added up per group and compared with the roll-ups. What is compared is not sums by stack,
 * which would take as much memory as there are stacks, but one number made of them: the sum of value times a multiplier
 * that belongs to stack and type, modulo 2^64. It is the same for rows, for sums of rows and for sums of sums, and
 * other sums give another one. */
#include "block/part.h"
#include "block/spanindex.h"
#include "store/verify_internal.h"

#include <stdio.h>

enum { MAX_STACKS = HEADROW_MAX_SAMPLES, WHAT_BYTES = STORE_TENANT_MAX_BYTES + 100 };

/* Values added up. */
struct sums {
    uint64_t n_rows;
    uint64_t number;
    int64_t duration_ns;
    uint64_t saturated; /* some are at the edge of 64 bits: then only rows can be compared */
};

/* Values of one kind and one closing. */
struct stream {
    struct verify_walk walk;
    struct storekey_block key; /* where it stands */
};
enum { WINDOWS, SUMS, SAMPLES, SLOTS, WHOLE, SPANS, TALLY, STREAMS };
static const enum storekey_kind stream_kinds[STREAMS] = {
    STOREKEY_WINDOWS,    STOREKEY_SUMS,  STOREKEY_SAMPLES, STOREKEY_GROUP_SLOT,
    STOREKEY_GROUP_HOUR, STOREKEY_SPANS, STOREKEY_TALLY,
};

/* One closing of an hour, as far as it is the tenant's. */
struct pass {
    struct verify_run *run;
    uint8_t hour;
    struct verify_closing *closing; /* NULL: the hour has none */
    bool is_first;                  /* values of no closing are found now, and not again */
    struct stream streams[STREAMS];
    bool is_cut;    /* something of it is bad */
    bool is_unsure; /* something of it is too large to be read: nothing can be expected of counts */
    struct tally tally;

    /* of the group that comes now */
    uint32_t group;
    struct sums rows[DAY_SLOTS];
    struct sums slots[DAY_SLOTS];
    struct sums whole;
    bool is_group_cut; /* a part of it is bad: its roll-ups go, too */
    bool is_group_unsure;
    uint32_t series; /* of the part before */
    int64_t last_start_ns;
    uint32_t last_sequence;
};

/* --- streams --- */

static const char *kind_name(enum storekey_kind kind)
{
    switch (kind) {
    case STOREKEY_GROUP_SLOT: return "five-minute roll-up";
    case STOREKEY_GROUP_HOUR: return "hourly roll-up";
    case STOREKEY_SUMS: return "sums";
    case STOREKEY_SAMPLES: return "samples";
    case STOREKEY_TALLY: return "tally";
    case STOREKEY_WINDOWS: return "windows";
    case STOREKEY_SPANS: return "span index";
    }
    return "values";
}

static bool has_closing(const struct verify_run *run, uint8_t hour, uint32_t number)
{
    for (size_t i = 0; i < run->closings.n; i++)
        if (run->closings.items[i].marker.hour == hour && run->closings.items[i].marker.number == number)
            return true;
    return false;
}

static bool is_replaced(const struct verify_run *run, uint8_t hour, uint32_t number)
{
    for (size_t i = 0; i < run->closings.n; i++)
        if (run->closings.items[i].marker.hour == hour && number < run->closings.items[i].marker.replaces_below)
            return true;
    return false;
}

/* A value that is no part of this closing: nothing to say if another one has it, or had it before it was replaced. */
static int pass_foreign(struct pass *pass, const struct stream *stream, bool is_key, struct error *err)
{
    struct verify_run *run = pass->run;
    bool was_replaced = is_key && is_replaced(run, pass->hour, stream->key.number);

    /* Values of another closing that counts are counted when it is its turn. */
    if (!pass->is_first || (is_key && !was_replaced && has_closing(run, pass->hour, stream->key.number)))
        return 0;
    run->verify->n_values++;
    if (was_replaced)
        return 0;
    verify_find(run, "hour %02u of tenant '%s': a value of kind '%c' %s", pass->hour, run->tenant.name,
                verify_walk_key(&stream->walk).ptr[1],
                is_key ? "belongs to no closing of the hour" : "has a damaged key");
    verify_mended(run);
    return verify_set_aside(run, stream->walk.family, verify_walk_key(&stream->walk), verify_walk_value(&stream->walk),
                            err);
}

/* Goes on to a value of this closing. */
static int settle(struct pass *pass, struct stream *stream, struct error *err)
{
    while (stream->walk.is_valid) {
        bool is_key = storekey_parse_block(verify_walk_key(&stream->walk), &stream->key);

        if (is_key && pass->closing && stream->key.number == pass->closing->marker.number) {
            pass->run->verify->n_values++;
            return 0;
        }
        if (pass_foreign(pass, stream, is_key, err) < 0 || verify_walk_next(&stream->walk, err) < 0)
            return -1;
    }
    return 0;
}

static int open_streams(struct pass *pass, struct error *err)
{
    struct verify_run *run = pass->run;

    for (unsigned i = 0; i < STREAMS; i++) {
        struct storekey prefix = storekey_block(
            (struct storekey_block){ .hour = pass->hour, .kind = stream_kinds[i], .tenant = run->tenant.id });

        if (verify_walk_open(&pass->streams[i].walk, run, run->day->block_family, slice_of(prefix.bytes, 6), err) < 0 ||
            settle(pass, &pass->streams[i], err) < 0)
            return -1;
    }
    return 0;
}

static void close_streams(struct pass *pass)
{
    for (unsigned i = 0; i < STREAMS; i++)
        verify_walk_close(&pass->streams[i].walk);
}

static int advance(struct pass *pass, struct stream *stream, struct error *err)
{
    return verify_walk_next(&stream->walk, err) < 0 ? -1 : settle(pass, stream, err);
}

static size_t value_bytes(const struct stream *stream)
{
    return verify_walk_key(&stream->walk).len + verify_walk_value(&stream->walk).len;
}

static int set_stream_aside(struct pass *pass, const struct stream *stream, struct error *err)
{
    pass->is_cut = true;
    return verify_set_aside(pass->run, stream->walk.family, verify_walk_key(&stream->walk),
                            verify_walk_value(&stream->walk), err);
}

/* "hour 07 of tenant 'default': the windows of series 3, closing 0, part 2", in `ret_text`. */
static const char *describe(const struct pass *pass, const struct storekey_block *key, const char *what,
                            char ret_text[static WHAT_BYTES])
{
    bool is_group = key->kind == STOREKEY_GROUP_SLOT || key->kind == STOREKEY_GROUP_HOUR;

    snprintf(ret_text, WHAT_BYTES, "hour %02u of tenant '%s': the %s of %s %u, closing %u, part %u", pass->hour,
             pass->run->tenant.name, what, is_group ? "group" : "series", is_group ? key->group : key->series,
             key->number, key->part);
    return ret_text;
}

/* --- sums --- */

static void add_values(struct sums *sums, const uint32_t *stacks, const int64_t *values, size_t stride, uint32_t n,
                       uint32_t n_types)
{
    for (uint32_t type = 0; type < n_types; type++)
        for (uint32_t i = 0; i < n; i++) {
            int64_t value = values[type * stride + i];
            uint64_t multiplier = hash_mix64(((uint64_t)stacks[i] << 8 | type) + 1) | 1;

            sums->number += multiplier * (uint64_t)value;
            sums->saturated += value == INT64_MAX || value == INT64_MIN;
        }
}

static void add_rows(struct sums *sums, uint64_t n_rows, int64_t duration_ns)
{
    sums->n_rows += n_rows;
    sums->duration_ns = value_add(sums->duration_ns, duration_ns, &sums->saturated);
}

static void add_sums(struct sums *sums, const struct sums *more)
{
    add_rows(sums, more->n_rows, more->duration_ns);
    sums->number += more->number;
    sums->saturated += more->saturated;
}

static bool are_equal(const struct sums *a, const struct sums *b)
{
    if (a->saturated || b->saturated)
        return a->n_rows == b->n_rows;
    return a->n_rows == b->n_rows && a->number == b->number && a->duration_ns == b->duration_ns;
}

/* --- parts --- */

struct part {
    struct storekey_block key;
    bool has[3];
    struct windows windows;
    struct rollup sums;
    struct part_rows *rows;
};

/* The part that comes first among windows, sums and samples, if it is one of the group. */
static bool find_part(const struct pass *pass, struct part *part)
{
    bool is_found = false;

    for (unsigned i = WINDOWS; i <= SAMPLES; i++) {
        const struct storekey_block *key = &pass->streams[i].key;

        if (!pass->streams[i].walk.is_valid || key->group != pass->group)
            continue;
        if (!is_found || key->series < part->key.series ||
            (key->series == part->key.series && key->part < part->key.part))
            part->key = *key;
        is_found = true;
    }
    for (unsigned i = WINDOWS; i <= SAMPLES && is_found; i++) {
        const struct storekey_block *key = &pass->streams[i].key;

        part->has[i] = pass->streams[i].walk.is_valid && key->group == pass->group && key->series == part->key.series &&
                       key->part == part->key.part;
    }
    return is_found;
}

static int decode_part(struct pass *pass, struct part *part, struct error *err)
{
    struct verify_run *run = pass->run;
    const struct stream *streams = pass->streams;

    for (unsigned i = WINDOWS; i <= SAMPLES; i++)
        if (!part->has[i])
            return error_set(err, ERR_CORRUPT, "its %s are not there", kind_name(stream_kinds[i]));
    arena_reset(&run->arena);
    if (windows_decode(verify_walk_value(&streams[WINDOWS].walk), run->unpacker, &run->arena, &part->windows, err) <
            0 ||
        rollup_decode(verify_walk_value(&streams[SUMS].walk), MAX_STACKS, run->unpacker, &run->arena, &part->sums,
                      err) < 0 ||
        part_rows_open(verify_walk_value(&streams[SAMPLES].walk), &part->windows, &part->sums, run->unpacker,
                       &run->arena, &part->rows, err) < 0)
        return -1;
    return part_rows_check(part->rows, err);
}

/* What the part has to have in common with its key, its series and the part before. */
static int check_place(struct pass *pass, const struct part *part, struct error *err)
{
    const struct verify_series *series = verify_find_series(&pass->run->tenant, part->key.series);
    const struct windows *windows = &part->windows;
    int64_t from_ns = pass->run->day->start_ns + pass->hour * DAY_HOUR_NS;
    uint32_t last = windows->n_rows - 1;

    if (!series)
        return error_set(err, ERR_CORRUPT, "there is no such series");
    if (series->group != part->key.group || series->n_types != windows->n_types)
        return error_set(err, ERR_CORRUPT, "group %u with %u types, the series is of group %u and has %u",
                         part->key.group, windows->n_types, series->group, series->n_types);
    if (windows->n_rows == 0)
        return error_set(err, ERR_CORRUPT, "it has no rows");
    if (windows->starts_ns[0] < from_ns || windows->starts_ns[last] >= from_ns + DAY_HOUR_NS)
        return error_set(err, ERR_CORRUPT, "its rows do not start in the hour");
    if (pass->series == part->key.series &&
        (windows->starts_ns[0] < pass->last_start_ns ||
         (windows->starts_ns[0] == pass->last_start_ns && windows->sequences[0] < pass->last_sequence)))
        return error_set(err, ERR_CORRUPT, "its rows come before those of the part before");
    return 0;
}

/* Adds the rows of a sound part, and checks what they name. */
static int add_part(struct pass *pass, struct part *part, struct error *err)
{
    struct verify_run *run = pass->run;
    const struct windows *windows = &part->windows;
    int64_t from_ns = run->day->start_ns + pass->hour * DAY_HOUR_NS;
    struct verify_missing missing = { 0 };
    char what[WHAT_BYTES];

    if (verify_check_ids(run, CHUNK_STACK, part->sums.stacks, part->sums.n_stacks, &missing, err) < 0 ||
        verify_check_ids(run, CHUNK_LABEL_SET, windows->label_sets, windows->n_rows, &missing, err) < 0)
        return -1;
    for (uint32_t i = 0; i < windows->n_rows; i++) {
        struct sums *sums = &pass->rows[(windows->starts_ns[i] - from_ns) / DAY_SLOT_NS];
        struct headrow row;

        part_rows_get(part->rows, i, &row);
        add_rows(sums, 1, row.duration_ns);
        add_values(sums, row.stacks, row.values, row.stride, row.n_samples, row.n_types);
        pass->tally.n_samples += row.n_samples;
        if (row.label_sets && verify_check_ids(run, CHUNK_LABEL_SET, row.label_sets, row.n_samples, &missing, err) < 0)
            return -1;
    }
    verify_tell_missing(run, describe(pass, &part->key, "part", what), &missing);
    pass->tally.n_rows += windows->n_rows;
    pass->series = part->key.series;
    pass->last_start_ns = windows->starts_ns[windows->n_rows - 1];
    pass->last_sequence = windows->sequences[windows->n_rows - 1];
    return 0;
}

/* A part that cannot be used goes with all its values. */
static int cut_part(struct pass *pass, const struct part *part, const struct error *damage, struct error *err)
{
    char what[WHAT_BYTES];
    bool is_certain;

    if (!verify_is_bad(damage, &is_certain)) {
        *err = *damage;
        return -1;
    }
    verify_find(pass->run, "%s: %s", describe(pass, &part->key, "rows", what), damage->text);
    if (!is_certain) {
        pass->is_unsure = pass->is_group_unsure = true;
        return 0;
    }
    pass->is_cut = pass->is_group_cut = true;
    verify_mended(pass->run);
    for (unsigned i = WINDOWS; i <= SAMPLES; i++)
        if (part->has[i] && set_stream_aside(pass, &pass->streams[i], err) < 0)
            return -1;
    return 0;
}

static int check_part(struct pass *pass, struct part *part, struct error *err)
{
    struct error damage;

    if (decode_part(pass, part, &damage) < 0 || check_place(pass, part, &damage) < 0) {
        if (cut_part(pass, part, &damage, err) < 0)
            return -1;
    } else {
        for (unsigned i = WINDOWS; i <= SAMPLES; i++)
            pass->tally.bytes += value_bytes(&pass->streams[i]);
        if (add_part(pass, part, err) < 0)
            return -1;
    }
    for (unsigned i = WINDOWS; i <= SAMPLES; i++)
        if (part->has[i] && advance(pass, &pass->streams[i], err) < 0)
            return -1;
    return 0;
}

/* --- roll-ups --- */

static int decode_rollup(struct pass *pass, const struct stream *stream, struct rollup *rollup, struct error *err)
{
    const struct storekey_block *key = &stream->key;
    const struct verify_series *series = verify_find_series(&pass->run->tenant, key->group);
    bool is_slot = key->kind == STOREKEY_GROUP_SLOT;
    struct verify_run *run = pass->run;

    if (key->series != 0 || (is_slot && key->part % 256 >= DAY_SLOTS))
        return error_set(err, ERR_CORRUPT, "its key is damaged");
    arena_reset(&run->arena);
    if (rollup_decode(verify_walk_value(&stream->walk), MAX_STACKS, run->unpacker, &run->arena, rollup, err) < 0)
        return -1;
    if (series && series->n_types != rollup->n_types)
        return error_set(err, ERR_CORRUPT, "it has %u types, the series of the group have %u", rollup->n_types,
                         series->n_types);
    return 0;
}

/* What is known of the roll-ups of one kind. */
enum rollups {
    ROLLUPS_NONE,
    ROLLUPS_SOUND,
    ROLLUPS_BAD,    /* one is, which makes all of the kind useless */
    ROLLUPS_UNSURE, /* one is too large to be read */
};

static int add_rollup(struct pass *pass, const struct storekey_block *key, const struct rollup *rollup,
                      const char *what, struct error *err)
{
    struct sums *sums = key->kind == STOREKEY_GROUP_SLOT ? &pass->slots[key->part % 256] : &pass->whole;
    struct verify_missing missing = { 0 };

    add_rows(sums, rollup->n_rows, rollup->duration_ns);
    add_values(sums, rollup->stacks, rollup->sums, rollup->n_stacks, rollup->n_stacks, rollup->n_types);
    if (verify_check_ids(pass->run, CHUNK_STACK, rollup->stacks, rollup->n_stacks, &missing, err) < 0)
        return -1;
    verify_tell_missing(pass->run, what, &missing);
    return 0;
}

static int check_rollups(struct pass *pass, struct stream *stream, enum rollups *ret_found, struct error *err)
{
    enum rollups found = ROLLUPS_NONE;

    while (stream->walk.is_valid && stream->key.group == pass->group) {
        struct rollup rollup;
        struct error damage;
        char what[WHAT_BYTES];
        bool is_certain;

        describe(pass, &stream->key, kind_name(stream->key.kind), what);
        pass->tally.bytes += value_bytes(stream);
        if (decode_rollup(pass, stream, &rollup, &damage) == 0) {
            found = MAX(found, ROLLUPS_SOUND);
            if (add_rollup(pass, &stream->key, &rollup, what, err) < 0)
                return -1;
        } else if (verify_is_bad(&damage, &is_certain)) {
            found = MAX(found, is_certain ? ROLLUPS_BAD : ROLLUPS_UNSURE);
            verify_find(pass->run, "%s: %s", what, damage.text);
            if (is_certain)
                verify_mended(pass->run);
        } else {
            *err = damage;
            return -1;
        }
        if (advance(pass, stream, err) < 0)
            return -1;
    }
    *ret_found = found;
    return 0;
}

/* Sets the roll-ups of the group aside: readers do without. */
static int cut_rollups(struct pass *pass, enum storekey_kind kind, struct error *err)
{
    struct storekey prefix = storekey_block((struct storekey_block){
        .hour = pass->hour, .kind = kind, .tenant = pass->run->tenant.id, .group = pass->group });
    struct stream stream;
    int result;

    pass->is_cut = true;
    if (!pass->run->verify->is_repairing)
        return 0;
    result = verify_walk_open(&stream.walk, pass->run, pass->run->day->block_family, slice_of(prefix.bytes, 10), err);
    while (!result && stream.walk.is_valid) {
        if (storekey_parse_block(verify_walk_key(&stream.walk), &stream.key) &&
            stream.key.number == pass->closing->marker.number) {
            pass->tally.bytes -= value_bytes(&stream);
            result = set_stream_aside(pass, &stream, err);
        }
        if (!result)
            result = verify_walk_next(&stream.walk, err);
    }
    verify_walk_close(&stream.walk);
    return result;
}

static int judge_rollups(struct pass *pass, enum storekey_kind kind, enum rollups found, bool is_right,
                         struct error *err)
{
    if (found == ROLLUPS_NONE || found == ROLLUPS_UNSURE || (found == ROLLUPS_SOUND && pass->is_group_unsure))
        return 0;
    if (found == ROLLUPS_SOUND && !pass->is_group_cut) {
        if (is_right)
            return 0;
        verify_find(pass->run,
                    "hour %02u of tenant '%s': the %ss of group %u, closing %u, are not the sums of its rows",
                    pass->hour, pass->run->tenant.name, kind_name(kind), pass->group, pass->closing->marker.number);
        verify_mended(pass->run);
    }
    return cut_rollups(pass, kind, err);
}

static int compare(struct pass *pass, enum rollups slots, enum rollups whole, struct error *err)
{
    struct sums rows = { 0 };
    bool are_slots_right = true;

    for (unsigned i = 0; i < DAY_SLOTS; i++) {
        are_slots_right &= are_equal(&pass->rows[i], &pass->slots[i]);
        add_sums(&rows, &pass->rows[i]);
    }
    if (judge_rollups(pass, STOREKEY_GROUP_SLOT, slots, are_slots_right, err) < 0)
        return -1;
    return judge_rollups(pass, STOREKEY_GROUP_HOUR, whole, are_equal(&rows, &pass->whole), err);
}

/* --- groups --- */

static bool find_group(struct pass *pass)
{
    bool is_found = false;

    for (unsigned i = WINDOWS; i <= WHOLE; i++) {
        const struct stream *stream = &pass->streams[i];

        if (!stream->walk.is_valid || (is_found && stream->key.group >= pass->group))
            continue;
        pass->group = stream->key.group;
        is_found = true;
    }
    return is_found;
}

static int check_group(struct pass *pass, struct error *err)
{
    struct part part = { .rows = NULL };
    enum rollups slots, whole;

    memset(pass->rows, 0, sizeof(pass->rows));
    memset(pass->slots, 0, sizeof(pass->slots));
    pass->whole = (struct sums){ 0 };
    pass->is_group_cut = pass->is_group_unsure = false;
    pass->series = 0;
    while (find_part(pass, &part))
        if (check_part(pass, &part, err) < 0)
            return -1;
    if (check_rollups(pass, &pass->streams[SLOTS], &slots, err) < 0 ||
        check_rollups(pass, &pass->streams[WHOLE], &whole, err) < 0)
        return -1;
    return compare(pass, slots, whole, err);
}

/* --- spans and tallies --- */

static int check_span_value(const struct pass *pass, const struct stream *stream, uint32_t part, struct error *err)
{
    struct slice value = verify_walk_value(&stream->walk);

    if (stream->key.group || stream->key.series)
        return error_set(err, ERR_CORRUPT, "its key is damaged");
    if (stream->key.part != part)
        return error_set(err, ERR_CORRUPT, "part %u in front of it is missing", part);
    if (spanindex_check(value, err) < 0)
        return -1;
    for (size_t i = 0; i < spanindex_n(value); i++)
        if (!verify_find_series(&pass->run->tenant, spanindex_get(value, i).series))
            return error_set(err, ERR_CORRUPT, "entry %zu names series %u, which is not there", i + 1,
                             spanindex_get(value, i).series);
    return 0;
}

/* All of the closing's: an index of which a part is missing would hide samples. */
static int set_index_aside(struct pass *pass, struct error *err)
{
    struct verify_run *run = pass->run;
    struct storekey prefix =
        storekey_block((struct storekey_block){ .hour = pass->hour, .kind = STOREKEY_SPANS, .tenant = run->tenant.id });
    struct stream stream = { 0 };
    int result = verify_walk_open(&stream.walk, run, run->day->block_family, slice_of(prefix.bytes, 6), err);

    while (!result && stream.walk.is_valid) {
        if (storekey_parse_block(verify_walk_key(&stream.walk), &stream.key) &&
            stream.key.number == pass->closing->marker.number)
            result = set_stream_aside(pass, &stream, err);
        if (!result)
            result = verify_walk_next(&stream.walk, err);
    }
    verify_walk_close(&stream.walk);
    return result;
}

static int check_spans(struct pass *pass, struct error *err)
{
    struct stream *stream = &pass->streams[SPANS];
    bool is_bad = false;
    uint64_t bytes = 0;

    for (uint32_t part = 0; stream->walk.is_valid; part++) {
        struct error damage;

        if (!is_bad && check_span_value(pass, stream, part, &damage) < 0) {
            verify_find(pass->run, "hour %02u of tenant '%s': part %u of the span index, closing %u: %s", pass->hour,
                        pass->run->tenant.name, stream->key.part, stream->key.number, damage.text);
            verify_mended(pass->run);
            is_bad = true;
        }
        bytes += value_bytes(stream);
        if (advance(pass, stream, err) < 0)
            return -1;
    }
    pass->tally.bytes += is_bad ? 0 : bytes;
    return is_bad ? set_index_aside(pass, err) : 0;
}

static int replace_tally(struct pass *pass, struct error *err)
{
    struct storekey key = storekey_block((struct storekey_block){ .hour = pass->hour,
                                                                  .kind = STOREKEY_TALLY,
                                                                  .tenant = pass->run->tenant.id,
                                                                  .number = pass->closing->marker.number });
    struct buffer *value = &pass->run->scratch;

    pass->is_cut = true;
    if (!pass->tally.n_rows)
        return 0;
    buffer_clear(value);
    tally_encode(&pass->tally, value);
    if (buffer_check(value, err) < 0)
        return -1;
    verify_replace(pass->run, pass->run->day->block_family, storekey_slice(&key), buffer_slice(value));
    pass->closing->bytes += key.len + value->len;
    return 0;
}

static bool is_right_tally(const struct pass *pass, const struct stream *stream)
{
    struct tally tally;
    struct error err;

    return !stream->key.group && !stream->key.series && !stream->key.part &&
           tally_decode(verify_walk_value(&stream->walk), &tally, &err) == 0 && tally.n_rows == pass->tally.n_rows &&
           tally.n_samples == pass->tally.n_samples && tally.bytes == pass->tally.bytes;
}

/* Everything of the tenant was counted: its tally must say the same. */
static int check_tally(struct pass *pass, struct error *err)
{
    struct stream *stream = &pass->streams[TALLY];
    bool is_right = false, has_wrong = false, was_cut = pass->is_cut;

    while (stream->walk.is_valid) {
        if (!is_right && is_right_tally(pass, stream)) {
            pass->closing->bytes += value_bytes(stream);
            is_right = true;
        } else {
            has_wrong = true;
            if (set_stream_aside(pass, stream, err) < 0)
                return -1;
        }
        if (advance(pass, stream, err) < 0)
            return -1;
    }
    if (!has_wrong && (is_right || !pass->tally.n_rows))
        return 0;
    if (!was_cut) {
        verify_find(pass->run, "hour %02u of tenant '%s': the tally of closing %u does not count what is there",
                    pass->hour, pass->run->tenant.name, pass->closing->marker.number);
        verify_mended(pass->run);
    }
    return is_right ? 0 : replace_tally(pass, err);
}

/* --- a closing --- */

static int check_closing(struct pass *pass, struct error *err)
{
    struct verify_closing *closing = pass->closing;

    while (find_group(pass))
        if (check_group(pass, err) < 0)
            return -1;
    if (check_spans(pass, err) < 0 || (!pass->is_unsure && check_tally(pass, err) < 0))
        return -1;
    closing->n_rows += pass->tally.n_rows;
    closing->n_samples += pass->tally.n_samples;
    closing->bytes += pass->tally.bytes;
    closing->is_cut |= pass->is_cut;
    closing->is_unsure |= pass->is_unsure;
    pass->run->verify->n_rows += pass->tally.n_rows;
    pass->run->verify->n_samples += pass->tally.n_samples;
    return 0;
}

static int check_pass(struct verify_run *run, uint8_t hour, struct verify_closing *closing, bool is_first,
                      struct error *err)
{
    struct pass pass = { .run = run, .hour = hour, .closing = closing, .is_first = is_first };
    int result = open_streams(&pass, err);

    if (!result && closing)
        result = check_closing(&pass, err);
    close_streams(&pass);
    return result;
}

int verify_blocks(struct verify_run *run, uint8_t hour, struct error *err)
{
    bool is_first = true;

    for (size_t i = 0; i < run->closings.n; i++) {
        struct verify_closing *closing = &run->closings.items[i];

        if (closing->marker.hour != hour || closing->is_replaced)
            continue;
        if (check_pass(run, hour, closing, is_first, err) < 0)
            return -1;
        is_first = false;
    }
    return is_first ? check_pass(run, hour, NULL, true, err) : 0;
}
