// SPDX-License-Identifier: Apache-2.0
/* A store of profiles: the interface, and what is common to every kind behind it.
 *
 * S1  Acknowledged means kept: when store_write returns 0, what its receipt counts as written survives the death of the
 *     process at once, and the loss of power as the sync mode says.
 * S2  A profile that carries an id (its own, or made from the upload's id and its place in the batch) is kept once,
 *     however often it is sent, as long as anything of it is left. Without an id every write adds.
 * S3  A profile belongs to a range when the start of its window lies in [from, until).
 * S4  Tenants see only their own data; everything here is asked in the name of one.
 * S5  The store holds to its memory limit, and to nothing that grows with history.
 *
 * Thread: any, but store_close. */
#pragma once

#include "base/clock.h"
#include "block/headrow.h"
#include "block/part.h"
#include "block/seriesinfo.h"
#include "label/labelrules.h"
#include "label/selector.h"
#include "profile/profile.h"
#include "profile/spanids.h"
#include "store/names.h"
#include "store/servicecosts.h"

/* What Pyroscope calls whoever does not say who he is. */
#define STORE_TENANT_DEFAULT   "anonymous"
#define STORE_TENANT_MAX_BYTES 150
/* What the name of a tenant may be: 1 to STORE_TENANT_MAX_BYTES letters, digits and any of !_.*'()-, but neither "." nor
 * "..". Errors: ERR_INVALID, saying so. Thread: any. */
MUST_CHECK int store_check_tenant(struct slice name, struct error *err);

enum store_wal_sync { STORE_SYNC_ALWAYS, STORE_SYNC_EACH_SECOND, STORE_SYNC_OFF };

/* Zero means "as for everybody". */
struct store_tenant_limits {
    const char *tenant;
    int64_t retention_ns;
    uint64_t retention_bytes;
    uint32_t max_series;
};

#define STORE_RETENTION_NS (30 * 24 * 3600 * CLOCK_NS_PER_SECOND) /* unless the options say otherwise */

struct store_options {
    const char *data_dir;
    bool is_read_only;   /* another process may be writing: look at its directory without touching it */
    bool has_background; /* a thread of the store's own calls store_maintain and syncs; else the caller does */
    enum store_wal_sync wal_sync;
    uint64_t memory_limit_bytes; /* 0 = min(1 GiB, a quarter of the cgroup's or the machine's memory) */
    int64_t retention_ns;        /* 0 = STORE_RETENTION_NS */
    uint64_t retention_bytes;    /* 0 = 80 % of the disk, and less when others fill it: min_free_bytes stay free */
    uint64_t min_free_bytes;     /* below it writes are refused (ERR_FULL); 0 = 1 % of the disk, at most 1 GiB */
    int64_t max_age_ns;          /* of the start of a window, at most the retention; 0 = the retention */
    int64_t max_ahead_ns;        /* 0 = 10 minutes */
    int64_t close_delay_ns;      /* an hour is closed this long after its end; 0 = 5 minutes */
    double close_cpu_share;      /* of one core, for closing and adding up hours in the background; 0 = 0.25 */
    struct label_limits labels;  /* zeros = the defaults */
    uint32_t max_series;         /* per tenant and day; 0 = 20,000 */
    const struct store_tenant_limits *tenants; /* exceptions; borrowed */
    uint32_t n_tenants;
};

struct store_write {
    struct slice tenant; /* empty = STORE_TENANT_DEFAULT */
    const struct batch *batch;
    struct slice upload_id;            /* the sender's name for this upload; empty = none */
    const struct series_label *labels; /* added to every profile */
    uint32_t n_labels;
    int64_t time_ns; /* start of windows that do not say theirs; 0 = now less the duration */
};

/* What became of the profiles of a write: n_written + n_duplicate + n_refused is their number. */
struct store_receipt {
    uint32_t n_written;
    uint32_t n_duplicate; /* ids that are there already */
    uint32_t n_refused;   /* too old, too far ahead, no series left; `refusal` says why for the first */
    uint64_t n_samples;   /* rows written, after adding up equal ones */
    uint32_t n_series;    /* rows of series the profiles were split into */
    struct label_counts labels;
    struct error refusal;
};

