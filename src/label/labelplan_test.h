// SPDX-License-Identifier: Apache-2.0
/* For the tests of label rules: profiles from short texts, and plans as texts that a test can compare.
 *
 * Labels of a set stand behind each other with ';' between: "route=/a;bytes=#64:bytes;is_idle=?1;share=~0.5;args=[1]".
 * '#' begins a number with an optional unit, '?' a boolean, '~' a double, '[' a list as JSON; anything else is text. */
#pragma once

#include "base/test.h"
#include "label/labelrules.h"
#include "profile/builder.h"

#include <stdlib.h>

struct labelplan_input {
    const char *type, *unit; /* NULL = cpu, nanoseconds */
    const char *resource, *scope, *attributes;
    const char *scope_name, *scope_version;
    const char *const *samples; /* label sets; one sample each, ended by NULL */
};

static inline struct label labelplan_label(struct builder *b, struct slice text)
{
    ptrdiff_t equal = slice_find_byte(text, '=');
    struct label label = { 0 };
    struct slice value, number;
    double share;

    CHECK(equal >= 0);
    label.key = builder_string(b, slice_sub(text, 0, (size_t)equal));
    value = slice_sub(text, (size_t)equal + 1, text.len);
    number = slice_sub(value, 1, value.len);
    switch (value.len ? value.ptr[0] : '\0') {
    case '#': {
        ptrdiff_t colon = slice_find_byte(number, ':');

        label.kind = LABEL_NUMBER;
        if (colon >= 0) {
            label.unit = builder_string(b, slice_sub(number, (size_t)colon + 1, number.len));
            number = slice_sub(number, 0, (size_t)colon);
        }
        CHECK(slice_to_i64(number, &label.number));
        break;
    }
    case '?':
        label.kind = LABEL_BOOL;
        CHECK(slice_to_i64(number, &label.number));
        break;
    case '~':
        label.kind = LABEL_DOUBLE;
        CHECK(slice_to_double(number, &share));
        memcpy(&label.number, &share, sizeof(share));
        break;
    case '[':
        label.kind = LABEL_JSON;
        label.text = builder_string(b, value);
        break;
    default: label.text = builder_string(b, value); break;
    }
    return label;
}

static inline uint32_t labelplan_set(struct builder *b, const char *text)
{
    struct slice rest = slice_from(text), part;
    struct label labels[512];
    uint32_t n = 0;

    while (text && *text && slice_next_part(&rest, ';', &part)) {
        CHECK(n < ARRAY_LEN(labels));
        labels[n++] = labelplan_label(b, part);
    }
    return builder_label_set(b, labels, n);
}

/* Adds a sample with those labels and a stack of its own, so that none are added up. */
static inline void labelplan_sample(struct builder *b, uint32_t number, uint32_t set)
{
    struct line line = { .line = number + 1 };
    uint32_t frame = builder_frame(b, &(struct frame){ .n_lines = 1 }, &line);
    int64_t value = 1;

    builder_sample(b, builder_stack(b, &frame, 1), set, 0, &value, 0);
}

/* Starts a profile and fills it; header fields can still be set through the pointer. */
static inline struct profile *labelplan_fill(struct builder *b, const struct labelplan_input *input)
{
    struct profile *profile = builder_profile(b);

    builder_type(
        b, (struct value_type){ .type = builder_string(b, slice_from(input->type ? input->type : "cpu")),
                                .unit = builder_string(b, slice_from(input->unit ? input->unit : "nanoseconds")) });
    profile->resource = labelplan_set(b, input->resource);
    profile->scope = labelplan_set(b, input->scope);
    profile->attributes = labelplan_set(b, input->attributes);
    profile->scope_name = builder_string(b, slice_from(input->scope_name));
    profile->scope_version = builder_string(b, slice_from(input->scope_version));
    for (uint32_t i = 0; input->samples && input->samples[i]; i++)
        labelplan_sample(b, i, labelplan_set(b, input->samples[i]));
    return profile;
}

