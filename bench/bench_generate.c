// SPDX-License-Identifier: Apache-2.0
/* Writes heavy profiles (heavy.h) as files, for benchmarks that compare programs:
 *
 *     generate DIRECTORY COUNT [SERVICES]
 *
 * makes DIRECTORY/000000.pb.gz and so on; file i is profile i / SERVICES of service i % SERVICES (one by default). */
#include "heavy.h"
#include "pack/packer.h"

#include <errno.h>
#include <sys/stat.h>

static int die(const struct error *err)
{
    fprintf(stderr, "generate: %s\n", err->text);
    return 1;
}

static int write_file(const char *directory, uint32_t number, struct slice bytes, struct error *err)
{
    char path[4096];
    FILE *file;
    size_t written;

    snprintf(path, sizeof(path), "%s/%06u.pb.gz", directory, number);
    file = fopen(path, "we");
    if (!file)
        return error_set_errno(err, errno, "creating '%s'", path);
    written = fwrite(bytes.ptr, 1, bytes.len, file);
    if (fclose(file) != 0 || written != bytes.len)
        return error_set_errno(err, errno, "writing '%s'", path);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t count = 0, n_services = 1;
    struct heavy_service *services;
    struct packer *packer;
    struct buffer plain, packed;
    struct error err;

    if (argc < 3 || argc > 4 || !slice_to_u64(slice_from(argv[2]), &count) || count > 1000000 ||
        (argc == 4 && !slice_to_u64(slice_from(argv[3]), &n_services)) || n_services < 1 || n_services > 1000) {
        fprintf(stderr, "usage: generate DIRECTORY COUNT [SERVICES]   (at most 1000000 and 1000)\n");
        return 2;
    }
    if (mkdir(argv[1], 0777) != 0 && errno != EEXIST) {
        error_set_errno(&err, errno, "creating '%s'", argv[1]);
        return die(&err);
    }
    services = heavy_alloc(n_services * sizeof(*services));
    for (uint32_t i = 0; i < n_services; i++)
        heavy_service_init(&services[i], i);
    if (packer_new(&packer, &err) < 0)
        return die(&err);
    buffer_init(&plain, 0);
    buffer_init(&packed, 0);
    for (uint32_t i = 0; i < count; i++) {
        buffer_clear(&plain);
        buffer_clear(&packed);
        heavy_profile(&services[i % n_services], (uint32_t)(i / n_services), &plain);
        if (buffer_check(&plain, &err) < 0 ||
            packer_pack(packer, PACK_GZIP, PACK_LEVEL_DEFAULT, buffer_slice(&plain), &packed, &err) < 0 ||
            write_file(argv[1], i, buffer_slice(&packed), &err) < 0)
            return die(&err);
    }
    for (uint32_t i = 0; i < n_services; i++)
        heavy_service_done(&services[i]);
    memory_free(services);
    packer_free(packer);
    buffer_done(&plain);
    buffer_done(&packed);
    return 0;
}
