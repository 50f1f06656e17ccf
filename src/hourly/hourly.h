// SPDX-License-Identifier: Apache-2.0
/* Rows by time, kept in one RocksDB a UTC day under DATA/NAME/YYYY-MM-DD, whose hours are closed: their rows, each a key and
 * a value of the owner's, become blocks of the owner's making. Spans and metrics are kept this way.
 *
 * A day has the families `default` (small records of the owner's: the index), `head-HH-N` (rows of hour HH that are not
 * closed yet) and `block` (what closing made of them). An hour may have several heads one after the other: a head is closed
 * when its hour has been over for a while, or when it has grown large; rows that come later go into a new one.
 *
 * O1  Acknowledged means kept: when hourly_write returns 0, everything survives the death of the process; the death of
 *     the machine as well where each write is synced, else what is older than about a second.
 * O2  A closing is all or nothing: blocks and a marker that names the head enter the database in one step. A head with a
 *     marker counts no more, whether or not it is dropped already.
 * O3  The number of a head is that of its closing, and of no other of that day, ever: blocks that have it in their key
 *     never meet those of another closing.
 * O4  A view is a moment: each row is in it once, either in a head or in blocks, as often as it was written. The same row
 *     written again is the same key in one head, but not across heads: readers leave out what comes twice.
 * O5  A day that is damaged such that it cannot be opened is set aside as DATA/quarantine/NAME-YYYY-MM-DD-N, logged and
 *     counted, and a new one begun. Readers go on without it.
 * O6  Days are opened when somebody asks for them and closed again when idle; nothing grows with their number on disk.
 *     What is set as memory bounds the block cache and all memtables together.
 *
 * Whoever writes has the lock of the data directory (the store room's): this room has none of its own.
 * Thread: any, but where it says otherwise. */
#pragma once

#include "base/error.h"
#include "base/slice.h"
#include "kv/kv.h"

#define HOURLY_DAY_NS    ((int64_t)86400 * 1000000000)
#define HOURLY_HOUR_NS   ((int64_t)3600 * 1000000000)
#define HOURLY_DAY_BYTES 11 /* "2026-11-15" and a NUL */

struct hourly;
struct hourly_closing;

enum hourly_part { HOURLY_ROW, HOURLY_BLOCK, HOURLY_INDEX };

/* What is kept. Lives as long as the store. */
struct hourly_kind {
    const char *name; /* "traces": the folder, and the word in messages */
    /* Makes blocks of the rows of a head: hourly_closing_next gives them in the order of their keys, hourly_closing_put
     * takes blocks. All rows are gone afterwards, also those it did not ask for. An error of code ERR_CORRUPT leaves the head as it is until the store is opened again; others are
     * tried again. Thread: one at a time. */
    int (*close)(void *context, struct hourly_closing *closing, struct error *err);
    /* For hourly_verify: -1 with ERR_CORRUPT saying why if a value is not sound. NULL = whatever can be read is. */
    int (*check)(void *context, enum hourly_part part, struct slice key, struct slice value, struct error *err);
};

struct hourly_options {
    const struct hourly_kind *kind;
    void *context; /* for its functions */
    const char *data_dir;
    bool is_read_only;        /* another process may be writing: each day is seen as it was when it was opened */
    bool is_synced;           /* each write; else hourly_maintain does it */
    uint64_t memory_bytes;    /* 0 = 32 MiB */
    int64_t retention_ns;     /* days that ended longer ago go; 0 = none do */
    uint64_t retention_bytes; /* the oldest days go while there is more, but never today or the newest; 0 = no limit */
    uint64_t min_free_bytes;  /* below it writes are refused; 0 = no limit */
    int64_t close_delay_ns;   /* 0 = 5 minutes */
    uint64_t max_head_bytes;  /* a larger head is closed before its hour is over; 0 = 64 MiB */
};

/* Opens the store; for writing its folder is made if it is missing, for reading a folder that is missing is an empty
 * store. Errors: ERR_MEMORY, ERR_IO, ERR_DENIED, ... */
MUST_CHECK int hourly_open(const struct hourly_options *options, struct hourly **ret_hourly, struct error *err);
/* Nobody may use it any more. Heads stay as they are. Accepts NULL. */
void hourly_close(struct hourly *hourly);
void hourly_closep(struct hourly **hourly);

