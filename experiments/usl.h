/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The Universal Scalability Law (Gunther, "Guerrilla Capacity Planning", 2007), fitted by GSL's
 * nonlinear least squares:
 *
 *      rate(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)),   sigma, kappa >= 0
 *
 * sigma: contention, what is done one after the other; kappa: coherency, what every producer costs
 * every other. Residuals are of the logarithm: rates span decades, and noise is relative. Fitted
 * from N = 2 on: a lone producer has no one to contend with, and takes the law out of its domain.
 */
#ifndef FANIN_USL_H
#define FANIN_USL_H

#include <stdbool.h>
#include <stddef.h>

enum { USL_POINTS_LEAST = 5 };

struct usl {
        bool fitted;
        const char *why; /* it is not */
        double lambda_per_s, sigma, kappa;
        double residual_max; /* the greatest relative difference of a point from the law */
        double peak_at;      /* producers at the law's peak; INFINITY: it has none */
};

/* Of count points, in any order; those with N < 2 or a rate that is not above 0 are left out. */
struct usl usl_fit(const double *producers, const double *rates_per_s, size_t count);

/* What the law says at N. */
double usl_rate(const struct usl *, double producers);

#endif
