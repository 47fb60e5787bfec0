/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A queue's storage as a chain of segments, for backends whose producers claim slots by
 * fetch-and-add: appended by producers as Michael and Scott append nodes, retired by the consumer,
 * and used again only when no push that began before still runs.
 *
 * Who beside whom: get, append and advance by producers inside their guards; retire and collect by
 * the consumer; create and destroy while nobody is inside.
 *
 * A segment's way: free list → chain → limbo (the consumer's) → when enough have gathered: barrier
 * and snapshot of the guards → waiting → snapshot passed → cleared → free list. What a producer got
 * and could not append, because another was faster, it keeps as its spare.
 *
 * The tail lags by at most one: append succeeds only behind the last segment, and whoever reached
 * that one had moved the tail at least there. It never goes back: a move from X to the one behind X
 * succeeds only while the tail is X, and X has no second life while its mover is inside a push.
 *
 * A push may go on reading a retired segment, `next` and all, for as long as it lasts. Where a
 * retired one still points was in the chain when it was retired: it is retired later, if ever, so
 * its grace period waits for the same push. A push that begins after a barrier meets only what was
 * still in the chain then.
 *
 * A producer that stops inside a push stops recycling, not the queue: memory then grows. It is
 * given back at destroy.
 */
#ifndef FANIN_SEGMENTS_H
#define FANIN_SEGMENTS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* So many requests pay for one grace period. */
enum { QUEUE_SEGMENTS_GRACE_SLOTS = 4096 };

/* First member of a backend's segment. All behind it is zero in one that get returned, or garbage
 * that was written between get and an append that failed. */
struct queue_segment {
        alignas(QUEUE_LINE) _Atomic(struct queue_segment *) next; /* in the chain */
        _Atomic(struct queue_segment *) below; /* in the free list, or in limbo */
        struct queue_segment *older;           /* in the list of all, for destroy */
};

struct queue_segments {
        alignas(QUEUE_LINE) _Atomic(struct queue_segment *) tail; /* changes once a segment */
        size_t bytes;
        unsigned producers, batch;
        const struct queue_guard *guards;
        uint64_t guards_of;
        struct queue_segment **spares; /* one a producer, its own; seldom written */
        alignas(QUEUE_LINE) _Atomic(struct queue_segment *)
                free; /* consumer pushes, producers pop */
        _Atomic(struct queue_segment *) all;
        /* the consumer's */
        alignas(QUEUE_LINE) struct queue_segment *limbo;
        struct queue_segment *waiting;
        unsigned limbo_count;
        unsigned *snapshot;
};

/* A clean and touched one, or NULL: no memory. */
static inline struct queue_segment *queue_segments_allocate(struct queue_segments *segments)
{
        struct queue_segment *segment = aligned_alloc(QUEUE_LINE, segments->bytes);
        if (!segment)
                return NULL;
        memset(segment, 0, segments->bytes);
        struct queue_segment *older = atomic_load_explicit(&segments->all, memory_order_relaxed);
        /* Relaxed: destroy reads the list when nobody is inside; it only grows, so no ABA. */
        do
                segment->older = older;
        while (!atomic_compare_exchange_weak_explicit(
                &segments->all, &older, segment, memory_order_relaxed, memory_order_relaxed));
        return segment;
}

static inline void queue_segments_destroy(struct queue_segments *segments)
{
        struct queue_segment *segment = atomic_load_explicit(&segments->all, memory_order_relaxed);
        while (segment) {
                struct queue_segment *older = segment->older;
                free(segment);
                segment = older;
        }
        free(segments->spares);
        free(segments->snapshot);
}

/*
 * 0 or -ENOMEM. The chain then has one segment, the tail. Under preallocate there are enough for
 * the backlog, for the two ends of the chain, for two grace periods, and a spare a producer; a
 * producer stopped mid-push can hold back more, and then push allocates.
 */
static inline int queue_segments_create(struct queue_segments *segments, size_t bytes, size_t slots,
        const struct queue_config *config)
{
        size_t batch = QUEUE_SEGMENTS_GRACE_SLOTS / slots + (slots > QUEUE_SEGMENTS_GRACE_SLOTS);
        *segments = (struct queue_segments){
                .bytes = (bytes + QUEUE_LINE - 1) / QUEUE_LINE * QUEUE_LINE,
                .producers = config->producers,
                .batch = (unsigned)batch,
                .guards = config->guards,
                .guards_of = config->guards_of,
                .spares = calloc(config->producers, sizeof(struct queue_segment *)),
                .snapshot = calloc(config->producers, sizeof(unsigned)),
        };
        size_t count = 1;
        if (config->preallocate && config->backlog)
                count = config->backlog / slots + 2 + 2 * batch + config->producers;
        bool complete = segments->spares && segments->snapshot;
        while (complete && count--) {
                struct queue_segment *segment = queue_segments_allocate(segments);
                struct queue_segment *tail =
                        atomic_load_explicit(&segments->tail, memory_order_relaxed);
                complete = segment;
                if (segment && tail) {
                        atomic_store_explicit(&segment->below,
                                atomic_load_explicit(&segments->free, memory_order_relaxed),
                                memory_order_relaxed);
                        atomic_store_explicit(&segments->free, segment, memory_order_relaxed);
                } else {
                        atomic_store_explicit(&segments->tail, segment, memory_order_relaxed);
                }
        }
        if (complete)
                return 0;
        queue_segments_destroy(segments);
        return -ENOMEM;
}

