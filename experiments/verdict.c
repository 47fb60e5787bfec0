/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin verdict`: of each curve its peak, what it keeps at the top, the Universal Scalability Law,
 * and a verdict by the rule of curve.h. */
#include <errno.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "curve.h"
#include "usl.h"

enum { RESAMPLES = 200 };

/* One configuration's line. */
struct finding {
        const struct curve *curve;
        struct judgement judgement;
        struct usl usl;
        struct median sigma, kappa; /* bootstrapped; NAN ends where there are no samples */
        unsigned bad, in_turn;
        bool past_cpus; /* points beyond the CPU count are in it */
};

static unsigned list_points(const struct curve *curve, double *producers, double *rates)
{
        unsigned count = 0;
        for (unsigned i = 0; i < curve->count; i++)
                if (curve_counts(&curve->points[i])) {
                        producers[count] = curve->points[i].producers;
                        rates[count++] = curve->points[i].rate.median;
                }
        return count;
}

/* The median of as many samples, drawn from the point's. */
static double resampled_rate(const struct curve_point *point, gsl_rng *random, double *scratch)
{
        size_t count = 0;
        for (unsigned i = 0; i < point->slots; i++)
                if (isfinite(point->rates[i]))
                        scratch[count++] = point->rates[i];
        double *drawn = scratch + point->slots;
        for (size_t i = 0; i < count; i++)
                drawn[i] = scratch[gsl_rng_uniform_int(random, count)];
        return gsl_stats_median(drawn, 1, count);
}

static struct median interval_of(double *values, size_t count, double estimate)
{
        gsl_sort(values, 1, count);
        return (struct median){.median = estimate,
                .lo = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.025),
                .hi = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.975),
                .coverage = 0.95,
                .count = count};
}

/* The law's parameters, fitted anew to points whose samples are drawn anew. */
static void bootstrap_law(struct finding *finding, unsigned long seed)
{
        const struct curve *curve = finding->curve;
        double sigmas[RESAMPLES], kappas[RESAMPLES];
        double *producers = must_allocate(curve->count * sizeof *producers);
        double *rates = must_allocate(curve->count * sizeof *rates);
        unsigned slots = 0, fits = 0;
        for (unsigned i = 0; i < curve->count; i++)
                slots = curve->points[i].slots > slots ? curve->points[i].slots : slots;
        double *scratch = must_allocate(2 * slots * sizeof *scratch);
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        if (!random)
                die("no memory");
        gsl_rng_set(random, seed);
        for (unsigned r = 0; r < RESAMPLES; r++) {
                unsigned count = 0;
                for (unsigned i = 0; i < curve->count; i++)
                        if (curve_counts(&curve->points[i])) {
                                producers[count] = curve->points[i].producers;
                                rates[count++] = resampled_rate(&curve->points[i], random, scratch);
                        }
                struct usl usl = usl_fit(producers, rates, count);
                if (usl.fitted) {
                        sigmas[fits] = usl.sigma;
                        kappas[fits++] = usl.kappa;
                }
        }
        if (fits > RESAMPLES / 2) {
                finding->sigma = interval_of(sigmas, fits, finding->usl.sigma);
                finding->kappa = interval_of(kappas, fits, finding->usl.kappa);
        }
        gsl_rng_free(random);
        free(producers);
        free(rates);
        free(scratch);
}

static struct finding find(const struct curves *curves, unsigned which, unsigned long seed)
{
        const struct curve *curve = &curves->curves[which];
        struct finding finding = {.curve = curve,
                .judgement = curve_judge(curve, curves->has_samples, seed),
                .sigma = median_of(NULL, 0),
                .kappa = median_of(NULL, 0)};
        double *producers = must_allocate(curve->count * sizeof *producers);
        double *rates = must_allocate(curve->count * sizeof *rates);
        finding.usl = usl_fit(producers, rates, list_points(curve, producers, rates));
        free(producers);
        free(rates);
        if (finding.usl.fitted) {
                finding.sigma.median = finding.usl.sigma;
                finding.kappa.median = finding.usl.kappa;
        }
        if (finding.usl.fitted && curves->has_samples)
                bootstrap_law(&finding, seed);
        for (unsigned i = 0; i < curve->count; i++) {
                const struct curve_point *point = &curve->points[i];
                finding.bad += point->bad;
                finding.in_turn += point->rate.count && !curve_counts(point);
                finding.past_cpus |=
                        curves->cpus && curve_counts(point) && point->producers > curves->cpus;
        }
        return finding;
}

static double rate_of(const struct curve_point *point)
{
        return point ? point->rate.median : NAN;
}

static double producers_of(const struct curve_point *point)
{
        return point ? point->producers : NAN;
}

/* What CSV and JSON have of a finding. */
#define FINDING_NUMBERS(N)                                                                         \
        N(peak_submit_per_s, rate_of(judgement->peak))                                             \
        N(peak_submit_per_s_lo,                                                                    \
                curves->has_samples && judgement->peak ? judgement->peak->rate.lo : NAN)           \
        N(peak_submit_per_s_hi,                                                                    \
                curves->has_samples && judgement->peak ? judgement->peak->rate.hi : NAN)           \
        N(peak_producers, producers_of(judgement->peak))                                           \
        N(top_producers, producers_of(judgement->top))                                             \
        N(kept_share, judgement->kept.median)                                                      \
        N(kept_share_lo, judgement->kept.lo)                                                       \
        N(kept_share_hi, judgement->kept.hi)                                                       \
        N(last_gain_ratio, judgement->gain.median)                                                 \
        N(last_gain_ratio_lo, judgement->gain.lo)                                                  \
        N(last_gain_ratio_hi, judgement->gain.hi)                                                  \
        N(usl_lambda_per_s, finding->usl.fitted ? finding->usl.lambda_per_s : NAN)                 \
        N(usl_sigma, finding->sigma.median)                                                        \
        N(usl_sigma_lo, finding->sigma.lo)                                                         \
        N(usl_sigma_hi, finding->sigma.hi)                                                         \
        N(usl_kappa, finding->kappa.median)                                                        \
        N(usl_kappa_lo, finding->kappa.lo)                                                         \
        N(usl_kappa_hi, finding->kappa.hi)                                                         \
        N(usl_residual_max_ratio, finding->usl.fitted ? finding->usl.residual_max : NAN)           \
        N(points_counted, (double)judgement->counted)                                              \
        N(points_in_turn, (double)finding->in_turn)                                                \
        N(samples_bad, (double)finding->bad)

/* Without samples an interval is no more than its middle, and NA. */
static void blank_intervals(struct finding *findings, const struct curves *curves)
{
        for (unsigned i = 0; i < curves->count && !curves->has_samples; i++) {
                struct judgement *judgement = &findings[i].judgement;
                judgement->kept.lo = judgement->kept.hi = NAN;
                judgement->gain.lo = judgement->gain.hi = NAN;
        }
}

static void print_csv(const struct finding *findings, const struct curves *curves)
{
        fputs("kind,machine,cpus,config,verdict,why", stdout);
#define PRINT_NAME(name, value) fputs("," #name, stdout);
        FINDING_NUMBERS(PRINT_NAME)
        fputs(",past_cpus\n", stdout);
        for (unsigned i = 0; i < curves->count; i++) {
                const struct finding *finding = &findings[i];
                const struct judgement *judgement = &finding->judgement;
                char why[sizeof judgement->why];
                snprintf(why, sizeof why, "%s", judgement->why);
                for (char *c = why; (c = strchr(c, ','));)
                        *c = ';';
                printf("%s,%s,", curves->kind, curves->machine);
                printf(curves->cpus ? "%u" : "NA", curves->cpus);
                printf(",%s,%s,%s", finding->curve->config, verdict_names[judgement->verdict], why);
#define PRINT_VALUE(name, value) printf(isfinite(value) ? ",%.6g" : ",NA", value);
                FINDING_NUMBERS(PRINT_VALUE)
                printf(",%s\n", !curves->cpus ? "NA" : finding->past_cpus ? "yes" : "no");
        }
}

static void print_json(const struct finding *findings, const struct curves *curves)
{
        json_t *list = json_array();
        for (unsigned i = 0; i < curves->count; i++) {
                const struct finding *finding = &findings[i];
                const struct judgement *judgement = &finding->judgement;
                json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "kind", curves->kind,
                        "machine", curves->machine, "cpus",
                        curves->cpus ? json_integer(curves->cpus) : json_null(), "config",
                        json_string(finding->curve->config), "verdict",
                        verdict_names[judgement->verdict], "why", judgement->why);
#define SET_VALUE(name, value)                                                                     \
        json_object_set_new(object, #name, isfinite(value) ? json_real(value) : json_null());
                FINDING_NUMBERS(SET_VALUE)
                json_object_set_new(object, "past_cpus",
                        curves->cpus ? json_boolean(finding->past_cpus) : json_null());
                json_array_append_new(list, object);
        }
        json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(list);
}

static void print_parameter(const struct median *parameter)
{
        if (!isfinite(parameter->median))
                printf("  %-28s", "not fitted");
        else if (isfinite(parameter->lo))
                printf("  %8.3g [%7.2g, %7.2g]", parameter->median, parameter->lo, parameter->hi);
        else
                printf("  %8.3g %-18s", parameter->median, "[NA]");
}

static void print_sentence(const struct finding *finding, const struct curves *curves)
{
        const struct judgement *judgement = &finding->judgement;
        printf("%s: %s: %s.", finding->curve->config, verdict_names[judgement->verdict],
                judgement->why);
        if (!finding->usl.fitted)
                printf(" The law is not fitted: %s.", finding->usl.why);
        else if (finding->usl.peak_at < 1)
                printf(" The law falls from the first producer on, and misses a point by up to "
                       "%.0f %%.",
                        100 * finding->usl.residual_max);
        else if (isfinite(finding->usl.peak_at))
                printf(" The law has its peak at %.3g producers, and misses a point by up to %.0f "
                       "%%.",
                        finding->usl.peak_at, 100 * finding->usl.residual_max);
        else
                printf(" The law has no peak, and misses a point by up to %.0f %%.",
                        100 * finding->usl.residual_max);
        if (finding->in_turn)
                printf(" %u point%s left out: its producers mostly ran in turn.", finding->in_turn,
                        finding->in_turn == 1 ? "" : "s");
        if (finding->past_cpus)
                printf(" Beyond %u producers there are more threads than the %u CPUs.",
                        curves->cpus, curves->cpus);
        if (finding->bad)
                printf(" %u samples are not ok and left out.", finding->bad);
        putchar('\n');
}

static void print_table(const struct finding *findings, const struct curves *curves)
{
        printf("%s: %s", curves->kind, curves->machine);
        if (curves->cpus)
                printf(", %u CPUs", curves->cpus);
        puts(curves->has_samples ? "" : "; no samples, so no intervals: by medians alone");
        for (unsigned i = 0; i < curves->count; i++) {
                const struct finding *finding = &findings[i];
                const struct judgement *judgement = &finding->judgement;
                printf("\n%s\n  ", finding->curve->config);
                if (judgement->peak)
                        printf("peak %.4g M/s at %u; kept at %u: %.3g",
                                rate_of(judgement->peak) / 1e6, judgement->peak->producers,
                                judgement->top->producers, judgement->kept.median);
                else
                        printf("no point counts");
                if (isfinite(judgement->kept.lo))
                        printf(" [%.3g, %.3g]", judgement->kept.lo, judgement->kept.hi);
                printf("; %s\n  sigma", verdict_names[judgement->verdict]);
                print_parameter(&finding->sigma);
                printf("  kappa");
                print_parameter(&finding->kappa);
                putchar('\n');
        }
        putchar('\n');
        for (unsigned i = 0; i < curves->count; i++)
                print_sentence(&findings[i], curves);
}

/* A run directory; or a CSV file of samples, or of one rate a point. Dies on a fault. */
static void read_curves(struct curves *curves, const char *path)
{
        char why[512], *file = NULL;
        struct stat status;
        struct csv csv;
        struct rows rows;
        if (stat(path, &status))
                die("%s can't be read: %s", path, strerror(errno));
        if (S_ISDIR(status.st_mode) && asprintf(&file, "%s/samples.csv", path) < 0)
                die("no memory");
        const char *name = file ? file : path;
        if (!csv_read(&csv, name, why, sizeof why))
                die("%s", why);
        bool samples = file || csv_column(&csv, "submits", NULL, 0) >= 0;
        bool read = samples ? rows_read(&rows, name, why, sizeof why)
                            : curves_of_table(curves, &csv, why, sizeof why);
        if (!read)
                die("%s", why);
        if (samples) {
                curves_of_rows(curves, &rows);
                rows_free(&rows);
        }
        csv_free(&csv);
        free(file);
}

int verdict_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        struct curves curves;
        settings_init(&settings);
        settings_parse(&settings, FOR_VERDICT, argc, argv);
        read_curves(&curves, settings.operands[0]);
        struct finding *findings = must_allocate(curves.count * sizeof *findings);
        bool told = false;
        for (unsigned i = 0; i < curves.count; i++) {
                findings[i] = find(&curves, i, settings.seed);
                told |= findings[i].judgement.verdict != VERDICT_INCONCLUSIVE;
        }
        blank_intervals(findings, &curves);
        (settings.format == FORMAT_CSV           ? print_csv
                : settings.format == FORMAT_JSON ? print_json
                                                 : print_table)(findings, &curves);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        free(findings);
        curves_free(&curves);
        settings_free(&settings);
        return told ? EXIT_DONE : EXIT_INCONCLUSIVE;
}
