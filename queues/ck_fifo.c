/* needs: ck */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's MPMC queue, with one consumer.
 *
 * Algorithm: Michael and Scott's list with a generation beside each pointer, changed by a double-
 * word compare-and-swap. Source: ck_fifo.h of Concurrency Kit (S. Bahra).
 *
 * Who beside whom: anyone beside anyone. Entries are cells of our own, since a dequeued entry stays
 * behind as the list's stub. ck_fifo_mpmc_enqueue resets the generation in the entry it links, so
 * an entry may be linked again only when no enqueue that could still hold its first life is
 * running: queue_cells waits for exactly that.
 *
 * Linearisation point: of push, the compare-and-swap that links the entry. EMPTY is the dequeue
 * whose head equalled the tail and had no next. A pusher can't tell whether the entry it followed
 * had been dequeued already, so the edge is not seen.
 *
 * A producer that stops between linking and moving the tail hides nothing: others move it for it.
 * It does stop the recycling of entries.
 */
#include <errno.h>
#include <stdlib.h>

#include <ck_fifo.h>

#include "cells.h"
#include "queue.h"

struct cell {
        struct queue_cell base;
        ck_fifo_mpmc_entry_t entry;
};

struct ck_fifo_queue {
        struct queue head;
        size_t per_producer; /* cells to preallocate; 0: none */
        struct queue_cells cells;
        struct cell stub; /* the first; recycled to nobody */
        alignas(QUEUE_LINE) ck_fifo_mpmc_t fifo;
};

static int ck_fifo_create(struct queue **out, const struct queue_config *config);

static void ck_fifo_destroy(struct queue *base)
{
        struct ck_fifo_queue *queue = (struct ck_fifo_queue *)base;
        queue_cells_destroy(&queue->cells);
        free(queue);
}

static int ck_fifo_attach(struct queue *base, unsigned producer)
{
        struct ck_fifo_queue *queue = (struct ck_fifo_queue *)base;
        if (!queue->per_producer)
                return 0;
        return queue_cells_preallocate(&queue->cells, producer, queue->per_producer);
}

static enum queue_pushed ck_fifo_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct ck_fifo_queue *queue = (struct ck_fifo_queue *)base;
        struct cell *cell = (struct cell *)queue_cells_get(&queue->cells, producer);
        if (!cell)
                return QUEUE_FULL; /* no memory: back-pressure */
        ck_fifo_mpmc_enqueue(&queue->fifo, &cell->entry, node);
        return QUEUE_PUSHED;
}

static struct queue_drained ck_fifo_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct ck_fifo_queue *queue = (struct ck_fifo_queue *)base;
        queue_cells_collect(&queue->cells);
        for (unsigned count = 0; count < max; count++) {
                ck_fifo_mpmc_entry_t *garbage;
                if (!ck_fifo_mpmc_dequeue(&queue->fifo, &out[count], &garbage))
                        return (struct queue_drained){count, QUEUE_EMPTY};
                struct cell *cell = (struct cell *)((char *)garbage - offsetof(struct cell, entry));
                if (cell != &queue->stub)
                        queue_cells_put(&queue->cells, &cell->base);
        }
        return (struct queue_drained){max, QUEUE_MORE};
}

static const struct queue_ops ck_fifo_ops = {
        .name = "ck_fifo",
        .summary = "Concurrency Kit's Michael-Scott MPMC queue",
        .source = "Concurrency Kit, ck_fifo.h",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE,
        .cell_bytes = sizeof(struct cell),
        .seen = QUEUE_SEEN_AS_X86,
        .create = ck_fifo_create,
        .destroy = ck_fifo_destroy,
        .attach = ck_fifo_attach,
        .push = ck_fifo_push,
        .drain = ck_fifo_drain,
};

static int ck_fifo_create(struct queue **out, const struct queue_config *config)
{
        struct ck_fifo_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct ck_fifo_queue){.head.traits = ck_fifo_ops.traits};
        if (config->preallocate)
                queue->per_producer = config->backlog / config->producers;
        int error = queue_cells_create(&queue->cells, sizeof(struct cell), config);
        if (error) {
                free(queue);
                return error;
        }
        ck_fifo_mpmc_init(&queue->fifo, &queue->stub.entry);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const ck_fifo_backends[] = {&ck_fifo_ops, NULL};
