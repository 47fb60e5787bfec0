/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* An index changes lists with each thread that takes it over, so that a successor's requests may
 * overtake its predecessor's. */
#include "pair.h"

enum { SUCCESSOR_TRAITS = QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE };

static int successor_create(struct queue **out, const struct queue_config *config)
{
        return pair_create_with(out, config, SUCCESSOR_TRAITS);
}

static int successor_attach(struct queue *base, unsigned producer)
{
        ((struct pair *)base)->attached[producer]++;
        return 0;
}

static enum queue_pushed successor_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct pair *pair = (struct pair *)base;
        return honest_push(pair->lists[pair->attached[producer] % 2], producer, node);
}

static const struct queue_ops successor_ops = {
        .name = "broken_successor",
        .summary = "loses order when an index changes hands",
        .source = "tests/broken",
        .traits = SUCCESSOR_TRAITS,
        .create = successor_create,
        .destroy = pair_destroy,
        .attach = successor_attach,
        .push = successor_push,
        .drain = pair_drain,
};

const struct queue_ops *const successor_backends[] = {&successor_ops, NULL};
