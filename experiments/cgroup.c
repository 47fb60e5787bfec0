/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One walk, from this process's cgroup up to the mount, for one controller; and what each directory
 * on the way is asked for.
 */
#include "cgroup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fact.h"

const char *cgroup_root = "";

/* A directory on the way up, and what is being found out; true: no need to go further up. */
typedef bool visitor(const char *directory, bool is_v2, void *found);

/* A cgroup outside this cgroup namespace shows as "/../x": only what is mounted is ours to read. */
static bool is_inside(const char *cgroup)
{
        size_t length = strlen(cgroup);
        return cgroup[0] == '/' && !strstr(cgroup, "/../") &&
               (length < 3 || strcmp(cgroup + length - 3, "/..") != 0);
}

static void climb(const char *mount, const char *cgroup, bool is_v2, visitor *visit, void *found)
{
        char *directory;
        if (asprintf(&directory, "%s%s", mount, is_inside(cgroup) ? cgroup : "") < 0)
                return;
        char *top = directory + strlen(mount);
        bool enough = visit(directory, is_v2, found);
        for (char *slash; !enough && (slash = strrchr(top, '/'));) {
                *slash = '\0';
                enough = visit(directory, is_v2, found);
        }
        free(directory);
}

/* Where a hierarchy is mounted: v2 beside v1 in unified; v1 under the name of one of its
 * controllers or of all. The first that is there: one may be a link to the other. */
static void climb_from_mount(
        const char *cgroup, const char *all, const char *controller, visitor *visit, void *found)
{
        bool is_v2 = !*all;
        const char *const names[] = {is_v2 ? "unified" : all, is_v2 ? "" : controller};
        for (unsigned i = 0; i < 2; i++) {
                char *mount;
                if (asprintf(&mount, "%s/sys/fs/cgroup%s%s", cgroup_root, *names[i] ? "/" : "",
                            names[i]) < 0)
                        return;
                bool is_there = !access(mount, F_OK);
                if (is_there)
                        climb(mount, cgroup, is_v2, visit, found);
                free(mount);
                if (is_there)
                        return;
        }
}

static bool has_word(const char *list, const char *word)
{
        size_t length = strlen(word);
        for (const char *at = list; (at = strstr(at, word)); at += length)
                if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
                        return true;
        return false;
}

/* A line of /proc/self/cgroup is "hierarchy:controllers:path"; under v2 it names no controllers. */
static void walk(const char *controller, visitor *visit, void *found)
{
        FILE *stream = fact_open("/proc/self/cgroup");
        if (!stream)
                return;
        char *line = NULL;
        size_t size = 0;
        while (getline(&line, &size, stream) > 0) {
                char *rest = line;
                line[strcspn(line, "\n")] = '\0';
                strsep(&rest, ":");
                const char *all = strsep(&rest, ":");
                if (rest && (!*all || has_word(all, controller)))
                        climb_from_mount(rest, all, controller, visit, found);
        }
        free(line);
        fclose(stream);
}

/* Reads a whole file of at most bytes - 1, without the newline at its end. */
static bool read_text(const char *directory, const char *file, char *text, size_t bytes)
{
        FILE *stream = fact_open_in(directory, file);
        if (!stream)
                return false;
        size_t length = fread(text, 1, bytes, stream);
        bool whole = length < bytes && !ferror(stream);
        fclose(stream);
        if (!whole)
                return false;
        text[length] = '\0';
        if (length && text[length - 1] == '\n')
                text[length - 1] = '\0';
        return true;
}

/* True if text is count integers and nothing else. */
static bool parse_numbers(const char *text, long long *numbers, unsigned count)
{
        for (unsigned i = 0; i < count; i++) {
                char *end;
                errno = 0;
                numbers[i] = strtoll(text, &end, 10);
                if (end == text || errno)
                        return false;
                text = end;
        }
        return !text[strspn(text, " ")];
}

static bool read_numbers(
        const char *directory, const char *file, long long *numbers, unsigned count)
{
        char text[64];
        return read_text(directory, file, text, sizeof text) && parse_numbers(text, numbers, count);
}

/* The number in the line "key number"; none is negative. */
static bool read_keyed(const char *directory, const char *file, const char *key, uint64_t *number)
{
        FILE *stream = fact_open_in(directory, file);
        if (!stream)
                return false;
        char *line = NULL;
        size_t size = 0;
        bool found = false;
        while (!found && getline(&line, &size, stream) > 0) {
                char *rest = line;
                long long value;
                line[strcspn(line, "\n")] = '\0';
                if (strcmp(strsep(&rest, " "), key) != 0 || !rest)
                        continue;
                found = parse_numbers(rest, &value, 1) && value >= 0;
                *number = found ? (uint64_t)value : *number;
        }
        free(line);
        fclose(stream);
        return found;
}

