// SPDX-License-Identifier: Apache-2.0
/* Descriptions of series: any bytes give one or an error; one that was read, written again, is read as the same and has
 * the same hashes, and can be shown. */
#include "block/seriesinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_equal(const struct seriesinfo *a, const struct seriesinfo *b)
{
    ASSERT(a->group == b->group && a->n_labels == b->n_labels && a->n_types == b->n_types);
    for (uint32_t i = 0; i < a->n_labels; i++)
        ASSERT(slice_equal(a->labels[i].name, b->labels[i].name) &&
               slice_equal(a->labels[i].value, b->labels[i].value));
    ASSERT(slice_equal(a->period_type, b->period_type) && slice_equal(a->period_unit, b->period_unit));
    for (uint32_t i = 0; i < a->n_types; i++)
        ASSERT(slice_equal(a->types[i].type, b->types[i].type) && slice_equal(a->types[i].unit, b->types[i].unit) &&
               a->types[i].nature == b->types[i].nature && a->types[i].temporality == b->types[i].temporality);
    ASSERT(hash_equal(seriesinfo_hash(a, 1), seriesinfo_hash(b, 1)));
    ASSERT(hash_equal(seriesinfo_group_hash(a, 1), seriesinfo_group_hash(b, 1)));
}

/* What is shown is UTF-8 without control characters, whatever the labels hold. */
static void check_text(const struct seriesinfo *info)
{
    AUTO(buffer_done) struct buffer out;
    struct error err;

    buffer_init(&out, 0);
    seriesinfo_text(info, &out);
    ASSERT(buffer_check(&out, &err) == 0 && slice_is_utf8(buffer_slice(&out)));
    for (size_t i = 0; i < out.len; i++)
        ASSERT((uint8_t)out.data[i] >= ' ' && out.data[i] != 0x7f);
    for (uint32_t i = 0; i < info->n_types; i++)
        seriesinfo_profile_type(info, i, &out);
    ASSERT(buffer_check(&out, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_done) struct arena arena;
    AUTO(buffer_done) struct buffer out;
    struct seriesinfo info, again;
    struct error err;

    arena_init(&arena, 0);
    buffer_init(&out, 0);
    if (seriesinfo_decode(slice_of(data, size), &arena, &info, &err) < 0) {
        ASSERT(err.code == ERR_CORRUPT || err.code == ERR_VERSION || err.code == ERR_LIMIT);
        return 0;
    }
    seriesinfo_encode(&info, &out);
    ASSERT(buffer_check(&out, &err) == 0 && out.len <= size);
    ASSERT(seriesinfo_decode(buffer_slice(&out), &arena, &again, &err) == 0);
    check_equal(&info, &again);
    check_text(&info);
    for (uint32_t i = 0; i < info.n_labels; i++)
        if (slice_find_byte(info.labels[i].name, '.') < 0)
            ASSERT(slice_equal(seriesinfo_label(&info, info.labels[i].name), info.labels[i].value));
    return 0;
}
