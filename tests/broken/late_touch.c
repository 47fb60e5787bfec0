/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Its destroy unlinks the requests still queued, which may be gone. */
#include "honest.h"

static void late_touch_destroy(struct queue *base)
{
        struct queue_node *node = ((struct honest *)base)->first;
        if (node)
                atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        honest_destroy(base);
}

static const struct queue_ops late_touch_ops = {
        .name = "broken_late_touch",
        .summary = "destroy touches a queued request",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = late_touch_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

const struct queue_ops *const late_touch_backends[] = {&late_touch_ops, NULL};
