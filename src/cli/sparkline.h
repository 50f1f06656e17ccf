// SPDX-License-Identifier: Apache-2.0
/* Numbers over time as a line of small bars: one character wide, eight steps high. */
#pragma once

#include "base/buffer.h"

struct sparkline_options {
    size_t width;  /* columns; fewer points than that take one each, of more several share one */
    bool is_ascii; /* for terminals without UTF-8 */
};

/* Appends the line. The bars reach from 0, or the least value if that is less, to the largest; a column shows the mean of
 * its points, and is blank where none of them is there. */
void sparkline_print(const double *points, const bool *is_there, size_t n, const struct sparkline_options *options,
                     struct buffer *out);

/* Whether the environment (NAME=VALUE texts up to a NULL) promises a terminal that shows UTF-8. */
bool sparkline_has_utf8(const char *const *environment);
