/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The CPUs this process may really use, and the order in which to pin threads to them. A machine's
 * CPU count is not it: an affinity mask and a cgroup's quota both grant fewer.
 */
#ifndef FANIN_CPUS_H
#define FANIN_CPUS_H

struct cpus {
        unsigned count;
        unsigned *ids; /* the kernel's numbers, as sched_setaffinity takes them: 0 to 8191 */
};

enum cpus_pin {
        CPUS_COMPACT, /* neighbours share as much as they can: caches, cores, packages */
        CPUS_SCATTER, /* each next one as far as can be from all before it */
};

/* The calling thread's affinity mask, ascending: ask before pinning. 0 or -errno; the caller frees.
 */
int cpus_affinity(struct cpus *out);
void cpus_free(struct cpus *cpus);

/*
 * CPUs' worth of time that the tightest quota on this process's cgroup and its ancestors grants
 * (v2 cpu.max, v1 cpu.cfs_quota_us); INFINITY if none, and what is malformed is none. root is put
 * before /proc and /sys: "", or a test's directory.
 */
double cpus_quota(const char *root);

/* How many threads can run at once: the affinity's count or the quota rounded down, at least 1. */
unsigned cpus_effective(void);

/* The CPUs of the affinity mask, all and only those, in pinning order. 0 or -errno; the caller
 * frees. Loads hwloc's topology: milliseconds, so not inside anything timed. */
int cpus_order(enum cpus_pin pin, struct cpus *out);

#endif