/* "2026-11-15" of the day that holds the moment; and back to its first: false if it is no date. */
const char *hourly_day_name(int64_t time_ns, char ret_name[static HOURLY_DAY_BYTES]);
bool hourly_parse_day(const char *name, int64_t *ret_start_ns);
static inline int64_t hourly_day_start(int64_t time_ns)
{
    return time_ns - ((time_ns % HOURLY_DAY_NS) + HOURLY_DAY_NS) % HOURLY_DAY_NS;
}
/* The hour within its day, 0 to 23. */
static inline uint8_t hourly_hour(int64_t time_ns)
{
    return (uint8_t)((time_ns - hourly_day_start(time_ns)) / HOURLY_HOUR_NS);
}

/* --- writing --- */

/* What is to be written together. From the first row or record of a day on until it is written, cleared or freed, a batch
 * holds that day and the heads it goes to: they are not closed meanwhile, so it is filled without waiting for others.
 * Thread: one at a time. Batches are meant to be used again. */
struct hourly_batch;
MUST_CHECK int hourly_batch_new(struct hourly *hourly, struct hourly_batch **ret_batch, struct error *err);
/* Accepts NULL. */
void hourly_batch_free(struct hourly_batch *batch);
void hourly_batch_freep(struct hourly_batch **batch);
void hourly_batch_clear(struct hourly_batch *batch);
/* Adds a row of the hour of `time_ns`; key and value are copied. Errors: those of opening a day (ERR_FULL, ERR_BUSY, ERR_IO,
 * ...), ERR_DENIED for a store that is read only, ERR_INVALID for a time before 1970. After a failure the batch is good for
 * hourly_batch_clear alone. */
MUST_CHECK int hourly_batch_put_row(struct hourly_batch *batch, int64_t time_ns, struct slice key, struct slice value,
                                    struct error *err);
/* Adds a record to the index of the day of `time_ns`. Its key does not begin with a zero byte. Errors: the same. */
MUST_CHECK int hourly_batch_put_index(struct hourly_batch *batch, int64_t time_ns, struct slice key, struct slice value,
                                      struct error *err);
uint32_t hourly_batch_count(const struct hourly_batch *batch);
/* Writes everything and clears the batch, in any case. What is of one day is written whole or not at all. After a failure
 * nothing is certain, and trying again is safe. Errors: ERR_FULL, ERR_IO, ERR_CLOSED (the day must be opened again: try
 * again). */
MUST_CHECK int hourly_write(struct hourly_batch *batch, struct error *err);

/* A record of the index of the day of `time_ns`, appended to `into`. Errors: those of opening a day, kv.h. */
MUST_CHECK int hourly_get_index(struct hourly *hourly, int64_t time_ns, struct slice key, struct buffer *into,
                                bool *ret_found, struct error *err);

/* Another number whenever a day was opened for writing, or dropped: what was remembered of an index may not be there any more,
 * because the day was begun anew, or lost the end of its log. Neither happens to days that a batch holds. */
uint32_t hourly_generation(const struct hourly *hourly);

/* --- reading --- */

struct hourly_head {
    uint8_t hour;
    uint32_t number;
    uint32_t family;
    uint64_t bytes; /* about what its rows take */
};
/* One day at one moment (O4). */
struct hourly_view {
    int64_t start_ns; /* of the day */
    struct kv *kv;
    struct kv_snapshot *snapshot;
    uint32_t block_family;
    const struct hourly_head *heads; /* by hour, then number */
    size_t n_heads;
    const struct hourly_number {
        uint8_t hour;
        uint32_t number;
    } * closings; /* whose blocks are there; by hour, then number */
    size_t n_closings;
};
/* Calls `visit` for each day that overlaps [from_ns, until_ns), by time, rising or falling. The view is valid during the
 * call. A day that is damaged is left out, logged and counted. Errors: those of `visit`, kv.h, ERR_MEMORY. */
MUST_CHECK int hourly_each_day(struct hourly *hourly, int64_t from_ns, int64_t until_ns, bool is_falling,
                               int (*visit)(void *context, const struct hourly_view *view, struct error *err),
                               void *context, struct error *err);
/* For owners that meet a value which cannot be read: counted (hourly_stats) and logged now and then. */
void hourly_note_damage(struct hourly *hourly, const struct hourly_view *view, const struct error *err);

