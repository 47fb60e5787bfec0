/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* From rows to cells: one cell is a configuration at a producer count. */
#ifndef FANIN_SUMMARY_H
#define FANIN_SUMMARY_H

#include "row.h"
#include "settings.h"
#include "statistics.h"

/* Of the samples with status ok; the others are counted apart, never averaged in. */
struct cell {
        const char *config;  /* a row's */
        const char *twin;    /* a row's: "no", or "a" or "b" of an A/A run */
        const char *instead; /* a row's: "no", or what ran in the queue's place */
        unsigned producers, samples_ok, samples_bad;
        struct median submit_per_s, vs_1_producer, complete_per_s, cpu_ns_per_submit;
        uint64_t refused; /* in all of them: the queue was full */
        /* medians */
        double wakes_per_submit, overlap, running;
};

struct summary {
        struct cell *cells; /* by configuration and twin, then as the producer counts were given */
        unsigned cell_count;
        const struct row *rows;
        unsigned row_count, seed;
        unsigned cpus_effective;
        bool quick;
};

/* Rows need not be in order; they must outlive the summary. */
void summary_make(
        struct summary *, const struct settings *, const struct row *rows, unsigned count);
void summary_free(struct summary *);

/* The cell (of an A/A run the first twin), or NULL. */
const struct cell *summary_find(const struct summary *, const char *config, unsigned producers);
const struct cell *summary_find_twin(
        const struct summary *, const char *config, unsigned producers, const char *twin);

/* What a row gives, for summary_paired. */
double summary_submit_rate(const struct row *);
double summary_cpu_ns(const struct row *); /* producer CPU time per submit */

/* The values of two cells' samples of the same round, both ok, in arrays of as many as a row count.
 */
unsigned summary_paired(const struct summary *, const struct cell *a, const struct cell *b,
        double (*value)(const struct row *), double *values_a, double *values_b);

/* a's submit rate over b's: by bootstrap over the rounds where there are enough (statistics.h),
 * else from the two intervals. */
struct median summary_ratio(const struct summary *, const struct cell *a, const struct cell *b);

/* Each false on a write error (errno). */
bool summary_print_csv(FILE *, const struct summary *);
bool summary_print_json(FILE *, const struct summary *);
/* The table, then one sentence a configuration. */
bool summary_print_table(FILE *, const struct summary *);

#endif
