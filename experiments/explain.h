/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin run --explain`: where the time of a submit goes, by taking one part away after the other
 * and measuring all in one run: the cell; without its wake (poll); without its allocator (slab);
 * without its queue (private). The differences are wake, allocator and queue, what is left is the
 * rest. No part is timed inside itself.
 */
#ifndef FANIN_EXPLAIN_H
#define FANIN_EXPLAIN_H

#include "rundir.h"
#include "summary.h"

/* Adds the configurations that a given one is compared with. Dies when one can't be: a hand-off
 * needs its wake. */
void explain_add_parts(struct settings *);

/* The table, and explain.csv in the run directory. False: stdout can't be written. */
bool explain_print(const struct settings *, const struct summary *, const struct rundir *);

#endif
