/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What this process's cgroup and its ancestors grant, v1, v2 and both beside each other. The
 * tightest counts, and what is malformed or not there limits nothing. In a container without a
 * cgroup namespace the path is the host's: of it there is only the mount's top.
 */
#ifndef FANIN_CGROUP_H
#define FANIN_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpus.h"

/* Put before /proc and /sys by all that reads them for facts about the machine: "", or a test's
 * directory. */
extern const char *cgroup_root;

/* CPUs' worth of time (v2 cpu.max, v1 cpu.cfs_quota_us); INFINITY if there is no quota. file, of so
 * many bytes, gets the path of the one that says so; may be NULL. */
double cgroup_quota(char *file, size_t bytes);

/* The CPUs that all cpusets leave (v2 cpuset.cpus.effective, v1 cpuset.effective_cpus or
 * cpuset.cpus), which the caller frees; false: no cpuset can be read. file gets where the narrowest
 * would be widened. */
bool cgroup_cpuset(struct cpus *out, char *file, size_t bytes);

/* Nanoseconds for which quotas have held up CPUs of this process's cgroup, those of its ancestors
 * added; UINT64_MAX if none can be read. For differences: it counts since the cgroup was made. */
uint64_t cgroup_throttled_ns(void);

/* Processes of this process's cgroup that the kernel has killed for memory, its own or the whole
 * machine's; UINT64_MAX if that can't be read. */
uint64_t cgroup_oom_kills(void);

/* Bytes; UINT64_MAX if there is no limit. */
uint64_t cgroup_memory_limit(void);

#endif
