// SPDX-License-Identifier: Apache-2.0
#include "profile/pattern.h"

#include "base/memory.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define GROUPS_MAX 32 /* that a replacement can use; 0 is the whole match */

/* PCRE2 counts steps anew at every position where a match could begin. So the steps of one call are bounded by dividing
 * them among the positions; long texts keep enough for patterns like ".*x.*y". */
#define STEPS_PER_TEXT     20000000u
#define STEPS_PER_POSITION 20000u
#define HEAP_KIB           (16u * 1024) /* for backtracking */
#define QUOTED_MAX         80           /* bytes of a pattern shown in an error */

struct pattern {
    pcre2_code *code;
    size_t quoted_len;
    char quoted[QUOTED_MAX]; /* the beginning of the pattern, for errors */
};

struct pattern_scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

static void *allocate(PCRE2_SIZE size, void *unused)
{
    struct error err;

    return memory_alloc(size, &err);
}

static void release(void *ptr, void *unused)
{
    memory_free(ptr);
}

static void free_compile_context(pcre2_compile_context **context)
{
    pcre2_compile_context_free(*context);
}

static void free_general_context(pcre2_general_context **context)
{
    pcre2_general_context_free(*context);
}

static int out_of_memory(struct error *err)
{
    return error_set(err, ERR_MEMORY, "no memory for a regular expression");
}

static int compile(struct pattern *pattern, struct slice text, uint32_t options, struct error *err)
{
    AUTO(free_general_context) pcre2_general_context *general = pcre2_general_context_create(allocate, release, NULL);
    AUTO(free_compile_context)
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    PCRE2_SIZE offset;
    int code;

    if (!context)
        return out_of_memory(err);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pattern->code = pcre2_compile((PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len, options, &code, &offset, context);
    if (!pattern->code) {
        PCRE2_UCHAR reason[120];

        if (code == PCRE2_ERROR_HEAP_FAILED)
            return out_of_memory(err);
        pcre2_get_error_message(code, reason, sizeof(reason));
        return error_set(err, ERR_INVALID, "regular expression '%.*s': %s at position %zu", (int)pattern->quoted_len,
                         pattern->quoted, (const char *)reason, offset);
    }
    /* Without just-in-time code (no executable memory here, say) matching is slower and just as right. */
    IGNORE(pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE), "matching works without");
    return 0;
}

int pattern_new(struct slice text, enum pattern_mode mode, struct pattern **ret_pattern, struct error *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
    AUTO(pattern_freep) struct pattern *pattern = NULL;

    if (text.len > PATTERN_MAX_BYTES)
        return error_set(err, ERR_LIMIT, "a regular expression of %zu bytes is longer than the %d allowed", text.len,
                         PATTERN_MAX_BYTES);
    if (mode == PATTERN_WHOLE)
        options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL;
    pattern = MEMORY_NEW(struct pattern, err);
    if (!pattern)
        return -1;
    pattern->quoted_len = MIN(text.len, sizeof(pattern->quoted));
    if (text.len)
        memcpy(pattern->quoted, text.ptr, pattern->quoted_len);
    if (compile(pattern, text, options, err) < 0)
        return -1;
    *ret_pattern = TAKE(pattern);
    return 0;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    memory_free(pattern);
}

void pattern_freep(struct pattern **pattern)
{
    pattern_free(*pattern);
}

int pattern_scratch_new(struct pattern_scratch **ret_scratch, struct error *err)
{
    AUTO(free_general_context) pcre2_general_context *general = NULL;
    AUTO(pattern_scratch_freep) struct pattern_scratch *scratch = MEMORY_NEW(struct pattern_scratch, err);

    if (!scratch)
        return -1;
    general = pcre2_general_context_create(allocate, release, NULL);
    if (!general)
        return out_of_memory(err);
    scratch->data = pcre2_match_data_create(GROUPS_MAX, general);
    scratch->context = pcre2_match_context_create(general);
    if (!scratch->data || !scratch->context)
        return out_of_memory(err);
    pcre2_set_heap_limit(scratch->context, HEAP_KIB);
    *ret_scratch = TAKE(scratch);
    return 0;
}

