/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Does not say, one time in fifty, that its list was empty. */
#include "honest.h"

static enum queue_pushed lost_edge_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        enum queue_pushed pushed = honest_append(queue, node);
        if (pushed == QUEUE_PUSHED_FIRST && ++queue->pushes % 50 == 0)
                pushed = QUEUE_PUSHED;
        return honest_unlock(queue, pushed);
}

static const struct queue_ops lost_edge_ops = {
        .name = "broken_lost_edge",
        .summary = "says PUSHED for PUSHED_FIRST, one time in 50",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = lost_edge_push,
        .drain = honest_drain,
};

const struct queue_ops *const lost_edge_backends[] = {&lost_edge_ops, NULL};
