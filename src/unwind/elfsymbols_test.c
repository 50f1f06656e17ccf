// SPDX-License-Identifier: Apache-2.0
#include "unwind/elfsymbols.h"

#include "base/fs.h"
#include "base/memory.h"
#include "base/test.h"
#include "unwind/elfsample_test.h"

#include <errno.h>
#include <stdio.h>

static struct elfsymbols *open_sample(const struct elfsample *elf)
{
    struct elfsymbols *symbols = NULL;
    struct error err;

    CHECK_OK(elfsymbols_open_bytes(elfsample_bytes(elf), &symbols, &err), &err);
    return symbols;
}

static const char *name_at(const struct elfsymbols *symbols, uint64_t address)
{
    static char name[ELFSYMBOLS_NAME_BYTES];

    return elfsymbols_find(symbols, address, name) ? name : "-";
}

static void refuse(const struct elfsample *elf, enum error_code code, const char *words)
{
    struct elfsymbols *symbols = NULL;
    struct error err;

    CHECK_ERROR(elfsymbols_open_bytes(elfsample_bytes(elf), &symbols, &err), &err, code);
    CHECK_HAS(err.text, words);
    CHECK(!symbols);
}

TEST(elfsymbols_names_addresses)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols = open_sample(&elf);

    CHECK_EQ(elfsymbols_count(symbols), 4);
    CHECK_TEXT(name_at(symbols, 0x401000), "alpha"); /* the global one of two */
    CHECK_TEXT(name_at(symbols, 0x40103f), "alpha");
    CHECK_TEXT(name_at(symbols, 0x401040), "beta"); /* up to the next */
    CHECK_TEXT(name_at(symbols, 0x40107f), "beta");
    CHECK_TEXT(name_at(symbols, 0x401087), "gamma");
    CHECK_TEXT(name_at(symbols, 0x401088), "inner");
    CHECK_TEXT(name_at(symbols, 0x401090), "gamma"); /* behind the inner one */
    CHECK_TEXT(name_at(symbols, 0x4010a0), "-");
    CHECK_TEXT(name_at(symbols, 0x4010c0), "-"); /* no function */
    CHECK_TEXT(name_at(symbols, 0x400fff), "-");
    CHECK_TEXT(name_at(symbols, UINT64_MAX), "-");
    elfsymbols_close(symbols);
}

TEST(elfsymbols_does_not_let_functions_without_a_size_reach_out_of_their_section)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols;

    elf.sections[ELFSAMPLE_TEXT].sh_size = 0x50;
    symbols = open_sample(&elf);
    CHECK_TEXT(name_at(symbols, 0x40104f), "beta");
    CHECK_TEXT(name_at(symbols, 0x401050), "-");
    elfsymbols_close(symbols);
}

TEST(elfsymbols_knows_the_build_id_and_where_the_file_is_mapped)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols = open_sample(&elf);
    uint64_t address = 0;

    CHECK_TEXT(elfsymbols_build_id(symbols), "deadbeef00010203");
    CHECK(elfsymbols_address(symbols, ELFSAMPLE_CODE + 0x44, &address));
    CHECK_EQ(address, 0x401044);
    CHECK(!elfsymbols_address(symbols, ELFSAMPLE_CODE - 1, &address));
    CHECK(!elfsymbols_address(symbols, ELFSAMPLE_CODE + 0x100, &address));
    elfsymbols_close(symbols);
}

TEST(elfsymbols_takes_files_without_sections_or_notes)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols;

    elf.head.e_shoff = 0;
    elf.note.head.n_descsz = UINT32_MAX;
    symbols = open_sample(&elf);
    CHECK_EQ(elfsymbols_count(symbols), 0);
    CHECK_TEXT(elfsymbols_build_id(symbols), "");
    CHECK_TEXT(name_at(symbols, 0x401000), "-");
    elfsymbols_close(symbols);
}

