// SPDX-License-Identifier: Apache-2.0
#include "base/test.h"
#include "wire/otlp_craft_internal.h"
#include "wire/otlp_json_internal.h"

#include <math.h>

static const struct format_write_options plain = { .type = PROFILE_NO_TYPE };

/* A request, decoded and written as JSON. */
static void put_json(struct slice request, struct buffer *out)
{
    struct batch batch;
    struct error err;

    batch_init(&batch, NULL);
    CHECK_OK(otlp_decode(request, &batch, &err), &err);
    CHECK_OK(otlp_json_encode(&batch, &plain, out, &err), &err);
    batch_done(&batch);
}

TEST(otlp_json_writes_names_and_kinds_as_the_specification_has_them)
{
    struct otlp_craft craft = { .layout = OTLP_L10, .shape = OTLP_CRAFT_BOTH };
    struct buffer request, json;

    buffer_init(&request, 0);
    buffer_init(&json, 0);
    otlp_craft_request(&craft, &request);
    put_json(buffer_slice(&request), &json);
    CHECK_TEXT(
        buffer_slice(&json),
        "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"keyStrindex\":1,\"value\":{\"stringValueStrindex\":2}"
        "}]},"
        "\"scopeProfiles\":[{\"scope\":{\"name\":\"profiler\",\"version\":\"1.2\"},\"profiles\":[{\"sampleType\":{"
        "\"typeStrindex\":3,\"unitStrindex\":4},\"samples\":[{\"stackIndex\":1,\"attributeIndices\":[3,4],"
        "\"linkIndex\":1,"
        "\"values\":[\"20000\",\"20000\",\"30000\"],\"timestampsUnixNano\":[\"2000\",\"2001\",\"2002\"]},{"
        "\"stackIndex\":2,"
        "\"values\":[\"20000\"],\"timestampsUnixNano\":[\"2000\"]}],\"timeUnixNano\":\"1000\",\"durationNano\":"
        "\"5000\","
        "\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":4},\"period\":\"50\",\"profileId\":"
        "\"70726f66696c652d69642d3132333435\",\"attributeIndices\":[5]}]}]}],\"dictionary\":{\"mappingTable\":[{},{"
        "\"memoryStart\":\"4096\",\"memoryLimit\":\"8192\",\"fileOffset\":\"16\",\"filenameStrindex\":5,"
        "\"attributeIndices\":[1]}],\"locationTable\":[{},{\"mappingIndex\":1,\"address\":\"4352\",\"lines\":[{"
        "\"functionIndex\":1,\"line\":\"10\"},{\"functionIndex\":2,\"line\":\"11\",\"column\":\"1\"}],"
        "\"attributeIndices\":"
        "[2]},{\"mappingIndex\":1,\"address\":\"4608\",\"lines\":[{\"functionIndex\":3,\"line\":\"10\"}],"
        "\"attributeIndices\":[2]}],\"functionTable\":[{},{\"nameStrindex\":8,\"filenameStrindex\":9},{"
        "\"nameStrindex\":10,"
        "\"filenameStrindex\":9},{\"nameStrindex\":11,\"systemNameStrindex\":12,\"filenameStrindex\":9,\"startLine\":"
        "\"9\"}],\"linkTable\":[{},{\"traceId\":\"30313233343536373839616263646566\",\"spanId\":\"7370616e7370616e\"}],"
        "\"stringTable\":[\"\",\"service.name\",\"checkout\",\"off_cpu\",\"nanoseconds\",\"/bin/app\","
        "\"process.executable.build_id.gnu\",\"profile.frame.type\",\"inner\",\"app.c\",\"work\",\"main\",\"mangled\","
        "\"thread.name\",\"heap.size\",\"bytes\",\"env\"],\"attributeTable\":[{},{\"keyStrindex\":6,\"value\":{"
        "\"stringValue\":\"abcd\"}},{\"keyStrindex\":7,\"value\":{\"stringValue\":\"native\"}},{\"keyStrindex\":13,"
        "\"value\":{\"stringValue\":\"w1\"}},{\"keyStrindex\":14,\"value\":{\"intValue\":\"4096\"},\"unitStrindex\":15}"
        ",{"
        "\"keyStrindex\":16,\"value\":{\"stringValue\":\"prod\"}}],\"stackTable\":[{},{\"locationIndices\":[1,2]},{"
        "\"locationIndices\":[2]}]}}\n");
    buffer_done(&request);
    buffer_done(&json);
}

/* Whether what `request` holds is the same after going through JSON: both are then written as the same bytes. */
static void check_same_through_json(struct slice request)
{
    struct buffer json, direct, through;
    struct batch first, second;
    struct error err;

    buffer_init(&json, 0);
    buffer_init(&direct, 0);
    buffer_init(&through, 0);
    put_json(request, &json);
    batch_init(&first, NULL);
    batch_init(&second, NULL);
    CHECK_OK(otlp_decode(request, &first, &err), &err);
    CHECK_OK(otlp_json_decode(buffer_slice(&json), &second, &err), &err);
    CHECK_OK(otlp_encode(&first, &plain, &direct, &err), &err);
    CHECK_OK(otlp_encode(&second, &plain, &through, &err), &err);
    CHECK_TEXT(buffer_slice(&through), buffer_slice(&direct));
    batch_done(&first);
    batch_done(&second);
    buffer_done(&json);
    buffer_done(&direct);
    buffer_done(&through);
}

TEST(otlp_json_and_protobuf_say_the_same)
{
    for (int layout = OTLP_L7; layout <= OTLP_L10; layout++)
        for (int shape = OTLP_CRAFT_VALUE; shape <= OTLP_CRAFT_STACK_AND_TWO; shape++) {
            struct otlp_craft craft = { .layout = (enum otlp_layout)layout, .shape = (enum otlp_craft_shape)shape };
            struct buffer request;

            buffer_init(&request, 0);
            otlp_craft_request(&craft, &request);
            check_same_through_json(buffer_slice(&request));
            buffer_done(&request);
        }
}

TEST(otlp_json_double_reads_back_as_one)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 1, "1.0" },
                  { -2.5, "-2.5" },
                  { 0.1, "0.1" },
                  { NAN, "\"NaN\"" },
                  { INFINITY, "\"Infinity\"" },
                  { -INFINITY, "\"-Infinity\"" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buffer out;
        struct json json;

        buffer_init(&out, 0);
        json_init(&json, &out, JSON_COMPACT);
        otlp_json_double(&json, cases[i].value);
        CHECK_TEXT(buffer_slice(&out), cases[i].text);
        buffer_done(&out);
    }
}

static int encode_step(void *context, struct error *err)
{
    struct buffer out;
    int result;

    buffer_init(&out, 0);
    result = otlp_json_encode(context, &plain, &out, err);
    buffer_done(&out);
    return result;
}

TEST(otlp_json_write_survives_lack_of_memory)
{
    struct otlp_craft craft = { .layout = OTLP_L10, .shape = OTLP_CRAFT_BOTH };
    struct buffer request;
    struct batch batch;
    struct error err;

    buffer_init(&request, 0);
    otlp_craft_request(&craft, &request);
    batch_init(&batch, NULL);
    CHECK_OK(otlp_decode(buffer_slice(&request), &batch, &err), &err);
    test_each_allocation_failing(encode_step, &batch);
    batch_done(&batch);
    buffer_done(&request);
}
