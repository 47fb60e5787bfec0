/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Says FULL at 500 requests, and has changed the request by then. */
#include "honest.h"

static enum queue_pushed marks_full_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes - queue->drained <= 500)
                return honest_unlock(queue, honest_append(queue, node));
        queue->pushes--;
        atomic_store_explicit(&node->next, queue->last, memory_order_relaxed);
        return honest_unlock(queue, QUEUE_FULL);
}

static int marks_full_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_BOUNDED);
}

static const struct queue_ops marks_full_ops = {
        .name = "broken_marks_full",
        .summary = "changes the request that it refuses",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_BOUNDED,
        .create = marks_full_create,
        .destroy = honest_destroy,
        .push = marks_full_push,
        .drain = honest_drain,
};

const struct queue_ops *const marks_full_backends[] = {&marks_full_ops, NULL};
