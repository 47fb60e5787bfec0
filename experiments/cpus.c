/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Reads the affinity mask and hwloc's topology. Nothing here assumes the 1,024 CPUs of a plain
 * cpu_set_t.
 */
#include "cpus.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cgroup.h"

enum { CPUS_MAX = 8192 }; /* the largest NR_CPUS that Linux can be built with */

static int list_set(struct cpus *out, const cpu_set_t *set, size_t bytes)
{
        unsigned count = (unsigned)CPU_COUNT_S(bytes, set);
        unsigned *ids = malloc(count * sizeof(*ids));
        if (!ids)
                return ENOMEM;
        *out = (struct cpus){.ids = ids};
        for (unsigned id = 0; out->count < count; id++) {
                if (CPU_ISSET_S(id, bytes, set))
                        ids[out->count++] = id;
        }
        return 0;
}

int cpus_affinity(struct cpus *out)
{
        /* EINVAL says that the kernel's mask is longer than ours. */
        for (unsigned bits = CPU_SETSIZE; bits <= CPUS_MAX; bits *= 2) {
                size_t bytes = CPU_ALLOC_SIZE(bits);
                cpu_set_t *set = CPU_ALLOC(bits);
                if (!set)
                        return -ENOMEM;
                CPU_ZERO_S(bytes, set);
                int error = sched_getaffinity(0, bytes, set) ? errno : list_set(out, set, bytes);
                CPU_FREE(set);
                if (error != EINVAL)
                        return -error;
        }
        return -EINVAL;
}

void cpus_free(struct cpus *cpus)
{
        free(cpus->ids);
        *cpus = (struct cpus){0};
}

/* The number at *text, which goes behind it; CPUS_MAX or more: no CPU's. */
static unsigned long parse_id(const char **text)
{
        char *end;
        if (**text < '0' || **text > '9')
                return CPUS_MAX;
        unsigned long id = strtoul(*text, &end, 10);
        *text = end;
        return id;
}

static bool parse_list(const char *text, cpu_set_t *set, size_t bytes)
{
        for (;;) {
                unsigned long first = parse_id(&text), last = first;
                if (*text == '-') {
                        text++;
                        last = parse_id(&text);
                }
                if (first > last || last >= CPUS_MAX)
                        return false;
                for (; first <= last; first++)
                        CPU_SET_S(first, bytes, set);
                if (!*text)
                        return true;
                if (*text++ != ',')
                        return false;
        }
}

int cpus_parse(const char *list, struct cpus *out)
{
        size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
        cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
        if (!set)
                return -ENOMEM;
        CPU_ZERO_S(bytes, set);
        int error = parse_list(list, set, bytes) ? list_set(out, set, bytes) : EINVAL;
        CPU_FREE(set);
        return -error;
}

void cpus_keep(struct cpus *cpus, const struct cpus *of)
{
        unsigned kept = 0;
        for (unsigned i = 0, j = 0; i < cpus->count; i++) {
                while (j < of->count && of->ids[j] < cpus->ids[i])
                        j++;
                if (j < of->count && of->ids[j] == cpus->ids[i])
                        cpus->ids[kept++] = cpus->ids[i];
        }
        cpus->count = kept;
}

int cpus_granted(struct cpus *out)
{
        struct cpus cpuset;
        int error = cpus_affinity(out);
        if (error || !cgroup_cpuset(&cpuset, NULL, 0))
                return error;
        cpus_keep(out, &cpuset);
        cpus_free(&cpuset);
        return 0;
}

unsigned cpus_effective(void)
{
        struct cpus granted;
        if (cpus_granted(&granted))
                return 1;
        unsigned count = granted.count;
        cpus_free(&granted);
        double quota = cgroup_quota(NULL, 0);
        if (quota < count)
                count = (unsigned)quota;
        return count ? count : 1;
}

int cpus_confine(const struct cpus *cpus)
{
        size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
        cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
        if (!set)
                return -ENOMEM;
        CPU_ZERO_S(bytes, set);
        for (unsigned i = 0; i < cpus->count; i++)
                CPU_SET_S(cpus->ids[i], bytes, set);
        int error = sched_setaffinity(0, bytes, set) ? errno : 0;
        CPU_FREE(set);
        return -error;
}

static int load_topology(hwloc_topology_t *topology)
{
        if (hwloc_topology_init(topology))
                return -ENOMEM;
        errno = 0;
        if (!hwloc_topology_load(*topology))
                return 0;
        int error = errno ? errno : EIO;
        hwloc_topology_destroy(*topology);
        return -error;
}

