/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The findings as CSV, JSON, or a table of at most 100 columns and a sentence each. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict.h"

/* Gets each number of a finding; NAN: there is none. */
typedef void take_number(void *to, const char *name, double value);

static void give_median(take_number *take, void *to, const char *name, const struct median *median)
{
        char full[64];
        const bool covers = median->coverage > 0; /* one sample is no interval */
        take(to, name, median->median);
        snprintf(full, sizeof full, "%s_lo", name);
        take(to, full, covers ? median->lo : NAN);
        snprintf(full, sizeof full, "%s_hi", name);
        take(to, full, covers ? median->hi : NAN);
        snprintf(full, sizeof full, "%s_coverage", name);
        take(to, full, covers ? median->coverage : NAN);
}

static double producers_of(const struct curve_point *point)
{
        return point ? point->producers : NAN;
}

static void give_law(take_number *take, void *to, const struct finding *finding)
{
        const struct usl *usl = &finding->usl;
        struct median sigma = finding->usl_intervals.sigma, kappa = finding->usl_intervals.kappa;
        sigma.median = usl->fitted ? usl->sigma : NAN;
        kappa.median = usl->fitted ? usl->kappa : NAN;
        take(to, "usl_lambda_per_s", usl->fitted ? usl->lambda_per_s : NAN);
        give_median(take, to, "usl_sigma", &sigma);
        give_median(take, to, "usl_kappa", &kappa);
        take(to, "usl_peak_producers", usl->fitted ? usl->peak_at : NAN);
        take(to, "usl_residual_max_ratio", usl->fitted ? usl->residual_max : NAN);
}

static void give_numbers(take_number *take, void *to, const struct finding *finding)
{
        const struct judgement *judgement = &finding->judgement;
        const struct median none = median_of(NULL, 0);
        give_median(
                take, to, "peak_submit_per_s", judgement->peak ? &judgement->peak->rate : &none);
        take(to, "peak_producers", producers_of(judgement->peak));
        take(to, "first_producers", producers_of(judgement->first));
        take(to, "top_producers", producers_of(judgement->top));
        give_median(take, to, "kept_share", &judgement->kept);
        give_median(take, to, "kept_share_from_2_producers", &judgement->kept_contended);
        give_median(take, to, "top_over_first_ratio", &judgement->over_first);
        give_median(take, to, "gain_per_doubling_ratio", &judgement->gain);
        give_law(take, to, finding);
        take(to, "points_counted", judgement->counted);
        take(to, "points_in_turn", finding->in_turn);
        take(to, "samples_bad", finding->bad);
        take(to, "samples_skipped", finding->skipped);
}

static void print_name(void *to, const char *name, double value)
{
        (void)value;
        fprintf(to, ",%s", name);
}

static void print_number(void *to, const char *name, double value)
{
        (void)name;
        fprintf(to, isfinite(value) ? ",%.6g" : ",NA", value);
}

/* There is no quoting: commas become semicolons. */
static void print_text(const char *text)
{
        for (; *text; text++)
                putchar(*text == ',' ? ';' : *text);
}

/* Why the law, or its intervals, are NA. */
static const char *law_missing(const struct finding *finding)
{
        const char *why = finding->usl.fitted ? finding->usl_intervals.why : finding->usl.why;
        return why ? why : "no";
}

void verdict_print_csv(const struct finding *findings, const struct curves *curves)
{
        fputs("kind,machine,cpus,quick,config,instead,verdict,why", stdout);
        give_numbers(print_name, stdout, &findings[0]);
        puts(",usl_missing,past_cpus");
        for (unsigned i = 0; i < curves->count; i++) {
                const struct finding *finding = &findings[i];
                printf("%s,%s,", curves->kind, curves->machine);
                printf(curves->cpus ? "%u" : "NA", curves->cpus);
                printf(",%s,%s,%s,%s,", curves->quick ? "yes" : "no", finding->curve->config,
                        finding->curve->instead, verdict_names[finding->judgement.verdict]);
                print_text(finding->judgement.why);
                give_numbers(print_number, stdout, finding);
                putchar(',');
                print_text(law_missing(finding));
                printf(",%s\n", !curves->cpus ? "NA" : finding->past_cpus ? "yes" : "no");
        }
}

static void set_number(void *to, const char *name, double value)
{
        json_object_set_new(to, name,
                !isfinite(value)                               ? json_null()
                : value == floor(value) && fabs(value) <= 1e15 ? json_integer((json_int_t)value)
                                                               : json_real(value));
}

void verdict_print_json(const struct finding *findings, const struct curves *curves)
{
        json_t *list = json_array();
        for (unsigned i = 0; i < curves->count; i++) {
                const struct finding *finding = &findings[i];
                json_t *object = json_pack("{s:s, s:s, s:o, s:b, s:s, s:s, s:s, s:s}", "kind",
                        curves->kind, "machine", curves->machine, "cpus",
                        curves->cpus ? json_integer(curves->cpus) : json_null(), "quick",
                        curves->quick, "config", finding->curve->config, "instead",
                        finding->curve->instead, "verdict",
                        verdict_names[finding->judgement.verdict], "why", finding->judgement.why);
                give_numbers(set_number, object, finding);
                json_object_set_new(object, "usl_missing", json_string(law_missing(finding)));
                json_object_set_new(object, "past_cpus",
                        curves->cpus ? json_boolean(finding->past_cpus) : json_null());
                json_array_append_new(list, object);
        }
        json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(list);
}

