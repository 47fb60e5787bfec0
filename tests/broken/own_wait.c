/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Three that their consumer waits in: one forgets an interrupt that came before the wait, one does
 * not signal every push, and one hands back last what its wait took first.
 */
#include "waits.h"

static bool forgets_interrupt_wait(struct queue *base, int timeout_ms)
{
        struct waits *queue = (struct waits *)base;
        pthread_mutex_lock(&queue->lock);
        queue->interrupted = false;
        pthread_mutex_unlock(&queue->lock);
        return waits_wait(base, timeout_ms);
}

static enum queue_pushed sleeps_through_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        return waits_push_but((struct waits *)base, node, 16);
}

static struct queue_drained keeps_taken_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct waits *queue = (struct waits *)base;
        struct queue_drained drained = honest_drain(queue->list, out, max);
        if (!queue->taken)
                return drained;
        if (drained.count == max)
                return (struct queue_drained){drained.count, QUEUE_MORE};
        out[drained.count++] = queue->taken;
        queue->taken = NULL;
        return drained;
}

#define OWN_WAIT(NAME, SUMMARY, PUSH, DRAIN, WAIT)                                                 \
        static const struct queue_ops NAME##_ops = {                                               \
                .name = "broken_" #NAME,                                                           \
                .summary = (SUMMARY),                                                              \
                .source = "tests/broken",                                                          \
                .traits = WAITS_TRAITS,                                                            \
                .create = waits_create,                                                            \
                .destroy = waits_destroy,                                                          \
                .push = (PUSH),                                                                    \
                .drain = (DRAIN),                                                                  \
                .wait = (WAIT),                                                                    \
                .interrupt = waits_interrupt,                                                      \
        }

OWN_WAIT(forgets_interrupt, "an interrupt before the wait is lost", waits_push, waits_drain,
        forgets_interrupt_wait);
OWN_WAIT(sleeps_through, "one push in 16 wakes nobody", sleeps_through_push, waits_drain,
        waits_wait);
OWN_WAIT(keeps_taken, "what wait took comes last", waits_push, keeps_taken_drain, waits_wait);

const struct queue_ops *const own_wait_backends[] = {
        &forgets_interrupt_ops, &sleeps_through_ops, &keeps_taken_ops, NULL};
