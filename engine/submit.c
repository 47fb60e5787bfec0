/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The producer's side: guard, look the handle up, allocate, push, wake, settle, account. What a
 * submit costs is written here, in order; it writes nothing that another producer writes, but for
 * what the queue and the wake policy do.
 */
#include <errno.h>
#include <stdlib.h>

#include "context.h"

/* On the producer's thread, at its first submit to this context. */
static int attach(struct context *context, struct lane *lane, unsigned producer)
{
        if (context->slab_count && !lane->slab) {
                lane->slab = context_lines(context->slab_count * sizeof *lane->slab);
                if (!lane->slab)
                        return FANIN_NO_MEMORY;
        }
        int error = context->ops->attach ? context->ops->attach(context->queue, producer) : 0;
        if (error)
                return error == -ENOMEM ? FANIN_NO_MEMORY : FANIN_SYSTEM;
        lane->attached = true;
        return FANIN_OK;
}

/* NULL: no memory, or (slab) the producer's share of the backlog is outstanding. */
static inline struct request *new_request(struct context *context, struct lane *lane)
{
        if (!context->slab_count)
                return malloc(sizeof(struct request));
        struct request *request = &lane->slab[lane->slab_next].request;
        /* Acquire, with the release in ffi.c's complete: the FFI thread is done with it. */
        return atomic_load_explicit(&request->taken, memory_order_acquire) ? NULL : request;
}

static inline void account_wake(struct context *context, struct lane *lane, bool first)
{
        bool sent = wake_after_push(&context->wake, first);
        counter_add(sent ? &lane->wakes : &lane->wakes_elided, 1);
}

static inline int submit_inside(struct context *context, unsigned producer, const void *payload,
        size_t payload_bytes, fanin_callback callback, void *user_data)
{
        if (producer >= context->producers)
                return FANIN_TOO_MANY_THREADS;
        struct lane *lane = &context->lanes[producer];
        if (!lane->attached) {
                int error = attach(context, lane, producer);
                if (error)
                        return error;
        }
        struct request *request = new_request(context, lane);
        if (!request) {
                counter_add(&lane->refused, 1);
                return context->slab_count ? FANIN_FULL : FANIN_NO_MEMORY;
        }
        request->callback = callback;
        request->user_data = user_data;
        request->payload = payload;
        request->payload_bytes = payload_bytes;
        atomic_store_explicit(&request->taken, true, memory_order_relaxed);

        enum queue_pushed pushed = context->ops->push(context->queue, producer, &request->node);
        if (pushed == QUEUE_FULL) {
                if (context->slab_count)
                        atomic_store_explicit(&request->taken, false, memory_order_relaxed);
                else
                        free(request);
                counter_add(&lane->refused, 1);
                return FANIN_FULL;
        }
        if (context->slab_count && ++lane->slab_next == context->slab_count)
                lane->slab_next = 0;
        counter_add(&lane->submits, 1);
        if (pushed == QUEUE_KEPT)
                counter_add(&lane->kept, 1);
        else
                account_wake(context, lane, pushed == QUEUE_PUSHED_FIRST);
        if (context->ops->settle)
                context->ops->settle(context->queue, producer);
        return FANIN_OK;
}

int fanin_submit_as(fanin_handle handle, unsigned producer, const void *payload,
        size_t payload_bytes, fanin_callback callback, void *user_data)
{
        if (producer >= FANIN_PRODUCERS_MAX)
                return FANIN_TOO_MANY_THREADS;
        struct queue_guard *guard = &producer_guards[producer];
        /* Release, here and below, with the acquire in queue_guard_snapshot: our last push is over.
         */
        atomic_store_explicit(&guard->inside_of, handle, memory_order_release);
        queue_guard_enter(guard);
        struct context *context = context_find(handle);
        int result = context ? submit_inside(context, producer, payload, payload_bytes, callback,
                                       user_data)
                             : FANIN_STALE;
        queue_guard_leave(guard);
        return result;
}

int fanin_submit(fanin_handle handle, const void *payload, size_t payload_bytes,
        fanin_callback callback, void *user_data)
{
        if (producer_self.serving == handle && handle)
                return FANIN_REENTRANT;
        return fanin_submit_as(
                handle, producer_index(), payload, payload_bytes, callback, user_data);
}

unsigned fanin_producer(void)
{
        return producer_index();
}

void context_flush(struct context *context, unsigned producer)
{
        struct lane *lane = &context->lanes[producer];
        if (!context->ops->flush || !lane->attached ||
                !context->ops->flush(context->queue, producer))
                return;
        counter_add(&lane->flushes, 1);
        account_wake(context, lane, true);
}

int fanin_flush(fanin_handle handle)
{
        unsigned producer = producer_index();
        if (producer == FANIN_NO_PRODUCER)
                return FANIN_TOO_MANY_THREADS;
        atomic_store_explicit(&producer_guards[producer].inside_of, handle, memory_order_release);
        queue_guard_enter(&producer_guards[producer]);
        struct context *context = context_find(handle);
        if (context && producer < context->producers)
                context_flush(context, producer);
        queue_guard_leave(&producer_guards[producer]);
        return context ? FANIN_OK : FANIN_STALE;
}

void context_producer_ends(unsigned producer)
{
        /* Inside the guard too, so that a wake under way is not counted as lost. */
        atomic_store_explicit(&producer_guards[producer].inside_of, 0, memory_order_release);
        queue_guard_enter(&producer_guards[producer]);
        pthread_mutex_lock(&context_lock);
        for (unsigned i = 0; i < FANIN_CONTEXTS_MAX; i++) {
                uint32_t generation = atomic_load_explicit(
                        &context_slots[i].generation, memory_order_relaxed); /* under the lock */
                struct context *context = context_find((fanin_handle)generation << 32 | i);
                if (!context || producer >= context->producers ||
                        !context->lanes[producer].attached)
                        continue;
                context_flush(context, producer);
                if (context->ops->detach)
                        context->ops->detach(context->queue, producer);
                context->lanes[producer].attached = false;
        }
        pthread_mutex_unlock(&context_lock);
        queue_guard_leave(&producer_guards[producer]);
}
