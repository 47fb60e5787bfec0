/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * A run directory: command, machine.json, samples.csv (one line a sample, written when it ends),
 * backlog.csv and producers.csv (that sample's details, written just before), summary.csv (at the
 * end), log. Never overwritten; what was finished stays readable whatever happens, and a run that
 * was interrupted goes on from there.
 */
#ifndef FANIN_RUNDIR_H
#define FANIN_RUNDIR_H

#include <jansson.h>

#include "rows.h"
#include "summary.h"

struct rundir {
        char *path; /* ends without a slash; NULL: nothing is written */
        FILE *samples, *backlog, *producers, *log;
        long whole_bytes; /* of samples.csv */
};

/* Makes the directory, with command, machine.json and log. Dies when it exists or can't be written.
 */
void rundir_open(struct rundir *, const char *path, const json_t *machine, int argc, char **argv);

/* Begins samples.csv, backlog.csv and producers.csv. Dies when they can't be written. */
void rundir_open_samples(struct rundir *);

/* The command line that a run directory was begun with: NULL-terminated, the caller's. Dies when it
 * is no run directory. */
char **rundir_command(const char *path, int *argc);

/* Goes on with a directory; done gets the samples that it has, for rows_free. Lines that the end of
 * a process or machine has left unfinished are cut off. Dies when it is not a run's directory, was
 * begun on another machine or by another build than machine describes, or is being written. */
void rundir_reopen(struct rundir *, const char *path, const json_t *machine, struct rows *done);

/* For rundir_reopen: a file's path, for free; and the lock that makes this process its one writer
 * (two that resume the same run would both add what is missing). */
char *rundir_path(const struct rundir *, const char *file);
void rundir_lock(const struct rundir *);

/* Appends the row and its details. False: the disk is full, say; the row is taken back, the reason
 * printed. */
bool rundir_add(struct rundir *, const struct row *);

__attribute__((format(printf, 2, 3))) void rundir_log(struct rundir *, const char *format, ...);

/* A further file of the run, for fclose; NULL without a run directory, or when it can't be written:
 * the reason is printed. Before rundir_close. */
FILE *rundir_file(const struct rundir *, const char *name);

/* Writes summary.csv, if there is a summary. False: something could not be written; the reason is
 * printed. */
bool rundir_close(struct rundir *, const struct summary *);

/* The directory's own name, for the rows; "-" without one. */
const char *rundir_name(const struct rundir *);

#endif
