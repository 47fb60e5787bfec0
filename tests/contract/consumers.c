/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The two consumers of a crowd. */
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include "crowd.h"

enum { LOOK_MS = 20 }; /* how long it sleeps before it looks for a lost wake */

/*
 * The consumer sleeps on. Is there a request that it must have been woken for? All `left` counters
 * are read first, then all `entered`: where each pair agrees, nobody was inside a push at the
 * moment between, so every wake owed by then has been signalled. If requests were visible then,
 * and the signal is still unset, the wake is lost for certain; no timing enters into it.
 */
static bool lost_wake(const struct crowd *crowd)
{
        const struct subject *subject = &crowd->subject;
        unsigned left[CROWD_MAX] = {0};
        for (unsigned i = 0; i < subject->producers; i++)
                left[i] = atomic_load_explicit(&crowd->members[i].left, memory_order_acquire);
        unsigned visible = subject_visible(subject);
        for (unsigned i = 0; i < subject->producers; i++)
                if (atomic_load_explicit(&crowd->members[i].entered, memory_order_relaxed) !=
                        left[i])
                        return false;
        struct pollfd waits = {.fd = crowd->signal, .events = POLLIN};
        return visible > subject->handed && poll(&waits, 1, 0) == 0;
}

/* Nobody wakes the consumer: is there something to wake it for? */
static void blame(struct crowd *crowd)
{
        unsigned missing = subject_visible(&crowd->subject) - crowd->subject.handed;
        if (subject_drain(&crowd->subject, 1).count)
                report_failure(
                        "lost wake: claims SEES_EDGE, but after drain said EMPTY %u requests "
                        "came, and no push that returned said PUSHED_FIRST",
                        missing);
        else
                report_failure("drain said EMPTY with %u requests not handed back: lost", missing);
}

static bool finished(const struct crowd *crowd)
{
        return !atomic_load(&crowd->running) &&
               crowd->subject.handed >= subject_visible(&crowd->subject);
}

static bool met(const struct crowd *crowd)
{
        return crowd->subject.handed >= crowd->plan->minimum &&
               crowd->cycles >= crowd->plan->cycles;
}

/* Ends the pushing when it is time. */
static void look_at_clock(struct crowd *crowd)
{
        uint64_t ms = (report_now_ns() - crowd->started_ns) / 1000000;
        if (ms > (met(crowd) ? CROWD_CAP_MS : CROWD_STARVED_MS))
                atomic_store(&crowd->stop, true);
}

/* False: there is nothing more to wait for. */
static bool sleep_until_woken(struct crowd *crowd)
{
        struct pollfd waits = {.fd = crowd->signal, .events = POLLIN};
        while (poll(&waits, 1, LOOK_MS) <= 0) {
                if (finished(crowd))
                        return false;
                look_at_clock(crowd);
                if (lost_wake(crowd)) {
                        blame(crowd);
                        return false;
                }
        }
        eventfd_t count;
        eventfd_read(crowd->signal, &count); /* the reset, before the drain */
        return true;
}

static void drain_to_empty(struct crowd *crowd)
{
        unsigned before = crowd->subject.handed;
        struct queue_drained drained;
        do {
                drained = subject_drain(&crowd->subject, SUBJECT_BATCH_MAX);
                if (drained.left == QUEUE_STALLED)
                        sched_yield();
                if (met(crowd))
                        atomic_store(&crowd->stop, true);
                look_at_clock(crowd);
        } while (drained.left != QUEUE_EMPTY && !report_failed());
        crowd->cycles += crowd->subject.handed > before;
}

void crowd_consume_sleeping(struct crowd *crowd)
{
        while (!report_failed() && sleep_until_woken(crowd))
                drain_to_empty(crowd);
}

void crowd_consume_waiting(struct crowd *crowd)
{
        const unsigned patience_ms = (unsigned)(report_patience_ns() / 1000000);
        const struct subject *subject = &crowd->subject;
        report_hangs_as("drain says neither EMPTY nor hands anything back, or wait outlasts its "
                        "timeout");
        for (;;) {
                drain_to_empty(crowd);
                /* Past here, the last producer interrupts the wait. */
                if (report_failed() || finished(crowd))
                        return;
                uint64_t began_ns = report_now_ns();
                subject->ops->wait(subject->queue, (int)patience_ms);
                uint64_t ms = (report_now_ns() - began_ns) / 1000000;
                /* Whatever it says: it may have looked when it woke. */
                if (ms >= patience_ms && subject_visible(subject) > subject->handed)
                        report_failure("lost wake: wait slept for its whole timeout of %u ms, with "
                                       "%u requests queued whose pushes had returned",
                                patience_ms, subject_visible(subject) - subject->handed);
        }
}

void crowd_consume_polling(struct crowd *crowd)
{
        static const unsigned grants[] = {1, 7, 64, SUBJECT_BATCH_MAX};
        while (!report_failed() && !finished(crowd)) {
                unsigned choice = check_random(&crowd->random);
                /* Every fourth time: what drain must find before it may say EMPTY. */
                unsigned visible = choice / 4 % 4 ? 0 : subject_visible(&crowd->subject);
                struct queue_drained drained = subject_drain(&crowd->subject, grants[choice % 4]);
                if (drained.left == QUEUE_EMPTY && crowd->subject.handed < visible)
                        report_failure("drain said EMPTY (E1), though %u requests whose push had "
                                       "returned before "
                                       "the drain began are left",
                                visible - crowd->subject.handed);
                if (!drained.count)
                        sched_yield();
                look_at_clock(crowd);
        }
}
