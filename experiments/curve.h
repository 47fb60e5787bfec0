/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Curves of submit rate against producers, and the rule that calls one collapse, plateau, scaling
 * or inconclusive.
 *
 * The rule. Points count whose producers overlapped (median overlap at least 0.5: below, they
 * mostly ran in turn, which is no contention); a table says nothing of overlap, so all its points
 * count. kept = the rate at the most producers over the peak; gain = that rate over the one at half
 * as many producers or fewer.
 *
 *      collapse      kept is below 0.5
 *      scaling       gain is at least 1.25
 *      plateau       kept is at least 0.8, and gain below 1.25
 *      inconclusive  anything else; fewer than 3 points that count; intervals that cover too little
 *
 * Where there are samples, a whole interval must lie on that side, not the median alone.
 */
#ifndef FANIN_CURVE_H
#define FANIN_CURVE_H

#include "csv.h"
#include "rows.h"
#include "statistics.h"

struct curve_point {
        unsigned producers;
        double *rates;  /* submits per second by number of the sample; NAN: not there, or not ok */
        unsigned slots; /* of rates */
        struct median rate;
        double overlap; /* median; NAN: not known */
        unsigned bad;   /* samples that are not ok */
};

struct curve {
        char config[256];
        struct curve_point *points; /* by producers */
        unsigned count;
};

struct curves {
        struct curve *curves; /* as they appeared */
        unsigned count;
        bool has_samples; /* false: one rate a point, no intervals */
        char kind[40], machine[96];
        unsigned cpus; /* 0: not known */
};

/* Of the rows that are not the second of twins. */
void curves_of_rows(struct curves *, const struct rows *);

/* Of a table with the columns config, producers and submit_per_s, and maybe kind and machine ("… 10
 * cores"), the same throughout. False: why has a sentence. */
bool curves_of_table(struct curves *, const struct csv *, char *why, size_t why_bytes);

void curves_free(struct curves *);

const struct curve *curves_find(const struct curves *, const char *config);

/* Whether its producers were at it at once. */
bool curve_counts(const struct curve_point *);

/* a's rate over b's, over the rounds that both have. */
struct median curve_ratio(
        const struct curve_point *a, const struct curve_point *b, unsigned long seed);

enum verdict { VERDICT_COLLAPSE, VERDICT_PLATEAU, VERDICT_SCALING, VERDICT_INCONCLUSIVE, VERDICTS };
extern const char *const verdict_names[VERDICTS];

struct judgement {
        enum verdict verdict;
        char why[128];
        const struct curve_point *peak, *top, *half; /* of those that count; NULL: none */
        struct median kept, gain;                    /* top over peak, top over half */
        unsigned counted;
};

struct judgement curve_judge(const struct curve *, bool has_samples, unsigned long seed);

#endif
