/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The two clocks of every measurement. */
#ifndef FANIN_CLOCK_H
#define FANIN_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
        struct timespec t;
        clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_wall_ns(void)
{
        return clock_read_ns(CLOCK_MONOTONIC);
}

/* Of the calling thread. */
static inline uint64_t clock_thread_cpu_ns(void)
{
        return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
