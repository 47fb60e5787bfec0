/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin compare`: reads two runs and finds their common cells, for compare.h to judge. */
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

/* Not the second of twins, which stands beside the run and is no part of it; nor skipped. */
static bool belongs(const struct row *row)
{
        return strcmp(row->twin, "b") != 0 && row_status_of(row) != STATUS_SKIPPED;
}

static bool is_of(const struct row *row, const char *config, uint64_t producers)
{
        return row->producers == producers && belongs(row) && !strcmp(row->config, config);
}

/* The first row of a run's cell, or NULL: it did not run. */
static const struct row *row_of(const struct rows *rows, const char *config, uint64_t producers)
{
        for (unsigned i = 0; i < rows->count; i++)
                if (is_of(&rows->rows[i], config, producers))
                        return &rows->rows[i];
        return NULL;
}

/* What a row can't say (an older file has not every column) is no difference. */
static bool same_text(const char *a, const char *b)
{
        return !strcmp(a, b) || !strcmp(a, "NA") || !strcmp(b, "NA");
}

static bool same_number(uint64_t a, uint64_t b)
{
        return a == b || a == ROW_NA || b == ROW_NA;
}

/* What a cell's rows must have alike to be the same experiment; NULL: all. What is the machine's
 * comes last. */
static const char *difference(const struct row *a, const struct row *b)
{
        const struct {
                const char *name;
                bool same;
        } settings[] = {
                {"think_ns", same_number(a->think_ns, b->think_ns)},
                {"handler_ns", same_number(a->handler_ns, b->handler_ns)},
                {"poll_ms", same_number(a->poll_ms, b->poll_ms)},
                {"on_full", same_text(a->on_full, b->on_full)},
                {"check", same_text(a->check, b->check)},
                {"pinned", same_text(a->pinned, b->pinned)},
                {"instead", same_text(a->instead, b->instead)},
                {"cores", same_text(a->cores, b->cores)},
                {"cpus_effective", same_number(a->cpus_effective, b->cpus_effective)},
        };
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
                if (!settings[i].same)
                        return settings[i].name;
        return NULL;
}

/* A cell in one of the runs. */
struct side {
        const struct row *row; /* the first that is ok, else the first; NULL: it did not run */
        double *rates, overlap;
        size_t ok;
        unsigned bad;
};

static struct side side_of(const struct rows *rows, const struct compare_cell *cell)
{
        struct side side = {.row = row_of(rows, cell->config, cell->producers),
                .rates = must_allocate(rows->count * sizeof(double))};
        double *overlaps = must_allocate(rows->count * sizeof *overlaps);
        for (unsigned i = 0; i < rows->count && side.ok < RANK_VALUES_MAX; i++) {
                const struct row *row = &rows->rows[i];
                if (!is_of(row, cell->config, cell->producers))
                        continue;
                if (row_status_of(row) != STATUS_OK) {
                        side.bad++;
                        continue;
                }
                side.row = side.ok ? side.row : row;
                overlaps[side.ok] = row->overlap;
                side.rates[side.ok++] = row->submit_per_s;
        }
        side.overlap = side.ok ? gsl_stats_median(overlaps, 1, side.ok) : NAN;
        free(overlaps);
        return side;
}

static enum compare_finding finding_of(const struct side *a, const struct side *b)
{
        return !a->row                                ? COMPARE_ONLY_B
               : !b->row                              ? COMPARE_ONLY_A
               : difference(a->row, b->row)           ? COMPARE_DIFFERS
               : !a->ok                               ? COMPARE_NO_BASE
               : !b->ok                               ? COMPARE_GONE
               : a->overlap < 0.5 || b->overlap < 0.5 ? COMPARE_IN_TURN
                                                      : COMPARE_UNTOLD;
}

static void fill_cell(struct compare_cell *cell, const struct run *of_a, const struct run *of_b)
{
        struct side a = side_of(&of_a->rows, cell), b = side_of(&of_b->rows, cell);
        cell->a = a.rates;
        cell->b = b.rates;
        cell->a_count = a.ok;
        cell->b_count = b.ok;
        cell->a_bad = a.bad;
        cell->b_bad = b.bad;
        cell->finding = finding_of(&a, &b);
        if (cell->finding == COMPARE_DIFFERS)
                cell->differs = difference(a.row, b.row);
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

/* As text for a terminal, whatever the file has. */
static void fact(char *shown, size_t bytes, const struct run *run, const char *key)
{
        const char *text = json_string_value(json_object_get(run->machine, key));
        row_set_text(shown, bytes, text ? text : "unknown");
}

static void print_run(const char *name, const struct run *run)
{
        char cpu[48], date[24], commit[13], compiler[24];
        fact(cpu, sizeof cpu, run, "cpu_model");
        fact(date, sizeof date, run, "date_utc");
        fact(commit, sizeof commit, run, "commit");
        fact(compiler, sizeof compiler, run, "compiler");
        printf("%s: %s\n   %s, %s, commit %s, %s\n", name, run->path, cpu, date, commit, compiler);
}

/* Whether the second of its twins was another program: then they are no A/A run. */
static bool has_twin_program(const struct run *run)
{
        const json_t *words = json_object_get(run->machine, "command_line");
        for (size_t i = 0; i < json_array_size(words); i++) {
                const char *word = json_string_value(json_array_get(words, i));
                if (word && !strncmp(word, "--tw", 4)) /* getopt takes it cut short, too */
                        return true;
        }
        return false;
}

static void free_cells(struct compare *compare)
{
        for (unsigned i = 0; i < compare->count; i++) {
                free(compare->cells[i].a);
                free(compare->cells[i].b);
                free(compare->cells[i].ratios);
        }
        free(compare->cells);
}

static enum exit_code compare_same(
        const struct settings *settings, const struct run *a, const struct run *b)
{
        struct compare compare = {.asked = settings->tolerance,
                .tolerance = settings->tolerance,
                .floor = NAN,
                .floor_coverage = 1};
        if (!has_twin_program(a))
                compare_floor(&compare, &a->rows, settings->seed);
        if (!has_twin_program(b))
                compare_floor(&compare, &b->rows, settings->seed);
        list_cells(&compare, a, b);
        compare_judge(&compare);
        compare_print(&compare);
        enum exit_code code = compare_verdict(&compare);
        free_cells(&compare);
        return code;
}

static void leave_out(struct rows *rows, const struct compare_cell *cell)
{
        for (unsigned i = 0; i < rows->count; i++)
                if (is_of(&rows->rows[i], cell->config, cell->producers))
                        row_set_status(&rows->rows[i], STATUS_SKIPPED);
}

/* A claim of one experiment is none of another, whatever the machine. */
static enum exit_code compare_two(const struct settings *settings, struct run *a, struct run *b)
{
        struct compare compare = {.count = 0};
        list_cells(&compare, a, b);
        puts("\ntwo machines (host, CPUs or memory differ): claims are compared, never rates");
        for (unsigned i = 0; i < compare.count; i++) {
                const struct compare_cell *cell = &compare.cells[i];
                if (!cell->differs || !strcmp(cell->differs, "cores") ||
                        !strcmp(cell->differs, "cpus_effective"))
                        continue;
                printf("left out: %s at %u has another %s\n", cell->config, cell->producers,
                        cell->differs);
                leave_out(&a->rows, cell);
                leave_out(&b->rows, cell);
        }
        free_cells(&compare);
        return compare_claims(&a->rows, &b->rows, settings->tolerance, settings->seed);
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
        print_run("A", &a);
        print_run("B", &b);
        enum exit_code code = machine_same(a.machine, b.machine) ? compare_same(&settings, &a, &b)
                                                                 : compare_two(&settings, &a, &b);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        rows_free(&a.rows);
        rows_free(&b.rows);
        json_decref(a.machine);
        json_decref(b.machine);
        settings_free(&settings);
        return code;
}
