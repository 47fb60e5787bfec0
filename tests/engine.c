/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A context's life: create, submit, one callback each, destroy, and what each refuses. Over every
 * queue where a queue can make a difference. Waking has wake.c, producer indices have producer.c.
 */
#include <sched.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "contract/report.h"
#include "doing.h"

enum { PRODUCERS = 16, BACKLOG = 64 * PRODUCERS };

static fanin_handle start(const char *config, fanin_handler handler, void *handler_data)
{
        const struct fanin_options options = {.config = config,
                .producers = PRODUCERS,
                .backlog = BACKLOG,
                .handler = handler,
                .handler_data = handler_data};
        return start_with(&options);
}

/* Callbacks by what they were told. */
struct tally {
        _Atomic unsigned done, cancelled, other;
};

static void count(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        struct tally *tally = user_data;
        atomic_fetch_add(ret == FANIN_OK          ? &tally->done
                         : ret == FANIN_CANCELLED ? &tally->cancelled
                                                  : &tally->other,
                1);
}

/* Exactly once, and the account, over every queue and both ways to allocate. */

enum { CROWD = 3, CROWD_EACH = 2000, CROWD_ALL = CROWD * CROWD_EACH };

struct crowd {
        fanin_handle handle;
        struct tally total;
        _Atomic unsigned starts;
        struct tally each[CROWD_ALL];
        uint64_t full;
        pthread_mutex_t lock;
};

static struct crowd crowd;

static void count_in_crowd(int ret, const char *msg, size_t len, void *user_data)
{
        count(ret, msg, len, user_data);
        count(ret, msg, len, &crowd.total);
}

static void *submit_in_crowd(void *unused)
{
        (void)unused;
        unsigned first = atomic_fetch_add(&crowd.starts, 1) * CROWD_EACH;
        uint64_t full = 0;
        for (unsigned i = 0; i < CROWD_EACH;) {
                int result =
                        fanin_submit(crowd.handle, NULL, 0, count_in_crowd, &crowd.each[first + i]);
                if (result == FANIN_FULL) {
                        full++;
                        fanin_flush(crowd.handle); /* what is kept keeps its place in the slab */
                        sched_yield();
                } else if (result) {
                        note("submit refused");
                        break;
                } else {
                        i++;
                }
        }
        if (fanin_flush(crowd.handle))
                note("flush refused");
        pthread_mutex_lock(&crowd.lock);
        crowd.full += full;
        pthread_mutex_unlock(&crowd.lock);
        return NULL;
}

static void assert_account(fanin_handle handle, uint64_t submits, uint64_t refused, bool keeps)
{
        struct fanin_stats stats;
        do /* a request is counted after its callback, a pass after its requests */
                assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
        while (stats.completed + stats.cancelled < submits || !stats.asleep);
        assert_equal("submits", stats.submits, submits);
        assert_equal("completed", stats.completed, submits);
        assert_equal("cancelled", stats.cancelled, 0);
        assert_equal("refused", stats.refused, refused);
        assert_equal("wakes + elided", stats.wakes + stats.wakes_elided,
                stats.submits - stats.kept + stats.flushes);
        assert_equal("kept", stats.kept, keeps ? submits : 0);
        if (!keeps)
                assert_equal("flushes", stats.flushes, 0);
        assert_equal("lost_wakes", stats.lost_wakes, 0);
        assert_equal("late_wakes", stats.late_wakes, 0);
        assert_in_range(stats.drains, 1, submits);
        assert_in_range(stats.largest_drain, 1, submits);
}

static void run_crowd(const struct queue_ops *ops)
{
        pthread_t threads[CROWD];
        crowd = (struct crowd){.handle = start(doing, NULL, NULL),
                .lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER};
        for (unsigned i = 0; i < CROWD; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, submit_in_crowd, NULL), 0);
        for (unsigned i = 0; i < CROWD; i++)
                pthread_join(threads[i], NULL);
        assert_unfailed();
        await(&crowd.total.done, CROWD_ALL);
        assert_account(crowd.handle, CROWD_ALL, crowd.full, ops->flush);
        stop(crowd.handle);
        assert_equal("callbacks", crowd.total.done, CROWD_ALL);
        for (unsigned i = 0; i < CROWD_ALL; i++)
                assert_equal("one request's callbacks", crowd.each[i].done, 1);
}

static void test_exactly_once(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                for (unsigned alloc = 0; alloc < SPEC_ALLOCS; alloc++) {
                        begin("%s/pending/eventfd/%s", ops->name, spec_alloc_names[alloc]);
                        run_crowd(ops);
                }
}

/* What travels with a request. */

