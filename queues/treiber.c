/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The intrusive stack that is emptied in one go and turned round: a queue.
 *
 * Algorithm: producers push with a compare-and-swap on `newest`; the consumer exchanges it with
 * NULL, reverses what it took, and hands that out oldest first. Source: R. K. Treiber, "Systems
 * Programming: Coping with Parallelism", IBM RJ 5118, 1986; take-all and reverse is folklore.
 *
 * Who beside whom: any number of producers beside one consumer. Nobody pops a single node, so there
 * is no ABA: a push needs only that its node's next is `newest` now, whatever was there meanwhile.
 *
 * Linearisation point: of push, the compare-and-swap that succeeds; of drain, the exchange, or the
 * load that saw NULL. A batch is all that was pushed between two exchanges, and reversed it is in
 * the order of the compare-and-swaps; no push comes between exchange and batch: global FIFO.
 *
 * A producer that stops mid-push has not touched `newest`: it hides nothing, and nobody waits.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"

struct treiber_queue {
        struct queue head;
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) newest; /* producers and consumer */
        alignas(QUEUE_LINE) struct queue_chain taken;            /* the consumer's */
};

static int treiber_create(struct queue **out, const struct queue_config *config);

static void treiber_destroy(struct queue *base)
{
        free(base);
}

/*
 * Lock-free: the loop goes round only if `newest` changed, and then another push has succeeded, or
 * the consumer has taken one that had; it takes nothing from an empty stack.
 */
static enum queue_pushed treiber_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct treiber_queue *queue = (struct treiber_queue *)base;
        struct queue_node *older = atomic_load_explicit(&queue->newest, memory_order_relaxed);
        do {
                atomic_store_explicit(&node->next, older, memory_order_relaxed);
                queue_step();
                /* Release, with the acquire in take_all: the request's content and its link. Later
                 * pushes continue the release sequence, so one acquire sees the whole batch. */
        } while (!atomic_compare_exchange_strong_explicit(
                &queue->newest, &older, node, memory_order_release, memory_order_relaxed));
        /* The edge: EMPTY leaves NULL behind, and the first push after it replaces just that. */
        return older ? QUEUE_PUSHED : QUEUE_PUSHED_FIRST;
}

static struct queue_chain take_all(struct treiber_queue *queue)
{
        /* An idle drain leaves the line with the producers. Relaxed: by coherence the load can't
         * miss a push that happened before the drain. */
        if (!atomic_load_explicit(&queue->newest, memory_order_relaxed))
                return (struct queue_chain){NULL, NULL};
        /* Acquire, with the release in treiber_push. */
        return queue_chain_reversed(
                atomic_exchange_explicit(&queue->newest, NULL, memory_order_acquire));
}

static struct queue_drained treiber_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct treiber_queue *queue = (struct treiber_queue *)base;
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        queue->taken = take_all(queue);
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

static const struct queue_ops treiber_ops = {
        .name = "treiber",
        .summary = "one stack, taken whole and reversed",
        .source = "R. K. Treiber, IBM RJ 5118, 1986",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE | QUEUE_SEES_EDGE,
        .create = treiber_create,
        .destroy = treiber_destroy,
        .push = treiber_push,
        .drain = treiber_drain,
};

static int treiber_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct treiber_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct treiber_queue){.head.traits = treiber_ops.traits};
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const treiber_backends[] = {&treiber_ops, NULL};
