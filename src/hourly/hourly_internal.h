// SPDX-License-Identifier: Apache-2.0
/* What the files of this room share:
 *     hourly.c          the store: opening, dates, what it says of itself
 *     hourly_day.c      one day: its heads and closings, views of it
 *     hourly_days.c     the days: which are open, and who uses them
 *     hourly_write.c    batches
 *     hourly_closing.c  rows of a head become blocks
 *     hourly_care.c     what is due: syncing, closing, forgetting
 *     hourly_verify.c   reading everything */
#pragma once

#include "base/arena.h"
#include "base/lock.h"
#include "base/vec.h"
#include "hourly/hourly.h"

#include <stdatomic.h>

#define HOURLY_PATH_BYTES     4096
#define HOURLY_HEAD_BEGINNING "head-"
#define HOURLY_BLOCK_FAMILY   "block"
#define HOURLY_MARKER_KIND    '\0' /* markers: this byte, u8 hour, u32 be number -> byte 1 (the version) */
#define HOURLY_MARKER_BYTES   6
#define HOURLY_MARKER_VALUE   SLICE("\1")
#define HOURLY_NUMBER_KEY     SLICE("\0number") /* in the index: u32 be, the last number given to a head */
#define HOURLY_MAX_HEADS      65536u

/* A head that is there. */
struct hourly_place {
    struct hourly_head head;
    int64_t made_ns;       /* 0 = before the day was opened */
    int64_t retry_mono_ns; /* closing it failed: not before */
    uint32_t n_writers, n_readers;
    bool is_full;    /* no new rows: large, or about to be closed */
    bool is_closing; /* by the thread that closes heads */
    bool is_covered; /* by a marker: to be dropped once nobody reads it */
    bool is_damaged; /* it could not be closed: stays as it is */
};

struct hourly_day {
    struct hourly *hourly;
    int64_t start_ns;
    char name[HOURLY_DAY_BYTES];
    enum kv_mode mode;
    struct kv *kv;
    uint32_t block_family;
    struct lock_mutex lock;
    struct lock_condition released; /* a writer has let go of a head */

    /* guarded by lock */
    struct error failure; /* of a write: the day must be opened again */
    bool has_unsynced;
    uint32_t next_number;
    VEC(struct hourly_place) places;    /* by hour, then number */
    VEC(struct hourly_number) closings; /* likewise */

    /* guarded by the lock of the store */
    uint32_t n_users;
    int64_t used_mono_ns;
};

struct hourly {
    struct hourly_options options;
    struct kv_shared *kv;
    char *directory;               /* DATA/NAME */
    char *quarantine;              /* DATA/quarantine */
    char *scratch;                 /* DATA/NAME/tmp; for readers in the directory for temporary files */
    struct lock_mutex copying;     /* one at a time */
    struct lock_mutex maintaining; /* likewise */
    bool has_looked;               /* for heads in days that are not open; guarded by maintaining */
    int64_t measured_mono_ns;      /* when bytes were counted, 0 = never; guarded by maintaining */
    int64_t synced_mono_ns;        /* guarded by maintaining */
    uint32_t n_files;              /* made in `scratch`; guarded by maintaining */
    struct lock_mutex lock;
    struct lock_condition changed;
    /* guarded by lock */
    VEC(struct hourly_slot {
        int64_t start_ns;
        struct hourly_day *day; /* NULL while it is busy */
        bool is_busy;           /* being opened or closed: everybody waits */
        uint32_t n_waiting;     /* for nobody to use it: readers stand behind them */
    })
    slots;
    int64_t room_mono_ns; /* when the disk was looked at, 0 = never */
    bool is_out_of_room;
    _Atomic uint64_t n_damaged;
    _Atomic uint32_t n_set_aside, n_dropped;
    _Atomic uint32_t generation; /* days that were opened for writing or dropped */
    atomic_bool is_stopping;
};

/* --- hourly_day.c --- */

/* Opens the day at `path`. ERR_NOT_FOUND: there is none. Errors: those of kv.h. */
MUST_CHECK int hourly_day_open(struct hourly *hourly, int64_t start_ns, enum kv_mode mode, enum kv_recovery recovery,
                               struct hourly_day **ret_day, struct error *err);
