/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The Universal Scalability Law, fitted to curves whose parameters are known, to curves that it
 * can't be fitted to, and to samples that scatter. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../experiments/usl.h"

static const double at[] = {2, 4, 8, 16, 32, 64, 100};
enum { POINTS = sizeof at / sizeof *at, SAMPLES = 9 };

static void assert_near(const char *what, double value, double expected, double within)
{
        if (!(fabs(value - expected) <= within))
                fail_msg("%s is %g, expected %g", what, value, expected);
}

static struct usl law_of(double sigma, double kappa)
{
        return (struct usl){.lambda_per_s = 3e6, .sigma = sigma, .kappa = kappa};
}

static void draw_rates(double *rates, const struct usl *law, double noise, gsl_rng *random)
{
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = usl_rate(law, at[i]) * exp(gsl_ran_gaussian(random, noise));
}

static struct usl fit_of(double sigma, double kappa, double noise)
{
        const struct usl law = law_of(sigma, kappa);
        double rates[POINTS];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        draw_rates(rates, &law, noise, random);
        gsl_rng_free(random);
        return usl_fit(at, rates, POINTS);
}

/* Linear, Amdahl's, retrograde, falling throughout, constant; and the bounds. */
static const double laws[][2] = {{0, 0}, {0.05, 0}, {0.9, 0}, {1, 0}, {2.5, 0}, {0, 1e-3}, {0, 0.3},
        {0.05, 1e-3}, {0.3, 0.05}, {2, 0.01}, {1e-4, 1e-6}};
enum { LAWS = sizeof laws / sizeof *laws };

static void test_law_is_found(void **state)
{
        (void)state;
        for (unsigned i = 0; i < LAWS; i++) {
                double sigma = laws[i][0], kappa = laws[i][1];
                struct usl usl = fit_of(sigma, kappa, 0);
                if (!usl.fitted)
                        fail_msg("sigma %g, kappa %g: %s", sigma, kappa, usl.why);
                assert_near("sigma", usl.sigma, sigma, 1e-4 * (0.1 + sigma));
                assert_near("kappa", usl.kappa, kappa, 1e-4 * (0.01 + kappa));
                assert_near("lambda", usl.lambda_per_s / 3e6, 1, 1e-3);
                assert_true(usl.residual_max < 1e-4);
                /* On a bound exactly, not nearly. */
                assert_true(sigma > 0 || usl.sigma == 0);
                assert_true(kappa > 0 || usl.kappa == 0);
        }
}

static void test_peak(void **state)
{
        (void)state;
        struct usl usl = fit_of(0.05, 1e-3, 0);
        assert_near("peak", usl.peak_at, sqrt(0.95 / 1e-3), 0.1);
        assert_true(usl_rate(&usl, 31) > usl_rate(&usl, 30));
        assert_true(usl_rate(&usl, 31) > usl_rate(&usl, 32));
        assert_true(isinf(fit_of(0.05, 0, 0).peak_at));
        assert_true(isinf(fit_of(0, 0, 0).peak_at));
        assert_true(fit_of(2.5, 0, 0).peak_at == 1);    /* it falls, though kappa is 0 */
        assert_true(fit_of(2, 0.01, 0).peak_at == 1);   /* not the root of a negative number */
        assert_true(fit_of(0.5, 0.9, 0).peak_at == 1);  /* not below one producer */
        assert_true(fit_of(0.9, 0.001, 0).peak_at > 9); /* 10 */
}

static void test_noise_moves_it_little(void **state)
{
        (void)state;
        for (unsigned i = 0; i < LAWS; i++) {
                struct usl usl = fit_of(laws[i][0], laws[i][1], 0.05);
                assert_true(!usl.fitted || (usl.sigma >= 0 && usl.kappa >= 0));
        }
        struct usl usl = fit_of(0.05, 1e-3, 0.02);
        assert_true(usl.fitted);
        assert_near("sigma", usl.sigma, 0.05, 0.03);
        assert_near("kappa", usl.kappa, 1e-3, 3e-4);
        assert_true(usl.residual_max > 0.005 && usl.residual_max < 0.1);
}

