/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The checks of the contract. Each tests one promise of one backend at one producer count, and says
 * what it found with report_failure. */
#ifndef FANIN_TESTS_CHECKS_H
#define FANIN_TESTS_CHECKS_H

#include "subject.h"

struct check_case {
        const struct queue_ops *ops;
        const unsigned *values; /* of ops->keys */
        bool defaults;          /* they are the keys' */
        unsigned producers;
};

/* crowd.c: as many threads as producers, beside a consumer. */
void check_exactly_once(const struct check_case *is);
void check_handed_back(const struct check_case *is);
void check_global_order(const struct check_case *is);
void check_edge(const struct check_case *is);
void check_ping_pong(const struct check_case *is);
void check_waits_crowd(const struct check_case *is);

/* waits.c: one other thread beside a consumer that waits in the queue. */
void check_waits(const struct check_case *is);

/* succession.c: producers come and go. */
void check_succession(const struct check_case *is);

/* parked.c: a producer stops mid-push. */
void check_parked(const struct check_case *is);

/* alone.c: one thread is all producers and the consumer. */
void check_order(const struct check_case *is);
void check_drain(const struct check_case *is);
void check_full(const struct check_case *is);
void check_kept(const struct check_case *is);
void check_destroy(const struct check_case *is);

/* As alone.c. memory.c, migrates.c, overtaken.c */
void check_cells(const struct check_case *is);
void check_migrates(const struct check_case *is);
void check_overtaken(const struct check_case *is);

/* Small and seeded: a run's choices are the same each time. state must not be 0. */
static inline unsigned check_random(uint32_t *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        return *state;
}

#endif