static int answer(void *handler_data, const void *payload, size_t payload_bytes, const char **msg,
        size_t *len)
{
        if (*msg || *len)
                note("the handler's msg and len are not NULL and 0 before");
        if (!payload) {
                if (payload_bytes)
                        note("a NULL payload has bytes");
                return 0;
        }
        *msg = (const char *)payload + 1;
        *len = payload_bytes - 1;
        return *(int *)handler_data;
}

struct received {
        int ret;
        const char *msg;
        size_t len;
        _Atomic unsigned count;
};

static void receive(int ret, const char *msg, size_t len, void *user_data)
{
        struct received *received = user_data;
        received->ret = ret;
        received->msg = msg;
        received->len = len;
        atomic_fetch_add(&received->count, 1);
}

static void test_content(void **state)
{
        (void)state;
        static const char text[] = "payload";
        const int rets[] = {0, 1, -100, INT_MAX, INT_MIN};
        int ret;
        for (unsigned i = 0; i < sizeof rets / sizeof *rets; i++) {
                ret = rets[i];
                begin("content, ret %d", ret);
                fanin_handle handle = start("mutex", answer, &ret);
                struct received received = {.ret = 99}, empty = {.ret = 99, .len = 99};
                assert_int_equal(fanin_submit(handle, text, 7, receive, &received), FANIN_OK);
                assert_int_equal(fanin_submit(handle, NULL, 0, receive, &empty), FANIN_OK);
                assert_int_equal(fanin_submit(handle, text, 7, NULL, NULL), FANIN_OK);
                await(&empty.count, 1);
                assert_account(handle, 3, 0, false);
                stop(handle);
                assert_int_equal(received.count, 1);
                assert_int_equal(received.ret, ret);
                assert_ptr_equal(received.msg, text + 1);
                assert_int_equal(received.len, 6);
                assert_int_equal(empty.count, 1);
                assert_int_equal(empty.ret, 0);
                assert_null(empty.msg);
                assert_int_equal(empty.len, 0);
        }
}

static void test_neither_handler_nor_callback(void **state)
{
        (void)state;
        begin("neither handler nor callback");
        fanin_handle handle = start("vyukov", NULL, NULL);
        for (unsigned i = 0; i < 100; i++)
                assert_int_equal(fanin_submit(handle, "x", 1, NULL, NULL), FANIN_OK);
        assert_account(handle, 100, 0, false);
        stop(handle);
}

/* What create refuses. */

static char too_long[SPEC_BYTES + 1];