/* Samples and rows by ids, beside what a selector says of their labels. Each kind of which there are some narrows further:
 * taken is a sample whose link has one of the spans and one of the traces, in a row of one of the profiles. A row without
 * samples has no link. Profile ids are those that came with profiles (format 1.1; of older ones nobody knows the rows),
 * and those that rowid.h makes for each row. */
struct store_ids {
    const uint8_t (*spans)[8];
    const uint8_t (*traces)[16];
    const uint8_t (*profiles)[16];
    uint32_t n_spans, n_traces, n_profiles; /* at most STORE_MAX_IDS each, else ERR_LIMIT */
    const struct spanids *span_set;         /* the span must be one of these, however many: none takes nothing */
    bool is_of_span;                        /* the sample must have a span, whichever */
};
#define STORE_MAX_IDS 4096u

struct store_query {
    struct slice tenant;             /* empty = STORE_TENANT_DEFAULT */
    const struct selector *selector; /* NULL = everything */
    int64_t from_ns, until_ns;
    const struct store_ids *ids; /* for reading; NULL = whatever they are */
    /* For reading: leaves out the series for which this is false, as if the selector did. Called for each series of a day
     * that the selector does not leave out; may not call the store. NULL = all. */
    bool (*wants)(void *context, const struct seriesinfo *series);
    void *wants_context;
    /* For reading: asked now and then while nothing is found, when no sink can say that the answer is not wanted any more.
     * -1 with an error ends the reading. NULL = always goes on. */
    int (*check)(void *context, struct error *err);
    void *check_context;
};

/* Takes the rows of a scan. Each function returns 0 to go on, -1 with an error to stop. */
struct store_sink {
    void *context;
    /* The ids of the rows that follow belong to `names`, valid until the next call of this function; NULL ends them. */
    int (*names)(void *context, struct names *names, struct error *err);
    /* A row, cut to the samples that match. Rows come hour by hour, and of an hour those of a series together, once for
     * each closing and head that it has. Valid during the call. */
    int (*row)(void *context, const struct seriesinfo *series, const struct headrow *row, struct error *err);
    struct store_reads *reads; /* is added to; NULL = nobody counts */
};

/* Sums by stack of some rows: of one series, or of some or all series of one group. The rows' windows start in
 * [start_ns, start_ns + length_ns). */
struct store_sums {
    const struct seriesinfo *series; /* or any of the group: all have the same service, name and types */
    int64_t start_ns, length_ns;
    uint64_t n_rows;
    int64_t duration_ns; /* of the rows together */
    uint32_t n_types, n_stacks, stride;
    const uint32_t *stacks; /* [n_stacks], never falling; a stack may come several times in a row */
    const int64_t *sums;    /* sums[type * stride + i] */
};

struct store_sum_sink {
    void *context;
    /* As in store_sink. */
    int (*names)(void *context, struct names *names, struct error *err);
    int (*sums)(void *context, const struct store_sums *sums, struct error *err);
};

/* When rows of a series were written and what they come to in all: those that start in the range and match. */
struct store_window_sink {
    void *context;
    /* Valid during the call; the rows are in order of their starts. A series comes several times. */
    int (*windows)(void *context, const struct seriesinfo *series, const struct windows *windows, struct error *err);
    /* Starts, durations and totals will do, and are quicker to read: the other columns may be NULL. */
    bool is_brief;
};

/* What an answer was made from, for whoever wants to know why it took so long. */
struct store_reads {
    uint64_t n_hours;  /* roll-ups of an hour of a group, or of what is over of it */
    uint64_t n_slots;  /* roll-ups of five minutes of a group */
    uint64_t n_series; /* sums of a series over a part */
    uint64_t n_known;  /* sums of some series of a group over several hours that were added up before */
    uint64_t n_rows;   /* single rows, from parts and heads */
    uint64_t n_parts;  /* windows of a series over a part, or of a group over what is over of an open hour or slot */
    uint64_t n_spans;  /* values of the span index */
    uint64_t n_bytes;  /* of all but the span index, as they are kept; of a part of which a row is read, all */
};

