/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Every combination of policy, signal and queue, with the fallback poll off: a lost wake hangs, and
 * the watchdog names the configuration. Free-running producers hide a lost wake, since the next
 * push wakes the FFI thread; ping-pong doesn't. Broken signals prove that a loss would be found.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "doing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum {
        PRODUCERS_MAX = 3,
        FREE_EACH = SANITIZED ? 2000 : 5000,
        PINGS = SANITIZED ? 4000 : 10000,
        PINGS_POLL = 100, /* each takes a poll */
        PINGS_SHARED_EACH = SANITIZED ? 400 : 1000,
        SUBMITS_MAX = PINGS,
        SIGNALS_MAX = 16,
};

static void relax_or_yield(unsigned *spins)
{
        if (++*spins % 64)
                queue_relax();
        else
                sched_yield();
}

/* Every combination. */

struct submitted {
        struct producer *producer;
        unsigned calls; /* the FFI thread's */
};

struct producer {
        pthread_t thread;
        fanin_handle handle;
        unsigned submits;
        bool waits; /* for each request's callback before it submits the next */
        _Atomic unsigned called;
        struct submitted requests[SUBMITS_MAX];
};

static struct producer producers[PRODUCERS_MAX];

static void on_callback(int ret, const char *msg, size_t len, void *user_data)
{
        (void)msg, (void)len;
        struct submitted *request = user_data;
        if (ret)
                note("a request was not done");
        if (request->calls++)
                note("a second callback");
        struct producer *producer = request->producer;
        size_t number = (size_t)(request - producer->requests);
        size_t cycles = producer->waits ? number * 37 % 1024 : 0;
        atomic_fetch_add(&producer->called, 1);
        /* The producer that waited pushes within 0.2 µs or so. From 0 to about as long, so that
         * its push meets every step that we take on the way to sleep. */
        while (cycles--)
                atomic_signal_fence(memory_order_seq_cst);
}

static void *produce(void *argument)
{
        struct producer *self = argument;
        for (unsigned i = 0, spins = 0; i < self->submits; i++) {
                struct submitted *request = &self->requests[i];
                *request = (struct submitted){.producer = self};
                if (fanin_submit(self->handle, NULL, 0, on_callback, request)) {
                        note("a submit was refused");
                        break;
                }
                if (!self->waits && i + 1 < self->submits)
                        continue;
                fanin_flush(self->handle); /* for what a queue keeps */
                while (self->waits && atomic_load(&self->called) <= i)
                        relax_or_yield(&spins);
        }
        return NULL;
}

/* Waits for the callbacks; a request is counted after its callback. */
static struct fanin_stats await_completed(fanin_handle handle, uint64_t submits)
{
        struct fanin_stats stats = {0};
        unsigned spins = 0;
        while (stats.completed < submits) {
                assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
                relax_or_yield(&spins);
        }
        assert_equal("submits", stats.submits, submits);
        assert_equal("completed", stats.completed, submits);
        assert_equal("cancelled", stats.cancelled, 0);
        return stats;
}

/* The same when nobody is inside a submit. */
static struct fanin_stats settled_stats(fanin_handle handle, uint64_t submits)
{
        struct fanin_stats stats = await_completed(handle, submits);
        assert_equal("wakes + elided", stats.wakes + stats.wakes_elided,
                stats.submits - stats.kept + stats.flushes);
        assert_true(stats.wakes <= stats.submits + stats.flushes);
        return stats;
}

static struct fanin_stats submit_from(
        fanin_handle handle, unsigned count, unsigned each, bool waits)
{
        struct fanin_stats before;
        assert_int_equal(fanin_stats(handle, &before), FANIN_OK);
        for (unsigned i = 0; i < count; i++) {
                producers[i].handle = handle;
                producers[i].submits = each;
                producers[i].waits = waits;
                atomic_store(&producers[i].called, 0);
                producers[i].thread = spawn(produce, &producers[i]);
        }
        for (unsigned i = 0; i < count; i++)
                pthread_join(producers[i].thread, NULL);
        assert_unfailed();
        struct fanin_stats stats = settled_stats(handle, before.submits + (uint64_t)count * each);
        for (unsigned i = 0; i < count; i++)
                assert_equal("callbacks", producers[i].called, each);
        return stats;
}

