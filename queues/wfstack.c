/* needs: liburcu */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * liburcu's wait-free stack, emptied in one go and turned round: a queue. It is walked with the
 * library's non-blocking step: the blocking one hides a 10 ms sleep when it meets a stopped
 * producer, where the contract wants STALLED.
 *
 * Algorithm: push exchanges the head, then links the new node to the one before; pop-all exchanges
 * the head with the end marker. Source: userspace-rcu, urcu/wfstack.h (M. Desnoyers), inlined, as
 * its licence allows for MIT code that defines _LGPL_SOURCE.
 *
 * Who beside whom: push and pop-all need no exclusion; the walk is the one consumer's.
 *
 * Linearisation point: of push, the exchange of the head; of drain, pop-all's exchange, or the load
 * that saw the end marker. Batches follow each other, and reversed each is in the order of its
 * exchanges: global FIFO. EMPTY leaves the end marker, and only the next push finds it and says so:
 * that is the edge.
 *
 * A producer that stops between exchange and link cuts the batch in two, and the older part can't
 * be reached. Since the oldest must come first, nothing of the batch is handed out before the
 * walk has met its end: STALLED, and the walk goes on from there in the next drain.
 */
#define _LGPL_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <urcu/wfstack.h>

#include "queue.h"

/* The library's node takes the place of ours while the request is queued. */
_Static_assert(sizeof(struct cds_wfs_node) <= sizeof(struct queue_node), "node too small");
_Static_assert(alignof(struct cds_wfs_node) <= alignof(struct queue_node), "node misaligned");

struct wfstack_queue {
        struct queue head;
        alignas(QUEUE_LINE) struct __cds_wfs_stack stack; /* producers and consumer; no lock */
        /* The consumer's: */
        alignas(QUEUE_LINE) struct cds_wfs_node *walking; /* next of the batch; NULL: no batch */
        struct queue_chain reversed;                      /* what the walk has passed of it */
        struct queue_chain taken;                         /* of the batch before */
};

static int wfstack_create(struct queue **out, const struct queue_config *config);

static void wfstack_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed wfstack_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct wfstack_queue *queue = (struct wfstack_queue *)base;
        struct cds_wfs_node *theirs = (struct cds_wfs_node *)node;
        cds_wfs_node_init(theirs);
        bool was_empty = !cds_wfs_push(&queue->stack, theirs);
        return was_empty ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

/* False: the stack is empty. */
static bool take_all(struct wfstack_queue *queue)
{
        /* An idle drain leaves the line with the producers; by coherence the load can't miss a push
         * that happened before the drain. */
        if (cds_wfs_empty(&queue->stack))
                return false;
        queue->walking = cds_wfs_first(__cds_wfs_pop_all(&queue->stack));
        return true;
}

/* From the newest on; false: it met a push that has not linked yet. */
static bool reverse(struct wfstack_queue *queue)
{
        while (queue->walking) {
                struct cds_wfs_node *older = cds_wfs_next_nonblocking(queue->walking);
                if (older == CDS_WFS_WOULDBLOCK)
                        return false;
                queue_chain_prepend(&queue->reversed, (struct queue_node *)queue->walking);
                queue->walking = older;
        }
        queue->taken = queue->reversed;
        queue->reversed.first = NULL;
        return true;
}

static struct queue_drained wfstack_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct wfstack_queue *queue = (struct wfstack_queue *)base;
        unsigned count = 0;
        /* Whether this drain has looked at the stack: a batch that an earlier one took says nothing
         * of what was pushed since. */
        bool looked = false;
        for (;;) {
                count += queue_chain_take(&queue->taken, out + count, max - count);
                if (count == max)
                        return (struct queue_drained){count, QUEUE_MORE};
                if (!queue->walking) {
                        if (looked || !take_all(queue))
                                return (struct queue_drained){count, QUEUE_EMPTY};
                        looked = true;
                }
                if (!reverse(queue))
                        return (struct queue_drained){count, QUEUE_STALLED};
        }
}

static const struct queue_ops wfstack_ops = {
        .name = "wfstack",
        .summary = "liburcu's wait-free stack, taken whole and reversed",
        .source = "userspace-rcu, urcu/wfstack.h",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE |
                  QUEUE_MAY_STALL,
        .seen = QUEUE_SEEN_AS_X86,
        .create = wfstack_create,
        .destroy = wfstack_destroy,
        .push = wfstack_push,
        .drain = wfstack_drain,
};

static int wfstack_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct wfstack_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct wfstack_queue){.head.traits = wfstack_ops.traits};
        __cds_wfs_init(&queue->stack);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const wfstack_backends[] = {&wfstack_ops, NULL};