void pattern_scratch_free(struct pattern_scratch *scratch)
{
    if (!scratch)
        return;
    pcre2_match_data_free(scratch->data);
    pcre2_match_context_free(scratch->context);
    memory_free(scratch);
}

void pattern_scratch_freep(struct pattern_scratch **scratch)
{
    pattern_scratch_free(*scratch);
}

static void limit_steps(struct pattern_scratch *scratch, struct slice subject)
{
    uint32_t positions = (uint32_t)MIN(subject.len + 1, (size_t)STEPS_PER_TEXT);

    pcre2_set_match_limit(scratch->context, MAX(STEPS_PER_TEXT / positions, STEPS_PER_POSITION));
}

/* Tells what a negative result of PCRE2, other than "no match", means. */
static int match_error(const struct pattern *pattern, struct slice subject, int code, struct error *err)
{
    PCRE2_UCHAR reason[120];

    switch (code) {
    case PCRE2_ERROR_NOMEMORY: return out_of_memory(err);
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return error_set(err, ERR_LIMIT,
                         "regular expression '%.*s' needs too many steps for a text of %zu bytes; a simpler one, with "
                         "fewer nested repetitions, will do",
                         (int)pattern->quoted_len, pattern->quoted, subject.len);
    default:
        pcre2_get_error_message(code, reason, sizeof(reason));
        return error_set(err, ERR_INVALID, "regular expression '%.*s': %s", (int)pattern->quoted_len, pattern->quoted,
                         (const char *)reason);
    }
}

/* As match_error; what PCRE2 has against the replacement is told as such. */
static int replace_error(const struct pattern *pattern, struct slice subject, struct slice replacement, int code,
                         struct error *err)
{
    PCRE2_UCHAR reason[120];

    switch (code) {
    case PCRE2_ERROR_BADREPLACEMENT:
    case PCRE2_ERROR_REPMISSINGBRACE:
    case PCRE2_ERROR_NOSUBSTRING:
    case PCRE2_ERROR_NOUNIQUESUBSTRING:
    case PCRE2_ERROR_UNAVAILABLE:
        pcre2_get_error_message(code, reason, sizeof(reason));
        return error_set(err, ERR_INVALID, "replacement '%.*s' for '%.*s': %s",
                         (int)MIN(replacement.len, (size_t)QUOTED_MAX), replacement.ptr, (int)pattern->quoted_len,
                         pattern->quoted, (const char *)reason);
    default: return match_error(pattern, subject, code, err);
    }
}

static struct slice never_null(struct slice text)
{
    return text.ptr ? text : SLICE("");
}

