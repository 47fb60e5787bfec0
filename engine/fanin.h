/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * libfanin: many foreign threads submit requests to one FFI thread, through a queue and a wake
 * policy chosen by a string.
 *
 * A context owns one FFI thread. Any thread may submit; the handler and then the callback run on
 * the FFI thread. Every accepted request gets exactly one callback: done, or cancelled when its
 * context is destroyed first. A refused submit (result not FANIN_OK) gets none.
 *
 * Not safe across fork: a child must not use contexts of its parent.
 */
#ifndef FANIN_H
#define FANIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FANIN_API __attribute__((visibility("default")))
#else
#define FANIN_API
#endif

#define FANIN_PRODUCERS_MAX 4096    /* live threads that have submitted, in the whole process */
#define FANIN_CONTEXTS_MAX 256      /* live contexts */
#define FANIN_BACKLOG_MAX (1 << 30) /* requests outstanding, of one context */
#define FANIN_NO_PRODUCER FANIN_PRODUCERS_MAX

/* A context's name, generation-tagged: one that outlives its context is refused, never mistaken. 0
 * is never valid. */
typedef uint64_t fanin_handle;

enum fanin_result {
        FANIN_OK = 0,
        FANIN_STALE = -1,             /* the handle's context is gone, or never was */
        FANIN_FULL = -2,              /* no room; the request stays the caller's, who may retry */
        FANIN_CANCELLED = -3,         /* to callbacks only: the context was destroyed first */
        FANIN_REENTRANT = -4,         /* from a handler or callback, where it would deadlock */
        FANIN_TOO_MANY_THREADS = -5,  /* FANIN_PRODUCERS_MAX, or the context's own limit */
        FANIN_TOO_MANY_CONTEXTS = -6, /* FANIN_CONTEXTS_MAX */
        FANIN_INVALID = -7, /* the options; why names the part, its value, what is allowed */
        FANIN_NO_MEMORY = -8,
        FANIN_SYSTEM = -9, /* the system refused; why says what */
};

/* A sentence for a result. Static; any thread. */
FANIN_API const char *fanin_result_text(int result);

/* On the FFI thread, once per accepted request. ret is the handler's, or FANIN_CANCELLED; msg (len
 * bytes, may be NULL) lives until the callback returns. It may submit to other contexts, not its
 * own. */
typedef void (*fanin_callback)(int ret, const char *msg, size_t len, void *user_data);

/* On the FFI thread, before the callback. Sets *msg and *len to an answer that outlives the
 * callback, or leaves them NULL and 0. Its result becomes ret; 0 and positive values are its own.
 */
typedef int (*fanin_handler)(void *handler_data, const void *payload, size_t payload_bytes,
        const char **msg, size_t *len);

/* Zero means the default throughout. */
struct fanin_options {
        /* queue[:key=value…][/wake[/signal[/alloc]]], for example "sharded_mutex:shards=64/edge".
         * Defaults: wake pending, signal eventfd (poll and own: none), alloc malloc. Required. */
        const char *config;
        unsigned producers; /* limit on producer indices in this context; FANIN_PRODUCERS_MAX */
        size_t backlog;     /* requests outstanding at most, over all producers; required by slab,
                             * which then grants each producer backlog/producers; else a hint */
        int poll_ms; /* the FFI thread looks at least so often; 0: only when woken. The policy
                      * poll requires it */
        fanin_handler handler; /* none: every request succeeds at once */
        void *handler_data;    /* the caller's, until destroy has returned */
};

/* Starts a context and its FFI thread. On failure *handle is 0 and why (why_bytes of it, may be
 * NULL) gets one sentence. Any thread. */
FANIN_API int fanin_create(
        fanin_handle *handle, const struct fanin_options *options, char *why, size_t why_bytes);

/* Hands a request over. payload is the caller's and must live until the callback. Any thread but
 * the handle's own FFI thread; beside destroy it is either accepted or gets FANIN_STALE. It does
 * not block, except where the queue's push does (`fanin list`). */
FANIN_API int fanin_submit(fanin_handle handle, const void *payload, size_t payload_bytes,
        fanin_callback callback, void *user_data);

/* The same for a caller that keeps its producer index itself: producer is what fanin_producer gave
 * this thread. Doesn't detect FANIN_REENTRANT. */
FANIN_API int fanin_submit_as(fanin_handle handle, unsigned producer, const void *payload,
        size_t payload_bytes, fanin_callback callback, void *user_data);

/* Makes visible what a queue that keeps requests (private) has kept for this thread. Done as well
 * when the thread ends or the context is destroyed. */
FANIN_API int fanin_flush(fanin_handle handle);

/* This thread's producer index, taken at its first submit or here, given back when the thread ends:
 * a number below FANIN_PRODUCERS_MAX, the lowest that is free, or FANIN_NO_PRODUCER. */
FANIN_API unsigned fanin_producer(void);

/* Refuses further submits, waits for those under way, cancels what the FFI thread has not handled
 * yet (a hand-off's too, though its submit has returned), joins it and frees all. When it returns,
 * every accepted request has had its callback. Not from a handler or callback of any context
 * (FANIN_REENTRANT). */
FANIN_API int fanin_destroy(fanin_handle handle);

/*
 * What happened so far. Each counter has one writer; a reading while producers run is a moment's.
 * After the last submit and callback:
 *      submits == completed + cancelled
 *      wakes + wakes_elided == submits - kept + flushes
 *      wakes_spurious <= wakes (but under own)
 * that is, each request or batch of them that became visible either sent a wake or didn't, and each
 * wake ends one sleep at most. A library built with -DFANIN_COUNTERS=0 counts nothing: all is 0 but
 * ordered, instead and asleep.
 */
struct fanin_stats {
        uint64_t submits; /* accepted */
        uint64_t refused; /* FANIN_FULL or FANIN_NO_MEMORY */
        uint64_t kept;    /* of the accepted: kept by the producer until a flush */
        uint64_t flushes; /* that handed something over */
        uint64_t wakes;   /* sent (uv_async: handed to libuv, which may elide) */
        /* Not sent, since the policy or the socketpair's peek said so. Under poll and own, which
         * send nothing, that is all of them: the queue's own wakes are not the engine's. */
        uint64_t wakes_elided;
        uint64_t completed; /* handled, callback returned */
        uint64_t cancelled; /* callback with FANIN_CANCELLED returned */
        uint64_t
                late_wakes; /* the fallback poll found work of a producer still inside its submit */
        uint64_t lost_wakes; /* … and no producer was inside a submit: a bug */
        uint64_t stalls;     /* times the FFI thread met an unfinished push and had nothing else */
        uint64_t stalled_ns; /* in all of them */
        /* Sleeps that a wake ended, yet nothing was left to take: another wake's pass had taken
         * what it was sent for. Not the fallback poll's. */
        uint64_t wakes_spurious;
        uint64_t slept_ns; /* the FFI thread's time in all its sleeps, the present one included */
        uint64_t drains;   /* passes that found work and went on to EMPTY */
        uint64_t largest_drain; /* requests taken in one such pass */
        uint64_t ordered;       /* 1: each producer's requests are called back in its order */
        const char *instead; /* NULL, or what runs in place of the configured queue, which can't run
                              * here; static */
        uint64_t asleep; /* 1: the FFI thread waits to be woken, and its counters are final for what
                          * was called back so far */
        uint64_t counted; /* 1; 0: built with -DFANIN_COUNTERS=0 */
};

/* Any thread. FANIN_OK or FANIN_STALE. */
FANIN_API int fanin_stats(fanin_handle handle, struct fanin_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
