// SPDX-License-Identifier: Apache-2.0
/* A fleet's profiles as a stream on standard output, always the same: for the benchmarks of the store and the server.
 *
 *     stream [-gzip] [-from N] SERVICES INSTANCES SECONDS
 *
 * Every instance of every service sends one heavy profile (heavy.h) each ten seconds of the time given. In front of
 * each stand 24 bytes: length, service, instance (u32), 4 bytes of zero, start in ns (i64), all little endian. */
#include "base/bytes.h"
#include "heavy.h"
#include "measure.h"
#include "pack/packer.h"

#include <unistd.h>

enum { WINDOW_SECONDS = 10 };

static int die(const char *what)
{
    fprintf(stderr, "stream: %s\n", what);
    return 1;
}

static int write_all(const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(STDOUT_FILENO, bytes, len);

        if (n <= 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct heavy_service *services;
    struct packer *packer;
    struct buffer plain, packed;
    struct error err;
    bool is_gzip = false;
    uint32_t n_services, n_instances, n_windows, first = 0;

    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        if (strcmp(argv[1], "-gzip") == 0)
            is_gzip = true;
        else if (strcmp(argv[1], "-from") == 0 && argc > 2) {
            first = (uint32_t)atoi(argv[2]) / WINDOW_SECONDS;
            argc--, argv++;
        } else
            return die("usage: stream [-gzip] [-from SECONDS] SERVICES INSTANCES SECONDS");
    }
    if (argc != 4)
        return die("usage: stream [-gzip] [-from SECONDS] SERVICES INSTANCES SECONDS");
    n_services = (uint32_t)atoi(argv[1]);
    n_instances = (uint32_t)atoi(argv[2]);
    n_windows = (uint32_t)atoi(argv[3]) / WINDOW_SECONDS;
    services = heavy_alloc(n_services * sizeof(*services));
    for (uint32_t i = 0; i < n_services; i++)
        heavy_service_init(&services[i], i + 1);
    if (packer_new(&packer, &err) < 0)
        return die(err.text);
    buffer_init(&plain, 0);
    buffer_init(&packed, 0);
    for (uint32_t window = first; window < first + n_windows; window++)
        for (uint32_t i = 0; i < n_services * n_instances; i++) {
            uint32_t service = i % n_services, instance = i / n_services;
            char header[24] = { 0 };

            buffer_clear(&plain);
            buffer_clear(&packed);
            heavy_profile(&services[service], window * n_instances + instance, &plain);
            if (is_gzip && packer_pack(packer, PACK_GZIP, PACK_LEVEL_DEFAULT, buffer_slice(&plain), &packed, &err) < 0)
                return die(err.text);
            bytes_put_le32(header, (uint32_t)(is_gzip ? packed.len : plain.len));
            bytes_put_le32(header + 4, service);
            bytes_put_le32(header + 8, instance);
            bytes_put_le64(header + 16, (uint64_t)(MEASURE_EPOCH_NS + window * WINDOW_SECONDS * (int64_t)1000000000 +
                                                   instance * 1000003));
            if (write_all(header, sizeof(header)) < 0 ||
                write_all(is_gzip ? packed.data : plain.data, is_gzip ? packed.len : plain.len) < 0)
                return die("nobody reads");
        }
    return 0;
}
