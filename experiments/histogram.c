/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>

enum { TICKS_PER_HALF = 5 }; /* rows of a .hgrm file for each halving of what lies above */

/* How many low bits a value has beyond the 11 that are told apart. */
static unsigned dropped_bits(uint64_t ns)
{
        return ns < UINT64_C(2) * HISTOGRAM_HALF ? 0 : 53 - (unsigned)__builtin_clzll(ns);
}

static unsigned index_of(uint64_t ns)
{
        unsigned bits = dropped_bits(ns);
        return bits * HISTOGRAM_HALF + (unsigned)(ns >> bits);
}

/* The least value of a count, and how many values share it. */
static uint64_t least_of(unsigned index, uint64_t *values)
{
        unsigned bits = index < 2 * HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;
        *values = UINT64_C(1) << bits;
        return (uint64_t)(index - bits * HISTOGRAM_HALF) << bits;
}

static double greatest_of(const struct histogram *histogram, unsigned index)
{
        uint64_t values, least = least_of(index, &values);
        return fmin((double)(least + values - 1), (double)histogram->max_ns);
}

static double middle_of(unsigned index)
{
        uint64_t values, least = least_of(index, &values);
        return (double)least + (double)(values - 1) / 2;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
        histogram->saturated += ns > HISTOGRAM_MAX_NS;
        ns = ns < HISTOGRAM_MAX_NS ? ns : HISTOGRAM_MAX_NS;
        histogram->max_ns = ns > histogram->max_ns ? ns : histogram->max_ns;
        histogram->counts[index_of(ns)]++;
        histogram->count++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
        for (unsigned i = 0; i < HISTOGRAM_COUNTS; i++)
                histogram->counts[i] += other->counts[i];
        histogram->count += other->count;
        histogram->saturated += other->saturated;
        if (other->max_ns > histogram->max_ns)
                histogram->max_ns = other->max_ns;
}

double histogram_percentile_ns(const struct histogram *histogram, double share)
{
        /* 0.07 * 100 is a little above 7, whose ceiling is not meant to be 8. */
        double rank = fmax(1, ceil(share * (double)histogram->count * (1 - 1e-12)));
        uint64_t passed = 0;
        for (unsigned i = 0; i < HISTOGRAM_COUNTS; i++) {
                passed += histogram->counts[i];
                if (histogram->counts[i] && (double)passed >= rank)
                        return greatest_of(histogram, i);
        }
        return NAN;
}

double histogram_mean_ns(const struct histogram *histogram)
{
        double sum = 0;
        for (unsigned i = 0; i < HISTOGRAM_COUNTS; i++)
                sum += (double)histogram->counts[i] * middle_of(i);
        return histogram->count ? sum / (double)histogram->count : NAN;
}

double histogram_deviation_ns(const struct histogram *histogram)
{
        double mean_ns = histogram_mean_ns(histogram), sum = 0;
        for (unsigned i = 0; i < HISTOGRAM_COUNTS; i++)
                sum += (double)histogram->counts[i] * pow(middle_of(i) - mean_ns, 2);
        return histogram->count ? sqrt(sum / (double)histogram->count) : NAN;
}

/* The percentile after this one: TICKS_PER_HALF equal steps from one halving of what lies above to
 * the next. */
static double next_percentile(double percentile)
{
        double halvings = floor(log2(100 / (100 - percentile)));
        return percentile + 100 / (TICKS_PER_HALF * exp2(halvings + 1));
}

/* The rows: the value at each tick. The last one is always 1, and has no 1 / (1 - 1). */
static void print_rows(FILE *file, const struct histogram *histogram)
{
        double percentile = 0;
        uint64_t passed = 0;
        for (unsigned i = 0; i < HISTOGRAM_COUNTS && passed < histogram->count; i++) {
                passed += histogram->counts[i];
                while (histogram->counts[i] &&
                        100 * (double)passed / (double)histogram->count >= percentile) {
                        fprintf(file, "%12.3f %2.12f %10" PRIu64 " %14.2f\n",
                                greatest_of(histogram, i) / 1e3, percentile / 100, passed,
                                1 / (1 - percentile / 100));
                        percentile = next_percentile(percentile);
                        if (passed == histogram->count)
                                break;
                }
        }
        if (histogram->count)
                fprintf(file, "%12.3f %2.12f %10" PRIu64 "\n", (double)histogram->max_ns / 1e3, 1.0,
                        histogram->count);
}

bool histogram_print_hgrm(FILE *file, const struct histogram *histogram, const char *comment)
{
        bool empty = !histogram->count;
        fputs("       Value     Percentile TotalCount 1/(1-Percentile)\n\n", file);
        print_rows(file, histogram);
        fprintf(file, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
                empty ? 0 : histogram_mean_ns(histogram) / 1e3,
                empty ? 0 : histogram_deviation_ns(histogram) / 1e3);
        fprintf(file, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
                (double)histogram->max_ns / 1e3, histogram->count);
        fprintf(file, "#[Buckets = %12d, SubBuckets     = %12d]\n", HISTOGRAM_DOUBLINGS + 1,
                2 * HISTOGRAM_HALF);
        fprintf(file, "# values in microseconds, %" PRIu64 " of them above the range; %s\n",
                histogram->saturated, comment);
        return !ferror(file);
}

void histogram_send(FILE *file, const char *name, const struct histogram *histogram)
{
        fprintf(file, "%s max %" PRIu64 " %" PRIu64 "\n", name, histogram->max_ns,
                histogram->saturated);
        for (unsigned i = 0; i < HISTOGRAM_COUNTS; i++)
                if (histogram->counts[i])
                        fprintf(file, "%s %u %" PRIu64 "\n", name, i, histogram->counts[i]);
}

bool histogram_receive(struct histogram *histogram, const char *text)
{
        uint64_t index, number, saturated;
        char rest;
        if (sscanf(text, "max %" SCNu64 " %" SCNu64 "%c", &number, &saturated, &rest) == 2) {
                histogram->max_ns = number < HISTOGRAM_MAX_NS ? number : HISTOGRAM_MAX_NS;
                histogram->saturated = saturated;
                return true;
        }
        if (sscanf(text, "%" SCNu64 " %" SCNu64 "%c", &index, &number, &rest) != 2 ||
                index >= HISTOGRAM_COUNTS)
                return false;
        histogram->counts[index] += number;
        histogram->count += number;
        return true;
}
