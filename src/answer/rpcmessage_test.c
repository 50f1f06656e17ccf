// SPDX-License-Identifier: Apache-2.0
#include "answer/rpcmessage.h"

#include "base/test.h"
#include "pack/packer.h"

#include <stddef.h>

struct site {
    struct slice name;
};
struct order {
    struct slice label_selector;
    struct rpcmessage_texts group_by;
    int64_t start;
    double step;
    bool is_open;
    int32_t format;
    struct site *origin;
    struct rpcmessage_list sites;
};

static const struct rpcmessage_field site_fields[] = {
    { 1, "name", RPCMESSAGE_TEXT, offsetof(struct site, name), NULL, NULL }, { .name = NULL }
};
static const struct rpcmessage site_message = { "Site", sizeof(struct site), site_fields };
static const char *const formats[] = { "FORMAT_NONE", "FORMAT_TREE", NULL };
static const struct rpcmessage_field order_fields[] = {
    { 1, "label_selector", RPCMESSAGE_TEXT, offsetof(struct order, label_selector), NULL, NULL },
    { 2, "group_by", RPCMESSAGE_TEXTS, offsetof(struct order, group_by), NULL, NULL },
    { 3, "start", RPCMESSAGE_INT64, offsetof(struct order, start), NULL, NULL },
    { 4, "step", RPCMESSAGE_DOUBLE, offsetof(struct order, step), NULL, NULL },
    { 5, "is_open", RPCMESSAGE_BOOL, offsetof(struct order, is_open), NULL, NULL },
    { 6, "format", RPCMESSAGE_ENUM, offsetof(struct order, format), NULL, formats },
    { 7, "origin", RPCMESSAGE_MESSAGE, offsetof(struct order, origin), &site_message, NULL },
    { 8, "call_site", RPCMESSAGE_MESSAGES, offsetof(struct order, sites), &site_message, NULL },
    { .name = NULL },
};
static const struct rpcmessage order_message = { "Order", sizeof(struct order), order_fields };

#define PROTO                                                                                                          \
    "\x0a\x02{}\x12\x01"                                                                                               \
    "a\x12\x01"                                                                                                        \
    "b\x18\xac\x02\x21\0\0\0\0\0\0\xf8\x3f\x28\x01\x30\x01\x3a\x03\x0a\x01x\x42\x03\x0a\x01y\x42\x03\x0a\x01z"         \
    "\x78\x07"
#define JSON                                                                                                           \
    "{\"labelSelector\":\"{}\",\"group_by\":[\"a\",\"b\"],\"start\":\"300\",\"step\":1.5,\"isOpen\":true,"             \
    "\"format\":\"FORMAT_TREE\",\"origin\":{\"name\":\"x\",\"more\":[1]},\"callSite\":[{\"name\":\"y\"},{\"name\":"    \
    "\"z\"}],"                                                                                                         \
    "\"unknown\":{\"a\":[]},\"nothing\":null}"

static void check_order(const struct order *order)
{
    CHECK_TEXT(order->label_selector, "{}");
    CHECK_EQ(order->group_by.n, 2);
    CHECK_TEXT(order->group_by.items[1], "b");
    CHECK_EQ(order->start, 300);
    CHECK_NEAR(order->step, 1.5, 0);
    CHECK(order->is_open);
    CHECK_EQ(order->format, 1);
    CHECK_TEXT(order->origin->name, "x");
    CHECK_EQ(order->sites.n, 2);
    CHECK_TEXT(((struct site *)order->sites.items[1])->name, "z");
}

static int read_order(enum rpc_codec codec, struct slice bytes, struct arena *arena, struct order **ret_order,
                      struct error *err)
{
    void *value;

    if (rpcmessage_read(&order_message, codec, bytes, arena, &value, err) < 0)
        return -1;
    *ret_order = value;
    return 0;
}

TEST(rpcmessage_reads_protobuf_and_json_alike)
{
    struct order *order = NULL;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(read_order(RPC_PROTO, SLICE(PROTO), &arena, &order, &err), &err);
    check_order(order);
    CHECK_OK(read_order(RPC_JSON, SLICE(JSON), &arena, &order, &err), &err);
    check_order(order);
    CHECK_OK(read_order(RPC_PROTO, SLICE(""), &arena, &order, &err), &err);
    CHECK(order->label_selector.len == 0 && order->origin == NULL && order->sites.n == 0);
    CHECK_OK(read_order(RPC_JSON, SLICE("{\"start\":5,\"format\":1,\"origin\":null}"), &arena, &order, &err), &err);
    CHECK_EQ(order->start, 5);
    CHECK_EQ(order->format, 1);
    CHECK(order->origin == NULL);
    arena_done(&arena);
}

