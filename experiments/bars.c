/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * `fanin bars`: what each queue adds to a submit, and the bars that some are held to.
 *
 *      added = producer CPU ns per submit - that of `private` at the same number of producers
 *
 * Wall ratios to `private` stand beside it and are not judged: its consumer sleeps during the
 * phase, which on few CPUs gives its producers another one.
 *
 * Contestants are all backends but the bounds. Rivals, of which lanes must add half of the least,
 * are the reference's queues and all that a library or a peer brings: what a sanitizer can't see by
 * itself (queue_seen), but for percpu, whose assembly is ours.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drain.h"
#include "sweep.h"

static const double half = 0.5, drain_bar = 1.5;
/* So small that it is full all the time: what back-pressure does. */
static const char full_ring[] = "ck_ring:capacity=64/pending/eventfd/slab";
enum { FULL_CAPACITY = 64, MEMORY_BAR_BYTES = 64, DRAIN_LANES = 100, SPECS_MAX = 256 };

/* The wakes that cost a producer least: a load; or, where it sees the edge, what the push knows. */
static const enum wake_policy wakes[] = {WAKE_ASYM, WAKE_FLAG, WAKE_EDGE};

static bool is(const struct spec *spec, const char *queue)
{
        return !strcmp(spec->queue->name, queue);
}

static bool is_bound(const struct spec *spec)
{
        return is(spec, "private") || is(spec, "faa");
}

static bool is_full_ring(const struct spec *spec)
{
        return is(spec, "ck_ring") && spec_value(spec, "capacity") == FULL_CAPACITY;
}

static bool is_rival(const struct spec *spec)
{
        bool reference = is(spec, "handshake") || is(spec, "sharded_mutex") || is(spec, "vyukov");
        return reference || (spec->queue->seen != QUEUE_SEEN && !is(spec, "percpu"));
}

/* Adds queue[:keys]/wake/…/slab for each wake that can be honoured and that the machine has. */
static void add_configs(struct settings *settings, const char *queue)
{
        for (unsigned i = 0; i < sizeof wakes / sizeof wakes[0]; i++) {
                char text[SPEC_BYTES], why[256];
                struct spec spec;
                snprintf(text, sizeof text, "%s/%s/eventfd/slab", queue,
                        wake_policies[wakes[i]].name);
                /* flag only where asym is not to be had. */
                if (wakes[i] == WAKE_FLAG && atomic_load(&queue_guard_fenced) == false)
                        continue;
                if (wakes[i] == WAKE_ASYM && atomic_load(&queue_guard_fenced))
                        continue;
                if (spec_parse(text, &spec, why, sizeof why))
                        settings_configs(settings, "bars", text);
        }
}

static void configure(struct settings *settings, int argc, char **argv)
{
        const struct queue_ops *ops;
        settings_init(settings);
        settings_producers(settings, "bars", "1,2,8,32,100");
        settings->min_time_s = 0.05;
        settings->max_sample_s = 0.5;
        settings->deadline_s = 6; /* spinlocks that never yield may not come to an end */
        settings_parse(settings, FOR_BARS, argc, argv);
        queue_guard_init();
        settings_configs(settings, "bars", "private/pending/eventfd/slab");
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                const struct spec spec = {.queue = ops};
                char text[SPEC_BYTES];
                unsigned room = 0;
                for (const struct queue_key *key = ops->keys; key && key->name; key++)
                        if (!strcmp(key->name, "capacity"))
                                room = key->max; /* or it would be full, and measure that */
                if (is_bound(&spec))
                        continue;
                snprintf(text, sizeof text, room ? "%s:capacity=%u" : "%s", ops->name, room);
                add_configs(settings, text);
        }
        add_configs(settings, "sharded_mutex:shards=2");
        if (registry_find("ck_ring"))
                settings_configs(settings, "bars", full_ring);
}

struct added {
        const struct spec *spec;
        const struct cell *cell;
        struct median ns;
};

static int by_median(const void *a, const void *b)
{
        double difference =
                ((const struct added *)a)->ns.median - ((const struct added *)b)->ns.median;
        return (difference > 0) - (difference < 0);
}

/* Of all contestants at so many producers, least first; the number of them. */
static unsigned find_added(struct added *added, const struct cell *ceiling,
        const struct settings *settings, const struct summary *summary, unsigned producers)
{
        unsigned count = 0;
        for (unsigned i = 0; i < settings->config_count; i++) {
                char text[SPEC_BYTES];
                spec_print(&settings->configs[i], text, sizeof text);
                const struct cell *cell = summary_find(summary, text, producers);
                if (!cell || !cell->samples_ok || is_bound(&settings->configs[i]) ||
                        is_full_ring(&settings->configs[i]))
                        continue;
                added[count++] = (struct added){&settings->configs[i], cell,
                        median_difference(&cell->cpu_ns_per_submit, &ceiling->cpu_ns_per_submit)};
        }
        qsort(added, count, sizeof *added, by_median);
        return count;
}

