/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The CPUs a program may use, on made-up cgroup trees, masks and topologies, and the description of
 * the machine. Nothing here asserts a time, or anything about the machine it runs on.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <locale.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../experiments/cpus.h"
#include "../experiments/machine.h"

enum { PATH_BYTES = 512 };

/* Stands in for libc's: the kernel's answer, or that of a kernel with mask_bits CPUs, of which
 * every mask_step-th is ours. */
static unsigned mask_bits, mask_step;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
        CPU_ZERO_S(bytes, set);
        if (!mask_bits)
                return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
        if (bytes * 8 < mask_bits) {
                errno = EINVAL;
                return -1;
        }
        for (unsigned id = mask_step - 1; id < mask_bits; id += mask_step)
                CPU_SET_S(id, bytes, set);
        return 0;
}

/* Each test has an empty directory of its own: `root`, before /proc and /sys. */
static char root[PATH_BYTES];

static int make_root(void **state)
{
        (void)state;
        strcpy(root, "/tmp/fanin-machine-XXXXXX");
        return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *level)
{
        (void)status, (void)type, (void)level;
        return remove(path);
}

static int remove_root(void **state)
{
        (void)state;
        mask_bits = 0;
        unsetenv("HWLOC_SYNTHETIC");
        setlocale(LC_ALL, "C");
        return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *under_root(char path[PATH_BYTES], const char *name)
{
        assert_in_range(snprintf(path, PATH_BYTES, "%s/%s", root, name), 1, PATH_BYTES - 1);
        return path;
}

/* Makes the directories too. */
static void put(const char *name, const char *content)
{
        char path[PATH_BYTES];
        under_root(path, name);
        for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
                *slash = '\0';
                assert_true(!mkdir(path, 0700) || errno == EEXIST);
                *slash = '/';
        }
        FILE *stream = fopen(path, "w");
        assert_non_null(stream);
        assert_true(fputs(content, stream) >= 0);
        assert_int_equal(fclose(stream), 0);
}

static unsigned count_files(void)
{
        unsigned count = 0;
        DIR *directory = opendir(root);
        assert_non_null(directory);
        for (const struct dirent *entry; (entry = readdir(directory));)
                count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        closedir(directory);
        return count;
}

static void assert_quota(double expected)
{
        double quota = cpus_quota(root);
        if (!(quota == expected)) /* cmocka's own compares within an epsilon, and not infinities */
                fail_msg("quota %g, expected %g", quota, expected);
}

static void test_no_quota(void **state)
{
        (void)state;
        assert_quota(INFINITY);
        put("proc/self/cgroup", "");
        assert_quota(INFINITY);
        put("proc/self/cgroup", "0::/\n");
        assert_quota(INFINITY);
        put("sys/fs/cgroup/cpu.max", "max 100000\n");
        assert_quota(INFINITY);
        put("proc/self/cgroup", "2:cpu:/\n0::/\n");
        put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        assert_quota(INFINITY);
}

static void test_v2(void **state)
{
        (void)state;
        put("proc/self/cgroup", "0::/slice/job/step\n");
        put("sys/fs/cgroup/slice/job/step/cpu.max", "400000 100000\n");
        assert_quota(4);
        put("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
        assert_quota(4);
        put("sys/fs/cgroup/slice/cpu.max", "75000 50000\n"); /* the tightest is an ancestor */
        assert_quota(1.5);
        put("sys/fs/cgroup/slice/other/cpu.max", "10000 100000\n");
        assert_quota(1.5);
        put("sys/fs/cgroup/unified/slice/cpu.max", "25000 50000\n");
        assert_quota(0.5);
}

static void test_v1(void **state)
{
        (void)state;
        put("proc/self/cgroup", "9:name=systemd:/a\n4:cpuset,cpu,cpuacct:/a/b\n3:cpuset:/\n0::/\n");
        put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "350000\n");
        assert_quota(INFINITY); /* a quota of no known period */
        put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
        assert_quota(3.5);
        put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n");
        put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "10000\n");
        assert_quota(2);
        put("proc/self/cgroup", "4:cpuset,cpuacct:/a/b\n");
        assert_quota(INFINITY);
}

static void test_malformed_is_none(void **state)
{
        (void)state;
        static const char *const contents[] = {"", "\n", "max", "100000", "100000 ", "x 100000",
                "100000 x", "100000 100000 1", "100000 100000x", "1.5 1", "100000 0", "0 100000",
                "-100000 100000", "100000 -100000", "1 99999999999999999999999"};
        put("proc/self/cgroup", "0::/job\n");
        put("sys/fs/cgroup/cpu.max", "300000 100000\n");
        for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
                put("sys/fs/cgroup/job/cpu.max", contents[i]);
                assert_quota(3);
        }
}

