// SPDX-License-Identifier: Apache-2.0
#include "answer/adhocprofile.h"

#include "base/test.h"

static const struct slice folded = { "main;work 10\nmain;rest 5\n", 25 };

TEST(adhocprofile_is_a_tree_of_its_default_type)
{
    struct adhocprofile profile;
    struct flame *flame;
    struct error err;

    CHECK_OK(adhocprofile_read(folded, &profile, &err), &err);
    CHECK_TEXT(adhocprofile_type_name(&profile, profile.type), "samples");
    CHECK_TEXT(adhocprofile_type_unit(&profile, profile.type), "count");
    CHECK_OK(adhocprofile_flame(&profile, 100, &flame, &err), &err);
    CHECK_EQ(flame->n_nodes, 4);
    CHECK_EQ(flame_total(flame, 0, 0), 15);
    flame_free(flame);
    CHECK_OK(adhocprofile_flame(&profile, 2, &flame, &err), &err);
    CHECK_EQ(flame_total(flame, 0, 0), 15);
    CHECK_TEXT(flame_name(flame, 2), "other");
    flame_free(flame);
    adhocprofile_done(&profile);
}

TEST(adhocprofile_says_which_types_there_are)
{
    struct adhocprofile profile;
    struct error err;

    CHECK_OK(adhocprofile_read(folded, &profile, &err), &err);
    CHECK_OK(adhocprofile_choose(&profile, SLICE("samples"), &err), &err);
    CHECK_ERROR(adhocprofile_choose(&profile, SLICE("cpu"), &err), &err, ERR_INVALID);
    CHECK_TEXT(err.text, "the profile has no type 'cpu', but samples");
    CHECK_TEXT(adhocprofile_type_name(&profile, profile.type), "samples"); /* as before */
    adhocprofile_done(&profile);
}

TEST(adhocprofile_refuses_what_is_none)
{
    static const char *const texts[] = { "no profile at all", "\x1f\x8b", "{}" };
    struct adhocprofile profile;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CHECK(adhocprofile_read(slice_from(texts[i]), &profile, &err) < 0);
        CHECK(err.text[0] != '\0');
        adhocprofile_done(&profile);
    }
}

static int read_and_show(void *context UNUSED, struct error *err)
{
    struct adhocprofile profile;
    struct flame *flame = NULL;
    int result = adhocprofile_read(folded, &profile, err);

    if (result == 0)
        result = adhocprofile_flame(&profile, 100, &flame, err);
    flame_free(flame);
    adhocprofile_done(&profile);
    return result;
}

TEST(adhocprofile_survives_every_allocation_that_fails)
{
    test_each_allocation_failing(read_and_show, NULL);
}
