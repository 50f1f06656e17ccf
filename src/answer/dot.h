// SPDX-License-Identifier: Apache-2.0
/* A graph of calls as text for Graphviz: functions are boxes, larger the more is spent in them, and calls are arrows. */
#pragma once

#include "flame/graph.h"

#define DOT_MAX_NODES 100 /* unless the options say otherwise */

struct dot_options {
    struct slice title; /* name of the graph, such as the sample type */
    struct slice unit;  /* of the values */
    uint32_t column;
    uint32_t max_nodes; /* functions to show: those with the largest totals; 0 = DOT_MAX_NODES */
};

/* Appends the digraph: the functions with the largest totals, and the calls between them. Nothing is appended where no
 * function has a value. Names may hold any bytes: what is no UTF-8 becomes U+FFFD. Errors: ERR_MEMORY, ERR_LIMIT, also of
 * the buffer. Thread: any. */
MUST_CHECK int dot_write(const struct graph *graph, const struct dot_options *options, struct buffer *out,
                         struct error *err);
/* The same of a flame tree, whose graph is made on the way (graph.h). */
MUST_CHECK int dot_write_flame(const struct flame *flame, const struct dot_options *options, struct buffer *out,
                               struct error *err);
