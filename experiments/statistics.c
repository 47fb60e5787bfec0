/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Order-statistic intervals of the median. */
#include "statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

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
