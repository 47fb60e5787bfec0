/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Two machines, claim by claim: each configuration's verdict; at the most producers that count on
 * both, which of two configurations is ahead, and how many times the first one's rate each has. A
 * claim that either run can't tell is none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

struct tally {
        unsigned agree, contradict, untold;
};

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
        compare_print_config(a->config);
        printf(" %-12s %-12s  %s\n", verdict_names[in_a.verdict], verdict_names[in_b.verdict],
                word_of(told, in_a.verdict == in_b.verdict));
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

static const double coverage_least = 0.9;

/* 1: a is ahead; -1: b is; 0: their intervals meet, or cover too little to say. */
static int ahead(const struct median *a, const struct median *b)
{
        if (a->coverage < coverage_least || b->coverage < coverage_least)
                return 0;
        return (a->lo > b->hi) - (a->hi < b->lo);
}

/* Only what contradicts is printed: of 40 configurations there are 780 pairs. */
static void claim_order(struct tally *tally, const struct curve *const curves[4])
{
        unsigned top = common_top(curves);
        if (!top)
                return;
        int in_a = ahead(&point_at(curves[0], top)->rate, &point_at(curves[1], top)->rate);
        int in_b = ahead(&point_at(curves[2], top)->rate, &point_at(curves[3], top)->rate);
        bool told = in_a && in_b;
        count(tally, told, in_a == in_b);
        if (told && in_a != in_b)
                printf("at %u: CONTRADICT: ahead in A is %s,\n        in B %s\n", top,
                        curves[in_a < 0]->config, curves[in_b < 0]->config);
}

/* Bands: the intervals of the two ratios, widened by the tolerance, meet or not. */
static void claim_ratio(struct tally *tally, const struct curve *const curves[4], double tolerance,
        unsigned long seed)
{
        unsigned top = common_top(curves);
        if (!top)
                return;
        struct median a = curve_ratio(point_at(curves[1], top), point_at(curves[0], top), seed);
        struct median b = curve_ratio(point_at(curves[3], top), point_at(curves[2], top), seed);
        bool told = a.coverage >= coverage_least && b.coverage >= coverage_least;
        bool meet = a.lo * (1 - tolerance) <= b.hi && b.lo * (1 - tolerance) <= a.hi;
        count(tally, told, meet);
        printf("%s\n        at %u: %.3g [%.3g, %.3g] in A, %.3g [%.3g, %.3g] in B: %s\n",
                curves[1]->config, top, a.median, a.lo, a.hi, b.median, b.lo, b.hi,
                word_of(told, meet));
}

/* The curves of two configurations of A, in A and in B; false: B has not both. */
static bool find_four(const struct curve *curves[4], const struct curves *a, const struct curves *b,
        unsigned first, unsigned second)
{
        curves[0] = &a->curves[first];
        curves[1] = &a->curves[second];
        curves[2] = curves_find(b, curves[0]->config);
        curves[3] = curves_find(b, curves[1]->config);
        return curves[2] && curves[3];
}

static void claim_orders(struct tally *tally, const struct curves *a, const struct curves *b)
{
        const struct curve *curves[4];
        puts("");
        for (unsigned i = 0; i < a->count; i++)
                for (unsigned j = i + 1; j < a->count; j++)
                        if (find_four(curves, a, b, i, j))
                                claim_order(tally, curves);
}

/* Over the first configuration that has a point that counts in both. */
static void claim_ratios(struct tally *tally, const struct curves *a, const struct curves *b,
        double tolerance, unsigned long seed)
{
        const struct curve *curves[4];
        unsigned base = 0;
        while (base < a->count && !(find_four(curves, a, b, base, base) && common_top(curves)))
                base++;
        if (base == a->count)
                return;
        printf("\nratios at the most producers that count in both, over %s\n",
                a->curves[base].config);
        for (unsigned i = base + 1; i < a->count; i++)
                if (find_four(curves, a, b, base, i))
                        claim_ratio(tally, curves, tolerance, seed);
}

static void print_tally(const char *what, const struct tally *tally)
{
        printf("%s: %u agree, %u contradict, %u can't be told\n", what, tally->agree,
                tally->contradict, tally->untold);
}

static void claim_verdicts(
        struct tally *tally, const struct curves *a, const struct curves *b, unsigned long seed)
{
        puts("");
        compare_print_config("verdicts");
        printf(" %-12s %-12s\n", "A", "B");
        for (unsigned i = 0; i < a->count; i++) {
                const struct curve *other = curves_find(b, a->curves[i].config);
                if (other)
                        claim_verdict(tally, &a->curves[i], other, seed);
        }
}

enum exit_code compare_claims(
        const struct rows *a, const struct rows *b, double tolerance, unsigned long seed)
{
        struct curves in_a, in_b;
        struct tally verdicts = {0}, ratios = {0}, orders = {0};
        curves_of_rows(&in_a, a);
        curves_of_rows(&in_b, b);
        claim_verdicts(&verdicts, &in_a, &in_b, seed);
        claim_ratios(&ratios, &in_a, &in_b, tolerance, seed);
        claim_orders(&orders, &in_a, &in_b);
        curves_free(&in_a);
        curves_free(&in_b);
        print_tally("verdicts", &verdicts);
        print_tally("ratios", &ratios);
        print_tally("order of pairs, by rates whose intervals are apart", &orders);
        struct tally all = {verdicts.agree + ratios.agree + orders.agree,
                verdicts.contradict + ratios.contradict + orders.contradict,
                verdicts.untold + ratios.untold + orders.untold};
        printf("compare: two machines: %u claims agree, %u contradict, %u can't be told\n",
                all.agree, all.contradict, all.untold);
        return all.contradict ? EXIT_FAILED : all.agree ? EXIT_DONE : EXIT_INCONCLUSIVE;
}
