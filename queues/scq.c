/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Nikolaev's bounded queue: two rings of indices into one array of n requests, each index in one of
 * the rings or with a thread on its way between them. Single-word compare-and-swap.
 *
 * Algorithm: a ring has 2n entries {cycle, safe, index}; a fetch-and-add gives out positions, and a
 * position's turn round the ring is its cycle. Who puts takes a position and writes its index if
 * the entry is empty and of an older cycle; else it takes another position. Who takes at a position
 * and finds no index there moves the entry to its own cycle, so that the late one can't use it, or,
 * if an index of an older turn is still in it, marks it unsafe; it gives up when the tail isn't
 * ahead, or when the threshold, which each put sets to 3n - 1 and each miss lowers, is below 0.
 * Push: index from `unused`, request into the array, index into `filled`; drain the other way.
 * Source: R. Nikolaev, SCQ, DISC 2019, arXiv 1908.04511.
 *
 * What the one consumer makes simpler. It alone takes from `filled`: its head is its own, it never
 * goes past the tail, and nothing is ever unsafe there, since an index of an older turn it would
 * have taken. It alone puts into `unused`: the tail there is its own, and it catches up with the
 * takers itself (when its entry turns out used), where the paper's takers push the tail ahead.
 *
 * Who beside whom: any number of producers, at most n, beside one consumer.
 *
 * Linearisation point: of push, the compare-and-swap into `filled`, positions being given out and
 * taken in turn; if one push returned before another began, its position is the smaller. EMPTY is
 * the load of the tail that isn't ahead, or of a threshold below 0. FULL likewise, in `unused`. A
 * push doesn't know whether its request is the first: no edge.
 *
 * Why a threshold below 0 is EMPTY: every position from the consumer's up to the tail is held by
 * another index (it is filled or being filled; a push whose position the consumer has passed needs
 * a new one), so they are at most n. From the moment a completed push saw the threshold at 3n - 1,
 * or set it, there are at most n misses before the consumer is at its position. Should it not see a
 * miss that lowers the threshold, that miss and all looks after it come after its filling, since
 * these accesses are sequentially consistent.
 *
 * A producer that stops mid-push hides nothing: its position is passed over, after a few looks that
 * say MORE; the index that it holds is missing from the capacity meanwhile. And pushes that keep
 * losing their position to the consumer: without a put the consumer misses at most 3n times, then
 * leaves them alone. So push is lock-free.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"

enum { LOOKS_BEFORE_MISS = 4 };

/* Neighbouring positions lie so many entries apart, on lines of their own. */
enum { SPREAD_BITS = 4 };
_Static_assert(sizeof(uint64_t) << SPREAD_BITS == QUEUE_LINE, "positions share lines");

struct ring {
        alignas(QUEUE_LINE) _Atomic uint64_t head;
        alignas(QUEUE_LINE) _Atomic uint64_t tail;
        alignas(QUEUE_LINE) _Atomic int64_t threshold;
        unsigned bits; /* of an index: log2 of the entries */
        _Atomic uint64_t *entries;
};

struct scq_queue {
        struct queue head;
        struct queue_node **nodes;          /* n, by index */
        struct ring filled;                 /* head: the consumer's */
        struct ring unused;                 /* tail: the consumer's */
        alignas(QUEUE_LINE) unsigned looks; /* the consumer's, at one unfilled position */
        alignas(QUEUE_LINE) _Atomic uint64_t entries[]; /* filled's, unused's; then nodes */
};

/* An entry, from the top: the cycle; 1 if safe; the index, all ones for none. */
static inline uint64_t none_of(const struct ring *ring)
{
        return (UINT64_C(1) << ring->bits) - 1;
}

static inline uint64_t safe_of(const struct ring *ring)
{
        return UINT64_C(1) << ring->bits;
}

static inline uint64_t index_of(const struct ring *ring, uint64_t entry)
{
        return entry & none_of(ring);
}

static inline uint64_t cycle_of(const struct ring *ring, uint64_t entry)
{
        return entry >> ring->bits >> 1;
}

static inline uint64_t turn_of(const struct ring *ring, uint64_t position)
{
        return position >> ring->bits;
}

static inline uint64_t entry_at(const struct ring *ring, uint64_t position, uint64_t safe_and_index)
{
        return turn_of(ring, position) << ring->bits << 1 | safe_and_index;
}

/* A bijection on numbers of so many bits. */
static inline uint64_t spread(uint64_t number, unsigned bits)
{
        uint64_t mask = (UINT64_C(1) << bits) - 1;
        return (number << SPREAD_BITS | (number & mask) >> (bits - SPREAD_BITS)) & mask;
}

