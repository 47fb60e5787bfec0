/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The Universal Scalability Law (Gunther, "Guerrilla Capacity Planning", Springer 2007), fitted by
 * GSL's nonlinear least squares:
 *
 *      rate(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)),   lambda > 0, sigma, kappa >= 0
 *
 * sigma: contention, what is done one after the other; kappa: coherency, what every producer costs
 * every other. Residuals are of the logarithm: rates span decades, and noise is relative. Fitted
 * from N = 2 on: a lone producer has no one to contend with, and takes the law out of its domain.
 */
#ifndef FANIN_USL_H
#define FANIN_USL_H

#include <stdbool.h>

#include "statistics.h"

enum { USL_POINTS_LEAST = 5, USL_SAMPLES_LEAST = 5 };

struct usl {
        bool fitted;
        const char *why; /* it is not */
        double lambda_per_s, sigma, kappa;
        double residual_max; /* the greatest relative difference of a point from the law */
        double peak_at;      /* producers at the law's peak, at least 1; INFINITY: it has none */
};

/* Of count points, in any order; those with N < 2 or a rate that is not above 0 are left out. */
struct usl usl_fit(const double *producers, const double *rates_per_s, size_t count);

/* What the law says at N. */
double usl_rate(const struct usl *, double producers);

struct usl_point {
        double producers;
        const double *samples_per_s; /* NAN: none */
        size_t samples;
};

struct usl_intervals {
        const char *why; /* there are none, and sigma and kappa are NAN throughout; or NULL */
        struct median sigma, kappa;
};

/*
 * 95 % percentile intervals of a seeded bootstrap: the law fitted anew to medians of samples drawn
 * anew within each point. None of points with fewer than USL_SAMPLES_LEAST samples, whose few
 * medians say little of how they scatter, and none where more than one of 20 can't be fitted: the
 * others would be a choice of what fits. The medians are those of the refits.
 */
struct usl_intervals usl_bootstrap(const struct usl_point *, size_t count, unsigned long seed);

#endif
