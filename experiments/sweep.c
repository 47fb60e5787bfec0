/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The sweep: order, progress, rows. */
#include "sweep.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "machine.h"
#include "progress.h"
#include "spawn.h"

enum { SAMPLES_MAX = 10000 };

/* A sweep under way. */
struct state {
        struct sweep *sweep;
        const struct settings *settings;
        const struct sweep_cell *cells;
        unsigned cell_count;
        const json_t *machine;
        struct rundir *rundir;
        struct progress progress;
        const char *cores; /* the rows' column */
        gsl_rng *random;
        unsigned *order, *samples, *hangs;
        /* The volume that `auto` found in a cell's first sample serves the others: one workload. */
        unsigned *volumes;
};

/* What the parent knows of a sample. */
static void begin_row(struct row *row, const struct state *state, unsigned which)
{
        const struct settings *settings = state->settings;
        const struct sweep_cell *cell = &state->cells[which];
        const json_t *machine = state->machine;
        row_clear(row);
        row->producers = cell->producers;
        row->sample = state->samples[which];
        row->seed = settings->seed;
        row->think_ns = settings->think_ns;
        row->handler_ns = settings->handler_ns;
        row->poll_ms = settings->poll_ms;
        row_set_text(row->run, sizeof row->run, rundir_name(state->rundir));
        row_set_text(row->kind, sizeof row->kind, "measured");
        row_set_text(row->twin, sizeof row->twin, cell->twin ? cell->twin : "no");
        row_set_text(row->cores, sizeof row->cores, state->cores);
        spec_print(cell->spec, row->config, sizeof row->config);
        row_set_text(row->queue, sizeof row->queue, cell->spec->queue->name);
        row_set_text(row->wake, sizeof row->wake, wake_policies[cell->spec->wake].name);
        row_set_text(row->signal, sizeof row->signal, cell->spec->signal->name);
        row_set_text(row->alloc, sizeof row->alloc, spec_alloc_names[cell->spec->alloc]);
        long shards = spec_value(cell->spec, "shards");
        snprintf(row->shards, sizeof row->shards, shards < 0 ? "NA" : "%ld", shards);
        row_set_text(row->on_full, sizeof row->on_full, settings->drop_on_full ? "drop" : "retry");
        row_set_text(row->check, sizeof row->check, settings->no_check ? "off" : "on");
        row_set_text(row->quick, sizeof row->quick, settings->quick ? "yes" : "no");
        row->cpus_effective =
                (uint64_t)json_integer_value(json_object_get(machine, "cpus_effective"));
        row_set_text(row->machine, sizeof row->machine, machine_text(machine, "cpu_model"));
        row_set_text(row->commit, sizeof row->commit, machine_text(machine, "commit"));
        row_set_text(row->compiler, sizeof row->compiler, machine_text(machine, "compiler"));
}

/* It may not end, and that is what it is measured for: its producers spin for each other without
 * yielding, and there are more of them than CPUs. They were busy at it: a lost wake or a deadlock
 * sleeps. */
static bool is_spun_out(const struct settings *settings, const struct row *row)
{
        const struct queue_ops *queue = registry_find(row->queue);
        return row_status_of(row) == STATUS_HANG && queue && queue->traits & QUEUE_SPINS &&
               row->producers > row->cpus_effective && row->busy_s > settings->deadline_s / 2;
}

static void tell_bad(struct state *state, const struct row *row)
{
        const char *why = row->spun_out ? " (its producers spin without yielding, and outnumber "
                                          "the CPUs)"
                                        : "";
        progress_hide(&state->progress);
        fprintf(stderr, "fanin: %s, %u producers, sample %u: %s: %s%s\n", row->config,
                (unsigned)row->producers, (unsigned)row->sample, row->status, row->reason, why);
        rundir_log(state->rundir, "%s, %u producers, sample %u: %s: %s%s", row->config,
                (unsigned)row->producers, (unsigned)row->sample, row->status, row->reason, why);
}

/* What is told once a sweep; not loud: on a terminal and in the log alone. */
static void tell_once(struct state *state, bool *told, bool loud, const char *sentence)
{
        if (*told)
                return;
        *told = true;
        rundir_log(state->rundir, "%s", sentence);
        if (!loud && !state->progress.terminal) /* quiet when piped */
                return;
        progress_hide(&state->progress);
        fprintf(stderr, "fanin: %s\n", sentence);
}

static void report(struct state *state, const struct row *row)
{
        static bool unpinned, uncounted;
        if (!strcmp(row->pinned, "no"))
                tell_once(state, &unpinned, true,
                        "--pin: a thread could not be pinned; such rows say pinned=no");
        if (*row->note)
                tell_once(state, &uncounted, false, row->note);
        if (row_status_of(row) != STATUS_OK && row_status_of(row) != STATUS_SKIPPED)
                tell_bad(state, row);
}

