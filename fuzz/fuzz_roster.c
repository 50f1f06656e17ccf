// SPDX-License-Identifier: Apache-2.0
/* What is left of manifests and logs. The first byte of the input chooses: 0 the records of a manifest, 1 those of a log, each
 * behind a byte that says how long it is; else a file of either kind as it is. Any bytes give families or none; those that are
 * added to a manifest are read from it again. */
#include "kv/kv_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[256], file[300];

static void remove_files(void)
{
    unlink(file);
    rmdir(directory);
}

static void write_file(struct slice bytes)
{
    int fd;

    if (!file[0]) {
        snprintf(directory, sizeof(directory), "%s/hearth-fuzz-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        ASSERT(mkdtemp(directory));
        snprintf(file, sizeof(file), "%s/000001.log", directory);
        atexit(remove_files);
    }
    fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ASSERT(fd >= 0 && write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len && close(fd) == 0);
}

/* Frames the records that the input consists of. */
static void append_records(struct slice bytes, struct buffer *out)
{
    while (bytes.len) {
        size_t len = (uint8_t)bytes.ptr[0];

        kv_records_append(out, slice_sub(bytes, 1, len));
        bytes = slice_sub(bytes, 1 + len, SIZE_MAX);
    }
}

static bool name_family(void *context, uint32_t id, struct slice key, char ret_name[static KV_NAME_BYTES])
{
    snprintf(ret_name, KV_NAME_BYTES, "%u-%zu", id, key.len);
    return key.len % 2;
}

/* What was added to a manifest is in it. */
static void check_written(const struct kv_roster *roster)
{
    struct kv_roster again;
    struct error err;

    write_file(SLICE(""));
    ASSERT(kv_roster_write(roster, file, &err) == 0 && kv_records_check(file, &err) == 0);
    kv_roster_init(&again);
    ASSERT(kv_roster_read_manifest(&again, file, &err) == 0);
    for (size_t i = 0; i < roster->families.n; i++)
        if (roster->families.items[i].is_new && !roster->families.items[i].is_dropped)
            ASSERT(map_find(&again.places, roster->families.items[i].id));
    kv_roster_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of(data, size);
    struct kv_roster roster, merged;
    struct buffer content;
    struct error err;

    if (!size)
        return 0;
    buffer_init(&content, 0);
    if (data[0] < 2)
        append_records(slice_sub(bytes, 1, SIZE_MAX), &content);
    else
        buffer_append_slice(&content, slice_sub(bytes, 1, SIZE_MAX));
    write_file(buffer_slice(&content));
    if (data[0] < 2)
        ASSERT(kv_records_check(file, &err) == 0);
    else
        IGNORE(kv_records_check(file, &err), "whatever it says of such a file");
    kv_roster_init(&roster);
    kv_roster_init(&merged);
    if (data[0] != 1)
        ASSERT(kv_roster_read_manifest(&roster, file, &err) == 0);
    if (data[0] != 0)
        ASSERT(kv_roster_read_logs(&roster, directory, &(struct kv_namer){ NULL, name_family }, &err) == 0);
    ASSERT(kv_roster_merge(&merged, &roster, &err) == 0);
    check_written(&merged);
    kv_roster_done(&merged);
    kv_roster_done(&roster);
    buffer_done(&content);
    return 0;
}
