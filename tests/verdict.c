/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The Universal Scalability Law on curves whose parameters are known, the rule of verdicts on
 * made-up curves, and `fanin verdict` on the published table, on tables that are wrong, and on
 * runs.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <jansson.h>
#include <math.h>

#include "../experiments/settings.h"
#include "../experiments/usl.h"
#include "run_program.h"

static const double at[] = {1, 2, 4, 8, 16, 32, 64, 100};
enum { POINTS = sizeof at / sizeof *at };

static struct usl fit_of(double sigma, double kappa, double noise)
{
        const struct usl law = {.lambda_per_s = 3e6, .sigma = sigma, .kappa = kappa};
        double rates[POINTS];
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = usl_rate(&law, at[i]) * exp(gsl_ran_gaussian(random, noise));
        rates[0] *= 7; /* a lone producer is not of the law, and left out */
        gsl_rng_free(random);
        return usl_fit(at, rates, POINTS);
}

static void assert_near(const char *what, double value, double expected, double within)
{
        if (!(fabs(value - expected) <= within))
                fail_msg("%s is %g, expected %g", what, value, expected);
}

static void test_law_is_found(void **state)
{
        (void)state;
        static const double cases[][2] = {
                {0, 0}, {0.05, 0}, {0.9, 0}, {0, 1e-3}, {0.05, 1e-3}, {0.3, 0.05}, {2, 0.01}};
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct usl usl = fit_of(cases[i][0], cases[i][1], 0);
                if (!usl.fitted)
                        fail_msg("case %u: %s", i, usl.why);
                assert_near("sigma", usl.sigma, cases[i][0], 1e-4 * (1 + cases[i][0]));
                assert_near("kappa", usl.kappa, cases[i][1], 1e-4 * (1 + cases[i][1]));
                assert_near("lambda", usl.lambda_per_s / 3e6, 1, 1e-3);
                assert_true(usl.residual_max < 1e-4);
                /* On a bound exactly, not nearly. */
                assert_true(cases[i][0] > 0 || usl.sigma == 0);
                assert_true(cases[i][1] > 0 || usl.kappa == 0);
                if (usl.kappa > 0 && usl.sigma < 1)
                        assert_near("peak", usl.peak_at, sqrt((1 - cases[i][0]) / cases[i][1]),
                                0.1 * usl.peak_at);
                else
                        assert_true(isinf(usl.peak_at) || usl.peak_at < 1);
                struct usl noisy = fit_of(cases[i][0], cases[i][1], 0.03);
                if (noisy.fitted)
                        assert_true(noisy.sigma >= 0 && noisy.kappa >= 0);
        }
        struct usl noisy = fit_of(0.05, 1e-3, 0.02);
        assert_near("sigma", noisy.sigma, 0.05, 0.03);
        assert_near("kappa", noisy.kappa, 1e-3, 3e-4);
}

static void test_law_is_not_fitted(void **state)
{
        (void)state;
        double rates[POINTS] = {1e6, 1.1e6, 1.2e6, 1.3e6, 1.4e6, NAN, 0, -1};
        struct usl usl = usl_fit(at, rates, POINTS); /* 4 points from 2 on */
        assert_false(usl.fitted);
        assert_non_null(strstr(usl.why, "fewer than 5"));
        usl = usl_fit(at, rates, 0);
        assert_false(usl.fitted);
        /* It falls and then stays: no law of this kind. */
        const double falls[POINTS] = {1.18e6, 9e5, 5e5, 2.3e5, 1.3e5, 1.15e5, 1.13e5, 1.13e5};
        const double from_8[] = {8, 16, 32, 64, 100};
        usl = usl_fit(from_8, falls + 3, 5);
        assert_false(usl.fitted);
        assert_non_null(strstr(usl.why, "without bound"));
        /* Constant is as good as sigma without bound; huge numbers are numbers. */
        for (unsigned i = 0; i < POINTS; i++)
                rates[i] = 1e300 * at[i];
        usl = usl_fit(at, rates, POINTS);
        assert_true(usl.fitted && usl.sigma == 0 && usl.kappa == 0);
}

