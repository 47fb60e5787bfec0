/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Summarises rows and prints the result as CSV, JSON or a table with sentences. */
#include "summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double turns_below = 0.5; /* of overlap: the producers mostly ran in turn */

double summary_submit_rate(const struct row *row)
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
        return row->wakes == ROW_NA ? NAN : (double)row->wakes / (double)row->submits;
}

double summary_cpu_ns(const struct row *row)
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
        cell->submit_per_s = median_over(rows, count, values, summary_submit_rate);
        cell->complete_per_s = median_over(rows, count, values, complete_rate);
        cell->overlap = median_over(rows, count, values, overlap).median;
        cell->wakes_per_submit = median_over(rows, count, values, wakes_per_submit).median;
        cell->cpu_ns_per_submit = median_over(rows, count, values, summary_cpu_ns);
        cell->running = median_over(rows, count, values, running).median;
        for (unsigned i = 0; i < count; i++)
                cell->refused += rows[i]->refused;
        free(values);
}

static bool belongs(const struct row *row, const struct cell *cell)
{
        return row->producers == cell->producers && !strcmp(row->config, cell->config) &&
               !strcmp(row->twin, cell->twin);
}

static void make_cell(struct cell *cell, const struct row *rows, unsigned count)
{
        const struct row **ok = must_allocate(count * sizeof *ok);
        unsigned ok_count = 0;
        for (unsigned i = 0; i < count; i++) {
                if (!belongs(&rows[i], cell))
                        continue;
                if (row_status_of(&rows[i]) == STATUS_OK)
                        ok[ok_count++] = &rows[i];
                else
                        cell->samples_bad++;
        }
        fill_cell(cell, ok, ok_count);
        free(ok);
}

const struct cell *summary_find_twin(
        const struct summary *summary, const char *config, unsigned producers, const char *twin)
{
        for (unsigned i = 0; i < summary->cell_count; i++)
                if (summary->cells[i].producers == producers &&
                        !strcmp(summary->cells[i].config, config) &&
                        (!twin || !strcmp(summary->cells[i].twin, twin)))
                        return &summary->cells[i];
        return NULL;
}

const struct cell *summary_find(
        const struct summary *summary, const char *config, unsigned producers)
{
        return summary_find_twin(summary, config, producers, NULL);
}

unsigned summary_paired(const struct summary *summary, const struct cell *a, const struct cell *b,
        double (*value)(const struct row *), double *values_a, double *values_b)
{
        unsigned pairs = 0;
        for (unsigned i = 0; i < summary->row_count; i++) {
                const struct row *left = &summary->rows[i];
                if (row_status_of(left) != STATUS_OK || !belongs(left, a))
                        continue;
                for (unsigned j = 0; j < summary->row_count; j++) {
                        const struct row *right = &summary->rows[j];
                        if (right->sample != left->sample || row_status_of(right) != STATUS_OK ||
                                !belongs(right, b))
                                continue;
                        values_a[pairs] = value(left);
                        values_b[pairs++] = value(right);
                        break; /* a cell has one of that number */
                }
        }
        return pairs;
}

struct median summary_ratio(
        const struct summary *summary, const struct cell *a, const struct cell *b)
{
        double *values_a = must_allocate(summary->row_count * sizeof *values_a);
        double *values_b = must_allocate(summary->row_count * sizeof *values_b);
        unsigned pairs = summary_paired(summary, a, b, summary_submit_rate, values_a, values_b);
        struct median ratio = pairs < BOOTSTRAP_LEAST || a == b
                                      ? median_ratio(&a->submit_per_s, &b->submit_per_s)
                                      : ratio_paired(values_a, values_b, pairs, summary->seed);
        free(values_a);
        free(values_b);
        return ratio;
}

