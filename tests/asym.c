/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The wake policy asym: without its membarrier it loses wakes, with it none, and a kernel without
 * membarrier gets a sentence. What loses them is store buffering, so the queue here is one word and
 * a push one plain store: a queue whose push has a full fence of its own would hide it.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include "doing.h"

#include "../experiments/settings.h"
#include "run_program.h"

/* Ping-pong through one word, and a signal that is another, so that nothing but asym is slow. */

enum {
        PINGS_SOUND = 100000 / SLOWER,
        PINGS_BROKEN = 20000000,
        PLAY_S = 20, /* at most, on busy CPUs */
};

static struct {
        struct wake wake;
        unsigned pings;
        alignas(128) _Atomic unsigned pushed;
        alignas(128) _Atomic unsigned returned;
        alignas(128) _Atomic unsigned served;
        alignas(128) atomic_bool over, lost; /* lost: it is over */
} ball;

/* A pause in every look would be longer than what is looked for. */
static void yield_at_times(unsigned *spins)
{
        if (!(++*spins % 1024))
                sched_yield();
}

static int word_create(struct signal *signal)
{
        atomic_store(&signal->raised, 0);
        return 0;
}

static void word_destroy(struct signal *signal)
{
        (void)signal;
}

static bool word_send(struct signal *signal)
{
        atomic_store(&signal->raised, 1);
        return true;
}

/* False: it would sleep for ever, for the push that it sleeps through has returned. */
static bool word_wait(struct signal *signal, int timeout_ms)
{
        (void)timeout_ms;
        unsigned served = atomic_load_explicit(&ball.served, memory_order_relaxed), spins = 0;
        for (;;) {
                bool returned = atomic_load(&ball.returned) > served;
                if (atomic_load(&signal->raised))
                        return true;
                if (returned)
                        return false;
                yield_at_times(&spins);
        }
}

static bool word_reset(struct signal *signal)
{
        return atomic_exchange(&signal->raised, 0);
}

static const struct signal_ops word = {
        "word", "", word_create, word_destroy, word_send, word_wait, word_reset};

static unsigned drain(void)
{
        return atomic_load_explicit(&ball.pushed, memory_order_acquire);
}

static void *serve(void *unused)
{
        (void)unused;
        for (unsigned served = 0; served < ball.pings && !ball.over;) {
                if (drain() > served) {
                        atomic_store_explicit(&ball.served, ++served, memory_order_release);
                        /* So that the next push meets every step on our way to sleep, however long
                         * it takes to come. */
                        for (unsigned left = served * 37 % (64u << served / 4096 % 5); left--;)
                                atomic_signal_fence(memory_order_seq_cst);
                        if (served == ball.pings)
                                break;
                }
                wake_announce(&ball.wake);
                if (drain() > served) {
                        wake_retract(&ball.wake);
                        continue;
                }
                if (!wake_wait(&ball.wake))
                        ball.lost = ball.over = true;
                wake_reset(&ball.wake);
        }
        return NULL;
}

/* True: a wake was lost. */
static bool play(unsigned pings)
{
        unsigned i = 0, spins = 0;
        ball.pings = pings;
        ball.pushed = ball.returned = ball.served = 0;
        ball.over = ball.lost = false;
        assert_int_equal(wake_create(&ball.wake, WAKE_ASYM, &word, 0, NULL, NULL), 0);
        uint64_t deadline_ns = clock_wall_ns() + PLAY_S * UINT64_C(1000000000);
        pthread_t thread = spawn(serve, NULL);
        while (i < pings && !ball.over) {
                atomic_store_explicit(&ball.pushed, ++i, memory_order_release);
                wake_after_push(&ball.wake, false);
                atomic_store_explicit(&ball.returned, i, memory_order_release);
                while (atomic_load_explicit(&ball.served, memory_order_relaxed) < i &&
                        !atomic_load_explicit(&ball.over, memory_order_relaxed))
                        yield_at_times(&spins);
                if (i % 4096 == 0 && clock_wall_ns() > deadline_ns)
                        ball.over = true;
        }
        wake_interrupt(&ball.wake);
        pthread_join(thread, NULL);
        wake_destroy(&ball.wake);
        print_message("%u pings, a wake lost: %s\n", i, ball.lost ? "yes" : "no");
        return ball.lost;
}

