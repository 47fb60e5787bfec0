/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Which samples a sweep takes: a run that is killed and resumed has each once, noisy cells get
 * more, cells that hang and samples that the budget has no time for are skipped, twins come in
 * pairs.
 */
#include <math.h>
#include <sys/file.h>

#include "../experiments/progress.h"
#include "../experiments/settings.h"
#include "run_program.h"

#define SMALL " --min-time 0.01 --max-sample 0.02 --per-producer 64"

/* Of samples.csv: how often this sample is there. */
static unsigned count_sample(const struct sheet *csv, const char *config, const char *producers,
        const char *sample, const char *twin)
{
        unsigned count = 0;
        for (unsigned i = 0; i < csv->rows; i++)
                count += !strncmp(sheet_text(csv, i, "config"), config, strlen(config)) &&
                         !strcmp(sheet_text(csv, i, "producers"), producers) &&
                         !strcmp(sheet_text(csv, i, "sample"), sample) &&
                         !strcmp(sheet_text(csv, i, "twin"), twin);
        return count;
}

/* The run of begin(): every sample once, with its details. */
static void assert_whole(const char *directory)
{
        static const char *const configs[] = {"mutex/pending/", "vyukov/edge/"};
        static const char *const producers[] = {"1", "3"};
        static const char *const samples[] = {"0", "1", "2"};
        char path[64];
        snprintf(path, sizeof path, "%s/samples.csv", directory);
        struct sheet csv = sheet_read(path);
        assert_int_equal(csv.rows, 2 * 2 * 3);
        snprintf(path, sizeof path, "%s/producers.csv", directory);
        struct sheet details = sheet_read(path);
        assert_int_equal(details.rows, 2 * (1 + 3) * 3);
        for (unsigned c = 0; c < 2; c++)
                for (unsigned p = 0; p < 2; p++)
                        for (unsigned s = 0; s < 3; s++) {
                                assert_int_equal(count_sample(&csv, configs[c], producers[p],
                                                         samples[s], "no"),
                                        1);
                                assert_int_equal(count_sample(&details, configs[c], producers[p],
                                                         samples[s], "no"),
                                        atoi(producers[p]));
                        }
        for (unsigned i = 0; i < csv.rows; i++)
                assert_string_equal(sheet_text(&csv, i, "status"), "ok");
        sheet_free(&csv);
        sheet_free(&details);
        snprintf(path, sizeof path, "%s/summary.csv", directory);
        csv = sheet_read(path);
        assert_int_equal(csv.rows, 4);
        sheet_free(&csv);
}

static void begin(struct program *program)
{
        program_start(program,
                "run --config mutex,vyukov/edge --producers 1,3 --samples 3 --out d" SMALL);
}

/* How many lines a file has now; 0: there is none. */
static unsigned lines_of(const char *path)
{
        unsigned count = 0;
        char *text = access(path, R_OK) ? NULL : file_read(path);
        for (const char *at = text; at && *at; at++)
                count += *at == '\n';
        free(text);
        return count;
}

static void resume(const char *line, int code, const char *sentence)
{
        struct program program = {0};
        program_run(&program, line);
        assert_code(&program, code);
        if (sentence)
                assert_contains(program.err, sentence);
        program_free(&program);
}

/* Killed when its file has so many lines, or a random moment later. */
static void test_killed_and_resumed(void **state)
{
        (void)state;
        srand((unsigned)time(NULL));
        for (unsigned lines = 1; lines <= 12; lines += 4) {
                struct program program = {0};
                begin(&program);
                while (lines_of("d/samples.csv") < lines)
                        usleep(1000);
                usleep((unsigned)rand() % 30000);
                kill(program.pid, SIGKILL);
                program_finish(&program);
                resume("run --resume d", EXIT_DONE, NULL);
                assert_whole("d");
                program_free(&program);
                scratch_make(NULL); /* another directory */
        }
}

