/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs every cell's samples, interleaved in a seeded random order. */
#ifndef FANIN_SWEEP_H
#define FANIN_SWEEP_H

#include "rundir.h"
#include "settings.h"

struct sweep_cell {
        const struct spec *spec;
        unsigned producers;
};

struct sweep {
        struct row *rows; /* settings->samples of each cell; fewer when interrupted */
        unsigned count;
        bool interrupted, write_failed;
};

/* Shows progress with an estimate on stderr when that is a terminal. Bad samples are told on stderr
 * and in the log. settings gets cpus when it asks for pinning. argc and argv: for the run
 * directory. */
void sweep_run(struct sweep *, struct settings *, const struct sweep_cell *cells,
        unsigned cell_count, int argc, char **argv, struct rundir *);
void sweep_free(struct sweep *);

/* EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_USAGE (could not write), EXIT_FAILED or EXIT_DONE, the first
 * that is true. A hang of producers that spin without yielding (QUEUE_SPINS) on fewer CPUs is a row
 * that says so, not a failure. */
enum exit_code sweep_exit(const struct sweep *);

#endif
