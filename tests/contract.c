/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The contract of queues/queue.h, written once and run over every backend of the table:
 *
 *     contract [--backend NAME] [--check NAME] [--hang-s SECONDS]
 *
 * Each check runs at 1, 2, 3, 5, 7, 48 and 100 producers, and, for a backend with keys, at two of
 * those with each key at its other values. It demands a minimum of work done and asserts no time.
 * Linked with objects that have queue_step, producers are parked mid-push; with release objects
 * those checks are skipped, and all others see the code that is measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contract/checks.h"
#include "contract/report.h"

#ifdef QUEUE_STEP
enum { STEPS = 1 };
#else
enum { STEPS = 0 };
#endif

static const unsigned producer_counts[] = {1, 2, 3, 5, 7, 48, 100};
static const unsigned variant_counts[] = {3, 48};

static const struct check {
        const char *name;
        void (*run)(const struct check_case *);
        unsigned trait; /* it concerns only queues with this one; 0: all */
        bool flushes;   /* … and only those that have flush */
        bool steps;     /* it needs queue_step */
} checks[] = {
        {.name = "order", .run = check_order},
        {.name = "drain", .run = check_drain},
        {.name = "full", .run = check_full, .trait = QUEUE_BOUNDED},
        {.name = "kept", .run = check_kept, .flushes = true},
        {.name = "destroy", .run = check_destroy},
        {.name = "cells", .run = check_cells},
        {.name = "handed_back", .run = check_handed_back},
        {.name = "exactly_once", .run = check_exactly_once},
        {.name = "global_order", .run = check_global_order, .trait = QUEUE_FIFO_GLOBAL},
        {.name = "edge", .run = check_edge, .trait = QUEUE_SEES_EDGE},
        {.name = "ping_pong", .run = check_ping_pong, .trait = QUEUE_SEES_EDGE},
        {.name = "parked", .run = check_parked, .steps = true},
        {.name = "succession", .run = check_succession},
};

enum { CHECKS = sizeof checks / sizeof *checks, LABEL_BYTES = 96 };

struct job {
        const struct queue_ops *ops;
        const struct check *check;
        char label[LABEL_BYTES];
};

static void run_at(
        const struct job *job, const unsigned *values, const char *variant, unsigned producers)
{
        const struct check_case is = {.ops = job->ops, .values = values, .producers = producers};
        report_begin(job->ops->name, variant, job->check->name, producers);
        job->check->run(&is);
        const char *failure = report_end();
        if (failure)
                fail_msg("%s", failure);
}

/* Another value of the key, the i-th; false: there is none. A number's ends, but not so far out
 * that the run is about memory. */
static bool other_value(const struct queue_key *key, unsigned i, unsigned *value)
{
        if (!key->choices) {
                unsigned far = key->otherwise < key->max / 4 ? key->otherwise * 4 : key->max;
                *value = i ? far : key->min;
                return i < 2;
        }
        *value = i;
        unsigned count = 1;
        for (const char *at = key->choices; *at; at++)
                count += *at == '|';
        return i < count;
}

static void run_variants(const struct job *job, const unsigned *defaults)
{
        const struct queue_key *keys = job->ops->keys;
        for (unsigned k = 0; keys && keys[k].name; k++) {
                unsigned values[QUEUE_KEYS_MAX];
                memcpy(values, defaults, sizeof values);
                for (unsigned i = 0; other_value(&keys[k], i, &values[k]); i++) {
                        char variant[LABEL_BYTES];
                        if (values[k] == keys[k].otherwise)
                                continue;
                        snprintf(variant, sizeof variant, ":%s=%u", keys[k].name, values[k]);
                        for (unsigned n = 0; n < sizeof variant_counts / sizeof(unsigned); n++)
                                run_at(job, values, variant, variant_counts[n]);
                }
        }
}

static void test_job(void **state)
{
        const struct job *job = *state;
        unsigned values[QUEUE_KEYS_MAX] = {0};
        if (job->check->steps && !STEPS)
                skip();
        for (unsigned k = 0; job->ops->keys && job->ops->keys[k].name; k++)
                values[k] = job->ops->keys[k].otherwise;
        for (unsigned n = 0; n < sizeof producer_counts / sizeof(unsigned); n++)
                run_at(job, values, "", producer_counts[n]);
        run_variants(job, values);
}

static bool concerns(const struct check *check, const struct queue_ops *ops)
{
        return (!check->trait || ops->traits & check->trait) && (!check->flushes || ops->flush);
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
