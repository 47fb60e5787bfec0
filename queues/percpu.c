/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A list per CPU, appended to by plain stores in a restartable sequence: a push writes nothing that
 * a producer on another CPU writes, and locks no instruction, however many producers there are.
 *
 * Algorithm: the kernel sends a thread that it preempts, moves or signals inside a sequence to the
 * sequence's abort handler, so what a sequence read of "its" CPU still holds at its last
 * instruction, the one store that publishes. Each CPU has two lists, the halves; the epoch's low
 * bit says which is current. The consumer, when some current half is not empty, flips the epoch and
 * has membarrier restart every sequence under way: from then on nobody appends to the old halves,
 * and it takes them whole. (Taking a list from under a running sequence, by exchange or compare and
 * swap, would be unsound: the sequence's last store doesn't look.) Source: restartable sequences of
 * P. Turner and A. Hunter (Linux Plumbers, 2013), as Linux 4.18 and glibc 2.35 have them, M.
 * Desnoyers; membarrier's restart of them, P. Oskolkov, Linux 5.10. The flip is this project's.
 *
 * Who beside whom: any number of producers beside one consumer. Where a thread has no rseq area,
 * its CPU has no list, or it is restarted too often (under a debugger that steps, say: each step
 * is a restart), the push goes aside, to a `treiber` that all share. Elsewhere than on x86-64, and
 * where rseq is off or the kernel lacks the membarrier, no CPU has a list, and what stands aside
 * and runs in place of this is `sharded_vyukov:by=cpu`: see there for what a producer that stops
 * does then.
 *
 * Linearisation point: of push, the store of the node into `tail`, or treiber's; of a drain's part
 * on one list, the load that found it empty, or the flip.
 *
 * A producer that stops mid-push has published nothing and hides nothing: never STALLED. A push
 * ends after a bounded number of tries, or aside, and treiber is lock-free: so is this.
 *
 * Order: none is declared. One CPU's list is FIFO, and a flip cuts through each producer's order
 * (it can't append to an old half after it appended to a new one), so a producer that stays on its
 * CPU is served in order. But between two flips one that is moved leaves requests on two lists,
 * which are taken by CPU number; nor is a push aside ordered against the others.
 *
 * E1: a push that returned before drain began has stored a half's tail, which the consumer, by
 * coherence, can't miss; if a flip came in between, it took that half.
 * E2: a half is empty when it becomes current, at a flip. What a drain leaves behind on one was
 * appended after the last flip, and if that drain didn't flip, after it found the half empty; the
 * first of it found the stub, so it returned PUSHED_FIRST.
 *
 * Each flip costs a membarrier, which interrupts every CPU that runs this process: dear for one
 * request at a time, nothing for many.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shards.h"

#if defined(__x86_64__) && defined(__LP64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define PERCPU_SEQUENCES
#include <linux/membarrier.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#endif
#endif

/* Empty: tail is the stub. It ends at tail, whose `next` means nothing until it is taken. */
struct half {
        alignas(QUEUE_LINE) struct queue_node stub;
        _Atomic(struct queue_node *) tail;
};

struct percpu_queue {
        struct queue head;
        struct half *halves;     /* the CPU's current one: 2 * cpu + epoch % 2 */
        unsigned cpu_count;      /* that have a list; 0: all is pushed aside */
        _Atomic(unsigned) epoch; /* written by the consumer */
        const struct queue_ops *aside_ops;
        struct queue *aside;
        /* The consumer's: */
        alignas(QUEUE_LINE) struct queue_chain taken;
        bool flipping; /* the epoch is flipped, but sequences of the old one may still run */
};

enum { TRIES_MAX = 16 };

#ifdef PERCPU_SEQUENCES

_Static_assert(offsetof(struct queue_node, next) == 0, "append stores it at the node");
_Static_assert(offsetof(struct half, stub) == 0, "append's half is its stub's address");

/*
 * The assembly of this project's queues, all of it. Appends the node to the current half of the CPU
 * it runs on, and returns the node before. NULL: nothing is published, since the sequence was
 * restarted, or the CPU is unknown (negative: above every count) or has no list.
 *
 * struct rseq_cs at 1 names the sequence, from 2 up to 3, and its abort handler, 4, which the
 * kernel accepts only behind the signature (which disassembles as an undefined instruction's
 * operand). The store of its address must be the last instruction before 2: a restart that comes
 * sooner would disarm it. It stays there after the sequence, as the ABI allows, as long as this
 * code stays mapped. Registers are as they were at an abort, so the handler clears the result; a
 * store to `next` that was made is the next push's to make again, before tail leads there.
 *
 * x86 keeps the order of the stores (the request, next, tail: take_half sees all or nothing) and of
 * the loads (epoch, then tail: a current half was reset before the epoch said so).
 */
static inline struct queue_node *append(
        struct percpu_queue *queue, struct queue_node *node, struct half **half)
{
        struct queue_node *before;
        __asm__ volatile(
                ".pushsection __rseq_cs, \"aw\"\n\t"
                ".balign 32\n"
                "1:\t.long 0, 0\n\t" /* version, flags */
                ".quad 2f, 3f - 2f, 4f\n\t"
                ".popsection\n\t"
                ".pushsection __rseq_failure, \"ax\"\n\t"
                ".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1 */
                ".long %c[signature]\n"
                "4:\txorl %k[before], %k[before]\n\t"
                "jmp 3f\n\t"
                ".popsection\n\t"
                "leaq 1b(%%rip), %[half]\n\t"
                "movq %[half], %%fs:%c[rseq_cs](%[area])\n"
                "2:\tmovl %%fs:%c[cpu_id](%[area]), %k[half]\n\t"
                "cmpl %[cpu_count], %k[half]\n\t"
                "jae 4b\n\t"
                "movl %[epoch], %k[before]\n\t"
                "andl $1, %k[before]\n\t"
                "leaq (%[before], %[half], 2), %[half]\n\t"
                "imulq %[half_bytes], %[half], %[half]\n\t"
                "addq %[halves], %[half]\n\t"
                "movq %c[tail](%[half]), %[before]\n\t"
                "movq %[node], (%[before])\n\t"
                "movq %[node], %c[tail](%[half])\n" /* publishes */
                "3:"
                : [half] "=&r"(*half), [before] "=&r"(before)
                : [area] "r"(__rseq_offset), [node] "r"(node), [halves] "r"(queue->halves),
                [epoch] "m"(queue->epoch), [cpu_count] "m"(queue->cpu_count),
                [half_bytes] "i"(sizeof(struct half)), [tail] "i"(offsetof(struct half, tail)),
                [cpu_id] "i"(offsetof(struct rseq, cpu_id)),
                [rseq_cs] "i"(offsetof(struct rseq, rseq_cs)), [signature] "i"(RSEQ_SIG)
                : "memory", "cc");
        return before;
}

/* True once no sequence that began before still runs, on any thread; also a full fence. */
static bool restart_sequences(void)
{
        return !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

static bool sequences_work(void)
{
        return __rseq_size > 0 &&
               !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

#else

static inline struct queue_node *append(
        struct percpu_queue *queue, struct queue_node *node, struct half **half)
{
        (void)queue, (void)node, (void)half;
        return NULL;
}

static bool restart_sequences(void)
{
        return true;
}

static bool sequences_work(void)
{
        return false;
}

#endif

static enum queue_pushed percpu_push(struct queue *base, unsigned producer, struct queue_node *node)
{
        struct percpu_queue *queue = (struct percpu_queue *)base;
        if (queue->cpu_count)
                queue_hidden_release(queue); /* to flip */
        for (unsigned tries = queue->cpu_count ? TRIES_MAX : 0; tries; tries--) {
                struct half *half;
                struct queue_node *before = append(queue, node, &half);
                if (before)
                        return before == &half->stub ? QUEUE_PUSHED_FIRST : QUEUE_PUSHED;
        }
        return queue->aside_ops->push(queue->aside, producer, node);
}

static bool some_current_half_has(struct percpu_queue *queue)
{
        unsigned epoch = atomic_load_explicit(&queue->epoch, memory_order_relaxed);
        for (unsigned cpu = 0; cpu < queue->cpu_count; cpu++) {
                struct half *half = &queue->halves[2 * cpu + epoch % 2];
                /* Relaxed: by coherence it can't miss a push that returned before this drain. */
                if (atomic_load_explicit(&half->tail, memory_order_relaxed) != &half->stub)
                        return true;
        }
        return false;
}

/* Once the half is old and sequences were restarted: nobody else reads or writes it. */
static void take_half(struct percpu_queue *queue, struct half *half)
{
        struct queue_node *last = atomic_load_explicit(&half->tail, memory_order_relaxed);
        if (last == &half->stub)
                return;
        struct queue_node *first = atomic_load_explicit(&half->stub.next, memory_order_relaxed);
        atomic_store_explicit(&last->next, NULL, memory_order_relaxed);
        queue_chain_append(&queue->taken, first, last);
        /* Before it is current again: tail must not lead to a node that was handed back. */
        atomic_store_explicit(&half->tail, &half->stub, memory_order_relaxed);
}

/* Takes all that the current halves hold. False: the kernel had no memory for it; call it again. */
static bool flip(struct percpu_queue *queue)
{
        unsigned epoch = atomic_load_explicit(&queue->epoch, memory_order_relaxed);
        if (!queue->flipping)
                /* Release, with the load in append: what becomes current, take_half has reset. */
                atomic_store_explicit(&queue->epoch, ++epoch, memory_order_release);
        queue->flipping = !restart_sequences();
        if (queue->flipping)
                return false;
        queue_hidden_acquire(queue); /* from percpu_push */
        for (unsigned cpu = 0; cpu < queue->cpu_count; cpu++)
                take_half(queue, &queue->halves[2 * cpu + (epoch + 1) % 2]);
        return true;
}

/* Once what was taken is handed out, both the way aside and the halves get their turn, whatever max
 * is: neither can starve the other. */
static struct queue_drained percpu_drain(struct queue *base, struct queue_node **out, unsigned max)
{
        struct percpu_queue *queue = (struct percpu_queue *)base;
        unsigned count = queue_chain_take(&queue->taken, out, max);
        if (count == max)
                return (struct queue_drained){count, QUEUE_MORE};
        struct queue_drained aside =
                queue->aside_ops->drain(queue->aside, out + count, max - count);
        count += aside.count;
        bool flips = queue->flipping || some_current_half_has(queue);
        if (flips && !flip(queue))
                return (struct queue_drained){count, QUEUE_MORE};
        count += queue_chain_take(&queue->taken, out + count, max - count);
        return (struct queue_drained){count, queue->taken.first ? QUEUE_MORE : aside.left};
}

/* CPU numbers may have gaps; one that is missed here is one whose pushes go aside. */
static unsigned count_cpus(void)
{
        long count = sysconf(_SC_NPROCESSORS_CONF);
        cpu_set_t allowed;
        if (count < 1)
                count = 1;
        if (!sched_getaffinity(0, sizeof allowed, &allowed))
                for (long cpu = count; cpu < CPU_SETSIZE; cpu++)
                        if (CPU_ISSET(cpu, &allowed))
                                count = cpu + 1;
        return (unsigned)count;
}

static int create_halves(struct percpu_queue *queue)
{
        queue->cpu_count = count_cpus();
        queue->halves = aligned_alloc(QUEUE_LINE, sizeof *queue->halves * queue->cpu_count * 2);
        if (!queue->halves)
                return -ENOMEM;
        for (unsigned i = 0; i < queue->cpu_count * 2; i++)
                queue->halves[i] = (struct half){.tail = &queue->halves[i].stub};
        return 0;
}

/* What runs in place of this: the same in every queue of the process. */
static pthread_once_t instead_once = PTHREAD_ONCE_INIT;
static unsigned instead_shards;
static char instead_name[64];

static void name_instead(void)
{
        enum { SHARDS_MAX = 1024 }; /* of QUEUE_KEY_SHARDS */
        unsigned cpus = count_cpus();
        instead_shards = cpus < SHARDS_MAX ? cpus : SHARDS_MAX;
        snprintf(instead_name, sizeof instead_name, "sharded_vyukov:shards=%u:by=cpu",
                instead_shards);
}

static int create_aside(struct percpu_queue *queue, const char *name,
        const struct queue_ops *const *backends, const struct queue_config *config)
{
        struct queue_config other = *config;
        while (*backends && strcmp((*backends)->name, name) != 0)
                backends++;
        const struct queue_ops *ops = *backends;
        /* Of other hooks, had it any, ours would have to make use. */
        if (!ops || ops->attach || ops->flush || ops->settle || ops->wait)
                return -ENOTSUP;
        for (unsigned i = 0; ops->keys && ops->keys[i].name; i++)
                other.values[i] = !strcmp(ops->keys[i].name, "shards") ? instead_shards
                                  : !strcmp(ops->keys[i].name, "by")   ? QUEUE_BY_CPU
                                                                       : ops->keys[i].otherwise;
        queue->aside_ops = ops;
        return ops->create(&queue->aside, &other);
}

enum {
        TRAITS = QUEUE_LOCK_FREE | QUEUE_SEES_EDGE,
        TRAITS_INSTEAD = TRAITS | QUEUE_MAY_STALL,
};

extern const struct queue_ops *const treiber_backends[], *const vyukov_backends[];

static int create_native(struct percpu_queue *queue, const struct queue_config *config)
{
        queue->head.traits = TRAITS;
        int error = create_halves(queue);
        return error ? error : create_aside(queue, "treiber", treiber_backends, config);
}

static int create_instead(struct percpu_queue *queue, const struct queue_config *config)
{
        pthread_once(&instead_once, name_instead);
        int error = create_aside(queue, "sharded_vyukov", vyukov_backends, config);
        if (error)
                return error;
        queue->head.instead = instead_name;
        queue->head.traits = queue->aside->traits & TRAITS_INSTEAD;
        if (queue->aside->traits & QUEUE_WAIT_FREE)
                queue->head.traits |= QUEUE_LOCK_FREE; /* the part of it that the table has */
        return 0;
}

static void percpu_destroy(struct queue *base)
{
        struct percpu_queue *queue = (struct percpu_queue *)base;
        if (queue->aside)
                queue->aside_ops->destroy(queue->aside);
        free(queue->halves);
        free(queue);
}

static int percpu_create(struct queue **out, const struct queue_config *config)
{
        struct percpu_queue *queue = aligned_alloc(QUEUE_LINE, sizeof *queue);
        if (!queue)
                return -ENOMEM;
        *queue = (struct percpu_queue){.head.traits = 0};
        int error = sequences_work() ? create_native(queue, config) : create_instead(queue, config);
        if (error)
                percpu_destroy(&queue->head);
        else
                *out = &queue->head;
        return error;
}

static const struct queue_ops percpu_ops = {
        .name = "percpu",
        .summary = "a list per CPU, appended to in a restartable sequence",
        .source = "rseq(2): P. Turner and A. Hunter, 2013; M. Desnoyers, Linux 4.18",
        .traits = TRAITS_INSTEAD,
        .seen = QUEUE_SEEN_AS_TOLD,
        .create = percpu_create,
        .destroy = percpu_destroy,
        .push = percpu_push,
        .drain = percpu_drain,
};

const struct queue_ops *const percpu_backends[] = {&percpu_ops, NULL};
