/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * What cgroups grant and count, on made-up trees: v1, v2, both, and what a container sees. Nothing
 * here asserts anything about the machine it runs on.
 */
#include <math.h>

#include "../experiments/cpus.h"
#include "tree.h"

static void assert_quota(double expected)
{
        double quota = cgroup_quota(NULL, 0);
        if (!(quota == expected)) /* cmocka's own compares within an epsilon, and not infinities */
                fail_msg("quota %g, expected %g", quota, expected);
}

static void assert_quota_in(const char *expected)
{
        char file[PATH_BYTES] = "none";
        cgroup_quota(file, sizeof file);
        assert_string_equal(file, expected);
}

static void test_no_quota(void **state)
{
        (void)state;
        assert_quota(INFINITY);
        tree_put("proc/self/cgroup", "");
        assert_quota(INFINITY);
        tree_put("proc/self/cgroup", "0::/\n");
        assert_quota(INFINITY);
        tree_put("sys/fs/cgroup/cpu.max", "max 100000\n");
        assert_quota(INFINITY);
        assert_quota_in("none");
        tree_put("proc/self/cgroup", "2:cpu:/\n0::/\n");
        tree_put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        tree_put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        assert_quota(INFINITY);
}

static void test_quota_v2(void **state)
{
        (void)state;
        tree_put("proc/self/cgroup", "0::/slice/job/step\n");
        tree_put("sys/fs/cgroup/slice/job/step/cpu.max", "400000 100000\n");
        assert_quota(4);
        tree_put("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
        assert_quota(4);
        assert_quota_in("/sys/fs/cgroup/slice/job/step/cpu.max");
        tree_put("sys/fs/cgroup/slice/cpu.max", "75000 50000\n"); /* the tightest is an ancestor */
        assert_quota(1.5);
        assert_quota_in("/sys/fs/cgroup/slice/cpu.max");
        tree_put("sys/fs/cgroup/slice/other/cpu.max", "10000 100000\n");
        assert_quota(1.5);
}

static void test_quota_v1(void **state)
{
        (void)state;
        tree_put("proc/self/cgroup", "9:name=systemd:/a\n4:cpu,cpuacct:/a/b\n3:cpuset:/\n0::/\n");
        tree_put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "350000\n");
        assert_quota(INFINITY); /* a quota of no known period */
        tree_put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
        assert_quota(3.5);
        tree_put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "20000\n");
        tree_put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "10000\n");
        assert_quota(2);
        assert_quota_in("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us");
        tree_put("proc/self/cgroup", "4:cpuset,cpuacct:/a/b\n5:cpus:/\n6:xcpu:/\n");
        assert_quota(INFINITY);
}

/* The controller's own name for the mount, where there is none with all names. */
static void test_quota_v1_by_one_name(void **state)
{
        (void)state;
        tree_put("proc/self/cgroup", "4:cpuacct,cpu:/a\n");
        tree_put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n");
        tree_put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "10000\n");
        assert_quota(2);
        tree_put("proc/self/cgroup", "4:cpuacct,cpus:/a\n5:xcpu:/a\n6:cpuset:/a\n");
        assert_quota(INFINITY);
}

/* v2 is then below the v1 mounts, and a controller is in one of them. */
static void test_hybrid(void **state)
{
        (void)state;
        tree_put("proc/self/cgroup", "2:cpu:/a\n1:memory:/a\n0::/b\n");
        tree_put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "20000\n");
        tree_put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "10000\n");
        tree_put("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 5\nthrottled_time 7\n");
        tree_put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096\n");
        tree_put("sys/fs/cgroup/memory/a/memory.oom_control", "oom_kill 3\n");
        tree_put("sys/fs/cgroup/unified/b/cpu.stat", "usage_usec 5\n");
        assert_quota(2);
        assert_int_equal(cgroup_throttled_ns(), 7);
        assert_int_equal(cgroup_memory_limit(), 4096);
        assert_int_equal(cgroup_oom_kills(), 3);
        tree_put("sys/fs/cgroup/unified/b/cpu.max", "5000 10000\n");
        tree_put("sys/fs/cgroup/b/cpu.max", "1 10000\n"); /* not where v2 is mounted */
        assert_quota(0.5);
}

static void test_malformed_quota_is_none(void **state)
{
        (void)state;
        static const char *const contents[] = {"", "\n", "max", "100000", "100000 ", "x 100000",
                "100000 x", "100000 100000 1", "100000 100000x", "1.5 1", "100000 0", "0 100000",
                "-100000 100000", "100000 -100000", "1 99999999999999999999999",
                "100000                                                           100000"};
        tree_put("proc/self/cgroup", "0::/job\n");
        tree_put("sys/fs/cgroup/cpu.max", "300000 100000\n");
        for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
                tree_put("sys/fs/cgroup/job/cpu.max", contents[i]);
                assert_quota(3);
        }
}

