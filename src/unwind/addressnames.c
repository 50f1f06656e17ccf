// SPDX-License-Identifier: Apache-2.0
#include "unwind/addressnames.h"

#include "base/clock.h"
#include "base/vec.h"
#include "unwind/elfsymbols.h"
#include "unwind/procmaps.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_FILES     1024
#define MAPS_BYTES    (32u << 20)
#define LOOK_AGAIN_NS (5 * CLOCK_NS_PER_SECOND) /* how long an address that nobody knows is no reason to look again */
#define DELETED       " (deleted)"

struct named_file {
    char *path;
    struct elfsymbols *symbols; /* NULL = it could not be read */
};

struct addressnames {
    struct arena arena; /* of the maps */
    struct procmaps maps;
    int64_t looked_mono_ns;
    VEC(struct named_file) files;
    char own_path[PATH_MAX];                                                 /* of the program, as the maps have it */
    char *(*demangle)(const char *name, char *to, size_t *len, int *status); /* NULL = no C++ library is loaded */
    char system_name[ELFSYMBOLS_NAME_BYTES];
    char name[ELFSYMBOLS_NAME_BYTES];
};

int addressnames_new(struct addressnames **ret_names, struct error *err)
{
    struct addressnames *names = MEMORY_NEW(struct addressnames, err);
    ssize_t n;
    void *demangle;

    if (!names)
        return -1;
    arena_init(&names->arena, MAPS_BYTES);
    n = readlink("/proc/self/exe", names->own_path, sizeof(names->own_path) - 1);
    names->own_path[MAX(n, 0)] = '\0';
    demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    memcpy(&names->demangle, &demangle, sizeof(demangle));
    *ret_names = names;
    return 0;
}

void addressnames_free(struct addressnames *names)
{
    if (!names)
        return;
    VEC_EACH (&names->files, file) {
        elfsymbols_close(file->symbols);
        memory_free(file->path);
    }
    VEC_DONE(&names->files);
    arena_done(&names->arena);
    memory_free(names);
}

/* --- files --- */

static int open_symbols(const struct addressnames *names, const struct procmap *map, struct elfsymbols **ret_symbols,
                        struct error *err)
{
    if (slice_is(map->path, "[vdso]")) /* the kernel's, which is in memory whole and nowhere else */
        return elfsymbols_open_bytes(slice_of((const void *)(uintptr_t)map->start, map->limit - map->start),
                                     ret_symbols, err);
    if (map->path.len == 0 || map->path.ptr[0] != '/')
        return error_set(err, ERR_NOT_FOUND, "no file is mapped there");
    /* The link leads to the program that runs, also when there is another one at its path. */
    return elfsymbols_open(slice_is(map->path, names->own_path) ? "/proc/self/exe" : map->path.ptr, ret_symbols, err);
}

/* The symbols of the mapped file, or NULL. That a file cannot be read is remembered, too. */
static struct elfsymbols *symbols_of(struct addressnames *names, const struct procmap *map)
{
    struct named_file *file;
    struct error ignored;

    VEC_EACH (&names->files, known)
        if (slice_is(map->path, known->path))
            return known->symbols;
    file = VEC_PUSH(&names->files, MAX_FILES, &ignored);
    if (!file)
        return NULL;
    file->path = memory_alloc(map->path.len + 1, &ignored);
    if (!file->path) {
        names->files.n--;
        return NULL;
    }
    memcpy(file->path, map->path.ptr, map->path.len + 1);
    if (open_symbols(names, map, &file->symbols, &ignored) < 0)
        file->symbols = NULL;
    return file->symbols;
}

/* --- mappings --- */

/* Libraries may be loaded later, so an address that is nowhere makes us look again, but not each time. */
static const struct procmap *find_map(struct addressnames *names, uint64_t address)
{
    const struct procmap *map = procmaps_find(&names->maps, address);
    int64_t now = clock_mono_ns();
    struct error ignored;

    if (map || (names->looked_mono_ns != 0 && now - names->looked_mono_ns < LOOK_AGAIN_NS))
        return map;
    names->looked_mono_ns = now;
    arena_reset(&names->arena);
    names->maps = (struct procmaps){ 0 };
    if (procmaps_read(&names->arena, &names->maps, &ignored) < 0)
        return NULL;
    return procmaps_find(&names->maps, address);
}

/* --- names --- */

/* Without what compilers append to parts and copies of a function (".part.0", ".constprop.0", ".cold"), and C++ names as
 * people write them. */
static struct slice readable_name(struct addressnames *names)
{
    int status = -1;
    char *text;

    snprintf(names->name, sizeof(names->name), "%s", names->system_name);
    if (names->name[0] != '.')
        names->name[strcspn(names->name, ".")] = '\0';
    if (strncmp(names->name, "_Z", 2) != 0 || !names->demangle)
        return slice_from(names->name);
    text = names->demangle(names->name, NULL, NULL, &status);
    if (text)
        snprintf(names->name, sizeof(names->name), "%s", text);
    free(text); /* it comes from malloc itself */
    return slice_from(names->name);
}

/* Moves the mapping to where the file wants it. */
static void undo_placing(const struct elfsymbols *symbols, struct addressname *found)
{
    uint64_t start;

    if (!elfsymbols_address(symbols, found->offset, &start))
        return;
    found->address = found->address - found->start + start;
    found->limit = found->limit - found->start + start;
    found->start = start;
}

struct addressname addressnames_find(struct addressnames *names, uint64_t address)
{
    const struct procmap *map = find_map(names, address);
    struct addressname found = {
        .address = address, .file = SLICE(""), .build_id = SLICE(""), .name = SLICE(""), .system_name = SLICE("")
    };
    struct elfsymbols *symbols;

    if (!map)
        return found;
    found.has_mapping = true;
    found.start = map->start;
    found.limit = map->limit;
    found.offset = map->offset;
    found.file = map->path;
    if (slice_ends_with(found.file, SLICE(DELETED)))
        found.file.len -= sizeof(DELETED) - 1;
    symbols = symbols_of(names, map);
    if (!symbols)
        return found;
    undo_placing(symbols, &found);
    found.build_id = slice_from(elfsymbols_build_id(symbols));
    if (elfsymbols_find(symbols, found.address, names->system_name)) {
        found.system_name = slice_from(names->system_name);
        found.name = readable_name(names);
    }
    return found;
}
