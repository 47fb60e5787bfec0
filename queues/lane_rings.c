/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A lane per producer: no producer writes a line that another one writes, but for the moment in
 * which an idle lane becomes active; and the consumer visits lanes with work, not all lanes.
 *
 * Algorithm. A lane is a single-producer ring of pointers, where a slot's NULL says that it is free
 * (J. Giacomoni et al., FastForward, PPoPP 2008); a full ring is followed by one twice as large. A
 * push is two plain stores (slot, own position) and one load (`active`); that slots are free is
 * seen for a run of them at once. The consumer visits the lanes of its set. A lane outside it is
 * put in by its producer, which finds `active` 0, through the summary's bit; a lane long idle
 * retires. Source: ours, but for the ring.
 *
 * Who beside whom: any number of producers, each in its own lane, beside one consumer. Lanes are
 * the configured producers': a thread's index finds the lane that the index's last owner left, and
 * what is still in it comes first. There is no producer without a lane: the engine refuses it.
 *
 * Linearisation point: of push, the store to the slot. EMPTY is the drain that found no bit, and
 * then no lane of its set with anything in it. Whether the lane was empty a push can't tell, so the
 * edge is not seen.
 *
 * Compared with lanes: no read-modify-write on a push, and no shared word even when the consumer
 * keeps up; but the ring is memory that a list does not need, and a consumer at the heels of its
 * producer takes the line from it that it writes next. Measured, that costs more than is saved.
 *
 * A producer that stops mid-push hides its own request and nothing else. It holds up the retirement
 * of lanes, so that drains go on to visit idle ones. Larger rings are allocated inside a push,
 * unless preallocated.
 */
#include <errno.h>
#include <stdlib.h>

#include "queue.h"
#include "summary.h"

enum {
        RING_SLOTS_MIN = 64,
        RUN = 16,         /* slots seen free at once; divides every ring */
        IDLE_DRAINS = 64, /* a lane retires when others had work so often since it had; and so
                             often at most a barrier is paid */
};

struct ring {
        size_t mask;
        _Atomic(struct ring *) grown; /* the one that follows, once this one is full */
        _Atomic(struct queue_node *) slots[];
};

struct lane {
        /* The producer's. */
        alignas(QUEUE_LINE) struct ring *filling;
        size_t position, free_until;
        /* The lane is in the consumer's set, or its bit is set, or is about to be. */
        _Atomic bool active;
        /* The consumer's. */
        alignas(QUEUE_LINE) struct ring *emptying;
        size_t next;
        unsigned worked;   /* the queue's busy_drains when it last had something */
        unsigned snapshot; /* of its producer's guard, when retirement began */
        bool in_set, retiring;
};

struct lane_rings_queue {
        struct queue head;
        unsigned producers;
        size_t ring_slots; /* of a lane's first ring */
        const struct queue_guard *guards;
        uint64_t guards_of;
        struct lane *lanes;
        struct queue_summary summary;
        /* The consumer's: the set, where the next drain begins, and who retires. */
        alignas(QUEUE_LINE) unsigned *set;
        unsigned set_count, cursor, retiring;
        unsigned busy_drains, next_retirement; /* drains that handed something out; wraps */
};

static int lane_rings_create(struct queue **out, const struct queue_config *config);

static struct ring *new_ring(size_t slots)
{
        struct ring *ring = queue_lines(sizeof *ring + slots * sizeof ring->slots[0]);
        if (ring)
                ring->mask = slots - 1;
        return ring;
}

static void lane_rings_destroy(struct queue *base)
{
        struct lane_rings_queue *queue = (struct lane_rings_queue *)base;
        for (unsigned i = 0; queue->lanes && i < queue->producers; i++)
                for (struct ring *ring = queue->lanes[i].emptying, *next; ring; ring = next) {
                        next = atomic_load_explicit(&ring->grown, memory_order_relaxed);
                        free(ring);
                }
        free(queue->lanes);
        queue_summary_destroy(&queue->summary);
        free(queue->set);
        free(queue);
}

static int lane_rings_attach(struct queue *base, unsigned producer)
{
        struct lane_rings_queue *queue = (struct lane_rings_queue *)base;
        struct lane *lane = &queue->lanes[producer];
        if (lane->filling)
                return 0; /* the index's previous owner did */
        /* The consumer reads `emptying` only once the lane's bit is set. */
        lane->filling = lane->emptying = new_ring(queue->ring_slots);
        return lane->filling ? 0 : -ENOMEM;
}

