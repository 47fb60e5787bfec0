/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The intrusive MPSC list with one exchange a push: the reference's lock-free ingress.
 *
 * Algorithm: producers exchange the newest node into `newest`, then link the one before to it; the
 * consumer follows the links from `oldest`. A stub stands in for "no node", and is pushed again to
 * free the last real node of its role. Source: D. Vyukov, "Intrusive MPSC node-based queue"
 * (1024cores.net, 2010); the nim-ffi library's lock-free ingress (its pull request 98).
 *
 * Who beside whom: any number of producers beside one consumer, without locks.
 *
 * Linearisation point: of push, the exchange. EMPTY is the load of `newest` that saw the stub.
 *
 * A producer that stops between exchange and link cuts the list: everything pushed after it stays
 * hidden, though those pushes returned; drain says STALLED until it links. So the push is
 * wait-free, but the queue as a whole is neither lock-free nor, were STALLED called empty,
 * linearizable.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"

struct vyukov_queue {
        struct queue head;
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) newest; /* producers and consumer */
        alignas(QUEUE_LINE) struct queue_node *oldest;           /* the consumer's */
        struct queue_node stub;
};

static int vyukov_create(struct queue **out, const struct queue_config *config);

static void vyukov_destroy(struct queue *base)
{
        free(base);
}

static inline struct queue_node *append(struct vyukov_queue *queue, struct queue_node *node)
{
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        /* Release: whoever appends after us writes our `next` after we cleared it. Acquire: we
         * write the previous node's `next` after append there cleared it. seq_cst, with the load in
         * take: an asymmetric or fenced sleeper may use it as its store-load fence. */
        struct queue_node *previous = atomic_exchange(&queue->newest, node);
        queue_step();
        /* Release, with the acquire in take: the request's content is seen through the link. */
        atomic_store_explicit(&previous->next, node, memory_order_release);
        return previous;
}

static enum queue_pushed vyukov_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct vyukov_queue *queue = (struct vyukov_queue *)base;
        /* The edge: EMPTY means that the stub was newest, so the first push after it finds the
         * stub. */
        return append(queue, node) == &queue->stub ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static inline struct queue_node *follow(struct queue_node *node)
{
        /* Acquire, with the release in append: the next request's content comes with its link. */
        return atomic_load_explicit(&node->next, memory_order_acquire);
}

/* One node, or NULL with *left saying why there is none. */
static inline struct queue_node *take(struct vyukov_queue *queue, enum queue_left *left)
{
        struct queue_node *oldest = queue->oldest;
        struct queue_node *next = follow(oldest);
        if (oldest == &queue->stub) {
                if (!next) {
                        /* seq_cst, with the exchange in append: see there. */
                        *left = atomic_load(&queue->newest) == oldest ? QUEUE_EMPTY : QUEUE_STALLED;
                        return NULL;
                }
                queue->oldest = oldest = next;
                next = follow(oldest);
        }
        if (!next) {
                /* The last node: a producer may hold it as `previous` until something follows it.
                 * If nothing was appended yet, the stub is what follows. */
                if (atomic_load_explicit(&queue->newest, memory_order_relaxed) == oldest)
                        append(queue, &queue->stub);
                next = follow(oldest);
                if (!next) {
                        *left = QUEUE_STALLED;
                        return NULL;
                }
        }
        queue->oldest = next;
        return oldest;
}

static struct queue_drained vyukov_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct vyukov_queue *queue = (struct vyukov_queue *)base;
        enum queue_left left = QUEUE_MORE;
        unsigned count = 0;
        while (count < max && (out[count] = take(queue, &left)))
                count++;
        return (struct queue_drained){count, left};
}

static const struct queue_ops vyukov_ops = {
        .name = "vyukov",
        .summary = "one intrusive list, one exchange a push",
        .source = "D. Vyukov, 1024cores.net, 2010; nim-ffi pull request 98",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE |
                  QUEUE_MAY_STALL,
        .create = vyukov_create,
        .destroy = vyukov_destroy,
        .push = vyukov_push,
        .drain = vyukov_drain,
};

static int vyukov_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct vyukov_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct vyukov_queue){.head.traits = vyukov_ops.traits};
        queue->oldest = &queue->stub;
        atomic_store_explicit(&queue->newest, &queue->stub, memory_order_relaxed);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const vyukov_backends[] = {&vyukov_ops, NULL};
