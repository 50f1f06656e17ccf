// SPDX-License-Identifier: Apache-2.0
/* Pyroscope's push.v1.PusherService/Push: series of pprof profiles with their labels.
 *
 * A bad profile is rejected and the others are stored. `__delta__` = "false" says that nothing counts from the start of
 * the process; without it the types decide. `__session_id__` tells hosts apart and is no label. A name
 * `godeltaprof_X` is X, and a delta. A sample's ID, where it is a UUID, is the profile's own id. */
#pragma once

#include "base/error.h"

struct intake_worker;

/* Takes the upload at hand. Errors: those of intake_take; ERR_INVALID without any profile. */
MUST_CHECK int push_take(struct intake_worker *worker, bool is_json, struct error *err);
