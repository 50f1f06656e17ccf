// SPDX-License-Identifier: Apache-2.0
#include "unwind/elfsymbols.h"

#include "base/bytes.h"
#include "base/fs.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_SEGMENTS 256
#define MAX_SECTIONS 65536
#define MAX_NOTES    65536 /* bytes of one segment of notes that are looked at */
#define PIECE_BYTES  (64 * 1024)
#define LOOK_BACK    32 /* how many functions before an address may still reach over it */
#define N_TABLES     2  /* .symtab and .dynsym */

struct segment {
    uint64_t offset, size_bytes, address;
};

struct function_range {
    uint64_t start;
    uint32_t size_bytes;
    uint32_t name; /* in the strings of its table */
    uint8_t table;
    uint8_t rank; /* of several at one place the highest has the name */
    uint16_t section;
};

struct elfsymbols {
    struct slice bytes; /* of a file in memory, else nothing */
    int fd;
    uint64_t size_bytes;
    VEC(struct segment) segments;
    VEC(struct function_range) functions; /* by address, one for each */
    struct {
        bool is_there; /* of several of a kind the first is read */
        uint64_t offset, size_bytes;
    } strings[N_TABLES];
    VEC(uint64_t) section_ends; /* addresses; only while the file is read */
    char build_id[ELFSYMBOLS_BUILD_ID_BYTES];
};

/* --- bytes --- */

/* Reads `len` bytes at `offset`, all of them. */
static int read_at(const struct elfsymbols *symbols, uint64_t offset, void *to, size_t len, const char *what,
                   struct error *err)
{
    size_t n = 0;

    if (offset > symbols->size_bytes || len > symbols->size_bytes - offset)
        return error_set(err, ERR_CORRUPT, "ELF file of %llu bytes ends within its %s, %zu bytes at %llu",
                         (unsigned long long)symbols->size_bytes, what, len, (unsigned long long)offset);
    if (symbols->bytes.ptr) {
        memcpy(to, symbols->bytes.ptr + offset, len);
        return 0;
    }
    if (lseek(symbols->fd, (off_t)offset, SEEK_SET) < 0)
        return error_set_errno(err, errno, "finding the %s of an ELF file", what);
    if (fs_read(symbols->fd, to, len, &n, err) < 0)
        return error_wrap(err, "reading the %s of an ELF file", what);
    if (n < len)
        return error_set(err, ERR_CORRUPT, "an ELF file was cut while its %s was read", what);
    return 0;
}

/* --- segments --- */

static int add_segment(struct elfsymbols *symbols, const Elf64_Phdr *header, struct error *err)
{
    struct segment *segment = VEC_PUSH(&symbols->segments, MAX_SEGMENTS, err);

    if (!segment)
        return -1;
    *segment = (struct segment){ header->p_offset, header->p_filesz, header->p_vaddr };
    return 0;
}

static void write_hex(const uint8_t *bytes, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* Looks for the build id among the notes of a segment. Notes that make no sense end the search. */
static int read_notes(struct elfsymbols *symbols, const Elf64_Phdr *header, struct error *err)
{
    size_t len = (size_t)MIN(header->p_filesz, (uint64_t)MAX_NOTES);
    size_t align = header->p_align == 8 ? 8 : 4;
    uint8_t *notes = memory_alloc(len, err);
    Elf64_Nhdr note;

    if (!notes)
        return -1;
    if (read_at(symbols, header->p_offset, notes, len, "notes", err) < 0) {
        memory_free(notes);
        return -1;
    }
    for (size_t at = 0; len - at >= sizeof(note);) {
        size_t name = at + sizeof(note), description, end;

        memcpy(&note, notes + at, sizeof(note));
        description = name + (((size_t)note.n_namesz + align - 1) & ~(align - 1));
        end = description + (((size_t)note.n_descsz + align - 1) & ~(align - 1));
        if (end > len)
            break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
            note.n_descsz <= ELFSYMBOLS_BUILD_ID_BYTES / 2)
            write_hex(notes + description, note.n_descsz, symbols->build_id);
        at = end;
    }
    memory_free(notes);
    return 0;
}

