/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Proves that the contract test fails when it should: each broken backend must be found, by the
 * check that is there to find it and for the right reason; and the unbroken code that they share
 * must pass all checks. Runs `contract_broken`, which lies beside this program.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "contract/report.h"

enum {
        HANG_S = REPORT_SANITIZED ? 10 : 4, /* until the contract's watchdog bites */
        MUTANT_S = HANG_S * 3,
        CONTROL_S = 120,
        OUTPUT_BYTES = 1 << 16,
        SHOWN_BYTES = 2000,
};

/* What check finds it, and what its sentence then has in it. One's rows are neighbours. */
static const struct mutant {
        const char *backend, *check, *reason;
} mutants[] = {
        {"broken_drop", "exactly_once", "are left"},
        {"broken_drop", "succession", "lost"},
        {"broken_double", "handed_back", "handed back"},
        {"broken_drop_and_double", "order", "lost"},
        {"broken_swap", "order", "out of order"},
        {"broken_lost_edge", "edge", "lost wake"},
        {"broken_lost_edge", "ping_pong", "lost wake"},
        {"broken_stall_as_empty", "parked", "STALLED"},
        {"broken_stall_as_empty", "exactly_once", "are left"},
        {"broken_silent_stall", "parked", "without the trait MAY_STALL"},
        {"broken_no_step", "parked", "never meets queue_step"},
        {"broken_claims_stall", "parked", "never says STALLED"},
        {"broken_blocks", "parked", "claims progress"},
        {"broken_blocks", "overtaken", "stopped at its queue_step"},
        {"broken_overclaim_progress", "overtaken", "claims wait-free, but its push took"},
        {"broken_touch_after", "handed_back", "touched after it was handed back"},
#if REPORT_ASAN
        {"broken_touch_after", "exactly_once", "heap-use-after-free"},
#endif
#if REPORT_SANITIZED
        {"broken_late_touch", "destroy", "heap-use-after-free"},
#else
        {"broken_late_touch", "destroy", "destroy touched a request"},
#endif
#if REPORT_SANITIZED || defined(__GLIBC__) /* which tell what is allocated */
        {"broken_allocates", "cells", "cell_bytes is 0, yet"},
        {"broken_cell_lie", "cells", "cell_bytes is 16, yet"},
        {"broken_lazy_cells", "cells", "told to preallocate"},
#endif
        {"broken_hang", "exactly_once", "hangs"},
        {"broken_crash", "exactly_once", "crashed"},
        {"broken_refuse", "order", "create refused"},
        {"broken_adds_trait", "order", "added traits"},
        {"broken_overclaim_order", "order", "not global FIFO"},
        {"broken_overclaim_order", "global_order", "not global FIFO"},
        {"broken_overclaim_cpu_order", "migrates", "out of order"},
        {"broken_successor", "succession", "out of order"},
        {"broken_blind_max", "drain", "more than its max"},
        {"broken_early_empty", "drain", "says EMPTY with"},
        {"broken_never_full", "full", "never FULL"},
        {"broken_marks_full", "full", "changed the request"},
        {"broken_overfull", "handed_back", "handed back"},
        {"broken_leaks_kept", "kept", "before its flush"},
        {"broken_forgets_interrupt", "waits", "slept through an interrupt"},
        {"broken_sleeps_through", "waits_crowd", "lost wake"},
        {"broken_keeps_taken", "waits", "out of order"},
};

enum { MUTANTS = sizeof mutants / sizeof *mutants, LABEL_BYTES = 96 };

static char program[PATH_MAX];
static bool found[MUTANTS];
static char output[OUTPUT_BYTES];

/* The program beside this one. */
static int find_program(void **state)
{
        (void)state;
        static const char name[] = "contract_broken";
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof name);
        if (length < 0)
                return -1;
        program[length] = '\0';
        strcpy(strrchr(program, '/') + 1, name);
        return access(program, X_OK);
}

