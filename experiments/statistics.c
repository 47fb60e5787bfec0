/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Order-statistic intervals of the median, and bootstrapped ones of ratios. */
#include "statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

static const double wanted_coverage = 0.95;

/* Of the interval from the k-th smallest to the k-th largest of n, k from 0: the true median lies
 * below it when at most k of n fair coins fall low, above it alike. */
static double coverage_of(size_t k, size_t n)
{
        return 1 - 2 * gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)n);
}

struct median median_of(double *values, size_t count)
{
        if (!count)
                return (struct median){NAN, NAN, NAN, NAN, 0};
        gsl_sort(values, 1, count);
        size_t k = 0;
        while (2 * (k + 1) < count && coverage_of(k + 1, count) >= wanted_coverage)
                k++;
        double coverage = coverage_of(k, count);
        return (struct median){
                .median = gsl_stats_median_from_sorted_data(values, 1, count),
                .lo = values[k],
                .hi = values[count - 1 - k],
                .coverage = coverage > 0 ? coverage : 0,
                .count = count,
        };
}

/* Both: a's interval with the other end of b's. */
static struct median combined(const struct median *a, const struct median *b)
{
        double coverage = a->coverage + b->coverage - 1;
        return (struct median){
                .coverage = coverage > 0 ? coverage : 0,
                .count = a->count < b->count ? a->count : b->count,
        };
}

struct median median_difference(const struct median *a, const struct median *b)
{
        struct median difference = combined(a, b);
        difference.median = a->median - b->median;
        difference.lo = a->lo - b->hi;
        difference.hi = a->hi - b->lo;
        return difference;
}

struct median median_ratio(const struct median *a, const struct median *b)
{
        struct median ratio = combined(a, b);
        ratio.median = a->median / b->median;
        ratio.lo = a->lo / b->hi;
        ratio.hi = a->hi / b->lo;
        return ratio;
}

enum { RESAMPLES = 4000 };

static double median_ratio_of(
        const double *a, const double *b, const size_t *picked, size_t count, double *scratch)
{
        for (size_t i = 0; i < count; i++)
                scratch[i] = a[picked[i]];
        double of_a = gsl_stats_median(scratch, 1, count);
        for (size_t i = 0; i < count; i++)
                scratch[i] = b[picked[i]];
        return of_a / gsl_stats_median(scratch, 1, count);
}

/* The ratio of what was measured is the estimate. NAN throughout where there is no memory. */
static struct median bootstrap(const double *a, const double *b, size_t pairs, unsigned long seed)
{
        double *ratios = malloc(RESAMPLES * sizeof *ratios);
        double *scratch = malloc(pairs * sizeof *scratch);
        size_t *picked = malloc(pairs * sizeof *picked);
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        struct median ratio = median_of(NULL, 0);
        if (ratios && scratch && picked && random) {
                gsl_rng_set(random, seed);
                for (size_t i = 0; i < pairs; i++)
                        picked[i] = i;
                ratio.median = median_ratio_of(a, b, picked, pairs, scratch);
                for (size_t r = 0; r < RESAMPLES; r++) {
                        for (size_t i = 0; i < pairs; i++)
                                picked[i] = gsl_rng_uniform_int(random, pairs);
                        ratios[r] = median_ratio_of(a, b, picked, pairs, scratch);
                }
                gsl_sort(ratios, 1, RESAMPLES);
                double tail = (1 - wanted_coverage) / 2;
                ratio.lo = gsl_stats_quantile_from_sorted_data(ratios, 1, RESAMPLES, tail);
                ratio.hi = gsl_stats_quantile_from_sorted_data(ratios, 1, RESAMPLES, 1 - tail);
                ratio.coverage = wanted_coverage;
                ratio.count = pairs;
        }
        gsl_rng_free(random);
        free(picked);
        free(scratch);
        free(ratios);
        return ratio;
}

struct median ratio_paired(const double *a, const double *b, size_t pairs, unsigned long seed)
{
        if (pairs >= BOOTSTRAP_LEAST)
                return bootstrap(a, b, pairs, seed);
        double left[BOOTSTRAP_LEAST], right[BOOTSTRAP_LEAST];
        for (size_t i = 0; i < pairs; i++) {
                left[i] = a[i];
                right[i] = b[i];
        }
        struct median of_a = median_of(left, pairs), of_b = median_of(right, pairs);
        return median_ratio(&of_a, &of_b);
}
