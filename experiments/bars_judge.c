/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * The bars of `fanin bars`. A cost is producer CPU ns per submit; added = cost - private's. "Ours
 * adds at most bar times what theirs adds" is judged as a difference, never as a ratio of two small
 * numbers:
 *
 *      margin = bar * (theirs - private) - (ours - private), in ns; met: not below 0
 *
 * Its interval takes each cost's own worst end. Ours and theirs are each the least of several
 * configurations, chosen by median; their intervals reach from the least lower end of all to the
 * least upper end.
 *
 * Rivals, of which lanes may add half of the least, are the reference's queues and all that a
 * library or a peer brings: what a sanitizer can't see by itself (queue_seen), but for percpu,
 * whose assembly is ours.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "drain.h"

static const double half = 0.5, drain_bar = 1.5, least_coverage = 0.9;
enum { MEMORY_BAR_BYTES = 64, DRAIN_LANES = 100 };

struct judge {
        FILE *csv; /* or NULL */
        unsigned missed, unclear;
};

static bool is(const struct spec *spec, const char *queue)
{
        return !strcmp(spec->queue->name, queue);
}

bool bars_is_rival(const struct spec *spec)
{
        bool reference = is(spec, "handshake") || is(spec, "sharded_mutex") || is(spec, "vyukov");
        return reference || (spec->queue->seen != QUEUE_SEEN && !is(spec, "percpu"));
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

/* The least cost of those that belong; its spec is NULL if there are none. */
struct least {
        const struct spec *spec;
        struct median cost;
};

/* Most of its samples did not end well: what is left says too little to be a least. */
static bool hardly_ran(const struct cell *cell)
{
        return cell->samples_bad && cell->cpu_ns_per_submit.coverage < least_coverage;
}

static struct least find_least(const struct added_list *list, bool (*belongs)(const struct spec *))
{
        struct least least = {.spec = NULL};
        for (unsigned i = 0; i < list->count; i++) {
                const struct added *added = &list->added[i];
                const struct median *cost = &added->cell->cpu_ns_per_submit;
                if (!belongs(added->spec) || strcmp(added->cell->instead, "no") != 0 ||
                        hardly_ran(added->cell))
                        continue;
                if (!least.spec)
                        least = (struct least){added->spec, *cost};
                least.cost.lo = fmin(least.cost.lo, cost->lo);
                least.cost.hi = fmin(least.cost.hi, cost->hi);
                least.cost.coverage = fmin(least.cost.coverage, cost->coverage);
        }
        return least;
}

static void print_number(FILE *csv, double number)
{
        fprintf(csv, isfinite(number) ? ",%.6g" : ",NA", number);
}

/* figure: as people say it; margin: what decides, in its unit. */
static void print_line(struct judge *judge, const char *what, double figure, double bar,
        const struct median *margin, const char *unit, const char *word)
{
        printf("  %-56s %9.4g  bar %-4g", what, figure, bar);
        if (isfinite(margin->median))
                printf("  margin %8.2f [%8.2f, %8.2f] %s", margin->median, margin->lo, margin->hi,
                        unit);
        printf(": %s\n", word);
        if (!judge->csv)
                return;
        fputs(what, judge->csv);
        const double numbers[] = {figure, bar, margin->median, margin->lo, margin->hi};
        for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
                print_number(judge->csv, numbers[i]);
        fprintf(judge->csv, ",%s,%s\n", unit, word);
}

static void not_judged(struct judge *judge, const char *what, const char *why)
{
        struct median none = median_of(NULL, 0);
        char word[96];
        snprintf(word, sizeof word, "not judged: %s", why);
        judge->unclear++;
        print_line(judge, what, NAN, NAN, &none, "", word);
}

static void decide(struct judge *judge, const char *what, double figure, double bar,
        const struct median *margin, const char *unit)
{
        const char *word = margin->coverage < least_coverage ? "too few samples"
                           : margin->lo >= 0                 ? "met"
                           : margin->hi < 0                  ? "missed"
                           : margin->median >= 0             ? "met but not clearly"
                                                             : "missed but not clearly";
        judge->missed += !strcmp(word, "missed");
        judge->unclear += strcmp(word, "missed") != 0 && strcmp(word, "met") != 0;
        print_line(judge, what, figure, bar, margin, unit, word);
}

/* bar * (theirs - base) - (ours - base). */
static struct median margin_of(const struct median *ours, const struct median *theirs,
        const struct median *base, double bar)
{
        struct median margin = {
                .median = bar * theirs->median - ours->median + (1 - bar) * base->median,
                .lo = bar * theirs->lo - ours->hi + (1 - bar) * base->lo,
                .hi = bar * theirs->hi - ours->lo + (1 - bar) * base->hi,
                .coverage = ours->coverage + theirs->coverage + base->coverage - 2,
        };
        return margin;
}

static void judge_pair(struct judge *judge, const struct added_list *list,
        bool (*ours)(const struct spec *), const char *whose, bool (*theirs)(const struct spec *),
        double bar)
{
        const struct median *base = &list->ceiling->cpu_ns_per_submit;
        struct least one = find_least(list, ours), other = find_least(list, theirs);
        char what[128];
        snprintf(what, sizeof what, "%u producers: what %s adds over", list->ceiling->producers,
                whose);
        if (!one.spec || !other.spec) {
                not_judged(judge, what, "nothing of it was measured as itself");
                return;
        }
        snprintf(what, sizeof what, "%u producers: %s/%s over %s/%s", list->ceiling->producers,
                one.spec->queue->name, wake_policies[one.spec->wake].name, other.spec->queue->name,
                wake_policies[other.spec->wake].name);
        double added = one.cost.median - base->median, rival = other.cost.median - base->median;
        struct median margin = margin_of(&one.cost, &other.cost, base, bar);
        decide(judge, what, rival > 0 ? added / rival : NAN, bar, &margin, "ns");
}

/* Alone lanes may add what private itself costs: private - (ours - private). */
static void judge_alone(struct judge *judge, const struct added_list *list)
{
        const struct median *base = &list->ceiling->cpu_ns_per_submit;
        struct least lanes = find_least(list, is_lanes);
        if (!lanes.spec) {
                not_judged(judge, "1 producer: lanes", "it was not measured");
                return;
        }
        struct median margin = {.median = 2 * base->median - lanes.cost.median,
                .lo = 2 * base->lo - lanes.cost.hi,
                .hi = 2 * base->hi - lanes.cost.lo,
                .coverage = base->coverage + lanes.cost.coverage - 1};
        decide(judge, "1 producer: what lanes adds over all that private costs",
                (lanes.cost.median - base->median) / base->median, 1, &margin, "ns");
}

static void judge_at(struct judge *judge, const struct added_list *list)
{
        if (!list->count) {
                not_judged(judge, "a producer count", "private has no sample that is ok");
                return;
        }
        if (list->ceiling->producers == 1)
                judge_alone(judge, list);
        else
                judge_pair(judge, list, is_lanes, "lanes", bars_is_rival, half);
        if (list->ceiling->producers == 100)
                judge_pair(judge, list, is_percpu, "percpu", is_two_shards, 1);
}

/* In this process, after all samples: repeats, not samples. */
static void judge_drain(struct judge *judge, const char *queue, unsigned batch, unsigned repeats)
{
        const struct queue_ops *ops = registry_find(queue);
        double *one = must_allocate(repeats * sizeof *one);
        double *many = must_allocate(repeats * sizeof *many);
        for (unsigned i = 0; i < repeats; i++) {
                one[i] = drain_pass_ns(ops, 1, batch);
                many[i] = drain_pass_ns(ops, DRAIN_LANES, batch);
        }
        struct median a = median_of(many, repeats), b = median_of(one, repeats);
        struct median margin = {.median = drain_bar * b.median - a.median,
                .lo = drain_bar * b.lo - a.hi,
                .hi = drain_bar * b.hi - a.lo,
                .coverage = a.coverage + b.coverage - 1};
        char what[128];
        snprintf(what, sizeof what, "%s draining %u of 1 producer: %d attached over 1", queue,
                batch, (int)DRAIN_LANES);
        decide(judge, what, a.median / b.median, drain_bar, &margin, "ns");
        free(one);
        free(many);
}

/* A sample that lost a request is not ok. */
static void judge_full(
        struct judge *judge, const struct settings *settings, const struct summary *summary)
{
        static const char what[] = "ck_ring when full: pushes refused and tried again";
        uint64_t refused = 0;
        unsigned bad = 0, ok = 0;
        for (unsigned p = 0; p < settings->producers_count; p++) {
                const struct cell *cell =
                        summary_find(summary, bars_full_ring, settings->producers[p]);
                refused += cell ? cell->refused : 0;
                bad += cell ? cell->samples_bad : 0;
                ok += cell ? cell->samples_ok : 0;
        }
        if (!ok && !bad) {
                not_judged(judge, what, "it was not measured");
                return;
        }
        bool met = refused && !bad;
        char word[96];
        snprintf(word, sizeof word, "%s: %u of %u samples have every request once",
                met ? "met" : "missed", ok, ok + bad);
        struct median none = median_of(NULL, 0);
        judge->missed += !met;
        print_line(judge, what, (double)refused, 1, &none, "", word);
}

/* What the tables say, which the contract test holds against what is allocated. */
static void judge_memory(struct judge *judge)
{
        const struct queue_ops *ops;
        struct median none = median_of(NULL, 0);
        unsigned most = 0;
        char word[256] = "met";
        size_t used = 0;
        for (unsigned i = 0; (ops = registry_at(i)); i++) {
                most = ops->cell_bytes > most ? ops->cell_bytes : most;
                if (ops->cell_bytes > MEMORY_BAR_BYTES && used < sizeof word)
                        used += (size_t)snprintf(word + used, sizeof word - used, "%s%s",
                                used ? " and " : "listed: ", ops->name);
        }
        print_line(judge, "bytes beyond the request: the most of any queue", most, MEMORY_BAR_BYTES,
                &none, "", word);
}

enum exit_code bars_judge(const struct added_list *lists, unsigned count,
        const struct settings *settings, const struct summary *summary, FILE *csv)
{
        struct judge judge = {.csv = csv};
        if (csv)
                fputs("what,figure,bar,margin,margin_lo,margin_hi,margin_unit,verdict\n", csv);
        puts("Bars: figure, bar, and the margin that decides, with its interval");
        for (unsigned i = 0; i < count; i++)
                judge_at(&judge, &lists[i]);
        static const char *const drained[] = {"lanes", "lane_rings"};
        for (unsigned i = 0; i < 2; i++) {
                judge_drain(&judge, drained[i], 1, settings->samples);
                judge_drain(&judge, drained[i], DRAIN_BATCH_MAX, settings->samples);
        }
        judge_full(&judge, settings, summary);
        judge_memory(&judge);
        printf("%u missed, %u not clear\n", judge.missed, judge.unclear);
        return judge.missed ? EXIT_FAILED : judge.unclear ? EXIT_INCONCLUSIVE : EXIT_DONE;
}
