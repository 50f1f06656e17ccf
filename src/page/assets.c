// SPDX-License-Identifier: Apache-2.0
/* The embedded files. page/files.h is made by tools/embed.sh: a row PAGE_FILE(number, path, content type, tag, whether it is
 * immutable, file, its length, compressed file, its length) for each. The assembler reads the files themselves. */
#include "page/page_internal.h"

#define EMBED(symbol, file)                                                                                            \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global " symbol "\n"                                                                                     \
            ".hidden " symbol "\n" symbol ":\n"                                                                        \
            ".incbin \"" file "\"\n"                                                                                   \
            ".byte 0\n"                                                                                                \
            ".popsection\n");

#define PAGE_FILE(number, path, type, tag, is_immutable, plain, n_plain, gzip, n_gzip)                                 \
    EMBED("assets_plain_" #number, plain)                                                                              \
    EMBED("assets_gzip_" #number, gzip)                                                                                \
    extern const char assets_plain_##number[], assets_gzip_##number[];
#include "page/files.h"
#undef PAGE_FILE

const struct page_asset assets_all[] = {
#define PAGE_FILE(number, path, type, tag, is_immutable, plain, n_plain, gzip, n_gzip)                                 \
    { path, type, tag, { assets_plain_##number, n_plain }, { assets_gzip_##number, n_gzip }, is_immutable },
#include "page/files.h"
#undef PAGE_FILE
};
const size_t assets_n = ARRAY_LEN(assets_all);
