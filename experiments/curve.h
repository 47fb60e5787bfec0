/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Curves of submit rate against producers, and the rule that calls one collapse, plateau, scaling
 * or inconclusive.
 *
 * The rule. Counts of producers count that have a sample that is ok, and whose producers overlapped
 * (median at least 0.5: below, they mostly ran in turn, which is no contention; a table says
 * nothing of overlap, so all its counts do). kept = the rate at the most producers over the peak;
 * gain = that rate over the one at half as many producers, or the next fewer that count, for each
 * doubling between the two.
 *
 *      collapse      kept is below 0.5
 *      scaling       gain is at least 1.25, and the peak is at the most producers
 *      plateau       kept is at least 0.8, and gain below 1.25
 *      inconclusive  anything else; fewer than 3 counts, or none at half the most or below;
 *                    intervals that cover less than 0.9 (fewer than 6 samples); scaling or plateau
 *                    below a count at which samples ran and none was ok
 *
 * Where there are samples, a whole interval must lie on that side, not the median alone.
 *
 * The thresholds. What was published keeps 0.10 and 0.97, so they could lie anywhere between. 0.5:
 * rates that scatter by 30 % fall to 0.54 by chance. 0.8: rates that differ by 20 % are one height.
 * Of a gain 2 is linear and 1 is none: below 1.25 more than three quarters of a doubling are lost.
 * Others' curves are called what they are known for (tests/verdict.c): spinlocks and a shared
 * counter collapse, queue locks of one socket plateau, per-thread counters scale.
 */
#ifndef FANIN_CURVE_H
#define FANIN_CURVE_H

#include "csv.h"
#include "rows.h"
#include "statistics.h"

struct curve_point {
        unsigned producers;
        double *rates; /* submits per second by number of the sample; NAN: not there, or not ok */
        double *overlaps; /* as many; NAN: not known */
        unsigned slots;   /* of both */
        struct median rate;
        double overlap;        /* median; NAN: not known */
        unsigned bad, skipped; /* samples that ran and are not ok; that did not run */
};

struct curve {
        char config[256];
        char instead[64]; /* what ran in place of the queue, which can't run there; "no" */
        struct curve_point *points; /* by producers */
        unsigned count;
};

struct curves {
        struct curve *curves; /* as they appeared */
        unsigned count;
        bool has_samples; /* false: one rate a point, no intervals */
        bool quick;       /* so few and short that they only show that it works */
        char kind[40], machine[96];
        unsigned cpus; /* 0: not known */
};

/* A run directory, or a CSV file: of samples, or a table. False: why has a sentence with file, line
 * and column. */
bool curves_read(struct curves *, const char *path, char *why, size_t why_bytes);

/* Of the rows that are not the second of twins: those measure a configuration once more, and would
 * count it twice. */
void curves_of_rows(struct curves *, const struct rows *);

/* Of a table with the columns config, producers and submit_per_s, and maybe kind and machine ("… 10
 * cores"), the same throughout. False: why has a sentence. */
bool curves_of_table(struct curves *, const struct csv *, char *why, size_t why_bytes);

void curves_free(struct curves *);

const struct curve *curves_find(const struct curves *, const char *config);

/* Whether it has a rate, and its producers were at it at once. */
bool curve_counts(const struct curve_point *);

/* a's rate over b's, over the rounds that both have. */
struct median curve_ratio(
        const struct curve_point *a, const struct curve_point *b, unsigned long seed);

/* Less than that an interval must not cover, to decide anything. */
extern const double curve_coverage_least;

enum verdict { VERDICT_COLLAPSE, VERDICT_PLATEAU, VERDICT_SCALING, VERDICT_INCONCLUSIVE, VERDICTS };
extern const char *const verdict_names[VERDICTS];

struct judgement {
        enum verdict verdict;
        char why[128];
        unsigned counted;
        /* Of the points that count; NULL: none. contended: the peak from 2 producers on, since a
         * lone producer has no one to contend with. */
        const struct curve_point *first, *peak, *contended, *half, *top;
        const struct curve_point *dead; /* above top: samples ran, and none was ok; NULL: none */
        /* The top over the peak, over the contended peak, over the first; and gain. Without samples
         * their intervals are NAN. */
        struct median kept, kept_contended, over_first, gain;
};

struct judgement curve_judge(const struct curve *, bool has_samples, unsigned long seed);

#endif
