/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One lock held across a single-slot hand-off: the reference's original, lock-bound ingress.
 *
 * Algorithm: push takes the lock and fills the slot; the engine wakes the FFI thread; settle waits
 * until drain has taken the request, and only then unlocks. Source: the nim-ffi library before its
 * issue 90; a semaphore stands for its second signal.
 *
 * Who beside whom: one producer at a time is between push and settle, by the lock; the consumer
 * runs beside it.
 *
 * Linearisation point: of push, the store to the slot; of drain, the exchange that empties it.
 *
 * A producer that stops anywhere between push and settle holds the lock: every other producer
 * waits. The consumer never does.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "queue.h"

struct handshake_queue {
        struct queue head;
        pthread_mutex_t lock;
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) slot;
        sem_t accepted;
};

static int handshake_create(struct queue **out, const struct queue_config *config);

static void handshake_destroy(struct queue *base)
{
        struct handshake_queue *queue = (struct handshake_queue *)base;
        sem_destroy(&queue->accepted);
        pthread_mutex_destroy(&queue->lock);
        free(queue);
}

static enum queue_pushed handshake_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct handshake_queue *queue = (struct handshake_queue *)base;
        pthread_mutex_lock(&queue->lock);
        queue_step();
        /* Release, with the exchange in handshake_drain: the request's content. */
        atomic_store_explicit(&queue->slot, node, memory_order_release);
        return QUEUE_PUSHED_FIRST; /* the slot is empty whenever the lock is free */
}

static void handshake_settle(struct queue *base, unsigned producer)
{
        (void)producer;
        struct handshake_queue *queue = (struct handshake_queue *)base;
        while (sem_wait(&queue->accepted)) /* EINTR */
                ;
        pthread_mutex_unlock(&queue->lock);
}

static struct queue_drained handshake_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct handshake_queue *queue = (struct handshake_queue *)base;
        if (!max)
                return (struct queue_drained){0, QUEUE_MORE};
        /* Acquire, with the release in handshake_push. */
        struct queue_node *node =
                atomic_exchange_explicit(&queue->slot, NULL, memory_order_acquire);
        if (!node)
                return (struct queue_drained){0, QUEUE_EMPTY};
        out[0] = node;
        sem_post(&queue->accepted);
        return (struct queue_drained){1, QUEUE_MORE};
}

static const struct queue_ops handshake_ops = {
        .name = "handshake",
        .summary = "one lock held across a single-slot hand-off",
        .source = "nim-ffi before its issue 90",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE,
        .create = handshake_create,
        .destroy = handshake_destroy,
        .push = handshake_push,
        .settle = handshake_settle,
        .drain = handshake_drain,
};

static int handshake_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct handshake_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct handshake_queue){.head.traits = handshake_ops.traits};
        int error = pthread_mutex_init(&queue->lock, NULL);
        if (!error && sem_init(&queue->accepted, 0, 0)) {
                error = errno;
                pthread_mutex_destroy(&queue->lock);
        }
        if (error) {
                free(queue);
                return -error;
        }
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const handshake_backends[] = {&handshake_ops, NULL};
