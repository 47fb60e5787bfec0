/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample of latency, a process: what it runs and what it says. latency_load.c submits.
 *
 * While it runs nothing is computed: producers and the FFI thread write time stamps into memory
 * that was touched before, each into its own. Afterwards the stamps become histograms, and show
 * whether each accepted request got exactly one callback.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "../engine/context.h"
#include "cgroup.h"
#include "clock.h"
#include "commands.h"
#include "latency_load.h"
#include "work.h"

enum { CLOSED_PER_S = 2000000 }; /* stamps for so many: more than can wait for an answer each */

size_t load_room(const struct settings *settings, unsigned producers, double rate_per_s)
{
        double time_s = WARM_UP_MS / 1e3 + settings->duration_s;
        double mean = (rate_per_s > 0 ? rate_per_s : CLOSED_PER_S) * time_s / producers;
        return (size_t)(mean + 6 * sqrt(mean) + 16); /* six deviations of a Poisson count */
}

double latency_bytes(const struct settings *settings, const struct spec *spec, unsigned producers,
        double rate_per_s)
{
        size_t bytes = sizeof(struct load_stamps) + 2 * sizeof(uint64_t);
        if (rate_per_s > 0) /* all may be outstanding; in a closed loop it is one a producer */
                bytes += sizeof(struct slab_request) + spec->queue->cell_bytes;
        return (double)producers * (double)load_room(settings, producers, rate_per_s) *
               (double)bytes;
}

static void check_memory(const struct settings *settings, double rate_per_s)
{
        char load[64] = "--closed";
        if (rate_per_s > 0)
                snprintf(load, sizeof load, "--rate %.12g", rate_per_s);
        for (unsigned i = 0; i < settings->config_count; i++)
                for (unsigned j = 0; j < settings->producers_count; j++) {
                        double bytes = latency_bytes(settings, &settings->configs[i],
                                settings->producers[j], rate_per_s);
                        if (bytes > (double)settings->max_backlog_bytes)
                                die("%s for --duration %g needs %.0f M for its requests; allowed "
                                    "by "
                                    "--max-backlog: %.0f M",
                                        load, settings->duration_s, ceil(bytes / (1 << 20)),
                                        (double)settings->max_backlog_bytes / (1 << 20));
                }
}

void latency_check(const struct settings *settings)
{
        for (unsigned i = 0; i < settings->config_count; i++)
                if (settings->configs[i].queue->flush)
                        die("--config: '%s' keeps its requests until all are submitted, so it has "
                            "no latency; allowed: queues that don't",
                                settings->configs[i].queue->name);
        if (settings->closed && settings->rate_count)
                die("--rate can't be given with --closed, where each producer waits for its "
                    "callback; allowed: one of the two");
        if (settings->stall_ms > settings->duration_s * 500)
                die("--stall-ms can't be '%u' with --duration %g; allowed: at most half of it, %g",
                        settings->stall_ms, settings->duration_s, settings->duration_s * 500);
        if (settings->closed)
                check_memory(settings, 0);
        for (unsigned i = 0; i < settings->rate_count; i++) {
                check_memory(settings, settings->rates_per_s[i]);
                for (unsigned j = 0; j < i; j++)
                        if (settings->rates_per_s[j] == settings->rates_per_s[i])
                                die("--rate names %.12g twice; allowed: each rate once",
                                        settings->rates_per_s[i]);
        }
}

/* The median of many batches. */
static double measure_overhead_ns(void)
{
        enum { BATCHES = 101, EVENTS = 1000 };
        static struct load_stamps stamps[EVENTS];
        double batches_ns[BATCHES];
        for (unsigned batch = 0; batch < BATCHES; batch++) {
                uint64_t start_ns = clock_wall_ns();
                for (unsigned i = 0; i < EVENTS; i++) {
                        stamps[i].tried_ns = clock_wall_ns();
                        stamps[i].returned_ns = clock_wall_ns();
                        __asm__ volatile("" : : "r"(stamps) : "memory"); /* both are stored */
                }
                batches_ns[batch] = (double)(clock_wall_ns() - start_ns) / EVENTS;
        }
        return median_of(batches_ns, BATCHES).median;
}

