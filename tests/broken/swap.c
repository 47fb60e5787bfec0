/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Lets one request in a hundred overtake the one before it. */
#include "honest.h"

static enum queue_pushed swap_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        struct queue_node *before = queue->first;
        if (++queue->pushes < 100 || !before || before == queue->last)
                return honest_unlock(queue, honest_append(queue, node));
        queue->pushes = 0;
        struct queue_node *next;
        while ((next = atomic_load_explicit(&before->next, memory_order_relaxed)) != queue->last)
                before = next;
        atomic_store_explicit(&node->next, next, memory_order_relaxed);
        atomic_store_explicit(&before->next, node, memory_order_relaxed);
        return honest_unlock(queue, QUEUE_PUSHED);
}

static const struct queue_ops swap_ops = {
        .name = "broken_swap",
        .summary = "swaps neighbours, one pair in 100",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = swap_push,
        .drain = honest_drain,
};

const struct queue_ops *const swap_backends[] = {&swap_ops, NULL};
