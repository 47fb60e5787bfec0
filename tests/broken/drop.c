/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Loses one request in a thousand. */
#include "honest.h"

static enum queue_pushed drop_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes % 1000 == 0)
                return honest_unlock(queue, QUEUE_PUSHED);
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops drop_ops = {
        .name = "broken_drop",
        .summary = "loses one request in 1,000",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = drop_push,
        .drain = honest_drain,
};

const struct queue_ops *const drop_backends[] = {&drop_ops, NULL};
