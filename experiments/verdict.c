/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin verdict`: of each curve its peak, what it keeps at the top, the Universal Scalability Law,
 * and a verdict by the rule of curve.h. */
#include "verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* The law of the points that count from 2 producers on. */
static void fit_law(struct finding *finding, bool has_samples, unsigned long seed)
{
        const struct curve *curve = finding->curve;
        double *producers = must_allocate(curve->count * sizeof *producers);
        double *rates = must_allocate(curve->count * sizeof *rates);
        struct usl_point *points = must_allocate(curve->count * sizeof *points);
        size_t count = 0;
        for (unsigned i = 0; i < curve->count; i++) {
                const struct curve_point *point = &curve->points[i];
                if (!curve_counts(point) || point->producers < 2)
                        continue;
                producers[count] = point->producers;
                rates[count] = point->rate.median;
                points[count++] = (struct usl_point){point->producers, point->rates, point->slots};
        }
        finding->usl = usl_fit(producers, rates, count);
        finding->usl_intervals = (struct usl_intervals){
                .why = "no samples", .sigma = median_of(NULL, 0), .kappa = median_of(NULL, 0)};
        if (finding->usl.fitted && has_samples)
                finding->usl_intervals = usl_bootstrap(points, count, seed);
        free(producers);
        free(rates);
        free(points);
}

static struct finding find(const struct curves *curves, unsigned which, unsigned long seed)
{
        const struct curve *curve = &curves->curves[which];
        struct finding finding = {
                .curve = curve, .judgement = curve_judge(curve, curves->has_samples, seed)};
        fit_law(&finding, curves->has_samples, seed);
        for (unsigned i = 0; i < curve->count; i++) {
                const struct curve_point *point = &curve->points[i];
                finding.in_turn += point->rate.count && !curve_counts(point);
                finding.bad += point->bad;
                finding.skipped += point->skipped;
                finding.past_cpus |=
                        curves->cpus && curve_counts(point) && point->producers > curves->cpus;
        }
        return finding;
}

int verdict_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        struct curves curves;
        char why[512];
        settings_init(&settings);
        settings_parse(&settings, FOR_VERDICT, argc, argv);
        if (!curves_read(&curves, settings.operands[0], why, sizeof why))
                die("%s", why);
        struct finding *findings = must_allocate(curves.count * sizeof *findings);
        bool told = false;
        for (unsigned i = 0; i < curves.count; i++) {
                findings[i] = find(&curves, i, settings.seed);
                told |= findings[i].judgement.verdict != VERDICT_INCONCLUSIVE;
        }
        (settings.format == FORMAT_CSV           ? verdict_print_csv
                : settings.format == FORMAT_JSON ? verdict_print_json
                                                 : verdict_print_table)(findings, &curves);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        free(findings);
        curves_free(&curves);
        settings_free(&settings);
        return told ? EXIT_DONE : EXIT_INCONCLUSIVE;
}
