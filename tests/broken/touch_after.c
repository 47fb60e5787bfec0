/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Writes to a request that it has handed back, from a producer's thread, as a queue does whose
 * producers keep a pointer to the last node.
 */
#include "honest.h"

static enum queue_pushed touch_after_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes % 10 == 0 && queue->memory)
                atomic_store_explicit(&queue->memory->next, NULL, memory_order_relaxed);
        return honest_unlock(queue, honest_append(queue, node));
}

static struct queue_drained touch_after_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct queue_drained drained = honest_drain(base, out, max);
        struct honest *queue = honest_lock(base);
        if (drained.count)
                queue->memory = out[drained.count - 1];
        honest_unlock(queue, QUEUE_PUSHED);
        return drained;
}

static const struct queue_ops touch_after_ops = {
        .name = "broken_touch_after",
        .summary = "writes to a request that it handed back",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = touch_after_push,
        .drain = touch_after_drain,
};

const struct queue_ops *const touch_after_backends[] = {&touch_after_ops, NULL};
