// SPDX-License-Identifier: Apache-2.0
#include "cli/htmlfile.h"

#include "base/base64.h"
#include "flame/flamebytes.h"
#include "flame/trim.h"
#include "pack/packer.h"
#include "page/page.h"

#define TITLE_MARK "@TITLE@"
#define DATA_MARK  "@DATA@"

/* --- the page --- */

/* Text between tags. What is no text, or would not be seen, becomes a replacement character. */
static void append_escaped(struct buffer *out, struct slice text)
{
    while (text.len > 0) {
        size_t len = slice_utf8_len(text);
        unsigned char c = (unsigned char)text.ptr[0];

        if (len == 0 || c < ' ' || c == 0x7f)
            buffer_append_text(out, "\xef\xbf\xbd");
        else if (c == '&')
            buffer_append_text(out, "&amp;");
        else if (c == '<')
            buffer_append_text(out, "&lt;");
        else if (c == '>')
            buffer_append_text(out, "&gt;");
        else
            buffer_append(out, text.ptr, len);
        text = slice_sub(text, MAX(len, 1), SIZE_MAX);
    }
}

static int append_data(struct slice flame, struct buffer *out, struct error *err)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer packed;

    buffer_init(&packed, 0);
    if (packer_new(&packer, err) < 0 || packer_pack(packer, PACK_GZIP, PACK_LEVEL_DEFAULT, flame, &packed, err) < 0)
        return -1;
    base64_encode(buffer_slice(&packed), true, out);
    return 0;
}

/* Cuts what is before a mark off the shell, and the mark. */
static struct slice take_until(struct slice *shell, struct slice mark)
{
    ptrdiff_t at = slice_find(*shell, mark);
    struct slice before = slice_sub(*shell, 0, (size_t)at);

    ASSERT(at >= 0);
    *shell = slice_sub(*shell, (size_t)at + mark.len, SIZE_MAX);
    return before;
}

int htmlfile_fill(struct slice shell, struct slice title, struct slice flame, struct buffer *out, struct error *err)
{
    buffer_append_slice(out, take_until(&shell, SLICE(TITLE_MARK)));
    append_escaped(out, title);
    buffer_append_slice(out, take_until(&shell, SLICE(DATA_MARK)));
    if (append_data(flame, out, err) < 0)
        return -1;
    buffer_append_slice(out, shell);
    return buffer_check(out, err);
}

int htmlfile_write(struct slice title, struct slice flame, struct buffer *out, struct error *err)
{
    struct slice shell;

    return page_offline(&shell, err) < 0 ? -1 : htmlfile_fill(shell, title, flame, out, err);
}

/* --- as a format --- */

/* Without a type there is but the root. */
static int encode_tree(const struct profile *profile, uint32_t type, struct buffer *out, struct error *err)
{
    struct slice unit = type == PROFILE_NO_TYPE ? SLICE("") : tables_string(profile->tables, profile->types[type].unit);
    struct trim_options trim = { .max_nodes = HTMLFILE_MAX_NODES };
    AUTO(flame_builder_freep) struct flame_builder *builder = NULL;
    AUTO(flame_freep) struct flame *whole = NULL, *trimmed = NULL;

    if (flame_builder_new(NULL, 1, &builder, err) < 0 ||
        (type != PROFILE_NO_TYPE && flame_builder_add(builder, profile, &type, 1, 0, err) < 0) ||
        flame_builder_finish(builder, &whole, err) < 0 || trim_flame(whole, &trim, &trimmed, err) < 0)
        return -1;
    return flamebytes_encode(trimmed, 0, unit, out, err);
}

static int encode_page(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                       struct error *err)
{
    const struct profile *profile = &batch->profiles[0];
    uint32_t type = options->type == PROFILE_NO_TYPE ? profile_default_type(profile) : options->type;
    AUTO(buffer_done) struct buffer flame;

    buffer_init(&flame, 0);
    if (encode_tree(profile, type, &flame, err) < 0)
        return -1;
    return htmlfile_write(options->title.len > 0 ? options->title : SLICE("A profile"), buffer_slice(&flame), out, err);
}

static int encode(const struct batch *batch, const struct format_write_options *options, struct buffer *out,
                  struct error *err)
{
    AUTO(packer_freep) struct packer *packer = NULL;
    AUTO(buffer_done) struct buffer html;

    buffer_init(&html, 0);
    if (options->plain || options->pack == PACK_NONE)
        return encode_page(batch, options, out, err);
    if (encode_page(batch, options, &html, err) < 0 || packer_new(&packer, err) < 0)
        return -1;
    return packer_pack(packer, options->pack, options->level, buffer_slice(&html), out, err);
}

const struct format htmlfile_format = {
    .name = "html",
    .summary = "a page with a flame graph that opens without a server; writing only",
    .extensions = "html htm",
    .encode = encode,
    .holds_one_type = true,
};