static void test_malformed_membership_is_none(void **state)
{
        (void)state;
        static const char *const contents[] = {"0", "0:", "0::", ":::", "cpu", "\n\n", "0:/job\n"};
        put("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
        for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
                put("proc/self/cgroup", contents[i]);
                assert_quota(INFINITY);
        }
        put("proc/self/cgroup", "garbage\n0::/job"); /* no newline at the end */
        assert_quota(1);
}

/* In a container the path may lead out of what is mounted; the top of it still counts. */
static void test_container(void **state)
{
        (void)state;
        static const char *const paths[] = {"0::/..\n", "0::/../..\n", "0::/../other\n",
                "0::/docker/0123456789abcdef\n", "0::/gone (deleted)\n", "0::/..rooted\n"};
        put("sys/fs/cpu.max", "10000 100000\n");
        put("sys/fs/other/cpu.max", "10000 100000\n");
        put("sys/fs/cgroup/cpu.max", "200000 100000\n");
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
                put("proc/self/cgroup", paths[i]);
                assert_quota(2);
        }
        put("sys/fs/cgroup/..rooted/cpu.max", "100000 100000\n"); /* a name, not a way up */
        assert_quota(1);
}

static void test_one_cpu(void **state)
{
        (void)state;
        struct cpus all, one;
        assert_int_equal(cpus_affinity(&all), 0);
        assert_true(all.count >= 1);
        size_t bytes = CPU_ALLOC_SIZE(8192);
        cpu_set_t *set = CPU_ALLOC(8192);
        CPU_ZERO_S(bytes, set);
        CPU_SET_S(all.ids[all.count - 1], bytes, set);
        assert_int_equal(sched_setaffinity(0, bytes, set), 0);
        assert_int_equal(cpus_affinity(&one), 0);
        unsigned effective = cpus_effective();
        for (unsigned i = 0; i < all.count; i++)
                CPU_SET_S(all.ids[i], bytes, set);
        assert_int_equal(sched_setaffinity(0, bytes, set), 0);
        assert_int_equal(one.count, 1);
        assert_int_equal(one.ids[0], all.ids[all.count - 1]);
        assert_int_equal(effective, 1);
        assert_in_range(cpus_effective(), 1, all.count);
        cpus_free(&one);
        cpus_free(&all);
        CPU_FREE(set);
}

static void test_many_cpus(void **state)
{
        (void)state;
        struct cpus mask;
        mask_bits = 8192;
        mask_step = 2;
        assert_int_equal(cpus_affinity(&mask), 0);
        assert_int_equal(mask.count, 4096);
        for (unsigned i = 0; i < mask.count; i++)
                assert_int_equal(mask.ids[i], 2 * i + 1);
        cpus_free(&mask);
        mask_bits = 16384;
        assert_int_equal(cpus_affinity(&mask), -EINVAL);
        assert_int_equal(cpus_effective(), 1);
}

static int compare_ids(const void *left, const void *right)
{
        unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
        return (a > b) - (a < b);
}

static void assert_order_is_mask(enum cpus_pin pin)
{
        struct cpus mask, order;
        assert_int_equal(cpus_affinity(&mask), 0);
        assert_int_equal(cpus_order(pin, &order), 0);
        assert_int_equal(order.count, mask.count);
        qsort(order.ids, order.count, sizeof(*order.ids), compare_ids);
        assert_memory_equal(order.ids, mask.ids, mask.count * sizeof(*mask.ids));
        cpus_free(&order);
        cpus_free(&mask);
}

static void test_order_is_mask(void **state)
{
        (void)state;
        assert_order_is_mask(CPUS_COMPACT);
        assert_order_is_mask(CPUS_SCATTER);
        setenv("HWLOC_SYNTHETIC", "pack:4 l3:2 core:3 pu:2", 1);
        mask_bits = 64; /* more than the 48 that hwloc knows of */
        for (mask_step = 1; mask_step < 8; mask_step++) {
                assert_order_is_mask(CPUS_COMPACT);
                assert_order_is_mask(CPUS_SCATTER);
        }
}

static void assert_order(enum cpus_pin pin, unsigned count, const unsigned *expected)
{
        struct cpus order;
        assert_int_equal(cpus_order(pin, &order), 0);
        assert_int_equal(order.count, count);
        assert_memory_equal(order.ids, expected, count * sizeof(*expected));
        cpus_free(&order);
}

