// SPDX-License-Identifier: Apache-2.0
#include "intake/legacytype.h"

#include "base/test.h"

TEST(legacytype_is_the_last_part_of_the_name)
{
    const struct legacytype *type;
    struct slice app;
    struct error err;

    CHECK_OK(legacytype_find(SLICE("shop.checkout.alloc_space"), &type, &app, &err), &err);
    CHECK_TEXT(app, "shop.checkout");
    CHECK_TEXT(type->metric, "memory");
    CHECK_TEXT(type->unit, "bytes");
    CHECK_OK(legacytype_find(SLICE("shop.itimer"), &type, &app, &err), &err);
    CHECK_TEXT(app, "shop");
    CHECK_TEXT(type->metric, "process_cpu");
    CHECK_OK(legacytype_find(SLICE("shop"), &type, &app, &err), &err);
    CHECK_TEXT(app, "shop");
    CHECK_TEXT(type->type, "cpu");
}

TEST(legacytype_that_nobody_knows_is_refused)
{
    const struct legacytype *type;
    struct slice app;
    struct error err;

    CHECK_ERROR(legacytype_find(SLICE("shop.api"), &type, &app, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'api'");
    CHECK_HAS(err.text, "alloc_space");
}
