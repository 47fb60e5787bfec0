/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin doctor`: each item on made-up machines on which it is fine, fixable and unknowable, and
 * what the program prints of a real one. Nothing here asserts a time.
 */
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <math.h>

#include "../experiments/doctor.h"
#include "kinds.h"
#include "mask.h"
#include "run_program.h"
#include "tree.h"

/* Stands in for libc's: of one system call the kernel's answer is instead_result, with
 * instead_error as errno. 0: none. */
static long instead_of, instead_result;
static int instead_error;

long syscall(long number, ...)
{
        static long (*real)(long, ...);
        long arguments[6];
        va_list list;
        va_start(list, number);
        for (unsigned i = 0; i < 6; i++)
                arguments[i] = va_arg(list, long);
        va_end(list);
        if (!real)
                *(void **)&real = dlsym(RTLD_NEXT, "syscall");
        if (!instead_of || number != instead_of)
                return real(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
        errno = instead_error;
        return instead_result;
}

static void restore(void)
{
        mask_list = NULL;
        instead_of = 0;
        unsetenv("HWLOC_XMLFILE");
}

static const char *const verdicts[] = {"fine", "fixable", "unknowable"};

static void assert_finding(const struct doctor_finding *finding, enum doctor_verdict verdict,
        const char *text, const char *command)
{
        if (finding->verdict != verdict || !strstr(finding->text, text) ||
                strcmp(finding->command, command) != 0)
                fail_msg("%s, %s, '%s'; expected %s, %s, '%s'", verdicts[finding->verdict],
                        finding->text, finding->command, verdicts[verdict], text, command);
}

static const struct doctor_check *find_check(const char *name)
{
        const struct doctor_check *const tables[] = {doctor_cpu_checks, doctor_system_checks};
        for (unsigned i = 0; i < 2; i++)
                for (const struct doctor_check *check = tables[i]; check->name; check++)
                        if (!strcmp(check->name, name))
                                return check;
        fail_msg("there is no check %s", name);
        return NULL;
}

/* A made-up machine and what is to be found there. */
struct machine {
        const char *files[8][2]; /* path and content */
        enum doctor_verdict verdict;
        const char *text, *command; /* NULL: none */
        const char *mask;           /* NULL: "0-3" */
        struct {
                long of, result;
                int error;
        } instead;
};

static void examine(const char *name, const struct machine *machines, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                const struct machine *machine = &machines[i];
                struct doctor_finding finding = {.text = ""};
                assert_int_equal(tree_make(NULL), 0);
                for (unsigned j = 0; j < 8 && machine->files[j][0]; j++)
                        tree_put(machine->files[j][0], machine->files[j][1]);
                mask_list = machine->mask ? machine->mask : "0-3";
                instead_of = machine->instead.of;
                instead_result = machine->instead.result;
                instead_error = machine->instead.error;
                find_check(name)->examine(&finding);
                restore();
                assert_int_equal(tree_remove(NULL), 0);
                assert_finding(&finding, machine->verdict, machine->text,
                        machine->command ? machine->command : "");
        }
}

#define EXAMINE(name, machines) examine(name, machines, sizeof(machines) / sizeof *(machines))
#define CPU "sys/devices/system/cpu/"
#define GOVERNOR(cpu) CPU "cpu" cpu "/cpufreq/scaling_governor"
#define SIBLINGS(cpu) CPU "cpu" cpu "/topology/thread_siblings_list"
#define CLOCKS "sys/devices/system/clocksource/clocksource0/"

static void test_governor(void **state)
{
        (void)state;
        static const char command[] = "echo performance | sudo tee "
                                      "/" CPU "cpu[0-9]*/cpufreq/scaling_governor";
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "no cpufreq"},
                {.files = {{GOVERNOR("0"), "performance\n"}, {GOVERNOR("11"), "performance\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "performance on all 2 CPUs"},
                {.files = {{GOVERNOR("0"), "performance\n"}, {GOVERNOR("1"), "powersave\n"},
                         {GOVERNOR("2"), "powersave\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "powersave on 2 of 3 CPUs",
                        .command = command},
        };
        EXAMINE("governor", machines);
}

static void test_turbo(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "neither intel_pstate/no_turbo"},
                {.files = {{CPU "cpufreq/boost", "maybe\n"}},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "neither"},
                {.files = {{CPU "intel_pstate/no_turbo", "1\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "off"},
                {.files = {{CPU "intel_pstate/no_turbo", "0\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "on",
                        .command = "echo 1 | sudo tee /" CPU "intel_pstate/no_turbo"},
                {.files = {{CPU "cpufreq/boost", "0\n"}}, .verdict = DOCTOR_FINE, .text = "off"},
                {.files = {{CPU "cpufreq/boost", "1\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "on",
                        .command = "echo 0 | sudo tee /" CPU "cpufreq/boost"},
        };
        EXAMINE("turbo", machines);
}

static void test_smt(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "(smt/control: none)"},
                {.files = {{CPU "smt/control", "on\n"}},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "(smt/control: on)"},
                {.files = {{SIBLINGS("0"), "0,4\n"}, {SIBLINGS("1"), "1,5\n"},
                         {SIBLINGS("2"), "2,6\n"}, {SIBLINGS("3"), "3,7\n"},
                         {CPU "smt/control", "on\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "no two of our CPUs share a core"},
                {.files = {{SIBLINGS("0"), "0-1\n"}, {SIBLINGS("1"), "0-1\n"},
                         {SIBLINGS("2"), "2\n"}, {SIBLINGS("3"), "3\n"},
                         {CPU "smt/control", "on\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "2 of our CPUs share a core",
                        .command = "echo off | sudo tee /" CPU "smt/control"},
                /* Where it can't be turned off. */
                {.files = {{SIBLINGS("0"), "0-1\n"}, {SIBLINGS("1"), "0-1\n"},
                         {CPU "smt/control", "notsupported\n"}},
                        .mask = "0-1",
                        .verdict = DOCTOR_FIXABLE,
                        .text = "2 of our CPUs share a core",
                        .command = "fanin run --pin scatter"},
                {.files = {{SIBLINGS("0"), "0\n"}, {"proc/cpuinfo", "flags : hypervisor\n"}},
                        .mask = "0",
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "a hypervisor"},
                {.files = {{SIBLINGS("0"), "0\n"}, {"proc/cpuinfo", "flags : fpu\n"}},
                        .mask = "0",
                        .verdict = DOCTOR_FINE,
                        .text = "no two"},
        };
        EXAMINE("SMT", machines);
}

static void test_quota(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_FINE, .text = "none"},
                {.files = {{"proc/self/cgroup", "0::/a\n"},
                         {"sys/fs/cgroup/a/cpu.stat", "throttled_usec 2500000\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "none, throttled for 2.5 s so far"},
                {.files = {{"proc/self/cgroup", "0::/a\n"},
                         {"sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
                         {"sys/fs/cgroup/a/cpu.stat", "throttled_usec 0\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "1.5 CPUs' time for 4 CPUs, throttled for 0 s so far",
                        .command = "echo max | sudo tee /sys/fs/cgroup/a/cpu.max"},
                {.files = {{"proc/self/cgroup", "0::/a\n"},
                         {"sys/fs/cgroup/a/cpu.max", "400000 100000\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "4 CPUs' time for 4 CPUs"},
                {.files = {{"proc/self/cgroup", "2:cpu:/a\n"},
                         {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"},
                         {"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "0.5 CPUs' time for 4 CPUs",
                        .command = "echo -1 | sudo tee /sys/fs/cgroup/cpu/a/cpu.cfs_quota_us"},
        };
        EXAMINE("CPU quota", machines);
}

static void test_affinity(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "not told"},
                {.files = {{CPU "online", "x\n"}},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "not told"},
                {.files = {{CPU "online", "0-3\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "4 of the machine's 4 CPUs"},
                {.files = {{CPU "online", "0-7\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "4 of the machine's 8 CPUs",
                        .command = "taskset -cp 0-7 $$"},
                {.files = {{CPU "online", "0-7\n"}, {"proc/self/cgroup", "0::/a\n"},
                         {"sys/fs/cgroup/a/cpuset.cpus.effective", "2-3\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "2 of the machine's 8 CPUs",
                        .command = "echo 0-7 | sudo tee /sys/fs/cgroup/a/cpuset.cpus"},
        };
        EXAMINE("affinity", machines);
}

static void test_core_classes(void **state)
{
        (void)state;
        static const struct kind one = {"0-3", 7}, three[] = {{"0", 9}, {"1", 7}, {"2-3", 8}};
        static const struct {
                const struct kind *kinds;
                unsigned count;
                enum doctor_verdict verdict;
                const char *text;
        } cases[] = {
                {NULL, 0, DOCTOR_UNKNOWABLE, "is not told"},
                {&one, 1, DOCTOR_FINE, "all cores are of a kind"},
                {three, 3, DOCTOR_FINE, "3 kinds, fastest first 1, 2, 1 CPUs"},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct doctor_finding finding = {.text = ""};
                assert_int_equal(tree_make(NULL), 0);
                kinds_make(4, cases[i].kinds, cases[i].count);
                find_check("core classes")->examine(&finding);
                restore();
                assert_int_equal(tree_remove(NULL), 0);
                assert_finding(&finding, cases[i].verdict, cases[i].text, "");
        }
}

static void test_clock(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "ns a read"},
                {.files = {{CLOCKS "current_clocksource", "tsc\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "tsc, "},
                {.files = {{CLOCKS "current_clocksource", "arch_sys_counter\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "arch_sys_counter, "},
                {.files = {{CLOCKS "current_clocksource", "hpet\n"},
                         {CLOCKS "available_clocksource", "hpet acpi_pm \n"}},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "the kernel offers no tsc"},
                {.files = {{CLOCKS "current_clocksource", "hpet\n"},
                         {CLOCKS "available_clocksource", "hpet tsc acpi_pm \n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "hpet, ",
                        .command = "echo tsc | sudo tee /" CLOCKS "current_clocksource"},
        };
        EXAMINE("clock source", machines);
}

static void test_entropy(void **state)
{
        (void)state;
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "no vm.mmap_rnd_bits"},
                {.files = {{"proc/sys/vm/mmap_rnd_bits", "28\n"}},
                        .verdict = DOCTOR_FINE,
                        .text = "28 bits"},
                {.files = {{"proc/sys/vm/mmap_rnd_bits", "32\n"}},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "32 bits",
                        .command = "sudo sysctl vm.mmap_rnd_bits=28"},
        };
        EXAMINE("mmap entropy", machines);
}

static void test_perf(void **state)
{
        (void)state;
#define PARANOID(level)                                                                            \
        {                                                                                          \
                {                                                                                  \
                        "proc/sys/kernel/perf_event_paranoid", level "\n"                          \
                }                                                                                  \
        }
#define OPENS(result, error)                                                                       \
        {                                                                                          \
                SYS_perf_event_open, result, error                                                 \
        }
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* which the check closes */
        const struct machine machines[] = {
                {.files = PARANOID("2"),
                        .instead = OPENS(fd, 0),
                        .verdict = DOCTOR_FINE,
                        .text = "hardware events open (perf_event_paranoid 2)"},
                {.files = PARANOID("4"),
                        .instead = OPENS(-1, EACCES),
                        .verdict = DOCTOR_FIXABLE,
                        .text = "perf_event_paranoid is 4",
                        .command = "sudo sysctl kernel.perf_event_paranoid=2"},
                {.files = PARANOID("2"),
                        .instead = OPENS(-1, EPERM),
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "refused"},
                {.instead = OPENS(-1, EACCES), .verdict = DOCTOR_UNKNOWABLE, .text = "refused"},
                {.files = PARANOID("4"),
                        .instead = OPENS(-1, ENOENT),
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "no PMU"},
                {.instead = OPENS(-1, ENOSYS),
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "no perf_event_open"},
        };
        EXAMINE("perf", machines);
        assert_int_equal(close(fd), -1);
}

static void test_rseq_and_membarrier(void **state)
{
        (void)state;
        static const struct machine no_rseq[] = {{.instead = {SYS_rseq, -1, ENOSYS},
                .verdict = DOCTOR_UNKNOWABLE,
                .text = "the kernel has none"}};
        static const struct machine membarriers[] = {
                {.instead = {SYS_membarrier, -1, ENOSYS},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "pays a fence"},
                {.instead = {SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "pays a fence"},
                {.instead = {SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0},
                        .verdict = DOCTOR_FINE,
                        .text = "private expedited"},
        };
        EXAMINE("rseq", no_rseq);
        EXAMINE("membarrier", membarriers);
}

static void test_memory(void **state)
{
        (void)state;
#define AVAILABLE(kb)                                                                              \
        {                                                                                          \
                "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   " kb " kB\n"                      \
        }
#define LIMIT(bytes)                                                                               \
        {"proc/self/cgroup", "0::/\n"},                                                            \
        {                                                                                          \
                "sys/fs/cgroup/memory.max", bytes "\n"                                             \
        }
        static const struct machine machines[] = {
                {.verdict = DOCTOR_UNKNOWABLE, .text = "what is free is not told, no limit"},
                {.files = {{"proc/meminfo", "MemTotal: 9 kB\n"}},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "not told"},
                {.files = {AVAILABLE("1048576")},
                        .verdict = DOCTOR_FINE,
                        .text = "1024 MiB to be had, no limit, for a backlog of 256 MiB"},
                {.files = {AVAILABLE("262144")},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "256 MiB to be had",
                        .command = "fanin run --max-backlog 65536K"},
                {.files = {AVAILABLE("1048576"), LIMIT("268435456")},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "the cgroup's limit 256 MiB",
                        .command = "fanin run --max-backlog 65536K"},
                {.files = {AVAILABLE("1048576"), LIMIT("0")},
                        .verdict = DOCTOR_FIXABLE,
                        .text = "the cgroup's limit 0 MiB",
                        .command = "fanin run --max-backlog 1K"},
                {.files = {LIMIT("1073741824")},
                        .verdict = DOCTOR_UNKNOWABLE,
                        .text = "not told, the cgroup's limit 1024 MiB"},
        };
        EXAMINE("memory", machines);
}

/* /proc/stat of now: user, nice, system, idle, iowait, irq, softirq, steal. */
static struct doctor_times read_times(const char *counts)
{
        char line[256];
        snprintf(line, sizeof line, "cpu  %s 7 7\ncpu0 1 2 3\n", counts);
        tree_put("proc/stat", line);
        return doctor_times_read();
}

static void test_load_and_steal(void **state)
{
        (void)state;
        static const char ps[] = "end what `ps -eo pcpu,pid,args --sort=-pcpu | head` shows";
        static const char start[] = "1000 0 0 1000 0 0 0 0";
        static const struct {
                const char *cpuinfo, *after;
                struct {
                        enum doctor_verdict verdict;
                        const char *text;
                } load, steal;
        } cases[] = {
                {"flags : fpu\n", "1000 0 0 1100 0 0 0 0", {DOCTOR_FINE, "others use 0 % "},
                        {DOCTOR_FINE, "0 % of the CPUs' time now, 0 % since boot"}},
                {"flags : hypervisor\n", "1000 0 0 1100 0 0 0 0",
                        {DOCTOR_FINE, "load average 0.31"},
                        {DOCTOR_UNKNOWABLE, "none told of by the hypervisor"}},
                {"flags : hypervisor\n", "1010 10 10 1050 10 5 4 1",
                        {DOCTOR_FIXABLE, "others use 39 % "},
                        {DOCTOR_FINE, "1 % of the CPUs' time now, 0.048 % since boot"}},
                {"flags : hypervisor\n", "1000 0 0 1096 0 0 0 4", {DOCTOR_FINE, "others use 0 % "},
                        {DOCTOR_UNKNOWABLE, "4 % of the CPUs' time now"}},
                {"flags : fpu\n", start, {DOCTOR_UNKNOWABLE, "/proc/stat"},
                        {DOCTOR_UNKNOWABLE, "/proc/stat"}},
                {"flags : fpu\n", "1 2 3", {DOCTOR_UNKNOWABLE, "/proc/stat"},
                        {DOCTOR_UNKNOWABLE, "/proc/stat"}},
        };
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct doctor_finding load = {.text = ""}, steal = {.text = ""};
                assert_int_equal(tree_make(NULL), 0);
                struct doctor_times none = doctor_times_read();
                assert_true(none.all == 0);
                tree_put("proc/cpuinfo", cases[i].cpuinfo);
                tree_put("proc/loadavg", "0.31 0.20 0.10 1/100 4711\n");
                struct doctor_times before = read_times(start), after = read_times(cases[i].after);
                doctor_load(&load, &before, &after);
                doctor_steal(&steal, &before, &after);
                assert_int_equal(tree_remove(NULL), 0);
                assert_finding(&load, cases[i].load.verdict, cases[i].load.text,
                        cases[i].load.verdict == DOCTOR_FIXABLE ? ps : "");
                assert_finding(&steal, cases[i].steal.verdict, cases[i].steal.text, "");
        }
}

/* What the program says of an item: its verdict's first letters, and the text behind. */
static const char *line_of(const char *out, const char *item)
{
        char start[64];
        snprintf(start, sizeof start, "\n%-12s  ", item);
        const char *line =
                !strncmp(out, start + 1, strlen(start) - 1) ? out - 1 : strstr(out, start);
        if (!line)
                fail_msg("no line for %s in: %s", item, out);
        return line + strlen(start);
}

static void assert_cost(const char *out, const char *what)
{
        double median, lo, hi;
        assert_contains(out, what);
        const char *line = strstr(out, what) + strlen(what);
        if (sscanf(line, "%lf [%lf, %lf] ns", &median, &lo, &hi) != 3)
                fail_msg("not a cost: %s", line);
        assert_true(lo <= median && median <= hi);
}

/* This machine's own: all items, whatever they are, and what measuring costs. */
static void test_program(void **state)
{
        (void)state;
        static const char *const items[] = {"governor", "turbo", "SMT", "CPU quota", "affinity",
                "core classes", "clock source", "mmap entropy", "perf", "rseq", "membarrier",
                "memory", "other load", "steal"};
        static const char *const costs[] = {"a submit in a bare loop",
                "a submit in the measuring loop", "the harness's own cost per submit",
                "the exactly-once check", "a read of the clock"};
        struct program program = {0};
        program_run(&program, "doctor");
        assert_code(&program, EXIT_SUCCESS);
        assert_string_equal(program.err, "");
        for (unsigned i = 0; i < sizeof items / sizeof *items; i++) {
                const char *line = line_of(program.out, items[i]);
                unsigned verdict = 0;
                while (verdict < 3 && strncmp(line, verdicts[verdict], strlen(verdicts[verdict])))
                        verdict++;
                assert_in_range(verdict, 0, 2);
                bool has_command = !!memmem(line, strcspn(line, "\n"), "; to fix: ", 10);
                assert_int_equal(has_command, verdict == DOCTOR_FIXABLE);
        }
        for (unsigned i = 0; i < sizeof costs / sizeof *costs; i++)
                assert_cost(program.out, costs[i]);
        program_free(&program);
}

/* The C library registers it unless told not to. */
static void test_rseq_turned_off(void **state)
{
        (void)state;
        struct program program = {0}, without = {.environment = "GLIBC_TUNABLES="
                                                                "glibc.pthread.rseq=0"};
        program_run(&program, "doctor");
        bool registers = !strncmp(line_of(program.out, "rseq"), "fine", 4);
        program_free(&program);
        if (!registers) {
                print_message("SKIP: nobody registers rseq here\n");
                skip();
        }
        program_run(&without, "doctor");
        assert_contains(line_of(without.out, "rseq"), "fixable");
        assert_contains(without.out, "; to fix: unset GLIBC_TUNABLES\n");
        program_free(&without);
}

/* The program with the broken queues looks below a directory of ours. */
static void assert_strict(const char *line, int code)
{
        char environment[PATH_BYTES + 32];
        struct program program = {.broken = true, .environment = environment};
        snprintf(environment, sizeof environment, "FANIN_BROKEN_CGROUP=%s", tree);
        program_run(&program, line);
        if (program.code != code)
                fail_msg("%s: exit %d, expected %d: %s", line, program.code, code, program.out);
        program_free(&program);
}

static void test_strict(void **state)
{
        (void)state;
        struct cpus cpus;
        assert_int_equal(tree_make(NULL), 0);
        /* Of a machine that tells nothing nothing is fixable; its CPUs are all ours. */
        assert_strict("doctor --strict", EXIT_SUCCESS);
        tree_put(CPU "intel_pstate/no_turbo", "0\n");
        assert_strict("doctor", EXIT_SUCCESS);
        assert_strict("doctor --strict", EXIT_FAILURE);
        tree_put(CPU "intel_pstate/no_turbo", "1\n");
        tree_put("proc/sys/vm/mmap_rnd_bits", "32\n");
        assert_strict("doctor --strict", EXIT_FAILURE);
        tree_put("proc/sys/vm/mmap_rnd_bits", "28\n");
        assert_strict("doctor --strict", EXIT_SUCCESS);
        assert_int_equal(cpus_affinity(&cpus), 0);
        if (cpus.ids[cpus.count - 1] < 8191) {
                tree_put(CPU "online", "0-8191\n");
                assert_strict("doctor --strict", EXIT_FAILURE);
        }
        cpus_free(&cpus);
        assert_int_equal(tree_remove(NULL), 0);
}

static void test_bad_option(void **state)
{
        (void)state;
        static const char *const lines[][2] = {{"doctor --strictly", "--strictly is not an option"},
                {"doctor --strict=yes", "--strict"}, {"doctor --samples 3", "--samples"},
                {"doctor now", "'now' is not an option of `fanin doctor`"}};
        for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
                struct program program = {0};
                program_run(&program, lines[i][0]);
                assert_code(&program, 2);
                assert_string_equal(program.out, "");
                assert_contains(program.err, lines[i][1]);
                program_free(&program);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_governor),
                cmocka_unit_test(test_turbo),
                cmocka_unit_test(test_smt),
                cmocka_unit_test(test_quota),
                cmocka_unit_test(test_affinity),
                cmocka_unit_test(test_core_classes),
                cmocka_unit_test(test_clock),
                cmocka_unit_test(test_entropy),
                cmocka_unit_test(test_perf),
                cmocka_unit_test(test_rseq_and_membarrier),
                cmocka_unit_test(test_memory),
                cmocka_unit_test(test_load_and_steal),
                SCRATCH_TEST(test_program),
                SCRATCH_TEST(test_rseq_turned_off),
                SCRATCH_TEST(test_strict),
                SCRATCH_TEST(test_bad_option),
        };
        unsetenv("GLIBC_TUNABLES");
        return cmocka_run_group_tests(tests, NULL, NULL);
}