/* Relative: of logarithms the misses of a free lambda add up to 0, were the rates decades apart. */
static void test_residuals_are_relative(void **state)
{
        (void)state;
        const struct usl law = law_of(0.05, 0.3);
        double rates[POINTS], misses = 0;
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = usl_rate(&law, at[i]) * (i % 2 ? 1.2 : 0.9);
        struct usl usl = usl_fit(at, rates, POINTS);
        assert_true(usl.fitted);
        for (unsigned i = 0; i < POINTS; i++)
                misses += log(usl_rate(&usl, at[i]) / rates[i]);
        assert_near("sum of logarithms", misses, 0, 1e-4);
}

static void test_what_is_left_out(void **state)
{
        (void)state;
        const struct usl law = law_of(0.05, 1e-3);
        double producers[POINTS + 4] = {1, 1.5, 3, 5}, rates[POINTS + 4] = {1e9, 1e9, NAN, 0};
        for (unsigned i = 0; i < POINTS; i++) {
                producers[4 + i] = at[POINTS - 1 - i]; /* in any order */
                rates[4 + i] = usl_rate(&law, producers[4 + i]);
        }
        struct usl usl = usl_fit(producers, rates, POINTS + 4);
        assert_true(usl.fitted);
        assert_near("sigma", usl.sigma, 0.05, 1e-4);
        /* 4 points from 2 on are too few, 5 are enough. */
        usl = usl_fit(producers, rates, 8);
        assert_false(usl.fitted);
        assert_non_null(strstr(usl.why, "fewer than 5"));
        assert_true(usl_fit(producers, rates, 9).fitted);
        assert_false(usl_fit(producers, rates, 0).fitted);
}

/* What is no such curve is said to be none, and nothing crashes. */
static void test_hostile_curves(void **state)
{
        (void)state;
        static const double falls_and_stays[] = {9e5, 5e5, 2.3e5, 1.3e5, 1.15e5, 1.13e5, 1.13e5};
        double rates[POINTS];
        struct usl usl = usl_fit(at + 2, falls_and_stays + 2, 5);
        assert_false(usl.fitted);
        assert_non_null(strstr(usl.why, "without bound"));
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = i == 3 ? 1e-300 : 1e300; /* of kappa too */
        usl = usl_fit(at, rates, POINTS);
        assert_false(usl.fitted);
        assert_non_null(usl.why);
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = 0;
        assert_false(usl_fit(at, rates, POINTS).fitted);
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = INFINITY;
        assert_false(usl_fit(at, rates, POINTS).fitted);
        /* Constant: each producer takes from the others what it brings. */
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = 5e6;
        usl = usl_fit(at, rates, POINTS);
        assert_true(usl.fitted && usl.kappa == 0);
        assert_near("sigma of a constant", usl.sigma, 1, 1e-6);
        static const double heights[] = {1e-300, 1e300};
        for (unsigned h = 0; h < 2; h++) {
                for (unsigned i = 0; i < POINTS; i++)
                        rates[i] = heights[h] * at[i];
                usl = usl_fit(at, rates, POINTS);
                assert_true(usl.fitted && usl.sigma == 0 && usl.kappa == 0);
        }
        /* Faster than linear: the law's best is linear, and its miss is told. */
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = 1e3 * at[i] * at[i];
        usl = usl_fit(at, rates, POINTS);
        assert_true(usl.fitted && usl.sigma == 0 && usl.kappa == 0 && usl.residual_max > 1);
        /* All at one count: nothing tells the parameters. */
        const double same[] = {8, 8, 8, 8, 8};
        usl = usl_fit(same, falls_and_stays, 5);
        assert_true(usl.fitted && usl.sigma == 0 && usl.kappa == 0);
}

static void draw_samples(double samples[POINTS][SAMPLES], const struct usl *law, gsl_rng *random)
{
        double rates[POINTS];
        for (unsigned s = 0; s < SAMPLES; s++) {
                draw_rates(rates, law, 0.08, random);
                for (unsigned i = 0; i < POINTS; i++)
                        samples[i][s] = rates[i];
        }
}

static struct usl_intervals intervals_of(
        double samples[POINTS][SAMPLES], unsigned count, unsigned long seed)
{
        struct usl_point points[POINTS];
        for (unsigned i = 0; i < POINTS; i++)
                points[i] = (struct usl_point){at[i], samples[i], count};
        return usl_bootstrap(points, POINTS, seed);
}

