/* needs: liburcu */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * liburcu's wait-free concurrent queue, through its non-blocking dequeue: the blocking one hides a
 * 10 ms sleep when it meets a stopped producer, where the contract wants STALLED.
 *
 * Algorithm: the same shape as vyukov (exchange the tail, then link), the head node serving as
 * dummy. Source: userspace-rcu, urcu/wfcqueue.h (M. Desnoyers, L. Jiangshan), inlined, as its
 * licence allows for MIT code that defines _LGPL_SOURCE.
 *
 * Who beside whom: enqueue needs no exclusion; dequeue excludes dequeue, and here is one consumer.
 *
 * Linearisation point: of push, the exchange of the tail; EMPTY is the load that found the tail at
 * the dummy, so the next enqueue finds the dummy too and says so: that is the edge.
 *
 * A producer that stops between exchange and link hides what comes after it: WOULDBLOCK, STALLED.
 */
#define _LGPL_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <urcu/wfcqueue.h>

#include "queue.h"

/* The library's node takes the place of ours while the request is queued. */
_Static_assert(sizeof(struct cds_wfcq_node) <= sizeof(struct queue_node), "node too small");
_Static_assert(alignof(struct cds_wfcq_node) <= alignof(struct queue_node), "node misaligned");

struct wfcqueue_queue {
        struct queue head;
        alignas(QUEUE_LINE) struct __cds_wfcq_head oldest; /* the consumer's; no lock needed */
        alignas(QUEUE_LINE) struct cds_wfcq_tail newest;
};

static int wfcqueue_create(struct queue **out, const struct queue_config *config);

static void wfcqueue_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed wfcqueue_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct wfcqueue_queue *queue = (struct wfcqueue_queue *)base;
        struct cds_wfcq_node *theirs = (struct cds_wfcq_node *)node;
        cds_wfcq_node_init(theirs);
        bool was_empty = !cds_wfcq_enqueue(&queue->oldest, &queue->newest, theirs);
        return was_empty ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static struct queue_drained wfcqueue_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct wfcqueue_queue *queue = (struct wfcqueue_queue *)base;
        for (unsigned count = 0; count < max; count++) {
                struct cds_wfcq_node *node =
                        __cds_wfcq_dequeue_nonblocking(&queue->oldest, &queue->newest);
                if (!node)
                        return (struct queue_drained){count, QUEUE_EMPTY};
                if (node == CDS_WFCQ_WOULDBLOCK)
                        return (struct queue_drained){count, QUEUE_STALLED};
                out[count] = (struct queue_node *)node;
        }
        return (struct queue_drained){max, QUEUE_MORE};
}

static const struct queue_ops wfcqueue_ops = {
        .name = "wfcqueue",
        .summary = "liburcu's wait-free concurrent queue",
        .source = "userspace-rcu, urcu/wfcqueue.h",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE |
                  QUEUE_MAY_STALL,
        .seen = QUEUE_SEEN_AS_X86,
        .create = wfcqueue_create,
        .destroy = wfcqueue_destroy,
        .push = wfcqueue_push,
        .drain = wfcqueue_drain,
};

static int wfcqueue_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct wfcqueue_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct wfcqueue_queue){.head.traits = wfcqueue_ops.traits};
        __cds_wfcq_init(&queue->oldest, &queue->newest);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const wfcqueue_backends[] = {&wfcqueue_ops, NULL};
