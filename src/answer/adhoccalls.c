// SPDX-License-Identifier: Apache-2.0
/* adhocprofiles.v1.AdHocProfileService: profiles that adhocfiles.h keeps, by remote calls. Flame graphs travel in them as the
 * JSON of /render, in a text. */
#include "answer/adhocfiles.h"
#include "answer/adhocprofile.h"
#include "answer/answer_internal.h"
#include "answer/flamebearer.h"
#include "answer/tenantcall.h"
#include "base/base64.h"
#include "flame/diff.h"
#include "flame/trim.h"

#define MAX_WORK_BYTES (256u << 20)

/* --- messages --- */

struct upload_request {
    struct slice name, profile; /* the profile in base64 */
    int64_t max_nodes;
};
struct get_request {
    struct slice id, profile_type;
    int64_t max_nodes;
};
struct diff_request {
    struct slice left_id, right_id, profile_type;
    int64_t max_nodes;
};

static const struct rpcmessage_field upload_fields[] = {
    { 1, "name", RPCMESSAGE_TEXT, offsetof(struct upload_request, name) },
    { 2, "profile", RPCMESSAGE_TEXT, offsetof(struct upload_request, profile) },
    { 3, "max_nodes", RPCMESSAGE_INT64, offsetof(struct upload_request, max_nodes) },
    { 0 },
};
static const struct rpcmessage upload_message = { "adhocprofiles.v1.AdHocProfilesUploadRequest",
                                                  sizeof(struct upload_request), upload_fields };

static const struct rpcmessage_field get_fields[] = {
    { 1, "id", RPCMESSAGE_TEXT, offsetof(struct get_request, id) },
    { 2, "profile_type", RPCMESSAGE_TEXT, offsetof(struct get_request, profile_type) },
    { 3, "max_nodes", RPCMESSAGE_INT64, offsetof(struct get_request, max_nodes) },
    { 0 },
};
static const struct rpcmessage get_message = { "adhocprofiles.v1.AdHocProfilesGetRequest", sizeof(struct get_request),
                                               get_fields };

static const struct rpcmessage_field no_fields[] = { { 0 } };
static const struct rpcmessage list_message = { "adhocprofiles.v1.AdHocProfilesListRequest", 1, no_fields };

static const struct rpcmessage_field diff_fields[] = {
    { 1, "left_id", RPCMESSAGE_TEXT, offsetof(struct diff_request, left_id) },
    { 2, "right_id", RPCMESSAGE_TEXT, offsetof(struct diff_request, right_id) },
    { 3, "profile_type", RPCMESSAGE_TEXT, offsetof(struct diff_request, profile_type) },
    { 4, "max_nodes", RPCMESSAGE_INT64, offsetof(struct diff_request, max_nodes) },
    { 0 },
};
static const struct rpcmessage diff_message = { "adhocprofiles.v1.AdHocProfilesDiffRequest",
                                                sizeof(struct diff_request), diff_fields };

/* --- answers --- */

static void put_types(struct tenantcall *call, uint32_t number, const struct adhocprofile *profile)
{
    rpcwriter_list_begin(&call->writer, "profileTypes");
    for (uint32_t i = 0; i < adhocprofile_get(profile)->n_types; i++)
        rpcwriter_text_item(&call->writer, number, adhocprofile_type_name(profile, i));
    rpcwriter_list_end(&call->writer);
}

/* The type as /render has it, of which it takes the second and the third part. */
static struct slice type_text(struct tenantcall *call, const struct adhocprofile *profile, struct error *err)
{
    return slice_from(arena_printf(&call->arena, err,
                                   "adhoc:%.*s:%.*s::", SLICE_ARG(adhocprofile_type_name(profile, profile->type)),
                                   SLICE_ARG(adhocprofile_type_unit(profile, profile->type))));
}

/* The JSON of /render as a field. */
static int put_bearer(struct tenantcall *call, uint32_t number, const struct adhocprofile *profile,
                      const struct flamebearer *bearer, struct error *err)
{
    struct slice type = type_text(call, profile, err);
    AUTO(buffer_done) struct buffer text;
    struct json json;

    buffer_init(&text, MAX_WORK_BYTES);
    if (type.len == 0)
        return -1;
    json_init(&json, &text, JSON_COMPACT);
    render_write_flamebearer(&json, bearer, type);
    json_done(&json);
    if (buffer_check(&text, err) < 0)
        return -1;
    rpcwriter_text(&call->writer, number, "flamebearerProfile", buffer_slice(&text));
    return 0;
}

static int put_profile(struct tenantcall *call, const struct adhocfile *file, const struct adhocprofile *profile,
                       int64_t max_nodes, struct error *err)
{
    AUTO(flame_freep) struct flame *flame = NULL;
    struct flamebearer bearer;
    uint32_t n_nodes;

    if (flamebearer_max_nodes(max_nodes, &n_nodes, err) < 0 || adhocprofile_flame(profile, n_nodes, &flame, err) < 0 ||
        flamebearer_from_flame(flame, &call->arena, &bearer, err) < 0)
        return -1;
    rpcwriter_text(&call->writer, 1, "id", file->id);
    rpcwriter_text(&call->writer, 2, "name", file->name);
    rpcwriter_int64(&call->writer, 3, "uploadedAt", file->uploaded_ns / TENANTCALL_NS_PER_MS);
    rpcwriter_text(&call->writer, 4, "profileType", adhocprofile_type_name(profile, profile->type));
    put_types(call, 5, profile);
    return put_bearer(call, 6, profile, &bearer, err);
}

