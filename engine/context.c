/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Contexts: create, destroy, and the handles that name them; submit.c submits, stats.c counts.
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

/* A sentence of what could not be made; the result. */
static int cannot_make(const char *what, int error, char *why, size_t why_bytes)
{
        snprintf(why, why_bytes, "%s could not be made: %s", what, strerror(-error));
        return error == -ENOMEM ? FANIN_NO_MEMORY : error == -EINVAL ? FANIN_INVALID : FANIN_SYSTEM;
}

static int make_queue(struct context *context, const struct fanin_options *options,
        const struct spec *spec, char *why, size_t why_bytes)
{
        struct queue_config config = {
                .producers = options->producers,
                .backlog = options->backlog,
                .preallocate = spec->alloc == SPEC_SLAB,
                .guards = producer_guards,
                .guards_of = context->handle,
        };
        memcpy(config.values, spec->values, sizeof config.values);
        int error = context->ops->create(&context->queue, &config);
        if (error) {
                char queue[SPEC_BYTES], what[SPEC_BYTES + 16];
                spec_print_queue(spec, queue, sizeof queue);
                snprintf(what, sizeof what, "queue '%s'", queue);
                return cannot_make(what, error, why, why_bytes);
        }
        if (spec_check(spec, context->queue->traits, why, why_bytes))
                return FANIN_OK;
        context->ops->destroy(context->queue);
        return FANIN_INVALID;
}

/* Queue, wake and thread; on failure nothing of them is left. */
static int start(struct context *context, const struct fanin_options *options,
        const struct spec *spec, char *why, size_t why_bytes)
{
        int result = make_queue(context, options, spec, why, why_bytes);
        if (result)
                return result;
        const char *what = "the signal";
        int error = wake_create(&context->wake, spec->wake, spec->signal, options->poll_ms,
                context->ops, context->queue);
        if (!error) {
                what = "the FFI thread";
                error = start_thread(context);
                if (!error)
                        return FANIN_OK;
                wake_destroy(&context->wake);
        }
        context->ops->destroy(context->queue);
        return cannot_make(what, error, why, why_bytes);
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
        struct fanin_options *options, const struct spec *spec, char *why, size_t why_bytes)
{
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
        int error = new_context(&context, options, spec);
        int result = error ? cannot_make("the context", error, why, why_bytes) : FANIN_OK;
        if (!result) {
                uint32_t generation = 1 + atomic_load_explicit(&context_slots[slot].generation,
                                                  memory_order_relaxed); /* ours since reserve */
                context->handle = (fanin_handle)generation << 32 | slot;
                result = start(context, options, spec, why, why_bytes);
        }
        if (result) {
                if (context)
                        free_context(context);
                return result;
        }
        publish(slot, context);
        *handle = context->handle;
        return FANIN_OK;
}

int context_create(fanin_handle *handle, const struct fanin_options *given, const struct spec *spec,
        char *why, size_t why_bytes)
{
        struct fanin_options options = *given;
        if (!check_options(&options, spec, why, why_bytes))
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
        int result = create_in(slot, handle, &options, spec, why, why_bytes);
        if (result)
                release_slot(slot);
        return result;
}

int fanin_create(
        fanin_handle *handle, const struct fanin_options *options, char *why, size_t why_bytes)
{
        struct spec spec;
        char unread[1];
        if (!why) {
                why = unread;
                why_bytes = sizeof unread;
        }
        *handle = 0;
        if (!registry_check(why, why_bytes))
                return FANIN_INVALID;
        if (!options->config) {
                snprintf(why, why_bytes,
                        "config is missing; allowed: "
                        "queue[:key=value…][/wake[/signal[/alloc]]]");
                return FANIN_INVALID;
        }
        if (!spec_parse(options->config, &spec, why, why_bytes))
                return FANIN_INVALID;
        return context_create(handle, options, &spec, why, why_bytes);
}

static void wait_for_submits(fanin_handle handle, unsigned *snapshot)
{
        queue_guard_barrier();
        unsigned producers = producer_high_water();
        queue_guard_snapshot(producer_guards, producers, handle, snapshot);
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
