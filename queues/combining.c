/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One list, on which one producer at a time works for the others: they announce what they want,
 * and don't fetch the list's cache lines.
 *
 * Algorithm: CC-Synch. A participant swaps its spare announcement into `tail`, writes its wish into
 * the one it got for it, links the two, and waits on the latter, which is its spare from then on.
 * Whoever is told to combine fulfils the wishes from its own on, up to `combine` of them, then
 * tells the next to. Source: P. Fatourou and N. D. Kallimanis, "Revisiting the combining
 * synchronization technique", PPoPP 2012.
 *
 * Who beside whom: any number of producers and one consumer, a participant like them; the list is
 * the combiner's. The consumer's look at it from outside only decides whether to take part.
 *
 * Linearisation point: of push, the combiner's store of the node into the list; of drain, the
 * combiner's taking of the list, or the consumer's load from outside that saw NULL. The next push
 * finds NULL too, and its producer is told so: that is the edge.
 *
 * A producer that stops between swap and link, or while it combines, makes the consumer and all
 * producers wait. Drain waits with them, where it could have said STALLED.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"

enum turn { WAIT, COMBINE, DONE };

struct announcement {
        alignas(QUEUE_LINE) _Atomic(struct announcement *) next; /* NULL: no wish is in it yet */
        _Atomic(enum turn) turn;
        struct queue_node *node;   /* the wish: append this; NULL, the consumer's: take all */
        bool first;                /* the answer to a producer */
        struct queue_chain answer; /* the answer to the consumer */
};

struct participant {
        alignas(QUEUE_LINE) struct announcement *spare;
};

struct combining_queue {
        struct queue head;
        unsigned combine, consumer; /* consumer: its index, after the producers' */
        struct participant *participants;
        alignas(QUEUE_LINE) _Atomic(struct announcement *) tail;
        alignas(QUEUE_LINE) struct queue_list list;   /* the combiner's */
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
        struct announcement announcements[];          /* one more than participants */
};

static inline void fulfil(struct combining_queue *queue, struct announcement *wish)
{
        if (wish->node)
                wish->first = queue_list_append(&queue->list, wish->node, wish->node);
        else
                wish->answer = queue_list_take(&queue->list);
}

static inline void pass(struct announcement *wish, enum turn turn)
{
        /* Release, with the acquire in take_part: the answer, or the list for the next combiner. */
        atomic_store_explicit(&wish->turn, turn, memory_order_release);
}

static void combine(struct combining_queue *queue, struct announcement *wish)
{
        for (unsigned i = 0; i < queue->combine; i++) {
                /* Acquire, with the release in take_part: the wish, and the request's content. */
                struct announcement *next = atomic_load_explicit(&wish->next, memory_order_acquire);
                if (!next)
                        break;
                fulfil(queue, wish);
                queue_step();
                pass(wish, DONE); /* after which it may be announced again, so next came before */
                wish = next;
        }
        /* Of who is waiting there, or will be. */
        pass(wish, COMBINE);
}

/* Until the wish is fulfilled; the announcement that has the answer, good until the participant's
 * next. */
static inline struct announcement *take_part(
        struct combining_queue *queue, unsigned who, struct queue_node *node)
{
        struct announcement *spare = queue->participants[who].spare;
        atomic_store_explicit(&spare->next, NULL, memory_order_relaxed);
        atomic_store_explicit(&spare->turn, WAIT, memory_order_relaxed);
        /* Release: whoever swaps after us writes into our spare after we cleared it. Acquire: we
         * write into what we get after take_part there cleared it. */
        struct announcement *mine =
                atomic_exchange_explicit(&queue->tail, spare, memory_order_acq_rel);
        queue->participants[who].spare = mine;
        mine->node = node;
        queue_step();
        /* Release, with the acquire in combine: the wish, and the request's content. */
        atomic_store_explicit(&mine->next, spare, memory_order_release);
        /* Acquire, with the release in pass. */
        enum turn turn;
        for (unsigned spins = 1;
                (turn = atomic_load_explicit(&mine->turn, memory_order_acquire)) == WAIT; spins++) {
                queue_pause(spins);
        }
        if (turn == COMBINE)
                combine(queue, mine);
        return mine;
}

static enum queue_pushed combining_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct combining_queue *queue = (struct combining_queue *)base;
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        return take_part(queue, producer, node)->first ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

static struct queue_drained combining_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct combining_queue *queue = (struct combining_queue *)base;
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        /* A push's store to the list, whoever combined, happens before the push returns, hence
         * before its producer's fence or barrier against a sleeper that looks here. */
        if (queue_list_peek(&queue->list))
                queue->taken = take_part(queue, queue->consumer, NULL)->answer;
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

static void combining_destroy(struct queue *base)
{
        struct combining_queue *queue = (struct combining_queue *)base;
        free(queue->participants);
        free(queue);
}

enum { TRAITS = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE };

enum { KEY_COMBINE };

static const struct queue_key combining_keys[] = {
        [KEY_COMBINE] = {.name = "combine",
                .min = 1,
                .max = 1024,
                .otherwise = 64,
                .help = "requests at most that a producer appends in one go, its own included"},
        {.name = NULL},
};

static int combining_create(struct queue **out, const struct queue_config *config)
{
        unsigned participants = config->producers + 1, announcements = participants + 1;
        size_t bytes = sizeof(struct combining_queue) + announcements * sizeof(struct announcement);
        struct combining_queue *queue = aligned_alloc(QUEUE_LINE, bytes);
        if (!queue)
                return -ENOMEM;
        memset(queue, 0, bytes);
        queue->participants = aligned_alloc(QUEUE_LINE, participants * sizeof(struct participant));
        if (!queue->participants) {
                free(queue);
                return -ENOMEM;
        }
        queue->head.traits = TRAITS;
        queue->combine = config->values[KEY_COMBINE];
        queue->consumer = config->producers;
        for (unsigned i = 0; i < participants; i++)
                queue->participants[i].spare = &queue->announcements[i];
        /* Nobody is at work: the first to come combines. */
        pass(&queue->announcements[participants], COMBINE);
        atomic_store_explicit(
                &queue->tail, &queue->announcements[participants], memory_order_relaxed);
        *out = &queue->head;
        return 0;
}

static const struct queue_ops combining_ops = {
        .name = "combining",
        .summary = "one list, one producer at a time appending for the others",
        .source = "CC-Synch, Fatourou and Kallimanis, PPoPP 2012",
        .keys = combining_keys,
        .traits = TRAITS,
        .create = combining_create,
        .destroy = combining_destroy,
        .push = combining_push,
        .drain = combining_drain,
};

const struct queue_ops *const combining_backends[] = {&combining_ops, NULL};
