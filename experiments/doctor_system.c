/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Kernel and system: the clock, what they allow, what they have, and who else is here. */
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroup.h"
#include "cost.h"
#include "doctor.h"
#include "fact.h"
#include "machine.h"
#include "settings.h"

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define LIBC_RSEQ __rseq_size
#endif
#endif
#ifndef LIBC_RSEQ
#define LIBC_RSEQ 0
#endif

static const double busy_much = 0.05, steal_much = 0.01;

static void examine_clock(struct doctor_finding *finding)
{
        static const char current[] =
                "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        /* Those that user space reads from the processor. */
        static const char *const good[] = {"tsc", "arch_sys_counter", "riscv_clocksource"};
        char name[64], available[256] = "";
        double read_ns = cost_clock_read_ns().median;
        if (!fact_line(current, name, sizeof name)) {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "which it is is not told, %.3g ns a read",
                        read_ns);
                return;
        }
        for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
                if (!strcmp(name, good[i])) {
                        doctor_say(finding, DOCTOR_FINE, "%s, %.3g ns a read", name, read_ns);
                        return;
                }
        fact_line("/sys/devices/system/clocksource/clocksource0/available_clocksource", available,
                sizeof available);
        for (char *rest = available, *word; (word = strsep(&rest, " "));)
                if (!strcmp(word, "tsc")) {
                        doctor_say(finding, DOCTOR_FIXABLE, "%s, %.3g ns a read", name, read_ns);
                        doctor_advise(finding, "echo tsc | sudo tee %s", current);
                        return;
                }
        doctor_say(finding, DOCTOR_UNKNOWABLE, "%s, %.3g ns a read: the kernel offers no tsc", name,
                read_ns);
}

static void examine_entropy(struct doctor_finding *finding)
{
        enum { TSAN_BITS = 28 }; /* more, and its shadow memory meets the program's */
        char bits[16];
        if (!fact_line("/proc/sys/vm/mmap_rnd_bits", bits, sizeof bits)) {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "no vm.mmap_rnd_bits");
        } else if (atoi(bits) <= TSAN_BITS) {
                doctor_say(finding, DOCTOR_FINE, "%s bits: ThreadSanitizer starts", bits);
        } else {
                doctor_say(finding, DOCTOR_FIXABLE, "%s bits: ThreadSanitizer may not start", bits);
                doctor_advise(finding, "sudo sysctl vm.mmap_rnd_bits=%d", TSAN_BITS);
        }
}

/* 0, or why cycles in user mode can't be counted. */
static int open_cycles(void)
{
        struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                .size = sizeof attr,
                .config = PERF_COUNT_HW_CPU_CYCLES,
                .exclude_kernel = 1,
                .exclude_hv = 1};
        long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
                return errno;
        close((int)fd);
        return 0;
}

static void examine_perf(struct doctor_finding *finding)
{
        char level[16] = "";
        bool told = fact_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
        int error = open_cycles();
        bool denied = error == EACCES || error == EPERM;
        if (!error) {
                doctor_say(finding, DOCTOR_FINE, "hardware events open (perf_event_paranoid %s)",
                        told ? level : "not told");
        } else if (denied && told && atoi(level) > 2) {
                doctor_say(finding, DOCTOR_FIXABLE, "perf_event_paranoid is %s", level);
                doctor_advise(finding, "sudo sysctl kernel.perf_event_paranoid=2");
        } else {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "%s",
                        denied            ? "hardware events are refused, by a container perhaps"
                        : error == ENOSYS ? "the kernel has no perf_event_open"
                                          : "no hardware events: this machine shows no PMU");
        }
}

static void examine_rseq(struct doctor_finding *finding)
{
        const char *tunables = getenv("GLIBC_TUNABLES");
        /* No area: an error in any case, but which. */
        bool kernel_has = !syscall(SYS_rseq, NULL, 0, 0, 0) || errno != ENOSYS;
        if (!kernel_has) {
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "the kernel has none: percpu runs what stands in for it");
        } else if (LIBC_RSEQ) {
                doctor_say(finding, DOCTOR_FINE, "registered by the C library");
        } else if (tunables && strstr(tunables, "rseq=0")) {
                doctor_say(finding, DOCTOR_FIXABLE, "turned off by GLIBC_TUNABLES");
                doctor_advise(finding, "unset GLIBC_TUNABLES");
        } else {
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "this C library registers none: percpu runs what stands in for it");
        }
}

