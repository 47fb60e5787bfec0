/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A queue that its consumer waits in (policy `own`): wait's timeout, what ends it, and that what it
 * took out is handed back, once and in order. Lost wakes are looked for with a crowd: see
 * crowd_consume_waiting.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "checks.h"
#include "report.h"

enum {
        TIMEOUT_MS = 20,
        LATER_MS = 5, /* for the consumer to have fallen asleep in wait; if not, it holds too */
        ROUNDS = 6,
        BURST = 30,
};

/* Another thread: pushes so many under one index, or interrupts. */
struct other {
        struct subject *subject;
        unsigned producer, pushes;
        bool interrupts;
        unsigned later_ms;
        pthread_t thread;
};

static void *act(void *argument)
{
        struct other *other = argument;
        struct subject *subject = other->subject;
        const struct timespec pause = {0, other->later_ms * 1000000L};
        nanosleep(&pause, NULL);
        if (other->interrupts)
                subject->ops->interrupt(subject->queue);
        if (!other->pushes || !subject_attach(subject, other->producer))
                return NULL;
        struct queue_guard *guard = &subject->guards[other->producer];
        for (unsigned i = 0; i < other->pushes; i++) {
                struct request *request = subject_request(subject, other->producer);
                queue_guard_enter(guard);
                bool full = subject_push(subject, other->producer, request) == QUEUE_FULL;
                if (full)
                        free(request);
                else
                        subject_settle(subject, other->producer);
                queue_guard_leave(guard);
        }
        queue_guard_enter(guard);
        subject_flush(subject, other->producer);
        queue_guard_leave(guard);
        subject_detach(subject, other->producer);
        return NULL;
}

static void start(struct other *other)
{
        if (pthread_create(&other->thread, NULL, act, other))
                abort();
}

/* Waits until it has done its part; who settles needs a drain for that. */
static void join(struct other *other)
{
        while (other->subject->ops->settle && pthread_tryjoin_np(other->thread, NULL))
                subject_drain(other->subject, 1);
        if (!other->subject->ops->settle)
                pthread_join(other->thread, NULL);
}

/* Nothing comes and nobody interrupts. */
static void look_at_timeout(struct subject *subject)
{
        uint64_t began_ns = report_now_ns();
        bool woken = subject->ops->wait(subject->queue, TIMEOUT_MS);
        uint64_t ms = (report_now_ns() - began_ns) / 1000000;
        if (woken)
                report_failure("wait returned true though nothing was pushed and nobody has "
                               "interrupted it since the last wait");
        else if (ms + 1 < TIMEOUT_MS)
                report_failure("wait returned false after %u ms, before its timeout of %d ms",
                        (unsigned)ms, TIMEOUT_MS);
}

static void look_at_wake(struct subject *subject, const char *what)
{
        const unsigned patience_ms = (unsigned)(report_patience_ns() / 1000000);
        report_hangs_as("wait outlasts its timeout");
        uint64_t began_ns = report_now_ns();
        bool woken = subject->ops->wait(subject->queue, (int)patience_ms);
        uint64_t ms = (report_now_ns() - began_ns) / 1000000;
        if (ms >= patience_ms)
                report_failure(
                        "wait slept through %s, for all its timeout of %u ms", what, patience_ms);
        else if (!woken)
                report_failure("wait returned false, which means a timeout, after %u of %u ms, on "
                               "%s",
                        (unsigned)ms, patience_ms, what);
}

/* A push ends the wait, and so does an interrupt, during it or, come before, at its start. */
static void look_at_wakes(struct subject *subject, unsigned later_ms)
{
        struct other pusher = {.subject = subject, .pushes = 1, .later_ms = later_ms};
        struct other interrupter = {.subject = subject, .interrupts = true, .later_ms = later_ms};
        bool before = !later_ms && !subject->ops->settle;
        start(&pusher);
        if (before)
                join(&pusher);
        look_at_wake(subject, before ? "a push that had returned before it" : "a push");
        if (!before)
                join(&pusher);
        subject_drain_rest(subject, 7);
        start(&interrupter);
        if (before)
                join(&interrupter);
        look_at_wake(subject, before ? "an interrupt that came before it" : "an interrupt");
        if (!before)
                join(&interrupter);
        look_at_timeout(subject); /* the interrupt is used up */
}

/* Waits with many queued already: what it takes is the first, and drain hands it back first. */
static void look_at_order(struct subject *subject, unsigned round)
{
        struct other pusher = {.subject = subject,
                .pushes = subject->ops->settle ? 1 : BURST,
                .producer = round % subject->producers};
        unsigned before = subject->handed, producer = pusher.producer;
        unsigned first = subject->lanes[producer].pushed;
        start(&pusher);
        if (!subject->ops->settle)
                join(&pusher);
        look_at_wake(subject, "a push");
        if (subject_drain(subject, 0).left == QUEUE_EMPTY)
                report_failure("drain with a max of 0 says EMPTY, with what wait took out not "
                               "handed back");
        if (subject->ops->settle)
                join(&pusher);
        subject_drain_rest(subject, round % 2 ? 1 : 7);
        if (subject->traits & QUEUE_FIFO_PRODUCER && !report_failed() && subject->handed > before &&
                subject->log[before] != producer * subject->quota + first)
                report_failure("claims FIFO_PRODUCER, but the first request that drain handed back "
                               "after a wait was number %u, not %u",
                        subject->log[before] % subject->quota, first);
}

/* Destroyed between a wait that took something out and its drain. */
static void look_at_destroy(const struct check_case *is)
{
        struct subject subject;
        const struct subject_plan plan = {.ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = 1,
                .backlog = is->producers,
                .fate = SUBJECT_KEEP};
        if (is->ops->settle || !subject_open(&subject, &plan))
                return;
        struct request *queued = subject_request(&subject, 0);
        atomic_store(&subject.lanes[0].spare, queued);
        struct other pusher = {.subject = &subject, .pushes = 1};
        start(&pusher);
        join(&pusher);
        look_at_wake(&subject, "a push");
        subject.ops->destroy(subject.queue);
        free(queued);
        subject_forget(&subject);
}

void check_waits(const struct check_case *is)
{
        struct subject subject;
        const struct subject_plan plan = {
                .ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = ROUNDS * BURST + ROUNDS,
                .backlog = BURST,
        };
        if (!subject_open(&subject, &plan))
                return;
        look_at_timeout(&subject);
        for (unsigned round = 0; round < ROUNDS && !report_failed(); round++) {
                look_at_wakes(&subject, round % 2 * LATER_MS);
                if (!report_failed())
                        look_at_order(&subject, round);
        }
        subject_drain_rest(&subject, 7);
        subject_close(&subject);
        if (!report_failed())
                look_at_destroy(is);
}
