/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A run directory: command, machine.json, samples.csv (one line a sample, written when it ends),
 * summary.csv (at the end), log. Never overwritten; what was finished stays readable whatever
 * happens.
 */
#ifndef FANIN_RUNDIR_H
#define FANIN_RUNDIR_H

#include <jansson.h>

#include "summary.h"

struct rundir {
        char *path; /* ends without a slash; NULL: nothing is written */
        FILE *samples, *log;
        long whole_bytes; /* of samples.csv */
};

/* Makes the directory, with command and machine.json. Dies when it exists or can't be written. */
void rundir_open(struct rundir *, const char *path, const json_t *machine, int argc, char **argv);

/* Appends the row. False: the disk is full, say; the line is taken back, the reason printed. */
bool rundir_add(struct rundir *, const struct row *);

__attribute__((format(printf, 2, 3))) void rundir_log(struct rundir *, const char *format, ...);

/* A further file of the run, for fclose; NULL without a run directory, or when it can't be written:
 * the reason is printed. Before rundir_close. */
FILE *rundir_file(const struct rundir *, const char *name);

/* Writes summary.csv. False: it could not be; the reason is printed. */
bool rundir_close(struct rundir *, const struct summary *);

/* The directory's own name, for the rows; "-" without one. */
const char *rundir_name(const struct rundir *);

#endif