/* Writes a table and runs the program on it. */
static void run_on(struct program *program, const char *text, const char *options)
{
        char line[128];
        FILE *file = fopen("t.csv", "w");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0 && !fclose(file));
        snprintf(line, sizeof line, "verdict t.csv%s", options);
        program_run(program, line);
}

static void assert_verdict(const char *rows, const char *verdict, int code)
{
        char text[4096];
        struct program program = {0};
        snprintf(text, sizeof text, "config,producers,submit_per_s\n%s", rows);
        run_on(&program, text, " --format csv");
        if (program.code != code)
                fail_msg("%s: exit %d: %s", rows, program.code, program.err);
        struct sheet csv = sheet_parse(program.out);
        assert_string_equal(sheet_text(&csv, 0, "verdict"), verdict);
        assert_string_equal(
                sheet_text(&csv, 0, "kept_share_lo"), "NA"); /* no samples, no interval */
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

static void test_rule(void **state)
{
        (void)state;
        assert_verdict("q,1,100\nq,2,90\nq,4,49\n", "collapse", EXIT_DONE);
        assert_verdict("q,4,49\nq,1,100\nq,2,90\n", "collapse", EXIT_DONE); /* in any order */
        assert_verdict("q,1,100\nq,2,90\nq,4,50\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict("q,1,100\nq,2,90\nq,4,79\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict("q,1,100\nq,2,95\nq,4,80\n", "plateau", EXIT_DONE);
        assert_verdict("q,1,100\nq,2,100\nq,4,100\n", "plateau", EXIT_DONE);
        assert_verdict("q,1,100\nq,2,190\nq,4,237\n", "plateau", EXIT_DONE);
        assert_verdict("q,1,100\nq,2,190\nq,4,238\n", "scaling", EXIT_DONE);
        assert_verdict("q,1,100\nq,2,190\nq,3,200\nq,4,238\n", "scaling", EXIT_DONE); /* of 2 */
        assert_verdict("q,1,100\nq,2,190\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict("q,1,100\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict("q,1,100\nq,2,50\nq,4,NA\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict("q,1,NA\n", "inconclusive", EXIT_INCONCLUSIVE);
        assert_verdict(
                "q,5,100\nq,6,50\nq,7,10\n", "inconclusive", EXIT_INCONCLUSIVE); /* no half */
}

/* The heart of it: what was published is read as it was said. */
static void test_published_table(void **state)
{
        (void)state;
        struct program program = {0};
        char line[512];
        const char *root = getenv("FANIN_ROOT");
        snprintf(line, sizeof line,
                "verdict %s/experiments/data/published/nim-ffi-apple-m5-2026-06-25.csv",
                root ? root : "");
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "published: Apple M5 10 cores, 10 CPUs; no samples");
        assert_contains(program.out, "\nvyukov/every/socketpair/malloc: collapse: ");
        assert_contains(program.out, "\nsharded_mutex:shards=16/edge/socketpair/malloc: plateau: ");
        assert_contains(program.out, "Beyond 10 producers there are more threads than the 10 CPUs");
        assert_contains(program.out, "[NA]");
        program_free(&program);
}

static void test_bad_tables(void **state)
{
        (void)state;
        static const struct {
                const char *text, *sentence;
        } cases[] = {
                {"", "t.csv line 1: the file is empty"},
                {"config,producers,submit_per_s", "t.csv line 1: the line does not end"},
                {"config,producers,submit_per_s\n", "t.csv line 2: there is no row"},
                {"config,producers\nq,1\n", "t.csv line 1: there is no column submit_per_s"},
                {"Config,producers,submit_per_s\nq,1,2\n", "t.csv line 1: column 1 has no name"},
                {"config,config,submit_per_s\nq,1,2\n", "t.csv line 1: column 2 has no name"},
                {"config,producers,submit_per_s\nq,1\n", "t.csv line 2: it has 2 fields"},
                {"config,producers,submit_per_s\nq,1,2\nq,2,3,4\n",
                        "t.csv line 3: it has 4 fields, where line 1 names 3"},
                {"config,producers,submit_per_s\nq,0,2\n",
                        "t.csv line 2, column producers: '0' is not a whole number from 1 to 4096"},
                {"config,producers,submit_per_s\nq,1.5,2\n", "column producers: '1.5'"},
                {"config,producers,submit_per_s\nq,99999999999999999999,2\n", "column producers"},
                {"config,producers,submit_per_s\nq,1,-2\n",
                        "line 2, column submit_per_s: '-2' is not a number of at least 0, or NA"},
                {"config,producers,submit_per_s\nq,1,1e999\n", "column submit_per_s: '1e999'"},
                {"config,producers,submit_per_s\nq,1,0x10\n", "column submit_per_s: '0x10'"},
                {"config,producers,submit_per_s\nq,1,inf\n", "column submit_per_s: 'inf'"},
                {"config,producers,submit_per_s\nq,1,2 000\n", "column submit_per_s: '2 000'"},
                {"config,producers,submit_per_s\nq,1,\033[2J\n", "column submit_per_s: '?[2J'"},
                {"config,producers,submit_per_s\nq,1,0\n", "column submit_per_s: '0' is not above"},
                {"config,producers,submit_per_s\n,1,2\n", "column config: ''"},
                {"config,producers,submit_per_s\nq,1,2\nq,1,3\n",
                        "line 3, column producers: '1' is not new"},
                {"kind,config,producers,submit_per_s\npublished,q,1,2\nmeasured,q,2,3\n",
                        "line 3, column kind: 'measured' is not what line 2 says"},
                {"config,producers,submit_per_s\n\"q\",1,1,5\n", "line 2: it has 4 fields"},
                {"config,producers,submits,submit_per_s\nq,1,1,5\n", "there is no column kind"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct program program = {0};
                run_on(&program, cases[i].text, "");
                assert_code(&program, EXIT_USAGE);
                assert_string_equal(program.out, "");
                assert_contains(program.err, cases[i].sentence);
                assert_ptr_equal(strchr(program.err, '\n'), strrchr(program.err, '\n'));
                program_free(&program);
        }
        static const char *const missing[] = {
                "verdict nowhere.csv", "verdict .", "verdict /dev/zero"};
        for (unsigned i = 0; i < sizeof missing / sizeof *missing; i++) {
                struct program program = {0};
                program_run(&program, missing[i]);
                assert_code(&program, EXIT_USAGE);
                program_free(&program);
        }
}

/* The numbers of CSV and JSON are one. */
static void test_formats_agree(void **state)
{
        (void)state;
        static const char table[] = "config,producers,submit_per_s\nq,1,100\nq,2,190\nq,4,237\n"
                                    "q,8,250\nq,16,255\nq,32,250\nother,1,5\n";
        struct program csv_program = {0}, json_program = {0};
        run_on(&csv_program, table, " --format csv");
        run_on(&json_program, table, " --format json");
        struct sheet csv = sheet_parse(csv_program.out);
        json_t *json = json_loads(json_program.out, 0, NULL);
        assert_int_equal(csv.rows, 2);
        assert_int_equal(json_array_size(json), 2);
        for (unsigned row = 0; row < 2; row++)
                for (unsigned i = 0; i < csv.columns; i++) {
                        const json_t *value =
                                json_object_get(json_array_get(json, row), csv.fields[i]);
                        const char *text = csv.fields[(row + 1) * csv.columns + i];
                        if (json_is_number(value))
                                assert_near(csv.fields[i], json_number_value(value), atof(text),
                                        1e-5 * fabs(atof(text)));
                        else if (json_is_null(value))
                                assert_string_equal(text, "NA");
                        else
                                assert_true(json_is_string(value) || json_is_boolean(value));
                }
        json_decref(json);
        csv_program.out = NULL;
        sheet_free(&csv);
        program_free(&csv_program);
        program_free(&json_program);
}

/* A row of samples.csv as far as it is needed. */
static void print_row(FILE *file, const char *config, unsigned producers, unsigned sample,
        const char *status, double rate, double overlap)
{
        fprintf(file, "measured,%s,%u,%u,%s,%.0f,1000000000,%.6g,%.6g,1,%g,0,2,made up,no\n",
                config, producers, sample, status, rate, rate, rate, overlap);
}

static FILE *begin_samples(const char *directory)
{
        char path[64];
        assert_int_equal(mkdir(directory, 0700), 0);
        snprintf(path, sizeof path, "%s/samples.csv", directory);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("kind,config,producers,sample,status,submits,submit_ns,submit_per_s,complete_per_s,"
              "producer_cpu_ns,overlap,wakes,cpus_effective,machine,twin\n",
                file);
        return file;
}

/* Intervals decide, not medians; what ran in turn and what is not ok does not count. */
static void test_samples(void **state)
{
        (void)state;
        FILE *file = begin_samples("d");
        for (unsigned sample = 0; sample < 9; sample++) {
                print_row(file, "falls", 1, sample, "ok", 1e6 + sample, 1);
                print_row(file, "falls", 2, sample, "ok", 8e5 + sample, 1);
                print_row(file, "falls", 4, sample, "ok", 3e5 + sample, 1);
                print_row(file, "noisy", 1, sample, "ok", 1e6 + sample, 1);
                print_row(file, "noisy", 2, sample, "ok", 8e5 + sample, 1);
                print_row(file, "noisy", 4, sample, "ok", sample % 2 ? 3e5 : 6e5, 1);
                print_row(file, "in_turn", 1, sample, "ok", 1e6 + sample, 1);
                print_row(file, "in_turn", 2, sample, "ok", 8e5 + sample, 0.6);
                print_row(file, "in_turn", 4, sample, "ok", 3e5 + sample, 0.49);
                print_row(file, "hangs", 1, sample, "ok", 1e6 + sample, 1);
                print_row(file, "hangs", 2, sample, "ok", 1e6 + sample, 1);
                print_row(file, "hangs", 3, sample, "ok", 1e6 + sample, 1);
                print_row(file, "hangs", 4, sample, "lost", 1e3 + sample, 1);
        }
        fclose(file);
        struct program program = {0};
        program_run(&program, "verdict d/");
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "measured: made up, 2 CPUs");
        assert_contains(program.out, "\nfalls: collapse: ");
        assert_contains(program.out, "\nnoisy: inconclusive: the interval of what is kept");
        assert_contains(program.out, "\nin_turn: inconclusive: fewer than 3 points count");
        assert_contains(program.out, "1 point left out: its producers mostly ran in turn");
        assert_contains(program.out, "\nhangs: plateau: "); /* up to 3 */
        assert_contains(program.out, "9 samples are not ok and left out");
        program_free(&program);
        /* So few that no interval says anything. */
        file = begin_samples("few");
        for (unsigned sample = 0; sample < 2; sample++)
                for (unsigned producers = 1; producers <= 4; producers *= 2)
                        print_row(file, "falls", producers, sample, "ok",
                                1e6 / producers / producers, 1);
        fclose(file);
        program_run(&program, "verdict few");
        assert_code(&program, EXIT_INCONCLUSIVE);
        assert_contains(program.out, "falls: inconclusive: too few samples");
        program_free(&program);
}

/* The committed runs can all be judged. */
static void test_own_data(void **state)
{
        (void)state;
        static const char *const runs[] = {"collapse", "queues", "shards", "bars"};
        const char *root = getenv("FANIN_ROOT");
        for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
                struct program program = {0};
                char line[512];
                snprintf(line, sizeof line, "verdict --format csv %s/experiments/data/%s",
                        root ? root : "", runs[i]);
                program_run(&program, line);
                if (program.code != EXIT_DONE && program.code != EXIT_INCONCLUSIVE)
                        fail_msg("%s: exit %d: %s", runs[i], program.code, program.err);
                struct sheet csv = sheet_parse(program.out);
                assert_true(csv.rows > 2);
                program.out = NULL;
                sheet_free(&csv);
                program_free(&program);
        }
}

int main(void)
{
        char root[4096];
        if (getcwd(root, sizeof root)) /* tests run in the root; each case elsewhere */
                setenv("FANIN_ROOT", root, 1);
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_law_is_found),
                cmocka_unit_test(test_law_is_not_fitted),
                SCRATCH_TEST(test_rule),
                SCRATCH_TEST(test_published_table),
                SCRATCH_TEST(test_bad_tables),
                SCRATCH_TEST(test_formats_agree),
                SCRATCH_TEST(test_samples),
                SCRATCH_TEST(test_own_data),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
