/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin latency`: a stall is seen by all whom it holds up, since latency counts from the intended
 * time; a closed loop does not see it, and says what it is. No time is asserted but what the stall
 * forces.
 */
#include "../experiments/settings.h"
#include "run_program.h"

static double p99_ns(const char *line, const char *loop)
{
        struct program program = {0};
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        struct sheet sheet = sheet_read("d/latency.csv");
        assert_int_equal(sheet.rows, 1);
        assert_string_equal(sheet_text(&sheet, 0, "status"), "ok");
        assert_string_equal(sheet_text(&sheet, 0, "loop"), loop);
        double ns = sheet_number(&sheet, 0, "latency_p99_ns");
        sheet_free(&sheet);
        program_free(&program);
        return ns;
}

/* 100 ms of 2 s hold up a twentieth of all requests, the first of them for 100 ms: of those beyond
 * p99 none waited for less than 80. */
static void test_stall_shows(void **state)
{
        (void)state;
        double ns = p99_ns("latency --config lanes/flag --producers 2 --rate 1000 --duration 2 "
                           "--stall-ms 100 --samples 1 --out d",
                "open");
        if (ns < 50e6)
                fail_msg("p99 is %g ns", ns);
        assert_true(count_files("d", "-latency.hgrm") == 1);
        assert_true(count_files("d", "-submit.hgrm") == 1);
}

/* Of the few that are under way when it stalls, far fewer than one in a hundred. */
static void test_closed_loop_does_not_see_it(void **state)
{
        (void)state;
        double ns = p99_ns("latency --config lanes/flag --producers 2 --closed --duration 2 "
                           "--stall-ms 100 --samples 1 --out d",
                "closed");
        if (ns >= 50e6)
                fail_msg("p99 is %g ns", ns);
}

static void test_refusals(void **state)
{
        (void)state;
        static const char *const lines[] = {"latency --config mutex --closed --rate 10",
                "latency --config mutex --rate 10 --duration 1 --stall-ms 600"};
        for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
                struct program program = {0};
                program_run(&program, lines[i]);
                assert_code(&program, EXIT_USAGE);
                assert_contains(program.err, "allowed");
                program_free(&program);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_stall_shows),
                SCRATCH_TEST(test_closed_loop_does_not_see_it),
                SCRATCH_TEST(test_refusals),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
