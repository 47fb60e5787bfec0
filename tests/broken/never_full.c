/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Claims to be bounded, and never says FULL. */
#include "honest.h"

static int never_full_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_BOUNDED);
}

static const struct queue_ops never_full_ops = {
        .name = "broken_never_full",
        .summary = "claims BOUNDED, is never full",
        .source = "tests/broken",
        .traits = HONEST_TRAITS | QUEUE_BOUNDED,
        .create = never_full_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

const struct queue_ops *const never_full_backends[] = {&never_full_ops, NULL};