static void test_invalid_options(void **state)
{
        (void)state;
        memset(too_long, 'a', SPEC_BYTES);
        const struct {
                struct fanin_options options;
                const char *part, *value, *allowed;
        } cases[] = {
                {{.config = NULL}, "config", "missing",
                        "queue[:key=value…][/wake[/signal[/alloc]]]"},
                {{.config = ""}, "queue", "''", "vyukov"},
                {{.config = "nothing"}, "queue", "'nothing'", "vyukov"},
                {{.config = too_long}, "configuration", "256", "255"},
                {{.config = "mutex/every/eventfd/malloc/more"}, "configuration",
                        "'mutex/every/eventfd/malloc/more'", "[/alloc]"},
                {{.config = "mutex/never"}, "wake", "'never'", "every"},
                {{.config = "mutex/every/bell"}, "signal", "'bell'", "eventfd"},
                {{.config = "mutex/every/eventfd/pool"}, "alloc", "'pool'", "slab"},
                {{.config = "sharded_mutex:shards=0"}, "key 'shards'", "'0'", "1 to 1024"},
                {{.config = "sharded_mutex:shards=1025"}, "key 'shards'", "'1025'", "1 to 1024"},
                {{.config = "sharded_mutex:shards=-1"}, "key 'shards'", "'-1'", "1 to 1024"},
                {{.config = "sharded_mutex:shards"}, "key 'shards'", "''", "1 to 1024"},
                {{.config = "sharded_mutex:shards=2:shards=2"}, "key 'shards'", "twice", ""},
                {{.config = "sharded_mutex:shard=2"}, "key 'shard'", "no key", "shards"},
                {{.config = "mutex:shards=2"}, "key 'shards'", "no key", "none"},
                {{.config = "mutex", .producers = 4097}, "producers", "4097", "1 to 4096"},
                {{.config = "mutex", .poll_ms = -1}, "poll_ms", "-1", "0 (off) or more"},
                {{.config = "mutex/poll"}, "poll_ms", "0", "1 or more"},
                {{.config = "mutex/every/eventfd/slab"}, "backlog", "0", "4096"},
                {{.config = "mutex/every/eventfd/slab", .producers = 8, .backlog = 7}, "backlog",
                        "7", "8 "},
                {{.config = "mutex", .backlog = (size_t)FANIN_BACKLOG_MAX + 1}, "backlog",
                        "1073741825", "1073741824"},
                {{.config = "faa/edge"}, "wake 'edge'",
                        "'faa': it needs a queue that sees the edge",
                        "allowed: every, pending, flag, "},
                {{.config = "handshake/poll", .poll_ms = 1}, "wake 'poll'", "'handshake'",
                        "allowed: every, edge, pending, flag"},
                {{.config = "mutex/own"}, "wake 'own'", "'mutex'", "allowed: every, edge"},
                {{.config = "mutex/own/eventfd"}, "wake 'own'", "'mutex'", "poll"},
                {{.config = "mutex/every/none"}, "signal 'none'", "'every'",
                        "eventfd, futex, condvar, pipe, socketpair"},
                {{.config = "mutex/asym/none"}, "signal 'none'", "'asym'", "eventfd, futex"},
                {{.config = "mutex/poll/eventfd", .poll_ms = 1}, "signal 'eventfd'", "'poll'",
                        "none"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                char why[512] = "", tiny[8];
                fanin_handle handle = 7;
                begin("options %u", i);
                assert_int_equal(
                        fanin_create(&handle, &cases[i].options, why, sizeof why), FANIN_INVALID);
                assert_equal("handle", handle, 0);
                if (!strstr(why, cases[i].part) || !strstr(why, cases[i].value) ||
                        !strstr(why, cases[i].allowed))
                        fail_msg("'%s' doesn't name %s, %s and %s", why, cases[i].part,
                                cases[i].value, cases[i].allowed);
                if (*cases[i].allowed && !strstr(why, "allowed"))
                        fail_msg("'%s' doesn't say what is allowed", why);
                assert_int_equal(fanin_create(&handle, &cases[i].options, NULL, 0), FANIN_INVALID);
                assert_int_equal(
                        fanin_create(&handle, &cases[i].options, tiny, sizeof tiny), FANIN_INVALID);
                assert_memory_equal(tiny, why, sizeof tiny - 1);
                assert_int_equal(tiny[sizeof tiny - 1], '\0');
        }
}

/* What the table promises and this configuration doesn't. */

static const struct queue_ops *seeing;

static int create_blind(struct queue **out, const struct queue_config *config)
{
        int error = seeing->create(out, config);
        if (!error)
                (*out)->traits &= ~(unsigned)QUEUE_SEES_EDGE;
        return error;
}

static void test_edge_is_cleared(void **state)
{
        (void)state;
        begin("a queue that doesn't see the edge as it is configured");
        struct spec spec;
        char why[512] = "";
        fanin_handle handle;
        assert_true(spec_parse("sharded_mutex:shards=3/edge", &spec, why, sizeof why));
        seeing = spec.queue;
        struct queue_ops blind = *seeing;
        blind.create = create_blind;
        spec.queue = &blind;
        const struct fanin_options options = {.producers = PRODUCERS};
        assert_int_equal(context_create(&handle, &options, &spec, why, sizeof why), FANIN_INVALID);
        if (!strstr(why, "wake 'edge' can't serve 'sharded_mutex:shards=3") ||
                !strstr(why, "sees the edge; allowed: every, pending, flag"))
                fail_msg("'%s' doesn't name what is refused and what is allowed", why);
        spec.wake = WAKE_PENDING;
        assert_int_equal(context_create(&handle, &options, &spec, why, sizeof why), FANIN_OK);
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        assert_account(handle, 1, 0, false);
        stop(handle);
}

static void test_result_text(void **state)
{
        (void)state;
        for (int i = FANIN_SYSTEM; i <= 0; i++)
                for (int j = FANIN_SYSTEM - 1; j < i; j++)
                        assert_string_not_equal(fanin_result_text(i), fanin_result_text(j));
}

static void test_contexts_max(void **state)
{
        (void)state;
        begin("contexts at most");
        static fanin_handle handles[FANIN_CONTEXTS_MAX + 1];
        for (unsigned i = 0; i < FANIN_CONTEXTS_MAX; i++)
                handles[i] = start("mutex", NULL, NULL);
        const struct fanin_options options = {.config = "mutex"};
        fanin_handle one_more = 7;
        char why[512] = "";
        assert_int_equal(
                fanin_create(&one_more, &options, why, sizeof why), FANIN_TOO_MANY_CONTEXTS);
        assert_equal("handle", one_more, 0);
        assert_non_null(strstr(why, "256"));
        stop(handles[100]);
        handles[100] = start("mutex", NULL, NULL);
        struct tally tally = {0};
        for (unsigned i = 0; i < FANIN_CONTEXTS_MAX; i++)
                assert_int_equal(fanin_submit(handles[i], NULL, 0, count, &tally), FANIN_OK);
        await(&tally.done, FANIN_CONTEXTS_MAX);
        for (unsigned i = 0; i < FANIN_CONTEXTS_MAX; i++)
                stop(handles[i]);
        assert_int_equal(tally.done, FANIN_CONTEXTS_MAX);
}

static void *submit_once(void *handle)
{
        return (void *)(intptr_t)fanin_submit(*(fanin_handle *)handle, NULL, 0, NULL, NULL);
}

/* The context's own limit; ours is index 0, held by the main thread. */
static void test_producers_limit(void **state)
{
        (void)state;
        begin("a context's own limit of producers");
        const struct fanin_options options = {.config = "mutex", .producers = 1};
        fanin_handle handle;
        assert_int_equal(fanin_producer(), 0);
        assert_int_equal(fanin_create(&handle, &options, NULL, 0), FANIN_OK);
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, submit_once, &handle), 0);
        pthread_join(thread, &result);
        assert_int_equal((intptr_t)result, FANIN_TOO_MANY_THREADS);
        assert_int_equal(fanin_submit_as(handle, 1, NULL, 0, NULL, NULL), FANIN_TOO_MANY_THREADS);
        assert_int_equal(fanin_submit_as(handle, FANIN_NO_PRODUCER, NULL, 0, NULL, NULL),
                FANIN_TOO_MANY_THREADS);
        assert_int_equal(fanin_submit_as(handle, 0, NULL, 0, NULL, NULL), FANIN_OK);
        assert_account(handle, 2, 0, false);
        stop(handle);
}

