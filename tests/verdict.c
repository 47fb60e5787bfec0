/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The rule of verdicts on made-up curves, on curves that others published, and on simulated ones;
 * `fanin verdict` on tables, on samples, and on files that are wrong.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>

#include "../experiments/curve.h"
#include "../experiments/settings.h"
#include "run_program.h"

static void assert_begins(const char *text, const char *part)
{
        if (strncmp(text, part, strlen(part)) != 0)
                fail_msg("'%s' is not the beginning of: %s", part, text);
}

/* Writes a file and runs the program on it. */
static void run_on(struct program *program, const char *text, const char *options)
{
        char line[128];
        FILE *file = fopen("t.csv", "w");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0 && !fclose(file));
        snprintf(line, sizeof line, "verdict t.csv%s", options);
        program_run(program, line);
}

static void assert_verdict(const char *rows, const char *verdict, const char *why)
{
        char text[4096];
        struct program program = {0};
        snprintf(text, sizeof text, "config,producers,submit_per_s\n%s", rows);
        run_on(&program, text, " --format csv");
        struct sheet csv = sheet_parse(program.out);
        if (strcmp(sheet_text(&csv, 0, "verdict"), verdict) != 0 ||
                !strstr(sheet_text(&csv, 0, "why"), why))
                fail_msg("%s: %s: %s; expected %s: %s", rows, sheet_text(&csv, 0, "verdict"),
                        sheet_text(&csv, 0, "why"), verdict, why);
        assert_code(&program, strcmp(verdict, "inconclusive") != 0 ? EXIT_DONE : EXIT_INCONCLUSIVE);
        /* No samples, no intervals. */
        assert_string_equal(sheet_text(&csv, 0, "peak_submit_per_s_lo"), "NA");
        assert_string_equal(sheet_text(&csv, 0, "kept_share_lo"), "NA");
        assert_string_equal(sheet_text(&csv, 0, "top_over_first_ratio_hi"), "NA");
        assert_string_equal(sheet_text(&csv, 0, "gain_per_doubling_ratio_coverage"), "NA");
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

static void test_rule(void **state)
{
        (void)state;
        assert_verdict("q,1,100\nq,2,90\nq,4,49\n", "collapse", "less than half");
        assert_verdict("q,4,49\nq,1,100\nq,2,90\n", "collapse", ""); /* in any order */
        assert_verdict("q,1,100\nq,2,10\nq,4,10\n", "collapse", ""); /* 1 producer: as published */
        assert_verdict("q,2,100\nq,4,900\nq,8,500\nq,16,440\n", "collapse", ""); /* of the peak */
        assert_verdict("q,1,100\nq,2,90\nq,4,50\n", "inconclusive", "keeps at least half");
        assert_verdict("q,1,100\nq,2,90\nq,4,79\n", "inconclusive", "keeps at least half");
        assert_verdict("q,1,100\nq,2,95\nq,4,80\n", "plateau", "at least 0.8");
        assert_verdict("q,1,100\nq,2,100\nq,4,100\n", "plateau", "at least 0.8");
        assert_verdict("q,1,100\nq,2,190\nq,4,237\n", "plateau", "less than 1.25x");
        assert_verdict("q,1,100\nq,2,190\nq,4,238\n", "scaling", "still gains");
        assert_verdict("q,1,1\nq,2,2\nq,4,4\n", "scaling", "still gains");
        assert_verdict("q,1,1e300\nq,2,2e300\nq,4,4e300\n", "scaling", "still gains");
}

static void test_rule_where_counts_are_few(void **state)
{
        (void)state;
        /* A gain is over half as many or the next fewer, and for each doubling: over 8 to 64
         * producers 1.5 is little. */
        assert_verdict("q,1,100\nq,2,190\nq,3,200\nq,4,238\n", "scaling", "");
        assert_verdict("q,1,100\nq,8,190\nq,64,285\n", "plateau", "less than 1.25x");
        assert_verdict("q,1,100\nq,8,190\nq,64,400\n", "scaling", "");
        /* It gains over half as many, but lies behind its peak. */
        assert_verdict("q,1,100\nq,4,200\nq,6,400\nq,8,350\n", "inconclusive", "lies before");
        assert_verdict("q,1,100\nq,2,190\n", "inconclusive", "fewer than 3");
        assert_verdict("q,1,100\n", "inconclusive", "fewer than 3");
        assert_verdict("q,1,100\nq,2,50\nq,4,NA\n", "inconclusive", "fewer than 3");
        assert_verdict("q,1,NA\n", "inconclusive", "fewer than 3");
        assert_verdict("q,5,100\nq,6,50\nq,7,10\n", "inconclusive", "half of the most");
}

/* Numbers of the first line of a table's CSV. */
static void assert_number(const char *text, const char *column, const char *expected)
{
        struct program program = {0};
        run_on(&program, text, " --format csv");
        struct sheet csv = sheet_parse(program.out);
        if (strcmp(sheet_text(&csv, 0, column), expected) != 0)
                fail_msg("%s%s is %s, expected %s", text, column, sheet_text(&csv, 0, column),
                        expected);
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

static void test_numbers(void **state)
{
        (void)state;
        static const char text[] = "config,producers,submit_per_s,machine\n"
                                   "q,1,100,m 12 cores\nq,2,400,m 12 cores\nq,8,200,m 12 cores\n"
                                   "q,64,300,m 12 cores\n";
        static const char *const numbers[][2] = {{"peak_submit_per_s", "400"},
                {"peak_producers", "2"}, {"first_producers", "1"}, {"top_producers", "64"},
                {"kept_share", "0.75"}, {"kept_share_from_2_producers", "0.75"},
                {"top_over_first_ratio", "3"}, {"gain_per_doubling_ratio", "1.14471"},
                {"cpus", "12"}, {"past_cpus", "yes"}, {"points_counted", "4"},
                {"points_in_turn", "0"}, {"samples_bad", "0"}, {"usl_sigma", "NA"},
                {"kind", "of unknown kind"}};
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
                assert_number(text, numbers[i][0], numbers[i][1]);
        static const char *const machines[][2] = {{"m 12 cores", "12"}, {"12 cores", "12"},
                {"m", "NA"}, {"m cores", "NA"}, {"12 cores or so", "NA"}, {"m 8192 cores", "8192"},
                {"m 99999999999999999999 cores", "NA"}};
        for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
                char line[128];
                snprintf(line, sizeof line, "machine,config,producers,submit_per_s\n%s,q,1,1\n",
                        machines[i][0]);
                assert_number(line, "cpus", machines[i][1]);
        }
}

/* As others measured them, in millions a second and rounded: the thresholds call them what they
 * are known for. */
static void test_curves_of_others(void **state)
{
        (void)state;
        /* David, Guerraoui and Trigonakis, SOSP 2013, figure 5: acquisitions of one lock. First an
         * 80-core Xeon: test and set, MCS, a hierarchical ticket lock; then CLH on a Niagara. */
        assert_verdict("q,3,5.13\nq,4,4.84\nq,10,2.07\nq,20,0.47\nq,40,0.18\nq,80,0.043\n",
                "collapse", "");
        assert_verdict(
                "q,3,5.18\nq,4,5.78\nq,10,5.33\nq,20,2.52\nq,40,1.73\nq,80,1.53\n", "collapse", "");
        assert_verdict("q,3,3.02\nq,4,2.85\nq,10,2.29\nq,20,2.25\nq,40,2.22\nq,80,1.9\n",
                "inconclusive", "keeps at least half");
        assert_verdict(
                "q,3,6.34\nq,4,6.24\nq,10,6.23\nq,20,5.95\nq,40,5.82\nq,64,5.53\n", "plateau", "");
        /* McKenney's perfbook, CodeSamples/count, on 8 Xeon 8176: one atomic counter, and one a
         * thread. */
        assert_verdict("q,1,207\nq,2,31\nq,7,39\nq,28,45\nq,112,35\nq,420,28\n", "collapse", "");
        assert_verdict("q,1,682\nq,2,1353\nq,7,4549\nq,28,17560\nq,112,55790\nq,420,145209\n",
                "scaling", "");
        /* moodycamel's benchmark, enqueue only, Xeon E5-2670: a sub-queue per producer, one
         * lock-free queue, one lock. */
        assert_verdict("q,1,110\nq,8,95\nq,48,61\n", "inconclusive", "keeps at least half");
        assert_verdict("q,1,18.8\nq,8,0.19\nq,48,0.03\n", "collapse", "");
        assert_verdict("q,1,18.3\nq,8,0.37\nq,48,0.09\n", "collapse", "");
        /* Yang and Mellor-Crummey, PPoPP 2016: fetch and add. */
        assert_verdict(
                "q,1,170\nq,2,96\nq,4,74\nq,8,118\nq,16,108\nq,36,99\nq,72,31\n", "collapse", "");
}

static void run_on_data(struct program *program, const char *path)
{
        char line[1024];
        const char *root = getenv("FANIN_ROOT");
        snprintf(line, sizeof line, "verdict %s/experiments/data/%s", root ? root : "", path);
        program_run(program, line);
}

/* The heart of it: what was published is read as it was said. */
static void test_published_table(void **state)
{
        (void)state;
        struct program program = {0};
        run_on_data(&program, "published/nim-ffi-apple-m5-2026-06-25.csv");
        assert_code(&program, EXIT_DONE);
        assert_begins(program.out, "published: Apple M5 10 cores, 10 CPUs; no intervals: ");
        assert_contains(program.out, "\nvyukov/every/socketpair/malloc: collapse, 1 to 100 "
                                     "producers: it keeps less than half of its peak. ");
        assert_contains(program.out, "\nsharded_mutex:shards=16/edge/socketpair/malloc: plateau, 1 "
                                     "to 100 producers: ");
        assert_contains(program.out, "From 2 producers on it keeps 0.491.");
        assert_contains(program.out, "Beyond 10 producers they outnumber the CPUs");
        assert_contains(program.out, "(intervals NA: no samples), peak at 79.5 producers;");
        assert_contains(program.out, "The law is not fitted: its best fit has a parameter without");
        program_free(&program);
        /* The other table: another kind, and a machine that does not say its CPUs. */
        run_on_data(&program, "published/nim-ffi-linux-2cpu-2026-11-30.csv --format csv");
        struct sheet csv = sheet_parse(program.out);
        assert_int_equal(csv.rows, 12);
        for (unsigned row = 0; row < csv.rows; row++) {
                assert_string_equal(
                        sheet_text(&csv, row, "kind"), "reference implementation rerun");
                assert_string_equal(sheet_text(&csv, row, "cpus"), "NA");
                assert_string_equal(sheet_text(&csv, row, "past_cpus"), "NA");
                assert_true(strcmp(sheet_text(&csv, row, "verdict"), "collapse") != 0);
        }
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

#define HEADER "config,producers,submit_per_s\n"

static void test_bad_tables(void **state)
{
        (void)state;
        static const struct {
                const char *text, *sentence;
        } cases[] = {
                {"", "t.csv line 1: the file is empty"},
                {"config,producers,submit_per_s", "t.csv line 1: the line does not end"},
                {HEADER "q,1,2\nq,2,", "t.csv line 3: the line does not end"},
                {HEADER, "t.csv line 2: there is no row"},
                {"config,producers\nq,1\n", "t.csv line 1: there is no column submit_per_s"},
                {"producers,submit_per_s\n1,2\n", "t.csv line 1: there is no column config"},
                {"config,submit_per_s\nq,2\n", "t.csv line 1: there is no column producers"},
                {"Config,producers,submit_per_s\nq,1,2\n", "t.csv line 1: column 1 has no name"},
                {"config,config,submit_per_s\nq,1,2\n", "t.csv line 1: column 2 has no name"},
                {HEADER "q,1\n", "t.csv line 2: it has 2 fields"},
                {HEADER "q,1,2\nq,2,3,4\n", "t.csv line 3: it has 4 fields, where line 1 names 3"},
                {HEADER "q,1,2\n\nq,2,2\n", "t.csv line 3: it has 1 fields"},
                {HEADER "q,0,2\n",
                        "t.csv line 2, column producers: '0' is not a whole number from 1 to 4096"},
                {HEADER "q,4097,2\n", "t.csv line 2, column producers: '4097'"},
                {HEADER "q,-1,2\n", "t.csv line 2, column producers: '-1'"},
                {HEADER "q,two,2\n", "t.csv line 2, column producers: 'two'"},
                {HEADER "q,1.5,2\n", "t.csv line 2, column producers: '1.5'"},
                {HEADER "q,,2\n", "t.csv line 2, column producers: ''"},
                {HEADER "q,99999999999999999999,2\n", "t.csv line 2, column producers"},
                {HEADER "q,1,-2\n", "t.csv line 2, column submit_per_s: '-2' is not a number of at "
                                    "least 0, or NA"},
                {HEADER "q,1,2\nq,2,fast\n", "t.csv line 3, column submit_per_s: 'fast'"},
                {HEADER "q,1,1e999\n", "t.csv line 2, column submit_per_s: '1e999'"},
                {HEADER "q,1,0x10\n", "t.csv line 2, column submit_per_s: '0x10'"},
                {HEADER "q,1,inf\n", "t.csv line 2, column submit_per_s: 'inf'"},
                {HEADER "q,1,nan\n", "t.csv line 2, column submit_per_s: 'nan'"},
                {HEADER "q,1,2 000\n", "t.csv line 2, column submit_per_s: '2 000'"},
                {HEADER "q,1,\033[2J\n", "t.csv line 2, column submit_per_s: '?[2J'"},
                {HEADER "q,1,0\n", "t.csv line 2, column submit_per_s: '0' is not above 0"},
                {HEADER ",1,2\n", "t.csv line 2, column config: '' is not a configuration"},
                {HEADER "\"q\",1,2\n", "t.csv line 2, column config: '\"q\"'"},
                {HEADER "q\033[1m,1,2\n", "t.csv line 2, column config: 'q?[1m'"},
                {HEADER "q\xff,1,2\n", "t.csv line 2, column config: 'q?'"},
                {HEADER "q,1,2\nr,1,2\nq,1,3\n", "t.csv line 4, column producers: '1' is not new"},
                {HEADER "\"q\",1,1,5\n", "t.csv line 2: it has 4 fields"},
                {"kind,config,producers,submit_per_s\npublished,q,1,2\nmeasured,q,2,3\n",
                        "t.csv line 3, column kind: 'measured' is not what line 2 says"},
                {"machine,config,producers,submit_per_s\na,q,1,2\na,q,2,3\nb,q,4,3\n",
                        "t.csv line 4, column machine: 'b' is not what line 2 says"},
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
}

static void test_no_files(void **state)
{
        (void)state;
        static const struct {
                const char *line, *sentence;
        } cases[] = {
                {"verdict nowhere.csv", "nowhere.csv can't be read"},
                {"verdict .", "./samples.csv can't be read"}, /* a directory without */
                {"verdict /dev/zero",
                        "/dev/zero can't be read: allowed: a file of at most 1024 MiB"},
                {"verdict fifo",
                        "fifo can't be read: allowed: a file of at most 1024 MiB"}, /* without
                                                                                       waiting for
                                                                                       its writer */
                {"verdict odd",
                        "odd/samples.csv can't be read: allowed: a file of at most 1024 MiB"},
        };
        assert_int_equal(mkfifo("fifo", 0600), 0);
        assert_int_equal(mkdir("odd", 0700), 0);
        assert_int_equal(mkfifo("odd/samples.csv", 0600), 0);
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct program program = {0};
                program_run(&program, cases[i].line);
                assert_code(&program, EXIT_USAGE);
                assert_contains(program.err, cases[i].sentence);
                program_free(&program);
        }
}

static const char table[] =
        HEADER "q,1,100.25\nq,2,190\nq,4,237\nq,8,250\nq,16,255\nq,32,250\nother,1,5\n";

/* The numbers of CSV and JSON are one. */
static void test_formats_agree(void **state)
{
        (void)state;
        struct program csv_program = {0}, json_program = {0};
        run_on(&csv_program, table, " --format csv");
        run_on(&json_program, table, " --format json");
        struct sheet csv = sheet_parse(csv_program.out);
        json_t *json = json_loads(json_program.out, 0, NULL);
        unsigned numbers = 0;
        assert_int_equal(csv.rows, 2);
        assert_int_equal(json_array_size(json), 2);
        for (unsigned row = 0; row < 2; row++)
                for (unsigned i = 0; i < csv.columns; i++) {
                        const json_t *value =
                                json_object_get(json_array_get(json, row), csv.fields[i]);
                        const char *text = csv.fields[(row + 1) * csv.columns + i];
                        double number = json_number_value(value);
                        numbers += json_is_number(value);
                        if (!value)
                                fail_msg("JSON has no %s", csv.fields[i]);
                        else if (json_is_number(value) && fabs(number - atof(text)) > 1e-5 * number)
                                fail_msg(
                                        "%s is %g in JSON, %s in CSV", csv.fields[i], number, text);
                        else if (json_is_null(value))
                                assert_string_equal(text, "NA");
                }
        assert_true(numbers > 20);
        assert_int_equal(csv.columns, json_object_size(json_array_get(json, 0)));
        json_decref(json);
        csv_program.out = NULL;
        sheet_free(&csv);
        program_free(&csv_program);
        program_free(&json_program);
}

/* Numbers have a point, read and printed, where the user's have a comma. The locale is made here,
 * as far as the system can. */
static void test_locale_changes_nothing(void **state)
{
        (void)state;
        static const char *const options[] = {"", " --format csv", " --format json"};
        if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") != 0)
                print_message("no locale with a decimal comma can be made here\n");
        for (unsigned i = 0; i < 3; i++) {
                struct program program = {0},
                               german = {.environment = "LC_ALL=de_DE.UTF-8 LOCPATH=."};
                run_on(&program, table, options[i]);
                run_on(&german, table, options[i]);
                assert_code(&german, EXIT_DONE);
                assert_string_equal(program.out, german.out);
                program_free(&program);
                program_free(&german);
        }
}

/* A row of samples.csv as far as it is needed; more: the columns that begin_samples was given. */
static void print_row(FILE *file, const char *config, unsigned producers, unsigned sample,
        const char *status, double rate, double overlap, const char *more)
{
        fprintf(file, "measured,%s,%u,%u,%s,%.0f,1000000000,%.6g,%.6g,1,%g,0,2,made up%s\n", config,
                producers, sample, status, rate, rate, rate, overlap, more);
}

static FILE *begin_samples(const char *directory, const char *more)
{
        char path[64];
        assert_int_equal(mkdir(directory, 0700), 0);
        snprintf(path, sizeof path, "%s/samples.csv", directory);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "kind,config,producers,sample,status,submits,submit_ns,submit_per_s,complete_per_s,"
                "producer_cpu_ns,overlap,wakes,cpus_effective,machine%s\n",
                more);
        return file;
}

/* Intervals decide, not medians; what ran in turn and what is not ok does not count. */
static void test_samples(void **state)
{
        (void)state;
        FILE *file = begin_samples("d", "");
        for (unsigned sample = 0; sample < 9; sample++)
                for (unsigned producers = 1; producers <= 4; producers++) {
                        bool top = producers == 4;
                        double rate = 1e6 / producers + sample;
                        print_row(file, "falls", producers, sample, "ok", rate, 1, "");
                        rate = top ? sample % 2 ? 3e5 : 6e5 : 1e6 + sample;
                        print_row(file, "noisy", producers, sample, "ok", rate, 1, "");
                        rate = (top ? 3e5 : 1e6) + sample;
                        print_row(file, "in_turn", producers, sample, "ok", rate, top ? 0.49 : 0.51,
                                "");
                        rate = top ? sample % 2 ? 7e5 : 1e6 : 1e6;
                        print_row(file, "ragged", producers, sample, "ok", rate, 1, "");
                        rate = producers == 1 ? 5e5 : top && sample % 2 ? 1.4e6 : 1e6;
                        print_row(file, "may_gain", producers, sample, "ok", rate, 1, "");
                        print_row(file, "gap", producers, sample, producers == 2 ? "hang" : "ok",
                                1e6, 1, "");
                        print_row(file, "hangs", producers, sample, top ? "hang" : "ok",
                                1e6 + sample, 1, "");
                        print_row(file, "skipped", producers, sample, top ? "skipped" : "ok",
                                1e6 + sample, 1, "");
                        print_row(file, "some", producers, sample, sample > 5 ? "lost" : "ok",
                                1e6 + sample, 1, "");
                        rate = (producers == 3 ? 1e5 : 1e6) + sample;
                        print_row(
                                file, "dead", producers, sample, top ? "lost" : "ok", rate, 1, "");
                }
        fclose(file);
        struct program program = {0};
        program_run(&program, "verdict d/");
        assert_code(&program, EXIT_DONE);
        assert_begins(
                program.out, "measured: made up, 2 CPUs; intervals that cover at least 90 %\n");
        assert_contains(program.out, "\nfalls: collapse, 1 to 4 producers: ");
        assert_contains(
                program.out, "\nnoisy: inconclusive, 1 to 4 producers: the interval of what");
        assert_contains(
                program.out, "\nragged: inconclusive, 1 to 4 producers: the interval of what");
        assert_contains(program.out, "\nmay_gain: inconclusive, 1 to 4 producers: the interval of "
                                     "its gain straddles 1.25");
        assert_contains(program.out, "\ngap: plateau, 1 to 4 producers: ");
        assert_contains(program.out, "\nin_turn: plateau, 1 to 3 producers: ");
        assert_contains(program.out, "Left out: 1 count at which producers mostly ran in turn.");
        /* Nothing stays up whose next count gives no sample; what only was not run may. */
        assert_contains(
                program.out, "\nhangs: inconclusive, 1 to 3 producers: with more producers");
        assert_contains(program.out, "\nskipped: plateau, 1 to 3 producers: ");
        assert_contains(program.out, "Skipped: 9 samples.");
        assert_contains(program.out, "\nsome: plateau, 1 to 4 producers: ");
        assert_contains(program.out, "Left out: 12 samples that are not ok.");
        assert_contains(program.out, "\ndead: collapse, 1 to 3 producers: ");
        assert_contains(program.out, "Beyond 2 producers they outnumber the CPUs.");
        program_free(&program);
}

static void write_collapse(const char *directory, unsigned samples)
{
        FILE *file = begin_samples(directory, "");
        for (unsigned sample = 0; sample < samples; sample++)
                for (unsigned producers = 1; producers <= 4; producers *= 2)
                        print_row(file, "falls", producers, sample, "ok",
                                1e6 / producers / producers, 1, "");
        fclose(file);
}

/* So few that no interval says anything. */
static void test_few_samples(void **state)
{
        (void)state;
        struct program program = {0};
        write_collapse("5", 5);
        program_run(&program, "verdict 5");
        assert_code(&program, EXIT_INCONCLUSIVE);
        assert_contains(program.out, "falls: inconclusive, 1 to 4 producers: too few samples");
        program_free(&program);
        write_collapse("6", 6);
        program_run(&program, "verdict 6/samples.csv");
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "falls: collapse");
        program_free(&program);
        write_collapse("1", 1);
        program_run(&program, "verdict 1 --format csv");
        struct sheet csv = sheet_parse(program.out);
        assert_true(sheet_number(&csv, 0, "kept_share") == 0.0625);
        assert_string_equal(sheet_text(&csv, 0, "kept_share_lo"), "NA");
        assert_string_equal(sheet_text(&csv, 0, "peak_submit_per_s_lo"), "NA");
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

/* The law's intervals come from samples, those of a lone producer left out. */
static void test_law_of_samples(void **state)
{
        (void)state;
        FILE *file = begin_samples("d", "");
        for (unsigned sample = 0; sample < 9; sample++)
                for (unsigned producers = 1; producers <= 32; producers *= 2)
                        print_row(file, "q", producers, sample,
                                producers > 1 || !sample ? "ok" : "hang",
                                1e6 * producers / (1 + 0.1 * (producers - 1)) + 1e4 * sample, 1,
                                "");
        fclose(file);
        struct program program = {0};
        program_run(&program, "verdict d --format csv");
        struct sheet csv = sheet_parse(program.out);
        assert_string_equal(sheet_text(&csv, 0, "usl_missing"), "no");
        double sigma = sheet_number(&csv, 0, "usl_sigma");
        assert_true(sigma > 0.08 && sigma < 0.12);
        assert_true(sheet_number(&csv, 0, "usl_sigma_lo") <= sigma);
        assert_true(sheet_number(&csv, 0, "usl_sigma_hi") >= sigma);
        assert_true(sheet_number(&csv, 0, "usl_sigma_coverage") == 0.95);
        assert_true(sheet_number(&csv, 0, "samples_bad") == 8);
        program.out = NULL;
        sheet_free(&csv);
        program_free(&program);
}

/* What is in the rows and changes what a verdict means is said, or refused. */
static void test_columns_of_samples(void **state)
{
        (void)state;
        FILE *file = begin_samples("d", ",twin,quick,instead,think_ns");
        for (unsigned sample = 0; sample < 9; sample++)
                for (unsigned producers = 1; producers <= 4; producers *= 2) {
                        print_row(file, "q", producers, sample, "ok", 1e6, 1, ",a,yes,mutex,0");
                        print_row(file, "q", producers, sample, "ok", 1e6 / producers / producers,
                                1, ",b,yes,mutex,0");
                }
        fclose(file);
        struct program program = {0};
        program_run(&program, "verdict d");
        assert_contains(program.out, ", 2 CPUs, quick;");
        assert_contains(program.out, "\nq: plateau, "); /* the second of twins is not in it */
        assert_contains(program.out, "It could not run there; what ran is mutex.");
        program_free(&program);
        file = begin_samples("twins", ",twin");
        print_row(file, "q", 1, 0, "ok", 1e6, 1, ",b");
        fclose(file);
        program_run(&program, "verdict twins --format csv");
        assert_code(&program, EXIT_USAGE);
        assert_contains(program.err, "twins/samples.csv line 2: all rows are of second twins");
        program_free(&program);
        static const char *const mixed[] = {"think_ns", "quick", "machine", "cpus_effective"};
        static const char *const rows[] = {"1,0,2,made up,no,yes,no,5", "1,0,2,made up,no,no,no,0",
                "1,0,2,other,no,yes,no,0", "1,0,3,made up,no,yes,no,0"};
        for (unsigned i = 0; i < sizeof mixed / sizeof *mixed; i++) {
                char wanted[128], *whole = file_read("d/samples.csv"), text[8192];
                snprintf(text, sizeof text, "%smeasured,q,8,0,ok,1,1000000000,1,1,1,%s\n", whole,
                        rows[i]);
                run_on(&program, text, "");
                assert_code(&program, EXIT_USAGE);
                snprintf(wanted, sizeof wanted, "t.csv line 56, column %s: ", mixed[i]);
                assert_contains(program.err, wanted);
                assert_contains(program.err, "not what line 2 says");
                program_free(&program);
                free(whole);
        }
}

/* Rows as rows_read would have them. */
static void add_row(struct rows *rows, unsigned producers, unsigned sample, double rate)
{
        struct row *row = &rows->rows[rows->count++];
        row_clear(row);
        row_set_text(row->config, sizeof row->config, "q");
        row_set_text(row->twin, sizeof row->twin, "no");
        row_set_status(row, STATUS_OK);
        row->producers = producers;
        row->sample = sample;
        row->submit_per_s = rate;
        row->overlap = 1;
        row->cpus_effective = 64;
}

static const unsigned counts[] = {1, 2, 4, 8, 16, 32, 64};
enum { COUNTS = sizeof counts / sizeof *counts };

/* The verdict of a curve whose rates scatter, each round's alike and each sample's own. */
static enum verdict simulate(
        const double *rates, unsigned samples, double common, double own, gsl_rng *random)
{
        struct row *memory = calloc((size_t)COUNTS * samples, sizeof *memory);
        struct rows rows = {memory, 0};
        struct curves curves;
        assert_non_null(memory);
        for (unsigned sample = 0; sample < samples; sample++) {
                double both = gsl_ran_gaussian(random, common);
                for (unsigned i = 0; i < COUNTS; i++)
                        add_row(&rows, counts[i], samples - 1 - sample,
                                rates[i] * exp(both + gsl_ran_gaussian(random, own)));
                if (samples > BOOTSTRAP_LEAST && sample == 3) /* a round without its top */
                        row_set_status(&memory[rows.count - 1], STATUS_HANG);
        }
        curves_of_rows(&curves, &rows);
        assert_int_equal(curves.count, 1);
        struct judgement judgement = curve_judge(&curves.curves[0], true, 1);
        if (samples > BOOTSTRAP_LEAST && judgement.top != judgement.peak)
                assert_int_equal(judgement.kept.count, samples - 1); /* pairs */
        curves_free(&curves);
        free(memory);
        return judgement.verdict;
}

static void test_noise_makes_no_verdict(void **state)
{
        (void)state;
        enum { RUNS = 200 };
        static const double curves[][COUNTS] = {
                [VERDICT_COLLAPSE] = {10, 8, 6, 4, 3, 3, 3},
                [VERDICT_PLATEAU] = {5, 8, 10, 10, 10, 10, 10},
                [VERDICT_SCALING] = {1, 2, 4, 8, 15, 28, 50},
                [VERDICT_INCONCLUSIVE] = {10, 10, 10, 10, 9, 8, 6.5},
        };
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        for (enum verdict of = 0; of < VERDICTS; of++)
                for (unsigned noisy = 0; noisy < 2; noisy++) {
                        unsigned tally[VERDICTS] = {0}, wrong = 0;
                        for (unsigned run = 0; run < RUNS; run++)
                                tally[simulate(curves[of], 9, 0, noisy ? 0.3 : 0.03, random)]++;
                        for (enum verdict other = 0; other < VERDICT_INCONCLUSIVE; other++)
                                wrong += other != of ? tally[other] : 0;
                        if (wrong > RUNS / 50 || (!noisy && tally[of] < RUNS * 98 / 100))
                                fail_msg("%s, noise %s: of %d %u are called collapse, %u plateau, "
                                         "%u scaling, %u inconclusive",
                                        verdict_names[of], noisy ? "30 %" : "3 %", RUNS,
                                        tally[VERDICT_COLLAPSE], tally[VERDICT_PLATEAU],
                                        tally[VERDICT_SCALING], tally[VERDICT_INCONCLUSIVE]);
                }
        gsl_rng_free(random);
}

/* Rounds are paired by their number, so what disturbs a whole one hides no verdict. */
static void test_rounds_are_paired(void **state)
{
        (void)state;
        enum { RUNS = 20 };
        static const double collapse[COUNTS] = {10, 9, 8, 6, 5, 4.5, 4};
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        unsigned told = 0, paired = 0;
        for (unsigned run = 0; run < RUNS; run++) {
                told += simulate(collapse, 9, 0.5, 0.02, random) == VERDICT_COLLAPSE;
                paired += simulate(collapse, 15, 0.5, 0.02, random) == VERDICT_COLLAPSE;
        }
        gsl_rng_free(random);
        if (paired < RUNS - 1 || told > RUNS / 4)
                fail_msg("of %d collapses %u are told of 15 rounds, %u of 9", RUNS, paired, told);
}

/* The committed runs can all be judged, in little time. */
static void test_own_data(void **state)
{
        (void)state;
        char path[512];
        const char *root = getenv("FANIN_ROOT");
        unsigned runs = 0;
        snprintf(path, sizeof path, "%s/experiments/data", root ? root : "");
        DIR *directory = opendir(path);
        assert_non_null(directory);
        for (const struct dirent *entry; (entry = readdir(directory));) {
                struct stat status;
                snprintf(path, sizeof path, "%s/experiments/data/%s/samples.csv", root ? root : "",
                        entry->d_name);
                if (stat(path, &status))
                        continue;
                struct program program = {0};
                snprintf(path, sizeof path, "%s --format csv", entry->d_name);
                run_on_data(&program, path);
                if (program.code != EXIT_DONE && program.code != EXIT_INCONCLUSIVE)
                        fail_msg("%s: exit %d: %s", entry->d_name, program.code, program.err);
                struct sheet csv = sheet_parse(program.out);
                assert_true(csv.rows > 2);
                for (unsigned row = 0; row < csv.rows; row++)
                        assert_string_equal(sheet_text(&csv, row, "kind"), "measured");
                runs++;
                program.out = NULL;
                sheet_free(&csv);
                program_free(&program);
        }
        closedir(directory);
        assert_true(runs >= 4);
}

/* 100 columns, but for the sentences. */
static void test_table_is_narrow(void **state)
{
        (void)state;
        static const char *const runs[] = {
                "collapse", "bars", "queues", "published/nim-ffi-linux-2cpu-2026-11-30.csv"};
        for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
                struct program program = {0};
                run_on_data(&program, runs[i]);
                char *sentences = strstr(program.out, "\n\n"), *line = program.out;
                assert_non_null(sentences);
                sentences = strstr(sentences + 2, "\n\n");
                assert_non_null(sentences);
                for (char *end; line < sentences; line = end + 1) {
                        end = strchr(line, '\n');
                        if (end - line > 100)
                                fail_msg("%.*s", (int)(end - line), line);
                }
                program_free(&program);
        }
}

int main(void)
{
        char root[4096];
        if (getcwd(root, sizeof root)) /* tests run in the root; each case elsewhere */
                setenv("FANIN_ROOT", root, 1);
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_rule),
                SCRATCH_TEST(test_rule_where_counts_are_few),
                SCRATCH_TEST(test_numbers),
                SCRATCH_TEST(test_curves_of_others),
                SCRATCH_TEST(test_published_table),
                SCRATCH_TEST(test_bad_tables),
                SCRATCH_TEST(test_no_files),
                SCRATCH_TEST(test_formats_agree),
                SCRATCH_TEST(test_locale_changes_nothing),
                SCRATCH_TEST(test_samples),
                SCRATCH_TEST(test_few_samples),
                SCRATCH_TEST(test_law_of_samples),
                SCRATCH_TEST(test_columns_of_samples),
                cmocka_unit_test(test_noise_makes_no_verdict),
                cmocka_unit_test(test_rounds_are_paired),
                SCRATCH_TEST(test_own_data),
                SCRATCH_TEST(test_table_is_narrow),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
