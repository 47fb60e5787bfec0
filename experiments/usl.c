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
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 400, MODELS = 4, RESAMPLES = 200 };
static const double as_good = 1 + 1e-6; /* of a sum of squares */
static const double negligible = 1e-9;  /* sum of squares: a point missed by 3 in 100,000 */
/* Of sigma and kappa. Above it the curve is that of a parameter without bound, and lambda means
 * nothing: a curve that falls and then stays, say, which the law knows nothing of. */
static const double parameter_max = 100;
static const char unbounded[] = "its best fit has a parameter without bound";

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

/* Where a search ended. */
struct solution {
        bool converged;
        double squares, log_lambda, sigma, kappa;
};

/* From one sigma and kappa, and the lambda that meets the first point with them. */
static struct solution solve(const struct problem *problem, double sigma, double kappa)
{
        struct solution solution = {.squares = INFINITY};
        double values[3];
        size_t parameters = 1;
        sigma *= problem->has_sigma;
        kappa *= problem->has_kappa;
        values[0] = problem->log_rates[0] - log_rate(problem->producers[0], 0, sigma, kappa);
        if (problem->has_sigma)
                values[parameters++] = sqrt(sigma);
        if (problem->has_kappa)
                values[parameters++] = sqrt(kappa);
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
                solution.squares = 0;
                for (size_t i = 0; i < problem->count; i++)
                        solution.squares += gsl_vector_get(f, i) * gsl_vector_get(f, i);
                unpack(problem, gsl_multifit_nlinear_position(work), &solution.log_lambda,
                        &solution.sigma, &solution.kappa);
        }
        gsl_multifit_nlinear_free(work);
        /* No progress: it stands at the optimum already, to the last digit; as it does when nothing
         * is left to gain. */
        solution.converged =
                (status == GSL_SUCCESS || status == GSL_ENOPROG || solution.squares < negligible) &&
                isfinite(solution.squares);
        return solution;
}

static bool is_unbounded(const struct solution *solution)
{
        return solution->sigma > parameter_max || solution->kappa > parameter_max;
}

static struct usl law_of(const struct solution *solution, const struct problem *problem)
{
        struct usl usl = {.fitted = true,
                .lambda_per_s = exp(solution->log_lambda),
                .sigma = solution->sigma,
                .kappa = solution->kappa,
                .peak_at = solution->sigma > 1 ? 1 : INFINITY};
        if (usl.kappa > 0)
                usl.peak_at = fmax(1, sqrt(fmax(0, 1 - usl.sigma) / usl.kappa));
        for (size_t i = 0; i < problem->count; i++) {
                double log_miss = log_rate(problem->producers[i], solution->log_lambda, usl.sigma,
                                          usl.kappa) -
                                  problem->log_rates[i];
                usl.residual_max = fmax(usl.residual_max, fabs(expm1(log_miss)));
        }
        return usl;
}

static struct usl fit(struct problem *problem)
{
        static const double starts[][2] = {{0.01, 1e-4}, {0.5, 1e-2}, {1e-4, 0.5}, {3, 1e-3}};
        struct solution best = {.squares = INFINITY}, unfinished = best;
        for (unsigned model = 0; model < MODELS; model++) { /* from fewest to most parameters */
                problem->has_sigma = model & 1;
                problem->has_kappa = model & 2;
                for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
                        struct solution found = solve(problem, starts[i][0], starts[i][1]);
                        struct solution *least = found.converged ? &best : &unfinished;
                        if (found.squares * as_good + negligible < least->squares)
                                *least = found;
                }
        }
        /* Where it was still on its way to a better fit, the others are no optimum. */
        const struct solution *last =
                unfinished.squares * as_good + negligible < best.squares ? &unfinished : &best;
        if (is_unbounded(last))
                return (struct usl){.why = unbounded};
        if (!last->converged)
                return (struct usl){.why = "its fit did not converge"};
        return law_of(last, problem);
}

