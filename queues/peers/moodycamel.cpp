/* needs: <concurrentqueue/concurrentqueue.h> */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * moodycamel's ConcurrentQueue: sub-queues in blocks of 32, one per thread, found by a hash, or one
 * per token; emptied blocks are used again. Source: concurrentqueue.h (C. Desrochers).
 *
 * Who beside whom: anyone, a token by one thread at a time. By threads, an index's next owner may
 * push into another sub-queue: no order. By tokens there is: an index keeps its own till destroy,
 * since freeing it would hand its sub-queue, and what is left there, to another index.
 *
 * Linearisation point: of push, the store of its sub-queue's tail. EMPTY: each tail, as loaded in
 * turn, was the one consumer's head: no completed push is left, E1; no edge, no global order.
 *
 * A producer that stops mid-push hides nothing. One that stops in its thread's first push, growing
 * the hash, may keep others in theirs spinning: tokens alone are lock-free.
 */
#include "peer.hpp"
#include <concurrentqueue/concurrentqueue.h>
#include <optional>
#include <vector>

template <bool BY_TOKEN> struct moodycamel_peer : peer {
        static constexpr unsigned promises =
                BY_TOKEN ? QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE : QUEUE_SPINS | QUEUE_ALLOCATES;
        moodycamel::ConcurrentQueue<peer_item> items;
        moodycamel::ConsumerToken consumer{items};
        std::vector<std::optional<moodycamel::ProducerToken>> tokens; /* by index */

        explicit moodycamel_peer(const queue_config &config) /* 64: two blocks half used */
            : items(config.preallocate ? config.backlog + size_t{64} * config.producers : 0),
              tokens(BY_TOKEN ? config.producers : 0)
        {
        }
        bool attach(unsigned producer) requires BY_TOKEN
        {
                auto &token = tokens[producer];
                return (token && token->valid()) || token.emplace(items).valid();
        }
        bool push(unsigned producer, queue_node *node)
        {
                return BY_TOKEN ? items.enqueue(*tokens[producer], node) : items.enqueue(node);
        }
        unsigned take(queue_node **out, unsigned max)
        {
                return BY_TOKEN ? items.try_dequeue_bulk(consumer, out, max)
                                : items.try_dequeue_bulk(out, max);
        }
};

/* About 11 bytes: a block of 328 for 32, and its index. */
static constexpr queue_ops by_thread = peer_ops<moodycamel_peer<false>>("moodycamel",
        "moodycamel's ConcurrentQueue, a sub-queue per thread",
        "moodycamel, concurrentqueue.h as of 1.0.3", 11);
static constexpr queue_ops by_token = peer_ops<moodycamel_peer<true>>("moodycamel_token",
        "moodycamel's ConcurrentQueue, a sub-queue per token",
        "moodycamel, concurrentqueue.h as of 1.0.3", 11);

extern "C" const queue_ops *const moodycamel_backends[] = {&by_thread, &by_token, nullptr};
