// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry profiles (OTLP): the body of an export request, or a ProfilesData file, as protobuf and as JSON.
 *
 * The format is not stable yet, and nothing in it says which of its layouts was used. Readers tell them apart by the
 * shape of the fields:
 *
 *      L4   proto 1.4, 1.5    tables inside each profile            refused: collector 0.115 to 0.127
 *      L6   proto 1.6         tables beside the profiles            refused: only ever in files
 *      L7   proto 1.7         a dictionary; stacks are ranges       collector 0.128 to 0.135, eBPF profiler 202527
 *      L8   proto 1.8         a stack table                         collector 0.136 to 0.139, eBPF profiler 202539
 *      L9   proto 1.9         comments dropped, fields renumbered   collector 0.140 to 0.147, async-profiler 4.3
 *      L10  proto 1.10, 1.11  samples renumbered                    collector 0.148 and newer; what we write
 *
 * In the model, a Profile message is a profile of one value type (L7: of several). Where the scope says that the
 * profiles of one pprof were split (pprof.scope.sample_type_order), they become one again, with the types in their old
 * order. A sample's value is the sum of its values, or the number of its timestamps. Attributes of samples that are
 * lists of texts or whole numbers become several labels of one key, and back; other lists and maps are kept as JSON.
 *
 * A file may hold several requests: in protobuf each behind its length in four bytes, big-endian, as the collector's
 * file exporter writes; in JSON one per line. They become one batch.
 *
 * What is broken in one place costs that place only, and is told in batch->report: samples, lines and attributes that
 * refer to nothing are dropped. Bytes that are no protobuf or no JSON are an error. */
#pragma once

#include "wire/format.h"

enum otlp_layout { OTLP_L4, OTLP_L6, OTLP_L7, OTLP_L8, OTLP_L9, OTLP_L10 };

/* "L10 (proto 1.10 and 1.11)". */
const char *otlp_layout_name(enum otlp_layout layout);

/* Finds the layout of one protobuf request. Errors: ERR_CORRUPT, ERR_MEMORY. Thread: any. */
MUST_CHECK int otlp_layout_find(struct slice request, enum otlp_layout *ret_layout, struct error *err);

/* 95 if the plain bytes are shaped as resources, scopes and profiles and a dictionary, or as one of the refused
 * layouts; 40 if they are, but hold nothing; else 0. Thread: any. */
int otlp_recognise(struct slice bytes);

/* Decodes protobuf into `batch`, which is empty. The bytes must outlive it.
 * Errors: ERR_CORRUPT naming field and byte; ERR_VERSION (L4, L6); ERR_LIMIT, ERR_MEMORY. Thread: any; the batch is not
 * shared. */
MUST_CHECK int otlp_decode(struct slice bytes, struct batch *batch, struct error *err);

/* Appends all profiles of `batch` as one ProfilesData message of layout L10, in which nothing is there twice and
 * nothing is there in vain. The same batch gives the same bytes. Text that is not UTF-8 is repaired with U+FFFD. Left
 * out, since the format has no place for it: raw counts, temporality, times that do not add up to their sample's value.
 * Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int otlp_encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                           struct error *err);

/* 95 if the text begins as a JSON object with one of OTLP's keys for profiles; else 0. Thread: any. */
int otlp_json_recognise(struct slice bytes);

/* As otlp_decode, for JSON. Nothing of the batch points into `bytes`. ERR_CORRUPT names line and column. */
MUST_CHECK int otlp_json_decode(struct slice bytes, struct batch *batch, struct error *err);

/* As otlp_encode, for JSON: one object and a newline. */
MUST_CHECK int otlp_json_encode(const struct batch *batch, const struct format_write_options *options,
                                struct buffer *out, struct error *err);
