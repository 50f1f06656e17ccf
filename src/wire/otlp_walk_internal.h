// SPDX-License-Identifier: Apache-2.0
/* Going through one table of a dictionary, entry by entry. */
#pragma once

#include "wire/otlp_read_internal.h"

#define OTLP_COLD __attribute__((cold, noinline))

struct otlp_walk {
    const struct otlp_range *range;
    struct protobuf_reader reader;
    uint32_t i;    /* of the entry given last */
    bool has_none; /* entry 0 stands for "none" and is not kept */
};

static inline struct otlp_walk otlp_walk_start(const struct otlp_decoder *decoder, uint32_t table, bool has_none)
{
    const struct otlp_range *range = &decoder->document->tables[table];

    return (
        struct otlp_walk){ .range = range, .reader = otlp_range_reader(range), .i = UINT32_MAX, .has_none = has_none };
}

/* The next entry, or false. */
static inline bool otlp_walk_next(struct otlp_walk *walk, struct protobuf_reader *ret_entry)
{
    walk->i++;
    return otlp_range_next(walk->range, &walk->reader, ret_entry);
}

/* Whether the entry given last stands for "none". */
static inline bool otlp_walk_is_none(const struct otlp_walk *walk)
{
    return walk->i == 0 && walk->has_none;
}

static inline int otlp_walk_end(const struct otlp_decoder *decoder, const struct otlp_walk *walk, struct error *err)
{
    return UNLIKELY(walk->reader.bad) ? otlp_read_failed(decoder, walk->reader, err) : 0;
}

/* How indexes of a table become ids when its entries are put behind the `n_before` that are there already. */
static inline struct otlp_index otlp_walk_index(const struct otlp_decoder *decoder, uint32_t table, uint32_t n_before,
                                                bool has_none)
{
    return (struct otlp_index){ .n = decoder->document->tables[table].n,
                                .offset = n_before - (has_none ? 1 : 0),
                                .has_none = has_none };
}

/* A step of reading quickly (protobuf.h: "reading at full speed"): takes varint field `number` if it stands at `at`.
 * Steps for all fields of a message, in ascending order, inside `while (at < end)`: fields in order take one round,
 * others take more. */
#define OTLP_TAKE_VARINT(at, end, number, value)                                                                       \
    do {                                                                                                               \
        if (*(at) == PROTOBUF_TAG((number), PROTOBUF_VARINT))                                                          \
            (at) = protobuf_varint_unchecked((at) + 1, (end), &(value));                                               \
    } while (0)

/* --- what all tables report --- */

/* Entry 0 of a table that should be empty is not. */
void otlp_walk_report_not_empty(struct otlp_decoder *decoder, const char *table);
/* An entry refers to something that does not exist. */
void otlp_walk_report_missing(struct otlp_decoder *decoder, const char *what, uint32_t i, const char *table,
                              uint64_t index);
/* An attribute of a mapping or location that the model has no place for. */
void otlp_walk_report_no_place(struct otlp_decoder *decoder, const char *what, uint32_t i, const struct label *label);
/* A line or column number that is out of range. Returns 0. */
uint32_t otlp_walk_report_number(struct otlp_decoder *decoder, const char *what, uint32_t i, uint64_t number);

static inline uint32_t otlp_walk_line_number(struct otlp_decoder *decoder, const char *what, uint32_t i,
                                             uint64_t number)
{
    return LIKELY(number <= UINT32_MAX) ? (uint32_t)number : otlp_walk_report_number(decoder, what, i, number);
}
