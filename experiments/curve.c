/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* From rows or a table to curves, and from a curve to its verdict. */
#include "curve.h"

#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/fanin.h"
#include "settings.h"

static const double overlap_least = 0.5, kept_collapse = 0.5, kept_plateau = 0.8,
                    gain_scaling = 1.25;
static const double least_coverage = 0.9;
enum { POINTS_LEAST = 3 };

const char *const verdict_names[VERDICTS] = {"collapse", "plateau", "scaling", "inconclusive"};

const struct curve *curves_find(const struct curves *curves, const char *config)
{
        for (unsigned i = 0; i < curves->count; i++)
                if (!strcmp(curves->curves[i].config, config))
                        return &curves->curves[i];
        return NULL;
}

static void *grow(void *array, unsigned count, size_t element)
{
        array = realloc(array, (count + 1) * element);
        if (!array)
                die("no memory");
        return array;
}

static struct curve *curve_of(struct curves *curves, const char *config)
{
        struct curve *curve = (struct curve *)curves_find(curves, config);
        if (curve)
                return curve;
        curves->curves = grow(curves->curves, curves->count, sizeof *curve);
        curve = &curves->curves[curves->count++];
        *curve = (struct curve){.count = 0};
        snprintf(curve->config, sizeof curve->config, "%s", config);
        return curve;
}

/* Found, or put in its place. */
static struct curve_point *point_of(struct curve *curve, unsigned producers)
{
        unsigned i = 0;
        while (i < curve->count && curve->points[i].producers < producers)
                i++;
        if (i < curve->count && curve->points[i].producers == producers)
                return &curve->points[i];
        curve->points = grow(curve->points, curve->count, sizeof *curve->points);
        memmove(&curve->points[i + 1], &curve->points[i],
                (curve->count++ - i) * sizeof *curve->points);
        curve->points[i] = (struct curve_point){.producers = producers, .overlap = NAN};
        return &curve->points[i];
}

static void set_rate(struct curve_point *point, unsigned sample, double rate)
{
        for (; point->slots <= sample; point->slots++) {
                point->rates = grow(point->rates, point->slots, sizeof *point->rates);
                point->rates[point->slots] = NAN;
        }
        point->rates[sample] = rate;
}

static struct median median_of_rates(const struct curve_point *point)
{
        double *rates = must_allocate(point->slots * sizeof *rates);
        size_t count = 0;
        for (unsigned i = 0; i < point->slots; i++)
                if (isfinite(point->rates[i]))
                        rates[count++] = point->rates[i];
        struct median median = median_of(rates, count);
        free(rates);
        return median;
}

static double median_overlap(const struct rows *rows, const char *config, unsigned producers)
{
        double *overlaps = must_allocate(rows->count * sizeof *overlaps);
        size_t count = 0;
        for (unsigned i = 0; i < rows->count; i++) {
                const struct row *row = &rows->rows[i];
                if (row->producers == producers && row_status_of(row) == STATUS_OK &&
                        !strcmp(row->config, config) && strcmp(row->twin, "b") != 0)
                        overlaps[count++] = row->overlap;
        }
        double median = count ? gsl_stats_median(overlaps, 1, count) : NAN;
        free(overlaps);
        return median;
}

void curves_of_rows(struct curves *curves, const struct rows *rows)
{
        *curves = (struct curves){.has_samples = true, .kind = "measured"};
        if (rows->count) {
                curves->cpus = (unsigned)rows->rows[0].cpus_effective;
                snprintf(curves->machine, sizeof curves->machine, "%s", rows->rows[0].machine);
        }
        for (unsigned i = 0; i < rows->count; i++) {
                const struct row *row = &rows->rows[i];
                if (!strcmp(row->twin, "b"))
                        continue;
                struct curve_point *point =
                        point_of(curve_of(curves, row->config), (unsigned)row->producers);
                if (row_status_of(row) == STATUS_OK)
                        set_rate(point, (unsigned)row->sample, row->submit_per_s);
                else
                        point->bad++;
        }
        for (unsigned c = 0; c < curves->count; c++)
                for (unsigned p = 0; p < curves->curves[c].count; p++) {
                        struct curve_point *point = &curves->curves[c].points[p];
                        point->rate = median_of_rates(point);
                        point->overlap =
                                median_overlap(rows, curves->curves[c].config, point->producers);
                }
}

/* A column that must say the same in every row; without it: otherwise. */
static bool same_text(const struct csv *csv, const char *name, const char *otherwise, char *text,
        size_t bytes, char *why, size_t why_bytes)
{
        int column = csv_column(csv, name, NULL, 0);
        snprintf(text, bytes, "%s",
                column < 0 || !csv->rows ? otherwise : csv_field(csv, 0, (unsigned)column));
        for (unsigned i = 0; column >= 0 && i < csv->rows; i++)
                if (strncmp(csv_field(csv, i, (unsigned)column), text, bytes - 1) != 0)
                        return csv_fault(csv, i, (unsigned)column,
                                       "what line 2 says: kinds and machines are not mixed", why,
                                       why_bytes),
                               false;
        for (char *c = text; *c; c++)
                *c = (char)(*c < ' ' || *c > '~' ? '?' : *c);
        return true;
}

