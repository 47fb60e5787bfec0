/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One fetch-and-add into an endless array that is cut into linked buffers; the consumer passes over
 * slots that are claimed but not yet set.
 *
 * Algorithm: a push claims an index by fetch-and-add on one counter, finds the index's buffer from
 * the tail buffer (forward, appending what is missing; or back by `previous`), and stores the
 * request into its slot. Who has a buffer's second slot appends the next buffer ahead of need. The
 * consumer takes the first set slot; if unset ones lie before it, it looks at those again until
 * none before its choice is set. Buffers with nothing left to take are unlinked, also in the middle
 * (folding). Source: D. Adas and R. Friedman, "Jiffy", DISC 2020, arXiv 2010.14189. Ours: the slots
 * passed over are remembered as holes, at most one per producer, so that the consumer need not walk
 * over handled slots to find them, nor mark slots as handled; buffers are reclaimed by the guards'
 * grace period (segments.h) where the paper keeps a garbage list.
 *
 * Who beside whom: any number of producers beside one consumer.
 *
 * Linearisation point: of push, the store into its slot; where a push that stored earlier than
 * another of a smaller index comes out after it, the two overlapped. EMPTY is the load of `claimed`
 * (or of the missing buffer's link) that ended the look ahead; pushes that return later are
 * ordered after it. A push can't know whether its request is the first: no edge.
 *
 * A producer that stops after its claim leaves a hole; everything else goes on, so nothing is
 * hidden. Its buffer stays, alone: the buffers around it are folded.
 *
 * Lock-free is claimed, where the paper has wait-free: nobody can send a push back, and its way
 * from the tail buffer forward is bounded by the claims of pushes under way, but back by all the
 * buffers that others appended since its claim.
 *
 * Out of memory, a claim can't be given back: push returns FULL and the index is owed. Its
 * producer's next push first marks that slot as cancelled. So no producer ever has more than one
 * slot unset.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "segments.h"

struct buffer {
        struct queue_segment base;
        _Atomic(struct buffer *) previous; /* in the chain; NULL: the first */
        size_t first;                      /* index of slot 0 */
        unsigned holes;                    /* the consumer's: how many in here */
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) slots[];
};

struct hole {
        struct buffer *buffer;
        size_t slot;
};

struct jiffy_queue {
        struct queue head;
        size_t slots; /* a buffer */
        size_t *owed; /* a producer's index that has no buffer yet, + 1; 0: none */
        alignas(QUEUE_LINE) _Atomic size_t claimed;
        struct queue_segments buffers;
        /* The consumer's: the frontier, and behind it, ascending, the holes; all else behind it
         * has been taken. */
        alignas(QUEUE_LINE) struct buffer *buffer;
        size_t slot; /* may be past the buffer's end, if no next one was there */
        size_t claimed_seen;
        unsigned hole_count, hole_max;
        struct hole *holes;
};

static struct queue_node cancelled; /* in a slot: claimed, and never to be used */

enum { KEY_BUFFER };

static const struct queue_key jiffy_keys[] = {
        [KEY_BUFFER] = {.name = "buffer",
                .min = 64,
                .max = 65536,
                .otherwise = 1024,
                .help = "slots a buffer (the paper's 1620, made two pages, and faa_array's)"},
        {.name = NULL},
};

static int jiffy_create(struct queue **out, const struct queue_config *config);

static void jiffy_destroy(struct queue *base)
{
        struct jiffy_queue *queue = (struct jiffy_queue *)base;
        queue_segments_destroy(&queue->buffers);
        free(queue->holes);
        free(queue->owed);
        free(queue);
}

/* The buffer behind last, appended if need be. NULL: no memory. */
static struct queue_segment *extend(
        struct jiffy_queue *queue, unsigned producer, struct buffer *last)
{
        struct buffer *fresh =
                (struct buffer *)queue_segments_get(&queue->buffers, producer, &last->base);
        if (fresh) {
                fresh->first = last->first + queue->slots;
                /* Relaxed: append publishes it. Till then last can't be unlinked. */
                atomic_store_explicit(&fresh->previous, last, memory_order_relaxed);
                queue_segments_append(&queue->buffers, producer, &last->base, &fresh->base);
        }
        return queue_segments_next(&last->base);
}

