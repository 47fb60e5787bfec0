/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/*
 * One sample: warm-up, measured rounds, and what the clocks and the checks say of them.
 *
 * Warm-up, in the same process: `auto` runs rounds of growing volume, each in a context of its own
 * (a slab is as large as its round); the context of the last warm-up round is the measured one, so
 * its memory has been touched and its threads have run.
 */
#include "sample.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "../engine/context.h"
#include "clock.h"
#include "commands.h"
#include "fairness.h"
#include "record.h"
#include "work.h"

enum { LEAST_VOLUME = 16 }; /* where auto starts */

/* The volume for the next warm-up round; the same one: enough. A round, drains included, is to fit
 * into half of max_sample. */
static uint64_t next_volume(uint64_t volume, uint64_t phase_ns, uint64_t round_ns)
{
        double target_ns = rounds.settings->min_time_s * 1e9;
        if ((double)phase_ns * 2 >= target_ns)
                return volume;
        size_t request_bytes = sizeof(struct slab_request) + rounds.spec->queue->cell_bytes;
        const double limits[] = {
                4 * (double)volume,
                (double)volume * target_ns / (double)(phase_ns + 1),
                (double)volume * rounds.settings->max_sample_s * 0.5e9 / (double)(round_ns + 1),
                (double)rounds.settings->max_backlog_bytes /
                        (double)(request_bytes * rounds.producers),
        };
        double next = limits[0];
        for (unsigned i = 1; i < sizeof limits / sizeof limits[0]; i++)
                next = limits[i] < next ? limits[i] : next;
        return next > (double)volume ? (uint64_t)next : volume;
}

/* Leaves a warm context of the right volume open. False: the row has its status. */
static bool warm_up(struct row *row, struct totals *warm)
{
        const struct settings *settings = rounds.settings;
        uint64_t volume = settings->per_producer ? settings->per_producer : LEAST_VOLUME;
        uint64_t end_ns = clock_wall_ns() + (uint64_t)(settings->max_sample_s * 1e9);
        struct fanin_stats stats;
        for (;;) {
                uint64_t phase_ns, before_ns = warm->complete_ns;
                if (!rounds_open(row, volume) || !rounds_run(row, warm, end_ns, &phase_ns))
                        return false;
                uint64_t next = next_volume(volume, phase_ns, warm->complete_ns - before_ns);
                if (settings->per_producer || next == volume || clock_wall_ns() > end_ns)
                        return true;
                fanin_stats(rounds.handle, &stats);
                warm->lost_wakes += stats.lost_wakes;
                rounds_close();
                volume = next;
        }
}

/* What was not counted stays NA. */
static void subtract_stats(struct row *row, const struct totals *warm, const struct fanin_stats *a,
        const struct fanin_stats *b)
{
        if (!b->counted)
                return;
        row->backlog_peak = rounds.backlog.peak;
        row->depth_count = rounds.backlog.count;
        memcpy(row->depths, rounds.backlog.depths, sizeof row->depths);
        row->wakes = b->wakes - a->wakes;
        row->wakes_elided = b->wakes_elided - a->wakes_elided;
        row->stalls = b->stalls - a->stalls;
        row->stalled_ns = b->stalled_ns - a->stalled_ns;
        row->wakes_spurious = b->wakes_spurious - a->wakes_spurious;
        row->slept_ns = b->slept_ns - a->slept_ns;
        row->drains = b->drains - a->drains;
        row->largest_drain = b->largest_drain;
        row->late_wakes = b->late_wakes;
        row->lost_wakes = b->lost_wakes + warm->lost_wakes; /* one in the warm-up is one, too */
}

static void fill_row(struct row *row, const struct totals *totals)
{
        row->measured = true;
        row->rounds = totals->rounds;
        row->per_producer = rounds.volume;
        row->submits = totals->submits;
        row->refused = totals->refused;
        row->submit_ns = totals->submit_ns;
        row->complete_ns = totals->complete_ns;
        row->submit_per_s = (double)totals->submits * 1e9 / (double)totals->submit_ns;
        row->complete_per_s = (double)totals->submits * 1e9 / (double)totals->complete_ns;
        row->producer_cpu_ns = totals->cpu_ns;
        row->overlap =
                (double)totals->active_ns / ((double)rounds.producers * (double)totals->submit_ns);
}

/* The accounting of fanin.h, asserted at the end of every sample: all is idle here. */
static bool accounts_balance(const struct fanin_stats *stats)
{
        if (rounds.accepted != rounds_callbacks())
                return false;
        return !stats->counted ||
               (stats->submits == stats->completed + stats->cancelled &&
                       stats->wakes + stats->wakes_elided ==
                               stats->submits - stats->kept + stats->flushes &&
                       (stats->wakes_spurious <= stats->wakes || rounds.spec->wake == WAKE_OWN) &&
                       stats->submits == rounds.accepted);
}

/* Its numbers are right, and say as much of the quota as of what was measured. */
static void judge_throttling(struct row *row, uint64_t wall_ns)
{
        if (row->throttled_ns == ROW_NA || row->throttled_ns <= wall_ns / 100)
                return;
        row_set_status(row, STATUS_THROTTLED);
        snprintf(row->reason, sizeof row->reason,
                "the cgroup's CPU quota took %.3g s of the %.3g s measured",
                (double)row->throttled_ns / 1e9, (double)wall_ns / 1e9);
}