static int read_segments(struct elfsymbols *symbols, const Elf64_Ehdr *head, struct error *err)
{
    Elf64_Phdr header;

    if (head->e_phnum > 0 && head->e_phentsize != sizeof(header))
        return error_set(err, ERR_CORRUPT, "program headers of an ELF file are %u bytes each, not %zu",
                         head->e_phentsize, sizeof(header));
    for (uint32_t i = 0; i < head->e_phnum; i++) {
        uint64_t offset;

        if (__builtin_add_overflow(head->e_phoff, (uint64_t)i * sizeof(header), &offset))
            return error_set(err, ERR_CORRUPT, "program headers of an ELF file begin at %llu",
                             (unsigned long long)head->e_phoff);
        if (read_at(symbols, offset, &header, sizeof(header), "program headers", err) < 0)
            return -1;
        if (header.p_type == PT_LOAD && add_segment(symbols, &header, err) < 0)
            return -1;
        if (header.p_type == PT_NOTE && symbols->build_id[0] == '\0' && read_notes(symbols, &header, err) < 0)
            return -1;
    }
    return 0;
}

/* --- functions --- */

static uint8_t rank_of(const Elf64_Sym *symbol)
{
    uint8_t binding = ELF64_ST_BIND(symbol->st_info);
    uint8_t rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;

    return symbol->st_size > 0 ? rank + 4 : rank;
}

static bool is_function(const Elf64_Sym *symbol)
{
    uint8_t type = ELF64_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && symbol->st_name != 0;
}

static int add_functions(struct elfsymbols *symbols, const char *piece, size_t n, uint8_t table, struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct function_range *function;
        Elf64_Sym symbol;

        memcpy(&symbol, piece + i * sizeof(symbol), sizeof(symbol));
        if (!is_function(&symbol) || symbol.st_name >= symbols->strings[table].size_bytes)
            continue;
        function = VEC_PUSH(&symbols->functions, ELFSYMBOLS_MAX_FUNCTIONS, err);
        if (!function)
            return -1;
        *function = (struct function_range){ .start = symbol.st_value,
                                             .size_bytes = (uint32_t)MIN(symbol.st_size, (uint64_t)UINT32_MAX),
                                             .name = symbol.st_name,
                                             .table = table,
                                             .rank = rank_of(&symbol),
                                             .section = symbol.st_shndx };
    }
    return 0;
}

static int read_section(const struct elfsymbols *symbols, const Elf64_Ehdr *head, uint32_t index,
                        Elf64_Shdr *ret_header, struct error *err)
{
    uint64_t offset;

    if (__builtin_add_overflow(head->e_shoff, (uint64_t)index * sizeof(*ret_header), &offset))
        return error_set(err, ERR_CORRUPT, "section headers of an ELF file begin at %llu",
                         (unsigned long long)head->e_shoff);
    return read_at(symbols, offset, ret_header, sizeof(*ret_header), "section headers", err);
}

/* Reads one table of symbols, a piece at a time. */
static int read_table(struct elfsymbols *symbols, const Elf64_Ehdr *head, uint32_t n_sections, const Elf64_Shdr *table,
                      uint8_t number, struct error *err)
{
    const size_t per_piece = PIECE_BYTES / sizeof(Elf64_Sym);
    uint64_t left = table->sh_size / sizeof(Elf64_Sym), offset = table->sh_offset;
    Elf64_Shdr strings;
    char *piece;
    int result = 0;

    if (table->sh_link >= n_sections)
        return error_set(err, ERR_CORRUPT, "symbols of an ELF file have their names in section %u, of %u sections",
                         table->sh_link, n_sections);
    if (read_section(symbols, head, table->sh_link, &strings, err) < 0)
        return -1;
    symbols->strings[number].is_there = true;
    symbols->strings[number].offset = strings.sh_offset;
    symbols->strings[number].size_bytes = strings.sh_size;
    piece = memory_alloc(PIECE_BYTES, err);
    if (!piece)
        return -1;
    while (result == 0 && left > 0) {
        size_t n = (size_t)MIN(left, (uint64_t)per_piece);

        result = read_at(symbols, offset, piece, n * sizeof(Elf64_Sym), "symbols", err);
        if (result == 0)
            result = add_functions(symbols, piece, n, number, err);
        left -= n;
        offset += n * sizeof(Elf64_Sym);
    }
    memory_free(piece);
    return result;
}

