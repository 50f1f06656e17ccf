// SPDX-License-Identifier: Apache-2.0
#include "label/labeltext_internal.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* N2: names of labels that tell single threads, processes, spans and profiles apart, in lower case and without anything
 * between the words: "thread.name", "thread name" and "threadName" are all `threadname`. */
static const char *const never_names[] = {
    "traceid",
    "spanid",
    "parentspanid",
    "localrootspanid",
    "rootspanid",
    "profileid",
    "pid",
    "ppid",
    "vpid",
    "tgid",
    "nspid",
    "parentpid",
    "processid",
    "processpid",
    "processvpid",
    "processparentpid",
    "tid",
    "thread",
    "threadid",
    "threadname",
    "osthreadid",
    "threadnativeid",
    "nativethreadid",
    "lwp",
    "lwpid",
    "goid",
    "goroutineid",
    "fiberid",
    "coroutineid",
    "taskid",
    "taskname",
    "hearthweight", /* of uploads that stand for others */
};
/* What some put in front of such names: OpenTelemetry's eBPF profiler in front of all labels that a Go program set. */
static const struct slice prefixes[] = { { "processcontextlabel", 19 }, { "pyroscope", 9 } };
#define NEVER_MAX_BYTES 64 /* of a squeezed name: longer ones are none of the table */

bool labeltext_is_named(struct slice spelling, struct slice canonical)
{
    if (spelling.len > 0 && spelling.ptr[0] >= '0' && spelling.ptr[0] <= '9') {
        if (canonical.len == 0 || canonical.ptr[0] != '_')
            return false;
        canonical = slice_sub(canonical, 1, canonical.len);
    }
    if (spelling.len != canonical.len)
        return false;
    for (size_t i = 0; i < spelling.len; i++)
        if (canonical.ptr[i] != labeltext_name_byte(spelling.ptr[i]))
            return false;
    return true;
}

bool labeltext_is_never(struct slice canonical)
{
    char squeezed[NEVER_MAX_BYTES];
    struct slice word = { squeezed, 0 };

    for (size_t i = 0; i < canonical.len; i++) {
        char c = canonical.ptr[i];

        if (c == '_')
            continue;
        if (word.len == sizeof(squeezed))
            return false;
        squeezed[word.len++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (slice_starts_with(word, prefixes[i]))
            word = slice_sub(word, prefixes[i].len, word.len);
    for (size_t i = 0; i < ARRAY_LEN(never_names); i++)
        if (slice_is(word, never_names[i]))
            return true;
    return false;
}

bool labeltext_is_reserved(struct slice canonical)
{
    return slice_starts_with(canonical, SLICE("__"));
}

int labeltext_clean(struct slice text, uint32_t max_bytes, struct arena *arena, struct labeltext *ret_text,
                    struct error *err)
{
    struct labeltext clean = { .text = { NULL, 0 } };
    char *out;

    if (text.len <= max_bytes && slice_is_utf8(text)) {
        *ret_text = (struct labeltext){ .text = text };
        return 0;
    }
    out = arena_alloc(arena, MIN((size_t)max_bytes, text.len * strlen(REPLACEMENT)), err);
    if (!out)
        return -1;
    clean.text.ptr = out;
    while (text.len > 0) {
        size_t len = slice_utf8_len(text);
        struct slice character = len ? slice_sub(text, 0, len) : SLICE(REPLACEMENT);

        if (clean.text.len + character.len > max_bytes) {
            clean.is_cut = true;
            break;
        }
        clean.is_repaired |= len == 0;
        memcpy(out + clean.text.len, character.ptr, character.len);
        clean.text.len += character.len;
        text = slice_sub(text, MAX(len, (size_t)1), text.len);
    }
    *ret_text = clean;
    return 0;
}
