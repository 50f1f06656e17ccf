// SPDX-License-Identifier: Apache-2.0
/* An uploaded profile that is looked at: decoded, as one profile, with the type of values that is shown. */
#pragma once

#include "flame/flame.h"
#include "pack/unpacker.h"
#include "profile/profile.h"

struct adhocprofile {
    struct unpacker *unpacker;
    struct batch batch; /* of one profile */
    uint32_t type;
};

/* Reads bytes of any format, which must outlive it; several profiles, as OTLP may bring, become their sum. To be ended with
 * adhocprofile_done, also on failure. Errors: those of format_read; ERR_UNSUPPORTED if there is no profile in it. */
MUST_CHECK int adhocprofile_read(struct slice bytes, struct adhocprofile *ret_profile, struct error *err);
void adhocprofile_done(struct adhocprofile *profile);

static inline const struct profile *adhocprofile_get(const struct adhocprofile *profile)
{
    return &profile->batch.profiles[0];
}

/* Shows the type called `name`, or the default one if that is empty. Errors: ERR_INVALID, saying which there are. */
MUST_CHECK int adhocprofile_choose(struct adhocprofile *profile, struct slice name, struct error *err);
struct slice adhocprofile_type_name(const struct adhocprofile *profile, uint32_t type);
struct slice adhocprofile_type_unit(const struct adhocprofile *profile, uint32_t type);

/* The tree of the type that is shown, cut to `max_nodes`. Errors: ERR_MEMORY, ERR_LIMIT. */
MUST_CHECK int adhocprofile_flame(const struct adhocprofile *profile, uint32_t max_nodes, struct flame **ret_flame,
                                  struct error *err);
