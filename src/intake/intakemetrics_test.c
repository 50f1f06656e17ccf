// SPDX-License-Identifier: Apache-2.0
#include "intake/intakemetrics.h"

#include "base/test.h"

TEST(intakemetrics_each_have_a_name_and_a_sentence)
{
    for (size_t i = 0; i < INTAKEMETRICS; i++) {
        size_t len = intakemetrics_specs[i].help ? strlen(intakemetrics_specs[i].help) : 0;

        CHECK(intakemetrics_specs[i].name != NULL);
        CHECK(len > 0 && intakemetrics_specs[i].help[len - 1] == '.');
    }
}

TEST(intakemetrics_of_a_second_intake_count_nothing)
{
    struct intakemetrics first, second;

    intakemetrics_init(&first);
    intakemetrics_init(&second);
    CHECK(first.metrics);
    CHECK(!second.metrics);
    intakemetrics_add(&second, second.uploads[UPLOAD_PUSH], 1);
    intakemetrics_done(&second);
    intakemetrics_done(&first);
}