static fanin_handle start(int poll_ms)
{
        const struct fanin_options options = {
                .config = doing, .producers = 512, .poll_ms = poll_ms};
        return start_with(&options);
}

static void run_and_check(const struct spec *spec, unsigned count, unsigned each, bool waits)
{
        bool polls = spec->wake == WAKE_POLL;
        fanin_handle handle = start(polls);
        struct fanin_stats stats = submit_from(handle, count, each, waits);
        assert_equal("lost_wakes", stats.lost_wakes, 0);
        assert_equal("late_wakes", stats.late_wakes, 0);
        if (polls || spec->wake == WAKE_OWN)
                assert_equal("wakes", stats.wakes, 0);
        assert_true(stats.wakes_spurious <= stats.wakes || spec->wake == WAKE_OWN);
        if (spec->wake == WAKE_EVERY && strcmp(spec->signal->name, "socketpair") != 0)
                assert_equal("wakes elided", stats.wakes_elided, 0);
        stop(handle);
}

/* What can be honoured is decided here anew, so that a combination wrongly refused shows. */
static bool can_be_honoured(
        const struct queue_ops *queue, enum wake_policy wake, const struct signal_ops *signal)
{
        if ((wake == WAKE_POLL || wake == WAKE_OWN) != (signal == &signal_none))
                return false;
        switch (wake) {
        case WAKE_EDGE:
                return queue->traits & QUEUE_SEES_EDGE;
        case WAKE_ASYM:
                return !atomic_load(&queue_guard_fenced);
        case WAKE_POLL:
                return !queue->settle;
        case WAKE_OWN:
                return queue->wait;
        default:
                return true;
        }
}

/* Fills specs with what can be honoured of a queue and a policy, a signal each; how many. */
static unsigned honoured(const struct queue_ops *queue, enum wake_policy wake, struct spec *specs)
{
        const struct signal_ops *signal;
        unsigned count = 0;
        for (unsigned s = 0; (signal = registry_signal_at(s)); s++) {
                char why[512] = "";
                assert_true(count < SIGNALS_MAX);
                begin("%s/%s/%s", queue->name, wake_policies[wake].name, signal->name);
                bool parsed = spec_parse(doing, &specs[count], why, sizeof why);
                if (parsed != can_be_honoured(queue, wake, signal))
                        fail_msg("%s: %s", doing, parsed ? "accepted" : why);
                count += parsed;
        }
        return count;
}

/* Policy and signal are independent axes: each queue has each policy, with one signal in turn; of
 * the queues with locks and of those without, one has it with all. */
static void run_policy(enum wake_policy wake)
{
        const struct queue_ops *queue;
        queue_guard_init();
        for (unsigned q = 0; (queue = registry_at(q)); q++) {
                struct spec specs[SIGNALS_MAX];
                unsigned count = honoured(queue, wake, specs);
                bool all = !strcmp(queue->name, "mutex") || !strcmp(queue->name, "vyukov");
                for (unsigned i = 0; i < count; i++) {
                        if (!all && i != q % count)
                                continue;
                        begin("%s/%s/%s", queue->name, wake_policies[wake].name,
                                specs[i].signal->name);
                        unsigned pings = wake == WAKE_POLL ? PINGS_POLL : PINGS;
                        unsigned shared = wake == WAKE_POLL ? PINGS_POLL : PINGS_SHARED_EACH;
                        unsigned share = all ? 1 : 4; /* there are many queues */
                        run_and_check(&specs[i], PRODUCERS_MAX, FREE_EACH / share, false);
                        run_and_check(&specs[i], 1, pings / share, true);
                        run_and_check(&specs[i], PRODUCERS_MAX, shared / share, true);
                }
        }
}

static void test_every(void **state)
{
        (void)state;
        run_policy(WAKE_EVERY);
}

static void test_edge(void **state)
{
        (void)state;
        run_policy(WAKE_EDGE);
}

static void test_pending(void **state)
{
        (void)state;
        run_policy(WAKE_PENDING);
}

static void test_flag(void **state)
{
        (void)state;
        run_policy(WAKE_FLAG);
}

static void test_asym(void **state)
{
        (void)state;
        run_policy(WAKE_ASYM);
}

static void test_poll(void **state)
{
        (void)state;
        run_policy(WAKE_POLL);
}

