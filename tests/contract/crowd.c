/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What is checked with a crowd: exactly once, order, node lifetime, and the edge promise. */
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crowd.h"

enum {
        VOLUME = 20000, /* requests of a run that polls */
        MINIMUM = 5000, /* hand-backs that a run demands */
        PING_PONG_MINIMUM = 2000,
        SETTLE_VOLUME = 1000, /* the same where each push waits for its hand-off */
        SETTLE_MINIMUM = 500,
        /* The same of QUEUE_SPINS: with more producers than CPUs a push may take the scheduler's
         * whole round. */
        SPINS_VOLUME = 10000,
        SPINS_MINIMUM = 200,
        SPINS_CYCLES = 10,
        SPINS_PATIENCE = 4,    /* times as long until it counts as hanging */
        CYCLES = 100,          /* EMPTY → wake, that a run with a sleeping consumer demands */
        EDGE_VOLUME = 1 << 18, /* it lasts until it has them, or to the cap */
};

/* From the last delivered back: nothing may end before what is delivered earlier began. */
static void look_for_global_disorder(const struct crowd *crowd)
{
        unsigned first_end = UINT_MAX, who = 0;
        for (unsigned i = crowd->subject.handed; i-- && !report_failed();) {
                unsigned id = crowd->subject.log[i], quota = crowd->subject.quota;
                if (first_end < crowd->began[id])
                        report_failure("claims FIFO_GLOBAL, but is not global FIFO: producer %u's "
                                       "request %u came before "
                                       "producer %u's %u, whose push had returned before the "
                                       "other's began",
                                id / quota, id % quota, who / quota, who % quota);
                if (crowd->ended[id] < first_end) {
                        first_end = crowd->ended[id];
                        who = id;
                }
        }
}

static void start(struct crowd *crowd)
{
        unsigned producers = crowd->subject.producers;
        crowd->running = producers;
        pthread_barrier_init(&crowd->gate, NULL, producers + 1);
        crowd_hook_steps(crowd);
        for (unsigned i = 0; i < producers; i++) {
                struct crowd_member *member = &crowd->members[i];
                *member = (struct crowd_member){.crowd = crowd, .producer = i, .random = i + 1};
                if (pthread_create(&member->thread, NULL, crowd_produce, member))
                        abort();
        }
        pthread_barrier_wait(&crowd->gate);
        crowd->started_ns = report_now_ns();
}

static void join(struct crowd *crowd)
{
        atomic_store(&crowd->stop, true);
        atomic_store(&crowd->abandoned, report_failed());
        /* A producer that settles waits for drain, whatever became of the run. */
        while (report_failed() && crowd->subject.ops->settle && atomic_load(&crowd->running)) {
                struct queue_node *ignored[1];
                crowd->subject.ops->drain(crowd->subject.queue, ignored, 1);
                sched_yield();
        }
        for (unsigned i = 0; i < crowd->subject.producers; i++)
                pthread_join(crowd->members[i].thread, NULL);
        crowd_hook_steps(NULL);
        pthread_barrier_destroy(&crowd->gate);
}

static void judge(const struct crowd *crowd)
{
        if (crowd->subject.handed < crowd->plan->minimum)
                report_failure("only %u requests were handed back in %d ms, where %u are demanded",
                        crowd->subject.handed, CROWD_STARVED_MS, crowd->plan->minimum);
        if (crowd->cycles < crowd->plan->cycles)
                report_failure(
                        "only %u cycles from EMPTY to a wake in %d ms, where %u are demanded",
                        crowd->cycles, CROWD_STARVED_MS, crowd->plan->cycles);
        if (crowd->plan->tickets && crowd->subject.traits & QUEUE_FIFO_GLOBAL)
                look_for_global_disorder(crowd);
}

static unsigned least(unsigned one, unsigned other)
{
        return one < other ? one : other;
}

/* What can be demanded of it. */
static void moderate(struct crowd_plan *plan, const struct queue_ops *ops)
{
        if (ops->settle) {
                plan->volume = least(plan->volume, SETTLE_VOLUME);
                plan->minimum = least(plan->minimum, SETTLE_MINIMUM);
        }
        if (ops->traits & QUEUE_SPINS) {
                plan->volume = least(plan->volume, SPINS_VOLUME);
                plan->minimum = least(plan->minimum, SPINS_MINIMUM);
                plan->cycles = least(plan->cycles, SPINS_CYCLES);
                report_allow(SPINS_PATIENCE);
        }
}