/* Handles. */

static void assert_stale(fanin_handle handle)
{
        struct fanin_stats stats;
        struct tally tally = {0};
        memset(&stats, 0xff, sizeof stats);
        assert_int_equal(fanin_submit(handle, NULL, 0, count, &tally), FANIN_STALE);
        assert_int_equal(fanin_submit_as(handle, 0, NULL, 0, count, &tally), FANIN_STALE);
        assert_int_equal(fanin_flush(handle), FANIN_STALE);
        assert_int_equal(fanin_stats(handle, &stats), FANIN_STALE);
        assert_int_equal(stats.submits, 0);
        assert_int_equal(fanin_destroy(handle), FANIN_STALE);
        assert_int_equal(tally.done + tally.cancelled + tally.other, 0);
}

static void test_stale(void **state)
{
        (void)state;
        begin("stale handles");
        fanin_producer(); /* index 0 is the main thread's */
        fanin_handle old = start("mutex", NULL, NULL);
        stop(old);
        assert_stale(old);
        fanin_handle young = start("mutex", NULL, NULL);
        assert_equal("slot", (uint32_t)young, (uint32_t)old); /* else it proves nothing */
        assert_true(young != old);
        assert_stale(old);
        const fanin_handle garbage[] = {0, 1, UINT64_MAX, young + 1, young ^ UINT64_C(1) << 63,
                young + (UINT64_C(1) << 32), young - (UINT64_C(1) << 32), young | 1u << 31,
                young & UINT32_MAX, young >> 32, FANIN_CONTEXTS_MAX, FANIN_CONTEXTS_MAX - 1};
        for (unsigned i = 0; i < sizeof garbage / sizeof *garbage; i++)
                if (garbage[i] != young)
                        assert_stale(garbage[i]);
        struct tally tally = {0};
        assert_int_equal(fanin_submit(young, NULL, 0, count, &tally), FANIN_OK);
        await(&tally.done, 1);
        stop(young);
        assert_stale(young);
}

static void *destroy(void *handle)
{
        return (void *)(intptr_t)fanin_destroy(*(fanin_handle *)handle);
}

static void test_destroyers_race(void **state)
{
        (void)state;
        begin("two threads destroy one context");
        for (unsigned i = 0; i < 1000; i++) {
                fanin_handle handle = start("mutex", NULL, NULL);
                pthread_t thread;
                void *theirs;
                assert_int_equal(pthread_create(&thread, NULL, destroy, &handle), 0);
                int ours = fanin_destroy(handle);
                pthread_join(thread, &theirs);
                assert_true((ours == FANIN_OK && (intptr_t)theirs == FANIN_STALE) ||
                            (ours == FANIN_STALE && (intptr_t)theirs == FANIN_OK));
        }
}

/* From the FFI thread. */

