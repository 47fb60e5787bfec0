/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin run`: every configuration at every producer count; with --aa twice, with --explain beside
 * itself without its parts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "explain.h"
#include "sweep.h"

static bool print(const struct settings *settings, const struct summary *summary)
{
        switch (settings->format) {
        case FORMAT_CSV:
                return summary_print_csv(stdout, summary);
        case FORMAT_JSON:
                return summary_print_json(stdout, summary);
        default:
                return summary_print_table(stdout, summary);
        }
}

static unsigned make_cells(struct sweep_cell *cells, const struct settings *settings)
{
        unsigned count = 0;
        for (unsigned i = 0; i < settings->config_count * settings->producers_count; i++)
                for (unsigned twin = 0; twin <= settings->aa; twin++)
                        cells[count++] = (struct sweep_cell){
                                .spec = &settings->configs[i / settings->producers_count],
                                .producers = settings->producers[i % settings->producers_count],
                                .twin = !settings->aa ? NULL
                                        : twin        ? "b"
                                                      : "a",
                                .program = twin ? settings->twin_program : NULL};
        return count;
}

/* The ratios of twins: what differs is chance, or the twin's program. */
static bool print_twins(const struct settings *settings, const struct summary *summary)
{
        double told = 0, coverage = 1;
        printf("\n%-56s %9s  %s\n", "", "producers", "b over a  [lo, hi]");
        for (unsigned i = 0; i < summary->cell_count; i++) {
                const struct cell *a = &summary->cells[i];
                const struct cell *b = summary_find_twin(summary, a->config, a->producers, "b");
                if (strcmp(a->twin, "a") != 0 || !b || !a->samples_ok || !b->samples_ok)
                        continue;
                struct median ratio = summary_ratio(summary, b, a);
                printf("%-56s %9u  %8.4f [%.4f, %.4f]\n", a->config, a->producers, ratio.median,
                        ratio.lo, ratio.hi);
                told = fmax(told, fmax(fabs(log(ratio.lo)), fabs(log(ratio.hi))));
                coverage = fmin(coverage, ratio.coverage);
        }
        double percent = 100 * (1 - exp(-told));
        if (settings->twin_program)
                printf("\nThe second of each pair ran %s: its submit rate is within %.1f %% of the "
                       "first's",
                        settings->twin_program, percent);
        else
                printf("\nThe same configuration measured as if it were two: a difference of less "
                       "than %.1f %% can't be told here",
                        percent);
        printf(" (intervals cover with at least %.1f %%).\n", 100 * coverage);
        return !fflush(stdout) && !ferror(stdout);
}

/* Goes on with the settings that the directory was begun with. */
static void resume(struct settings *settings)
{
        const char *path = settings->resume;
        static char **argv; /* kept: the settings point into its words */
        int argc;
        argv = rundir_command(path, &argc);
        settings_free(settings);
        settings_init(settings);
        settings_parse(settings, FOR_RUN, argc - 1, argv + 1);
        settings->resume = path;
}

int run_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_RUN, argc, argv);
        if (settings.resume)
                resume(&settings);
        if (settings.explain)
                explain_add_parts(&settings);
        struct sweep_cell *cells = must_allocate(
                (size_t)settings.config_count * settings.producers_count * 2 * sizeof *cells);
        unsigned count = make_cells(cells, &settings);
        struct sweep sweep;
        struct rundir rundir;
        struct summary summary;
        sweep_run(&sweep, &settings, cells, count, all_count, all, &rundir);
        summary_make(&summary, &settings, sweep.rows, sweep.count);
        bool printed = print(&settings, &summary);
        if (settings.format == FORMAT_TABLE && settings.aa)
                printed &= print_twins(&settings, &summary);
        if (settings.explain)
                printed &= explain_print(&settings, &summary, &rundir);
        if (!printed)
                fprintf(stderr, "fanin: stdout can't be written: %s\n", strerror(errno));
        sweep.write_failed |= !rundir_close(&rundir, &summary) || !printed;
        enum exit_code code = sweep_exit(&sweep);
        summary_free(&summary);
        sweep_free(&sweep);
        free(cells);
        settings_free(&settings);
        return code;
}
