/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What `fanin compare` says of two runs of one machine: at most 100 columns a cell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

enum { CONFIG_COLUMNS = 47 };

void compare_print_config(const char *config)
{
        if (strlen(config) > CONFIG_COLUMNS)
                printf("%s\n%*s", config, CONFIG_COLUMNS, "");
        else
                printf("%-*s", CONFIG_COLUMNS, config);
}

/* As A would be called slower, were it the second. */
static bool is_faster(const struct compare *compare, const struct compare_cell *cell)
{
        return cell->finding == COMPARE_NOT_SLOWER && cell->lo > 1 / (1 - compare->tolerance);
}

static void print_cell(const struct compare *compare, const struct compare_cell *cell)
{
        static const char *const words[] = {
                [COMPARE_REGRESSED] = "REGRESSED",
                [COMPARE_UNTOLD] = "not told",
                [COMPARE_NOT_SLOWER] = "not slower",
                [COMPARE_IN_TURN] = "* in turn, not judged",
                [COMPARE_DIFFERS] = "other ",
                [COMPARE_ONLY_A] = "only in A",
                [COMPARE_ONLY_B] = "only in B",
                [COMPARE_NO_BASE] = "no sample of A is ok",
                [COMPARE_GONE] = "REGRESSED: none of B ok",
        };
        compare_print_config(cell->config);
        printf(" %4u", cell->producers);
        if (cell->ratios)
                printf("  %6.3f [%5.3f, %5.3f]", cell->ratio, cell->lo, cell->hi);
        else
                printf("  %6s %14s", "NA", "");
        printf("  %s%s\n", is_faster(compare, cell) ? "faster" : words[cell->finding],
                cell->differs ? cell->differs : "");
}

static void print_left_out(const struct compare *compare)
{
        unsigned differ = 0, faster = 0;
        for (unsigned i = 0; i < compare->count; i++) {
                const struct compare_cell *cell = &compare->cells[i];
                differ += cell->finding == COMPARE_DIFFERS;
                faster += is_faster(compare, cell);
                if (cell->a_bad || cell->b_bad)
                        printf("%s at %u: not ok, and left out, are %u of %zu samples of A, %u of "
                               "%zu of B\n",
                                cell->config, cell->producers, cell->a_bad,
                                cell->a_bad + cell->a_count, cell->b_bad,
                                cell->b_bad + cell->b_count);
        }
        if (faster)
                printf("faster by more than the tolerance (95 %% a cell): %u of %u cells\n", faster,
                        compare->count);
        if (differ)
                printf("not comparable, since measured with other settings: %u of %u cells\n",
                        differ, compare->count);
}

static void print_floor(const struct compare *compare)
{
        if (isfinite(compare->floor))
                printf("A/A: a difference of less than %.1f %% can't be told on this machine "
                       "(coverage %.1f %%)\n",
                        100 * compare->floor, 100 * compare->floor_coverage);
        else
                puts("the smallest difference that this machine can tell is not known: neither is "
                     "an A/A run\n(fanin run --aa)");
}

static void print_untold(const struct compare *compare)
{
        printf("compare: inconclusive: %u cells may be slower by more than the tolerance",
                compare->untold);
        double percent = ceil(100 * compare->passes_at);
        if (percent <= 90) /* what --tolerance takes */
                printf("; at a tolerance of %.0f %% none would", percent);
        putchar('\n');
}

static void print_verdict(const struct compare *compare)
{
        if (compare->regressed)
                printf("compare: regressed: %u of %u cells\n", compare->regressed, compare->count);
        else if (!compare->judged)
                puts("compare: inconclusive: no cell can be judged");
        else if (compare->too_few)
                puts("compare: inconclusive: too few samples");
        else if (compare->untold)
                print_untold(compare);
        else if (compare->tolerance > compare->asked)
                printf("compare: inconclusive: a slowdown by the tolerance of %.1f %% can't be "
                       "told on this machine\n",
                        100 * compare->asked);
        else
                puts("compare: no regression");
}

void compare_print(const struct compare *compare)
{
        printf("\n%-*s %4s  %6s %14s\n", CONFIG_COLUMNS, "", "prod", "B/A", "[lo, hi] 95 %");
        for (unsigned i = 0; i < compare->count; i++)
                print_cell(compare, &compare->cells[i]);
        putchar('\n');
        print_left_out(compare);
        print_floor(compare);
        printf("judged %u of %u cells, tolerance %.1f %%; regressions by rank tests with Holm's "
               "correction\n",
                compare->judged, compare->count, 100 * compare->tolerance);
        if (compare->too_few)
                printf("with %zu samples a cell and %u cells a cell could not be called regressed: "
                       "give more (--samples %zu)\n",
                        compare->fewest, compare->judged, compare->enough);
        print_verdict(compare);
}
