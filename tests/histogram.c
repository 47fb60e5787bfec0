/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The histogram against the sorted values themselves, and its .hgrm form read back. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../experiments/histogram.h"

enum { VALUES = 20000 };

static struct histogram whole, part, other;
static uint64_t values[VALUES];
static gsl_rng *random_source;

/* Shapes of latency, all in ns, and what lies at the edges of the layout. */
static uint64_t small(unsigned i)
{
        (void)i;
        return gsl_rng_uniform_int(random_source, 3000);
}

static uint64_t wide(unsigned i)
{
        (void)i;
        return (uint64_t)exp(gsl_rng_uniform(random_source) * log((double)HISTOGRAM_MAX_NS));
}

static uint64_t exponential(unsigned i)
{
        (void)i;
        return (uint64_t)gsl_ran_exponential(random_source, 50000);
}

static uint64_t heavy_tailed(unsigned i)
{
        (void)i;
        return (uint64_t)gsl_ran_lognormal(random_source, 10, 2);
}

static uint64_t stalled(unsigned i)
{
        return i % 50 ? 20000 + gsl_rng_uniform_int(random_source, 1000)
                      : gsl_rng_uniform_int(random_source, 100000000);
}

static uint64_t constant(unsigned i)
{
        (void)i;
        return 123456789;
}

static uint64_t around_powers(unsigned i)
{
        return (UINT64_C(1) << i % 42) + i / 42 % 3 - (i % 42 != 0);
}