/* What a power loss, say, may leave: half lines, and details without their row. */
static void test_half_lines(void **state)
{
        (void)state;
        struct program program = {0};
        begin(&program);
        program_finish(&program);
        assert_code(&program, EXIT_DONE);
        assert_whole("d");
        FILE *file = fopen("d/samples.csv", "r+");
        assert_non_null(file);
        assert_int_equal(fseek(file, -20, SEEK_END), 0);
        assert_int_equal(ftruncate(fileno(file), ftell(file)), 0);
        fclose(file);
        file = fopen("d/backlog.csv", "a");
        fputs("mutex/pending/ev", file);
        fclose(file);
        assert_int_equal(unlink("d/summary.csv"), 0);
        resume("run --resume d/", EXIT_DONE, NULL);
        assert_whole("d");
        program_free(&program);
}

static void test_whole_run_stays(void **state)
{
        (void)state;
        struct program program = {0};
        begin(&program);
        program_finish(&program);
        char *before = file_read("d/samples.csv"), *machine = file_read("d/machine.json");
        resume("run --resume d", EXIT_DONE, NULL);
        char *after = file_read("d/samples.csv"), *machine_after = file_read("d/machine.json");
        assert_string_equal(before, after);
        assert_string_equal(machine, machine_after);
        free(before);
        free(after);
        free(machine);
        free(machine_after);
        program_free(&program);
}

static void test_interrupted_says_how_to_go_on(void **state)
{
        (void)state;
        struct program program = {0};
        begin(&program);
        while (lines_of("d/samples.csv") < 3)
                usleep(1000);
        kill(program.pid, SIGINT);
        program_finish(&program);
        if (program.code != EXIT_DONE) { /* it was faster */
                assert_code(&program, EXIT_INTERRUPTED);
                assert_contains(program.err, "fanin run --resume d");
        }
        resume("run --resume d", EXIT_DONE, NULL);
        assert_whole("d");
        program_free(&program);
}

/* Replaces a part of a file that is there once. */
static void edit(const char *path, const char *old, const char *new)
{
        char *text = file_read(path), *at = text ? strstr(text, old) : NULL;
        assert_non_null(at);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
        fclose(file);
        free(text);
}

static void test_resume_refuses(void **state)
{
        (void)state;
        struct program program = {0};
        begin(&program);
        program_finish(&program);
        resume("run --resume d --samples 9", EXIT_USAGE, "--resume 'd' takes no other option");
        resume("run --resume nowhere", EXIT_USAGE, "--resume can't be 'nowhere'");
        assert_int_equal(mkdir("empty", 0700), 0);
        resume("run --resume empty", EXIT_USAGE, "--resume can't be 'empty'");
        /* Being written. */
        int log = open("d/log", O_RDWR | O_CLOEXEC);
        assert_int_equal(flock(log, LOCK_EX), 0);
        resume("run --resume d", EXIT_USAGE, "another fanin is writing it");
        close(log);
        char *before = file_read("d/samples.csv");
        edit("d/samples.csv", ",ok,", ",fine,");
        resume("run --resume d", EXIT_USAGE, "column status: 'fine' is not a status");
        edit("d/samples.csv", ",fine,", ",ok,");
        edit("d/machine.json", "\"compiler\": \"", "\"compiler\": \"tcc ");
        resume("run --resume d", EXIT_USAGE, "it was begun with compiler \"tcc ");
        edit("d/machine.json", "\"run\"", "\"gate\"");
        resume("run --resume d", EXIT_USAGE, "it was not begun by `fanin run`");
        edit("d/machine.json", "{", "[");
        resume("run --resume d", EXIT_USAGE,
                "--resume can't be 'd': d/machine.json line 2, column");
        char *after = file_read("d/samples.csv");
        assert_string_equal(before, after);
        free(before);
        free(after);
        program_free(&program);
}

