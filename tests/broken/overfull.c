/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A ring under a lock, but whether there is room is asked before the lock is taken: when two find
 * the last slot free, the second overwrites what the ring has handed out next.
 */
#include "honest.h"

enum { OVERFULL_CAPACITY = 4 };

struct overfull {
        struct queue head;
        struct queue *honest; /* its lock */
        struct queue_node *slots[OVERFULL_CAPACITY];
        _Atomic unsigned pushes, drained;
};

static void overfull_destroy(struct queue *base)
{
        honest_destroy(((struct overfull *)base)->honest);
        free(base);
}

static enum queue_pushed overfull_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct overfull *queue = (struct overfull *)base;
        if (atomic_load(&queue->pushes) - atomic_load(&queue->drained) >= OVERFULL_CAPACITY)
                return QUEUE_FULL;
        queue_step();
        struct honest *lock = honest_lock(queue->honest);
        queue->slots[atomic_fetch_add(&queue->pushes, 1) % OVERFULL_CAPACITY] = node;
        return honest_unlock(lock, QUEUE_PUSHED);
}

static struct queue_drained overfull_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct overfull *queue = (struct overfull *)base;
        struct honest *lock = honest_lock(queue->honest);
        unsigned count = 0;
        while (count < max && atomic_load(&queue->pushes) != atomic_load(&queue->drained))
                out[count++] =
                        queue->slots[atomic_fetch_add(&queue->drained, 1) % OVERFULL_CAPACITY];
        bool empty = atomic_load(&queue->pushes) == atomic_load(&queue->drained);
        honest_unlock(lock, QUEUE_PUSHED);
        return (struct queue_drained){count, empty ? QUEUE_EMPTY : QUEUE_MORE};
}

enum { OVERFULL_TRAITS = QUEUE_BOUNDED };

static int overfull_create(struct queue **out, const struct queue_config *config)
{
        struct overfull *queue = calloc(1, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        int error = honest_create(&queue->honest, config);
        if (error) {
                free(queue);
                return error;
        }
        queue->head.traits = OVERFULL_TRAITS;
        *out = &queue->head;
        return 0;
}

static const struct queue_ops overfull_ops = {
        .name = "broken_overfull",
        .summary = "takes more than there is room for when two push at once",
        .source = "tests/broken",
        .traits = OVERFULL_TRAITS,
        .create = overfull_create,
        .destroy = overfull_destroy,
        .push = overfull_push,
        .drain = overfull_drain,
};

const struct queue_ops *const overfull_backends[] = {&overfull_ops, NULL};
