/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Two machines, claim by claim: each configuration's verdict; which of two configurations is ahead
 * at the most producers that count on both; and by how much. A claim that either run can't tell is
 * none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

struct tally {
        unsigned agree, contradict, untold;
};

/* word: what it is that agrees or not. */
static void count(struct tally *tally, bool told, bool agrees)
{
        tally->agree += told && agrees;
        tally->contradict += told && !agrees;
        tally->untold += !told;
}

static const char *word_of(bool told, bool agrees)
{
        return !told ? "can't tell" : agrees ? "agree" : "CONTRADICT";
}

static void claim_verdict(
        struct tally *tally, const struct curve *a, const struct curve *b, unsigned long seed)
{
        struct judgement in_a = curve_judge(a, true, seed), in_b = curve_judge(b, true, seed);
        bool told = in_a.verdict != VERDICT_INCONCLUSIVE && in_b.verdict != VERDICT_INCONCLUSIVE;
        count(tally, told, in_a.verdict == in_b.verdict);
        printf("  %-52s %-12s %-12s  %s\n", a->config, verdict_names[in_a.verdict],
                verdict_names[in_b.verdict], word_of(told, in_a.verdict == in_b.verdict));
}

static const struct curve_point *point_at(const struct curve *curve, unsigned producers)
{
        for (unsigned i = 0; i < curve->count; i++)
                if (curve->points[i].producers == producers && curve_counts(&curve->points[i]))
                        return &curve->points[i];
        return NULL;
}

/* The most producers at which all four count; 0: none. */
static unsigned common_top(const struct curve *const curves[4])
{
        for (unsigned i = curves[0]->count; i--;) {
                unsigned producers = curves[0]->points[i].producers, found = 0;
                for (unsigned c = 0; c < 4; c++)
                        found += point_at(curves[c], producers) != NULL;
                if (found == 4)
                        return producers;
        }
        return 0;
}

static bool is_clear(const struct median *ratio)
{
        return ratio->coverage >= 0.9 && (ratio->lo > 1 || ratio->hi < 1);
}

static void claim_order(struct tally *tally, const struct curve *const curves[4], double tolerance,
        unsigned long seed)
{
        unsigned top = common_top(curves);
        if (!top)
                return;
        struct median a = curve_ratio(point_at(curves[0], top), point_at(curves[1], top), seed);
        struct median b = curve_ratio(point_at(curves[2], top), point_at(curves[3], top), seed);
        bool told = is_clear(&a) && is_clear(&b), same = (a.median > 1) == (b.median > 1);
        count(tally, told, same);
        printf("  at %u: %s over %s\n    %.3g [%.3g, %.3g] and %.3g [%.3g, %.3g]: order: %s", top,
                curves[0]->config, curves[1]->config, a.median, a.lo, a.hi, b.median, b.lo, b.hi,
                word_of(told, same));
        /* Bands: the intervals, widened by the tolerance, meet or not. */
        bool covered = a.coverage >= 0.9 && b.coverage >= 0.9;
        bool meet = a.lo * (1 - tolerance) <= b.hi && b.lo * (1 - tolerance) <= a.hi;
        printf("; size: %s\n", !covered ? "can't tell" : meet ? "the same band" : "another band");
}

enum exit_code compare_claims(
        const struct rows *a, const struct rows *b, double tolerance, unsigned long seed)
{
        struct curves in_a, in_b;
        struct tally tally = {0};
        curves_of_rows(&in_a, a);
        curves_of_rows(&in_b, b);
        printf("\nverdicts\n  %-52s %-12s %-12s\n", "", "A", "B");
        for (unsigned i = 0; i < in_a.count; i++) {
                const struct curve *other = curves_find(&in_b, in_a.curves[i].config);
                if (other)
                        claim_verdict(&tally, &in_a.curves[i], other, seed);
        }
        printf("\norder and ratio at the most producers that count in both, A's and B's\n");
        for (unsigned i = 0; i < in_a.count; i++)
                for (unsigned j = i + 1; j < in_a.count; j++) {
                        const struct curve *const curves[4] = {&in_a.curves[i], &in_a.curves[j],
                                curves_find(&in_b, in_a.curves[i].config),
                                curves_find(&in_b, in_a.curves[j].config)};
                        if (curves[2] && curves[3])
                                claim_order(&tally, curves, tolerance, seed);
                }
        curves_free(&in_a);
        curves_free(&in_b);
        printf("\ncompare: two machines: %u claims agree, %u contradict, %u can't be told\n",
                tally.agree, tally.contradict, tally.untold);
        return tally.contradict ? EXIT_FAILED : tally.agree ? EXIT_DONE : EXIT_INCONCLUSIVE;
}
