/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A queue under test, with what the engine would put around it (guards, attach, wake accounting)
 * and an account that knows each request: who pushed it, as its how-manieth, and whether it came
 * back, once, in the declared order.
 *
 * Of a producer's requests: pushed ≥ visible (its push returned, or, if kept, its flush) ≥ handed
 * back; at the end all three are equal.
 */
#ifndef FANIN_TESTS_SUBJECT_H
#define FANIN_TESTS_SUBJECT_H

#include "../../engine/registry.h"

struct request {
        struct queue_node node; /* first */
        unsigned producer, sequence;
        uint64_t seal; /* of both: shows a torn or stale request */
};

enum { SUBJECT_POISON = 0xdd, SUBJECT_BATCH_MAX = 256 };

/* What becomes of a request that was handed back. Poisoned it is in any case. */
enum subject_fate {
        SUBJECT_REUSE, /* in turn: freed at once, pushed again at once */
        SUBJECT_FREE,  /* freed at once */
        SUBJECT_KEEP,  /* kept until the end, where the poison must be whole */
};

/* What the queue is told of preallocation. */
enum subject_memory {
        SUBJECT_EITHER, /* yes where the producers' number is odd: either way, and not by chance */
        SUBJECT_GROWS,
        SUBJECT_PREALLOCATES,
};

/* One producer's; the first line is its own, the second the consumer's. */
struct subject_lane {
        alignas(QUEUE_LINE) unsigned pushed;
        unsigned kept; /* not flushed yet */
        unsigned full; /* pushes refused */
        bool attached;
        _Atomic unsigned visible;
        alignas(QUEUE_LINE) _Atomic unsigned handed;
        unsigned next; /* at least this sequence comes next, if order is promised */
        _Atomic(struct request *) spare; /* handed back, to be pushed again at once */
};

struct subject {
        const struct queue_ops *ops;
        struct queue *queue;
        unsigned traits; /* the queue's, after create */
        unsigned producers, quota;
        struct queue_guard *guards;
        struct subject_lane *lanes;
        enum subject_fate fate;
        /* The consumer's */
        unsigned handed, stalls;
        unsigned char *seen;        /* bit: producer * quota + sequence */
        unsigned *log;              /* the same numbers, as they came */
        struct request **graveyard; /* SUBJECT_KEEP */
};

struct subject_plan {
        const struct queue_ops *ops;
        const unsigned *values; /* of ops->keys */
        unsigned producers;
        unsigned quota; /* so many requests at most a producer */
        enum subject_fate fate;
        enum subject_memory memory;
        size_t backlog; /* what the queue is told of requests outstanding; 0: unknown */
};

/* False: it failed, and said so. */
bool subject_open(struct subject *subject, const struct subject_plan *plan);

/* What was handed back must be whole, and nothing may be missing (unless the run failed already).
 * Closes. */
void subject_close(struct subject *subject);

/* Closes when the queue is destroyed already, requests still in it. */
void subject_forget(struct subject *subject);

/* On the producer's thread; false: it failed, and said so. */
bool subject_attach(struct subject *subject, unsigned producer);
void subject_detach(struct subject *subject, unsigned producer);

/* The producer's next request; its sequence counts once it is pushed. */
struct request *subject_request(struct subject *subject, unsigned producer);

/* Between queue_guard_enter and _leave of the producer's guard, as subject_settle and _flush. */
enum queue_pushed subject_push(struct subject *subject, unsigned producer, struct request *request);
void subject_settle(struct subject *subject, unsigned producer);
/* True: a wake is owed. */
bool subject_flush(struct subject *subject, unsigned producer);

/* Drains up to max (at most SUBJECT_BATCH_MAX), checks and accounts. */
struct queue_drained subject_drain(struct subject *subject, unsigned max);

/* While no push is under way: drains to EMPTY; everything visible must come. */
void subject_drain_rest(struct subject *subject, unsigned max);

/* Requests that drain must be able to find. */
unsigned subject_visible(const struct subject *subject);

#endif