/* --- procedures --- */

static int decode(struct tenantcall *call, struct slice text, struct slice *ret_bytes, struct error *err)
{
    char *bytes = arena_alloc(&call->arena, BASE64_DECODED_BYTES(text.len), err);
    size_t len, bad_at;

    if (!bytes)
        return -1;
    if (text.len == 0)
        return error_set(err, ERR_INVALID, "profile: missing; give its bytes in base64");
    if (!base64_decode(text, bytes, &len, &bad_at))
        return error_set(err, ERR_INVALID, "profile: not base64 at offset %zu of %zu", bad_at, text.len);
    *ret_bytes = slice_of(bytes, len);
    return 0;
}

static int upload(struct tenantcall *call, const void *request, struct error *err)
{
    const struct upload_request *given = request;
    struct adhocprofile profile;
    struct adhocfile file;
    struct slice bytes;
    int result;

    if (decode(call, given->profile, &bytes, err) < 0)
        return -1;
    result = adhocprofile_read(bytes, &profile, err);
    if (result == 0)
        result = adhocfiles_put(call->answer->adhocfiles, call->tenant, given->name, bytes, call->now_ns, &call->arena,
                                &file, err);
    if (result == 0)
        result = put_profile(call, &file, &profile, given->max_nodes, err);
    adhocprofile_done(&profile);
    return result;
}

/* A kept profile; its bytes are from the arena. To be ended with adhocprofile_done if that succeeds. */
static int load(struct tenantcall *call, struct slice id, struct slice type, struct adhocfile *ret_file,
                struct adhocprofile *ret_profile, struct error *err)
{
    AUTO(buffer_done) struct buffer bytes;
    struct slice copy;

    buffer_init(&bytes, MAX_WORK_BYTES);
    if (adhocfiles_read(call->answer->adhocfiles, call->tenant, id, call->now_ns, &call->arena, ret_file, &bytes, err) <
        0)
        return -1;
    copy = arena_copy(&call->arena, buffer_slice(&bytes), err);
    if (!copy.ptr)
        return -1;
    if (adhocprofile_read(copy, ret_profile, err) == 0 && adhocprofile_choose(ret_profile, type, err) == 0)
        return 0;
    adhocprofile_done(ret_profile);
    return -1;
}

static int get(struct tenantcall *call, const void *request, struct error *err)
{
    const struct get_request *given = request;
    struct adhocprofile profile;
    struct adhocfile file;
    int result;

    if (load(call, given->id, given->profile_type, &file, &profile, err) < 0)
        return -1;
    result = put_profile(call, &file, &profile, given->max_nodes, err);
    adhocprofile_done(&profile);
    return result;
}

static int list(struct tenantcall *call, const void *request UNUSED, struct error *err)
{
    struct adhocfiles_list found;

    if (adhocfiles_list(call->answer->adhocfiles, call->tenant, call->now_ns, &call->arena, &found, err) < 0)
        return -1;
    if (found.n == 0)
        return 0;
    rpcwriter_list_begin(&call->writer, "profiles");
    for (uint32_t i = 0; i < found.n; i++) {
        rpcwriter_begin(&call->writer, 1, NULL);
        rpcwriter_text(&call->writer, 1, "id", found.items[i].id);
        rpcwriter_text(&call->writer, 2, "name", found.items[i].name);
        rpcwriter_int64(&call->writer, 3, "uploadedAt", found.items[i].uploaded_ns / TENANTCALL_NS_PER_MS);
        rpcwriter_end(&call->writer);
    }
    rpcwriter_list_end(&call->writer);
    return 0;
}

static int put_diff(struct tenantcall *call, const struct adhocprofile *left, const struct adhocprofile *right,
                    int64_t max_nodes, struct error *err)
{
    AUTO(flame_freep) struct flame *trimmed = NULL;
    AUTO(diff_freep) struct diff *diff = NULL;
    struct trim_options trim = { .column = TRIM_ALL_COLUMNS };
    struct flamebearer bearer;

    if (flamebearer_max_nodes(max_nodes, &trim.max_nodes, err) < 0 ||
        diff_new(adhocprofile_get(left), left->type, adhocprofile_get(right), right->type, NULL, &diff, err) < 0 ||
        trim_flame(diff->flame, &trim, &trimmed, err) < 0 ||
        flamebearer_from_diff(trimmed, &call->arena, &bearer, err) < 0)
        return -1;
    put_types(call, 1, left);
    return put_bearer(call, 2, left, &bearer, err);
}

static int diff(struct tenantcall *call, const void *request, struct error *err)
{
    const struct diff_request *given = request;
    struct adhocprofile left, right;
    struct adhocfile file;
    int result;

    if (load(call, given->left_id, given->profile_type, &file, &left, err) < 0)
        return error_wrap(err, "left_id");
    result = load(call, given->right_id, adhocprofile_type_name(&left, left.type), &file, &right, err);
    if (result < 0) {
        adhocprofile_done(&left);
        return error_wrap(err, "right_id");
    }
    result = put_diff(call, &left, &right, given->max_nodes, err);
    adhocprofile_done(&left);
    adhocprofile_done(&right);
    return result;
}

/* --- handlers --- */

void adhoccalls_upload(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &upload_message, upload, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}

void adhoccalls_get(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &get_message, get, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}

void adhoccalls_list(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &list_message, list, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}

void adhoccalls_diff(struct exchange *exchange)
{
    static const struct tenantcall_procedure procedure = { &diff_message, diff, MAX_WORK_BYTES };

    tenantcall_serve(exchange, &procedure);
}