static const struct added *least(
        const struct added *added, unsigned count, bool (*belongs)(const struct spec *))
{
        for (unsigned i = 0; i < count; i++)
                if (belongs(added[i].spec))
                        return &added[i];
        return NULL;
}

static bool is_lanes(const struct spec *spec)
{
        return is(spec, "lanes");
}

static bool is_percpu(const struct spec *spec)
{
        return is(spec, "percpu");
}

static bool is_two_shards(const struct spec *spec)
{
        return is(spec, "sharded_mutex") && spec_value(spec, "shards") == 2;
}

static void print_added(const struct added *added, unsigned count, const struct cell *ceiling)
{
        printf("\n%u producer%s: producer CPU ns per submit; private: %.2f [%.2f, %.2f]\n",
                ceiling->producers, ceiling->producers == 1 ? "" : "s",
                ceiling->cpu_ns_per_submit.median, ceiling->cpu_ns_per_submit.lo,
                ceiling->cpu_ns_per_submit.hi);
        printf("  %-56s %9s %20s  %9s\n", "", "added", "[lo, hi]", "wall rate");
        for (unsigned i = 0; i < count; i++) {
                struct median wall =
                        median_ratio(&added[i].cell->submit_per_s, &ceiling->submit_per_s);
                printf("  %-56s %9.2f [%8.2f, %8.2f]  %8.3fx\n", added[i].cell->config,
                        added[i].ns.median, added[i].ns.lo, added[i].ns.hi, wall.median);
        }
}

/* What stands at the end: each bar with its figure. */
struct verdict {
        unsigned missed, unclear;
};

static void judge(
        struct verdict *verdict, const char *what, const struct median *figure, double bar)
{
        const char *word = figure->hi <= bar      ? "met"
                           : figure->lo > bar     ? "MISSED"
                           : figure->median > bar ? "missed, the interval straddles"
                                                  : "met, the interval straddles";
        verdict->missed += figure->lo > bar;
        verdict->unclear += figure->hi > bar && figure->lo <= bar;
        printf("  %-58s %8.3f [%8.3f, %8.3f]  bar %g: %s\n", what, figure->median, figure->lo,
                figure->hi, bar, word);
}

/* The one's added cost over the other's. A rival that adds nothing measurable has no ratio. */
static void judge_pair(struct verdict *verdict, const struct added *one, const struct added *other,
        unsigned producers, double bar)
{
        char what[128];
        if (!one || !other)
                return;
        snprintf(what, sizeof what, "%u producers: %s/%s over %s/%s", producers,
                one->spec->queue->name, wake_policies[one->spec->wake].name,
                other->spec->queue->name, wake_policies[other->spec->wake].name);
        struct median ratio = median_ratio(&one->ns, &other->ns);
        if (other->ns.lo <= 0) {
                ratio.lo = -INFINITY;
                ratio.hi = INFINITY;
        }
        judge(verdict, what, &ratio, bar);
}

static void judge_at(struct verdict *verdict, const struct added *added, unsigned count,
        const struct cell *ceiling)
{
        unsigned producers = ceiling->producers;
        const struct added *lanes = least(added, count, is_lanes);
        if (producers > 1)
                judge_pair(verdict, lanes, least(added, count, is_rival), producers, half);
        else if (lanes) {
                struct median share = median_ratio(&lanes->ns, &ceiling->cpu_ns_per_submit);
                judge(verdict, "1 producer: lanes' added over private's own cost", &share, 1);
        }
        if (producers == 100)
                judge_pair(verdict, least(added, count, is_percpu),
                        least(added, count, is_two_shards), producers, 1);
}