static void test_own(void **state)
{
        (void)state;
        run_policy(WAKE_OWN);
}

/* What the FFI thread's sleeps are counted as. */

static struct fanin_stats await_asleep(fanin_handle handle, uint64_t spurious)
{
        struct fanin_stats stats;
        do {
                sched_yield();
                assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
        } while (!stats.asleep || stats.wakes_spurious < spurious);
        assert_equal("wakes_spurious", stats.wakes_spurious, spurious);
        return stats;
}

/* Wakes without a request, each for a sleep of its own. */
static void run_spurious(void)
{
        enum { WAKES = 20 };
        fanin_handle handle = start(0);
        await_asleep(handle, 0);
        for (unsigned i = 0; i < WAKES; i++) {
                wake_interrupt(&context_slots[(uint32_t)handle].context->wake);
                await_asleep(handle, i + 1);
        }
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        struct fanin_stats stats = settled_stats(handle, 1);
        assert_equal("drains", stats.drains, 1);
        stop(handle);
}

static void test_spurious_wakes_are_counted(void **state)
{
        (void)state;
        const struct queue_ops *queue = registry_find("mutex");
        queue_guard_init();
        for (enum wake_policy wake = 0; wake < WAKE_POLL; wake++) {
                struct spec specs[SIGNALS_MAX];
                unsigned count = honoured(queue, wake, specs);
                for (unsigned i = 0; i < count; i++) {
                        begin("mutex/%s/%s", wake_policies[wake].name, specs[i].signal->name);
                        run_spurious();
                }
        }
        for (unsigned q = 0; (queue = registry_at(q)); q++)
                if (queue->wait) {
                        begin("%s/own", queue->name);
                        run_spurious();
                }
}

static uint64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const struct timespec some_time = {.tv_nsec = 20000000};

/* The looks of the fallback poll, and of the policy poll, are no wakes. */
static void test_polls_are_not_spurious(void **state)
{
        (void)state;
        static const char *const configs[] = {"mutex/every/eventfd", "mutex/every/futex",
                "mutex/pending/condvar", "mutex/edge/pipe", "mutex/flag/socketpair", "mutex/poll"};
        for (unsigned i = 0; i < sizeof configs / sizeof *configs; i++) {
                struct fanin_stats stats;
                begin("%s", configs[i]);
                fanin_handle handle = start(1);
                nanosleep(&some_time, NULL);
                assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
                assert_equal("wakes_spurious", stats.wakes_spurious, 0);
                stop(handle);
        }
}

static int handle_for_some_time(
        void *data, const void *payload, size_t payload_bytes, const char **msg, size_t *len)
{
        (void)data, (void)payload, (void)payload_bytes, (void)msg, (void)len;
        nanosleep(&some_time, NULL);
        return 0;
}

/* All the time that it is idle, none of the time that it serves; never more than has passed. */
static void test_sleep_is_timed(void **state)
{
        (void)state;
        begin("mutex/every/futex");
        const struct fanin_options options = {.config = doing, .handler = handle_for_some_time};
        fanin_handle handle = start_with(&options);
        uint64_t some_ns = (uint64_t)some_time.tv_nsec, start_ns = now_ns();
        struct fanin_stats before = await_asleep(handle, 0);
        nanosleep(&some_time, NULL);
        uint64_t submit_ns = now_ns();
        struct fanin_stats idle = await_asleep(handle, 0);
        assert_in_range(idle.slept_ns - before.slept_ns, some_ns, now_ns() - start_ns);
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        settled_stats(handle, 1);
        struct fanin_stats served;
        do
                assert_int_equal(fanin_stats(handle, &served), FANIN_OK);
        while (!served.asleep);
        assert_in_range(served.slept_ns - idle.slept_ns, 0, now_ns() - submit_ns - some_ns);
        stop(handle);
}

/* Broken signals, in the place of the configured one. */

static struct {
        struct signal_ops ops;
        const struct signal_ops *real;
        fanin_handle handle;
        sem_t sender_parked, sender_goes;
        atomic_bool parks_sender;
} broken;

static bool send_nothing(struct signal *signal)
{
        (void)signal;
        return true;
}

static bool send_later(struct signal *signal)
{
        if (atomic_exchange(&broken.parks_sender, false)) {
                sem_post(&broken.sender_parked);
                take(&broken.sender_goes);
        }
        return broken.real->send(signal);
}

