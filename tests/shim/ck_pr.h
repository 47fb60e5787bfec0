/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit 0.7.1 for builds that a sanitizer watches, or in which a test parks a producer.
 * -Itests/shim puts this file before the system's <ck_pr.h>, which it ends by including.
 *
 * Concurrency Kit reaches memory through a "port": inline assembly, invisible to a sanitizer, or,
 * with CK_USE_CC_BUILTINS, compiler built-ins whose loads and stores are merely volatile, whose
 * exchange is a loop of compare-and-swap (another algorithm), and which has no double-word
 * compare-and-swap, so that ck_fifo_mpmc disappears. This file is a third port. What it leaves out
 * (the bit tests, …) <ck_pr.h> makes of it.
 *
 * Every load is read as acquire, every store as release, every other operation as sequentially
 * consistent: what x86 does. Clean therefore means that there is no race under that reading, not
 * that the library's own fences suffice on a weaker machine such as aarch64.
 *
 * One thing is not as in the library: ck_pr_stall, which its spinlocks call while they wait, yields
 * the CPU each 64th time. The tests run 100 threads on a few CPUs, where a lock that is handed over
 * in order of arrival would wait for a slice of the scheduler's at each turn.
 */
#ifndef FANIN_SHIM_CK_PR_H
#define FANIN_SHIM_CK_PR_H

/* Allows include_next and 128-bit integers under -Wpedantic. */
#pragma GCC system_header

#include <sched.h>

#include <ck_cc.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>

#include "step.h"

/* Keeps the assembly port out, and then the built-in one. */
#define CK_USE_CC_BUILTINS 1
#define CK_PR_GCC_H

/* What the built-in port has, and so this one; and what only this one has. */
#include <gcc/ck_f_pr.h>
#define CK_F_PR_FAS_PTR
#define CK_F_PR_FAS_CHAR
#define CK_F_PR_FAS_INT
#define CK_F_PR_FAS_UINT
#define CK_F_PR_FAS_64
#define CK_F_PR_FAS_32
#define CK_F_PR_FAS_16
#define CK_F_PR_FAS_8
#define CK_F_PR_CAS_PTR_2
#define CK_F_PR_CAS_PTR_2_VALUE

CK_CC_INLINE static void ck_pr_barrier(void)
{
        __asm__ __volatile__("" ::: "memory");
}

CK_CC_INLINE static void ck_pr_stall(void)
{
        static __thread unsigned shim_stalls;
        if (++shim_stalls % 64 == 0)
                sched_yield();
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        ck_pr_barrier();
#endif
}

#define SHIM_FENCE(KIND)                                                                           \
        CK_CC_INLINE static void ck_pr_fence_strict_##KIND(void)                                   \
        {                                                                                          \
                __sync_synchronize();                                                              \
        }

SHIM_FENCE(atomic)
SHIM_FENCE(atomic_load)
SHIM_FENCE(atomic_store)
SHIM_FENCE(store_atomic)
SHIM_FENCE(load_atomic)
SHIM_FENCE(load)
SHIM_FENCE(load_store)
SHIM_FENCE(store)
SHIM_FENCE(store_load)
SHIM_FENCE(memory)
SHIM_FENCE(acquire)
SHIM_FENCE(release)
SHIM_FENCE(acqrel)
SHIM_FENCE(lock)
SHIM_FENCE(unlock)

/*
 * For one kind of operand. NAME: how ck_pr calls it; TARGET: what it points to in ck_pr's
 * signatures; VALUE: what it holds; DELTA: what is added to it; CELL: as what memory is accessed.
 */
