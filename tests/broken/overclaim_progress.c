/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* A stack whose push tries again for as long as others win, and claims to be wait-free. */
#include <errno.h>
#include <stdlib.h>

#include "../../queues/queue.h"

struct stack {
        struct queue head;
        _Atomic(struct queue_node *) top;
        struct queue_chain taken;
};

static void overclaim_progress_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed overclaim_progress_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct stack *stack = (struct stack *)base;
        struct queue_node *top = atomic_load_explicit(&stack->top, memory_order_relaxed);
        do {
                atomic_store_explicit(&node->next, top, memory_order_relaxed);
                queue_step();
        } while (!atomic_compare_exchange_weak(&stack->top, &top, node));
        return top ? QUEUE_PUSHED : QUEUE_PUSHED_FIRST;
}

static struct queue_drained overclaim_progress_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct stack *stack = (struct stack *)base;
        if (!stack->taken.first) {
                struct queue_node *node = atomic_exchange(&stack->top, NULL), *later = NULL;
                stack->taken.last = node;
                while (node) {
                        struct queue_node *earlier =
                                atomic_load_explicit(&node->next, memory_order_relaxed);
                        atomic_store_explicit(&node->next, later, memory_order_relaxed);
                        later = node;
                        node = earlier;
                }
                stack->taken.first = later;
        }
        unsigned count = queue_chain_take(&stack->taken, out, max);
        return (struct queue_drained){count, count || !max ? QUEUE_MORE : QUEUE_EMPTY};
}

enum {
        STACK_TRAITS = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE,
};

static int overclaim_progress_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct stack *stack = calloc(1, sizeof *stack);
        if (!stack)
                return -ENOMEM;
        stack->head.traits = STACK_TRAITS;
        *out = &stack->head;
        return 0;
}

static const struct queue_ops overclaim_progress_ops = {
        .name = "broken_overclaim_progress",
        .summary = "a lock-free stack that claims to be wait-free",
        .source = "tests/broken",
        .traits = STACK_TRAITS,
        .create = overclaim_progress_create,
        .destroy = overclaim_progress_destroy,
        .push = overclaim_progress_push,
        .drain = overclaim_progress_drain,
};

const struct queue_ops *const overclaim_progress_backends[] = {&overclaim_progress_ops, NULL};
