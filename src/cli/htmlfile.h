// SPDX-License-Identifier: Apache-2.0
/* Profiles as pages that open anywhere (page/pagefile.h): the flame graph of one value type. */
#pragma once

#include "wire/format.h"

#define HTMLFILE_MAX_NODES 1000000u /* of the tree; the rest is added up in `other` nodes */

/* As the formats of wire/ are, but for writing only. Errors of encode: ERR_UNSUPPORTED if the program was built without its
 * page, and those of flame_new and flamebytes_encode. */
extern const struct format htmlfile_format;
