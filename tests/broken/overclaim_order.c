/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Two lists, the index's parity choosing, and a claim to global FIFO. */
#include "pair.h"

static int overclaim_order_create(struct queue **out, const struct queue_config *config)
{
        return pair_create_with(out, config, HONEST_TRAITS);
}

static enum queue_pushed overclaim_order_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        return honest_push(((struct pair *)base)->lists[producer % 2], producer, node);
}

static const struct queue_ops overclaim_order_ops = {
        .name = "broken_overclaim_order",
        .summary = "two lists that claim to be global FIFO",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = overclaim_order_create,
        .destroy = pair_destroy,
        .push = overclaim_order_push,
        .drain = pair_drain,
};

const struct queue_ops *const overclaim_order_backends[] = {&overclaim_order_ops, NULL};
