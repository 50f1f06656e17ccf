// SPDX-License-Identifier: Apache-2.0
#include "demo/shopwork.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Neither inlined nor copied, so that each is a frame of its own. */
#define STEP __attribute__((noinline))

#define NAME_BYTES     48
#define CART_ITEMS     60
#define PAGE_BYTES     16384
#define ORDERS         6     /* of one checkout: the order and what is advertised beside it */
#define HASH_ROUNDS    12000 /* of a password */
#define STOCK_REFILL   1000
#define FULL_DISCOUNTS 8

/* Text that is being written; what does not fit is left out. */
struct page {
    size_t len;
    char bytes[PAGE_BYTES];
};

struct product {
    char name[NAME_BYTES];
    uint32_t price_cents;
    uint32_t score;
};

struct item {
    uint32_t product;
    uint32_t count;
};

struct shopwork {
    struct shopwork_stock *stock;
    uint64_t random;
    struct product products[SHOPWORK_PRODUCTS];
    struct item items[CART_ITEMS];
    uint32_t n_items;
    struct page order, page;
};

void shopwork_stock_init(struct shopwork_stock *stock)
{
    lock_mutex_init(&stock->lock, LOCK_DEMO_STOCK);
    for (uint32_t i = 0; i < SHOPWORK_PRODUCTS; i++)
        stock->left[i] = STOCK_REFILL;
}

void shopwork_stock_done(struct shopwork_stock *stock)
{
    lock_mutex_done(&stock->lock);
}

uint64_t shopwork_random(struct shopwork *work)
{
    work->random ^= work->random << 13;
    work->random ^= work->random >> 7;
    work->random ^= work->random << 17;
    return work->random;
}

int shopwork_new(struct shopwork_stock *stock, uint64_t seed, struct shopwork **ret_work, struct error *err)
{
    static const char *const words[] = { "walnut", "copper", "linen", "<blue>", "oak & ash", "amber", "slate", "wool" };
    struct shopwork *work = MEMORY_NEW(struct shopwork, err);

    if (!work)
        return -1;
    work->stock = stock;
    work->random = seed * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < SHOPWORK_PRODUCTS; i++) {
        snprintf(work->products[i].name, NAME_BYTES, "%s %s no. %u", words[shopwork_random(work) % ARRAY_LEN(words)],
                 words[shopwork_random(work) % ARRAY_LEN(words)], i);
        work->products[i].price_cents = 100 + (uint32_t)(shopwork_random(work) % 90000);
    }
    *ret_work = work;
    return 0;
}

void shopwork_free(struct shopwork *work)
{
    memory_free(work);
}

static void fill_cart(struct shopwork *work)
{
    work->n_items = CART_ITEMS / 2 + (uint32_t)(shopwork_random(work) % (CART_ITEMS / 2));
    for (uint32_t i = 0; i < work->n_items; i++)
        work->items[i] = (struct item){ (uint32_t)(shopwork_random(work) % SHOPWORK_PRODUCTS),
                                        1 + (uint32_t)(shopwork_random(work) % 5) };
}

/* --- text; by hand, since libc has no frame pointers --- */

static inline void append_byte(struct page *page, char byte)
{
    if (page->len < PAGE_BYTES)
        page->bytes[page->len++] = byte;
}

STEP static void append_text(struct page *page, const char *text)
{
    while (*text)
        append_byte(page, *text++);
}

STEP static void append_number(struct page *page, uint64_t value)
{
    if (value >= 10)
        append_number(page, value / 10);
    append_byte(page, (char)('0' + value % 10));
}

/* --- /checkout --- */

/* The order as a browser sends it. */
STEP static uint64_t write_order(struct shopwork *work)
{
    work->order.len = 0;
    append_text(&work->order, "{\"items\": [");
    for (uint32_t i = 0; i < work->n_items; i++) {
        append_text(&work->order, i ? ", {\"product\": " : "{\"product\": ");
        append_number(&work->order, work->items[i].product);
        append_text(&work->order, ", \"count\": ");
        append_number(&work->order, work->items[i].count);
        append_text(&work->order, ", \"note\": \"");
        append_text(&work->order, work->products[work->items[i].product].name);
        append_text(&work->order, "\"}");
    }
    append_text(&work->order, "]}");
    return work->order.len;
}

