// SPDX-License-Identifier: Apache-2.0
/* Many hosts that are not there, for trying scale: each sends a CPU profile every ten seconds, as the service `fleet` with labels
 * for region, version, pod and node.
 *
 * Their profiles are made of recorded ones. When it starts it does the work of a checkout for a moment, once for each release of
 * the shop, and profiles that; a host's profile is one of those with all values changed by chance. So it costs next to nothing,
 * and many hosts fit into one request. */
#pragma once

#include "demo/outbox.h"
#include "profile/profile.h"

#define FLEET_MAX_HOSTS     100000
#define FLEET_PERIOD_S      10 /* between two profiles of a host */
#define FLEET_REQUEST_HOSTS 100
#define FLEET_SERVICE       "fleet"

struct fleet_options {
    uint32_t n_hosts; /* 1 to FLEET_MAX_HOSTS */
    struct outbox_world world;
};

struct fleet;
/* It profiles this process, so nobody else may. Errors: ERR_MEMORY, ERR_IO. Thread: the owner, as for the next. */
MUST_CHECK int fleet_start(const struct fleet_options *options, struct fleet **ret_fleet, struct error *err);
/* Accepts NULL. */
void fleet_stop(struct fleet *fleet);
