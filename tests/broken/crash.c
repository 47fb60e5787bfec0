/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Crashes on its 5,000th push. */
#include <signal.h>

#include "honest.h"

static enum queue_pushed crash_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        if (++queue->pushes == 5000)
                raise(SIGSEGV);
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops crash_ops = {
        .name = "broken_crash",
        .summary = "crashes on its 5,000th push",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = crash_push,
        .drain = honest_drain,
};

const struct queue_ops *const crash_backends[] = {&crash_ops, NULL};
