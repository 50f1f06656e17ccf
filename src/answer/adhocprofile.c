// SPDX-License-Identifier: Apache-2.0
#include "answer/adhocprofile.h"

#include "flame/trim.h"
#include "profile/merge.h"
#include "wire/format.h"

#include <stdio.h>

static int merge_all(struct adhocprofile *profile, struct error *err)
{
    AUTO(merge_freep) struct merge *merge = NULL;
    struct batch merged;

    batch_init(&merged, &profile->batch.limits);
    if (merge_new(NULL, &merge, err) < 0 || merge_add(merge, &profile->batch, err) < 0 ||
        merge_finish(merge, &merged, err) < 0) {
        batch_done(&merged);
        return -1;
    }
    batch_done(&profile->batch);
    profile->batch = merged;
    for (uint32_t i = 0; i < merged.n_profiles; i++)
        profile->batch.profiles[i].tables = &profile->batch.tables;
    return 0;
}

int adhocprofile_read(struct slice bytes, struct adhocprofile *ret_profile, struct error *err)
{
    const struct format *ignored;

    *ret_profile = (struct adhocprofile){ .type = PROFILE_NO_TYPE };
    batch_init(&ret_profile->batch, NULL);
    if (unpacker_new(&ret_profile->unpacker, err) < 0 ||
        format_read(bytes, NULL, ret_profile->unpacker, &ret_profile->batch, &ignored, err) < 0)
        return -1;
    if (ret_profile->batch.n_profiles != 1 && merge_all(ret_profile, err) < 0)
        return -1;
    return adhocprofile_choose(ret_profile, SLICE(""), err);
}

void adhocprofile_done(struct adhocprofile *profile)
{
    batch_done(&profile->batch);
    unpacker_free(profile->unpacker);
}

struct slice adhocprofile_type_name(const struct adhocprofile *profile, uint32_t type)
{
    return tables_string(&profile->batch.tables, adhocprofile_get(profile)->types[type].type);
}

struct slice adhocprofile_type_unit(const struct adhocprofile *profile, uint32_t type)
{
    return tables_string(&profile->batch.tables, adhocprofile_get(profile)->types[type].unit);
}

static int fail_type(const struct adhocprofile *profile, struct slice name, struct error *err)
{
    char known[160] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < adhocprofile_get(profile)->n_types && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%.*s", i ? ", " : "",
                                SLICE_ARG(adhocprofile_type_name(profile, i)));
    return error_set(err, ERR_INVALID, "the profile has no type '%.*s', but %s", SLICE_ARG(slice_sub(name, 0, 64)),
                     known);
}

int adhocprofile_choose(struct adhocprofile *profile, struct slice name, struct error *err)
{
    uint32_t type = name.len > 0 ? profile_find_type(adhocprofile_get(profile), name)
                                 : profile_default_type(adhocprofile_get(profile));

    if (adhocprofile_get(profile)->n_types == 0)
        return error_set(err, ERR_UNSUPPORTED, "there is no profile in it");
    if (type == PROFILE_NO_TYPE)
        return fail_type(profile, name, err);
    profile->type = type;
    return 0;
}

int adhocprofile_flame(const struct adhocprofile *profile, uint32_t max_nodes, struct flame **ret_flame,
                       struct error *err)
{
    AUTO(flame_freep) struct flame *whole = NULL;
    struct trim_options trim = { .max_nodes = max_nodes };
    struct flame *trimmed;

    if (flame_new(adhocprofile_get(profile), &profile->type, 1, NULL, &whole, err) < 0 ||
        trim_flame(whole, &trim, &trimmed, err) < 0)
        return -1;
    trimmed->owns_set = whole->owns_set; /* the symbols outlive the tree that they came with */
    whole->owns_set = false;
    *ret_flame = trimmed;
    return 0;
}
