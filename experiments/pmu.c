/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "pmu.h"

#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct reading {
        uint64_t value, enabled_ns, running_ns; /* as the kernel writes it */
};

static struct {
        int fd; /* -1: not counted */
        struct reading before;
} events[PMU_EVENTS];
static int open_error; /* of the cycles: the others may not exist */
static bool user_only;

/* The first line of a file; false: it can't be read. */
static bool read_line(const char *path, char *line, int bytes)
{
        FILE *file = fopen(path, "re");
        bool read = file && fgets(line, bytes, file);
        if (file)
                fclose(file);
        if (read)
                line[strcspn(line, "\n")] = '\0';
        return read;
}

/* Puts one term of an event, "umask=0x4", where format/umask says, "config:8-15". */
static bool add_term(const char *pmu, char *term, uint64_t *config)
{
        char path[512], line[64];
        unsigned low, high;
        char *value = strchr(term, '=');
        if (value)
                *value++ = '\0';
        snprintf(path, sizeof path, "%s/format/%s", pmu, term);
        if (!read_line(path, line, sizeof line))
                return false;
        int found = sscanf(line, "config:%u-%u", &low, &high);
        if (found < 1 || low > 63 || strchr(line, ','))
                return false; /* in another word, or in pieces */
        *config |= strtoull(value ? value : "1", NULL, 0) << low;
        return true;
}

bool pmu_find(const char *root, const char *part, uint32_t *type, uint64_t *config)
{
        char path[512], line[256];
        glob_t found;
        snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/*/events/*%s*", root, part);
        if (glob(path, 0, NULL, &found))
                return false;
        bool ok = read_line(found.gl_pathv[0], line, sizeof line);
        *strstr(found.gl_pathv[0] + strlen(root) + strlen("/sys/bus/event_source/devices/"),
                "/events/") = '\0';
        const char *pmu = found.gl_pathv[0];
        char *rest = line, type_line[32];
        *config = 0;
        for (char *term; ok && (term = strsep(&rest, ","));)
                ok = add_term(pmu, term, config);
        snprintf(path, sizeof path, "%s/type", pmu);
        ok = ok && read_line(path, type_line, sizeof type_line);
        if (ok)
                *type = (uint32_t)strtoul(type_line, NULL, 10);
        globfree(&found);
        return ok;
}

static int open_event(uint32_t type, uint64_t config)
{
        struct perf_event_attr attr = {.type = type,
                .size = sizeof attr,
                .config = config,
                .inherit = 1,
                .exclude_kernel = user_only,
                .exclude_hv = user_only,
                .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
        return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void pmu_open(void)
{
        static const uint64_t generic[] = {
                PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES};
        uint32_t type;
        uint64_t config;
        for (unsigned i = 0; i < PMU_EVENTS; i++)
                events[i].fd = -1;
        events[PMU_CYCLES].fd = open_event(PERF_TYPE_HARDWARE, generic[PMU_CYCLES]);
        if (events[PMU_CYCLES].fd < 0 && (errno == EACCES || errno == EPERM)) {
                user_only = true;
                events[PMU_CYCLES].fd = open_event(PERF_TYPE_HARDWARE, generic[PMU_CYCLES]);
        }
        open_error = events[PMU_CYCLES].fd < 0 ? errno : 0;
        if (open_error)
                return;
        for (unsigned i = PMU_INSTRUCTIONS; i <= PMU_CACHE_MISSES; i++)
                events[i].fd = open_event(PERF_TYPE_HARDWARE, generic[i]);
        if (pmu_find("", "hitm", &type, &config))
                events[PMU_HITM].fd = open_event(type, config);
}

static bool read_event(unsigned event, struct reading *reading)
{
        return events[event].fd >= 0 &&
               read(events[event].fd, reading, sizeof *reading) == sizeof *reading;
}

void pmu_begin(void)
{
        for (unsigned i = 0; i < PMU_EVENTS; i++)
                if (!read_event(i, &events[i].before) && events[i].fd >= 0) {
                        close(events[i].fd);
                        events[i].fd = -1;
                }
}

/* A counter that had to share its place with others has not seen all. */
static uint64_t count_of(unsigned event)
{
        const struct reading *before = &events[event].before;
        struct reading now;
        if (!read_event(event, &now))
                return UINT64_MAX;
        uint64_t enabled_ns = now.enabled_ns - before->enabled_ns;
        bool all = enabled_ns && now.running_ns - before->running_ns == enabled_ns;
        return all ? now.value - before->value : UINT64_MAX;
}

static void explain_refusal(char *why, size_t why_bytes)
{
        char level[16] = "";
        bool known = read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
        if (open_error != EACCES && open_error != EPERM)
                snprintf(why, why_bytes,
                        open_error == ENOSYS
                                ? "no hardware counters: the kernel has no perf_event_open"
                                : "no hardware counters: this machine has no PMU (a VM?)");
        else if (known && atoi(level) > 2)
                snprintf(why, why_bytes,
                        "no hardware counters: perf_event_paranoid is %s (sysctl "
                        "kernel.perf_event_paranoid=2)",
                        level);
        else
                snprintf(why, why_bytes,
                        "no hardware counters: perf_event_open is refused (by a container?)");
}

void pmu_end(uint64_t counts[PMU_EVENTS], char *why, size_t why_bytes)
{
        bool whole = true;
        for (unsigned i = 0; i < PMU_EVENTS; i++) {
                counts[i] = count_of(i);
                whole = whole && (counts[i] != UINT64_MAX || i == PMU_HITM);
        }
        snprintf(why, why_bytes, "%s", "");
        if (open_error)
                explain_refusal(why, why_bytes);
        else if (!whole)
                snprintf(why, why_bytes,
                        "not all hardware counters: this PMU lacks some, or they had to take "
                        "turns");
        else if (user_only)
                snprintf(why, why_bytes,
                        "hardware counters: user mode only (sysctl kernel.perf_event_paranoid=1)");
}
