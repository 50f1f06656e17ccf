// SPDX-License-Identifier: Apache-2.0
#include "label/labeltext_internal.h"

#include "base/test.h"
#include "label/labelrules.h"

TEST(labeltext_knows_a_label_by_any_spelling)
{
    CHECK(labeltext_is_named(SLICE("service.name"), SLICE("service_name")));
    CHECK(labeltext_is_named(SLICE("service_name"), SLICE("service_name")));
    CHECK(labeltext_is_named(SLICE("thread name"), SLICE("thread_name")));
    CHECK(labeltext_is_named(SLICE("2xx"), SLICE("_2xx")));
    CHECK(labeltext_is_named(SLICE("_2xx"), SLICE("_2xx")));
    CHECK(!labeltext_is_named(SLICE("2xx"), SLICE("_xx")));
    CHECK(!labeltext_is_named(SLICE("2"), SLICE("")));
    CHECK(!labeltext_is_named(SLICE("2"), SLICE("22")));
    CHECK(!labeltext_is_named(SLICE("Zone"), SLICE("zone")));
    CHECK(!labeltext_is_named(SLICE("zone"), SLICE("zones")));
    CHECK(!labeltext_is_named(SLICE("servicexname"), SLICE("service_name")));
}

TEST(labeltext_agrees_with_canonical_names_about_every_byte)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    for (int first = 0; first < 256; first++) {
        char spelling[] = { (char)first, 'a', (char)first };
        struct slice canonical;
        bool is_repaired;

        CHECK_OK(labelrules_canonical(slice_of(spelling, 3), &arena, &canonical, &is_repaired, &err), &err);
        CHECK(labeltext_is_named(slice_of(spelling, 3), canonical));
        CHECK(labeltext_is_named(canonical, canonical));
    }
    arena_done(&arena);
}

TEST(labeltext_knows_ids_processes_and_threads)
{
    static const char *const never[] = { "pid",
                                         "PID",
                                         "process_pid",
                                         "thread_name",
                                         "threadName",
                                         "trace_id",
                                         "local_root_span_id",
                                         "os_thread_id",
                                         "thread",
                                         "task_name",
                                         "hearth_weight",
                                         "pyroscope_profile_id",
                                         "process_context_label_span_id" };
    static const char *const others[] = { "",
                                          "_",
                                          "route",
                                          "service_instance_id",
                                          "container_id",
                                          "span_name",
                                          "threads",
                                          "trace_endpoint",
                                          "pid_namespace",
                                          "comm",
                                          "pyroscope_spy",
                                          "process_context_label_route" };
    char text[201];

    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        CHECK(labeltext_is_never(slice_from(never[i])));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK(!labeltext_is_never(slice_from(others[i])));
    memset(text, 'p', sizeof(text));
    CHECK(!labeltext_is_never(slice_of(text, sizeof(text))));
    memset(text, '_', sizeof(text));
    memcpy(text + 190, "pid", 3);
    CHECK(labeltext_is_never(slice_of(text, sizeof(text))));
}

static struct labeltext cleaned(struct slice text, uint32_t max_bytes, struct arena *arena)
{
    struct labeltext clean;
    struct error err;

    CHECK_OK(labeltext_clean(text, max_bytes, arena, &clean, &err), &err);
    CHECK(clean.text.len <= max_bytes);
    CHECK(slice_is_utf8(clean.text));
    return clean;
}

TEST(labeltext_leaves_a_good_value_where_it_is)
{
    struct slice text = SLICE("gr\xc3\xbc\xc3\x9f"
                              "e");
    struct arena arena;
    struct labeltext clean;

    arena_init(&arena, 0);
    clean = cleaned(text, 8, &arena);
    CHECK(clean.text.ptr == text.ptr);
    CHECK_EQ(clean.text.len, text.len);
    CHECK(!clean.is_cut && !clean.is_repaired);
    CHECK_EQ(cleaned(SLICE(""), 8, &arena).text.len, 0);
    CHECK_EQ(arena.used_bytes, 0);
    arena_done(&arena);
}

TEST(labeltext_cuts_at_the_end_of_a_character)
{
    struct arena arena;
    struct labeltext clean;

    arena_init(&arena, 0);
    clean = cleaned(SLICE("1234\xe2\x82\xac"), 7, &arena);
    CHECK_TEXT(clean.text, "1234\xe2\x82\xac");
    CHECK(!clean.is_cut);
    clean = cleaned(SLICE("1234\xe2\x82\xac"), 6, &arena);
    CHECK_TEXT(clean.text, "1234");
    CHECK(clean.is_cut && !clean.is_repaired);
    clean = cleaned(SLICE("12345678"), 7, &arena);
    CHECK_TEXT(clean.text, "1234567");
    CHECK(clean.is_cut);
    arena_done(&arena);
}

TEST(labeltext_replaces_bytes_that_are_no_utf8)
{
    struct arena arena;
    struct labeltext clean;

    arena_init(&arena, 0);
    clean = cleaned(SLICE("a\xff"
                          "b\xc3"),
                    32, &arena);
    CHECK_TEXT(clean.text, "a\xEF\xBF\xBD"
                           "b\xEF\xBF\xBD");
    CHECK(clean.is_repaired && !clean.is_cut);
    clean = cleaned(SLICE("\xff\xff"), 4, &arena);
    CHECK_TEXT(clean.text, "\xEF\xBF\xBD");
    CHECK(clean.is_repaired && clean.is_cut);
    clean = cleaned(SLICE("1234\xff"), 4, &arena);
    CHECK_TEXT(clean.text, "1234");
    CHECK(!clean.is_repaired && clean.is_cut);
    arena_done(&arena);
}
