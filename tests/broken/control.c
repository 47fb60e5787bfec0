/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Not broken: what the mutants share, unchanged, and the same with a capacity. If the contract
 * fails these, the mutants prove nothing.
 */
#include "honest.h"

enum { CONTROL_CAPACITY = 500 };

static enum queue_pushed control_bounded_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        queue_step(); /* nobody claims that it is lock-free */
        if (queue->pushes - queue->drained >= CONTROL_CAPACITY)
                return honest_unlock(queue, QUEUE_FULL);
        queue->pushes++;
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops control_ops = {
        .name = "control",
        .summary = "what the broken backends share, unbroken",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

static int control_bounded_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_BOUNDED);
}

static const struct queue_ops control_bounded_ops = {
        .name = "control_bounded",
        .summary = "the same, full at 500",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_BOUNDED,
        .create = control_bounded_create,
        .destroy = honest_destroy,
        .push = control_bounded_push,
        .drain = honest_drain,
};

const struct queue_ops *const control_backends[] = {&control_ops, &control_bounded_ops, NULL};
