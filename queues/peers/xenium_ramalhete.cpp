/* needs: <xenium/ramalhete_queue.hpp> <xenium/reclamation/generic_epoch_based.hpp> */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * xenium's queue of Ramalhete and Correia (FAAArrayQueue), its nodes reclaimed by epochs.
 *
 * Algorithm: a list of nodes of 512 places. A push claims a place by fetch-and-add and fills it by
 * compare-and-swap; a pop claims likewise and, after 1,000 looks at a place still unfilled, spoils
 * it, so that its push must claim another. Source: xenium, ramalhete_queue.hpp (M. Pöter).
 *
 * Who beside whom: anyone beside anyone; a thread joins the epochs in its first push and leaves
 * them as it ends. A push in 512 allocates a node, slab or not.
 *
 * Linearisation point: of push, the compare-and-swap that fills the place, or that links a node
 * with its first place filled. EMPTY is the pop that found no place claimed beyond its own and no
 * next node. The consumer alone takes and spoils, so a filled place is beyond: E1.
 *
 * A producer that stops with its place unfilled hides nothing, since the consumer spoils the place
 * and goes on; it does stop the freeing of nodes.
 */
#include "peer.hpp"
#include <array> /* which xenium forgets */
#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>

using epochs = xenium::reclamation::generic_epoch_based<>;

struct xenium_peer : peer {
        static constexpr unsigned promises =
                QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_ALLOCATES;
        xenium::ramalhete_queue<queue_node *, xenium::policy::reclaimer<epochs>> items;

        explicit xenium_peer(const queue_config &)
        {
        }
        bool push(unsigned, queue_node *node)
        {
                items.push(node);
                return true;
        }
        unsigned take(queue_node **out, unsigned max)
        {
                epochs::region_guard region; /* one for the batch */
                return peer_take(out, max, [&](queue_node *&node) { return items.try_pop(node); });
        }
};

/* About 9 bytes: a node of 4,136 for 512. */
static constexpr queue_ops ops = peer_ops<xenium_peer>("xenium_ramalhete",
        "xenium's queue of Ramalhete and Correia, FAAArrayQueue",
        "xenium, ramalhete_queue.hpp as of 0.0.2", 9);

extern "C" const queue_ops *const xenium_ramalhete_backends[] = {&ops, nullptr};
