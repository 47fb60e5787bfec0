/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The declared order when a producer's thread is moved to another CPU between its pushes: what a
 * queue per CPU loses, unless it takes care. One thread is all producers, so that it is found every
 * time.
 */
#include <sched.h>
#include <stdlib.h>

#include "alone.h"
#include "report.h"

enum {
        CPUS_MAX = 8,
        INDICES_MAX = 4,
        ROUNDS = 4,
        LAPS = 2, /* over the CPUs, between two drains */
        EACH = 3, /* pushes under an index before the next move */
        ROUND_MAX = CPUS_MAX * LAPS * INDICES_MAX * EACH,
};

static void move_to(unsigned cpu)
{
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set))
                report_failure("the test cannot move its thread to CPU %u", cpu);
}

/* Up to CPUS_MAX that this thread may run on. */
static unsigned list_cpus(const cpu_set_t *allowed, unsigned *cpus)
{
        unsigned count = 0;
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && count < CPUS_MAX; cpu++)
                if (CPU_ISSET(cpu, allowed))
                        cpus[count++] = cpu;
        return count;
}

/* A few pushes under each index; ids says which. The number taken. */
static unsigned push_each(struct subject *subject, unsigned *ids)
{
        unsigned indices = subject->producers < INDICES_MAX ? subject->producers : INDICES_MAX;
        for (unsigned i = 0; i < indices * EACH; i++) {
                struct request *request = subject_request(subject, i % indices);
                ids[i] = request->producer * subject->quota + request->sequence;
                if (alone_push(subject, i % indices, request) == QUEUE_FULL) {
                        free(request);
                        return i;
                }
        }
        return indices * EACH;
}

void check_migrates(const struct check_case *is)
{
        struct subject subject;
        cpu_set_t allowed;
        unsigned cpus[CPUS_MAX], ids[ROUND_MAX];
        CPU_ZERO(&allowed);
        if (sched_getaffinity(0, sizeof allowed, &allowed))
                abort();
        unsigned cpu_count = list_cpus(&allowed, cpus);
        if (is->ops->settle || !alone_open(&subject, is,
                                       (struct subject_plan){.quota = ROUNDS * ROUND_MAX,
                                               .backlog = ROUND_MAX * INDICES_MAX}))
                return;
        for (unsigned round = 0; round < ROUNDS && !report_failed(); round++) {
                unsigned before = subject.handed, count = 0;
                for (unsigned i = 0; i < LAPS * cpu_count; i++) {
                        /* Up and down: a consumer that asks the CPUs in order gets some of it
                         * right. */
                        unsigned at = i % cpu_count;
                        move_to(cpus[round % 2 ? cpu_count - 1 - at : at]);
                        count += push_each(&subject, ids + count);
                }
                alone_flush(&subject);
                subject_drain_rest(&subject, 64);
                alone_check_order(&subject, before, ids, count);
        }
        if (sched_setaffinity(0, sizeof allowed, &allowed))
                abort();
        subject_close(&subject);
}
