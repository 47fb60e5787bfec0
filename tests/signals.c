/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Signals and wake policies, each by itself; wake.c has them at work. */
#include <errno.h>
#include <stdlib.h>

#include "doing.h"

/* Signals by themselves. */

static struct signal raised; /* static: aligned */

static void create(const struct signal_ops *ops)
{
        begin("signal %s", ops->name);
        assert_int_equal(ops->create(&raised), 0);
}

static void assert_lowered(const struct signal_ops *ops)
{
        assert_false(ops->wait(&raised, 0));
        assert_false(ops->wait(&raised, 1));
        assert_false(ops->reset(&raised));
}

static void assert_raised(const struct signal_ops *ops)
{
        assert_true(ops->wait(&raised, 0));
        assert_true(ops->wait(&raised, -1));
        assert_true(ops->wait(&raised, 1000)); /* still: waiting doesn't lower it */
        assert_true(ops->reset(&raised));
        assert_lowered(ops);
}

static void test_signal_levels(void **state)
{
        (void)state;
        const struct signal_ops *ops;
        for (unsigned i = 0; (ops = registry_signal_at(i)); i++) {
                create(ops);
                assert_lowered(ops);
                if (ops == &signal_none) {
                        assert_false(ops->send(&raised));
                        assert_lowered(ops);
                        ops->destroy(&raised);
                        continue;
                }
                bool peeks = !strcmp(ops->name, "socketpair");
                for (unsigned round = 0; round < 3; round++) {
                        assert_true(ops->send(&raised));
                        assert_raised(ops);
                        assert_true(ops->send(&raised));
                        for (unsigned n = 0; n < 10000; n++)
                                assert_int_equal(ops->send(&raised), !peeks);
                        assert_raised(ops);
                }
                ops->destroy(&raised);
        }
}

/* The kernel takes no more: raised all the same, and one reset lowers it. */
static void fill(const struct signal_ops *ops, const void *bytes, size_t count)
{
        create(ops);
        unsigned writes = 0;
        while (write(raised.write_fd, bytes, count) > 0)
                writes++;
        assert_int_equal(errno, EAGAIN);
        assert_in_range(writes, 1, 1 << 20);
}

static void test_signal_full(void **state)
{
        (void)state;
        const uint64_t most = UINT64_MAX - 1;
        const struct signal_ops *ops;
        for (unsigned i = 0; (ops = registry_signal_at(i)); i++) {
                bool peeks = !strcmp(ops->name, "socketpair");
                if (peeks || !strcmp(ops->name, "pipe"))
                        fill(ops, "", 1);
                else if (!strcmp(ops->name, "eventfd"))
                        fill(ops, &most, sizeof most);
                else
                        continue;
                assert_int_equal(ops->send(&raised), !peeks);
                assert_raised(ops);
                ops->destroy(&raised);
        }
}

static unsigned message; /* plain: ThreadSanitizer sees whether the signal orders it */

static void *send_after_write(void *signal_ops)
{
        const struct signal_ops *ops = signal_ops;
        message = 42;
        ops->send(&raised);
        return NULL;
}

static void test_signal_wakes_and_orders(void **state)
{
        (void)state;
        const struct signal_ops *ops;
        for (unsigned i = 0; (ops = registry_signal_at(i)); i++)
                for (unsigned round = 0; round < 100 && ops != &signal_none; round++) {
                        create(ops);
                        message = 0;
                        pthread_t thread = spawn(send_after_write, (void *)(uintptr_t)ops);
                        assert_true(ops->wait(&raised, -1));
                        assert_true(ops->reset(&raised));
                        assert_int_equal(message, 42);
                        pthread_join(thread, NULL);
                        ops->destroy(&raised);
                }
}

/* Policies by themselves: when they send. */

static const struct signal_ops *futex_ops(void)
{
        unsigned i = 0;
        while (strcmp(registry_signal_at(i)->name, "futex") != 0)
                i++;
        return registry_signal_at(i);
}

/* All that the policy own knows of a queue. */
static bool interrupted;

static bool wait_for_interrupt(struct queue *queue, int timeout_ms)
{
        (void)queue, (void)timeout_ms;
        bool result = interrupted;
        interrupted = false;
        return result;
}

static void interrupt(struct queue *queue)
{
        (void)queue;
        interrupted = true;
}

static void test_policy_sends(void **state)
{
        (void)state;
        static struct wake wake;
        static const struct queue_ops queue_ops = {
                .wait = wait_for_interrupt, .interrupt = interrupt};
        queue_guard_init();
        for (unsigned policy = 0; policy < WAKE_POLICIES; policy++) {
                begin("policy %s", wake_policies[policy].name);
                assert_int_equal(wake_create(&wake, policy, futex_ops(), 0, &queue_ops, NULL), 0);
                bool every = policy == WAKE_EVERY, pending = policy == WAKE_PENDING;
                bool edge = policy == WAKE_EDGE, flag = policy == WAKE_FLAG || policy == WAKE_ASYM;
                assert_int_equal(wake_after_push(&wake, false), every || pending);
                assert_int_equal(wake_after_push(&wake, false), every);
                assert_int_equal(wake_after_push(&wake, true), every || edge);
                assert_int_equal(wake_reset(&wake), every || edge || pending);
                assert_false(wake_reset(&wake));
                assert_int_equal(wake_after_push(&wake, true), every || edge || pending);
                assert_int_equal(wake_reset(&wake), every || edge || pending);
                assert_int_equal(wake_announce(&wake), flag);
                assert_int_equal(wake_after_push(&wake, false), every || pending || flag);
                assert_int_equal(wake_after_push(&wake, false), every);
                assert_int_equal(wake_reset(&wake), every || pending || flag);
                assert_int_equal(wake_announce(&wake), flag);
                wake_retract(&wake);
                assert_int_equal(wake_after_push(&wake, false), every || pending);
                wake_interrupt(&wake);
                assert_true(wake_wait(&wake));
                assert_int_equal(wake_reset(&wake), policy != WAKE_OWN);
                wake_destroy(&wake);
        }
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_signal_levels),
                cmocka_unit_test(test_signal_full),
                cmocka_unit_test(test_signal_wakes_and_orders),
                cmocka_unit_test(test_policy_sends),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