static struct {
        fanin_handle own, other;
        struct tally own_tally, other_tally;
        _Atomic unsigned tries;
} inner;

static void try_all(void)
{
        struct fanin_stats stats;
        if (fanin_submit(inner.own, NULL, 0, count, &inner.own_tally) != FANIN_REENTRANT)
                note("a submit to its own context was not refused as re-entrant");
        if (fanin_submit(inner.other, NULL, 0, count, &inner.other_tally) != FANIN_OK)
                note("a submit to another context was refused");
        if (fanin_destroy(inner.own) != FANIN_REENTRANT)
                note("destroy of its own context was not refused as re-entrant");
        if (fanin_destroy(inner.other) != FANIN_REENTRANT)
                note("destroy of another context was not refused as re-entrant");
        if (fanin_stats(inner.own, &stats) != FANIN_OK)
                note("stats of its own context were refused");
        atomic_fetch_add(&inner.tries, 1);
}

static int try_in_handler(void *handler_data, const void *payload, size_t payload_bytes,
        const char **msg, size_t *len)
{
        (void)handler_data, (void)payload, (void)payload_bytes, (void)msg, (void)len;
        try_all();
        return 0;
}

static void try_in_callback(int ret, const char *msg, size_t len, void *user_data)
{
        (void)ret, (void)msg, (void)len, (void)user_data;
        try_all();
}

static void test_reentrant(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                begin("%s, from handler and callback", ops->name);
                memset(&inner, 0, sizeof inner);
                inner.other = start("vyukov", NULL, NULL);
                inner.own = start(ops->name, try_in_handler, NULL);
                for (unsigned n = 1; n <= 3; n++) {
                        assert_int_equal(
                                fanin_submit(inner.own, NULL, 0, try_in_callback, NULL), FANIN_OK);
                        assert_int_equal(fanin_flush(inner.own), FANIN_OK);
                        await(&inner.tries, 2 * n);
                }
                await(&inner.other_tally.done, 6);
                stop(inner.own);
                stop(inner.other);
                assert_equal("other's callbacks", inner.other_tally.done, 6);
                assert_equal("own callbacks", inner.own_tally.done, 0);
                assert_equal("tries", inner.tries, 6);
        }
}

/* Closing. */

/* A handler that holds the FFI thread while it handles the gate. */
struct gate {
        sem_t entered, open;
};

static int hold(void *handler_data, const void *payload, size_t payload_bytes, const char **msg,
        size_t *len)
{
        (void)payload_bytes, (void)msg, (void)len;
        struct gate *gate = handler_data;
        if (payload == gate) {
                sem_post(&gate->entered);
                while (sem_wait(&gate->open))
                        ;
        }
        return 0;
}

static struct gate gate;

static fanin_handle start_held(const char *config, struct tally *first)
{
        sem_init(&gate.entered, 0, 0);
        sem_init(&gate.open, 0, 0);
        fanin_handle handle = start(config, hold, &gate);
        assert_int_equal(fanin_submit(handle, &gate, 0, count, first), FANIN_OK);
        assert_int_equal(fanin_flush(handle), FANIN_OK);
        while (sem_wait(&gate.entered))
                ;
        return handle;
}

/* Destroys from another thread, and lets the FFI thread go on once submits are refused and, if
 * nobody is inside one, the context is closing. */
static void destroy_held(fanin_handle handle, bool until_closing)
{
        struct context *context = context_slots[(uint32_t)handle].context;
        struct fanin_stats stats;
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, destroy, &handle), 0);
        while (fanin_stats(handle, &stats) != FANIN_STALE)
                pause_shortly();
        while (until_closing && !atomic_load(&context->closing))
                pause_shortly();
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_STALE);
        sem_post(&gate.open);
        pthread_join(thread, &result);
        assert_int_equal((intptr_t)result, FANIN_OK);
        assert_unfailed();
}

enum { QUEUED = 40 };

static void assert_tally(const struct tally *tally, unsigned done, unsigned cancelled)
{
        assert_equal("a request's callbacks when done", tally->done, done);
        assert_equal("its callbacks when cancelled", tally->cancelled, cancelled);
        assert_equal("its other callbacks", tally->other, 0);
}

static void cancel_queued(void)
{
        struct tally first = {0}, queued[QUEUED] = {{0}};
        fanin_handle handle = start_held(doing, &first);
        for (unsigned i = 0; i < QUEUED; i++) {
                assert_int_equal(fanin_submit(handle, NULL, 0, count, &queued[i]), FANIN_OK);
                if (i == QUEUED / 2) /* of a queue that keeps, destroy finds the rest kept */
                        assert_int_equal(fanin_flush(handle), FANIN_OK);
        }
        destroy_held(handle, true);
        assert_tally(&first, 1, 0);
        for (unsigned i = 0; i < QUEUED; i++)
                assert_tally(&queued[i], 0, 1);
}