static bool send_most(struct signal *signal)
{
        static _Atomic unsigned sends;
        return atomic_fetch_add(&sends, 1) % 50 == 49 || broken.real->send(signal);
}

static bool wait_not_at_all(struct signal *signal, int timeout_ms)
{
        (void)signal, (void)timeout_ms;
        sched_yield();
        return false;
}

/* A context, with configuration `doing`, whose signal is broken by send or wait, if not NULL. */
static fanin_handle start_broken(
        int poll_ms, bool (*send)(struct signal *), bool (*wait)(struct signal *, int))
{
        struct spec spec;
        char why[512] = "";
        const struct fanin_options options = {.producers = 512, .poll_ms = poll_ms};
        sem_init(&broken.sender_parked, 0, 0);
        sem_init(&broken.sender_goes, 0, 0);
        if (!spec_parse(doing, &spec, why, sizeof why))
                fail_msg("%s: %s", doing, why);
        broken.real = spec.signal;
        broken.ops = *spec.signal;
        if (send)
                broken.ops.send = send;
        if (wait)
                broken.ops.wait = wait;
        spec.signal = &broken.ops;
        if (context_create(&broken.handle, &options, &spec, why, sizeof why))
                fail_msg("%s: %s", doing, why);
        return broken.handle;
}

static void submit_and_await(fanin_handle handle, uint64_t submits)
{
        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        settled_stats(handle, submits);
}

static const enum wake_policy sending[] = {
        WAKE_EVERY, WAKE_EDGE, WAKE_PENDING, WAKE_FLAG, WAKE_ASYM};

/* All, or all but asym, which is the last, where the kernel lacks membarrier. */
static unsigned sending_count(void)
{
        queue_guard_init();
        return sizeof sending / sizeof *sending - atomic_load(&queue_guard_fenced);
}

/* No send arrives, so the fallback poll finds each request that doesn't come while another is
 * served. Late is one whose submit is under way just then. */
static void test_lost_wake_is_counted(void **state)
{
        (void)state;
        enum { LOSSES = 20 };
        const struct timespec pause = {.tv_nsec = 1000000};
        for (unsigned p = 0; p < sending_count(); p++) {
                begin("vyukov/%s/futex", wake_policies[sending[p]].name);
                fanin_handle handle = start_broken(3, send_nothing, NULL);
                for (unsigned i = 0; i < LOSSES; i++) {
                        nanosleep(&pause, NULL);
                        submit_and_await(handle, i + 1);
                }
                struct fanin_stats stats = settled_stats(handle, LOSSES);
                if (!stats.lost_wakes)
                        fail_msg("%s: no loss was counted", doing);
                assert_in_range(stats.lost_wakes + stats.late_wakes, 1, LOSSES);
                stop(handle);
        }
}

/* Until one of its submits had to send, and was parked. */
static void *submit_until_parked(void *submits)
{
        do {
                atomic_fetch_add((_Atomic unsigned *)submits, 1);
                if (fanin_submit(broken.handle, NULL, 0, NULL, NULL))
                        note("a submit was refused");
        } while (atomic_load(&broken.parks_sender));
        return NULL;
}

/* Meanwhile others submit, and may rely on the wake that was announced: at once, or when the poll
 * has found the parked one's request. */
static void park_a_sender(_Atomic unsigned *submits, bool at_once)
{
        enum { OTHERS = 10 };
        atomic_store(&broken.parks_sender, true);
        pthread_t thread = spawn(submit_until_parked, (void *)submits);
        take(&broken.sender_parked);
        if (!at_once)
                await_completed(broken.handle, atomic_load(submits));
        for (unsigned i = 0; i < OTHERS; i++, atomic_fetch_add(submits, 1))
                assert_int_equal(fanin_submit(broken.handle, NULL, 0, NULL, NULL), FANIN_OK);
        await_completed(broken.handle, atomic_load(submits));
        sem_post(&broken.sender_goes);
        pthread_join(thread, NULL);
        settled_stats(broken.handle, atomic_load(submits));
        assert_unfailed();
}