static bool has_some(const struct cpus *cpus, hwloc_const_bitmap_t set)
{
        for (unsigned i = 0; i < cpus->count; i++)
                if (hwloc_bitmap_isset(set, cpus->ids[i]))
                        return true;
        return false;
}

/* hwloc lists kinds from the slowest to the fastest, or, where it can't, gives all an efficiency of
 * -1. kind is room for one. */
static const char *keep_class(
        struct cpus *cpus, enum cpus_class class, hwloc_topology_t topology, hwloc_bitmap_t kind)
{
        int slowest = -1, fastest = -1, efficiency = -1;
        for (int i = 0; i < hwloc_cpukinds_get_nr(topology, 0); i++) {
                hwloc_cpukinds_get_info(topology, (unsigned)i, kind, &efficiency, NULL, NULL, 0);
                if (!has_some(cpus, kind))
                        continue;
                slowest = slowest < 0 ? i : slowest;
                fastest = i;
        }
        if (slowest == fastest)
                return "same";
        if (class == CPUS_ALL || efficiency < 0)
                return "all";
        unsigned kept = 0, chosen = (unsigned)(class == CPUS_FAST ? fastest : slowest);
        hwloc_cpukinds_get_info(topology, chosen, kind, NULL, NULL, NULL, 0);
        for (unsigned i = 0; i < cpus->count; i++)
                if (hwloc_bitmap_isset(kind, cpus->ids[i]))
                        cpus->ids[kept++] = cpus->ids[i];
        cpus->count = kept;
        return class == CPUS_FAST ? "fast" : "slow";
}

int cpus_of_class(enum cpus_class class, struct cpus *out, const char **name)
{
        hwloc_topology_t topology;
        int error = cpus_affinity(out);
        if (error)
                return error;
        hwloc_bitmap_t kind = hwloc_bitmap_alloc();
        error = kind ? load_topology(&topology) : -ENOMEM;
        if (!error) {
                *name = keep_class(out, class, topology, kind);
                hwloc_topology_destroy(topology);
        } else {
                cpus_free(out);
        }
        hwloc_bitmap_free(kind);
        return error;
}

/*
 * The next CPU of left: down the tree of packages, caches and cores, to the first child that has
 * one left (compact: the logical order) or to the one gone to least often (scatter). Prefixes of
 * the scattered order are spread too, which hwloc_distrib's sets, made for one count, are not.
 */
static unsigned next_cpu(hwloc_obj_t object, hwloc_const_bitmap_t left, enum cpus_pin pin)
{
        while (object->arity) {
                hwloc_obj_t best = NULL;
                uintptr_t best_visits = 0;
                for (unsigned i = 0; i < object->arity; i++) {
                        hwloc_obj_t child = object->children[i];
                        uintptr_t visits = pin == CPUS_SCATTER ? (uintptr_t)child->userdata : 0;
                        if (hwloc_bitmap_intersects(child->cpuset, left) &&
                                (!best || visits < best_visits)) {
                                best = child;
                                best_visits = visits;
                        }
                }
                if (!best) /* a CPU that hwloc doesn't know, as where there is no /sys */
                        return (unsigned)hwloc_bitmap_first(left);
                best->userdata = (void *)(best_visits + 1);
                object = best;
        }
        return object->os_index;
}

static int order(struct cpus *cpus, enum cpus_pin pin)
{
        hwloc_topology_t topology;
        hwloc_bitmap_t left = hwloc_bitmap_alloc();
        int error = left ? load_topology(&topology) : -ENOMEM;
        bool loaded = !error;
        for (unsigned i = 0; !error && i < cpus->count; i++)
                error = hwloc_bitmap_set(left, cpus->ids[i]) ? -ENOMEM : 0;
        for (unsigned i = 0; !error && i < cpus->count; i++) {
                cpus->ids[i] = next_cpu(hwloc_get_root_obj(topology), left, pin);
                hwloc_bitmap_clr(left, cpus->ids[i]);
        }
        hwloc_bitmap_free(left);
        if (loaded)
                hwloc_topology_destroy(topology);
        return error;
}

int cpus_order(enum cpus_pin pin, struct cpus *out)
{
        int error = cpus_affinity(out);
        if (error)
                return error;
        error = order(out, pin);
        if (error)
                cpus_free(out);
        return error;
}