struct hand_off {
        pthread_t thread;
        fanin_handle handle;
        struct tally tally;
        int result;
};

static void *hand_off(void *argument)
{
        struct hand_off *self = argument;
        self->result = fanin_submit(self->handle, NULL, 0, count, &self->tally);
        return NULL;
}

/* Until so many producers are inside a submit. */
static void await_inside(unsigned number)
{
        for (unsigned inside = 0; inside < number;) {
                pause_shortly();
                inside = 0;
                for (unsigned i = 0; i < PRODUCERS; i++)
                        inside += atomic_load(&producer_guards[i].inside) & 1;
        }
}

/* Whoever waits inside submit to be accepted is accepted, though destroy has begun. */
static void finish_hand_offs(void)
{
        enum { WAITING = PRODUCERS - 1 }; /* the main thread is the other one */
        struct tally first = {0};
        struct hand_off waiting[WAITING] = {{0}};
        fanin_handle handle = start_held(doing, &first);
        for (unsigned i = 0; i < WAITING; i++) {
                waiting[i].handle = handle;
                assert_int_equal(
                        pthread_create(&waiting[i].thread, NULL, hand_off, &waiting[i]), 0);
        }
        await_inside(WAITING);
        destroy_held(handle, false);
        unsigned cancelled = 0;
        for (unsigned i = 0; i < WAITING; i++) {
                pthread_join(waiting[i].thread, NULL);
                assert_int_equal(waiting[i].result, FANIN_OK);
                /* The last one may be cancelled between its acceptance and its handling. */
                cancelled += waiting[i].tally.cancelled;
                assert_equal("a hand-off's callbacks",
                        waiting[i].tally.done + waiting[i].tally.cancelled, 1);
                assert_equal("its other callbacks", waiting[i].tally.other, 0);
        }
        assert_in_range(cancelled, 0, 1);
        assert_tally(&first, 1, 0);
}

/* A submit to another context may block for as long as that one likes. */
static void test_destroy_waits_for_its_own(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                if (!ops->settle)
                        continue;
                begin("%s", ops->name);
                struct tally first = {0};
                fanin_handle handle = start("mutex", NULL, NULL);
                struct hand_off waiting = {.handle = start_held(doing, &first)};
                assert_int_equal(pthread_create(&waiting.thread, NULL, hand_off, &waiting), 0);
                await_inside(1);
                stop(handle);
                assert_tally(&waiting.tally, 0, 0);
                sem_post(&gate.open);
                pthread_join(waiting.thread, NULL);
                assert_int_equal(waiting.result, FANIN_OK);
                assert_account(waiting.handle, 2, 0, false);
                stop(waiting.handle);
                assert_tally(&waiting.tally, 1, 0);
        }
}

/* Nor does a producer that blocks there hold up the reuse of cells here. */
static void test_reuse_goes_on(void **state)
{
        (void)state;
#if defined(__GLIBC__) && !REPORT_SANITIZED
        static const char *const configs[] = {
                "ck_fifo", "rculfqueue", "jiffy:buffer=64", "faa_array:segment=64"};
        enum { LOTS = 1000, LOT = 1000, GROWTH_MAX = 2 << 20 }; /* 8 MB or more, were none reused */
        for (unsigned i = 0; i < sizeof configs / sizeof *configs; i++) {
                char why[256];
                struct spec spec;
                if (!spec_parse(configs[i], &spec, why, sizeof why))
                        continue; /* left out of this build */
                struct tally first = {0}, tally = {0};
                begin("%s beside handshake", configs[i]);
                struct hand_off waiting = {.handle = start_held("handshake", &first)};
                assert_int_equal(pthread_create(&waiting.thread, NULL, hand_off, &waiting), 0);
                await_inside(1);
                fanin_handle handle = start(configs[i], NULL, NULL);
                size_t before = 0;
                for (unsigned lot = 1; lot <= LOTS; lot++) {
                        for (unsigned j = 0; j < LOT; j++)
                                assert_int_equal(
                                        fanin_submit(handle, NULL, 0, count, &tally), FANIN_OK);
                        while (atomic_load(&tally.done) < lot * LOT)
                                sched_yield();
                        if (lot == LOTS / 10)
                                before = mallinfo2().uordblks + mallinfo2().hblkhd;
                }
                size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
                if (after > before + GROWTH_MAX)
                        fail_msg("%s: it grew by %zu bytes", doing, after - before);
                stop(handle);
                sem_post(&gate.open);
                pthread_join(waiting.thread, NULL);
                stop(waiting.handle);
        }
#else
        skip();
#endif
}

