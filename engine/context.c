/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Contexts: create, destroy, stats, and the handles that name them; submit.c submits.
 *
 * A handle is generation << 32 | slot. Live generations are odd; destroy makes the slot's even, the
 * next create odd again, and a slot whose generation would wrap is retired. Submit writes nothing
 * shared: inside the guard it loads the slot's pointer, then its generation, and compares. A
 * pointer to a context newer than the handle comes with a generation newer than the handle, since
 * create publishes the pointer first: refused. A pointer older than the handle can't be loaded,
 * since whoever has a handle got it from a create that had published.
 *
 * Destroy makes the generation even, waits by the guard (queues/guard.h) until every submit that
 * may have seen it odd has returned, while the FFI thread keeps draining (a hand-off waits inside
 * its submit), and only then closes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context.h"

struct slot context_slots[FANIN_CONTEXTS_MAX];

/* Taken by create, destroy, stats and ending threads, never by a submit. */
pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

/* Under lock. */
static bool reserve(unsigned *slot)
{
        for (unsigned i = 0; i < FANIN_CONTEXTS_MAX; i++)
                if (!context_slots[i].busy && atomic_load_explicit(&context_slots[i].generation,
                                                      memory_order_relaxed) < UINT32_MAX - 1) {
                        context_slots[i].busy = true;
                        *slot = i;
                        return true;
                }
        return false;
}

static void release_slot(unsigned slot)
{
        pthread_mutex_lock(&context_lock);
        context_slots[slot].busy = false;
        pthread_mutex_unlock(&context_lock);
}

static void free_context(struct context *context)
{
        for (unsigned i = 0; context->lanes && i < context->producers; i++)
                free(context->lanes[i].slab);
        free(context->lanes);
        for (unsigned i = 0; i < 3; i++)
                free(context->snapshots[i]);
        free(context);
}

void *context_lines(size_t bytes)
{
        bytes = (bytes + QUEUE_LINE - 1) / QUEUE_LINE * QUEUE_LINE;
        void *memory = aligned_alloc(QUEUE_LINE, bytes);
        return memory ? memset(memory, 0, bytes) : NULL;
}

static int new_context(
        struct context **out, const struct fanin_options *options, const struct spec *spec)
{
        struct context *context = context_lines(sizeof *context);
        if (!context)
                return -ENOMEM;
        context->ops = spec->queue;
        context->producers = options->producers;
        context->polls = spec->wake == WAKE_POLL;
        context->handler = options->handler;
        context->handler_data = options->handler_data;
        if (spec->alloc == SPEC_SLAB)
                context->slab_count = options->backlog / options->producers;
        context->lanes = context_lines(context->producers * sizeof(struct lane));
        *out = context;
        for (unsigned i = 0; i < 3; i++)
                context->snapshots[i] = context_lines(FANIN_PRODUCERS_MAX * sizeof(unsigned));
        bool whole = context->lanes && context->snapshots[0] && context->snapshots[1] &&
                     context->snapshots[2];
        return whole ? 0 : -ENOMEM;
}

static int start_thread(struct context *context)
{
        sigset_t all, old;
        /* A foreign program's signals are not for the FFI thread, but a fault of its own is. */
        sigfillset(&all);
        static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
        for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++)
                sigdelset(&all, own[i]);
        pthread_sigmask(SIG_BLOCK, &all, &old);
        int error = pthread_create(&context->thread, NULL, ffi_main, context);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        return -error;
}

/* Queue, wake and thread; on failure nothing of them is left and *what names the refused part. */
static int start(struct context *context, const struct fanin_options *options,
        const struct spec *spec, const char **what)
{
        struct queue_config config = {
                .producers = options->producers,
                .backlog = options->backlog,
                .preallocate = spec->alloc == SPEC_SLAB,
                .guards = producer_guards,
        };
        memcpy(config.values, spec->values, sizeof config.values);
        *what = "the queue";
        int error = context->ops->create(&context->queue, &config);
        if (error)
                return error;
        if (spec->wake == WAKE_EDGE && !(context->queue->traits & QUEUE_SEES_EDGE)) {
                *what = "the queue, which does not see the edge as it is configured,";
                context->ops->destroy(context->queue);
                return -EINVAL;
        }
        *what = "the signal";
        error = wake_create(&context->wake, spec->wake, spec->signal, options->poll_ms);
        if (!error) {
                *what = "the FFI thread";
                error = start_thread(context);
                if (!error)
                        return 0;
                wake_destroy(&context->wake);
        }
        context->ops->destroy(context->queue);
        return error;
}

static void publish(unsigned slot, struct context *context)
{
        /* Both release, in this order: see context_find. */
        atomic_store_explicit(&context_slots[slot].context, context, memory_order_release);
        atomic_store_explicit(&context_slots[slot].generation, (uint32_t)(context->handle >> 32),
                memory_order_release);
}

