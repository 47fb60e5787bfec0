/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Reads the affinity mask, the cgroup tree and hwloc's topology. Nothing here assumes the 1,024
 * CPUs of a plain cpu_set_t.
 */
#include "cpus.h"

#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static FILE *open_below(const char *directory, const char *name)
{
        char *path;
        if (asprintf(&path, "%s/%s", directory, name) < 0)
                return NULL;
        FILE *stream = fopen(path, "re");
        free(path);
        return stream;
}

/* True if the file is `count` integers and nothing else. */
static bool read_numbers(
        const char *directory, const char *file, long long *numbers, unsigned count)
{
        FILE *stream = open_below(directory, file);
        if (!stream)
                return false;
        char text[64];
        size_t length = fread(text, 1, sizeof(text) - 1, stream);
        fclose(stream);
        text[length] = '\0';
        char *next = text;
        for (unsigned i = 0; i < count; i++) {
                char *start = next;
                errno = 0;
                numbers[i] = strtoll(start, &next, 10);
                if (next == start || errno)
                        return false;
        }
        return !next[strspn(next, " \n")];
}

/* "max 100000", no quota, is not two integers either. */
static double read_quota(const char *directory, bool is_v2)
{
        long long us[2];
        bool found = is_v2 ? read_numbers(directory, "cpu.max", us, 2)
                           : read_numbers(directory, "cpu.cfs_quota_us", &us[0], 1) &&
                                     read_numbers(directory, "cpu.cfs_period_us", &us[1], 1);
        return found && us[0] > 0 && us[1] > 0 ? (double)us[0] / (double)us[1] : INFINITY;
}

/* A cgroup outside this cgroup namespace shows as "/../x": only what is mounted is ours to read. */
static bool is_inside(const char *cgroup)
{
        size_t length = strlen(cgroup);
        return cgroup[0] == '/' && !strstr(cgroup, "/../") &&
               (length < 3 || strcmp(cgroup + length - 3, "/..") != 0);
}

/*
 * The tightest of a cgroup and its ancestors up to the mount. In a container without a namespace of
 * its own the path is the host's, and only the mount's top exists: the missing ones count as none.
 */
static double find_tightest(const char *root, const char *mount, const char *cgroup, bool is_v2)
{
        char *directory;
        if (asprintf(&directory, "%s%s%s", root, mount, is_inside(cgroup) ? cgroup : "") < 0)
                return INFINITY;
        char *top = directory + strlen(root) + strlen(mount);
        double tightest = read_quota(directory, is_v2);
        for (char *slash; (slash = strrchr(top, '/'));) {
                *slash = '\0';
                tightest = fmin(tightest, read_quota(directory, is_v2));
        }
        free(directory);
        return tightest;
}

/* line is one of /proc/self/cgroup, "hierarchy:controllers:path"; under v2 no controllers. */
static double read_hierarchy(const char *root, char *line)
{
        static const struct {
                const char *controller, *path;
        } mounts[] = {
                {"", "/sys/fs/cgroup"},
                {"", "/sys/fs/cgroup/unified"},
                {"cpu", "/sys/fs/cgroup/cpu"},
                {"cpu", "/sys/fs/cgroup/cpu,cpuacct"},
        };
        double tightest = INFINITY;
        line[strcspn(line, "\n")] = '\0';
        strsep(&line, ":");
        char *controllers = strsep(&line, ":");
        for (char *name; line && (name = strsep(&controllers, ","));) {
                for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
                        if (strcmp(name, mounts[i].controller) != 0)
                                continue;
                        double quota = find_tightest(root, mounts[i].path, line, !*name);
                        tightest = fmin(tightest, quota);
                }
        }
        return tightest;
}

double cpus_quota(const char *root)
{
        FILE *stream = open_below(root, "proc/self/cgroup");
        if (!stream)
                return INFINITY;
        double tightest = INFINITY;
        char *line = NULL;
        size_t size = 0;
        while (getline(&line, &size, stream) > 0)
                tightest = fmin(tightest, read_hierarchy(root, line));
        free(line);
        fclose(stream);
        return tightest;
}

unsigned cpus_effective(void)
{
        struct cpus mask;
        if (cpus_affinity(&mask))
                return 1;
        unsigned count = mask.count;
        cpus_free(&mask);
        double quota = cpus_quota("");
        if (quota < count)
                count = (unsigned)quota;
        return count ? count : 1;
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
        if (hwloc_topology_init(&topology))
                return -ENOMEM;
        hwloc_bitmap_t left = hwloc_bitmap_alloc();
        errno = 0;
        int error = !left ? -ENOMEM : hwloc_topology_load(topology) ? -(errno ? errno : EIO) : 0;
        for (unsigned i = 0; !error && i < cpus->count; i++)
                error = hwloc_bitmap_set(left, cpus->ids[i]) ? -ENOMEM : 0;
        for (unsigned i = 0; !error && i < cpus->count; i++) {
                cpus->ids[i] = next_cpu(hwloc_get_root_obj(topology), left, pin);
                hwloc_bitmap_clr(left, cpus->ids[i]);
        }
        hwloc_bitmap_free(left);
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
