// SPDX-License-Identifier: Apache-2.0
#include "wire/gperftools_example_internal.h"

/* A profile of one sample at `address` under a memory map. The address is of the instruction behind the call. */
static void read_with_map(const char *map, uint64_t address, struct batch *batch)
{
    AUTO(buffer_done) struct buffer text = { 0 };

    buffer_init(&text, 0);
    buffer_printf(&text, "goroutine profile: total 1\n1 @ 0x%llx\n--- Memory map: ---\n%s",
                  (unsigned long long)address + 1, map);
    example_read(buffer_slice(&text), batch);
}

static const struct mapping *mapping_of(const struct batch *batch)
{
    return &batch->tables.mappings[example_frame(batch, 0, 0)->mapping];
}

static struct slice file_of(const struct batch *batch)
{
    return tables_string(&batch->tables, mapping_of(batch)->file);
}

TEST(gperftools_maps_come_in_several_forms)
{
    static const struct {
        const char *line, *file, *build_id;
        uint64_t start, limit, offset;
    } cases[] = {
        { "00001000-00002000 r-xp 00000800 fd:01 1234   /usr/bin/app\n", "/usr/bin/app", "", 0x1000, 0x2000, 0x800 },
        { "00001000-00002000 r-xp 00000800 fd:01 1234   /usr/bin/app (deleted)\n", "/usr/bin/app", "", 0x1000, 0x2000,
          0x800 },
        { "00001000-00002000 r-xp 00000000 00:00 0\n", "", "", 0x1000, 0x2000, 0 },
        { "1000-2000: /usr/bin/app\n", "/usr/bin/app", "", 0x1000, 0x2000, 0 },
        { "  0x1000-0x2000 /usr/bin/app (@800) c0ffee01\n", "/usr/bin/app", "c0ffee01", 0x1000, 0x2000, 0x800 },
        { "0x1000 0x2000 r-xp /usr/bin/app c0ffee\n", "/usr/bin/app", "c0ffee", 0x1000, 0x2000, 0 },
        { "I0102 12:00:00.5 17 maps.cc:12] 1000-2000: /usr/bin/app\n", "/usr/bin/app", "", 0x1000, 0x2000, 0 },
        { "build=/opt/app\nother = x\n1000-2000: $build/bin/$other$unknown\n", "/opt/app/bin/x$unknown", "", 0x1000,
          0x2000, 0 },
        { "nonsense\n\n1000-2000\n", "", "", 0x1000, 0x2000, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct batch batch;

        read_with_map(cases[i].line, 0x1234, &batch);
        CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 1);
        CHECK_TEXT(file_of(&batch), cases[i].file);
        CHECK_TEXT(tables_string(&batch.tables, mapping_of(&batch)->build_id), cases[i].build_id);
        CHECK_EQ(mapping_of(&batch)->start, cases[i].start);
        CHECK_EQ(mapping_of(&batch)->limit, cases[i].limit);
        CHECK_EQ(mapping_of(&batch)->offset, cases[i].offset);
        batch_done(&batch);
    }
}

TEST(gperftools_maps_of_data_are_passed_over)
{
    struct batch batch;

    read_with_map("1000-2000 rw-p 00000000 fd:01 1 /usr/bin/app\n", 0x1234, &batch);
    CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 0);
    CHECK_EQ(batch.tables.n_mappings, 1);
    batch_done(&batch);
}

TEST(gperftools_maps_halves_are_joined_and_the_program_comes_first)
{
    struct batch batch;

    read_with_map("1000-2000 r-xp 00001000 fd:01 7 /lib/libc.so.6\n"
                  "2000-3000 r-xp 00002000 fd:01 7 /lib/libc.so.6\n"
                  "3000-4000 r-xp 00009000 fd:01 7 /lib/libc.so.6\n" /* another part of the file */
                  "5000-6000 r-xp 00000000 00:00 0 [vdso]\n"
                  "7000-8000 r-xp 00000000 fd:01 9 /lib/libm_2.so_1x\n"
                  "9000-a000 r-xp 00000000 fd:01 8 /usr/bin/app\n",
                  0x2345, &batch);
    CHECK_EQ(batch.tables.n_mappings, 6);
    CHECK_TEXT(tables_string(&batch.tables, batch.tables.mappings[1].file), "/usr/bin/app");
    CHECK_TEXT(file_of(&batch), "/lib/libc.so.6");
    CHECK_EQ(mapping_of(&batch)->start, 0x1000);
    CHECK_EQ(mapping_of(&batch)->limit, 0x3000);
    batch_done(&batch);
}

TEST(gperftools_maps_known_lies_are_corrected)
{
    struct batch batch;

    /* The program runs at its usual place, so it was mapped from its beginning. */
    read_with_map("402000-500000 r-xp 00002000 fd:01 8 /usr/bin/app\n", 0x401234, &batch);
    CHECK_TEXT(file_of(&batch), "/usr/bin/app");
    CHECK_EQ(mapping_of(&batch)->start, 0x400000);
    CHECK_EQ(mapping_of(&batch)->offset, 0);
    batch_done(&batch);
    /* Code on huge pages hides it. */
    read_with_map("400000-500000 r-xp 00000000 00:00 0 /anon_hugepage\n"
                  "500000-600000 r-xp 00100000 fd:01 8 /usr/bin/app\n",
                  0x412345, &batch);
    CHECK_EQ(batch.tables.n_mappings, 2);
    CHECK_TEXT(file_of(&batch), "/usr/bin/app");
    CHECK_EQ(mapping_of(&batch)->start, 0x400000);
    batch_done(&batch);
    /* The first part of a library was left out, but an address lies in it. */
    read_with_map("9000-a000 r-xp 00000000 fd:01 8 /usr/bin/app\n"
                  "14000-20000 r-xp 00003000 fd:01 9 /lib/libz.so\n",
                  0x11500, &batch);
    CHECK_TEXT(file_of(&batch), "/lib/libz.so");
    CHECK_EQ(mapping_of(&batch)->start, 0x11000);
    CHECK_EQ(mapping_of(&batch)->offset, 0);
    batch_done(&batch);
}

TEST(gperftools_maps_addresses_outside_all_have_none)
{
    static const uint64_t outside[] = { 0x10, 0x2000, 0x2fff, 0x5000, UINT64_MAX - 1 };

    for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
        struct batch batch;

        read_with_map("1000-2000: /usr/bin/app\n3000-5000: /lib/liba.so\n", outside[i], &batch);
        CHECK_EQ(example_frame(&batch, 0, 0)->mapping, 0);
        batch_done(&batch);
    }
}

TEST(gperftools_maps_line_that_would_grow_too_long_stays_as_it_is)
{
    struct buffer text;
    struct batch batch;

    buffer_init(&text, 0);
    buffer_append_text(&text, "x=");
    for (int i = 0; i < 1000; i++)
        buffer_append_text(&text, "0123456789");
    buffer_append_text(&text, "\n1000-2000: $x$x$x$x$x$x$x$x\n");
    buffer_append_byte(&text, '\0');
    read_with_map(text.data, 0x1234, &batch);
    CHECK_TEXT(file_of(&batch), "$x$x$x$x$x$x$x$x");
    batch_done(&batch);
    buffer_done(&text);
}
