// SPDX-License-Identifier: Apache-2.0
#include "unwind/addressnames.h"

#include "base/memory.h"
#include "base/test.h"

#include <stdlib.h>

static struct addressname name_of(struct addressnames *names, const void *code)
{
    return addressnames_find(names, (uint64_t)(uintptr_t)code);
}

TEST(addressnames_knows_own_functions_and_those_of_libraries)
{
    struct addressnames *names = NULL;
    struct addressname found;
    struct error err;

    CHECK_OK(addressnames_new(&names, &err), &err);
    found = name_of(names, (const void *)addressnames_find);
    CHECK_TEXT(found.name, "addressnames_find");
    CHECK_TEXT(found.system_name, "addressnames_find");
    CHECK_HAS(found.file, "/test/unwind");
    CHECK(found.build_id.len >= 16);
    CHECK(found.address >= found.start && found.address < found.limit);
    CHECK(found.limit < 1u << 30); /* where the file has it, which nobody has placed anywhere */
    found = name_of(names, (const void *)abort);
    CHECK_HAS(found.file, ".so");
    CHECK_HAS(found.name, "abort");
    addressnames_free(names);
}

TEST(addressnames_is_at_a_loss_without_harm)
{
    struct addressnames *names = NULL;
    struct addressname found;
    struct error err;
    int local = 0;

    CHECK_OK(addressnames_new(&names, &err), &err);
    found = name_of(names, &local);
    CHECK(!found.has_mapping);
    CHECK_TEXT(found.name, "");
    found = name_of(names, NULL);
    CHECK(!found.has_mapping);
    found = addressnames_find(names, UINT64_MAX);
    CHECK(!found.has_mapping);
    addressnames_free(names);
    addressnames_free(NULL);
}

static int ask_one(void *context UNUSED, struct error *err)
{
    struct addressnames *names;

    if (addressnames_new(&names, err) < 0)
        return -1;
    name_of(names, (const void *)addressnames_find); /* answers what it can */
    addressnames_free(names);
    return 0;
}

TEST(addressnames_survives_that_memory_runs_out)
{
    struct error err;

    for (uint64_t nth = 1; nth < 30; nth++) {
        memory_fail_at(nth);
        IGNORE(ask_one(NULL, &err), "it may fail or not");
        memory_fail_at(0);
    }
}
