// SPDX-License-Identifier: Apache-2.0
#include "cli/htmlfile.h"

#include "flame/flamebytes.h"
#include "flame/trim.h"
#include "pack/packer.h"
#include "page/pagefile.h"

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
    return pagefile_write(options->title.len > 0 ? options->title : SLICE("A profile"), buffer_slice(&flame), out, err);
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
