// SPDX-License-Identifier: Apache-2.0
/* A small ELF file for tests, made from nothing: two segments, a build id, five functions.
 *
 *      file offset 0x200 -> address 0x401000      alpha 0x401000+0x40, its alias, beta 0x401040 without a size,
 *                                                 gamma 0x401080+0x20, inner 0x401088+0x8 */
#pragma once

#include "base/buffer.h"

#include <elf.h>

#define ELFSAMPLE_CODE    0x200u
#define ELFSAMPLE_ADDRESS 0x401000u

enum { ELFSAMPLE_NULL, ELFSAMPLE_SYMTAB, ELFSAMPLE_STRTAB, ELFSAMPLE_TEXT, ELFSAMPLE_SECTIONS };

struct elfsample {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[ELFSAMPLE_SECTIONS];
    Elf64_Sym symbols[8];
    char names[64];
    struct {
        Elf64_Nhdr head;
        char name[4];
        uint8_t id[8];
    } note;
    char code[256];
};
static_assert(offsetof(struct elfsample, code) <= 1024, "the sample stays small");

static inline Elf64_Sym elfsample_symbol(uint32_t name, uint64_t address, uint64_t size_bytes, uint8_t binding,
                                         uint8_t type)
{
    return (Elf64_Sym){ .st_name = name,
                        .st_info = ELF64_ST_INFO(binding, type),
                        .st_shndx = ELFSAMPLE_TEXT,
                        .st_value = address,
                        .st_size = size_bytes };
}

static inline struct elfsample elfsample_make(void)
{
    static const char names[] = "\0alpha\0alias\0beta\0gamma\0inner\0data";
    static const uint8_t id[] = { 0xde, 0xad, 0xbe, 0xef, 0x00, 0x01, 0x02, 0x03 };
    struct elfsample elf = {
        .head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                  .e_type = ET_DYN,
                  .e_machine = EM_X86_64,
                  .e_version = EV_CURRENT,
                  .e_phoff = offsetof(struct elfsample, segments),
                  .e_shoff = offsetof(struct elfsample, sections),
                  .e_ehsize = sizeof(Elf64_Ehdr),
                  .e_phentsize = sizeof(Elf64_Phdr),
                  .e_phnum = 2,
                  .e_shentsize = sizeof(Elf64_Shdr),
                  .e_shnum = ELFSAMPLE_SECTIONS },
        .segments = { { .p_type = PT_LOAD,
                        .p_offset = ELFSAMPLE_CODE,
                        .p_vaddr = ELFSAMPLE_ADDRESS,
                        .p_filesz = 0x100,
                        .p_memsz = 0x100 },
                      { .p_type = PT_NOTE,
                        .p_offset = offsetof(struct elfsample, note),
                        .p_filesz = sizeof(elf.note),
                        .p_align = 4 } },
        .sections = { [ELFSAMPLE_SYMTAB] = { .sh_type = SHT_SYMTAB,
                                             .sh_offset = offsetof(struct elfsample, symbols),
                                             .sh_size = sizeof(elf.symbols),
                                             .sh_link = ELFSAMPLE_STRTAB,
                                             .sh_entsize = sizeof(Elf64_Sym) },
                      [ELFSAMPLE_STRTAB] = { .sh_type = SHT_STRTAB,
                                             .sh_offset = offsetof(struct elfsample, names),
                                             .sh_size = sizeof(elf.names) },
                      [ELFSAMPLE_TEXT] = { .sh_type = SHT_PROGBITS,
                                           .sh_addr = ELFSAMPLE_ADDRESS,
                                           .sh_offset = ELFSAMPLE_CODE,
                                           .sh_size = 0x100 } },
        .symbols = { [1] = elfsample_symbol(7, 0x401000, 0x40, STB_LOCAL, STT_FUNC),   /* alias */
                     [2] = elfsample_symbol(1, 0x401000, 0x40, STB_GLOBAL, STT_FUNC),  /* alpha */
                     [3] = elfsample_symbol(13, 0x401040, 0, STB_LOCAL, STT_FUNC),     /* beta */
                     [4] = elfsample_symbol(18, 0x401080, 0x20, STB_GLOBAL, STT_FUNC), /* gamma */
                     [5] = elfsample_symbol(24, 0x401088, 0x8, STB_LOCAL, STT_FUNC),   /* inner */
                     [6] = elfsample_symbol(30, 0x4010c0, 0x10, STB_GLOBAL, STT_OBJECT) },
        .note = { .head = { .n_namesz = 4, .n_descsz = sizeof(id), .n_type = NT_GNU_BUILD_ID }, .name = "GNU" },
    };

    memcpy(elf.names, names, sizeof(names));
    memcpy(elf.note.id, id, sizeof(id));
    return elf;
}

static inline struct slice elfsample_bytes(const struct elfsample *elf)
{
    return slice_of(elf, sizeof(*elf));
}
