/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What is recorded beside the rates: what this process does to itself between record_begin and
 * record_end shows, all of it; the details of a run's rows add up to the rows; what can't be had is
 * NA, never 0, and its reason is told once.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../experiments/backlog.h"
#include "../experiments/cgroup.h"
#include "../experiments/pmu.h"
#include "../experiments/record.h"
#include "../experiments/settings.h"
#include "run_program.h"

static void put(const char *path, const char *text)
{
        char directory[256];
        for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
                snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
                assert_true(!mkdir(directory, 0700) || errno == EEXIST);
        }
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(text, file) >= 0);
        assert_int_equal(fclose(file), 0);
}

/* This process, between the two calls. */

enum { BLOCK_BYTES = 64 << 20, PAGE_BYTES = 4096, TIMES = 20 };

static void touch_and_drop(void)
{
        char *block =
                mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(block != MAP_FAILED);
        assert_int_equal(madvise(block, BLOCK_BYTES, MADV_NOHUGEPAGE), 0);
        for (size_t i = 0; i < BLOCK_BYTES; i += PAGE_BYTES)
                ((volatile char *)block)[i] = 1;
        assert_int_equal(munmap(block, BLOCK_BYTES), 0);
}

static void test_memory_and_faults(void **state)
{
        (void)state;
        struct row row;
        touch_and_drop();
        row_clear(&row);
        record_begin();
        record_end_ns(&row);
        if (row.memory_peak_bytes == ROW_NA) {
                print_message("SKIP: /proc/self/clear_refs can't be written here\n");
                skip();
        }
        /* What was before record_begin is not in it. */
        assert_true(row.memory_peak_bytes < row.memory_drained_bytes + BLOCK_BYTES / 2);
        assert_true(row.memory_peak_bytes >= row.memory_drained_bytes);
        assert_true(row.minor_faults < BLOCK_BYTES / PAGE_BYTES / 2);
        row_clear(&row);
        record_begin();
        touch_and_drop();
        record_end_ns(&row);
        assert_true(row.memory_drained_bytes > 0);
        assert_true(row.memory_peak_bytes > row.memory_drained_bytes + BLOCK_BYTES / 2);
        assert_true(row.minor_faults >= BLOCK_BYTES / PAGE_BYTES);
        assert_true(row.major_faults != ROW_NA);
}

static void test_switches_and_time(void **state)
{
        (void)state;
        const struct timespec pause = {.tv_nsec = 1000000};
        struct row row;
        row_clear(&row);
        record_begin();
        for (unsigned i = 0; i < TIMES; i++)
                nanosleep(&pause, NULL);
        uint64_t wall_ns = record_end_ns(&row);
        assert_true(wall_ns >= TIMES * UINT64_C(1000000));
        assert_in_range(row.voluntary_switches, TIMES, UINT32_MAX);
        assert_true(row.involuntary_switches <= UINT32_MAX);
}

static void test_migrations(void **state)
{
        (void)state;
        cpu_set_t all, one;
        int cpus[2], count = 0;
        struct row row;
        assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
        for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
                if (CPU_ISSET(cpu, &all))
                        cpus[count++] = cpu;
        row_clear(&row);
        record_begin();
        for (unsigned i = 0; i < TIMES && count == 2; i++) {
                CPU_ZERO(&one);
                CPU_SET(cpus[i % 2], &one);
                assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        }
        record_end_ns(&row);
        sched_setaffinity(0, sizeof all, &all);
        if (count < 2 || row.migrations == ROW_NA) {
                print_message("SKIP: one CPU, or a kernel that doesn't tell\n");
                skip();
        }
        assert_in_range(row.migrations, TIMES - 1, TIMES * 100);
}

static void test_throttled(void **state)
{
        (void)state;
        struct row row;
        cgroup_root = "tree";
        put("tree/proc/self/cgroup", "0::/job\n");
        put("tree/sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nthrottled_usec 1000\n");
        row_clear(&row);
        record_begin();
        put("tree/sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nthrottled_usec 1500\n");
        record_end_ns(&row);
        assert_int_equal(row.throttled_ns, 500000);
        /* None that can be read is no 0. */
        assert_int_equal(remove("tree/sys/fs/cgroup/job/cpu.stat"), 0);
        record_end_ns(&row);
        assert_true(row.throttled_ns == ROW_NA);
        record_begin();
        put("tree/sys/fs/cgroup/job/cpu.stat", "throttled_usec 1500\n");
        record_end_ns(&row);
        assert_true(row.throttled_ns == ROW_NA);
        cgroup_root = "";
}

