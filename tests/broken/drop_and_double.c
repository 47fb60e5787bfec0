/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Loses one request in a thousand and doubles another: the total is right. */
#include "honest.h"

static enum queue_pushed drop_and_double_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes % 1000 == 500)
                return honest_unlock(queue, QUEUE_PUSHED);
        return honest_unlock(queue, honest_append(queue, node));
}

static struct queue_drained drop_and_double_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct honest *queue = honest_lock(base);
        struct queue_drained drained = {0, QUEUE_MORE};
        while (drained.count < max && (out[drained.count] = honest_take_twice(queue, 999)))
                drained.count++;
        if (!queue->first && !queue->memory)
                drained.left = QUEUE_EMPTY;
        honest_unlock(queue, QUEUE_PUSHED);
        return drained;
}

static const struct queue_ops drop_and_double_ops = {
        .name = "broken_drop_and_double",
        .summary = "loses one request in 1,000 and doubles another",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = drop_and_double_push,
        .drain = drop_and_double_drain,
};

const struct queue_ops *const drop_and_double_backends[] = {&drop_and_double_ops, NULL};
