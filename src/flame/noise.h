// SPDX-License-Identifier: Apache-2.0
/* How sure a sampled value is, and whether two of them really differ. docs/sampling-error.md tells it at length.
 *
 * A value that stands for n raw samples has a relative standard error of 1/sqrt(n): the number of samples that hit a
 * function is Poisson distributed. n is taken from the best source there is (enum noise_source_kind).
 *
 * Two values a (n_a samples) and b (n_b samples) are compared under the assumption that they are equal. With w = value
 * per sample on each side, the variance of b - a is then (n_a + n_b) * w_a * w_b, so
 *
 *     z = (b - a) / sqrt((n_a + n_b) * w_a * w_b)
 *
 * and a difference of less than NOISE_Z standard errors is within the noise. Pooling the samples of both sides is what
 * makes "new" and "gone" right: no samples in a short profile say little against many in a long one. When the values
 * are shares of equalised totals the variance shrinks by (1 - share), since shares cannot grow independently.
 *
 * Where one side would be expected to have fewer than ten samples, z is too bold: a single sample in a twentieth of the
 * time would exceed 4. There z is at most the root of the binomial deviance. */
#pragma once

#include "profile/profile.h"

/* Standard errors that a difference must exceed. 3 and not the usual 2, because a diff tests hundreds of functions at
 * once: one in 370 of those that did not change exceeds 3 by chance, one in 22 would exceed 2. */
#define NOISE_Z 3.0

enum noise_source_kind {
    NOISE_SOURCE_NONE,    /* unknown */
    NOISE_SOURCE_COUNTS,  /* the profile's own column of counts */
    NOISE_SOURCE_SAMPLES, /* a sibling type that counts raw samples: samples/count, cpu-samples, contentions ... */
    NOISE_SOURCE_PERIOD,  /* value / period, where they have one unit */
    NOISE_SOURCE_HEAP,    /* undoes the scaling of heap samplers: objects * (1 - exp(-mean size / period)) */
};

/* Where the number of raw samples behind one value type of one profile comes from. */
struct noise_source {
    enum noise_source_kind kind;
    const struct profile *profile;
    uint32_t type;    /* the type that was asked for */
    uint32_t samples; /* SAMPLES: the sibling; HEAP: the type that holds objects */
    uint32_t space;   /* HEAP: the type that holds bytes */
    double divisor;   /* SAMPLES: raw samples per count, mostly 1; PERIOD, HEAP: the period in the unit of the type */
};

/* The best source for `type` of `profile`, which must outlive it. Thread: any. */
struct noise_source noise_source_find(const struct profile *profile, uint32_t type);
/* Raw samples behind one sample row, not negative; 0 for NOISE_SOURCE_NONE. */
double noise_count(const struct noise_source *source, uint32_t sample);

/* Relative standard error of a value behind which there are `n` raw samples: 1/sqrt(n). With none there is nothing to
 * be relative to: 0. */
double noise_relative_error(double n);

enum noise_verdict { NOISE_UNKNOWN, NOISE_WITHIN, NOISE_SIGNIFICANT };

/* "unknown", "within noise", "significant". */
const char *noise_verdict_name(enum noise_verdict verdict);

/* One side of a comparison, after any scaling. */
struct noise_side {
    double value;
    double samples; /* raw samples behind the value; negative = unknown */
    double weight;  /* value per raw sample in the whole profile, after scaling; 0 = unknown. Asked for where one side
                       has no samples */
};

/* Standard error of b - a if the two are equal; with few samples so much more that (b - a) by it is as improbable as it
 * should be. `share` is what part of the (equalised) totals the values are, 0 when
 * the values are absolute. Negative = unknown: either side's samples are, or nothing was sampled at all. */
double noise_difference_error(struct noise_side a, struct noise_side b, double share);
/* Compares b - a with its standard error. */
enum noise_verdict noise_compare(struct noise_side a, struct noise_side b, double share);
