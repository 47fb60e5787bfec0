/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * How far a sweep is, on stderr: one line that changes on a terminal; else plain lines, one in
 * PROGRESS_EVERY_S seconds, so that what is over sooner stays quiet.
 */
#ifndef FANIN_PROGRESS_H
#define FANIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_EVERY_S = 10 };

struct progress {
        bool terminal;
        uint64_t start_ns, told_ns;
        unsigned done, total; /* samples; total 0: as many as the budget allows */
        double budget_s;      /* 0: none */
};

void progress_begin(struct progress *, unsigned total, double budget_s);

/* Before a sample: what it is. */
void progress_show(struct progress *, const char *config, unsigned producers);

/* Before anything else is printed, and at the end. */
void progress_hide(const struct progress *);

/* Seconds since it began, and whether the budget, if there is one, is spent. */
double progress_elapsed_s(const struct progress *);
bool progress_spent(const struct progress *);

#endif
