// SPDX-License-Identifier: Apache-2.0
#include "server/annotations.h"

#include "base/fs.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

#define TENANT SLICE("anonymous")

static struct annotations *opened(void)
{
    struct annotations *annotations;
    struct error err;

    CHECK_OK(annotations_open(test_directory(), &annotations, &err), &err);
    return annotations;
}

static void add(struct annotations *annotations, struct slice tenant, int64_t time_ns, const char *text,
                const char *service, struct arena *arena)
{
    struct series_label labels[] = { { SLICE("service.name"), slice_from(service) }, { SLICE("env"), SLICE("prod") } };
    struct annotation annotation = {
        .time_ns = time_ns, .text = slice_from(text), .labels = labels, .n_labels = service ? 2 : 0
    };
    struct error err;

    CHECK_OK(annotations_tidy(&annotation, arena, &err), &err);
    CHECK_OK(annotations_add(annotations, tenant, &annotation, arena, &err), &err);
    CHECK_EQ(annotation.id.len, 16);
}

/* Texts of what is found, with commas between. */
static const char *found(struct annotations *annotations, struct slice tenant, int64_t from_ns, int64_t until_ns,
                         const char *selector_text)
{
    AUTO(selector_freep) struct selector *selector = NULL;
    static char text[256];
    struct annotations_list list;
    struct arena arena;
    struct error err;
    size_t len = 0;

    arena_init(&arena, 0);
    CHECK_OK(selector_new(slice_from(selector_text), &selector, &err), &err);
    CHECK_OK(annotations_find(annotations, tenant, from_ns, until_ns, selector, &arena, &list, &err), &err);
    text[0] = '\0';
    for (uint32_t i = 0; i < list.n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i ? "," : "", SLICE_ARG(list.items[i].text));
    arena_done(&arena);
    return text;
}

TEST(annotations_are_found_by_time_and_labels)
{
    struct annotations *annotations = opened();
    struct arena arena;

    arena_init(&arena, 0);
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, ""), "");
    add(annotations, TENANT, 300, "third", "api", &arena);
    add(annotations, TENANT, 100, "first", "shop", &arena);
    add(annotations, TENANT, 200, "second", NULL, &arena);
    add(annotations, TENANT, 200, "again", "api", &arena);
    add(annotations, SLICE("other"), 200, "theirs", "api", &arena);
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, ""), "first,second,again,third");
    CHECK_TEXT(found(annotations, TENANT, 200, 300, ""), "second,again");
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, "{service_name=\"api\"}"), "again,third");
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, "{service_name=~\"a.*|shop\", env=\"prod\"}"),
               "first,again,third");
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, "{service_name=\"\"}"), "second");
    CHECK_TEXT(found(annotations, SLICE("other"), 0, INT64_MAX, ""), "theirs");
    annotations_close(annotations);

    annotations = opened(); /* and after a restart */
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, "{env=\"prod\"}"), "first,again,third");
    annotations_close(annotations);
    arena_done(&arena);
}

TEST(annotations_are_removed_by_id)
{
    struct annotations *annotations = opened();
    struct annotations_list list;
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    add(annotations, TENANT, 1, "one", NULL, &arena);
    add(annotations, TENANT, 2, "two", NULL, &arena);
    CHECK_OK(annotations_find(annotations, TENANT, 0, 2, NULL, &arena, &list, &err), &err);
    CHECK_ERROR(annotations_remove(annotations, SLICE("other"), list.items[0].id, &arena, &err), &err, ERR_NOT_FOUND);
    CHECK_OK(annotations_remove(annotations, TENANT, list.items[0].id, &arena, &err), &err);
    CHECK_TEXT(found(annotations, TENANT, 0, INT64_MAX, ""), "two");
    CHECK_ERROR(annotations_remove(annotations, TENANT, list.items[0].id, &arena, &err), &err, ERR_NOT_FOUND);
    CHECK_HAS(err.text, "there is no annotation with the id '");
    annotations_close(annotations);
    arena_done(&arena);
}

TEST(annotations_have_bounds)
{
    static char long_text[ANNOTATIONS_MAX_TEXT_BYTES + 1];
    struct annotations *annotations = opened();
    struct series_label labels[] = { { SLICE("a.b"), SLICE("1") }, { SLICE("a_b"), SLICE("2") } };
    struct annotation annotation = { .text = SLICE("") };
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    memset(long_text, 'x', sizeof(long_text));
    CHECK_ERROR(annotations_add(annotations, TENANT, &annotation, &arena, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "an annotation needs a text");
    annotation.text = slice_of(long_text, sizeof(long_text));
    CHECK_ERROR(annotations_add(annotations, TENANT, &annotation, &arena, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "the text is 4097 bytes long; 4096 are allowed");
    annotation.labels = labels;
    annotation.n_labels = 2;
    CHECK_ERROR(annotations_tidy(&annotation, &arena, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "the label 'a_b' is there twice");
    labels[0] = (struct series_label){ SLICE("1st"), SLICE("") };
    CHECK_ERROR(annotations_tidy(&annotation, &arena, &err), &err, ERR_INVALID);
    CHECK_HAS(err.text, "'1st' is no name of a label");

    annotation.text = slice_of(long_text, ANNOTATIONS_MAX_TEXT_BYTES);
    annotation.n_labels = 0;
    for (unsigned i = 0; i < ANNOTATIONS_MAX_BYTES / ANNOTATIONS_MAX_TEXT_BYTES; i++) {
        struct arena each;

        arena_init(&each, 0);
        CHECK_OK(annotations_add(annotations, TENANT, &annotation, &each, &err), &err);
        arena_done(&each);
    }
    CHECK_ERROR(annotations_add(annotations, TENANT, &annotation, &arena, &err), &err, ERR_LIMIT);
    CHECK_HAS(err.text, "1048576 are allowed, delete some");
    annotations_close(annotations);
    arena_done(&arena);
}

TEST(annotations_name_a_file_that_cannot_be_read)
{
    struct annotations *annotations = opened();
    struct annotations_list list;
    char path[512];
    struct arena arena;
    struct error err;

    arena_init(&arena, 0);
    add(annotations, TENANT, 1, "one", NULL, &arena);
    snprintf(path, sizeof(path), "%s/annotations/anonymous.json", test_directory());
    CHECK_OK(fs_write_file(path, SLICE("[{\"id\": 7}]"), &err), &err);
    CHECK_ERROR(annotations_find(annotations, TENANT, 0, 2, NULL, &arena, &list, &err), &err, ERR_CORRUPT);
    CHECK_HAS(err.text, "annotations/anonymous.json");
    annotations_close(annotations);
    arena_done(&arena);
}

static int add_and_find(void *context UNUSED, struct error *err)
{
    struct annotation annotation = { .time_ns = 1, .text = SLICE("one") };
    struct annotations_list list;
    struct annotations *annotations;
    struct arena arena;
    int result;

    if (annotations_open(test_directory(), &annotations, err) < 0)
        return -1;
    arena_init(&arena, 0);
    result = annotations_add(annotations, TENANT, &annotation, &arena, err);
    if (result == 0)
        result = annotations_find(annotations, TENANT, 0, 2, NULL, &arena, &list, err);
    arena_done(&arena);
    annotations_close(annotations);
    return result;
}

TEST(annotations_survive_every_allocation_that_fails)
{
    test_each_allocation_failing(add_and_find, NULL);
}
