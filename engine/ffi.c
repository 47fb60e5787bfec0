/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The FFI thread: drains the queue, runs handler and callback, sleeps when wake.c says it may. */
#include <stdlib.h>

#include "context.h"

enum { BATCH = 256 };

static void complete(struct context *context, struct request *request, bool cancel)
{
        const char *msg = NULL;
        size_t len = 0;
        int ret = FANIN_OK;
        if (cancel)
                ret = FANIN_CANCELLED;
        else if (context->handler)
                ret = context->handler(context->handler_data, request->payload,
                        request->payload_bytes, &msg, &len);
        if (request->callback)
                request->callback(ret, msg, len, request->user_data);
        if (context->slab_count)
                /* Release, with the acquire in submit.c's new_request: its producer reuses it. */
                atomic_store_explicit(&request->taken, false, memory_order_release);
        else
                free(request);
        counter_add(cancel ? &context->cancelled : &context->completed, 1);
}

/* Waits, without sleeping, for a push that has not returned; counts the time. */
static struct queue_drained wait_for_push(struct context *context, struct queue_node **out)
{
        struct queue_drained drained = {0, QUEUE_STALLED};
        uint64_t start_ns = counter_now_ns();
        for (unsigned spins = 1; !drained.count && drained.left == QUEUE_STALLED; spins++) {
                queue_pause(spins);
                drained = context->ops->drain(context->queue, out, BATCH);
        }
        counter_add(&context->stalls, 1);
        counter_add(&context->stalled_ns, counter_now_ns() - start_ns);
        return drained;
}

/* One pass to EMPTY; the number of requests it took. */
static uint64_t serve(struct context *context)
{
        struct queue_node *out[BATCH];
        struct queue_drained drained;
        uint64_t total = 0;
        do {
                drained = context->ops->drain(context->queue, out, BATCH);
                if (drained.left == QUEUE_STALLED && !drained.count)
                        drained = wait_for_push(context, out);
                /* Relaxed: only says whether to handle or cancel; the loop's load orders the end.
                 */
                bool cancel = atomic_load_explicit(&context->closing, memory_order_relaxed);
                for (unsigned i = 0; i < drained.count; i++)
                        complete(context, (struct request *)out[i], cancel);
                total += drained.count;
        } while (drained.left != QUEUE_EMPTY);
        if (total) {
                counter_add(&context->drains, 1);
                if (total > counter_read(&context->largest_drain))
                        counter_add(&context->largest_drain,
                                total - counter_read(&context->largest_drain));
        }
        return total;
}

/*
 * Sleeps, then serves what there is. When the fallback poll ends the sleep, the signal was not
 * raised even at the reset, and there is work nevertheless, some push's wake is missing: late, if a
 * producer was inside a submit at any moment between the two readings of the guards (it may be
 * about to send), else lost. Guards are the process's, so a submit to another context counts as
 * inside: lost_wakes may be too low then, never too high.
 */
static void sleep_and_serve(struct context *context)
{
        unsigned *before = context->snapshots[0], *after = context->snapshots[1];
        unsigned producers = 0;
        uint64_t start_ns = counter_now_ns();
        atomic_store_explicit(&context->asleep_since_ns, start_ns, memory_order_relaxed);
        /* Release, with the acquire in fanin_stats: the counters, and what callbacks wrote. */
        atomic_store_explicit(&context->asleep, true, memory_order_release);
        bool raised = wake_wait(&context->wake);
        atomic_store_explicit(&context->asleep, false, memory_order_relaxed);
        counter_add(&context->slept_ns, counter_now_ns() - start_ns);
        if (!raised) {
                producers = producer_high_water();
                queue_guard_snapshot(producer_guards, producers, 0, before);
        }
        raised |= wake_reset(&context->wake);
        uint64_t found = serve(context);
        if (raised && !found) /* destroy's interrupt too, when nobody can ask any more */
                counter_add(&context->wakes_spurious, 1);
        if (!found || raised || context->polls)
                return;
        /* One that came since the first reading is inside or has been. */
        bool inside = producer_high_water() != producers;
        queue_guard_snapshot(producer_guards, producers, 0, after);
        for (unsigned i = 0; i < producers; i++)
                inside |= before[i] & 1 || before[i] != after[i];
        counter_add(inside ? &context->late_wakes : &context->lost_wakes, 1);
}

void *ffi_main(void *argument)
{
        struct context *context = argument;
        producer_self.serving = context->handle;
        serve(context);
        for (;;) {
                /* Acquire, with the release in fanin_destroy: what it flushed, and every submit it
                 * waited for, is found by the pass that follows. */
                if (atomic_load_explicit(&context->closing, memory_order_acquire))
                        break;
                if (wake_announce(&context->wake) && serve(context))
                        wake_retract(&context->wake);
                else
                        sleep_and_serve(context);
        }
        serve(context);
        return NULL;
}
