/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The ceiling: each producer keeps its requests to itself, and flush hands them over, after the
 * phase. What a submit costs without any queue.
 *
 * Algorithm: a list per producer; flush splices it into one list under a mutex. Source: ours.
 *
 * Who beside whom: a producer's list is its own until flush; the shared list has the mutex.
 *
 * Linearisation point: of flush, the splice under the mutex (push alone makes nothing visible); of
 * drain, taking the list under the mutex, or the unlocked load that saw NULL.
 *
 * A producer that stops mid-push has hidden nothing but its own kept requests.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "queue.h"

struct kept {
        alignas(QUEUE_LINE) struct queue_chain chain;
};

struct private_queue {
        struct queue head;
        alignas(QUEUE_LINE) pthread_mutex_t lock;
        struct queue_list list;
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
        struct kept kept[];
};

static int private_create(struct queue **out, const struct queue_config *config);

static void private_destroy(struct queue *base)
{
        struct private_queue *queue = (struct private_queue *)base;
        pthread_mutex_destroy(&queue->lock);
        free(queue);
}

static enum queue_pushed private_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct private_queue *queue = (struct private_queue *)base;
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        queue_chain_append(&queue->kept[producer].chain, node, node);
        return QUEUE_KEPT;
}

static bool private_flush(struct queue *base, unsigned producer)
{
        struct private_queue *queue = (struct private_queue *)base;
        struct queue_chain kept = queue->kept[producer].chain;
        if (!kept.first)
                return false;
        queue->kept[producer].chain = (struct queue_chain){NULL, NULL};
        pthread_mutex_lock(&queue->lock);
        queue_list_append(&queue->list, kept.first, kept.last);
        pthread_mutex_unlock(&queue->lock);
        return true;
}

static struct queue_drained private_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct private_queue *queue = (struct private_queue *)base;
        if (!queue->taken.first && queue_list_peek(&queue->list)) {
                pthread_mutex_lock(&queue->lock);
                queue->taken = queue_list_take(&queue->list);
                pthread_mutex_unlock(&queue->lock);
        }
        unsigned count = queue_chain_take(&queue->taken, out, max);
        return (struct queue_drained){count, count || !max ? QUEUE_MORE : QUEUE_EMPTY};
}

static const struct queue_ops private_ops = {
        .name = "private",
        .summary = "the ceiling: requests kept by their producer until after the phase",
        .source = "ours",
        .traits = QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE,
        .create = private_create,
        .destroy = private_destroy,
        .push = private_push,
        .flush = private_flush,
        .drain = private_drain,
};

static int private_create(struct queue **out, const struct queue_config *config)
{
        size_t bytes = sizeof(struct private_queue) + config->producers * sizeof(struct kept);
        struct private_queue *queue = aligned_alloc(QUEUE_LINE, bytes);
        if (!queue)
                return -ENOMEM;
        *queue = (struct private_queue){.head.traits = private_ops.traits};
        for (unsigned i = 0; i < config->producers; i++)
                queue->kept[i] = (struct kept){.chain = {NULL, NULL}};
        int error = pthread_mutex_init(&queue->lock, NULL);
        if (error) {
                free(queue);
                return -error;
        }
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const private_backends[] = {&private_ops, NULL};
