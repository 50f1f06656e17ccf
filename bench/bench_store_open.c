// SPDX-License-Identifier: Apache-2.0
/* Opening a store and looking into every day of it.
 *
 *     store_open [-memory MIB] DIR
 *
 * Prints how long it took until the profile types of all days were known (so that every day's database was opened and
 * its index read), how much of it was CPU, and the most memory the process ever had. */
#include "base/clock.h"
#include "measure.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    measure_die("store_open", what);
}

int main(int argc, char **argv)
{
    struct store_options options = { .retention_ns = 36600 * (int64_t)86400 * CLOCK_NS_PER_SECOND };
    struct store_query everything = { .from_ns = INT64_MIN, .until_ns = INT64_MAX };
    struct store_texts types;
    struct store *store;
    struct arena arena;
    struct error err;
    int64_t begun = clock_mono_ns(), cpu = clock_cpu_ns();

    if (argc == 4 && strcmp(argv[1], "-memory") == 0) {
        options.memory_limit_bytes = (uint64_t)atoi(argv[2]) << 20;
        argv += 2;
    } else if (argc != 2)
        die("usage: store_open [-memory MIB] DIR");
    options.data_dir = argv[1];
    arena_init(&arena, 0);
    if (store_open(&options, &store, &err) < 0 || store_profile_types(store, &everything, &arena, &types, &err) < 0)
        die(err.text);
    printf("open_all_ms %.1f\nopen_all_cpu_ms %.1f\nopen_all_hwm_mb %.1f\ntypes %zu\n",
           (double)(clock_mono_ns() - begun) / 1e6, (double)(clock_cpu_ns() - cpu) / 1e6, measure_status_mb("VmHWM"),
           types.n);
    store_close(store);
    arena_done(&arena);
    return 0;
}