static void test_malformed_membership_is_none(void **state)
{
        (void)state;
        static const char *const contents[] = {"0", "0:", "0::", ":::", "cpu", "\n\n", "0:/job\n"};
        tree_put("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
        for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
                tree_put("proc/self/cgroup", contents[i]);
                assert_quota(INFINITY);
        }
        tree_put("proc/self/cgroup", "garbage\n0::/job"); /* no newline at the end */
        assert_quota(1);
}

/* In a container the path may be the host's or lead out of what is mounted; its top still counts.
 */
static void test_container(void **state)
{
        (void)state;
        static const char *const paths[] = {"0::/..\n", "0::/../..\n", "0::/../other\n",
                "0::/docker/0123456789abcdef\n", "0::/gone (deleted)\n", "0::/..rooted\n"};
        tree_put("sys/fs/cpu.max", "10000 100000\n");
        tree_put("sys/fs/other/cpu.max", "10000 100000\n");
        tree_put("sys/fs/cgroup/cpu.max", "200000 100000\n");
        tree_put("sys/fs/cgroup/cpu.stat", "throttled_usec 4\n");
        tree_put("sys/fs/cgroup/memory.max", "65536\n");
        tree_put("sys/fs/cgroup/memory.events", "oom_kill 6\n");
        tree_put("sys/fs/cgroup/cpuset.cpus.effective", "1-2\n");
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
                struct cpus cpus;
                tree_put("proc/self/cgroup", paths[i]);
                assert_quota(2);
                assert_int_equal(cgroup_throttled_ns(), 4000);
                assert_int_equal(cgroup_memory_limit(), 65536);
                assert_int_equal(cgroup_oom_kills(), 6);
                assert_true(cgroup_cpuset(&cpus, NULL, 0));
                assert_int_equal(cpus.count, 2);
                cpus_free(&cpus);
        }
        tree_put("sys/fs/cgroup/..rooted/cpu.max", "100000 100000\n"); /* a name, not a way up */
        assert_quota(1);
}

static void test_throttled(void **state)
{
        (void)state;
        assert_true(cgroup_throttled_ns() == UINT64_MAX);
        tree_put("proc/self/cgroup", "0::/a/b\n");
        tree_put("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 1\nnr_throttled 9\n");
        assert_true(cgroup_throttled_ns() == UINT64_MAX);
        tree_put("sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 9\nthrottled_usec 50\nx 1\n");
        assert_int_equal(cgroup_throttled_ns(), 50000);
        /* What an ancestor's quota took shows, though it has taken more before than ours. */
        tree_put("sys/fs/cgroup/a/cpu.stat", "throttled_usec 9000\n");
        uint64_t before_ns = cgroup_throttled_ns();
        tree_put("sys/fs/cgroup/a/b/cpu.stat", "throttled_usec 51\n");
        assert_int_equal(cgroup_throttled_ns() - before_ns, 1000);
        tree_put("sys/fs/cgroup/a/cpu.stat", "throttled_usec 9001\n");
        assert_int_equal(cgroup_throttled_ns() - before_ns, 2000);
}

/* One mount that has two names is counted once. */
static void test_throttled_v1(void **state)
{
        (void)state;
        char link[PATH_BYTES];
        tree_put("proc/self/cgroup", "4:cpu,cpuacct:/a\n");
        tree_put("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_throttled 2\nthrottled_time 12345\n");
        assert_int_equal(symlink("cpu,cpuacct", tree_path(link, "sys/fs/cgroup/cpu")), 0);
        assert_int_equal(cgroup_throttled_ns(), 12345);
}

static void test_malformed_counts_are_none(void **state)
{
        (void)state;
        static const char *const contents[] = {"", "\n", "throttled_usec", "throttled_usec \n",
                "throttled_usec x\n", "throttled_usec 1x\n", "throttled_usec -1\n",
                "throttled_usec 99999999999999999999\n", "throttled_usec 9223372036854775807\n",
                "throttled_usec1 1\n", " throttled_usec 1\n", "throttled_usec\t1\n"};
        tree_put("proc/self/cgroup", "0::/\n");
        for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
                tree_put("sys/fs/cgroup/cpu.stat", contents[i]);
                if (cgroup_throttled_ns() != UINT64_MAX)
                        fail_msg("%s: not none", contents[i]);
        }
}

