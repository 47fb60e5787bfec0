/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What the C++ peers share: the hooks of queue.h around a library's queue of pointers. A peer is a
 * class derived from `peer` with
 *
 *     static constexpr unsigned promises;             its traits
 *     explicit that_peer(const queue_config &);
 *     bool push(unsigned producer, queue_node *);     false: no memory
 *     unsigned take(queue_node **out, unsigned max);  fewer than max: it found the queue empty
 *     bool attach(unsigned producer);                 optional; false: no memory
 *
 * No exception leaves a hook: a lack of memory is -ENOMEM, and from push QUEUE_FULL. Included
 * before the library: what is measured has the library's assertions off, the tests' builds have
 * them on.
 */
#ifndef FANIN_PEER_HPP
#define FANIN_PEER_HPP

#if !defined(QUEUE_STEP) && !defined(NDEBUG)
#define NDEBUG
#endif

#include <cerrno>
#include <exception>

#include "../queue.h"

/* What a library holds. It copies it into place inside its push, mostly between its first write and
 * its last: the one spot in there where a test can park a producer. */
struct peer_item {
        queue_node *node;

        peer_item(queue_node *pushed = nullptr) noexcept : node(pushed)
        {
        }
        peer_item(const peer_item &other) noexcept : node(other.node)
        {
                queue_step();
        }
        peer_item &operator=(const peer_item &) noexcept = default;
        operator queue_node *() const noexcept
        {
                return node;
        }
};

/* take, by single pops. */
template <class Pop> unsigned peer_take(queue_node **out, unsigned max, Pop pop)
{
        unsigned count = 0;
        while (count < max && pop(out[count]))
                count++;
        return count;
}

struct peer : queue {
        peer()
        {
                traits = 0; /* create's to set */
                instead = nullptr;
        }
};

template <class Peer> int peer_create(queue **out, const queue_config *config)
{
        try {
                *out = new Peer(*config);
                (*out)->traits = Peer::promises;
                return 0;
        } catch (const std::exception &) {
                return -ENOMEM;
        }
}

template <class Peer> void peer_destroy(queue *base)
{
        delete static_cast<Peer *>(base);
}

template <class Peer> int peer_attach(queue *base, unsigned producer)
{
        try {
                return static_cast<Peer *>(base)->attach(producer) ? 0 : -ENOMEM;
        } catch (const std::exception &) {
                return -ENOMEM;
        }
}

template <class Peer> queue_pushed peer_push(queue *base, unsigned producer, queue_node *node)
{
        try {
                return static_cast<Peer *>(base)->push(producer, node) ? QUEUE_PUSHED : QUEUE_FULL;
        } catch (const std::exception &) {
                return QUEUE_FULL;
        }
}

template <class Peer> queue_drained peer_drain(queue *base, queue_node **out, unsigned max)
{
        unsigned count = max ? static_cast<Peer *>(base)->take(out, max) : 0;
        return {count, count < max ? QUEUE_EMPTY : QUEUE_MORE};
}

template <class Peer>
constexpr queue_ops peer_ops(
        const char *name, const char *summary, const char *source, unsigned cell_bytes)
{
        queue_ops ops = {.name = name,
                .summary = summary,
                .source = source,
                .traits = Peer::promises,
                .cell_bytes = cell_bytes,
                .seen = QUEUE_UNSEEN,
                .create = peer_create<Peer>,
                .destroy = peer_destroy<Peer>,
                .push = peer_push<Peer>,
                .drain = peer_drain<Peer>};
        if constexpr (requires(Peer & peer) { peer.attach(0u); })
                ops.attach = peer_attach<Peer>;
        return ops;
}

#endif
