/* needs: ck */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's bounded ring, many producers and one consumer.
 *
 * Algorithm: a producer moves p_head with a compare-and-swap and so reserves a slot, writes it,
 * waits until p_tail has reached its slot, and moves p_tail past it. The consumer reads up to
 * p_tail. Source: ck_ring.h of Concurrency Kit (S. Bahra), enqueue_mpsc and dequeue_mpsc.
 *
 * Who beside whom: any number of producers beside one consumer.
 *
 * Linearisation point: of push, the store of p_tail; of FULL, the load of the consumer's position
 * that found every slot but one between it and p_head (one slot always stays free, and slots
 * reserved but not yet written count). EMPTY is the load of p_tail that equalled the consumer's
 * position. A push could learn the ring's size, but from a load before its claim: not an edge.
 *
 * A producer that stops between reserving and committing stops everyone: later producers spin on
 * p_tail behind it, without ever yielding, until the ring is full. Their pushes have not returned,
 * so nothing is hidden: EMPTY is right, and STALLED never needed. With more producers than CPUs one
 * preempted at the wrong place costs the others the rest of their time slices.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ck_ring.h>

#include "queue.h"

struct ck_ring_queue {
        struct queue head;
        alignas(QUEUE_LINE) ck_ring_t ring; /* its fields lie on lines of their own */
        alignas(QUEUE_LINE) ck_ring_buffer_t slots[];
};

static int ck_ring_create(struct queue **out, const struct queue_config *config);

static void ck_ring_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed ck_ring_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct ck_ring_queue *queue = (struct ck_ring_queue *)base;
        bool pushed = ck_ring_enqueue_mpsc(&queue->ring, queue->slots, node);
        return pushed ? QUEUE_PUSHED : QUEUE_FULL;
}

static struct queue_drained ck_ring_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct ck_ring_queue *queue = (struct ck_ring_queue *)base;
        for (unsigned count = 0; count < max; count++)
                if (!ck_ring_dequeue_mpsc(&queue->ring, queue->slots, &out[count]))
                        return (struct queue_drained){count, QUEUE_EMPTY};
        return (struct queue_drained){max, QUEUE_MORE};
}

enum { KEY_CAPACITY };

static const struct queue_key ck_ring_keys[] = {
        [KEY_CAPACITY] = {.name = "capacity",
                .min = 4,
                .max = 1 << 20,
                .otherwise = 1 << 16,
                .help = "slots, rounded up to a power of two; one of them always stays free"},
        {.name = NULL},
};

static const struct queue_ops ck_ring_ops = {
        .name = "ck_ring",
        .summary = "Concurrency Kit's bounded ring; producers commit in turn",
        .source = "Concurrency Kit, ck_ring.h",
        .keys = ck_ring_keys,
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_BOUNDED | QUEUE_SPINS,
        .cell_bytes = sizeof(ck_ring_buffer_t),
        .seen = QUEUE_SEEN_AS_X86,
        .create = ck_ring_create,
        .destroy = ck_ring_destroy,
        .push = ck_ring_push,
        .drain = ck_ring_drain,
};

static int ck_ring_create(struct queue **out, const struct queue_config *config)
{
        size_t slots = 1;
        while (slots < config->values[KEY_CAPACITY])
                slots *= 2;
        size_t bytes = slots * sizeof(ck_ring_buffer_t);
        size_t lines = (bytes + QUEUE_LINE - 1) / QUEUE_LINE;
        struct ck_ring_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue + lines * QUEUE_LINE);
        if (!queue)
                return -ENOMEM;
        *queue = (struct ck_ring_queue){.head.traits = ck_ring_ops.traits};
        ck_ring_init(&queue->ring, (unsigned)slots);
        if (config->preallocate)
                memset(queue->slots, 0, bytes); /* touches it */
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const ck_ring_backends[] = {&ck_ring_ops, NULL};
