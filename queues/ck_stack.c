/* needs: ck */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's stack, emptied in one go and turned round: a queue.
 *
 * Algorithm: as treiber: push with a compare-and-swap on the head, batch pop by exchanging it with
 * NULL. Source: ck_stack.h of Concurrency Kit (S. Bahra), push_upmc and batch_pop_upmc.
 *
 * Who beside whom: push_upmc wants each pushed entry to be unique and allows any number of
 * producers and consumers; here is one consumer. No single entry is popped: no ABA.
 *
 * Linearisation point: of push, the compare-and-swap that succeeds; of drain, the exchange, or the
 * load that saw NULL. Batches follow each other, and reversed each is in the order of its
 * compare-and-swaps: global FIFO.
 *
 * The edge is not seen: push doesn't say what it replaced. It leaves that in entry->next, but once
 * it has returned the request may already be handed back, and reading it would be a use after that.
 *
 * A producer that stops mid-push has not touched the head: it hides nothing, and nobody waits.
 */
#include <errno.h>
#include <stdlib.h>

#include <ck_stack.h>

#include "queue.h"

/* The library's entry takes the place of our node while the request is queued. */
_Static_assert(sizeof(ck_stack_entry_t) <= sizeof(struct queue_node), "node too small");
_Static_assert(alignof(ck_stack_entry_t) <= alignof(struct queue_node), "node misaligned");

struct ck_stack_queue {
        struct queue head;
        alignas(QUEUE_LINE) ck_stack_t stack;         /* producers and consumer */
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
};

static int ck_stack_create(struct queue **out, const struct queue_config *config);

static void ck_stack_destroy(struct queue *base)
{
        free(base);
}

/* Lock-free: a retry means that another push succeeded, or that the consumer took one that had. */
static enum queue_pushed ck_stack_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        ck_stack_push_upmc(&((struct ck_stack_queue *)base)->stack, (ck_stack_entry_t *)node);
        return QUEUE_PUSHED;
}

static struct queue_chain reverse(ck_stack_entry_t *newest)
{
        struct queue_chain chain = {NULL, NULL};
        while (newest) {
                ck_stack_entry_t *older = newest->next;
                queue_chain_prepend(&chain, (struct queue_node *)newest);
                newest = older;
        }
        return chain;
}

static struct queue_chain take_all(struct ck_stack_queue *queue)
{
        /* An idle drain leaves the line with the producers; by coherence the load can't miss a push
         * that happened before the drain. */
        if (!ck_pr_load_ptr(&queue->stack.head))
                return (struct queue_chain){NULL, NULL};
        return reverse(ck_stack_batch_pop_upmc(&queue->stack));
}

static struct queue_drained ck_stack_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct ck_stack_queue *queue = (struct ck_stack_queue *)base;
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        queue->taken = take_all(queue);
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

static const struct queue_ops ck_stack_ops = {
        .name = "ck_stack",
        .summary = "Concurrency Kit's stack, taken whole and reversed",
        .source = "Concurrency Kit, ck_stack.h",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE,
        .seen = QUEUE_SEEN_AS_X86,
        .create = ck_stack_create,
        .destroy = ck_stack_destroy,
        .push = ck_stack_push,
        .drain = ck_stack_drain,
};

static int ck_stack_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct ck_stack_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct ck_stack_queue){.head.traits = ck_stack_ops.traits};
        ck_stack_init(&queue->stack);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const ck_stack_backends[] = {&ck_stack_ops, NULL};