/* "0.971 [0.903, 1.02]"; the interval where it covers what the rule asks for, and is one: a point
 * over itself is 1. */
static const char *format_median(char *text, size_t bytes, const struct median *median, double unit)
{
        if (median->coverage >= curve_coverage_least && median->lo < median->hi)
                snprintf(text, bytes, "%.3g [%.3g, %.3g]", median->median / unit, median->lo / unit,
                        median->hi / unit);
        else
                snprintf(text, bytes, "%.3g", median->median / unit);
        return text;
}

enum { CONFIG_COLUMNS = 86 };

static void print_line(const struct finding *finding)
{
        const struct judgement *judgement = &finding->judgement;
        const char *config = finding->curve->config;
        char peak[48], kept[48];
        if (strlen(config) > CONFIG_COLUMNS)
                printf("%s\n%*s", config, CONFIG_COLUMNS, "");
        else
                printf("%-*s", CONFIG_COLUMNS, config);
        printf("  %s\n", verdict_names[judgement->verdict]);
        if (!judgement->peak) {
                puts("  no count of producers has a sample to judge");
                return;
        }
        printf("  %-24s %4u  %-27s %4u  %-14.3g",
                format_median(peak, sizeof peak, &judgement->peak->rate, 1e6),
                judgement->peak->producers, format_median(kept, sizeof kept, &judgement->kept, 1),
                judgement->top->producers, judgement->over_first.median);
        if (finding->usl.fitted)
                printf("  %-8.3g %.3g\n", finding->usl.sigma, finding->usl.kappa);
        else
                puts("  not fitted");
}

static void print_parameter(const char *name, double value, const struct median *interval)
{
        printf("%s %.3g", name, value);
        if (isfinite(interval->lo))
                printf(" [%.2g, %.2g]", interval->lo, interval->hi);
}

static void print_law(const struct finding *finding)
{
        const struct usl *usl = &finding->usl;
        if (!usl->fitted) {
                printf(" The law is not fitted: %s.", usl->why);
                return;
        }
        fputs(" The law: ", stdout);
        print_parameter("sigma", usl->sigma, &finding->usl_intervals.sigma);
        print_parameter(", kappa", usl->kappa, &finding->usl_intervals.kappa);
        if (finding->usl_intervals.why)
                printf(" (intervals NA: %s)", finding->usl_intervals.why);
        if (usl->peak_at <= 1)
                fputs(", falling throughout", stdout);
        else if (isfinite(usl->peak_at))
                printf(", peak at %.3g producers%s", usl->peak_at,
                        usl->peak_at > finding->judgement.top->producers
                                ? " (beyond all that counts)"
                                : "");
        else
                fputs(", no peak", stdout);
        printf("; it misses a point by up to %.0f %%.", 100 * usl->residual_max);
}

static void print_sentence(const struct finding *finding, const struct curves *curves)
{
        const struct judgement *judgement = &finding->judgement;
        char gain[48];
        printf("%s: %s", finding->curve->config, verdict_names[judgement->verdict]);
        if (judgement->counted > 1)
                printf(", %u to %u producers", judgement->first->producers,
                        judgement->top->producers);
        printf(": %s.", judgement->why);
        if (judgement->half)
                printf(" Gain: %s.", format_median(gain, sizeof gain, &judgement->gain, 1));
        if (judgement->peak && judgement->peak->producers == 1 && judgement->counted > 1)
                printf(" From 2 producers on it keeps %.3g.", judgement->kept_contended.median);
        print_law(finding);
        if (finding->in_turn)
                printf(" Left out: %u count%s at which producers mostly ran in turn.",
                        finding->in_turn, finding->in_turn == 1 ? "" : "s");
        if (finding->past_cpus)
                printf(" Beyond %u producers they outnumber the CPUs.", curves->cpus);
        if (finding->bad)
                printf(" Left out: %u sample%s not ok.", finding->bad,
                        finding->bad == 1 ? " that is" : "s that are");
        if (finding->skipped)
                printf(" Skipped: %u sample%s.", finding->skipped,
                        finding->skipped == 1 ? "" : "s");
        if (strcmp(finding->curve->instead, "no") != 0)
                printf(" It could not run there; what ran is %s.", finding->curve->instead);
        putchar('\n');
}

void verdict_print_table(const struct finding *findings, const struct curves *curves)
{
        printf("%s: %s, ", curves->kind, curves->machine);
        if (curves->cpus)
                printf("%u CPUs", curves->cpus);
        else
                fputs("CPUs unknown", stdout);
        fputs(curves->quick ? ", quick" : "", stdout);
        puts(curves->has_samples ? "; intervals that cover at least 90 %"
                                 : "; no intervals: by medians alone");
        printf("\n%-*s  %s\n  %-24s %4s  %-27s %4s  %-14s  %-8s %s\n", CONFIG_COLUMNS,
                "configuration", "verdict", "peak, M/s", "at", "kept of it", "at", "over the first",
                "sigma", "kappa");
        for (unsigned i = 0; i < curves->count; i++)
                print_line(&findings[i]);
        putchar('\n');
        for (unsigned i = 0; i < curves->count; i++)
                print_sentence(&findings[i], curves);
}