/* An event that a kernel names, by its PMU's own formats. */
static void test_named_events(void **state)
{
        (void)state;
        uint32_t type = 0;
        uint64_t config = 0;
#define DEVICES "tree/sys/bus/event_source/devices/"
        assert_false(pmu_find("tree", "hitm", &type, &config));
        put(DEVICES "cpu/type", "4\n");
        put(DEVICES "cpu/format/event", "config:0-7\n");
        put(DEVICES "cpu/format/umask", "config:8-15\n");
        put(DEVICES "cpu/format/edge", "config:18\n");
        put(DEVICES "cpu/format/ldlat", "config1:0-15\n");
        put(DEVICES "cpu/format/wide", "config:0-7,32-35\n");
        put(DEVICES "cpu/events/loads_other", "event=0xd1,umask=0x1\n");
        assert_false(pmu_find("tree", "hitm", &type, &config));
        put(DEVICES "cpu/events/loads_hitm.x", "event=0xd2,umask=0x4,edge\n");
        assert_true(pmu_find("tree", "hitm", &type, &config));
        assert_int_equal(type, 4);
        assert_int_equal(config, 0x404d2);
        /* What can't be said in the one word is not asked for, rather than asked for wrongly. */
        static const char *const others[] = {
                "event=0xd2,ldlat=3", "event=0xd2,nowhere=1", "wide=0x1d2", ""};
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
                put(DEVICES "cpu/events/loads_hitm.x", others[i]);
                assert_false(pmu_find("tree", "hitm", &type, &config));
        }
}

/* Its points are a thinner and thinner choice, evenly spread, from the first on. */
static void test_backlog_trace(void **state)
{
        (void)state;
        struct backlog backlog;
        const uint64_t start_ns = 77;
        backlog_begin(&backlog, start_ns);
        for (uint64_t ms = 0; ms < 5000; ms++) {
                backlog_note(&backlog, start_ns + ms * 1000000, ms * 3 % 1001);
                backlog_note(&backlog, start_ns + ms * 1000000 + 999999, 0); /* the same ms */
                assert_in_range(
                        backlog.count, ms < ROW_DEPTHS ? ms + 1 : ROW_DEPTHS / 2, ROW_DEPTHS);
                assert_int_equal(backlog.depths[0].ms, 0);
                assert_true(backlog.depths[backlog.count - 1].ms + backlog.interval_ms > ms);
        }
        assert_int_equal(backlog.peak, 1000);
        assert_int_equal(backlog.interval_ms, 128);
        for (unsigned i = 0; i < backlog.count; i++) {
                assert_int_equal(backlog.depths[i].ms, i * backlog.interval_ms);
                assert_int_equal(backlog.depths[i].depth, backlog.depths[i].ms * 3 % 1001);
        }
}

/* Runs. */

/* A number, or ROW_NA. */
static uint64_t whole(const struct sheet *csv, unsigned row, const char *column)
{
        return strcmp(sheet_text(csv, row, column), "NA") != 0
                       ? strtoull(sheet_text(csv, row, column), NULL, 10)
                       : ROW_NA;
}

static bool same_sample(
        const struct sheet *samples, unsigned row, const struct sheet *details, unsigned line)
{
        static const char *const keys[] = {"config", "producers", "sample", "twin"};
        for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
                if (strcmp(sheet_text(samples, row, keys[i]), sheet_text(details, line, keys[i])) !=
                        0)
                        return false;
        return true;
}

