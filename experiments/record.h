/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a sample's process during its measured rounds: memory, context switches,
 * faults, migrations, hardware counters, throttling. What it doesn't say is NA.
 */
#ifndef FANIN_RECORD_H
#define FANIN_RECORD_H

#include "row.h"

/* Before the process has threads, which inherit the hardware counters. */
void record_open(void);

/* After the warm-up, and once the last round is drained: no thread may come or go between. The
 * second fills in row's columns and note, and returns the wall time between them. */
void record_begin(void);
uint64_t record_end_ns(struct row *row);

#endif
