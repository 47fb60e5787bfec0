/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Two independent samples by ranks (Mann and Whitney 1947; Hodges and Lehmann 1963): nothing is
 * assumed of the distributions but that one is the other scaled. Exact up to RANK_EXACT values a
 * side, by the normal approximation above.
 */
#ifndef FANIN_RANK_H
#define FANIN_RANK_H

#include <stddef.h>

enum { RANK_EXACT = 40, RANK_VALUES_MAX = 1000 };

/* All ratios b over a, ascending; what the functions below read. The caller frees; NULL: no memory.
 */
double *rank_ratios(const double *a, size_t a_count, const double *b, size_t b_count);

/* The chance of so few of a_count * b_count pairs (or fewer) in which b is not the smaller, if a
 * and b are of one distribution. */
double rank_tail(size_t not_smaller, size_t a_count, size_t b_count);

/* The p-value against "b is at least `by` times a": small when b is smaller than that. Ties count
 * as not smaller. */
double rank_p_smaller(const double *ratios, size_t a_count, size_t b_count, double by);

/* The least scale of b over a that is not refused at level alpha (one side); 0: none is. */
double rank_lower(const double *ratios, size_t a_count, size_t b_count, double alpha);

/* The greatest; INFINITY: none is refused. */
double rank_upper(const double *ratios, size_t a_count, size_t b_count, double alpha);

#endif
