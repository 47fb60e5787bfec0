/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Executes a sample as a process of its own, under a deadline. */
#ifndef FANIN_SPAWN_H
#define FANIN_SPAWN_H

#include <signal.h>

#include "row.h"
#include "settings.h"

/* Set by SIGINT or SIGTERM once spawn_catch_signals was called: the sweep ends after killing the
 * sample under way. */
extern volatile sig_atomic_t spawn_interrupted;

void spawn_catch_signals(void);

/* The arguments of one sample; zeroed before the first spawn_add. */
struct spawn_arguments {
        char *list[64];
        unsigned count;
};

/* Adds one; dies when there are too many. */
__attribute__((format(printf, 2, 3))) void spawn_add(
        struct spawn_arguments *, const char *format, ...);

/* Adds the program's name, the command, and what the user gave for samples (settings->forward). */
void spawn_begin(struct spawn_arguments *, const struct settings *, const char *command);

/* Adds where to pin, if settings has CPUs: the FFI thread's, then the producers'. */
void spawn_add_cpus(struct spawn_arguments *, const struct settings *, unsigned producers);

/* What became of it. */
struct spawn_end {
        enum row_status status; /* OK: it exited with 0 */
        char reason[256];       /* why it is not */
        char *text;             /* its stdout; the caller's to free */
        double busy_s;          /* the CPU time that it used */
};

/* Executes program (NULL: this one), frees the arguments. Whatever the process does (hang, crash,
 * run out of memory, be killed) becomes a status. False: interrupted, and end has no text. */
bool spawn_execute(
        struct spawn_arguments *, const char *program, double deadline_s, struct spawn_end *end);

/* One sample of `fanin sample`: fills in row's status, numbers, reason and details; rubbish on its
 * stdout is a crash. per_producer 0: auto. False: interrupted, no row. */
bool spawn_sample(const struct settings *, const struct spec *, unsigned producers,
        unsigned per_producer, const char *program, struct row *row);

#endif
