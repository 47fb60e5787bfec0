/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Producers sleep at the gate, they don't spin: any number of them starts on any number of CPUs.
 * All are created, pinned and have their index before the gate opens for the first time.
 */
#include "producers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "work.h"

enum {
        THREAD_TRIES = 10, /* of pthread_create on EAGAIN, 10 ms apart */
        STACK_BYTES = 256 * 1024,
        CPU_IDS = 8192,
};

struct producer {
        alignas(QUEUE_LINE) pthread_t thread;
        unsigned number;
        bool pinned;
        struct producers_turn turn;
};

static struct {
        const struct settings *settings;
        struct producer *producers;
        unsigned count;
        struct producers_round round;
        pthread_mutex_t lock;
        pthread_cond_t opened, finished;
        unsigned opened_times, running;
        enum { SUBMIT, FLUSH, END } job;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

bool producers_pin(unsigned cpu)
{
        cpu_set_t *set = CPU_ALLOC(CPU_IDS);
        size_t bytes = CPU_ALLOC_SIZE(CPU_IDS);
        if (!set)
                return false;
        CPU_ZERO_S(bytes, set);
        CPU_SET_S(cpu, bytes, set);
        bool pinned = !sched_setaffinity(0, bytes, set);
        CPU_FREE(set);
        return pinned;
}

/* The producer's loop: the submit phase as measured. */
static void submit_volume(const struct producers_round *asked, unsigned number, unsigned index,
        struct producers_turn *out)
{
        const struct settings *settings = gate.settings;
        const struct producers_round round = *asked;
        struct producers_turn turn = {.fault = FANIN_OK};
        uint64_t tries = 0, cpu_ns = clock_thread_cpu_ns();
        turn.start_ns = clock_wall_ns();
        for (uint64_t done = 0; done < round.volume; tries++) {
                if (tries % PRODUCERS_CLOCK_EVERY == 0 && tries &&
                        clock_wall_ns() > round.deadline_ns)
                        break;
                if (settings->think_ns)
                        work_ns(settings->think_ns);
                int result = fanin_submit_as(round.handle, index, NULL, 0, round.callback,
                        producers_name(number, turn.accepted));
                if (result == FANIN_OK) {
                        turn.accepted++;
                        done++;
                } else if (result == FANIN_FULL) {
                        turn.refused++;
                        done += settings->drop_on_full;
                        queue_relax();
                        sched_yield();
                } else {
                        turn.fault = result;
                        break;
                }
        }
        turn.end_ns = clock_wall_ns();
        turn.cpu_ns = clock_thread_cpu_ns() - cpu_ns;
        *out = turn;
}

static void *producer_main(void *argument)
{
        struct producer *producer = argument;
        const struct settings *settings = gate.settings;
        unsigned index = fanin_producer(), opened_times = 0;
        if (settings->cpu_count)
                producer->pinned =
                        producers_pin(settings->cpus[(producer->number + 1) % settings->cpu_count]);
        pthread_mutex_lock(&gate.lock);
        for (;;) {
                if (!--gate.running)
                        pthread_cond_signal(&gate.finished);
                while (gate.opened_times == opened_times)
                        pthread_cond_wait(&gate.opened, &gate.lock);
                opened_times = gate.opened_times;
                if (gate.job == END)
                        break;
                bool submits = gate.job == SUBMIT;
                pthread_mutex_unlock(&gate.lock);
                if (submits)
                        (gate.round.submit ? gate.round.submit : submit_volume)(
                                &gate.round, producer->number, index, &producer->turn);
                else
                        fanin_flush(gate.round.handle);
                pthread_mutex_lock(&gate.lock);
        }
        pthread_mutex_unlock(&gate.lock);
        return NULL;
}

static void open_gate(int job, unsigned count)
{
        pthread_mutex_lock(&gate.lock);
        gate.job = job;
        gate.running = count;
        gate.opened_times++;
        pthread_cond_broadcast(&gate.opened);
        pthread_mutex_unlock(&gate.lock);
}

static void join(unsigned started)
{
        open_gate(END, started);
        for (unsigned i = 0; i < started; i++)
                pthread_join(gate.producers[i].thread, NULL);
}

static int start_thread(struct producer *producer, const pthread_attr_t *attributes)
{
        int error = EAGAIN;
        for (int i = 0; i < THREAD_TRIES && error == EAGAIN; i++) {
                if (i)
                        usleep(10000);
                error = pthread_create(&producer->thread, attributes, producer_main, producer);
        }
        return error;
}

/* Waits until no producer runs, a millisecond at a time. */
static void await(void (*each_ms)(void))
{
        pthread_mutex_lock(&gate.lock);
        while (gate.running) {
                struct timespec until;
                clock_gettime(CLOCK_MONOTONIC, &until);
                until.tv_nsec += 1000000;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_timedwait(&gate.finished, &gate.lock, &until);
                pthread_mutex_unlock(&gate.lock);
                if (each_ms)
                        each_ms();
                pthread_mutex_lock(&gate.lock);
        }
        pthread_mutex_unlock(&gate.lock);
}

static void prepare(const struct settings *settings, unsigned count)
{
        pthread_condattr_t clock;
        pthread_condattr_init(&clock);
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
        pthread_cond_init(&gate.finished, &clock);
        pthread_condattr_destroy(&clock);
        gate.settings = settings;
        gate.count = gate.running = count;
        gate.producers = aligned_alloc(QUEUE_LINE, count * sizeof *gate.producers);
        if (!gate.producers)
                die("no memory for %u producers", count);
        memset(gate.producers, 0, count * sizeof *gate.producers);
}

bool producers_start(const struct settings *settings, unsigned count, char *why, size_t why_bytes)
{
        prepare(settings, count);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        unsigned started = 0;
        int error = 0;
        for (; started < count; started++) {
                gate.producers[started].number = started;
                error = start_thread(&gate.producers[started], &attributes);
                if (error)
                        break;
        }
        pthread_attr_destroy(&attributes);
        if (!error) {
                await(NULL);
                return true;
        }
        snprintf(why, why_bytes,
                "thread %u of --producers %u could not be started: %s (see `ulimit -u` and the "
                "cgroup's pids.max)",
                started + 1, count, strerror(error));
        join(started);
        free(gate.producers);
        return false;
}

void producers_run(
        const struct producers_round *round, void (*each_ms)(void), struct producers_turn *turns)
{
        gate.round = *round; /* seen by producers through the lock */
        open_gate(SUBMIT, gate.count);
        await(each_ms);
        if (round->flushes) {
                open_gate(FLUSH, gate.count);
                await(NULL);
        }
        for (unsigned i = 0; i < gate.count; i++)
                turns[i] = gate.producers[i].turn;
}

const char *producers_end(void)
{
        bool pinned = true;
        join(gate.count);
        for (unsigned i = 0; i < gate.count; i++)
                pinned &= gate.producers[i].pinned;
        free(gate.producers);
        return !gate.settings->cpu_count ? "none" : pinned ? "yes" : "no";
}
