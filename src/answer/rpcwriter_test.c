// SPDX-License-Identifier: Apache-2.0
#include "answer/rpcwriter.h"

#include "base/test.h"

/* One of everything. */
static void write_all(enum rpc_codec codec, struct buffer *out)
{
    static const int64_t numbers[] = { 0, -1, 300 };
    static const int32_t counts[] = { 0, -1, 7 };
    static const double doubles[] = { 0, 1.5 };
    const struct slice texts[] = { SLICE("a"), SLICE("") };
    struct rpcwriter writer;

    rpcwriter_init(&writer, codec, out);
    rpcwriter_text(&writer, 1, "someText", SLICE("x\xff"));
    rpcwriter_text(&writer, 1, "noText", SLICE(""));
    rpcwriter_bytes(&writer, 2, "someBytes", SLICE("\1\2"));
    rpcwriter_int64(&writer, 3, "number", -2);
    rpcwriter_int64(&writer, 3, "zero", 0);
    rpcwriter_double(&writer, 4, "share", 0.5);
    rpcwriter_bool(&writer, 5, "isSo", true);
    rpcwriter_list_begin(&writer, "items");
    rpcwriter_begin(&writer, 6, NULL);
    rpcwriter_int64s(&writer, 1, "values", numbers, ARRAY_LEN(numbers));
    rpcwriter_int32s(&writer, 2, "counts", counts, ARRAY_LEN(counts));
    rpcwriter_int32s(&writer, 2, "none", counts, 0);
    rpcwriter_end(&writer);
    rpcwriter_begin(&writer, 6, NULL);
    rpcwriter_end(&writer);
    rpcwriter_list_end(&writer);
    rpcwriter_begin(&writer, 7, "nested");
    rpcwriter_doubles(&writer, 1, "edges", doubles, ARRAY_LEN(doubles));
    rpcwriter_texts(&writer, 2, "names", texts, ARRAY_LEN(texts));
    rpcwriter_end(&writer);
    rpcwriter_message(&writer, 8, "made", codec == RPC_JSON ? SLICE("{\"a\":1}") : SLICE("\10\1"));
    rpcwriter_done(&writer);
}

TEST(rpcwriter_writes_json_as_protobuf_has_it)
{
    struct buffer out;

    buffer_init(&out, 0);
    write_all(RPC_JSON, &out);
    CHECK_TEXT(buffer_slice(&out),
               "{\"someText\":\"x\xef\xbf\xbd\",\"someBytes\":\"AQI=\",\"number\":\"-2\",\"share\":0.5,"
               "\"isSo\":true,\"items\":[{\"values\":[\"0\",\"-1\",\"300\"],\"counts\":[0,-1,7]},{}],"
               "\"nested\":{\"edges\":[0,1.5],\"names\":[\"a\",\"\"]},\"made\":{\"a\":1}}");
    buffer_done(&out);
}

TEST(rpcwriter_writes_protobuf)
{
    static const char wanted[] = "\x0a\x04x\xef\xbf\xbd"
                                 "\x12\x02\x01\x02"
                                 "\x18\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                 "\x21\0\0\0\0\0\0\xe0\x3f"
                                 "\x28\x01"
                                 "\x32\x1d"
                                 "\x0a\x0d\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02"
                                 "\x12\x0c\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07"
                                 "\x32\x00"
                                 "\x3a\x17"
                                 "\x0a\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf8\x3f"
                                 "\x12\x01"
                                 "a\x12\x00"
                                 "\x42\x02\x08\x01";
    struct buffer out;

    buffer_init(&out, 0);
    write_all(RPC_PROTO, &out);
    CHECK_TEXT(buffer_slice(&out), slice_of(wanted, sizeof(wanted) - 1));
    buffer_done(&out);
}
