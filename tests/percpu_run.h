/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Producers beside a consumer, for percpu's test: disturbed in the middle of their pushes, and with
 * an account. Each request is known, as queued or not, so that one lost and one doubled don't
 * cancel out; it is pushed again as soon as it was handed back.
 */
#ifndef FANIN_TESTS_PERCPU_RUN_H
#define FANIN_TESTS_PERCPU_RUN_H

#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif
#endif

#include "contract/report.h"
#include "doing.h"

enum {
        PRODUCERS_MAX = 4,
        WINDOW_MAX = 256,                             /* a producer's requests */
        PUSHES = REPORT_SANITIZED ? 100000 : 300000,  /* each, at least */
        PING_PONGS = REPORT_SANITIZED ? 2000 : 10000, /* likewise, one at a time */
        MOVES_MIN = REPORT_SANITIZED ? 1000 : 10000,  /* of all together */
        SIGNALS_MIN = 1000,
        MOVE_ONE_IN = 16,
};

struct item {
        struct queue_node node; /* first */
        atomic_bool queued;
};

struct plan {
        bool moves, signals, unregisters, sleeps;
        unsigned producers, window, pushes;
};

struct producer {
        alignas(QUEUE_LINE) unsigned index;
        pthread_t thread;
        _Atomic pid_t id;
        uint64_t pushed;
        struct item items[WINDOW_MAX];
};

struct run {
        const struct queue_ops *ops;
        struct plan plan;
        struct queue *queue;
        struct queue_guard guards[PRODUCERS_MAX];
        struct producer producers[PRODUCERS_MAX];
        pthread_barrier_t gate; /* before the first push and after the last: ids stay valid */
        _Atomic unsigned running, moves;
        int signal;
        uint64_t handed;
        atomic_bool over;
};

static struct run run;
static cpu_set_t allowed;
static unsigned cpus[CPU_SETSIZE], cpu_count; /* the same in ascending order */
static struct queue_node poison;              /* next of what was handed back */
static _Atomic unsigned signals, hits;        /* hits: those that aborted a sequence */
static volatile sig_atomic_t stepping;

/* Disturbances. */

/* 0: the calling thread. */
static inline void move(pid_t id, unsigned cpu)
{
        cpu_set_t target;
        CPU_ZERO(&target);
        CPU_SET(cpu, &target);
        if (sched_setaffinity(id, sizeof target, &target))
                note("a thread can't be moved");
        atomic_fetch_add(&run.moves, 1);
}

#ifdef HAVE_RSEQ
/* Of the linker: the section of percpu's abort handler. */
extern const char __start___rseq_failure[], __stop___rseq_failure[];

/* The kernel aborts the sequence first, and then delivers the signal. SIGTRAP goes on with a trap
 * after every instruction, as a debugger would, while stepping is set. */
static inline void on_signal(int number, siginfo_t *info, void *context)
{
        (void)info;
        enum { TRAP_FLAG = 0x100 };
        greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
        uintptr_t rip = (uintptr_t)registers[REG_RIP];
        if (number == SIGTRAP)
                registers[REG_EFL] = (registers[REG_EFL] & ~TRAP_FLAG) | (stepping ? TRAP_FLAG : 0);
        atomic_fetch_add(&signals, 1);
        if (rip >= (uintptr_t)__start___rseq_failure && rip < (uintptr_t)__stop___rseq_failure)
                atomic_fetch_add(&hits, 1);
}

/* False: this thread keeps its area. The size is that of its registration, which glibc doesn't
 * tell. */