static void run(const struct check_case *is, struct crowd_plan plan)
{
        moderate(&plan, is->ops);
        struct crowd crowd = {.plan = &plan, .random = is->producers};
        unsigned quota = (plan.sleeps ? EDGE_VOLUME : plan.volume) / is->producers + 1;
        size_t outstanding = plan.sleeps ? CROWD_WINDOW + CROWD_BURST_MAX : quota;
        const struct subject_plan subject_plan = {
                .ops = is->ops,
                .values = is->values,
                .producers = is->producers,
                .quota = quota,
                .backlog = is->producers * outstanding,
                .fate = plan.fate,
        };
        if (!subject_open(&crowd.subject, &subject_plan))
                return;
        if (plan.claim && !(crowd.subject.traits & plan.claim)) {
                subject_close(&crowd.subject); /* create has cleared it */
                return;
        }
        crowd.members = aligned_alloc(QUEUE_LINE, is->producers * sizeof *crowd.members);
        size_t tickets = plan.tickets ? (size_t)is->producers * quota : 1;
        crowd.began = calloc(tickets, sizeof *crowd.began);
        crowd.ended = calloc(tickets, sizeof *crowd.ended);
        crowd.signal = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (!crowd.members || !crowd.began || !crowd.ended || crowd.signal < 0)
                abort();
        start(&crowd);
        if (plan.waits)
                crowd_consume_waiting(&crowd);
        else if (plan.sleeps)
                crowd_consume_sleeping(&crowd);
        else
                crowd_consume_polling(&crowd);
        join(&crowd);
        if (!report_failed())
                subject_drain_rest(&crowd.subject, 64);
        judge(&crowd);
        subject_close(&crowd.subject);
        close(crowd.signal);
        free(crowd.members);
        free(crowd.began);
        free(crowd.ended);
}

void check_exactly_once(const struct check_case *is)
{
        /* AddressSanitizer sees whoever touches what is freed, not what is used again. */
        run(is, (struct crowd_plan){.fate = REPORT_ASAN ? SUBJECT_FREE : SUBJECT_REUSE,
                        .volume = VOLUME,
                        .minimum = MINIMUM});
}

void check_handed_back(const struct check_case *is)
{
        run(is, (struct crowd_plan){.fate = SUBJECT_KEEP, .volume = VOLUME, .minimum = MINIMUM});
}

void check_global_order(const struct check_case *is)
{
        run(is, (struct crowd_plan){.fate = SUBJECT_REUSE,
                        .volume = VOLUME,
                        .minimum = MINIMUM,
                        .claim = QUEUE_FIFO_GLOBAL,
                        .tickets = true});
}

void check_edge(const struct check_case *is)
{
        run(is, (struct crowd_plan){.fate = SUBJECT_REUSE,
                        .claim = QUEUE_SEES_EDGE,
                        .sleeps = true,
                        .volume = VOLUME,
                        .minimum = MINIMUM,
                        .cycles = CYCLES});
}

void check_ping_pong(const struct check_case *is)
{
        run(is, (struct crowd_plan){.fate = SUBJECT_REUSE,
                        .claim = QUEUE_SEES_EDGE,
                        .sleeps = true,
                        .ping_pong = true,
                        .volume = VOLUME,
                        .minimum = PING_PONG_MINIMUM,
                        .cycles = CYCLES});
}

/* As edge and ping_pong in one, but that the queue does the waking. */
void check_waits_crowd(const struct check_case *is)
{
        for (unsigned i = 0; i < 2 && !report_failed(); i++)
                run(is, (struct crowd_plan){.fate = SUBJECT_REUSE,
                                .sleeps = true,
                                .waits = true,
                                .ping_pong = i,
                                .tickets = is->ops->traits & QUEUE_FIFO_GLOBAL,
                                .volume = VOLUME,
                                .minimum = PING_PONG_MINIMUM,
                                .cycles = CYCLES});
}