static bool open_context(struct latency_row *row, size_t backlog)
{
        const struct settings *settings = load.settings;
        char config[SPEC_BYTES], why[192];
        spec_print(settings->configs, config, sizeof config);
        struct fanin_options options = {
                .config = config,
                .producers = load.producers,
                .backlog = backlog,
                .poll_ms = (int)settings->poll_ms,
                .handler = settings->handler_ns || settings->stall_ms ? load_handle : NULL,
        };
        int result = fanin_create(&load.handle, &options, why, sizeof why);
        if (result)
                latency_row_fail(row, result == FANIN_NO_MEMORY ? STATUS_OOM : STATUS_REFUSED, why);
        return !result;
}

/* What the stamps say. */
struct tally {
        uint64_t offered, completed, dropped, unsubmitted, lost, doubled;
};

/* Without an end of its own, it waited until the sample's. */
static uint64_t end_of(uint64_t stamp_ns)
{
        return stamp_ns ? stamp_ns : load.stop_ns;
}

static void tally_one(
        struct tally *tally, struct latency_times *times, const struct load_lane *lane, size_t id)
{
        const struct load_stamps *stamps = &lane->stamps[id];
        uint64_t intended_ns = load_intended_ns(lane, id), end_ns = lane->called_back_ns[id];
        bool accepted = stamps->returned_ns;
        bool dropped = !accepted && stamps->tried_ns && load.settings->drop_on_full;
        tally->lost += accepted && !end_ns;
        tally->doubled += !accepted && end_ns;
        tally->completed += end_ns >= load.measure_ns && end_ns < load.end_ns;
        if (intended_ns < load.measure_ns)
                return;
        tally->offered++;
        tally->dropped += dropped;
        tally->unsubmitted += !accepted && !dropped;
        if (accepted)
                histogram_add(&times->submit, stamps->returned_ns - stamps->tried_ns);
        if (!load.settings->closed)
                histogram_add(&times->late, end_of(stamps->tried_ns) - intended_ns);
        if (!dropped)
                histogram_add(&times->latency, end_of(end_ns) - intended_ns);
}

static void fill_row(struct latency_row *row, const struct tally *tally)
{
        if (!load.settings->closed)
                row->offered_per_s = (double)tally->offered / load.settings->duration_s;
        row->achieved_per_s = (double)tally->completed / load.settings->duration_s;
        if (row->offered_per_s > 0)
                row->kept = row->achieved_per_s / row->offered_per_s;
        row->submits = (double)(tally->offered - tally->unsubmitted - tally->dropped);
        row->dropped = (double)tally->dropped;
        row->unsubmitted = (double)tally->unsubmitted;
        row->cancelled = (double)load.cancelled;
}

/* Statuses as of `fanin run`. All callbacks that come have come: the context is gone. */
static void judge(struct latency_row *row, const struct tally *tally,
        const struct fanin_stats *stats, bool ceased, uint64_t throttled_ns)
{
        uint64_t doubled = tally->doubled + load.doubled;
        uint64_t disordered = stats->ordered ? load.disordered : 0;
        bool wake_lost = ceased || stats->lost_wakes;
        char reason[256] = "";
        enum row_status status = tally->lost && tally->lost >= doubled ? STATUS_LOST
                                 : doubled                             ? STATUS_DOUBLED
                                 : disordered                          ? STATUS_DISORDERED
                                 : wake_lost                           ? STATUS_LOST_WAKE
                                                                       : STATUS_OK;
        if (status != STATUS_OK) {
                snprintf(reason, sizeof reason,
                        "%" PRIu64 " lost, %" PRIu64 " doubled, %" PRIu64 " out of order, %" PRIu64
                        " wakes lost%s",
                        tally->lost, doubled, disordered, stats->lost_wakes,
                        ceased ? "; callbacks ceased" : "");
        } else if (throttled_ns != UINT64_MAX &&
                   (double)throttled_ns > load.settings->duration_s * 1e7) {
                status = STATUS_THROTTLED;
                snprintf(reason, sizeof reason,
                        "the cgroup's CPU quota took %.3g s of the %.3g s measured",
                        (double)throttled_ns / 1e9, load.settings->duration_s);
        }
        latency_row_fail(row, status, reason);
}

