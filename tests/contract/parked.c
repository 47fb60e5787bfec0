/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A producer stops between the two writes of a push: others' pushes that returned may then be
 * hidden, and drain must say so (STALLED), or must not be (a queue without MAY_STALL); and a queue
 * that claims progress lets others push meanwhile.
 *
 * Index 0 belongs to the parked producer, all others to one passer-by. Where the queue claims no
 * progress, the parked one goes on by itself after a while, since drain itself may wait for it.
 */
#include "checks.h"
#include "report.h"

#ifdef QUEUE_STEP

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum {
        BEFORE = 20,            /* requests queued before the parked push */
        PASSING = 200,          /* requests of the passer-by, after it */
        STEPS_MAX = 8,          /* a push may have several places to stop at: each is tried */
        BLOCKING_STEPS_MAX = 4, /* the same where each costs a wait */
        SHOWN_AT = 48,   /* producers, among which one must be seen to hide others' requests */
        LOOKS = 50,      /* drains without progress that make a verdict */
        BLOCKED_MS = 10, /* the pause of who is not waited for */
};

struct parking {
        struct subject subject;
        uint32_t random;
        unsigned step; /* park at the step-th step of the push, from 1 */
        bool progress; /* the queue claims it */
        sem_t parked, go_on;
        atomic_bool passed; /* the passer-by is done */
        unsigned passing;   /* how many it pushes */
        bool stopped;       /* the parked producer met its step */
};

static _Thread_local struct parking *parks_in;
static _Thread_local unsigned steps_left;

static struct timespec in_ms(unsigned ms)
{
        struct timespec then;
        clock_gettime(CLOCK_REALTIME, &then);
        then.tv_nsec += ms * 1000000L;
        then.tv_sec += then.tv_nsec / 1000000000;
        then.tv_nsec %= 1000000000;
        return then;
}

static void wait_for(sem_t *semaphore)
{
        while (sem_wait(semaphore) && errno == EINTR)
                ;
}

/* Parks until told to go on, or until it is plain that those who should tell it wait for it. */
static void park_at_step(void)
{
        struct parking *parking = parks_in;
        if (!parking || --steps_left)
                return;
        parks_in = NULL;
        parking->stopped = true;
        sem_post(&parking->parked);
        const uint64_t patience_ms = report_patience_ns() / 1000000;
        struct timespec then = in_ms(parking->progress ? (unsigned)patience_ms : BLOCKED_MS);
        int timed_out;
        while ((timed_out = sem_timedwait(&parking->go_on, &then)) && errno == EINTR)
                ;
        if (timed_out && parking->progress)
                report_failure("claims progress (WAIT_FREE or LOCK_FREE), but others wait for a "
                               "producer that is parked mid-push");
}

static bool submit(struct parking *parking, unsigned producer)
{
        struct subject *subject = &parking->subject;
        struct request *request = subject_request(subject, producer);
        queue_guard_enter(&subject->guards[producer]);
        enum queue_pushed pushed = subject_push(subject, producer, request);
        if (pushed == QUEUE_FULL)
                free(request);
        else
                subject_settle(subject, producer);
        if (pushed == QUEUE_KEPT)
                subject_flush(subject, producer);
        queue_guard_leave(&subject->guards[producer]);
        return pushed != QUEUE_FULL;
}

static void *park(void *argument)
{
        struct parking *parking = argument;
        if (subject_attach(&parking->subject, 0)) {
                parks_in = parking;
                steps_left = parking->step;
                submit(parking, 0);
                parks_in = NULL;
                submit(parking, 0); /* and on as if nothing had been */
                subject_detach(&parking->subject, 0);
        }
        if (!parking->stopped)
                sem_post(&parking->parked);
        return NULL;
}

/* Pushes under every index but the parked producer's. */
static void *pass_by(void *argument)
{
        struct parking *parking = argument;
        unsigned others = parking->subject.producers - 1;
        for (unsigned i = 1; i <= others; i++)
                subject_attach(&parking->subject, i);
        for (unsigned i = 0; others && i < parking->passing && !report_failed(); i++)
                if (!submit(parking, 1 + check_random(&parking->random) % others))
                        break;
        for (unsigned i = 1; i <= others; i++)
                subject_detach(&parking->subject, i);
        atomic_store(&parking->passed, true);
        return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), struct parking *parking)
{
        if (pthread_create(thread, NULL, body, parking))
                abort();
}