/* Text that is being parsed. */
struct json_text {
    const char *at, *end;
    uint64_t sum; /* of all numbers and lengths of texts */
};

static uint64_t parse_value(struct json_text *text);

STEP static void skip_spaces(struct json_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == ',' || *text->at == ':'))
        text->at++;
}

STEP static uint64_t parse_number(struct json_text *text)
{
    uint64_t value = 0;

    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        value = value * 10 + (uint64_t)(*text->at - '0');
    return value;
}

STEP static uint64_t parse_string(struct json_text *text)
{
    uint64_t hash = 5381;

    for (text->at++; text->at < text->end && *text->at != '"'; text->at++)
        hash = hash * 33 + (unsigned char)*text->at;
    text->at++;
    return hash;
}

STEP static uint64_t parse_members(struct json_text *text, char close)
{
    uint64_t sum = 0;

    for (text->at++; text->at < text->end && *text->at != close; skip_spaces(text))
        sum += parse_value(text);
    text->at++;
    return sum;
}

STEP static uint64_t parse_value(struct json_text *text)
{
    skip_spaces(text);
    if (text->at >= text->end)
        return 0;
    switch (*text->at) {
    case '{': text->sum += parse_members(text, '}'); break;
    case '[': text->sum += parse_members(text, ']'); break;
    case '"': text->sum += parse_string(text); break;
    default:
        if (*text->at < '0' || *text->at > '9')
            text->at++;
        else
            text->sum += parse_number(text);
    }
    return text->sum & 0xff;
}

STEP static uint64_t parse_order(const struct shopwork *work)
{
    struct json_text text = { work->order.bytes, work->order.bytes + work->order.len, 0 };

    while (text.at < text.end)
        text.sum += parse_value(&text);
    return text.sum;
}

STEP static uint64_t apply_discounts(const struct shopwork *work, uint64_t price_cents, uint32_t count)
{
    uint64_t best = price_cents * count;

    /* every voucher with every other, since some may be combined */
    for (uint64_t first = 1; first <= FULL_DISCOUNTS; first++)
        for (uint64_t second = 1; second <= FULL_DISCOUNTS; second++) {
            uint64_t price = price_cents * count * (100 - first) / 100 * (100 - second % count) / 100;

            best = MIN(best, price + work->n_items);
        }
    return best;
}

STEP static uint64_t compute_price(const struct shopwork *work)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < work->n_items; i++)
        total += apply_discounts(work, work->products[work->items[i].product].price_cents, work->items[i].count);
    return total * 119 / 100;
}

STEP static uint64_t reserve_stock(struct shopwork *work)
{
    struct shopwork_stock *stock = work->stock;
    uint64_t n = 0;

    for (uint32_t i = 0; i < work->n_items; i++) {
        const struct item *item = &work->items[i];

        lock_mutex_acquire(&stock->lock);
        if (stock->left[item->product] < item->count)
            stock->left[item->product] = STOCK_REFILL;
        stock->left[item->product] -= item->count;
        n += stock->left[item->product];
        lock_mutex_release(&stock->lock);
    }
    return n;
}

STEP static uint64_t hash_block(uint64_t state, uint64_t block)
{
    for (int i = 0; i < 8; i++) {
        state = (state ^ block) * 0xff51afd7ed558ccdu;
        state = (state << 31 | state >> 33) + 0x52dce729u;
    }
    return state;
}

STEP static uint64_t sign_payment(const struct shopwork *work, uint64_t amount)
{
    uint64_t state = amount;

    for (size_t i = 0; i + sizeof(uint64_t) <= work->order.len; i += sizeof(uint64_t)) {
        uint64_t block;

        memcpy(&block, work->order.bytes + i, sizeof(block));
        state = hash_block(state, block);
    }
    return state;
}