/* Sets what is 0 to its default; false: why says what is wrong. */
static bool check_options(
        struct fanin_options *options, struct spec *spec, char *why, size_t why_bytes)
{
        if (!options->config) {
                snprintf(why, why_bytes,
                        "config is missing; allowed: "
                        "queue[:key=value…][/wake[/signal[/alloc]]]");
                return false;
        }
        if (!spec_parse(options->config, spec, why, why_bytes))
                return false;
        if (!options->producers)
                options->producers = FANIN_PRODUCERS_MAX;
        if (options->producers > FANIN_PRODUCERS_MAX)
                snprintf(why, why_bytes, "producers can't be %u; allowed: 1 to %d",
                        options->producers, FANIN_PRODUCERS_MAX);
        else if (options->poll_ms < 0)
                snprintf(why, why_bytes, "poll_ms can't be %d; allowed: 0 (off) or more",
                        options->poll_ms);
        else if (spec->wake == WAKE_POLL && !options->poll_ms)
                snprintf(why, why_bytes,
                        "poll_ms can't be 0 with wake 'poll', which looks every poll_ms; "
                        "allowed: 1 or more");
        else if (options->backlog > FANIN_BACKLOG_MAX)
                snprintf(why, why_bytes, "backlog can't be %zu; allowed: 0 to %d", options->backlog,
                        FANIN_BACKLOG_MAX);
        else if (spec->alloc == SPEC_SLAB && options->backlog < options->producers)
                snprintf(why, why_bytes,
                        "backlog can't be %zu with alloc 'slab'; allowed: %u (producers) or more",
                        options->backlog, options->producers);
        else
                return true;
        return false;
}

static int create_in(unsigned slot, fanin_handle *handle, const struct fanin_options *options,
        const struct spec *spec, char *why, size_t why_bytes)
{
        struct context *context = NULL;
        const char *what = "the context";
        int error = new_context(&context, options, spec);
        if (!error) {
                uint32_t generation = 1 + atomic_load_explicit(&context_slots[slot].generation,
                                                  memory_order_relaxed); /* ours since reserve */
                context->handle = (fanin_handle)generation << 32 | slot;
                error = start(context, options, spec, &what);
        }
        if (error) {
                if (context)
                        free_context(context);
                snprintf(why, why_bytes, "%s could not be made: %s", what, strerror(-error));
                return error == -ENOMEM   ? FANIN_NO_MEMORY
                       : error == -EINVAL ? FANIN_INVALID
                                          : FANIN_SYSTEM;
        }
        publish(slot, context);
        *handle = context->handle;
        return FANIN_OK;
}

int fanin_create(
        fanin_handle *handle, const struct fanin_options *given, char *why, size_t why_bytes)
{
        struct fanin_options options = *given;
        struct spec spec;
        char unread[1];
        if (!why) {
                why = unread;
                why_bytes = sizeof unread;
        }
        *handle = 0;
        if (!registry_check(why, why_bytes) || !check_options(&options, &spec, why, why_bytes))
                return FANIN_INVALID;
        unsigned slot;
        pthread_mutex_lock(&context_lock);
        queue_guard_init();
        bool reserved = reserve(&slot);
        pthread_mutex_unlock(&context_lock);
        if (!reserved) {
                snprintf(why, why_bytes, "%d contexts are live already", FANIN_CONTEXTS_MAX);
                return FANIN_TOO_MANY_CONTEXTS;
        }
        int result = create_in(slot, handle, &options, &spec, why, why_bytes);
        if (result)
                release_slot(slot);
        return result;
}

static void wait_for_submits(fanin_handle handle, unsigned *snapshot)
{
        queue_guard_barrier();
        unsigned producers = producer_high_water();
        queue_guard_snapshot(producer_guards, producers, snapshot);
        /* A producer inside a submit to another context is not waited for: that one may block for
         * as long as it likes. If inside_of is newer than the snapshot, the submit it saw is over.
         */
        for (unsigned i = 0; i < producers; i++)
                if (atomic_load_explicit(&producer_guards[i].inside_of, memory_order_relaxed) !=
                        handle)
                        snapshot[i] = 0;
        struct timespec pause = {.tv_nsec = 20000};
        while (!queue_guard_passed(producer_guards, producers, snapshot))
                nanosleep(&pause, NULL);
}

int fanin_destroy(fanin_handle handle)
{
        if (producer_self.serving)
                return FANIN_REENTRANT;
        pthread_mutex_lock(&context_lock);
        struct context *context = context_find(handle);
        uint32_t slot = (uint32_t)handle;
        if (context)
                /* Release: orders with publish's next use of the slot, see context_find. */
                atomic_store_explicit(&context_slots[slot].generation, (uint32_t)(handle >> 32) + 1,
                        memory_order_release);
        pthread_mutex_unlock(&context_lock);
        if (!context)
                return FANIN_STALE;

        wait_for_submits(handle, context->snapshots[2]);
        for (unsigned i = 0; i < context->producers; i++)
                context_flush(context, i);
        /* Release, with the acquire in ffi_main. */
        atomic_store_explicit(&context->closing, true, memory_order_release);
        wake_interrupt(&context->wake);
        pthread_join(context->thread, NULL);

        context->ops->destroy(context->queue);
        wake_destroy(&context->wake);
        free_context(context);
        release_slot(slot);
        return FANIN_OK;
}

static void add_lane(struct fanin_stats *stats, const struct lane *lane)
{
        stats->submits += counter_read(&lane->submits);
        stats->refused += counter_read(&lane->refused);
        stats->kept += counter_read(&lane->kept);
        stats->flushes += counter_read(&lane->flushes);
        stats->wakes += counter_read(&lane->wakes);
        stats->wakes_elided += counter_read(&lane->wakes_elided);
}

int fanin_stats(fanin_handle handle, struct fanin_stats *stats)
{
        pthread_mutex_lock(&context_lock); /* keeps destroy from going past its first step */
        struct context *context = context_find(handle);
        *stats = (struct fanin_stats){0};
        if (context) {
                /* Acquire, with the release in ffi.c's sleep_and_serve; before the others. */
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