static uint64_t (*const shapes[])(unsigned) = {
        small, wide, exponential, heavy_tailed, stalled, constant, around_powers};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static int ascending(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

/* Into `whole`; values are left as they came. */
static void fill(unsigned shape)
{
        gsl_rng_set(random_source, shape + 1);
        memset(&whole, 0, sizeof whole);
        for (unsigned i = 0; i < VALUES; i++) {
                values[i] = shapes[shape](i);
                histogram_add(&whole, values[i]);
        }
}

static void test_percentiles_of_sorted_values(void **state)
{
        (void)state;
        static const unsigned per_million[] = {
                0, 1, 1000, 70000, 100000, 250000, 500000, 900000, 990000, 999000, 999950, 1000000};
        for (unsigned shape = 0; shape < SHAPES; shape++) {
                fill(shape);
                qsort(values, VALUES, sizeof *values, ascending);
                assert_int_equal(whole.count, VALUES);
                assert_int_equal(whole.max_ns, values[VALUES - 1]);
                for (unsigned i = 0; i < sizeof per_million / sizeof per_million[0]; i++) {
                        uint64_t rank = (UINT64_C(1) * per_million[i] * VALUES + 999999) / 1000000;
                        double exact = (double)values[rank ? rank - 1 : 0];
                        double got = histogram_percentile_ns(&whole, per_million[i] / 1e6);
                        if (!(got >= exact && got <= exact * (1 + 1.0 / 1024)) ||
                                (exact < 2048 && got != exact))
                                fail_msg("shape %u, %u of a million: %.1f, exactly %.1f", shape,
                                        per_million[i], got, exact);
                }
        }
}

static void test_mean_and_deviation(void **state)
{
        (void)state;
        static double as_double[VALUES];
        for (unsigned shape = 0; shape < SHAPES; shape++) {
                fill(shape);
                for (unsigned i = 0; i < VALUES; i++)
                        as_double[i] = (double)values[i];
                double mean = gsl_stats_mean(as_double, 1, VALUES);
                double deviation = gsl_stats_sd_with_fixed_mean(as_double, 1, VALUES, mean);
                assert_true(fabs(histogram_mean_ns(&whole) - mean) <= mean / 1000);
                /* Each value is off by less than 1/1000 of itself, so the deviation by less than
                 * that of the root mean square. */
                assert_true(fabs(histogram_deviation_ns(&whole) - deviation) <=
                            hypot(mean, deviation) / 1000);
        }
}

static void test_merged_is_one_of_all(void **state)
{
        (void)state;
        for (unsigned shape = 0; shape < SHAPES; shape++) {
                fill(shape);
                memset(&part, 0, sizeof part);
                memset(&other, 0, sizeof other);
                for (unsigned i = 0; i < VALUES; i++)
                        histogram_add(i % 3 ? &part : &other, values[i]);
                histogram_merge(&part, &other);
                assert_memory_equal(&part, &whole, sizeof whole);
        }
}

static void test_none_and_zero(void **state)
{
        (void)state;
        memset(&whole, 0, sizeof whole);
        assert_true(isnan(histogram_percentile_ns(&whole, 0.5)));
        assert_true(isnan(histogram_mean_ns(&whole)));
        assert_true(isnan(histogram_deviation_ns(&whole)));
        histogram_add(&whole, 0);
        assert_int_equal(whole.count, 1);
        assert_true(histogram_percentile_ns(&whole, 0) == 0);
        assert_true(histogram_percentile_ns(&whole, 1) == 0);
        assert_true(histogram_mean_ns(&whole) == 0);
        assert_true(histogram_deviation_ns(&whole) == 0);
}

static void test_saturates(void **state)
{
        (void)state;
        assert_true(HISTOGRAM_MAX_NS >= UINT64_C(3600) * 1000000000);
        memset(&whole, 0, sizeof whole);
        histogram_add(&whole, HISTOGRAM_MAX_NS);
        assert_int_equal(whole.saturated, 0);
        histogram_add(&whole, HISTOGRAM_MAX_NS + 1);
        histogram_add(&whole, UINT64_MAX);
        assert_int_equal(whole.count, 3);
        assert_int_equal(whole.saturated, 2);
        assert_int_equal(whole.max_ns, HISTOGRAM_MAX_NS);
        assert_true(histogram_percentile_ns(&whole, 1) == (double)HISTOGRAM_MAX_NS);
}

/* What a pipe brings is what was sent, added to what is there. */
static void test_sent_and_received(void **state)
{
        (void)state;
        fill(1);
        histogram_add(&whole, UINT64_MAX);
        char *text = NULL, *save = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&text, &bytes);
        histogram_send(file, "latency", &whole);
        fclose(file);
        memset(&part, 0, sizeof part);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                assert_memory_equal(line, "latency ", 8);
                assert_true(histogram_receive(&part, line + 8));
        }
        assert_memory_equal(&part, &whole, sizeof whole);
        free(text);
        static const char *const rubbish[] = {
                "", "max", "max 1", "max 1 2 3", "33792 1", "1", "1 2 3", "1 x", "x 1"};
        for (unsigned i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++)
                if (histogram_receive(&part, rubbish[i]))
                        fail_msg("'%s' was taken for a count", rubbish[i]);
        assert_memory_equal(&part, &whole, sizeof whole);
}

static char *print(void)
{
        char *text = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&text, &bytes);
        assert_true(histogram_print_hgrm(file, &whole, "a comment"));
        fclose(file);
        return text;
}

static void test_hgrm_of_four_values(void **state)
{
        (void)state;
        memset(&whole, 0, sizeof whole);
        static const uint64_t four[] = {3000, 1000, 10000, 2000};
        for (unsigned i = 0; i < 4; i++)
                histogram_add(&whole, four[i]);
        char *text = print();
        assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                  "\n"
                                  "       1.000 0.000000000000          1           1.00\n"
                                  "       1.000 0.100000000000          1           1.11\n"
                                  "       1.000 0.200000000000          1           1.25\n"
                                  "       2.000 0.300000000000          2           1.43\n"
                                  "       2.000 0.400000000000          2           1.67\n"
                                  "       2.000 0.500000000000          2           2.00\n"
                                  "       3.001 0.550000000000          3           2.22\n"
                                  "       3.001 0.600000000000          3           2.50\n"
                                  "       3.001 0.650000000000          3           2.86\n"
                                  "       3.001 0.700000000000          3           3.33\n"
                                  "       3.001 0.750000000000          3           4.00\n"
                                  "      10.000 0.775000000000          4           4.44\n"
                                  "      10.000 1.000000000000          4\n"
                                  "#[Mean    =        4.001, StdDeviation   =        3.537]\n"
                                  "#[Max     =       10.000, Total count    =            4]\n"
                                  "#[Buckets =           32, SubBuckets     =         2048]\n"
                                  "# values in microseconds, 0 of them above the range; a "
                                  "comment\n");
        free(text);
}

