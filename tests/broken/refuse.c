/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Can't be created: the kernel lacks what it needs. */
#include "honest.h"

static int refuse_create(struct queue **out, const struct queue_config *config)
{
        (void)out;
        (void)config;
        return -ENOSYS;
}

static const struct queue_ops refuse_ops = {
        .name = "broken_refuse",
        .summary = "create returns -ENOSYS",
        .source = "tests/broken",
        .traits = HONEST_TRAITS,
        .create = refuse_create,
        .destroy = honest_destroy,
        .push = honest_push,
        .drain = honest_drain,
};

const struct queue_ops *const refuse_backends[] = {&refuse_ops, NULL};
