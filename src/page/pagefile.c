// SPDX-License-Identifier: Apache-2.0
#include "page/pagefile.h"

#include "base/base64.h"
#include "pack/packer.h"
#include "page/page.h"

#define TITLE_MARK "@TITLE@"
#define DATA_MARK  "@DATA@"

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

int pagefile_fill(struct slice shell, struct slice title, struct slice flame, struct buffer *out, struct error *err)
{
    buffer_append_slice(out, take_until(&shell, SLICE(TITLE_MARK)));
    append_escaped(out, title);
    buffer_append_slice(out, take_until(&shell, SLICE(DATA_MARK)));
    if (append_data(flame, out, err) < 0)
        return -1;
    buffer_append_slice(out, shell);
    return buffer_check(out, err);
}

int pagefile_write(struct slice title, struct slice flame, struct buffer *out, struct error *err)
{
    struct slice shell;

    return page_offline(&shell, err) < 0 ? -1 : pagefile_fill(shell, title, flame, out, err);
}