struct usl usl_fit(const double *producers, const double *rates_per_s, size_t count)
{
        double *n = malloc(count * sizeof *n + 1);
        double *log_rates = malloc(count * sizeof *log_rates + 1);
        struct usl usl = {.why = "no memory"};
        struct problem problem = {.producers = n, .log_rates = log_rates};
        if (n && log_rates) {
                for (size_t i = 0; i < count; i++)
                        if (producers[i] >= 2 && rates_per_s[i] > 0 && isfinite(rates_per_s[i])) {
                                n[problem.count] = producers[i];
                                log_rates[problem.count++] = log(rates_per_s[i]);
                        }
                usl.why = "fewer than 5 points from 2 producers on";
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

/* Bootstrapping: the points' samples without gaps, and room for what is drawn of them. */
struct pool {
        double *producers, *medians; /* by point */
        size_t *counts;
        double *samples, *drawn; /* samples: point after point */
        size_t fewest;
};

static bool fill_pool(struct pool *pool, const struct usl_point *points, size_t count)
{
        size_t slots = 0, next = 0;
        for (size_t i = 0; i < count; i++)
                slots += points[i].samples;
        pool->producers = malloc(count * sizeof *pool->producers + 1);
        pool->medians = malloc(count * sizeof *pool->medians + 1);
        pool->counts = calloc(count + 1, sizeof *pool->counts);
        pool->samples = malloc(slots * sizeof *pool->samples + 1);
        pool->drawn = malloc(slots * sizeof *pool->drawn + 1);
        if (!pool->producers || !pool->medians || !pool->counts || !pool->samples || !pool->drawn)
                return false;
        pool->fewest = slots;
        for (size_t i = 0; i < count; i++) {
                pool->producers[i] = points[i].producers;
                for (size_t s = 0; s < points[i].samples; s++)
                        if (isfinite(points[i].samples_per_s[s])) {
                                pool->samples[next++] = points[i].samples_per_s[s];
                                pool->counts[i]++;
                        }
                if (pool->counts[i] < pool->fewest)
                        pool->fewest = pool->counts[i];
        }
        return true;
}

static void empty_pool(struct pool *pool)
{
        free(pool->producers);
        free(pool->medians);
        free(pool->counts);
        free(pool->samples);
        free(pool->drawn);
}

static void draw_medians(struct pool *pool, size_t count, gsl_rng *random)
{
        const double *samples = pool->samples;
        for (size_t i = 0; i < count; samples += pool->counts[i++]) {
                for (size_t s = 0; s < pool->counts[i]; s++)
                        pool->drawn[s] = samples[gsl_rng_uniform_int(random, pool->counts[i])];
                pool->medians[i] = gsl_stats_median(pool->drawn, 1, pool->counts[i]);
        }
}

static struct median percentiles(double *values, size_t count)
{
        gsl_sort(values, 1, count);
        return (struct median){.median = gsl_stats_median_from_sorted_data(values, 1, count),
                .lo = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.025),
                .hi = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.975),
                .coverage = 0.95,
                .count = count};
}

static void refit(struct usl_intervals *intervals, struct pool *pool, size_t count, gsl_rng *random)
{
        double sigmas[RESAMPLES], kappas[RESAMPLES];
        size_t fits = 0;
        for (unsigned r = 0; r < RESAMPLES; r++) {
                draw_medians(pool, count, random);
                struct usl usl = usl_fit(pool->producers, pool->medians, count);
                if (usl.fitted) {
                        sigmas[fits] = usl.sigma;
                        kappas[fits++] = usl.kappa;
                }
        }
        intervals->why = "more than one in 20 of its resamples can't be fitted";
        if (20 * (RESAMPLES - fits) > RESAMPLES)
                return;
        intervals->why = NULL;
        intervals->sigma = percentiles(sigmas, fits);
        intervals->kappa = percentiles(kappas, fits);
}

struct usl_intervals usl_bootstrap(const struct usl_point *points, size_t count, unsigned long seed)
{
        struct usl_intervals intervals = {
                .why = "no memory", .sigma = median_of(NULL, 0), .kappa = median_of(NULL, 0)};
        struct pool pool = {0};
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        if (random && fill_pool(&pool, points, count)) {
                intervals.why = "a point has fewer than 5 samples";
                gsl_rng_set(random, seed);
                if (pool.fewest >= USL_SAMPLES_LEAST)
                        refit(&intervals, &pool, count, random);
        }
        gsl_rng_free(random);
        empty_pool(&pool);
        return intervals;
}