/* What would be read of a day for an answer. Numbers of values are what there may be at most: a series that was quiet for an
 * hour has none, and a service none of five minutes in which it was. */
struct store_plan_range {
    int64_t from_ns, until_ns;
    bool
        is_open; /* of hours that go on: from the rows as they came, or from what is in memory of them; else from blocks */
};
struct store_plan {
    int64_t day_ns;              /* when it began */
    uint32_t n_groups, n_series; /* that match */
    uint32_t n_closed_hours, n_open_hours;
    uint64_t n_hours, n_slots, n_series_sums, n_windows;
    uint64_t n_bytes;                      /* about: of files, whole blocks */
    bool lacks_bytes;                      /* some rows are not in files yet, and not part of n_bytes */
    const struct store_plan_range *ranges; /* times of which single rows are read; valid during the call */
    uint32_t n_ranges;
};
struct store_plan_options {
    int64_t step_ns;  /* of store_sum */
    bool is_by_rows;  /* store_scan is asked instead */
    bool has_windows; /* store_windows is asked besides */
};

struct store_keep {
    struct slice name; /* "v1.2.3"; a name that is there already is replaced */
    struct slice selector;
    struct slice tenant;
    int64_t from_ns, until_ns;
    int64_t made_ns;
};

struct store_usage {
    uint64_t bytes; /* of files */
    uint64_t n;     /* records */
};
#define STORE_TOP_SERIES 20
/* What `hearth stats` shows: numbers of all tenants together, as far as they can be read. */
struct store_stats {
    uint32_t n_days, n_open_days, n_quarantined;
    uint64_t quarantine_bytes;
    uint64_t disk_bytes;  /* all files of the store, also those set aside */
    uint64_t index_bytes; /* files of the index families */
    uint64_t head_bytes;
    uint64_t block_bytes;
    uint64_t wal_bytes;
    struct store_usage dictionary[8]; /* by enum chunk_kind: entries, and bytes of the chunks before compression */
    struct store_usage series, profile_ids, windows, sums, samples, slot_rollups, hour_rollups, spans, tombstones;
    struct store_usage head_rows;
    uint64_t n_rows;    /* open and closed: a profile is a row of each series that it was split into */
    uint64_t n_samples; /* open and closed */
    uint64_t n_closed_samples;
    uint64_t written_bytes;    /* to disk, ever, as far as the days that are still there know */
    uint64_t n_damaged;        /* values that could not be read */
    int64_t first_ns, last_ns; /* starts of windows; 0 without any */
    struct store_series_cost {
        char labels[256];
        uint64_t bytes, n_rows, n_samples;
    } top[STORE_TOP_SERIES];
    uint32_t n_top;
};

/* What verify found. `tell` gets a line for each finding and may be NULL. */
struct store_verify {
    bool is_repairing; /* set bad values and days aside, into quarantine/ */
    void (*tell)(void *context, const char *line);
    void *context;
    /* filled in: */
    uint64_t n_days, n_values, n_rows, n_samples, n_bad_values, n_bad_days, n_repaired;
};

struct store_backup {
    const char *path;
    /* Adds what others keep in the data directory, before the backup is complete; NULL = nothing. `previous` is the backup
     * that files may be shared with, or NULL. */
    int (*add)(void *context, struct store_backup *backup, const char *previous, struct error *err);
    void *context;
    /* Added to. */
    uint64_t copied_bytes, linked_bytes;
};

