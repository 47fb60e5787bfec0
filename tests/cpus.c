/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The CPUs a program may use, and in which order, on made-up cgroup trees, masks and topologies.
 * Nothing here asserts anything about the machine it runs on.
 */
#include <sched.h>
#include <sys/wait.h>

#include "../experiments/cpus.h"
#include "kinds.h"
#include "mask.h"
#include "tree.h"

static int remove_all(void **state)
{
        mask_bits = 0;
        mask_list = NULL;
        unsetenv("HWLOC_SYNTHETIC");
        unsetenv("HWLOC_XMLFILE");
        return tree_remove(state);
}

static void set_affinity(const struct cpus *cpus)
{
        size_t bytes = CPU_ALLOC_SIZE(8192);
        cpu_set_t *set = CPU_ALLOC(8192);
        CPU_ZERO_S(bytes, set);
        for (unsigned i = 0; i < cpus->count; i++)
                CPU_SET_S(cpus->ids[i], bytes, set);
        assert_int_equal(sched_setaffinity(0, bytes, set), 0);
        CPU_FREE(set);
}

static void test_one_cpu(void **state)
{
        (void)state;
        struct cpus all, one;
        cgroup_root = "";
        assert_int_equal(cpus_affinity(&all), 0);
        assert_true(all.count >= 1);
        set_affinity(&(struct cpus){1, &all.ids[all.count - 1]});
        assert_int_equal(cpus_affinity(&one), 0);
        unsigned effective = cpus_effective();
        set_affinity(&all);
        assert_int_equal(one.count, 1);
        assert_int_equal(one.ids[0], all.ids[all.count - 1]);
        assert_int_equal(effective, 1);
        assert_in_range(cpus_effective(), 1, all.count);
        cpus_free(&one);
        cpus_free(&all);
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

static void assert_list(const struct cpus *cpus, const char *expected)
{
        struct cpus wanted;
        assert_int_equal(cpus_parse(expected, &wanted), 0);
        assert_int_equal(cpus->count, wanted.count);
        assert_memory_equal(cpus->ids, wanted.ids, wanted.count * sizeof *wanted.ids);
        cpus_free(&wanted);
}

static void test_parse(void **state)
{
        (void)state;
        static const struct {
                const char *list;
                unsigned count, ids[8];
        } cases[] = {{"0", 1, {0}}, {"0-3,8,8191", 6, {0, 1, 2, 3, 8, 8191}},
                {"7,2-3,3-4", 4, {2, 3, 4, 7}}, {"5-5", 1, {5}}, {"007", 1, {7}}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct cpus cpus;
                assert_int_equal(cpus_parse(cases[i].list, &cpus), 0);
                assert_int_equal(cpus.count, cases[i].count);
                assert_memory_equal(cpus.ids, cases[i].ids, cpus.count * sizeof *cpus.ids);
                cpus_free(&cpus);
        }
        struct cpus all;
        assert_int_equal(cpus_parse("0-8191", &all), 0);
        assert_int_equal(all.count, 8192);
        cpus_free(&all);
}

static void test_parse_malformed(void **state)
{
        (void)state;
        static const char *const lists[] = {"", " ", "a", "3-1", "8192", "0-8192", "1,", ",1",
                "1,,2", "1-", "-1", "1-2-3", "1 ", " 1", "1\n", "+1", "0x1", "1-a", "1;2",
                "18446744073709551617", "0-18446744073709551616", "1-,2"};
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
                struct cpus cpus;
                if (cpus_parse(lists[i], &cpus) != -EINVAL)
                        fail_msg("'%s' is taken for a list", lists[i]);
        }
}

/* The mask, the tightest cpuset and the tightest quota, whichever grants least. */
static void test_effective(void **state)
{
        (void)state;
        mask_list = "0-3,8,8191";
        assert_int_equal(cpus_effective(), 6);
        tree_put("proc/self/cgroup", "0::/a/b\n");
        tree_put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "2-9,8191\n");
        assert_int_equal(cpus_effective(), 4);
        struct cpus granted;
        assert_int_equal(cpus_granted(&granted), 0);
        assert_list(&granted, "2-3,8,8191");
        cpus_free(&granted);
        tree_put("sys/fs/cgroup/a/cpuset.cpus.effective", "0-8\n");
        assert_int_equal(cpus_effective(), 3);
        tree_put("sys/fs/cgroup/a/cpu.max", "290000 100000\n"); /* rounded down */
        assert_int_equal(cpus_effective(), 2);
        tree_put("sys/fs/cgroup/cpu.max", "90000 100000\n");
        assert_int_equal(cpus_effective(), 1); /* at least */
        tree_put("sys/fs/cgroup/cpu.max", "900000 100000\n");
        assert_int_equal(cpus_effective(), 2);
        tree_put("sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-7\n"); /* as no kernel would */
        assert_int_equal(cpus_effective(), 1);
        assert_int_equal(cpus_affinity(&granted), 0); /* that is the mask alone */
        assert_int_equal(granted.count, 6);
        cpus_free(&granted);
}