const char *sweep_choose_cpus(struct settings *settings)
{
        const char *cores;
        struct cpus cpus;
        int error = cpus_of_class((enum cpus_class)settings->cores, &cpus, &cores);
        if (!error && (!strcmp(cores, "fast") || !strcmp(cores, "slow")))
                error = cpus_confine(&cpus); /* the samples inherit it */
        if (error)
                die("--cores: the CPUs could not be found out: %s", strerror(-error));
        cpus_free(&cpus);
        if (settings->pin == PIN_NONE)
                return cores;
        error = cpus_order(settings->pin == PIN_COMPACT ? CPUS_COMPACT : CPUS_SCATTER, &cpus);
        if (error)
                die("--pin: the CPUs could not be found out: %s", strerror(-error));
        settings->cpus = cpus.ids;
        settings->cpu_count = cpus.count;
        return cores;
}

static struct row *new_row(struct sweep *sweep)
{
        if (sweep->count == sweep->room) {
                sweep->room = sweep->room ? 2 * sweep->room : 64;
                struct row *rows = realloc(sweep->rows, sweep->room * sizeof *rows);
                if (!rows)
                        die("no memory for %u rows", sweep->room);
                sweep->rows = rows;
        }
        return &sweep->rows[sweep->count];
}

static void skip(struct row *row, const char *reason)
{
        row_set_status(row, STATUS_SKIPPED);
        snprintf(row->reason, sizeof row->reason, "%s", reason);
}

/* A cell's next sample, or its row `skipped`. False: the sweep is over. */
static bool run_sample(struct state *state, unsigned which)
{
        struct sweep *sweep = state->sweep;
        const struct sweep_cell *cell = &state->cells[which];
        struct row *row = new_row(sweep);
        begin_row(row, state, which);
        if (state->hangs[which] >= SWEEP_HANGS_MAX) {
                skip(row, "two samples of its cell have hung");
        } else if (progress_spent(&state->progress)) {
                skip(row, "the budget is spent");
                sweep->budget_spent = true;
        } else {
                progress_show(&state->progress, row->config, cell->producers);
                if (!spawn_sample(state->settings, cell->spec, cell->producers,
                            state->volumes[which], cell->program, row)) {
                        sweep->interrupted = true;
                        return false;
                }
        }
        if (!strcmp(row->pinned, "yes")) /* how, not only whether */
                row_set_text(
                        row->pinned, sizeof row->pinned, settings_pin_names[state->settings->pin]);
        if (row->measured)
                state->volumes[which] = (unsigned)row->per_producer;
        row->spun_out = is_spun_out(state->settings, row);
        state->hangs[which] += row_status_of(row) == STATUS_HANG;
        state->samples[which]++;
        state->progress.done++;
        sweep->count++;
        report(state, row);
        sweep->write_failed = !rundir_add(state->rundir, row);
        row_drop_details(row);
        return !sweep->write_failed;
}

/* The half of a cell's interval over its median; infinite while it covers too little, 0 if there
 * can't be one. */
static double noise_of(const struct state *state, unsigned which)
{
        const struct sweep *sweep = state->sweep;
        double *rates = must_allocate(sweep->count * sizeof *rates);
        char config[SPEC_BYTES];
        const char *twin = state->cells[which].twin ? state->cells[which].twin : "no";
        unsigned count = 0;
        spec_print(state->cells[which].spec, config, sizeof config);
        for (unsigned i = 0; i < sweep->count; i++) {
                const struct row *row = &sweep->rows[i];
                if (row_status_of(row) == STATUS_OK &&
                        row->producers == state->cells[which].producers &&
                        !strcmp(row->config, config) && !strcmp(row->twin, twin))
                        rates[count++] = row->submit_per_s;
        }
        struct median median = median_of(rates, count);
        free(rates);
        return !count                   ? 0
               : median.coverage < 0.95 ? INFINITY
                                        : (median.hi - median.lo) / 2 / median.median;
}

/* The cells that get the next round of samples, in random order: those that have least of what was
 * asked for; when all have it (*extra), those that are too noisy. */
static unsigned choose_cells(struct state *state, bool *extra)
{
        const struct settings *settings = state->settings;
        unsigned count = 0, least = settings->samples;
        for (unsigned i = 0; i < state->cell_count; i++)
                least = state->samples[i] < least ? state->samples[i] : least;
        *extra = least == settings->samples;
        for (unsigned i = 0; i < state->cell_count; i++)
                if (*extra ? state->samples[i] < SAMPLES_MAX && state->hangs[i] < SWEEP_HANGS_MAX &&
                                        noise_of(state, i) > settings->until
                           : state->samples[i] == least)
                        state->order[count++] = i;
        if (count)
                gsl_ran_shuffle(state->random, state->order, count, sizeof *state->order);
        return *extra && settings->until <= 0 ? 0 : count;
}

