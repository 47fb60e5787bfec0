/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* An honest list whose pushes allocate something besides, until destroy. */
#ifndef FANIN_TESTS_ALLOCATES_H
#define FANIN_TESTS_ALLOCATES_H

#include "honest.h"

enum { ALLOCATES_TRAITS = HONEST_TRAITS | QUEUE_ALLOCATES };

static inline enum queue_pushed allocates_push_with(
        struct queue *base, unsigned producer, struct queue_node *node, size_t bytes)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        struct queue_node *cell = malloc(bytes);
        if (cell) {
                atomic_init(&cell->next, queue->memory);
                queue->memory = cell;
        }
        return honest_unlock(queue, honest_append(queue, node));
}

static inline void allocates_destroy(struct queue *base)
{
        struct queue_node *cell = ((struct honest *)base)->memory;
        while (cell) {
                struct queue_node *next = atomic_load_explicit(&cell->next, memory_order_relaxed);
                free(cell);
                cell = next;
        }
        honest_destroy(base);
}

static inline int allocates_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, ALLOCATES_TRAITS);
}

#endif
