/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters of this process and its threads, through perf_event_open: what the machine has
 * and its owner allows. All are opened before the first thread starts, which inherits them.
 */
#ifndef FANIN_PMU_H
#define FANIN_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pmu_event { PMU_CYCLES, PMU_INSTRUCTIONS, PMU_CACHE_MISSES, PMU_HITM, PMU_EVENTS };

/* Starts counting what can be counted. Once a process. */
void pmu_open(void);

/* From here on. */
void pmu_begin(void);

/*
 * The events since pmu_begin, UINT64_MAX for those that can't be had. why (why_bytes) gets a
 * sentence when not all of cycles, instructions and cache misses can, or only in user mode; else
 * "".
 */
void pmu_end(uint64_t counts[PMU_EVENTS], char *why, size_t why_bytes);

/* An event that the kernel gives a name with this part, as /sys/bus/event_source lists it below
 * root (or a test's directory): its PMU's type and configuration. False: none. */
bool pmu_find(const char *root, const char *part, uint32_t *type, uint64_t *config);

#endif
