// SPDX-License-Identifier: Apache-2.0
#include "wire/format.h"

#include "wire/folded.h"
#include "wire/gperftools.h"
#include "wire/otlp.h"
#include "wire/pprof.h"

#include <stdio.h>

const struct format formats[] = {
    {
        .name = "pprof",
        .summary = "pprof's profile.proto, gzip or plain",
        .extensions = "pb.gz pprof prof pb",
        .recognise = pprof_recognise,
        .decode = pprof_decode,
        .encode = pprof_encode,
        .custom_pack = PACK_GZIP,
        .is_binary = true,
    },
    {
        .name = "otlp",
        .summary = "OpenTelemetry profiles, protobuf; reads the layouts of proto 1.7 to 1.11, writes the newest",
        .extensions = "otlp otlp.pb",
        .recognise = otlp_recognise,
        .decode = otlp_decode,
        .encode = otlp_encode,
        .is_binary = true,
        .holds_many = true,
    },
    {
        .name = "otlp-json",
        .summary = "OpenTelemetry profiles, JSON: one object, or one on each line",
        .extensions = "otlp.json otlp.jsonl",
        .recognise = otlp_json_recognise,
        .decode = otlp_json_decode,
        .encode = otlp_json_encode,
        .holds_many = true,
    },
    {
        .name = "folded",
        .summary = "collapsed stacks, one on each line: root;...;leaf COUNT",
        .extensions = "folded collapsed",
        .recognise = folded_recognise,
        .decode = folded_decode,
        .encode = folded_encode,
        .holds_one_type = true,
    },
    {
        .name = "gperftools",
        .summary = "old profiles of gperftools and of Go's debug=1 pages; reading only",
        .extensions = "",
        .recognise = gperftools_recognise,
        .decode = gperftools_decode,
    },
    { .name = NULL },
};

const struct format *format_find(struct slice name)
{
    for (const struct format *format = formats; format->name; format++)
        if (slice_is(name, format->name))
            return format;
    return NULL;
}

/* Length of the longest ".EXTENSION" of the list that `path` ends in; 0 if there is none. */
static size_t extension_len(struct slice path, const char *extensions)
{
    struct slice rest = slice_from(extensions), extension;
    size_t longest = 0;

    while (slice_next_part(&rest, ' ', &extension))
        if (extension.len > longest && path.len > extension.len && slice_ends_with(path, extension) &&
            path.ptr[path.len - extension.len - 1] == '.')
            longest = extension.len;
    return longest;
}

static struct slice without_packing(struct slice path)
{
    static const char *const endings[] = { ".gz", ".zst", ".lz4" };

    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (slice_ends_with(path, slice_from(endings[i])))
            return slice_sub(path, 0, path.len - strlen(endings[i]));
    return path;
}

const struct format *format_find_by_path(struct slice path)
{
    /* Longer endings tell more: x.otlp.json is not just any JSON. */
    for (int attempt = 0; attempt < 2; attempt++) {
        const struct format *best = NULL;
        size_t best_len = 0;

        for (const struct format *format = formats; format->name; format++) {
            size_t len = format->encode ? extension_len(path, format->extensions) : 0;

            if (len > best_len) {
                best = format;
                best_len = len;
            }
        }
        if (best)
            return best;
        path = without_packing(path);
    }
    return NULL;
}

bool format_has_ending(const struct format *format, struct slice path)
{
    return extension_len(path, format->extensions) > 0 || extension_len(without_packing(path), format->extensions) > 0;
}

/* The first bytes as an error message can show them: text as text, the rest as hex. */
static void describe_bytes(struct slice bytes, char *text, size_t size)
{
    struct slice head = slice_sub(bytes, 0, 16);
    bool is_text = head.len > 0;
    size_t at = 0;

    for (size_t i = 0; i < head.len; i++)
        is_text &= (head.ptr[i] >= ' ' && head.ptr[i] < 0x7f) || (head.ptr[i] >= '\t' && head.ptr[i] <= '\r');
    if (is_text) {
        slice_next_line(&bytes, &head);
        head = slice_sub(head, 0, 32);
        snprintf(text, size, "'%.*s'", SLICE_ARG(head));
        return;
    }
    for (size_t i = 0; i < head.len && at + 4 < size; i++)
        at += (size_t)snprintf(text + at, size - at, i ? " %02x" : "%02x", (unsigned char)head.ptr[i]);
}

static int unknown_format(struct slice bytes, struct error *err)
{
    char head[64] = "";
    struct buffer known;

    if (bytes.len == 0)
        return error_set(err, ERR_UNSUPPORTED, "there is nothing in it");
    if (slice_equal_nocase(slice_sub(slice_trim(bytes), 0, 9), SLICE("<!doctype")))
        return error_set(err, ERR_UNSUPPORTED,
                         "it is a page (HTML) and no profile; one that hearth wrote cannot be read back, so give the "
                         "profile that it was made from");
    buffer_init(&known, 1024);
    for (const struct format *format = formats; format->name; format++)
        buffer_printf(&known, "%s%s", known.len ? ", " : "", format->name);
    describe_bytes(bytes, head, sizeof(head));
    error_set(err, ERR_UNSUPPORTED, "not a profile of a known kind (%.*s); it begins with %s",
              SLICE_ARG(buffer_slice(&known)), head);
    buffer_done(&known);
    return -1;
}

static const struct format *recognise(struct slice bytes)
{
    const struct format *best = NULL;
    int best_score = 0;

    for (const struct format *format = formats; format->name; format++) {
        int score = format->recognise(bytes);

        if (score > best_score) {
            best_score = score;
            best = format;
        }
    }
    return best;
}

int format_read(struct slice bytes, const struct format *format, struct unpacker *unpacker, struct batch *batch,
                const struct format **ret_format, struct error *err)
{
    struct slice plain;
    uint32_t n_cut;

    if (unpacker_unwrap(unpacker, bytes, batch->limits.max_inflated_bytes, UNPACKER_MAX_LAYERS, &plain, err) < 0)
        return -1;
    if (!format)
        format = recognise(plain);
    if (!format)
        return unknown_format(plain, err);
    if (format->decode(plain, batch, err) < 0)
        return -1;
    n_cut = batch->n_profiles ? tables_limit_depth(&batch->tables, batch->limits.max_depth) : 0;
    if (n_cut)
        report_add(&batch->report, "stack of more functions than the limit; cut at the root end", n_cut, "%u are kept",
                   batch->limits.max_depth);
    *ret_format = format;
    return 0;
}