/* What its producers did is what the row says that they did. */
static void assert_producers_fit(
        const struct sheet *samples, unsigned row, const struct sheet *producers, long shards)
{
        uint64_t submits = 0, count = 0, oldest = 0, best = ROW_NA, oldest_of[64] = {0};
        unsigned users[64] = {0};
        double sum = 0, squares = 0, least = INFINITY, greatest = 0, active_ns = 0;
        for (unsigned i = 0; i < producers->rows; i++) {
                if (!same_sample(samples, row, producers, i))
                        continue;
                assert_int_equal(whole(producers, i, "producer"), count++);
                submits += whole(producers, i, "submits");
                active_ns += sheet_number(producers, i, "active_ns");
                double rate = sheet_number(producers, i, "submits") /
                              sheet_number(producers, i, "active_ns");
                sum += rate;
                squares += rate * rate;
                least = fmin(least, rate);
                greatest = fmax(greatest, rate);
                uint64_t age = whole(producers, i, "oldest_request_ns");
                uint64_t shard = whole(producers, i, "shard");
                assert_true(age > 0 && age != ROW_NA);
                oldest = age > oldest ? age : oldest;
                assert_true(shards ? shard < (uint64_t)shards : shard == ROW_NA);
                users[shard % 64]++;
                oldest_of[shard % 64] = age > oldest_of[shard % 64] ? age : oldest_of[shard % 64];
        }
        assert_int_equal(count, whole(samples, row, "producers"));
        assert_int_equal(submits, whole(samples, row, "submits"));
        for (long i = 0; i < shards; i++) { /* indices are dense: they are dealt out in turn */
                assert_in_range(users[i], count / (uint64_t)shards,
                        (count + (uint64_t)shards - 1) / (uint64_t)shards);
                best = users[i] && oldest_of[i] < best ? oldest_of[i] : best;
        }
        assert_int_equal(whole(samples, row, "oldest_request_ns"), oldest);
        assert_true(whole(samples, row, "best_shard_oldest_request_ns") == best);
        double k = (double)count, submit_ns = sheet_number(samples, row, "submit_ns");
        assert_true(fabs(sheet_number(samples, row, "fairness_jain") - sum * sum / (k * squares)) <
                    1e-5);
        assert_true(
                fabs(sheet_number(samples, row, "slowest_over_fastest") - least / greatest) < 1e-5);
        assert_true(
                fabs(sheet_number(samples, row, "overlap") - active_ns / (k * submit_ns)) < 1e-5);
}

static void assert_trace_fits(const struct sheet *samples, unsigned row, const struct sheet *trace)
{
        uint64_t count = 0, last_ms = 0;
        for (unsigned i = 0; i < trace->rows; i++) {
                if (!same_sample(samples, row, trace, i))
                        continue;
                uint64_t ms = whole(trace, i, "at_ms"), depth = whole(trace, i, "backlog");
                /* Nothing is outstanding when the first round begins. */
                assert_true(count ? ms > last_ms : ms == 0 && depth == 0);
                assert_true(depth <= whole(samples, row, "backlog_peak"));
                last_ms = ms;
                count++;
        }
        assert_in_range(count, 1, ROW_DEPTHS);
}

static void assert_recorded(const struct sheet *samples, unsigned row)
{
        static const char *const always[] = {"wakes_spurious", "slept_ns", "memory_drained_bytes",
                "voluntary_switches", "involuntary_switches", "minor_faults", "major_faults",
                "oldest_request_ns", "slowest_over_fastest"};
        static const char *const counters[] = {"cycles", "instructions", "cache_misses"};
        for (unsigned i = 0; i < sizeof always / sizeof *always; i++)
                assert_true(sheet_number(samples, row, always[i]) >= 0);
        for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++)
                assert_true(whole(samples, row, counters[i]) > 0); /* or NA: never 0 */
        assert_true(whole(samples, row, "wakes_spurious") <= whole(samples, row, "wakes"));
        assert_true(whole(samples, row, "voluntary_switches") > 0); /* rounds end in a sleep */
        assert_true(whole(samples, row, "memory_drained_bytes") > 0);
        assert_true(whole(samples, row, "memory_peak_bytes") >=
                    whole(samples, row, "memory_drained_bytes"));
        /* What is kept until the phase is over waits for all of it. */
        if (!strcmp(sheet_text(samples, row, "queue"), "private"))
                assert_true(sheet_number(samples, row, "oldest_request_ns") >=
                            sheet_number(samples, row, "submit_ns") /
                                    sheet_number(samples, row, "rounds"));
}

static void test_details_fit(void **state)
{
        (void)state;
        static const struct {
                const char *config;
                long shards; /* 0: not known */
        } cases[] = {{"sharded_mutex:shards=4", 4}, {"sharded_vyukov:shards=3:by=cpu", 0},
                {"spin:shards=2:by=producer", 2}, {"mutex", 1}, {"vyukov", 1}, {"lanes", 0},
                {"private", 0}, {"percpu", 0}};
        char line[1024] = "run --producers 1,7 --samples 2 --per-producer 300 --min-time 0.01 "
                          "--max-sample 0.1 --out d --config ";
        struct program program = {0};
        enum { CASES = sizeof cases / sizeof *cases };
        for (unsigned i = 0; i < CASES; i++) {
                strcat(line, i ? "," : "");
                strcat(line, cases[i].config);
        }
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv"), trace = sheet_read("d/backlog.csv");
        struct sheet producers = sheet_read("d/producers.csv");
        assert_int_equal(samples.rows, 4 * CASES);
        for (unsigned i = 0; i < samples.rows; i++) {
                const char *config = sheet_text(&samples, i, "config");
                unsigned which = 0;
                while (strncmp(config, cases[which].config, strlen(cases[which].config)) != 0 ||
                        config[strlen(cases[which].config)] != '/')
                        assert_true(++which < CASES);
                assert_recorded(&samples, i);
                assert_trace_fits(&samples, i, &trace);
                assert_producers_fit(&samples, i, &producers, cases[which].shards);
        }
        sheet_free(&samples);
        sheet_free(&trace);
        sheet_free(&producers);
        program_free(&program);
}

