// SPDX-License-Identifier: Apache-2.0
#include "store/budget.h"

#include "base/fs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number in a small file; UINT64_MAX if there is none ("max"). */
static uint64_t read_number(const char *path)
{
    struct buffer text;
    struct error err;
    uint64_t number = UINT64_MAX;

    buffer_init(&text, 256);
    if (fs_read_file(path, 256, &text, &err) == 0 && !slice_to_u64(slice_trim(buffer_slice(&text)), &number))
        number = UINT64_MAX;
    buffer_done(&text);
    return number;
}

/* The least limit on the way from our cgroup up to the root, for both versions of cgroups. */
static uint64_t cgroup_limit(void)
{
    static const struct {
        const char *controllers, *root, *file;
    } versions[] = { { "", "/sys/fs/cgroup", "memory.max" },
                     { "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes" } };
    uint64_t least = UINT64_MAX;
    char line[4096], path[8192];
    FILE *groups = fopen("/proc/self/cgroup", "re");

    /* Lines are "number:controllers:/path". */
    while (groups && fgets(line, sizeof(line), groups)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!group)
            continue;
        *controllers++ = *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
            if (strcmp(controllers, versions[i].controllers) != 0)
                continue;
            for (;;) {
                char *slash = strrchr(group, '/');

                snprintf(path, sizeof(path), "%s%s/%s", versions[i].root, group, versions[i].file);
                least = MIN(least, read_number(path));
                if (!slash)
                    break;
                *slash = '\0';
            }
        }
    }
    if (groups)
        fclose(groups);
    return least;
}

uint64_t budget_default_bytes(void)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    return MIN((uint64_t)1 << 30, MIN(machine, cgroup_limit()) / 4);
}

struct budget budget_divide(uint64_t total_bytes)
{
    struct budget budget;
    uint64_t total = total_bytes ? total_bytes : budget_default_bytes();

    total = MAX(total, BUDGET_MIN_BYTES);
    budget.total_bytes = total;
    /* What is missing to the whole goes to stacks of threads and what malloc leaves unused. */
    budget.cache_bytes = total * 8 / 100;
    budget.memtable_bytes = MIN(total * 16 / 100 / BUDGET_WRITABLE_DAYS, (uint64_t)16 << 20);
    budget.hash_bytes = total * 26 / 100;
    budget.idcache_bytes = MIN(total * 16 / 100 / BUDGET_WRITABLE_DAYS, (uint64_t)48 << 20);
    budget.close_bytes = total * 18 / 100;
    budget.read_bytes = total * 8 / 100;
    budget.sum_bytes = total * 3 / 100;
    budget.slot_bytes = total * 3 / 100;
    return budget;
}