static void judge_drain(struct verdict *verdict, const char *queue, unsigned samples)
{
        const struct queue_ops *ops = registry_find(queue);
        double *one = must_allocate(samples * sizeof *one),
               *many = must_allocate(samples * sizeof *many);
        unsigned values[QUEUE_KEYS_MAX] = {0};
        for (unsigned i = 0; i < samples; i++) {
                one[i] = drain_pass_ns(ops, values, 1);
                many[i] = drain_pass_ns(ops, values, DRAIN_LANES);
        }
        struct median a = median_of(many, samples), b = median_of(one, samples);
        struct median ratio = median_ratio(&a, &b);
        char what[96];
        printf("  %s, draining %d requests of 1 producer: %.0f ns with %d attached, %.0f ns with "
               "1\n",
                queue, (int)DRAIN_BATCH, a.median, (int)DRAIN_LANES, b.median);
        snprintf(what, sizeof what, "%s, drain: %d attached and 1 active over 1 attached", queue,
                (int)DRAIN_LANES);
        judge(verdict, what, &ratio, drain_bar);
        free(one);
        free(many);
}

/* A sample that lost a request is not ok, and its cell has none or fewer. */
static void judge_full(
        struct verdict *verdict, const struct settings *settings, const struct summary *summary)
{
        uint64_t refused = 0;
        unsigned bad = 0, ok = 0;
        for (unsigned p = 0; p < settings->producers_count; p++) {
                const struct cell *cell = summary_find(summary, full_ring, settings->producers[p]);
                refused += cell ? cell->refused : 0;
                bad += cell ? cell->samples_bad : 0;
                ok += cell ? cell->samples_ok : 0;
        }
        if (!ok && !bad)
                return;
        bool met = refused && !bad;
        verdict->missed += !met;
        printf("  ck_ring, full: %llu pushes refused and tried again, %u of %u samples lost "
               "nothing: "
               "%s\n",
                (unsigned long long)refused, ok, ok + bad, met ? "met" : "MISSED");
}

static void list_memory(void)
{
        const struct queue_ops *ops;
        printf("  memory beyond the request over %d bytes:", (int)MEMORY_BAR_BYTES);
        const char *none = " none";
        for (unsigned i = 0; (ops = registry_at(i)); i++)
                if (ops->cell_bytes > MEMORY_BAR_BYTES) {
                        printf(" %s (%u)", ops->name, ops->cell_bytes);
                        none = "";
                }
        puts(none);
}

static enum exit_code print_bars(const struct settings *settings, const struct summary *summary)
{
        struct verdict verdict = {0};
        struct added added[SPECS_MAX];
        for (unsigned p = 0; p < settings->producers_count; p++) {
                const struct cell *ceiling = summary_find(
                        summary, "private/pending/eventfd/slab", settings->producers[p]);
                if (ceiling && ceiling->samples_ok)
                        print_added(added,
                                find_added(
                                        added, ceiling, settings, summary, settings->producers[p]),
                                ceiling);
        }
        puts("\nBars (figure, its interval, the bar):");
        for (unsigned p = 0; p < settings->producers_count; p++) {
                const struct cell *ceiling = summary_find(
                        summary, "private/pending/eventfd/slab", settings->producers[p]);
                if (ceiling && ceiling->samples_ok)
                        judge_at(&verdict, added,
                                find_added(
                                        added, ceiling, settings, summary, settings->producers[p]),
                                ceiling);
        }
        judge_drain(&verdict, "lanes", settings->samples);
        judge_drain(&verdict, "lane_rings", settings->samples);
        judge_full(&verdict, settings, summary);
        list_memory();
        printf("%u missed, %u not told apart from their bar\n", verdict.missed, verdict.unclear);
        return verdict.missed ? EXIT_FAILED : verdict.unclear ? EXIT_INCONCLUSIVE : EXIT_DONE;
}

int bars_main(int argc, char **argv, int all_count, char **all)
{
        struct settings settings;
        configure(&settings, argc, argv);
        if (settings.config_count > SPECS_MAX)
                die("%u configurations; allowed: %d", settings.config_count, (int)SPECS_MAX);
        unsigned count = settings.config_count * settings.producers_count;
        struct sweep_cell *cells = must_allocate(count * sizeof *cells);
        for (unsigned i = 0; i < count; i++)
                cells[i] = (struct sweep_cell){&settings.configs[i / settings.producers_count],
                        settings.producers[i % settings.producers_count]};
        struct sweep sweep;
        struct rundir rundir;
        struct summary summary;
        sweep_run(&sweep, &settings, cells, count, all_count, all, &rundir);
        summary_make(&summary, &settings, sweep.rows, sweep.count);
        sweep.write_failed |= !rundir_close(&rundir, &summary);
        enum exit_code code = sweep_exit(&sweep), verdict = print_bars(&settings, &summary);
        if (fflush(stdout) || ferror(stdout))
                die("stdout can't be written: %s", strerror(errno));
        summary_free(&summary);
        sweep_free(&sweep);
        free(cells);
        settings_free(&settings);
        return code ? code : verdict;
}