static void judge(struct row *row, const struct totals *warm, const struct totals *totals,
        const struct fanin_stats *stats, uint64_t wall_ns)
{
        uint64_t lost = warm->lost + totals->lost, doubled = warm->doubled + totals->doubled;
        uint64_t disordered = warm->disordered + totals->disordered;
        uint64_t lost_wakes = stats->lost_wakes + warm->lost_wakes;
        if (!stats->ordered)
                disordered = 0; /* it promises no order */
        /* A request handed back twice may be overwritten by its next use, and a lost one's place be
         * taken: what there is more of names the row. */
        enum row_status status = lost && lost >= doubled ? STATUS_LOST
                                 : doubled               ? STATUS_DOUBLED
                                 : disordered            ? STATUS_DISORDERED
                                 : lost_wakes            ? STATUS_LOST_WAKE
                                                         : STATUS_OK;
        row_set_status(row, status);
        if (status != STATUS_OK)
                snprintf(row->reason, sizeof row->reason,
                        "%" PRIu64 " lost, %" PRIu64 " doubled, %" PRIu64 " out of order, %" PRIu64
                        " wakes lost",
                        lost, doubled, disordered, lost_wakes);
        else if (!accounts_balance(stats)) {
                /* More callbacks than submits, say, with --check off. */
                row_set_status(row, STATUS_DOUBLED);
                snprintf(row->reason, sizeof row->reason,
                        "the accounts don't balance: %" PRIu64 " accepted, %" PRIu64 " called back",
                        rounds.accepted, rounds_callbacks());
        } else {
                judge_throttling(row, wall_ns);
        }
}

static struct totals new_totals(void)
{
        return (struct totals){
                .active_ns_of = must_allocate(rounds.producers * sizeof(uint64_t)),
                .accepted_of = must_allocate(rounds.producers * sizeof(uint64_t)),
        };
}

static void free_totals(struct totals *totals)
{
        free(totals->active_ns_of);
        free(totals->accepted_of);
}

/* Rounds until min_time of submit time or max_sample of wall time. False: the row has its status.
 */
static bool measured_rounds(struct row *row, struct totals *totals)
{
        uint64_t min_ns = (uint64_t)(rounds.settings->min_time_s * 1e9), phase_ns;
        uint64_t end_ns = clock_wall_ns() + (uint64_t)(rounds.settings->max_sample_s * 1e9);
        do
                if (!rounds_run(row, totals, end_ns, &phase_ns))
                        return false;
        while (totals->submit_ns < min_ns && clock_wall_ns() < end_ns);
        return true;
}

static void measure(struct row *row)
{
        struct totals warm = new_totals(), totals = new_totals();
        struct fanin_stats before, after;
        if (warm_up(row, &warm)) {
                record_begin();
                rounds_begin_measured();
                fanin_stats(rounds.handle, &before);
                if (measured_rounds(row, &totals)) {
                        fanin_stats(rounds.handle, &after);
                        uint64_t wall_ns = record_end_ns(row);
                        subtract_stats(row, &warm, &before, &after);
                        fill_row(row, &totals);
                        fairness_fill(row, &totals, after.instead);
                        row_set_text(row->instead, sizeof row->instead,
                                after.instead ? after.instead : "no");
                        judge(row, &warm, &totals, &after, wall_ns);
                }
        }
        if (rounds.handle)
                rounds_close();
        free_totals(&warm);
        free_totals(&totals);
}

int sample_main(const struct settings *settings)
{
        struct row row;
        row_clear(&row);
        if (settings->config_count != 1)
                die("--config names %u configurations; allowed in `fanin sample`: one",
                        settings->config_count);
        if (settings->producers_count != 1)
                die("--producers names %u counts; allowed in `fanin sample`: one",
                        settings->producers_count);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the sweep's end is ours */
        rounds_init(settings);
        if (settings->think_ns || settings->handler_ns)
                work_calibrate();

        record_open();
        row_set_status(&row, STATUS_REFUSED);
        if (producers_start(settings, rounds.producers, row.reason, sizeof row.reason)) {
                /* The FFI thread inherits this thread's CPU. */
                bool pinned = !settings->cpu_count || producers_pin(settings->cpus[0]);
                int unpinned_cpu = pinned ? producers_unpinned_cpu() : (int)settings->cpus[0];
                if (settings->pin_required && unpinned_cpu >= 0)
                        snprintf(row.reason, sizeof row.reason,
                                "--pin-required: a thread could not be pinned to CPU %d",
                                unpinned_cpu);
                else
                        measure(&row);
                const char *all = producers_end();
                row_set_text(row.pinned, sizeof row.pinned, pinned ? all : "no");
        }
        rounds_free();
        bool sent = row_send(stdout, &row);
        row_drop_details(&row);
        return sent ? EXIT_DONE : EXIT_FAILED;
}

int sample_command(int argc, char **argv, int all_count, char **all)
{
        (void)all_count, (void)all;
        struct settings settings;
        settings_init(&settings);
        settings_parse(&settings, FOR_SAMPLE, argc, argv);
        int code = sample_main(&settings);
        settings_free(&settings);
        return code;
}
