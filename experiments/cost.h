/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* What measuring itself costs, measured: each call takes some milliseconds of this thread. */
#ifndef FANIN_COST_H
#define FANIN_COST_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics.h"

/* One read of the wall clock; NAN without one. */
struct median cost_clock_read_ns(void);

/* One hand-back's check that it is exactly once and in order, in a loop; NAN: no memory. */
struct median cost_check_ns(void);

/*
 * Nanoseconds per submit of one producer into a queue that does nothing but keep it (cost_config),
 * through the engine both times: in a bare loop, and in the measuring loop of producers.c; turn
 * about, so that added, the median of the pairs' differences, is what that loop adds.
 */
struct cost_submit {
        struct median bare_ns, measured_ns, added_ns;
};

extern const char cost_config[];

/* False: why has a sentence. Starts and ends a producer: once a process, and in no sample's. */
bool cost_submit(struct cost_submit *out, char *why, size_t why_bytes);

#endif