/* An interval that covers 95 % takes 6 samples, so two are not enough for any bound. */
static void test_until(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "run --config mutex --producers 1,2 --samples 2 --until 100% "
                              "--budget 60s --out d" SMALL);
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("d/summary.csv");
        for (unsigned i = 0; i < csv.rows; i++) {
                double median = sheet_number(&csv, i, "submit_per_s_median");
                double half = (sheet_number(&csv, i, "submit_per_s_hi") -
                                      sheet_number(&csv, i, "submit_per_s_lo")) /
                              2;
                assert_true(sheet_number(&csv, i, "samples") >= 6);
                assert_true(sheet_number(&csv, i, "coverage") >= 0.95);
                assert_true(half <= median);
        }
        sheet_free(&csv);
        program_free(&program);
}

/* No machine is that steady. */
static void test_until_the_budget_is_spent(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "run --config mutex,vyukov --producers 1,2 --samples 1 --until 0.1% "
                              "--budget 2 --out d" SMALL);
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("d/samples.csv");
        assert_true(csv.rows > 4);
        for (unsigned i = 0; i < csv.rows; i++)
                assert_string_equal(sheet_text(&csv, i, "status"), "ok");
        sheet_free(&csv);
        program_free(&program);
}

static void test_budget_skips(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "run --config mutex --producers 1,2 --samples 300 --budget 1s "
                              "--out d" SMALL);
        assert_code(&program, EXIT_INCONCLUSIVE);
        assert_contains(program.err, "the budget was spent");
        struct sheet csv = sheet_read("d/samples.csv");
        assert_int_equal(csv.rows, 600);
        unsigned skipped = 0;
        for (unsigned i = 0; i < csv.rows; i++) {
                bool is = !strcmp(sheet_text(&csv, i, "status"), "skipped");
                assert_true(is || !skipped); /* once spent, spent */
                skipped += is;
                if (is)
                        assert_string_equal(sheet_text(&csv, i, "submit_per_s"), "NA");
        }
        assert_true(skipped && skipped < 600);
        sheet_free(&csv);
        program_free(&program);
}

static void test_cell_that_hangs_is_skipped(void **state)
{
        (void)state;
        struct program program = {.broken = true};
        program_run(&program, SLOWER > 1
                                      ? "run --config broken_hang,mutex --producers 1 --samples 5 "
                                        "--max-sample 0.02 --min-time 0.01 --per-producer 9000 "
                                        "--deadline 4 --out d"
                                      : "run --config broken_hang,mutex --producers 1 --samples 5 "
                                        "--max-sample 0.02 --min-time 0.01 --per-producer 9000 "
                                        "--deadline 1 --out d");
        assert_code(&program, EXIT_FAILED);
        struct sheet csv = sheet_read("d/samples.csv");
        unsigned hung = 0, skipped = 0, ok = 0;
        for (unsigned i = 0; i < csv.rows; i++) {
                hung += !strcmp(sheet_text(&csv, i, "status"), "hang");
                skipped += !strcmp(sheet_text(&csv, i, "status"), "skipped");
                ok += !strcmp(sheet_text(&csv, i, "status"), "ok");
        }
        assert_int_equal(hung, 2);
        assert_int_equal(skipped, 3);
        assert_int_equal(ok, 5);
        sheet_free(&csv);
        program_free(&program);
}

static void test_twins(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "run --config mutex --producers 1,2 --samples 2 --aa --out d" SMALL);
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "measured as if it were two: a difference of less than");
        struct sheet csv = sheet_read("d/samples.csv");
        assert_int_equal(csv.rows, 8);
        assert_int_equal(count_sample(&csv, "mutex", "2", "1", "a"), 1);
        assert_int_equal(count_sample(&csv, "mutex", "2", "1", "b"), 1);
        sheet_free(&csv);
        csv = sheet_read("d/summary.csv");
        assert_int_equal(csv.rows, 4);
        sheet_free(&csv);
        program_free(&program);
}

static void test_twin_program(void **state)
{
        (void)state;
        struct program program = {0};
        /* One that prints no result: every second of a pair has crashed, and no first. */
        program_run(&program, "run --config mutex --producers 1 --samples 2 --aa --twin-program "
                              "/bin/true --out d" SMALL);
        assert_code(&program, EXIT_FAILED);
        struct sheet csv = sheet_read("d/samples.csv");
        for (unsigned i = 0; i < csv.rows; i++)
                assert_string_equal(sheet_text(&csv, i, "status"),
                        strcmp(sheet_text(&csv, i, "twin"), "b") ? "ok" : "crash");
        sheet_free(&csv);
        program_free(&program);
        resume("run --config mutex --twin-program /bin/true", EXIT_USAGE, "is for --aa");
}

