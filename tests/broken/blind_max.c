/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Hands back one request more than it was asked for. */
#include "honest.h"

static struct queue_drained blind_max_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        return honest_drain(base, out, max + 1);
}

static const struct queue_ops blind_max_ops = {
        .name = "broken_blind_max",
        .summary = "drains one request too many",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = honest_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = blind_max_drain,
};

const struct queue_ops *const blind_max_backends[] = {&blind_max_ops, NULL};
