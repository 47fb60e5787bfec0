/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * liburcu 0.13 for builds that a sanitizer watches, or in which a test parks a producer. Included
 * before every source (-include tests/shim/urcu.h): it takes the place of <urcu/system.h> and
 * <urcu/uatomic.h>, whose accesses are volatile or inline assembly, invisible to a sanitizer, with
 * the compiler's atomic built-ins. Where liburcu is missing it is empty.
 *
 * Every load is read as acquire, every store as release, every other operation as sequentially
 * consistent: what x86 does. Clean therefore means that there is no race under that reading, not
 * that the library's own fences suffice on a weaker machine such as aarch64.
 */
#ifndef FANIN_SHIM_URCU_H
#define FANIN_SHIM_URCU_H

#if defined(__has_include)
#if __has_include(<urcu/arch.h>)

#include <urcu/arch.h> /* cmm_barrier, cmm_mb and their kin, caa_cpu_relax; little else */

#include "step.h"

/* In place of <urcu/system.h> */
#define _URCU_SYSTEM_H
#define CMM_LOAD_SHARED(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define CMM_STORE_SHARED(x, v)                                                                     \
        __extension__({                                                                            \
                __typeof__(x) shim_stored = (v);                                                   \
                __atomic_store_n(&(x), shim_stored, __ATOMIC_RELEASE);                             \
                shim_stored;                                                                       \
        })
#define _CMM_LOAD_SHARED(x) CMM_LOAD_SHARED(x)
#define _CMM_STORE_SHARED(x, v) CMM_STORE_SHARED(x, v)

/* In place of <urcu/uatomic.h> */
#define _URCU_UATOMIC_H
#define UATOMIC_HAS_ATOMIC_BYTE
#define UATOMIC_HAS_ATOMIC_SHORT

#define uatomic_read(p) CMM_LOAD_SHARED(*(p))
#define uatomic_set(p, v) ((void)CMM_STORE_SHARED(*(p), (v)))

/* liburcu's generic port makes this a loop of compare-and-swap, another algorithm. */
#define uatomic_xchg(p, v)                                                                         \
        __extension__({                                                                            \
                __typeof__(*(p)) shim_old = __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST);       \
                shim_step();                                                                       \
                shim_old;                                                                          \
        })

/* Returns the old value, whether or not it was the expected one. */
#define uatomic_cmpxchg(p, expected, v)                                                            \
        __extension__({                                                                            \
                __typeof__(*(p)) shim_old = (expected);                                            \
                shim_step();                                                                       \
                if (__atomic_compare_exchange_n(                                                   \
                            (p), &shim_old, (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))           \
                        shim_step();                                                               \
                shim_old;                                                                          \
        })

#define uatomic_add_return(p, v) __atomic_add_fetch((p), (v), __ATOMIC_SEQ_CST)
#define uatomic_sub_return(p, v) __atomic_sub_fetch((p), (v), __ATOMIC_SEQ_CST)
#define uatomic_add(p, v) ((void)uatomic_add_return((p), (v)))
#define uatomic_sub(p, v) ((void)uatomic_sub_return((p), (v)))
#define uatomic_inc(p) uatomic_add((p), 1)
#define uatomic_dec(p) uatomic_sub((p), 1)
#define uatomic_and(p, v) ((void)__atomic_and_fetch((p), (v), __ATOMIC_SEQ_CST))
#define uatomic_or(p, v) ((void)__atomic_or_fetch((p), (v), __ATOMIC_SEQ_CST))

/* Already sequentially consistent. */
#define cmm_smp_mb__before_uatomic_and() cmm_barrier()
#define cmm_smp_mb__after_uatomic_and() cmm_barrier()
#define cmm_smp_mb__before_uatomic_or() cmm_barrier()
#define cmm_smp_mb__after_uatomic_or() cmm_barrier()
#define cmm_smp_mb__before_uatomic_add() cmm_barrier()
#define cmm_smp_mb__after_uatomic_add() cmm_barrier()
#define cmm_smp_mb__before_uatomic_sub() cmm_barrier()
#define cmm_smp_mb__after_uatomic_sub() cmm_barrier()
#define cmm_smp_mb__before_uatomic_inc() cmm_barrier()
#define cmm_smp_mb__after_uatomic_inc() cmm_barrier()
#define cmm_smp_mb__before_uatomic_dec() cmm_barrier()
#define cmm_smp_mb__after_uatomic_dec() cmm_barrier()

#endif
#endif

#endif
