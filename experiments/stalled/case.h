/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One case of `stalled`: a producer is parked inside its push, another pushes, the consumer drains,
 * the parked one goes on. What each of them got done is the outcome; no time is part of it.
 */
#ifndef FANIN_STALLED_CASE_H
#define FANIN_STALLED_CASE_H

#include "../../engine/registry.h"

enum {
        CASE_EACH = 3,        /* the other's requests: so many before, so many while it is parked */
        CASE_STEPS_MAX = 4,   /* places in a push where a producer can be parked */
        CASE_DEADLINE_S = 60, /* a case that takes longer hangs */
};

struct stalled_case {
        const struct queue_ops *ops;
        unsigned other; /* the other producer's index; the parked one's is 0 */
        unsigned step;  /* parked at the step-th queue_step of its push, from 1 */
};

enum case_end {
        CASE_NO_STEP,  /* the push ended before that step */
        CASE_INSTEAD,  /* something else would run in the queue's place here */
        CASE_REFUSED,  /* create refused */
        CASE_ALL_ONCE, /* in the end every request came, once */
        CASE_LOST,
        CASE_DOUBLED,
        CASE_HANGS,
        CASE_CRASHES,
};

enum case_stop { CASE_GOES_ON, CASE_BLOCKED, CASE_FULL };

/* Bits of drained: what drain said, again and again, once nothing more came. */
enum { CASE_SAID_EMPTY = 1, CASE_SAID_STALLED = 2, CASE_SAID_MORE = 4, CASE_DRAIN_BLOCKED = 8 };

struct case_outcome {
        enum case_end end;
        enum case_stop other; /* what became of the other's pushes */
        unsigned returned;    /* of its CASE_EACH pushes beside the parked one */
        unsigned earlier;     /* of its requests from before, how many came while it was parked */
        unsigned later;       /* of those that returned beside it */
        unsigned drained;
};

/* In a process of its own, which ends with it. */
void case_run(const struct stalled_case *is, struct case_outcome *outcome);

#endif
