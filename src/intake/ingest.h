// SPDX-License-Identifier: Apache-2.0
/* Pyroscope's POST /ingest: one profile, in one of several forms, described by the query of the URL.
 *
 *     pprof       as the body (`format=pprof`), or as part `profile` of a form with `sample_type_config` beside it
 *     text        `stack;of;frames COUNT` on each line (the default), or bare stacks (`format=lines`)
 *     trie, tree  Pyroscope's own binary forms
 *
 * What is compressed is found by its first bytes, whatever the headers say. Without `name` the request is of the plain
 * kind (plain.h). */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "intake/upload.h"

struct intake_worker;

/* The service and the sender that an upload of this kind would count for, as far as its query tells: bodies that are still
 * compressed are taken for pprof. Slices are in the arena, or the upload's. False: it names none, or memory is short. */
bool ingest_peek(const struct upload *upload, struct arena *arena, struct slice *ret_service, struct slice *ret_spy);

/* Takes the upload at hand. Errors: those of intake_take. */
MUST_CHECK int ingest_take(struct intake_worker *worker, struct error *err);
