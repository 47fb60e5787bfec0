/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Three threads and a director: the parked producer, the other producer, the consumer.
 *
 * Whether one of them is blocked is not told by the clock alone, which on a busy machine would take
 * a slow thread for a blocked one: it made no progress for PATIENCE_MS, and sleeps, or has spun for
 * SPUN_MS of CPU time.
 */
#include "case.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
        PATIENCE_MS = 200,
        SPUN_MS = 50,
        IDLE_DRAINS = 50, /* without a request: nothing more comes */
        BACKLOG = 64,
        PARKED = 0,                  /* its request's number; the other's follow */
        EARLIER = 1,                 /* … before */
        LATER = EARLIER + CASE_EACH, /* … beside it */
        ONE_MORE = LATER + CASE_EACH,
        REQUESTS,
};

struct request {
        struct queue_node node;
        _Atomic unsigned came;
        atomic_bool pushed;
};

struct actor {
        pthread_t thread;
        _Atomic pid_t tid;
        _Atomic unsigned progress;
};

/* One case a process. */
static const struct stalled_case *the_case;
static struct queue *queue;
static struct queue_guard *guards;
static struct request requests[REQUESTS];
static struct actor parker, other, consumer;
static sem_t earlier_done, parked, go_on, go_later;
static atomic_bool stepped, later_done, full, drains_on = true;
static _Atomic unsigned idle, said; /* drains without a request, and their words */
static atomic_bool start_over;      /* counting them */

static _Thread_local unsigned steps_left; /* 0: this thread is not to be parked */

static void wait_for(sem_t *semaphore)
{
        while (sem_wait(semaphore) && errno == EINTR)
                ;
}

static void park_at_step(void)
{
        if (!steps_left || --steps_left)
                return;
        atomic_store(&stepped, true);
        sem_post(&parked);
        wait_for(&go_on);
}

static uint64_t now_ms(clockid_t clock)
{
        struct timespec now = {0, 0};
        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t cpu_ms(const struct actor *actor)
{
        clockid_t clock;
        return pthread_getcpuclockid(actor->thread, &clock) ? 0 : now_ms(clock);
}

/* By the kernel's word. */
static bool sleeps(struct actor *actor)
{
        char path[64], line[512];
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)atomic_load(&actor->tid));
        FILE *file = fopen(path, "re");
        const char *name_end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        if (file)
                fclose(file);
        return name_end && name_end[1] && name_end[2] == 'S';
}

/* True: done said so; false: the actor is blocked before that. */
static bool await(struct actor *actor, bool (*done)(void))
{
        unsigned progress = atomic_load(&actor->progress);
        uint64_t since_ms = now_ms(CLOCK_MONOTONIC), spun_ms = cpu_ms(actor);
        while (!done()) {
                const struct timespec pause = {0, 1000000};
                nanosleep(&pause, NULL);
                unsigned now = atomic_load(&actor->progress);
                if (now != progress) {
                        progress = now;
                        since_ms = now_ms(CLOCK_MONOTONIC);
                        spun_ms = cpu_ms(actor);
                } else if (now_ms(CLOCK_MONOTONIC) - since_ms >= PATIENCE_MS && !done() &&
                           (sleeps(actor) || cpu_ms(actor) - spun_ms >= SPUN_MS)) {
                        return done();
                }
        }
        return true;
}

/* As the engine submits. */
static void submit(struct actor *actor, unsigned producer, unsigned number)
{
        const struct queue_ops *ops = the_case->ops;
        struct request *request = &requests[number];
        queue_guard_enter(&guards[producer]);
        enum queue_pushed pushed = ops->push(queue, producer, &request->node);
        if (pushed != QUEUE_FULL && ops->settle)
                ops->settle(queue, producer);
        if (pushed == QUEUE_KEPT)
                ops->flush(queue, producer);
        queue_guard_leave(&guards[producer]);
        if (pushed == QUEUE_FULL)
                atomic_store(&full, true);
        else
                atomic_store(&request->pushed, true);
        atomic_fetch_add(&actor->progress, 1);
}

static void enter(struct actor *actor, unsigned producer)
{
        atomic_store(&actor->tid, (pid_t)syscall(SYS_gettid));
        if (the_case->ops->attach && the_case->ops->attach(queue, producer))
                abort();
}

static void leave(unsigned producer)
{
        if (the_case->ops->detach)
                the_case->ops->detach(queue, producer);
}

static void *be_parked(void *unused)
{
        enter(&parker, 0);
        steps_left = the_case->step;
        submit(&parker, 0, PARKED);
        steps_left = 0;
        sem_post(&parked); /* if it wasn't */
        submit(&parker, 0, ONE_MORE);
        leave(0);
        return unused;
}

static void *pass_by(void *unused)
{
        enter(&other, the_case->other);
        for (unsigned i = 0; i < CASE_EACH; i++)
                submit(&other, the_case->other, EARLIER + i);
        sem_post(&earlier_done);
        wait_for(&go_later);
        for (unsigned i = 0; i < CASE_EACH; i++)
                submit(&other, the_case->other, LATER + i);
        atomic_store(&later_done, true);
        leave(the_case->other);
        return unused;
}