/* The nearest: under v2 an ancestor's count has our neighbours' too. */
static void test_oom_kills(void **state)
{
        (void)state;
        assert_true(cgroup_oom_kills() == UINT64_MAX);
        tree_put("proc/self/cgroup", "0::/a/b\n");
        tree_put("sys/fs/cgroup/a/memory.events", "low 0\noom 9\noom_kill 5\noom_group_kill 1\n");
        assert_int_equal(cgroup_oom_kills(), 5);
        tree_put("sys/fs/cgroup/a/b/memory.events", "oom 9\noom_kill 0\n");
        assert_int_equal(cgroup_oom_kills(), 0);
        tree_put("proc/self/cgroup", "3:memory:/c\n");
        tree_put("sys/fs/cgroup/memory/c/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        assert_int_equal(cgroup_oom_kills(), 2);
        /* Kernels before 4.13 don't count them. */
        tree_put("sys/fs/cgroup/memory/c/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
        assert_true(cgroup_oom_kills() == UINT64_MAX);
}

static void test_memory_limit(void **state)
{
        (void)state;
        static const char *const none[] = {"max\n", "", "x\n", "-1\n", "1 2\n", "1k\n",
                "9223372036854771712\n", "9223372036854710272\n", "99999999999999999999\n"};
        assert_true(cgroup_memory_limit() == UINT64_MAX);
        tree_put("proc/self/cgroup", "0::/a/b\n");
        for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
                tree_put("sys/fs/cgroup/a/b/memory.max", none[i]);
                if (cgroup_memory_limit() != UINT64_MAX)
                        fail_msg("%s: not none", none[i]);
        }
        tree_put("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
        assert_int_equal(cgroup_memory_limit(), 1 << 30);
        tree_put("sys/fs/cgroup/a/memory.max", "1048576\n"); /* the tightest is an ancestor */
        assert_int_equal(cgroup_memory_limit(), 1 << 20);
        tree_put("proc/self/cgroup", "3:memory:/c\n");
        assert_true(cgroup_memory_limit() == UINT64_MAX);
        tree_put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_true(cgroup_memory_limit() == UINT64_MAX);
        tree_put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "8192\n");
        assert_int_equal(cgroup_memory_limit(), 8192);
}

/* expected: NULL, no cpuset; where: the file to widen. */
static void assert_cpuset(const char *expected, const char *where)
{
        struct cpus cpus, wanted;
        char file[PATH_BYTES] = "";
        bool found = cgroup_cpuset(&cpus, file, sizeof file);
        assert_int_equal(found, expected != NULL);
        if (!found)
                return;
        assert_int_equal(cpus_parse(expected, &wanted), 0);
        assert_int_equal(cpus.count, wanted.count);
        assert_memory_equal(cpus.ids, wanted.ids, wanted.count * sizeof *wanted.ids);
        assert_string_equal(file, where);
        cpus_free(&cpus);
        cpus_free(&wanted);
}

static void test_cpuset(void **state)
{
        (void)state;
        static const char *const malformed[] = {"", "\n", "x\n", "3-1\n", "0-8192\n", "1,\n"};
        assert_cpuset(NULL, NULL);
        tree_put("proc/self/cgroup", "0::/a/b\n");
        for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
                tree_put("sys/fs/cgroup/a/b/cpuset.cpus.effective", malformed[i]);
                assert_cpuset(NULL, NULL);
        }
        tree_put("sys/fs/cgroup/cpuset.cpus.effective", "0-15\n");
        assert_cpuset("0-15", "/sys/fs/cgroup/cpuset.cpus");
        tree_put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "0-7,15\n");
        assert_cpuset("0-7,15", "/sys/fs/cgroup/a/b/cpuset.cpus");
        tree_put("sys/fs/cgroup/a/cpuset.cpus.effective", "4-15\n"); /* as no kernel has it */
        assert_cpuset("4-7,15", "/sys/fs/cgroup/a/cpuset.cpus");
}

static void test_cpuset_v1(void **state)
{
        (void)state;
        tree_put("proc/self/cgroup", "3:cpuset:/a\n2:cpu:/b\n");
        tree_put("sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-3,8,8191\n");
        assert_cpuset("0-3,8,8191", "/sys/fs/cgroup/cpuset/a/cpuset.cpus");
        tree_put("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "0-1,8191\n"); /* some are off */
        assert_cpuset("0-1,8191", "/sys/fs/cgroup/cpuset/a/cpuset.cpus");
        tree_put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7\n");
        assert_cpuset("0-1", "/sys/fs/cgroup/cpuset/cpuset.cpus");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, tree_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_no_quota),
                TEST(test_quota_v2),
                TEST(test_quota_v1),
                TEST(test_quota_v1_by_one_name),
                TEST(test_hybrid),
                TEST(test_malformed_quota_is_none),
                TEST(test_malformed_membership_is_none),
                TEST(test_container),
                TEST(test_throttled),
                TEST(test_throttled_v1),
                TEST(test_malformed_counts_are_none),
                TEST(test_oom_kills),
                TEST(test_memory_limit),
                TEST(test_cpuset),
                TEST(test_cpuset_v1),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
