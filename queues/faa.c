/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A bound: the least that one shared hotspot can cost. One fetch-and-add claims a slot of a ring no
 * smaller than a round; the slot's own turn says when it is free and when it is filled.
 *
 * Algorithm: the fetch-and-add bound of the queue literature, made to deliver. Slot i of n is free
 * for ticket i when its turn is i, filled at i + 1, and free for ticket i + n at i + n, set by the
 * consumer: no two tickets ever write a slot at once. Source: the "FAA" line of C. Yang and
 * J. Mellor-Crummey, PPoPP 2016; the turns after D. Vyukov's bounded queue.
 *
 * Who beside whom: any number of producers beside one consumer.
 *
 * Linearisation point: of push, the fetch-and-add; EMPTY is the load of `claimed` that equals the
 * consumer's position. A producer can't tell that its slot is the first without reading the
 * consumer's position, a second hotspot, so the edge is not seen.
 *
 * A producer that stops between claim and fill hides what comes after it: STALLED. With more
 * requests outstanding than the ring holds, a push waits for the consumer to free its slot:
 * wait-free only within the configured backlog.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

enum { CAPACITY_WHEN_UNKNOWN = 1 << 16 };

struct slot {
        _Atomic size_t turn;
        struct queue_node *node;
};

struct faa_queue {
        struct queue head;
        size_t mask; /* capacity - 1, capacity a power of two */
        alignas(QUEUE_LINE) _Atomic size_t claimed;
        alignas(QUEUE_LINE) size_t position; /* the consumer's */
        alignas(QUEUE_LINE) struct slot slots[];
};

static int faa_create(struct queue **out, const struct queue_config *config);

static void faa_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed faa_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct faa_queue *queue = (struct faa_queue *)base;
        size_t ticket = atomic_fetch_add_explicit(&queue->claimed, 1, memory_order_relaxed);
        struct slot *slot = &queue->slots[ticket & queue->mask];
        queue_step();
        /* Acquire, with the release in faa_drain: the slot was read before it is refilled. */
        for (unsigned spins = 1; atomic_load_explicit(&slot->turn, memory_order_acquire) != ticket;
                spins++) {
                queue_pause(spins);
        }
        slot->node = node;
        /* Release, with the acquire in faa_drain: the slot's and the request's content. */
        atomic_store_explicit(&slot->turn, ticket + 1, memory_order_release);
        return QUEUE_PUSHED;
}

static struct queue_drained faa_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct faa_queue *queue = (struct faa_queue *)base;
        for (unsigned count = 0; count < max; count++) {
                size_t position = queue->position;
                struct slot *slot = &queue->slots[position & queue->mask];
                /* Acquire, with the release in faa_push. */
                if (atomic_load_explicit(&slot->turn, memory_order_acquire) != position + 1) {
                        /* Relaxed: by coherence it can't miss a push that returned before. */
                        bool claimed = atomic_load_explicit(
                                               &queue->claimed, memory_order_relaxed) != position;
                        return (struct queue_drained){count, claimed ? QUEUE_STALLED : QUEUE_EMPTY};
                }
                out[count] = slot->node;
                /* Release, with the acquire in faa_push. */
                atomic_store_explicit(
                        &slot->turn, position + queue->mask + 1, memory_order_release);
                queue->position++;
        }
        return (struct queue_drained){max, QUEUE_MORE};
}

static const struct queue_ops faa_ops = {
        .name = "faa",
        .summary = "a bound: one fetch-and-add into a ring no smaller than a round",
        .source = "the FAA bound of Yang and Mellor-Crummey, PPoPP 2016",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_MAY_STALL,
        .cell_bytes = sizeof(struct slot),
        .create = faa_create,
        .destroy = faa_destroy,
        .push = faa_push,
        .drain = faa_drain,
};

static int faa_create(struct queue **out, const struct queue_config *config)
{
        size_t capacity = 64, wanted = config->backlog ? config->backlog : CAPACITY_WHEN_UNKNOWN;
        while (capacity < wanted)
                capacity *= 2;
        size_t bytes = sizeof(struct faa_queue) + capacity * sizeof(struct slot);
        struct faa_queue *queue = aligned_alloc(QUEUE_LINE, bytes);
        if (!queue)
                return -ENOMEM;
        memset(queue, 0, sizeof *queue);
        for (size_t i = 0; i < capacity; i++) /* touches the ring, as a bound should */
                queue->slots[i] = (struct slot){.turn = i};
        queue->head.traits = faa_ops.traits;
        queue->mask = capacity - 1;
        if (!config->backlog)
                queue->head.traits &= ~(unsigned)QUEUE_WAIT_FREE; /* the ring may fill up */
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const faa_backends[] = {&faa_ops, NULL};
