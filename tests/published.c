/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What a row publishes is so: a queue of a known rate reads back at that rate, and the columns of
 * every row fit each other.
 */
#include <math.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "../engine/context.h"
#include "../experiments/row.h"
#include "../experiments/sample.h"
#include "run_program.h"

/* queues/queue.h's, where it is compiled with QUEUE_STEP as here. */
extern void (*queue_step_hook)(void);

/*
 * In a process that measures a known rate, the wall clock is this: it stands still but for a
 * microsecond in every push. Then a submit takes exactly that long, whatever the machine does.
 */
static bool clock_is_virtual;
static _Atomic uint64_t virtual_ns = 5000000000;

enum { PUSH_NS = 1000 };

/* Stands in for libc's, and is it. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
        if (!clock_is_virtual || clock != CLOCK_MONOTONIC)
                return (int)syscall(SYS_clock_gettime, clock, time);
        uint64_t ns = atomic_load(&virtual_ns);
        *time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        return 0;
}

/* In each push of a queue with queue_step: a producer's, not the FFI thread's of the stub. */
static void take_a_push(void)
{
        if (!producer_self.serving)
                atomic_fetch_add(&virtual_ns, PUSH_NS);
}

static void measure(char *line)
{
        struct settings settings;
        char name[] = "sample", *words[WORDS] = {name};
        int count = 1;
        program_split(line, words, 1);
        while (words[count])
                count++;
        clock_is_virtual = true;
        queue_step_hook = take_a_push;
        settings_init(&settings);
        settings_parse(&settings, FOR_SAMPLE, count, words);
        _exit(sample_main(&settings));
}

