/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Which of N lists a push goes to, for backends that shard: the producer's, dense indices being
 * dealt in order, so that is round-robin; or that of the CPU it runs on at the moment.
 *
 * The order that follows: one list is as ordered as the list. N lists by producer are FIFO per
 * producer, which makes them locally linearizable (Haas et al., CONCUR 2016). N lists by CPU
 * promise nothing, since a producer that is moved to another CPU overtakes what it left behind.
 */
#ifndef FANIN_SHARDS_H
#define FANIN_SHARDS_H

#include <sched.h>

#include "queue.h"

enum queue_by { QUEUE_BY_PRODUCER, QUEUE_BY_CPU };

#define QUEUE_KEY_SHARDS(OTHERWISE)                                                                \
        {                                                                                          \
                .name = "shards", .min = 1, .max = 1024, .otherwise = (OTHERWISE),                 \
                .help = "lists, each with its own lock or hot word"                                \
        }
#define QUEUE_KEY_BY                                                                               \
        {                                                                                          \
                .name = "by", .choices = "producer|cpu", .otherwise = QUEUE_BY_PRODUCER,           \
                .help = "producer p uses list p mod shards; or the CPU that it runs on does"       \
        }

/* What is left of a list's traits with N of them. */
static inline unsigned queue_shards_traits(unsigned traits, unsigned count, unsigned by)
{
        if (count > 1)
                traits &= ~(unsigned)QUEUE_FIFO_GLOBAL;
        if (count > 1 && by == QUEUE_BY_CPU)
                traits &= ~(unsigned)QUEUE_FIFO_PRODUCER;
        return traits;
}

static inline unsigned queue_shard_of(unsigned producer, unsigned count, unsigned by)
{
        if (count == 1)
                return 0; /* spares one list the division */
        if (by == QUEUE_BY_PRODUCER)
                return producer % count;
        int cpu = sched_getcpu(); /* glibc reads it from the rseq area: no system call */
        return (cpu < 0 ? producer : (unsigned)cpu) % count;
}

#endif
