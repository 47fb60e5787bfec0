/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin latency`: arrivals, what is counted from the intended time and what a closed loop leaves
 * out, saturation, statuses, and that its files say one thing. No time is asserted but what a
 * handler forces.
 */
#include <math.h>
#include <sys/resource.h>

#include "../experiments/latency_load.h"
#include "run_program.h"

/* Arrivals */

static struct settings arrivals(unsigned producers, double rate_per_s, bool fixed, unsigned seed)
{
        static unsigned count;
        static double rate;
        count = producers;
        rate = rate_per_s;
        return (struct settings){.producers = &count,
                .producers_count = 1,
                .rates_per_s = &rate,
                .rate_count = 1,
                .duration_s = 1,
                .fixed_arrivals = fixed,
                .seed = seed};
}

static void intend(struct settings *settings)
{
        load_init(settings);
        assert_true(load_prepare());
}

static void test_fixed_arrivals(void **state)
{
        (void)state;
        struct settings settings = arrivals(4, 8000, true, 1);
        intend(&settings);
        for (unsigned i = 0; i < 4; i++) {
                const struct load_lane *lane = &load.lanes[i];
                /* 2,000 a second, of the warm-up too; and a quarter of a gap between producers. */
                assert_int_equal(lane->count, 2000 * (1000 + WARM_UP_MS) / 1000);
                assert_int_equal(lane->intended_ns[0], i * 125000);
                for (size_t id = 1; id < lane->count; id++)
                        assert_int_equal(lane->intended_ns[id] - lane->intended_ns[id - 1], 500000);
        }
        load_free();
}

/* Gaps of 50 us on average, with a deviation as large; e^-1 of them are longer than that. 5
 * standard errors: chance would fail it once in a million seeds, and the seed is fixed. */
static void test_poisson_arrivals(void **state)
{
        (void)state;
        struct settings settings = arrivals(2, 40000, false, 7);
        intend(&settings);
        for (unsigned i = 0; i < 2; i++) {
                const struct load_lane *lane = &load.lanes[i];
                double count = (double)lane->count, sum = 0, squares = 0, longer = 0;
                assert_true(fabs(count - 22000) < 5 * sqrt(22000));
                for (size_t id = 1; id < lane->count; id++) {
                        double gap_us = (double)(lane->intended_ns[id] - lane->intended_ns[id - 1]);
                        gap_us /= 1e3;
                        sum += gap_us;
                        squares += gap_us * gap_us;
                        longer += gap_us > 50;
                }
                double mean = sum / count, deviation = sqrt(squares / count - mean * mean);
                assert_true(fabs(mean - 50) < 5 * 50 / sqrt(count));
                assert_true(fabs(deviation - 50) < 5 * 2 * 50 / sqrt(count));
                assert_true(fabs(longer / count - exp(-1)) < 5 * 0.5 / sqrt(count));
        }
        /* Each producer has its own. */
        assert_int_not_equal(load.lanes[0].intended_ns[0], load.lanes[1].intended_ns[0]);
        load_free();
}

static void test_arrivals_follow_the_seed(void **state)
{
        (void)state;
        uint64_t last_ns[3];
        for (unsigned i = 0; i < 3; i++) {
                struct settings settings = arrivals(2, 1000, false, i == 2 ? 6 : 5);
                intend(&settings);
                last_ns[i] = load.lanes[1].intended_ns[load.lanes[1].count - 1];
                load_free();
        }
        assert_int_equal(last_ns[0], last_ns[1]);
        assert_int_not_equal(last_ns[0], last_ns[2]);
}

/* The pipe */

static void test_half_a_result_is_none(void **state)
{
        (void)state;
        static struct latency_times times;
        static const struct {
                const char *text;
                bool whole;
        } cases[] = {
                {"status=ok\nsubmits=3\nlatency 1000 3\nlatency max 1000 0\nend\n", true},
                {"status=ok\nsubmits=3\nlatency 1000 3\nlatency max 1000 0\n", false},
                {"", false},
                {"status=ok\nsubmits=3x\nend\n", false},
                {"status=ok\nsubmits=inf\nend\n", false},
                {"status=ok\nsubmits\nend\n", false},
                {"colour=blue\nend\n", false},
                {"latency 1000\nend\n", false},
                {"latency 99999999 1\nend\n", false},
                {"end\nstatus=ok\n", false},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct latency_row row;
                char text[128];
                strcpy(text, cases[i].text);
                latency_row_clear(&row);
                if (latency_receive(&row, &times, text) != cases[i].whole)
                        fail_msg("'%s' is taken for %s", cases[i].text,
                                cases[i].whole ? "half" : "whole");
                if (!cases[i].whole)
                        continue;
                assert_string_equal(row.status, "ok");
                assert_true(row.submits == 3 && row.latency_p99_ns == 1000);
                assert_true(isnan(row.submit_p50_ns) && isnan(row.rate_per_s));
        }
}

/* The program */

static struct sheet run(struct program *program, const char *line, int code)
{
        program_run(program, line);
        assert_code(program, code);
        return sheet_read("d/latency.csv");
}

/* Quantiles that can't be otherwise. */
static void assert_ascending(const struct sheet *csv, unsigned row)
{
        static const char *const names[][5] = {
                {"submit_p50_ns", "submit_p99_ns", "submit_p999_ns", "submit_max_ns"},
                {"latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_p999_ns",
                        "latency_max_ns"},
                {"late_p50_ns", "late_p99_ns", "late_max_ns"}};
        for (unsigned i = 0; i < 3; i++)
                for (unsigned j = 1; j < 5 && names[i][j]; j++)
                        assert_true(sheet_number(csv, row, names[i][j - 1]) <=
                                    sheet_number(csv, row, names[i][j]));
        /* A callback comes after the submit's start. */
        assert_true(
                sheet_number(csv, row, "latency_max_ns") >= sheet_number(csv, row, "late_max_ns"));
}

/* One cell's merged histogram is of all requests of its samples, of those without an end too. */
static void assert_merged(const struct sheet *csv, const char *config, double rate_per_s)
{
        char path[256];
        double requests = 0, max_us = 0, told_max_us, told_count;
        for (unsigned i = 0; i < csv->rows; i++) {
                if (strcmp(sheet_text(csv, i, "config"), config) != 0 ||
                        sheet_number(csv, i, "rate_per_s") != rate_per_s)
                        continue;
                requests += sheet_number(csv, i, "submits") + sheet_number(csv, i, "unsubmitted");
                max_us = fmax(max_us, sheet_number(csv, i, "latency_max_ns") / 1e3);
        }
        snprintf(path, sizeof path, "d/%s-2-%g-latency.hgrm", config, rate_per_s);
        for (char *at = path + 2; *at; at++)
                *at = *at == '/' ? '_' : *at;
        char *text = file_read(path);
        assert_non_null(text);
        const char *footer = strstr(text, "#[Max");
        assert_int_equal(sscanf(footer ? footer : "", "#[Max = %lf, Total count = %lf]",
                                 &told_max_us, &told_count),
                2);
        assert_true(told_count == requests && fabs(told_max_us - max_us) < 0.001);
        free(text);
}

static void test_open_loop(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config mutex/flag,vyukov/every --rate 500,2000 --producers 2 "
                "--duration 0.2 --samples 2 --out d",
                EXIT_DONE);
        assert_int_equal(csv.rows, 8);
        double offered[2][2] = {{0}};
        for (unsigned i = 0; i < csv.rows; i++) {
                bool high = sheet_number(&csv, i, "rate_per_s") == 2000;
                unsigned sample = (unsigned)sheet_number(&csv, i, "sample");
                double *seen = &offered[high][sample], now = sheet_number(&csv, i, "offered_per_s");
                assert_string_equal(sheet_text(&csv, i, "kind"), "measured");
                assert_string_equal(sheet_text(&csv, i, "status"), "ok");
                assert_string_equal(sheet_text(&csv, i, "loop"), "open");
                assert_string_equal(sheet_text(&csv, i, "arrivals"), "poisson");
                /* None is dropped, however late. */
                assert_true(fabs(sheet_number(&csv, i, "submits") - now * 0.2) < 1e-6);
                assert_true(sheet_number(&csv, i, "overhead_ns") > 0);
                assert_ascending(&csv, i);
                assert_true(*seen == 0 || *seen == now); /* the same for every configuration */
                *seen = now;
        }
        assert_true(offered[0][0] != offered[0][1] || offered[1][0] != offered[1][1]);
        assert_merged(&csv, "mutex/flag/eventfd/malloc", 500);
        assert_merged(&csv, "vyukov/every/eventfd/malloc", 2000);
        assert_int_equal(count_files("d", "-latency.hgrm"), 4);
        assert_int_equal(count_files("d", "-submit.hgrm"), 4);
        struct sheet summary = sheet_read("d/summary.csv");
        assert_int_equal(summary.rows, 4);
        for (unsigned i = 0; i < 4; i++) {
                assert_int_equal(sheet_number(&summary, i, "samples_ok"), 2);
                assert_true(sheet_number(&summary, i, "latency_p99_ns_lo") <=
                            sheet_number(&summary, i, "latency_p99_ns_median"));
        }
        assert_contains(program.out, "timing overhead ");
        assert_contains(program.out, "of the median submit");
        assert_contains(program.out, "vyukov/every/eventfd/malloc, 2 producers, open loop");
        sheet_free(&csv);
        sheet_free(&summary);
        program_free(&program);
}

static double p99_ms(const struct sheet *csv, unsigned row)
{
        return sheet_number(csv, row, "latency_p99_ns") / 1e6;
}

static bool is_of(const struct sheet *csv, unsigned row, const char *queue)
{
        return !strncmp(sheet_text(csv, row, "config"), queue, strlen(queue));
}

/*
 * While the handler stops for 100 ms of 1 s, 10 % of the requests are due: the slowest 1 % wait for
 * at least 90 ms. It is so as well where producers themselves are held up, and submit 1 request
 * each in the meantime: counted from their submits the others would not have waited. A closed loop
 * makes 4 requests in that time, whatever their number otherwise, and shows nothing of it.
 */
static void test_stall_shows_in_p99(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config handshake/every,vyukov/flag --rate 2000 --arrivals fixed "
                "--duration 1 --stall-ms 100 --samples 1 --out d",
                EXIT_DONE);
        assert_int_equal(csv.rows, 2);
        for (unsigned i = 0; i < 2; i++) {
                if (p99_ms(&csv, i) < 50)
                        fail_msg("%s: p99 is %.3f ms, with a stall of 100 ms",
                                sheet_text(&csv, i, "config"), p99_ms(&csv, i));
                assert_int_equal(sheet_number(&csv, i, "submits"), 2000);
                /* Its submits were held up with it. */
                if (is_of(&csv, i, "handshake"))
                        assert_true(sheet_number(&csv, i, "submit_max_ns") > 50e6);
        }
        sheet_free(&csv);
        program_free(&program);
}

/* On a machine that is busy enough all may be late; once in three it isn't. */
static void test_closed_loop_omits_it(void **state)
{
        (void)state;
        bool omitted = false;
        for (unsigned i = 0; i < 3 && !omitted; i++) {
                char line[256], path[32];
                struct program program = {0};
                snprintf(path, sizeof path, "d%u/latency.csv", i);
                snprintf(line, sizeof line,
                        "latency --config vyukov/flag --closed --duration 1 --stall-ms 100 "
                        "--samples 1 --out d%u",
                        i);
                program_run(&program, line);
                assert_code(&program, EXIT_DONE);
                struct sheet csv = sheet_read(path);
                assert_string_equal(sheet_text(&csv, 0, "loop"), "closed");
                assert_string_equal(sheet_text(&csv, 0, "rate_per_s"), "NA");
                assert_string_equal(sheet_text(&csv, 0, "offered_per_s"), "NA");
                assert_string_equal(sheet_text(&csv, 0, "late_p99_ns"), "NA");
                assert_true(sheet_number(&csv, 0, "submits") > 100);
                assert_true(sheet_number(&csv, 0, "latency_max_ns") > 50e6); /* it did stall */
                assert_contains(program.out, "4 producers, closed loop\n");
                omitted = p99_ms(&csv, 0) < 50;
                sheet_free(&csv);
                program_free(&program);
        }
        assert_true(omitted);
        char *text = file_read("d0/vyukov_flag_eventfd_malloc-4-closed-latency.hgrm");
        assert_non_null(text);
        assert_contains(text, "closed loop");
        free(text);
}

/* A handler of 2 ms can't do 2,000 a second. What is left at the end is cancelled, or was never
 * submitted, and counted with the time that it had waited. */
static void test_saturation(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config mutex/flag,ck_ring:capacity=16/flag --rate 2000 --duration 0.3 "
                "--producers 2 --handler-ns 2000000 --samples 1 --out d",
                EXIT_DONE);
        for (unsigned i = 0; i < 2; i++) {
                double offered = sheet_number(&csv, i, "offered_per_s") * 0.3;
                assert_string_equal(sheet_text(&csv, i, "status"), "ok");
                assert_true(sheet_number(&csv, i, "kept") < 0.95);
                if (is_of(&csv, i, "mutex")) /* hundreds; of a ring 16 at most, perhaps just done */
                        assert_true(sheet_number(&csv, i, "cancelled") > 0);
                assert_true(fabs(sheet_number(&csv, i, "submits") +
                                    sheet_number(&csv, i, "unsubmitted") - offered) < 1e-6);
                assert_int_equal(sheet_number(&csv, i, "unsubmitted") > 0, is_of(&csv, i, "ck_"));
                assert_int_equal(sheet_number(&csv, i, "refused") > 0, is_of(&csv, i, "ck_"));
                assert_int_equal(sheet_number(&csv, i, "dropped"), 0);
                /* Some were due at the start, and were still waiting at the end. */
                assert_true(sheet_number(&csv, i, "latency_max_ns") > 150e6);
        }
        assert_merged(&csv, "mutex/flag/eventfd/malloc", 2000);
        assert_merged(&csv, "ck_ring:capacity=16/flag/eventfd/malloc", 2000);
        assert_contains(program.out, ", saturated\n");
        assert_contains(program.out, "2 producers: saturated at 2000 a second");
        sheet_free(&csv);
        program_free(&program);
}

static void test_dropped(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config ck_ring:capacity=16/flag --rate 2000 --duration 0.3 "
                "--handler-ns 2000000 --samples 1 --on-full drop --out d",
                EXIT_DONE);
        assert_string_equal(sheet_text(&csv, 0, "on_full"), "drop");
        assert_true(sheet_number(&csv, 0, "dropped") > 0);
        assert_true(sheet_number(&csv, 0, "refused") >= sheet_number(&csv, 0, "dropped"));
        sheet_free(&csv);
        program_free(&program);
}

/* Without --rate: 1, 2, 5, 10, … thousand, and none after the first that saturates. */
static void test_rises_to_saturation(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config mutex/flag,vyukov/flag --handler-ns 300000 --duration 0.1 "
                "--samples 1 --out d",
                EXIT_DONE);
        struct sheet summary = sheet_read("d/summary.csv");
        /* 300 us a request: 5,000 is too many. */
        static const double rates[] = {1000, 2000, 5000, NAN};
        static const char *const queues[] = {"mutex", "vyukov"};
        for (unsigned q = 0; q < 2; q++) {
                unsigned seen = 0;
                bool saturated = false;
                for (unsigned i = 0; i < summary.rows; i++) {
                        if (!is_of(&summary, i, queues[q]))
                                continue;
                        assert_false(saturated);
                        assert_true(sheet_number(&summary, i, "rate_per_s") == rates[seen]);
                        seen++;
                        saturated = !strcmp(sheet_text(&summary, i, "saturated"), "yes");
                }
                assert_true(saturated);
        }
        assert_int_equal(csv.rows, summary.rows);
        sheet_free(&csv);
        sheet_free(&summary);
        program_free(&program);
}

/* As tests/statuses.c, each once, and a good one in their midst. */
static void test_statuses(void **state)
{
        (void)state;
        static const struct {
                const char *queue;
                enum row_status status;
        } verdicts[] = {{"mutex", STATUS_OK}, {"broken_drop", STATUS_LOST},
                {"broken_double", STATUS_DOUBLED}, {"broken_drop_and_double", STATUS_LOST},
                {"broken_swap", STATUS_DISORDERED}, {"broken_crash", STATUS_CRASH},
                {"broken_hang", STATUS_HANG}, {"broken_refuse", STATUS_REFUSED}};
        enum { VERDICTS = sizeof verdicts / sizeof verdicts[0] };
        /* What a doubled request races with is the broken queue's doing. */
        struct program program = {
                .broken = true, .environment = "TSAN_OPTIONS=exitcode=0:report_bugs=0"};
        char line[1024];
        snprintf(line, sizeof line,
                "latency --rate 20000 --duration 0.4 --producers 2 --samples 1 --deadline %d "
                "--poll-ms 20 --out d --config ",
                SLOWER > 1 ? 12 : 2);
        for (unsigned i = 0; i < VERDICTS; i++)
                snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s/edge/eventfd/slab",
                        i ? "," : "", verdicts[i].queue);
        struct sheet csv = run(&program, line, EXIT_BROKEN);
        assert_int_equal(csv.rows, VERDICTS);
        for (unsigned i = 0; i < VERDICTS; i++)
                for (unsigned row = 0; row < VERDICTS; row++) {
                        char start[64];
                        snprintf(start, sizeof start, "%s/", verdicts[i].queue);
                        const char *expected = row_status_names[verdicts[i].status];
                        const char *found = sheet_text(&csv, row, "status");
                        if (is_of(&csv, row, start) && strcmp(found, expected) != 0)
                                fail_msg("%s is %s, expected %s; stderr: %s", start, found,
                                        expected, program.err);
                }
        /* Only the good one has numbers that count. */
        assert_int_equal(count_files("d", ".hgrm"), 2);
        sheet_free(&csv);
        program_free(&program);
}

static void test_lost_in_a_closed_loop(void **state)
{
        (void)state;
        struct program program = {.broken = true};
        char line[256];
        snprintf(line, sizeof line,
                "latency --config broken_drop/flag/eventfd/slab --closed --duration 0.3 "
                "--samples 1 --poll-ms 20 --deadline %d --out d",
                SLOWER > 1 ? 12 : 3);
        struct sheet csv = run(&program, line, EXIT_BROKEN);
        assert_string_equal(sheet_text(&csv, 0, "status"), "lost");
        sheet_free(&csv);
        program_free(&program);
}

static void test_bad_combinations(void **state)
{
        (void)state;
        static const struct {
                const char *options, *part;
        } cases[] = {
                {"--config mutex --closed --rate 100", "--rate can't be given with --closed"},
                {"--config mutex --rate 100000000", "--rate 100000000 for --duration 1 needs "},
                {"--config mutex --rate 1000 --max-backlog 1K", "allowed by --max-backlog: "},
                {"--config mutex --duration 1 --stall-ms 501", "--stall-ms can't be '501'"},
                {"--config mutex --rate 5,7,5", "--rate names 5 twice"},
                {"--config mutex,private", "'private' keeps its requests"},
                {"--config mutex --rate 0", "--rate can't be '0'"},
                {"--config mutex --rate 10x", "--rate can't be '10x'"},
                {"--config mutex --duration 2 --deadline 3", "--deadline can't be '3'"},
                {"--config mutex --arrivals uniform", "allowed: poisson|fixed"},
                {"", "--config is missing"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char line[256];
                struct program program = {0};
                snprintf(line, sizeof line, "latency --out d %s", cases[i].options);
                program_run(&program, line);
                assert_code(&program, EXIT_USAGE);
                assert_contains(program.err, cases[i].part);
                assert_string_equal(program.out, "");
                assert_null(strchr(strchr(program.err, '\n') + 1, '\n'));
                assert_int_not_equal(access("d", F_OK), 0); /* nothing was begun */
                program_free(&program);
        }
}

static unsigned lines_of(const char *path)
{
        char *text = file_read(path);
        unsigned lines = 0;
        for (const char *at = text; at && *at; at++)
                lines += *at == '\n';
        free(text);
        return lines;
}

/* What was finished is kept, and its cell's numbers with it. */
static void test_interrupted(void **state)
{
        (void)state;
        struct program program = {0};
        program_start(&program, "latency --config mutex/flag --rate 1000 --duration 0.05 "
                                "--samples 10000 --out d");
        while (lines_of("d/latency.csv") < 3)
                usleep(10000);
        kill(program.pid, SIGINT);
        program_finish(&program);
        assert_code(&program, EXIT_INTERRUPTED);
        assert_contains(program.err, "interrupted after ");
        struct sheet csv = sheet_read("d/latency.csv"), summary = sheet_read("d/summary.csv");
        assert_true(csv.rows >= 2);
        assert_int_equal(summary.rows, 1);
        assert_int_equal(sheet_number(&summary, 0, "samples_ok"), csv.rows);
        assert_contains(program.out, "mutex/flag/eventfd/malloc, 4 producers, open loop");
        if (SLOWER == 1)
                assert_no_process_left();
        sheet_free(&csv);
        sheet_free(&summary);
        program_free(&program);
}

static void test_budget(void **state)
{
        (void)state;
        struct program program = {0};
        struct sheet csv = run(&program,
                "latency --config mutex/flag --rate 1000 --duration 0.05 --samples 10000 "
                "--budget 1s --out d",
                EXIT_INCONCLUSIVE);
        assert_true(csv.rows >= 1 && csv.rows < 10000);
        assert_contains(program.err, "the budget was spent");
        sheet_free(&csv);
        program_free(&program);
}

/* Files can't grow beyond it: as near to a full disk as any user can get. */
static void limit_files(void)
{
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4000, 4000});
}

static void test_disk_fills(void **state)
{
        (void)state;
        struct program program = {.before_exec = limit_files};
        struct sheet csv = run(&program,
                "latency --config mutex/flag --rate 1000 --duration 0.05 --samples 30 --out d",
                EXIT_USAGE); /* of whole lines alone */
        assert_contains(program.err, "d/latency.csv' can't be written: File too large");
        assert_true(csv.rows > 1 && csv.rows < 30);
        sheet_free(&csv);
        program_free(&program);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fixed_arrivals),
                cmocka_unit_test(test_poisson_arrivals),
                cmocka_unit_test(test_arrivals_follow_the_seed),
                cmocka_unit_test(test_half_a_result_is_none),
                SCRATCH_TEST(test_open_loop),
                SCRATCH_TEST(test_stall_shows_in_p99),
                SCRATCH_TEST(test_closed_loop_omits_it),
                SCRATCH_TEST(test_saturation),
                SCRATCH_TEST(test_dropped),
                SCRATCH_TEST(test_rises_to_saturation),
                SCRATCH_TEST(test_statuses),
                SCRATCH_TEST(test_lost_in_a_closed_loop),
                SCRATCH_TEST(test_bad_combinations),
                SCRATCH_TEST(test_interrupted),
                SCRATCH_TEST(test_budget),
                SCRATCH_TEST(test_disk_fills),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