static inline _Atomic uint64_t *slot_of(const struct ring *ring, uint64_t position)
{
        return &ring->entries[spread(position, ring->bits)];
}

static inline int64_t threshold_max(const struct ring *ring)
{
        return (int64_t)3 * (INT64_C(1) << (ring->bits - 1)) - 1;
}

/*
 * Puts the index at a position that the caller has from the tail. False: it needs another one.
 *
 * All seq_cst: who takes lowers the threshold and then looks at entries, we write the entry and
 * then look at the threshold; one of the two must see the other. The compare-and-swap also releases
 * what goes with the index: the request (with the load in take_filled), the array's slot (with the
 * load in take_unused).
 */
static bool put(struct ring *ring, uint64_t position, uint64_t index)
{
        _Atomic uint64_t *slot = slot_of(ring, position);
        uint64_t put = entry_at(ring, position, safe_of(ring) | index), entry = atomic_load(slot);
        while (cycle_of(ring, entry) < turn_of(ring, position) &&
                index_of(ring, entry) == none_of(ring) &&
                /* Unsafe, but whose turn this position is to take hasn't come by yet. */
                (entry & safe_of(ring) || atomic_load(&ring->head) <= position)) {
                queue_step();
                if (!atomic_compare_exchange_strong(slot, &entry, put))
                        continue;
                queue_step();
                if (atomic_load(&ring->threshold) != threshold_max(ring))
                        atomic_store(&ring->threshold, threshold_max(ring));
                return true;
        }
        return false;
}

static void put_filled(struct scq_queue *queue, uint64_t index)
{
        struct ring *ring = &queue->filled;
        uint64_t position;
        do {
                /* seq_cst, with the load in take_filled: the order of the claims. */
                position = atomic_fetch_add(&ring->tail, 1);
                queue_step();
        } while (!put(ring, position, index));
}

/* The consumer's. Ends: at most n entries hold an index, and a taker that uses up an entry lowers
 * the threshold. */
static void put_unused(struct scq_queue *queue, uint64_t index)
{
        struct ring *ring = &queue->unused;
        uint64_t position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        for (;;) {
                /* Before the entry, as the paper's fetch-and-add. Relaxed: that a taker sees the
                 * tail of a put that returned is coherence. */
                atomic_store_explicit(&ring->tail, position + 1, memory_order_relaxed);
                if (put(ring, position, index))
                        return;
                /* Catch up with takers that went past the tail. Relaxed: only a short cut. */
                uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
                position = position + 1 < head ? head : position + 1;
        }
}

/* An index, or none. */
static uint64_t take_unused(struct scq_queue *queue)
{
        struct ring *ring = &queue->unused;
        const uint64_t none = none_of(ring);
        /* seq_cst here: see put. */
        if (atomic_load(&ring->threshold) < 0)
                return none;
        for (;;) {
                uint64_t position = atomic_fetch_add(&ring->head, 1);
                queue_step();
                _Atomic uint64_t *slot = slot_of(ring, position);
                uint64_t entry = atomic_load(slot);
                while (cycle_of(ring, entry) < turn_of(ring, position)) {
                        uint64_t missed =
                                index_of(ring, entry) == none
                                        ? entry_at(ring, position, (entry & safe_of(ring)) | none)
                                        : entry & ~safe_of(ring);
                        queue_step();
                        if (atomic_compare_exchange_strong(slot, &entry, missed))
                                break;
                }
                if (cycle_of(ring, entry) == turn_of(ring, position)) {
                        /* Relaxed: only the next put must see it, by coherence or not at all. */
                        atomic_fetch_or_explicit(slot, none, memory_order_relaxed);
                        return index_of(ring, entry);
                }
                bool empty = atomic_load(&ring->tail) <= position + 1;
                if (atomic_fetch_sub(&ring->threshold, 1) <= 0 || empty)
                        return none;
        }
}

/* The consumer's. An index, or none, with *left saying why. */
static uint64_t take_filled(struct scq_queue *queue, enum queue_left *left)
{
        struct ring *ring = &queue->filled;
        const uint64_t none = none_of(ring);
        uint64_t position = atomic_load_explicit(&ring->head, memory_order_relaxed);
        /* seq_cst here: see put. */
        while (atomic_load(&ring->threshold) >= 0) {
                _Atomic uint64_t *slot = slot_of(ring, position);
                uint64_t entry = atomic_load(slot);
                if (cycle_of(ring, entry) == turn_of(ring, position)) {
                        /* Nobody else writes a filled entry. Relaxed, as in take_unused. */
                        atomic_store_explicit(slot, entry | none, memory_order_relaxed);
                        atomic_store_explicit(&ring->head, position + 1, memory_order_relaxed);
                        queue->looks = 0;
                        return index_of(ring, entry);
                }
                if (atomic_load(&ring->tail) <= position)
                        break;
                if (queue->looks < LOOKS_BEFORE_MISS) {
                        queue->looks++;
                        *left = QUEUE_MORE;
                        return none;
                }
                /* Failing: it has been filled after all. */
                uint64_t missed = entry_at(ring, position, safe_of(ring) | none);
                if (!atomic_compare_exchange_strong(slot, &entry, missed))
                        continue;
                position++;
                queue->looks = 0;
                atomic_store_explicit(&ring->head, position, memory_order_relaxed);
                atomic_fetch_sub(&ring->threshold, 1);
        }
        queue->looks = 0;
        *left = QUEUE_EMPTY;
        return none;
}