static void examine_membarrier(struct doctor_finding *finding)
{
        long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
        if (commands < 0 || !(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
                doctor_say(finding, DOCTOR_UNKNOWABLE,
                        "the kernel has no private expedited one: each submit pays a fence");
        else
                doctor_say(finding, DOCTOR_FINE, "private expedited%s",
                        commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ ? ", for rseq too" : "");
}

/* Bytes that could be had without swapping; UINT64_MAX: not told. */
static uint64_t read_available(void)
{
        char line[128];
        uint64_t kb;
        FILE *file = fact_open("/proc/meminfo");
        if (!file)
                return UINT64_MAX;
        bool found = false;
        while (!found && fgets(line, sizeof line, file))
                found = sscanf(line, "MemAvailable: %" SCNu64 " kB", &kb) == 1;
        fclose(file);
        return found ? kb << 10 : UINT64_MAX;
}

static void examine_memory(struct doctor_finding *finding)
{
        struct settings settings;
        settings_init(&settings);
        uint64_t backlog = settings.max_backlog_bytes;
        settings_free(&settings);
        uint64_t limit = cgroup_memory_limit(), available = read_available();
        uint64_t least = limit < available ? limit : available;
        char limit_text[48] = "no limit", available_text[48] = "what is free is not told";
        if (limit != UINT64_MAX)
                snprintf(limit_text, sizeof limit_text, "the cgroup's limit %.0f MiB",
                        (double)limit / (1 << 20));
        if (available != UINT64_MAX)
                snprintf(available_text, sizeof available_text, "%.0f MiB to be had",
                        (double)available / (1 << 20));
        /* A round's requests in half of it: the rest is for their check, and for all else. */
        bool enough = least / 2 >= backlog;
        enum doctor_verdict verdict = !enough                   ? DOCTOR_FIXABLE
                                      : available == UINT64_MAX ? DOCTOR_UNKNOWABLE
                                                                : DOCTOR_FINE;
        doctor_say(finding, verdict, "%s, %s, for a backlog of %.0f MiB", available_text,
                limit_text, (double)backlog / (1 << 20));
        if (!enough)
                doctor_advise(finding, "fanin run --max-backlog %" PRIu64 "K",
                        least / 4 < 1024 ? 1 : least >> 12);
}

struct doctor_times doctor_times_read(void)
{
        enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };
        char line[256];
        double of[TIMES] = {0}, all = 0;
        if (!fact_line("/proc/stat", line, sizeof line) ||
                sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &of[USER], &of[NICE],
                        &of[SYSTEM], &of[IDLE], &of[IOWAIT], &of[IRQ], &of[SOFTIRQ],
                        &of[STEAL]) != TIMES)
                return (struct doctor_times){0};
        for (unsigned i = 0; i < TIMES; i++)
                all += of[i];
        return (struct doctor_times){
                .busy = all - of[IDLE] - of[IOWAIT] - of[STEAL], .stolen = of[STEAL], .all = all};
}

void doctor_load(struct doctor_finding *finding, const struct doctor_times *before,
        const struct doctor_times *after)
{
        char load[64] = "";
        fact_line("/proc/loadavg", load, sizeof load);
        load[strcspn(load, " ")] = '\0';
        if (before->all <= 0 || after->all <= before->all) {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "/proc/stat does not tell");
                return;
        }
        double share = (after->busy - before->busy) / (after->all - before->all);
        doctor_say(finding, share > busy_much ? DOCTOR_FIXABLE : DOCTOR_FINE,
                "others use %.2g %% of the CPUs now; load average %s", share * 100,
                *load ? load : "NA");
        if (share > busy_much)
                doctor_advise(finding, "end what `ps -eo pcpu,pid,args --sort=-pcpu | head` shows");
}

/* The host takes it: nothing that is run here can stop that. */
void doctor_steal(struct doctor_finding *finding, const struct doctor_times *before,
        const struct doctor_times *after)
{
        if (before->all <= 0 || after->all <= before->all) {
                doctor_say(finding, DOCTOR_UNKNOWABLE, "/proc/stat does not tell");
                return;
        }
        double now = (after->stolen - before->stolen) / (after->all - before->all);
        double since_boot = after->stolen / after->all;
        bool much = now > steal_much || since_boot > steal_much;
        if (after->stolen <= 0 && machine_hypervisor() == 1)
                doctor_say(finding, DOCTOR_UNKNOWABLE, "none told of by the hypervisor");
        else
                doctor_say(finding, much ? DOCTOR_UNKNOWABLE : DOCTOR_FINE,
                        "%.2g %% of the CPUs' time now, %.2g %% since boot%s", now * 100,
                        since_boot * 100, much ? ": the host's other guests decide" : "");
}

const struct doctor_check doctor_system_checks[] = {
        {"clock source", examine_clock},
        {"mmap entropy", examine_entropy},
        {"perf", examine_perf},
        {"rseq", examine_rseq},
        {"membarrier", examine_membarrier},
        {"memory", examine_memory},
        {NULL, NULL},
};
