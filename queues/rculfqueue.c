/* needs: liburcu-bp */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * liburcu's lock-free queue under its own reclamation: read sections and call_rcu.
 *
 * Algorithm: Michael and Scott's list; a dummy is appended before the last node leaves, so that
 * there always is one. Source: userspace-rcu, urcu/rculfqueue.h (M. Desnoyers), inlined, as its
 * licence allows for MIT code that defines _LGPL_SOURCE; the flavour is urcu-bp, where a thread
 * need not register.
 *
 * Who beside whom: anyone beside anyone, inside a read section. A node that has left the queue may
 * be touched again only after a grace period, so requests travel in cells. Dummies are liburcu's:
 * allocated in drain (a failed malloc is its assert), freed by its call_rcu thread. That thread
 * makes fork subject to liburcu's rules.
 *
 * The flaw: enqueue links and then moves the tail, and dequeue doesn't look at the tail, so it can
 * hand out a node that the tail still points to. A push that begins after the grace period did,
 * and before the tail moves, finds the node there and may touch it after the grace period has
 * ended: a use after free. (crossbeam had the same, its issue 238.) move_tail_past closes the gap.
 *
 * Linearisation point: of push, the compare-and-swap that links the node. EMPTY is the dequeue that
 * found a dummy at the head without a next. Push doesn't say what it followed: no edge.
 *
 * A producer that stops between linking and moving the tail hides nothing: others move it for it.
 * It does stop every grace period: cells and dummies are not recycled meanwhile.
 */
#define _LGPL_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>

#include <urcu/rculfqueue.h>

#include "cells.h"
#include "queue.h"

struct cell {
        alignas(16) struct queue_cell base;
        struct cds_lfq_node_rcu node;
        struct queue_node *request;
};

struct rculfqueue_queue {
        struct queue head;
        size_t per_producer; /* cells to preallocate; 0: none */
        struct queue_cells cells;
        _Atomic size_t retired; /* dummies that liburcu's thread has not freed yet */
        alignas(QUEUE_LINE) struct cds_lfq_queue_rcu fifo;
};

static int rculfqueue_create(struct queue **out, const struct queue_config *config);

/* The end of a read section: with the acquire in reclaim_dummy. */
static void read_unlock(struct cds_lfq_queue_rcu *fifo)
{
        queue_hidden_release(fifo);
        urcu_bp_read_unlock();
}

/*
 * The node has left at the head. Afterwards a push that begins can't find it any more, and the
 * grace period that is about to start waits for all that could.
 *
 * The tail is at most one node behind the last, since enqueue appends only to the node that it
 * found there; and it never goes back, since whoever moves it from a node holds that node in its
 * section. The node has a successor, so the tail is at the node or has passed it.
 */
static void move_tail_past(struct cds_lfq_queue_rcu *fifo, struct cds_lfq_node_rcu *node)
{
        if (rcu_dereference(fifo->tail) == node)
                (void)uatomic_cmpxchg(&fifo->tail, node, rcu_dereference(node->next));
}

static struct cds_lfq_node_rcu_dummy *dummy_of(struct rcu_head *head)
{
        return caa_container_of(head, struct cds_lfq_node_rcu_dummy, head);
}

static struct rculfqueue_queue *queue_of(struct cds_lfq_node_rcu_dummy *dummy)
{
        return caa_container_of(dummy->q, struct rculfqueue_queue, fifo);
}

/* On liburcu's thread, after a grace period. */
static void reclaim_dummy(struct rcu_head *head)
{
        queue_hidden_acquire(head); /* with the release in retire_dummy */
        struct rculfqueue_queue *queue = queue_of(dummy_of(head));
        queue_hidden_acquire(&queue->fifo); /* with the release in read_unlock */
        free_dummy_cb(head);
        /* Release, with the acquire in wait_for_dummies: we are done with the queue. */
        atomic_fetch_sub_explicit(&queue->retired, 1, memory_order_release);
}

/* What the library calls in place of call_rcu, from dequeue. */
static void retire_dummy(struct rcu_head *head, void (*theirs)(struct rcu_head *))
{
        (void)theirs; /* reclaim_dummy calls it */
        struct cds_lfq_node_rcu_dummy *dummy = dummy_of(head);
        move_tail_past(dummy->q, &dummy->parent);
        atomic_fetch_add_explicit(&queue_of(dummy)->retired, 1, memory_order_relaxed);
        queue_hidden_release(head);
        urcu_bp_call_rcu(head, reclaim_dummy);
}

