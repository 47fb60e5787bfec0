/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Says EMPTY whenever it has handed back all that it was asked for. */
#include "honest.h"

static struct queue_drained early_empty_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct queue_drained drained = honest_drain(base, out, max);
        return (struct queue_drained){drained.count, QUEUE_EMPTY};
}

static const struct queue_ops early_empty_ops = {
        .name = "broken_early_empty",
        .summary = "says EMPTY with requests left",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = early_empty_drain,
};

const struct queue_ops *const early_empty_backends[] = {&early_empty_ops, NULL};
