/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample is one row. ROW_FIELDS is the only list of its columns: samples.csv's header and
 * lines, what a sample's process prints and what its parent reads all follow from it.
 *
 *      submit_ns    sum over rounds of (last producer's end - first producer's start)
 *      complete_ns  sum over rounds of (last callback - first producer's start)
 *      submits      accepted in those rounds; submit_per_s = submits / submit_ns
 *      overlap      sum of (a producer's end - its start) / (producers * submit_ns): the share of
 *                   the phase for which a producer was between its first and its last submit,
 *                   running or not; 1/producers when they ran strictly in turn.
 *                   producer_cpu_ns / submit_ns is how many of them ran at once
 *      instead      "no", or what ran in place of the configured queue, which can't run here
 *      twin         "no"; of an A/A run "a" or "b": one configuration measured as if it were two
 *      cores        the class of cores that it could run on: "same" (there is one), "fast", "slow",
 *                   "all"
 *      slept_ns     the FFI thread's sleeps, those between rounds too; wakes_spurious: wakes that
 *                   ended one with nothing to do; NA, as all that the engine counts, if it was
 *                   built not to count
 *      memory_*     resident bytes: the peak in the measured rounds, and once the last one is
 *                   drained
 *      *_switches, migrations, *_faults, cycles, instructions, cache_misses, hitm
 *                   all threads of the sample, the measuring one too, from the first measured round
 *                   until the last is drained; the counters in user mode alone where the kernel
 *                   allows no more (note); hitm: loads that met a line another core had modified,
 *                   NA unless the kernel's own list of events names them
 *      throttled_ns time that the cgroup's CPU quota took
 *      oldest_request_ns
 *                   the longest that a request waited for its callback, from its first try, of
 *                   every PRODUCERS_CLOCK_EVERY-th of each producer; best_shard_…: the longest of
 *                   the shard where that is shortest, NA where it isn't known which requests share
 *                   a list
 *      slowest_over_fastest
 *                   the least of the producers' own rates over the greatest
 */
#ifndef FANIN_ROW_H
#define FANIN_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum row_status {
        STATUS_OK,
        STATUS_HANG,
        STATUS_CRASH,
        STATUS_REFUSED,
        STATUS_OOM,       /* an allocation failed, or the kernel's OOM killer ended it */
        STATUS_THROTTLED, /* the cgroup's CPU quota took more than 1 % of the measured time */
        STATUS_SKIPPED,   /* not run: reason */
        STATUS_LOST,      /* from here on a correctness rule is broken */
        STATUS_DOUBLED,
        STATUS_DISORDERED,
        STATUS_LOST_WAKE,
        STATUSES,
};

extern const char *const row_status_names[STATUSES];

/*
 * P: the parent's, known before the sample runs; C: what its process measured. T(name, bytes) is
 * text, U(name) a whole number, D(name) a decimal. What could not be had is NA: ROW_NA, NAN, "NA";
 * never 0. late_wakes, lost_wakes and largest_drain count the warm-up too. New columns go last, and
 * older files are read as if they had them, all NA (rows.c).
 */
#define ROW_NA UINT64_MAX
/* clang-format off */
#define ROW_FIELDS(PT, PU, CT, CU, CD)                                                             \
        PT(run, 128) PT(kind, 12) PT(config, 256) PT(queue, 64) PT(wake, 16) PT(signal, 16)        \
        PT(alloc, 16) PT(shards, 12) PU(producers) PU(sample) CT(status, 16) CU(per_producer)      \
        CU(rounds) CU(submits) CU(refused) CU(submit_ns) CD(submit_per_s) CU(complete_ns)          \
        CD(complete_per_s) CU(producer_cpu_ns) CD(overlap) CU(wakes) CU(wakes_elided)              \
        CU(late_wakes) CU(lost_wakes) CU(stalls) CU(stalled_ns) CU(drains) CU(largest_drain)       \
        CU(backlog_peak) CD(fairness_jain) PU(seed) CT(pinned, 8) CT(instead, 64) PU(think_ns) PU(handler_ns)      \
        PU(poll_ms) PT(on_full, 8) PT(check, 8) PT(quick, 4) PU(cpus_effective) PT(machine, 96)    \
        PT(commit, 48) PT(compiler, 48) PT(twin, 4) PT(cores, 8) CU(wakes_spurious) CU(slept_ns)       \
        CU(memory_peak_bytes) CU(memory_drained_bytes) CU(voluntary_switches)                      \
        CU(involuntary_switches) CU(migrations) CU(minor_faults) CU(major_faults) CU(cycles)       \
        CU(instructions) CU(cache_misses) CU(hitm) CU(throttled_ns) CU(oldest_request_ns)          \
        CU(best_shard_oldest_request_ns) CD(slowest_over_fastest)
/* clang-format on */

#define ROW_TEXT(name, bytes) char name[bytes];
#define ROW_WHOLE(name) uint64_t name;
#define ROW_DECIMAL(name) double name;

/* What does not fit into a row: the run directory's backlog.csv and producers.csv. */
struct row_depth {
        uint64_t ms, depth; /* since the first measured round began; requests */
};
struct row_producer {
        uint64_t number, shard, submits, active_ns, oldest_request_ns; /* may be ROW_NA */
};
enum { ROW_DEPTHS = 64 };

struct row {
        ROW_FIELDS(ROW_TEXT, ROW_WHOLE, ROW_TEXT, ROW_WHOLE, ROW_DECIMAL)
        bool measured;    /* false: it has no numbers, they are NA, never 0 */
        double busy_s;    /* of a hang: the CPU time that the sample's process had used */
        bool spun_out;    /* a hang that fails no run: see sweep.c */
        char reason[256]; /* why the status is not ok: for the log */
        char note[128];   /* why some numbers are NA though the status is ok; told once a sweep */
        unsigned depth_count, producer_count;
        struct row_depth depths[ROW_DEPTHS];
        struct row_producer *by_producer; /* its receiver's, see row_drop_details */
};

/* samples.csv; false: errno says why. Decimals have a point whatever the locale. */
bool row_print_header(FILE *);
bool row_print(FILE *, const struct row *);

/* The pipe from a sample's process: key=value lines of the C fields and the details. row_receive
 * sets one line's field; false: not such a field, or not its type. Bad input never overruns. */
bool row_send(FILE *, const struct row *);
bool row_receive(struct row *, const char *line);
void row_drop_details(struct row *);

/* backlog.csv and producers.csv: one line a depth, and a producer. */
bool row_print_depths_header(FILE *);
bool row_print_depths(FILE *, const struct row *);
bool row_print_producers_header(FILE *);
bool row_print_producers(FILE *, const struct row *);

/* Sets the field that the CSV column names from its text. Not a column of ours: true, ignored.
 * False: *wanted says what is allowed there. */
bool row_set_field(struct row *, const char *column, const char *text, const char **wanted);
/* Every column NA; with it a row from an older file has no number that was not there. */
void row_clear(struct row *);

enum row_status row_status_of(const struct row *);
void row_set_status(struct row *, enum row_status);

/* Copies text, with what CSV would quote (comma, quote, control characters) as spaces. */
void row_set_text(char *field, size_t bytes, const char *text);

#endif