/* Two packages of two cores of two; the kernel numbers first threads before second ones. */
static void test_order(void **state)
{
        (void)state;
        static const unsigned compact[] = {0, 4, 1, 5, 2, 6, 3, 7};
        static const unsigned scatter[] = {0, 2, 1, 3, 4, 6, 5, 7};
        static const unsigned odd_compact[] = {1, 5, 3, 7}, odd_scatter[] = {1, 3, 5, 7};
        setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", 1);
        mask_bits = 8;
        mask_step = 1;
        assert_order(CPUS_COMPACT, 8, compact);
        assert_order(CPUS_SCATTER, 8, scatter);
        mask_step = 2;
        assert_order(CPUS_COMPACT, 4, odd_compact);
        assert_order(CPUS_SCATTER, 4, odd_scatter);
}

static void assert_text_or_null(const json_t *machine, const char *key)
{
        const json_t *value = json_object_get(machine, key);
        if (!json_is_null(value) && (!json_is_string(value) || !json_string_length(value)))
                fail_msg("%s is neither text nor null", key);
}

static void assert_positive_or_null(const json_t *machine, const char *key)
{
        const json_t *value = json_object_get(machine, key);
        if (!json_is_null(value) && !(json_number_value(value) > 0))
                fail_msg("%s is neither positive nor null", key);
}

static void test_describe(void **state)
{
        (void)state;
        static const char *const texts[] = {"cpu_model", "architecture", "kernel", "libc",
                "governor", "smt", "clock_source", "compiler", "commit", "date_utc", "hostname"};
        static const char *const numbers[] = {"cpus_affinity", "cpus_quota", "cpus_effective",
                "clock_read_ns", "memory_bytes", "page_bytes"};
        static const char *const others[] = {
                "topology", "hypervisor", "libraries", "compiler_flags", "dirty", "command_line"};
        static const char *const libraries[] = {"liburcu", "ck", "gsl", "hwloc", "jansson"};
        static const char *const counts[] = {"packages", "cores", "pus", "numa_nodes"};
        char *argv[] = {"fanin", "run", NULL};
        json_t *machine = machine_describe(2, argv);
        assert_non_null(machine);
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
                assert_text_or_null(machine, texts[i]);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
                assert_positive_or_null(machine, numbers[i]);
        for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
                assert_non_null(json_object_get(machine, others[i]));
        const json_t *versions = json_object_get(machine, "libraries");
        for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
                assert_text_or_null(versions, libraries[i]);
        const json_t *topology = json_object_get(machine, "topology");
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
                assert_positive_or_null(topology, counts[i]);
        assert_true(json_is_array(json_object_get(topology, "caches")));
        json_decref(machine);
}

static void test_describe_topology(void **state)
{
        (void)state;
        setenv("HWLOC_SYNTHETIC", "pack:2 l3:1(size=8388608) core:3 l1d:1(size=32768) pu:2", 1);
        json_t *machine = machine_describe(0, NULL);
        json_t *expected = json_pack("{s:i s:i s:i s:i s:[{s:i s:i s:i} {s:i s:i s:i}]}",
                "packages", 2, "cores", 6, "pus", 12, "numa_nodes", 1, "caches", "level", 3,
                "count", 2, "bytes", 8388608, "level", 1, "count", 6, "bytes", 32768);
        assert_non_null(expected);
        char *text = json_dumps(json_object_get(machine, "topology"), JSON_SORT_KEYS);
        assert_non_null(text);
        if (!json_equal(json_object_get(machine, "topology"), expected))
                fail_msg("topology %s", text);
        free(text);
        json_decref(expected);
        json_decref(machine);
}