/* The row of one sample of vyukov in that process. */
static struct row measure_known_rate(const char *options)
{
        char line[256], *text = NULL, *rest;
        int fds[2], status;
        size_t used = 0;
        struct row row = {.measured = false};
        snprintf(line, sizeof line, "--config=vyukov/edge %s", options);
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (!pid) {
                dup2(fds[1], STDOUT_FILENO);
                measure(line);
        }
        close(fds[1]);
        while (program_read(fds[0], &text, &used))
                ;
        close(fds[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        rest = text;
        for (char *field; (field = strsep(&rest, "\n")) && strcmp(field, "end") != 0;)
                assert_true(row_receive(&row, field));
        free(text);
        if (row_status_of(&row) != STATUS_OK)
                fail_msg("%s: %s", row.status, row.reason);
        row_drop_details(&row);
        return row;
}

static void assert_close(const char *what, double value, double expected, double tolerance)
{
        if (!(fabs(value - expected) <= tolerance * fabs(expected)))
                fail_msg("%s is %.9g, expected %.9g", what, value, expected);
}

static void assert_known_rate(const struct row *row)
{
        assert_true(row->submits == row->rounds * row->per_producer * row->producers);
        assert_true(row->submit_ns == row->submits * PUSH_NS);
        assert_true(row->complete_ns == row->submit_ns);
        assert_close("submit_per_s", row->submit_per_s, 1e9 / PUSH_NS, 1e-9);
        assert_close("complete_per_s", row->complete_per_s, 1e9 / PUSH_NS, 1e-9);
        /* A request waits for its own push, and at most for all of its round. */
        assert_in_range(
                row->oldest_request_ns, PUSH_NS, row->per_producer * row->producers * PUSH_NS);
        assert_true(row->best_shard_oldest_request_ns == row->oldest_request_ns);
        assert_true(row->slowest_over_fastest > 0 && row->slowest_over_fastest <= 1);
}

/* asks: it reads back within 1 %; here nothing disturbs it, so exactly. */
static void test_known_rate(void **state)
{
        (void)state;
        struct row row = measure_known_rate(
                "--producers=1 --per-producer=500 --min-time=0.01 --on-full=drop");
        row.producers = 1;
        assert_known_rate(&row);
        assert_true(row.rounds == 20); /* of 0.5 ms each */
        assert_close("overlap", row.overlap, 1, 1e-9);
        assert_close("fairness_jain", row.fairness_jain, 1, 1e-9);
        assert_close("slowest_over_fastest", row.slowest_over_fastest, 1, 1e-9);
}

/* A clock that all share is as fast for each as for one: the total rate stays. */
static void test_known_rate_of_many(void **state)
{
        (void)state;
        for (unsigned producers = 2; producers <= 7; producers += 5) {
                char options[128];
                snprintf(options, sizeof options,
                        "--producers=%u --per-producer=500 --min-time=0.01", producers);
                struct row row = measure_known_rate(options);
                row.producers = producers;
                assert_known_rate(&row);
                assert_true(
                        row.rounds == (uint64_t)ceil(20.0 / producers)); /* of 0.5 ms a producer */
                assert_true(row.overlap <= 1 && row.overlap * producers >= 1 - 1e-9);
        }
}

/* auto: 16, 64, …, 16384: the first of at least half of --min-time; two of those reach it. */
static void test_volume_is_found(void **state)
{
        (void)state;
        struct row row = measure_known_rate("--producers=1 --min-time=0.02");
        row.producers = 1;
        assert_known_rate(&row);
        assert_true(row.per_producer == 16384);
        assert_true(row.rounds == 2);
        /* Never more than the backlog may take. */
        row = measure_known_rate("--producers=1 --min-time=0.02 --max-backlog=64K");
        assert_in_range(row.per_producer, 16, 65536 / sizeof(struct request));
}

/* The end of a sample is looked for every 64 submits, and found before one more; only what was
 * accepted counts. */
static void test_sample_ends_in_time(void **state)
{
        (void)state;
        struct row row = measure_known_rate("--producers=1 --per-producer=4096 --max-sample=0.001");
        assert_true(row.rounds == 1);
        assert_true(row.submits == 1025);
        assert_close("submit_per_s", row.submit_per_s, 1e9 / PUSH_NS, 1e-9);
}

/* Of a row that is ok; printed with six digits. */
static void assert_row_fits(const struct sheet *csv, unsigned row)
{
        double producers = sheet_number(csv, row, "producers");
        double per_producer = sheet_number(csv, row, "per_producer");
        double submits = sheet_number(csv, row, "submits");
        double submit_ns = sheet_number(csv, row, "submit_ns");
        double complete_ns = sheet_number(csv, row, "complete_ns");
        double overlap = sheet_number(csv, row, "overlap");
        double fairness = sheet_number(csv, row, "fairness_jain");
        double wakes = sheet_number(csv, row, "wakes");
        double woken = wakes + sheet_number(csv, row, "wakes_elided");
        const char *queue = sheet_text(csv, row, "queue"), *wake = sheet_text(csv, row, "wake");
        /* A deadline is looked at every 64 submits: these rounds end before. */
        assert_true(per_producer < 64);
        assert_true(submits == sheet_number(csv, row, "rounds") * producers * per_producer);
        assert_close("submit_per_s", sheet_number(csv, row, "submit_per_s"),
                submits * 1e9 / submit_ns, 1e-5);
        assert_close("complete_per_s", sheet_number(csv, row, "complete_per_s"),
                submits * 1e9 / complete_ns, 1e-5);
        assert_true(complete_ns >= submit_ns);
        assert_true(overlap > 0 && overlap <= 1);
        assert_true(fairness > 0 && fairness <= 1);
        assert_true(producers > 1 || (overlap == 1 && fairness == 1));
        /* Each submit wakes or does without, unless its producer keeps it. */
        assert_true(strcmp(queue, "private") ? woken == submits : woken <= submits);
        assert_true(strcmp(wake, "every") != 0 || wakes == submits || !strcmp(queue, "private"));
        assert_true(strcmp(wake, "poll") != 0 || wakes == 0);
        assert_true(sheet_number(csv, row, "refused") == 0);
        assert_true(sheet_number(csv, row, "lost_wakes") == 0);
        assert_true(sheet_number(csv, row, "drains") <= submits);
        assert_true(sheet_number(csv, row, "largest_drain") <= producers * per_producer);
        assert_true(sheet_number(csv, row, "backlog_peak") <= producers * per_producer);
        const struct queue_ops *ops = registry_find(queue);
        assert_non_null(ops);
        assert_true(ops->traits & QUEUE_MAY_STALL || sheet_number(csv, row, "stalls") == 0);
        assert_true(
                sheet_number(csv, row, "stalls") > 0 || sheet_number(csv, row, "stalled_ns") == 0);
}

static double median_of_three(const double values[3])
{
        double a = values[0], b = values[1], c = values[2];
        return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* A summary's line from the three rows it sums up. */
static void assert_summary_fits(const struct sheet *summary, unsigned line, const struct sheet *csv)
{
        unsigned found = 0;
        double submit[3] = {0}, complete[3] = {0}, wakes[3] = {0};
        for (unsigned i = 0; i < csv->rows; i++) {
                if (strcmp(sheet_text(csv, i, "config"), sheet_text(summary, line, "config")) !=
                                0 ||
                        sheet_number(csv, i, "producers") !=
                                sheet_number(summary, line, "producers"))
                        continue;
                assert_true(found < 3);
                submit[found] = sheet_number(csv, i, "submit_per_s");
                complete[found] = sheet_number(csv, i, "complete_per_s");
                wakes[found++] = sheet_number(csv, i, "wakes") / sheet_number(csv, i, "submits");
        }
        assert_int_equal(found, 3);
        assert_close("submit_per_s_median", sheet_number(summary, line, "submit_per_s_median"),
                median_of_three(submit), 1e-5);
        assert_close("submit_per_s_lo", sheet_number(summary, line, "submit_per_s_lo"),
                fmin(submit[0], fmin(submit[1], submit[2])), 1e-5);
        assert_close("submit_per_s_hi", sheet_number(summary, line, "submit_per_s_hi"),
                fmax(submit[0], fmax(submit[1], submit[2])), 1e-5);
        assert_close("complete_per_s_median", sheet_number(summary, line, "complete_per_s_median"),
                median_of_three(complete), 1e-5);
        assert_close("wakes_per_submit", sheet_number(summary, line, "wakes_per_submit"),
                median_of_three(wakes), 1e-5);
        /* The first line of a configuration is that of one producer. */
        unsigned base = line - line % 2;
        assert_true(sheet_number(summary, base, "producers") == 1);
        assert_close("vs_1_producer", sheet_number(summary, line, "vs_1_producer"),
                sheet_number(summary, line, "submit_per_s_median") /
                        sheet_number(summary, base, "submit_per_s_median"),
                1e-4);
}

static void test_rows_fit(void **state)
{
        (void)state;
        char line[1024] = "";
        struct program program = {0};
        const struct queue_ops *ops;
        strcpy(line, "run --producers 1,5 --samples 3 --per-producer 50 --min-time 0.003 "
                     "--max-sample 0.05 --out d --config reference,mutex/flag/futex/slab"
                     ",vyukov/pending/condvar,mutex/poll");
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                size_t used = strlen(line);
                snprintf(line + used, sizeof line - used, ",%s/pending/pipe/%s", ops->name,
                        i % 2 ? "malloc" : "slab");
        }
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv"), summary = sheet_read("d/summary.csv");
        for (unsigned i = 0; i < samples.rows; i++)
                assert_row_fits(&samples, i);
        for (unsigned i = 0; i < summary.rows; i++)
                assert_summary_fits(&summary, i, &samples);
        sheet_free(&samples);
        sheet_free(&summary);
        program_free(&program);
}

/* The value of one configuration's only line. */
static double measured(const char *column, const char *options)
{
        char line[256];
        struct program program = {0};
        snprintf(line, sizeof line,
                "run --config mutex --producers 1 --samples 1 --per-producer 50 --min-time 0.02 "
                "--max-sample 0.2 --format csv %s",
                options);
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        struct sheet csv = sheet_parse(program.out);
        double value = sheet_number(&csv, 0, column);
        sheet_free(&csv);
        program.out = NULL;
        program_free(&program);
        return value;
}

/* What a request costs shows where it is paid, whatever the machine. */
static void test_work_shows(void **state)
{
        (void)state;
        double submit = measured("submit_per_s_median", "");
        double complete = measured("complete_per_s_median", "");
        double thinking = measured("submit_per_s_median", "--think-ns 100000");
        double handling = measured("complete_per_s_median", "--handler-ns 100000");
        assert_true(thinking * 3 < submit);
        assert_true(handling * 3 < complete);
        /* No faster than the work allows; three times is what calibrating beside a busy sibling of
         * the CPU may be wrong by. */
        assert_true(thinking < 3 * 1e9 / 100000);
        assert_true(handling < 3 * 1e9 / 100000);
        double cpu_ns = measured("producer_cpu_ns_per_submit_median", "--think-ns 100000");
        assert_true(cpu_ns > 100000 / 3.0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_known_rate),
                SCRATCH_TEST(test_known_rate_of_many),
                SCRATCH_TEST(test_volume_is_found),
                SCRATCH_TEST(test_sample_ends_in_time),
                SCRATCH_TEST(test_rows_fit),
                SCRATCH_TEST(test_work_shows),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
