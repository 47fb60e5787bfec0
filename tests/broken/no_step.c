/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Two claim that they may stall: one has no queue_step to show it at, the other never does. */
#include "honest.h"

static int no_step_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_MAY_STALL);
}

static enum queue_pushed claims_stall_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        queue_step();
        return honest_push(base, producer, node);
}

static const struct queue_ops no_step_ops = {
        .name = "broken_no_step",
        .summary = "claims MAY_STALL, never stalls",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_MAY_STALL,
        .create = no_step_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

static const struct queue_ops claims_stall_ops = {
        .name = "broken_claims_stall",
        .summary = "claims MAY_STALL, has a step, never stalls",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_MAY_STALL,
        .create = no_step_create,
        .destroy = honest_destroy,
        .push = claims_stall_push,
        .drain = honest_drain,
};

const struct queue_ops *const no_step_backends[] = {&no_step_ops, &claims_stall_ops, NULL};