static void test_late_wake_is_not_lost(void **state)
{
        (void)state;
        enum { ROUNDS = 10, ROUNDS_MAX = 1000 };
        for (unsigned p = 0; p < sending_count(); p++) {
                begin("vyukov/%s/eventfd", wake_policies[sending[p]].name);
                fanin_handle handle = start_broken(5, send_later, NULL);
                struct fanin_stats stats = {0};
                _Atomic unsigned submits = 0;
                /* A parked sender's request is found without the poll if the FFI thread was not
                 * asleep yet, so one round may show nothing. */
                for (unsigned i = 0; i < ROUNDS || (!stats.late_wakes && i < ROUNDS_MAX); i++) {
                        park_a_sender(&submits, i % 2);
                        assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
                        assert_equal("lost_wakes", stats.lost_wakes, 0);
                }
                assert_in_range(stats.late_wakes, 1, submits);
                stop(handle);
        }
}

/* So many live producers that the FFI thread reads their guards long enough for a submit. */
enum { HOLDERS = 300 };
static sem_t hold_on, held;

static void *hold_index(void *unused)
{
        (void)unused;
        if (fanin_producer() == FANIN_NO_PRODUCER)
                note("no index for a holder");
        sem_post(&held);
        take(&hold_on);
        return NULL;
}

/* Waits that time out at once make every pass a fallback poll's: none of what they find is lost. */
static void test_no_loss_is_invented(void **state)
{
        (void)state;
        pthread_t holders[HOLDERS];
        sem_init(&hold_on, 0, 0);
        sem_init(&held, 0, 0);
        for (unsigned i = 0; i < HOLDERS; i++)
                holders[i] = spawn(hold_index, NULL);
        for (unsigned i = 0; i < HOLDERS; i++)
                take(&held);
        uint64_t lost[sizeof sending / sizeof *sending];
        for (unsigned p = 0; p < sending_count(); p++) {
                begin("vyukov/%s/futex", wake_policies[sending[p]].name);
                fanin_handle handle = start_broken(1, NULL, wait_not_at_all);
                submit_from(handle, PRODUCERS_MAX, FREE_EACH, false);
                for (unsigned round = 0; round < 10; round++)
                        lost[p] = submit_from(handle, 1, PINGS, true).lost_wakes;
                stop(handle);
        }
        for (unsigned i = 0; i < HOLDERS; i++)
                sem_post(&hold_on);
        for (unsigned i = 0; i < HOLDERS; i++)
                pthread_join(holders[i], NULL);
        for (unsigned p = 0; p < sending_count(); p++)
                if (lost[p])
                        fail_msg("vyukov/%s/futex: %llu wakes counted as lost, none was",
                                wake_policies[sending[p]].name, (unsigned long long)lost[p]);
}

/* In a child: one wake in 50 is lost, the fallback poll is off. */
static void hang_in_child(int message_fd)
{
        dup2(message_fd, STDERR_FILENO);
        begin("mutex/every/futex");
        alarm(1);
        fanin_handle handle = start_broken(0, send_most, NULL);
        submit_from(handle, 1, PINGS, true);
        _exit(0);
}

