// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/test.h"

#include <errno.h>

TEST(error_set_keeps_code_and_text_and_returns_minus_one)
{
    struct error err;

    CHECK_EQ(error_set(&err, ERR_CORRUPT, "block '%s' is %d bytes", "b-17", 3), -1);
    CHECK_EQ(err.code, ERR_CORRUPT);
    CHECK_TEXT(err.text, "block 'b-17' is 3 bytes");
}

TEST(error_wrap_puts_what_we_did_in_front_and_keeps_the_code)
{
    struct error err;

    error_set(&err, ERR_LIMIT, "too deep");
    CHECK_EQ(error_wrap(&err, "sample %d", 7), -1);
    CHECK_EQ(error_wrap(&err, "reading '%s'", "x.pb"), -1);
    CHECK_EQ(err.code, ERR_LIMIT);
    CHECK_TEXT(err.text, "reading 'x.pb': sample 7: too deep");
}

TEST(error_text_that_does_not_fit_ends_in_three_dots)
{
    char long_name[400];
    struct error err;

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    error_set(&err, ERR_INVALID, "%s", long_name);
    CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
    CHECK(slice_ends_with(slice_from(err.text), SLICE("xxx...")));

    error_set(&err, ERR_INVALID, "%.*s", (int)sizeof(err.text) - 1, long_name);
    CHECK(slice_ends_with(slice_from(err.text), SLICE("xxxxxx")));
    error_wrap(&err, "reading");
    CHECK(slice_starts_with(slice_from(err.text), SLICE("reading: xxx")));
    CHECK(slice_ends_with(slice_from(err.text), SLICE("xxx...")));

    error_set(&err, ERR_INVALID, "short");
    error_wrap(&err, "%s", long_name);
    CHECK(slice_ends_with(slice_from(err.text), SLICE("xxx...")));
    error_set_errno(&err, ENOENT, "%s", long_name);
    CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
    CHECK(slice_ends_with(slice_from(err.text), SLICE("xxx...")));
}

TEST(error_set_errno_chooses_the_code_and_adds_the_meaning)
{
    static const struct {
        int errnum;
        enum error_code code;
    } cases[] = {
        { ENOENT, ERR_NOT_FOUND }, { EEXIST, ERR_EXISTS }, { EACCES, ERR_DENIED }, { EPERM, ERR_DENIED },
        { ENOSPC, ERR_FULL },      { EDQUOT, ERR_FULL },   { ENOMEM, ERR_MEMORY }, { EIO, ERR_IO },
    };
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_EQ(error_set_errno(&err, cases[i].errnum, "opening '%s'", "x"), -1);
        CHECK_EQ(err.code, cases[i].code);
        CHECK_HAS(err.text, "opening 'x': ");
        CHECK_HAS(err.text, strerror(cases[i].errnum));
    }
}

TEST(error_memory_says_how_much_was_wanted)
{
    struct error err;

    CHECK_EQ(error_memory(&err, 12345), -1);
    CHECK_EQ(err.code, ERR_MEMORY);
    CHECK_HAS(err.text, "12345 bytes");
}

TEST(error_codes_have_names_texts_and_statuses)
{
    CHECK_TEXT(error_code_name(ERR_NOT_FOUND), "NOT_FOUND");
    CHECK_TEXT(error_code_text(ERR_NOT_FOUND), "not found");
    CHECK_EQ(error_code_http_status(ERR_NOT_FOUND), 404);
    CHECK_EQ(error_code_exit_status(ERR_USAGE), 2);
    for (int code = 0; code < ERROR_CODE_COUNT; code++) {
        CHECK(*error_code_name((enum error_code)code) && *error_code_text((enum error_code)code));
        CHECK_EQ(error_code_exit_status((enum error_code)code) == 0, code == ERR_OK);
        CHECK_EQ(error_code_http_status((enum error_code)code) < 400, code == ERR_OK);
    }
}
