/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Summarises rows and prints the result as CSV, JSON or a table with sentences. */
#include "summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double turns_below = 0.5; /* of overlap: the producers mostly ran in turn */

static double submit_rate(const struct row *row)
{
        return row->submit_per_s;
}

static double complete_rate(const struct row *row)
{
        return row->complete_per_s;
}

static double overlap(const struct row *row)
{
        return row->overlap;
}

static double wakes_per_submit(const struct row *row)
{
        return (double)row->wakes / (double)row->submits;
}

static double cpu_ns_per_submit(const struct row *row)
{
        return (double)row->producer_cpu_ns / (double)row->submits;
}

/* How many producers ran at once. */
static double running(const struct row *row)
{
        return (double)row->producer_cpu_ns / (double)row->submit_ns;
}

static struct median median_over(const struct row *const *rows, unsigned count, double *values,
        double (*value)(const struct row *))
{
        for (unsigned i = 0; i < count; i++)
                values[i] = value(rows[i]);
        return median_of(values, count);
}

static void fill_cell(struct cell *cell, const struct row *const *rows, unsigned count)
{
        cell->instead = count ? rows[0]->instead : "NA";
        double *values = must_allocate(count * sizeof *values);
        cell->samples_ok = count;
        cell->submit_per_s = median_over(rows, count, values, submit_rate);
        cell->complete_per_s = median_over(rows, count, values, complete_rate);
        cell->overlap = median_over(rows, count, values, overlap).median;
        cell->wakes_per_submit = median_over(rows, count, values, wakes_per_submit).median;
        cell->cpu_ns_per_submit = median_over(rows, count, values, cpu_ns_per_submit);
        cell->running = median_over(rows, count, values, running).median;
        for (unsigned i = 0; i < count; i++)
                cell->refused += rows[i]->refused;
        free(values);
}

static void make_cell(struct cell *cell, const struct row *rows, unsigned count)
{
        const struct row **ok = must_allocate(count * sizeof *ok);
        unsigned ok_count = 0;
        for (unsigned i = 0; i < count; i++) {
                if (strcmp(rows[i].config, cell->config) != 0 ||
                        rows[i].producers != cell->producers)
                        continue;
                if (row_status_of(&rows[i]) == STATUS_OK)
                        ok[ok_count++] = &rows[i];
                else
                        cell->samples_bad++;
        }
        fill_cell(cell, ok, ok_count);
        free(ok);
}

const struct cell *summary_find(
        const struct summary *summary, const char *config, unsigned producers)
{
        for (unsigned i = 0; i < summary->cell_count; i++)
                if (summary->cells[i].producers == producers &&
                        !strcmp(summary->cells[i].config, config))
                        return &summary->cells[i];
        return NULL;
}

void summary_make(struct summary *summary, const struct settings *settings, const struct row *rows,
        unsigned count)
{
        *summary = (struct summary){
                .cells = must_allocate((size_t)settings->config_count * settings->producers_count *
                                       sizeof(struct cell)),
                .cpus_effective = count ? (unsigned)rows[0].cpus_effective : 0,
                .quick = settings->quick,
        };
        for (unsigned c = 0; c < settings->config_count; c++)
                for (unsigned p = 0; p < settings->producers_count; p++) {
                        char text[SPEC_BYTES];
                        struct cell cell = {.producers = settings->producers[p]};
                        spec_print(&settings->configs[c], text, sizeof text);
                        for (unsigned i = 0; i < count && !cell.config; i++)
                                if (rows[i].producers == cell.producers &&
                                        !strcmp(rows[i].config, text))
                                        cell.config = rows[i].config;
                        if (!cell.config)
                                continue; /* not measured, or interrupted before */
                        make_cell(&cell, rows, count);
                        summary->cells[summary->cell_count++] = cell;
                }
        for (unsigned i = 0; i < summary->cell_count; i++) {
                struct cell *cell = &summary->cells[i];
                const struct cell *base = summary_find(summary, cell->config, 1);
                cell->vs_1_producer = base ? median_ratio(&cell->submit_per_s, &base->submit_per_s)
                                           : median_of(NULL, 0);
        }
}

void summary_free(struct summary *summary)
{
        free(summary->cells);
}

