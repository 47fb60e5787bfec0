/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin compare`: two runs. Of one machine, cell by cell:
 *
 *      regressed    B's rate is below (1 - tolerance) of A's, by an exact rank test, with Holm's
 *                   correction over all judged cells: at most 5 % false alarms for the whole
 *      not slower   the same test, 5 % a cell, refuses a slowdown beyond the tolerance
 *
 * No regression: no cell regressed and each is not slower (each must pass, so no correction is
 * due), and no A/A run says that the tolerance can't be told here. Else inconclusive: then the
 * tolerance at which it would pass is said. Of two machines rates
 * are never compared, but claims: verdicts, order and ratios at the most producers.
 */
#ifndef FANIN_COMPARE_H
#define FANIN_COMPARE_H

#include "curve.h"
#include "settings.h"

enum compare_finding {
        COMPARE_REGRESSED,
        COMPARE_UNTOLD,
        COMPARE_NOT_SLOWER,
        COMPARE_IN_TURN, /* its producers mostly ran in turn, in A or B: not judged */
        COMPARE_DIFFERS, /* its settings differ: not judged */
        COMPARE_ONLY_A,  /* it did not run in B: not judged */
        COMPARE_ONLY_B,
        COMPARE_NO_BASE, /* no sample of it is ok in A: not judged */
        COMPARE_GONE,    /* no sample of it is ok in B: counts as regressed */
};

struct compare_cell {
        const char *config;
        unsigned producers;
        double *a, *b; /* submits per second, of the samples that are ok */
        size_t a_count, b_count;
        unsigned a_bad, b_bad; /* samples that ran and are not ok */
        const char *differs;   /* the setting that does */
        double *ratios;        /* of all pairs, b over a */
        double ratio, lo, hi;  /* Hodges and Lehmann's estimate, 95 % */
        double p, least_p;     /* of "it is not slower by more than the tolerance"; the least there
                                  could be of so many samples */
        double passes_at;      /* the least tolerance at which it is not slower */
        enum compare_finding finding;
};

struct compare {
        struct compare_cell *cells;
        unsigned count;
        double asked, tolerance; /* the option's; raised to the floor */
        double floor; /* of A/A runs: the greatest difference, as a share of the faster, that
                         the intervals of the twins don't exclude; NAN: there are none */
        double floor_coverage; /* the least of these intervals' */
        unsigned judged, regressed, untold;
        double passes_at;      /* of all judged cells */
        bool too_few;          /* a cell's samples could not have told any slowdown */
        size_t fewest, enough; /* samples that a judged cell has, and that would tell one */
};

/* Judges cells whose rates are set and whose finding is COMPARE_UNTOLD. */
void compare_judge(struct compare *);

/* The verdict of the whole. */
enum exit_code compare_verdict(const struct compare *);

/* Raises floor to what the twins of an A/A run can't tell apart. Begin with NAN, coverage 1. */
void compare_floor(struct compare *, const struct rows *, unsigned long seed);

/* The table, then sentences, the last of them the verdict. */
void compare_print(const struct compare *);

/* Its columns, or a line of its own if it is too long for them. */
void compare_print_config(const char *config);

/* Two machines: prints claim by claim. */
enum exit_code compare_claims(
        const struct rows *a, const struct rows *b, double tolerance, unsigned long seed);

#endif
