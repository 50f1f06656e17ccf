// SPDX-License-Identifier: Apache-2.0
/* pprof's profile.proto, in and out.
 *
 * Reading keeps the order of the file: entry i + 1 of mappings, functions and frames is the i-th one met, string i is
 * string i, sample i has stack i + 1. Nothing is merged. Strings point into the bytes.
 *
 * String labels `trace_id` (32 lower-case hex digits) and `span_id` (16), which older clients of Pyroscope call
 * `profile_id`, become the sample's link; writing turns it back into the first two. Any other form of them stays a label.
 *
 * What is broken in one place costs that place only, and is told in batch->report: a sample that refers to a missing
 * location or has the wrong number of values is dropped, so is a line of a missing function and a label of a missing
 * string; other references to nothing become "none"; of equal ids the last wins. Bytes that are no protobuf, or no
 * profile, are an error. */
#pragma once

#include "base/buffer.h"
#include "profile/profile.h"

struct format_write_options;

/* How much the plain bytes look like profile.proto, judged by their first fields: 95 where the string table begins with
 * the empty string, as it must, 60 where it does not, 50 with fields we do not know, 20 for one that is cut short, so
 * that the decoder can say where; else 0. Thread: any. */
int pprof_recognise(struct slice bytes);

/* Decodes plain bytes into `batch`, which is empty; it gets one profile. The bytes must outlive it.
 * Errors: ERR_CORRUPT naming field and byte; ERR_LIMIT, ERR_MEMORY. Thread: any; the batch is not shared. */
MUST_CHECK int pprof_decode(struct slice bytes, struct batch *batch, struct error *err);

/* Appends the one profile of `batch`, packed by gzip unless options ask for another kind or for plain bytes. What was
 * read from such bytes is written as the same bytes again.
 *
 * Left out, since the format has no place for it: resource, scope and attributes, the profile id, single times, raw
 * counts, frame kinds. Labels that are neither text nor number become text.
 * Errors: ERR_INVALID (not exactly one profile), ERR_MEMORY, ERR_LIMIT (the limit of `out`). */
MUST_CHECK int pprof_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                            struct error *err);
