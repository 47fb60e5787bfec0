/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Its drain does not return, once it has handed back 5,000 requests. */
#include <unistd.h>

#include "honest.h"

static struct queue_drained hang_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        while (((struct honest *)base)->drained >= 5000)
                pause();
        return honest_drain(base, out, max);
}

static const struct queue_ops hang_ops = {
        .name = "broken_hang",
        .summary = "drain does not return after 5,000 requests",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = hang_drain,
};

const struct queue_ops *const hang_backends[] = {&hang_ops, NULL};
