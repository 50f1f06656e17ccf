// SPDX-License-Identifier: Apache-2.0
#include "answer/queriermessage.h"

#include "base/test.h"

static const struct rpcmessage *const messages[] = {
    &queriermessage_profile_types, &queriermessage_label_values,      &queriermessage_label_names,
    &queriermessage_series,        &queriermessage_merge_stacktraces, &queriermessage_merge_span_profile,
    &queriermessage_merge_profile, &queriermessage_select_series,     &queriermessage_select_heatmap,
    &queriermessage_diff,          &queriermessage_profile_stats,     &queriermessage_analyze_query,
};

TEST(querier_messages_have_each_field_once)
{
    for (size_t i = 0; i < ARRAY_LEN(messages); i++)
        for (const struct rpcmessage_field *a = messages[i]->fields; a->name; a++) {
            CHECK(a->offset < messages[i]->size_bytes);
            CHECK_EQ(a->kind == RPCMESSAGE_ENUM, a->names != NULL);
            CHECK_EQ(a->kind == RPCMESSAGE_MESSAGE || a->kind == RPCMESSAGE_MESSAGES, a->message != NULL);
            for (const struct rpcmessage_field *b = a + 1; b->name; b++) {
                CHECK(a->number != b->number);
                CHECK(a->offset != b->offset);
                CHECK(!slice_is(slice_from(a->name), b->name));
            }
        }
}
