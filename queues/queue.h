/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The whole contract between a queue and the engine. A backend is one file beside this one (or in
 * peers/, .c or .cpp) that exports `const struct queue_ops *const FILE_backends[]`:
 * NULL-terminated, FILE is its name without ".c"; the Makefile finds it there. Nothing here times,
 * counts, or wakes the FFI thread.
 *
 * Who calls what: push, flush, settle, attach and detach by the producer that holds the index (one
 * thread at a time), drain and wait by the FFI thread alone, interrupt by anyone, create and
 * destroy while nobody else is inside.
 */
#ifndef FANIN_QUEUE_H
#define FANIN_QUEUE_H

#include <limits.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Padding between what different threads write: two 64-byte lines, since x86 prefetches them in
 * pairs; one line of Apple's cores. */
#define QUEUE_LINE 128

/* Head of every request. While it is queued, its bytes are the backend's, before and after
 * nobody's. */
struct queue_node {
        _Atomic(struct queue_node *) next;
};

enum queue_pushed {
        QUEUE_PUSHED,
        QUEUE_PUSHED_FIRST, /* its list was empty: under the policy edge, a wake is owed */
        QUEUE_KEPT,         /* not visible to drain until flush; no wake owed */
        QUEUE_FULL,         /* node untouched: no room (QUEUE_BOUNDED), or no memory for a cell */
};

enum queue_left {
        QUEUE_EMPTY,   /* E1: no request whose push returned before this drain began is left */
        QUEUE_STALLED, /* the next request is in a push that has not returned: look again, don't
                          sleep */
        QUEUE_MORE,    /* there may be more now */
};

struct queue_drained {
        unsigned count;
        enum queue_left left;
};

/*
 * What a backend promises; the contract test fails on a promise not kept. create may clear some
 * (in struct queue), never add. Neither FIFO trait: no order. Neither progress trait: a push may
 * block on another producer.
 */
enum queue_trait {
        QUEUE_FIFO_GLOBAL =
                1 << 0, /* if one push returned before another began, so they come out */
        QUEUE_FIFO_PRODUCER =
                1 << 1, /* each producer's requests come out in the order it pushed them */
        QUEUE_WAIT_FREE = 1 << 2, /* push ends in a bounded number of its own steps, malloc aside */
        QUEUE_LOCK_FREE = 1 << 3, /* some push ends, however the others are scheduled */
        QUEUE_BOUNDED = 1 << 4,   /* push may return QUEUE_FULL */
        QUEUE_MAY_STALL = 1 << 5, /* a producer stopped mid-push can hide completed pushes */
        /*
         * E2: after EMPTY, for every request left behind, a push at or before it in its list,
         * linearised after the drain's last look at that list, returned PUSHED_FIRST. A length read
         * before the claim is never an edge.
         */
        QUEUE_SEES_EDGE = 1 << 6,
        /* A push may wait for another producer without ever yielding its CPU: with more producers
         * than CPUs, and one of them preempted, others spin until the scheduler turns. */
        QUEUE_SPINS = 1 << 7,
        /* A push may allocate even when told to preallocate: whose memory it is can't be had
         * beforehand. */
        QUEUE_ALLOCATES = 1 << 8,
};

/* What a sanitizer that watches the backend can know of it; `fanin list` says so. */
enum queue_seen {
        QUEUE_SEEN,        /* everything: C11 atomics and pthreads */
        QUEUE_SEEN_AS_X86, /* a library's assembly through tests/shim, its loads read as acquire and
                              its stores as release: that its own fences suffice is not checked */
        QUEUE_SEEN_AS_TOLD, /* hidden accesses are announced by queue_hidden_release and _acquire:
                               that they synchronise is not checked */
        QUEUE_UNSEEN,       /* not checked, and not built for ThreadSanitizer */
};

/* A key of the configuration string (`shards=16`); parsing, errors and help come from it. */
struct queue_key {
        const char *name;
        const char *choices; /* "a|b|c": the value is the position; NULL: a number */
        unsigned min, max;   /* of a number */
        unsigned otherwise;  /* when the string doesn't name the key */
        const char *help;
};

#define QUEUE_KEYS_MAX 8

struct queue_config {
        unsigned producers; /* indices are 0 … producers-1 */
        size_t backlog;     /* so many requests at most are outstanding; 0: unknown */
        bool preallocate;   /* allocate, and touch, for the backlog at create or attach */
        const struct queue_guard *guards; /* guards[p] is held by producer p around every push */
        uint64_t guards_of; /* to queue_guard_snapshot: pushes to this queue alone; 0: unknown */
        unsigned values[QUEUE_KEYS_MAX]; /* as ops->keys lists them */
};

/* Head of every backend's own structure. */
struct queue {
        unsigned traits;
        /* NULL, or the configuration that runs in place of this one, which can't run here. Static.
         */
        const char *instead;
};

struct queue_ops {
        const char *name, *summary, *source;
        const struct queue_key *keys; /* ended by a NULL name; NULL: none */
        unsigned traits;
        unsigned cell_bytes; /* memory of its own per request; 0: intrusive */
        enum queue_seen seen;

