/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* When the FFI thread is woken: the policies over the signals. The arguments stand in wake.c. */
#ifndef FANIN_WAKE_H
#define FANIN_WAKE_H

#include "../queues/queue.h"
#include "signal.h"

enum wake_policy {
        WAKE_EVERY,
        WAKE_EDGE,
        WAKE_PENDING,
        WAKE_FLAG,
        WAKE_ASYM,
        WAKE_POLL,
        WAKE_OWN,
        WAKE_POLICIES,
};

/* What a policy needs beside E1 (queue.h). */
enum wake_need {
        WAKE_NEEDS_SIGNAL = 1 << 0,     /* it sends; without this, the signal is `none` */
        WAKE_NEEDS_EDGE = 1 << 1,       /* E2 */
        WAKE_NEEDS_HOOKS = 1 << 2,      /* the queue's own wait and interrupt */
        WAKE_NEEDS_NO_SETTLE = 1 << 3,  /* a push that doesn't wait to be accepted */
        WAKE_NEEDS_MEMBARRIER = 1 << 4, /* of the kernel: queue_guard_fenced is false */
};

struct wake_policy_facts {
        const char *name, *summary;
        unsigned needs;
};

extern const struct wake_policy_facts wake_policies[WAKE_POLICIES];

struct wake {
        enum wake_policy policy;
        int poll_ms; /* fallback poll, or the poll itself; -1: none */
        const struct signal_ops *ops;
        struct signal signal;
        const struct queue_ops *queue_ops; /* OWN waits in the queue */
        struct queue *queue;
        /* PENDING: a wake is on its way; FLAG, ASYM: the FFI thread sleeps. */
        alignas(128) _Atomic int word;
};

/* 0 or -errno. poll_ms 0: no fallback poll. The queue is touched under OWN only. */
int wake_create(struct wake *, enum wake_policy, const struct signal_ops *, int poll_ms,
        const struct queue_ops *, struct queue *);
void wake_destroy(struct wake *);

/* Producer, after each visible push (first: it returned PUSHED_FIRST) or owed flush. True: a wake
 * was sent; false: elided, as all are under POLL and OWN. */
bool wake_after_push(struct wake *, bool first);

/* Any thread: the FFI thread comes back from wake_wait, whatever the policy (poll: in its time). */
void wake_interrupt(struct wake *);

/* FFI thread, in this order; wake.c says why. */
bool wake_announce(struct wake *); /* after EMPTY; true: drain once more before wake_wait */
void wake_retract(struct wake *);  /* instead of wake_wait, when that drain found work */
bool wake_wait(struct wake *);     /* false: the fallback poll's time passed */
bool wake_reset(struct wake *);    /* then drain; true: the signal had been raised (OWN: there is
                                      something in the queue) */

#endif
