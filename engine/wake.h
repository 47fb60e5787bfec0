/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* When the FFI thread is woken: the policies over the signals. The arguments stand in wake.c. */
#ifndef FANIN_WAKE_H
#define FANIN_WAKE_H

#include "signal.h"

enum wake_policy { WAKE_EVERY, WAKE_EDGE, WAKE_PENDING, WAKE_FLAG, WAKE_POLL, WAKE_POLICIES };

struct wake_policy_text {
        const char *name, *summary;
};

extern const struct wake_policy_text wake_policies[WAKE_POLICIES];

struct wake {
        enum wake_policy policy;
        int poll_ms; /* fallback poll, or the poll itself; -1: none */
        const struct signal_ops *ops;
        struct signal signal;
        alignas(128) _Atomic int word; /* PENDING: a wake is on its way; FLAG: the FFI thread sleeps
                                        */
};

/* 0 or -errno. poll_ms 0: no fallback poll. */
int wake_create(struct wake *, enum wake_policy, const struct signal_ops *, int poll_ms);
void wake_destroy(struct wake *);

/* Producer, after each visible push (first: it returned PUSHED_FIRST) or owed flush. True: a wake
 * was sent; false: elided. */
bool wake_after_push(struct wake *, bool first);

/* Any thread: the FFI thread comes back from wake_wait, whatever the policy (poll: in its time). */
void wake_interrupt(struct wake *);

/* FFI thread, in this order; wake.c says why. */
bool wake_announce(struct wake *); /* after EMPTY; true: drain once more before wake_wait */
void wake_retract(struct wake *);  /* instead of wake_wait, when that drain found work */
bool wake_wait(struct wake *);     /* false: the fallback poll's time passed */
bool wake_reset(struct wake *);    /* then drain; true: the signal had been raised */

#endif
