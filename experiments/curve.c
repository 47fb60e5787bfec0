/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* From a curve to its verdict, by the rule of curve.h. */
#include "curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "settings.h"

static const double overlap_least = 0.5, kept_collapse = 0.5, kept_plateau = 0.8,
                    gain_scaling = 1.25;
const double curve_coverage_least = 0.9;
enum { POINTS_LEAST = 3 };

const char *const verdict_names[VERDICTS] = {"collapse", "plateau", "scaling", "inconclusive"};

bool curve_counts(const struct curve_point *point)
{
        return point->rate.count && !(point->overlap < overlap_least); /* NAN: not known */
}

struct median curve_ratio(
        const struct curve_point *a, const struct curve_point *b, unsigned long seed)
{
        unsigned slots = a->slots < b->slots ? a->slots : b->slots, pairs = 0;
        double *left = must_allocate(slots * sizeof *left);
        double *right = must_allocate(slots * sizeof *right);
        for (unsigned i = 0; i < slots; i++)
                if (isfinite(a->rates[i]) && isfinite(b->rates[i])) {
                        left[pairs] = a->rates[i];
                        right[pairs++] = b->rates[i];
                }
        struct median ratio = pairs < BOOTSTRAP_LEAST || a == b
                                      ? median_ratio(&a->rate, &b->rate)
                                      : ratio_paired(left, right, pairs, seed);
        if (a == b) /* exactly, whatever the interval */
                ratio.median = ratio.lo = ratio.hi = 1;
        free(left);
        free(right);
        return ratio;
}

static void raise_peak(const struct curve_point **peak, const struct curve_point *point)
{
        if (!*peak || point->rate.median > (*peak)->rate.median)
                *peak = point;
}

static void find_points(struct judgement *judgement, const struct curve *curve)
{
        for (unsigned i = 0; i < curve->count; i++) {
                const struct curve_point *point = &curve->points[i];
                if (!point->rate.count && point->bad)
                        judgement->dead = judgement->dead ? judgement->dead : point;
                if (!curve_counts(point))
                        continue;
                judgement->counted++;
                judgement->first = judgement->first ? judgement->first : point;
                raise_peak(&judgement->peak, point);
                if (point->producers >= 2)
                        raise_peak(&judgement->contended, point);
                judgement->top = point;
                judgement->dead = NULL; /* only those above the top are left */
        }
        for (unsigned i = 0; judgement->top && i < curve->count; i++)
                if (curve_counts(&curve->points[i]) &&
                        2 * curve->points[i].producers <= judgement->top->producers)
                        judgement->half = &curve->points[i];
}

/* The top over that point, or NAN. */
static struct median top_over(
        const struct judgement *judgement, const struct curve_point *point, unsigned long seed)
{
        return point ? curve_ratio(judgement->top, point, seed) : median_of(NULL, 0);
}

static struct median gain_of(const struct judgement *judgement, unsigned long seed)
{
        struct median gain = top_over(judgement, judgement->half, seed);
        if (judgement->half) {
                double doublings =
                        log2((double)judgement->top->producers / judgement->half->producers);
                gain.median = pow(gain.median, 1 / doublings);
                gain.lo = pow(gain.lo, 1 / doublings);
                gain.hi = pow(gain.hi, 1 / doublings);
        }
        return gain;
}

/* Why it is none of the three, though all is there to tell. */
static const char *why_none(const struct median *kept, const struct median *gain)
{
        if (kept->hi < kept_plateau && kept->lo >= kept_collapse)
                return "it falls, but keeps at least half of its peak";
        if (gain->lo >= gain_scaling)
                return "it gains, but its peak lies before";
        if (gain->hi < gain_scaling)
                return "the interval of what it keeps straddles a threshold";
        return "the interval of its gain straddles 1.25";
}

static enum verdict decide(const struct judgement *judgement, bool has_samples, const char **why)
{
        const struct median *kept = &judgement->kept, *gain = &judgement->gain;
        *why = "fewer than 3 counts of producers to judge";
        if (judgement->counted < POINTS_LEAST)
                return VERDICT_INCONCLUSIVE;
        *why = "no count of producers is half of the most, or less";
        if (!judgement->half)
                return VERDICT_INCONCLUSIVE;
        *why = "too few samples: intervals cover less than 90 %";
        if (has_samples &&
                !(kept->coverage >= curve_coverage_least && gain->coverage >= curve_coverage_least))
                return VERDICT_INCONCLUSIVE;
        *why = "it keeps less than half of its peak";
        if (kept->hi < kept_collapse)
                return VERDICT_COLLAPSE;
        *why = "with more producers no sample is ok";
        if (judgement->dead)
                return VERDICT_INCONCLUSIVE;
        *why = "it is at its peak, and still gains at least 1.25x a doubling";
        if (gain->lo >= gain_scaling && kept->hi >= 1)
                return VERDICT_SCALING;
        *why = "it keeps at least 0.8 of its peak, and gains less than 1.25x a doubling";
        if (kept->lo >= kept_plateau && gain->hi < gain_scaling)
                return VERDICT_PLATEAU;
        *why = why_none(kept, gain);
        return VERDICT_INCONCLUSIVE;
}

/* What has no samples has no intervals; to decide by the median it stood for both ends. */
static void drop_interval(struct median *median)
{
        median->lo = median->hi = median->coverage = NAN;
}

struct judgement curve_judge(const struct curve *curve, bool has_samples, unsigned long seed)
{
        struct judgement judgement = {.counted = 0};
        const char *why;
        find_points(&judgement, curve);
        judgement.kept = top_over(&judgement, judgement.peak, seed);
        judgement.kept_contended = top_over(
                &judgement, judgement.top != judgement.first ? judgement.contended : NULL, seed);
        judgement.over_first = top_over(&judgement, judgement.first, seed);
        judgement.gain = gain_of(&judgement, seed);
        judgement.verdict = decide(&judgement, has_samples, &why);
        snprintf(judgement.why, sizeof judgement.why, "%s", why);
        if (!has_samples) {
                drop_interval(&judgement.kept);
                drop_interval(&judgement.kept_contended);
                drop_interval(&judgement.over_first);
                drop_interval(&judgement.gain);
        }
        return judgement;
}