/* The row of one sample's process. */
static struct row sample(const char *options, void (*before_exec)(void), const char *what)
{
        char line[256];
        struct row row;
        struct program program = {.before_exec = before_exec};
        snprintf(line, sizeof line, "sample %s --min-time 0.01 --max-sample 0.1", options);
        program_run(&program, line);
        skip_without_filter(&program, what);
        assert_code(&program, 0);
        row_clear(&row);
        char *rest = program.out;
        for (char *field; (field = strsep(&rest, "\n")) && strcmp(field, "end") != 0;)
                assert_true(row_receive(&row, field));
        program_free(&program);
        return row;
}

/* A request waits for its own handler at least; three times is what calibrating beside a busy
 * sibling of the CPU may be wrong by. */
static void test_ages(void **state)
{
        (void)state;
        struct row row = sample("--config vyukov/every --producers 1 --per-producer 16 "
                                "--handler-ns 1000000",
                NULL, "");
        assert_true(row.oldest_request_ns >= 1000000 / 3);
        assert_true(row.best_shard_oldest_request_ns == row.oldest_request_ns);
        assert_int_equal(row.producer_count, 1);
        assert_true(row.by_producer[0].oldest_request_ns == row.oldest_request_ns);
        row_drop_details(&row);
}

/* A round's last callback counts, though its request be none of those with a stamp: here all but
 * the first are such. */
static void test_last_callback_counts(void **state)
{
        (void)state;
        struct row row = sample("--config ck_ring:capacity=32/pending --producers 1 "
                                "--per-producer 60 --handler-ns 100000 --on-full drop",
                NULL, "");
        if (row_status_of(&row) != STATUS_OK || !row.refused)
                fail_msg("%s: %s; %llu refused", row.status, row.reason,
                        (unsigned long long)row.refused);
        assert_true(row.complete_ns >= row.submits * 100000 / 3);
        row_drop_details(&row);
}

/* Once pinned, nobody is moved. */
static void test_pinned_stay(void **state)
{
        (void)state;
        struct program program = {0};
        program_run(&program, "run --config mutex --producers 3 --samples 1 --pin compact "
                              "--out d --min-time 0.02 --max-sample 0.1");
        assert_code(&program, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv");
        uint64_t migrations = whole(&samples, 0, "migrations");
        assert_true(migrations == 0 || migrations == ROW_NA);
        sheet_free(&samples);
        program_free(&program);
}

/* The first CPU of ours, and it alone; other_cpu is none of ours then. */
static int only_cpu, other_cpu;

static void keep_one_cpu(void)
{
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(only_cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one))
                _exit(NO_FILTER);
}

/* Where the mask doesn't let us, though the kernel would. */
static void test_pins_inside_the_mask(void **state)
{
        (void)state;
        static const char options[] = "--config mutex --per-producer 16";
        char line[256];
        cpu_set_t all;
        assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
        for (only_cpu = 0; !CPU_ISSET(only_cpu, &all);)
                only_cpu++;
        for (other_cpu = only_cpu + 1; other_cpu < CPU_SETSIZE && !CPU_ISSET(other_cpu, &all);)
                other_cpu++;
        snprintf(line, sizeof line, "%s --producers 2 --cpus %d,%d,%d", options, only_cpu, only_cpu,
                only_cpu);
        struct row row = sample(line, keep_one_cpu, "a mask");
        assert_string_equal(row.pinned, "yes");
        row_drop_details(&row);
        for (int ffi = 0; ffi < 2; ffi++) { /* the FFI thread, or the last producer */
                snprintf(line, sizeof line, "%s --producers 2 --cpus %d,%d,%d", options,
                        ffi ? other_cpu : only_cpu, only_cpu, ffi ? only_cpu : other_cpu);
                row = sample(line, keep_one_cpu, "a mask");
                assert_string_equal(row.pinned, "no");
                assert_string_equal(row.status, "ok");
                row_drop_details(&row);
                strcat(line, " --pin-required");
                row = sample(line, keep_one_cpu, "a mask");
                assert_string_equal(row.pinned, "no");
                assert_string_equal(row.status, "refused");
                assert_false(row.measured);
                snprintf(line, sizeof line, "could not be pinned to CPU %d", other_cpu);
                assert_contains(row.reason, line);
        }
}

