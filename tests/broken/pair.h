/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Two honest lists, drained one after the other: what breaks an order that is promised across both.
 */
#ifndef FANIN_TESTS_PAIR_H
#define FANIN_TESTS_PAIR_H

#include "honest.h"

struct pair {
        struct queue head;
        struct queue *lists[2];
        int home;            /* a CPU, of who shards by it */
        unsigned attached[]; /* how often, by producer */
};

static inline void pair_destroy(struct queue *base)
{
        struct pair *pair = (struct pair *)base;
        for (unsigned i = 0; i < 2; i++)
                if (pair->lists[i])
                        honest_destroy(pair->lists[i]);
        free(pair);
}

static inline int pair_create_with(
        struct queue **out, const struct queue_config *config, unsigned traits)
{
        struct pair *pair = calloc(1, sizeof *pair + config->producers * sizeof *pair->attached);
        if (!pair)
                return -ENOMEM;
        pair->head.traits = traits;
        for (unsigned i = 0; i < 2; i++) {
                int error = honest_create(&pair->lists[i], config);
                if (error) {
                        pair_destroy(&pair->head);
                        return error;
                }
        }
        *out = &pair->head;
        return 0;
}

static inline struct queue_drained pair_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct pair *pair = (struct pair *)base;
        struct queue_drained first = honest_drain(pair->lists[0], out, max);
        struct queue_drained second =
                honest_drain(pair->lists[1], out + first.count, max - first.count);
        bool empty = first.left == QUEUE_EMPTY && second.left == QUEUE_EMPTY;
        return (struct queue_drained){first.count + second.count, empty ? QUEUE_EMPTY : QUEUE_MORE};
}

#endif