/* In place of the library's barrier, which waits for the callbacks of the whole process, and whose
 * own synchronisation ThreadSanitizer can't see. */
static void wait_for_dummies(struct rculfqueue_queue *queue)
{
        /* Acquire, with the release in reclaim_dummy. */
        for (unsigned spins = 1; atomic_load_explicit(&queue->retired, memory_order_acquire);
                spins++) {
                queue_pause(spins);
        }
}

static void rculfqueue_destroy(struct queue *base)
{
        struct rculfqueue_queue *queue = (struct rculfqueue_queue *)base;
        urcu_bp_read_lock();
        while (cds_lfq_dequeue_rcu(&queue->fifo))
                ; /* the library wants it empty */
        read_unlock(&queue->fifo);
        wait_for_dummies(queue);
        (void)cds_lfq_destroy_rcu(&queue->fifo);
        queue_cells_destroy(&queue->cells);
        free(queue);
}

static int rculfqueue_attach(struct queue *base, unsigned producer)
{
        struct rculfqueue_queue *queue = (struct rculfqueue_queue *)base;
        urcu_bp_register_thread(); /* it takes a lock, which the first push would */
        if (!queue->per_producer)
                return 0;
        return queue_cells_preallocate(&queue->cells, producer, queue->per_producer);
}

/*
 * Lock-free: enqueue retries only if another push has linked its node, or drain a dummy, which it
 * does once per emptying.
 *
 * The cell is this producer's again after the guards' grace period (cells.h), which begins after
 * move_tail_past: a push that could still hold it was inside its guard then.
 */
static enum queue_pushed rculfqueue_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct rculfqueue_queue *queue = (struct rculfqueue_queue *)base;
        struct cell *cell = (struct cell *)queue_cells_get(&queue->cells, producer);
        if (!cell)
                return QUEUE_FULL; /* no memory: back-pressure */
        cell->request = node;
        cds_lfq_node_init_rcu(&cell->node);
        urcu_bp_read_lock();
        cds_lfq_enqueue_rcu(&queue->fifo, &cell->node);
        read_unlock(&queue->fifo);
        return QUEUE_PUSHED;
}

static struct queue_drained rculfqueue_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct rculfqueue_queue *queue = (struct rculfqueue_queue *)base;
        struct queue_drained drained = {0, QUEUE_MORE};
        queue_cells_collect(&queue->cells);
        urcu_bp_read_lock();
        while (drained.count < max) {
                struct cds_lfq_node_rcu *node = cds_lfq_dequeue_rcu(&queue->fifo);
                if (!node) {
                        drained.left = QUEUE_EMPTY;
                        break;
                }
                move_tail_past(&queue->fifo, node);
                struct cell *cell = caa_container_of(node, struct cell, node);
                out[drained.count++] = cell->request;
                queue_cells_put(&queue->cells, &cell->base);
        }
        read_unlock(&queue->fifo);
        return drained;
}

static const struct queue_ops rculfqueue_ops = {
        .name = "rculfqueue",
        .summary = "liburcu's Michael-Scott queue with its reclamation",
        .source = "userspace-rcu, urcu/rculfqueue.h",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE,
        .cell_bytes = sizeof(struct cell),
        /* The list itself as x86, through tests/shim; the dummies' grace period only as told. */
        .seen = QUEUE_SEEN_AS_TOLD,
        .create = rculfqueue_create,
        .destroy = rculfqueue_destroy,
        .attach = rculfqueue_attach,
        .push = rculfqueue_push,
        .drain = rculfqueue_drain,
};

static int rculfqueue_create(struct queue **out, const struct queue_config *config)
{
        struct rculfqueue_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct rculfqueue_queue){.head.traits = rculfqueue_ops.traits};
        if (config->preallocate)
                queue->per_producer = config->backlog / config->producers;
        int error = queue_cells_create(&queue->cells, sizeof(struct cell), config);
        if (error) {
                free(queue);
                return error;
        }
        urcu_bp_get_default_call_rcu_data(); /* starts its thread, which the first drain would */
        cds_lfq_init_rcu(&queue->fifo, retire_dummy);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const rculfqueue_backends[] = {&rculfqueue_ops, NULL};
