/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Producers that come and go: an index passes from a thread that ended to a new one, again and
 * again, and what was pushed under it still comes out once and in order. Two lines of succession
 * run beside each other, under the first index and the last.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "checks.h"
#include "report.h"

enum {
        HEIRS = 200, /* of both lines together */
        EACH = 50,   /* requests an heir pushes */
        EACH_SETTLED = 5,
        UNDRAINED = 4, /* heirs whose requests are all queued before the first drain */
        LINES_MAX = 2,
};

struct succession {
        struct subject *subject;
        unsigned producer, heirs, each;
        pthread_t thread;
        _Atomic unsigned *running;
        _Atomic unsigned ended; /* heirs; UNDRAINED at once when one met FULL */
};

static void *reign(void *argument)
{
        struct succession *line = argument;
        struct subject *subject = line->subject;
        struct queue_guard *guard = &subject->guards[line->producer];
        if (!subject_attach(subject, line->producer))
                return NULL;
        for (unsigned i = 0; i < line->each && !report_failed();) {
                struct request *request = subject_request(subject, line->producer);
                queue_guard_enter(guard);
                bool full = subject_push(subject, line->producer, request) == QUEUE_FULL;
                if (!full)
                        subject_settle(subject, line->producer);
                queue_guard_leave(guard);
                if (!full) {
                        i++;
                        continue;
                }
                free(request);
                atomic_store(&line->ended, UNDRAINED);
                sched_yield();
        }
        queue_guard_enter(guard);
        subject_flush(subject, line->producer);
        queue_guard_leave(guard);
        subject_detach(subject, line->producer);
        return NULL;
}

static void *succeed(void *argument)
{
        struct succession *line = argument;
        for (unsigned i = 0; i < line->heirs && !report_failed(); i++) {
                pthread_t heir;
                if (pthread_create(&heir, NULL, reign, line))
                        abort();
                pthread_join(heir, NULL);
                atomic_fetch_add(&line->ended, 1);
        }
        atomic_fetch_sub(line->running, 1);
        return NULL;
}

void check_succession(const struct check_case *is)
{
        struct subject subject;
        struct succession lines[LINES_MAX];
        unsigned count = is->producers < LINES_MAX ? is->producers : LINES_MAX;
        _Atomic unsigned running = count;
        const unsigned each = is->ops->settle ? EACH_SETTLED : EACH;
        const struct subject_plan plan = {
                .ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = HEIRS * each,
                .backlog = (size_t)HEIRS * each,
                .fate = SUBJECT_REUSE,
        };
        if (!subject_open(&subject, &plan))
                return;
        for (unsigned i = 0; i < count; i++) {
                lines[i] = (struct succession){
                        .subject = &subject,
                        .producer = i ? is->producers - 1 : 0,
                        .heirs = HEIRS / count,
                        .each = each,
                        .running = &running,
                };
                if (pthread_create(&lines[i].thread, NULL, succeed, &lines[i]))
                        abort();
        }
        /* First let them queue up, for order to have something to be lost from. */
        for (unsigned i = 0; i < count && !is->ops->settle; i++)
                while (atomic_load(&lines[i].ended) < UNDRAINED && !report_failed())
                        sched_yield();
        while (atomic_load(&running) && !report_failed())
                if (!subject_drain(&subject, 7).count)
                        sched_yield();
        for (unsigned i = 0; i < count; i++)
                pthread_join(lines[i].thread, NULL);
        subject_drain_rest(&subject, 7);
        subject_close(&subject);
}