/* --- closing --- */

struct hourly_closing_about {
    int64_t start_ns; /* of the day */
    uint8_t hour;
    uint32_t number;
};
struct hourly_closing_about hourly_closing_about(const struct hourly_closing *closing);
/* The next row of the head, in the order of keys; `*ret_has` is false behind the last. What it gives is valid until the
 * next call. Errors: ERR_CLOSED (the store is being closed), those of kv.h. */
MUST_CHECK int hourly_closing_next(struct hourly_closing *closing, struct slice *ret_key, struct slice *ret_value,
                                   bool *ret_has, struct error *err);
/* Adds a value to the family `block`. Keys that begin with the same byte rise, and each such byte (at most
 * HOURLY_MAX_KEY_KINDS, none of them zero) makes a file of its own: so values of different kinds may take turns. Where keys
 * go on with the hour and the number as big-endian u8 and u32, files never overlap, and are never written again. Errors:
 * ERR_MEMORY, ERR_FULL, ERR_IO. */
#define HOURLY_MAX_KEY_KINDS 8
MUST_CHECK int hourly_closing_put(struct hourly_closing *closing, struct slice key, struct slice value,
                                  struct error *err);
/* A record of the day's index as it is now, for whoever makes blocks; appended to `into`. */
MUST_CHECK int hourly_closing_get_index(struct hourly_closing *closing, struct slice key, struct buffer *into,
                                        bool *ret_found, struct error *err);

/* --- care --- */

/* What is due at `now_ns`: syncs what was written, closes heads, drops days past their retention, closes idle days. About
 * once a second, by one thread; writers and readers do not wait for it. Goes on after a failure; the first is returned. */
MUST_CHECK int hourly_maintain(struct hourly *hourly, int64_t now_ns, struct error *err);
/* Has work that goes on give up (ERR_CLOSED), so that hourly_maintain returns soon. Thread: any; signal: yes. */
void hourly_stop(struct hourly *hourly);
/* Closes all heads of all days, whatever their hour. Waits for batches that hold them. */
MUST_CHECK int hourly_close_heads(struct hourly *hourly, struct error *err);
/* Makes a consistent copy of each day, on the same file system: files are linked. `visit` takes what it wants of it, and
 * what is left is removed. Writing goes on meanwhile. Errors: those of kv.h and `visit`, ERR_DENIED. */
struct hourly_copy {
    int64_t start_ns;
    const char *name;     /* "2026-11-15" */
    const char *database; /* the path of the day */
    const char *path;     /* of the copy */
};
MUST_CHECK int hourly_each_copy(struct hourly *hourly,
                                int (*visit)(void *context, const struct hourly_copy *copy, struct error *err),
                                void *context, struct error *err);
/* 0, or -1 with ERR_FULL and a sentence when writes are refused for want of room. */
MUST_CHECK int hourly_check_room(struct hourly *hourly, struct error *err);

/* Reads everything and has it checked. */
struct hourly_verify {
    bool is_repairing; /* damaged values are moved into DATA/quarantine; the store is open for writing */
    /* Takes a sentence for each finding; may be NULL. */
    void (*tell)(void *context, const char *line);
    void *context;
    /* Added to. */
    uint64_t n_days, n_rows, n_values;
    uint64_t n_bad_days, n_bad_values, n_repaired;
};
/* Errors: ERR_MEMORY, ERR_IO, ERR_CLOSED after hourly_stop; damage is none. */
MUST_CHECK int hourly_verify(struct hourly *hourly, struct hourly_verify *verify, struct error *err);

struct hourly_stats {
    uint32_t n_days, n_open;
    uint64_t disk_bytes; /* of all files */
    uint64_t head_bytes, block_bytes;
    uint32_t n_heads, n_closings;
    int64_t first_day_ns, last_day_ns; /* 0 without days */
    uint64_t n_damaged;                /* days left out and values that could not be read, since it was opened */
    uint32_t n_set_aside;              /* days, likewise */
    uint32_t n_dropped;                /* days past their retention, likewise */
};
/* Looks into every day, so it may take a while. */
MUST_CHECK int hourly_stats(struct hourly *hourly, struct hourly_stats *ret_stats, struct error *err);