/* summary.csv and the JSON follow from these lists: C counts, N numbers that may be missing. */
#define CELL_NUMBERS(C, N)                                                                         \
        C(producers, cell->producers)                                                              \
        C(samples, cell->samples_ok)                                                               \
        C(samples_bad, cell->samples_bad)                                                          \
        N(submit_per_s_median, cell->submit_per_s.median)                                          \
        N(submit_per_s_lo, cell->submit_per_s.lo)                                                  \
        N(submit_per_s_hi, cell->submit_per_s.hi)                                                  \
        N(coverage, cell->submit_per_s.coverage)                                                   \
        N(vs_1_producer, cell->vs_1_producer.median)                                               \
        N(vs_1_producer_lo, cell->vs_1_producer.lo)                                                \
        N(vs_1_producer_hi, cell->vs_1_producer.hi)                                                \
        N(complete_per_s_median, cell->complete_per_s.median)                                      \
        N(wakes_per_submit, cell->wakes_per_submit)                                                \
        N(overlap_median, cell->overlap)                                                           \
        N(producers_running_median, cell->running)                                                 \
        N(producer_cpu_ns_per_submit_median, cell->cpu_ns_per_submit.median)                       \
        N(producer_cpu_ns_per_submit_lo, cell->cpu_ns_per_submit.lo)                               \
        N(producer_cpu_ns_per_submit_hi, cell->cpu_ns_per_submit.hi)

bool summary_print_csv(FILE *file, const struct summary *summary)
{
        fputs("config", file);
#define PRINT_NAME(name, value) fputs("," #name, file);
        CELL_NUMBERS(PRINT_NAME, PRINT_NAME)
        fputs(",kind,cpus_effective,quick,instead\n", file);
        for (unsigned i = 0; i < summary->cell_count; i++) {
                const struct cell *cell = &summary->cells[i];
                fprintf(file, "%s", cell->config);
#define PRINT_COUNT(name, value) fprintf(file, ",%u", value);
#define PRINT_VALUE(name, value) fprintf(file, isfinite(value) ? ",%.6g" : ",NA", value);
                CELL_NUMBERS(PRINT_COUNT, PRINT_VALUE)
                fprintf(file, ",measured,%u,%s,%s\n", summary->cpus_effective,
                        summary->quick ? "yes" : "no", cell->instead);
        }
        return !fflush(file) && !ferror(file);
}

