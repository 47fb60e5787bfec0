/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The load of a latency sample: intended times, the producers that submit at them, and the stamps
 * that they and the FFI thread leave. */
#ifndef FANIN_LATENCY_LOAD_H
#define FANIN_LATENCY_LOAD_H

#include <semaphore.h>

#include "latency.h"
#include "producers.h"

/* The producer's; 0: it did not come to it. */
struct load_stamps {
        uint64_t tried_ns;    /* the submit's start */
        uint64_t returned_ns; /* accepted */
};

struct load_lane {
        alignas(QUEUE_LINE) size_t count; /* requests intended; in a closed loop, tried */
        uint64_t *intended_ns;            /* since load.start_ns; closed loop: none */
        struct load_stamps *stamps;
        sem_t answered; /* closed loop: its request was called back */
        /* the FFI thread's */
        alignas(QUEUE_LINE) uint64_t *called_back_ns; /* 0: not yet */
        uint64_t next;                                /* the least id that is in order now */
};

/* One a process: callbacks know nothing but their request. */
struct load {
        const struct settings *settings;
        unsigned producers;
        size_t room; /* requests, of each producer */
        fanin_handle handle;
        uint64_t accepted;
        struct load_lane *lanes;
        /* The warm-up starts, the measured part starts and ends; producers give up; all is over. */
        uint64_t start_ns, measure_ns, end_ns, give_up_ns, stop_ns;
        /* the FFI thread's */
        alignas(QUEUE_LINE) _Atomic uint64_t called_back;
        uint64_t doubled, disordered, cancelled;
        _Atomic uint64_t stall_at_ns; /* UINT64_MAX: never, or no more */
};

extern struct load load;

enum { WARM_UP_MS = 100 }; /* before the measured part, under the same load */

/* Requests that each producer has room for; rate_per_s 0: closed loop. */
size_t load_room(const struct settings *, unsigned producers, double rate_per_s);

void load_init(const struct settings *);
void load_free(void);

/* Intended times and memory for stamps, touched. False: no memory. */
bool load_prepare(void);

/* For fanin_create: requests that may be outstanding. */
size_t load_backlog(void);

/* The handler: works and, once, stalls. */
int load_handle(
        void *data, const void *payload, size_t payload_bytes, const char **msg, size_t *len);

/* Runs the producers to their end; tries that found the queue full into *refused. A submit's fault,
 * or FANIN_OK. */
int load_run(uint64_t *refused);

/* Waits for the callbacks. False: they ceased before all were in. True as well if there are too
 * many to wait for. */
bool load_await(void);

static inline uint64_t load_intended_ns(const struct load_lane *lane, size_t id)
{
        return lane->intended_ns ? load.start_ns + lane->intended_ns[id]
                                 : lane->stamps[id].tried_ns;
}

#endif
