// SPDX-License-Identifier: Apache-2.0
#include "demo/shopwork.h"

/* Neither inlined nor copied, so that each is a frame of its own. */
#if defined(__clang__)
#define STEP __attribute__((noinline)) static uint64_t
#else
#define STEP __attribute__((noipa)) static uint64_t
#endif

void shopwork_init(struct shopwork *work, uint64_t seed)
{
    *work = (struct shopwork){ .state = seed };
    for (size_t i = 0; i < SHOPWORK_PAGE_WORDS; i++)
        work->page[i] = seed + i * 0x9e3779b97f4a7c15u;
}

/* The loop that does all work. Each step depends on the one before, so that no compiler does several at a time. Somebody asks for
 * the frame, since functions that call nobody would go without one, and profiles without their callers. */
static ALWAYS_INLINE uint64_t spend(struct shopwork *work, uint32_t units)
{
    uint64_t state = work->state;

    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    for (uint32_t page = 0; page < units * SHOPWORK_UNIT_PAGES; page++)
        for (size_t i = 0; i < SHOPWORK_PAGE_WORDS; i++) {
            state = (state ^ work->page[i]) * 0xff51afd7ed558ccdu;
            state ^= state >> 29;
        }
    work->state = state;
    work->n_units += units;
    return state | 1;
}

/* --- the shop --- */

/* Units of the parser: what it spends on strings is twice what it spends on numbers. */
enum { ORDER_STRINGS = 4, ORDER_NUMBERS = 2, PAYMENT_STRINGS = 1, PAYMENT_NUMBERS = 1 };
enum { DISCOUNTS = 3, RECEIPT = 3, SIGNATURE = 2, LIST_NAMES = 2, LIST_PRICES = 1, PAGE = 1 };

STEP parse_string(struct shopwork *work, uint32_t units)
{
    return spend(work, units);
}

STEP parse_number(struct shopwork *work, uint32_t units)
{
    return spend(work, units);
}

STEP parse_json(struct shopwork *work, uint32_t string_units, uint32_t number_units)
{
    uint64_t sum = parse_string(work, string_units);

    return sum + parse_number(work, number_units);
}

STEP read_order(struct shopwork *work)
{
    return parse_json(work, ORDER_STRINGS, ORDER_NUMBERS) | 1;
}

STEP check_order(struct shopwork *work)
{
    return parse_json(work, ORDER_STRINGS, ORDER_NUMBERS) | 1;
}

STEP apply_discounts(struct shopwork *work)
{
    return spend(work, DISCOUNTS);
}

STEP compute_price(struct shopwork *work)
{
    return apply_discounts(work) | 1;
}

STEP render_receipt(struct shopwork *work)
{
    return spend(work, RECEIPT);
}

STEP read_payment(struct shopwork *work)
{
    return parse_json(work, PAYMENT_STRINGS, PAYMENT_NUMBERS) | 1;
}

STEP sign_payment(struct shopwork *work)
{
    return spend(work, SIGNATURE);
}

STEP escape_html(struct shopwork *work)
{
    return spend(work, LIST_NAMES);
}

STEP format_price(struct shopwork *work)
{
    return spend(work, LIST_PRICES);
}

STEP render_list(struct shopwork *work)
{
    uint64_t sum = escape_html(work);

    return sum + format_price(work);
}

STEP render_report(struct shopwork *work)
{
    return spend(work, PAGE);
}

/* --- the services behind it --- */

enum { CARD = 1, HASH = 9, RESERVE = 2, SCORES = 5, SORT = 3, ROWS = 4, TEXT = 1 };

STEP check_card(struct shopwork *work)
{
    return spend(work, CARD);
}

STEP hash_block(struct shopwork *work)
{
    return spend(work, HASH);
}

STEP hash_card(struct shopwork *work)
{
    return hash_block(work) | 1;
}

STEP reserve_stock(struct shopwork *work)
{
    return spend(work, RESERVE);
}

STEP score_products(struct shopwork *work)
{
    return spend(work, SCORES);
}

STEP sort_products(struct shopwork *work)
{
    return spend(work, SORT);
}

STEP rank_products(struct shopwork *work)
{
    uint64_t sum = score_products(work);

    return sum + sort_products(work);
}

STEP aggregate_rows(struct shopwork *work)
{
    return spend(work, ROWS);
}

STEP format_report(struct shopwork *work)
{
    return spend(work, TEXT);
}

/* --- the table --- */

#define PARSER(caller, strings, numbers)                                                                               \
    { { caller, 0, 0 }, { "parse_json", 1, 0 }, { "parse_string", 2, strings }, { "parse_number", 2, numbers } }, 4

static const struct {
    uint64_t (*run)(struct shopwork *work);
    struct shopwork_info info;
} tasks[SHOPWORK_TASKS] = {
    [SHOPWORK_READ_ORDER] = { read_order, { "read order", PARSER("read_order", ORDER_STRINGS, ORDER_NUMBERS) } },
    [SHOPWORK_CHECK_ORDER] = { check_order, { "check order", PARSER("check_order", ORDER_STRINGS, ORDER_NUMBERS) } },
    [SHOPWORK_COMPUTE_PRICE] = { compute_price,
                                 { "compute price",
                                   { { "compute_price", 0, 0 }, { "apply_discounts", 1, DISCOUNTS } },
                                   2 } },
    [SHOPWORK_RENDER_RECEIPT] = { render_receipt, { "render receipt", { { "render_receipt", 0, RECEIPT } }, 1 } },
    [SHOPWORK_READ_PAYMENT] = { read_payment,
                                { "read payment", PARSER("read_payment", PAYMENT_STRINGS, PAYMENT_NUMBERS) } },
    [SHOPWORK_SIGN_PAYMENT] = { sign_payment, { "sign payment", { { "sign_payment", 0, SIGNATURE } }, 1 } },
    [SHOPWORK_RENDER_LIST] = { render_list,
                               { "render list",
                                 { { "render_list", 0, 0 },
                                   { "escape_html", 1, LIST_NAMES },
                                   { "format_price", 1, LIST_PRICES } },
                                 3 } },
    [SHOPWORK_RENDER_REPORT] = { render_report, { "render report", { { "render_report", 0, PAGE } }, 1 } },
    [SHOPWORK_CHECK_CARD] = { check_card, { "check card", { { "check_card", 0, CARD } }, 1 } },
    [SHOPWORK_HASH_CARD] = { hash_card, { "hash card", { { "hash_card", 0, 0 }, { "hash_block", 1, HASH } }, 2 } },
    [SHOPWORK_RESERVE_STOCK] = { reserve_stock, { "reserve stock", { { "reserve_stock", 0, RESERVE } }, 1 } },
    [SHOPWORK_RANK_PRODUCTS] = { rank_products,
                                 { "rank products",
                                   { { "rank_products", 0, 0 },
                                     { "score_products", 1, SCORES },
                                     { "sort_products", 1, SORT } },
                                   3 } },
    [SHOPWORK_AGGREGATE_ROWS] = { aggregate_rows, { "aggregate rows", { { "aggregate_rows", 0, ROWS } }, 1 } },
    [SHOPWORK_FORMAT_REPORT] = { format_report, { "format report", { { "format_report", 0, TEXT } }, 1 } },
};

const struct shopwork_info *shopwork_info(enum shopwork_task task)
{
    return &tasks[task].info;
}

uint64_t shopwork_do(struct shopwork *work, enum shopwork_task task)
{
    return tasks[task].run(work) | 1;
}
