// SPDX-License-Identifier: Apache-2.0
/* The functions of an ELF file: which name belongs to an address, and the build id. Names come from .symtab and .dynsym;
 * lines and inlined functions (DWARF) are not looked at.
 *
 * The bytes are not trusted: every offset and count is checked against the file, and what a file may claim is bounded.
 *
 * E1  Addresses are those of the file (p_vaddr). elfsymbols_address makes one of a place in the file, as a mapping of it has
 *     it, so that nobody needs a load bias.
 * E2  Only where functions are is kept in memory; names are read when somebody asks. The file stays open, so that a new one
 *     in its place changes nothing. */
#pragma once

#include "base/error.h"
#include "base/slice.h"

#define ELFSYMBOLS_NAME_BYTES     2048 /* longer names are cut */
#define ELFSYMBOLS_BUILD_ID_BYTES 129  /* 64 bytes in hex, and a NUL */
#define ELFSYMBOLS_MAX_FUNCTIONS  (4u << 20)

struct elfsymbols;

/* Reads the file at `path`, of 64 bits and little-endian, a program or a shared library. One without symbols is fine. Errors:
 * ERR_UNSUPPORTED (another kind of file), ERR_CORRUPT naming what does not fit, ERR_LIMIT, ERR_MEMORY, those of reading.
 * Thread: any; used by one at a time. */
MUST_CHECK int elfsymbols_open(const char *path, struct elfsymbols **ret_symbols, struct error *err);
/* The same for a file in memory, which must outlive it. */
MUST_CHECK int elfsymbols_open_bytes(struct slice bytes, struct elfsymbols **ret_symbols, struct error *err);
/* Accepts NULL. */
void elfsymbols_close(struct elfsymbols *symbols);

/* The GNU build id in hex, or "". */
const char *elfsymbols_build_id(const struct elfsymbols *symbols);
/* How many functions it knows. */
size_t elfsymbols_count(const struct elfsymbols *symbols);

/* The address of the byte at `offset` of the file. False: no segment has it. */
bool elfsymbols_address(const struct elfsymbols *symbols, uint64_t offset, uint64_t *ret_address);

/* The name of the function around `address`, as the linker has it. False: there is none, or it cannot be read. */
bool elfsymbols_find(const struct elfsymbols *symbols, uint64_t address, char ret_name[static ELFSYMBOLS_NAME_BYTES]);