static int read_tables(struct elfsymbols *symbols, const Elf64_Ehdr *head, struct error *err)
{
    uint32_t n_sections = head->e_shnum;
    Elf64_Shdr section;

    if (head->e_shoff == 0)
        return 0; /* all sections were stripped */
    if (head->e_shentsize != sizeof(section))
        return error_set(err, ERR_CORRUPT, "section headers of an ELF file are %u bytes each, not %zu",
                         head->e_shentsize, sizeof(section));
    if (n_sections == 0) { /* there are too many for the field, so the first says how many */
        if (read_section(symbols, head, 0, &section, err) < 0)
            return -1;
        n_sections = (uint32_t)MIN(section.sh_size, (uint64_t)MAX_SECTIONS);
    }
    for (uint32_t i = 0; i < n_sections; i++) {
        uint64_t *end;

        if (read_section(symbols, head, i, &section, err) < 0)
            return -1;
        end = VEC_PUSH(&symbols->section_ends, MAX_SECTIONS, err);
        if (!end)
            return -1;
        if (__builtin_add_overflow(section.sh_addr, section.sh_size, end))
            *end = UINT64_MAX;
        if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
            !symbols->strings[section.sh_type == SHT_DYNSYM].is_there &&
            read_table(symbols, head, n_sections, &section, section.sh_type == SHT_DYNSYM, err) < 0)
            return -1;
    }
    return 0;
}

static int compare_functions(const void *left, const void *right)
{
    const struct function_range *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* How far a function reaches that does not say: to the next, or to the end of its section. */
static uint32_t guess_size(const struct elfsymbols *symbols, const struct function_range *function, uint64_t next)
{
    uint64_t end = next;

    if (function->section < symbols->section_ends.n)
        end = MIN(end, symbols->section_ends.items[function->section]);
    return end > function->start ? (uint32_t)MIN(end - function->start, (uint64_t)UINT32_MAX) : 1;
}

/* One function for each address. */
static void settle_functions(struct elfsymbols *symbols)
{
    struct function_range *items = symbols->functions.items;
    size_t n = 0;

    if (symbols->functions.n == 0)
        return;
    qsort(items, symbols->functions.n, sizeof(*items), compare_functions);
    for (size_t i = 0; i < symbols->functions.n; i++)
        if (n == 0 || items[i].start != items[n - 1].start)
            items[n++] = items[i];
    symbols->functions.n = n;
    for (size_t i = 0; i < n; i++)
        if (items[i].size_bytes == 0)
            items[i].size_bytes = guess_size(symbols, &items[i], i + 1 < n ? items[i + 1].start : 0);
}

/* --- files --- */

static int check_head(const Elf64_Ehdr *head, struct error *err)
{
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, ERR_UNSUPPORTED, "this is no ELF file: it begins with %02x %02x %02x %02x",
                         head->e_ident[0], head->e_ident[1], head->e_ident[2], head->e_ident[3]);
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(err, ERR_UNSUPPORTED,
                         "ELF files of class %u and byte order %u are not read; only those of 64 "
                         "bits, little-endian, are",
                         head->e_ident[EI_CLASS], head->e_ident[EI_DATA]);
    if (head->e_type != ET_EXEC && head->e_type != ET_DYN)
        return error_set(err, ERR_UNSUPPORTED,
                         "ELF files of type %u are not read; only programs and shared libraries are", head->e_type);
    return 0;
}

static int load(struct elfsymbols *symbols, struct error *err)
{
    Elf64_Ehdr head;

    if (symbols->size_bytes < sizeof(head))
        return error_set(err, ERR_UNSUPPORTED, "this is no ELF file: it has %llu bytes",
                         (unsigned long long)symbols->size_bytes);
    if (read_at(symbols, 0, &head, sizeof(head), "header", err) < 0 || check_head(&head, err) < 0 ||
        read_segments(symbols, &head, err) < 0 || read_tables(symbols, &head, err) < 0)
        return -1;
    settle_functions(symbols);
    VEC_DONE(&symbols->section_ends);
    return 0;
}

