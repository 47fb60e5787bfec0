/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The description of the machine: written, read back, and compared. Nothing here asserts anything
 * about the machine it runs on. */
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "../experiments/machine.h"
#include "kinds.h"
#include "tree.h"

static int remove_all(void **state)
{
        unsetenv("HWLOC_SYNTHETIC");
        unsetenv("HWLOC_XMLFILE");
        setlocale(LC_ALL, "C");
        return tree_remove(state);
}

static unsigned count_files(void)
{
        unsigned count = 0;
        DIR *directory = opendir(tree);
        assert_non_null(directory);
        for (const struct dirent *entry; (entry = readdir(directory));)
                count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        closedir(directory);
        return count;
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
        cgroup_root = "";
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
        tree_path(path, "machine.json");
        tree_put("machine.json", "older\n");
        tree_put("machine.json.tmp", "left behind by a crash\n");
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
        tree_path(path, "machine.json");
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
        assert_int_equal(machine_write(tree_path(path, "none/machine.json"), machine), -ENOENT);
        tree_path(path, "machine.json");
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
        tree_put("machine.json/file", "");
        assert_int_equal(machine_write(tree_path(path, "machine.json"), machine), -EISDIR);
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
        tree_put("machine.json", "older\n");
        struct rlimit limit, tight;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
        tight = limit;
        tight.rlim_cur = 16;
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        int at_close = machine_write(tree_path(path, "machine.json"), small);
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

/* How many there are of each kind, slowest first. */
static void test_describe_classes(void **state)
{
        (void)state;
        static const struct kind kinds[] = {{"2-3", 30}, {"4-6", 20}, {"0-1,7-8", 10}};
        json_t *expected = json_pack("[{s:i s:i} {s:i s:i} {s:i s:i}]", "cpus", 4, "efficiency", 0,
                "cpus", 3, "efficiency", 1, "cpus", 2, "efficiency", 2);
        kinds_make(9, kinds, 3);
        json_t *machine = machine_describe(0, NULL);
        assert_true(json_equal(json_object_get(machine, "core_classes"), expected));
        json_decref(machine);
        json_decref(expected);
}

/* Nothing is known of them, or not which is the faster. */
static void test_describe_unknown_classes(void **state)
{
        (void)state;
        static const struct kind unranked[] = {{"0-2", -1}, {"3", -1}};
        kinds_make(4, unranked, 0);
        json_t *classes = machine_core_classes();
        assert_true(json_is_null(classes));
        json_decref(classes);
        kinds_make(4, unranked, 2);
        classes = machine_core_classes();
        assert_int_equal(json_array_size(classes), 2);
        for (size_t i = 0; i < 2; i++)
                assert_true(
                        json_is_null(json_object_get(json_array_get(classes, i), "efficiency")));
        json_decref(classes);
}

/* What files say is asked for where cgroup_root is; where they say nothing it is null. */
static void test_describe_below_root(void **state)
{
        (void)state;
        static const char *const keys[] = {
                "clock_source", "cpu_model", "governor", "hypervisor", "smt", "cpus_quota"};
        json_t *machine = machine_describe(0, NULL);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                assert_true(json_is_null(json_object_get(machine, keys[i])));
        json_decref(machine);
        tree_put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made Up 9\nflags\t\t: fpu "
                                 "hypervisor sse\n\nmodel name\t: another\n");
        tree_put("proc/self/cgroup", "0::/\n");
        tree_put("sys/fs/cgroup/cpu.max", "150000 100000\n");
        tree_put("sys/devices/system/cpu/smt/control", "off\n");
        machine = machine_describe(0, NULL);
        assert_string_equal(json_string_value(json_object_get(machine, "cpu_model")), "Made Up 9");
        assert_string_equal(json_string_value(json_object_get(machine, "smt")), "off");
        assert_true(json_is_true(json_object_get(machine, "hypervisor")));
        assert_true(json_real_value(json_object_get(machine, "cpus_quota")) == 1.5);
        assert_int_equal(json_integer_value(json_object_get(machine, "cpus_effective")), 1);
        json_decref(machine);
}

/* What is asked of a machine.json, and no more. */
#define LEAST                                                                                      \
        "{\"commit\": \"c\", \"compiler\": \"gcc\", \"cpu_model\": null, \"cpus_effective\": 2, "  \
        "\"date_utc\": null, \"hostname\": \"h\"}"

