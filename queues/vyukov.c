/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The intrusive MPSC list with one exchange a push: `vyukov` is one, the reference's lock-free
 * ingress; `sharded_vyukov` is N of them.
 *
 * Algorithm: producers exchange the newest node into `newest`, then link the one before to it; the
 * consumer follows the links from `oldest`. A stub stands in for "no node", and is pushed again to
 * free the last real node of its role. Source: D. Vyukov, "Intrusive MPSC node-based queue"
 * (1024cores.net, 2010); the nim-ffi library's lock-free ingress (its pull request 98).
 *
 * Who beside whom: any number of producers beside one consumer, without locks.
 *
 * Linearisation point: of push, the exchange. A list is empty at the load of `newest` that saw the
 * stub; EMPTY is that of every list, each at its own moment.
 *
 * A producer that stops between exchange and link cuts its list: everything pushed after it stays
 * hidden, though those pushes returned; drain goes on to the other lists, and says STALLED until it
 * links. So the push is wait-free, but the queue as a whole is neither lock-free nor, were STALLED
 * called empty, linearizable.
 */
#include <errno.h>
#include <stdlib.h>

#include "shards.h"

struct list {
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) newest; /* producers and consumer */
        alignas(QUEUE_LINE) struct queue_node *oldest;           /* the consumer's */
        struct queue_node stub;
};

struct vyukov_queue {
        struct queue head;
        unsigned list_count, by;
        alignas(QUEUE_LINE) unsigned turn; /* the consumer's: the list that drain begins with */
        struct list lists[];
};

static inline struct queue_node *append(struct list *list, struct queue_node *node)
{
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        /* Release: whoever appends after us writes our `next` after we cleared it. Acquire: we
         * write the previous node's `next` after append there cleared it. */
        struct queue_node *previous =
                atomic_exchange_explicit(&list->newest, node, memory_order_acq_rel);
        queue_step();
        /* Release, with the acquire in take: the request's content is seen through the link. */
        atomic_store_explicit(&previous->next, node, memory_order_release);
        return previous;
}

static inline enum queue_pushed push(struct list *list, struct queue_node *node)
{
        /* The edge: EMPTY means that the stub was newest, so the first push after it finds the
         * stub. */
        return append(list, node) == &list->stub ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static inline struct queue_node *follow(struct queue_node *node)
{
        /* Acquire, with the release in append: the next request's content comes with its link. */
        return atomic_load_explicit(&node->next, memory_order_acquire);
}

/* One node, or NULL with *left saying why there is none. */
static inline struct queue_node *take(struct list *list, enum queue_left *left)
{
        struct queue_node *oldest = list->oldest;
        struct queue_node *next = follow(oldest);
        if (oldest == &list->stub) {
                if (!next) {
                        /* Relaxed: by coherence it can't miss a push that returned before. */
                        bool empty =
                                atomic_load_explicit(&list->newest, memory_order_relaxed) == oldest;
                        *left = empty ? QUEUE_EMPTY : QUEUE_STALLED;
                        return NULL;
                }
                list->oldest = oldest = next;
                next = follow(oldest);
        }
        if (!next) {
                /* The last node: a producer may hold it as `previous` until something follows it.
                 * If nothing was appended yet, the stub is what follows. */
                if (atomic_load_explicit(&list->newest, memory_order_relaxed) == oldest)
                        append(list, &list->stub);
                next = follow(oldest);
                if (!next) {
                        *left = QUEUE_STALLED;
                        return NULL;
                }
        }
        list->oldest = next;
        return oldest;
}

/*
 * The lists in turn, each until it is empty, stalled, or max is reached. The next drain goes on
 * where this one stopped; but a list that filled a drain alone gives its turn away, or its
 * producers could keep the consumer there for ever.
 */
static inline struct queue_drained drain(
        struct vyukov_queue *queue, unsigned list_count, struct queue_node **out, unsigned max)
{
        struct queue_drained drained = {0, QUEUE_EMPTY};
        for (unsigned i = 0; i < list_count; i++) {
                struct list *list = &queue->lists[list_count == 1 ? 0 : queue->turn];
                enum queue_left left = QUEUE_MORE;
                while (drained.count < max && (out[drained.count] = take(list, &left)))
                        drained.count++;
                if (left != QUEUE_EMPTY)
                        drained.left = left; /* MORE ends the drain */
                bool goes_on_here = left == QUEUE_MORE && i > 0;
                if (list_count > 1 && !goes_on_here && ++queue->turn == list_count)
                        queue->turn = 0;
                if (left == QUEUE_MORE)
                        break;
        }
        return drained;
}

static enum queue_pushed vyukov_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        return push(((struct vyukov_queue *)base)->lists, node);
}

