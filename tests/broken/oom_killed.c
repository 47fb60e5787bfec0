/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Is killed on its 5,000th push, as the kernel's OOM killer does it, which counts in the cgroup. */
#include <signal.h>

#include "cgroup_tree.h"
#include "honest.h"

static enum queue_pushed oom_killed_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes == 5000) {
                cgroup_tree_write("memory.events", "oom_kill", 1);
                raise(SIGKILL);
        }
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops oom_killed_ops = {
        .name = "broken_oom_killed",
        .summary = "is killed for memory on its 5,000th push",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = oom_killed_push,
        .drain = honest_drain,
};

const struct queue_ops *const oom_killed_backends[] = {&oom_killed_ops, NULL};
