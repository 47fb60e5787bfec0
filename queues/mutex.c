/* wants: ck for ck_lock */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Lists under locks, the square lock × shards: which lock, and how many lists, each under its own.
 * `sharded_mutex` is the reference's ingress.
 *
 * Algorithm: an intrusive singly linked list per shard, appended to and emptied under the shard's
 * lock; locks.h has the locks. Source: the nim-ffi library's sharded ingress (its pull request
 * 101).
 *
 * Who beside whom: any number of producers and one consumer; all exclusion is the shard's lock.
 * The consumer's look at a list without the lock only skips shards that are empty.
 *
 * Linearisation point: of push, the store of the node into its list, under the lock; of a shard's
 * part in drain, taking the list under the lock, or the unlocked load that saw NULL. The next push
 * into that list finds NULL too: that is the edge.
 *
 * A producer that stops mid-push holds the shard's lock: the consumer and the shard's other
 * producers wait. Drain waits with them, where it could have said STALLED.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "locks.h"
#include "shards.h"

struct shard {
        alignas(QUEUE_LINE) union lock lock;
        struct queue_list list;
};

struct lock_queue {
        struct queue head;
        enum lock_kind kind;
        unsigned shard_count, by, consumer; /* consumer: its seat, after the producers' */
        struct seat *seats;
        alignas(QUEUE_LINE) struct queue_chain taken; /* the consumer's */
        struct shard shards[];
};

INLINE enum queue_pushed lists_push(struct lock_queue *queue, enum lock_kind kind,
        unsigned shard_count, unsigned producer, struct queue_node *node)
{
        struct shard *shard = &queue->shards[queue_shard_of(producer, shard_count, queue->by)];
        struct holder holder;
        holder.seats = queue->seats;
        holder.who = producer;
        atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
        lock_turn(true, kind, &shard->lock, &holder);
        bool first = queue_list_append(&shard->list, node, node);
        queue_step();
        lock_turn(false, kind, &shard->lock, &holder);
        return first ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
}

INLINE void lists_take(struct lock_queue *queue, enum lock_kind kind, struct shard *shard)
{
        if (!queue_list_peek(&shard->list))
                return;
        struct holder holder;
        holder.seats = queue->seats;
        holder.who = queue->consumer;
        lock_turn(true, kind, &shard->lock, &holder);
        struct queue_chain chain = queue_list_take(&shard->list);
        lock_turn(false, kind, &shard->lock, &holder);
        queue_chain_append(&queue->taken, chain.first, chain.last);
}

INLINE struct queue_drained lists_drain(struct lock_queue *queue, enum lock_kind kind,
        unsigned shard_count, struct queue_node **out, unsigned max)
{
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        for (unsigned i = 0; i < shard_count; i++)
                lists_take(queue, kind, &queue->shards[i]);
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : QUEUE_EMPTY};
}

/* The pairs: NAME_push and NAME_drain over a lock and a number of lists. */
#define LISTS(NAME, KIND, SHARDS)                                                                  \
        static enum queue_pushed NAME##_push(                                                      \
                struct queue *base, unsigned producer, struct queue_node *node)                    \
        {                                                                                          \
                struct lock_queue *queue = (struct lock_queue *)base;                              \
                return lists_push(queue, KIND, SHARDS, producer, node);                            \
        }                                                                                          \
        static struct queue_drained NAME##_drain(                                                  \
                struct queue *base, struct queue_node **out, unsigned max)                         \
        {                                                                                          \
                struct lock_queue *queue = (struct lock_queue *)base;                              \
                return lists_drain(queue, KIND, SHARDS, out, max);                                 \
        }

LISTS(mutex, MUTEX, 1)
LISTS(mutexes, MUTEX, queue->shard_count) /* ADAPTIVE too: only its creation differs */
LISTS(spin, SPIN, queue->shard_count)
#ifdef HAVE_CK
LISTS(ck_lock, queue->kind, queue->shard_count)
#endif

static void lists_destroy(struct queue *base)
{
        struct lock_queue *queue = (struct lock_queue *)base;
        for (unsigned i = 0; i < queue->shard_count; i++)
                lock_destroy(&queue->shards[i].lock, queue->kind);
        free(queue);
}

static int lists_create(struct queue **out, const struct queue_config *config, unsigned traits,
        enum lock_kind kind, unsigned shard_count, unsigned by)
{
        unsigned seats = kind == CLH ? config->producers + 1 + shard_count : 0;
        size_t bytes = sizeof(struct lock_queue) + shard_count * sizeof(struct shard);
        struct lock_queue *queue = aligned_alloc(QUEUE_LINE, bytes + seats * sizeof(struct seat));
        if (!queue)
                return -ENOMEM;
        memset(queue, 0, bytes);
        queue->head.traits = queue_shards_traits(traits, shard_count, by);
        queue->kind = kind;
        queue->by = by;
        queue->consumer = config->producers;
        queue->seats = kind == CLH ? (struct seat *)&queue->shards[shard_count] : NULL;
#ifdef HAVE_CK
        for (unsigned i = 0; i < seats; i++)
                queue->seats[i].mine = &queue->seats[i].node;
#endif
        while (queue->shard_count < shard_count) {
                unsigned i = queue->shard_count, seat = config->producers + 1 + i;
                int error = lock_create(&queue->shards[i].lock, kind, queue->seats, seat);
                if (error) {
                        lists_destroy(&queue->head);
                        return error;
                }
                queue->shard_count++;
        }
        *out = &queue->head;
        return 0;
}

