/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Its cgroup's quota holds it up for ten seconds in every 100 pushes, or so the cgroup says. */
#include "cgroup_tree.h"
#include "honest.h"

static enum queue_pushed throttles_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes % 100 == 0)
                cgroup_tree_write("cpu.stat", "throttled_usec", queue->pushes * 100000ul);
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops throttles_ops = {
        .name = "broken_throttles",
        .summary = "its cgroup's quota holds it up for 10 s in every 100 pushes",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = throttles_push,
        .drain = honest_drain,
};

const struct queue_ops *const throttles_backends[] = {&throttles_ops, NULL};
