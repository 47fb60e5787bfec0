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
        const char *instead; /* a row's: "no", or what ran in the queue's place */
        unsigned producers, samples_ok, samples_bad;
        struct median submit_per_s, vs_1_producer, complete_per_s, cpu_ns_per_submit;
        uint64_t refused; /* in all of them: the queue was full */
        /* medians */
        double wakes_per_submit, overlap, running;
};

struct summary {
        struct cell *cells; /* by configuration, then as the producer counts were given */
        unsigned cell_count;
        unsigned cpus_effective;
        bool quick;
};

/* Rows need not be in order; they must outlive the summary. */
void summary_make(
        struct summary *, const struct settings *, const struct row *rows, unsigned count);
void summary_free(struct summary *);

/* The cell, or NULL. */
const struct cell *summary_find(const struct summary *, const char *config, unsigned producers);

/* Each false on a write error (errno). */
bool summary_print_csv(FILE *, const struct summary *);
bool summary_print_json(FILE *, const struct summary *);
/* The table, then one sentence a configuration. */
bool summary_print_table(FILE *, const struct summary *);

#endif