enum {
        SHARDED_TRAITS = QUEUE_FIFO_PRODUCER | QUEUE_SEES_EDGE,
        TRAITS = SHARDED_TRAITS | QUEUE_FIFO_GLOBAL, /* with one shard */
        CK_TRAITS = TRAITS | QUEUE_SPINS,
};

enum { KEY_SHARDS, KEY_BY };

static const struct queue_key sharded_keys[] = {
        [KEY_SHARDS] = QUEUE_KEY_SHARDS(16),
        {.name = NULL},
};

static const struct queue_key keys[] = {
        [KEY_SHARDS] = QUEUE_KEY_SHARDS(1),
        [KEY_BY] = QUEUE_KEY_BY,
        {.name = NULL},
};

static int mutex_create(struct queue **out, const struct queue_config *config)
{
        return lists_create(out, config, TRAITS, MUTEX, 1, QUEUE_BY_PRODUCER);
}

static const struct queue_ops mutex_ops = {
        .name = "mutex",
        .summary = "one list under one mutex",
        .source = "textbook",
        .traits = TRAITS,
        .create = mutex_create,
        .destroy = lists_destroy,
        .push = mutex_push,
        .drain = mutex_drain,
};

static int sharded_create(struct queue **out, const struct queue_config *config)
{
        return lists_create(
                out, config, SHARDED_TRAITS, MUTEX, config->values[KEY_SHARDS], QUEUE_BY_PRODUCER);
}

static const struct queue_ops sharded_mutex_ops = {
        .name = "sharded_mutex",
        .summary = "N lists, each under its own mutex",
        .source = "nim-ffi pull request 101",
        .keys = sharded_keys,
        .traits = SHARDED_TRAITS,
        .create = sharded_create,
        .destroy = lists_destroy,
        .push = mutexes_push,
        .drain = mutexes_drain,
};

#ifdef HAVE_ADAPTIVE
static int adaptive_create(struct queue **out, const struct queue_config *config)
{
        const unsigned *values = config->values;
        return lists_create(out, config, TRAITS, ADAPTIVE, values[KEY_SHARDS], values[KEY_BY]);
}

static const struct queue_ops adaptive_ops = {
        .name = "adaptive",
        .summary = "lists under mutexes that spin a little before they sleep",
        .source = "pthread's PTHREAD_MUTEX_ADAPTIVE_NP, of glibc",
        .keys = keys,
        .traits = TRAITS,
        .create = adaptive_create,
        .destroy = lists_destroy,
        .push = mutexes_push,
        .drain = mutexes_drain,
};
#endif

static int spin_create(struct queue **out, const struct queue_config *config)
{
        const unsigned *values = config->values;
        return lists_create(out, config, TRAITS, SPIN, values[KEY_SHARDS], values[KEY_BY]);
}

static const struct queue_ops spin_ops = {
        .name = "spin",
        .summary = "lists under test-and-test-and-set spinlocks that yield",
        .source = "Rudolph and Segall, ISCA 1984",
        .keys = keys,
        .traits = TRAITS,
        .create = spin_create,
        .destroy = lists_destroy,
        .push = spin_push,
        .drain = spin_drain,
};

#ifdef HAVE_CK
enum { KEY_CK_KIND, KEY_CK_SHARDS, KEY_CK_BY };

static const struct queue_key ck_keys[] = {
        [KEY_CK_KIND] = {.name = "kind",
                .choices = "ticket|mcs|clh|fas|dec",
                .otherwise = TICKET,
                .help = "ck_spinlock's: in order of arrival ticket, mcs, clh; in none fas, dec"},
        [KEY_CK_SHARDS] = QUEUE_KEY_SHARDS(1),
        [KEY_CK_BY] = QUEUE_KEY_BY,
        {.name = NULL},
};

static int ck_lock_create(struct queue **out, const struct queue_config *config)
{
        const unsigned *values = config->values;
        return lists_create(out, config, CK_TRAITS, (enum lock_kind)values[KEY_CK_KIND],
                values[KEY_CK_SHARDS], values[KEY_CK_BY]);
}

static const struct queue_ops ck_lock_ops = {
        .name = "ck_lock",
        .summary = "lists under Concurrency Kit's spinlocks, which never yield",
        .source = "Concurrency Kit, ck_spinlock.h",
        .keys = ck_keys,
        .traits = CK_TRAITS,
        .seen = QUEUE_SEEN_AS_X86,
        .create = ck_lock_create,
        .destroy = lists_destroy,
        .push = ck_lock_push,
        .drain = ck_lock_drain,
};
#endif

const struct queue_ops *const mutex_backends[] = {
        &mutex_ops,
        &sharded_mutex_ops,
        &spin_ops,
#ifdef HAVE_ADAPTIVE
        &adaptive_ops,
#endif
#ifdef HAVE_CK
        &ck_lock_ops,
#endif
        NULL,
};