static inline bool unregister(void)
{
        struct rseq *area = (void *)((char *)pthread_self() + __rseq_offset);
        const unsigned long sizes[] = {32, __rseq_size, getauxval(27 /* AT_RSEQ_FEATURE_SIZE */)};
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
                if (!syscall(SYS_rseq, area, sizes[i], RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
                        return true;
        return false;
}
#else
static inline void on_signal(int number, siginfo_t *info, void *context)
{
        (void)number, (void)info, (void)context;
        atomic_fetch_add(&signals, 1);
}

static inline bool unregister(void)
{
        return false;
}
#endif

static inline void *pester(void *argument)
{
        (void)argument;
        while (!atomic_load(&run.over))
                for (unsigned i = 0; i < run.plan.producers; i++)
                        pthread_kill(run.producers[i].thread, SIGUSR1);
        return NULL;
}

/* Enough of what the run is for? A sanitizer's checks leave a sequence too small a part of the time
 * to wait for a hit. */
static inline bool disturbed(void)
{
        if (run.plan.signals && !run.queue->instead && !REPORT_SANITIZED && !atomic_load(&hits))
                return false;
        return (!run.plan.moves || atomic_load(&run.moves) >= MOVES_MIN) &&
               (!run.plan.signals || atomic_load(&signals) >= SIGNALS_MIN);
}

/* The run. */

static inline void submit(struct producer *producer)
{
        struct item *item = &producer->items[producer->pushed % run.plan.window];
        /* Acquire, with the release in take_back. */
        while (atomic_load_explicit(&item->queued, memory_order_acquire))
                sched_yield();
        if (atomic_load(&item->node.next) != &poison)
                note("a request was touched after it was handed back");
        atomic_store_explicit(&item->queued, true, memory_order_relaxed);
        queue_guard_enter(&run.guards[producer->index]);
        enum queue_pushed pushed = run.ops->push(run.queue, producer->index, &item->node);
        if (run.plan.sleeps && pushed == QUEUE_PUSHED_FIRST)
                eventfd_write(run.signal, 1);
        queue_guard_leave(&run.guards[producer->index]);
        if (pushed != QUEUE_PUSHED && pushed != QUEUE_PUSHED_FIRST)
                note("push returned neither PUSHED nor PUSHED_FIRST");
        producer->pushed++;
}

/* Moves its neighbour, not itself: that may be in the middle of a push. */
static inline void *produce(void *argument)
{
        struct producer *producer = argument;
        struct producer *neighbour = &run.producers[(producer->index + 1) % run.plan.producers];
        unsigned random = producer->index + 1;
        atomic_store(&producer->id, gettid());
        if (run.plan.unregisters && producer->index % 2 && !unregister())
                note("a thread can't give its rseq area back");
        pthread_barrier_wait(&run.gate);
        while (producer->pushed < run.plan.pushes || !disturbed()) {
                submit(producer);
                if (run.plan.moves && (unsigned)rand_r(&random) % MOVE_ONE_IN == 0)
                        move(atomic_load(&neighbour->id),
                                cpus[(unsigned)rand_r(&random) % cpu_count]);
        }
        pthread_barrier_wait(&run.gate);
        atomic_fetch_sub(&run.running, 1);
        eventfd_write(run.signal, 1);
        return NULL;
}

static inline void take_back(struct queue_node *node)
{
        struct item *item = (struct item *)node;
        if (!atomic_load_explicit(&item->queued, memory_order_relaxed))
                note("a request was handed back twice");
        atomic_store_explicit(&node->next, &poison, memory_order_relaxed);
        /* Release, with the acquire in submit. */
        atomic_store_explicit(&item->queued, false, memory_order_release);
        run.handed++;
}

static inline enum queue_left drain(unsigned max)
{
        struct queue_node *out[64];
        struct queue_drained drained = run.ops->drain(run.queue, out, max);
        for (unsigned i = 0; i < drained.count; i++)
                take_back(out[i]);
        return drained.left;
}

/* Sleeps as under the policy edge, if the plan says so, with no fallback poll: a lost wake hangs.
 */
static inline void consume(void)
{
        for (unsigned random = 1; atomic_load(&run.running);) {
                eventfd_t count;
                if (run.plan.sleeps)
                        eventfd_read(run.signal, &count);
                while (drain(1 + (unsigned)rand_r(&random) % 64) != QUEUE_EMPTY)
                        ;
                if (!run.plan.sleeps)
                        sched_yield();
        }
        while (drain(64) != QUEUE_EMPTY)
                ;
}

static inline void open_run(struct plan plan)
{
        run.ops = registry_find("percpu");
        assert_non_null(run.ops);
        const struct queue_config config = {.producers = plan.producers, .guards = run.guards};
        assert_int_equal(run.ops->create(&run.queue, &config), 0);
        run.plan = plan;
        run.running = plan.producers;
        run.handed = 0;
        run.moves = signals = hits = 0;
        run.over = false;
        run.signal = eventfd(0, EFD_CLOEXEC);
        pthread_barrier_init(&run.gate, NULL, plan.producers);
        for (unsigned i = 0; i < run.plan.producers; i++) {
                struct producer *producer = &run.producers[i];
                *producer = (struct producer){.index = i};
                for (unsigned j = 0; j < WINDOW_MAX; j++)
                        producer->items[j].node.next = &poison;
        }
}

static inline void close_run(void)
{
        run.ops->destroy(run.queue);
        pthread_barrier_destroy(&run.gate);
        close(run.signal);
        assert_unfailed();
}

static inline void run_plan(struct plan plan)
{
        open_run(plan);
        uint64_t pushed = 0;
        pthread_t pest = pthread_self();
        for (unsigned i = 0; i < run.plan.producers; i++)
                run.producers[i].thread = spawn(produce, &run.producers[i]);
        if (plan.signals)
                pest = spawn(pester, NULL);
        consume();
        atomic_store(&run.over, true);
        if (plan.signals)
                pthread_join(pest, NULL);
        for (unsigned i = 0; i < run.plan.producers; i++) {
                pthread_join(run.producers[i].thread, NULL);
                pushed += run.producers[i].pushed;
                for (unsigned j = 0; j < WINDOW_MAX; j++)
                        if (run.producers[i].items[j].queued)
                                note("a request was lost");
        }
        assert_equal("the number handed back", run.handed, pushed);
        print_message("%s: %llu requests, %u moves, %u signals, %u of them inside a sequence\n",
                doing, (unsigned long long)pushed, run.moves, signals, hits);
        close_run();
}

#endif