/*
 * The buffer of an index that we claimed and have not set; NULL: no memory for it. The buffer, once
 * there, stays in the chain until we have set the index: the consumer has not passed it or keeps it
 * for its hole. The buffers on the way may be unlinked as we walk, by folding too, but not used
 * again (segments.h), and their links lead on to ours: whichever way the consumer closes a gap, it
 * never leaves out a buffer that must stay.
 */
static struct buffer *find(struct jiffy_queue *queue, unsigned producer, size_t index)
{
        struct buffer *buffer = (struct buffer *)queue_segments_tail(&queue->buffers);
        while (index >= buffer->first + queue->slots) {
                struct queue_segment *next = queue_segments_next(&buffer->base);
                if (!next)
                        next = extend(queue, producer, buffer);
                if (!next)
                        return NULL;
                queue_segments_advance(&queue->buffers, &buffer->base, next);
                buffer = (struct buffer *)next;
        }
        while (index < buffer->first)
                /* Acquire, with the release in unlink_buffer: the buffer's content. */
                buffer = atomic_load_explicit(&buffer->previous, memory_order_acquire);
        return buffer;
}

static inline void fill(struct buffer *buffer, size_t index, struct queue_node *node)
{
        /* Release, with the acquire in is_set: the request's content; and for order: see take. */
        atomic_store_explicit(&buffer->slots[index - buffer->first], node, memory_order_release);
}

/* False: still no memory. */
static bool cancel_owed(struct jiffy_queue *queue, unsigned producer)
{
        size_t index = queue->owed[producer] - 1;
        struct buffer *buffer = find(queue, producer, index);
        if (!buffer)
                return false;
        fill(buffer, index, &cancelled);
        queue->owed[producer] = 0;
        return true;
}

static enum queue_pushed jiffy_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        struct jiffy_queue *queue = (struct jiffy_queue *)base;
        if (queue->owed[producer] && !cancel_owed(queue, producer))
                return QUEUE_FULL;
        /* Release, with the acquire in is_claimed: our earlier push's slot is set. */
        size_t index = atomic_fetch_add_explicit(&queue->claimed, 1, memory_order_release);
        queue_step();
        struct buffer *buffer = find(queue, producer, index);
        if (!buffer) {
                queue->owed[producer] = index + 1;
                return QUEUE_FULL;
        }
        fill(buffer, index, node);
        if (index - buffer->first == 1 && !queue_segments_next(&buffer->base))
                extend(queue, producer, buffer); /* no memory: somebody will try again */
        return QUEUE_PUSHED;
}

static inline struct queue_node *is_set(struct buffer *buffer, size_t slot)
{
        /* Acquire, with the release in fill: see there. */
        return atomic_load_explicit(&buffer->slots[slot], memory_order_acquire);
}

static inline bool is_claimed(struct jiffy_queue *queue, size_t index)
{
        if (index >= queue->claimed_seen)
                /* Acquire, with the release in jiffy_push: see look_ahead. */
                queue->claimed_seen = atomic_load_explicit(&queue->claimed, memory_order_acquire);
        return index < queue->claimed_seen;
}

/* The frontier has left it and it has no holes: takes it out of the chain, from the front or the
 * middle. */
static void unlink_buffer(struct jiffy_queue *queue, struct buffer *buffer)
{
        struct queue_segment *next = queue_segments_next(&buffer->base);
        struct buffer *previous = atomic_load_explicit(&buffer->previous, memory_order_relaxed);
        /* Release, with the acquire in find: the content of previous. */
        atomic_store_explicit(&((struct buffer *)next)->previous, previous, memory_order_release);
        if (previous)
                /* Release, with the acquire in queue_segments_next: the content of next. */
                atomic_store_explicit(&previous->base.next, next, memory_order_release);
        queue_segments_retire(&queue->buffers, &buffer->base);
}

/* The frontier is at a buffer's end. False: there is no next one. */
static bool enter_next(struct jiffy_queue *queue)
{
        struct buffer *left = queue->buffer;
        struct queue_segment *next = queue_segments_next(&left->base);
        if (!next)
                return false;
        queue->buffer = (struct buffer *)next;
        queue->slot = 0;
        if (!left->holes)
                unlink_buffer(queue, left);
        return true;
}

