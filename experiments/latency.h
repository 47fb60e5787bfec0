/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * Latency against load. Each producer has intended times, and submits at each, at once when it is
 * late. A sample is one row of latency.csv, and two histograms. LATENCY_FIELDS is the only list of
 * the columns.
 *
 *      submit_*_ns   from a submit's start to its return
 *      latency_*_ns  from the intended time to the callback
 *      late_*_ns     from the intended time to the submit's start: the producers' own delay, which
 *                    latency includes
 *      offered_per_s requests whose intended time lies in the measured part, over its duration
 *      achieved_per_s
 *                    callbacks in the measured part, over its duration
 *      kept          achieved over offered
 *      submits       of the offered requests those that were accepted, in time or not; the next
 *                    three are what became of others, and refused counts each try that found the
 *                    queue full
 *      unsubmitted   intended, but given up half a duration after the measured part; they have no
 *                    end, so their time until then is in the percentiles, a lower bound, as is that
 *                    of those cancelled then
 *      dropped       --on-full drop: refused, and in no percentile
 *      overhead_ns   what timing adds to a submit: two clock reads and two stores
 *
 * In a closed loop a producer waits for each callback before its next submit: the intended time is
 * the submit's start, there is no rate, and offered and kept are NA.
 */
#ifndef FANIN_LATENCY_H
#define FANIN_LATENCY_H

#include "histogram.h"
#include "row.h"
#include "rundir.h"
#include "settings.h"
#include "statistics.h"

/* T(name, bytes) is text, N(name) a number, NAN and "NA" what could not be had. M(name) is one that
 * the process of a sample measures, and of which a cell has the median. */
/* clang-format off */
#define LATENCY_FIELDS(T, N, M)                                                                    \
        T(kind, 12) T(config, SPEC_BYTES) N(producers) T(loop, 8) T(arrivals, 8) N(rate_per_s)     \
        N(sample) T(status, 16) N(duration_s) M(offered_per_s) M(achieved_per_s) M(kept)           \
        M(submits) M(refused) M(dropped) M(unsubmitted) M(cancelled) M(submit_p50_ns)              \
        M(submit_p99_ns) M(submit_p999_ns) M(submit_max_ns) M(latency_p50_ns) M(latency_p90_ns)    \
        M(latency_p99_ns) M(latency_p999_ns) M(latency_max_ns) M(late_p50_ns) M(late_p99_ns)       \
        M(late_max_ns) M(overhead_ns) N(stall_ms) N(handler_ns) N(poll_ms) T(on_full, 8) N(seed)   \
        T(pinned, 8) T(instead, 64) T(cores, 8) N(cpus_effective) T(machine, 96) T(commit, 48)     \
        T(compiler, 48) T(quick, 4)
/* clang-format on */

#define LATENCY_TEXT(name, bytes) char name[bytes];
#define LATENCY_NUMBER(name) double name;
#define LATENCY_MEDIAN(name) struct median name;
#define LATENCY_NO_TEXT(name, bytes)
#define LATENCY_NO_NUMBER(name)

struct latency_row {
        LATENCY_FIELDS(LATENCY_TEXT, LATENCY_NUMBER, LATENCY_NUMBER)
        char reason[256]; /* why the status is not ok: for the log */
};

struct latency_times {
        struct histogram late, submit, latency;
};

/* A configuration at a producer count and a rate. */
struct latency_cell {
        unsigned curve; /* its place among the pairs of configurations and producer counts */
        const struct spec *spec;
        unsigned producers;
        double rate_per_s; /* 0: closed loop */
        struct latency_row *rows;
        unsigned row_count;
        struct latency_times *times; /* of all samples with status ok */
        /* from latency_cell_make: of those */
        unsigned samples_ok;
        LATENCY_FIELDS(LATENCY_NO_TEXT, LATENCY_NO_NUMBER, LATENCY_MEDIAN)
};

/* Every number NAN, every text "NA". */
void latency_row_clear(struct latency_row *);
enum row_status latency_row_status(const struct latency_row *);
void latency_row_fail(struct latency_row *, enum row_status, const char *reason);

/* latency.csv. The row is written whole or not at all; false: errno says why. */
bool latency_row_print_header(FILE *);
bool latency_row_print(FILE *, const struct latency_row *);

/* The pipe from a sample's process. latency_receive fills in the percentiles from the histograms,
 * which it clears first. False: not a whole result. */
bool latency_send(FILE *, const struct latency_row *, const struct latency_times *);
bool latency_receive(struct latency_row *, struct latency_times *, char *text);

/* Memory for the requests of a sample and their stamps; rate_per_s 0: closed loop. */
double latency_bytes(
        const struct settings *, const struct spec *, unsigned producers, double rate_per_s);

/* Refuses with a sentence what `latency` and `latency-sample` can't do. */
void latency_check(const struct settings *);

/* Fills in what follows from its rows. */
void latency_cell_make(struct latency_cell *);

/* Whether less than 95 % of what was offered was achieved; false of a closed loop, and without
 * samples. */
bool latency_saturated(const struct latency_cell *);

/* A table for each curve, then a sentence each. False: stdout can't be written. */
bool latency_print_tables(
        const struct settings *, const struct latency_cell *cells, unsigned count);

/* Writes summary.csv and the .hgrm files, if there is a run directory. False: the reason is
 * printed. */
bool latency_write(const struct rundir *, const struct latency_cell *cells, unsigned count);

#endif
