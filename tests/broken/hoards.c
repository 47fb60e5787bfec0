/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Each push keeps a MiB, and when there is none left, all that there is: the next submit finds no
 * memory. It gives up at a GB, for who has no limit. */
#include <string.h>

#include "allocates.h"

enum { MIB_MAX = 1000 };

static bool hoard(struct honest *queue, size_t bytes)
{
        struct queue_node *cell = malloc(bytes);
        if (!cell)
                return false;
        memset((void *)cell, 1, bytes);
        atomic_init(&cell->next, queue->memory);
        queue->memory = cell;
        return true;
}

static enum queue_pushed hoards_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct honest *queue = honest_lock(base);
        size_t bytes = 1 << 20;
        if (queue->pushes++ < MIB_MAX && !hoard(queue, bytes))
                for (; bytes >= sizeof *node; bytes /= 2)
                        while (hoard(queue, bytes))
                                ;
        return honest_unlock(queue, honest_append(queue, node));
}

static const struct queue_ops hoards_ops = {
        .name = "broken_hoards",
        .summary = "keeps a MiB with each push, until there is no memory",
        .source = "tests/broken",
        .traits = ALLOCATES_TRAITS,
        .create = allocates_create,
        .destroy = allocates_destroy,
        .push = hoards_push,
        .drain = honest_drain,
};

const struct queue_ops *const hoards_backends[] = {&hoards_ops, NULL};
