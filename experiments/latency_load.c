/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "latency_load.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../engine/context.h"
#include "clock.h"
#include "work.h"

enum {
        PATIENCE_MS = 2000, /* at most, and what the handler and the fallback poll may take */
        LOOK_US = 200,      /* between looks whether all are called back */
        NEAR_NS = 25000,    /* so near its time a producer no longer sleeps: about what sleeps
                               overshoot */
};

struct load load;

void load_init(const struct settings *settings)
{
        load.settings = settings;
        load.producers = settings->producers[0];
        atomic_store_explicit(&load.stall_at_ns, UINT64_MAX, memory_order_relaxed);
        load.room = load_room(
                settings, load.producers, settings->closed ? 0 : settings->rates_per_s[0]);
}

/* Each producer's arrivals are a Poisson process of its share of the rate; or evenly spaced, and
 * the producers' staggered. */
static void intend(struct load_lane *lane, unsigned number, gsl_rng *random)
{
        const struct settings *settings = load.settings;
        double gap_ns = 1e9 * load.producers / settings->rates_per_s[0];
        double end_ns = WARM_UP_MS * 1e6 + settings->duration_s * 1e9;
        double at_ns = gap_ns * number / load.producers;
        gsl_rng_set(random, settings->seed * FANIN_PRODUCERS_MAX + number);
        if (!settings->fixed_arrivals)
                at_ns = gsl_ran_exponential(random, gap_ns);
        while (lane->count < load.room && at_ns < end_ns) {
                lane->intended_ns[lane->count++] = (uint64_t)at_ns;
                at_ns += settings->fixed_arrivals ? gap_ns : gsl_ran_exponential(random, gap_ns);
        }
}

bool load_prepare(void)
{
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        load.lanes = context_lines(load.producers * sizeof *load.lanes);
        bool whole = random && load.lanes;
        for (unsigned i = 0; i < load.producers && whole; i++) {
                struct load_lane *lane = &load.lanes[i];
                lane->stamps = context_lines(load.room * sizeof *lane->stamps);
                lane->called_back_ns = context_lines(load.room * sizeof *lane->called_back_ns);
                whole = lane->stamps && lane->called_back_ns && !sem_init(&lane->answered, 0, 0);
                if (!whole || load.settings->closed)
                        continue;
                lane->intended_ns = context_lines(load.room * sizeof *lane->intended_ns);
                whole = lane->intended_ns;
                if (whole)
                        intend(lane, i, random);
        }
        if (random)
                gsl_rng_free(random);
        return whole;
}

void load_free(void)
{
        for (unsigned i = 0; load.lanes && i < load.producers; i++) {
                free(load.lanes[i].stamps);
                free(load.lanes[i].called_back_ns);
                free(load.lanes[i].intended_ns);
        }
        free(load.lanes);
}

size_t load_backlog(void)
{
        /* A slab's request is free again only after its callback has returned. */
        return load.producers * (load.settings->closed ? 4 : load.room);
}

int load_handle(
        void *data, const void *payload, size_t payload_bytes, const char **msg, size_t *len)
{
        (void)data, (void)payload, (void)payload_bytes, (void)msg, (void)len;
        const struct settings *settings = load.settings;
        if (settings->handler_ns)
                work_ns(settings->handler_ns);
        uint64_t stall_at_ns = atomic_load_explicit(&load.stall_at_ns, memory_order_relaxed);
        if (stall_at_ns != UINT64_MAX && clock_wall_ns() >= stall_at_ns) {
                atomic_store_explicit(&load.stall_at_ns, UINT64_MAX, memory_order_relaxed);
                usleep(settings->stall_ms * 1000);
        }
        return FANIN_OK;
}

static void called_back(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        struct load_lane *lane = &load.lanes[producers_number_of(user_data)];
        uint64_t id = producers_id_of(user_data);
        load.doubled += lane->called_back_ns[id] != 0;
        lane->called_back_ns[id] = clock_wall_ns();
        load.disordered += id < lane->next;
        lane->next = id + 1;
        load.cancelled += ret == FANIN_CANCELLED;
        if (load.settings->closed)
                sem_post(&lane->answered);
        /* Release, with the acquire in callbacks. */
        atomic_store_explicit(&load.called_back,
                atomic_load_explicit(&load.called_back, memory_order_relaxed) + 1,
                memory_order_release);
}

static uint64_t callbacks(void)
{
        return atomic_load_explicit(&load.called_back, memory_order_acquire);
}

/* Without a callback, until requests count as missing: well before the deadline, which would call
 * it a hang. */
static double patience_ms(void)
{
        const struct settings *settings = load.settings;
        return fmin(PATIENCE_MS, settings->deadline_s * 250) + 4 * settings->handler_ns / 1e6 +
               4 * settings->poll_ms + settings->stall_ms;
}

/* One that is not measured, before the start: a slab and the like are made by it. */
static void called_back_first(int ret, const char *msg, size_t len, void *user_data)
{
        (void)ret, (void)msg, (void)len, (void)user_data;
}

