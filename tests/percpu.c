/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What the contract test leaves to chance in percpu: producers that are moved to another CPU, or
 * interrupted by a signal, in the middle of a push; pushes that no sequence of theirs survives;
 * threads without an rseq area; and a process without, where something else runs instead.
 */
#include <sys/wait.h>

#include "percpu_run.h"

/* A sentence, and a skip, where the test can't be. */
static void need(bool needed, const char *otherwise)
{
        if (needed)
                return;
        print_message("skipped: %s\n", otherwise);
        skip();
}

static bool is_native(void)
{
        open_run((struct plan){.producers = 1, .window = 1});
        bool native = !run.queue->instead;
        close_run();
        return native;
}

static void test_traits(void **state)
{
        (void)state;
        begin("percpu, what it promises");
        open_run((struct plan){.producers = 1, .window = 1});
        unsigned traits = run.queue->traits;
        const char *instead = run.queue->instead;
        assert_false(traits & ~run.ops->traits);
        assert_false(traits & (QUEUE_FIFO_GLOBAL | QUEUE_FIFO_PRODUCER));
        assert_true(traits & QUEUE_LOCK_FREE && traits & QUEUE_SEES_EDGE);
        assert_int_equal(!!(traits & QUEUE_MAY_STALL), !!instead);
        if (instead)
                assert_int_equal(strncmp(instead, "sharded_vyukov:shards=", 22), 0);
        close_run();
}

static void test_moved(void **state)
{
        (void)state;
        begin("percpu, producers are moved");
        need(cpu_count > 1, "there is one CPU, nowhere to move to");
        run_plan((struct plan){
                .moves = true, .producers = PRODUCERS_MAX, .window = WINDOW_MAX, .pushes = PUSHES});
}

/* Two: any other's wake would cover up a lost one. */
static void test_moved_edge(void **state)
{
        (void)state;
        begin("percpu, producers are moved, one request at a time, and wake a sleeper");
        need(cpu_count > 1, "there is one CPU, nowhere to move to");
        run_plan((struct plan){
                .moves = true, .sleeps = true, .producers = 2, .window = 1, .pushes = PING_PONGS});
}

static void test_signalled(void **state)
{
        (void)state;
        begin("percpu, signals interrupt pushes");
        run_plan((struct plan){.signals = true,
                .producers = PRODUCERS_MAX,
                .window = WINDOW_MAX,
                .pushes = PUSHES});
}

/* Each try is aborted at its first instruction: the push gives up, goes aside, and is drained
 * first. */
static void test_stepped(void **state)
{
        (void)state;
        begin("percpu, a trap after each instruction");
        need(is_native(), "something else runs in place of percpu");
        need(!REPORT_TSAN, "ThreadSanitizer puts signals off");
        open_run((struct plan){.producers = 1, .window = WINDOW_MAX});
        submit(&run.producers[0]);
        assert_int_equal(hits, 0);
        stepping = 1;
        raise(SIGTRAP);
        submit(&run.producers[0]);
        stepping = 0;
        assert_true(hits > 1);
        struct queue_node *out[3];
        struct queue_drained drained = run.ops->drain(run.queue, out, 3);
        assert_int_equal(drained.count, 2);
        assert_int_equal(drained.left, QUEUE_EMPTY);
        assert_ptr_equal(out[0], &run.producers[0].items[1].node);
        assert_ptr_equal(out[1], &run.producers[0].items[0].node);
        print_message("%s: %u traps, %u of them inside a sequence\n", doing, signals, hits);
        close_run();
}

static void test_unregistered(void **state)
{
        (void)state;
        begin("percpu, half of the threads have no rseq area");
        need(is_native(), "something else runs in place of percpu");
        run_plan((struct plan){
                .unregisters = true, .producers = PRODUCERS_MAX, .window = 32, .pushes = PUSHES});
}

static void push_from(unsigned cpu)
{
        move(0, cpu);
        submit(&run.producers[0]);
}

/* That FIFO is not promised is not modesty. */
static void test_order_is_lost(void **state)
{
        (void)state;
        begin("percpu, order across a move");
        need(cpu_count > 1, "there is one CPU, nowhere to move to");
        need(is_native(), "something else runs in place of percpu");
        open_run((struct plan){.producers = 1, .window = WINDOW_MAX});
        push_from(cpus[cpu_count - 1]);
        push_from(cpus[0]);
        push_from(cpus[0]);
        sched_setaffinity(0, sizeof allowed, &allowed);
        struct queue_node *out[4];
        struct queue_drained drained = run.ops->drain(run.queue, out, 4);
        assert_int_equal(drained.count, 3);
        assert_int_equal(drained.left, QUEUE_EMPTY);
        static const unsigned expected[] = {1, 2, 0};
        for (unsigned i = 0; i < 3; i++)
                assert_ptr_equal(out[i], &run.producers[0].items[expected[i]].node);
        close_run();
}

static void test_instead(void **state)
{
        (void)state;
        begin("percpu, another process without rseq");
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
                setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
                execl("/proc/self/exe", "percpu", "--instead", (char *)NULL);
                _exit(127);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_is_instead(void **state)
{
        (void)state;
        begin("percpu, without rseq");
        assert_false(is_native());
}

int main(int argc, char **argv)
{
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGTRAP, &action, NULL);
        sched_getaffinity(0, sizeof allowed, &allowed);
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &allowed))
                        cpus[cpu_count++] = cpu;
        queue_guard_init();
        doing_watch();
        const struct CMUnitTest instead[] = {
                cmocka_unit_test(test_is_instead),
                cmocka_unit_test(test_traits),
                cmocka_unit_test(test_moved),
                cmocka_unit_test(test_moved_edge),
                cmocka_unit_test(test_signalled),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_traits),
                cmocka_unit_test(test_moved),
                cmocka_unit_test(test_moved_edge),
                cmocka_unit_test(test_signalled),
                cmocka_unit_test(test_stepped),
                cmocka_unit_test(test_unregistered),
                cmocka_unit_test(test_order_is_lost),
                cmocka_unit_test(test_instead),
        };
        if (argc > 1 && !strcmp(argv[1], "--instead"))
                return cmocka_run_group_tests(instead, NULL, NULL);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
