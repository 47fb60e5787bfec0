/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* The sweep: order, progress, rows. */
#include "sweep.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cpus.h"
#include "machine.h"
#include "spawn.h"

struct progress {
        bool shown;
        uint64_t start_ns;
        unsigned done, total;
};

static void show(const struct progress *progress, const char *config, unsigned producers)
{
        if (!progress->shown)
                return;
        double elapsed_s = (double)(clock_wall_ns() - progress->start_ns) / 1e9;
        double left_s = progress->done
                                ? elapsed_s / progress->done * (progress->total - progress->done)
                                : 0;
        char left[32] = "";
        if (progress->done)
                snprintf(left, sizeof left, ", %.0f s left", left_s);
        fprintf(stderr, "\r\033[K[%u/%u%s] %s, %u producers", progress->done, progress->total, left,
                config, producers);
}

static void hide(const struct progress *progress)
{
        if (progress->shown)
                fputs("\r\033[K", stderr);
}

static const char *text_of(const json_t *machine, const char *key)
{
        const char *text = json_string_value(json_object_get(machine, key));
        return text ? text : "NA";
}

/* What the parent knows of a sample. */
static void begin_row(struct row *row, const struct settings *settings,
        const struct sweep_cell *cell, unsigned sample, const json_t *machine,
        const struct rundir *rundir)
{
        row_clear(row);
        row->producers = cell->producers;
        row->sample = sample;
        row->seed = settings->seed;
        row->think_ns = settings->think_ns;
        row->handler_ns = settings->handler_ns;
        row->poll_ms = settings->poll_ms;
        row_set_text(row->run, sizeof row->run, rundir_name(rundir));
        row_set_text(row->kind, sizeof row->kind, "measured");
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
        row_set_text(row->machine, sizeof row->machine, text_of(machine, "cpu_model"));
        row_set_text(row->commit, sizeof row->commit, text_of(machine, "commit"));
        row_set_text(row->compiler, sizeof row->compiler, text_of(machine, "compiler"));
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

static void report(struct rundir *rundir, const struct progress *progress, const struct row *row)
{
        static bool told;
        if (!strcmp(row->pinned, "no") && !told) {
                told = true;
                hide(progress);
                fputs("fanin: --pin: a thread could not be pinned; such rows say pinned=no\n",
                        stderr);
                rundir_log(rundir, "a thread could not be pinned");
        }
        if (row_status_of(row) == STATUS_OK)
                return;
        hide(progress);
        const char *why = row->spun_out ? " (its producers spin without yielding, and outnumber "
                                          "the CPUs)"
                                        : "";
        fprintf(stderr, "fanin: %s, %u producers, sample %u: %s: %s%s\n", row->config,
                (unsigned)row->producers, (unsigned)row->sample, row->status, row->reason, why);
        rundir_log(rundir, "%s, %u producers, sample %u: %s: %s%s", row->config,
                (unsigned)row->producers, (unsigned)row->sample, row->status, row->reason, why);
}

static void choose_cpus(struct settings *settings)
{
        struct cpus cpus;
        if (settings->pin == PIN_NONE)
                return;
        int error = cpus_order(settings->pin == PIN_COMPACT ? CPUS_COMPACT : CPUS_SCATTER, &cpus);
        if (error)
                die("--pin: the CPUs could not be found out: %s", strerror(-error));
        settings->cpus = cpus.ids;
        settings->cpu_count = cpus.count;
}

static void run_cells(struct sweep *sweep, const struct settings *settings,
        const struct sweep_cell *cells, unsigned cell_count, const json_t *machine,
        struct rundir *rundir)
{
        static const char *const pins[] = {"none", "compact", "scatter"};
        unsigned *order = must_allocate(cell_count * sizeof *order);
        /* The volume that `auto` found in a cell's first sample serves the others: one workload. */
        unsigned *volumes = must_allocate(cell_count * sizeof *volumes);
        gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
        if (!random)
                die("no memory for the random order");
        gsl_rng_set(random, settings->seed);
        for (unsigned i = 0; i < cell_count; i++) {
                order[i] = i;
                volumes[i] = settings->per_producer;
        }
        struct progress progress = {.shown = isatty(STDERR_FILENO),
                .start_ns = clock_wall_ns(),
                .total = cell_count * settings->samples};
        for (unsigned sample = 0; sample < settings->samples; sample++) {
                gsl_ran_shuffle(random, order, cell_count, sizeof *order);
                for (unsigned i = 0; i < cell_count; i++) {
                        const struct sweep_cell *cell = &cells[order[i]];
                        struct row *row = &sweep->rows[sweep->count];
                        char config[SPEC_BYTES];
                        spec_print(cell->spec, config, sizeof config);
                        show(&progress, config, cell->producers);
                        begin_row(row, settings, cell, sample, machine, rundir);
                        if (!spawn_sample(settings, cell->spec, cell->producers, volumes[order[i]],
                                    NULL, row)) {
                                sweep->interrupted = true;
                                goto end;
                        }
                        if (!strcmp(row->pinned, "yes")) /* how, not only whether */
                                row_set_text(row->pinned, sizeof row->pinned, pins[settings->pin]);
                        if (row->measured)
                                volumes[order[i]] = (unsigned)row->per_producer;
                        sweep->count++;
                        progress.done++;
                        row->spun_out = is_spun_out(settings, row);
                        report(rundir, &progress, row);
                        if (!rundir_add(rundir, row)) {
                                sweep->write_failed = true;
                                goto end;
                        }
                }
        }
end:
        hide(&progress);
        gsl_rng_free(random);
        free(volumes);
        free(order);
}

void sweep_run(struct sweep *sweep, struct settings *settings, const struct sweep_cell *cells,
        unsigned cell_count, int argc, char **argv, struct rundir *rundir)
{
        json_t *machine = machine_describe(argc, argv);
        if (!machine)
                die("no memory to describe the machine");
        *sweep = (struct sweep){
                .rows = must_allocate((size_t)cell_count * settings->samples * sizeof(struct row))};
        choose_cpus(settings);
        rundir_open(rundir, settings->out, machine, argc, argv);
        spawn_catch_signals();
        run_cells(sweep, settings, cells, cell_count, machine, rundir);
        if (sweep->interrupted) {
                fprintf(stderr, "fanin: interrupted after %u samples\n", sweep->count);
                rundir_log(rundir, "interrupted");
        }
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
                enum row_status status = row_status_of(&sweep->rows[i]);
                if (status >= STATUS_LOST)
                        return EXIT_BROKEN;
                failed |= status != STATUS_OK && !sweep->rows[i].spun_out;
        }
        return sweep->interrupted    ? EXIT_INTERRUPTED
               : sweep->write_failed ? EXIT_USAGE
               : failed              ? EXIT_FAILED
                                     : EXIT_DONE;
}