static void test_hang_is_caught(void **state)
{
        (void)state;
        begin("the watchdog");
        int fds[2], status;
        assert_int_equal(pipe(fds), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
                hang_in_child(fds[1]);
        close(fds[1]);
        char message[256] = "";
        size_t bytes = 0;
        for (ssize_t got; (got = read(fds[0], message + bytes, sizeof message - 1 - bytes)) > 0;)
                bytes += (size_t)got;
        close(fds[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_string_equal(message, "mutex/every/futex: hangs\n");
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
}

/* A push that stops half-way, at each of its steps in turn. */

enum { STEPS_MAX = 4, BLOCKED_MS = 50 };

static _Thread_local unsigned parks_at_step; /* 0: nowhere */
static struct {
        fanin_handle handle;
        sem_t parked, goes;
        bool stopped;                /* the first push met its step */
        atomic_bool second_returned; /* from its submit */
        unsigned order[2];           /* the FFI thread's */
        _Atomic unsigned called;
} stall;

static void park_in_push(void)
{
        if (!parks_at_step || --parks_at_step)
                return;
        stall.stopped = true;
        sem_post(&stall.parked);
        take(&stall.goes);
}

static void note_order(int ret, const char *msg, size_t len, void *user_data)
{
        (void)ret, (void)msg, (void)len;
        unsigned called = atomic_load(&stall.called);
        if (called < 2)
                stall.order[called] = *(unsigned *)user_data;
        else
                note("a third callback");
        atomic_store(&stall.called, called + 1);
}

static unsigned first = 1, second = 2;

static void *stop_half_way(void *step)
{
        parks_at_step = *(unsigned *)step;
        if (fanin_submit(stall.handle, NULL, 0, note_order, &first) || fanin_flush(stall.handle))
                note("a submit was refused");
        if (!stall.stopped)
                sem_post(&stall.parked);
        return NULL;
}

static void *pass_by(void *unused)
{
        (void)unused;
        if (fanin_submit(stall.handle, NULL, 0, note_order, &second) || fanin_flush(stall.handle))
                note("a submit was refused");
        atomic_store(&stall.second_returned, true);
        return NULL;
}

static uint64_t ns_of(clockid_t clock)
{
        struct timespec t;
        clock_gettime(clock, &t);
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* True: the second request is hidden behind the stopped push, and the FFI thread doesn't sleep, for
 * only a thread that doesn't uses so much time. False: it was called back, or its own push waits
 * for the stopped one. Who sleeps through it hangs here. */
static bool awaits_first(void)
{
        clockid_t clock;
        pthread_t thread = context_slots[(uint32_t)stall.handle].context->thread;
        assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
        uint64_t cpu_start = ns_of(clock), start = ns_of(CLOCK_MONOTONIC);
        while (!atomic_load(&stall.called)) {
                if (atomic_load(&stall.second_returned)) {
                        if (ns_of(clock) - cpu_start >= 2000000)
                                return true;
                } else if (ns_of(CLOCK_MONOTONIC) - start > BLOCKED_MS * UINT64_C(1000000)) {
                        return false;
                }
                sched_yield();
        }
        return false;
}

/* False: a push has fewer steps. *hidden: what hides the second request was met. */
static bool stop_at(const struct queue_ops *queue, unsigned step, bool *hidden)
{
        memset(&stall, 0, sizeof stall);
        sem_init(&stall.parked, 0, 0);
        sem_init(&stall.goes, 0, 0);
        stall.handle = start(0);
        queue_step_hook = park_in_push;
        pthread_t stopped = spawn(stop_half_way, &step);
        take(&stall.parked);
        pthread_t passing = spawn(pass_by, NULL);
        bool awaits = stall.stopped && awaits_first();
        sem_post(&stall.goes);
        pthread_join(stopped, NULL);
        pthread_join(passing, NULL);
        struct fanin_stats stats = settled_stats(stall.handle, 2);
        stop(stall.handle);
        queue_step_hook = NULL;
        assert_int_equal(stall.called, 2);
        if (awaits) {
                assert_in_range(stats.stalls, 1, 2);
                assert_true(stats.stalled_ns > 0);
                *hidden = true;
        }
        if (awaits && queue->traits & QUEUE_FIFO_GLOBAL) {
                assert_int_equal(stall.order[0], first);
                assert_int_equal(stall.order[1], second);
        }
        return stall.stopped;
}

static void test_stalled_is_not_slept_through(void **state)
{
        (void)state;
        const struct queue_ops *queue;
        for (unsigned i = 0; (queue = registry_at(i)); i++) {
                if (!(queue->traits & QUEUE_MAY_STALL))
                        continue;
                begin("%s/every/eventfd", queue->name);
                bool hidden = false;
                for (unsigned step = 1; step <= STEPS_MAX && stop_at(queue, step, &hidden); step++)
                        ;
                if (!strcmp(queue->name, "vyukov"))
                        assert_true(hidden);
        }
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_hang_is_caught),
                cmocka_unit_test(test_lost_wake_is_counted),
                cmocka_unit_test(test_late_wake_is_not_lost),
                cmocka_unit_test(test_no_loss_is_invented),
                cmocka_unit_test(test_stalled_is_not_slept_through),
                cmocka_unit_test(test_spurious_wakes_are_counted),
                cmocka_unit_test(test_polls_are_not_spurious),
                cmocka_unit_test(test_sleep_is_timed),
                cmocka_unit_test(test_every),
                cmocka_unit_test(test_edge),
                cmocka_unit_test(test_pending),
                cmocka_unit_test(test_flag),
                cmocka_unit_test(test_asym),
                cmocka_unit_test(test_poll),
                cmocka_unit_test(test_own),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
