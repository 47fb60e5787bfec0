/* needs: <boost/lockfree/queue.hpp> */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Boost's lock-free queue.
 *
 * Algorithm: Michael and Scott's list, its nodes from a free list that all threads share, both
 * guarded from ABA by a 16-bit tag in each pointer. Source: boost/lockfree/queue.hpp (T.
 * Blechmann).
 *
 * Who beside whom: anyone beside anyone. Nodes stay the queue's until it is destroyed; a request is
 * only pointed to. Preallocation fills the free list; past it, push allocates.
 *
 * Linearisation point: of push, the compare-and-swap that links the node. EMPTY is the pop that
 * found head and tail equal and no next node, which a completed push would have left there: E1.
 *
 * A producer that stops before the link has hidden nothing; after it, others move the tail for it.
 */
#include "peer.hpp"
#include <boost/align/aligned_allocator.hpp>
#include <boost/lockfree/queue.hpp>

struct boost_peer : peer {
        static constexpr unsigned promises =
                QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE;
        /* std::allocator forgets the nodes' alignment in clang 14's C++23. */
        using allocator = boost::alignment::aligned_allocator<peer_item, 64>;
        boost::lockfree::queue<peer_item, boost::lockfree::allocator<allocator>> items;

        explicit boost_peer(const queue_config &config)
            : items(config.preallocate ? config.backlog : 0)
        {
        }
        bool push(unsigned, queue_node *node)
        {
                return items.push(node);
        }
        unsigned take(queue_node **out, unsigned max)
        {
                return peer_take(out, max, [&](queue_node *&node) { return items.pop(node); });
        }
};

static constexpr queue_ops ops = peer_ops<boost_peer>("boost_lockfree",
        "Boost's lock-free queue; its nodes are 64 bytes, 80 with what malloc adds",
        "Boost, boost/lockfree/queue.hpp", 80);

extern "C" const queue_ops *const boost_lockfree_backends[] = {&ops, nullptr};