/* A mutant is found if each check that should find it did. */
static int say_how_many(void **state)
{
        (void)state;
        unsigned all = 0, missed = 0;
        bool whole = true;
        for (unsigned i = 0; i < MUTANTS; i++) {
                whole = whole && found[i];
                if (i + 1 < MUTANTS && !strcmp(mutants[i].backend, mutants[i + 1].backend))
                        continue;
                all++;
                missed += !whole;
                whole = true;
        }
        printf("%u of %u mutants found\n", all - missed, all);
        return missed ? -1 : 0;
}

/* Waits for at most so long, then kills. */
static int status_within(pid_t child, unsigned seconds)
{
        const struct timespec pause = {0, 10 * 1000000L};
        uint64_t deadline = report_now_ns() + seconds * UINT64_C(1000000000);
        int status;
        while (!waitpid(child, &status, WNOHANG)) {
                if (report_now_ns() > deadline)
                        kill(child, SIGKILL);
                nanosleep(&pause, NULL);
        }
        return status;
}

/* The contract over one backend; check NULL: every check. Fills output; true: it failed. */
static bool fails(const char *backend, const char *check, unsigned seconds)
{
        char hang_s[16];
        snprintf(hang_s, sizeof hang_s, "%d", (int)HANG_S);
        FILE *file = tmpfile();
        assert_non_null(file);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
                dup2(fileno(file), STDOUT_FILENO);
                dup2(fileno(file), STDERR_FILENO);
                if (check)
                        execl(program, program, "--backend", backend, "--check", check, "--hang-s",
                                hang_s, (char *)NULL);
                else
                        execl(program, program, "--backend", backend, (char *)NULL);
                _exit(127);
        }
        int status = status_within(child, seconds);
        rewind(file);
        output[fread(output, 1, sizeof output - 1, file)] = '\0';
        fclose(file);
        return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void test_mutant(void **state)
{
        const struct mutant *mutant = *state;
        char where[LABEL_BYTES];
        snprintf(where, sizeof where, "%s, check %s,", mutant->backend, mutant->check);
        bool failed = fails(mutant->backend, mutant->check, MUTANT_S);
        if (!failed && strstr(output, "SKIP: ")) {
                found[mutant - mutants] = true; /* not missed: it can't be looked for here */
                skip();
        }
        if (!failed)
                fail_msg("%s passes the check %s", mutant->backend, mutant->check);
        /* A sanitizer's report comes without the check's name; nothing else ran. */
        bool reported = strstr(mutant->reason, "heap-use-after-free");
        if (!strstr(output, mutant->reason) || (!reported && !strstr(output, where)))
                fail_msg("%s fails the check %s for another reason than \"%s\":\n%.*s",
                        mutant->backend, mutant->check, mutant->reason, (int)SHOWN_BYTES, output);
        found[mutant - mutants] = true;
}

static void test_control(void **state)
{
        if (fails(*state, NULL, CONTROL_S))
                fail_msg("the unbroken %s fails:\n%.*s", (const char *)*state, (int)SHOWN_BYTES,
                        output);
}

int main(void)
{
        static char labels[MUTANTS][LABEL_BYTES];
        static char *const controls[] = {"control", "control_bounded", "control_waits"};
        enum { CONTROLS = sizeof controls / sizeof *controls };
        struct CMUnitTest tests[CONTROLS + MUTANTS];
        for (unsigned i = 0; i < CONTROLS; i++)
                tests[i] = (struct CMUnitTest){.name = controls[i],
                        .test_func = test_control,
                        .initial_state = controls[i]};
        for (unsigned i = 0; i < MUTANTS; i++) {
                snprintf(
                        labels[i], sizeof labels[i], "%s_%s", mutants[i].backend, mutants[i].check);
                tests[CONTROLS + i] = (struct CMUnitTest){.name = labels[i],
                        .test_func = test_mutant,
                        .initial_state = (void *)&mutants[i]};
        }
        return _cmocka_run_group_tests(
                       "mutants", tests, sizeof tests / sizeof *tests, find_program, say_how_many)
                       ? 1
                       : 0;
}
