/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The scaling gate: what it fails, what it can't tell, and the reference's knobs. */
#include <sched.h>

#include "../experiments/cpus.h"
#include "../experiments/settings.h"
#include "run_program.h"

#define GATE_SIZE "FFI_SUBMIT_THREADS=1,4 FFI_SUBMIT_PER_THREAD=500"

static void test_gate_fails_the_hand_off(void **state)
{
        (void)state;
        struct program program = {.environment = GATE_SIZE};
        if (cpus_effective() < 2)
                skip();
        /* Sanitized, the ceiling is so low that the reference's hand-off comes nearer. */
        program_run(&program, SLOWER > 1 ? "gate --config handshake/every --min-time 0.02 "
                                           "--min-share 0.9"
                                         : "gate --config handshake/every --min-time 0.02");
        assert_code(&program, EXIT_FAILED);
        assert_contains(program.out, "share of the ceiling at 4 producers");
        assert_contains(program.out, SLOWER > 1 ? "threshold 0.9: below" : "threshold 0.1: below");
        assert_contains(program.out, "gate: failed");
        assert_contains(program.out, "93.75 %"); /* of 5 samples, as in the reference */
        program_free(&program);
}

static void test_gate_reports_only(void **state)
{
        (void)state;
        struct program program = {.environment = GATE_SIZE " FFI_SCALING_GATE=0"};
        program_run(&program, "gate --config handshake/every --min-time 0.02");
        assert_code(&program, EXIT_DONE);
        assert_contains(program.out, "reported only");
        program_free(&program);
}

static void use_one_cpu(void)
{
        struct cpus cpus;
        cpu_set_t one;
        CPU_ZERO(&one);
        if (cpus_affinity(&cpus) || cpus.ids[0] >= CPU_SETSIZE)
                _exit(NO_FILTER);
        CPU_SET(cpus.ids[0], &one);
        if (sched_setaffinity(0, sizeof one, &one))
                _exit(NO_FILTER);
}

static void test_gate_is_inconclusive_on_one_cpu(void **state)
{
        (void)state;
        struct program program = {.environment = GATE_SIZE, .before_exec = use_one_cpu};
        program_run(&program, "gate --min-time 0.02 --min-share 0.01");
        skip_without_filter(&program, "CPUs");
        assert_code(&program, EXIT_INCONCLUSIVE);
        assert_contains(program.out, "gate: inconclusive: one CPU");
        program_free(&program);
}

/* The interval of three covers too little for a verdict to rest on. */
static void test_gate_is_inconclusive_on_few_samples(void **state)
{
        (void)state;
        struct program program = {.environment = GATE_SIZE " FFI_SUBMIT_ITERS=3"};
        program_run(&program, "gate --config handshake/every --min-time 0.02");
        assert_code(&program, EXIT_INCONCLUSIVE);
        assert_contains(program.out, "gate: inconclusive: too few samples");
        assert_contains(program.out, "FFI_SUBMIT_ITERS");
        program_free(&program);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_gate_fails_the_hand_off),
                SCRATCH_TEST(test_gate_reports_only),
                SCRATCH_TEST(test_gate_is_inconclusive_on_one_cpu),
                SCRATCH_TEST(test_gate_is_inconclusive_on_few_samples),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
