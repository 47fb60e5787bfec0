/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The contract of queues/queue.h, written once and run over every backend of the table:
 *
 *     contract [--backend NAME] [--check NAME] [--hang-s SECONDS]
 *
 * Each check runs at 1, 2, 3, 5, 7, 48 and 100 producers, and, for a backend with keys, at 3 or 48
 * with each key at its other values, and with all keys at other values at once. It demands a
 * minimum of work done and asserts no time. Linked with objects that have queue_step, producers are
 * parked mid-push; with release objects those checks are skipped, and all others see the code that
 * is measured.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../engine/spec.h"
#include "contract/checks.h"
#include "contract/report.h"

#ifdef QUEUE_STEP
enum { STEPS = 1 };
#else
enum { STEPS = 0 };
#endif

/* Ended by 0. The long checks run at fewer; ThreadSanitizer, which judges by what happens before
 * what, needs no crowd to see a race. */
static const unsigned all_counts[] = {1, 2, 3, 5, 7, 48, 100, 0};
static const unsigned few_counts[] = {1, 2, 7, 48, 0};
static const unsigned variant_counts[] = {48, 3}; /* in turn: a number's least value at 48 */

static const struct check {
        const char *name;
        void (*run)(const struct check_case *);
        unsigned traits; /* it concerns only queues with one of these; 0: all */
        bool flushes;    /* … and only those that have flush */
        bool waits;      /* … or wait */
        bool steps;      /* it needs queue_step */
        bool moves;      /* … and this, two CPUs */
        bool few;        /* few_counts do */
} checks[] = {
        {.name = "order", .run = check_order},
        {.name = "migrates", .run = check_migrates, .traits = QUEUE_FIFO_PRODUCER, .moves = true},
        {.name = "drain", .run = check_drain},
        {.name = "full", .run = check_full, .traits = QUEUE_BOUNDED, .few = true},
        {.name = "kept", .run = check_kept, .flushes = true},
        {.name = "destroy", .run = check_destroy},
        {.name = "cells", .run = check_cells, .few = true},
        {.name = "parked", .run = check_parked, .steps = true, .few = true},
        {.name = "overtaken",
                .run = check_overtaken,
                .traits = QUEUE_WAIT_FREE | QUEUE_LOCK_FREE,
                .steps = true},
        {.name = "handed_back", .run = check_handed_back, .few = true},
        {.name = "exactly_once", .run = check_exactly_once},
        {.name = "global_order",
                .run = check_global_order,
                .traits = QUEUE_FIFO_GLOBAL,
                .few = true},
        {.name = "edge", .run = check_edge, .traits = QUEUE_SEES_EDGE},
        {.name = "ping_pong", .run = check_ping_pong, .traits = QUEUE_SEES_EDGE},
        {.name = "waits", .run = check_waits, .waits = true},
        {.name = "waits_crowd", .run = check_waits_crowd, .waits = true},
        {.name = "succession", .run = check_succession},
};

enum {
        CHECKS = sizeof checks / sizeof *checks,
        VARIANT_COUNTS = sizeof variant_counts / sizeof *variant_counts,
        LABEL_BYTES = 96,
};

static uint64_t spent_ns[CHECKS];

struct job {
        const struct queue_ops *ops;
        const struct check *check;
        char label[LABEL_BYTES];
};

/* values NULL: the keys' defaults. */
static void run_at(const struct job *job, const unsigned *values, unsigned producers)
{
        struct spec spec = {.queue = job->ops};
        const struct queue_key *keys = job->ops->keys;
        for (unsigned k = 0; keys && keys[k].name; k++)
                spec.values[k] = values ? values[k] : keys[k].otherwise;
        const struct check_case is = {.ops = job->ops,
                .values = spec.values,
                .defaults = !values,
                .producers = producers};
        char configuration[SPEC_BYTES];
        spec_print_queue(&spec, configuration, sizeof configuration);
        uint64_t began_ns = report_now_ns();
        report_begin(values ? configuration : job->ops->name, job->check->name, producers);
        job->check->run(&is);
        const char *failure = report_end();
        spent_ns[job->check - checks] += report_now_ns() - began_ns;
        if (failure)
                fail_msg("%s", failure);
}

/* Another value of the key, the i-th; false: there is none. A number's ends, but not so far out
 * that the run is about memory. */
static bool other_value(const struct queue_key *key, unsigned i, unsigned *value)
{
        unsigned count = 2;
        if (key->choices) {
                count = 1;
                for (const char *at = key->choices; *at; at++)
                        count += *at == '|';
                *value = i;
        } else if (i) {
                *value = key->otherwise < key->max / 4 ? key->otherwise * 4 : key->max;
        } else {
                *value = key->min;
        }
        return i < count;
}

/* Each key at each of its other values, then all at their last, since some show only together
 * (shards=4 and by=cpu). */
