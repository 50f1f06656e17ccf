// SPDX-License-Identifier: Apache-2.0
/* What the programs that measure share. */
#pragma once

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* When the streams of bench_stream.c begin: the start of an hour and of a day in 2026. */
#define MEASURE_EPOCH_NS (1789948800 * CLOCK_NS_PER_SECOND)

static inline void measure_die(const char *program, const char *what)
{
    fprintf(stderr, "%s: %s\n", program, what);
    exit(1);
}

/* The real clock: that of a store may be set to the time of its profiles. */
static inline int64_t measure_real_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * CLOCK_NS_PER_SECOND + time.tv_nsec;
}

static inline int64_t measure_thread_cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * CLOCK_NS_PER_SECOND + time.tv_nsec;
}

static inline int measure_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* A number of kB from /proc/PID/status, in MB; 0 when there is no such process or line. */
static inline double measure_process_mb(int pid, const char *name)
{
    char path[64], line[256];
    unsigned long value = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoul(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return (double)value / 1e3;
}

/* The same of this process. */
static inline double measure_status_mb(const char *name)
{
    return measure_process_mb(getpid(), name);
}

/* CPU seconds of another process, user and system, of all its threads. */
static inline double measure_process_cpu_s(int pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof(line), file)) {
        const char *behind_name = strrchr(line, ')');

        if (!behind_name ||
            sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
            measure_die("measure", "/proc/PID/stat has another form");
    }
    if (file)
        fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}
