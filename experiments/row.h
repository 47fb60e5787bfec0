/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample is one row. ROW_FIELDS is the only list of its columns: samples.csv's header and
 * lines, what a sample's process prints and what its parent reads all follow from it.
 *
 *      submit_ns    sum over rounds of (last producer's end - first producer's start)
 *      complete_ns  sum over rounds of (last callback - first producer's start)
 *      submits      accepted in those rounds; submit_per_s = submits / submit_ns
 *      overlap      sum of (a producer's end - its start) / (producers * submit_ns): 1 when all ran
 *                   all the time, 1/producers when they ran in turn
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
        STATUS_LOST,
        STATUS_DOUBLED,
        STATUS_DISORDERED,
        STATUS_LOST_WAKE,
        STATUSES,
};

extern const char *const row_status_names[STATUSES];

/* T(text, bytes), U(whole number), D(decimal); `run` fields are set by the parent, the others by
 * the sample's process. */
#define ROW_FIELDS(T, U, D)                                                                        \
        T(run, 128)                                                                                \
        T(kind, 12)                                                                                \
        T(config, 256)                                                                             \
        T(queue, 64) T(wake, 16) T(signal, 16) T(alloc, 16) T(shards, 12) U(producers) U(          \
                sample) T(status, 16) U(per_producer) U(rounds) U(submits) U(refused) U(submit_ns) \
                D(submit_per_s) U(complete_ns) D(complete_per_s) U(producer_cpu_ns) D(overlap) U(  \
                        wakes) U(wakes_elided) U(late_wakes) U(lost_wakes) U(stalls) U(stalled_ns) \
                        U(drains) U(largest_drain) U(backlog_peak) D(fairness_jain) U(seed)        \
                                T(pinned, 8) U(think_ns) U(handler_ns) U(poll_ms) T(on_full, 8)    \
                                        T(check, 8) T(quick, 4) U(cpus_effective) T(machine, 96)   \
                                                T(commit, 48) T(compiler, 48)

#define ROW_TEXT(name, bytes) char name[bytes];
#define ROW_WHOLE(name) uint64_t name;
#define ROW_DECIMAL(name) double name;

struct row {
        ROW_FIELDS(ROW_TEXT, ROW_WHOLE, ROW_DECIMAL)
        bool measured;    /* false: it has no numbers, they are NA, never 0 */
        char reason[256]; /* why the status is not ok: for the log */
};

/* samples.csv; false: errno says why. Decimals have a point whatever the locale. */
bool row_print_header(FILE *);
bool row_print(FILE *, const struct row *);

/* The pipe from a sample's process: key=value lines. parse sets one line's field; false: not a
 * field or not its type. Bad input never overruns. */
bool row_send(FILE *, const struct row *);
bool row_receive(struct row *, const char *line);

enum row_status row_status_of(const struct row *);
void row_set_status(struct row *, enum row_status);

/* Copies text, with what CSV would quote (comma, quote, control characters) as spaces. */
void row_set_text(char *field, size_t bytes, const char *text);

#endif