static void test_describe_command(void **state)
{
        (void)state;
        static const char *const pairs[][2] = {
                {"", ""}, {"--queue=vyukov", "--queue=vyukov"},
                {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
                {"\xe9t\xe9", "?t?"}, /* Latin-1 */
                {"\xc3\xa9\xff.\xf0\x9f\x98\x80",
                        "\xc3\xa9?.\xf0\x9f\x98\x80"},       /* what is good around it stays */
                {"a\xc3", "a?"},                             /* cut short by the end */
                {"\xf0\x9f\x98", "???"}, {"\xc0\xaf", "??"}, /* a longer form than needed */
                {"\xed\xa0\x80", "???"},                     /* a surrogate */
                {"\xf4\x90\x80\x80", "????"},                /* above U+10FFFF */
        };
        enum { COUNT = sizeof(pairs) / sizeof(*pairs) };
        char *argv[COUNT + 1] = {NULL};
        for (int i = 0; i < COUNT; i++)
                argv[i] = (char *)(uintptr_t)pairs[i][0];
        json_t *machine = machine_describe(COUNT, argv);
        const json_t *command = json_object_get(machine, "command_line");
        assert_int_equal(json_array_size(command), COUNT);
        for (size_t i = 0; i < COUNT; i++)
                assert_string_equal(json_string_value(json_array_get(command, i)), pairs[i][1]);
        json_decref(machine);
}

/* Reads it back in the C locale: jansson can't read a number in all locales. */
static void assert_written(const char *path, const json_t *expected)
{
        setlocale(LC_ALL, "C");
        json_t *read = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(read);
        assert_true(json_equal(read, expected));
        json_decref(read);
        FILE *stream = fopen(path, "r");
        assert_non_null(stream);
        assert_int_equal(fseek(stream, -2, SEEK_END), 0);
        assert_int_equal(fgetc(stream), '}');
        assert_int_equal(fgetc(stream), '\n');
        fclose(stream);
}

static void test_write(void **state)
{
        (void)state;
        char path[PATH_BYTES], *argv[] = {"fanin", "\xff", NULL};
        under_root(path, "machine.json");
        put("machine.json", "older\n");
        put("machine.json.tmp", "left behind by a crash\n");
        json_t *machine = machine_describe(2, argv);
        assert_non_null(machine);
        assert_int_equal(machine_write(path, machine), 0);
        assert_written(path, machine);
        assert_int_equal(count_files(), 1);
        json_decref(machine);
}

static void test_write_in_other_locales(void **state)
{
        (void)state;
        static const char *const names[] = {
                "de_DE.UTF-8", "fr_FR.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8", "ps_AF.UTF-8"};
        char path[PATH_BYTES];
        under_root(path, "machine.json");
        json_t *numbers = json_pack("{s:f, s:i}", "quota", 1234567.5, "memory_bytes", 1234567);
        unsigned tried = 0;
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
                if (!setlocale(LC_ALL, names[i]))
                        continue;
                tried++;
                assert_string_not_equal(localeconv()->decimal_point, ".");
                assert_int_equal(machine_write(path, numbers), 0);
                assert_string_not_equal(localeconv()->decimal_point, "."); /* the user's again */
                assert_written(path, numbers);
        }
        json_decref(numbers);
        if (!tried)
                skip();
}

static void test_write_fails(void **state)
{
        (void)state;
        char path[PATH_BYTES];
        json_t *machine = machine_describe(0, NULL);
        assert_non_null(machine);
        assert_int_equal(machine_write(under_root(path, "none/machine.json"), machine), -ENOENT);
        under_root(path, "machine.json");
        assert_int_equal(machine_write(path, NULL), -EINVAL);
        assert_int_equal(count_files(), 0);
        json_decref(machine);
}

/* A directory in its place lets all succeed up to the rename. */
static void test_write_fails_at_rename(void **state)
{
        (void)state;
        char path[PATH_BYTES];
        json_t *machine = json_object();
        put("machine.json/file", "");
        assert_int_equal(machine_write(under_root(path, "machine.json"), machine), -EISDIR);
        assert_int_equal(count_files(), 1);
        json_decref(machine);
}

/* As a full disk fails: while writing a long file, at closing a short one. */
static void test_write_fails_at_limit(void **state)
{
        (void)state;
        char path[PATH_BYTES], content[8] = "";
        json_t *small = json_pack("{s:s}", "key", "a text longer than the limit");
        json_t *large = json_array();
        for (int i = 0; i < 10000; i++)
                assert_int_equal(json_array_append_new(large, json_integer(i)), 0);
        put("machine.json", "older\n");
        struct rlimit limit, tight;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
        tight = limit;
        tight.rlim_cur = 16;
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        int at_close = machine_write(under_root(path, "machine.json"), small);
        int at_write = machine_write(path, large);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        signal(SIGXFSZ, handler);
        assert_int_equal(at_close, -EFBIG);
        assert_int_equal(at_write, -EFBIG);
        assert_int_equal(count_files(), 1);
        FILE *stream = fopen(path, "r");
        assert_non_null(stream);
        assert_non_null(fgets(content, sizeof(content), stream));
        fclose(stream);
        assert_string_equal(content, "older\n");
        json_decref(small);
        json_decref(large);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_no_quota),
                TEST(test_v2),
                TEST(test_v1),
                TEST(test_malformed_is_none),
                TEST(test_malformed_membership_is_none),
                TEST(test_container),
                TEST(test_one_cpu),
                TEST(test_many_cpus),
                TEST(test_order_is_mask),
                TEST(test_order),
                TEST(test_describe),
                TEST(test_describe_topology),
                TEST(test_describe_command),
                TEST(test_write),
                TEST(test_write_in_other_locales),
                TEST(test_write_fails),
                TEST(test_write_fails_at_rename),
                TEST(test_write_fails_at_limit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