/* The passer-by pushes so many. Waits for it if the queue owes it progress; else lets it try. */
static void let_pass(struct parking *parking, pthread_t *thread, unsigned count)
{
        parking->passing = count;
        atomic_store(&parking->passed, false);
        start(thread, pass_by, parking);
        uint64_t deadline = report_now_ns() + BLOCKED_MS * UINT64_C(1000000);
        while (!atomic_load(&parking->passed)) {
                if (!parking->progress && report_now_ns() > deadline)
                        return;
                if (parking->subject.ops->settle)
                        subject_drain(&parking->subject, 1);
                sched_yield();
        }
}

/* Drains while the producer is parked. */
static void look(struct parking *parking)
{
        struct subject *subject = &parking->subject;
        for (unsigned idle = 0; idle < LOOKS && !report_failed();) {
                unsigned visible = subject_visible(subject);
                struct queue_drained drained = subject_drain(subject, 7);
                if (drained.left == QUEUE_EMPTY && subject->handed < visible)
                        report_failure("a producer is parked mid-push, %u pushes that returned are "
                                       "hidden, and drain says EMPTY, not STALLED",
                                visible - subject->handed);
                idle = drained.count ? 0 : idle + 1;
        }
        if (subject->traits & QUEUE_MAY_STALL)
                return;
        if (parking->progress && subject->handed < subject_visible(subject))
                report_failure("a producer is parked mid-push and hides %u pushes that returned, "
                               "without the trait MAY_STALL",
                        subject_visible(subject) - subject->handed);
}

static void finish(struct parking *parking, pthread_t parked, pthread_t *passer)
{
        sem_post(&parking->go_on);
        /* Whoever settles needs a drain. */
        while (pthread_tryjoin_np(parked, NULL)) {
                subject_drain(&parking->subject, 7);
                sched_yield();
        }
        while (passer && pthread_tryjoin_np(*passer, NULL)) {
                subject_drain(&parking->subject, 7);
                sched_yield();
        }
}

/* False: the push has no such step. */
static bool park_once(struct parking *parking, unsigned before)
{
        bool others = parking->subject.producers > 1;
        pthread_t parked, passer;
        if (others && before) {
                let_pass(parking, &passer, before);
                pthread_join(passer, NULL);
        }
        parking->stopped = false;
        while (!sem_trywait(&parking->go_on))
                ; /* one that had gone on by itself */
        start(&parked, park, parking);
        if (parking->subject.ops->settle)
                while (sem_trywait(&parking->parked)) {
                        subject_drain(&parking->subject, 1);
                        sched_yield();
                }
        else
                wait_for(&parking->parked);
        if (!parking->stopped) {
                finish(parking, parked, NULL);
                subject_drain_rest(&parking->subject, 7);
                return false;
        }
        if (others)
                let_pass(parking, &passer, PASSING);
        look(parking);
        finish(parking, parked, others ? &passer : NULL);
        subject_drain_rest(&parking->subject, 7);
        return true;
}

static bool open_parking(struct parking *parking, const struct check_case *is, unsigned step)
{
        const unsigned quota = 2 * (BEFORE + PASSING) + 4;
        const struct subject_plan plan = {
                .ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = quota,
                .backlog = (size_t)quota * 2,
                .fate = SUBJECT_KEEP,
        };
        *parking = (struct parking){.random = is->producers, .step = step};
        if (!subject_open(&parking->subject, &plan))
                return false;
        parking->progress = parking->subject.traits & (QUEUE_WAIT_FREE | QUEUE_LOCK_FREE);
        sem_init(&parking->parked, 0, 0);
        sem_init(&parking->go_on, 0, 0);
        return true;
}

void check_parked(const struct check_case *is)
{
        unsigned steps = 0, stalls = 0, traits = 0, max = STEPS_MAX;
        bool found = true;
        queue_step_hook = park_at_step;
        while (steps < max && found && !report_failed()) {
                struct parking parking;
                if (!open_parking(&parking, is, steps + 1))
                        break;
                traits = parking.subject.traits;
                max = parking.progress ? STEPS_MAX : BLOCKING_STEPS_MAX;
                /* Into an empty queue, and behind others. */
                found = park_once(&parking, 0);
                if (found && !report_failed())
                        park_once(&parking, BEFORE);
                steps += found;
                stalls += parking.subject.stalls;
                sem_destroy(&parking.parked);
                sem_destroy(&parking.go_on);
                subject_close(&parking.subject);
        }
        queue_step_hook = NULL;
        if (!(traits & QUEUE_MAY_STALL))
                return;
        if (!steps)
                report_failure("claims MAY_STALL, but its push never meets queue_step");
        else if (!stalls && is->producers >= SHOWN_AT && is->defaults)
                report_failure("claims MAY_STALL, but drain never says STALLED while a producer is "
                               "parked mid-push, at whichever of its %u steps",
                        steps);
}

#else

void check_parked(const struct check_case *is)
{
        (void)is;
}

#endif
