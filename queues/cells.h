/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Cells for backends that can't link the request itself: type-stable memory, one free list per
 * producer, given back by the consumer only when no push that began before the cell left the queue
 * still runs, so a slow producer can never meet a cell in its second life.
 *
 * Who beside whom: queue_cells_get by the producer that holds the index, everything else by the
 * consumer or while nobody is inside.
 *
 * A cell's way: free list (its owner's) → queue → limbo (the consumer's) → when BATCH have
 * gathered: barrier and snapshot of the guards → waiting → snapshot passed → its owner's `returned`
 * list → the owner takes all of it when its free list is empty.
 *
 * A producer that stops inside a push stops recycling, not the queue: memory then grows.
 */
#ifndef FANIN_CELLS_H
#define FANIN_CELLS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

enum { QUEUE_CELLS_BATCH = 1024, QUEUE_CELLS_CHUNK = 256 };

/* First member of a backend's cell. */
struct queue_cell {
        struct queue_cell *next;
        unsigned owner;
};

struct queue_cell_chunk {
        alignas(16) struct queue_cell_chunk *next;
};

struct queue_cell_lane {
        alignas(QUEUE_LINE) struct queue_cell *free; /* the producer's */
        struct queue_cell_chunk *chunks;             /* the producer's, for destroy */
        alignas(QUEUE_LINE) _Atomic(struct queue_cell *)
                returned; /* consumer pushes, owner takes all */
};

struct queue_cells {
        size_t cell_bytes;
        unsigned producers;
        const struct queue_guard *guards;
        uint64_t guards_of;
        struct queue_cell_lane *lanes;
        /* the consumer's */
        struct queue_cell *limbo, *waiting;
        unsigned limbo_count;
        unsigned *snapshot;
};

static inline int queue_cells_grow(struct queue_cells *cells, unsigned producer, size_t count)
{
        struct queue_cell_lane *lane = &cells->lanes[producer];
        size_t bytes = sizeof(struct queue_cell_chunk) + count * cells->cell_bytes;
        struct queue_cell_chunk *chunk = malloc(bytes);
        if (!chunk)
                return -ENOMEM;
        memset(chunk, 0, bytes);
        chunk->next = lane->chunks;
        lane->chunks = chunk;
        for (size_t i = count; i--;) {
                struct queue_cell *cell = (void *)((char *)(chunk + 1) + i * cells->cell_bytes);
                *cell = (struct queue_cell){.next = lane->free, .owner = producer};
                lane->free = cell;
        }
        return 0;
}

/* 0 or -ENOMEM. cell_bytes: a multiple of 16. */
static inline int queue_cells_create(
        struct queue_cells *cells, size_t cell_bytes, const struct queue_config *config)
{
        *cells = (struct queue_cells){
                .cell_bytes = cell_bytes,
                .producers = config->producers,
                .guards = config->guards,
                .guards_of = config->guards_of,
                .lanes = aligned_alloc(
                        QUEUE_LINE, config->producers * sizeof(struct queue_cell_lane)),
                .snapshot = calloc(config->producers, sizeof(unsigned)),
        };
        if (!cells->lanes || !cells->snapshot) {
                free(cells->lanes);
                free(cells->snapshot);
                return -ENOMEM;
        }
        memset(cells->lanes, 0, config->producers * sizeof(struct queue_cell_lane));
        return 0;
}

static inline void queue_cells_destroy(struct queue_cells *cells)
{
        for (unsigned i = 0; i < cells->producers; i++) {
                struct queue_cell_chunk *chunk = cells->lanes[i].chunks;
                while (chunk) {
                        struct queue_cell_chunk *next = chunk->next;
                        free(chunk);
                        chunk = next;
                }
        }
        free(cells->lanes);
        free(cells->snapshot);
}

/* For attach: so many cells at hand, and touched, whatever is in limbo. 0 or -ENOMEM. */
static inline int queue_cells_preallocate(
        struct queue_cells *cells, unsigned producer, size_t count)
{
        if (cells->lanes[producer].chunks)
                return 0; /* the index's previous owner did */
        return queue_cells_grow(cells, producer, count + (size_t)2 * QUEUE_CELLS_BATCH);
}

/* NULL: no memory. */
static inline struct queue_cell *queue_cells_get(struct queue_cells *cells, unsigned producer)
{
        struct queue_cell_lane *lane = &cells->lanes[producer];
        if (!lane->free)
                /* Acquire, with the release in queue_cells_return_run: the cell's links. */
                lane->free = atomic_exchange_explicit(&lane->returned, NULL, memory_order_acquire);
        if (!lane->free)
                queue_cells_grow(cells, producer, QUEUE_CELLS_CHUNK);
        struct queue_cell *cell = lane->free;
        if (cell)
                lane->free = cell->next;
        return cell;
}

/* Gives first … last, all of one owner, back to it. Only the owner's take-all competes: no ABA. */
static inline void queue_cells_return_run(
        struct queue_cells *cells, struct queue_cell *first, struct queue_cell *last)
{
        _Atomic(struct queue_cell *) *returned = &cells->lanes[first->owner].returned;
        struct queue_cell *old = atomic_load_explicit(returned, memory_order_relaxed);
        do
                last->next = old;
        /* Release, with the acquire in queue_cells_get. */
        while (!atomic_compare_exchange_weak_explicit(
                returned, &old, first, memory_order_release, memory_order_relaxed));
}

/* Once a drain: if the waiting batch's snapshot has passed, gives its cells back to their owners.
 */
static inline void queue_cells_collect(struct queue_cells *cells)
{
        if (!cells->waiting ||
                !queue_guard_passed(cells->guards, cells->producers, cells->snapshot))
                return;
        for (struct queue_cell *first = cells->waiting, *last, *next; first; first = next) {
                for (last = first; last->next && last->next->owner == first->owner;)
                        last = last->next;
                next = last->next;
                queue_cells_return_run(cells, first, last);
        }
        cells->waiting = NULL;
}

/* The cell has left the queue. */
static inline void queue_cells_put(struct queue_cells *cells, struct queue_cell *cell)
{
        cell->next = cells->limbo;
        cells->limbo = cell;
        if (++cells->limbo_count < QUEUE_CELLS_BATCH || cells->waiting)
                return;
        cells->waiting = cells->limbo;
        cells->limbo = NULL;
        cells->limbo_count = 0;
        queue_guard_barrier();
        queue_guard_snapshot(cells->guards, cells->producers, cells->guards_of, cells->snapshot);
}

#endif
