// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

void base_assert_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "hearth: bug: %s:%d: '%s' does not hold; please report this line\n", file, line, expr);
    abort();
}
