/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One function per fact that needs more than a line; each returns a new value, JSON null for what
 * it can't find out, NULL if memory ran out. The build gives the macros FANIN_*.
 */
#include "machine.h"

#include <errno.h>
#include <hwloc.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "cost.h"
#include "cpus.h"
#include "fact.h"

#ifndef FANIN_CFLAGS
#define FANIN_CFLAGS ""
#endif
#ifndef FANIN_LIB_VERSIONS
#define FANIN_LIB_VERSIONS ""
#endif
#ifndef FANIN_COMMIT
#define FANIN_COMMIT "unknown"
#endif
#ifndef FANIN_DIRTY
#define FANIN_DIRTY (-1)
#endif

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define SMT "/sys/devices/system/cpu/smt/control"

#define STRING(x) #x
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)
#ifdef __clang__ /* which defines __GNUC__ too, and whose __VERSION__ differs by vendor */
#define COMPILER "clang " VERSION(__clang_major__, __clang_minor__, __clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif

/* jansson is the judge of which bytes make a character; the others become '?'. */
static json_t *describe_text(const char *text)
{
        if (!text)
                return json_null();
        json_t *value = json_string(text);
        char *copy = value ? NULL : strdup(text);
        if (!copy)
                return value;
        for (size_t i = 0, length = strlen(copy); i < length;) {
                json_t *character = NULL;
                size_t bytes = 0;
                while (!character && bytes < 4 && i + bytes < length)
                        character = json_stringn(copy + i, ++bytes);
                if (!character)
                        copy[i] = '?';
                i += character ? bytes : 1;
                json_decref(character);
        }
        value = json_string(copy);
        free(copy);
        return value;
}

/* A collection built by setting and appending; a failed one (memory) is given up whole. */
static json_t *finish(json_t *value, int failed)
{
        if (!failed)
                return value;
        json_decref(value);
        return NULL;
}

static json_t *describe_count(long long count)
{
        return count > 0 ? json_integer(count) : json_null();
}

/* The file's first line. */
static json_t *describe_file(const char *path)
{
        char line[256];
        return describe_text(fact_line(path, line, sizeof(line)) && *line ? line : NULL);
}

/* A value of /proc/cpuinfo's first CPU, which a blank line ends; NULL if none. The caller frees. */
static char *read_cpuinfo(const char *key)
{
        FILE *stream = fact_open("/proc/cpuinfo");
        if (!stream)
                return NULL;
        char *line = NULL, *value = NULL;
        size_t size = 0, length = strlen(key);
        while (!value && getline(&line, &size, stream) > 1) {
                if (strncmp(line, key, length) != 0)
                        continue;
                const char *rest = line + length + strspn(line + length, "\t ");
                if (*rest == ':') {
                        rest += 1 + strspn(rest + 1, " ");
                        value = strndup(rest, strcspn(rest, "\n"));
                }
        }
        free(line);
        fclose(stream);
        return value;
}

/* 64-bit Arm has numbers for a name. */
static json_t *describe_cpu_model(void)
{
        char *name = read_cpuinfo("model name");
        char *arm = read_cpuinfo("CPU implementer"), *part = read_cpuinfo("CPU part");
        json_t *model = name          ? describe_text(name)
                        : arm && part ? json_sprintf("implementer %s, part %s", arm, part)
                                      : json_null();
        free(name);
        free(arm);
        free(part);
        return model;
}

int machine_hypervisor(void)
{
        char *flags = read_cpuinfo("flags");
        int value = !flags ? -1 : strstr(flags, "hypervisor") ? 1 : 0;
        free(flags);
        return value;
}

/* Caches of a level that come one after another and are alike make one entry: a machine with two
 * kinds of cores has two entries of a level. */
static json_t *describe_caches(hwloc_topology_t topology)
{
        json_t *caches = json_array();
        int failed = 0;
        for (int depth = 0; depth < hwloc_topology_get_depth(topology); depth++) {
                if (!hwloc_obj_type_is_dcache(hwloc_get_depth_type(topology, depth)))
                        continue;
                hwloc_obj_t next = hwloc_get_obj_by_depth(topology, depth, 0);
                while (next) {
                        struct hwloc_cache_attr_s cache = next->attr->cache;
                        int count = 0;
                        for (; next && next->attr->cache.size == cache.size; count++)
                                next = next->next_cousin;
                        json_t *entry = json_pack("{s:i, s:i, s:o}", "level", (int)cache.depth,
                                "count", count, "bytes", describe_count((long long)cache.size));
                        failed |= json_array_append_new(caches, entry);
                }
        }
        return finish(caches, failed);
}

static json_t *describe_objects(hwloc_topology_t topology, hwloc_obj_type_t type)
{
        return describe_count(hwloc_get_nbobjs_by_type(topology, type));
}

static json_t *describe_objects_of(hwloc_topology_t topology)
{
        return json_pack("{s:o, s:o, s:o, s:o, s:o}", "packages",
                describe_objects(topology, HWLOC_OBJ_PACKAGE), "cores",
                describe_objects(topology, HWLOC_OBJ_CORE), "pus",
                describe_objects(topology, HWLOC_OBJ_PU), "numa_nodes",
                describe_objects(topology, HWLOC_OBJ_NUMANODE), "caches",
                describe_caches(topology));
}

/* hwloc knows of no kind where the system tells it nothing; of unranked ones the efficiency is -1.
 */
