// SPDX-License-Identifier: Apache-2.0
/* A query as text: what was written, and then what it means.
 *
 *     process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="x", env=~"p.*"}     a full profile type
 *     {service_name="x", "k8s.pod.name"="y"}                                        the type given apart, or none
 *     order-service.cpu{env=production,version=1.2.3}                               a service and a short type
 *     my-service{commit="abc"}                                                      a service
 *
 * Braces may be left out where nothing is in them. What is in them is the selector's (label/selector.h).
 *
 * Q1  A name in front of the braces is a service first: if there is one of that exact name, dots included, it is meant.
 *     Else what follows the last dot is a short type (querycatalog.h, C2) of the service before it.
 * Q2  A query that names no type asks for CPU (querycatalog.h, C1) if there is any, else for the most common type: of
 *     its service, or of all services that the braces allow. The note says so.
 * Q3  Types given twice must be the same, and braces must allow the service in front of them.
 * Q4  Conditions on __profile_type__, and on its parts __name__, __type__, __unit__, __period_type__ and __period_unit__,
 *     choose among types: {__profile_type__="process_cpu:cpu:nanoseconds:cpu:nanoseconds"} names one. An answer is of one
 *     type, so where they leave several, and no type is named otherwise, that is an error; __name__ alone narrows what Q2
 *     chooses from. They are no part of the resolved query. */
#pragma once

#include "label/selector.h"
#include "query/querycatalog.h"

/* What was written, parsed but not resolved. */
struct querytext {
    struct selector *selector; /* the braces; the others point into it */
    struct slice profile_type; /* five parts, or empty */
    struct slice name;         /* or empty; never beside a type */
};

/* Reads a query; done with querytext_done. Errors: those of selector_new: ERR_INVALID with the position in `text` and
 * what would be right, ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int querytext_parse(struct slice text, struct querytext *ret_text, struct error *err);
void querytext_done(struct querytext *text);

/* What it means. */
struct querytext_resolved {
    struct selector *selector; /* with the type in front and the service in its braces: the canonical query */
    struct slice profile_type; /* five parts; points into the selector */
    const char *note;          /* what was chosen for the asker and why, "" if nothing was; from the arena */
};

/* Gives short forms a meaning (Q1 to Q3) by what there is. `type_apart` is a full type, a short one, or empty. A query
 * that names a full type and no service is not compared with the catalog: an answer may well be empty. Done with
 * querytext_resolved_done; `arena` holds the note, and what is needed on the way.
 * Errors: ERR_NOT_FOUND, for a service (with the nearest names) or a type (with those that there are); ERR_INVALID for
 * contradictions and what is no type; ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int querytext_resolve(const struct querytext *text, struct slice type_apart,
                                 const struct querycatalog *catalog, struct arena *arena,
                                 struct querytext_resolved *ret_resolved, struct error *err);
void querytext_resolved_done(struct querytext_resolved *resolved);
