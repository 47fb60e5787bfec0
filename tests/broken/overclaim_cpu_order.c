/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Two lists, one of the CPU that the queue was created on and one of all others, and a claim to
 * per-producer FIFO, which a producer breaks that is moved.
 */
#include <sched.h>

#include "pair.h"

enum { CPU_TRAITS = QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE };

static int overclaim_cpu_order_create(struct queue **out, const struct queue_config *config)
{
        int error = pair_create_with(out, config, CPU_TRAITS);
        if (!error)
                ((struct pair *)*out)->home = sched_getcpu();
        return error;
}

static enum queue_pushed overclaim_cpu_order_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct pair *pair = (struct pair *)base;
        return honest_push(pair->lists[sched_getcpu() != pair->home], producer, node);
}

static const struct queue_ops overclaim_cpu_order_ops = {
        .name = "broken_overclaim_cpu_order",
        .summary = "lists by CPU that claim per-producer FIFO",
        .source = "tests/broken",
        .traits = CPU_TRAITS,
        .create = overclaim_cpu_order_create,
        .destroy = pair_destroy,
        .push = overclaim_cpu_order_push,
        .drain = pair_drain,
};

const struct queue_ops *const overclaim_cpu_order_backends[] = {&overclaim_cpu_order_ops, NULL};