static struct queue_drained vyukov_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        return drain((struct vyukov_queue *)base, 1, out, max);
}

static enum queue_pushed sharded_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct vyukov_queue *queue = (struct vyukov_queue *)base;
        return push(&queue->lists[queue_shard_of(producer, queue->list_count, queue->by)], node);
}

static struct queue_drained sharded_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct vyukov_queue *queue = (struct vyukov_queue *)base;
        return drain(queue, queue->list_count, out, max);
}

static void vyukov_destroy(struct queue *base)
{
        free(base);
}

enum {
        SHARDED_TRAITS = QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE | QUEUE_SEES_EDGE | QUEUE_MAY_STALL,
        VYUKOV_TRAITS = SHARDED_TRAITS | QUEUE_FIFO_GLOBAL,
};

static int create(struct queue **out, unsigned traits, unsigned list_count, unsigned by)
{
        size_t bytes = sizeof(struct vyukov_queue) + list_count * sizeof(struct list);
        struct vyukov_queue *queue = aligned_alloc(QUEUE_LINE, bytes);
        if (!queue)
                return -ENOMEM;
        *queue = (struct vyukov_queue){
                .head.traits = queue_shards_traits(traits, list_count, by),
                .list_count = list_count,
                .by = by,
        };
        for (unsigned i = 0; i < list_count; i++) {
                struct list *list = &queue->lists[i];
                *list = (struct list){.oldest = &list->stub};
                atomic_store_explicit(&list->newest, &list->stub, memory_order_relaxed);
        }
        *out = &queue->head;
        return 0;
}

static int vyukov_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        return create(out, VYUKOV_TRAITS, 1, QUEUE_BY_PRODUCER);
}

enum { KEY_SHARDS, KEY_BY };

static const struct queue_key sharded_keys[] = {
        [KEY_SHARDS] = QUEUE_KEY_SHARDS(16),
        [KEY_BY] = QUEUE_KEY_BY,
        {.name = NULL},
};

static int sharded_create(struct queue **out, const struct queue_config *config)
{
        return create(out, SHARDED_TRAITS, config->values[KEY_SHARDS], config->values[KEY_BY]);
}

static const struct queue_ops vyukov_ops = {
        .name = "vyukov",
        .summary = "one intrusive list, one exchange a push",
        .source = "D. Vyukov, 1024cores.net, 2010; nim-ffi pull request 98",
        .traits = VYUKOV_TRAITS,
        .create = vyukov_create,
        .destroy = vyukov_destroy,
        .push = vyukov_push,
        .drain = vyukov_drain,
};

static const struct queue_ops sharded_vyukov_ops = {
        .name = "sharded_vyukov",
        .summary = "N intrusive lists, one exchange a push",
        .source = "ours, N times vyukov",
        .keys = sharded_keys,
        .traits = SHARDED_TRAITS,
        .create = sharded_create,
        .destroy = vyukov_destroy,
        .push = sharded_push,
        .drain = sharded_drain,
};

const struct queue_ops *const vyukov_backends[] = {&vyukov_ops, &sharded_vyukov_ops, NULL};
