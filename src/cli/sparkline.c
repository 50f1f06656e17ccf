// SPDX-License-Identifier: Apache-2.0
#include "cli/sparkline.h"

#include <strings.h>

#define STEPS 8

static const char *const bars[STEPS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii_bars[STEPS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

/* The mean of points [begin, end) that are there; false if none is. */
static bool mean_of(const double *points, const bool *is_there, size_t begin, size_t end, double *ret_mean)
{
    size_t n = 0;
    double sum = 0;

    for (size_t i = begin; i < end; i++) {
        n += is_there[i];
        sum += is_there[i] ? points[i] : 0;
    }
    *ret_mean = n ? sum / (double)n : 0;
    return n > 0;
}

/* The points of column `i` begin here. */
static size_t begin_of(size_t i, size_t n, size_t width)
{
    return (size_t)((unsigned __int128)i * n / width);
}

/* Where a value stands between the ends, to the nearest step; only the least itself is at the first. */
static size_t step_of(double value, double least, double most)
{
    if (!(value > least))
        return 0;
    return MAX((size_t)((value - least) / (most - least) * (STEPS - 1) + 0.5), 1);
}

void sparkline_print(const double *points, const bool *is_there, size_t n, const struct sparkline_options *options,
                     struct buffer *out)
{
    const char *const *steps = options->is_ascii ? ascii_bars : bars;
    size_t width = MIN(options->width, n);
    double least = 0, most = 0, mean;

    for (size_t i = 0; i < width; i++) {
        if (!mean_of(points, is_there, begin_of(i, n, width), begin_of(i + 1, n, width), &mean))
            continue;
        least = MIN(least, mean);
        most = MAX(most, mean);
    }
    for (size_t i = 0; i < width; i++) {
        if (mean_of(points, is_there, begin_of(i, n, width), begin_of(i + 1, n, width), &mean))
            buffer_append_text(out, steps[step_of(mean, least, most)]);
        else
            buffer_append_byte(out, ' ');
    }
}

/* The value of a variable, or NULL; one that is empty counts as absent. */
static const char *find_variable(const char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=' && (*environment)[len + 1])
            return *environment + len + 1;
    return NULL;
}

bool sparkline_has_utf8(const char *const *environment)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *locale = NULL, *charset;

    for (size_t i = 0; !locale && i < ARRAY_LEN(names); i++)
        locale = find_variable(environment, names[i]);
    charset = locale ? strchr(locale, '.') : NULL;
    return charset && (strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".UTF8", 5) == 0);
}
