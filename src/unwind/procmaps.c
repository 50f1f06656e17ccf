// SPDX-License-Identifier: Apache-2.0
#include "unwind/procmaps.h"

#include "base/fs.h"

#define MAX_TEXT_BYTES (32u << 20)

/* The next word of a line. */
static struct slice next_word(struct slice *rest)
{
    struct slice word = { "", 0 };

    while (rest->len > 0 && slice_next_part(rest, ' ', &word) && word.len == 0)
        ;
    return word;
}

/* "7f12a000-7f12b000 r-xp 00001000 08:01 1234    /usr/lib/x.so": false for lines that are no code. */
static bool parse_line(struct slice line, struct procmap *ret_map)
{
    struct slice range = next_word(&line), permissions = next_word(&line), offset = next_word(&line);
    ptrdiff_t dash = slice_find_byte(range, '-');

    if (dash < 0 || permissions.len < 3 || permissions.ptr[2] != 'x')
        return false;
    next_word(&line); /* device */
    next_word(&line); /* inode */
    ret_map->path = slice_trim(line);
    return slice_to_u64_hex(slice_sub(range, 0, (size_t)dash), &ret_map->start) &&
           slice_to_u64_hex(slice_sub(range, (size_t)dash + 1, SIZE_MAX), &ret_map->limit) &&
           slice_to_u64_hex(offset, &ret_map->offset) && ret_map->start < ret_map->limit;
}

static size_t count_lines(struct slice text)
{
    struct slice line;
    size_t n = 0;

    while (slice_next_line(&text, &line))
        n++;
    return n;
}

int procmaps_parse(struct slice text, struct arena *arena, struct procmaps *ret_maps, struct error *err)
{
    struct procmaps maps = { .items = ARENA_ARRAY(arena, struct procmap, count_lines(text), err) };
    struct procmap map;
    struct slice line;

    if (!maps.items)
        return -1;
    while (slice_next_line(&text, &line)) {
        if (!parse_line(line, &map) || (maps.n > 0 && map.start < maps.items[maps.n - 1].limit))
            continue;
        if (maps.n == PROCMAPS_MAX)
            return error_set(err, ERR_LIMIT, "the process has more than %d executable mappings", PROCMAPS_MAX);
        map.path = arena_copy(arena, map.path, err);
        if (!map.path.ptr)
            return -1;
        maps.items[maps.n++] = map;
    }
    *ret_maps = maps;
    return 0;
}

int procmaps_read(struct arena *arena, struct procmaps *ret_maps, struct error *err)
{
    struct buffer text;
    int result;

    buffer_init(&text, 0);
    result = fs_read_file("/proc/self/maps", MAX_TEXT_BYTES, &text, err);
    if (result == 0)
        result = procmaps_parse(buffer_slice(&text), arena, ret_maps, err);
    buffer_done(&text);
    return result;
}

const struct procmap *procmaps_find(const struct procmaps *maps, uint64_t address)
{
    size_t low = 0, high = maps->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (maps->items[middle].limit <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->n && maps->items[low].start <= address ? &maps->items[low] : NULL;
}
