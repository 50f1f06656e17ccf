// SPDX-License-Identifier: Apache-2.0
/* OTLP bytes to the model: CPU time per request.
 *
 *     otlp_decode [-n REPEATS] [-o DIRECTORY] [FILE...]
 *
 * The files (plain protobuf), or without any 64 different heavy profiles (heavy.h) made into OTLP, are decoded over and
 * over, each into a batch that is reset in between. With -o the requests are only written, as DIRECTORY/000000.otlp and
 * so on, so that other programs can be measured with the same bytes. */
#include "base/bench.h"
#include "heavy.h"
#include "wire/otlp.h"
#include "wire/pprof.h"

#include <errno.h>
#include <sys/stat.h>

enum { GENERATED = 64 };

struct work {
    struct buffer *inputs;
    size_t n;
    uint64_t repeats;
    struct batch batch;
};

static int die(const struct error *err)
{
    fprintf(stderr, "otlp_decode: %s\n", err->text);
    return 1;
}

static int read_file(const char *path, struct buffer *out, struct error *err)
{
    FILE *file = fopen(path, "re");
    char part[65536];
    size_t n;
    bool has_failed;

    if (!file)
        return error_set_errno(err, errno, "opening '%s'", path);
    while ((n = fread(part, 1, sizeof(part), file)) > 0)
        buffer_append(out, part, n);
    has_failed = ferror(file);
    fclose(file);
    return has_failed ? error_set(err, ERR_IO, "reading '%s'", path) : buffer_check(out, err);
}

static int write_file(const char *directory, uint32_t number, struct slice bytes, struct error *err)
{
    char path[4096];
    FILE *file;
    size_t written;

    snprintf(path, sizeof(path), "%s/%06u.otlp", directory, number);
    file = fopen(path, "we");
    if (!file)
        return error_set_errno(err, errno, "creating '%s'", path);
    written = fwrite(bytes.ptr, 1, bytes.len, file);
    if (fclose(file) != 0 || written != bytes.len)
        return error_set_errno(err, errno, "writing '%s'", path);
    return 0;
}

static int generate(struct buffer *inputs, struct error *err)
{
    struct format_write_options options = { .plain = true, .type = PROFILE_NO_TYPE };
    struct heavy_service service;
    struct buffer pprof;
    struct batch batch;
    int result = 0;

    buffer_init(&pprof, 0);
    batch_init(&batch, NULL);
    heavy_service_init(&service, 0);
    for (uint32_t i = 0; i < GENERATED && result == 0; i++) {
        buffer_clear(&pprof);
        batch_reset(&batch);
        heavy_profile(&service, i, &pprof);
        result = buffer_check(&pprof, err);
        if (result == 0)
            result = pprof_decode(buffer_slice(&pprof), &batch, err);
        if (result == 0)
            result = otlp_encode(&batch, &options, &inputs[i], err);
    }
    heavy_service_done(&service);
    batch_done(&batch);
    buffer_done(&pprof);
    return result;
}

static int load(struct work *work, char **paths, struct error *err)
{
    if (!paths)
        return generate(work->inputs, err);
    for (size_t i = 0; i < work->n; i++)
        if (read_file(paths[i], &work->inputs[i], err) < 0)
            return -1;
    return 0;
}

static int save(const struct work *work, const char *directory, struct error *err)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return error_set_errno(err, errno, "creating '%s'", directory);
    for (size_t i = 0; i < work->n; i++)
        if (write_file(directory, (uint32_t)i, buffer_slice(&work->inputs[i]), err) < 0)
            return -1;
    return 0;
}

static int decode_all(void *context, struct error *err)
{
    struct work *work = context;

    for (uint64_t i = 0; i < work->n * work->repeats; i++) {
        batch_reset(&work->batch);
        if (otlp_decode(buffer_slice(&work->inputs[i % work->n]), &work->batch, err) < 0)
            return -1;
    }
    return 0;
}

/* What was measured, for people. */
static void describe(const struct work *work)
{
    const struct tables *t = &work->batch.tables;
    size_t bytes = 0;
    uint64_t n_samples = 0;

    for (size_t i = 0; i < work->n; i++)
        bytes += work->inputs[i].len;
    for (uint32_t i = 0; i < work->batch.n_profiles; i++)
        n_samples += work->batch.profiles[i].n_samples;
    fprintf(stderr,
            "%zu requests of %zu bytes; the last: %u profiles, %llu samples, %u locations, %u functions, %u strings, "
            "%zu bytes of model\n",
            work->n, bytes / work->n, work->batch.n_profiles, (unsigned long long)n_samples, t->n_frames - 1,
            t->n_functions - 1, t->n_strings, work->batch.arena.used_bytes);
}

static int measure(struct work *work, struct error *err)
{
    struct bench_result result;

    batch_init(&work->batch, NULL);
    if (bench_repeat("hearth otlp_decode", work->n * work->repeats, BENCH_RUNS, decode_all, work, &result, err) < 0 ||
        bench_print(&result, err) < 0)
        return -1;
    describe(work);
    batch_done(&work->batch);
    return 0;
}

int main(int argc, char **argv)
{
    struct work work = { .repeats = 20 };
    const char *directory = NULL;
    struct error err;
    int at = 1, result;

    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-o") == 0)
            directory = argv[at + 1];
        else if (strcmp(argv[at], "-n") != 0 || !slice_to_u64(slice_from(argv[at + 1]), &work.repeats) ||
                 work.repeats == 0)
            break;
    }
    if (at < argc && argv[at][0] == '-') {
        fprintf(stderr, "usage: otlp_decode [-n REPEATS] [-o DIRECTORY] [FILE...]\n");
        return 2;
    }
    work.n = at < argc ? (size_t)(argc - at) : GENERATED;
    work.inputs = heavy_alloc(work.n * sizeof(*work.inputs));
    for (size_t i = 0; i < work.n; i++)
        buffer_init(&work.inputs[i], 0);
    result = load(&work, at < argc ? argv + at : NULL, &err);
    if (result == 0)
        result = directory ? save(&work, directory, &err) : measure(&work, &err);
    for (size_t i = 0; i < work.n; i++)
        buffer_done(&work.inputs[i]);
    memory_free(work.inputs);
    return result < 0 ? die(&err) : 0;
}
