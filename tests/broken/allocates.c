/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Claims to be intrusive, and allocates a cell for each request. */
#include "honest.h"

static enum queue_pushed allocates_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        struct queue_node *cell = malloc(sizeof *cell);
        if (cell) {
                atomic_init(&cell->next, queue->memory);
                queue->memory = cell;
        }
        return honest_unlock(queue, honest_append(queue, node));
}

static void allocates_destroy(struct queue *base)
{
        struct queue_node *cell = ((struct honest *)base)->memory;
        while (cell) {
                struct queue_node *next = atomic_load_explicit(&cell->next, memory_order_relaxed);
                free(cell);
                cell = next;
        }
        honest_destroy(base);
}

static const struct queue_ops allocates_ops = {
        .name = "broken_allocates",
        .summary = "allocates, though cell_bytes is 0",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = allocates_destroy,
        .push = allocates_push,
        .drain = honest_drain,
};

const struct queue_ops *const allocates_backends[] = {&allocates_ops, NULL};