static void run_cells(struct state *state)
{
        bool extra;
        for (unsigned count; (count = choose_cells(state, &extra));) {
                if (extra)
                        state->progress.total = 0; /* how many more, the data will say */
                for (unsigned i = 0; i < count; i++)
                        if ((extra && progress_spent(&state->progress)) ||
                                !run_sample(state, state->order[i]))
                                return;
        }
}

/* What a resumed run has already. */
static void take_done(struct state *state, struct rows *done)
{
        for (unsigned i = 0; i < done->count; i++) {
                const struct row *row = &done->rows[i];
                for (unsigned j = 0; j < state->cell_count; j++) {
                        const struct sweep_cell *cell = &state->cells[j];
                        char config[SPEC_BYTES];
                        spec_print(cell->spec, config, sizeof config);
                        if (row->producers != cell->producers || strcmp(row->config, config) != 0 ||
                                strcmp(row->twin, cell->twin ? cell->twin : "no") != 0)
                                continue;
                        state->samples[j]++;
                        state->hangs[j] += row_status_of(row) == STATUS_HANG;
                        if (row->measured && row->per_producer != ROW_NA)
                                state->volumes[j] = (unsigned)row->per_producer;
                        *new_row(state->sweep) = *row;
                        state->sweep->rows[state->sweep->count++].spun_out = false;
                }
        }
        rows_free(done);
}

static void open_rundir(struct state *state, int argc, char **argv)
{
        const struct settings *settings = state->settings;
        struct rows done;
        if (settings->resume) {
                rundir_reopen(state->rundir, settings->resume, state->machine, &done);
                take_done(state, &done);
                return;
        }
        rundir_open(state->rundir, settings->out, state->machine, argc, argv);
        rundir_open_samples(state->rundir);
}

void sweep_run(struct sweep *sweep, struct settings *settings, const struct sweep_cell *cells,
        unsigned cell_count, int argc, char **argv, struct rundir *rundir)
{
        const char *cores =
                sweep_choose_cpus(settings); /* before the machine is described by them */
        json_t *machine = machine_describe(argc, argv);
        if (!machine)
                die("no memory to describe the machine");
        *sweep = (struct sweep){.rows = NULL};
        struct state state = {.sweep = sweep,
                .settings = settings,
                .cells = cells,
                .cell_count = cell_count,
                .machine = machine,
                .rundir = rundir,
                .cores = cores,
                .random = gsl_rng_alloc(gsl_rng_mt19937),
                .order = must_allocate(cell_count * sizeof *state.order),
                .samples = must_allocate(cell_count * sizeof *state.samples),
                .hangs = must_allocate(cell_count * sizeof *state.hangs),
                .volumes = must_allocate(cell_count * sizeof *state.volumes)};
        if (!state.random)
                die("no memory for the random order");
        gsl_rng_set(state.random, settings->seed);
        for (unsigned i = 0; i < cell_count; i++)
                state.volumes[i] = settings->per_producer;
        open_rundir(&state, argc, argv);
        spawn_catch_signals();
        progress_begin(&state.progress, cell_count * settings->samples, settings->budget_s);
        state.progress.total -= sweep->count < state.progress.total ? sweep->count : 0;
        run_cells(&state);
        progress_hide(&state.progress);
        if (sweep->interrupted) {
                fprintf(stderr, "fanin: interrupted after %u samples\n", sweep->count);
                if (rundir->path)
                        fprintf(stderr, "fanin: to go on: fanin run --resume %s\n", rundir->path);
                rundir_log(rundir, "interrupted");
        }
        if (sweep->budget_spent)
                fputs("fanin: the budget was spent before all samples: those are skipped\n",
                        stderr);
        gsl_rng_free(state.random);
        free(state.order);
        free(state.samples);
        free(state.hangs);
        free(state.volumes);
        json_decref(machine);
}

void sweep_free(struct sweep *sweep)
{
        free(sweep->rows);
}

enum exit_code sweep_exit(const struct sweep *sweep)
{
        bool failed = false;
        for (unsigned i = 0; i < sweep->count; i++) {
                const struct row *row = &sweep->rows[i];
                enum row_status status = row_status_of(row);
                if (status >= STATUS_LOST)
                        return EXIT_BROKEN;
                failed |= status != STATUS_OK && status != STATUS_SKIPPED && !row->spun_out;
        }
        return sweep->interrupted    ? EXIT_INTERRUPTED
               : sweep->write_failed ? EXIT_USAGE
               : failed              ? EXIT_FAILED
               : sweep->budget_spent ? EXIT_INCONCLUSIVE
                                     : EXIT_DONE;
}