static json_t *parse(const char *text, size_t bytes, char why[512])
{
        strcpy(why, "no sentence");
        json_t *machine = machine_parse("FILE", text, bytes, why, 512);
        if (!machine && (strncmp(why, "FILE", 4) != 0 || strpbrk(why, "\n\033")))
                fail_msg("the sentence is: %s", why);
        return machine;
}

static void assert_refused(const char *text, const char *part)
{
        char why[512];
        assert_null(parse(text, strlen(text), why));
        if (!strstr(why, part))
                fail_msg("'%s' is not in: %s", part, why);
}

static void test_read_back(void **state)
{
        (void)state;
        char path[PATH_BYTES], why[512] = "";
        json_t *machine = machine_describe(0, NULL);
        assert_int_equal(machine_write(tree_path(path, "machine.json"), machine), 0);
        json_t *read = machine_read(path, why, sizeof why);
        if (!read)
                fail_msg("%s", why);
        assert_true(json_equal(read, machine));
        assert_true(machine_same(read, machine));
        json_decref(read);
        read = parse(LEAST, strlen(LEAST), why);
        assert_non_null(read);
        json_decref(read);
        json_decref(machine);
}

static void test_read_in_other_locales(void **state)
{
        (void)state;
        static const char text[] = "{\"clock_read_ns\": 22.5, " /* and the rest of */ LEAST;
        static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
        char whole[sizeof text], why[512];
        unsigned tried = 0;
        strcpy(whole, text);
        *strrchr(whole, '{') = ' ';
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                if (!setlocale(LC_ALL, names[i]))
                        continue;
                tried++;
                json_t *machine = parse(whole, strlen(whole), why);
                if (!machine)
                        fail_msg("%s", why);
                assert_true(json_real_value(json_object_get(machine, "clock_read_ns")) == 22.5);
                assert_string_not_equal(localeconv()->decimal_point, "."); /* the user's again */
                json_decref(machine);
        }
        if (!tried)
                skip();
}

/* A file that was cut off, anywhere, or in which any byte has become another. */
static void test_every_prefix_is_refused(void **state)
{
        (void)state;
        char why[512];
        json_t *machine = machine_describe(0, NULL);
        char *text = json_dumps(machine, JSON_INDENT(2));
        assert_non_null(text);
        size_t bytes = strlen(text);
        for (size_t i = 0; i < bytes; i++) {
                assert_null(parse(text, i, why));
                int line = 0, column = -1;
                if (sscanf(why, "FILE line %d, column %d: ", &line, &column) != 2 || line < 1)
                        fail_msg("cut off at %zu: %s", i, why);
                char was = text[i];
                text[i] = (char)(was ^ (1 << i % 8));
                json_decref(parse(text, bytes, why)); /* a sentence, or a sound one */
                text[i] = was;
        }
        free(text);
        json_decref(machine);
}

static void test_foreign_files(void **state)
{
        (void)state;
        enum { DEEP = 100000 };
        assert_refused("", "FILE line 1, column 0: ");
        assert_refused("a,b\n1,2\n", "FILE line 1, column 1: ");
        assert_refused("{\"a\": 1,\n \"b\": x}", "FILE line 2, column 7: ");
        assert_refused("{\"a\": 1, \"a\": 2}", "duplicate");
        assert_refused("{\"\033[31m\": 1}", "FILE line 1, column 2: ");
        assert_refused("\033[31m", "near '?'");
        assert_refused("\xff\xfe{", "FILE line 1");
        assert_refused(LEAST "x", "end of file expected");
        assert_refused("[]", "it is not an object");
        assert_refused("{\"a\": 1e999}", "real number overflow");
        assert_refused("{\"a\": 99999999999999999999}", "too big integer");
        char *deep = malloc(DEEP + 1);
        assert_non_null(deep);
        memset(deep, '[', DEEP);
        deep[DEEP] = '\0';
        assert_refused(deep, "maximum parsing depth");
        free(deep);
}

