// SPDX-License-Identifier: Apache-2.0
#include "store/storemetrics.h"

#include "base/test.h"

TEST(storemetrics_are_shown_by_the_first_store_of_a_process)
{
    struct storemetrics first, second;
    struct buffer text;

    buffer_init(&text, 0);
    storemetrics_init(&first);
    storemetrics_init(&second);
    storemetrics_add(&first, STOREMETRIC_WRITTEN, 3);
    storemetrics_add(&second, STOREMETRIC_WRITTEN, 40);
    storemetrics_set(&first, STOREMETRIC_FULL, 1);
    metrics_write(&text);
    buffer_append_byte(&text, 0);
    CHECK_HAS(text.data, "hearth_store_profiles_written_total 3\n");
    CHECK_HAS(text.data, "hearth_store_is_full 1\n");
    storemetrics_done(&second);
    storemetrics_done(&first);
    buffer_done(&text);
}

TEST(storemetrics_each_have_a_name_and_a_sentence)
{
    for (unsigned i = 0; i < STOREMETRICS; i++) {
        size_t len = storemetrics_specs[i].help ? strlen(storemetrics_specs[i].help) : 0;

        CHECK(storemetrics_specs[i].name != NULL);
        CHECK(len > 0 && storemetrics_specs[i].help[len - 1] == '.');
    }
}
