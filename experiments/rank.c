/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The null distribution of Mann and Whitney's U by its recurrence, and what follows from it. */
#include "rank.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double *rank_ratios(const double *a, size_t a_count, const double *b, size_t b_count)
{
        double *ratios = malloc(a_count * b_count * sizeof *ratios + 1);
        if (!ratios)
                return NULL;
        for (size_t i = 0; i < a_count; i++)
                for (size_t j = 0; j < b_count; j++)
                        ratios[i * b_count + j] = b[j] / a[i];
        gsl_sort(ratios, 1, a_count * b_count);
        return ratios;
}

/*
 * Of the (n + m)!/(n! m!) orders of n a's and m b's, the share with U at most u: the number with U
 * exactly u is the coefficient of q^u of the Gaussian binomial, here as a product of
 * (1 - q^(m + i)) / (1 - q^i), i from 1 to n. Shares, not counts: each factor is divided by its
 * value at q = 1, (m + i) / i, so that all stays below 1.
 */
static double exact_tail(size_t u, size_t n, size_t m)
{
        double share[RANK_EXACT * RANK_EXACT + 1] = {1};
        size_t top = n * m;
        for (size_t i = 1; i <= n; i++) {
                double scale = (double)i / (double)(m + i);
                for (size_t k = top; k >= m + i; k--)
                        share[k] -= share[k - m - i];
                for (size_t k = i; k <= top; k++)
                        share[k] += share[k - i];
                for (size_t k = 0; k <= top; k++)
                        share[k] *= scale;
        }
        double tail = 0;
        for (size_t k = 0; k <= u && k <= top; k++)
                tail += share[k];
        return fmin(tail, 1);
}

double rank_tail(size_t not_smaller, size_t a_count, size_t b_count)
{
        double n = (double)a_count, m = (double)b_count;
        if (!a_count || !b_count)
                return 1;
        if (a_count <= RANK_EXACT && b_count <= RANK_EXACT)
                return exact_tail(not_smaller, a_count, b_count);
        double sd = sqrt(n * m * (n + m + 1) / 12);
        return gsl_cdf_ugaussian_P(((double)not_smaller + 0.5 - n * m / 2) / sd);
}

double rank_p_smaller(const double *ratios, size_t a_count, size_t b_count, double by)
{
        size_t pairs = a_count * b_count, smaller = 0;
        while (smaller < pairs && ratios[smaller] < by)
                smaller++;
        return rank_tail(pairs - smaller, a_count, b_count);
}

/* How many ratios at an end are refused: the most whose tail is within alpha. 0: none. */
static size_t refused(size_t a_count, size_t b_count, double alpha)
{
        size_t low = 0,
               high = a_count * b_count; /* rank_tail(low - 1) <= alpha < rank_tail(high) */
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (rank_tail(middle, a_count, b_count) <= alpha)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

double rank_lower(const double *ratios, size_t a_count, size_t b_count, double alpha)
{
        size_t count = refused(a_count, b_count, alpha);
        return count ? ratios[count - 1] : 0;
}

double rank_upper(const double *ratios, size_t a_count, size_t b_count, double alpha)
{
        size_t count = refused(a_count, b_count, alpha);
        return count ? ratios[a_count * b_count - count] : INFINITY;
}