struct store;
struct store_ops {
    const char *name;
    void (*close)(struct store *store);
    int (*write)(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                 struct error *err);
    int (*scan)(struct store *store, const struct store_query *query, const struct store_sink *sink, struct error *err);
    int (*sum)(struct store *store, const struct store_query *query, int64_t step_ns, const struct store_sum_sink *sink,
               struct store_reads *reads, struct error *err);
    int (*windows)(struct store *store, const struct store_query *query, const struct store_window_sink *sink,
                   struct store_reads *reads, struct error *err);
    int (*plan)(struct store *store, const struct store_query *query, const struct store_plan_options *options,
                int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                struct error *err);
    int (*each_series)(struct store *store, const struct store_query *query,
                       int (*visit)(void *context, const struct seriesinfo *series, struct error *err), void *context,
                       struct error *err);
    int (*each_column_label)(struct store *store, const struct store_query *query,
                             int (*visit)(void *context, struct slice name, struct slice value, struct error *err),
                             void *context, struct error *err);
    int (*ready)(struct store *store, struct error *err);
    int (*maintain)(struct store *store, struct error *err);
    int (*delete)(struct store *store, const struct store_query *query, uint32_t *ret_n_days, struct error *err);
    int (*keep)(struct store *store, const struct store_keep *keep, struct error *err);
    int (*unkeep)(struct store *store, struct slice tenant, struct slice name, struct error *err);
    int (*each_keep)(struct store *store, int (*visit)(void *context, const struct store_keep *keep, struct error *err),
                     void *context, struct error *err);
    int (*compact)(struct store *store, struct error *err);
    int (*backup)(struct store *store, struct store_backup *backup, struct error *err);
    int (*verify)(struct store *store, struct store_verify *verify, struct error *err);
    int (*stats)(struct store *store, struct servicecosts *services, struct store_stats *ret_stats, struct error *err);
};

/* What every implementation begins with. */
struct store {
    const struct store_ops *ops;
};

/* What min_free_bytes comes to on the disk of the data directory, which must be there: for others who write beside it. */
uint64_t store_min_free_bytes(const struct store_options *options);

/* Opens the embedded store (rocks.h). Errors: ERR_BUSY naming the process that has it, ERR_INVALID for options that
 * contradict each other, ERR_VERSION, ERR_IO, ERR_DENIED, ... */
MUST_CHECK int store_open(const struct store_options *options, struct store **ret_store, struct error *err);
/* Ends background work, syncs, closes. Accepts NULL. Thread: the owner, when nobody else uses the store. */
void store_close(struct store *store);
void store_closep(struct store **store);

/* Keeps what can be kept of a batch. 0 when at least one profile was written or is a duplicate, or the batch is empty;
 * then the receipt says what became of each. -1 when nothing is certain: ERR_INVALID (all refused for their time, a bad
 * tenant name), ERR_LIMIT (all refused for the number of series), ERR_FULL (no room on disk), ERR_BUSY, ERR_MEMORY,
 * ERR_IO; trying again with the same ids is safe. */
MUST_CHECK int store_write(struct store *store, const struct store_write *write, struct store_receipt *ret_receipt,
                           struct error *err);

/* Gives all matching rows to the sink. Damaged ones are skipped, counted and logged. */
MUST_CHECK int store_scan(struct store *store, const struct store_query *query, const struct store_sink *sink,
                          struct error *err);

/* Gives sums by stack to the sink which together are those of all matching rows, each once: from roll-ups where whole
 * hours or slots of five minutes lie in the range and the selector takes a group whole, else from the sums of series,
 * else from rows. None of them crosses a multiple of `step_ns`; 0 = no such limit. `reads` is added to. */
MUST_CHECK int store_sum(struct store *store, const struct store_query *query, int64_t step_ns,
                         const struct store_sum_sink *sink, struct store_reads *reads, struct error *err);

/* Gives the windows of all matching rows to the sink, each once. `reads` is added to. */
MUST_CHECK int store_windows(struct store *store, const struct store_query *query, const struct store_window_sink *sink,
                             struct store_reads *reads, struct error *err);