static int scq_create(struct queue **out, const struct queue_config *config);

static void scq_destroy(struct queue *base)
{
        free(base);
}

static enum queue_pushed scq_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct scq_queue *queue = (struct scq_queue *)base;
        uint64_t index = take_unused(queue);
        if (index == none_of(&queue->unused))
                return QUEUE_FULL;
        queue->nodes[index] = node;
        put_filled(queue, index);
        return QUEUE_PUSHED;
}

static struct queue_drained scq_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct scq_queue *queue = (struct scq_queue *)base;
        enum queue_left left = QUEUE_MORE;
        unsigned count = 0;
        for (; count < max; count++) {
                uint64_t index = take_filled(queue, &left);
                if (index == none_of(&queue->filled))
                        break;
                out[count] = queue->nodes[index];
                put_unused(queue, index);
        }
        return (struct queue_drained){count, left};
}

enum { KEY_CAPACITY };

static const struct queue_key scq_keys[] = {
        [KEY_CAPACITY] = {.name = "capacity",
                .min = 64,
                .max = 1 << 22,
                .otherwise = 1 << 16,
                .help = "requests it holds, rounded up to a power of two no less than the "
                        "producers"},
        {.name = NULL},
};

static const struct queue_ops scq_ops = {
        .name = "scq",
        .summary = "Nikolaev's bounded queue: two rings of indices",
        .source = "R. Nikolaev, SCQ, DISC 2019",
        .keys = scq_keys,
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE | QUEUE_BOUNDED,
        .cell_bytes = 4 * sizeof(uint64_t) + sizeof(struct queue_node *),
        .create = scq_create,
        .destroy = scq_destroy,
        .push = scq_push,
        .drain = scq_drain,
};

/* With the indices 0 … count - 1 in it, in an order that spreads neighbours in the array. */
static void ring_init(struct ring *ring, _Atomic uint64_t *entries, unsigned bits, uint64_t count)
{
        const uint64_t size = UINT64_C(1) << bits;
        *ring = (struct ring){.bits = bits, .entries = entries};
        atomic_store_explicit(&ring->threshold, threshold_max(ring), memory_order_relaxed);
        /* Positions start at the second turn, so that what is empty can be of an older one. */
        atomic_store_explicit(&ring->head, size, memory_order_relaxed);
        atomic_store_explicit(&ring->tail, size + count, memory_order_relaxed);
        for (uint64_t i = 0; i < size; i++) {
                uint64_t entry = safe_of(ring) | none_of(ring); /* of turn 0 */
                if (i < count)
                        entry = entry_at(ring, size, safe_of(ring) | spread(i, bits - 1));
                atomic_store_explicit(slot_of(ring, i), entry, memory_order_relaxed);
        }
}

static int scq_create(struct queue **out, const struct queue_config *config)
{
        unsigned bits = 1;
        while (UINT64_C(1) << bits < config->values[KEY_CAPACITY] ||
                UINT64_C(1) << bits < config->producers)
                bits++;
        const size_t capacity = (size_t)1 << bits, size = 2 * capacity;
        size_t bytes = sizeof(struct scq_queue) + capacity * (size_t)scq_ops.cell_bytes;
        struct scq_queue *queue =
                aligned_alloc(QUEUE_LINE, (bytes + QUEUE_LINE - 1) / QUEUE_LINE * QUEUE_LINE);
        if (!queue)
                return -ENOMEM;
        *queue = (struct scq_queue){.head.traits = scq_ops.traits};
        ring_init(&queue->filled, queue->entries, bits + 1, 0);
        ring_init(&queue->unused, queue->entries + size, bits + 1, capacity);
        queue->nodes = (struct queue_node **)(void *)(queue->entries + 2 * size);
        for (size_t i = 0; i < capacity; i++) /* touches the array */
                queue->nodes[i] = NULL;
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const scq_backends[] = {&scq_ops, NULL};
