/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The producer threads of a sample, the gate they wait at, and the submit phase as it is measured.
 */
#ifndef FANIN_PRODUCERS_H
#define FANIN_PRODUCERS_H

#include "../engine/fanin.h"
#include "settings.h"

enum {
        PRODUCERS_CLOCK_EVERY = 64, /* submits between two looks at the clock */
        PRODUCERS_ID_BITS = 40,
};

/* A request's user_data: its producer's number in the sample, and its id: 0, 1, … in each round. */
static inline void *producers_name(unsigned producer, uint64_t id)
{
        return (void *)(uintptr_t)((uint64_t)producer << PRODUCERS_ID_BITS | id);
}

static inline unsigned producers_number_of(const void *user_data)
{
        return (unsigned)((uintptr_t)user_data >> PRODUCERS_ID_BITS);
}

static inline uint64_t producers_id_of(const void *user_data)
{
        return (uintptr_t)user_data & ((UINT64_C(1) << PRODUCERS_ID_BITS) - 1);
}

struct producers_turn;

/* What one round is asked to do. */
struct producers_round {
        fanin_handle handle;
        uint64_t volume;      /* per producer */
        uint64_t deadline_ns; /* nobody submits much after it */
        fanin_callback callback;
        /* Of each producer: when its requests 0, PRODUCERS_CLOCK_EVERY, … were first tried. */
        uint64_t *first_tried_ns;
        size_t first_tried_each; /* so many for each producer */
        /* Set before a producer leaves whose last request is neither one of these nor its
         * volume's last. */
        _Atomic bool *ends_between;
        bool flushes; /* the queue keeps requests: handed over when the last producer is done */
        /* What a producer does, on its thread: number within the sample, index for fanin_submit_as.
         * NULL: submits its volume, one after the other; else the two above are not used. */
        void (*submit)(const struct producers_round *, unsigned number, unsigned index,
                struct producers_turn *);
        void *data; /* for submit */
};

/* What a producer did in a round. */
struct producers_turn {
        uint64_t start_ns, end_ns, cpu_ns, accepted, refused;
        int fault; /* a submit's unexpected result, or FANIN_OK */
};

/* Starts count threads and lets them wait at the gate; pins them when settings has CPUs. False: why
 * gets a sentence, and those that were started are joined. One set of producers a process. */
bool producers_start(const struct settings *, unsigned count, char *why, size_t why_bytes);

/* Opens the gate and waits until the last producer has returned from its last submit, calling
 * each_ms about every millisecond. turns has room for all producers. */
void producers_run(
        const struct producers_round *, void (*each_ms)(void), struct producers_turn *turns);

/* The producer's index for fanin_submit_as. */
unsigned producers_index(unsigned number);

/* The first CPU that a producer was to be pinned to and could not be; -1: none. */
int producers_unpinned_cpu(void);

/* Joins them. "yes", "no" or "none": whether all were pinned. */
const char *producers_end(void);

/* Pins the calling thread to a CPU of its mask. */
bool producers_pin(unsigned cpu);

#endif
