// SPDX-License-Identifier: Apache-2.0
/* Messages of remote procedure calls, read by tables: one row for each field says where it goes, and protobuf and its JSON
 * are read by the same rows.
 *
 * M1  What is not known is passed over: fields, and in protobuf a field with another wire type than its row has.
 * M2  JSON takes names as they are in the .proto and in lowerCamelCase, 64-bit numbers as numbers or texts, enums by name
 *     or number, and null for what is not there.
 * M3  Texts are UTF-8. They point into the message, or into the arena where JSON escaped something.
 * M4  What is not there stays zero. A field that comes twice has its last value; lists grow. */
#pragma once

#include "base/arena.h"
#include "net/rpc.h"

enum rpcmessage_kind {
    RPCMESSAGE_TEXT,     /* struct slice */
    RPCMESSAGE_TEXTS,    /* struct rpcmessage_texts */
    RPCMESSAGE_INT64,    /* int64_t */
    RPCMESSAGE_DOUBLE,   /* double */
    RPCMESSAGE_BOOL,     /* bool */
    RPCMESSAGE_ENUM,     /* int32_t */
    RPCMESSAGE_MESSAGE,  /* a pointer to its struct, NULL = not there */
    RPCMESSAGE_MESSAGES, /* struct rpcmessage_list of pointers to structs */
};

struct rpcmessage_texts {
    struct slice *items;
    uint32_t n, capacity;
};

struct rpcmessage_list {
    void **items;
    uint32_t n, capacity;
};

#define RPCMESSAGE_MAX_ITEMS 16384 /* of one list */

struct rpcmessage_field {
    uint32_t number;
    const char *name; /* as in the .proto: "label_selector" */
    enum rpcmessage_kind kind;
    size_t offset;
    const struct rpcmessage *message; /* of RPCMESSAGE_MESSAGE and _MESSAGES */
    const char *const *names;         /* of RPCMESSAGE_ENUM: by number, ended by NULL */
};

struct rpcmessage {
    const char *name; /* "querier.v1.SeriesRequest" */
    size_t size_bytes;
    const struct rpcmessage_field *fields; /* ended by one without a name */
};

/* Reads a message, whose compression is taken off, into a new zeroed struct from `arena`. Errors: ERR_CORRUPT saying where
 * and what; ERR_LIMIT, ERR_MEMORY. Thread: any. */
MUST_CHECK int rpcmessage_read(const struct rpcmessage *message, enum rpc_codec codec, struct slice bytes,
                               struct arena *arena, void **ret_value, struct error *err);

/* The same for the message of a call, which is unpacked into `arena` first where it is compressed. */
MUST_CHECK int rpcmessage_read_call(const struct rpcmessage *message, const struct rpc_call *call, struct arena *arena,
                                    void **ret_value, struct error *err);
#define RPCMESSAGE_MAX_BYTES (8u << 20) /* of a message that came compressed */
