/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Deals producer indices: the lowest free one at a thread's first use, given back by a pthread-key
 * destructor when the thread ends. No two threads hold one index at once; the next owner of an
 * index finds its lane as the last one left it, so a lane's order survives.
 *
 * Return from main and exit run no such destructors: nothing here waits for them. A submit from
 * another key's destructor takes an index again, and pthread then calls ours again.
 */
#include "producer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WORD_BITS = 64, WORDS = FANIN_PRODUCERS_MAX / WORD_BITS };

struct queue_guard producer_guards[FANIN_PRODUCERS_MAX];
_Thread_local struct producer_self producer_self;

static _Atomic uint64_t taken[WORDS];
static _Atomic unsigned high_water;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_works;

static void thread_ends(void *index_plus_1)
{
        unsigned index = (unsigned)(uintptr_t)index_plus_1 - 1;
        context_producer_ends(index);
        producer_self.index_plus_1 = 0;
        /* Release, with the acquire in claim: the lane as we leave it is the next owner's. */
        atomic_fetch_and_explicit(&taken[index / WORD_BITS], ~(UINT64_C(1) << index % WORD_BITS),
                memory_order_release);
}

static void make_key(void)
{
        key_works = !pthread_key_create(&key, thread_ends);
}

static unsigned claim(void)
{
        for (unsigned word = 0; word < WORDS; word++) {
                uint64_t bits = atomic_load_explicit(&taken[word], memory_order_relaxed);
                while (~bits) {
                        unsigned bit = (unsigned)__builtin_ctzll(~bits);
                        /* Acquire, with the release in thread_ends. */
                        if (atomic_compare_exchange_weak_explicit(&taken[word], &bits,
                                    bits | UINT64_C(1) << bit, memory_order_acquire,
                                    memory_order_relaxed))
                                return word * WORD_BITS + bit;
                }
        }
        return FANIN_NO_PRODUCER;
}

static void raise_high_water(unsigned index)
{
        unsigned high = atomic_load_explicit(&high_water, memory_order_relaxed);
        /* seq_cst: an index is counted before its first guard_enter; destroy reads the mark after
         * its barrier, so a producer it doesn't count will find the context unpublished. */
        while (high <= index && !atomic_compare_exchange_weak(&high_water, &high, index + 1))
                ;
}

static unsigned first_use(void)
{
        pthread_once(&once, make_key);
        if (!key_works)
                return FANIN_NO_PRODUCER;
        unsigned index = claim();
        if (index == FANIN_NO_PRODUCER)
                return index;
        if (pthread_setspecific(key, (void *)(uintptr_t)(index + 1))) {
                /* Release, as in thread_ends. */
                atomic_fetch_and_explicit(&taken[index / WORD_BITS],
                        ~(UINT64_C(1) << index % WORD_BITS), memory_order_release);
                return FANIN_NO_PRODUCER;
        }
        raise_high_water(index);
        producer_self.index_plus_1 = index + 1;
        return index;
}

unsigned producer_index(void)
{
        unsigned index_plus_1 = producer_self.index_plus_1;
        return index_plus_1 ? index_plus_1 - 1 : first_use();
}

unsigned producer_high_water(void)
{
        /* seq_cst, with raise_high_water: see there. */
        return atomic_load(&high_water);
}
