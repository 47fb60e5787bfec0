/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* `fanin run`: every configuration at every producer count. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
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

int run_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_RUN, argc, argv);
        unsigned count = settings.config_count * settings.producers_count;
        struct sweep_cell *cells = must_allocate(count * sizeof *cells);
        for (unsigned i = 0; i < count; i++)
                cells[i] =
                        (struct sweep_cell){.spec = &settings.configs[i / settings.producers_count],
                                .producers = settings.producers[i % settings.producers_count]};
        struct sweep sweep;
        struct rundir rundir;
        struct summary summary;
        sweep_run(&sweep, &settings, cells, count, all_count, all, &rundir);
        summary_make(&summary, &settings, sweep.rows, sweep.count);
        bool printed = print(&settings, &summary);
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