bool summary_print_json(FILE *file, const struct summary *summary)
{
        json_t *cells = json_array();
        for (unsigned i = 0; i < summary->cell_count; i++) {
                const struct cell *cell = &summary->cells[i];
                json_t *object = json_object();
                json_object_set_new(object, "config", json_string(cell->config));
#define SET_COUNT(name, value) json_object_set_new(object, #name, json_integer(value));
#define SET_VALUE(name, value)                                                                     \
        json_object_set_new(object, #name, isfinite(value) ? json_real(value) : json_null());
                CELL_NUMBERS(SET_COUNT, SET_VALUE)
                json_object_set_new(object, "kind", json_string("measured"));
                json_object_set_new(
                        object, "cpus_effective", json_integer(summary->cpus_effective));
                json_object_set_new(object, "quick", json_boolean(summary->quick));
                json_object_set_new(object, "instead", json_string(cell->instead));
                json_array_append_new(cells, object);
        }
        bool done = !json_dumpf(cells, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        json_decref(cells);
        return fputc('\n', file) != EOF && !fflush(file) && done;
}

static void print_ratio(FILE *file, const struct median *ratio)
{
        if (isfinite(ratio->median))
                fprintf(file, "  %6.2fx [%5.2f, %5.2f]", ratio->median, ratio->lo, ratio->hi);
        else
                fprintf(file, "  %7s %14s", "–", "");
}

static void print_cell(FILE *file, const struct cell *cell)
{
        const struct median *submit = &cell->submit_per_s;
        fprintf(file, "  %9u", cell->producers);
        if (!cell->samples_ok) {
                fprintf(file, "  no sample is ok (%u are not)\n", cell->samples_bad);
                return;
        }
        fprintf(file, "  %9.4f [%8.4f, %8.4f]", submit->median / 1e6, submit->lo / 1e6,
                submit->hi / 1e6);
        print_ratio(file, &cell->vs_1_producer);
        fprintf(file, "  %9.4f  %10.6f  %7.2f  %6.2f%s", cell->complete_per_s.median / 1e6,
                cell->wakes_per_submit, cell->running, cell->overlap,
                cell->overlap < turns_below ? "*" : " ");
        if (cell->samples_bad)
                fprintf(file, "  %u samples not ok", cell->samples_bad);
        fputc('\n', file);
}

static const struct cell *peak_of(const struct cell *cells, unsigned count)
{
        const struct cell *peak = NULL;
        for (unsigned i = 0; i < count; i++)
                if (cells[i].samples_ok &&
                        (!peak || cells[i].submit_per_s.median > peak->submit_per_s.median))
                        peak = &cells[i];
        return peak;
}

/* What the curve of one configuration says, and what it can't. */
static void print_sentence(
        FILE *file, const struct cell *cells, unsigned count, unsigned cpus_effective)
{
        const struct cell *peak = peak_of(cells, count), *top = &cells[0];
        unsigned in_turn = 0, in_turn_from = 0;
        for (unsigned i = 0; i < count; i++) {
                top = cells[i].producers > top->producers ? &cells[i] : top;
                if (cells[i].samples_ok && cells[i].overlap < turns_below) {
                        in_turn++;
                        if (!in_turn_from || cells[i].producers < in_turn_from)
                                in_turn_from = cells[i].producers;
                }
        }
        if (!peak) {
                fprintf(file, "%s: no sample is ok.\n", cells->config);
                return;
        }
        fprintf(file, "%s: peak %.3f M submits/s at %u producer%s", cells->config,
                peak->submit_per_s.median / 1e6, peak->producers, peak->producers == 1 ? "" : "s");
        if (top != peak && top->samples_ok) {
                struct median share = median_ratio(&top->submit_per_s, &peak->submit_per_s);
                fprintf(file, "; at %u it keeps %.2f of it [%.2f, %.2f]", top->producers,
                        share.median, share.lo, share.hi);
        }
        if (isfinite(top->vs_1_producer.median) && top->producers != 1)
                fprintf(file, ", %.2fx of 1 producer", top->vs_1_producer.median);
        fprintf(file, "; %.4f wakes a submit there.", top->wakes_per_submit);
        if (strcmp(peak->instead, "no") != 0)
                fprintf(file, " It could not run here; what ran is %s.", peak->instead);
        if (in_turn)
                fprintf(file,
                        " %u of its %u points (*, the least at %u producers) had producers "
                        "that mostly ran in turn on %u CPUs: that is not contention.",
                        in_turn, count, in_turn_from, cpus_effective);
        fputc('\n', file);
}

/* The number of cells from here on with the same configuration. */
static unsigned same_config(const struct summary *summary, unsigned i)
{
        unsigned end = i;
        while (end < summary->cell_count &&
                !strcmp(summary->cells[end].config, summary->cells[i].config))
                end++;
        return end - i;
}

/* Over the cells that have samples; NAN: none has. */
static double least_coverage(const struct summary *summary)
{
        double least = NAN;
        for (unsigned i = 0; i < summary->cell_count; i++)
                least = fmin(least, summary->cells[i].submit_per_s.coverage); /* skips NAN */
        return least;
}

bool summary_print_table(FILE *file, const struct summary *summary)
{
        for (unsigned i = 0, count; i < summary->cell_count; i += count) {
                count = same_config(summary, i);
                fprintf(file, "%s%s\n", i ? "\n" : "", summary->cells[i].config);
                fprintf(file, "  %9s  %9s %20s  %7s %14s  %9s  %10s  %7s  %6s\n", "producers",
                        "submit", "[lo, hi]", "vs 1", "", "complete", "wakes", "running", "");
                fprintf(file, "  %9s  %9s %20s  %7s %14s  %9s  %10s  %7s  %6s\n", "", "M/s", "M/s",
                        "prod.", "[lo, hi]", "M/s", "per submit", "at once", "overlap");
                for (unsigned j = 0; j < count; j++)
                        print_cell(file, &summary->cells[i + j]);
        }
        double coverage = least_coverage(summary);
        if (isfinite(coverage))
                fprintf(file,
                        "\nMedians; an interval covers the true median with at least %.1f %%, "
                        "that of a ratio conservatively.%s\n\n",
                        100 * coverage, summary->quick ? " Quick run." : "");
        for (unsigned i = 0, count; i < summary->cell_count; i += count) {
                count = same_config(summary, i);
                print_sentence(file, &summary->cells[i], count, summary->cpus_effective);
        }
        return !fflush(file) && !ferror(file);
}
