// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/storm_ledger.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DAY_NS ((int64_t)86400 * CLOCK_NS_PER_SECOND)

void storm_promise_done(struct storm_promise *promise)
{
    VEC_DONE(&promise->losses);
    VEC_DONE(&promise->deletes);
    VEC_DONE(&promise->keeps);
}

int64_t storm_ledger_retention(int64_t retention_ns, uint32_t thread)
{
    return thread % 2 ? retention_ns / 4 * 3 : retention_ns;
}

int storm_promise_lose(struct storm_promise *promise, uint32_t thread, uint32_t counter, struct error *err)
{
    struct storm_loss *loss = VEC_PUSH(&promise->losses, STORM_MAX_RANGES, err);

    if (!loss)
        return -1;
    *loss = (struct storm_loss){ thread, counter };
    return 0;
}

static int copy_ranges(const struct storm_ranges *ranges, struct storm_ranges *copy, struct error *err)
{
    *copy = (struct storm_ranges){ 0 };
    if (ranges->n == 0)
        return 0;
    if (VEC_RESERVE(copy, ranges->n, STORM_MAX_RANGES, err) < 0)
        return -1;
    memcpy(copy->items, ranges->items, ranges->n * sizeof(*ranges->items));
    copy->n = ranges->n;
    return 0;
}

int storm_promise_copy(const struct storm_promise *promise, struct storm_promise *ret_copy, struct error *err)
{
    struct storm_promise copy = *promise;
    int result = 0;

    copy.losses = (struct storm_losses){ 0 };
    copy.deletes = copy.keeps = (struct storm_ranges){ 0 };
    for (size_t i = 0; i < promise->losses.n && !result; i++)
        result = storm_promise_lose(&copy, promise->losses.items[i].thread, promise->losses.items[i].counter, err);
    if (result < 0 || copy_ranges(&promise->deletes, &copy.deletes, err) < 0 ||
        copy_ranges(&promise->keeps, &copy.keeps, err) < 0) {
        storm_promise_done(&copy);
        return -1;
    }
    *ret_copy = copy;
    return 0;
}

void storm_promise_forgive(struct storm_promise *promise)
{
    memset(promise->acknowledged, 0, sizeof(promise->acknowledged));
    for (size_t i = 0; i < promise->deletes.n; i++)
        promise->deletes.items[i].is_done = false;
}

/* --- fates --- */

static bool range_has(const struct storm_range *range, struct storm_id id, int64_t start_ns)
{
    return range->shard == storm_profile_shard(id) && range->is_other_tenant == (id.thread % 2 == 1) &&
           start_ns >= range->from_ns && start_ns < range->until_ns;
}

/* No process that wrote this has seen a later time. */
static int64_t latest_now(const struct storm_promise *promise)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < STORM_MAX_THREADS; i++)
        most = MAX(most, promise->begun[i]);
    return storm_profile_now(most + 2);
}

static bool may_have_expired(const struct storm_promise *promise, uint32_t thread, int64_t start_ns)
{
    int64_t day_end_ns = start_ns - start_ns % DAY_NS + DAY_NS;

    return day_end_ns + storm_ledger_retention(promise->retention_ns, thread) <= latest_now(promise);
}

static bool was_given_up(const struct storm_promise *promise, struct storm_id id)
{
    if (storm_profile_naming(id.thread, id.counter) != STORM_NAMELESS)
        return false;
    for (size_t i = 0; i < promise->losses.n; i++)
        if (promise->losses.items[i].thread == id.thread && promise->losses.items[i].counter == id.counter)
            return true;
    return false;
}

enum storm_fate storm_ledger_fate(const struct storm_promise *promise, struct storm_id id)
{
    int64_t start_ns = storm_profile_start(id);
    enum storm_fate fate = STORM_MUST_BE;

    if (id.counter >= promise->begun[id.thread])
        return STORM_MUST_NOT_BE;
    for (size_t i = 0; i < promise->deletes.n; i++)
        if (range_has(&promise->deletes.items[i], id, start_ns)) {
            if (promise->deletes.items[i].is_done)
                return STORM_MUST_NOT_BE;
            fate = STORM_MAY_BE;
        }
    if (id.counter >= promise->acknowledged[id.thread] || was_given_up(promise, id))
        return STORM_MAY_BE;
    if (fate == STORM_MAY_BE || !may_have_expired(promise, id.thread, start_ns))
        return fate;
    for (size_t i = 0; i < promise->keeps.n; i++)
        if (promise->keeps.items[i].is_done && range_has(&promise->keeps.items[i], id, start_ns))
            return STORM_MUST_BE;
    return STORM_MAY_BE;
}

/* --- reading --- */