static bool covers(const struct median *interval, double value)
{
        return interval->lo <= value && value <= interval->hi;
}

/* Of 30 intervals that cover 95 %, 24 or fewer do so once in 3,000 such tests. */
static void test_intervals_cover(void **state)
{
        (void)state;
        enum { DRAWS = 15 };
        static const double cases[][2] = {{0.05, 1e-3}, {0.2, 0}};
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        unsigned sigmas = 0, kappas = 0;
        for (unsigned i = 0; i < 2 * DRAWS; i++) {
                const struct usl law = law_of(cases[i % 2][0], cases[i % 2][1]);
                double samples[POINTS][SAMPLES];
                draw_samples(samples, &law, random);
                struct usl_intervals intervals = intervals_of(samples, SAMPLES, i);
                if (intervals.why)
                        fail_msg("%s", intervals.why);
                sigmas += covers(&intervals.sigma, law.sigma);
                kappas += covers(&intervals.kappa, law.kappa);
                assert_true(intervals.sigma.lo < intervals.sigma.hi);
                assert_true(intervals.sigma.hi < 0.5 && intervals.kappa.hi < 0.01); /* not all */
                assert_true(intervals.sigma.coverage == 0.95);
        }
        gsl_rng_free(random);
        if (sigmas < 25 || kappas < 25)
                fail_msg("of %u intervals %u cover sigma, %u kappa", 2 * DRAWS, sigmas, kappas);
}

static void test_intervals_follow_the_seed(void **state)
{
        (void)state;
        const struct usl law = law_of(0.05, 1e-3);
        double samples[POINTS][SAMPLES];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        draw_samples(samples, &law, random);
        gsl_rng_free(random);
        struct usl_intervals once = intervals_of(samples, SAMPLES, 7);
        struct usl_intervals again = intervals_of(samples, SAMPLES, 7);
        struct usl_intervals other = intervals_of(samples, SAMPLES, 8);
        assert_true(once.sigma.lo == again.sigma.lo && once.kappa.hi == again.kappa.hi);
        assert_true(once.sigma.lo != other.sigma.lo);
        /* A sample that is missing is no sample. */
        samples[3][4] = NAN;
        struct usl_intervals gap = intervals_of(samples, SAMPLES, 7);
        assert_true(!gap.why && gap.sigma.lo < gap.sigma.hi);
        samples[3][4] = samples[3][5] = samples[3][6] = samples[3][7] = samples[3][8] = NAN;
        gap = intervals_of(samples, SAMPLES, 7);
        assert_non_null(gap.why);
        assert_true(isnan(gap.sigma.lo) && isnan(gap.kappa.hi));
        gap = intervals_of(samples, 4, 7);
        assert_non_null(strstr(gap.why, "fewer than 5 samples"));
        assert_non_null(usl_bootstrap(NULL, 0, 1).why);
}

/* Intervals of only those resamples that happen to fit would be a choice. */
static void test_refits_that_fail_are_told(void **state)
{
        (void)state;
        double samples[POINTS][SAMPLES];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (unsigned i = 0; i < POINTS; i++) /* what the law becomes as sigma goes to infinity */
                for (unsigned s = 0; s < SAMPLES; s++)
                        samples[i][s] =
                                1e6 * at[i] / (at[i] - 1) * exp(gsl_ran_gaussian(random, 0.05));
        gsl_rng_free(random);
        struct usl_intervals intervals = intervals_of(samples, SAMPLES, 1);
        assert_non_null(intervals.why);
        assert_non_null(strstr(intervals.why, "can't be fitted"));
        assert_true(isnan(intervals.sigma.lo) && isnan(intervals.kappa.hi));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_law_is_found),
                cmocka_unit_test(test_peak),
                cmocka_unit_test(test_noise_moves_it_little),
                cmocka_unit_test(test_residuals_are_relative),
                cmocka_unit_test(test_what_is_left_out),
                cmocka_unit_test(test_hostile_curves),
                cmocka_unit_test(test_intervals_cover),
                cmocka_unit_test(test_intervals_follow_the_seed),
                cmocka_unit_test(test_refits_that_fail_are_told),
        };
        return cmocka_run_group_tests_name("usl", tests, NULL, NULL);
}
