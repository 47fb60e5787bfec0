/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin compare`: reads two runs, finds their common cells, and prints what compare.h judges. */
#include "compare.h"

#include <errno.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "machine.h"
#include "rank.h"

struct run {
        const char *path;
        struct rows rows;
        json_t *machine;
};

static void read_run(struct run *run, const char *path)
{
        char why[512], *samples, *machine;
        run->path = path;
        if (asprintf(&samples, "%s/samples.csv", path) < 0 ||
                asprintf(&machine, "%s/machine.json", path) < 0)
                die("no memory");
        if (!rows_read(&run->rows, samples, why, sizeof why))
                die("%s", why);
        run->machine = machine_read(machine, why, sizeof why);
        if (!run->machine)
                die("%s", why);
        free(samples);
        free(machine);
}

static bool is_second(const struct row *row)
{
        return !strcmp(row->twin, "b");
}

/* The first row of a run's cell, or NULL. */
static const struct row *row_of(const struct rows *rows, const char *config, uint64_t producers)
{
        for (unsigned i = 0; i < rows->count; i++)
                if (rows->rows[i].producers == producers && !is_second(&rows->rows[i]) &&
                        !strcmp(rows->rows[i].config, config))
                        return &rows->rows[i];
        return NULL;
}

/* What a cell's rows must have alike to be the same experiment; NULL: all. */
static const char *difference(const struct row *a, const struct row *b)
{
        const struct {
                const char *name;
                bool same;
        } settings[] = {
                {"think_ns", a->think_ns == b->think_ns},
                {"handler_ns", a->handler_ns == b->handler_ns},
                {"poll_ms", a->poll_ms == b->poll_ms},
                {"on_full", !strcmp(a->on_full, b->on_full)},
                {"check", !strcmp(a->check, b->check)},
                {"cores", !strcmp(a->cores, b->cores)},
                {"cpus_effective", a->cpus_effective == b->cpus_effective},
        };
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
                if (!settings[i].same)
                        return settings[i].name;
        return NULL;
}

static double *rates_of(
        const struct rows *rows, const struct compare_cell *cell, size_t *count, double *overlap)
{
        double *rates = must_allocate(rows->count * sizeof *rates);
        double *overlaps = must_allocate(rows->count * sizeof *overlaps);
        for (unsigned i = 0; i < rows->count && *count < RANK_VALUES_MAX; i++) {
                const struct row *row = &rows->rows[i];
                if (row->producers != cell->producers || is_second(row) ||
                        row_status_of(row) != STATUS_OK || strcmp(row->config, cell->config) != 0)
                        continue;
                overlaps[*count] = row->overlap;
                rates[(*count)++] = row->submit_per_s;
        }
        *overlap = *count ? gsl_stats_median(overlaps, 1, *count) : NAN;
        free(overlaps);
        return rates;
}

static void fill_cell(struct compare_cell *cell, const struct run *a, const struct run *b)
{
        const struct row *in_a = row_of(&a->rows, cell->config, cell->producers);
        const struct row *in_b = row_of(&b->rows, cell->config, cell->producers);
        double overlap_a, overlap_b;
        cell->a = rates_of(&a->rows, cell, &cell->a_count, &overlap_a);
        cell->b = rates_of(&b->rows, cell, &cell->b_count, &overlap_b);
        cell->differs = in_a && in_b ? difference(in_a, in_b) : NULL;
        cell->finding = !in_a || !in_b || !cell->a_count     ? COMPARE_ONLY_ONE
                        : cell->differs                      ? COMPARE_DIFFERS
                        : !cell->b_count                     ? COMPARE_GONE
                        : overlap_a < 0.5 || overlap_b < 0.5 ? COMPARE_IN_TURN
                                                             : COMPARE_UNTOLD;
}

static int by_config(const void *left, const void *right)
{
        const struct compare_cell *a = left, *b = right;
        int order = strcmp(a->config, b->config);
        return order ? order : (a->producers > b->producers) - (a->producers < b->producers);
}

static void list_cells(struct compare *compare, const struct run *a, const struct run *b)
{
        compare->cells =
                must_allocate(((size_t)a->rows.count + b->rows.count) * sizeof *compare->cells);
        for (unsigned side = 0; side < 2; side++) {
                const struct rows *rows = side ? &b->rows : &a->rows;
                for (unsigned i = 0; i < rows->count; i++) {
                        const struct row *row = &rows->rows[i];
                        if (row_of(rows, row->config, row->producers) != row ||
                                (side && row_of(&a->rows, row->config, row->producers)))
                                continue;
                        struct compare_cell *cell = &compare->cells[compare->count++];
                        *cell = (struct compare_cell){
                                .config = row->config, .producers = (unsigned)row->producers};
                        fill_cell(cell, a, b);
                }
        }
        qsort(compare->cells, compare->count, sizeof *compare->cells, by_config);
}

static const char *fact(const struct run *run, const char *key)
{
        const char *text = json_string_value(json_object_get(run->machine, key));
        return text ? text : "unknown";
}

static void print_runs(const struct run *a, const struct run *b)
{
        for (unsigned side = 0; side < 2; side++) {
                const struct run *run = side ? b : a;
                printf("%s: %s (%s, %s, commit %.12s, %s)\n", side ? "B" : "A", run->path,
                        fact(run, "cpu_model"), fact(run, "date_utc"), fact(run, "commit"),
                        fact(run, "compiler"));
        }
}

static void print_cell(const struct compare_cell *cell)
{
        static const char *const words[] = {"REGRESSED", "not told", "not slower",
                "*in turn, not judged", "not judged: other", "in one run alone",
                "REGRESSED: no sample of B is ok"};
        printf("%-52s %5u", cell->config, cell->producers);
        if (cell->ratios)
                printf("  %6.3f [%5.3f, %5.3f]", cell->ratio, cell->lo, cell->hi);
        else
                printf("  %6s %14s", "–", "");
        printf("  %s%s%s\n", words[cell->finding], cell->differs ? " " : "",
                cell->differs ? cell->differs : "");
}

static void print_end(const struct compare *compare, double told)
{
        if (isfinite(told))
                printf("A/A: a difference of less than %.1f %% can't be told on this machine\n",
                        100 * told);
        else
                puts("the smallest difference that this machine can tell is not known: neither is "
                     "an A/A run (fanin run --aa)");
        printf("judged %u of %u cells, tolerance %.1f %%; regressions by rank tests with Holm's "
               "correction\n",
                compare->judged, compare->count, 100 * compare->tolerance);
        if (compare->too_few)
                printf("so few samples could not tell any slowdown of one cell among %u\n",
                        compare->judged);
        if (compare->regressed)
                printf("compare: regressed: %u of %u cells\n", compare->regressed, compare->count);
        else if (!compare->judged)
                puts("compare: inconclusive: no cell can be judged");
        else if (compare->too_few)
                puts("compare: inconclusive: too few samples");
        else if (compare->untold)
                printf("compare: inconclusive: %u cells may be slower by more than the tolerance; "
                       "at a tolerance of %.0f %% none would\n",
                        compare->untold, ceil(100 * compare->passes_at));
        else
                puts("compare: no regression");
}

static enum exit_code compare_same(
        const struct settings *settings, const struct run *a, const struct run *b)
{
        double told = fmax(compare_floor(&a->rows, settings->seed),
                compare_floor(&b->rows, settings->seed)); /* skips NAN */
        struct compare compare = {.tolerance = fmax(settings->tolerance, told)};
        list_cells(&compare, a, b);
        compare_judge(&compare);
        printf("\n%-52s %5s  %6s %14s\n", "", "prod.", "B/A", "[lo, hi] 95 %");
        for (unsigned i = 0; i < compare.count; i++)
                print_cell(&compare.cells[i]);
        putchar('\n');
        print_end(&compare, told);
        enum exit_code code = compare_verdict(&compare);
        for (unsigned i = 0; i < compare.count; i++) {
                free(compare.cells[i].a);
                free(compare.cells[i].b);
                free(compare.cells[i].ratios);
        }
        free(compare.cells);
        return code;
}

int compare_main(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        struct run a, b;
        settings_init(&settings);
        settings_parse(&settings, FOR_COMPARE, argc, argv);
        read_run(&a, settings.operands[0]);
        read_run(&b, settings.operands[1]);
        print_runs(&a, &b);
        enum exit_code code =
                machine_same(a.machine, b.machine)
                        ? compare_same(&settings, &a, &b)
                        : compare_claims(&a.rows, &b.rows, settings.tolerance, settings.seed);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        rows_free(&a.rows);
        rows_free(&b.rows);
        json_decref(a.machine);
        json_decref(b.machine);
        settings_free(&settings);
        return code;
}
