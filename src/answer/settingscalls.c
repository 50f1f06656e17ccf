// SPDX-License-Identifier: Apache-2.0
/* settings.v1.SettingsService: what settings.h keeps, by remote calls. */
#include "answer/answer_internal.h"
#include "answer/rpcmessage.h"
#include "answer/rpcwriter.h"
#include "answer/settings.h"

#define MAX_WORK_BYTES     (64u << 20)
#define NS_PER_MILLISECOND 1000000

/* --- messages --- */

struct set_request {
    struct setting *setting;
};
struct delete_request {
    struct slice name;
};

static const struct rpcmessage_field no_fields[] = { { 0 } };
static const struct rpcmessage get_message = { "settings.v1.GetSettingsRequest", 1, no_fields };

static const struct rpcmessage_field setting_fields[] = {
    { 1, "name", RPCMESSAGE_TEXT, offsetof(struct setting, name) },
    { 2, "value", RPCMESSAGE_TEXT, offsetof(struct setting, value) },
    { 3, "modifiedAt", RPCMESSAGE_INT64, offsetof(struct setting, modified_at) },
    { 0 },
};
static const struct rpcmessage setting_message = { "settings.v1.Setting", sizeof(struct setting), setting_fields };

static const struct rpcmessage_field set_fields[] = {
    { 1, "setting", RPCMESSAGE_MESSAGE, offsetof(struct set_request, setting), .message = &setting_message },
    { 0 },
};
static const struct rpcmessage set_message = { "settings.v1.SetSettingsRequest", sizeof(struct set_request),
                                               set_fields };

static const struct rpcmessage_field delete_fields[] = {
    { 1, "name", RPCMESSAGE_TEXT, offsetof(struct delete_request, name) },
    { 0 },
};
static const struct rpcmessage delete_message = { "settings.v1.DeleteSettingsRequest", sizeof(struct delete_request),
                                                  delete_fields };

static void put_setting(struct rpcwriter *writer, const char *name, const struct setting *setting)
{
    rpcwriter_begin(writer, 1, name);
    rpcwriter_text(writer, 1, "name", setting->name);
    rpcwriter_text(writer, 2, "value", setting->value);
    rpcwriter_int64(writer, 3, "modifiedAt", setting->modified_at);
    rpcwriter_end(writer);
}

/* --- procedures --- */

struct settings_call {
    struct settings *settings;
    struct slice tenant;
    int64_t now_ms;
    struct arena arena;
    struct rpcwriter writer; /* of the answer */
};

static int get(struct settings_call *call, const void *request UNUSED, struct error *err)
{
    struct settings_list list;

    if (settings_load(call->settings, call->tenant, &call->arena, &list, err) < 0)
        return -1;
    if (list.n == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "settings");
    for (uint32_t i = 0; i < list.n; i++)
        put_setting(&call->writer, NULL, &list.items[i]);
    rpcwriter_list_end(&call->writer);
    return 0;
}

/* A setting without a time is one of now. */
static int set(struct settings_call *call, const void *request, struct error *err)
{
    const struct set_request *given = request;
    struct setting setting;

    if (!given->setting)
        return error_set(err, ERR_INVALID, "setting: missing; give its name and value");
    setting = *given->setting;
    if (setting.modified_at <= 0)
        setting.modified_at = call->now_ms;
    if (settings_set(call->settings, call->tenant, &setting, &call->arena, err) < 0)
        return -1;
    put_setting(&call->writer, "setting", &setting);
    return 0;
}

static int delete_one(struct settings_call *call, const void *request, struct error *err)
{
    const struct delete_request *given = request;

    if (given->name.len == 0)
        return error_set(err, ERR_INVALID, "name: missing; give that of the setting to delete");
    return settings_delete(call->settings, call->tenant, given->name, &call->arena, err);
}

/* --- handlers --- */

static int run(struct settings_call *call, const struct rpc_call *rpc, const struct rpcmessage *message,
               int (*procedure)(struct settings_call *call, const void *request, struct error *err), struct buffer *out,
               struct error *err)
{
    void *request;

    if (rpcmessage_read_call(message, rpc, &call->arena, &request, err) < 0)
        return -1;
    rpcwriter_init(&call->writer, rpc->codec, out);
    if (procedure(call, request, err) < 0)
        return -1;
    rpcwriter_done(&call->writer);
    return buffer_check(out, err);
}

static void handle(struct exchange *exchange, const struct rpcmessage *message,
                   int (*procedure)(struct settings_call *call, const void *request, struct error *err))
{
    const struct answer *answer = exchange->context;
    struct settings_call call = { .settings = answer->settings,
                                  .now_ms = exchange->request.received_ns / NS_PER_MILLISECOND };
    AUTO(buffer_done) struct buffer out;
    struct rpc_call rpc;
    struct error err;

    buffer_init(&out, MAX_WORK_BYTES);
    if (rpc_open(exchange, &rpc) < 0 || !answer_tenant(exchange, answer->is_multi_tenant, &call.tenant))
        return;
    arena_init(&call.arena, MAX_WORK_BYTES);
    if (run(&call, &rpc, message, procedure, &out, &err) < 0)
        rpc_fail(exchange, &rpc, rpc_code_from_error(err.code), err.text, 0);
    else
        rpc_answer(exchange, &rpc, buffer_slice(&out));
    arena_done(&call.arena);
}

void settingscalls_get(struct exchange *exchange)
{
    handle(exchange, &get_message, get);
}

void settingscalls_set(struct exchange *exchange)
{
    handle(exchange, &set_message, set);
}

void settingscalls_delete(struct exchange *exchange)
{
    handle(exchange, &delete_message, delete_one);
}
