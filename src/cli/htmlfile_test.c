// SPDX-License-Identifier: Apache-2.0
#include "cli/htmlfile.h"

#include "base/test.h"
#include "flame/flamebytes.h"
#include "page/page.h"
#include "page/pagefile_sample_test.h"
#include "profile/random_profile_test.h"

static bool has_page(void)
{
    struct slice html;
    struct error err;

    return page_offline(&html, &err) == 0;
}

TEST(htmlfile_writes_the_type_that_is_asked_for)
{
    struct random_options shape = random_shape(3);
    struct format_write_options options = { .type = 0, .title = SLICE("three") };
    struct unpacker *unpacker;
    struct flamebytes tree;
    struct batch batch;
    struct buffer out;
    struct arena arena;
    struct error err;

    if (!has_page())
        test_skip("impossible here: this program was built without its page");
    batch_init(&batch, NULL);
    random_batch(&batch, &shape);
    buffer_init(&out, 0);
    arena_init(&arena, 0);
    CHECK_OK(unpacker_new(&unpacker, &err), &err);
    CHECK_OK(htmlfile_format.encode(&batch, &options, &out, &err), &err);
    CHECK_TEXT(pagefile_sample_between(buffer_slice(&out), SLICE("<title>"), SLICE("</title>")), "three");
    CHECK_OK(flamebytes_decode(pagefile_sample_data(buffer_slice(&out), SLICE("type=\"application/octet-stream\">"),
                                                    &arena, unpacker),
                               &arena, &tree, &err),
             &err);
    CHECK_EQ(tree.total[0][0], profile_total(&batch.profiles[0], 0));
    CHECK_TEXT(tree.unit, tables_string(&batch.tables, batch.profiles[0].types[0].unit));
    unpacker_free(unpacker);
    arena_done(&arena);
    buffer_done(&out);
    batch_done(&batch);
}
