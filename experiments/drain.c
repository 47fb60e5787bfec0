/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Times passes of drain alone, pushes left out. */
#include "drain.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "settings.h"

enum { WARM_PASSES = 300 };

struct lone {
        const struct queue_ops *ops;
        struct queue *queue;
        struct queue_guard *guards;
        struct queue_node *nodes; /* a batch, or one a producer */
        unsigned active, batch;
};

static void push(struct lone *lone, unsigned producer, struct queue_node *node)
{
        queue_guard_enter(&lone->guards[producer]);
        lone->ops->push(lone->queue, producer, node);
        queue_guard_leave(&lone->guards[producer]);
}

static void drain_to_empty(struct lone *lone)
{
        struct queue_node *out[256];
        while (lone->ops->drain(lone->queue, out, 256).left != QUEUE_EMPTY)
                ;
}

static uint64_t pass_ns(struct lone *lone)
{
        for (unsigned i = 0; i < lone->batch; i++)
                push(lone, lone->active, &lone->nodes[i]);
        uint64_t start_ns = clock_wall_ns();
        drain_to_empty(lone);
        return clock_wall_ns() - start_ns;
}

double drain_pass_ns(const struct queue_ops *ops, unsigned attached, unsigned batch)
{
        unsigned node_count = attached > batch ? attached : batch;
        size_t guards_bytes = attached * sizeof(struct queue_guard);
        struct lone lone = {.ops = ops,
                .active = attached - 1,
                .batch = batch,
                .guards = aligned_alloc(QUEUE_LINE, guards_bytes),
                .nodes = must_allocate(node_count * sizeof(struct queue_node))};
        if (!lone.guards)
                die("no memory for %u producers", attached);
        memset(lone.guards, 0, guards_bytes);
        struct queue_config config = {.producers = attached,
                .backlog = (size_t)attached * DRAIN_BATCH_MAX,
                .preallocate = true,
                .guards = lone.guards};
        for (unsigned i = 0; ops->keys && ops->keys[i].name; i++)
                config.values[i] = ops->keys[i].otherwise;
        queue_guard_init();
        bool made = !ops->create(&lone.queue, &config);
        for (unsigned i = 0; made && ops->attach && i < attached; i++)
                made = !ops->attach(lone.queue, i);
        if (!made)
                die("%s could not be made for %u producers", ops->name, attached);
        for (unsigned i = 0; i < attached; i++)
                push(&lone, i, &lone.nodes[i]);
        drain_to_empty(&lone);
        uint64_t ns = 0;
        for (unsigned i = 0; i < WARM_PASSES; i++)
                pass_ns(&lone);
        for (unsigned i = 0; i < DRAIN_PASSES; i++)
                ns += pass_ns(&lone);
        for (unsigned i = 0; ops->detach && i < attached; i++)
                ops->detach(lone.queue, i);
        ops->destroy(lone.queue);
        free(lone.guards);
        free(lone.nodes);
        return (double)ns / DRAIN_PASSES;
}