STEP static uint64_t checkout(struct shopwork *work)
{
    uint64_t result = 0;

    for (int i = 0; i < ORDERS; i++) {
        fill_cart(work);
        result += write_order(work);
        result += parse_order(work);
        result += sign_payment(work, compute_price(work));
        result += reserve_stock(work);
    }
    return result;
}

/* --- /cart --- */

STEP static void escape_html(struct page *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': append_text(page, "&lt;"); break;
        case '>': append_text(page, "&gt;"); break;
        case '&': append_text(page, "&amp;"); break;
        default: append_byte(page, *text);
        }
}

STEP static void format_price(struct page *page, uint64_t cents)
{
    append_number(page, cents / 100);
    append_byte(page, '.');
    append_number(page, cents / 10 % 10);
    append_number(page, cents % 10);
}

STEP static void render_item(struct shopwork *work, const struct item *item)
{
    const struct product *product = &work->products[item->product];

    append_text(&work->page, "<tr><td>");
    escape_html(&work->page, product->name);
    append_text(&work->page, "</td><td>");
    format_price(&work->page, (uint64_t)product->price_cents * item->count);
    append_text(&work->page, "</td></tr>\n");
}

STEP static uint64_t render_cart(struct shopwork *work)
{
    work->page.len = 0;
    append_text(&work->page, "<table>\n");
    for (uint32_t i = 0; i < work->n_items; i++)
        render_item(work, &work->items[i]);
    append_text(&work->page, "</table>\n");
    return work->page.len;
}

STEP static uint64_t view_cart(struct shopwork *work)
{
    uint64_t result = 0;

    for (int i = 0; i < 3 * ORDERS; i++) {
        fill_cart(work);
        result += render_cart(work);
    }
    return result;
}

/* --- /search --- */

STEP static uint32_t score_product(const struct product *product, const char *wanted)
{
    uint32_t score = 0;

    for (const char *start = product->name; *start; start++)
        for (const char *a = start, *b = wanted; *a && *a == *b; a++, b++)
            score += 3;
    return score;
}

/* Best first: each product moves up past those that fit less. */
STEP static uint64_t sort_by_score(struct product *products, uint32_t n)
{
    uint64_t moves = 0;

    for (uint32_t i = 1; i < n; i++) {
        struct product product = products[i];
        uint32_t at = i;

        for (; at > 0 && products[at - 1].score < product.score; at--, moves++)
            products[at] = products[at - 1];
        products[at] = product;
    }
    return moves;
}

STEP static uint64_t rank_products(struct shopwork *work, const char *wanted)
{
    for (uint32_t i = 0; i < SHOPWORK_PRODUCTS; i++)
        work->products[i].score = score_product(&work->products[i], wanted);
    return sort_by_score(work->products, SHOPWORK_PRODUCTS) + 1;
}

STEP static uint64_t search(struct shopwork *work)
{
    static const char *const wanted[] = { "oak", "amber", "walnut linen", "copper", "wool no. 7" };
    uint64_t moves = rank_products(work, wanted[shopwork_random(work) % ARRAY_LEN(wanted)]);

    fill_cart(work); /* the best of them */
    return moves + render_cart(work);
}

/* --- /login --- */

STEP static uint64_t hash_password(uint64_t password, uint64_t salt)
{
    for (uint32_t i = 0; i < HASH_ROUNDS; i++)
        password = hash_block(password, salt + i);
    return password;
}

STEP static bool check_password(struct shopwork *work)
{
    uint64_t salt = shopwork_random(work), password = shopwork_random(work);

    return hash_password(password, salt) != password;
}

STEP static uint64_t login(struct shopwork *work)
{
    return check_password(work) ? work->random : 0;
}

const struct shopwork_endpoint shopwork_endpoints[SHOPWORK_ENDPOINTS] = {
    { "/checkout", 30, checkout },
    { "/cart", 35, view_cart },
    { "/search", 25, search },
    { "/login", 10, login },
};
