/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin gate`: the reference's scaling gate, and a second criterion beside it, since the ratio to
 * one producer alone can pass bad code: one lone producer of a hand-off is slow too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sweep.h"

static const double scaling_threshold = 1.5; /* the reference's */
static const double least_coverage = 0.9;    /* of an interval that a verdict may rest on */

enum outcome { BELOW, STRADDLES, ABOVE };

static enum outcome compare(const struct median *ratio, double threshold)
{
        return ratio->hi < threshold ? BELOW : ratio->lo >= threshold ? ABOVE : STRADDLES;
}

static const char *variable(const char *name, const char *otherwise)
{
        const char *value = getenv(name);
        return value && *value ? value : otherwise;
}

static void print_criterion(
        const char *what, const struct median *ratio, double threshold, enum outcome outcome)
{
        static const char *const words[] = {"below", "straddles", "reached"};
        printf("%-42s %8.4f [%8.4f, %8.4f]  threshold %.4g: %s\n", what, ratio->median, ratio->lo,
                ratio->hi, threshold, words[outcome]);
}

/* The medians that the criteria compare. */
struct figures {
        const struct cell *first, *last, *ceiling_first, *ceiling_last;
};

static enum exit_code judge(const struct settings *settings, const struct figures *figures,
        const struct summary *summary)
{
        struct median scaling = summary_ratio(summary, figures->last, figures->first);
        struct median share = summary_ratio(summary, figures->last, figures->ceiling_last);
        struct median ceiling =
                summary_ratio(summary, figures->ceiling_last, figures->ceiling_first);
        unsigned cpus_effective = summary->cpus_effective;
        enum outcome scales = compare(&scaling, scaling_threshold);
        enum outcome shares = compare(&share, settings->min_share);
        enum outcome can_show = compare(&ceiling, scaling_threshold);
        char name[64];
        snprintf(name, sizeof name, "scaling, %u producers over %u", figures->last->producers,
                figures->first->producers);
        print_criterion(name, &scaling, scaling_threshold, scales);
        snprintf(name, sizeof name, "share of the ceiling at %u producers",
                figures->last->producers);
        print_criterion(name, &share, settings->min_share, shares);
        print_criterion("scaling of the ceiling itself", &ceiling, scaling_threshold, can_show);
        printf("medians of %u samples, whose intervals cover with %.2f %%\n",
                figures->last->samples_ok, 100 * figures->last->submit_per_s.coverage);

        if (figures->last->submit_per_s.coverage < least_coverage) {
                puts("gate: inconclusive: too few samples, the intervals cover too little "
                     "(FFI_SUBMIT_ITERS: 5 or more)");
                return EXIT_INCONCLUSIVE;
        }
        if (shares == BELOW || (cpus_effective >= 2 && scales == BELOW)) {
                printf("gate: failed: %s\n",
                        shares == BELOW ? "too small a share of what producers can do without a "
                                          "queue"
                                        : "no scaling");
                return EXIT_FAILED;
        }
        const char *why =
                cpus_effective < 2  ? "one CPU can't show scaling"
                : can_show != ABOVE ? "the ceiling's own scaling is not clearly above the "
                                      "threshold: this machine can't show it"
                : scales != ABOVE || shares != ABOVE ? "an interval straddles its threshold"
                                                     : NULL;
        printf("gate: %s%s\n", why ? "inconclusive: " : "passed", why ? why : "");
        return why ? EXIT_INCONCLUSIVE : EXIT_DONE;
}

/* The ceiling: `private` with the same allocation. */
static void add_ceiling(struct settings *settings)
{
        char config[64];
        if (!strcmp(settings->configs[0].queue->name, "private"))
                return;
        snprintf(config, sizeof config, "private/pending/eventfd/%s",
                spec_alloc_names[settings->configs[0].alloc]);
        settings_configs(settings, "the ceiling", config);
}

static void configure(struct settings *settings, int argc, char **argv)
{
        settings_init(settings);
        settings->samples =
                settings_number("FFI_SUBMIT_ITERS", variable("FFI_SUBMIT_ITERS", "5"), 1, 10000);
        settings->per_producer = settings_number(
                "FFI_SUBMIT_PER_THREAD", variable("FFI_SUBMIT_PER_THREAD", "20000"), 1, 1u << 30);
        settings_producers(
                settings, "FFI_SUBMIT_THREADS", variable("FFI_SUBMIT_THREADS", "1,2,4,8"));
        if (settings->producers_count < 2)
                die("FFI_SUBMIT_THREADS can't be '%s'; allowed: at least two counts, the first "
                    "the base, the last the peak",
                        variable("FFI_SUBMIT_THREADS", ""));
        settings_parse(settings, FOR_GATE, argc, argv);
        if (!settings->config_count)
                settings_configs(settings, "--config", "sharded_mutex/edge");
        if (settings->config_count != 1)
                die("--config of `fanin gate` takes one configuration, not %u",
                        settings->config_count);
        add_ceiling(settings);
}

static unsigned make_cells(struct sweep_cell *cells, const struct settings *settings)
{
        unsigned count = 0, last = settings->producers_count - 1;
        for (unsigned i = 0; i <= last; i++)
                cells[count++] = (struct sweep_cell){
                        .spec = settings->configs, .producers = settings->producers[i]};
        for (unsigned i = 0; settings->config_count > 1 && i <= last; i += last)
                cells[count++] = (struct sweep_cell){
                        .spec = &settings->configs[1], .producers = settings->producers[i]};
        return count;
}

/* False: a cell has no sample that is ok. */
static bool find_figures(
        struct figures *figures, const struct settings *settings, const struct summary *summary)
{
        unsigned first = settings->producers[0];
        unsigned last = settings->producers[settings->producers_count - 1];
        char config[SPEC_BYTES], ceiling[SPEC_BYTES];
        spec_print(&settings->configs[0], config, sizeof config);
        spec_print(&settings->configs[settings->config_count - 1], ceiling, sizeof ceiling);
        *figures = (struct figures){summary_find(summary, config, first),
                summary_find(summary, config, last), summary_find(summary, ceiling, first),
                summary_find(summary, ceiling, last)};
        const struct cell *const all[] = {
                figures->first, figures->last, figures->ceiling_first, figures->ceiling_last};
        for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
                if (!all[i] || !all[i]->samples_ok)
                        return false;
        return true;
}

int gate_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        configure(&settings, argc, argv);
        bool gates = settings_number("FFI_SCALING_GATE", variable("FFI_SCALING_GATE", "1"), 0, 1);
        struct sweep_cell *cells = must_allocate((settings.producers_count + 2) * sizeof *cells);
        unsigned count = make_cells(cells, &settings);
        struct sweep sweep;
        struct rundir rundir;
        struct summary summary;
        struct figures figures;
        sweep_run(&sweep, &settings, cells, count, all_count, all, &rundir);
        summary_make(&summary, &settings, sweep.rows, sweep.count);
        summary_print_table(stdout, &summary);
        enum exit_code code = sweep_exit(&sweep);
        if (code == EXIT_DONE && find_figures(&figures, &settings, &summary)) {
                putchar('\n');
                code = judge(&settings, &figures, &summary);
                if (!gates) {
                        puts("FFI_SCALING_GATE=0: reported only");
                        code = EXIT_DONE;
                }
        }
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        summary_free(&summary);
        sweep_free(&sweep);
        free(cells);
        settings_free(&settings);
        return code;
}