static void refuse_counters(void)
{
        static struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
                _exit(NO_FILTER);
}

static unsigned occurrences(const char *text, const char *part)
{
        unsigned count = 0;
        for (; (text = strstr(text, part)); text++)
                count++;
        return count;
}

static void test_counters_refused(void **state)
{
        (void)state;
        static const char *const counters[] = {"cycles", "instructions", "cache_misses", "hitm"};
        struct program program = {.before_exec = refuse_counters};
        program_run(&program, "run --config mutex --producers 1,2 --samples 2 --out d" QUICKLY);
        skip_without_filter(&program, "perf_event_open");
        assert_code(&program, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv");
        for (unsigned i = 0; i < samples.rows; i++) {
                assert_string_equal(sheet_text(&samples, i, "status"), "ok");
                for (unsigned j = 0; j < sizeof counters / sizeof *counters; j++)
                        assert_string_equal(sheet_text(&samples, i, counters[j]), "NA");
                assert_recorded(&samples, i); /* the rest is there */
        }
        char *log = file_read("d/log");
        assert_int_equal(
                occurrences(program.err, "no hardware counters: "), 0); /* quiet when piped */
        assert_int_equal(occurrences(log, "no hardware counters: "), 1);
        /* It names what refuses: the setting if it does, else the call. */
        assert_contains(log, "perf_event_");
        free(log);
        sheet_free(&samples);
        program_free(&program);
}

/* A program whose engine counts nothing measures all the same, and says NA for what it would have
 * counted. */
static void test_counters_left_out(void **state)
{
        (void)state;
        static const char *const counted[] = {"wakes", "wakes_elided", "late_wakes", "lost_wakes",
                "stalls", "stalled_ns", "drains", "largest_drain", "backlog_peak", "wakes_spurious",
                "slept_ns"};
        char bare[4096], line[4096 + 256];
        ssize_t bytes = readlink("/proc/self/exe", bare, sizeof bare - 32);
        assert_true(bytes > 0);
        bare[bytes] = '\0';
        strcpy(strrchr(bare, '/'), "/../bare/fanin");
        if (access(bare, X_OK))
                fail_msg("%s: %s; `make tests` builds it", bare, strerror(errno));
        snprintf(line, sizeof line,
                "run --config reference,mutex/poll,private --producers 1,3 --samples 1 --aa "
                "--twin-program %s --out d" QUICKLY,
                bare);
        struct program program = {0};
        program_run(&program, line);
        assert_code(&program, EXIT_DONE);
        struct sheet samples = sheet_read("d/samples.csv"), trace = sheet_read("d/backlog.csv");
        assert_true(samples.rows >= 2 * 2 * 3);
        for (unsigned i = 0; i < samples.rows; i++) {
                bool counts = !strcmp(sheet_text(&samples, i, "twin"), "a");
                assert_string_equal(sheet_text(&samples, i, "status"), "ok");
                assert_true(sheet_number(&samples, i, "submits") > 0);
                assert_true(sheet_number(&samples, i, "oldest_request_ns") > 0);
                for (unsigned j = 0; j < sizeof counted / sizeof *counted; j++)
                        assert_int_equal(whole(&samples, i, counted[j]) != ROW_NA, counts);
        }
        assert_true(trace.rows > 0);
        for (unsigned i = 0; i < trace.rows; i++)
                assert_string_equal(sheet_text(&trace, i, "twin"), "a");
        sheet_free(&samples);
        sheet_free(&trace);
        program_free(&program);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                SCRATCH_TEST(test_memory_and_faults),
                SCRATCH_TEST(test_switches_and_time),
                SCRATCH_TEST(test_migrations),
                SCRATCH_TEST(test_throttled),
                SCRATCH_TEST(test_named_events),
                SCRATCH_TEST(test_backlog_trace),
                SCRATCH_TEST(test_details_fit),
                SCRATCH_TEST(test_ages),
                SCRATCH_TEST(test_last_callback_counts),
                SCRATCH_TEST(test_pinned_stay),
                SCRATCH_TEST(test_pins_inside_the_mask),
                SCRATCH_TEST(test_counters_refused),
                SCRATCH_TEST(test_counters_left_out),
        };
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        record_open();
        return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