TEST(elfsymbols_refuses_other_files)
{
    struct elfsample elf = elfsample_make();

    elf.head.e_ident[0] = 'M';
    refuse(&elf, ERR_UNSUPPORTED, "no ELF file: it begins with 4d 45 4c 46");
    elf = elfsample_make();
    elf.head.e_ident[EI_CLASS] = ELFCLASS32;
    refuse(&elf, ERR_UNSUPPORTED, "class 1");
    elf = elfsample_make();
    elf.head.e_type = ET_REL;
    refuse(&elf, ERR_UNSUPPORTED, "type 1");
}

TEST(elfsymbols_refuses_what_does_not_fit)
{
    struct elfsample elf = elfsample_make();

    elf.head.e_phoff = UINT64_MAX - 8;
    refuse(&elf, ERR_CORRUPT, "program headers");
    elf = elfsample_make();
    elf.head.e_shoff = sizeof(elf) - 8;
    refuse(&elf, ERR_CORRUPT, "section headers");
    elf = elfsample_make();
    elf.head.e_shentsize = 8;
    refuse(&elf, ERR_CORRUPT, "8 bytes each, not 64");
    elf = elfsample_make();
    elf.sections[ELFSAMPLE_SYMTAB].sh_size = 1u << 20;
    refuse(&elf, ERR_CORRUPT, "symbols");
    elf = elfsample_make();
    elf.sections[ELFSAMPLE_SYMTAB].sh_link = 77;
    refuse(&elf, ERR_CORRUPT, "section 77, of 4");
}

TEST(elfsymbols_has_no_names_for_symbols_that_point_nowhere)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols;

    elf.symbols[4].st_name = 1000;
    elf.sections[ELFSAMPLE_STRTAB].sh_offset = UINT64_MAX - 2;
    symbols = open_sample(&elf);
    CHECK_EQ(elfsymbols_count(symbols), 3);
    CHECK_TEXT(name_at(symbols, 0x401000), "-");
    elfsymbols_close(symbols);
}

TEST(elfsymbols_survives_every_truncation)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols;
    struct error err;

    for (size_t len = 0; len < sizeof(elf); len++) {
        char *copy = memory_alloc(len, &err);

        memcpy(copy, &elf, len);
        if (elfsymbols_open_bytes(slice_of(copy, len), &symbols, &err) == 0) {
            CHECK_TEXT(name_at(symbols, 0x401088), "inner");
            elfsymbols_close(symbols);
        } else {
            CHECK(err.code == ERR_CORRUPT || err.code == ERR_UNSUPPORTED);
        }
        memory_free(copy);
    }
}

static int open_and_close(void *context, struct error *err)
{
    struct elfsymbols *symbols;

    if (elfsymbols_open(context, &symbols, err) < 0)
        return -1;
    elfsymbols_close(symbols);
    return 0;
}

TEST(elfsymbols_reads_files_and_reports_failures)
{
    struct elfsample elf = elfsample_make();
    struct elfsymbols *symbols;
    struct error err;
    char path[4096];

    snprintf(path, sizeof(path), "%s/sample.so", test_directory());
    CHECK_OK(fs_write_file(path, elfsample_bytes(&elf), &err), &err);
    CHECK_OK(elfsymbols_open(path, &symbols, &err), &err);
    CHECK_OK(fs_write_file(path, SLICE("another"), &err), &err); /* in its place: the old one stays open */
    CHECK_TEXT(name_at(symbols, 0x401001), "alpha");
    elfsymbols_close(symbols);
    CHECK_ERROR(elfsymbols_open(path, &symbols, &err), &err, ERR_UNSUPPORTED);
    CHECK_HAS(err.text, "sample.so");
    CHECK_ERROR(elfsymbols_open(test_directory(), &symbols, &err), &err, ERR_UNSUPPORTED);
    CHECK_OK(fs_write_file(path, elfsample_bytes(&elf), &err), &err);
    test_each_allocation_failing(open_and_close, path);
    test_each_file_call_failing(open_and_close, path, EIO, ERR_IO);
}

TEST(elfsymbols_reads_the_running_program)
{
    struct elfsymbols *symbols;
    struct error err;

    CHECK_OK(elfsymbols_open("/proc/self/exe", &symbols, &err), &err);
    CHECK(elfsymbols_count(symbols) > 100);
    CHECK(strlen(elfsymbols_build_id(symbols)) >= 16);
    elfsymbols_close(symbols);
}
