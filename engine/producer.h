/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The process-wide dense producer index: one per live thread that submits. */
#ifndef FANIN_PRODUCER_H
#define FANIN_PRODUCER_H

#include "../queues/guard.h"
#include "fanin.h"

/* The guard of each producer; its counter is the producer's alone. */
extern struct queue_guard producer_guards[FANIN_PRODUCERS_MAX];

/* What this thread is to the engine. Both are 0 until used. */
struct producer_self {
        unsigned index_plus_1; /* 0: no index yet */
        fanin_handle serving;  /* the context whose FFI thread this is */
};

extern _Thread_local struct producer_self producer_self;

/* This thread's index, dealt on first use; FANIN_NO_PRODUCER when all are taken. */
unsigned producer_index(void);

/* No index at or above it was ever dealt. */
unsigned producer_high_water(void);

/* Called on a thread that ends, for the index it gives back. Defined in submit.c: flushes and
 * detaches the index from every context. */
void context_producer_ends(unsigned producer);

#endif
