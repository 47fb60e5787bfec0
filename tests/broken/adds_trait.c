/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Its create claims more than its table does. */
#include "honest.h"

static int adds_trait_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return honest_create_with(out, HONEST_TRAITS | QUEUE_WAIT_FREE);
}

static const struct queue_ops adds_trait_ops = {
        .name = "broken_adds_trait",
        .summary = "create adds a trait",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = adds_trait_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

const struct queue_ops *const adds_trait_backends[] = {&adds_trait_ops, NULL};