static void test_close_with_queued(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                for (unsigned alloc = 0; alloc < SPEC_ALLOCS; alloc++) {
                        begin("%s/pending/eventfd/%s", ops->name, spec_alloc_names[alloc]);
                        ops->settle ? finish_hand_offs() : cancel_queued();
                }
}

/* Close racing submit. */

enum { RACERS = 2, RING = 512, FLUSH_EVERY = 8, CYCLES = 10000 };
enum { IDLE, SUBMITTED, CALLED };

struct racer {
        pthread_t thread;
        _Atomic unsigned accepted;
        unsigned stale;
        _Atomic unsigned ring[RING]; /* what became of its latest requests */
};

static struct {
        struct racer racers[RACERS];
        _Atomic fanin_handle handle;
        atomic_bool alive, over;
        _Atomic unsigned done, cancelled;
} race;

static void race_callback(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        unsigned expected = SUBMITTED;
        if (!atomic_compare_exchange_strong((_Atomic unsigned *)user_data, &expected, CALLED))
                note(expected == IDLE ? "a refused request had a callback" : "a second callback");
        if (!atomic_load(&race.alive))
                note("a callback after destroy had returned");
        if (ret != FANIN_OK && ret != FANIN_CANCELLED)
                note("a callback with a strange ret");
        atomic_fetch_add(ret ? &race.cancelled : &race.done, 1);
}

static void race_once(struct racer *racer, _Atomic unsigned *request)
{
        while (atomic_load(request) == SUBMITTED) /* an accepted one of the lap before */
                sched_yield();
        atomic_store(request, SUBMITTED);
        int result = fanin_submit(race.handle, NULL, 0, race_callback, (void *)request);
        if (result == FANIN_OK) {
                atomic_fetch_add(&racer->accepted, 1);
                return;
        }
        if (atomic_exchange(request, IDLE) != SUBMITTED)
                note("a refused request had a callback");
        if (result == FANIN_STALE)
                racer->stale++;
        else if (result != FANIN_FULL)
                note("a submit got neither OK, nor STALE, nor FULL");
        sched_yield();
}

static void *race_submits(void *argument)
{
        struct racer *racer = argument;
        for (unsigned i = 0; !atomic_load(&race.over); i++) {
                race_once(racer, &racer->ring[i % RING]);
                int result = i % FLUSH_EVERY ? FANIN_OK : fanin_flush(race.handle);
                if (result && result != FANIN_STALE)
                        note("a flush got neither OK nor STALE");
        }
        return NULL;
}

static unsigned race_accepted(void)
{
        unsigned accepted = 0;
        for (unsigned i = 0; i < RACERS; i++)
                accepted += atomic_load(&race.racers[i].accepted);
        return accepted;
}

/* Destroyed after 0 to 4 further requests; 0 is while the racers find the new handle. */
static void race_cycle(unsigned cycle)
{
        enum { WAKES = 4 };
        const char *wakes[WAKES] = {"every/eventfd", "pending/futex", "flag/condvar", "asym/pipe"};
        static unsigned queues = 1;
        while (registry_at(queues))
                queues++;
        const struct queue_ops *ops = registry_at(cycle % queues);
        if (ops->wait)
                wakes[WAKES - 1] = "own/none";
        else if (atomic_load(&queue_guard_fenced))
                wakes[WAKES - 1] = "flag/pipe";
        begin("%s/%s/%s", ops->name, wakes[cycle / queues % WAKES],
                spec_alloc_names[cycle / queues / WAKES % SPEC_ALLOCS]);
        unsigned before = race_accepted();
        atomic_store(&race.alive, true);
        atomic_store(&race.handle, start(doing, NULL, NULL));
        while (race_accepted() - before < cycle % 5)
                sched_yield();
        int result = fanin_destroy(race.handle);
        atomic_store(&race.alive, false);
        assert_int_equal(result, FANIN_OK);
        assert_unfailed();
}

static void test_close_races_submit(void **state)
{
        (void)state;
        unsigned stale = 0;
        for (unsigned i = 0; i < RACERS; i++)
                assert_int_equal(
                        pthread_create(&race.racers[i].thread, NULL, race_submits, &race.racers[i]),
                        0);
        for (unsigned cycle = 0; cycle < CYCLES; cycle++)
                race_cycle(cycle);
        atomic_store(&race.over, true);
        for (unsigned i = 0; i < RACERS; i++) {
                pthread_join(race.racers[i].thread, NULL);
                stale += race.racers[i].stale;
        }
        assert_unfailed();
        unsigned accepted = race_accepted();
        print_message("%d cycles: %u accepted, %u cancelled, %u stale\n", CYCLES, accepted,
                race.cancelled, stale);
        assert_equal("callbacks", race.done + race.cancelled, accepted);
        assert_true(accepted >= 2 * CYCLES);
        assert_true(stale >= CYCLES / 100);
        for (unsigned i = 0; i < RACERS; i++)
                for (unsigned j = 0; j < RING; j++)
                        assert_int_not_equal(race.racers[i].ring[j], SUBMITTED);
}