/* Where a limit is set: for a command that a user may give, so without a test's directory. */
struct place {
        char *file;
        size_t bytes;
};

static void note_place(const struct place *place, const char *directory, const char *file)
{
        if (place->file)
                snprintf(place->file, place->bytes, "%s/%s", directory + strlen(cgroup_root), file);
}

struct quota {
        double cpus;
        struct place place;
};

/* "max 100000", no quota, is not two integers either. */
static bool visit_quota(const char *directory, bool is_v2, void *found)
{
        struct quota *quota = found;
        long long us[2];
        bool read = is_v2 ? read_numbers(directory, "cpu.max", us, 2)
                          : read_numbers(directory, "cpu.cfs_quota_us", &us[0], 1) &&
                                    read_numbers(directory, "cpu.cfs_period_us", &us[1], 1);
        if (!read || us[0] <= 0 || us[1] <= 0 || (double)us[0] / (double)us[1] >= quota->cpus)
                return false;
        quota->cpus = (double)us[0] / (double)us[1];
        note_place(&quota->place, directory, is_v2 ? "cpu.max" : "cpu.cfs_quota_us");
        return false;
}

double cgroup_quota(char *file, size_t bytes)
{
        struct quota quota = {INFINITY, {file, bytes}};
        walk("cpu", visit_quota, &quota);
        return quota.cpus;
}

struct cpuset {
        struct cpus cpus;
        bool found;
        struct place place;
};

static bool read_cpuset(const char *directory, const char *file, struct cpus *out)
{
        char text[CPUS_LIST_BYTES];
        return read_text(directory, file, text, sizeof text) && !cpus_parse(text, out);
}

static bool visit_cpuset(const char *directory, bool is_v2, void *found)
{
        struct cpuset *cpuset = found;
        struct cpus granted;
        if (is_v2 ? !read_cpuset(directory, "cpuset.cpus.effective", &granted)
                  : !read_cpuset(directory, "cpuset.effective_cpus", &granted) &&
                                !read_cpuset(directory, "cpuset.cpus", &granted))
                return false;
        if (cpuset->found) {
                unsigned before = cpuset->cpus.count;
                cpus_keep(&cpuset->cpus, &granted);
                cpus_free(&granted);
                if (cpuset->cpus.count == before)
                        return false;
        } else {
                cpuset->cpus = granted;
        }
        cpuset->found = true;
        note_place(&cpuset->place, directory, "cpuset.cpus");
        return false;
}

bool cgroup_cpuset(struct cpus *out, char *file, size_t bytes)
{
        struct cpuset cpuset = {.place = {file, bytes}};
        walk("cpuset", visit_cpuset, &cpuset);
        *out = cpuset.cpus;
        return cpuset.found;
}

static bool visit_throttled(const char *directory, bool is_v2, void *found)
{
        uint64_t *sum_ns = found, time, unit_ns = is_v2 ? 1000 : 1;
        if (read_keyed(directory, "cpu.stat", is_v2 ? "throttled_usec" : "throttled_time", &time) &&
                time < UINT64_MAX / unit_ns)
                *sum_ns = (*sum_ns == UINT64_MAX ? 0 : *sum_ns) + time * unit_ns;
        return false;
}

uint64_t cgroup_throttled_ns(void)
{
        uint64_t sum_ns = UINT64_MAX;
        walk("cpu", visit_throttled, &sum_ns);
        return sum_ns;
}

/* The nearest that counts: under v2 an ancestor counts its other children's too. */
static bool visit_oom_kills(const char *directory, bool is_v2, void *found)
{
        return read_keyed(
                directory, is_v2 ? "memory.events" : "memory.oom_control", "oom_kill", found);
}

uint64_t cgroup_oom_kills(void)
{
        uint64_t kills = UINT64_MAX;
        walk("memory", visit_oom_kills, &kills);
        return kills;
}

/* v1 has no word for no limit: it is the largest number of whole pages, whatever a page is. */
static bool visit_memory_limit(const char *directory, bool is_v2, void *found)
{
        uint64_t *least = found;
        long long limit;
        if (read_numbers(directory, is_v2 ? "memory.max" : "memory.limit_in_bytes", &limit, 1) &&
                limit >= 0 && limit < 1LL << 62 && (uint64_t)limit < *least)
                *least = (uint64_t)limit;
        return false;
}

uint64_t cgroup_memory_limit(void)
{
        uint64_t limit = UINT64_MAX;
        walk("memory", visit_memory_limit, &limit);
        return limit;
}
