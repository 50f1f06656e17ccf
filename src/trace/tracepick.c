// SPDX-License-Identifier: Apache-2.0
#include "trace/tracepick.h"

#include "profile/spanids.h"

static bool has_names(const struct tracestore_filter *filter, struct slice service, struct slice name)
{
    return (filter->service.len == 0 || slice_equal(filter->service, service)) &&
           (filter->operation.len == 0 || slice_equal(filter->operation, name));
}

bool tracepick_may_have(const struct tracestore_filter *filter, const struct spanblock_header *header,
                        int64_t *ret_max_duration_ns)
{
    bool may_have = false;
    int64_t max_ns = 0;

    if (header->max_start_ns < filter->from_ns || (filter->until_ns != 0 && header->min_start_ns >= filter->until_ns))
        return false;
    for (uint32_t i = 0; i < header->n_operations; i++) {
        const struct spanblock_operation *operation = &header->operations[i];

        if (operation->max_duration_ns < filter->min_duration_ns ||
            (filter->max_duration_ns != 0 && operation->min_duration_ns > filter->max_duration_ns) ||
            (filter->is_error && operation->n_errors == 0) || !has_names(filter, operation->service, operation->name))
            continue;
        may_have = true;
        max_ns = MAX(max_ns, operation->max_duration_ns);
    }
    *ret_max_duration_ns = filter->max_duration_ns != 0 ? MIN(max_ns, filter->max_duration_ns) : max_ns;
    return may_have;
}

int tracepick_init(struct tracepick *pick, const struct tracestore_filter *filter, struct spanblock *block,
                   struct arena *arena, struct error *err)
{
    bool *is_taken = ARENA_ARRAY(arena, bool, block->n_classes, err);

    if (!is_taken)
        return -1;
    *pick = (struct tracepick){ .filter = filter, .block = block, .is_class_taken = is_taken };
    for (uint32_t i = 0; i < block->n_classes; i++) {
        const struct spanblock_class *class = &block->classes[i];

        is_taken[i] =
            (!filter->is_error || class->status == SPAN_ERROR) && has_names(filter, class->service, class->name);
        pick->has_classes |= is_taken[i];
    }
    return 0;
}

static bool is_of_time(const struct tracestore_filter *filter, int64_t start_ns, int64_t duration_ns)
{
    return start_ns >= filter->from_ns && (filter->until_ns == 0 || start_ns < filter->until_ns) &&
           duration_ns >= filter->min_duration_ns &&
           (filter->max_duration_ns == 0 || duration_ns <= filter->max_duration_ns);
}

static int has_attributes(struct tracepick *pick, uint32_t i, bool *ret_has, struct error *err)
{
    for (uint32_t a = 0; a < pick->filter->n_attributes; a++) {
        const struct span_attribute *wanted = &pick->filter->attributes[a];
        struct span_value value;

        if (spanblock_find_attribute(pick->block, i, wanted->key, ret_has, &value, err) < 0)
            return -1;
        *ret_has = *ret_has && (wanted->value.text.len == 0 || tracestore_value_is(&value, wanted->value.text));
        if (!*ret_has)
            return 0;
    }
    *ret_has = true;
    return 0;
}

int tracepick_takes(struct tracepick *pick, uint32_t i, bool *ret_takes, struct error *err)
{
    static const uint8_t none[SPAN_ID_BYTES];
    const struct tracestore_filter *filter = pick->filter;
    const struct spanblock *block = pick->block;

    *ret_takes = false;
    if (!pick->is_class_taken[block->class_ids[i]] || !is_of_time(filter, block->start_ns[i], block->duration_ns[i]) ||
        (filter->is_root && memcmp(block->parent_ids[i], none, sizeof(none)) != 0) ||
        (filter->ids && !spanids_has(filter->ids, block->span_ids[i])))
        return 0;
    return has_attributes(pick, i, ret_takes, err);
}
