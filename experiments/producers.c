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
#include "cpus.h"
#include "work.h"

enum {
        THREAD_TRIES = 10, /* of pthread_create on EAGAIN, 10 ms apart */
        STACK_BYTES = 256 * 1024,
};

struct producer {
        alignas(QUEUE_LINE) pthread_t thread;
        unsigned number, index;
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

/* What taskset or a cpuset left us: the kernel would go beyond the first. */
static bool may_use(unsigned cpu)
{
        struct cpus mask;
        bool found = false;
        if (cpus_affinity(&mask))
                return false;
        for (unsigned i = 0; i < mask.count; i++)
                found |= mask.ids[i] == cpu;
        cpus_free(&mask);
        return found;
}

bool producers_pin(unsigned cpu)
{
        return may_use(cpu) && !cpus_confine(&(struct cpus){1, &cpu});
}

static int submit(const struct producers_round *round, unsigned index, void *name)
{
        return fanin_submit_as(round->handle, index, NULL, 0, round->callback, name);
}

/* The queue was full. FANIN_FULL: the request is dropped, or its producer *leaves. */
static int submit_again(const struct producers_round *round, unsigned index, void *name,
        uint64_t *refused, bool *leaves)
{
        int result;
        do {
                queue_relax();
                sched_yield();
                *leaves = ++*refused % PRODUCERS_CLOCK_EVERY == 0 &&
                          clock_wall_ns() > round->deadline_ns;
                if (*leaves || gate.settings->drop_on_full)
                        return FANIN_FULL;
                result = submit(round, index, name);
        } while (result == FANIN_FULL);
        return result;
}

/*
 * The producer's loop: the submit phase as measured. One look at the clock serves twice: it stamps
 * a request just before its first try, and it is compared with the deadline; a request that came
 * too late for that is the producer's last. So the last is one with a stamp or the volume's last,
 * but when requests were dropped, or retried past the deadline.
 */
static void submit_volume(const struct producers_round *asked, unsigned number, unsigned index,
        struct producers_turn *out)
{
        const struct settings *settings = gate.settings;
        const struct producers_round round = *asked;
        uint64_t *stamps_ns = round.first_tried_ns + number * round.first_tried_each;
        struct producers_turn turn = {.fault = FANIN_OK};
        uint64_t accepted = 0, end = round.volume, cpu_ns = clock_thread_cpu_ns();
        turn.start_ns = clock_wall_ns();
        for (uint64_t done = 0; done < end && !turn.fault; done++) {
                if (settings->think_ns)
                        work_ns(settings->think_ns);
                if (accepted % PRODUCERS_CLOCK_EVERY == 0) {
                        uint64_t now_ns = clock_wall_ns();
                        stamps_ns[accepted / PRODUCERS_CLOCK_EVERY] = now_ns;
                        if (accepted && now_ns > round.deadline_ns)
                                end = done + 1;
                }
                void *name = producers_name(number, accepted);
                int result = submit(&round, index, name);
                if (result == FANIN_FULL) {
                        bool leaves;
                        result = submit_again(asked, index, name, &turn.refused, &leaves);
                        end = leaves ? 0 : end;
                }
                if (result == FANIN_OK)
                        accepted++;
                else if (result != FANIN_FULL)
                        turn.fault = result;
        }
        turn.accepted = accepted;
        if (accepted != round.volume && accepted % PRODUCERS_CLOCK_EVERY != 1)
                atomic_store_explicit(round.ends_between, true, memory_order_relaxed);
        turn.end_ns = clock_wall_ns();
        turn.cpu_ns = clock_thread_cpu_ns() - cpu_ns;
        *out = turn;
}

/* The FFI thread has the first. */
static unsigned cpu_of(unsigned number)
{
        return gate.settings->cpus[(number + 1) % gate.settings->cpu_count];
}

static void *producer_main(void *argument)
{
        struct producer *producer = argument;
        const struct settings *settings = gate.settings;
        unsigned opened_times = 0;
        producer->index = fanin_producer();
        if (settings->cpu_count)
                producer->pinned = producers_pin(cpu_of(producer->number));
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
                                &gate.round, producer->number, producer->index, &producer->turn);
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

unsigned producers_index(unsigned number)
{
        return gate.producers[number].index;
}

int producers_unpinned_cpu(void)
{
        for (unsigned i = 0; gate.settings->cpu_count && i < gate.count; i++)
                if (!gate.producers[i].pinned)
                        return (int)cpu_of(i);
        return -1;
}

const char *producers_end(void)
{
        const char *pinned = !gate.settings->cpu_count      ? "none"
                             : producers_unpinned_cpu() < 0 ? "yes"
                                                            : "no";
        join(gate.count);
        free(gate.producers);
        return pinned;
}