static int finish_opening(struct elfsymbols *symbols, struct elfsymbols **ret_symbols, struct error *err)
{
    if (load(symbols, err) < 0) {
        elfsymbols_close(symbols);
        return -1;
    }
    *ret_symbols = symbols;
    return 0;
}

int elfsymbols_open(const char *path, struct elfsymbols **ret_symbols, struct error *err)
{
    AUTO(fd_closep) int fd = -1;
    struct elfsymbols *symbols;
    struct stat info;

    if (fs_open(path, O_RDONLY, 0, &fd, err) < 0)
        return -1;
    if (fstat(fd, &info) < 0)
        return error_set_errno(err, errno, "looking at '%s'", path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, ERR_UNSUPPORTED, "'%s' is no regular file", path);
    symbols = MEMORY_NEW(struct elfsymbols, err);
    if (!symbols)
        return -1;
    symbols->fd = TAKE(fd);
    symbols->size_bytes = (uint64_t)info.st_size;
    if (finish_opening(symbols, ret_symbols, err) < 0)
        return error_wrap(err, "'%s'", path);
    return 0;
}

int elfsymbols_open_bytes(struct slice bytes, struct elfsymbols **ret_symbols, struct error *err)
{
    struct elfsymbols *symbols = MEMORY_NEW(struct elfsymbols, err);

    if (!symbols)
        return -1;
    symbols->fd = -1;
    symbols->bytes = bytes.ptr ? bytes : SLICE("");
    symbols->size_bytes = bytes.len;
    return finish_opening(symbols, ret_symbols, err);
}

void elfsymbols_close(struct elfsymbols *symbols)
{
    if (!symbols)
        return;
    fd_closep(&symbols->fd);
    VEC_DONE(&symbols->segments);
    VEC_DONE(&symbols->functions);
    VEC_DONE(&symbols->section_ends);
    memory_free(symbols);
}

/* --- questions --- */

const char *elfsymbols_build_id(const struct elfsymbols *symbols)
{
    return symbols->build_id;
}

size_t elfsymbols_count(const struct elfsymbols *symbols)
{
    return symbols->functions.n;
}

bool elfsymbols_address(const struct elfsymbols *symbols, uint64_t offset, uint64_t *ret_address)
{
    for (size_t i = 0; i < symbols->segments.n; i++) {
        const struct segment *segment = &symbols->segments.items[i];

        if (offset >= segment->offset && offset - segment->offset < segment->size_bytes) {
            *ret_address = segment->address + (offset - segment->offset);
            return true;
        }
    }
    return false;
}

/* How many functions begin at `address` or before. */
static size_t count_up_to(const struct elfsymbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->functions.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->functions.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The innermost function around the address, or NULL. */
static const struct function_range *find_function(const struct elfsymbols *symbols, uint64_t address)
{
    size_t n = count_up_to(symbols, address);

    for (size_t i = n; i > 0 && n - i < LOOK_BACK; i--) {
        const struct function_range *function = &symbols->functions.items[i - 1];

        if (address - function->start < function->size_bytes)
            return function;
    }
    return NULL;
}

bool elfsymbols_find(const struct elfsymbols *symbols, uint64_t address, char ret_name[static ELFSYMBOLS_NAME_BYTES])
{
    const struct function_range *function = find_function(symbols, address);
    struct error ignored;
    uint64_t offset, len;

    if (!function || __builtin_add_overflow(symbols->strings[function->table].offset, function->name, &offset) ||
        offset >= symbols->size_bytes)
        return false;
    len = MIN(symbols->strings[function->table].size_bytes - function->name, symbols->size_bytes - offset);
    len = MIN(len, (uint64_t)ELFSYMBOLS_NAME_BYTES - 1);
    if (read_at(symbols, offset, ret_name, (size_t)len, "names", &ignored) < 0)
        return false;
    ret_name[len] = '\0';
    return ret_name[0] != '\0';
}
