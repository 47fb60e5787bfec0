/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The bars: what costs make a bar met, missed, unclear or not judged. No time is asserted: the
 * costs are made up, but for the drains', whose verdict is not looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../experiments/bars.h"

enum { CONTESTANTS_MAX = 4, OUTPUT_BYTES = 1 << 14 };

struct contestant {
        const char *config; /* NULL ends */
        double cost, spread;
        const char *instead; /* NULL: it ran as itself */
};

static char csv[OUTPUT_BYTES];

static struct median cost_of(double cost, double spread, double coverage)
{
        return (struct median){cost, cost - spread, cost + spread, coverage, 7};
}

/* Judges them at a number of producers, where private costs 10 ± 0.1 ns; csv then has the lines. */
static enum exit_code judge(
        unsigned producers, const struct contestant *contestants, double coverage)
{
        static const struct settings settings = {.samples = 3};
        static const struct summary summary = {.cell_count = 0};
        struct spec specs[CONTESTANTS_MAX];
        struct cell cells[CONTESTANTS_MAX];
        struct added added[CONTESTANTS_MAX];
        struct cell ceiling = {.producers = producers,
                .samples_ok = 7,
                .instead = "no",
                .cpu_ns_per_submit = cost_of(10, 0.1, coverage)};
        struct added_list list = {.ceiling = &ceiling, .added = added};
        for (; contestants[list.count].config; list.count++) {
                const struct contestant *is = &contestants[list.count];
                char why[256] = "";
                if (!spec_parse(is->config, &specs[list.count], why, sizeof why))
                        fail_msg("%s", why);
                cells[list.count] = (struct cell){.config = is->config,
                        .instead = is->instead ? is->instead : "no",
                        .producers = producers,
                        .samples_ok = 7,
                        .cpu_ns_per_submit = cost_of(is->cost, is->spread, coverage)};
                added[list.count].spec = &specs[list.count];
                added[list.count].cell = &cells[list.count];
        }
        FILE *file = tmpfile();
        assert_non_null(file);
        enum exit_code code = bars_judge(&list, 1, &settings, &summary, file);
        rewind(file);
        csv[fread(csv, 1, sizeof csv - 1, file)] = '\0';
        fclose(file);
        return code;
}

/* The verdict of the line that begins so. */
static void assert_verdict(const char *what, const char *verdict)
{
        const char *line = strstr(csv, what);
        char copy[256];
        if (!line) {
                fail_msg("no line begins with '%s' in:\n%s", what, csv);
                return;
        }
        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
        const char *word = strrchr(copy, ',');
        if (!word || strcmp(word + 1, verdict) != 0)
                fail_msg("'%s' is not '%s'", copy, verdict);
}

static void test_half(void **state)
{
        (void)state;
        static const struct {
                double lanes, rival, spread;
                const char *verdict;
        } cases[] = {
                {11, 14, 0.1, "met"},                   /* adds 1, may add 2 */
                {12.5, 14, 0.1, "missed"},              /* adds 2.5 */
                {11.9, 14, 0.2, "met but not clearly"}, /* adds 1.9 */
                {12.1, 14, 0.2, "missed but not clearly"}, {9, 14, 0.1, "met"}, /* adds nothing */
                {10.5, 9.9, 0.1, "missed"}, /* nor does the rival */
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                const struct contestant contestants[] = {
                        {"lanes/edge", cases[i].lanes, cases[i].spread, NULL},
                        {"lanes/every", 99, cases[i].spread, NULL},
                        {"vyukov/edge", cases[i].rival, cases[i].spread, NULL},
                        {NULL, 0, 0, NULL},
                };
                judge(8, contestants, 0.98);
                assert_verdict("8 producers: lanes/edge over vyukov/edge", cases[i].verdict);
        }
}

/* The least of all, also of those that come later. */
static void test_best_rival(void **state)
{
        (void)state;
        const struct contestant contestants[] = {
                {"lanes/edge", 12, 0.1, NULL},
                {"vyukov/edge", 13, 0.1, NULL},
                {"sharded_mutex/edge", 20, 0.1, NULL},
                {NULL, 0, 0, NULL},
        };
        assert_int_equal(judge(2, contestants, 0.98), EXIT_FAILED);
        assert_verdict("2 producers: lanes/edge over vyukov/edge", "missed");
}

static void test_alone(void **state)
{
        (void)state;
        struct contestant contestants[] = {{"lanes/edge", 19, 0.1, NULL}, {NULL, 0, 0, NULL}};
        judge(1, contestants, 0.98);
        assert_verdict("1 producer:", "met");
        contestants[0].cost = 21;
        judge(1, contestants, 0.98);
        assert_verdict("1 producer:", "missed");
}

static void test_not_judged(void **state)
{
        (void)state;
        const struct contestant contestants[] = {
                {"lanes/edge", 11, 0.1, NULL},
                {"percpu/edge", 11, 0.1, "sharded_vyukov:shards=2:by=cpu"},
                {"sharded_mutex:shards=2/edge", 20, 0.1, NULL},
                {NULL, 0, 0, NULL},
        };
        judge(100, contestants, 0.98);
        assert_verdict("100 producers: what percpu adds over",
                "not judged: nothing of it was measured as itself");
        assert_verdict("ck_ring when full", "not judged: it was not measured");
        assert_true(judge(100, contestants + 1, 0.98) != EXIT_DONE);
        assert_verdict("100 producers: what lanes adds over",
                "not judged: nothing of it was measured as itself");
}

static void test_too_few_samples(void **state)
{
        (void)state;
        const struct contestant contestants[] = {
                {"lanes/edge", 11, 0.1, NULL},
                {"vyukov/edge", 30, 0.1, NULL},
                {NULL, 0, 0, NULL},
        };
        assert_int_equal(judge(2, contestants, 0.75), EXIT_INCONCLUSIVE);
        assert_verdict("2 producers: lanes/edge over vyukov/edge", "too few samples");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_half),
                cmocka_unit_test(test_best_rival),
                cmocka_unit_test(test_alone),
                cmocka_unit_test(test_not_judged),
                cmocka_unit_test(test_too_few_samples),
        };
        return _cmocka_run_group_tests("bars", tests, sizeof tests / sizeof *tests, NULL, NULL) ? 1
                                                                                                : 0;
}
