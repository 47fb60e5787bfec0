/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin latency`: every configuration at every rate, or at rates that rise until it is saturated.
 */
#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "latency.h"
#include "machine.h"
#include "progress.h"
#include "spawn.h"
#include "sweep.h"

/* A sweep under way. */
struct state {
        const struct settings *settings;
        const json_t *machine;
        const char *cores; /* the rows' column */
        struct rundir rundir;
        FILE *csv; /* NULL: without a run directory */
        struct progress progress;
        gsl_rng *random;
        struct latency_times times; /* of the sample under way */
        struct latency_cell *cells;
        unsigned cell_count;
        unsigned *hangs; /* by curve */
        bool interrupted, write_failed, budget_spent;
};

static void *grow(void *array, unsigned count, size_t element)
{
        array = realloc(array, (count + 1) * element);
        if (!array)
                die("no memory for the samples");
        return array;
}

#define SET_TEXT(row, field, text) row_set_text((row)->field, sizeof(row)->field, text)

/* What the parent knows of a sample. */
static void begin_row(
        struct latency_row *row, const struct state *state, const struct latency_cell *cell)
{
        const struct settings *settings = state->settings;
        char config[SPEC_BYTES];
        latency_row_clear(row);
        spec_print(cell->spec, config, sizeof config);
        SET_TEXT(row, kind, "measured");
        SET_TEXT(row, config, config);
        SET_TEXT(row, loop, settings->closed ? "closed" : "open");
        if (!settings->closed) {
                SET_TEXT(row, arrivals, settings->fixed_arrivals ? "fixed" : "poisson");
                row->rate_per_s = cell->rate_per_s;
        }
        SET_TEXT(row, on_full, settings->drop_on_full ? "drop" : "retry");
        SET_TEXT(row, cores, state->cores);
        SET_TEXT(row, machine, machine_text(state->machine, "cpu_model"));
        SET_TEXT(row, commit, machine_text(state->machine, "commit"));
        SET_TEXT(row, compiler, machine_text(state->machine, "compiler"));
        SET_TEXT(row, quick, settings->quick ? "yes" : "no");
        row->producers = cell->producers;
        row->sample = cell->row_count;
        row->duration_s = settings->duration_s;
        row->stall_ms = settings->stall_ms;
        row->handler_ns = settings->handler_ns;
        row->poll_ms = settings->poll_ms;
        /* The arrivals of a sample are the same for all configurations, and others in the next. */
        row->seed = settings->seed + cell->row_count;
        row->cpus_effective =
                (double)json_integer_value(json_object_get(state->machine, "cpus_effective"));
}

/* False: interrupted. */
static bool execute(struct state *state, const struct latency_cell *cell, struct latency_row *row)
{
        struct spawn_arguments arguments = {.count = 0};
        struct spawn_end end;
        spawn_begin(&arguments, state->settings, "latency-sample");
        spawn_add(&arguments, "--config=%s", row->config);
        spawn_add(&arguments, "--producers=%u", cell->producers);
        if (!state->settings->closed)
                spawn_add(&arguments, "--rate=%.17g", cell->rate_per_s);
        spawn_add(&arguments, "--seed=%u", (unsigned)row->seed);
        spawn_add_cpus(&arguments, state->settings, cell->producers);
        if (!spawn_execute(&arguments, NULL, state->settings->deadline_s, &end))
                return false;
        if (end.status != STATUS_OK) {
                latency_row_fail(row, end.status, end.reason);
        } else if (!latency_receive(row, &state->times, end.text)) {
                begin_row(row, state, cell); /* half a result is none */
                latency_row_fail(row, STATUS_CRASH, "the sample printed no whole result");
        }
        free(end.text);
        return true;
}

static void describe(const struct latency_row *row, char *text, size_t bytes)
{
        if (isnan(row->rate_per_s))
                snprintf(text, bytes, "%s", row->config);
        else
                snprintf(text, bytes, "%s at %.12g/s", row->config, row->rate_per_s);
}

static void tell(struct state *state, const struct latency_row *row)
{
        static bool told_unpinned;
        char what[SPEC_BYTES + 48], sentence[640];
        progress_hide(&state->progress);
        if (!strcmp(row->pinned, "no") && !told_unpinned) {
                told_unpinned = true;
                fputs("fanin: --pin: a thread could not be pinned; such rows say pinned=no\n",
                        stderr);
        }
        if (latency_row_status(row) == STATUS_OK || latency_row_status(row) == STATUS_SKIPPED)
                return;
        describe(row, what, sizeof what);
        snprintf(sentence, sizeof sentence, "%s, %g producers, sample %g: %s: %s", what,
                row->producers, row->sample, row->status, row->reason);
        fprintf(stderr, "fanin: %s\n", sentence);
        rundir_log(&state->rundir, "%s", sentence);
}

/* False: the sweep is over. */
static bool run_sample(struct state *state, struct latency_cell *cell)
{
        char what[SPEC_BYTES + 48];
        if (progress_spent(&state->progress)) {
                state->budget_spent = true;
                return false;
        }
        cell->rows = grow(cell->rows, cell->row_count, sizeof *cell->rows);
        struct latency_row *row = &cell->rows[cell->row_count];
        begin_row(row, state, cell);
        if (state->hangs[cell->curve] >= SWEEP_HANGS_MAX) {
                latency_row_fail(row, STATUS_SKIPPED, "two samples of its configuration have hung");
        } else {
                snprintf(what, sizeof what, cell->rate_per_s > 0 ? "%s at %g/s" : "%s", row->config,
                        cell->rate_per_s);
                progress_show(&state->progress, what, cell->producers);
                if (!execute(state, cell, row)) {
                        state->interrupted = true;
                        return false;
                }
        }
        if (!strcmp(row->pinned, "yes")) /* how, not only whether */
                SET_TEXT(row, pinned, settings_pin_names[state->settings->pin]);
        enum row_status status = latency_row_status(row);
        state->hangs[cell->curve] += status == STATUS_HANG;
        if (status == STATUS_OK) {
                histogram_merge(&cell->times->late, &state->times.late);
                histogram_merge(&cell->times->submit, &state->times.submit);
                histogram_merge(&cell->times->latency, &state->times.latency);
        }
        cell->row_count++;
        state->progress.done++;
        tell(state, row);
        state->write_failed = state->csv && !latency_row_print(state->csv, row);
        if (state->write_failed)
                fprintf(stderr, "fanin: '%s/latency.csv' can't be written: %s\n",
                        state->rundir.path, strerror(errno));
        return !state->write_failed;
}

static void add_cell(struct state *state, unsigned curve, double rate_per_s)
{
        const struct settings *settings = state->settings;
        state->cells = grow(state->cells, state->cell_count, sizeof *state->cells);
        state->cells[state->cell_count++] = (struct latency_cell){.curve = curve,
                .spec = &settings->configs[curve / settings->producers_count],
                .producers = settings->producers[curve % settings->producers_count],
                .rate_per_s = rate_per_s,
                .times = must_allocate(sizeof(struct latency_times))};
}

/* All samples of the cells from first on, a round of all of them at a time. False: it is over. */
static bool run_cells(struct state *state, unsigned first)
{
        unsigned count = state->cell_count - first;
        unsigned *order = must_allocate(count * sizeof *order);
        bool more = true;
        for (unsigned i = 0; i < count; i++)
                order[i] = first + i;
        for (unsigned sample = 0; sample < state->settings->samples && more; sample++) {
                gsl_ran_shuffle(state->random, order, count, sizeof *order);
                for (unsigned i = 0; i < count && more; i++)
                        more = run_sample(state, &state->cells[order[i]]);
        }
        free(order);
        for (unsigned i = first; i < state->cell_count; i++)
                latency_cell_make(&state->cells[i]);
        return more;
}

static unsigned curves(const struct settings *settings)
{
        return settings->config_count * settings->producers_count;
}

/* 1, 2, 5, 10, … */
static double next_rate(double rate_per_s)
{
        double lead = rate_per_s;
        while (lead >= 10)
                lead /= 10;
        return rate_per_s * (lead > 1.5 && lead < 3 ? 2.5 : 2);
}

/* Each rate at once for all that have kept up so far. */
static void run_rising(struct state *state)
{
        const struct settings *settings = state->settings;
        bool *done = must_allocate(curves(settings) * sizeof *done), more = true;
        for (double rate_per_s = 1000; more; rate_per_s = next_rate(rate_per_s)) {
                unsigned first = state->cell_count;
                for (unsigned curve = 0; curve < curves(settings); curve++) {
                        done[curve] |=
                                latency_bytes(settings,
                                        &settings->configs[curve / settings->producers_count],
                                        settings->producers[curve % settings->producers_count],
                                        rate_per_s) > (double)settings->max_backlog_bytes;
                        if (!done[curve])
                                add_cell(state, curve, rate_per_s);
                }
                more = first < state->cell_count && run_cells(state, first);
                for (unsigned i = first; i < state->cell_count; i++)
                        done[state->cells[i].curve] |=
                                latency_saturated(&state->cells[i]) || !state->cells[i].samples_ok;
        }
        free(done);
}

static void run_given(struct state *state)
{
        const struct settings *settings = state->settings;
        for (unsigned curve = 0; curve < curves(settings); curve++)
                for (unsigned i = 0; i < (settings->closed ? 1 : settings->rate_count); i++)
                        add_cell(state, curve, settings->closed ? 0 : settings->rates_per_s[i]);
        state->progress.total = state->cell_count * settings->samples;
        run_cells(state, 0);
}

static void run(struct state *state)
{
        const struct settings *settings = state->settings;
        state->hangs = must_allocate(curves(settings) * sizeof *state->hangs);
        state->random = gsl_rng_alloc(gsl_rng_mt19937);
        if (!state->random)
                die("no memory for the random order");
        gsl_rng_set(state->random, settings->seed);
        spawn_catch_signals();
        progress_begin(&state->progress, 0, settings->budget_s);
        if (settings->rate_count || settings->closed)
                run_given(state);
        else
                run_rising(state);
        progress_hide(&state->progress);
        if (state->interrupted) {
                fprintf(stderr, "fanin: interrupted after %u samples\n", state->progress.done);
                rundir_log(&state->rundir, "interrupted");
        }
        if (state->budget_spent)
                fputs("fanin: the budget was spent before all samples\n", stderr);
        gsl_rng_free(state->random);
        free(state->hangs);
}

static enum exit_code exit_code(const struct state *state)
{
        bool failed = false;
        for (unsigned i = 0; i < state->cell_count; i++)
                for (unsigned j = 0; j < state->cells[i].row_count; j++) {
                        enum row_status status = latency_row_status(&state->cells[i].rows[j]);
                        if (status >= STATUS_LOST)
                                return EXIT_BROKEN;
                        failed |= status != STATUS_OK && status != STATUS_SKIPPED;
                }
        return state->interrupted    ? EXIT_INTERRUPTED
               : state->write_failed ? EXIT_USAGE
               : failed              ? EXIT_FAILED
               : state->budget_spent ? EXIT_INCONCLUSIVE
                                     : EXIT_DONE;
}

static void open_rundir(struct state *state, int argc, char **argv)
{
        rundir_open(&state->rundir, state->settings->out, state->machine, argc, argv);
        state->csv = rundir_file(&state->rundir, "latency.csv");
        if (state->rundir.path && (!state->csv || !latency_row_print_header(state->csv)))
                die("--out: '%s/latency.csv' can't be written", state->rundir.path);
}

int latency_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        settings_init(&settings);
        settings_producers(&settings, "--producers", "4");
        settings_default(&settings, "samples", "5");
        settings_parse(&settings, FOR_LATENCY, argc, argv);
        latency_check(&settings);
        const char *cores = sweep_choose_cpus(&settings);
        json_t *machine = machine_describe(all_count, all);
        if (!machine)
                die("no memory to describe the machine");
        struct state *state = must_allocate(sizeof *state);
        state->settings = &settings;
        state->machine = machine;
        state->cores = cores;
        open_rundir(state, all_count, all);
        run(state);
        bool written = latency_print_tables(&settings, state->cells, state->cell_count);
        if (!written)
                fprintf(stderr, "fanin: stdout can't be written: %s\n", strerror(errno));
        written &= latency_write(&state->rundir, state->cells, state->cell_count);
        written &= !state->csv || !fclose(state->csv);
        state->write_failed |= !rundir_close(&state->rundir, NULL) || !written;
        enum exit_code code = exit_code(state);
        for (unsigned i = 0; i < state->cell_count; i++) {
                free(state->cells[i].rows);
                free(state->cells[i].times);
        }
        free(state->cells);
        free(state);
        json_decref(machine);
        settings_free(&settings);
        return code;
}
