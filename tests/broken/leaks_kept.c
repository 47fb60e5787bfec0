/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Says KEPT, and lets the request be seen before its flush. */
#include "honest.h"

static enum queue_pushed leaks_kept_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        honest_append(queue, node);
        return honest_unlock(queue, QUEUE_KEPT);
}

static bool leaks_kept_flush(struct queue *base, unsigned producer)
{
        (void)base;
        (void)producer;
        return true;
}

static int leaks_kept_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS & ~QUEUE_SEES_EDGE);
}

static const struct queue_ops leaks_kept_ops = {
        .name = "broken_leaks_kept",
        .summary = "shows kept requests before their flush",
        .source = "tests/broken",
        .traits = HONEST_TRAITS & ~QUEUE_SEES_EDGE,
        .create = leaks_kept_create,
        .destroy = honest_destroy,
        .push = leaks_kept_push,
        .flush = leaks_kept_flush,
        .drain = honest_drain,
};

const struct queue_ops *const leaks_kept_backends[] = {&leaks_kept_ops, NULL};
