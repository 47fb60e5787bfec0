/* needs: glib-2.0 */
/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * GLib's GAsyncQueue as C programs use it: g_async_queue_push, and a consumer that waits in the
 * queue itself (the wake `own`). The other wakes work too, and then it is a queue like any.
 *
 * Algorithm: a doubly linked list of pointers under one mutex, with a condition that push signals
 * if somebody waits. GLib allocates a list node per push, inside the lock, and has no way to
 * preallocate them: under `slab` too, a push allocates. Without memory GLib ends the process.
 * Source: GLib 2 (glib/gasyncqueue.c), used through its interface.
 *
 * Who beside whom: any number of producers and one consumer; all exclusion is GLib's mutex.
 *
 * Linearisation point: of push, the link under the mutex; EMPTY is the pop under it that found
 * nothing. No edge: push doesn't say whether the list was empty, and a length read beside it is
 * another moment's.
 *
 * A producer that stops mid-push holds the mutex: everyone waits, drain too.
 *
 * wait keeps what it took for the next drain, which hands it out first. interrupt pushes a mark of
 * ours, that drain and wait swallow; one that drain has swallowed ends the next wait.
 */
#include <errno.h>
#include <stdlib.h>

#include <glib.h>

#include "../queue.h"

/* GLib's list node, rounded up as its allocator does. */
enum { CELL_BYTES = (sizeof(GList) + 15) / 16 * 16 };

struct glib_queue {
        struct queue head;
        GAsyncQueue *list;
        struct queue_node interruption;              /* the mark: only its address is used */
        alignas(QUEUE_LINE) struct queue_node *kept; /* the consumer's, as what follows */
        bool interrupted;
};

static int glib_create(struct queue **out, const struct queue_config *config);

static void glib_destroy(struct queue *base)
{
        struct glib_queue *queue = (struct glib_queue *)base;
        g_async_queue_unref(queue->list); /* frees its nodes, not what they point to */
        free(queue);
}

static enum queue_pushed glib_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        (void)producer;
        struct glib_queue *queue = (struct glib_queue *)base;
        /* With the acquire in take: GLib's mutex is made of futexes, which ThreadSanitizer can't
         * see. */
        queue_hidden_release(queue);
#ifdef QUEUE_STEP
        /* g_async_queue_push taken apart, so that a producer can stop inside. */
        g_async_queue_lock(queue->list);
        g_async_queue_push_unlocked(queue->list, node);
        queue_step();
        g_async_queue_unlock(queue->list);
#else
        g_async_queue_push(queue->list, node);
#endif
        return QUEUE_PUSHED;
}

/* What a pop gave; NULL: nothing, or our mark. */
static struct queue_node *take(struct glib_queue *queue, struct queue_node *popped)
{
        if (popped)
                queue_hidden_acquire(queue); /* with the release in glib_push, glib_interrupt */
        if (popped != &queue->interruption)
                return popped;
        queue->interrupted = true;
        return NULL;
}

/* The batch is popped under one lock. */
static struct queue_drained glib_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct glib_queue *queue = (struct glib_queue *)base;
        unsigned count = 0;
        if (max && queue->kept) {
                out[count++] = queue->kept;
                queue->kept = NULL;
        }
        g_async_queue_lock(queue->list);
        void *popped = NULL;
        while (count < max && (popped = g_async_queue_try_pop_unlocked(queue->list)))
                if ((out[count] = take(queue, popped)))
                        count++;
        g_async_queue_unlock(queue->list);
        return (struct queue_drained){count, count < max ? QUEUE_EMPTY : QUEUE_MORE};
}

static bool glib_wait(struct queue *base, int timeout_ms)
{
        struct glib_queue *queue = (struct glib_queue *)base;
        if (!queue->kept && !queue->interrupted) {
                void *popped = timeout_ms < 0 ? g_async_queue_pop(queue->list)
                               : timeout_ms   ? g_async_queue_timeout_pop(
                                                        queue->list, (guint64)timeout_ms * 1000)
                                            : g_async_queue_try_pop(queue->list);
                queue->kept = take(queue, popped);
        }
        bool interrupted = queue->interrupted;
        queue->interrupted = false;
        return queue->kept || interrupted;
}

static void glib_interrupt(struct queue *base)
{
        struct glib_queue *queue = (struct glib_queue *)base;
        queue_hidden_release(queue); /* with the acquire in take */
        g_async_queue_push(queue->list, &queue->interruption);
}

static const struct queue_ops glib_async_ops = {
        .name = "glib_async",
        .summary = "GLib's GAsyncQueue, which allocates a list node a push; with its own wait: "
                   "glib_async/own",
        .source = "GLib 2",
        .traits = QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER | QUEUE_ALLOCATES,
        .cell_bytes = CELL_BYTES,
        .seen = QUEUE_SEEN_AS_TOLD,
        .create = glib_create,
        .destroy = glib_destroy,
        .push = glib_push,
        .drain = glib_drain,
        .wait = glib_wait,
        .interrupt = glib_interrupt,
};

static int glib_create(struct queue **out, const struct queue_config *config)
{
        (void)config;
        struct glib_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct glib_queue){.head.traits = glib_async_ops.traits};
        queue->list = g_async_queue_new();
        *out = &queue->head;
        return 0;
}

const struct queue_ops *const glib_async_backends[] = {&glib_async_ops, NULL};
