/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Medians with exact intervals, and ratios of medians, through GSL. */
#ifndef FANIN_STATISTICS_H
#define FANIN_STATISTICS_H

#include <stddef.h>

/*
 * The median, and the narrowest interval between order statistics that covers the true median with
 * at least 95 %, else the whole range; coverage is exact, from the binomial distribution, whatever
 * the samples' distribution. 7 samples: the range, 0.984; 5: the range, 0.9375. Without samples all
 * NAN; of one, the interval is that sample and its coverage 0.
 */
struct median {
        double median, lo, hi, coverage;
        size_t count;
};

enum { BOOTSTRAP_LEAST = 10 }; /* pairs */

/* Sorts values. */
struct median median_of(double *values, size_t count);

/* a / b, its interval conservatively from the two: every ratio of a point of each. Its coverage is
 * at least 1 - (1 - a's) - (1 - b's). */
struct median median_ratio(const struct median *a, const struct median *b);

/*
 * The ratio of the medians of a over b, of pairs a[i], b[i] that were measured in the same round.
 * From 10 pairs on its interval is the 95 % percentile interval of a seeded bootstrap over the
 * pairs (what disturbed a whole round cancels out), and its coverage nominal, 0.95: what it is
 * meant to cover. (Simulated with 10 to 31 pairs it covers 0.95 or more.) Below 10 it is
 * median_ratio's. Neither array is changed.
 */
struct median ratio_paired(const double *a, const double *b, size_t pairs, unsigned long seed);

/* a - b, its interval as conservatively. */
struct median median_difference(const struct median *a, const struct median *b);

#endif
