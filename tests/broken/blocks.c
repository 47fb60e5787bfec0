/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Claims to be wait-free, and holds a lock while it stops mid-push. */
#include "honest.h"

static enum queue_pushed blocks_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        queue_step();
        return honest_unlock(queue, honest_append(queue, node));
}

static int blocks_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_WAIT_FREE);
}

static const struct queue_ops blocks_ops = {
        .name = "broken_blocks",
        .summary = "claims wait-freedom with a lock held",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_WAIT_FREE,
        .create = blocks_create,
        .destroy = honest_destroy,
        .push = blocks_push,
        .drain = honest_drain,
};

const struct queue_ops *const blocks_backends[] = {&blocks_ops, NULL};
