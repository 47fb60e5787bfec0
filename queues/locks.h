/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The locks of mutex.c by one interface. A kind that is a constant where it is used costs nothing
 * at run time; Concurrency Kit's, one backend with a key, cost a switch.
 *
 * MUTEX       pthread's
 * ADAPTIVE    pthread's that spins a little before it sleeps; glibc has it
 * SPIN        test-and-test-and-set, which yields (L. Rudolph and Z. Segall, ISCA 1984)
 * TICKET …    Concurrency Kit's (S. Bahra), which never yield: in order of arrival TICKET, MCS and
 *             CLH, in none FAS (fetch-and-store) and DEC (decrement)
 */
#ifndef FANIN_LOCKS_H
#define FANIN_LOCKS_H

#include <pthread.h>

#include "queue.h"

#if __has_include(<ck_spinlock.h>)
#include <ck_spinlock.h>
#define HAVE_CK
#endif
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define HAVE_ADAPTIVE /* glibc's */
#endif

/* So that a constant kind is one to the compiler. */
#define INLINE static inline __attribute__((always_inline))

/* TICKET … DEC as the key `kind` of ck_lock counts. */
enum lock_kind { TICKET, MCS, CLH, FAS, DEC, MUTEX, ADAPTIVE, SPIN };

union lock {
        pthread_mutex_t mutex; /* MUTEX, ADAPTIVE */
        atomic_bool held;      /* SPIN */
#ifdef HAVE_CK
        ck_spinlock_ticket_t ticket;
        ck_spinlock_mcs_t mcs;
        ck_spinlock_clh_t *clh;
        ck_spinlock_fas_t fas;
        ck_spinlock_dec_t dec;
#endif
};

/*
 * For CLH: who unlocks leaves its node to its successor and goes on with its predecessor's, so
 * nodes wander, from lock to lock too, and live as long as the queue. Each producer, the consumer
 * and each lock starts with one.
 */
struct seat {
#ifdef HAVE_CK
        alignas(QUEUE_LINE) ck_spinlock_clh_t *mine; /* the node to lock with next */
        alignas(QUEUE_LINE) ck_spinlock_clh_t node;  /* anybody's */
#else
        char none;
#endif
};

/* What whoever takes the lock brings along until the release. */
struct holder {
        struct seat *seats;
        unsigned who;
#ifdef HAVE_CK
        ck_spinlock_mcs_context_t mcs;
#endif
};

INLINE void spin(atomic_bool *held)
{
        /* Acquire, with the release in unspin: what the last holder did to the list. */
        while (atomic_exchange_explicit(held, true, memory_order_acquire))
                for (unsigned spins = 1; atomic_load_explicit(held, memory_order_relaxed); spins++)
                        queue_pause(spins);
}

INLINE void unspin(atomic_bool *held)
{
        /* Release, with the acquire in spin. */
        atomic_store_explicit(held, false, memory_order_release);
}

/* Takes the lock, or releases it. */
INLINE void lock_turn(bool take, enum lock_kind kind, union lock *lock, struct holder *holder)
{
        (void)holder;
        switch (kind) {
        case SPIN:
                take ? spin(&lock->held) : unspin(&lock->held);
                break;
#ifdef HAVE_CK
        case TICKET:
                take ? ck_spinlock_ticket_lock(&lock->ticket)
                     : ck_spinlock_ticket_unlock(&lock->ticket);
                break;
        case MCS:
                take ? ck_spinlock_mcs_lock(&lock->mcs, &holder->mcs)
                     : ck_spinlock_mcs_unlock(&lock->mcs, &holder->mcs);
                break;
        case CLH:
                take ? ck_spinlock_clh_lock(&lock->clh, holder->seats[holder->who].mine)
                     : ck_spinlock_clh_unlock(&holder->seats[holder->who].mine);
                break;
        case FAS:
                take ? ck_spinlock_fas_lock(&lock->fas) : ck_spinlock_fas_unlock(&lock->fas);
                break;
        case DEC:
                take ? ck_spinlock_dec_lock(&lock->dec) : ck_spinlock_dec_unlock(&lock->dec);
                break;
#endif
        default:
                take ? pthread_mutex_lock(&lock->mutex) : pthread_mutex_unlock(&lock->mutex);
        }
}

/* 0 or -errno. The lock is all zero, which is how the other kinds begin. who: its seat. */
static inline int lock_create(
        union lock *lock, enum lock_kind kind, struct seat *seats, unsigned who)
{
        (void)seats, (void)who;
        pthread_mutexattr_t attributes;
        int error = 0;
        switch (kind) {
#ifdef HAVE_CK
        case CLH:
                ck_spinlock_clh_init(&lock->clh, &seats[who].node);
                break;
        case DEC:
                ck_spinlock_dec_init(&lock->dec);
                break;
#endif
#ifdef HAVE_ADAPTIVE
        case ADAPTIVE:
                pthread_mutexattr_init(&attributes);
                pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
                error = pthread_mutex_init(&lock->mutex, &attributes);
                pthread_mutexattr_destroy(&attributes);
                break;
#endif
        case MUTEX:
                error = pthread_mutex_init(&lock->mutex, NULL);
                break;
        default:
                break;
        }
        return -error;
}

static inline void lock_destroy(union lock *lock, enum lock_kind kind)
{
        if (kind == MUTEX || kind == ADAPTIVE)
                pthread_mutex_destroy(&lock->mutex);
}

#endif