static unsigned count_up_to(double us)
{
        unsigned count = 0;
        while (count < VALUES && (double)values[count] / 1e3 < us + 0.0005)
                count++;
        return count;
}

/* A row as plotters take it: not after '#', of four numbers. Each is true of the sorted values. */
static void check_row(const char *line, double *percentile)
{
        double us, share, inverse;
        unsigned count;
        int fields = sscanf(line, "%lf %lf %u %lf", &us, &share, &count, &inverse);
        assert_true(fields == 4 || (fields == 3 && share == 1 && count == VALUES));
        assert_true(share > *percentile);
        *percentile = share;
        if (fabs(us - histogram_percentile_ns(&whole, share - 1e-12) / 1e3) > 0.0006)
                fail_msg("percentile %.12f is %.3f us, not %.3f", share, us,
                        histogram_percentile_ns(&whole, share) / 1e3);
        assert_int_equal(count, count_up_to(us));
        if (fields == 4)
                assert_true(fabs(inverse * (1 - share) - 1) < 0.01);
}

static void test_hgrm_is_read_back(void **state)
{
        (void)state;
        for (unsigned shape = 0; shape < SHAPES; shape++) {
                fill(shape);
                qsort(values, VALUES, sizeof *values, ascending);
                char *text = print(), *save = NULL;
                unsigned rows = 0;
                double percentile = -1, mean = NAN, deviation = NAN, max = NAN, count = NAN;
                assert_non_null(strtok_r(text, "\n", &save)); /* the header */
                for (char *line; (line = strtok_r(NULL, "\n", &save));) {
                        sscanf(line, "#[Mean = %lf, StdDeviation = %lf]", &mean, &deviation);
                        sscanf(line, "#[Max = %lf, Total count = %lf]", &max, &count);
                        if (*line != '#') {
                                check_row(line, &percentile);
                                rows++;
                        }
                }
                assert_true(percentile == 1);
                assert_true(count == VALUES && fabs(max * 1e3 - (double)whole.max_ns) < 1);
                assert_true(fabs(mean * 1e3 - histogram_mean_ns(&whole)) < 1);
                assert_true(fabs(deviation * 1e3 - histogram_deviation_ns(&whole)) < 1);
                /* Five for each halving, until there is one count above: at the powers 0.8 % of the
                 * values share the greatest, six halvings and more. */
                assert_true(shapes[shape] == constant ? rows == 2 : rows > 5 * 6);
                free(text);
        }
}

static int seed(void **state)
{
        (void)state;
        random_source = gsl_rng_alloc(gsl_rng_mt19937);
        return !random_source;
}

static int unseed(void **state)
{
        (void)state;
        gsl_rng_free(random_source);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_percentiles_of_sorted_values),
                cmocka_unit_test(test_mean_and_deviation),
                cmocka_unit_test(test_merged_is_one_of_all),
                cmocka_unit_test(test_none_and_zero),
                cmocka_unit_test(test_saturates),
                cmocka_unit_test(test_sent_and_received),
                cmocka_unit_test(test_hgrm_of_four_values),
                cmocka_unit_test(test_hgrm_is_read_back),
        };
        return cmocka_run_group_tests(tests, seed, unseed);
}
