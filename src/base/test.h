// SPDX-License-Identifier: Apache-2.0
/* Unit tests: `TEST(block_rejects_short_header) { CHECK_EQ(a, b); }` registers itself; the room's test binary runs all.
 *
 * A failed check prints both values and ends that test. test.c holds main(): `base [--list] [WORD...]` runs the tests
 * whose name contains one of the words and ends with `N passed, M failed, K skipped`. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

struct test {
    const char *name;
    const char *file;
    void (*run)(void);
    struct test *next;
};

void test_register(struct test *test);

#define TEST(test_name)                                                                                                \
    static void test_##test_name(void);                                                                                \
    __attribute__((constructor)) static void register_##test_name(void)                                                \
    {                                                                                                                  \
        static struct test test = { #test_name, __FILE__, test_##test_name, NULL };                                    \
        test_register(&test);                                                                                          \
    }                                                                                                                  \
    static void test_##test_name(void)

NORETURN void test_fail(const char *file, int line, const char *fmt, ...) PRINTF(3, 4);
/* Ends the running test as skipped; says why in the output. */
NORETURN void test_skip(const char *fmt, ...) PRINTF(1, 2);

void test_check_eq(const char *file, int line, const char *text, int64_t got, int64_t wanted);
void test_check_near(const char *file, int line, const char *text, double got, double wanted, double tolerance);
void test_check_text(const char *file, int line, const char *text, struct slice got, struct slice wanted);
void test_check_ok(const char *file, int line, const char *text, int result, const struct error *err);
void test_check_error(const char *file, int line, const char *text, int result, const struct error *err,
                      enum error_code wanted);

#define CHECK(expr)                                                                                                    \
    do {                                                                                                               \
        if (!(expr))                                                                                                   \
            test_fail(__FILE__, __LINE__, "'%s' does not hold", #expr);                                                \
    } while (0)
#define CHECK_EQ(got, wanted) test_check_eq(__FILE__, __LINE__, #got " == " #wanted, (int64_t)(got), (int64_t)(wanted))
#define CHECK_NEAR(got, wanted, tolerance)                                                                             \
    test_check_near(__FILE__, __LINE__, #got " ~ " #wanted, (got), (wanted), (tolerance))
/* Texts: char * or struct slice on either side. */
#define TEST_SLICE(text) _Generic((text), struct slice : test_identity, default : slice_from)(text)
#define CHECK_TEXT(got, wanted)                                                                                        \
    test_check_text(__FILE__, __LINE__, #got " == " #wanted, TEST_SLICE(got), TEST_SLICE(wanted))
/* The text contains the words; for error messages. */
#define CHECK_HAS(text, words)       test_check_has(__FILE__, __LINE__, TEST_SLICE(text), slice_from(words))
/* Calls that fill the `struct error *` given as `err`. */
#define CHECK_OK(call, err)          test_check_ok(__FILE__, __LINE__, #call, (call), (err))
#define CHECK_ERROR(call, err, code) test_check_error(__FILE__, __LINE__, #call, (call), (err), (code))

void test_check_has(const char *file, int line, struct slice text, struct slice words);

static inline struct slice test_identity(struct slice text)
{
    return text;
}

/* How many cases made by chance to go through: `n`, or TEST_TIMES of the environment times as many. */
unsigned test_times(unsigned n);

/* An empty directory of this test's own, removed with all its content when the test ends. */
const char *test_directory(void);

/* Runs `step` with allocation 1, 2, 3 ... of this thread failing until it gets through without one failing. `step`
 * returns 0 or -1 with an error; an error other than ERR_MEMORY fails the test. */
void test_each_allocation_failing(int (*step)(void *context, struct error *err), void *context);

/* The same for calls of base/fs, which fail with `errnum`; a failed run must report `code`. */
void test_each_file_call_failing(int (*step)(void *context, struct error *err), void *context, int errnum,
                                 enum error_code code);

/* Runs `step` in a child process, which must abort with `words` in what it says on standard error: for assertions. */
#define CHECK_ABORTS(step, words) test_check_aborts(__FILE__, __LINE__, #step, (step), (words))
void test_check_aborts(const char *file, int line, const char *text, void (*step)(void), const char *words);