static void submit_first(const struct producers_round *round, unsigned number, unsigned index,
        struct producers_turn *turn)
{
        (void)number;
        *turn = (struct producers_turn){.fault = FANIN_OK};
        prctl(PR_SET_TIMERSLACK, 1UL); /* ns, of this thread's sleeps */
        int result = fanin_submit_as(round->handle, index, NULL, 0, called_back_first, NULL);
        if (result != FANIN_FULL)
                turn->fault = result;
}

static struct timespec timespec_of(uint64_t ns)
{
        return (struct timespec){
                .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}

/* Sleeps while the time is far, then lets others run until it has come. Returns the time. */
static uint64_t await_time(uint64_t until_ns)
{
        uint64_t now_ns;
        while ((now_ns = clock_wall_ns()) < until_ns) {
                struct timespec wake = timespec_of(until_ns - NEAR_NS);
                if (now_ns < until_ns - NEAR_NS)
                        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
                else
                        sched_yield();
        }
        return now_ns;
}

/* Until it is accepted; one that found the queue full is dropped or tried again. */
static void submit_one(const struct producers_round *round, struct load_stamps *stamps,
        unsigned index, void *name, struct producers_turn *turn)
{
        int result;
        uint64_t now_ns;
        for (;;) {
                result = fanin_submit_as(round->handle, index, NULL, 0, called_back, name);
                now_ns = clock_wall_ns();
                if (result != FANIN_FULL)
                        break;
                turn->refused++;
                if (load.settings->drop_on_full || now_ns > load.give_up_ns)
                        return;
                queue_relax();
                sched_yield();
        }
        if (result) {
                turn->fault = result;
                return;
        }
        stamps->returned_ns = now_ns;
        turn->accepted++;
}

static void submit_open(const struct producers_round *round, unsigned number, unsigned index,
        struct producers_turn *turn)
{
        struct load_lane *lane = &load.lanes[number];
        *turn = (struct producers_turn){.fault = FANIN_OK};
        for (size_t id = 0; id < lane->count && !turn->fault; id++) {
                uint64_t now_ns = await_time(load_intended_ns(lane, id));
                if (now_ns > load.give_up_ns)
                        break;
                lane->stamps[id].tried_ns = now_ns;
                submit_one(round, &lane->stamps[id], index, producers_name(number, id), turn);
        }
}

/* False: it does not come. */
static bool await_answer(sem_t *answered)
{
        uint64_t until_ns = clock_read_ns(CLOCK_REALTIME) + (uint64_t)(patience_ms() * 1e6);
        struct timespec until = timespec_of(until_ns);
        int error;
        do
                error = sem_timedwait(answered, &until) ? errno : 0;
        while (error == EINTR);
        return !error;
}

static void submit_closed(const struct producers_round *round, unsigned number, unsigned index,
        struct producers_turn *turn)
{
        struct load_lane *lane = &load.lanes[number];
        *turn = (struct producers_turn){.fault = FANIN_OK};
        while (lane->count < load.room && !turn->fault) {
                struct load_stamps *stamps = &lane->stamps[lane->count];
                uint64_t now_ns = clock_wall_ns();
                if (now_ns >= load.end_ns)
                        break;
                stamps->tried_ns = now_ns;
                submit_one(round, stamps, index, producers_name(number, lane->count++), turn);
                if (stamps->returned_ns && !await_answer(&lane->answered))
                        break;
        }
}

/* Opens the gate once; adds what was refused. A submit's fault, or FANIN_OK. */
static int run(const struct producers_round *round, uint64_t *refused)
{
        struct producers_turn *turns = must_allocate(load.producers * sizeof *turns);
        int fault = FANIN_OK;
        producers_run(round, NULL, turns);
        for (unsigned i = 0; i < load.producers; i++) {
                fault = turns[i].fault ? turns[i].fault : fault;
                load.accepted += turns[i].accepted;
                *refused += turns[i].refused;
        }
        free(turns);
        return fault;
}

int load_run(uint64_t *refused)
{
        struct producers_round round = {.handle = load.handle, .submit = submit_first};
        uint64_t duration_ns = (uint64_t)(load.settings->duration_s * 1e9);
        int fault = run(&round, refused);
        if (fault)
                return fault;
        load.start_ns = clock_wall_ns();
        load.measure_ns = load.start_ns + WARM_UP_MS * UINT64_C(1000000);
        load.end_ns = load.measure_ns + duration_ns;
        load.give_up_ns = load.end_ns + duration_ns / 2;
        if (load.settings->stall_ms)
                atomic_store_explicit(&load.stall_at_ns, load.measure_ns + duration_ns / 2,
                        memory_order_relaxed); /* the queue orders the rest */
        round.submit = load.settings->closed ? submit_closed : submit_open;
        return run(&round, refused);
}

bool load_await(void)
{
        struct fanin_stats stats;
        uint64_t seen = callbacks(), since_ns = clock_wall_ns();
        while (seen < load.accepted || fanin_stats(load.handle, &stats) || !stats.asleep) {
                usleep(LOOK_US);
                uint64_t now_ns = clock_wall_ns(), count = callbacks();
                if (count != seen && now_ns > load.give_up_ns)
                        return true;
                if (count != seen)
                        since_ns = now_ns;
                else if ((double)(now_ns - since_ns) > patience_ms() * 1e6)
                        return false;
                seen = count;
        }
        return true;
}
