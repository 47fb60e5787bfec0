/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A list per producer, and a summary of those with work.
 *
 * Algorithm: a producer links the request before its lane's `newest`, by a compare-and-swap that
 * only the consumer competes with. Who finds NULL sets the lane's bit in the summary, and has seen
 * the edge. The consumer takes the bits, then the lists that they name, and reverses each. Source:
 * ours; R. K. Treiber's stack, once per producer.
 *
 * Who beside whom: any number of producers, each in its own lane, beside one consumer. A thread's
 * index finds the lane that the index's last owner left, and what is still in it comes first. There
 * is no producer without a lane: the engine refuses it. No producer writes a line that another one
 * writes, but for the summary, on the edge: a consumer that keeps up makes each push set a bit in a
 * word that 64 producers share. (lane_rings has neither that nor the read-modify-write.)
 *
 * Linearisation point: of push, the compare-and-swap, or, of the first in an empty list, the
 * setting of its bit. EMPTY is the drain that found no bit and had handed out what it took.
 *
 * A producer that stops mid-push hides its own request and nothing else: nobody else pushes behind
 * it.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"
#include "summary.h"

struct lane {
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) newest;
};

struct lanes_queue {
        struct queue head;
        struct lane *lanes;
        struct queue_summary summary;
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
};

static int lanes_create(struct queue **out, const struct queue_config *config);

static void lanes_destroy(struct queue *base)
{
        struct lanes_queue *queue = (struct lanes_queue *)base;
        free(queue->lanes);
        queue_summary_destroy(&queue->summary);
        free(queue);
}

static enum queue_pushed lanes_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        struct lanes_queue *queue = (struct lanes_queue *)base;
        struct lane *lane = &queue->lanes[producer];
        struct queue_node *old = atomic_load_explicit(&lane->newest, memory_order_relaxed);
        /* At most twice: only the consumer competes, and it leaves NULL alone. */
        do {
                atomic_store_explicit(&node->next, old, memory_order_relaxed);
                queue_step();
                /* Release, with the acquire in take_list: the request's content and link. */
        } while (!atomic_compare_exchange_strong_explicit(
                &lane->newest, &old, node, memory_order_release, memory_order_relaxed));
        if (old)
                return QUEUE_PUSHED;
        queue_step();
        queue_summary_set(&queue->summary, producer);
        return QUEUE_PUSHED_FIRST;
}

/* Takes the lane's list, oldest first. */
static void take_list(struct lane *lane, struct queue_chain *taken)
{
        /* Acquire, with the release in lanes_push. */
        struct queue_chain chain = queue_chain_reversed(
                atomic_exchange_explicit(&lane->newest, NULL, memory_order_acquire));
        if (chain.first)
                queue_chain_append(taken, chain.first, chain.last);
}

/*
 * E1 and E2. Each list begins with a push that found NULL and then sets the bit. The consumer
 * clears the bit, then takes the list, which includes that push and all that found it there. So a
 * list without its bit is empty, or its first push has not returned: that one will set the bit and
 * return PUSHED_FIRST. All who push behind it meanwhile would be the same producer: nobody.
 */
static struct queue_drained lanes_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct lanes_queue *queue = (struct lanes_queue *)base;
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        for (unsigned word = 0; word < queue->summary.word_count; word++) {
                uint64_t bits = queue_summary_take(&queue->summary, word);
                for (unsigned i = word * QUEUE_SUMMARY_WORD; bits; i++, bits >>= 1)
                        if (bits & 1)
                                take_list(&queue->lanes[i], &queue->taken);
        }
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

static const struct queue_ops lanes_ops = {
        .name = "lanes",
        .summary = "a list per producer, and a summary of those with work",
        .source = "ours; a Treiber stack per producer",
        .traits = QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE,
        .create = lanes_create,
        .destroy = lanes_destroy,
        .push = lanes_push,
        .drain = lanes_drain,
};

static int lanes_create(struct queue **out, const struct queue_config *config)
{
        struct lanes_queue *queue = queue_lines(sizeof *queue);
        if (!queue)
                return -ENOMEM;
        queue->head.traits = lanes_ops.traits;
        queue->lanes = queue_lines(config->producers * sizeof *queue->lanes);
        if (!queue_summary_create(&queue->summary, config->producers) || !queue->lanes) {
                lanes_destroy(&queue->head);
                return -ENOMEM;
        }
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const lanes_backends[] = {&lanes_ops, NULL};
