/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What the broken backends share: one list under one mutex, which keeps every promise it makes. A
 * mutant replaces push, or drain, or create, by one that breaks a single promise, by count, so that
 * it does so in every run. Whoever is broken only here and there can be found only here and there.
 */
#ifndef FANIN_TESTS_HONEST_H
#define FANIN_TESTS_HONEST_H

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "../../queues/queue.h"

struct honest {
        struct queue head;
        pthread_mutex_t lock;
        struct queue_node *first, *last;
        unsigned pushes, drained;  /* so far, of requests, with the one at hand */
        unsigned capacity;         /* of who has one */
        struct queue_node *memory; /* a mutant's own */
};

enum { HONEST_TRAITS = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE };

static inline int honest_create_with(struct queue **out, unsigned traits)
{
        struct honest *queue = calloc(1, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        queue->head.traits = traits;
        int error = pthread_mutex_init(&queue->lock, NULL);
        if (error) {
                free(queue);
                return -error;
        }
        *out = &queue->head;
        return 0;
}

static inline int honest_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS);
}

static inline void honest_destroy(struct queue *base)
{
        struct honest *queue = (struct honest *)base;
        pthread_mutex_destroy(&queue->lock);
        free(queue);
}

/* Begins a push or, with unlock, ends it: all that a mutant does lies between. */
static inline struct honest *honest_lock(struct queue *base)
{
        struct honest *queue = (struct honest *)base;
        pthread_mutex_lock(&queue->lock);
        return queue;
}

static inline enum queue_pushed honest_unlock(struct honest *queue, enum queue_pushed pushed)
{
        pthread_mutex_unlock(&queue->lock);
        return pushed;
}

static inline enum queue_pushed honest_append(struct honest *queue, struct queue_node *node)
{
        bool first = !queue->first;
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        if (first)
                queue->first = node;
        else
                atomic_store_explicit(&queue->last->next, node, memory_order_relaxed);
        queue->last = node;
        return first ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static inline enum queue_pushed honest_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        return honest_unlock(queue, honest_append(queue, node));
}

/* One node, or NULL. Under the lock. */
static inline struct queue_node *honest_take(struct honest *queue)
{
        struct queue_node *node = queue->first;
        if (node) {
                queue->first = atomic_load_explicit(&node->next, memory_order_relaxed);
                queue->drained++;
        }
        return node;
}

/* As honest_take, but every so-manieth node comes twice, remembered, not touched, in between. */
static inline struct queue_node *honest_take_twice(struct honest *queue, unsigned every)
{
        struct queue_node *node = queue->memory;
        queue->memory = NULL;
        if (node)
                return node;
        node = honest_take(queue);
        if (node && queue->drained % every == 0)
                queue->memory = node;
        return node;
}

static inline struct queue_drained honest_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct honest *queue = honest_lock(base);
        struct queue_drained drained = {0, QUEUE_MORE};
        while (drained.count < max && (out[drained.count] = honest_take(queue)))
                drained.count++;
        if (!queue->first)
                drained.left = QUEUE_EMPTY;
        honest_unlock(queue, QUEUE_PUSHED);
        return drained;
}

#endif
