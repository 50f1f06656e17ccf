// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "page/page.h"

/* Every embedded file; "/index.html" is always one of them. */
extern const struct page_asset assets_all[];
extern const size_t assets_n;