/* The slot at position is not free: false if the consumer has freed none since, and there is no
 * memory for a larger ring. */
static bool make_room(struct lane *lane)
{
        struct ring *ring = lane->filling;
        /* The consumer frees slots in order, so a free one says that all before it are. Acquire,
         * with the release in take_ring: it has read what we overwrite. */
        for (size_t run = RUN; run; run /= RUN)
                if (!atomic_load_explicit(&ring->slots[(lane->position + run - 1) & ring->mask],
                            memory_order_acquire)) {
                        lane->free_until = lane->position + run;
                        return true;
                }
        struct ring *larger = new_ring(2 * (ring->mask + 1));
        if (!larger)
                return false;
        lane->filling = larger;
        lane->position = 0;
        lane->free_until = larger->mask + 1;
        /* Release, with the acquire in take_ring: all of the old ring's slots are final. */
        atomic_store_explicit(&ring->grown, larger, memory_order_release);
        return true;
}

static enum queue_pushed lane_rings_push(
        struct queue *base, unsigned producer, struct queue_node *node)
{
        struct lane_rings_queue *queue = (struct lane_rings_queue *)base;
        struct lane *lane = &queue->lanes[producer];
        if (lane->position == lane->free_until && !make_room(lane))
                return QUEUE_FULL;
        /* Release, with the acquire in take_ring: the request's content. */
        atomic_store_explicit(&lane->filling->slots[lane->position & lane->filling->mask], node,
                memory_order_release);
        lane->position++;
        queue_step();
        /* Relaxed, and in any order with the store: whoever made it 0 waits for our guard. */
        if (!atomic_load_explicit(&lane->active, memory_order_relaxed)) {
                atomic_store_explicit(&lane->active, true, memory_order_relaxed);
                queue_step();
                queue_summary_set(&queue->summary, producer);
        }
        return QUEUE_PUSHED;
}

/* Up to max of the lane's requests. */
static unsigned take_ring(struct lane *lane, struct queue_node **out, unsigned max)
{
        unsigned count = 0;
        while (count < max) {
                struct ring *ring = lane->emptying;
                _Atomic(struct queue_node *) *slot = &ring->slots[lane->next & ring->mask];
                /* Acquire, with the release in lane_rings_push. */
                struct queue_node *node = atomic_load_explicit(slot, memory_order_acquire);
                if (!node) {
                        /* Acquire, with the release in make_room: the old ring is final, so what
                         * the slot says now is its last word, and its producer has left it. */
                        struct ring *grown =
                                atomic_load_explicit(&ring->grown, memory_order_acquire);
                        if (!grown)
                                break;
                        if (atomic_load_explicit(slot, memory_order_relaxed))
                                continue;
                        lane->emptying = grown;
                        lane->next = 0;
                        free(ring);
                        continue;
                }
                out[count++] = node;
                /* Release, with the acquire in make_room. */
                atomic_store_explicit(slot, NULL, memory_order_release);
                lane->next++;
        }
        return count;
}

/*
 * Why no request is missed (E1). A push that returned before the drain began either found `active`
 * 0 and set the lane's bit, which by coherence this drain finds, or an earlier one found and put
 * the lane into the set; or it found `active` 1: the lane was in the set then, or its bit set by an
 * earlier push of the same producer. A lane leaves the set only by retirement: `active` := 0;
 * barrier; snapshot of its producer's guard. When the snapshot has passed, every push that may have
 * found 1 has ended, and its request is seen by the look that follows; every other push finds 0 (or
 * a 1 that an earlier push of the same producer put there, whose bit was set before it returned).
 */

/* Lanes long idle begin to leave: one barrier for all. */
static void begin_retirement(struct lane_rings_queue *queue)
{
        queue->next_retirement = queue->busy_drains + IDLE_DRAINS;
        for (unsigned i = 0; i < queue->set_count; i++) {
                struct lane *lane = &queue->lanes[queue->set[i]];
                if (queue->busy_drains - lane->worked < IDLE_DRAINS)
                        continue;
                lane->retiring = true;
                queue->retiring++;
                atomic_store_explicit(&lane->active, false, memory_order_relaxed);
        }
        if (!queue->retiring)
                return;
        queue_guard_barrier();
        for (unsigned i = 0; i < queue->set_count; i++) {
                struct lane *lane = &queue->lanes[queue->set[i]];
                if (lane->retiring)
                        queue_guard_snapshot(&queue->guards[queue->set[i]], 1, queue->guards_of,
                                &lane->snapshot);
        }
}

