/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The wake policy own: a queue's wait and interrupt as those of the FFI thread. Over every queue
 * that has them; wake.c has their ping-pong, engine.c their destroy beside submit.
 */
#include "doing.h"

enum { PRODUCERS = 4 };

static const struct queue_ops *own; /* the queue under test */

static void for_each_queue(void (*run)(void))
{
        bool any = false;
        for (unsigned i = 0; (own = registry_at(i)); i++)
                if (own->wait) {
                        begin("%s/own/none", own->name);
                        run();
                        any = true;
                }
        if (!any) {
                print_message("SKIP: no queue of this build has a wait of its own\n");
                skip();
        }
}

/* Interrupts by themselves; the contract test has the rest of the hooks. */

static struct queue *queue;

static void open_queue(void)
{
        struct queue_config config = {.producers = PRODUCERS, .guards = producer_guards};
        for (unsigned k = 0; own->keys && own->keys[k].name; k++)
                config.values[k] = own->keys[k].otherwise;
        assert_int_equal(own->create(&queue, &config), 0);
}

static void assert_nothing(void)
{
        struct queue_node *out[1];
        struct queue_drained drained = own->drain(queue, out, 1);
        assert_int_equal(drained.count, 0);
        assert_int_equal(drained.left, QUEUE_EMPTY);
        assert_false(own->wait(queue, 0));
        assert_false(own->wait(queue, 1));
}

static void run_interrupts(void)
{
        struct queue_node *out[1];
        open_queue();
        assert_nothing();
        own->interrupt(queue);
        assert_true(own->wait(queue, -1));
        assert_nothing();
        own->interrupt(queue);
        own->drain(queue, out, 1); /* and what drain met on its way still ends the next wait */
        assert_true(own->wait(queue, -1));
        assert_nothing();
        for (unsigned i = 0; i < 3; i++)
                own->interrupt(queue);
        assert_true(own->wait(queue, -1));
        own->destroy(queue);
}

static void test_interrupts(void **state)
{
        (void)state;
        for_each_queue(run_interrupts);
}

/* As the FFI thread's wait. */

static fanin_handle start(const struct queue_ops *ops, int poll_ms)
{
        const struct fanin_options options = {.producers = PRODUCERS, .poll_ms = poll_ms};
        struct spec spec;
        char why[512] = "";
        fanin_handle handle;
        if (!spec_parse(doing, &spec, why, sizeof why))
                fail_msg("%s: %s", doing, why);
        spec.queue = ops;
        if (context_create(&handle, &options, &spec, why, sizeof why))
                fail_msg("%s: %s", doing, why);
        return handle;
}

static struct fanin_stats await_idle(fanin_handle handle)
{
        struct fanin_stats stats;
        do
                assert_int_equal(fanin_stats(handle, &stats), FANIN_OK);
        while (stats.completed < stats.submits || !stats.asleep);
        return stats;
}

/* Destroyed while it waits, at once or after a moment, with the fallback poll and without. */
static void run_destroys(void)
{
        for (unsigned round = 0; round < 400; round++) {
                fanin_handle handle = start(own, round % 2 ? 1 : 0);
                if (round % 4 < 2)
                        await_idle(handle);
                if (round % 8 < 4)
                        assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
                if (round % 16 < 8)
                        pause_shortly();
                stop(handle);
        }
}

static void test_destroy_while_it_waits(void **state)
{
        (void)state;
        for_each_queue(run_destroys);
}

/* Waits that time out just as a request comes are no losses. */
static void run_timeouts(void)
{
        enum { SUBMITS = 300 };
        fanin_handle handle = start(own, 1);
        for (unsigned i = 0; i < SUBMITS; i++) {
                const struct timespec pause = {.tv_nsec = 900000 + i * 700};
                nanosleep(&pause, NULL);
                assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
        }
        struct fanin_stats stats = await_idle(handle);
        assert_equal("completed", stats.completed, SUBMITS);
        assert_equal("wakes", stats.wakes, 0);
        assert_equal("wakes elided", stats.wakes_elided, SUBMITS);
        assert_equal("lost_wakes", stats.lost_wakes, 0);
        stop(handle);
}

static void test_timeouts(void **state)
{
        (void)state;
        for_each_queue(run_timeouts);
}

/* A queue whose push wakes nobody: its losses are counted, those that are none are not. */

static bool wait_deaf(struct queue *base, int timeout_ms)
{
        (void)base;
        const struct timespec pause = {.tv_nsec = timeout_ms * 1000000L};
        nanosleep(&pause, NULL);
        return false;
}

static bool wait_drowsy(struct queue *base, int timeout_ms)
{
        return timeout_ms ? wait_deaf(base, timeout_ms) : own->wait(base, 0);
}

static uint64_t lost_with(bool (*wait)(struct queue *, int))
{
        enum { SUBMITS = 50, POLL_MS = 3 };
        const struct timespec pause = {.tv_nsec = 1000000};
        struct queue_ops broken = *own;
        broken.wait = wait;
        fanin_handle handle = start(&broken, POLL_MS);
        for (unsigned i = 0; i < SUBMITS; i++) {
                nanosleep(&pause, NULL);
                assert_int_equal(fanin_submit(handle, NULL, 0, NULL, NULL), FANIN_OK);
                await_idle(handle);
        }
        uint64_t lost = await_idle(handle).lost_wakes;
        stop(handle);
        return lost;
}

static void run_losses(void)
{
        if (!lost_with(wait_deaf))
                fail_msg("%s: no loss was counted", doing);
        assert_equal("lost_wakes", lost_with(wait_drowsy), 0);
}

static void test_losses(void **state)
{
        (void)state;
        for_each_queue(run_losses);
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_interrupts),
                cmocka_unit_test(test_destroy_while_it_waits),
                cmocka_unit_test(test_timeouts),
                cmocka_unit_test(test_losses),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