static void measure(struct latency_row *row, struct latency_times *times)
{
        struct tally tally = {.offered = 0};
        struct fanin_stats stats;
        char why[192];
        uint64_t throttled_ns = cgroup_throttled_ns(), refused = 0;
        int fault = load_run(&refused);
        bool ceased = !fault && !load_await();
        fanin_stats(load.handle, &stats);
        load.stop_ns = clock_wall_ns();
        fanin_destroy(load.handle); /* cancels what is still queued: that has a callback, too */
        if (throttled_ns != UINT64_MAX)
                throttled_ns = cgroup_throttled_ns() - throttled_ns;
        if (fault) {
                snprintf(why, sizeof why, "submit: %s", fanin_result_text(fault));
                latency_row_fail(row, fault == FANIN_NO_MEMORY ? STATUS_OOM : STATUS_REFUSED, why);
                return;
        }
        for (unsigned i = 0; i < load.producers; i++)
                for (size_t id = 0; id < load.lanes[i].count; id++)
                        tally_one(&tally, times, &load.lanes[i], id);
        fill_row(row, &tally);
        row->refused = (double)refused;
        if (stats.instead)
                row_set_text(row->instead, sizeof row->instead, stats.instead);
        judge(row, &tally, &stats, ceased, throttled_ns);
        for (unsigned i = 0; i < load.producers && load.settings->closed; i++)
                if (load.lanes[i].count == load.room)
                        latency_row_fail(row, STATUS_REFUSED,
                                "a producer of the closed loop had used up its stamps before the "
                                "end: --max-backlog must be more, or --duration less");
}

/* The FFI thread inherits this thread's CPU. */
static void pin_and_measure(struct latency_row *row, struct latency_times *times)
{
        const struct settings *settings = load.settings;
        char why[96];
        bool pinned = !settings->cpu_count || producers_pin(settings->cpus[0]);
        int unpinned_cpu = pinned ? producers_unpinned_cpu() : (int)settings->cpus[0];
        if (settings->pin_required && unpinned_cpu >= 0) {
                snprintf(why, sizeof why, "--pin-required: a thread could not be pinned to CPU %d",
                        unpinned_cpu);
                latency_row_fail(row, STATUS_REFUSED, why);
        } else if (!load_prepare()) {
                latency_row_fail(row, STATUS_OOM, "no memory for the time stamps");
        } else if (open_context(row, load_backlog())) {
                measure(row, times);
        }
        const char *all = producers_end();
        row_set_text(row->pinned, sizeof row->pinned, pinned ? all : "no");
}

int latency_sample_command(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        static struct latency_times times;
        struct settings settings;
        struct latency_row row;
        char why[256];
        settings_init(&settings);
        settings_parse(&settings, FOR_LATENCY_SAMPLE, argc, argv);
        latency_check(&settings);
        if (settings.config_count != 1 || settings.producers_count != 1 ||
                settings.rate_count != !settings.closed)
                die("`fanin latency-sample` takes one --config, one --producers and one --rate or "
                    "--closed, not %u, %u and %u",
                        settings.config_count, settings.producers_count, settings.rate_count);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the sweep's end is ours */
        latency_row_clear(&row);
        row_set_text(row.instead, sizeof row.instead, "no");
        row.overhead_ns = measure_overhead_ns();
        if (settings.handler_ns)
                work_calibrate();
        load_init(&settings);
        if (producers_start(&settings, load.producers, why, sizeof why))
                pin_and_measure(&row, &times);
        else
                latency_row_fail(&row, STATUS_REFUSED, why);
        load_free();
        bool sent = latency_send(stdout, &row, &times);
        settings_free(&settings);
        return sent ? EXIT_DONE : EXIT_FAILED;
}