static void *drain(void *unused)
{
        static const unsigned words[] = {
                [QUEUE_EMPTY] = CASE_SAID_EMPTY,
                [QUEUE_STALLED] = CASE_SAID_STALLED,
                [QUEUE_MORE] = CASE_SAID_MORE,
        };
        atomic_store(&consumer.tid, (pid_t)syscall(SYS_gettid));
        while (atomic_load(&drains_on)) {
                struct queue_node *out[7];
                if (atomic_exchange(&start_over, false))
                        atomic_store(&idle, 0);
                struct queue_drained drained = the_case->ops->drain(queue, out, 7);
                for (unsigned i = 0; i < drained.count; i++)
                        atomic_fetch_add(&((struct request *)out[i])->came, 1);
                unsigned now_idle = drained.count ? 0 : atomic_load(&idle) + 1;
                /* What it says at last, not on the way there. */
                if (now_idle <= IDLE_DRAINS / 2)
                        atomic_store(&said, 0);
                atomic_fetch_or(&said, words[drained.left]);
                atomic_store(&idle, now_idle);
                atomic_fetch_add(&consumer.progress, 1);
                sched_yield();
        }
        return unused;
}

static bool is_later_done(void)
{
        return atomic_load(&later_done);
}

static bool is_idle(void)
{
        return !atomic_load(&start_over) && atomic_load(&idle) >= IDLE_DRAINS;
}

static void start(struct actor *actor, void *(*body)(void *))
{
        if (pthread_create(&actor->thread, NULL, body, NULL))
                abort();
}

static unsigned count_came(unsigned first)
{
        unsigned count = 0;
        for (unsigned i = first; i < first + CASE_EACH; i++)
                count += atomic_load(&requests[i].came) && atomic_load(&requests[i].pushed);
        return count;
}

/* While the producer is parked. A hand-off's consumer is at work already. */
static void watch(struct case_outcome *outcome)
{
        sem_post(&go_later);
        if (!await(&other, is_later_done))
                outcome->other = CASE_BLOCKED;
        else if (atomic_load(&full))
                outcome->other = CASE_FULL;
        for (unsigned i = LATER; i < LATER + CASE_EACH; i++)
                outcome->returned += atomic_load(&requests[i].pushed);
        atomic_store(&start_over, true);
        if (!the_case->ops->settle)
                start(&consumer, drain);
        outcome->drained = await(&consumer, is_idle) ? atomic_load(&said) : CASE_DRAIN_BLOCKED;
        outcome->earlier = count_came(EARLIER);
        outcome->later = count_came(LATER);
}

static enum case_end count_all(void)
{
        enum case_end end = CASE_ALL_ONCE;
        for (unsigned i = 0; i < REQUESTS; i++) {
                unsigned came = atomic_load(&requests[i].came);
                if (came > 1)
                        end = CASE_DOUBLED;
                else if (came != atomic_load(&requests[i].pushed))
                        end = CASE_LOST;
        }
        return end;
}

/* It goes on, and so does everyone. */
static void finish(void)
{
        sem_post(&go_on);
        pthread_join(parker.thread, NULL);
        pthread_join(other.thread, NULL);
        atomic_store(&start_over, true);
        while (!is_idle())
                sched_yield();
        atomic_store(&drains_on, false);
        pthread_join(consumer.thread, NULL);
}

void case_run(const struct stalled_case *is, struct case_outcome *outcome)
{
        struct queue_config config = {.producers = is->other + 1, .backlog = BACKLOG};
        size_t bytes = config.producers * sizeof *guards;
        *outcome = (struct case_outcome){.end = CASE_REFUSED};
        config.guards = guards = aligned_alloc(alignof(struct queue_guard), bytes);
        if (!guards)
                abort();
        memset(guards, 0, bytes);
        for (unsigned k = 0; is->ops->keys && is->ops->keys[k].name; k++)
                config.values[k] = is->ops->keys[k].otherwise;
        the_case = is;
        if (is->ops->create(&queue, &config))
                return;
        if (queue->instead) {
                outcome->end = CASE_INSTEAD;
                return;
        }
        sem_init(&earlier_done, 0, 0);
        sem_init(&parked, 0, 0);
        sem_init(&go_on, 0, 0);
        sem_init(&go_later, 0, 0);
        queue_step_hook = park_at_step;
        if (is->ops->settle)
                start(&consumer, drain);
        start(&other, pass_by);
        wait_for(&earlier_done);
        start(&parker, be_parked);
        wait_for(&parked);
        watch(outcome);
        finish();
        outcome->end = count_all();
        if (!atomic_load(&stepped) && outcome->end == CASE_ALL_ONCE)
                *outcome = (struct case_outcome){.end = CASE_NO_STEP};
        is->ops->destroy(queue);
        free(guards);
}