/* The cells of one configuration as one twin; fewer when it was interrupted before. */
static void add_cells(struct summary *summary, const struct settings *settings, const char *config,
        const char *twin)
{
        unsigned first = summary->cell_count;
        for (unsigned p = 0; p < settings->producers_count; p++) {
                struct cell cell = {
                        .config = config, .twin = twin, .producers = settings->producers[p]};
                const struct row *own = NULL; /* whose text outlives the configuration's */
                for (unsigned i = 0; i < summary->row_count && !own; i++)
                        if (belongs(&summary->rows[i], &cell))
                                own = &summary->rows[i];
                if (!own)
                        continue;
                cell.config = own->config;
                cell.twin = own->twin;
                make_cell(&cell, summary->rows, summary->row_count);
                summary->cells[summary->cell_count++] = cell;
        }
        for (unsigned i = first; i < summary->cell_count; i++) {
                struct cell *cell = &summary->cells[i];
                const struct cell *base = summary_find_twin(summary, cell->config, 1, cell->twin);
                cell->vs_1_producer =
                        base ? summary_ratio(summary, cell, base) : median_of(NULL, 0);
        }
}

void summary_make(struct summary *summary, const struct settings *settings, const struct row *rows,
        unsigned count)
{
        static const char *const twins[] = {"no", "a", "b"};
        *summary = (struct summary){
                .cells = must_allocate((size_t)settings->config_count * settings->producers_count *
                                       2 * sizeof(struct cell)),
                .rows = rows,
                .row_count = count,
                .seed = settings->seed,
                .cpus_effective = count ? (unsigned)rows[0].cpus_effective : 0,
                .quick = settings->quick,
        };
        for (unsigned c = 0; c < settings->config_count; c++)
                for (unsigned t = 0; t < 3; t++) {
                        char config[SPEC_BYTES];
                        spec_print(&settings->configs[c], config, sizeof config);
                        add_cells(summary, settings, config, twins[t]);
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
        fputs(",kind,cpus_effective,quick,instead,twin\n", file);
        for (unsigned i = 0; i < summary->cell_count; i++) {
                const struct cell *cell = &summary->cells[i];
                fprintf(file, "%s", cell->config);
#define PRINT_COUNT(name, value) fprintf(file, ",%u", value);
#define PRINT_VALUE(name, value) fprintf(file, isfinite(value) ? ",%.6g" : ",NA", value);
                CELL_NUMBERS(PRINT_COUNT, PRINT_VALUE)
                fprintf(file, ",measured,%u,%s,%s,%s\n", summary->cpus_effective,
                        summary->quick ? "yes" : "no", cell->instead, cell->twin);
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
                json_object_set_new(object, "twin", json_string(cell->twin));
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
        FILE *file, const struct summary *summary, const struct cell *cells, unsigned count)
{
        unsigned cpus_effective = summary->cpus_effective;
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
                struct median share = summary_ratio(summary, top, peak);
                fprintf(file, "; at %u it keeps %.2f of it [%.2f, %.2f]", top->producers,
                        share.median, share.lo, share.hi);
        }
        if (isfinite(top->vs_1_producer.median) && top->producers != 1)
                fprintf(file, ", %.2fx of 1 producer", top->vs_1_producer.median);
        if (isfinite(top->wakes_per_submit))
                fprintf(file, "; %.4f wakes a submit there", top->wakes_per_submit);
        fputc('.', file);
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
                !strcmp(summary->cells[end].config, summary->cells[i].config) &&
                !strcmp(summary->cells[end].twin, summary->cells[i].twin))
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
                const struct cell *first = &summary->cells[i];
                bool is_twin = strcmp(first->twin, "no") != 0;
                fprintf(file, "%s%s%s%s\n", i ? "\n" : "", first->config, is_twin ? ", twin " : "",
                        is_twin ? first->twin : "");
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
                        "that of a ratio conservatively below %d samples, from there by bootstrap "
                        "(95 %%).%s\n\n",
                        100 * coverage, BOOTSTRAP_LEAST, summary->quick ? " Quick run." : "");
        for (unsigned i = 0, count; i < summary->cell_count; i += count) {
                count = same_config(summary, i);
                print_sentence(file, summary, &summary->cells[i], count);
        }
        return !fflush(file) && !ferror(file);
}
