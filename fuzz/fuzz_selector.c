// SPDX-License-Identifier: Apache-2.0
/* Selectors. What was read is written so that it is read again and written the same; and whatever it says, judging and
 * testing some series with it gives an answer or a refusal, and the two agree. */
#include "base/memory.h"
#include "label/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct series_label shop_labels[] = {
    { SLICE("__name__"), SLICE("process_cpu") },
    { SLICE("service_name"), SLICE("shop") },
    { SLICE("zone"), SLICE("eu-1") },
};
static struct series_label other_labels[] = {
    { SLICE("__name__"), SLICE("wall") },
    { SLICE("service_name"), SLICE("other_services") },
    { SLICE("text"), SLICE("gr\xc3\xbc\xc3\x9f"
                           "e\n") },
};
static const struct seriesinfo all_series[] = {
    { .labels = shop_labels, .n_labels = ARRAY_LEN(shop_labels) },
    { .labels = other_labels, .n_labels = ARRAY_LEN(other_labels) },
    { .labels = NULL, .n_labels = 0 },
};
/* None has a name that the first series has, nor one of the second's but the service (labelrules.h, N6). */
static const struct selector_label row_labels[] = {
    { SLICE("process.pid"), SLICE("7") },
    { SLICE("__name__"), SLICE("odd") },
    { SLICE("bytes"), SLICE("\xff\x00") },
};
static const struct selector_label sample_labels[] = {
    { SLICE("thread name"), SLICE("main") },
    { SLICE("tag"), SLICE("a") },
    { SLICE("tag"), SLICE("b") },
    { SLICE(""), SLICE("nameless") },
};
static const struct selector_label own_service = { SLICE("service.name"), SLICE("shop") };

static bool is_refusal(const struct error *err)
{
    return err->code == ERR_LIMIT || err->code == ERR_INVALID;
}

/* What is certain by the series alone must hold for a sample of it. */
static void check_series(const struct selector *selector, const struct seriesinfo *series, bool has_columns,
                         struct pattern_scratch *scratch)
{
    bool is_other = series == &all_series[1];
    enum selector_verdict verdict;
    struct error err;
    bool matches;
    int result;

    if (selector_judge(selector, series, has_columns, scratch, &verdict, &err) < 0) {
        ASSERT(is_refusal(&err));
        return;
    }
    ASSERT(has_columns || verdict != SELECTOR_MAYBE);
    if (has_columns)
        result =
            selector_test(selector, series, is_other ? &own_service : row_labels, is_other ? 1 : ARRAY_LEN(row_labels),
                          sample_labels, ARRAY_LEN(sample_labels), scratch, &matches, &err);
    else
        result = selector_test(selector, series, NULL, 0, NULL, 0, scratch, &matches, &err);
    if (result < 0)
        ASSERT(is_refusal(&err));
    else
        ASSERT(verdict == SELECTOR_MAYBE || matches == (verdict == SELECTOR_YES));
}

static void check_rewritten(const struct selector *selector)
{
    struct selector *again;
    struct buffer first, second;
    struct error err;

    buffer_init(&first, 0);
    buffer_init(&second, 0);
    selector_text(selector, &first);
    ASSERT(selector_new(buffer_slice(&first), &again, &err) == 0);
    selector_text(again, &second);
    ASSERT(slice_equal(buffer_slice(&first), buffer_slice(&second)));
    ASSERT(selector_is_empty(selector) == selector_is_empty(again));
    ASSERT(slice_equal(selector_profile_type(selector), selector_profile_type(again)));
    selector_free(again);
    buffer_done(&first);
    buffer_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pattern_scratch *scratch;
    struct selector *selector;
    struct error err;

    if (selector_new(slice_of(data, size), &selector, &err) < 0) {
        ASSERT(is_refusal(&err));
        return 0;
    }
    check_rewritten(selector);
    if (pattern_scratch_new(&scratch, &err) == 0) {
        for (size_t i = 0; i < ARRAY_LEN(all_series); i++) {
            check_series(selector, &all_series[i], true, scratch);
            check_series(selector, &all_series[i], false, scratch);
        }
        pattern_scratch_free(scratch);
    }
    selector_free(selector);
    return 0;
}