        /* 0 or -errno (-EINVAL: the configuration can't be honoured). */
        int (*create)(struct queue **, const struct queue_config *);
        /* Frees the queue; forgets nodes still queued, touches none. */
        void (*destroy)(struct queue *);
        /* Optional, on the producer's thread, before its first push and after its last. 0 or
         * -errno. */
        int (*attach)(struct queue *, unsigned producer);
        void (*detach)(struct queue *, unsigned producer);
        /* On anything but FULL the node is the queue's until drain hands it back. */
        enum queue_pushed (*push)(struct queue *, unsigned producer, struct queue_node *);
        /* Optional: makes what was KEPT visible; true: a wake is owed. */
        bool (*flush)(struct queue *, unsigned producer);
        /* Optional, after each push's wake: may wait until drain accepted the request (hand-off).
         */
        void (*settle)(struct queue *, unsigned producer);
        /* Hands back up to max nodes; no other thread reads or writes them again. */
        struct queue_drained (*drain)(struct queue *, struct queue_node **out, unsigned max);
        /*
         * Optional pair, for a queue that its consumer waits in (policy `own`). wait, after EMPTY:
         * blocks until there may be something, or interrupt was called since the last wait, or
         * timeout_ms (-1: never) has passed; false: it passed. What it took out, drain hands back.
         */
        bool (*wait)(struct queue *, int timeout_ms);
        void (*interrupt)(struct queue *);
};

/*
 * Spin-wait hint, and the one place that knows the processor. Everything that spins does it
 * through here.
 */
static inline void queue_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
        __asm__ volatile("yield" ::: "memory");
#else
        atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* One turn of a wait for another thread, the spins-th from 1: it may need our CPU. */
static inline void queue_pause(unsigned spins)
{
        if (spins % 64)
                queue_relax();
        else
                sched_yield();
}

/*
 * Stands between a backend's two writes: where a producer that stops leaves a half-done push.
 * Nothing in a release build; the tests park a producer there. A backend that may stall and has
 * none fails the contract test.
 */
#ifdef QUEUE_STEP
extern void (*queue_step_hook)(void);
static inline void queue_step(void)
{
        if (queue_step_hook)
                queue_step_hook();
}
#else
static inline void queue_step(void)
{
}
#endif

/*
 * Around synchronisation that ThreadSanitizer can't see (assembly, a library that is not built for
 * it): what comes before release happens before what comes after an acquire of the same address.
 * Nothing in other builds. The backend says QUEUE_SEEN_AS_TOLD.
 */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define QUEUE_UNDER_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(QUEUE_UNDER_TSAN)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define queue_hidden_acquire(address) __tsan_acquire(address)
#define queue_hidden_release(address) __tsan_release(address)
#else
#define queue_hidden_acquire(address) ((void)(address))
#define queue_hidden_release(address) ((void)(address))
#endif

/*
 * What a list backend has taken from its producers and not handed out yet: consumer-side only.
 * Linked through next, ended by NULL.
 */
struct queue_chain {
        struct queue_node *first, *last;
};

static inline void queue_chain_append(
        struct queue_chain *chain, struct queue_node *first, struct queue_node *last)
{
        if (chain->first)
                atomic_store_explicit(&chain->last->next, first, memory_order_relaxed);
        else
                chain->first = first;
        chain->last = last;
}

/* For what comes newest first. */
static inline void queue_chain_prepend(struct queue_chain *chain, struct queue_node *node)
{
        if (!chain->first)
                chain->last = node;
        atomic_store_explicit(&node->next, chain->first, memory_order_relaxed);
        chain->first = node;
}

/* A list linked from the newest to the oldest, turned around. */
static inline struct queue_chain queue_chain_reversed(struct queue_node *newest)
{
        struct queue_chain chain = {NULL, NULL};
        while (newest) {
                struct queue_node *older =
                        atomic_load_explicit(&newest->next, memory_order_relaxed);
                queue_chain_prepend(&chain, newest);
                newest = older;
        }
        return chain;
}

static inline unsigned queue_chain_take(
        struct queue_chain *chain, struct queue_node **out, unsigned max)
{
        unsigned count = 0;
        while (count < max && chain->first) {
                struct queue_node *node = chain->first;
                chain->first = atomic_load_explicit(&node->next, memory_order_relaxed);
                out[count++] = node;
        }
        return count;
}

/*
 * A list that producers append to under a lock of the backend's, and the consumer empties under the
 * same lock. queue_list_peek needs no lock: it decides only whether to take it.
 */
struct queue_list {
        _Atomic(struct queue_node *) first;
        struct queue_node *last;
};

/* first … last are linked and end with NULL. True: the list was empty. */
static inline bool queue_list_append(
        struct queue_list *list, struct queue_node *first, struct queue_node *last)
{
        bool empty = !atomic_load_explicit(&list->first, memory_order_relaxed);
        if (empty)
                atomic_store_explicit(&list->first, first, memory_order_relaxed);
        else
                atomic_store_explicit(&list->last->next, first, memory_order_relaxed);
        list->last = last;
        return empty;
}

static inline struct queue_chain queue_list_take(struct queue_list *list)
{
        struct queue_chain chain = {
                atomic_load_explicit(&list->first, memory_order_relaxed), list->last};
        atomic_store_explicit(&list->first, NULL, memory_order_relaxed);
        return chain;
}

/* True: there is something. Relaxed: by coherence it can't miss a push that happened before the
 * drain that asks, which is what E1 demands. */
static inline bool queue_list_peek(struct queue_list *list)
{
        return atomic_load_explicit(&list->first, memory_order_relaxed);
}

#ifdef __cplusplus
}
#endif

#endif
