/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cgroup.h"
#include "clock.h"
#include "pmu.h"

static struct {
        uint64_t wall_ns, migrations, throttled_ns;
        struct rusage usage;
        bool peak_is_ours; /* VmHWM was reset */
} before;

/* The numbers in a /proc file's lines "name : number", in one reading; ROW_NA: there is none. */
static void read_numbers(
        const char *path, unsigned count, const char *const *names, uint64_t *numbers)
{
        FILE *file = fopen(path, "re");
        char line[256];
        for (unsigned i = 0; i < count; i++)
                numbers[i] = ROW_NA;
        while (file && fgets(line, sizeof line, file))
                for (unsigned i = 0; i < count; i++)
                        if (!strncmp(line, names[i], strlen(names[i])) && strchr(line, ':'))
                                numbers[i] = strtoull(strchr(line, ':') + 1, NULL, 10);
        if (file)
                fclose(file);
}

/* Of all live threads. */
static uint64_t count_migrations(void)
{
        DIR *tasks = opendir("/proc/self/task");
        uint64_t sum = tasks ? 0 : ROW_NA;
        for (const struct dirent *task; sum != ROW_NA && (task = readdir(tasks));) {
                static const char *const name = "se.nr_migrations";
                char path[64 + sizeof task->d_name];
                uint64_t one;
                if (*task->d_name == '.')
                        continue;
                snprintf(path, sizeof path, "/proc/self/task/%s/sched", task->d_name);
                read_numbers(path, 1, &name, &one);
                sum = one == ROW_NA ? ROW_NA : sum + one;
        }
        if (tasks)
                closedir(tasks);
        return sum;
}

static uint64_t difference(uint64_t now, uint64_t then)
{
        return now == ROW_NA || then == ROW_NA ? ROW_NA : now - then;
}

/* One reading: in it the peak is never less than what is resident. */
static void read_memory(struct row *row)
{
        static const char *const names[] = {"VmHWM:", "VmRSS:"};
        uint64_t kib[2];
        read_numbers("/proc/self/status", 2, names, kib);
        if (before.peak_is_ours && kib[0] != ROW_NA)
                row->memory_peak_bytes = kib[0] * 1024;
        if (kib[1] != ROW_NA)
                row->memory_drained_bytes = kib[1] * 1024;
}

void record_open(void)
{
        pmu_open();
}

void record_begin(void)
{
        FILE *file = fopen("/proc/self/clear_refs", "we");
        before.peak_is_ours = file && fputs("5", file) >= 0; /* resets VmHWM */
        if (file)
                before.peak_is_ours &= !fclose(file);
        before.migrations = count_migrations();
        before.throttled_ns = cgroup_throttled_ns();
        getrusage(RUSAGE_SELF, &before.usage);
        pmu_begin();
        before.wall_ns = clock_wall_ns();
}

uint64_t record_end_ns(struct row *row)
{
        uint64_t wall_ns = clock_wall_ns() - before.wall_ns, counts[PMU_EVENTS];
        struct rusage usage;
        pmu_end(counts, row->note, sizeof row->note);
        row->cycles = counts[PMU_CYCLES];
        row->instructions = counts[PMU_INSTRUCTIONS];
        row->cache_misses = counts[PMU_CACHE_MISSES];
        row->hitm = counts[PMU_HITM];
        getrusage(RUSAGE_SELF, &usage);
        row->voluntary_switches = (uint64_t)(usage.ru_nvcsw - before.usage.ru_nvcsw);
        row->involuntary_switches = (uint64_t)(usage.ru_nivcsw - before.usage.ru_nivcsw);
        row->minor_faults = (uint64_t)(usage.ru_minflt - before.usage.ru_minflt);
        row->major_faults = (uint64_t)(usage.ru_majflt - before.usage.ru_majflt);
        row->throttled_ns = difference(cgroup_throttled_ns(), before.throttled_ns);
        read_memory(row);
        row->migrations = difference(count_migrations(), before.migrations);
        return wall_ns;
}