TEST(rpcmessage_says_what_is_wrong)
{
    struct order *order = NULL;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(read_order(RPC_PROTO, SLICE("\x0a\x09x"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "Order");
    CHECK_HAS(err.text, "length reaches past the end");
    CHECK_ERROR(read_order(RPC_PROTO, SLICE("\x0a\x01\xff"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_TEXT(err.text, "Order: label_selector is not UTF-8");
    CHECK_ERROR(read_order(RPC_JSON, SLICE("{\"start\":true}"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "Order: line 1");
    CHECK_ERROR(read_order(RPC_JSON, SLICE("{\"format\":\"TREE\"}"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "format is 'TREE', but it can be FORMAT_NONE");
    CHECK_ERROR(read_order(RPC_JSON, SLICE("{\"format\":5000000000}"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "format is 5000000000");
    CHECK_ERROR(read_order(RPC_JSON, SLICE("{} x"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK_ERROR(read_order(RPC_JSON, SLICE("[]"), &arena, &order, &err), &err, ERR_CORRUPT);
    CHECK(order == NULL);
    arena_done(&arena);
}

TEST(rpcmessage_passes_over_fields_with_another_wire_type)
{
    struct order *order = NULL;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_OK(read_order(RPC_PROTO, SLICE("\x08\x05\x1a\x01x"), &arena, &order, &err), &err);
    CHECK(order->label_selector.len == 0 && order->start == 0);
    arena_done(&arena);
}

TEST(rpcmessage_limits_lists)
{
    struct buffer bytes;
    struct order *order = NULL;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&bytes, 0);
    for (int i = 0; i <= RPCMESSAGE_MAX_ITEMS; i++)
        buffer_append(&bytes, "\x12\x00", 2);
    CHECK_ERROR(read_order(RPC_PROTO, buffer_slice(&bytes), &arena, &order, &err), &err, ERR_LIMIT);
    CHECK_TEXT(err.text, "Order: group_by has more than 16384 items");
    CHECK_OK(read_order(RPC_PROTO, slice_of(bytes.data, bytes.len - 2), &arena, &order, &err), &err);
    CHECK_EQ(order->group_by.n, RPCMESSAGE_MAX_ITEMS);
    buffer_done(&bytes);
    arena_done(&arena);
}

TEST(rpcmessage_unpacks_the_message_of_a_call)
{
    static const struct {
        enum pack_kind kind;
        const char *encoding;
    } kinds[] = { { PACK_GZIP, "gzip" }, { PACK_ZSTD, "zstd" } };
    AUTO(packer_freep) struct packer *packer = NULL;
    struct buffer packed;
    struct arena arena;
    struct error err;
    void *value;

    arena_init(&arena, 0);
    buffer_init(&packed, 0);
    CHECK_OK(packer_new(&packer, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rpc_call call = { .codec = RPC_JSON, .encoding = slice_from(kinds[i].encoding) };

        buffer_clear(&packed);
        CHECK_OK(packer_pack(packer, kinds[i].kind, PACK_LEVEL_DEFAULT, SLICE(JSON), &packed, &err), &err);
        call.message = buffer_slice(&packed);
        CHECK_OK(rpcmessage_read_call(&order_message, &call, &arena, &value, &err), &err);
        check_order(value);
        call.message.len--;
        CHECK_ERROR(rpcmessage_read_call(&order_message, &call, &arena, &value, &err), &err, ERR_CORRUPT);
    }
    buffer_done(&packed);
    arena_done(&arena);
}

TEST(rpcmessage_takes_any_piece_of_a_message_without_harm)
{
    struct slice proto = SLICE(PROTO), json = SLICE(JSON);
    struct order *order = NULL;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (size_t len = 0; len < proto.len; len++)
        IGNORE(read_order(RPC_PROTO, slice_sub(proto, 0, len), &arena, &order, &err), "some pieces are whole");
    for (size_t len = 0; len < json.len; len++)
        CHECK_ERROR(read_order(RPC_JSON, slice_sub(json, 0, len), &arena, &order, &err), &err, ERR_CORRUPT);
    arena_done(&arena);
}

static int read_both(void *context UNUSED, struct error *err)
{
    struct order *order = NULL;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = read_order(RPC_PROTO, SLICE(PROTO), &arena, &order, err);
    if (result == 0)
        result = read_order(RPC_JSON, SLICE(JSON), &arena, &order, err);
    arena_done(&arena);
    return result;
}

TEST(rpcmessage_survives_each_allocation_failing)
{
    test_each_allocation_failing(read_both, NULL);
}
