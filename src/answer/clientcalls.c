// SPDX-License-Identifier: Apache-2.0
/* What clients ask about the server itself before, or beside, asking for profiles; and what they ask of Pyroscope that
 * hearth does not do, so that they are told so. None of these looks at what its message says. */
#include "answer/answer_internal.h"
#include "answer/rpcwriter.h"

#define QUERIER_VERSION 1

static void answer_with(struct exchange *exchange, void (*put)(struct rpcwriter *writer))
{
    AUTO(buffer_done) struct buffer out;
    struct rpcwriter writer;
    struct rpc_call call;
    struct error err;

    buffer_init(&out, 0);
    if (rpc_open(exchange, &call) < 0)
        return;
    rpcwriter_init(&writer, call.codec, &out);
    put(&writer);
    rpcwriter_done(&writer);
    if (buffer_check(&out, &err) < 0)
        rpc_fail(exchange, &call, rpc_code_from_error(err.code), err.text, 0);
    else
        rpc_answer(exchange, &call, buffer_slice(&out));
}

static void refuse(struct exchange *exchange, const char *sentence)
{
    struct rpc_call call;

    if (rpc_open(exchange, &call) == 0)
        rpc_fail(exchange, &call, RPC_UNIMPLEMENTED, sentence, 0);
}

/* --- what there is --- */

static void put_version(struct rpcwriter *writer)
{
    rpcwriter_int64(writer, 1, "QuerierAPI", QUERIER_VERSION);
}

void clientcalls_version(struct exchange *exchange)
{
    answer_with(exchange, put_version);
}

/* Pages show more of themselves for a feature that is on. */
static void put_features(struct rpcwriter *writer)
{
    static const struct {
        const char *name;
        bool is_enabled;
        const char *description;
    } features[] = {
        { "pyroscopeRuler", false, "Metrics made of profiles while they are stored." },
        { "pyroscopeRulerFunctions", false, "The same for single functions." },
        { "utf8LabelNames", false, "Labels with names of any characters: here a dot is an underscore." },
        { "v2StorageLayer", false, "Pyroscope's second kind of storage: hearth has a store of its own." },
    };

    rpcwriter_list_begin(writer, "featureFlags");
    for (size_t i = 0; i < ARRAY_LEN(features); i++) {
        rpcwriter_begin(writer, 1, NULL);
        rpcwriter_text(writer, 1, "name", slice_from(features[i].name));
        rpcwriter_bool(writer, 2, "enabled", features[i].is_enabled);
        rpcwriter_text(writer, 3, "description", slice_from(features[i].description));
        rpcwriter_end(writer);
    }
    rpcwriter_list_end(writer);
}

void clientcalls_features(struct exchange *exchange)
{
    answer_with(exchange, put_features);
}

/* Senders then go on without. */
static void put_upload_refusal(struct rpcwriter *writer)
{
    rpcwriter_bool(writer, 1, "shouldInitiateUpload", false);
    rpcwriter_text(writer, 2, "reason", SLICE("hearth takes no debug information: send profiles with names"));
}

void clientcalls_debuginfo(struct exchange *exchange)
{
    answer_with(exchange, put_upload_refusal);
}

/* --- what there is not --- */

void clientcalls_no_debuginfo(struct exchange *exchange)
{
    refuse(exchange, "hearth takes no debug information, and so has none to list, to finish or to delete");
}

void clientcalls_no_rules(struct exchange *exchange)
{
    refuse(exchange, "hearth has no recording rules");
}

void clientcalls_no_repository(struct exchange *exchange)
{
    refuse(exchange, "hearth does not read source code from repositories");
}
