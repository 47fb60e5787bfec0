/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Claims that it may stall, and has no queue_step to show it at. */
#include "honest.h"

static int no_step_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_MAY_STALL);
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

const struct queue_ops *const no_step_backends[] = {&no_step_ops, NULL};
