/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The bounds: sigma and kappa are squares of what is fitted, and each of the four models with some
 * of them held at 0 is fitted too. Of models that do equally well the one with fewer is taken, so
 * an optimum on a bound comes out as exactly 0.
 */
#include "usl.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 400, STARTS = 4 };
static const double as_good = 1 + 1e-6; /* of a sum of squares */
static const double negligible = 1e-9; /* sum of squares: a point missed by 3 in 100,000 */
/* Above it the curve is that of sigma without bound, and lambda means nothing: a curve that falls
 * and then stays, say, which the law knows nothing of. */
static const double sigma_max = 100;

struct problem {
        const double *producers, *log_rates;
        size_t count;
        bool has_sigma, has_kappa;
};

static double log_rate(double n, double log_lambda, double sigma, double kappa)
{
        return log_lambda + log(n) - log1p(sigma * (n - 1) + kappa * n * (n - 1));
}

/* The free parameters: log lambda, then the roots of what is not held at 0. */
static void unpack(const struct problem *problem, const gsl_vector *x, double *log_lambda,
        double *sigma, double *kappa)
{
        size_t next = 1;
        double root;
        *log_lambda = gsl_vector_get(x, 0);
        root = problem->has_sigma ? gsl_vector_get(x, next++) : 0;
        *sigma = root * root;
        root = problem->has_kappa ? gsl_vector_get(x, next++) : 0;
        *kappa = root * root;
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *out)
{
        const struct problem *problem = data;
        double log_lambda, sigma, kappa;
        unpack(problem, x, &log_lambda, &sigma, &kappa);
        for (size_t i = 0; i < problem->count; i++)
                gsl_vector_set(out, i,
                        log_rate(problem->producers[i], log_lambda, sigma, kappa) -
                                problem->log_rates[i]);
        return GSL_SUCCESS;
}

/* From one start; false: it did not converge. */
static bool solve(
        const struct problem *problem, const double start[3], double *squares, struct usl *usl)
{
        double values[3] = {start[0]}, norm = INFINITY;
        size_t parameters = 1;
        if (problem->has_sigma)
                values[parameters++] = sqrt(start[1]);
        if (problem->has_kappa)
                values[parameters++] = sqrt(start[2]);
        gsl_vector_view x = gsl_vector_view_array(values, parameters);
        gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
        gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
                gsl_multifit_nlinear_trust, &options, problem->count, parameters);
        gsl_multifit_nlinear_fdf fdf = {
                .f = residuals, .n = problem->count, .p = parameters, .params = (void *)problem};
        int info, status = GSL_ENOMEM;
        if (work && !gsl_multifit_nlinear_init(&x.vector, &fdf, work)) {
                status = gsl_multifit_nlinear_driver(
                        ITERATIONS, 1e-12, 1e-12, 1e-12, NULL, NULL, &info, work);
                const gsl_vector *f = gsl_multifit_nlinear_residual(work);
                norm = 0;
                for (size_t i = 0; i < problem->count; i++)
                        norm += gsl_vector_get(f, i) * gsl_vector_get(f, i);
                double log_lambda;
                unpack(problem, gsl_multifit_nlinear_position(work), &log_lambda, &usl->sigma,
                        &usl->kappa);
                usl->lambda_per_s = exp(log_lambda);
        }
        gsl_multifit_nlinear_free(work);
        *squares = norm;
        /* No progress: it stands at the optimum already, to the last digit; as it does when nothing
         * is left to gain. */
        return (status == GSL_SUCCESS || status == GSL_ENOPROG || norm < negligible) &&
               isfinite(norm);
}

static void describe(struct usl *usl, const struct problem *problem)
{
        usl->fitted = true;
        usl->peak_at = usl->kappa > 0 ? sqrt(fmax(0, 1 - usl->sigma) / usl->kappa) : INFINITY;
        usl->residual_max = 0;
        for (size_t i = 0; i < problem->count; i++) {
                double ratio = usl_rate(usl, problem->producers[i]) / exp(problem->log_rates[i]);
                usl->residual_max = fmax(usl->residual_max, fabs(ratio - 1));
        }
}

static struct usl fit(struct problem *problem)
{
        struct usl best = {.why = "the fit did not converge"};
        double best_squares = INFINITY, unfinished_squares = INFINITY;
        for (unsigned model = 0; model < 4; model++) { /* from fewest to most parameters */
                problem->has_sigma = model & 1;
                problem->has_kappa = model & 2;
                for (unsigned i = 0; i < STARTS; i++) {
                        static const double starts[STARTS][2] = {
                                {0.01, 1e-4}, {0.5, 1e-2}, {1e-4, 0.5}};
                        const double start[3] = {problem->log_rates[0] - log(problem->producers[0]),
                                starts[i][0], starts[i][1]};
                        struct usl usl = {.why = NULL};
                        double squares;
                        if (!solve(problem, start, &squares, &usl)) {
                                unfinished_squares = fmin(unfinished_squares, squares);
                                continue;
                        }
                        if (squares * as_good + negligible >= best_squares)
                                continue;
                        best = usl;
                        best_squares = squares;
                        describe(&best, problem);
                }
        }
        /* Where it was still on its way to a better fit, the others are no optimum. */
        if (best.fitted && (best.sigma > sigma_max ||
                                   unfinished_squares * as_good + negligible < best_squares))
                best = (struct usl){.why = "its best fit has a parameter without bound"};
        return best;
}

struct usl usl_fit(const double *producers, const double *rates_per_s, size_t count)
{
        double *n = malloc(count * sizeof *n + 1),
               *log_rates = malloc(count * sizeof *log_rates + 1);
        struct usl usl = {.why = "no memory"};
        struct problem problem = {.producers = n, .log_rates = log_rates};
        if (n && log_rates) {
                for (size_t i = 0; i < count; i++)
                        if (producers[i] >= 2 && rates_per_s[i] > 0 && isfinite(rates_per_s[i])) {
                                n[problem.count] = producers[i];
                                log_rates[problem.count++] = log(rates_per_s[i]);
                        }
                usl.why = "there are fewer than 5 points from 2 producers on";
                gsl_error_handler_t *handler = gsl_set_error_handler_off();
                if (problem.count >= USL_POINTS_LEAST)
                        usl = fit(&problem);
                gsl_set_error_handler(handler);
        }
        free(n);
        free(log_rates);
        return usl;
}

double usl_rate(const struct usl *usl, double producers)
{
        return exp(log_rate(producers, log(usl->lambda_per_s), usl->sigma, usl->kappa));
}
