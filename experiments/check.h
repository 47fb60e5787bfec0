/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Exactly once and in order, per request: a bitmap of ids for each producer, since a total would
 * let one drop and one duplicate cancel out. All but check_round_ends is called on the FFI thread.
 */
#ifndef FANIN_CHECK_H
#define FANIN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_lane {
        _Alignas(64) uint64_t *seen; /* a bit per request of a round */
        uint64_t next;               /* the least id that is in order now */
};

struct check {
        unsigned producers;
        uint64_t per_producer; /* ids are below it */
        struct check_lane *lanes;
        uint64_t doubled, disordered;
};

/* False: no memory. Touches all of it. */
bool check_create(struct check *, unsigned producers, uint64_t per_producer);
void check_destroy(struct check *);

/* One hand-back of request id (dealt 0, 1, … by its producer in this round). */
static inline void check_one(struct check *check, unsigned producer, uint64_t id)
{
        struct check_lane *lane = &check->lanes[producer];
        uint64_t bit = UINT64_C(1) << id % 64, *word = &lane->seen[id / 64];
        check->doubled += !!(*word & bit);
        *word |= bit;
        check->disordered += id < lane->next;
        lane->next = id + 1;
}

/* When every callback of the round is in (or given up for lost): the number of requests below
 * accepted[p] not seen; what was seen beyond counts as doubled. Clears for the next round. */
uint64_t check_round_ends(struct check *, const uint64_t *accepted);

#endif
