/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Linked arrays whose slots are claimed by fetch-and-add, unbounded, nothing completed ever hidden.
 *
 * Algorithm: a push claims a slot of the last segment by fetch-and-add on the segment's counter and
 * puts the request there by compare-and-swap; past the end it appends a segment that has its
 * request in slot 0 (Michael and Scott's append, helping the tail on). The consumer takes slot
 * after slot. A claimed slot still unfilled is taken away from its producer (TAKEN), whose
 * compare-and-swap then fails: it claims another. Source: P. Ramalhete's FAAArrayQueue (2016); the
 * segments after C. Yang and J. Mellor-Crummey, PPoPP 2016. Reclamation: segments.h.
 *
 * Who beside whom: any number of producers beside one consumer.
 *
 * Linearisation point: of push, the compare-and-swap that fills its slot or appends its segment.
 * Both are at a claimed place, and places are passed in the order of claims: if one push returned
 * before another began, its place is the earlier one. EMPTY is the load of the counter, or of
 * `next`, that found no later place. A push doesn't know whether its slot is the first: no edge.
 *
 * A producer that stops after its claim hides nothing for long: the consumer looks a few times,
 * saying MORE, then takes the slot away. It does so only if some later slot is filled. That keeps
 * EMPTY honest (an unfilled slot with nothing filled behind it is nobody's completed push), and it
 * is what makes push lock-free: a push goes back for another slot only because a later claim's was
 * filled, or because the segment ended and another appended, so for each that goes back some push
 * gets through. Were every unfilled slot taken away at sight, one polling consumer could send every
 * push back for ever. Looks: one is about as long as the way from claim to fill; a producer whose
 * CPU was taken away is off for a thousand times that, so more than a few gain nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"
#include "segments.h"

enum { LOOKS_BEFORE_TAKEN = 4 };

struct segment {
        struct queue_segment base;
        alignas(QUEUE_LINE) _Atomic size_t claimed; /* past the slots when it is full */
        alignas(QUEUE_LINE) _Atomic(struct queue_node *) slots[];
};

struct faa_array_queue {
        struct queue head;
        size_t slots; /* a segment */
        struct queue_segments segments;
        /* the consumer's */
        alignas(QUEUE_LINE) struct segment *oldest;
        size_t position; /* in oldest */
        unsigned looks;  /* at an unfilled slot with a filled one behind it */
};

static struct queue_node taken; /* in a slot: the consumer was here first */

enum { KEY_SEGMENT };

static const struct queue_key faa_array_keys[] = {
        [KEY_SEGMENT] = {.name = "segment",
                .min = 64,
                .max = 65536,
                .otherwise = 1024,
                .help = "slots a segment"},
        {.name = NULL},
};

static int faa_array_create(struct queue **out, const struct queue_config *config);

static void faa_array_destroy(struct queue *base)
{
        struct faa_array_queue *queue = (struct faa_array_queue *)base;
        queue_segments_destroy(&queue->segments);
        free(queue);
}

/* The segment behind last is there, or there is no memory. True: the node is in it. */
static bool append(struct faa_array_queue *queue, unsigned producer, struct segment *last,
        struct queue_node *node)
{
        struct segment *fresh =
                (struct segment *)queue_segments_get(&queue->segments, producer, &last->base);
        if (!fresh)
                return false;
        atomic_store_explicit(&fresh->claimed, 1, memory_order_relaxed);
        atomic_store_explicit(&fresh->slots[0], node, memory_order_relaxed);
        return queue_segments_append(&queue->segments, producer, &last->base, &fresh->base);
}

static enum queue_pushed faa_array_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct faa_array_queue *queue = (struct faa_array_queue *)base;
        for (;;) {
                struct segment *segment = (struct segment *)queue_segments_tail(&queue->segments);
                /* Relaxed: the slot carries the content; that drain sees the claims of completed
                 * pushes is coherence. */
                size_t slot = atomic_fetch_add_explicit(&segment->claimed, 1, memory_order_relaxed);
                queue_step();
                if (slot < queue->slots) {
                        struct queue_node *none = NULL;
                        /* Release, with the acquire in take: the request's content. */
                        if (atomic_compare_exchange_strong_explicit(&segment->slots[slot], &none,
                                    node, memory_order_release, memory_order_relaxed))
                                return QUEUE_PUSHED;
                        continue; /* taken away */
                }
                bool pushed = !queue_segments_next(&segment->base) &&
                              append(queue, producer, segment, node);
                struct queue_segment *next = queue_segments_next(&segment->base);
                if (!next)
                        return QUEUE_FULL; /* no memory */
                queue_segments_advance(&queue->segments, &segment->base, next);
                if (pushed)
                        return QUEUE_PUSHED;
        }
}

/* Whether a push behind the unfilled slot at position has filled its own. At most every producer
 * has a slot claimed and unfilled, which bounds the search. */
static bool hides(struct faa_array_queue *queue)
{
        struct segment *oldest = queue->oldest;
        if (queue_segments_next(&oldest->base))
                return true; /* by its slot 0 */
        size_t claimed = atomic_load_explicit(&oldest->claimed, memory_order_relaxed);
        size_t end = claimed < queue->slots ? claimed : queue->slots;
        /* Relaxed: only asks; take loads it again. */
        for (size_t i = queue->position + 1; i < end; i++)
                if (atomic_load_explicit(&oldest->slots[i], memory_order_relaxed))
                        return true;
        return false;
}

/* False: there is none. */
static bool enter_next(struct faa_array_queue *queue)
{
        struct segment *oldest = queue->oldest;
        struct queue_segment *next = queue_segments_next(&oldest->base);
        if (!next)
                return false;
        queue->oldest = (struct segment *)next;
        queue->position = 0;
        queue_segments_retire(&queue->segments, &oldest->base);
        return true;
}

/* One node, or NULL with *left saying why there is none. */
static struct queue_node *take(struct faa_array_queue *queue, enum queue_left *left)
{
        for (;;) {
                if (queue->position == queue->slots && !enter_next(queue)) {
                        *left = QUEUE_EMPTY;
                        return NULL;
                }
                _Atomic(struct queue_node *) *slot = &queue->oldest->slots[queue->position];
                /* Acquire, with the release in faa_array_push: the request's content. */
                struct queue_node *node = atomic_load_explicit(slot, memory_order_acquire);
                if (!node && !hides(queue)) {
                        *left = QUEUE_EMPTY;
                        return NULL;
                }
                if (!node && queue->looks < LOOKS_BEFORE_TAKEN) {
                        queue->looks++;
                        *left = QUEUE_MORE;
                        return NULL;
                }
                if (!node)
                        /* Acquire, as the load: the producer may have come first after all. */
                        node = atomic_exchange_explicit(slot, &taken, memory_order_acquire);
                queue->position++;
                queue->looks = 0;
                if (node)
                        return node;
        }
}

static struct queue_drained faa_array_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct faa_array_queue *queue = (struct faa_array_queue *)base;
        enum queue_left left = QUEUE_MORE;
        unsigned count = 0;
        queue_segments_collect(&queue->segments);
        while (count < max && (out[count] = take(queue, &left)))
                count++;
        return (struct queue_drained){count, left};
}

static const struct queue_ops faa_array_ops = {
        .name = "faa_array",
        .summary = "linked arrays, slots claimed by fetch-and-add",
        .source = "P. Ramalhete, FAAArrayQueue, 2016; Yang and Mellor-Crummey, PPoPP 2016",
        .keys = faa_array_keys,
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_LOCK_FREE,
        .cell_bytes = sizeof(struct queue_node *),
        .create = faa_array_create,
        .destroy = faa_array_destroy,
        .push = faa_array_push,
        .drain = faa_array_drain,
};

static int faa_array_create(struct queue **out, const struct queue_config *config)
{
        size_t slots = config->values[KEY_SEGMENT];
        struct faa_array_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct faa_array_queue){.head.traits = faa_array_ops.traits, .slots = slots};
        int error = queue_segments_create(&queue->segments,
                sizeof(struct segment) + slots * sizeof(struct queue_node *), slots, config);
        if (error) {
                free(queue);
                return error;
        }
        queue->oldest = (struct segment *)queue_segments_tail(&queue->segments);
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const faa_array_backends[] = {&faa_array_ops, NULL};
