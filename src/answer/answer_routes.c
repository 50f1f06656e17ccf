// SPDX-License-Identifier: Apache-2.0
/* Every path of Pyroscope's that is asked for answers. */
#include "answer/answer_internal.h"

static const struct route routes[] = {
    { HTTP_POST, "/version.v1.Version/Version", ROUTE_PUBLIC,
      "Which versions of querier.v1 there are: version.v1.VersionResponse.", clientcalls_version,
      .is_procedure = true },
};

const struct route_table answer_routes = { routes, ARRAY_LEN(routes) };
