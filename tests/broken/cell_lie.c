/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Two lies about memory: cells sixteen times as large as the table says; and, told to preallocate,
 * cells as large as it says, but allocated in the push.
 */
#include "allocates.h"

enum { SAID_BYTES = 16, TAKEN_BYTES = 256 };

static enum queue_pushed cell_lie_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        return allocates_push_with(base, producer, node, TAKEN_BYTES);
}

static enum queue_pushed lazy_cells_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        return allocates_push_with(base, producer, node, SAID_BYTES);
}

static const struct queue_ops cell_lie_ops = {
        .name = "broken_cell_lie",
        .summary = "cells are larger than cell_bytes",
        .source = "tests/broken",
        .traits = ALLOCATES_TRAITS,
        .cell_bytes = SAID_BYTES,
        .create = allocates_create,
        .destroy = allocates_destroy,
        .push = cell_lie_push,
        .drain = honest_drain,
};

static const struct queue_ops lazy_cells_ops = {
        .name = "broken_lazy_cells",
        .summary = "does not preallocate when told to",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .cell_bytes = SAID_BYTES,
        .create = honest_create,
        .destroy = allocates_destroy,
        .push = lazy_cells_push,
        .drain = honest_drain,
};

const struct queue_ops *const cell_lie_backends[] = {&cell_lie_ops, &lazy_cells_ops, NULL};