static void assert_class(enum cpus_class class, const char *list, const char *expected_name)
{
        struct cpus cpus;
        const char *name = "";
        assert_int_equal(cpus_of_class(class, &cpus, &name), 0);
        assert_string_equal(name, expected_name);
        assert_list(&cpus, list);
        cpus_free(&cpus);
}

/* One kind, or none that hwloc knows of. */
static void test_one_class(void **state)
{
        (void)state;
        static const struct kind one = {"0-7", 3};
        mask_list = "0-7";
        for (unsigned kinds = 0; kinds < 2; kinds++) {
                kinds_make(8, &one, kinds);
                assert_class(CPUS_FAST, "0-7", "same");
                assert_class(CPUS_SLOW, "0-7", "same");
                assert_class(CPUS_ALL, "0-7", "same");
        }
}

static const struct kind three[] = {{"2-3", 30}, {"4-5,7", 20}, {"0-1,6", 10}};

static void test_three_classes(void **state)
{
        (void)state;
        mask_list = "0-7";
        kinds_make(8, three, 3);
        assert_class(CPUS_FAST, "2-3", "fast");
        assert_class(CPUS_SLOW, "0-1,6", "slow");
        assert_class(CPUS_ALL, "0-7", "all");
}

/* The fastest that we have, if those of the machine are not ours. */
static void test_classes_of_mask(void **state)
{
        (void)state;
        kinds_make(8, three, 3);
        mask_list = "1,4-7";
        assert_class(CPUS_FAST, "4-5,7", "fast");
        assert_class(CPUS_SLOW, "1,6", "slow");
        assert_class(CPUS_ALL, "1,4-7", "all");
        mask_list = "3,6";
        assert_class(CPUS_FAST, "3", "fast");
        assert_class(CPUS_SLOW, "6", "slow");
        mask_list = "4,7";
        assert_class(CPUS_FAST, "4,7", "same");
        mask_list = "0-9"; /* more than hwloc knows of */
        assert_class(CPUS_FAST, "2-3", "fast");
        assert_class(CPUS_ALL, "0-9", "all");
}

/* Which of them is the faster, nobody can tell. */
static void test_unranked_classes(void **state)
{
        (void)state;
        static const struct kind unranked[] = {{"0-3", -1}, {"4-7", -1}};
        mask_list = "0-7";
        kinds_make(8, unranked, 2);
        assert_class(CPUS_FAST, "0-7", "all");
        assert_class(CPUS_SLOW, "0-7", "all");
        mask_list = "5-7";
        assert_class(CPUS_FAST, "5-7", "same");
}

/* Once confined to it, nothing leads out of a class: not the order, not in a child. */
static void test_order_within_class(void **state)
{
        (void)state;
        struct cpus all, fast, order;
        const char *name;
        assert_int_equal(cpus_affinity(&all), 0);
        if (all.count < 2) {
                cpus_free(&all);
                print_message("SKIP: one CPU has no classes\n");
                skip();
        }
        unsigned last = all.ids[all.count - 1];
        char lists[2][32];
        snprintf(lists[0], sizeof lists[0], "0-%u", last - 1);
        snprintf(lists[1], sizeof lists[1], "%u", last);
        const struct kind kinds[] = {{lists[0], 1}, {lists[1], 2}};
        kinds_make(last + 1, kinds, 2);
        assert_int_equal(cpus_of_class(CPUS_FAST, &fast, &name), 0);
        assert_string_equal(name, "fast");
        assert_int_equal(cpus_confine(&fast), 0);
        pid_t child = fork();
        if (!child)
                _exit(cpus_affinity(&order) || order.count != 1 || order.ids[0] != last);
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        int error = cpus_order(CPUS_SCATTER, &order);
        set_affinity(&all);
        assert_int_equal(status, 0);
        assert_int_equal(error, 0);
        assert_list(&order, lists[1]);
        cpus_free(&order);
        cpus_free(&fast);
        cpus_free(&all);
}

static void test_confine(void **state)
{
        (void)state;
        struct cpus before, after;
        assert_int_equal(cpus_affinity(&before), 0);
        if (before.ids[before.count - 1] < 8191) {
                assert_int_equal(cpus_confine(&(struct cpus){1, (unsigned[]){8191}}), -EINVAL);
                assert_int_equal(cpus_confine(&(struct cpus){0, NULL}), -EINVAL);
        }
        assert_int_equal(cpus_affinity(&after), 0);
        assert_int_equal(after.count, before.count);
        cpus_free(&before);
        cpus_free(&after);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, remove_all)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_one_cpu),
                TEST(test_many_cpus),
                TEST(test_parse),
                TEST(test_parse_malformed),
                TEST(test_effective),
                TEST(test_order_is_mask),
                TEST(test_order),
                TEST(test_one_class),
                TEST(test_three_classes),
                TEST(test_classes_of_mask),
                TEST(test_unranked_classes),
                TEST(test_order_within_class),
                TEST(test_confine),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