/* Accepts NULL. */
void hourly_day_close(struct hourly_day *day);
/* Under its lock: NULL if there is none. */
struct hourly_place *hourly_day_find_place(struct hourly_day *day, uint32_t number);
/* Finds or makes the head for new rows of an hour and counts the caller among its writers. Errors: ERR_CLOSED, kv.h. */
MUST_CHECK int hourly_day_hold_head(struct hourly_day *day, uint8_t hour, struct hourly_head *ret_head,
                                    struct error *err);
void hourly_day_release_head(struct hourly_day *day, uint32_t number, uint64_t more_bytes);
/* Nobody may write to it any more. */
void hourly_day_fail(struct hourly_day *day, const struct error *err);
/* 0, or -1 with ERR_CLOSED (or ERR_FULL) when it must be opened again. */
MUST_CHECK int hourly_day_check(struct hourly_day *day, struct error *err);
/* A view, whose lists are on the heap. */
MUST_CHECK int hourly_day_view(struct hourly_day *day, struct hourly_view *ret_view, struct error *err);
void hourly_day_view_done(struct hourly_day *day, struct hourly_view *view);
/* Under its lock: adds to the closings, for which there is room. */
void hourly_day_add_closing(struct hourly_day *day, struct hourly_number closing);
/* Drops heads that are covered and that nobody reads. */
MUST_CHECK int hourly_day_drop_covered(struct hourly_day *day, struct error *err);
/* Whether it has heads that are to be closed or dropped. */
bool hourly_day_has_heads(struct hourly_day *day);
void hourly_day_marker_key(struct hourly_number closing, char ret_key[static HOURLY_MARKER_BYTES]);

/* --- hourly_days.c --- */

enum hourly_use {
    HOURLY_READ,   /* in whatever way it is open */
    HOURLY_UPKEEP, /* for writing, if it exists; does not count as use */
    HOURLY_CREATE, /* for writing, made if it does not exist */
};
/* The day until hourly_days_release; NULL in `*ret_day` if there is none. Errors: those of kv.h, ERR_BUSY when a day that
 * must be opened anew is in use for ten seconds. */
MUST_CHECK int hourly_days_acquire(struct hourly *hourly, int64_t start_ns, enum hourly_use use,
                                   struct hourly_day **ret_day, struct error *err);
void hourly_days_release(struct hourly *hourly, struct hourly_day *day);
/* Starts of the days on disk, rising. */
struct hourly_list {
    int64_t *starts_ns;
    size_t n;
};
MUST_CHECK int hourly_days_list(struct hourly *hourly, struct arena *arena, struct hourly_list *ret_list,
                                struct error *err);
/* The same for those that are open for writing. */
MUST_CHECK int hourly_days_list_writable(struct hourly *hourly, struct arena *arena, struct hourly_list *ret_list,
                                         struct error *err);
/* Whether the day is open for writing. */
bool hourly_days_is_writable(struct hourly *hourly, int64_t start_ns);
/* Closes days that nobody used since then, but those that start at `keep_from_ns` or later, or have heads. */
void hourly_days_close_idle(struct hourly *hourly, int64_t idle_since_mono_ns, int64_t keep_from_ns);
/* Removes a day that nobody uses from the disk; `*ret_is_dropped` is false if somebody does. Errors: ERR_IO. */
MUST_CHECK int hourly_days_drop(struct hourly *hourly, int64_t start_ns, bool *ret_is_dropped, struct error *err);
/* The first free name for a day in quarantine/, which is made. */
MUST_CHECK int hourly_days_name_aside(struct hourly *hourly, int64_t start_ns, char ret_path[static HOURLY_PATH_BYTES],
                                      struct error *err);
void hourly_days_path(const struct hourly *hourly, int64_t start_ns, char ret_path[static HOURLY_PATH_BYTES]);

/* --- hourly_closing.c, hourly_care.c --- */

/* Closes a head of a day, under `maintaining`. Errors: see hourly_kind.close. */
MUST_CHECK int hourly_closing_run(struct hourly_day *day, const struct hourly_head *head, struct error *err);
/* Syncs what was written, under `maintaining`. Goes on after a failure; the first is returned. */
MUST_CHECK int hourly_care_sync(struct hourly *hourly, struct error *err);
/* Bytes of the files of a day, with or without its write-ahead log. */
uint64_t hourly_care_day_bytes(struct hourly *hourly, int64_t start_ns, bool with_logs);