#define SHIM_ACCESS(NAME, TARGET, VALUE, DELTA, CELL)                                              \
        CK_CC_INLINE static VALUE ck_pr_md_load_##NAME(const TARGET *target)                       \
        {                                                                                          \
                return (VALUE)__atomic_load_n((const CELL *)target, __ATOMIC_ACQUIRE);             \
        }                                                                                          \
        CK_CC_INLINE static VALUE ck_pr_fas_##NAME(TARGET *target, VALUE v)                        \
        {                                                                                          \
                CELL old = __atomic_exchange_n((CELL *)target, (CELL)v, __ATOMIC_SEQ_CST);         \
                shim_step();                                                                       \
                return (VALUE)old;                                                                 \
        }                                                                                          \
        CK_CC_INLINE static VALUE ck_pr_faa_##NAME(TARGET *target, DELTA d)                        \
        {                                                                                          \
                return (VALUE)__atomic_fetch_add((CELL *)target, (CELL)d, __ATOMIC_SEQ_CST);       \
        }                                                                                          \
        CK_CC_INLINE static bool shim_cas_##NAME(                                                  \
                TARGET *target, VALUE compare, VALUE set, VALUE *old)                              \
        {                                                                                          \
                CELL expected = (CELL)compare;                                                     \
                shim_step();                                                                       \
                bool done = __atomic_compare_exchange_n((CELL *)target, &expected, (CELL)set, 0,   \
                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                       \
                *old = (VALUE)expected;                                                            \
                if (done)                                                                          \
                        shim_step();                                                               \
                return done;                                                                       \
        }                                                                                          \
        CK_CC_INLINE static bool ck_pr_cas_##NAME(TARGET *target, VALUE compare, VALUE set)        \
        {                                                                                          \
                VALUE old;                                                                         \
                return shim_cas_##NAME(target, compare, set, &old);                                \
        }                                                                                          \
        SHIM_UPDATE(add, NAME, TARGET, DELTA, CELL)                                                \
        SHIM_UPDATE(sub, NAME, TARGET, DELTA, CELL)                                                \
        SHIM_UPDATE(and, NAME, TARGET, DELTA, CELL)                                                \
        SHIM_UPDATE(or, NAME, TARGET, DELTA, CELL)                                                 \
        SHIM_UPDATE(xor, NAME, TARGET, DELTA, CELL)                                                \
        CK_CC_INLINE static void ck_pr_inc_##NAME(TARGET *target)                                  \
        {                                                                                          \
                ck_pr_add_##NAME(target, 1);                                                       \
        }                                                                                          \
        CK_CC_INLINE static void ck_pr_dec_##NAME(TARGET *target)                                  \
        {                                                                                          \
                ck_pr_sub_##NAME(target, 1);                                                       \
        }

#define SHIM_UPDATE(VERB, NAME, TARGET, DELTA, CELL)                                               \
        CK_CC_INLINE static void ck_pr_##VERB##_##NAME(TARGET *target, DELTA d)                    \
        {                                                                                          \
                (void)__atomic_fetch_##VERB((CELL *)target, (CELL)d, __ATOMIC_SEQ_CST);            \
        }

/* Where ck_pr's signatures for numbers and for pointers differ in more than a type. */
#define SHIM_NUMBER(NAME, TYPE)                                                                    \
        SHIM_ACCESS(NAME, TYPE, TYPE, TYPE, TYPE)                                                  \
        CK_CC_INLINE static void ck_pr_md_store_##NAME(TYPE *target, TYPE v)                       \
        {                                                                                          \
                __atomic_store_n(target, v, __ATOMIC_RELEASE);                                     \
        }                                                                                          \
        CK_CC_INLINE static bool ck_pr_cas_##NAME##_value(                                         \
                TYPE *target, TYPE compare, TYPE set, TYPE *old)                                   \
        {                                                                                          \
                return shim_cas_##NAME(target, compare, set, old);                                 \
        }

SHIM_NUMBER(char, char)
SHIM_NUMBER(int, int)
SHIM_NUMBER(uint, unsigned int)
SHIM_NUMBER(64, uint64_t)
SHIM_NUMBER(32, uint32_t)
SHIM_NUMBER(16, uint16_t)
SHIM_NUMBER(8, uint8_t)

/* ck_pr reaches pointers of every type through void *. */
typedef uintptr_t shim_pointer __attribute__((may_alias));
SHIM_ACCESS(ptr, void, void *, uintptr_t, shim_pointer)

CK_CC_INLINE static void ck_pr_md_store_ptr(void *target, const void *v)
{
        __atomic_store_n((shim_pointer *)target, (shim_pointer)v, __ATOMIC_RELEASE);
}

CK_CC_INLINE static bool ck_pr_cas_ptr_value(void *target, void *compare, void *set, void *old)
{
        return shim_cas_ptr(target, compare, set, (void **)old);
}

/*
 * Two pointers at once. __sync, not __atomic, which gcc would send to libatomic, past the
 * sanitizer; on x86-64 it needs -mcx16.
 */
typedef unsigned __int128 shim_pair __attribute__((may_alias));

CK_CC_INLINE static bool ck_pr_cas_ptr_2_value(void *target, void *compare, void *set, void *old)
{
        shim_pair expected, wanted, found;
        __builtin_memcpy(&expected, compare, sizeof expected);
        __builtin_memcpy(&wanted, set, sizeof wanted);
        shim_step();
        found = __sync_val_compare_and_swap((shim_pair *)target, expected, wanted);
        __builtin_memcpy(old, &found, sizeof found);
        if (found == expected)
                shim_step();
        return found == expected;
}

CK_CC_INLINE static bool ck_pr_cas_ptr_2(void *target, void *compare, void *set)
{
        shim_pair old;
        return ck_pr_cas_ptr_2_value(target, compare, set, &old);
}

#undef SHIM_NUMBER
#undef SHIM_UPDATE
#undef SHIM_ACCESS
#undef SHIM_FENCE

#include_next <ck_pr.h>

#endif