/* Requests of a slab, and kept ones. */

static void submit_when_there_is_room(fanin_handle handle, struct tally *tally)
{
        int result;
        fanin_flush(handle); /* what is kept keeps its room */
        while ((result = fanin_submit(handle, NULL, 0, count, tally)) == FANIN_FULL)
                sched_yield();
        assert_int_equal(result, FANIN_OK);
}

static void fill_slab(void)
{
        enum { SHARE = BACKLOG / PRODUCERS, ALL = 4 * SHARE };
        struct tally tally = {0};
        struct fanin_stats stats;
        fanin_handle handle = start_held(doing, &tally); /* whose gate is of the share */
        for (unsigned i = 1; i < SHARE; i++)
                assert_int_equal(fanin_submit(handle, NULL, 0, count, &tally), FANIN_OK);
        for (unsigned i = 0; i < 3; i++)
                assert_int_equal(fanin_submit(handle, NULL, 0, count, &tally), FANIN_FULL);
        assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
        assert_equal("refused", stats.refused, 3);
        sem_post(&gate.open);
        for (unsigned i = SHARE; i < ALL; i++)
                submit_when_there_is_room(handle, &tally);
        fanin_flush(handle);
        await(&tally.done, ALL);
        stop(handle);
        assert_tally(&tally, ALL, 0);
}

static void test_slab_full(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                if (ops->settle)
                        continue; /* nothing queues up */
                begin("%s/pending/eventfd/slab", ops->name);
                fill_slab();
        }
}

enum { KEPT = 10, KEPT_2 = 2 * KEPT, KEPT_3 = 3 * KEPT };

static struct tally kept;

static void *keep(void *handle)
{
        for (unsigned i = 0; i < KEPT; i++)
                if (fanin_submit(*(fanin_handle *)handle, NULL, 0, count, &kept))
                        note("submit refused");
        return NULL;
}

static void assert_kept(fanin_handle handle, uint64_t requests)
{
        struct fanin_stats stats;
        assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
        assert_equal("kept", stats.kept, requests);
        assert_equal("completed", stats.completed, requests - KEPT);
        assert_equal("callbacks", kept.done, requests - KEPT);
}

/* By flush, by the thread's end, by destroy. */
static void test_kept_are_delivered(void **state)
{
        (void)state;
        const struct queue_ops *ops;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                if (!ops->flush)
                        continue;
                begin("%s, kept requests", ops->name);
                memset(&kept, 0, sizeof kept);
                fanin_handle handle = start(ops->name, NULL, NULL);
                keep(&handle);
                assert_kept(handle, KEPT);
                assert_int_equal(fanin_flush(handle), FANIN_OK);
                assert_int_equal(fanin_flush(handle), FANIN_OK);
                await(&kept.done, KEPT);
                pthread_t thread;
                assert_int_equal(pthread_create(&thread, NULL, keep, &handle), 0);
                pthread_join(thread, NULL);
                await(&kept.done, KEPT_2);
                assert_account(handle, KEPT_2, 0, true);
                keep(&handle);
                assert_kept(handle, KEPT_3);
                stop(handle);
                assert_equal("callbacks", kept.done + kept.cancelled, KEPT_3);
        }
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_exactly_once),
                cmocka_unit_test(test_content),
                cmocka_unit_test(test_neither_handler_nor_callback),
                cmocka_unit_test(test_invalid_options),
                cmocka_unit_test(test_edge_is_cleared),
                cmocka_unit_test(test_result_text),
                cmocka_unit_test(test_contexts_max),
                cmocka_unit_test(test_producers_limit),
                cmocka_unit_test(test_stale),
                cmocka_unit_test(test_destroyers_race),
                cmocka_unit_test(test_reentrant),
                cmocka_unit_test(test_close_with_queued),
                cmocka_unit_test(test_destroy_waits_for_its_own),
                cmocka_unit_test(test_reuse_goes_on),
                cmocka_unit_test(test_close_races_submit),
                cmocka_unit_test(test_slab_full),
                cmocka_unit_test(test_kept_are_delivered),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