/* Says what store_sum, or store_scan, would read for the query: a call of `visit` for each day of the range that has the
 * tenant, in order. Looks at the index and at keys, and reads no value of a profile. The visitor may not call the store. */
MUST_CHECK int store_plan(struct store *store, const struct store_query *query,
                          const struct store_plan_options *options,
                          int (*visit)(void *context, const struct store_plan *plan, struct error *err), void *context,
                          struct error *err);

/* The series that have rows in the range (to the day: a series of a day in the range is given), each once per shape.
 * The visitor may not call the store. */
MUST_CHECK int store_each_series(struct store *store, const struct store_query *query,
                                 int (*visit)(void *context, const struct seriesinfo *series, struct error *err),
                                 void *context, struct error *err);
/* Labels of rows and samples that match (without a selector: of those days); the same one may come several times. */
MUST_CHECK int store_each_column_label(struct store *store, const struct store_query *query,
                                       int (*visit)(void *context, struct slice name, struct slice value,
                                                    struct error *err),
                                       void *context, struct error *err);

/* 0 when writes are taken; else why not: ERR_FULL. Costs next to nothing. */
MUST_CHECK int store_ready(struct store *store, struct error *err);

/* Everything that is due: closes hours, adds up those that go on, applies retention, watches the disk, opens failed days
 * again, closes idle ones. Called by the background thread, or by whoever has none. Errors are those of the first step
 * that failed; the others were done. */
MUST_CHECK int store_maintain(struct store *store, struct error *err);

/* Removes what the query selects and was written so far: from answers at once, from disk by store_compact or in the
 * background. `*ret_n_days` counts the days that have the tenant. */
MUST_CHECK int store_delete(struct store *store, const struct store_query *query, uint32_t *ret_n_days,
                            struct error *err);
/* Pins a range past retention. */
MUST_CHECK int store_keep(struct store *store, const struct store_keep *keep, struct error *err);
MUST_CHECK int store_unkeep(struct store *store, struct slice tenant, struct slice name, struct error *err);
MUST_CHECK int store_each_keep(struct store *store,
                               int (*visit)(void *context, const struct store_keep *keep, struct error *err),
                               void *context, struct error *err);
/* Closes what can be closed, merges late data, drops what was deleted, rewrites files. Takes as long as it takes. */
MUST_CHECK int store_compact(struct store *store, struct error *err);
/* A consistent copy at `backup->path` (must not exist), itself a data directory, while writing goes on. Unchanged files are
 * shared with the newest complete backup beside it. A file BACKUP, written last, says that it is complete. */
MUST_CHECK int store_backup(struct store *store, struct store_backup *backup, struct error *err);
MUST_CHECK int store_verify(struct store *store, struct store_verify *verify, struct error *err);
/* Reads all that there is. `services`, initialised, gets what services cost, unsorted; NULL = nobody asks. */
MUST_CHECK int store_stats(struct store *store, struct servicecosts *services, struct store_stats *ret_stats,
                           struct error *err);

/* All matching rows added up to one batch: a profile for each shape of types. Samples have their links and labels: those of
 * their own, of their row, and of their series as far as they tell it from the others; what all series share are the labels
 * of the profile's resource. Exact and slow: for exports, tests and small ranges. `batch` is initialised and empty; its
 * limits hold. */
MUST_CHECK int store_read(struct store *store, const struct store_query *query, struct batch *batch, struct error *err);

/* What can be asked of labels: names, or values of one, sorted and unique, from `arena`; those of series and of
 * columns. */
struct store_texts {
    struct slice *texts;
    size_t n;
};
MUST_CHECK int store_label_names(struct store *store, const struct store_query *query, struct arena *arena,
                                 struct store_texts *ret_names, struct error *err);
MUST_CHECK int store_label_values(struct store *store, const struct store_query *query, struct slice name,
                                  struct arena *arena, struct store_texts *ret_values, struct error *err);
MUST_CHECK int store_profile_types(struct store *store, const struct store_query *query, struct arena *arena,
                                   struct store_texts *ret_types, struct error *err);