static int read_range(const char *line, struct storm_ranges *ranges, struct error *err)
{
    struct storm_range range = { 0 };
    unsigned number;
    char tenant[16];

    if (sscanf(line + 1, "%u %15s %u %" SCNd64 " %" SCNd64, &number, tenant, &range.shard, &range.from_ns,
               &range.until_ns) != 5 ||
        number != ranges->n)
        return error_set(err, ERR_CORRUPT, "range");
    range.is_other_tenant = strcmp(tenant, STORM_TENANT_OTHER) == 0;
    if (VEC_RESERVE(ranges, 1, STORM_MAX_RANGES, err) < 0)
        return -1;
    ranges->items[ranges->n++] = range;
    return 0;
}

static int read_done(const char *line, struct storm_ranges *ranges, bool is_promised, struct error *err)
{
    unsigned number;

    if (sscanf(line + 1, "%u", &number) != 1 || number >= ranges->n)
        return error_set(err, ERR_CORRUPT, "end of a range");
    ranges->items[number].is_done |= is_promised;
    return 0;
}

/* A write that is over: acknowledged, or given up. */
static int read_write(const char *line, struct storm_promise *promise, bool is_promised, struct error *err)
{
    unsigned thread, counter;

    if (sscanf(line + 1, "%u %u", &thread, &counter) != 2 || thread >= STORM_MAX_THREADS ||
        counter != promise->begun[thread])
        return error_set(err, ERR_CORRUPT, "acknowledgement");
    promise->begun[thread] = counter + 1;
    if (is_promised)
        promise->acknowledged[thread] = counter + 1;
    return line[0] == 'f' ? storm_promise_lose(promise, thread, counter, err) : 0;
}

static int read_line(const char *line, uint32_t backup, bool *is_promised, struct storm_promise *promise,
                     struct error *err)
{
    unsigned number;

    switch (line[0]) {
    case 's':
        if (sscanf(line + 1, "%" SCNd64 " %u %" SCNd64, &promise->step_ns, &promise->weight, &promise->retention_ns) !=
            3)
            return error_set(err, ERR_CORRUPT, "settings");
        storm_profile_set_up(promise->step_ns, promise->weight);
        return 0;
    case 'a':
    case 'f': return read_write(line, promise, *is_promised, err);
    case 'd': return read_range(line, &promise->deletes, err);
    case 'D': return read_done(line, &promise->deletes, *is_promised, err);
    case 'k': return read_range(line, &promise->keeps, err);
    case 'K': return read_done(line, &promise->keeps, *is_promised, err);
    case 'b':
    case 'B':
        if (sscanf(line + 1, "%u", &number) != 1)
            return error_set(err, ERR_CORRUPT, "backup");
        if (line[0] == 'b')
            promise->n_backups = number;
        else
            promise->last_backup = number;
        *is_promised = *is_promised && number != backup;
        return 0;
    default: return error_set(err, ERR_CORRUPT, "no such line");
    }
}

static int read_file(FILE *file, uint32_t backup, struct storm_promise *promise, struct error *err)
{
    char line[256];
    bool is_promised = true;

    for (unsigned number = 1; fgets(line, sizeof(line), file); number++) {
        if (!strchr(line, '\n'))
            break;
        if (read_line(line, backup, &is_promised, promise, err) < 0)
            return error_wrap(err, "ledger, line %u", number);
    }
    /* One write of each thread may have been on its way. */
    for (uint32_t i = 0; i < STORM_MAX_THREADS; i++)
        promise->begun[i]++;
    return 0;
}

int storm_ledger_read(const char *path, uint32_t backup, struct storm_promise *ret_promise, struct error *err)
{
    struct storm_promise promise = { 0 };
    FILE *file = fopen(path, "re");
    int result;

    *ret_promise = promise;
    if (!file)
        return errno == ENOENT ? 0 : error_set_errno(err, errno, "opening '%s'", path);
    result = read_file(file, backup, &promise, err);
    fclose(file);
    if (result < 0)
        storm_promise_done(&promise);
    else
        *ret_promise = promise;
    return result;
}

/* --- adding --- */

int storm_ledger_open(const char *path, int *ret_fd, struct error *err)
{
    return fs_open(path, O_WRONLY | O_APPEND | O_CREAT, 0644, ret_fd, err);
}

void storm_ledger_add(int fd, const char *fmt, ...)
{
    char line[256];
    va_list arguments;
    int len;

    va_start(arguments, fmt);
    len = vsnprintf(line, sizeof(line), fmt, arguments);
    va_end(arguments);
    if (len <= 0 || (size_t)len >= sizeof(line) || write(fd, line, (size_t)len) != len) {
        fprintf(stderr, "storm: the ledger cannot be written\n");
        _exit(2);
    }
}