static void test_ill_typed_keys(void **state)
{
        (void)state;
        static const struct {
                const char *old, *new, *part;
        } cases[] = {
                {"\"commit\"", "\"Commit\"", "FILE: key commit is not there"},
                {"\"c\"", "null", "FILE: key commit is not text, but null"},
                {"\"gcc\"", "[1, {\"a\": 2}]", "key compiler is not text, but [1,{\"a\":2}]"},
                {"\"cpu_model\": null", "\"cpu_model\": 9", "key cpu_model is not text or null"},
                {": 2", ": 0", "FILE: key cpus_effective is not a count, but 0"},
                {": 2", ": -3", "key cpus_effective is not a count, but -3"},
                {": 2", ": 8193", "key cpus_effective is not a count, but 8193"},
                {": 2", ": 2.5", "key cpus_effective is not a count, but 2.5"},
                {": 2", ": \"2\"", "key cpus_effective is not a count, but \"2\""},
                {"\"date_utc\": null", "\"date_utc\": false", "key date_utc is not text or null"},
                {"\"h\"", "{\"\\u001b\": 1}", "key hostname is not text, but {\"\\u001B\":1}"},
                {"\"h\"", "[\"\\u009b\"]", "key hostname is not text, but [\"\\u009B\"]"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char text[512];
                const char *at = strstr(LEAST, cases[i].old);
                assert_non_null(at);
                snprintf(text, sizeof text, "%.*s%s%s", (int)(at - LEAST), LEAST, cases[i].new,
                        at + strlen(cases[i].old));
                assert_refused(text, cases[i].part);
        }
}

static void test_unreadable_files(void **state)
{
        (void)state;
        enum { MEBIBYTE = 1 << 20 };
        char path[PATH_BYTES], why[512] = "";
        assert_null(machine_read(tree_path(path, "none"), why, sizeof why));
        assert_non_null(strstr(why, "/none can't be read: No such file"));
        assert_null(machine_read(tree, why, sizeof why));
        assert_non_null(strstr(why, "can't be read: allowed: a file of at most 1 MiB"));
        assert_int_equal(mkfifo(tree_path(path, "fifo"), 0600), 0); /* nobody ever writes to it */
        assert_null(machine_read(path, why, sizeof why));
        assert_non_null(strstr(why, "/fifo can't be read: allowed: a file"));
        char *large = malloc(MEBIBYTE + 2);
        assert_non_null(large);
        memset(large, ' ', MEBIBYTE + 1);
        large[MEBIBYTE + 1] = '\0';
        tree_put("large", large);
        free(large);
        assert_null(machine_read(tree_path(path, "large"), why, sizeof why));
        assert_non_null(strstr(why, "/large can't be read: allowed: a file of at most 1 MiB"));
}

static void test_same_machine(void **state)
{
        (void)state;
        static const struct {
                const char *key, *value; /* JSON */
                bool same;
        } cases[] = {{"kernel", "\"9\"", true}, {"compiler", "\"clang\"", true},
                {"commit", "\"d\"", true}, {"date_utc", "\"later\"", true},
                {"governor", "\"powersave\"", true}, {"memory_bytes", "100900", true},
                {"memory_bytes", "101100", false}, {"memory_bytes", "98000", false},
                {"memory_bytes", "null", false}, {"hostname", "\"g\"", false},
                {"cpu_model", "\"other\"", false}, {"cpus_effective", "1", false},
                {"architecture", "\"aarch64\"", false}, {"topology", "{\"cores\": 4}", false},
                {"topology", "{\"cores\": 2}", true}, {"topology", "null", false}};
        char why[512];
        json_t *a = parse(LEAST, strlen(LEAST), why);
        assert_true(machine_same(a, a)); /* though it tells so little */
        json_object_set_new(a, "topology", json_pack("{s:i}", "cores", 2));
        json_object_set_new(a, "memory_bytes", json_integer(100000));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                json_t *b = json_deep_copy(a);
                json_object_set_new(
                        b, cases[i].key, json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
                if (machine_same(a, b) != cases[i].same || machine_same(b, a) != cases[i].same)
                        fail_msg("%s = %s", cases[i].key, cases[i].value);
                json_decref(b);
        }
        json_decref(a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_make, remove_all)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_describe),
                TEST(test_describe_topology),
                TEST(test_describe_classes),
                TEST(test_describe_unknown_classes),
                TEST(test_describe_below_root),
                TEST(test_describe_command),
                TEST(test_write),
                TEST(test_write_in_other_locales),
                TEST(test_write_fails),
                TEST(test_write_fails_at_rename),
                TEST(test_write_fails_at_limit),
                TEST(test_read_back),
                TEST(test_read_in_other_locales),
                TEST(test_every_prefix_is_refused),
                TEST(test_foreign_files),
                TEST(test_ill_typed_keys),
                TEST(test_unreadable_files),
                TEST(test_same_machine),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