static json_t *describe_kinds_of(hwloc_topology_t topology)
{
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        int count = cpus ? hwloc_cpukinds_get_nr(topology, 0) : 0, failed = 0;
        json_t *kinds = count > 0 ? json_array() : json_null();
        for (int i = 0; i < count; i++) {
                int efficiency = -1;
                hwloc_cpukinds_get_info(topology, (unsigned)i, cpus, &efficiency, NULL, NULL, 0);
                json_t *kind = json_pack("{s:i, s:o}", "cpus", hwloc_bitmap_weight(cpus),
                        "efficiency", efficiency < 0 ? json_null() : json_integer(efficiency));
                failed |= json_array_append_new(kinds, kind);
        }
        hwloc_bitmap_free(cpus);
        return finish(kinds, failed);
}

/* Of the whole machine, with what this process's cpuset keeps from it. */
static json_t *describe_topology(json_t *(*describe)(hwloc_topology_t))
{
        hwloc_topology_t topology;
        if (hwloc_topology_init(&topology))
                return NULL;
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
        json_t *value = hwloc_topology_load(topology) ? json_null() : describe(topology);
        hwloc_topology_destroy(topology);
        return value;
}

json_t *machine_core_classes(void)
{
        return describe_topology(describe_kinds_of);
}

static json_t *describe_libraries(void)
{
        json_t *libraries =
                json_pack("{s:n s:n s:n s:n s:n}", "liburcu", "ck", "gsl", "hwloc", "jansson");
        char versions[] = FANIN_LIB_VERSIONS, *rest = versions;
        int failed = 0;
        for (char *version; (version = strsep(&rest, " "));) {
                const char *name = strsep(&version, "=");
                if (version)
                        failed |= json_object_set_new(libraries, name, describe_text(version));
        }
        return finish(libraries, failed);
}

static json_t *describe_date(void)
{
        char text[32];
        time_t now = time(NULL);
        struct tm utc;
        if (!gmtime_r(&now, &utc) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
                return json_null();
        return json_string(text);
}

static json_t *describe_command(int argc, char **argv)
{
        json_t *command = json_array();
        int failed = 0;
        for (int i = 0; i < argc; i++)
                failed |= json_array_append_new(command, describe_text(argv[i]));
        return finish(command, failed);
}

json_t *machine_describe(int argc, char **argv)
{
        struct utsname system;
        if (uname(&system))
                return NULL;
        char libc[64] = "";
        confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc));
        long long page_bytes = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
        double quota = cgroup_quota(NULL, 0), read_ns = cost_clock_read_ns().median;
        int hypervisor = machine_hypervisor();
        struct cpus mask = {0};
        cpus_affinity(&mask);
        const struct {
                const char *key;
                json_t *value;
        } facts[] = {
                {"architecture", describe_text(system.machine)},
                {"clock_read_ns", isnan(read_ns) ? json_null() : json_real(read_ns)},
                {"clock_source", describe_file(CLOCK_SOURCE)},
                {"command_line", describe_command(argc, argv)},
                {"commit", describe_text(FANIN_COMMIT)},
                {"compiler", describe_text(COMPILER)},
                {"compiler_flags", describe_text(FANIN_CFLAGS)},
                {"core_classes", machine_core_classes()},
                {"cpu_model", describe_cpu_model()},
                {"cpus_affinity", describe_count(mask.count)},
                {"cpus_effective", json_integer(cpus_effective())},
                {"cpus_quota", isinf(quota) ? json_null() : json_real(quota)},
                {"date_utc", describe_date()},
                {"dirty", FANIN_DIRTY < 0 ? json_null() : json_boolean(FANIN_DIRTY)},
                {"governor", describe_file(GOVERNOR)},
                {"hostname", describe_text(system.nodename)},
                {"hypervisor", hypervisor < 0 ? json_null() : json_boolean(hypervisor)},
                {"kernel", json_sprintf("%s %s", system.release, system.version)},
                {"libc", describe_text(*libc ? libc : NULL)},
                {"libraries", describe_libraries()},
                {"memory_bytes", describe_count(pages * page_bytes)},
                {"page_bytes", describe_count(page_bytes)},
                {"smt", describe_file(SMT)},
                {"topology", describe_topology(describe_objects_of)},
        };
        cpus_free(&mask);
        json_t *machine = json_object();
        int failed = 0;
        for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
                failed |= json_object_set_new(machine, facts[i].key, facts[i].value);
        return finish(machine, failed);
}

/* jansson puts '.' for the locale's decimal point only if that is one byte, and it may be more. */
static int dump(const json_t *value, FILE *stream)
{
        locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!c)
                return -1;
        locale_t users = uselocale(c);
        int failed = json_dumpf(value, stream, JSON_SORT_KEYS | JSON_INDENT(2));
        uselocale(users);
        freelocale(c);
        return failed;
}

int machine_write(const char *path, const json_t *value)
{
        char *beside;
        if (asprintf(&beside, "%s.tmp", path) < 0)
                return -ENOMEM;
        FILE *stream = fopen(beside, "we");
        int error = stream ? 0 : errno;
        if (stream) {
                errno = 0;
                if (dump(value, stream) || fputc('\n', stream) == EOF)
                        error = errno ? errno : EINVAL;
                if (fclose(stream) && !error)
                        error = errno;
                if (!error && rename(beside, path))
                        error = errno;
                if (error)
                        unlink(beside);
        }
        free(beside);
        return -error;
}