/* Of the retiring lanes, those whose snapshot has passed leave, or stay since they have work. */
static void end_retirement(struct lane_rings_queue *queue)
{
        for (unsigned i = 0; i < queue->set_count; i++) {
                unsigned producer = queue->set[i];
                struct lane *lane = &queue->lanes[producer];
                if (!lane->retiring ||
                        !queue_guard_passed(&queue->guards[producer], 1, &lane->snapshot))
                        continue;
                lane->retiring = false;
                queue->retiring--;
                struct ring *ring = lane->emptying;
                /* Acquire only for form: a non-NULL is read again by take_ring. */
                bool has = atomic_load_explicit(
                                   &ring->slots[lane->next & ring->mask], memory_order_acquire) ||
                           atomic_load_explicit(&ring->grown, memory_order_acquire);
                if (has || atomic_load_explicit(&lane->active, memory_order_relaxed)) {
                        /* A producer that found 0 may do the same, and set the bit. */
                        atomic_store_explicit(&lane->active, true, memory_order_relaxed);
                        continue;
                }
                lane->in_set = false;
                queue->set[i--] = queue->set[--queue->set_count];
        }
}

/* Puts the lanes whose bits are set into the set. */
static void collect(struct lane_rings_queue *queue)
{
        for (unsigned word = 0; word < queue->summary.word_count; word++) {
                uint64_t bits = queue_summary_take(&queue->summary, word);
                for (unsigned i = word * QUEUE_SUMMARY_WORD; bits; i++, bits >>= 1) {
                        if (!(bits & 1) || queue->lanes[i].in_set)
                                continue;
                        queue->lanes[i].in_set = true;
                        queue->lanes[i].worked = queue->busy_drains;
                        queue->set[queue->set_count++] = i;
                }
        }
}

static struct queue_drained lane_rings_drain(
        struct queue *base, struct queue_node **out, unsigned max)
{
        struct lane_rings_queue *queue = (struct lane_rings_queue *)base;
        unsigned count = 0;
        if (queue->retiring)
                end_retirement(queue);
        collect(queue);
        for (unsigned left = queue->set_count; left && count < max; left--) {
                if (queue->cursor >= queue->set_count)
                        queue->cursor = 0;
                struct lane *lane = &queue->lanes[queue->set[queue->cursor++]];
                unsigned taken = take_ring(lane, out + count, max - count);
                count += taken;
                if (taken)
                        lane->worked = queue->busy_drains + 1;
        }
        queue->busy_drains += !!count;
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        if (count && !queue->retiring && (int)(queue->busy_drains - queue->next_retirement) >= 0)
                begin_retirement(queue);
        return (struct queue_drained){count, QUEUE_EMPTY};
}

static const struct queue_ops lane_rings_ops = {
        .name = "lane_rings",
        .summary = "a ring per producer, and a summary of those with work",
        .source = "ours; the ring after FastForward, PPoPP 2008",
        .traits = QUEUE_FIFO_PRODUCER | QUEUE_WAIT_FREE,
        .cell_bytes = sizeof(struct queue_node *),
        .create = lane_rings_create,
        .destroy = lane_rings_destroy,
        .attach = lane_rings_attach,
        .push = lane_rings_push,
        .drain = lane_rings_drain,
};

static int lane_rings_create(struct queue **out, const struct queue_config *config)
{
        struct lane_rings_queue *queue = queue_lines(sizeof *queue);
        if (!queue)
                return -ENOMEM;
        queue->head.traits = lane_rings_ops.traits;
        queue->producers = config->producers;
        queue->guards = config->guards;
        queue->guards_of = config->guards_of;
        if (!config->preallocate)
                /* A larger ring is twice the lane's backlog to clear. */
                queue->head.traits &= ~(unsigned)QUEUE_WAIT_FREE;
        queue->next_retirement = IDLE_DRAINS;
        queue->ring_slots = RING_SLOTS_MIN;
        while (config->preallocate && queue->ring_slots < config->backlog / config->producers)
                queue->ring_slots *= 2;
        queue->lanes = queue_lines(queue->producers * sizeof *queue->lanes);
        queue->set = queue_lines(queue->producers * sizeof *queue->set);
        if (!queue_summary_create(&queue->summary, queue->producers) || !queue->lanes ||
                !queue->set) {
                lane_rings_destroy(&queue->head);
                return -ENOMEM;
        }
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const lane_rings_backends[] = {&lane_rings_ops, NULL};
