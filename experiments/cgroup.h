/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What this process's cgroup and its ancestors grant, v1 and v2. The tightest counts, and what is
 * malformed or not there limits nothing.
 */
#ifndef FANIN_CGROUP_H
#define FANIN_CGROUP_H

#include <stdint.h>

/* Put before /proc and /sys: "", or a test's directory. */
extern const char *cgroup_root;

/* CPUs' worth of time (v2 cpu.max, v1 cpu.cfs_quota_us); INFINITY if there is no quota. */
double cgroup_quota(void);

/* Nanoseconds that quotas have held up this process's cgroup or an ancestor, the most of them;
 * UINT64_MAX if none can be read. */
uint64_t cgroup_throttled_ns(void);

/* Processes that the kernel has killed for memory in this cgroup or an ancestor, in all; UINT64_MAX
 * if none can be read. */
uint64_t cgroup_oom_kills(void);

/* Bytes; UINT64_MAX if there is no limit. */
uint64_t cgroup_memory_limit(void);

#endif
