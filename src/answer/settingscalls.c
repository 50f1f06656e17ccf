// SPDX-License-Identifier: Apache-2.0
/* settings.v1.SettingsService: what settings.h keeps, by remote calls. */
#include "answer/answer_internal.h"
#include "answer/settings.h"
#include "answer/tenantcall.h"

#define MAX_WORK_BYTES (64u << 20)

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

static int get(struct tenantcall *call, const void *request UNUSED, struct error *err)
{
    struct settings_list list;

    if (settings_load(call->answer->settings, call->tenant, &call->arena, &list, err) < 0)
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
static int set(struct tenantcall *call, const void *request, struct error *err)
{
    const struct set_request *given = request;
    struct setting setting;

    if (!given->setting)
        return error_set(err, ERR_INVALID, "setting: missing; give its name and value");
    setting = *given->setting;
    if (setting.modified_at <= 0)
        setting.modified_at = call->now_ns / TENANTCALL_NS_PER_MS;
    if (settings_set(call->answer->settings, call->tenant, &setting, &call->arena, err) < 0)
        return -1;
    put_setting(&call->writer, "setting", &setting);
    return 0;
}

static int delete_one(struct tenantcall *call, const void *request, struct error *err)
{
    const struct delete_request *given = request;

    if (given->name.len == 0)
        return error_set(err, ERR_INVALID, "name: missing; give that of the setting to delete");
    return settings_delete(call->answer->settings, call->tenant, given->name, &call->arena, err);
}

/* --- handlers --- */

void settingscalls_get(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &get_message, get, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}

void settingscalls_set(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &set_message, set, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}

void settingscalls_delete(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &delete_message, delete_one, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}