static void skip_without_membarrier(void)
{
        queue_guard_init();
        if (atomic_load(&queue_guard_fenced)) {
                print_message("SKIP: the kernel has no membarrier\n");
                skip();
        }
}

static void test_loses_none(void **state)
{
        (void)state;
        begin("asym, ping-pong through one word");
        skip_without_membarrier();
        assert_false(play(PINGS_SOUND));
}

/* Where the guard fences itself, queue_guard_barrier is a fence of its caller's and no more. */
static void test_mutant_without_membarrier(void **state)
{
        (void)state;
        begin("asym without its membarrier");
        skip_without_membarrier();
        if (SLOWER > 1 || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
                print_message("SKIP: not with one CPU, and hardly under a sanitizer\n");
                skip();
        }
        atomic_store(&queue_guard_fenced, true);
        bool lost = play(PINGS_BROKEN);
        atomic_store(&queue_guard_fenced, false);
        if (!lost) {
                print_message("SKIP: no wake was lost; the CPUs may be too busy for it\n");
                skip();
        }
}

/* A kernel without membarrier. */

static void refuse_membarrier(void)
{
        static struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
                _exit(NO_FILTER);
}

static const char sentence[] = "wake 'asym' can't serve 'mutex': it needs the system call "
                               "membarrier, which is refused here; allowed: every, edge, pending, "
                               "flag, poll";

/* The exit code says what came of it. */
enum { CHILD_OK = 0, CHILD_ACCEPTED, CHILD_OTHER_SENTENCE, CHILD_FLAG_FAILED };

static int create_without_membarrier(void)
{
        struct fanin_options options = {.config = "mutex/asym"};
        fanin_handle handle;
        char why[512] = "";
        refuse_membarrier();
        atomic_store(&queue_guard_fenced, true); /* what this process has is its parent's */
        if (fanin_create(&handle, &options, why, sizeof why) != FANIN_INVALID)
                return CHILD_ACCEPTED;
        if (strcmp(why, sentence) != 0)
                return CHILD_OTHER_SENTENCE;
        options.config = "mutex/flag";
        if (fanin_create(&handle, &options, why, sizeof why) ||
                fanin_submit(handle, NULL, 0, NULL, NULL) || fanin_destroy(handle))
                return CHILD_FLAG_FAILED;
        return CHILD_OK;
}

static void test_create_without_membarrier(void **state)
{
        (void)state;
        int status;
        begin("create without membarrier");
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
                _exit(create_without_membarrier());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == NO_FILTER) {
                print_message("SKIP: membarrier can't be refused here\n");
                skip();
        }
        assert_int_equal(WEXITSTATUS(status), CHILD_OK);
}

/* Before any sample, and before there is a run directory. */
static void test_run_without_membarrier(void **state)
{
        (void)state;
        begin("run without membarrier");
        struct program program = {.before_exec = refuse_membarrier};
        program_run(&program,
                "run --config mutex/flag,mutex/asym --producers 1 --samples 1 --out d" QUICKLY);
        skip_without_filter(&program, "membarrier");
        assert_code(&program, EXIT_USAGE);
        assert_contains(program.err, sentence);
        assert_int_equal(access("d", F_OK), -1);
        program_free(&program);
        program_run(&program, "run --config mutex/flag --producers 1 --samples 1" QUICKLY);
        assert_code(&program, EXIT_DONE);
        program_free(&program);
}

int main(void)
{
        doing_watch();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_create_without_membarrier),
                SCRATCH_TEST(test_run_without_membarrier),
                cmocka_unit_test(test_loses_none),
                cmocka_unit_test(test_mutant_without_membarrier),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
