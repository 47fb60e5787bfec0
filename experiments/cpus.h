/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The CPUs this process may really use, their classes, and the order in which to pin threads to
 * them. A machine's CPU count is not it: affinity masks, cpusets and quotas grant fewer.
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

/* As `cores` of settings.h. */
enum cpus_class { CPUS_FAST, CPUS_SLOW, CPUS_ALL };

enum { CPUS_LIST_BYTES = 32768 }; /* room for any list of CPUs as text */

/* The calling thread's affinity mask, ascending: ask before pinning. 0 or -errno; the caller frees.
 */
int cpus_affinity(struct cpus *out);
void cpus_free(struct cpus *cpus);

/* Parses the kernel's form, "0-3,8,8191", into ascending ids. 0, -EINVAL for anything else (nothing
 * at all, too), or -ENOMEM; the caller frees. */
int cpus_parse(const char *list, struct cpus *out);

/* Drops those that are not among of. Both ascending. */
void cpus_keep(struct cpus *cpus, const struct cpus *of);

/* Those of the affinity mask that cpusets grant too, ascending. 0 or -errno; the caller frees. */
int cpus_granted(struct cpus *out);

/* How many threads can run at once: of those granted, the cgroup's quota rounded down, at least 1.
 */
unsigned cpus_effective(void);

/*
 * The CPUs of the affinity mask whose cores are of the fastest or of the slowest kind that it has,
 * as hwloc ranks them; ascending. *name is the class's, "fast" or "slow". All of the mask: "same"
 * where hwloc knows of one kind or none; "all" if asked for, or when it can't rank them. 0 or
 * -errno; the caller frees. Loads hwloc's topology: milliseconds.
 */
int cpus_of_class(enum cpus_class class, struct cpus *out, const char **name);

/* Sets the calling thread's affinity mask, and with it that of threads and processes that it starts
 * from now on. 0 or -errno (-EINVAL: none of them is this process's to use). */
int cpus_confine(const struct cpus *cpus);

/* The CPUs of the affinity mask, all and only those, in pinning order; once confined to a class,
 * those of that class. 0 or -errno; the caller frees. Loads hwloc's topology. */
int cpus_order(enum cpus_pin pin, struct cpus *out);

#endif
