// SPDX-License-Identifier: Apache-2.0
/* Reading the files that a command names: any format, any compression, several merged into one or each for itself.
 *
 * What a reader had to drop or repair is told on standard error, a line for each kind. */
#pragma once

#include "cli/command.h"
#include "profile/merge.h"
#include "wire/format.h"

struct input_config {
    unsigned from; /* 0 = found by content, else 1 + index into formats */
    uint64_t max_inflated_bytes;
    uint64_t max_memory_bytes;
    uint64_t max_strings;
    uint64_t max_samples;
    uint64_t max_depth;
    uint64_t max_labels;
    bool average_levels;
    bool drop_labels;
};

/* The rows of input_config, as option groups of a command whose config struct has one at `member`: how files are read,
 * and how several become one. */
#define INPUT_OPTIONS_N 7
extern const struct option_spec input_options[INPUT_OPTIONS_N];
#define INPUT_GROUP(config_struct, member)                                                                             \
    {                                                                                                                  \
        .title = "Reading", .specs = input_options, .n = INPUT_OPTIONS_N,                                              \
        .offset = offsetof(struct config_struct, member)                                                               \
    }
#define INPUT_MERGE_OPTIONS_N 2
extern const struct option_spec input_merge_options[INPUT_MERGE_OPTIONS_N];
#define INPUT_MERGE_GROUP(config_struct, member)                                                                       \
    {                                                                                                                  \
        .title = "Merging", .specs = input_merge_options, .n = INPUT_MERGE_OPTIONS_N,                                  \
        .offset = offsetof(struct config_struct, member)                                                               \
    }

enum input_shape {
    INPUT_AS_IS,  /* one file keeps all its profiles; several are merged into one */
    INPUT_MERGED, /* always exactly one profile */
};

struct input {
    struct batch batch;
    const struct format *format; /* of the first file */
    uint64_t n_files;
    uint64_t n_profiles; /* read, before merging */
    struct unpacker *unpacker;
    struct buffer file; /* bytes that the batch may point into */
};

/* Reads `files` ("-" is standard input). On failure nothing is left to close. Errors name the file. */
MUST_CHECK int input_open(struct input *input, struct command_context *context, const struct input_config *config,
                          struct option_list files, enum input_shape shape, struct error *err);
void input_close(struct input *input);

/* For commands that take files one by one, each for itself: input_start, then input_read for each file, input_close.
 * What an earlier input_read gave is gone with the next. Errors of input_read name the file; the next one can still be
 * read. input_start: on failure nothing is left to close. */
MUST_CHECK int input_start(struct input *input, const struct input_config *config, struct error *err);
MUST_CHECK int input_read(struct input *input, struct command_context *context, const struct input_config *config,
                          const char *path, struct error *err);

/* How messages call the file: its path, or "standard input" for "-". */
const char *input_name(const char *path);

/* Puts another batch, made from it, in the place of the input's own, which is freed. `batch` is moved. */
void input_replace(struct input *input, struct batch *batch);

/* Tells the entries of a report, if any, on standard error. */
void input_warn(struct command_context *context, const char *name, const struct report *report);

/* ERR_USAGE naming the types there are. Returns -1. */
int input_no_such_type(const struct profile *profile, const char *name, struct error *err);
