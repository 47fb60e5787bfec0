/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The judgement of cells: rank tests, Holm's step-down, and what the whole amounts to. */
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "rank.h"

static const double alarms = 0.05;

static void measure_cell(struct compare_cell *cell, double tolerance)
{
        size_t n = cell->a_count, m = cell->b_count;
        cell->ratios = rank_ratios(cell->a, n, cell->b, m);
        if (!cell->ratios)
                die("no memory");
        cell->ratio = gsl_stats_median_from_sorted_data(cell->ratios, 1, n * m);
        cell->lo = rank_lower(cell->ratios, n, m, alarms / 2);
        cell->hi = rank_upper(cell->ratios, n, m, alarms / 2);
        cell->p = rank_p_smaller(cell->ratios, n, m, 1 - tolerance);
        cell->least_p = rank_tail(0, n, m);
        cell->passes_at = fmax(0, 1 - rank_lower(cell->ratios, n, m, alarms));
}

static int by_p(const void *left, const void *right)
{
        double a = (*(struct compare_cell *const *)left)->p;
        double b = (*(struct compare_cell *const *)right)->p;
        return (a > b) - (a < b);
}

/* Holm (1979): the k-th smallest p against alarms / (cells left), up to the first that misses. */
static void step_down(struct compare *compare, struct compare_cell **judged)
{
        qsort(judged, compare->judged, sizeof *judged, by_p);
        for (unsigned i = 0; i < compare->judged; i++) {
                if (judged[i]->p > alarms / (compare->judged - i))
                        break;
                judged[i]->finding = COMPARE_REGRESSED;
                compare->regressed++;
        }
}

void compare_judge(struct compare *compare)
{
        struct compare_cell **judged = must_allocate(compare->count * sizeof *judged);
        for (unsigned i = 0; i < compare->count; i++) {
                struct compare_cell *cell = &compare->cells[i];
                compare->regressed += cell->finding == COMPARE_GONE;
                if (cell->a_count && cell->b_count)
                        measure_cell(cell, compare->tolerance);
                if (cell->finding == COMPARE_UNTOLD)
                        judged[compare->judged++] = cell;
        }
        step_down(compare, judged);
        for (unsigned i = 0; i < compare->judged; i++) {
                struct compare_cell *cell = judged[i];
                compare->passes_at = fmax(compare->passes_at, cell->passes_at);
                size_t fewer = cell->a_count < cell->b_count ? cell->a_count : cell->b_count;
                compare->fewest = i && compare->fewest < fewer ? compare->fewest : fewer;
                compare->too_few |= cell->least_p > alarms / compare->judged;
                if (cell->finding == COMPARE_UNTOLD && cell->passes_at <= compare->tolerance)
                        cell->finding = COMPARE_NOT_SLOWER;
                compare->untold += cell->finding == COMPARE_UNTOLD;
        }
        while (compare->judged &&
                rank_tail(0, compare->enough, compare->enough) > alarms / compare->judged)
                compare->enough++;
        free(judged);
}

enum exit_code compare_verdict(const struct compare *compare)
{
        bool told = compare->judged && !compare->untold && !compare->too_few &&
                    compare->tolerance <= compare->asked;
        return compare->regressed ? EXIT_FAILED : told ? EXIT_DONE : EXIT_INCONCLUSIVE;
}

/* The rates of a cell's twin, by number of the sample. */
static unsigned twins_of(const struct rows *rows, const struct row *first, double *a, double *b)
{
        unsigned pairs = 0;
        for (unsigned i = 0; i < rows->count; i++) {
                const struct row *left = &rows->rows[i];
                if (strcmp(left->twin, "a") != 0 || left->producers != first->producers ||
                        strcmp(left->config, first->config) != 0 ||
                        row_status_of(left) != STATUS_OK)
                        continue;
                for (unsigned j = 0; j < rows->count; j++) {
                        const struct row *right = &rows->rows[j];
                        if (!strcmp(right->twin, "b") && right->sample == left->sample &&
                                right->producers == left->producers &&
                                row_status_of(right) == STATUS_OK &&
                                !strcmp(right->config, left->config)) {
                                a[pairs] = left->submit_per_s;
                                b[pairs++] = right->submit_per_s;
                        }
                }
        }
        return pairs;
}

static bool is_first_twin(const struct rows *rows, const struct row *row)
{
        const struct row *at = rows->rows;
        while (strcmp(at->twin, "a") != 0 || at->producers != row->producers ||
                strcmp(at->config, row->config) != 0)
                at++;
        return at == row;
}

void compare_floor(struct compare *compare, const struct rows *rows, unsigned long seed)
{
        double *a = must_allocate(rows->count * sizeof *a);
        double *b = must_allocate(rows->count * sizeof *b);
        for (unsigned i = 0; i < rows->count; i++) {
                const struct row *row = &rows->rows[i];
                if (strcmp(row->twin, "a") != 0 || !is_first_twin(rows, row))
                        continue;
                unsigned pairs = twins_of(rows, row, a, b);
                struct median ratio = ratio_paired(b, a, pairs, seed);
                if (!pairs)
                        continue;
                compare->floor = fmax(compare->floor, 1 - fmin(ratio.lo, 1 / ratio.hi));
                compare->floor_coverage = fmin(compare->floor_coverage, ratio.coverage);
        }
        compare->tolerance = fmax(compare->tolerance, compare->floor); /* skips NAN */
        free(a);
        free(b);
}