/* The parts and what is left make the whole: medians don't add up exactly, a cell's samples do. */
static void test_explain(void **state)
{
        (void)state;
        static const char *const parts[] = {"whole", "wake", "allocator", "queue",
                "rest: engine and loop", "beside: off the CPU"};
        struct program program = {0};
        program_run(&program, "run --config vyukov/every --producers 2 --samples 1 --explain "
                              "--out d" SMALL);
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_read("d/explain.csv");
        double sum = 0;
        assert_int_equal(csv.rows, 6);
        for (unsigned i = 0; i < 6; i++) {
                assert_string_equal(sheet_text(&csv, i, "part"), parts[i]);
                assert_string_equal(sheet_text(&csv, i, "config"), "vyukov/every/eventfd/malloc");
                if (i >= 1 && i <= 4)
                        sum += sheet_number(&csv, i, "cpu_ns_per_submit_median");
        }
        double whole = sheet_number(&csv, 0, "cpu_ns_per_submit_median");
        assert_true(fabs(sum - whole) < 1e-3 * whole);
        sheet_free(&csv);
        csv = sheet_read("d/samples.csv");
        assert_int_equal(csv.rows, 4);
        sheet_free(&csv);
        program_free(&program);
        resume("run --config handshake/every --explain", EXIT_USAGE, "poll");
        resume("run --config mutex --explain --aa", EXIT_USAGE, "--explain and --aa");
}

/* Runs it with stderr in a file; returns that. */
static char *shown(struct progress *progress)
{
        fflush(stderr);
        int saved = dup(STDERR_FILENO), file = open("err", O_CREAT | O_TRUNC | O_RDWR, 0600);
        dup2(file, STDERR_FILENO);
        progress_show(progress, "mutex/pending", 8);
        fflush(stderr);
        dup2(saved, STDERR_FILENO);
        close(saved);
        close(file);
        return file_read("err");
}

static void test_progress(void **state)
{
        (void)state;
        struct progress progress;
        progress_begin(&progress, 40, 0);
        progress.terminal = false;
        char *text = shown(&progress);
        assert_string_equal(text, ""); /* nothing for what may be over at once */
        free(text);
        progress.start_ns -= 20 * UINT64_C(1000000000);
        progress.told_ns = progress.start_ns;
        progress.done = 10;
        text = shown(&progress);
        assert_string_equal(text, "[10/40, 60 s left] mutex/pending, 8 producers\n");
        free(text);
        text = shown(&progress);
        assert_string_equal(text, ""); /* not so soon again */
        free(text);
        progress.terminal = true;
        progress.budget_s = 30;
        text = shown(&progress);
        assert_string_equal(text, "\r\033[K[10/40, 10 s left, 20 of 30 s spent] mutex/pending, "
                                  "8 producers");
        free(text);
        assert_false(progress_spent(&progress));
        progress.start_ns -= 20 * UINT64_C(1000000000);
        assert_true(progress_spent(&progress));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_killed_and_resumed),
                SCRATCH_TEST(test_half_lines),
                SCRATCH_TEST(test_whole_run_stays),
                SCRATCH_TEST(test_interrupted_says_how_to_go_on),
                SCRATCH_TEST(test_resume_refuses),
                SCRATCH_TEST(test_until),
                SCRATCH_TEST(test_until_the_budget_is_spent),
                SCRATCH_TEST(test_budget_skips),
                SCRATCH_TEST(test_cell_that_hangs_is_skipped),
                SCRATCH_TEST(test_twins),
                SCRATCH_TEST(test_twin_program),
                SCRATCH_TEST(test_explain),
                SCRATCH_TEST(test_progress),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