/* Makes the one profile of `batch`, which is initialised here. */
static inline void labelplan_batch(const struct labelplan_input *input, struct batch *batch)
{
    AUTO(builder_freep) struct builder *b = NULL;
    struct error err;

    batch_init(batch, NULL);
    CHECK_OK(builder_new(NULL, &b, &err), &err);
    labelplan_fill(b, input);
    CHECK_OK(builder_finish(b, batch, &err), &err);
    CHECK_OK(batch_check(batch, &err), &err);
}

static inline void labelplan_print_columns(struct buffer *out, const struct column_labels *columns)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct column_label *label = &columns->labels[i];
        double number;

        buffer_printf(out, " %.*s=", SLICE_ARG(label->name));
        switch (label->kind) {
        case LABEL_STRING:
        case LABEL_BYTES:
        case LABEL_JSON: buffer_append_slice(out, label->text); break;
        case LABEL_BOOL: buffer_printf(out, "?%lld", (long long)label->number); break;
        case LABEL_NUMBER: buffer_printf(out, "#%lld", (long long)label->number); break;
        case LABEL_DOUBLE:
            memcpy(&number, &label->number, sizeof(number));
            buffer_printf(out, "~%g", number);
            break;
        }
        if (label->unit.len > 0)
            buffer_printf(out, ":%.*s", SLICE_ARG(label->unit));
    }
}

/* One line per piece, "a=1 b=2 <0 2>", a line "row ..." if there are row labels, one "sample 2 ..." for each sample
 * that has columns. */
static inline void labelplan_print(const struct profile *profile, const struct series_plan *plan, struct buffer *out)
{
    for (uint32_t i = 0; i < plan->n_pieces; i++) {
        const struct series_piece *piece = &plan->pieces[i];

        for (uint32_t label = 0; label < piece->info.n_labels; label++)
            buffer_printf(out, "%.*s=%.*s ", SLICE_ARG(piece->info.labels[label].name),
                          SLICE_ARG(piece->info.labels[label].value));
        buffer_append_byte(out, '<');
        for (uint32_t sample = 0; piece->samples && sample < piece->n_samples; sample++)
            buffer_printf(out, sample ? " %u" : "%u", piece->samples[sample]);
        buffer_append_text(out, piece->samples ? ">\n" : "all>\n");
    }
    if (plan->row_labels.n > 0) {
        buffer_append_text(out, "row");
        labelplan_print_columns(out, &plan->row_labels);
        buffer_append_byte(out, '\n');
    }
    for (uint32_t i = 0; plan->sample_labels && i < profile->n_samples; i++) {
        const struct column_labels *columns = &plan->sample_labels[profile_label_set(profile, i)];

        if (columns->n > 0) {
            buffer_printf(out, "sample %u", i);
            labelplan_print_columns(out, columns);
            buffer_append_byte(out, '\n');
        }
    }
}

/* Checks what every plan promises: labels sorted and within the limits, each sample in one piece. */
static inline void labelplan_check(const struct profile *profile, const struct series_plan *plan,
                                   const struct label_limits *limits)
{
    uint64_t n_samples = 0;

    CHECK(plan->n_pieces >= 1 && plan->n_pieces <= limits->max_splits);
    for (uint32_t i = 0; i < plan->n_pieces; i++) {
        const struct series_piece *piece = &plan->pieces[i];

        CHECK_EQ(piece->info.group, 0);
        CHECK_EQ(piece->info.n_types, profile->n_types);
        CHECK(piece->info.n_labels >= 2 && piece->info.n_labels <= limits->max_labels);
        for (uint32_t label = 1; label < piece->info.n_labels; label++)
            CHECK(slice_compare(piece->info.labels[label - 1].name, piece->info.labels[label].name) < 0);
        for (uint32_t sample = 1; piece->samples && sample < piece->n_samples; sample++)
            CHECK(piece->samples[sample - 1] < piece->samples[sample]);
        CHECK(plan->n_pieces == 1 ? !piece->samples : piece->samples && piece->n_samples > 0);
        n_samples += piece->n_samples;
    }
    CHECK_EQ(n_samples, profile->n_samples);
}
