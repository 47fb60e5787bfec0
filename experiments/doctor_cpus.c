/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The CPUs: how fast they run, who shares them, and how many of them are ours. */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "cpus.h"
#include "doctor.h"
#include "fact.h"
#include "machine.h"

#define CPU "/sys/devices/system/cpu/"

static void examine_governor(struct doctor_finding *finding)
{
        static const char files[] = CPU "cpu[0-9]*/cpufreq/scaling_governor";
        char pattern[512], name[64], other[64] = "";
        unsigned count = 0, others = 0;
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s%s", cgroup_root, files);
        if (!glob(pattern, 0, NULL, &found)) {
                for (size_t i = 0; i < found.gl_pathc; i++) {
                        const char *path = found.gl_pathv[i] + strlen(cgroup_root);
                        if (!fact_line(path, name, sizeof name))
                                continue;
                        count++;
                        if (strcmp(name, "performance") != 0) {
                                others++;
                                memcpy(other, name, sizeof other);
                        }
                }
                globfree(&found);
        }
        if (!count)
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "no cpufreq here: the firmware or a hypervisor sets the frequency");
        else if (!others)
                doctor_say(finding, DOCTOR_FINE, "performance on all %u CPUs", count);
        else {
                doctor_say(finding, DOCTOR_FIXABLE, "%s on %u of %u CPUs", other, others, count);
                doctor_advise(finding, "echo performance | sudo tee %s", files);
        }
}

static void examine_turbo(struct doctor_finding *finding)
{
        static const struct {
                const char *path, *off, *on;
        } switches[] = {{CPU "intel_pstate/no_turbo", "1", "0"}, {CPU "cpufreq/boost", "0", "1"}};
        char state[16];
        doctor_say(finding, DOCTOR_UNKNOWABLE, "neither intel_pstate/no_turbo nor cpufreq/boost");
        for (unsigned i = 0; i < sizeof switches / sizeof *switches; i++) {
                if (!fact_line(switches[i].path, state, sizeof state))
                        continue;
                if (!strcmp(state, switches[i].off)) {
                        doctor_say(finding, DOCTOR_FINE, "off");
                        return;
                }
                if (strcmp(state, switches[i].on) != 0)
                        continue;
                doctor_say(finding, DOCTOR_FIXABLE, "on: the fewer CPUs are busy, the faster");
                doctor_advise(finding, "echo %s | sudo tee %s", switches[i].off, switches[i].path);
                return;
        }
}

static bool is_among(const struct cpus *cpus, unsigned id)
{
        for (unsigned i = 0; i < cpus->count; i++)
                if (cpus->ids[i] == id)
                        return true;
        return false;
}

/* Of the granted CPUs, so many share a core with another of them; -1: that can't be read. */
static int count_siblings(void)
{
        struct cpus granted, siblings;
        int count = 0;
        if (cpus_granted(&granted))
                return -1;
        for (unsigned i = 0; i < granted.count && count >= 0; i++) {
                char path[128], list[256];
                snprintf(path, sizeof path, CPU "cpu%u/topology/thread_siblings_list",
                        granted.ids[i]);
                if (!fact_line(path, list, sizeof list) || cpus_parse(list, &siblings)) {
                        count = -1;
                        break;
                }
                unsigned ours = 0;
                for (unsigned j = 0; j < siblings.count; j++)
                        ours += is_among(&granted, siblings.ids[j]);
                count += ours > 1;
                cpus_free(&siblings);
        }
        cpus_free(&granted);
        return count;
}

static void examine_smt(struct doctor_finding *finding)
{
        static const char path[] = CPU "smt/control";
        char state[32] = "";
        int siblings = count_siblings();
        fact_line(path, state, sizeof state);
        if (siblings > 0) {
                doctor_say(finding, DOCTOR_FIXABLE,
                        "%d of our CPUs share a core with another of them", siblings);
                if (!strcmp(state, "on"))
                        doctor_advise(finding, "echo off | sudo tee %s", path);
                else
                        doctor_advise(finding, "fanin run --pin scatter");
        } else if (machine_hypervisor() == 1) {
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "a hypervisor may run two of our CPUs on one core");
        } else if (siblings < 0) {
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "which CPUs share a core is not told (smt/control: %s)",
                        *state ? state : "none");
        } else {
                doctor_say(finding, DOCTOR_FINE, "no two of our CPUs share a core");
        }
}

static void examine_quota(struct doctor_finding *finding)
{
        struct cpus granted;
        char file[256] = "", throttled[64] = "";
        double quota = cgroup_quota(file, sizeof file);
        uint64_t throttled_ns = cgroup_throttled_ns();
        unsigned count = 1;
        if (!cpus_granted(&granted)) {
                count = granted.count;
                cpus_free(&granted);
        }
        if (throttled_ns != UINT64_MAX)
                snprintf(throttled, sizeof throttled, ", throttled for %.3g s so far",
                        (double)throttled_ns / 1e9);
        if (isinf(quota)) {
                doctor_say(finding, DOCTOR_FINE, "none%s", throttled);
                return;
        }
        doctor_say(finding, quota < count ? DOCTOR_FIXABLE : DOCTOR_FINE,
                "%.3g CPUs' time for %u CPUs%s", quota, count, throttled);
        if (quota < count)
                doctor_advise(
                        finding, "echo %s | sudo tee %s", strstr(file, "cfs") ? "-1" : "max", file);
}

static void examine_affinity(struct doctor_finding *finding)
{
        struct cpus online, granted, cpuset;
        char list[CPUS_LIST_BYTES], file[256] = "";
        if (!fact_line(CPU "online", list, sizeof list) || cpus_parse(list, &online)) {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "how many CPUs there are is not told");
                return;
        }
        unsigned set = online.count, ours = 0;
        if (!cpus_granted(&granted)) {
                ours = granted.count;
                cpus_free(&granted);
        }
        if (cgroup_cpuset(&cpuset, file, sizeof file)) {
                set = cpuset.count;
                cpus_free(&cpuset);
        }
        bool all = ours >= online.count;
        doctor_say(finding, all ? DOCTOR_FINE : DOCTOR_FIXABLE, "%u of the machine's %u CPUs", ours,
                online.count);
        if (!all && set < online.count)
                doctor_advise(finding, "echo %.64s | sudo tee %s", list, file);
        else if (!all)
                doctor_advise(finding, "taskset -cp %.64s $$", list);
        cpus_free(&online);
}

static void examine_classes(struct doctor_finding *finding)
{
        json_t *classes = machine_core_classes();
        size_t count = json_array_size(classes), used = 0;
        if (!count)
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "whether all cores are of a kind is not told (hwloc)");
        else if (count == 1)
                doctor_say(finding, DOCTOR_FINE, "all cores are of a kind");
        else {
                char counts[96] = "";
                for (size_t i = count; i-- && used < sizeof counts;)
                        used += (size_t)snprintf(counts + used, sizeof counts - used, "%s%" PRIu64,
                                *counts ? ", " : "",
                                (uint64_t)json_integer_value(
                                        json_object_get(json_array_get(classes, i), "cpus")));
                doctor_say(finding, DOCTOR_FINE,
                        "%zu kinds, fastest first %s CPUs: a run takes one (--cores)", count,
                        counts);
        }
        json_decref(classes);
}

const struct doctor_check doctor_cpu_checks[] = {
        {"governor", examine_governor},
        {"turbo", examine_turbo},
        {"SMT", examine_smt},
        {"CPU quota", examine_quota},
        {"affinity", examine_affinity},
        {"core classes", examine_classes},
        {NULL, NULL},
};