static void run_variants(const struct job *job)
{
        const struct queue_key *keys = job->ops->keys;
        unsigned defaults[QUEUE_KEYS_MAX] = {0}, values[QUEUE_KEYS_MAX], last[QUEUE_KEYS_MAX] = {0};
        unsigned k, variants = 0;
        for (k = 0; keys[k].name; k++)
                defaults[k] = last[k] = keys[k].otherwise;
        for (k = 0; keys[k].name; k++) {
                memcpy(values, defaults, sizeof values);
                for (unsigned i = 0; other_value(&keys[k], i, &values[k]); i++) {
                        if (values[k] == keys[k].otherwise)
                                continue;
                        last[k] = values[k];
                        run_at(job, values, variant_counts[variants++ % VARIANT_COUNTS]);
                }
        }
        if (k > 1)
                run_at(job, last, variant_counts[variants % VARIANT_COUNTS]);
}

/* Why it can't run here; NULL: it can. */
static const char *unable(const struct job *job)
{
        cpu_set_t allowed;
        if (job->check->steps && !STEPS)
                return "release objects have no queue_step";
        if (job->check->moves && !sched_getaffinity(0, sizeof allowed, &allowed) &&
                CPU_COUNT(&allowed) < 2)
                return "there is only one CPU to run on, so no other to move to";
        return NULL;
}

/* Says why once, for all the jobs in a row that it concerns. */
static void skip_job(const struct job *job, const char *why)
{
        static const char *said;
        if (said != why)
                printf("SKIP: %s: %s\n", job->check->name, why);
        said = why;
        skip();
}

static void test_job(void **state)
{
        const struct job *job = *state;
        const unsigned *counts = job->check->few || REPORT_TSAN ? few_counts : all_counts;
        const char *why = unable(job);
        if (why)
                skip_job(job, why);
        for (; *counts; counts++)
                run_at(job, NULL, *counts);
        if (job->ops->keys)
                run_variants(job);
}

static bool concerns(const struct check *check, const struct queue_ops *ops)
{
        return (!check->traits || ops->traits & check->traits) && (!check->flushes || ops->flush) &&
               (!check->waits || ops->wait);
}

static void say_seconds(void)
{
        printf("seconds:");
        for (unsigned i = 0; i < CHECKS; i++)
                printf(" %s %.1f", checks[i].name, (double)spent_ns[i] / 1e9);
        printf("\n");
}

static int run_table(const char *backend, const char *check)
{
        unsigned backends = 0, count = 0;
        while (registry_at(backends))
                backends++;
        struct job *jobs = calloc(backends * CHECKS + 1, sizeof *jobs);
        struct CMUnitTest *tests = calloc(backends * CHECKS + 1, sizeof *tests);
        if (!jobs || !tests)
                abort();
        for (unsigned i = 0; i < backends * CHECKS; i++) {
                struct job *job = &jobs[count];
                job->ops = registry_at(i / CHECKS);
                job->check = &checks[i % CHECKS];
                if ((backend && strcmp(backend, job->ops->name) != 0) ||
                        (check && strcmp(check, job->check->name) != 0) ||
                        !concerns(job->check, job->ops))
                        continue;
                snprintf(job->label, sizeof job->label, "%s_%s", job->ops->name, job->check->name);
                tests[count++] = (struct CMUnitTest){
                        .name = job->label, .test_func = test_job, .initial_state = job};
        }
        int failed = _cmocka_run_group_tests("contract", tests, count, NULL, NULL);
        say_seconds();
        free(tests);
        free(jobs);
        return failed || !count;
}

static int usage(const char *option, const char *value)
{
        fprintf(stderr, "contract: %s %s: unknown; allowed:", option, value ? value : "(nothing)");
        if (!strcmp(option, "--backend"))
                for (unsigned i = 0; registry_at(i); i++)
                        fprintf(stderr, " %s", registry_at(i)->name);
        else if (!strcmp(option, "--check"))
                for (unsigned i = 0; i < CHECKS; i++)
                        fprintf(stderr, " %s", checks[i].name);
        else
                fprintf(stderr, " --backend NAME, --check NAME, --hang-s SECONDS");
        fprintf(stderr, "\n");
        return 2;
}

static bool is_check(const char *name)
{
        for (unsigned i = 0; i < CHECKS; i++)
                if (!strcmp(name, checks[i].name))
                        return true;
        return false;
}

int main(int argc, char **argv)
{
        const char *backend = NULL, *check = NULL;
        unsigned hang_s = REPORT_SANITIZED ? 60 : 15;
        for (int i = 1; i < argc; i += 2) {
                const char *value = argv[i + 1]; /* NULL after the last */
                if (!strcmp(argv[i], "--backend") && value && registry_find(value))
                        backend = value;
                else if (!strcmp(argv[i], "--check") && value && is_check(value))
                        check = value;
                else if (!strcmp(argv[i], "--hang-s") && value && atoi(value) > 0)
                        hang_s = (unsigned)atoi(value);
                else
                        return usage(argv[i], value);
        }
        char why[256];
        if (!registry_check(why, sizeof why)) {
                fprintf(stderr, "contract: %s\n", why);
                return 1;
        }
        queue_guard_init();
        report_start(hang_s);
        return run_table(backend, check);
}