/*
 * One to append behind last. NULL: no memory, or last->next is set by now. Each other producer pops
 * at most once before it sets last->next or sees it set, so the loop is bounded.
 *
 * No ABA: a segment that we read as the first can come back to the free list only through limbo,
 * and its grace period waits for the push we are in.
 */
static inline struct queue_segment *queue_segments_get(
        struct queue_segments *segments, unsigned producer, struct queue_segment *last)
{
        struct queue_segment *segment = segments->spares[producer];
        if (segment) {
                segments->spares[producer] = NULL;
                return segment;
        }
        /* Acquire, with the release in queue_segments_collect: it is clean. */
        segment = atomic_load_explicit(&segments->free, memory_order_acquire);
        while (segment) {
                struct queue_segment *below =
                        atomic_load_explicit(&segment->below, memory_order_relaxed);
                queue_step();
                /* Acquire, as the load above: a failure loads another segment. */
                if (atomic_compare_exchange_strong_explicit(&segments->free, &segment, below,
                            memory_order_acquire, memory_order_acquire))
                        return segment;
                if (atomic_load_explicit(&last->next, memory_order_relaxed))
                        return NULL;
        }
        return queue_segments_allocate(segments);
}

/* False: another producer's is behind last. The tail stays where it is. */
static inline bool queue_segments_append(struct queue_segments *segments, unsigned producer,
        struct queue_segment *last, struct queue_segment *fresh)
{
        struct queue_segment *none = NULL;
        queue_step();
        /* Release, with the acquire in queue_segments_next: what the appender wrote into it. */
        if (atomic_compare_exchange_strong_explicit(
                    &last->next, &none, fresh, memory_order_release, memory_order_relaxed))
                return true;
        segments->spares[producer] = fresh;
        return false;
}

static inline struct queue_segment *queue_segments_next(struct queue_segment *segment)
{
        /* Acquire, with the release in queue_segments_append. */
        return atomic_load_explicit(&segment->next, memory_order_acquire);
}

static inline struct queue_segment *queue_segments_tail(struct queue_segments *segments)
{
        /* Acquire, with the release in queue_segments_advance: the segment's content. */
        return atomic_load_explicit(&segments->tail, memory_order_acquire);
}

/* Moves the tail from `from` to the one behind it, unless somebody has. */
static inline void queue_segments_advance(
        struct queue_segments *segments, struct queue_segment *from, struct queue_segment *next)
{
        queue_step();
        /* Release, with the acquire in queue_segments_tail: what came with `next`. */
        atomic_compare_exchange_strong_explicit(
                &segments->tail, &from, next, memory_order_release, memory_order_relaxed);
}

/* It has one behind it, nothing before it in the chain leads to it any more, and nobody has a slot
 * in it left to fill or take. */
static inline void queue_segments_retire(
        struct queue_segments *segments, struct queue_segment *segment)
{
        queue_segments_advance(segments, segment, queue_segments_next(segment));
        atomic_store_explicit(&segment->below, segments->limbo, memory_order_relaxed);
        segments->limbo = segment;
        segments->limbo_count++;
}

/* Once a drain: frees what has waited long enough, lets the next wait. */
static inline void queue_segments_collect(struct queue_segments *segments)
{
        struct queue_segment *first = segments->waiting, *last = NULL;
        if (first &&
                queue_guard_passed(segments->guards, segments->producers, segments->snapshot)) {
                for (struct queue_segment *segment = first; segment;) {
                        memset(segment + 1, 0, segments->bytes - sizeof *segment);
                        atomic_store_explicit(&segment->next, NULL, memory_order_relaxed);
                        last = segment;
                        segment = atomic_load_explicit(&segment->below, memory_order_relaxed);
                }
                struct queue_segment *old =
                        atomic_load_explicit(&segments->free, memory_order_relaxed);
                do
                        atomic_store_explicit(&last->below, old, memory_order_relaxed);
                /* Release, with the acquire in queue_segments_get: the clearing. Only the consumer
                 * pushes, so the first is still the first it was: no ABA. */
                while (!atomic_compare_exchange_weak_explicit(
                        &segments->free, &old, first, memory_order_release, memory_order_relaxed));
                segments->waiting = NULL;
        }
        if (segments->waiting || segments->limbo_count < segments->batch)
                return;
        segments->waiting = segments->limbo;
        segments->limbo = NULL;
        segments->limbo_count = 0;
        queue_guard_barrier();
        queue_guard_snapshot(
                segments->guards, segments->producers, segments->guards_of, segments->snapshot);
}

#endif
