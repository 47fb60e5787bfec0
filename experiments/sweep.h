/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Runs every cell's samples, interleaved in a seeded random order. */
#ifndef FANIN_SWEEP_H
#define FANIN_SWEEP_H

#include "rundir.h"
#include "settings.h"

enum { SWEEP_HANGS_MAX = 2 }; /* a cell that has hung so often gets no more samples */

struct sweep_cell {
        const struct spec *spec;
        unsigned producers;
        const char *twin;    /* NULL, or of an A/A run "a" or "b" */
        const char *program; /* what its samples execute; NULL: this program */
};

struct sweep {
        struct row *rows; /* by cell: settings->samples of each and, with --until, more; fewer when
                             interrupted */
        unsigned count, room;
        bool interrupted, write_failed, budget_spent;
};

/*
 * Progress with an estimate on stderr; bad samples there and in the log. A cell of which two
 * samples have hung gets no more: the others are rows `skipped`. With --until, cells whose interval
 * is too wide get more samples, a round of all of them at a time, until none is or the budget is
 * spent; without it, samples that the budget has no time for are skipped. settings gets cpus when
 * it asks for pinning, and settings->resume goes on with that directory. argc and argv: for the run
 * directory.
 */
void sweep_run(struct sweep *, struct settings *, const struct sweep_cell *cells,
        unsigned cell_count, int argc, char **argv, struct rundir *);

/* Confines the sweep to the class of cores that settings asks for, and fills in its cpus, the
 * pinning order within it, if it asks for pinning. The rows' column `cores`. */
const char *sweep_choose_cpus(struct settings *);

void sweep_free(struct sweep *);

/* EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_USAGE (could not write), EXIT_FAILED, EXIT_INCONCLUSIVE (the
 * budget left samples out) or EXIT_DONE, the first that is true. A hang of producers that spin
 * without yielding (QUEUE_SPINS) on fewer CPUs is a row that says so, not a failure. */
enum exit_code sweep_exit(const struct sweep *);

#endif
