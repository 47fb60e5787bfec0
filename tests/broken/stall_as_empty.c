/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * vyukov, but that a push under way reads as an empty queue, and the edge is claimed all the same:
 * a mistake that several implementations of that list have shipped with. And once more, with a
 * drain that owns up to nothing: it may stall, and does not say so.
 */
#include "../../queues/queue.h"

extern const struct queue_ops *const vyukov_backends[];

static int stall_as_empty_create(struct queue **out, const struct queue_config *config)
{
        return vyukov_backends[0]->create(out, config);
}

static void stall_as_empty_destroy(struct queue *queue)
{
        vyukov_backends[0]->destroy(queue);
}

static enum queue_pushed stall_as_empty_push(
        struct queue *queue, unsigned producer, struct queue_node *node)
{
        return vyukov_backends[0]->push(queue, producer, node);
}

static struct queue_drained stall_as_empty_drain(
        struct queue *queue, struct queue_node **out, unsigned max)
{
        struct queue_drained drained = vyukov_backends[0]->drain(queue, out, max);
        if (drained.left == QUEUE_STALLED)
                drained.left = QUEUE_EMPTY;
        return drained;
}

static int silent_stall_create(struct queue **out, const struct queue_config *config)
{
        int error = vyukov_backends[0]->create(out, config);
        if (!error)
                (*out)->traits &= ~(unsigned)QUEUE_MAY_STALL;
        return error;
}

static struct queue_drained silent_stall_drain(
        struct queue *queue, struct queue_node **out, unsigned max)
{
        struct queue_drained drained = vyukov_backends[0]->drain(queue, out, max);
        if (drained.left == QUEUE_STALLED)
                drained.left = QUEUE_MORE;
        return drained;
}

static const struct queue_ops stall_as_empty_ops = {
        .name = "broken_stall_as_empty",
        .summary = "reports STALLED as EMPTY",
        .source = "tests/broken",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE |
                  QUEUE_MAY_STALL,
        .create = stall_as_empty_create,
        .destroy = stall_as_empty_destroy,
        .push = stall_as_empty_push,
        .drain = stall_as_empty_drain,
};

static const struct queue_ops silent_stall_ops = {
        .name = "broken_silent_stall",
        .summary = "may stall, and says MORE",
        .source = "tests/broken",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE,
        .create = silent_stall_create,
        .destroy = stall_as_empty_destroy,
        .push = stall_as_empty_push,
        .drain = silent_stall_drain,
};

const struct queue_ops *const stall_as_empty_backends[] = {
        &stall_as_empty_ops, &silent_stall_ops, NULL};
