// SPDX-License-Identifier: Apache-2.0
/* The CPU profile of the own process, as a batch with names: process_cpu, with the number of samples and cpu in nanoseconds, as
 * Go has them. Several may be recorded at a time, each for as long as its owner likes; the process is sampled
 * (framesampler.h) while there is at least one. Labels and spans of threads become labels and links of samples. */
#pragma once

#include "profile/profile.h"
#include "unwind/framesampler.h"

#define SELFPROFILE_MAX_RESOURCE 8
#define SELFPROFILE_RATE_HZ      97 /* a prime, to be out of step with what happens a hundred times a second */

struct selfprofile;
struct selfprofile_recording;

struct selfprofile_options {
    uint32_t rate_hz;          /* 0 = SELFPROFILE_RATE_HZ */
    uint64_t max_memory_bytes; /* of one recording; 0 = 16 MiB. New stacks beyond it count for "[overflow]" */
    /* Of whom the profiles are; must outlive it. Read when a recording begins: between two of them it may change. */
    const struct framesampler_label *resource;
    uint32_t n_resource; /* at most SELFPROFILE_MAX_RESOURCE */
};

/* Nothing is sampled yet. There may be one of it in a process at a time. Errors: ERR_MEMORY. */
MUST_CHECK int selfprofile_new(const struct selfprofile_options *options, struct selfprofile **ret_self,
                               struct error *err);
/* No recording may go on. Accepts NULL. */
void selfprofile_free(struct selfprofile *self);

/* Begins a recording. Errors: ERR_MEMORY, ERR_IO. Thread: any. */
MUST_CHECK int selfprofile_begin(struct selfprofile *self, struct selfprofile_recording **ret_recording,
                                 struct error *err);
/* Ends it and gives what it holds: one profile in `batch`, which is empty. The recording is gone, also on failure. Errors:
 * ERR_MEMORY, ERR_LIMIT. Thread: any. */
MUST_CHECK int selfprofile_end(struct selfprofile *self, struct selfprofile_recording *recording, struct batch *batch,
                               struct error *err);
/* Ends it and forgets what it holds. Accepts NULL. */
void selfprofile_cancel(struct selfprofile *self, struct selfprofile_recording *recording);