/* `ret_n_groups` is one more than the highest group that took part, 0 if there were more than fit, or -1: no match. */
static int match(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                 int *ret_n_groups, struct error *err)
{
    PCRE2_SPTR text = (PCRE2_SPTR)never_null(subject).ptr;
    int code;

    limit_steps(scratch, subject);
    code = pcre2_match(pattern->code, text, subject.len, 0, 0, scratch->data, scratch->context);
    if (code == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter's stack is on the heap and may be larger */
        code = pcre2_match(pattern->code, text, subject.len, 0, PCRE2_NO_JIT, scratch->data, scratch->context);
    if (code < 0 && code != PCRE2_ERROR_NOMATCH)
        return match_error(pattern, subject, code, err);
    *ret_n_groups = code == PCRE2_ERROR_NOMATCH ? -1 : code;
    return 0;
}

int pattern_test(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                 bool *ret_matches, struct error *err)
{
    int n_groups;

    if (match(pattern, scratch, subject, &n_groups, err) < 0)
        return -1;
    *ret_matches = n_groups >= 0;
    return 0;
}

int pattern_replace(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                    struct slice replacement, struct buffer *out, uint32_t *ret_n, struct error *err)
{
    uint32_t options = PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_UNSET_EMPTY | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH;
    size_t room = subject.len + replacement.len + 1;

    subject = never_null(subject);
    replacement = never_null(replacement);
    limit_steps(scratch, subject);
    for (;;) {
        PCRE2_SIZE len = room;
        char *space = buffer_reserve(out, room);
        int n;

        if (!space)
            return buffer_check(out, err);
        n = pcre2_substitute(pattern->code, (PCRE2_SPTR)subject.ptr, subject.len, 0, options, scratch->data,
                             scratch->context, (PCRE2_SPTR)replacement.ptr, replacement.len, (PCRE2_UCHAR *)space,
                             &len);
        if (n == PCRE2_ERROR_NOMEMORY && len != PCRE2_UNSET && len > room) {
            room = len; /* what it needs, the NUL behind it included */
            continue;
        }
        if (n == PCRE2_ERROR_JIT_STACKLIMIT && !(options & PCRE2_NO_JIT)) {
            options |= PCRE2_NO_JIT;
            continue;
        }
        if (n < 0)
            return replace_error(pattern, subject, replacement, n, err);
        if (n > 0)
            buffer_commit(out, len);
        *ret_n = (uint32_t)n;
        return 0;
    }
}

static bool is_group_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of the group at the front of `text`, which begins behind a dollar; `ret_len` is what it takes, braces too.
 * Empty when there is none. */
static struct slice group_name(struct slice text, size_t *ret_len)
{
    size_t brace = text.len > 0 && text.ptr[0] == '{', end = brace;

    while (end < text.len && is_group_letter(text.ptr[end]))
        end++;
    if (end == brace || (brace && (end == text.len || text.ptr[end] != '}')))
        return slice_of(NULL, 0);
    *ret_len = end + brace;
    return slice_sub(text, brace, end - brace);
}

/* The number of a group, or 0 with `false` when the pattern has no such group. */
static bool group_number(const struct pattern *pattern, struct slice name, uint32_t *ret_number)
{
    char terminated[33]; /* PCRE2 allows names of 32 */
    uint64_t number;
    int found;

    if (slice_to_u64(name, &number)) {
        *ret_number = (uint32_t)MIN(number, (uint64_t)UINT32_MAX);
        return number < GROUPS_MAX;
    }
    if (name.len >= sizeof(terminated))
        return false;
    memcpy(terminated, name.ptr, name.len);
    terminated[name.len] = '\0';
    found = pcre2_substring_number_from_name(pattern->code, (PCRE2_SPTR)terminated);
    *ret_number = (uint32_t)MAX(found, 0);
    return found > 0 && found < GROUPS_MAX;
}

/* Appends what the group of that name took; `n_groups` took part in the match. */
static void append_group(const struct pattern *pattern, const struct pattern_scratch *scratch, struct slice subject,
                         struct slice name, uint32_t n_groups, struct buffer *out)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(scratch->data);
    uint32_t number;

    if (group_number(pattern, name, &number) && number < n_groups && offsets[2 * number] != PCRE2_UNSET &&
        offsets[2 * number] <= offsets[2 * number + 1])
        buffer_append_slice(out,
                            slice_sub(subject, offsets[2 * number], offsets[2 * number + 1] - offsets[2 * number]));
}

static void expand(const struct pattern *pattern, const struct pattern_scratch *scratch, struct slice subject,
                   struct slice text, uint32_t n_groups, struct buffer *out)
{
    for (size_t i = 0; i < text.len; i++) {
        struct slice rest = slice_sub(text, i + 1, text.len), name;
        size_t taken = 0;

        name = text.ptr[i] == '$' ? group_name(rest, &taken) : slice_of(NULL, 0);
        if (name.len > 0) {
            append_group(pattern, scratch, subject, name, n_groups, out);
            i += taken;
            continue;
        }
        buffer_append_byte(out, text.ptr[i]);
        i += text.ptr[i] == '$' && rest.len > 0 && rest.ptr[0] == '$'; /* $$ */
    }
}

int pattern_expand(const struct pattern *pattern, struct pattern_scratch *scratch, struct slice subject,
                   struct slice text, struct buffer *out, bool *ret_matches, struct error *err)
{
    int n_groups;

    if (match(pattern, scratch, subject, &n_groups, err) < 0)
        return -1;
    if (n_groups >= 0)
        expand(pattern, scratch, subject, text, n_groups ? (uint32_t)n_groups : GROUPS_MAX, out);
    if (buffer_check(out, err) < 0)
        return -1;
    *ret_matches = n_groups >= 0;
    return 0;
}
