/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Producers in threads of their own beside one consumer.
 *
 * Three consumers. One polls. The other sleeps, as the engine does under the policy `edge`, until a
 * push that returned PUSHED_FIRST (or a flush that owes a wake) has signalled: reset the signal,
 * then drain until EMPTY. It has no fallback poll. When it has slept a while it asks whether a wake
 * was lost for certain: see lost_wake. The third waits in the queue itself (policy `own`), for so
 * long that to wake by the timeout, with requests queued, is a wake lost.
 *
 * Two paces. Free-running producers push in bursts of random length; ping-pong producers wait for
 * each request's hand-back: only those show a lost wake, since any later push would cover it up.
 */
#ifndef FANIN_TESTS_CROWD_H
#define FANIN_TESTS_CROWD_H

#include <pthread.h>

#include "checks.h"
#include "report.h"

enum {
        CROWD_MAX = 100,   /* producers */
        CROWD_WINDOW = 16, /* outstanding, at which a free-running producer goes on */
        CROWD_BURST_MAX = 64,
        /* A run ends here, unless its minimum is still to come, and then at ten times as long: what
         * a machine busy with other things may need. */
        CROWD_CAP_MS = REPORT_SANITIZED ? 2000 : 500,
        CROWD_STARVED_MS = 10 * CROWD_CAP_MS,
};

struct crowd_plan {
        bool sleeps, waits, ping_pong, tickets;
        enum subject_fate fate;
        unsigned claim; /* only if the queue claims one of these traits after create; 0: always */
        unsigned volume, minimum, cycles;
};

struct crowd_member {
        alignas(QUEUE_LINE) struct crowd *crowd;
        unsigned producer;
        uint32_t random;
        pthread_t thread;
        /* Pushes begun and ended, each with its wake; written by the producer alone. */
        _Atomic unsigned entered, left;
};

struct crowd {
        struct subject subject;
        const struct crowd_plan *plan;
        struct crowd_member *members;
        pthread_barrier_t gate;
        int signal; /* eventfd */
        _Atomic unsigned running;
        atomic_bool stop;      /* enough: no further push */
        atomic_bool abandoned; /* it failed: wait for nothing */
        /* Global order: when each push began and ended, by the same clock. */
        _Atomic unsigned clock;
        unsigned *began, *ended;
        /* The consumer's */
        uint32_t random;
        uint64_t started_ns;
        unsigned cycles;
};

/* Before the threads start: in a build with queue_step, yields there now and then. NULL: no more.
 */
void crowd_hook_steps(const struct crowd *crowd);

/* A producer's thread; its argument is its member. */
void *crowd_produce(void *member);

/* On the calling thread, until every producer has ended and all is handed back, or it failed. */
void crowd_consume_polling(struct crowd *crowd);
void crowd_consume_sleeping(struct crowd *crowd);
void crowd_consume_waiting(struct crowd *crowd);

#endif
