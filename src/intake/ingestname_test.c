// SPDX-License-Identifier: Apache-2.0
#include "intake/ingestname.h"

#include "base/test.h"

#include <stdio.h>

static const char *shown(const char *text)
{
    static char out[512];
    struct ingestname name;
    struct arena arena;
    struct error err;
    int at;

    arena_init(&arena, 0);
    CHECK_OK(ingestname_parse(slice_from(text), &arena, &name, &err), &err);
    at = snprintf(out, sizeof(out), "%.*s", SLICE_ARG(name.app));
    for (uint32_t i = 0; i < name.n_labels; i++)
        at += snprintf(out + at, sizeof(out) - (size_t)at, "|%.*s=%.*s", SLICE_ARG(name.labels[i].name),
                       SLICE_ARG(name.labels[i].value));
    arena_done(&arena);
    return out;
}

TEST(ingestname_reads_applications_and_labels)
{
    CHECK_TEXT(shown("app"), "app");
    CHECK_TEXT(shown(" app.cpu {}"), "app.cpu");
    CHECK_TEXT(shown("app{a=1,b=2}"), "app|a=1|b=2");
    CHECK_TEXT(shown("app{ a = x y , b=k=v }"), "app|a=x y|b=k=v");
    CHECK_TEXT(shown("app{__session_id__=77e425ea48b3919f,process.runtime.name=go}"),
               "app|__session_id__=77e425ea48b3919f|process.runtime.name=go");
    CHECK_TEXT(shown("app{v=17.0.15+6-Debian}"), "app|v=17.0.15+6-Debian");
}

TEST(ingestname_shrugs_at_what_is_broken)
{
    CHECK_TEXT(shown("app{a=1"), "app|a=1");
    CHECK_TEXT(shown("app{a=1,,=2,b}tail"), "app|a=1");
    CHECK_TEXT(shown("my app!"), "my app!");
    CHECK_TEXT(shown("app}a{b=1}"), "app}a|b=1");
}

TEST(ingestname_without_an_application_is_refused)
{
    struct ingestname name;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    CHECK_ERROR(ingestname_parse(SLICE("{a=1}"), &arena, &name, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "name=APPLICATION");
    CHECK_ERROR(ingestname_parse(SLICE(""), &arena, &name, &err), &err, ERR_INVALID);
    arena_done(&arena);
}

TEST(ingestname_of_too_many_labels_is_refused)
{
    static char text[INGESTNAME_MAX_LABELS + 8] = "app{";
    struct ingestname name;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    memset(text + 4, ',', INGESTNAME_MAX_LABELS);
    CHECK_ERROR(ingestname_parse(slice_from(text), &arena, &name, &err), &err, ERR_LIMIT);
    arena_done(&arena);
}

static int parse_step(void *context, struct error *err)
{
    struct ingestname name;
    struct arena arena;
    int result;

    arena_init(&arena, 0);
    result = ingestname_parse(slice_from(context), &arena, &name, err);
    arena_done(&arena);
    return result;
}

TEST(ingestname_survives_failing_allocations)
{
    test_each_allocation_failing(parse_step, (char *)"app{a=1}");
}
