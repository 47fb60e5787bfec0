/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * An honest list that its consumer waits in. The three places at which its mutants differ are
 * functions of their own.
 */
#ifndef FANIN_TESTS_WAITS_H
#define FANIN_TESTS_WAITS_H

#include <time.h>

#include "honest.h"

struct waits {
        struct queue head;
        struct queue *list;
        pthread_mutex_t lock; /* of interrupted, and of whoever falls asleep */
        pthread_cond_t changed;
        bool interrupted;
        unsigned pushes;
        struct queue_node *taken; /* by wait; the consumer's */
};

enum { WAITS_TRAITS = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER };

static inline void waits_destroy(struct queue *base)
{
        struct waits *queue = (struct waits *)base;
        honest_destroy(queue->list);
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->lock);
        free(queue);
}

static inline int waits_create(struct queue **out, const struct queue_config *config)
{
        struct waits *queue = calloc(1, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        int error = honest_create(&queue->list, config);
        if (error) {
                free(queue);
                return error;
        }
        pthread_mutex_init(&queue->lock, NULL);
        pthread_cond_init(&queue->changed, NULL);
        queue->head.traits = WAITS_TRAITS;
        *out = &queue->head;
        return 0;
}

/* One push in `deaf` is not signalled; 0: all are. */
static inline enum queue_pushed waits_push_but(
        struct waits *queue, struct queue_node *node, unsigned deaf)
{
        honest_push(queue->list, 0, node);
        pthread_mutex_lock(&queue->lock);
        if (!deaf || ++queue->pushes % deaf)
                pthread_cond_signal(&queue->changed);
        pthread_mutex_unlock(&queue->lock);
        return QUEUE_PUSHED;
}

static inline enum queue_pushed waits_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        return waits_push_but((struct waits *)base, node, 0);
}

static inline struct queue_drained waits_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct waits *queue = (struct waits *)base;
        if (!queue->taken)
                return honest_drain(queue->list, out, max);
        if (!max)
                return (struct queue_drained){0, QUEUE_MORE};
        out[0] = queue->taken;
        queue->taken = NULL;
        struct queue_drained rest = honest_drain(queue->list, out + 1, max - 1);
        return (struct queue_drained){rest.count + 1, rest.left};
}

static inline bool waits_wait(struct queue *base, int timeout_ms)
{
        struct waits *queue = (struct waits *)base;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += timeout_ms / 1000;
        until.tv_nsec += timeout_ms % 1000 * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&queue->lock);
        for (bool timed_out = false;;) {
                if (!queue->taken)
                        honest_drain(queue->list, &queue->taken, 1);
                if (queue->taken || queue->interrupted || timed_out)
                        break;
                timed_out = pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
        }
        bool woken = queue->taken || queue->interrupted;
        queue->interrupted = false;
        pthread_mutex_unlock(&queue->lock);
        return woken;
}

static inline void waits_interrupt(struct queue *base)
{
        struct waits *queue = (struct waits *)base;
        pthread_mutex_lock(&queue->lock);
        queue->interrupted = true;
        pthread_cond_signal(&queue->changed);
        pthread_mutex_unlock(&queue->lock);
}

#endif
