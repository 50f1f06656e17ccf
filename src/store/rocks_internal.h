// SPDX-License-Identifier: Apache-2.0
/* What the files of the embedded store share: rocks.c opens, reads and closes, rocks_write.c writes, rocks_maintain.c does
 * what is due, rocks_care.c deletes, keeps, backs up, verifies and counts. */
#pragma once

#include "base/clock.h"
#include "base/thread.h"
#include "store/budget.h"
#include "store/datadir.h"
#include "store/dayset.h"
#include "store/keeps.h"
#include "store/retention.h"
#include "store/rocks.h"

enum {
    ROCKS_PATH_BYTES = 4096,
    MAX_SCRATCHES = 8, /* of writers, kept for the next one */
    MAX_LATE_DAYS = 64,
};

/* Memory of one writer, used again by the next. */
struct scratch {
    struct arena content;
    struct arena plan;
    struct scratch *next;
};

/* Old days that were written to since their hours were closed last: they may be closed again with heads open. */
struct late_days {
    int64_t starts_ns[MAX_LATE_DAYS];
    uint32_t n;
    bool has_more; /* than fit: it may be any day */
};

struct rocks {
    struct store store;
    struct store_options options;
    struct store_tenant_limits *tenants; /* our copy */
    struct datadir datadir;
    struct budget budget;
    struct day_context context;
    struct dayset days;
    bool gives_way;  /* no limit on bytes was given: when others fill the disk, the oldest days go */
    struct kv *meta; /* NULL for readers without any */

    _Atomic uint64_t n_writes; /* begun so far */

    struct lock_mutex lock; /* of what follows */
    struct scratch *scratches;
    uint32_t n_scratches;
    int64_t disk_checked_mono_ns;
    uint64_t free_bytes; /* of the disk, when it was checked */
    bool is_full;
    struct late_days late;

    struct lock_mutex keeping;     /* the list of kept ranges does not change while retention goes by it */
    struct lock_mutex maintaining; /* one maintenance at a time; guards what follows */
    uint64_t n_writes_seen;        /* by the last maintenance */
    int64_t retention_mono_ns;
    struct retention_memory retention;
    bool is_patient;          /* late data may wait a little before it is closed */
    int64_t checked_until_ns; /* days before it were looked at for forgotten heads */

    struct thread sync_thread, work_thread;
};

static inline struct rocks *rocks_of(struct store *store)
{
    return (struct rocks *)store;
}

/* The limits of a tenant's own, or NULL. */
const struct store_tenant_limits *rocks_find_limits(const struct rocks *rocks, struct slice tenant);
/* ERR_DENIED for a store that is open for reading. */
MUST_CHECK int rocks_check_writable(const struct rocks *rocks, struct error *err);
/* Opens the database of kept ranges again if a failed write stopped it. Under `keeping`. */
MUST_CHECK int rocks_use_meta(struct rocks *rocks, struct error *err);
/* Of several failures the first is told. */
void rocks_note_failure(int *result, const struct error *failure, struct error *err);

static inline bool rocks_late_days_have(const struct late_days *late, int64_t start_ns)
{
    for (uint32_t i = 0; i < late->n; i++)
        if (late->starts_ns[i] == start_ns)
            return true;
    return late->has_more;
}

/* rocks_write.c. The disk is looked at a few times a second: ERR_FULL while it has too little room. */
MUST_CHECK int rocks_check_disk(struct rocks *rocks, bool is_forced, struct error *err);
void rocks_note_late(struct rocks *rocks, int64_t start_ns);
void rocks_free_scratches(struct rocks *rocks);
int rocks_write(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                struct error *err);

/* rocks_maintain.c. The WAL of every open day to the disk; the two threads. */
MUST_CHECK int rocks_sync_days(struct rocks *rocks, struct error *err);
MUST_CHECK int rocks_load_keeps(struct rocks *rocks, struct keeps *ret_keeps, struct error *err);
void rocks_run_sync(struct thread *thread, void *context);
void rocks_run_work(struct thread *thread, void *context);
int rocks_maintain(struct store *store, struct error *err);

/* rocks_care.c */
int rocks_delete(struct store *store, const struct store_query *query, uint32_t *ret_n_days, struct error *err);
int rocks_keep(struct store *store, const struct store_keep *keep, struct error *err);
int rocks_unkeep(struct store *store, struct slice tenant, struct slice name, struct error *err);
int rocks_each_keep(struct store *store, int (*visit)(void *context, const struct store_keep *keep, struct error *err),
                    void *context, struct error *err);
int rocks_compact(struct store *store, struct error *err);
int rocks_backup(struct store *store, struct store_backup *backup, struct error *err);
int rocks_verify(struct store *store, struct store_verify *verify, struct error *err);
int rocks_stats(struct store *store, struct servicecosts *services, struct store_stats *ret_stats, struct error *err);
