/* needs: tbb <oneapi/tbb/concurrent_queue.h> */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * oneTBB's concurrent queue.
 *
 * Algorithm: a push takes a ticket by fetch-and-add; ticket t is the next place of inner queue 3t
 * mod 8, a list of pages of 32, and is filled when that queue's earlier tickets are. Source:
 * oneTBB, oneapi/tbb/concurrent_queue.h.
 *
 * Who beside whom: anyone beside anyone. The first push into each page allocates it, slab or not;
 * the last pop frees it. Where that allocation fails push is FULL, but the library's inner queue is
 * broken: its other pushes may be FULL from then on, and a pop may crash.
 *
 * Linearisation point: of push, the fetch-and-add of the ticket. EMPTY is the pop that found no
 * ticket dealt beyond those popped, so no completed push is left: E1.
 *
 * A producer that stops with its ticket unfilled stops later pushes into its inner queue, and the
 * consumer: the pop of that ticket waits inside the library, in pauses and yields. Nothing is
 * passed over, so drain never needs to say STALLED.
 */
#include "peer.hpp"
#include <oneapi/tbb/concurrent_queue.h>

struct tbb_peer : peer {
        static constexpr unsigned promises =
                QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_ALLOCATES;
        tbb::concurrent_queue<peer_item> items;

        explicit tbb_peer(const queue_config &)
        {
        }
        bool push(unsigned, queue_node *node)
        {
                items.push(peer_item(node));
                return true;
        }
        unsigned take(queue_node **out, unsigned max)
        {
                peer_item item;
                return peer_take(out, max, [&](queue_node *&node) {
                        bool popped = items.try_pop(item);
                        node = item;
                        return popped;
                });
        }
};

/* About 12 bytes: a page of 272, aligned to lines of its own, for 32. */
static constexpr queue_ops ops =
        peer_ops<tbb_peer>("tbb", "oneTBB's concurrent queue: eight inner queues in turn",
                "oneTBB, oneapi/tbb/concurrent_queue.h", 12);

extern "C" const queue_ops *const tbb_backends[] = {&ops, nullptr};
