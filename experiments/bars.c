/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin bars`: what queues add to a submit, and the bars that some are held to.
 *
 *      added = producer CPU ns per submit - that of `private` at the same number of producers
 *
 * Wall ratios to `private` stand beside it and are not judged: its consumer sleeps during the
 * phase, which on few CPUs gives its producers another one.
 *
 * Contestants are the rivals that bars_is_rival names, lanes, lane_rings and percpu;
 * experiments/queues.sh measures all queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "commands.h"
#include "sweep.h"

const char bars_full_ring[] = "ck_ring:capacity=64/pending/eventfd/slab";
static const char ceiling_config[] = "private/pending/eventfd/slab";
enum { FULL_CAPACITY = 64, FULL_PRODUCERS = 8, ROOM = 1 << 20 };

static bool is(const struct spec *spec, const char *queue)
{
        return !strcmp(spec->queue->name, queue);
}

static bool is_full_ring(const struct spec *spec)
{
        return is(spec, "ck_ring") && spec_value(spec, "capacity") == FULL_CAPACITY;
}

static bool add_config(struct settings *settings, const char *queue, enum wake_policy wake)
{
        char text[SPEC_BYTES + 32], why[256];
        struct spec spec;
        snprintf(text, sizeof text, "%s/%s/eventfd/slab", queue, wake_policies[wake].name);
        if (!spec_parse(text, &spec, why, sizeof why))
                return false;
        settings_configs(settings, "bars", text);
        return true;
}

/* Under the wakes that cost a producer least: a load (and a fence, where the kernel has no
 * membarrier); or what the push knows, where it sees the edge. */
static void add_configs(struct settings *settings, const char *queue)
{
        if (!add_config(settings, queue, WAKE_ASYM))
                add_config(settings, queue, WAKE_FLAG);
        add_config(settings, queue, WAKE_EDGE);
}

static void configure(struct settings *settings, int argc, char **argv)
{
        const struct queue_ops *ops;
        settings_init(settings);
        settings_default(settings, "producers", "1,2,8,32,100");
        settings_default(settings, "min-time", "0.04");
        settings_default(settings, "max-sample", "0.3");
        /* Spinlocks that never yield may not come to an end. */
        settings_default(settings, "deadline", "3");
        settings_parse(settings, FOR_BARS, argc, argv);
        queue_guard_init();
        settings_configs(settings, "bars", ceiling_config);
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                const struct spec spec = {.queue = ops};
                bool ours = is(&spec, "lanes") || is(&spec, "lane_rings") || is(&spec, "percpu");
                char text[SPEC_BYTES];
                unsigned room = 0;
                for (const struct queue_key *key = ops->keys; key && key->name; key++)
                        if (!strcmp(key->name, "capacity"))
                                /* Or it would be full, and measure that. */
                                room = key->max < ROOM ? key->max : ROOM;
                if (!ours && !bars_is_rival(&spec))
                        continue;
                snprintf(text, sizeof text, room ? "%s:capacity=%u" : "%s", ops->name, room);
                add_configs(settings, text);
        }
        add_configs(settings, "sharded_mutex:shards=2");
        if (registry_find("ck_ring"))
                settings_configs(settings, "bars", bars_full_ring);
}

static int by_median(const void *a, const void *b)
{
        double difference =
                ((const struct added *)a)->ns.median - ((const struct added *)b)->ns.median;
        return (difference > 0) - (difference < 0);
}

/* All contestants at so many producers. Without a ceiling there is nothing to add to. */
static struct added_list list_added(
        const struct settings *settings, const struct summary *summary, unsigned producers)
{
        struct added_list list = {.ceiling = summary_find(summary, ceiling_config, producers),
                .added = must_allocate(settings->config_count * sizeof *list.added)};
        if (!list.ceiling || !list.ceiling->samples_ok)
                return list;
        for (unsigned i = 0; i < settings->config_count; i++) {
                const struct spec *spec = &settings->configs[i];
                char text[SPEC_BYTES];
                spec_print(spec, text, sizeof text);
                const struct cell *cell = summary_find(summary, text, producers);
                if (!cell || !cell->samples_ok || cell == list.ceiling || is_full_ring(spec))
                        continue;
                list.added[list.count++] = (struct added){spec, cell,
                        median_difference(
                                &cell->cpu_ns_per_submit, &list.ceiling->cpu_ns_per_submit)};
        }
        qsort(list.added, list.count, sizeof *list.added, by_median);
        return list;
}

static void print_added(const struct added_list *list)
{
        const struct cell *ceiling = list->ceiling;
        if (!list->count)
                return;
        printf("%u producer%s: producer CPU ns per submit; private: %.2f [%.2f, %.2f]\n",
                ceiling->producers, ceiling->producers == 1 ? "" : "s",
                ceiling->cpu_ns_per_submit.median, ceiling->cpu_ns_per_submit.lo,
                ceiling->cpu_ns_per_submit.hi);
        printf("  %-56s %9s %20s  %9s\n", "", "added", "[lo, hi]", "wall rate");
        for (unsigned i = 0; i < list->count; i++) {
                const struct added *added = &list->added[i];
                struct median wall =
                        median_ratio(&added->cell->submit_per_s, &ceiling->submit_per_s);
                printf("  %-56s %9.2f [%8.2f, %8.2f]  %8.3fx\n", added->cell->config,
                        added->ns.median, added->ns.lo, added->ns.hi, wall.median);
        }
        putchar('\n');
}

/* bars.csv, in the run directory, has what the last lines say. */
static enum exit_code print_all(
        const struct settings *settings, const struct summary *summary, const struct rundir *rundir)
{
        struct added_list *lists = must_allocate(settings->producers_count * sizeof *lists);
        for (unsigned i = 0; i < settings->producers_count; i++) {
                lists[i] = list_added(settings, summary, settings->producers[i]);
                print_added(&lists[i]);
        }
        FILE *csv = rundir_file(rundir, "bars.csv");
        enum exit_code code = bars_judge(lists, settings->producers_count, settings, summary, csv);
        if (csv && fclose(csv))
                die("bars.csv can't be written: %s", strerror(errno));
        for (unsigned i = 0; i < settings->producers_count; i++)
                free(lists[i].added);
        free(lists);
        return code;
}

int bars_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        configure(&settings, argc, argv);
        struct sweep_cell *cells = must_allocate(
                (size_t)settings.config_count * settings.producers_count * sizeof *cells);
        unsigned count = 0;
        for (unsigned c = 0; c < settings.config_count; c++)
                for (unsigned p = 0; p < settings.producers_count; p++)
                        /* With many producers that spin a full ring need not come to an end. */
                        if (!is_full_ring(&settings.configs[c]) ||
                                settings.producers[p] <= FULL_PRODUCERS)
                                cells[count++] = (struct sweep_cell){.spec = &settings.configs[c],
                                        .producers = settings.producers[p]};
        struct sweep sweep;
        struct rundir rundir;
        struct summary summary;
        sweep_run(&sweep, &settings, cells, count, all_count, all, &rundir);
        summary_make(&summary, &settings, sweep.rows, sweep.count);
        enum exit_code verdict = print_all(&settings, &summary, &rundir);
        sweep.write_failed |= !rundir_close(&rundir, &summary);
        enum exit_code code = sweep_exit(&sweep);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        summary_free(&summary);
        sweep_free(&sweep);
        free(cells);
        settings_free(&settings);
        return code ? code : verdict;
}
