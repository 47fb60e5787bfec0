/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Lists under locks: `mutex` is one, `sharded_mutex` is the reference's ingress, N of them.
 *
 * Algorithm: an intrusive singly linked list per shard, appended to and emptied under the shard's
 * pthread mutex; producer p uses shard p mod N, dense indices being dealt in order, so that is
 * round-robin. Source: the nim-ffi library's sharded ingress (its pull request 101).
 *
 * Who beside whom: any number of producers and one consumer; all exclusion is the shard's mutex.
 * The consumer's look at a list without the lock only skips shards that are empty.
 *
 * Linearisation point: of push, the store of the node into its list, under the lock; of a shard's
 * part in drain, taking the list under the lock, or the unlocked load that saw NULL.
 *
 * A producer that stops mid-push holds the shard's mutex: the consumer and the shard's other
 * producers wait. Nothing is hidden, so drain never returns STALLED.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "queue.h"

struct shard {
        alignas(QUEUE_LINE) pthread_mutex_t lock;
        struct queue_list list;
};

struct mutex_queue {
        struct queue head;
        unsigned shard_count;
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
        struct shard shards[];
};

static int create_shards(struct queue **out, unsigned shard_count, unsigned traits)
{
        size_t bytes = sizeof(struct mutex_queue) + shard_count * sizeof(struct shard);
        struct mutex_queue *queue = aligned_alloc(QUEUE_LINE, bytes);
        if (!queue)
                return -ENOMEM;
        *queue = (struct mutex_queue){.head.traits = traits, .shard_count = shard_count};
        for (unsigned i = 0; i < shard_count; i++) {
                struct shard *shard = &queue->shards[i];
                *shard = (struct shard){.list = {NULL, NULL}};
                int error = pthread_mutex_init(&shard->lock, NULL);
                if (error) {
                        while (i--)
                                pthread_mutex_destroy(&queue->shards[i].lock);
                        free(queue);
                        return -error;
                }
        }
        *out = &queue->head;
        return 0;
}

static void mutex_destroy(struct queue *base)
{
        struct mutex_queue *queue = (struct mutex_queue *)base;
        for (unsigned i = 0; i < queue->shard_count; i++)
                pthread_mutex_destroy(&queue->shards[i].lock);
        free(queue);
}

static inline enum queue_pushed push_shard(struct shard *shard, struct queue_node *node)
{
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        pthread_mutex_lock(&shard->lock);
        bool first = queue_list_append(&shard->list, node, node);
        pthread_mutex_unlock(&shard->lock);
        return first ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static inline void take_shard(struct shard *shard, struct queue_chain *taken)
{
        if (!queue_list_peek(&shard->list))
                return;
        pthread_mutex_lock(&shard->lock);
        struct queue_chain chain = queue_list_take(&shard->list);
        pthread_mutex_unlock(&shard->lock);
        queue_chain_append(taken, chain.first, chain.last);
}

static inline struct queue_drained drain_shards(
        struct mutex_queue *queue, unsigned shard_count, struct queue_node **out, unsigned max)
{
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        for (unsigned i = 0; i < shard_count; i++)
                take_shard(&queue->shards[i], &queue->taken);
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

enum { KEY_SHARDS };

static const struct queue_key sharded_keys[] = {
        [KEY_SHARDS] = {.name = "shards",
                .min = 1,
                .max = 1024,
                .otherwise = 16,
                .help = "lists, each under its own mutex; producer p uses list p mod shards"},
        {.name = NULL},
};

enum {
        MUTEX_TRAITS = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE,
        SHARDED_TRAITS = QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE,
};

static int mutex_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return create_shards(out, 1, MUTEX_TRAITS);
}

static enum queue_pushed mutex_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        return push_shard(((struct mutex_queue *)base)->shards, node);
}

static struct queue_drained mutex_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        return drain_shards((struct mutex_queue *)base, 1, out, max);
}

static int sharded_create(struct queue **out, const struct queue_config *config)
{
        return create_shards(out, config->values[KEY_SHARDS], SHARDED_TRAITS);
}

static enum queue_pushed sharded_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct mutex_queue *queue = (struct mutex_queue *)base;
        return push_shard(&queue->shards[producer % queue->shard_count], node);
}

static struct queue_drained sharded_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct mutex_queue *queue = (struct mutex_queue *)base;
        return drain_shards(queue, queue->shard_count, out, max);
}

static const struct queue_ops mutex_ops = {
        .name = "mutex",
        .summary = "one list under one mutex",
        .source = "textbook",
        .traits = MUTEX_TRAITS,
        .create = mutex_create,
        .destroy = mutex_destroy,
        .push = mutex_push,
        .drain = mutex_drain,
};

static const struct queue_ops sharded_mutex_ops = {
        .name = "sharded_mutex",
        .summary = "N lists, each under its own mutex",
        .source = "nim-ffi pull request 101",
        .keys = sharded_keys,
        .traits = SHARDED_TRAITS,
        .create = sharded_create,
        .destroy = mutex_destroy,
        .push = sharded_push,
        .drain = sharded_drain,
};

const struct queue_ops *const mutex_backends[] = {&mutex_ops, &sharded_mutex_ops, NULL};
