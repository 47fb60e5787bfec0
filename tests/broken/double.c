/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Hands one request in a thousand back twice, in a row. */
#include "honest.h"

static struct queue_drained double_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct honest *queue = honest_lock(base);
        struct queue_drained drained = {0, QUEUE_MORE};
        while (drained.count < max && (out[drained.count] = honest_take_twice(queue, 1000)))
                drained.count++;
        if (!queue->first && !queue->memory)
                drained.left = QUEUE_EMPTY;
        honest_unlock(queue, QUEUE_PUSHED);
        return drained;
}

static const struct queue_ops double_ops = {
        .name = "broken_double",
        .summary = "hands one request in 1,000 back twice",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = double_drain,
};

const struct queue_ops *const double_backends[] = {&double_ops, NULL};