/* "Apple M5 10 cores". */
static unsigned cpus_in(const char *machine)
{
        size_t length = strlen(machine);
        const char *at = machine + length - (length < 6 ? length : 6);
        if (strcmp(at, " cores") != 0)
                return 0;
        while (at > machine && at[-1] >= '0' && at[-1] <= '9')
                at--;
        return (unsigned)strtoul(at, NULL, 10);
}

static bool add_line(struct curves *curves, const struct csv *csv, unsigned line,
        const unsigned columns[3], char *why, size_t why_bytes)
{
        const char *config = csv_field(csv, line, columns[0]);
        unsigned producers;
        double rate;
        if (!*config || strlen(config) >= sizeof curves->curves->config ||
                config[strcspn(config, "\033\t\v\f\b\a\x7f")])
                return csv_fault(csv, line, columns[0], "a configuration", why, why_bytes), false;
        if (!csv_count(csv, line, columns[1], FANIN_PRODUCERS_MAX, &producers, why, why_bytes) ||
                !csv_number(csv, line, columns[2], &rate, why, why_bytes))
                return false;
        struct curve_point *point = point_of(curve_of(curves, config), producers);
        if (point->slots)
                return csv_fault(csv, line, columns[1],
                               "new: an earlier line has that count of the same configuration", why,
                               why_bytes),
                       false;
        if (rate == 0)
                return csv_fault(csv, line, columns[2], "above 0, or NA", why, why_bytes), false;
        set_rate(point, 0, rate);
        point->rate = median_of_rates(point);
        return true;
}

bool curves_of_table(struct curves *curves, const struct csv *csv, char *why, size_t why_bytes)
{
        static const char *const names[] = {"config", "producers", "submit_per_s"};
        unsigned columns[3];
        *curves = (struct curves){.count = 0};
        for (unsigned i = 0; i < 3; i++) {
                int column = csv_column(csv, names[i], why, why_bytes);
                if (column < 0)
                        return false;
                columns[i] = (unsigned)column;
        }
        if (!csv->rows)
                return snprintf(why, why_bytes, "%s line 2: there is no row", csv->path), false;
        bool read = same_text(csv, "kind", "of unknown kind", curves->kind, sizeof curves->kind,
                            why, why_bytes) &&
                    same_text(csv, "machine", "unknown machine", curves->machine,
                            sizeof curves->machine, why, why_bytes);
        curves->cpus = cpus_in(curves->machine);
        for (unsigned i = 0; read && i < csv->rows; i++)
                read = add_line(curves, csv, i, columns, why, why_bytes);
        if (!read)
                curves_free(curves);
        return read;
}

void curves_free(struct curves *curves)
{
        for (unsigned i = 0; i < curves->count; i++) {
                for (unsigned j = 0; j < curves->curves[i].count; j++)
                        free(curves->curves[i].points[j].rates);
                free(curves->curves[i].points);
        }
        free(curves->curves);
        *curves = (struct curves){.count = 0};
}

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

static void find_points(struct judgement *judgement, const struct curve *curve)
{
        for (unsigned i = 0; i < curve->count; i++) {
                const struct curve_point *point = &curve->points[i];
                if (!curve_counts(point))
                        continue;
                judgement->counted++;
                if (!judgement->peak || point->rate.median > judgement->peak->rate.median)
                        judgement->peak = point;
                judgement->top = point;
        }
        for (unsigned i = 0; judgement->top && i < curve->count; i++)
                if (curve_counts(&curve->points[i]) &&
                        2 * curve->points[i].producers <= judgement->top->producers)
                        judgement->half = &curve->points[i];
}

static enum verdict decide(const struct judgement *judgement, bool has_samples, const char **why)
{
        const struct median *kept = &judgement->kept, *gain = &judgement->gain;
        *why = "fewer than 3 points count";
        if (judgement->counted < POINTS_LEAST || !judgement->half)
                return VERDICT_INCONCLUSIVE;
        *why = "too few samples: the intervals cover too little";
        if (has_samples && (kept->coverage < least_coverage || gain->coverage < least_coverage))
                return VERDICT_INCONCLUSIVE;
        *why = "less than half of the peak is kept";
        if (kept->hi < kept_collapse)
                return VERDICT_COLLAPSE;
        *why = "still rising: at least 1.25x of what half the producers reach";
        if (gain->lo >= gain_scaling)
                return VERDICT_SCALING;
        *why = "at least 0.8 of the peak is kept, and it rises no more";
        if (kept->lo >= kept_plateau && gain->hi < gain_scaling)
                return VERDICT_PLATEAU;
        *why = kept->hi < kept_plateau && kept->lo >= kept_collapse
                       ? "it falls, but keeps more than half of the peak"
               : kept->lo < kept_plateau ? "the interval of what is kept straddles a threshold"
                                         : "the interval of the last gain straddles 1.25";
        return VERDICT_INCONCLUSIVE;
}

struct judgement curve_judge(const struct curve *curve, bool has_samples, unsigned long seed)
{
        struct judgement judgement = {.kept = median_of(NULL, 0), .gain = median_of(NULL, 0)};
        const char *why;
        find_points(&judgement, curve);
        if (judgement.top)
                judgement.kept = curve_ratio(judgement.top, judgement.peak, seed);
        if (judgement.half)
                judgement.gain = curve_ratio(judgement.top, judgement.half, seed);
        judgement.verdict = decide(&judgement, has_samples, &why);
        snprintf(judgement.why, sizeof judgement.why, "%s", why);
        return judgement;
}
