/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The producers of a crowd, and what they do between a push's two writes. */
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "crowd.h"

#ifdef QUEUE_STEP
static unsigned yield_one_in;

/* In a run's pushes, a yield here and there between the backend's two writes. */
static void yield_at_step(void)
{
        static _Thread_local uint32_t random;
        if (!random)
                random = (uint32_t)(uintptr_t)&random | 1;
        if (check_random(&random) % yield_one_in == 0)
                sched_yield();
}
#endif

void crowd_hook_steps(const struct crowd *crowd)
{
#ifdef QUEUE_STEP
        /* Where EMPTY is waited for, less often: it never comes while somebody is mid-push. */
        if (crowd)
                yield_one_in = crowd->plan->sleeps ? 16 * crowd->subject.producers : 16;
        /* Where they spin on whoever yields, still less often: each costs the scheduler's round. */
        if (crowd && crowd->subject.traits & QUEUE_SPINS)
                yield_one_in *= 64;
        queue_step_hook = crowd ? yield_at_step : NULL;
#else
        (void)crowd;
#endif
}

static void wake(struct crowd *crowd)
{
        if (crowd->plan->sleeps && eventfd_write(crowd->signal, 1))
                report_failure("cannot write the eventfd");
}

static void flush(struct crowd_member *member)
{
        struct subject *subject = &member->crowd->subject;
        if (!subject->lanes[member->producer].kept)
                return;
        atomic_fetch_add_explicit(&member->entered, 1, memory_order_relaxed);
        queue_guard_enter(&subject->guards[member->producer]);
        if (subject_flush(subject, member->producer))
                wake(member->crowd);
        queue_guard_leave(&subject->guards[member->producer]);
        /* Release, with the acquire in lost_wake: the wake came before. */
        atomic_fetch_add_explicit(&member->left, 1, memory_order_release);
}

/* Submits one request, as the engine would. False: abandoned. */
static bool submit(struct crowd_member *member)
{
        struct crowd *crowd = member->crowd;
        struct subject *subject = &crowd->subject;
        struct request *request = subject_request(subject, member->producer);
        unsigned id = member->producer * subject->quota + request->sequence;
        for (;;) {
                atomic_fetch_add_explicit(&member->entered, 1, memory_order_relaxed);
                queue_guard_enter(&subject->guards[member->producer]);
                if (crowd->plan->tickets)
                        crowd->began[id] = atomic_fetch_add(&crowd->clock, 1);
                enum queue_pushed pushed = subject_push(subject, member->producer, request);
                if (crowd->plan->tickets)
                        crowd->ended[id] = atomic_fetch_add(&crowd->clock, 1);
                if (pushed == QUEUE_PUSHED_FIRST)
                        wake(crowd);
                if (pushed != QUEUE_FULL)
                        subject_settle(subject, member->producer);
                queue_guard_leave(&subject->guards[member->producer]);
                /* Release, as in flush. */
                atomic_fetch_add_explicit(&member->left, 1, memory_order_release);
                if (pushed != QUEUE_FULL)
                        return true;
                if (atomic_load(&crowd->abandoned)) {
                        free(request);
                        return false;
                }
                flush(member);
                sched_yield();
        }
}

/* Until so many at most of the producer's requests are outstanding. */
static void wait_for_hand_backs(struct crowd_member *member, unsigned outstanding)
{
        struct subject_lane *lane = &member->crowd->subject.lanes[member->producer];
        flush(member);
        while (lane->pushed - atomic_load_explicit(&lane->handed, memory_order_acquire) >
                        outstanding &&
                !atomic_load(&member->crowd->abandoned))
                sched_yield();
}

void *crowd_produce(void *argument)
{
        struct crowd_member *member = argument;
        struct crowd *crowd = member->crowd;
        struct subject_lane *lane = &crowd->subject.lanes[member->producer];
        unsigned burst_max = CROWD_BURST_MAX / crowd->subject.producers + 1, burst = 0;
        bool attached = subject_attach(&crowd->subject, member->producer);
        pthread_barrier_wait(&crowd->gate);
        while (attached && lane->pushed < crowd->subject.quota && !atomic_load(&crowd->stop)) {
                if (!submit(member))
                        break;
                if (crowd->plan->ping_pong) {
                        wait_for_hand_backs(member, 0);
                } else if (burst-- == 0) {
                        burst = check_random(&member->random) % burst_max;
                        if (crowd->plan->sleeps)
                                wait_for_hand_backs(
                                        member, CROWD_WINDOW / crowd->subject.producers);
                        else
                                flush(member), sched_yield();
                }
        }
        flush(member);
        subject_detach(&crowd->subject, member->producer);
        if (atomic_fetch_sub(&crowd->running, 1) == 1 && crowd->plan->waits)
                crowd->subject.ops->interrupt(crowd->subject.queue);
        return NULL;
}
