/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The bars of `fanin bars`: each figure with its interval beside what it is held to. Rivals, of
 * which lanes may add half of the least, are the reference's queues and all that a library or a
 * peer brings: what a sanitizer can't see by itself (queue_seen), but for percpu, whose assembly is
 * ours. The least is chosen by its median, for lanes and for the rivals alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "drain.h"

static const double half = 0.5, drain_bar = 1.5;
enum { MEMORY_BAR_BYTES = 64, DRAIN_LANES = 100 };

static bool is(const struct spec *spec, const char *queue)
{
        return !strcmp(spec->queue->name, queue);
}

bool bars_is_rival(const struct spec *spec)
{
        bool reference = is(spec, "handshake") || is(spec, "sharded_mutex") || is(spec, "vyukov");
        return reference || (spec->queue->seen != QUEUE_SEEN && !is(spec, "percpu"));
}

static const struct added *least(
        const struct added_list *list, bool (*belongs)(const struct spec *))
{
        for (unsigned i = 0; i < list->count; i++)
                if (belongs(list->added[i].spec))
                        return &list->added[i];
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

struct verdict {
        FILE *csv; /* or NULL */
        unsigned missed, unclear;
};

static void judge(
        struct verdict *verdict, const char *what, const struct median *figure, double bar)
{
        const char *word = figure->hi <= bar      ? "met"
                           : figure->lo > bar     ? "MISSED"
                           : figure->median > bar ? "missed but the interval straddles"
                                                  : "met but the interval straddles";
        verdict->missed += figure->lo > bar;
        verdict->unclear += figure->hi > bar && figure->lo <= bar;
        printf("  %-58s %8.3f [%8.3f, %8.3f]  bar %g: %s\n", what, figure->median, figure->lo,
                figure->hi, bar, word);
        if (!verdict->csv)
                return;
        fputs(what, verdict->csv);
        const double numbers[] = {figure->median, figure->lo, figure->hi};
        for (unsigned i = 0; i < 3; i++)
                fprintf(verdict->csv, isfinite(numbers[i]) ? ",%.6g" : ",NA", numbers[i]);
        fprintf(verdict->csv, ",%g,%s\n", bar, word);
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

static void judge_at(struct verdict *verdict, const struct added_list *list)
{
        unsigned producers = list->count ? list->ceiling->producers : 0;
        const struct added *lanes = least(list, is_lanes);
        if (producers > 1)
                judge_pair(verdict, lanes, least(list, bars_is_rival), producers, half);
        else if (lanes) {
                struct median share = median_ratio(&lanes->ns, &list->ceiling->cpu_ns_per_submit);
                judge(verdict, "1 producer: lanes over all that private costs", &share, 1);
        }
        if (producers == 100)
                judge_pair(
                        verdict, least(list, is_percpu), least(list, is_two_shards), producers, 1);
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
        snprintf(what, sizeof what, "%s drain: %d attached and 1 active over 1 attached", queue,
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
                const struct cell *cell =
                        summary_find(summary, bars_full_ring, settings->producers[p]);
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

enum exit_code bars_judge(const struct added_list *lists, unsigned count,
        const struct settings *settings, const struct summary *summary, FILE *csv)
{
        struct verdict verdict = {.csv = csv};
        if (csv)
                fputs("what,figure,lo,hi,bar,verdict\n", csv);
        puts("Bars (figure, its interval, the bar):");
        for (unsigned i = 0; i < count; i++)
                judge_at(&verdict, &lists[i]);
        judge_drain(&verdict, "lanes", settings->samples);
        judge_drain(&verdict, "lane_rings", settings->samples);
        judge_full(&verdict, settings, summary);
        list_memory();
        printf("%u missed, %u not told apart from their bar\n", verdict.missed, verdict.unclear);
        return verdict.missed ? EXIT_FAILED : verdict.unclear ? EXIT_INCONCLUSIVE : EXIT_DONE;
}