/*
 * Moves the frontier to the first set slot and returns its request, or NULL. Unset slots on the way
 * become holes.
 *
 * As many holes as producers, and one more slot claimed and unset: each unset slot has a producer
 * of its own, so a hole has been filled meanwhile, and its producer claimed again. That claim is
 * among those we saw, so by is_claimed's acquire take will see the hole filled.
 */
static struct queue_node *look_ahead(struct jiffy_queue *queue)
{
        for (;;) {
                if (queue->slot == queue->slots && !enter_next(queue))
                        return NULL;
                struct queue_node *node = is_set(queue->buffer, queue->slot);
                if (node || queue->hole_count == queue->hole_max ||
                        !is_claimed(queue, queue->buffer->first + queue->slot))
                        return node;
                queue->holes[queue->hole_count++] = (struct hole){queue->buffer, queue->slot};
                queue->buffer->holes++;
                queue->slot++;
        }
}

static void close_hole(struct jiffy_queue *queue, unsigned i)
{
        struct buffer *buffer = queue->holes[i].buffer;
        struct hole *hole = &queue->holes[i];
        memmove(hole, hole + 1, (--queue->hole_count - i) * sizeof *hole);
        if (!--buffer->holes && buffer != queue->buffer)
                unlink_buffer(queue, buffer);
}

/*
 * The first set slot, or NULL. Why it is the right one: let a push A have returned before a push B
 * began; then A's index is the smaller. If we choose B, we saw B's slot set, so B's claim and A's
 * store happened before, and each look at a smaller index after that would see A. After the last
 * choice all smaller unset slots are looked at once more: A is not among them.
 */
static struct queue_node *take(struct jiffy_queue *queue)
{
        struct queue_node *node;
        do {
                node = look_ahead(queue);
                unsigned chosen = queue->hole_count; /* the frontier */
                for (unsigned i = 0; i < chosen;) {
                        const struct hole *hole = &queue->holes[i];
                        struct queue_node *earlier = is_set(hole->buffer, hole->slot);
                        if (earlier) {
                                node = earlier;
                                chosen = i;
                        }
                        i = earlier ? 0 : i + 1;
                }
                if (!node)
                        return NULL;
                if (chosen < queue->hole_count)
                        close_hole(queue, chosen);
                else
                        queue->slot++;
        } while (node == &cancelled);
        return node;
}

static struct queue_drained jiffy_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct jiffy_queue *queue = (struct jiffy_queue *)base;
        queue_segments_collect(&queue->buffers);
        for (unsigned count = 0; count < max; count++)
                if (!(out[count] = take(queue)))
                        return (struct queue_drained){count, QUEUE_EMPTY};
        return (struct queue_drained){max, QUEUE_MORE};
}

static const struct queue_ops jiffy_ops = {
        .name = "jiffy",
        .summary = "one fetch-and-add into linked buffers, unset slots passed over",
        .source = "D. Adas and R. Friedman, Jiffy, DISC 2020",
        .keys = jiffy_keys,
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE,
        .cell_bytes = sizeof(struct queue_node *),
        .create = jiffy_create,
        .destroy = jiffy_destroy,
        .push = jiffy_push,
        .drain = jiffy_drain,
};

static int jiffy_create(struct queue **out, const struct queue_config *config)
{
        size_t slots = config->values[KEY_BUFFER];
        struct jiffy_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct jiffy_queue){
                .head.traits = jiffy_ops.traits,
                .slots = slots,
                .owed = calloc(config->producers, sizeof(size_t)),
                .hole_max = config->producers,
                .holes = calloc(config->producers, sizeof(struct hole)),
        };
        int error = -ENOMEM;
        if (queue->owed && queue->holes)
                error = queue_segments_create(&queue->buffers,
                        sizeof(struct buffer) + slots * sizeof(struct queue_node *), slots, config);
        if (error) {
                free(queue->holes);
                free(queue->owed);
                free(queue);
                return error;
        }
        queue->buffer = (struct buffer *)queue_segments_tail(&queue->buffers);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const jiffy_backends[] = {&jiffy_ops, NULL};
