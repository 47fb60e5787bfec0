/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Claims to be intrusive, and allocates a cell for each request. */
#include "allocates.h"

static enum queue_pushed allocates_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        return allocates_push_with(base, producer, node, sizeof(struct queue_node));
}

static const struct queue_ops allocates_ops = {
        .name = "broken_allocates",
        .summary = "allocates, though cell_bytes is 0",
        .source = "tests/broken",
        .traits = ALLOCATES_TRAITS,
        .create = allocates_create,
        .destroy = allocates_destroy,
        .push = allocates_push,
        .drain = honest_drain,
};

const struct queue_ops *const allocates_backends[] = {&allocates_ops, NULL};
