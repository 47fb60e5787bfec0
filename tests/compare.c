/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin compare`: the rank tests against brute force, false alarms and slowdowns of whole
 * simulated comparisons, and its exits on runs that are made up.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "../experiments/compare.h"
#include "../experiments/rank.h"
#include "run_program.h"

static void assert_near(const char *what, double value, double expected)
{
        if (!(fabs(value - expected) <= 1e-9))
                fail_msg("%s is %.12g, expected %.12g", what, value, expected);
}

/* All orders of n a's and m b's, a bit each: how many have at most u pairs with the a behind the b.
 */
static double tail_by_hand(unsigned u, unsigned n, unsigned m)
{
        unsigned orders = 0, within = 0;
        for (unsigned bits = 0; bits < 1u << (n + m); bits++) {
                unsigned a_seen = 0, inversions = 0;
                for (unsigned i = 0; i < n + m; i++) {
                        a_seen += bits >> i & 1;
                        inversions += bits >> i & 1 ? 0 : a_seen;
                }
                if (a_seen != n)
                        continue;
                orders++;
                within += inversions <= u;
        }
        return (double)within / orders;
}

static void test_tail_is_exact(void **state)
{
        (void)state;
        for (unsigned n = 1; n <= 6; n++)
                for (unsigned m = 1; m <= 5; m++)
                        for (unsigned u = 0; u <= n * m; u++)
                                assert_near("tail", rank_tail(u, n, m), tail_by_hand(u, n, m));
        assert_near("least p of 7 and 7", rank_tail(0, 7, 7), 1.0 / 3432);
        assert_near("least p of 9 and 9", rank_tail(0, 9, 9), 1.0 / 48620);
        assert_near("none", rank_tail(0, 0, 5), 1);
        /* Where the approximation takes over, it is close. */
        assert_true(fabs(rank_tail(700, 40, 40) - rank_tail(717, 40, 41)) < 0.01);
}

static void test_bounds(void **state)
{
        (void)state;
        const double a[] = {10, 11, 12, 13, 14, 15, 16}, b[] = {5, 5.5, 6, 6.5, 7, 7.5, 8};
        double *ratios = rank_ratios(a, 7, b, 7);
        assert_near("all are slower", rank_p_smaller(ratios, 7, 7, 0.9), 1.0 / 3432);
        assert_near("none is slower", rank_p_smaller(ratios, 7, 7, 0.3), 1);
        double lower = rank_lower(ratios, 7, 7, 0.025), upper = rank_upper(ratios, 7, 7, 0.025);
        assert_true(lower < 0.5 && upper > 0.5 && lower > 0.3 && upper < 0.8);
        /* A bound is where the test turns. */
        assert_true(rank_p_smaller(ratios, 7, 7, upper * 1.0001) <= 0.025);
        assert_true(rank_p_smaller(ratios, 7, 7, upper * 0.9999) > 0.025);
        free(ratios);
        /* Ties are for B; so few say nothing. */
        const double same[] = {9, 9, 9, 9, 9, 9, 9}, tenth[] = {10, 10, 10, 10, 10, 10, 10};
        ratios = rank_ratios(tenth, 7, same, 7);
        assert_near("ties", rank_p_smaller(ratios, 7, 7, 0.9), 1);
        free(ratios);
        ratios = rank_ratios(a, 2, b, 2);
        assert_near("lower of 2", rank_lower(ratios, 2, 2, 0.025), 0);
        assert_true(isinf(rank_upper(ratios, 2, 2, 0.025)));
        free(ratios);
}

/* How rates scatter from process to process: a little; with heavy tails; between two modes. */
enum noise { LOGNORMAL, HEAVY, BIMODAL, NOISES };

static double draw(gsl_rng *random, enum noise noise)
{
        switch (noise) {
        case LOGNORMAL:
                return 1e6 * exp(gsl_ran_gaussian(random, 0.1));
        case HEAVY:
                return 1e6 * exp(0.05 * gsl_ran_tdist(random, 2));
        default:
                return 1e6 * (gsl_rng_uniform(random) < 0.3 ? 0.6 : 1) *
                       exp(gsl_ran_gaussian(random, 0.03));
        }
}

/* A whole comparison of cells x samples, of which B runs the first slow_count at `slow` of the
 * rate. */
static enum exit_code simulate(gsl_rng *random, enum noise noise, unsigned cells, unsigned samples,
        unsigned slow_count, double slow)
{
        struct compare compare = {.asked = 0.1, .tolerance = 0.1, .count = cells};
        compare.cells = must_allocate(cells * sizeof *compare.cells);
        for (unsigned i = 0; i < cells; i++) {
                struct compare_cell *cell = &compare.cells[i];
                *cell = (struct compare_cell){.config = "q",
                        .producers = i,
                        .a = must_allocate(samples * sizeof(double)),
                        .b = must_allocate(samples * sizeof(double)),
                        .a_count = samples,
                        .b_count = samples,
                        .finding = COMPARE_UNTOLD};
                for (unsigned s = 0; s < samples; s++) {
                        cell->a[s] = draw(random, noise);
                        cell->b[s] = draw(random, noise) * (i < slow_count ? slow : 1);
                }
        }
        compare_judge(&compare);
        enum exit_code code = compare_verdict(&compare);
        for (unsigned i = 0; i < cells; i++) {
                free(compare.cells[i].a);
                free(compare.cells[i].b);
                free(compare.cells[i].ratios);
        }
        free(compare.cells);
        return code;
}

enum { SIMULATIONS = 1000 / SLOWER, ALARMS_MAX = 65 / SLOWER, CELLS = 40 };

static void test_false_alarms(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (enum noise noise = 0; noise < NOISES; noise++) {
                unsigned alarms = 0;
                gsl_rng_set(random, 1 + noise);
                for (unsigned i = 0; i < SIMULATIONS; i++)
                        alarms += simulate(random, noise, CELLS, 7, 0, 1) == EXIT_FAILED;
                if (alarms > ALARMS_MAX)
                        fail_msg("noise %d: %u alarms of %d", (int)noise, alarms, SIMULATIONS);
        }
        gsl_rng_free(random);
}

/* Where the tolerance protects nothing: twice as many as there may be would show at 0 %. */
static void test_level_is_that_of_the_family(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(random, 7);
        unsigned alarms = 0;
        for (unsigned i = 0; i < SIMULATIONS; i++) {
                struct compare compare = {.tolerance = 0, .count = 20};
                struct compare_cell cells[20];
                double a[20][9], b[20][9];
                for (unsigned c = 0; c < 20; c++) {
                        for (unsigned s = 0; s < 9; s++) {
                                a[c][s] = draw(random, LOGNORMAL);
                                b[c][s] = draw(random, LOGNORMAL);
                        }
                        cells[c] = (struct compare_cell){.a = a[c],
                                .b = b[c],
                                .a_count = 9,
                                .b_count = 9,
                                .finding = COMPARE_UNTOLD};
                }
                compare.cells = cells;
                compare_judge(&compare);
                alarms += compare.regressed > 0;
                for (unsigned c = 0; c < 20; c++)
                        free(cells[c].ratios);
        }
        gsl_rng_free(random);
        if (alarms > ALARMS_MAX)
                fail_msg("%u alarms of %d", alarms, SIMULATIONS);
}

static void test_slowdown_is_caught(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (unsigned i = 0; i < 200 / SLOWER; i++)
                for (unsigned samples = 7; samples <= 9; samples += 2) {
                        gsl_rng_set(random, 100 + i);
                        assert_int_equal(
                                simulate(random, LOGNORMAL, CELLS, samples, 1, 0.5), EXIT_FAILED);
                        assert_int_equal(simulate(random, LOGNORMAL, CELLS, samples, CELLS, 0.5),
                                EXIT_FAILED);
                }
        /* Too few samples for so many cells: never passed. */
        for (unsigned samples = 1; samples <= 4; samples++)
                assert_int_equal(
                        simulate(random, LOGNORMAL, CELLS, samples, 1, 0.5), EXIT_INCONCLUSIVE);
        gsl_rng_free(random);
}

/* The samples that are asked for are the least that would do: cells / C(2n, n) at most 5 %. */
static void test_enough_samples(void **state)
{
        (void)state;
        double rate = 1e6;
        struct compare_cell cells[60];
        for (unsigned count = 1; count <= 60; count++) {
                struct compare compare = {
                        .cells = cells, .asked = 0.1, .tolerance = 0.1, .count = count};
                for (unsigned i = 0; i < count; i++)
                        cells[i] = (struct compare_cell){.a = &rate,
                                .b = &rate,
                                .a_count = 1,
                                .b_count = 1,
                                .finding = COMPARE_UNTOLD};
                compare_judge(&compare);
                for (unsigned i = 0; i < count; i++)
                        free(cells[i].ratios);
                size_t enough = 0;
                for (double orders = 1; count / orders > 0.05; enough++) /* C(2n + 2, n + 1) */
                        orders *= 2.0 * (2.0 * (double)enough + 1) / ((double)enough + 1);
                assert_int_equal(compare.enough, enough);
                assert_int_equal(compare.fewest, 1);
                assert_true(compare.too_few && !compare.regressed);
        }
}

/* A slowdown at the tolerance is passed in one comparison of twenty at most: "no regression" is a
 * finding of its own, not the absence of an alarm. */
static void test_slowdown_is_not_passed(void **state)
{
        (void)state;
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (enum noise noise = 0; noise < NOISES; noise++) {
                unsigned passed = 0;
                gsl_rng_set(random, 40 + noise);
                for (unsigned i = 0; i < SIMULATIONS; i++)
                        passed += simulate(random, noise, 1, 7, 1, 0.9) == EXIT_DONE;
                if (passed > ALARMS_MAX)
                        fail_msg("noise %d: %u of %d passed", (int)noise, passed, SIMULATIONS);
        }
        gsl_rng_free(random);
}

/* A run directory: config, producers, samples around a rate. */
struct made_cell {
        const char *config;
        unsigned producers;
        double rate, overlap;
};

static void make_run(const char *path, const char *host, const struct made_cell *cells,
        unsigned count, unsigned samples, double spread)
{
        char name[64];
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(name, sizeof name, "%s/machine.json", path);
        FILE *file = fopen(name, "w");
        assert_non_null(file);
        fprintf(file,
                "{\"hostname\": \"%s\", \"cpu_model\": \"made up\", \"cpus_effective\": 8, "
                "\"commit\": \"c\", \"compiler\": \"cc\", \"date_utc\": null}\n",
                host);
        fclose(file);
        snprintf(name, sizeof name, "%s/samples.csv", path);
        file = fopen(name, "w");
        assert_non_null(file);
        fputs("kind,config,producers,sample,status,submits,submit_ns,submit_per_s,complete_per_s,"
              "producer_cpu_ns,overlap,wakes,cpus_effective,machine\n",
                file);
        for (unsigned i = 0; i < count; i++)
                for (unsigned s = 0; s < samples; s++) {
                        double rate = cells[i].rate > 0
                                              ? round(cells[i].rate * (1 + spread * s / samples))
                                              : 0;
                        if (rate > 0)
                                fprintf(file,
                                        "measured,%s,%u,%u,ok,%.0f,1000000000,%.9g,%.9g,1,%g,0,8,"
                                        "made up\n",
                                        cells[i].config, cells[i].producers, s, rate, rate, rate,
                                        cells[i].overlap);
                        else
                                fprintf(file,
                                        "measured,%s,%u,%u,hang,NA,NA,NA,NA,NA,NA,NA,8,made up\n",
                                        cells[i].config, cells[i].producers, s);
                }
        fclose(file);
}

/* Appends a column, with the same text in all rows but of `but`'s status. */
static void add_column(const char *run, const char *name, const char *text, const char *but)
{
        char path[64], *rows;
        snprintf(path, sizeof path, "%s/samples.csv", run);
        char *all = rows = file_read(path), status[16];
        FILE *file = fopen(path, "w");
        assert_true(rows && file);
        snprintf(status, sizeof status, ",%s,", but ? but : "none");
        fprintf(file, "%s,%s\n", strsep(&rows, "\n"), name);
        for (char *line; (line = strsep(&rows, "\n")) && *line;)
                fprintf(file, "%s,%s\n", line, strstr(line, status) ? "NA" : text);
        fclose(file);
        free(all);
}

/* Replaces a text in a run's file, as often as it is there. */
static void edit(const char *run, const char *name, const char *old, const char *with)
{
        char path[64], *text;
        snprintf(path, sizeof path, "%s/%s", run, name);
        char *all = text = file_read(path);
        FILE *file = fopen(path, "w");
        assert_true(text && file);
        assert_contains(text, old);
        for (char *at; (at = strstr(text, old)); text = at + strlen(old))
                fprintf(file, "%.*s%s", (int)(at - text), text, with);
        fputs(text, file);
        fclose(file);
        free(all);
}

static void compare(const char *line, int code, const char *sentence)
{
        struct program program = {0};
        program_run(&program, line);
        if (program.code != code)
                fail_msg("%s: exit %d, not %d: %s%s", line, program.code, code, program.out,
                        program.err);
        assert_contains(code == EXIT_USAGE ? program.err : program.out, sentence);
        program_free(&program);
}

static void test_one_machine(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"x/pending", 1, 1e6, 1}, {"x/pending", 8, 3e6, 0.9},
                {"y/edge", 8, 5e6, 0.9}, {"y/edge", 64, 5e6, 0.1}};
        make_run("a", "one", cells, 4, 7, 0.02);
        make_run("same", "one", cells, 4, 7, 0.021);
        compare("compare a same", EXIT_DONE, "compare: no regression");
        cells[1].rate /= 2;
        make_run("slow", "one", cells, 4, 7, 0.02);
        compare("compare a slow", EXIT_FAILED, "compare: regressed: 1 of 4 cells");
        compare("compare slow a", EXIT_DONE, "compare: no regression"); /* faster is none */
        compare("compare slow a", EXIT_DONE,
                "faster by more than the tolerance (95 % a cell): 1 of 4 cells");
        compare("compare a slow --tolerance 60%", EXIT_DONE, "compare: no regression");
        cells[1].rate *= 2;
        cells[3].rate /= 10; /* its producers ran in turn */
        make_run("in_turn", "one", cells, 4, 7, 0.02);
        compare("compare a in_turn", EXIT_DONE, "* in turn, not judged");
        cells[3].rate *= 10;
        make_run("noisy", "one", cells, 4, 7, 2);
        compare("compare noisy noisy", EXIT_INCONCLUSIVE,
                "may be slower by more than the tolerance");
        make_run("few", "one", cells, 4, 2, 0.02);
        compare("compare few few", EXIT_INCONCLUSIVE, "compare: inconclusive: too few samples");
        compare("compare few few", EXIT_INCONCLUSIVE, "give more (--samples 4)");
        cells[0].rate = 0;
        make_run("hung", "one", cells, 4, 7, 0.02);
        compare("compare a hung", EXIT_FAILED, "REGRESSED: none of B ok");
        make_run("part", "one", cells + 2, 1, 7, 0.02);
        compare("compare a part", EXIT_DONE, "only in A");
        compare("compare part a", EXIT_DONE, "only in B");
        compare("compare hung a", EXIT_DONE, "no sample of A is ok");
        compare("compare a hung", EXIT_FAILED,
                "x/pending at 1: not ok, and left out, are 0 of 7 samples of A, 7 of 7 of B");
        edit("hung", "samples.csv", ",hang,", ",skipped,"); /* not run: no failure */
        compare("compare a hung", EXIT_DONE, "only in A");
        make_run("none", "one", cells + 3, 1, 7, 0.02);
        compare("compare part none", EXIT_INCONCLUSIVE, "no cell can be judged");
}

/* The tolerance that is named is one at which it passes, and the least whole one. */
static void test_named_tolerance_passes(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"x", 8, 1e6, 1}};
        make_run("a", "one", cells, 1, 7, 0.9);
        struct program program = {0};
        program_run(&program, "compare a a");
        assert_code(&program, EXIT_INCONCLUSIVE);
        const char *at = strstr(program.out, "at a tolerance of ");
        assert_non_null(at);
        unsigned percent = (unsigned)strtoul(at + strlen("at a tolerance of "), NULL, 10);
        program_free(&program);
        char line[64];
        snprintf(line, sizeof line, "compare a a --tolerance %u%%", percent);
        compare(line, EXIT_DONE, "compare: no regression");
        snprintf(line, sizeof line, "compare a a --tolerance %u%%", percent - 1);
        compare(line, EXIT_INCONCLUSIVE, "compare: inconclusive");
}

/* Another experiment is not compared; what a file can't say is no difference. */
static void test_other_settings(void **state)
{
        (void)state;
        static const char *const settings[][3] = {{"think_ns", "0", "500"},
                {"handler_ns", "0", "500"}, {"poll_ms", "100", "0"}, {"on_full", "retry", "drop"},
                {"check", "on", "off"}, {"pinned", "none", "compact"}, {"instead", "no", "mutex"},
                {"cores", "same", "fast"}};
        struct made_cell cells[] = {{"x", 1, 1e6, 1}, {"x", 2, 1e6, 1}, {"x", 4, 1e6, 1}};
        for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
                const char *const *setting = settings[i];
                char other[64], left_out[64];
                snprintf(other, sizeof other, "other %s\n", setting[0]);
                snprintf(left_out, sizeof left_out, "left out: x at 4 has another %s", setting[0]);
                make_run("old", "one", cells, 3, 7, 0.02);
                make_run("a", "one", cells, 3, 7, 0.02);
                make_run("b", "one", cells, 3, 7, 0.02);
                make_run("elsewhere", "other", cells, 3, 7, 0.02);
                /* A first sample that is not ok can't say. */
                edit("b", "samples.csv", ",0,ok,1000000,1000000000,1000000,1000000,1,1,",
                        ",0,hang,NA,NA,NA,NA,NA,NA,");
                add_column("a", setting[0], setting[1], NULL);
                add_column("b", setting[0], setting[2], "hang");
                add_column("elsewhere", setting[0], setting[2], NULL);
                compare("compare a b", EXIT_INCONCLUSIVE, other);
                compare("compare a b", EXIT_INCONCLUSIVE,
                        "not comparable, since measured with other settings: 3 of 3 cells");
                compare("compare a old", EXIT_DONE, "judged 3 of 3 cells");
                if (!strcmp(setting[0], "cores")) /* the machine's own */
                        compare("compare a elsewhere", EXIT_DONE, "1 claims agree");
                else
                        compare("compare a elsewhere", EXIT_INCONCLUSIVE, left_out);
                assert_int_equal(system("rm -r old a b elsewhere"), 0);
        }
}

/* A cell takes 100 columns at most, be its name as long as ours get. */
static void test_table_is_narrow(void **state)
{
        (void)state;
        struct made_cell cells[] = {
                {"ck_lock:kind=ticket:shards=64:by=producer/pending/eventfd/slab", 4096, 1e6, 1},
                {"spin:shards=64:by=producer/pending/eventfd/slab", 100, 1e6, 0.1}, {"x", 8, 0, 0}};
        make_run("a", "one", cells, 3, 7, 0.02);
        cells[2].rate = 1e6;
        make_run("b", "one", cells, 3, 7, 0.02);
        struct program program = {0};
        program_run(&program, "compare b a");
        assert_code(&program, EXIT_FAILED);
        char *end = strstr(program.out, "\n\nx at 8: not ok"), *rest = program.out;
        assert_non_null(end);
        *end = '\0';
        for (char *line; (line = strsep(&rest, "\n"));)
                if (strlen(line) > 100)
                        fail_msg("%zu columns: %s", strlen(line), line);
        program_free(&program);
}

/* The points that are left out are so in both runs: A would collapse by one that B can't have. */
static void test_left_out_in_both(void **state)
{
        (void)state;
        struct made_cell cells[] = {
                {"x", 1, 1e6, 1}, {"x", 2, 1e6, 1}, {"x", 4, 1e6, 1}, {"x", 8, 1e5, 0.77}};
        make_run("a", "one", cells, 4, 7, 0.02);
        make_run("b", "other", cells, 4, 7, 0.02);
        compare("compare a b", EXIT_DONE, "collapse     collapse      agree");
        add_column("a", "think_ns", "0", NULL);
        add_column("b", "think_ns", "0", NULL);
        edit("b", "samples.csv", ",0.77,0,8,made up,0\n", ",0.77,0,8,made up,500\n");
        compare("compare a b", EXIT_DONE, "plateau      plateau       agree");
        compare("compare a b", EXIT_DONE, "left out: x at 8 has another think_ns");
}

/* What a file says is text to a terminal, and no command. */
static void test_harmless(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"x", 8, 1e6, 1}};
        make_run("a", "one", cells, 1, 7, 0.02);
        edit("a", "machine.json", "made up", "\\u001b[31mred\\u0007");
        struct program program = {0};
        program_run(&program, "compare a a");
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "[31mred");
        assert_null(strpbrk(program.out, "\033\007"));
        program_free(&program);
}

/* Our own data beside itself: it may be too noisy to pass, but has no regression. */
static void test_committed_data(void **state)
{
        (void)state;
        static const char *const runs[] = {"collapse", "queues", "shards", "bars"};
        const char *root = getenv("FANIN_ROOT");
        for (unsigned i = 0; root && i < sizeof runs / sizeof *runs; i++) {
                char line[8448];
                struct program program = {0};
                snprintf(line, sizeof line, "compare %s/experiments/data/%s %s/experiments/data/%s",
                        root, runs[i], root, runs[i]);
                program_run(&program, line);
                if (program.code != EXIT_DONE && program.code != EXIT_INCONCLUSIVE)
                        fail_msg("%s: exit %d: %s", line, program.code, program.err);
                program_free(&program);
        }
}

static void test_two_machines(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"falls", 1, 1e6, 1}, {"falls", 2, 8e5, 1},
                {"falls", 4, 2e5, 1}, {"stays", 1, 1e6, 1}, {"stays", 2, 1e6, 1},
                {"stays", 4, 1e6, 1}};
        make_run("a", "one", cells, 6, 7, 0.02);
        for (unsigned i = 0; i < 6; i++)
                cells[i].rate *= 7; /* never compared */
        make_run("b", "other", cells, 6, 7, 0.02);
        compare("compare a b", EXIT_DONE, "4 claims agree, 0 contradict");
        cells[5].rate = 2e7; /* no verdict or order changes, but a ratio */
        make_run("ratio", "other", cells, 6, 7, 0.02);
        compare("compare a ratio", EXIT_FAILED, "ratios: 0 agree, 1 contradict");
        cells[5].rate = 7e6;
        cells[3].rate = cells[4].rate = cells[5].rate = 7e5; /* both as before, but behind */
        make_run("order", "other", cells, 6, 7, 0.02);
        compare("compare a order", EXIT_FAILED,
                "at 4: CONTRADICT: ahead in A is stays,\n        in B falls\n");
        compare("compare a order", EXIT_FAILED, "verdicts: 2 agree, 0 contradict");
        compare("compare a order --tolerance 90%", EXIT_FAILED, "ratios: 1 agree, 0 contradict");
        cells[3].rate = cells[4].rate = 7e6;
        cells[5].rate = 1e6;
        make_run("c", "other", cells, 6, 7, 0.02);
        compare("compare a c", EXIT_FAILED, "CONTRADICT");
        make_run("d", "other", cells, 6, 2, 0.02);
        compare("compare a d", EXIT_INCONCLUSIVE, "0 claims agree, 0 contradict");
        struct made_cell others[] = {{"else", 1, 1e6, 1}};
        make_run("e", "other", others, 1, 7, 0.02);
        compare("compare a e", EXIT_INCONCLUSIVE, "0 claims agree, 0 contradict, 0 can't be told");
}

/* What twins can't tell apart is not called. */
static void test_floor(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"x", 8, 1e6, 1}};
        make_run("a", "one", cells, 1, 7, 0.02);
        compare("compare a a", EXIT_DONE, "is not known: neither is an A/A run");
        FILE *in = fopen("a/samples.csv", "r"), *out = NULL;
        assert_int_equal(mkdir("aa", 0700), 0);
        out = fopen("aa/samples.csv", "w");
        char line[512];
        assert_non_null(fgets(line, sizeof line, in));
        fprintf(out, "%.*s,twin\n", (int)strcspn(line, "\n"), line);
        for (unsigned i = 0; fgets(line, sizeof line, in); i++) {
                fprintf(out, "%.*s,a\n", (int)strcspn(line, "\n"), line);
                fprintf(out, "measured,x,8,%u,ok,%u,1000000000,%u,%u,1,1,0,8,made up,b\n", i,
                        700000 + i, 700000 + i, 700000 + i);
        }
        fclose(in);
        fclose(out);
        assert_int_equal(link("a/machine.json", "aa/machine.json"), 0);
        cells[0].rate = 0.8e6;
        make_run("slower", "one", cells, 1, 7, 0.02);
        compare("compare a slower", EXIT_FAILED, "compare: regressed");
        /* 1 - 0.7/1.017: not called, and not passed. */
        compare("compare aa slower", EXIT_INCONCLUSIVE, "a difference of less than 31");
        compare("compare aa slower --tolerance 32%", EXIT_DONE, "compare: no regression");
        /* So also when the first sample is missing, and when it is B's. */
        edit("aa", "samples.csv", ",0,ok,1000000,", ",9,ok,1000000,");
        compare("compare aa slower", EXIT_INCONCLUSIVE, "a difference of less than 31");
        compare("compare slower aa", EXIT_INCONCLUSIVE, "a difference of less than 31");
        /* Twins of which one is another program say nothing of chance. */
        assert_int_equal(unlink("aa/machine.json"), 0);
        make_run("bare", "one", cells, 1, 7, 0.02);
        edit("bare", "machine.json", "\"hostname\"",
                "\"command_line\": [\"fanin\", \"run\", \"--twin-program\", \"f\"], \"hostname\"");
        assert_int_equal(link("bare/machine.json", "aa/machine.json"), 0);
        compare("compare aa slower", EXIT_FAILED, "is not known: neither is an A/A run");
}

static void test_bad_runs(void **state)
{
        (void)state;
        struct made_cell cells[] = {{"x", 8, 1e6, 1}};
        make_run("a", "one", cells, 1, 7, 0.02);
        compare("compare a nowhere", EXIT_USAGE, "nowhere/samples.csv can't be read");
        make_run("edited", "one", cells, 1, 7, 0.02);
        edit("edited", "samples.csv", ",3,ok,", ",3,fine,");
        compare("compare a edited", EXIT_USAGE, "edited/samples.csv line 5, column status: 'fine'");
        static const struct {
                const char *file, *text, *sentence;
        } cases[] = {
                {"b/machine.json", "{\"hostname\": \"one\",", "b/machine.json line 1, column 19"},
                {"b/machine.json", "[]\n", "it is not an object"},
                {"b/machine.json", "", "b/machine.json line 1"},
                {"b/machine.json", "{}\n", "b/machine.json: key commit is not there"},
                {"b/machine.json",
                        "{\"hostname\": 1, \"cpu_model\": null, \"cpus_effective\": 8, "
                        "\"commit\": \"\", \"compiler\": \"\", \"date_utc\": null}\n",
                        "key hostname is not text"},
                {"b/machine.json",
                        "{\"hostname\": \"\", \"cpu_model\": null, \"cpus_effective\": 0, "
                        "\"commit\": \"\", \"compiler\": \"\", \"date_utc\": null}\n",
                        "key cpus_effective is not a count"},
                {"b/samples.csv", "a,b\n1,2\n", "b/samples.csv line 1: there is no column kind"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                make_run("b", "one", cells, 1, 7, 0.02);
                FILE *file = fopen(cases[i].file, "w");
                fputs(cases[i].text, file);
                fclose(file);
                compare("compare a b", EXIT_USAGE, cases[i].sentence);
                assert_int_equal(
                        unlink("b/machine.json") || unlink("b/samples.csv") || rmdir("b"), 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_tail_is_exact),
                cmocka_unit_test(test_bounds),
                cmocka_unit_test(test_false_alarms),
                cmocka_unit_test(test_level_is_that_of_the_family),
                cmocka_unit_test(test_slowdown_is_caught),
                cmocka_unit_test(test_enough_samples),
                cmocka_unit_test(test_slowdown_is_not_passed),
                SCRATCH_TEST(test_one_machine),
                SCRATCH_TEST(test_named_tolerance_passes),
                SCRATCH_TEST(test_other_settings),
                SCRATCH_TEST(test_left_out_in_both),
                SCRATCH_TEST(test_table_is_narrow),
                SCRATCH_TEST(test_harmless),
                SCRATCH_TEST(test_committed_data),
                SCRATCH_TEST(test_two_machines),
                SCRATCH_TEST(test_floor),
                SCRATCH_TEST(test_bad_runs),
        };
        char root[4096];
        if (getcwd(root, sizeof root)) /* tests run in the root; each case elsewhere */
                setenv("FANIN_ROOT", root, 1);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
