/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The guard every push runs in: a counter of the producer's own, odd while it is inside. Entering
 * costs plain stores to a line nobody else writes; whoever must know that no push that began
 * earlier is still running (destroy; a backend that recycles cells) pays instead: it unpublishes,
 * calls queue_guard_barrier, takes a snapshot, and waits until every odd counter has changed.
 *
 * Why it is sound. A push reads the published thing P after its store of the odd counter. The
 * barrier is a membarrier: it makes every running thread execute a full fence between two of its
 * instructions. If that fence falls after the push's odd store, the snapshot sees it odd and waits.
 * If it falls before, the push's later read of P sees the unpublishing, which came before the
 * barrier. Where the kernel has no membarrier, enter itself fences (queue_guard_fenced).
 */
#ifndef FANIN_GUARD_H
#define FANIN_GUARD_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct queue_guard {
        /* Both written by its producer only. */
        alignas(128) _Atomic(unsigned) inside;
        _Atomic(uint64_t) inside_of; /* the engine's: which context, set before inside turns odd */
};

/* Set by queue_guard_init where membarrier is missing: each enter then pays a full fence. */
extern _Atomic(bool) queue_guard_fenced;

/* Once per process, before the first enter; again is harmless. */
void queue_guard_init(void);

/* Orders every enter before it, on any thread, against what the caller does next. */
void queue_guard_barrier(void);

static inline void queue_guard_enter(struct queue_guard *guard)
{
        unsigned inside = atomic_load_explicit(&guard->inside, memory_order_relaxed);
        if (atomic_load_explicit(&queue_guard_fenced, memory_order_relaxed)) {
                /* seq_cst, with the fence in queue_guard_barrier: the store is seen by the
                 * snapshot, or what was unpublished is seen by our later loads. */
                atomic_store_explicit(&guard->inside, inside + 1, memory_order_seq_cst);
                atomic_thread_fence(memory_order_seq_cst);
        } else {
                /* Release, with the acquire in queue_guard_snapshot: odd comes with its inside_of.
                 */
                atomic_store_explicit(&guard->inside, inside + 1, memory_order_release);
                /* Keeps the compiler's order; queue_guard_barrier supplies the processor's. */
                atomic_signal_fence(memory_order_seq_cst);
        }
}

static inline void queue_guard_leave(struct queue_guard *guard)
{
        unsigned inside = atomic_load_explicit(&guard->inside, memory_order_relaxed);
        /* Release, with the acquire in queue_guard_snapshot and _passed: what the push did comes
         * before what the waiter frees. */
        atomic_store_explicit(&guard->inside, inside + 1, memory_order_release);
}

/*
 * of: a producer inside something else than this is not waited for, it may be there for as long as
 * it likes; 0: everyone is. An inside_of that is newer than the counter read before it says that
 * the push which the counter counted is over.
 */
static inline void queue_guard_snapshot(
        const struct queue_guard *guards, unsigned count, uint64_t of, unsigned *snapshot)
{
        for (unsigned i = 0; i < count; i++) {
                snapshot[i] = atomic_load_explicit(&guards[i].inside, memory_order_acquire);
                /* Acquire, with the release in submit.c: a push that is over is wholly over. */
                if (of && atomic_load_explicit(&guards[i].inside_of, memory_order_acquire) != of)
                        snapshot[i] = 0;
        }
}

/* True once no producer is still inside the push that the snapshot found it in. */
static inline bool queue_guard_passed(
        const struct queue_guard *guards, unsigned count, const unsigned *snapshot)
{
        for (unsigned i = 0; i < count; i++)
                if (snapshot[i] & 1 && atomic_load_explicit(&guards[i].inside,
                                               memory_order_acquire) == snapshot[i])
                        return false;
        return true;
}

#ifdef __cplusplus
}
#endif

#endif
