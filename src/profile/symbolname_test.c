// SPDX-License-Identifier: Apache-2.0
#include "profile/symbolname.h"

#include "base/test.h"

/* Two frames: 1 has an inlined line and its caller, 2 has only an address; 3 knows nothing at all. */
struct fixture {
    struct slice strings[8];
    struct mapping mappings[3];
    struct function functions[4];
    struct line lines[3];
    struct frame frames[5];
    struct tables tables;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){
        .strings = { SLICE(""), SLICE("inner"), SLICE("outer"), SLICE("/src/a.c"), SLICE("/lib/libc.so.6"),
                     SLICE("[kernel.kallsyms]_text") },
        .mappings = { { 0 }, { .file = 4 }, { .file = 5 } },
        .functions = { { 0 }, { .name = 1, .file = 3 }, { .name = 2 }, { .file = 3 } },
        .lines = { { .function = 1, .line = 12 }, { .function = 2, .line = 7 }, { .function = 3, .line = 9 } },
        .frames = { { 0 },
                    { .address = 0x4a1b2c, .mapping = 1, .first_line = 0, .n_lines = 2 },
                    { .address = 0x7f12, .mapping = 1 },
                    { .address = 0 },
                    { .mapping = 2, .first_line = 2, .n_lines = 1 } },
    };
    f->tables = (struct tables){ .strings = f->strings,
                                 .mappings = f->mappings,
                                 .functions = f->functions,
                                 .lines = f->lines,
                                 .frames = f->frames,
                                 .n_frames = ARRAY_LEN(f->frames) };
}

static const char *text_of(uint32_t frame, uint32_t index, enum symbol_granularity granularity)
{
    static char text[100];
    AUTO(buffer_done) struct buffer out;
    struct fixture f;
    struct symbolname name;

    fixture_init(&f);
    buffer_init(&out, 0);
    name = symbolname_get(&f.tables, frame, index, granularity);
    symbolname_print(&f.tables, &name, &out);
    buffer_append_byte(&out, '\0');
    CHECK(out.len <= sizeof(text));
    memcpy(text, out.data, out.len);
    return text;
}

TEST(symbolname_is_as_fine_as_asked_for)
{
    CHECK_TEXT(text_of(1, 0, SYMBOL_FUNCTION), "inner");
    CHECK_TEXT(text_of(1, 0, SYMBOL_FUNCTION_FILE), "inner /src/a.c");
    CHECK_TEXT(text_of(1, 0, SYMBOL_FILE), "/src/a.c");
    CHECK_TEXT(text_of(1, 0, SYMBOL_LINE), "inner /src/a.c:12");
    CHECK_TEXT(text_of(1, 0, SYMBOL_ADDRESS), "00000000004a1b2c inner /src/a.c:12");
    CHECK_TEXT(text_of(1, 1, SYMBOL_FUNCTION), "outer");
    CHECK_TEXT(text_of(1, 1, SYMBOL_FUNCTION_FILE), "outer");
    CHECK_TEXT(text_of(1, 1, SYMBOL_LINE), "outer :7");
    CHECK_TEXT(text_of(1, 1, SYMBOL_FILE), "[libc.so.6]");
}

TEST(symbolname_of_the_unnamed_is_that_of_their_binary)
{
    CHECK_TEXT(text_of(2, 0, SYMBOL_FUNCTION), "[libc.so.6]");
    CHECK_TEXT(text_of(2, 0, SYMBOL_LINE), "[libc.so.6]");
    CHECK_TEXT(text_of(2, 0, SYMBOL_ADDRESS), "0000000000007f12 [libc.so.6]");
    CHECK_TEXT(text_of(3, 0, SYMBOL_FUNCTION), "<unknown>");
    CHECK_TEXT(text_of(3, 0, SYMBOL_ADDRESS), "<unknown>");
    CHECK_TEXT(text_of(4, 0, SYMBOL_FUNCTION), "[[kernel.kallsyms]_text]");
    CHECK_TEXT(text_of(4, 0, SYMBOL_LINE), "/src/a.c:9");
}

TEST(symbolname_marks_inlined_and_kernel_code)
{
    struct fixture f;

    fixture_init(&f);
    CHECK_EQ(symbolname_count(&f.frames[1]), 2);
    CHECK_EQ(symbolname_count(&f.frames[2]), 1);
    CHECK(symbolname_is_inlined(&f.frames[1], 0));
    CHECK(!symbolname_is_inlined(&f.frames[1], 1));
    CHECK(!symbolname_is_inlined(&f.frames[2], 0));
    CHECK(symbolname_is_kernel(&f.tables, 4));
    CHECK(!symbolname_is_kernel(&f.tables, 1));
    f.frames[1].kind = FRAME_KERNEL;
    f.frames[4].kind = FRAME_NATIVE;
    CHECK(symbolname_is_kernel(&f.tables, 1));
    CHECK(!symbolname_is_kernel(&f.tables, 4));
}
