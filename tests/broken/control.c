/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Not broken: what the mutants share, unchanged, the same with a capacity, and with a wait of its
 * own. If the contract fails these, the mutants prove nothing.
 */
#include "waits.h"

static const struct queue_key control_bounded_keys[] = {
        {.name = "capacity", .min = 1, .max = 2000, .otherwise = 500, .help = "requests"},
        {.name = NULL},
};

static enum queue_pushed control_bounded_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        queue_step(); /* nobody claims that it is lock-free */
        if (queue->pushes - queue->drained >= queue->capacity)
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
        int error = honest_create_with(out, HONEST_TRAITS | QUEUE_BOUNDED);
        if (!error)
                ((struct honest *)*out)->capacity = config->values[0];
        return error;
}

static const struct queue_ops control_bounded_ops = {
        .name = "control_bounded",
        .summary = "the same, with a capacity",
        .source = "tests/broken",
        .keys = control_bounded_keys,
        .traits = HONEST_TRAITS | QUEUE_BOUNDED,
        .create = control_bounded_create,
        .destroy = honest_destroy,
        .push = control_bounded_push,
        .drain = honest_drain,
};

static const struct queue_ops control_waits_ops = {
        .name = "control_waits",
        .summary = "the same, that its consumer waits in",
        .source = "tests/broken",
        .traits = WAITS_TRAITS,
        .create = waits_create,
        .destroy = waits_destroy,
        .push = waits_push,
        .drain = waits_drain,
        .wait = waits_wait,
        .interrupt = waits_interrupt,
};

const struct queue_ops *const control_backends[] = {
        &control_ops, &control_bounded_ops, &control_waits_ops, NULL};
