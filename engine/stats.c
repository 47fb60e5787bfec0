/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What happened so far, and what a result means. */
#include "context.h"

static void add_lane(struct fanin_stats *stats, const struct lane *lane)
{
        stats->submits += counter_read(&lane->submits);
        stats->refused += counter_read(&lane->refused);
        stats->kept += counter_read(&lane->kept);
        stats->flushes += counter_read(&lane->flushes);
        stats->wakes += counter_read(&lane->wakes);
        stats->wakes_elided += counter_read(&lane->wakes_elided);
}

/* Exact while it goes on sleeping; a sleep that ends meanwhile may be in it twice. */
static uint64_t slept_ns(const struct context *context, bool asleep)
{
        uint64_t since_ns = atomic_load_explicit(&context->asleep_since_ns, memory_order_relaxed);
        return counter_read(&context->slept_ns) + (asleep ? counter_now_ns() - since_ns : 0);
}

int fanin_stats(fanin_handle handle, struct fanin_stats *stats)
{
        pthread_mutex_lock(&context_lock); /* keeps destroy from going past its first step */
        struct context *context = context_find(handle);
        *stats = (struct fanin_stats){0};
        if (context) {
                /* Acquire, with the release in ffi.c's sleep_and_serve; before the others. */
                stats->counted = FANIN_COUNTERS;
                stats->ordered = !!(context->queue->traits & QUEUE_FIFO_PRODUCER);
                stats->instead = context->queue->instead;
                stats->asleep = atomic_load_explicit(&context->asleep, memory_order_acquire);
                stats->completed = counter_read(&context->completed);
                stats->cancelled = counter_read(&context->cancelled);
                stats->late_wakes = counter_read(&context->late_wakes);
                stats->lost_wakes = counter_read(&context->lost_wakes);
                stats->stalls = counter_read(&context->stalls);
                stats->stalled_ns = counter_read(&context->stalled_ns);
                stats->drains = counter_read(&context->drains);
                stats->largest_drain = counter_read(&context->largest_drain);
                stats->wakes_spurious = counter_read(&context->wakes_spurious);
                stats->slept_ns = slept_ns(context, stats->asleep);
                for (unsigned i = 0; i < context->producers; i++)
                        add_lane(stats, &context->lanes[i]);
        }
        pthread_mutex_unlock(&context_lock);
        return context ? FANIN_OK : FANIN_STALE;
}

const char *fanin_result_text(int result)
{
        switch (result) {
        case FANIN_OK:
                return "done";
        case FANIN_STALE:
                return "the handle's context is gone, or never was";
        case FANIN_FULL:
                return "no room for the request; it stays the caller's";
        case FANIN_CANCELLED:
                return "cancelled: the context was destroyed first";
        case FANIN_REENTRANT:
                return "not from a handler or callback: it would deadlock";
        case FANIN_TOO_MANY_THREADS:
                return "too many live threads have submitted: at most 4096 in the process, or the "
                       "context's own limit";
        case FANIN_TOO_MANY_CONTEXTS:
                return "too many live contexts: at most 256";
        case FANIN_INVALID:
                return "the options are invalid";
        case FANIN_NO_MEMORY:
                return "no memory";
        case FANIN_SYSTEM:
                return "the system refused";
        default:
                return "the handler's own result";
        }
}
