/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* A context's parts, as submit.c, ffi.c (the FFI thread) and context.c share them. */
#ifndef FANIN_CONTEXT_H
#define FANIN_CONTEXT_H

#include <pthread.h>
#include <time.h>

#include "fanin.h"
#include "producer.h"
#include "spec.h"

struct request {
        struct queue_node node; /* first: what queues hand around */
        fanin_callback callback;
        void *user_data;
        const void *payload;
        size_t payload_bytes;
        _Atomic bool taken; /* slab: in use, from submit until after the callback */
};

/* A request of a slab has lines of its own. */
struct slab_request {
        alignas(64) struct request request;
};

/* 0: nothing is counted (fanin_stats), and no clock is read to count time. */
#ifndef FANIN_COUNTERS
#define FANIN_COUNTERS 1
#endif

/* A counter of the statistics, with one writer and any readers. */
typedef _Atomic uint64_t counter;

static inline void counter_add(counter *counter, uint64_t amount)
{
        if (!FANIN_COUNTERS)
                return;
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                memory_order_relaxed);
}

static inline uint64_t counter_read(const counter *counter)
{
        return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline uint64_t counter_now_ns(void)
{
        if (!FANIN_COUNTERS)
                return 0;
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What a context keeps per producer; written by the producer alone. */
struct lane {
        alignas(QUEUE_LINE) bool attached;
        struct slab_request *slab;
        size_t slab_next;
        counter submits, refused, kept, flushes, wakes, wakes_elided;
};

struct context {
        /* read by all, written at create only */
        const struct queue_ops *ops;
        struct queue *queue;
        struct lane *lanes;
        unsigned producers;
        size_t slab_count; /* requests per producer; 0: malloc */
        bool polls;
        fanin_handle handle;
        fanin_handler handler;
        void *handler_data;
        unsigned *snapshots[3]; /* of the guards: two for the FFI thread, one for destroy */
        pthread_t thread;
        struct wake wake;
        /* set by destroy when nobody can submit any more */
        alignas(QUEUE_LINE) _Atomic bool closing;
        /* the FFI thread's */
        alignas(QUEUE_LINE) counter completed;
        counter cancelled, late_wakes, lost_wakes, stalls, stalled_ns, drains, largest_drain;
        counter wakes_spurious, slept_ns;
        _Atomic uint64_t asleep_since_ns; /* while asleep */
        _Atomic bool asleep;
};

struct slot {
        _Atomic(struct context *) context;
        _Atomic uint32_t generation;
        bool busy; /* under context_lock: its context is not freed yet */
};

extern struct slot context_slots[FANIN_CONTEXTS_MAX];

/* Taken by create, destroy, stats and ending threads, never by a submit. */
extern pthread_mutex_t context_lock;

/* The handle's context, or NULL. Inside the guard, or under context_lock; good until it is left. */
static inline struct context *context_find(fanin_handle handle)
{
        uint32_t i = (uint32_t)handle;
        if (i >= FANIN_CONTEXTS_MAX)
                return NULL;
        /* Both acquire, in this order, with the releases in context.c's publish and fanin_destroy.
         */
        struct context *context =
                atomic_load_explicit(&context_slots[i].context, memory_order_acquire);
        uint32_t generation =
                atomic_load_explicit(&context_slots[i].generation, memory_order_acquire);
        return generation & 1 && generation == handle >> 32 ? context : NULL;
}

/* Zeroed memory on lines of its own, for free(); NULL: none. */
void *context_lines(size_t bytes);

/* fanin_create of a parsed configuration; options->config is not read, why not NULL. Tests hand
 * over tables of queues and signals that are their own this way. */
int context_create(fanin_handle *handle, const struct fanin_options *options,
        const struct spec *spec, char *why, size_t why_bytes);

/* Hands over what a producer has kept, with its wake: by that producer, or when it is excluded. */
void context_flush(struct context *context, unsigned producer);

/* The FFI thread; its argument is the context. */
void *ffi_main(void *context);

#endif
