// SPDX-License-Identifier: Apache-2.0
/* JSON values that OTLP writes in its own way. */
#pragma once

#include "base/json.h"

/* A number that does not look whole, so that it reads back as a double; "NaN", "Infinity" and "-Infinity" are strings.
 */
void otlp_json_double(struct json *json, double value);
